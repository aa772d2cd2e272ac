"""The edges of many graphs in flat arrays: the encoding of `Preferences` for graphs that are not layered."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from prefgraph._content import attributes_text
from prefgraph._kernels import ABSENT, ISOLATED
from prefgraph.errors import InvalidGraph
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

    def layers(self, n_labels: int) -> IntArray | None:
        """The row of layer numbers over all labels, or None where the graph is not layered, or says more than layers.

        Degrees decide: a vertex with an edge is in the layer that has as many vertices above it as it has
        predecessors, and must beat all vertices below that layer.
        """
        if self.attributes is not None or np.any(self.weight != 1.0):
            return None
        layer = np.full(n_labels, ABSENT, np.int32)
        layer[self.vertex] = ISOLATED if len(self.init) else 0
        busy = np.unique(np.concatenate([self.init, self.term]))
        above = np.bincount(self.term, minlength=n_labels)[busy]
        below = np.bincount(self.init, minlength=n_labels)[busy]
        start, place, size = np.unique(above, return_inverse=True, return_counts=True)
        end = np.cumsum(size)
        if np.any(start != end - size) or np.any(below != len(busy) - end[place]):
            return None
        layer[busy] = place
        return layer

    def digest(self) -> tuple[object, ...]:
        """What two rows have in common exactly when they are the same graph."""
        texts: object = None
        if self.attributes is not None:
            try:
                texts = tuple(attributes_text(data, "", "") for data in self.attributes)
            except InvalidGraph:  # not plain data: nothing to compare by, so the graph is shared with no other
                texts = object()
        arrays = (self.vertex, self.init, self.term, self.weight)
        return (*(a.tobytes() for a in arrays), texts)


@dataclass(frozen=True)
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
        for array in (self.vertex_offsets, self.vertex, self.offsets, self.init, self.term, self.weight):
            array.setflags(write=False)
        for column in self.attributes.values():
            column.setflags(write=False)

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


def gather(offsets: IntArray, runs: IntArray) -> IntArray:
    """The positions of all elements of the runs with these numbers, one run after the other."""
    counts = np.diff(offsets)[runs]
    total = starts(counts)
    return np.arange(total[-1]) + np.repeat(offsets[:-1][runs] - total[:-1], counts)
