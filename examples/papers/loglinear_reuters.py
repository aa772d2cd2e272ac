"""Reuters-21578, ten categories, ModApte: the log-linear ranker against one-vs-rest linear models on the same features.

python examples/papers/loglinear_reuters.py --data DIR [--repeats 3] [--choose]

The setting of Aiolli and Sperduti's Table 1, with scikit-learn's tf-idf (letters only, no stop words, no stemming). All
models have their defaults but where it says otherwise. ``--choose`` compares values of the regulariser in five folds of
the training documents instead, and leaves the test documents alone. DIR has the folder ``reuters21578`` with
``reut2-*.sgm``.
"""

import argparse
import sys
from collections.abc import Sequence
from time import perf_counter
from typing import Any

import numpy as np
from _data import folder_of, options
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import KFold
from sklearn.multiclass import OneVsRestClassifier
from sklearn.svm import LinearSVC
from threadpoolctl import threadpool_limits

from learners import LogLinearRanker
from prefgraph import DECOMPOSITIONS, InvalidFile, PreferenceDataset, Preferences, metrics, readers

LETTERS = "[a-z]+"
SHARES = (0.01, 0.03, 0.05, 0.1, 0.3)  # of the mean of |x|^2, which is 1 for tf-idf


def features(data: PreferenceDataset) -> tuple[Any, np.ndarray, np.ndarray]:
    """tf-idf of all documents, fitted on the training ones, with the rows of either part."""
    split = np.asarray(data.split)
    train, test = np.flatnonzero(split == "train"), np.flatnonzero(split == "test")
    vectorizer = TfidfVectorizer(stop_words="english", token_pattern=LETTERS)
    return vectorizer.fit([data.texts[i] for i in train]).transform(data.texts), train, test


def models() -> dict[str, Any]:
    """One-vs-rest models, which learn from an indicator matrix, and the ranker, which learns from graphs."""
    binary = {
        "LinearSVC(C=1)": LinearSVC(C=1, random_state=0),
        "LogisticRegression(C=1)": LogisticRegression(max_iter=1000),
        "LogisticRegression(C=10)": LogisticRegression(C=10, max_iter=1000),
    }
    ours = {f"LogLinearRanker({name!r})": LogLinearRanker(name) for name in DECOMPOSITIONS}
    return {f"one-vs-rest {name}": OneVsRestClassifier(model) for name, model in binary.items()} | ours


def choose(X: Any, p: Preferences) -> None:
    """Average precision of each value of nu in five folds, beside that of the linear model to beat."""
    relevant = (p.layer[p.graph_index] == 0).astype(int)
    rivals: dict[str, Any] = {"one-vs-rest LinearSVC(C=1)": OneVsRestClassifier(LinearSVC(C=1, random_state=0))}
    rivals |= {f"LogLinearRanker(regularization={nu})": LogLinearRanker(regularization=nu) for nu in SHARES}
    for name, model in rivals.items():
        found = []
        for train, test in KFold(5, shuffle=True, random_state=0).split(X):
            model.fit(X[train], p.take(train) if isinstance(model, LogLinearRanker) else relevant[train])
            found.append(metrics.average_precision(p.take(test), model.decision_function(X[test])))
        print(f"{name:40} AvgP {100 * np.mean(found):.2f}", flush=True)


def main(arguments: Sequence[str] | None = None) -> None:
    """Read, fit each model, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=3, help="fits of each model; the best time is shown")
    parser.add_argument("--choose", action="store_true", help="compare regularisers on the training documents only")
    chosen = options(parser, arguments)
    try:
        data = readers.reuters21578(folder_of(chosen.data, "reuters21578"), topics=10)
    except InvalidFile as error:
        sys.exit(str(error))
    X, train, test = features(data)
    p = data.preferences
    if chosen.choose:
        choose(X[train], p.take(train))
        return
    relevant = (p.layer[p.graph_index] == 0).astype(int)
    print(f"{len(train)} training and {len(test)} test documents, {X.shape[1]} words, ", end="")
    print(f"{len(p.labels)} categories; all but the seconds in %")
    print(f"{'':40} {'AvgP':>6} {'IErr':>6} {'dErr':>6} {'DErr':>6} {'seconds':>8}")
    found = {}
    with threadpool_limits(1):  # on a busy machine BLAS threads wait for each other, which would flatter the ranker
        for name, model in models().items():
            target = p.take(train) if isinstance(model, LogLinearRanker) else relevant[train]
            seconds = []
            for _ in range(chosen.repeats):
                start = perf_counter()
                model.fit(X[train], target)
                seconds.append(perf_counter() - start)
            scores, truth = model.decision_function(X[test]), p.take(test)
            errors = [
                metrics.graph_error(truth, scores, cut, normalize="part")
                for cut in ("identity", "disagreement", "domination")
            ]
            found[name] = (100 * metrics.average_precision(truth, scores), *(100 * e for e in errors), min(seconds))
            print(f"{name:40} " + " ".join(f"{value:6.2f}" for value in found[name][:4]) + f" {min(seconds):8.2f}")
    print(verdict(found))


def verdict(found: dict[str, tuple[float, ...]]) -> str:
    """The default ranker against the two models to beat, worked out from the numbers."""
    svm, logistic = found["one-vs-rest LinearSVC(C=1)"], found["one-vs-rest LogisticRegression(C=1)"]
    ours = found["LogLinearRanker('domination')"]
    return (
        "The ranker with its defaults (domination) against LinearSVC: "
        f"AvgP {ours[0] - svm[0]:+.2f}, IErr {ours[1] - svm[1]:+.2f} points; "
        f"against LogisticRegression: AvgP {ours[0] - logistic[0]:+.2f}, {ours[4] / logistic[4]:.2f} of its time."
    )


if __name__ == "__main__":
    main()
