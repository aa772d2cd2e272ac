"""Exact feedback arcs at the stated limit, the heuristic past it, and the first cycles of a dense graph.

python benchmarks/bench_cycles.py [graphs of each kind]
"""

import sys
from collections.abc import Callable
from itertools import combinations
from time import perf_counter

import numpy as np

from prefgraph import PreferenceGraph
from prefgraph.cycles import EXACT_LIMIT, feedback_arcs

Weigh = Callable[[np.random.Generator], float]


def random_graph(labels: int, share: float, weigh: Weigh, seed: int) -> PreferenceGraph:
    """A share of all pairs, each in a random direction; a ring through all labels makes it one strong component."""
    rng = np.random.default_rng(seed)
    ring = [int(v) for v in rng.permutation(labels)]
    edges = {(u, v): weigh(rng) for u, v in zip(ring, ring[1:] + ring[:1], strict=True)}
    for u, v in combinations(range(labels), 2):
        if (u, v) in edges or (v, u) in edges or rng.random() >= share:
            continue
        edges[(u, v) if rng.random() < 0.5 else (v, u)] = weigh(rng)
    return PreferenceGraph((u, v, {"weight": w}) for (u, v), w in edges.items())


def paley(p: int) -> PreferenceGraph:
    """The most symmetric tournament: u is preferred to u plus a square modulo p. Bounds help least here."""
    squares = {k * k % p for k in range(1, p)}
    return PreferenceGraph((u, (u + k) % p) for u in range(p) for k in squares)


WEIGHTS: dict[str, Weigh] = {
    "unit": lambda _: 1.0,
    "whole": lambda rng: float(rng.integers(1, 10)),
    "real": lambda rng: float(rng.random()) + 1e-9,
}


class ExactFeedbackArcs:
    """Random graphs of 25 labels in one strong component."""

    param_names = ("weights", "share")
    params = (tuple(WEIGHTS), (1.0, 0.5, 0.2))

    def setup(self, weights: str, share: float, graphs: int = 3) -> None:
        self.graphs = [random_graph(EXACT_LIMIT, share, WEIGHTS[weights], seed) for seed in range(graphs)]
        feedback_arcs(paley(11))  # compiles

    def time_exact(self, *_: object) -> list[float]:
        seconds = []
        for graph in self.graphs:
            start = perf_counter()
            arcs = feedback_arcs(graph)
            seconds.append(perf_counter() - start)
            assert arcs.exact
            assert arcs.weight <= feedback_arcs(graph, exact=False).weight * (1 + 1e-11)
        return seconds


class LargeGraphs:
    """One strong component of many labels, real weights."""

    param_names = ("labels", "share")
    params = ((300, 1_000, 3_000), (1.0, 0.01))

    def setup(self, labels: int, share: float) -> None:
        self.graph = random_graph(labels, share, WEIGHTS["real"], 0)

    def time_heuristic(self, *_: object) -> None:
        assert 0 < len(feedback_arcs(self.graph, exact=False)) < self.graph.number_of_edges() / 2

    def time_hundred_cycles(self, *_: object) -> None:
        assert len(self.graph.cycles()) == 100


def timed(work: Callable[[], object]) -> float:
    start = perf_counter()
    work()
    return perf_counter() - start


def main(graphs: int) -> None:
    exact = ExactFeedbackArcs()
    for weights in exact.params[0]:
        for share in exact.params[1]:
            exact.setup(weights, share, graphs)
            seconds = exact.time_exact()
            print(
                f"exact, {EXACT_LIMIT} labels, {share:.0%} of pairs, {weights} weights: "
                f"median {np.median(seconds):.3f} s, worst of {graphs} {max(seconds):.3f} s"
            )
    for p in (11, 19, 23):
        print(f"exact, Paley tournament of {p}: {timed(lambda p=p: feedback_arcs(paley(p))):.3f} s")
    large = LargeGraphs()
    for labels, share in ((300, 1.0), (1_000, 1.0), (1_000, 0.01), (3_000, 0.01)):
        large.setup(labels, share)
        arcs = timed(large.time_heuristic)
        cycles = timed(large.time_hundred_cycles)
        print(f"{labels} labels, {share:.0%} of pairs: heuristic arcs {arcs:.2f} s, 100 cycles {cycles:.2f} s")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 20)
