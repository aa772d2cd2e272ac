"""Compiling, memory, parts, keys and strong components, as ratios measured in one run.

python benchmarks/bench_graphs.py [--quick]

Every road is checked to give the same result before it is timed; times are the best of several runs after a first one
that compiles the kernels. ``--quick`` takes the smallest sizes.
"""

import resource
import subprocess
import sys
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from time import perf_counter
from typing import Any

import networkx as nx
import numpy as np
import rustworkx as rx
from scipy import sparse

import prefgraph as pg
from prefgraph.cycles import strong_components

N_LABELS = 100
MEGABYTE = 1e6


def indicator(instances: int, fewest: int = 1) -> sparse.csr_array[Any, Any]:
    """A random set of so many labels, or up to four more, for each instance: most are distinct, the hard case."""
    rng = np.random.default_rng(0)
    sizes = rng.integers(fewest, fewest + 5, instances)
    rows = np.repeat(np.arange(instances), sizes)
    matrix = sparse.csr_array(
        (np.ones(len(rows), np.int8), (rows, rng.integers(0, N_LABELS, len(rows)))), shape=(instances, N_LABELS)
    )
    matrix.data[:] = 1
    return matrix


def layers(instances: int, n_labels: int = 103, seed: int = 0) -> np.ndarray:
    """Two labels in the best layer and seven in the next, as in the RCV1 hierarchy: some 850 edges an instance."""
    order = np.random.default_rng(seed).random((instances, n_labels)).argsort(axis=1)
    return np.select([order < 2, order < 9], [0, 1], 2).astype(np.int8)


def cyclic_graphs(graphs: int, n_labels: int = 20, seed: int = 0) -> list[pg.PreferenceGraph]:
    """Graphs with an edge in a random direction between every fifth pair of labels; most of them are cyclic."""
    rng = np.random.default_rng(seed)
    a, b = np.triu_indices(n_labels, k=1)
    made = []
    for _ in range(graphs):
        kept, turned = rng.random(len(a)) < 0.2, rng.random(len(a)) < 0.5
        ends = np.where(turned, [b, a], [a, b])[:, kept]
        made.append(pg.PreferenceGraph(ends.T.tolist(), nodes=range(n_labels)))
    return made


class Compiling:
    """Preferences from a sparse indicator matrix, against a loop that makes a networkx graph for each instance."""

    param_names = ("instances",)
    params = (2_000, 100_000)

    def setup(self, instances: int) -> None:
        self.matrix = indicator(instances)
        self.sample = self.matrix[: max(200, instances // 200)]
        assert [set(g.edges) for g in self.time_compile(self.sample)] == [set(g.edges) for g in self.time_networkx()]

    def time_compile(self, matrix: sparse.csr_array[Any, Any] | None = None) -> pg.Preferences:
        return pg.Preferences.from_indicator(self.matrix if matrix is None else matrix)

    def time_networkx(self) -> list[nx.DiGraph]:
        """The plainest loop there is, on the sample: no checks, no sharing, no key."""
        graphs = []
        m = self.sample
        for i in range(m.shape[0]):
            relevant = set(m.indices[m.indptr[i] : m.indptr[i + 1]].tolist())
            others = [v for v in range(N_LABELS) if v not in relevant]
            graph = nx.DiGraph()
            graph.add_nodes_from(range(N_LABELS))
            graph.add_edges_from((u, v) for u in relevant for v in others)
            graphs.append(graph)
        return graphs


class StrongComponents:
    """The strong components of many small graphs."""

    param_names = ("graphs",)
    params = (100, 2_000)

    def setup(self, graphs: int) -> None:
        self.graphs = cyclic_graphs(graphs)
        self.p = pg.as_preferences(self.graphs)
        self.rust = []
        for graph in self.graphs:
            made = rx.PyDiGraph()
            made.add_nodes_from(list(graph))
            made.add_edges_from_no_data(list(graph.edges))
            self.rust.append(made)
        expected = [sorted(map(sorted, components)) for components in self.time_prefgraph()]
        assert any(expected)
        assert expected == [sorted(sorted(c) for c in found if len(c) > 1) for found in self.time_networkx()]
        assert expected == [sorted(sorted(c) for c in found if len(c) > 1) for found in self.time_rustworkx()]
        assert self.time_compiled().tolist() == [bool(components) for components in expected]

    def time_prefgraph(self) -> list[list[list[Any]]]:
        return [strong_components(graph) for graph in self.graphs]

    def time_networkx(self) -> list[list[set[Any]]]:
        return [list(nx.strongly_connected_components(graph)) for graph in self.graphs]

    def time_rustworkx(self) -> list[list[list[int]]]:
        """Graphs that are in rustworkx already."""
        return [rx.strongly_connected_components(graph) for graph in self.rust]

    def time_rustworkx_from_networkx(self) -> list[list[list[int]]]:
        return [rx.strongly_connected_components(rx.networkx_converter(graph)) for graph in self.graphs]

    def time_compiled(self) -> np.ndarray:
        """All graphs at once, from the compiled edges: which instances are cyclic."""
        return self.p.is_cyclic()


class Reading:
    """Looking at compiled graphs one by one, and all their edges at once."""

    param_names = ("instances",)
    params = (200, 20_000)

    def setup(self, instances: int) -> None:
        self.p = pg.Preferences.from_layer_matrix(layers(instances))
        self.rows = np.arange(0, instances, max(1, instances // 100))
        self.half = np.arange(0, instances, 2)
        self.pieces = [self.p[k::100] for k in range(100)]
        assert self.p.graph_keys()[:5] == [self.p[i].key for i in range(5)]
        counts = [len(g.decompose("domination")) for g in self.p[:20]]
        assert self.time_parts("domination").counts[:20].tolist() == counts
        assert self.time_concatenate() == self.p[np.concatenate([np.arange(k, instances, 100) for k in range(100)])]

    def time_graph(self) -> None:
        for i in self.rows:
            self.p[i]

    def time_keys(self) -> list[str]:
        return self.p.graph_keys()

    def time_parts(self, name: str) -> pg.Parts:
        return self.p.parts(name)

    def time_take(self) -> pg.Preferences:
        return self.p.take(self.half)

    def time_equal(self) -> bool:
        return self.p == self.p

    def time_concatenate(self) -> pg.Preferences:
        return pg.Preferences.concatenate(self.pieces)


def best_of(work: Callable[[], object], repeats: int) -> float:
    """Seconds of the fastest run."""
    seconds = []
    for _ in range(repeats):
        start = perf_counter()
        work()
        seconds.append(perf_counter() - start)
    return min(seconds)


def memory(instances: int) -> tuple[float, float, float]:
    """In MB: the arrays of the compiled object, the most that compiling held, the peak of a fresh process."""
    script = f"import bench_graphs; bench_graphs.print_memory({instances})"
    folder = Path(__file__).parent
    done = subprocess.run([sys.executable, "-c", script], cwd=folder, check=True, capture_output=True, text=True)
    own, held, peak = map(float, done.stdout.split())
    return own, held, peak


def print_memory(instances: int) -> None:
    """What `memory` reads. The kernels are loaded first: they are not the data's."""
    pg.Preferences.from_indicator(indicator(10))
    matrix = indicator(instances, fewest=5)
    tracemalloc.start()
    p = pg.Preferences.from_indicator(matrix)
    held = tracemalloc.get_traced_memory()[1]
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    assert (len(p), p.is_layered) == (instances, True)
    assert p.n_graphs > 0.99 * instances
    print(p.nbytes / MEGABYTE, held / MEGABYTE, peak / MEGABYTE)


def row(work: str, seconds: float, note: str = "") -> None:
    print(f"{work:<58} {seconds * 1e3:>12.2f} ms   {note}")


def main(quick: bool) -> None:
    size, repeats = (0, 1) if quick else (-1, 5)

    bench = Compiling()
    bench.setup(m := bench.params[size])
    n = bench.sample.shape[0]
    ours, loop = best_of(bench.time_compile, repeats), best_of(bench.time_networkx, min(repeats, 2)) * m / n
    p = bench.time_compile()
    print(f"{m} instances x {N_LABELS} labels, {p.n_edges / m:.0f} edges each, {p.n_graphs} distinct graphs")
    row("compile from a sparse indicator matrix", ours)
    row("a networkx graph for each", loop, f"{loop / ours:.0f}x (measured on {n} instances and scaled)")

    components = StrongComponents()
    components.setup(m := components.params[size])
    edges = components.p.n_edges / m
    print(f"\nstrong components of {m} graphs of 20 labels, {edges:.0f} edges each")
    rust = best_of(components.time_rustworkx, repeats)
    row("rustworkx, graphs already converted", rust)
    for work, name in (
        (components.time_rustworkx_from_networkx, "rustworkx, with the conversion from networkx"),
        (components.time_prefgraph, "prefgraph.cycles.strong_components"),
        (components.time_networkx, "networkx"),
        (components.time_compiled, "Preferences.is_cyclic, all graphs at once"),
    ):
        seconds = best_of(work, repeats)
        row(name, seconds, f"{seconds / rust:.2f}x rustworkx")

    own, held, peak = memory(m := 10_000 if quick else 1_000_000)
    print(f"\nmemory of {m} instances x {N_LABELS} labels in layered form")
    print(f"{'the compiled object':<58} {own:>12.1f} MB")
    print(f"{'the most that compiling it held':<58} {held:>12.1f} MB")
    print(f"{'peak of the process, libraries and input included':<58} {peak:>12.1f} MB")

    reading = Reading()
    reading.setup(m := reading.params[size])
    edges = reading.p.n_edges
    print(f"\n{m} instances x {len(reading.p.labels)} labels, {edges / m:.0f} edges each, all distinct, layered")
    seconds = best_of(reading.time_graph, repeats) / len(reading.rows)
    row("p[i], a networkx graph", seconds, f"{seconds / (edges / m) * 1e6:.2f} us an edge")
    seconds = best_of(reading.time_keys, repeats) / m
    row("content key of a graph", seconds)
    for name in pg.DECOMPOSITIONS:
        seconds = best_of(lambda name=name: reading.time_parts(name), min(repeats, 3))
        row(f"parts({name!r}), all edges", seconds, f"{seconds / edges * 1e9:.0f} ns an edge")
    row("take every other instance", best_of(reading.time_take, repeats))
    row("concatenate 100 pieces", best_of(reading.time_concatenate, repeats))
    row("compare with itself", best_of(reading.time_equal, repeats))


if __name__ == "__main__":
    main(quick="--quick" in sys.argv[1:])
