"""Equal graphs are kept once: one form for each graph, whatever it came from, and the search for equal ones."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from prefgraph._edge_table import EdgeTable, GraphRow, runs
from prefgraph._kernels import ABSENT, equal_lists, hash_lists, layered_edge_counts
from prefgraph.errors import InvalidGraph, InvalidTarget
from prefgraph.parts import IntArray

BLOCK = 2**20  # entries that are sorted or compared at once: copies of all rows would take many times their room


class GraphCollector:
    """Gathers the graphs of instances one by one, each distinct graph once.

    Parameters
    ----------
    n_labels
        The length of the label index.
    encoding
        ``"layered"`` keeps a graph as layers wherever it is layered, ``"edges"`` never, ``"auto"`` where that takes
        less room, or little.
    """

    def __init__(self, n_labels: int, encoding: str = "auto") -> None:
        self.n_labels = n_labels
        self.encoding = encoding
        self._numbers: dict[object, int] = {}  # graph -> its number, in the order of appearance
        self._layers: dict[int, tuple[IntArray, IntArray]] = {}
        self._rows: dict[int, GraphRow] = {}
        self._instances: list[int] = []

    def add(self, row: GraphRow) -> None:
        """Add an instance with this graph."""
        layer = row.layers()
        if layer is not None:
            self.add_layers(row.vertex, layer)
            return
        try:
            number = self._number(row.digest())
        except InvalidGraph:  # attributes that are not plain data, nothing to find it by: shared with no other
            number = self._number(object())
        self._rows.setdefault(number, row)

    def add_layers(self, vertex: IntArray, layer: IntArray) -> None:
        """Add an instance with a layered graph: the layer numbers of these vertices, as `normalize_layers` has them."""
        number = self._number((vertex.tobytes(), layer.astype(np.int32, copy=False).tobytes()))
        if number in self._layers or number in self._rows:
            return
        if self.encoding == "layered" or (self.encoding == "auto" and worth_a_row(self.n_labels, layer[np.newaxis])[0]):
            self._layers[number] = (vertex, layer)
        else:
            self._rows[number] = GraphRow.of_layers(vertex, layer)

    def _number(self, content: object) -> int:
        number = self._numbers.setdefault(content, len(self._numbers))
        self._instances.append(number)
        return number

    def arrays(self) -> tuple[IntArray, IntArray, EdgeTable]:
        """(number of each instance's graph, layers of the layered graphs, table of the others)."""
        place = np.empty(len(self._numbers), np.int32)
        place[[*self._layers, *self._rows]] = np.arange(len(place), dtype=np.int32)
        graph_index = place[np.array(self._instances, np.int64)]
        matrix = np.full((len(self._layers), self.n_labels), ABSENT, smallest_type(self.n_labels))
        for k, (vertex, layer) in enumerate(self._layers.values()):
            matrix[k, vertex] = layer
        matrix = matrix.astype(smallest_type(int(matrix.max(initial=0))), copy=False)
        return graph_index, matrix, EdgeTable.of(list(self._rows.values()))


def worth_a_row(n_labels: int, layer: IntArray) -> npt.NDArray[np.bool_]:
    """Whether layered graphs, rows of ``layer``, should be rows over ``n_labels`` labels rather than lists of edges.

    A row takes a byte for each label; a list 4 bytes for each vertex and 16 for each edge. Short rows are always fine.
    """
    if n_labels <= 64:
        return np.ones(len(layer), bool)
    listed = 64 + 4 * np.count_nonzero(layer != ABSENT, axis=1)
    if np.all(n_labels <= listed):
        return np.ones(len(layer), bool)
    return np.asarray(n_labels <= listed + 16 * layered_edge_counts(layer))


def smallest_type(largest: int) -> type[np.signedinteger[Any]]:
    """The smallest integer type that holds layer numbers up to the largest."""
    return np.int8 if largest <= 127 else np.int16 if largest <= 32767 else np.int32


def compact_layers(layer: IntArray) -> IntArray:
    """A copy in the smallest type that holds the layer numbers, which are numbered first if they are wide apart."""
    if layer.max(initial=0) >= max(layer.shape[1], 1):
        layer = np.where(layer >= 0, rank_rows(layer, layer < 0), layer.astype(np.int32))
    return np.array(layer, smallest_type(int(layer.max(initial=0))), order="C")


def rank_rows(values: npt.NDArray[Any], missing: npt.NDArray[np.bool_]) -> IntArray:
    """Number the values of each row 0, 1, 2 ... by size, equal ones alike; `ABSENT` where one is missing."""
    m, n = values.shape
    out = np.full((m, n), ABSENT, smallest_type(n))
    block = max(1, BLOCK // max(n, 1))
    for start in range(0, m, block):
        rows = slice(start, start + block)
        order = np.lexsort((values[rows], missing[rows]), axis=1)
        ordered = np.take_along_axis(values[rows], order, axis=1)
        rank = np.zeros(order.shape, np.int64)
        np.cumsum(ordered[:, 1:] != ordered[:, :-1], axis=1, out=rank[:, 1:])
        np.put_along_axis(out[rows], order, rank.astype(out.dtype), axis=1)
    out[missing] = ABSENT
    return out


def indicator_matrix(relevant: Any) -> sparse.csr_array[Any, tuple[int, int]]:
    """A matrix of 0 and 1 in CSR form, each 1 listed once and in order, nothing else listed."""
    matrix = sparse.csr_array(relevant)
    if matrix.ndim != 2:
        raise InvalidTarget(f"the indicator matrix has the shape {matrix.shape}; it is instances x labels")
    strange = (matrix.data != 1) & (matrix.data != 0)
    if np.any(strange):
        entry = int(np.argmax(strange))
        raise InvalidTarget(
            f"instance {runs(matrix.indptr)[entry]}: the indicator matrix has the value {matrix.data[entry].item()!r} "
            f"in column {matrix.indices[entry]}; it holds 0 and 1 only, each entry once"
        )
    if not matrix.has_canonical_format or not np.all(matrix.data):
        matrix = sparse.csr_array(
            (matrix.data.astype(np.int32), matrix.indices, matrix.indptr), matrix.shape, copy=True
        )
        matrix.sum_duplicates()
        if np.any(matrix.data > 1):
            entry = int(np.argmax(matrix.data > 1))
            raise InvalidTarget(
                f"instance {runs(matrix.indptr)[entry]}: the indicator matrix lists column {matrix.indices[entry]} "
                "twice; list each label of an instance once"
            )
        matrix.eliminate_zeros()
    return matrix


def equal_rows(a: IntArray, rows: IntArray, b: IntArray, others: IntArray) -> bool:
    """Whether ``a[rows]`` equals ``b[others]``, without a copy of all of them at once."""
    step = max(1, BLOCK // max(a.shape[1], 1))
    blocks = (slice(k, k + step) for k in range(0, len(rows), step))
    return all(np.array_equal(a[rows[block]], b[others[block]]) for block in blocks)


def distinct_rows(rows: IntArray) -> tuple[IntArray, IntArray]:
    """(the distinct rows in the order of appearance, the number of each row among them); no copy if all differ."""
    m, n = rows.shape
    first, number = distinct_lists(np.arange(m + 1, dtype=np.int64) * n, rows.reshape(-1))
    return rows if len(first) == m else rows[first], number


def distinct_lists(offsets: IntArray, values: IntArray) -> tuple[IntArray, IntArray]:
    """(first of each group of equal lists, group of each list), groups numbered in the order of appearance.

    List ``i`` is ``values[offsets[i]:offsets[i + 1]]``. Lists are grouped by a hash, then checked element by element;
    should two different lists have one hash, all are grouped by content instead.
    """
    hashes = hash_lists(offsets, values)
    first, number = _numbered(hashes)
    if not equal_lists(offsets, values, first[number]):
        content: dict[bytes, int] = {}
        for i in range(len(hashes)):
            hashes[i] = content.setdefault(values[offsets[i] : offsets[i + 1]].tobytes(), i)
        first, number = _numbered(hashes)
    return first, number


def _numbered(hashes: npt.NDArray[np.uint64]) -> tuple[IntArray, IntArray]:
    """(first instance with each hash in the order of appearance, number of each instance's hash)."""
    _, first, inverse = np.unique(hashes, return_index=True, return_inverse=True)
    order = np.argsort(first)
    number = np.empty(len(order), np.int32)
    number[order] = np.arange(len(order), dtype=np.int32)
    return first[order], number[inverse.reshape(-1)]
