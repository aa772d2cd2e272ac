"""The edges of many graphs in flat arrays: the encoding of `Preferences` for graphs that are not layered."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import sparse

from prefgraph._content import attributes_text
from prefgraph._kernels import ABSENT, ISOLATED, layered_edge_counts, layered_edges
from prefgraph.errors import InvalidGraph, InvalidTarget
from prefgraph.parts import FloatArray, IntArray

Attributes = Mapping[str, npt.NDArray[np.object_]]


class GraphRow(NamedTuple):
    """One graph over label positions: vertices ascending, edges ordered by (init, term), attributes beside them."""

    vertex: IntArray
    init: IntArray
    term: IntArray
    weight: FloatArray
    attributes: Sequence[Mapping[str, Any]] | None = None

    @classmethod
    def of(
        cls,
        vertex: Iterable[int],
        edges: Sequence[tuple[int, int]],
        weight: Sequence[float],
        attributes: Sequence[Mapping[str, Any]],
    ) -> GraphRow:
        """A row from edges in any order."""
        order = sorted(range(len(edges)), key=edges.__getitem__)
        ends = np.array([edges[e] for e in order], np.int32).reshape(-1, 2)
        return cls(
            np.array(sorted(vertex), np.int32),
            ends[:, 0],
            ends[:, 1],
            np.array([weight[e] for e in order], np.float64),
            [attributes[e] for e in order] if any(attributes) else None,
        )

    @classmethod
    def of_layers(cls, vertex: IntArray, layer: IntArray) -> GraphRow:
        """A row from the layer numbers of these vertices."""
        row = layer.reshape(1, -1)
        init, term = layered_edges(row, False, starts(layered_edge_counts(row)))
        return cls(vertex.astype(np.int32, copy=False), vertex[init], vertex[term], np.ones(len(init)))

    def layers(self) -> IntArray | None:
        """The layer number of each vertex, or None where the graph is not layered, or says more than layers.

        Degrees decide: a vertex with an edge is in the layer that has as many vertices above it as it has
        predecessors, and must beat all vertices below that layer.
        """
        if self.attributes is not None or np.any(self.weight != 1.0):
            return None
        n = len(self.vertex)
        above = np.bincount(np.searchsorted(self.vertex, self.term), minlength=n)
        below = np.bincount(np.searchsorted(self.vertex, self.init), minlength=n)
        busy = (above > 0) | (below > 0)
        start, place, size = np.unique(above[busy], return_inverse=True, return_counts=True)
        end = np.cumsum(size)
        if np.any(start != end - size) or np.any(below[busy] != np.count_nonzero(busy) - end[place]):
            return None
        layer = np.full(n, ISOLATED if len(self.init) else 0, np.int32)
        layer[busy] = place
        return layer

    def digest(self) -> tuple[object, ...]:
        """What two rows have in common exactly when they are the same graph; raises where attributes are not plain."""
        texts = None
        if self.attributes is not None:
            texts = tuple(attributes_text(data, "", "") for data in self.attributes)
        return (*(a.tobytes() for a in (self.vertex, self.init, self.term, self.weight)), texts)

    def same(self, other: GraphRow) -> bool:
        """Whether the other row is the same graph. Attributes that are not plain data are compared as they are."""
        try:
            return self.digest() == other.digest()
        except InvalidGraph:
            arrays = zip(self[:4], other[:4], strict=True)
            return all(np.array_equal(a, b) for a, b in arrays) and self.attributes == other.attributes


@dataclass(frozen=True, eq=False)
class EdgeTable:
    """Graphs ``0 .. n-1``: vertices and edges of graph ``g`` stand between ``offsets[g]`` and ``offsets[g + 1]``."""

    vertex_offsets: IntArray
    vertex: IntArray
    offsets: IntArray
    init: IntArray
    term: IntArray
    weight: FloatArray
    attributes: Attributes = field(default_factory=dict)

    def __post_init__(self) -> None:
        for array in (*self.arrays().values(), *self.attributes.values()):
            array.setflags(write=False)
        object.__setattr__(self, "attributes", MappingProxyType(dict(self.attributes)))

    def __reduce__(self) -> tuple[Any, ...]:
        """Copies and pickles are made again, because numpy would give them arrays that can be written."""
        return EdgeTable, (*self.arrays().values(), dict(self.attributes))

    @classmethod
    def of(cls, rows: Sequence[GraphRow]) -> EdgeTable:
        """The table of these graphs."""

        def joined(arrays: list[Any], dtype: npt.DTypeLike) -> Any:
            return np.concatenate(arrays).astype(dtype, copy=False) if arrays else np.empty(0, dtype)

        offsets = starts([len(row.init) for row in rows])
        return cls(
            starts([len(row.vertex) for row in rows]),
            joined([row.vertex for row in rows], np.int32),
            offsets,
            joined([row.init for row in rows], np.int32),
            joined([row.term for row in rows], np.int32),
            joined([row.weight for row in rows], np.float64),
            _columns(rows, offsets),
        )

    @classmethod
    def of_layers(cls, layer: IntArray) -> EdgeTable:
        """The table of layered graphs, given as rows of layer numbers."""
        offsets = starts(layered_edge_counts(layer))
        init, term = layered_edges(layer, False, offsets)
        is_vertex = layer != ABSENT
        vertex = np.nonzero(is_vertex)[1].astype(np.int32)
        return cls(starts(np.count_nonzero(is_vertex, axis=1)), vertex, offsets, init, term, np.ones(len(init)))

    def arrays(self) -> dict[str, npt.NDArray[Any]]:
        """The arrays by name, without the attributes."""
        names = ("vertex_offsets", "vertex", "offsets", "init", "term", "weight")
        return {name: getattr(self, name) for name in names}

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def row(self, graph: int) -> GraphRow:
        """One graph of the table."""
        vertices = slice(self.vertex_offsets[graph], self.vertex_offsets[graph + 1])
        edges = slice(self.offsets[graph], self.offsets[graph + 1])
        attributes = None
        if self.attributes:
            attributes = [
                {name: value for name, value in zip(self.attributes, values, strict=True) if value is not None}
                for values in zip(*(column[edges] for column in self.attributes.values()), strict=True)
            ]
            attributes = attributes if any(attributes) else None
        return GraphRow(self.vertex[vertices], self.init[edges], self.term[edges], self.weight[edges], attributes)

    def take(self, graphs: IntArray) -> EdgeTable:
        """The table of the graphs with these numbers."""
        vertices, edges = gather(self.vertex_offsets, graphs), gather(self.offsets, graphs)
        columns = {name: column[edges] for name, column in self.attributes.items()}
        return EdgeTable(
            starts(np.diff(self.vertex_offsets)[graphs]),
            self.vertex[vertices],
            starts(np.diff(self.offsets)[graphs]),
            self.init[edges],
            self.term[edges],
            self.weight[edges],
            {name: column for name, column in columns.items() if any(value is not None for value in column)},
        )

    def components(self) -> IntArray:
        """The strong component of each vertex, numbered over all graphs; -1 where a vertex is on no cycle.

        All graphs at once: side by side they are one large graph, whose components are theirs. O(vertices + edges).
        """
        from scipy.sparse.csgraph import connected_components

        n, width = len(self.vertex), int(self.vertex.max(initial=0)) + 1
        slots = runs(self.vertex_offsets) * width + self.vertex  # ascending, so that an edge finds its vertices
        graph = runs(self.offsets) * width
        ends = np.searchsorted(slots, graph + self.init), np.searchsorted(slots, graph + self.term)
        edges = sparse.csr_array((np.ones(len(self.init), np.int8), ends), shape=(n, n))
        _, component = connected_components(edges, directed=True, connection="strong")
        _, number, size = np.unique(component, return_inverse=True, return_counts=True)
        return np.where(size[number] > 1, number, -1)

    def followed_by(self, other: EdgeTable) -> EdgeTable:
        """The graphs of this table, then those of the other, which has no attributes."""
        nothing = np.full(len(other.init), None, object)
        return EdgeTable(
            np.append(self.vertex_offsets, other.vertex_offsets[1:] + self.vertex_offsets[-1]),
            np.append(self.vertex, other.vertex),
            np.append(self.offsets, other.offsets[1:] + self.offsets[-1]),
            np.append(self.init, other.init),
            np.append(self.term, other.term),
            np.append(self.weight, other.weight),
            {name: np.append(column, nothing) for name, column in self.attributes.items()},
        )

    def relabelled(self, place: IntArray) -> EdgeTable:
        """The same graphs where label ``v`` stands at position ``place[v]``."""
        vertex = place[self.vertex].astype(np.int32)
        init, term = place[self.init].astype(np.int32), place[self.term].astype(np.int32)
        by_vertex = np.lexsort((vertex, runs(self.vertex_offsets)))
        order = np.lexsort((term, init, runs(self.offsets)))
        columns = {name: column[order] for name, column in self.attributes.items()}
        return EdgeTable(
            self.vertex_offsets, vertex[by_vertex], self.offsets, init[order], term[order], self.weight[order], columns
        )


def _columns(rows: Sequence[GraphRow], offsets: IntArray) -> dict[str, npt.NDArray[np.object_]]:
    """Edge attributes as columns over all edges, None where nothing was said."""
    columns: dict[str, npt.NDArray[np.object_]] = {}
    for row, start in zip(rows, offsets[:-1], strict=True):
        for e, data in enumerate(row.attributes or ()):
            for name, value in data.items():
                column = columns.get(name)
                if column is None:
                    column = columns[name] = np.full(offsets[-1], None, object)
                column[start + e] = value
    return columns


def starts(counts: npt.ArrayLike) -> IntArray:
    """Offsets of consecutive runs of these lengths: ``[2, 3] -> [0, 2, 5]``."""
    out = np.zeros(len(np.asarray(counts)) + 1, np.int64)
    np.cumsum(counts, out=out[1:])
    return out


def runs(offsets: IntArray) -> IntArray:
    """The number of the run that each element is in: ``[0, 2, 5] -> [0, 0, 1, 1, 1]``."""
    return np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))


def gather(offsets: IntArray, chosen: IntArray) -> IntArray:
    """The positions of all elements of the runs with these numbers, one run after the other."""
    counts = np.diff(offsets)[chosen]
    total = starts(counts)
    return np.arange(total[-1]) + np.repeat(offsets[:-1][chosen] - total[:-1], counts)


def row_numbers(rows: slice | npt.ArrayLike, n: int) -> IntArray:
    """The numbers of the instances that a slice, a list of numbers or a mask means, of ``n``."""
    if isinstance(rows, slice):
        return np.arange(n)[rows]
    chosen = np.asarray(rows)
    if chosen.dtype == bool:
        if chosen.shape != (n,):
            raise IndexError(f"a mask of shape {chosen.shape} for {n} instances; it has one entry for each")
        return np.flatnonzero(chosen)
    if chosen.size and (chosen.dtype.kind not in "iu" or chosen.ndim > 1):
        raise IndexError(
            f"instances are chosen by an array of shape {chosen.shape} and type {chosen.dtype}; give a slice, a list "
            "of row numbers or a mask"
        )
    if chosen.size and not (-n <= chosen.min() and chosen.max() < n):
        raise IndexError(f"instances {chosen.min()} to {chosen.max()} of {n}; numbers go from 0 to {n - 1}")
    return chosen.astype(np.int64).reshape(-1) % max(n, 1)


def instance_weights(weight: npt.ArrayLike | None, m: int) -> FloatArray:
    """The weights of m instances, read-only: finite and 0 or more, 1 each where none are given."""
    if weight is None:
        values = np.ones(m)
    else:
        try:
            values = np.array(weight, np.float64)
        except (ValueError, TypeError):
            raise InvalidTarget(f"weight is not numeric; give one number for each of the {m} instances") from None
        if values.shape != (m,):
            raise InvalidTarget(f"weight has the shape {values.shape} for {m} instances; give one number for each")
        if (bad := np.flatnonzero(~(np.isfinite(values) & (values >= 0)))).size:
            raise InvalidTarget(
                f"instance {bad[0]}: the weight is {values[bad[0]].item()!r}; the weight of an instance is finite and "
                "0 or more"
            )
    values.setflags(write=False)
    return values
