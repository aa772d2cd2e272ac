"""A pass of the preference learning model over all edges, its growth, and whole fits beside one-vs-rest models.

python benchmarks/bench_plm.py [--quick] [--only pass | growth | fit]

A pass is the value of the losses of all instances and their derivative by the scores. It is set against three products
of the sparse features with dense matrices, as in `bench_learners.py`. One thread, times of the processor.
"""

import argparse
from collections.abc import Sequence
from time import process_time
from typing import Any

import numpy as np
from bench_learners import N_FEATURES, best_of, documents
from sklearn.linear_model import LogisticRegression
from sklearn.multiclass import OneVsRestClassifier
from sklearn.svm import LinearSVC
from threadpoolctl import threadpool_limits

from learners import PreferenceModel
from learners._plm_risk import Risk
from learners._threads import thread_limit
from learners.losses import LOSSES
from prefgraph import DECOMPOSITIONS, Preferences, metrics

ROADS = (("max", "domination"), ("max", "dominated"), ("sum", "domination"))


class Pass:
    """Value and gradient, for layered graphs and for the same graphs as listed edges."""

    param_names = ("instances",)
    params = (1_000, 20_000)

    def setup(self, instances: int, n_labels: int = 103, sizes: Sequence[int] = (2, 7)) -> None:
        self.X, self.p = documents(instances, n_labels=n_labels, sizes=sizes)
        rng = np.random.default_rng(1)
        self.parameters = rng.normal(size=(N_FEATURES, n_labels))
        self.flows = rng.random((2, instances, n_labels))
        self.scores = self.X @ self.parameters / 8
        few = min(instances, 2_000)
        self.edges, self.few_scores = self.p.take(np.arange(few)).encoded("edges"), self.scores[:few]

    def check(self, loss: str, aggregate: str, name: str) -> None:
        """Layers and edges give one result; also the warm-up that compiles the kernels."""
        rows = np.arange(100)
        scores = self.scores[rows]
        layered = Risk(self.p.take(rows), name, loss, aggregate).value_and_gradient(scores)
        listed = Risk(self.edges.take(rows), name, loss, aggregate).value_and_gradient(scores)
        for one, two in zip(layered, listed, strict=True):
            assert np.allclose(one, two)

    def time_products(self) -> None:
        self.X @ self.parameters
        self.X.T @ self.flows[0]
        self.X.T @ self.flows[1]

    def time_pass(self, risk: Risk, scores: np.ndarray) -> object:
        return risk.value_and_gradient(scores)

    def seconds(self, loss: str, aggregate: str, name: str, *, edges: bool = False, repeats: int = 5) -> float:
        p, scores = (self.edges, self.few_scores) if edges else (self.p, self.scores)
        risk = Risk(p, name, loss, aggregate)
        return best_of(lambda: self.time_pass(risk, scores), repeats, process_time)


def show_pass(quick: bool) -> None:
    bench = Pass()
    bench.setup(Pass.params[0] if quick else Pass.params[-1])
    floor = best_of(bench.time_products, 5, process_time)
    print(f"{len(bench.p)} x {len(bench.p.labels)} labels, {bench.p.n_edges / len(bench.p):.0f} edges each; ", end="")
    print(f"three products: {1e3 * floor:.1f} ms")
    print(f"{'loss':24} {'aggregate, parts':18} {'ms':>7} {'ns an edge':>11} {'of products':>12} {'listed, ns':>11}")
    for aggregate, name in ROADS:
        for loss in LOSSES:
            bench.check(loss, aggregate, name)
            layered = bench.seconds(loss, aggregate, name)
            listed = 1e9 * bench.seconds(loss, aggregate, name, edges=True) / bench.edges.n_edges
            print(f"{loss:24} {aggregate + ', ' + name:18} {1e3 * layered:7.1f} ", end="")
            print(f"{1e9 * layered / bench.p.n_edges:11.2f} {layered / floor:12.2f} {listed:11.2f}", flush=True)


def show_growth(quick: bool) -> None:
    base = 500 if quick else 5_000
    print("\ngrowth: ms of a pass")
    columns = (("soft_margin", "max"), ("soft_margin", "sum"), ("logistic", "sum"))
    print(f"{'':32} " + " ".join(f"{loss + ', ' + aggregate:>17}" for loss, aggregate in columns))
    sizes = [(m, 103) for m in (base, 2 * base, 4 * base)] + [(base, n_labels) for n_labels in (50, 100, 200, 400)]
    for m, n_labels in sizes:
        bench = Pass()
        bench.setup(m, n_labels)
        cells = [f"{1e3 * bench.seconds(loss, aggregate, 'domination'):17.1f}" for loss, aggregate in columns]
        title = f"{m} x {n_labels}, {bench.p.n_edges / 1e6:.2f}e6 edges"
        print(f"{title:32} " + " ".join(cells), flush=True)


def show_fit(quick: bool) -> None:
    """Label sets of 3 of 20 labels, a third of the rows held out."""
    m = 600 if quick else 3_000
    X, p = documents(m, n_labels=20, sizes=(3,))
    X = X.multiply(1.0 / np.sqrt(X.multiply(X).sum(axis=1))[:, np.newaxis]).tocsr()
    train, test = np.arange(2 * m // 3), np.arange(2 * m // 3, m)
    relevant = (p.layer[p.graph_index] == 0).astype(int)
    print(
        f"\n{len(train)} rows to learn, {len(test)} held out, 20 labels, 3 relevant; errors of the held-out rows in %"
    )
    print(f"{'':44} {'seconds':>8} {'iterations':>10} " + " ".join(f"{name:>12}" for name in DECOMPOSITIONS))
    models: dict[str, Any] = {
        f"PreferenceModel({loss!r}, {aggregate!r})": PreferenceModel(loss, aggregate=aggregate)
        for loss, aggregate in (("soft_margin", "max"), ("logistic", "sum"), ("modified_least_squares", "sum"))
    }
    models["one-vs-rest LinearSVC"] = OneVsRestClassifier(LinearSVC(random_state=0))
    models["one-vs-rest LogisticRegression"] = OneVsRestClassifier(LogisticRegression(max_iter=1000))
    for name, model in models.items():
        ours = isinstance(model, PreferenceModel)
        start = process_time()
        model.fit(X[train], p.take(train) if ours else relevant[train])
        seconds = process_time() - start
        found = errors(p.take(test), model.decision_function(X[test]))
        iterations = model.n_iter_ if ours else ""
        print(f"{name:44} {seconds:8.2f} {iterations:>10} " + " ".join(f"{100 * e:12.2f}" for e in found), flush=True)


def errors(truth: Preferences, scores: np.ndarray) -> list[float]:
    """The share of parts that are broken, under each decomposition."""
    return [metrics.graph_error(truth, scores, name, normalize="part") for name in DECOMPOSITIONS]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="the smallest sizes")
    parser.add_argument("--only", choices=("pass", "growth", "fit"))
    options = parser.parse_args()
    with thread_limit(1), threadpool_limits(1):
        for name, show in (("pass", show_pass), ("growth", show_growth), ("fit", show_fit)):
            if options.only in (None, name):
                show(options.quick)


if __name__ == "__main__":
    main()
