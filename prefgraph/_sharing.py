"""Equal graphs are kept once: finding equal rows, equal lists and equal graphs among many."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from prefgraph._edge_table import EdgeTable, GraphRow
from prefgraph._kernels import equal_lists, hash_lists
from prefgraph.parts import IntArray


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
        self._numbers: dict[tuple[object, ...], int] = {}  # graph -> its number, in the order of appearance
        self._layers: dict[int, IntArray] = {}
        self._rows: dict[int, GraphRow] = {}
        self._instances: list[int] = []

    def add(self, row: GraphRow) -> None:
        """Add an instance with this graph."""
        number = self._numbers.setdefault(row.digest(), len(self._numbers))
        self._instances.append(number)
        if number in self._layers or number in self._rows:
            return
        # 8 bytes an edge against 1 byte a label; short label indices are always worth a row
        worth_a_row = self.encoding == "layered" or self.n_labels <= 64 + 8 * len(row.init)
        layer = row.layers(self.n_labels) if self.encoding != "edges" and worth_a_row else None
        if layer is None:
            self._rows[number] = row
        else:
            self._layers[number] = layer

    def arrays(self) -> tuple[IntArray, IntArray, EdgeTable]:
        """(number of each instance's graph, layers of the layered graphs, table of the others)."""
        place = {number: k for k, number in enumerate([*self._layers, *self._rows])}
        graph_index = np.array([place[number] for number in self._instances], np.int32)
        layer = np.array(list(self._layers.values()), np.int32).reshape(len(self._layers), self.n_labels)
        return graph_index, compact_layers(layer), EdgeTable.of(list(self._rows.values()))


def compact_layers(layer: IntArray) -> IntArray:
    """A copy in the smallest type that holds the layer numbers, which are made small first if they are wide apart."""
    largest = int(layer.max(initial=0))
    if largest > np.iinfo(np.int16).max:
        values, codes = np.unique(layer, return_inverse=True)
        codes = codes.reshape(layer.shape) - int(np.searchsorted(values, 0))
        layer = np.where(layer >= 0, codes, layer)
        largest = int(layer.max(initial=0))
    dtype = np.int8 if largest <= 127 else np.int16 if largest <= 32767 else np.int32
    return np.array(layer, dtype, order="C")


def distinct_rows(rows: IntArray) -> tuple[IntArray, IntArray]:
    """(first of each group of equal rows, group of each row), groups numbered in the order of appearance."""
    m, n = rows.shape
    return distinct_lists(np.arange(m + 1, dtype=np.int64) * n, rows.reshape(-1))


def distinct_lists(offsets: IntArray, values: IntArray) -> tuple[IntArray, IntArray]:
    """As `distinct_rows`, for the lists ``values[offsets[i]:offsets[i + 1]]``.

    Lists are grouped by a hash, then checked element by element; should two different lists have one hash, all are
    grouped by content instead.
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
