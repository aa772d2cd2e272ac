"""From compiled graphs to parts: each distinct graph is cut once, then its parts are repeated for its instances."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from prefgraph._edge_table import gather, starts
from prefgraph._kernels import layered_edge_counts, layered_edges
from prefgraph.decompose import BUILT_IN, Decomposition, cut_edges, find_decomposition, takes_instance
from prefgraph.graph import PreferenceGraph
from prefgraph.parts import FloatArray, IntArray, Parts

if TYPE_CHECKING:
    from prefgraph.compiled import Preferences


class _Cut(NamedTuple):
    """The edges of several graphs, part by part: those of graph ``g`` stand between two ``offsets``."""

    offsets: IntArray
    part: IntArray  # counted over all graphs
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
    graph = np.repeat(np.arange(p.n_graphs), np.diff(offsets))
    nothing = np.full(len(init), None, object)
    attributes = {key: np.concatenate([nothing, column]) for key, column in p.table.attributes.items()}
    weight = np.concatenate([np.ones(len(init)), p.table.weight])
    init, term = np.concatenate([init, p.table.init]), np.concatenate([term, p.table.term])
    if by_term and len(p.table):
        order = np.lexsort((init, term, graph))
        init, term, weight = init[order], term[order], weight[order]
        attributes = {key: column[order] for key, column in attributes.items()}
    starts_part = _changes(graph)
    if name == "disagreement":
        starts_part[:] = True
    elif name != "identity":
        starts_part |= _changes(term if by_term else init)
    return _Cut(offsets, np.cumsum(starts_part) - 1, init, term, weight, attributes)


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
    return _Cut(starts(counts), np.repeat(np.arange(len(sizes)), sizes), init, term, weight, attributes)


def _repeated(p: Preferences, graphs: _Cut, graph_index: IntArray) -> Parts:
    """The parts of the instances, where instance ``i`` has the graph ``graph_index[i]`` of those cut."""
    rows = gather(graphs.offsets, graph_index)
    instance = np.repeat(np.arange(len(p)), np.diff(graphs.offsets)[graph_index])
    starts_part = _changes(instance) | _changes(graphs.part[rows])
    first = np.flatnonzero(starts_part)
    return Parts(
        instance,
        np.cumsum(starts_part) - 1,
        graphs.init[rows],
        graphs.term[rows],
        graphs.weight[rows],
        np.append(first, len(rows)),
        instance[first],
        p.labels,
        len(p),
        {name: column[rows] for name, column in graphs.attributes.items()},
    )


def _changes(values: IntArray) -> npt.NDArray[np.bool_]:
    """Where a value differs from the one before it; the first always does."""
    changes = np.ones(len(values), bool)
    np.not_equal(values[1:], values[:-1], out=changes[1:])
    return changes
