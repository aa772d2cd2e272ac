"""From compiled graphs to parts: each distinct graph is cut once, then its parts are repeated for its instances."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from prefgraph._edge_table import gather, runs, starts
from prefgraph._kernels import layered_edge_counts, layered_edges
from prefgraph.decompose import BUILT_IN, Decomposition, cut_edges, find_decomposition, takes_instance
from prefgraph.graph import PreferenceGraph
from prefgraph.parts import FloatArray, IntArray, Parts

if TYPE_CHECKING:
    from prefgraph.compiled import Preferences


class _Cut(NamedTuple):
    """The edges of several graphs, part by part: those of graph ``g`` stand between two ``offsets``."""

    offsets: IntArray
    begins: npt.NDArray[np.bool_]  # where a part begins; the first edge of a graph always begins one
    init: IntArray
    term: IntArray
    weight: FloatArray
    attributes: Mapping[str, npt.NDArray[np.object_]]


def cut(p: Preferences, decomposition: str | Decomposition) -> Parts:
    """The parts of all instances; see `Preferences.parts`."""
    function = find_decomposition(decomposition)
    name = getattr(function, "__name__", "")
    if name in BUILT_IN and find_decomposition(name) is function:
        return _repeated(p, _cut_by_name(p, name), p.graph_index)
    if takes_instance(function):
        rows = range(len(p))
        return _repeated(p, _cut_by_call(p, [p[i] for i in rows], function, rows), np.arange(len(p)))
    graphs = [p.graph(g) for g in range(p.n_graphs)]
    return _repeated(p, _cut_by_call(p, graphs, function, None), p.graph_index)


def _cut_by_name(p: Preferences, name: str) -> _Cut:
    """The distinct graphs under a built-in decomposition, edges ordered by (init, term), in-stars by (term, init)."""
    by_term = name == "dominated"
    counts = layered_edge_counts(p.layer)
    init, term = layered_edges(p.layer, by_term, starts(counts))
    offsets = starts(np.concatenate([counts, np.diff(p.table.offsets)]))
    nothing = np.full(len(init), None, object)
    attributes = {key: np.concatenate([nothing, column]) for key, column in p.table.attributes.items()}
    weight = np.concatenate([np.ones(len(init)), p.table.weight])
    init, term = np.concatenate([init, p.table.init]), np.concatenate([term, p.table.term])
    if by_term and len(p.table):
        order = np.lexsort((init, term, runs(offsets)))
        init, term, weight = init[order], term[order], weight[order]
        attributes = {key: column[order] for key, column in attributes.items()}
    begins = np.full(len(init), name == "disagreement")
    begins[offsets[:-1][np.diff(offsets) > 0]] = True
    if name in ("domination", "dominated"):
        centre = term if by_term else init
        begins[1:] |= centre[1:] != centre[:-1]
    return _Cut(offsets, begins, init, term, weight, attributes)


def _cut_by_call(
    p: Preferences, graphs: Sequence[PreferenceGraph], function: Decomposition, instances: Sequence[int] | None
) -> _Cut:
    """Any graphs under any function, called for each."""
    index = {v: k for k, v in enumerate(p.labels)}
    counts: list[int] = []
    sizes: list[int] = []
    ends: list[tuple[int, int]] = []
    said: list[dict[str, Any]] = []
    for i, graph in enumerate(graphs):
        parts = cut_edges(graph, function, None if instances is None else instances[i])
        counts.append(sum(map(len, parts)))
        sizes += map(len, parts)
        ends += [(index[u], index[v]) for part in parts for u, v in part]
        said += [graph[u][v] for part in parts for u, v in part]
    init, term = np.array(ends, np.int32).reshape(-1, 2).T
    weight = np.array([data.get("weight", 1.0) for data in said], np.float64)
    attributes = {}
    for name in p.table.attributes:
        attributes[name] = np.full(len(said), None, object)
        for e, data in enumerate(said):
            attributes[name][e] = data.get(name)
    begins = np.zeros(len(said), bool)
    begins[starts(sizes)[:-1]] = True
    return _Cut(starts(counts), begins, init, term, weight, attributes)


def _repeated(p: Preferences, graphs: _Cut, graph_index: IntArray) -> Parts:
    """The parts of the instances, where instance ``i`` has the graph ``graph_index[i]`` of those cut."""
    counts = np.diff(graphs.offsets)
    # no copy where each instance has a graph of its own, which is when there is most to copy
    in_order = np.array_equal(graph_index, np.arange(len(counts)))
    rows: Any = slice(None) if in_order else gather(graphs.offsets, graph_index)
    begins = graphs.begins[rows]
    part = np.cumsum(begins, dtype=np.int64)
    part -= 1
    instance = np.repeat(np.arange(len(p)), counts[graph_index])
    first = np.flatnonzero(begins)
    return Parts(
        instance,
        part,
        graphs.init[rows],
        graphs.term[rows],
        graphs.weight[rows],
        np.append(first, len(begins)),
        instance[first],
        p.labels,
        len(p),
        {name: column[rows] for name, column in graphs.attributes.items()},
    )
