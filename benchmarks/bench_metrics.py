"""The four graph errors on layered instances, against one pass over the scores and against listing the edges.

python benchmarks/bench_metrics.py [--quick]

All times are best of several runs in one process, and are shown as multiples of one pass over the score matrix
(``scores.max(axis=1)``). The roads are checked to agree before they are timed.
"""

import sys
from collections.abc import Callable
from time import perf_counter

import numpy as np
from sklearn.metrics import label_ranking_average_precision_score

from prefgraph import DECOMPOSITIONS, Preferences, metrics

N_LABELS = 103  # the leaves of RCV1's topic tree
NETWORKX_SAMPLE = 100


def three_layers(instances: int, rng: np.random.Generator) -> Preferences:
    """Random correct / near / far labels, about 850 edges each, nearly all graphs different."""
    shuffled = rng.random((instances, N_LABELS)).argsort(axis=1)
    correct = rng.integers(1, 6, (instances, 1))
    near = correct + rng.integers(3, 10, (instances, 1))
    return Preferences.from_layer_matrix(np.where(shuffled < correct, 0, np.where(shuffled < near, 1, 2)))


def best_of(run: Callable[[], object], repeats: int) -> float:
    times = []
    for _ in range(repeats):
        start = perf_counter()
        run()
        times.append(perf_counter() - start)
    return min(times)


def error_by_numpy(parts, scores: np.ndarray) -> float:
    """The same error from edge arrays that are there already."""
    violated = scores[parts.instance, parts.init] <= scores[parts.instance, parts.term]
    wrong = np.logical_or.reduceat(violated, parts.offsets[:-1])
    return float(np.mean(np.bincount(parts.part_instance, wrong) / parts.counts))


def error_by_networkx(graphs, scores: np.ndarray, name: str) -> float:
    """The definition, one graph after the other."""
    total = 0.0
    for graph, f in zip(graphs, scores.tolist(), strict=True):
        parts = DECOMPOSITIONS[name](graph)
        total += sum(any(f[u] <= f[v] for u, v in part) for part in parts) / len(parts)
    return total / len(graphs)


class GraphErrors:
    """Mean errors of random scores on layered graphs."""

    param_names = ("instances",)
    params = (500, 20_000)

    def setup(self, instances: int) -> None:
        rng = np.random.default_rng(0)
        self.p = three_layers(instances, rng)
        self.scores = rng.normal(size=(instances, N_LABELS)) - 2 * self.p.layer[self.p.graph_index]
        self.sample = list(self.p[:NETWORKX_SAMPLE])
        edges = self.p.n_edges / instances
        assert 750 < edges < 950, edges

    def check(self, name: str) -> None:
        """All roads lead to one error; also the warm-up that compiles the kernels."""
        ours = metrics.graph_error(self.p, self.scores, name)
        assert 0 < ours < 1
        assert np.isclose(ours, error_by_numpy(self.p.parts(name), self.scores))
        few = self.scores[: len(self.sample)]
        by_loop = error_by_networkx(self.sample, few, name)
        assert np.isclose(by_loop, metrics.graph_error(self.p[: len(self.sample)], few, name))

    def time_one_pass(self) -> object:
        return self.scores.max(axis=1)

    def time_sum(self) -> object:
        return self.scores.sum()

    def time_error(self, name: str) -> float:
        return metrics.graph_error(self.p, self.scores, name)

    def time_networkx(self, name: str) -> float:
        return error_by_networkx(self.sample, self.scores[: len(self.sample)], name)


class RankingMetrics:
    """Average precision of label rankings, and the AUC of one long ranking of documents."""

    param_names = ("instances",)
    params = (500, 20_000)

    def setup(self, instances: int) -> None:
        rng = np.random.default_rng(1)
        self.y = (rng.random((instances, N_LABELS)) < 0.03).astype(int)
        self.scores = rng.normal(size=self.y.shape) + self.y
        self.relevance = (rng.random(5 * instances) < 0.1).astype(int)
        self.topic_scores = rng.normal(size=5 * instances).round(2)

    def check(self) -> None:
        expected = label_ranking_average_precision_score(self.y, self.scores)
        assert np.isclose(metrics.average_precision(self.y, self.scores), expected)
        assert 0.4 < metrics.auc(self.relevance, self.topic_scores) < 0.6

    def time_average_precision(self) -> float:
        return metrics.average_precision(self.y, self.scores)

    def time_scikit_learn(self) -> float:
        return float(label_ranking_average_precision_score(self.y, self.scores))

    def time_auc_of_documents(self) -> float:
        return metrics.auc(self.relevance, self.topic_scores)


def main(quick: bool) -> None:
    instances, repeats = (GraphErrors.params[0], 2) if quick else (GraphErrors.params[-1], 15)
    bench = GraphErrors()
    bench.setup(instances)
    one_pass, total = best_of(bench.time_one_pass, repeats), best_of(bench.time_sum, repeats)
    print(f"{instances} instances x {N_LABELS} labels, {bench.p.n_edges / instances:.0f} edges each, {bench.p!r}")
    print(f"one pass, scores.max(axis=1): {1e3 * one_pass:.2f} ms; scores.sum(): {1e3 * total:.2f} ms\n")
    columns = ("error", "ms", "passes", "numpy on edges", "with listing them", "networkx")
    print("{:14} {:>8} {:>8} {:>16} {:>18} {:>18}".format(*columns))
    for name in DECOMPOSITIONS:
        bench.check(name)
        ours = best_of(lambda name=name: bench.time_error(name), repeats)
        parts = bench.p.parts(name)
        listed = best_of(lambda parts=parts: error_by_numpy(parts, bench.scores), 2)
        listing = best_of(lambda name=name: bench.p.parts(name), 1)
        loop = best_of(lambda name=name: bench.time_networkx(name), 1) * instances / len(bench.sample)
        roads = f"{listed / ours:>15.0f}x {(listing + listed) / ours:>17.0f}x {loop / ours:>17.0f}x"
        print(f"{name:14} {1e3 * ours:8.2f} {ours / one_pass:8.2f} {roads}")
    ranking = RankingMetrics()
    ranking.setup(instances)
    ranking.check()
    ours = best_of(ranking.time_average_precision, min(repeats, 5))
    theirs = best_of(ranking.time_scikit_learn, min(repeats, 2))
    print(f"\naverage precision from an indicator matrix: {1e3 * ours:.1f} ms, scikit-learn {theirs / ours:.1f}x that")
    ours = best_of(ranking.time_auc_of_documents, repeats)
    print(f"AUC of one ranking of {len(ranking.relevance)} documents: {1e3 * ours:.1f} ms")


if __name__ == "__main__":
    main(quick="--quick" in sys.argv[1:])
