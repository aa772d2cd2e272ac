"""Preferences: the graphs of all instances of a data set, compiled to flat read-only arrays."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from os import PathLike
from typing import Any, overload

import networkx as nx
import numpy as np
import numpy.typing as npt
from scipy import sparse

from prefgraph import _npz
from prefgraph._content import Label, attributes_text, check_label, edges_key, label_text, layers_key, sort_labels
from prefgraph._cutting import cut
from prefgraph._edge_table import EdgeTable, GraphRow, gather, starts
from prefgraph._kernels import ABSENT, ISOLATED, layered_edge_counts, layered_edges, normalize_layers
from prefgraph._sharing import GraphCollector, compact_layers, distinct_lists, distinct_rows
from prefgraph.decompose import Decomposition
from prefgraph.errors import InvalidGraph, InvalidTarget, check_option
from prefgraph.graph import PreferenceGraph, edge_content
from prefgraph.parts import FloatArray, IntArray, Parts

__all__ = ["Preferences"]

ENCODINGS = ("auto", "layered", "edges")


class Preferences:
    """The preference graphs of ``m`` instances over one label index.

    Equal graphs are kept once: ``graph_index`` says which graph each instance has. A layered graph is kept as a row of
    ``layer``, a small integer per label; any other graph as edges in ``table``. Graphs ``0 .. len(layer) - 1`` are the
    layered ones. All arrays are read-only, and nothing here changes: every method returns a new object.

    Make one with `as_preferences`, or from arrays with `from_layer_matrix` and `from_indicator`.

    Attributes
    ----------
    labels
        The label index: positions in arrays and columns of score matrices are positions here.
    graph_index
        The number of each instance's graph.
    weight
        The weight of each instance, 1 unless given.
    layer
        For each layered graph and label: 0 for the best layer, larger is worse; -1 where the label is not a vertex of
        the graph, -2 where it is a vertex without edges.
    table
        The other graphs: ``offsets, init, term, weight`` for edges, ``vertex_offsets, vertex`` for vertices, and
        ``attributes``, columns of what else was said about the edges.

    Examples
    --------
    >>> import prefgraph as pg
    >>> p = pg.as_preferences(["[a|b,c]", "[a|b,c]", "a>b, b>c, c>a"], form="notation")
    >>> p
    <Preferences: 3 instances, 3 labels, 2 distinct graphs (1 layered), 7 edges>
    >>> p[2].is_cyclic()
    True
    """

    def __init__(
        self,
        labels: Iterable[Label],
        graph_index: IntArray,
        layer: IntArray,
        table: EdgeTable,
        weight: npt.ArrayLike | None = None,
    ) -> None:
        self.labels: tuple[Label, ...] = tuple(labels)
        self.graph_index = graph_index
        self.layer = layer
        self.table = table
        self.weight: FloatArray = _checked_weight(weight, len(graph_index))
        for array in (self.graph_index, self.layer):
            array.setflags(write=False)

    # -- making ------------------------------------------------------------------------------------------------------

    @classmethod
    def from_graphs(
        cls,
        graphs: Iterable[nx.DiGraph[Any]],
        labels: Iterable[Label] | None = None,
        weight: npt.ArrayLike | None = None,
    ) -> Preferences:
        """Compile graphs; ``labels`` fixes the index, by default all labels that occur, sorted."""
        checked = [g if isinstance(g, PreferenceGraph) else PreferenceGraph(g) for g in graphs]
        index = _index(labels if labels is not None else sort_labels(v for g in checked for v in g))
        rows = GraphCollector(len(index))
        for i, g in enumerate(checked):
            try:
                vertex = [index[v] for v in g]
            except KeyError as unknown:
                raise _unknown_label(unknown.args[0], i if g.instance is None else g.instance, index) from None
            content = edge_content(g)
            edges = [(index[u], index[v]) for u, v, _, _ in content]
            rows.add(GraphRow.of(vertex, edges, [w for _, _, w, _ in content], [said for *_, said in content]))
        return cls(index, *rows.arrays(), weight)

    @classmethod
    def from_layer_matrix(
        cls,
        layer: npt.ArrayLike,
        labels: Iterable[Label] | None = None,
        weight: npt.ArrayLike | None = None,
    ) -> Preferences:
        """Compile an instances x labels matrix of layer numbers.

        Parameters
        ----------
        layer
            Smaller is better and equal is tied; gaps in the numbers do not matter. -1: the label is not a vertex;
            -2: it is a vertex without edges.
        labels
            One for each column, by default 0, 1, 2 ...
        weight
            One for each instance, by default 1.

        Examples
        --------
        >>> print(Preferences.from_layer_matrix([[0, 5, 5, -2]], labels="abcd")[0])
        a>b, a>c, d
        """
        matrix = np.asarray(layer)
        if matrix.ndim != 2 or not (np.issubdtype(matrix.dtype, np.integer) or matrix.size == 0):
            raise InvalidTarget(
                f"layer has the shape {matrix.shape} and type {matrix.dtype}; "
                "it is an instances x labels matrix of integers"
            )
        index = _index(range(matrix.shape[1]) if labels is None else labels)
        if len(index) != matrix.shape[1]:
            raise InvalidTarget(f"layer has {matrix.shape[1]} columns for {len(index)} labels; give one label for each")
        if matrix.size and matrix.min() < ISOLATED:
            raise InvalidTarget(f"layer has the value {matrix.min()}; layers are 0 or more, -1 no vertex, -2 no edges")
        compact = compact_layers(matrix)
        normalize_layers(compact)
        first, graph_index = distinct_rows(compact)
        return cls(index, graph_index, compact[first], EdgeTable.of([]), weight)

    @classmethod
    def from_indicator(
        cls,
        relevant: Any,
        labels: Iterable[Label] | None = None,
        weight: npt.ArrayLike | None = None,
    ) -> Preferences:
        """Compile an instances x labels matrix of 0 and 1, dense or sparse: each relevant label beats each other one.

        Cost: O(non-zeros) and a row of L small integers for each distinct label set.

        Examples
        --------
        >>> Preferences.from_indicator([[1, 0, 0], [1, 0, 0], [0, 1, 1]])
        <Preferences: 3 instances, 3 labels, 2 distinct graphs (2 layered), 6 edges>
        """
        matrix = sparse.csr_array(relevant)
        if matrix.data.size and not np.all((matrix.data == 1) | (matrix.data == 0)):
            strange = matrix.data[(matrix.data != 1) & (matrix.data != 0)][0]
            raise InvalidTarget(f"the indicator matrix has the value {strange!r}; it holds 0 and 1 only")
        if not matrix.has_canonical_format or not np.all(matrix.data):
            matrix = matrix.copy()
            matrix.sum_duplicates()
            if np.any(matrix.data > 1):
                raise InvalidTarget("the indicator matrix lists an entry twice; list each label of an instance once")
            matrix.eliminate_zeros()
        index = _index(range(matrix.shape[1]) if labels is None else labels)
        if len(index) != matrix.shape[1]:
            raise InvalidTarget(
                f"the indicator matrix has {matrix.shape[1]} columns for {len(index)} labels; give one label for each"
            )
        first, graph_index = distinct_lists(matrix.indptr, matrix.indices)
        sets = matrix[first]
        layer = np.ones((len(first), len(index)), np.int8)
        layer[np.repeat(np.arange(len(first)), np.diff(sets.indptr)), sets.indices] = 0
        layer[np.diff(sets.indptr) == 0] = 0  # nothing relevant: no edges, like everything relevant
        if (empty := np.flatnonzero(~layer.any(axis=1))).size > 1:
            graph_index = np.where(np.isin(graph_index, empty), empty[0], graph_index).astype(np.int32)
        return cls(index, graph_index, layer, EdgeTable.of([]), weight)._without_unused()

    @staticmethod
    def concatenate(pieces: Sequence[Preferences]) -> Preferences:
        """All instances of several data sets, over the union of their labels in the order of appearance.

        Examples
        --------
        >>> import prefgraph as pg
        >>> p = pg.as_preferences([{"a"}], labels="ab")
        >>> Preferences.concatenate([p, p]).graph_index
        array([0, 0], dtype=int32)
        """
        if not pieces:
            raise InvalidTarget("concatenate() got no preferences; give at least one")
        labels = list(dict.fromkeys(v for piece in pieces for v in piece.labels))
        index = _index(labels)
        aligned = [piece.with_labels(labels) for piece in pieces]
        if all(piece.is_layered for piece in aligned):
            width = np.result_type(*(piece.layer.dtype for piece in aligned))
            layer = np.concatenate([piece.layer.astype(width, copy=False) for piece in aligned])
            first, number = distinct_rows(layer)
            graphs = Preferences(index, number, layer[first], EdgeTable.of([]))
        else:
            rows = GraphCollector(len(index))
            for piece in aligned:
                for g in range(piece.n_graphs):
                    rows.add(piece._row(g))
            graphs = Preferences(index, *rows.arrays())
        shifts = starts([piece.n_graphs for piece in aligned])
        graph_index = np.concatenate([piece.graph_index + k for piece, k in zip(aligned, shifts[:-1], strict=True)])
        return graphs._with_instances(graph_index, np.concatenate([piece.weight for piece in aligned]))

    # -- looking -----------------------------------------------------------------------------------------------------

    def __len__(self) -> int:
        """The number of instances."""
        return len(self.graph_index)

    @overload
    def __getitem__(self, rows: int | np.integer[Any]) -> PreferenceGraph: ...
    @overload
    def __getitem__(self, rows: slice | npt.ArrayLike) -> Preferences: ...
    def __getitem__(self, rows: Any) -> PreferenceGraph | Preferences:
        """The graph of one instance, or the preferences of several (a slice, numbers, a mask)."""
        if isinstance(rows, (int, np.integer)) and not isinstance(rows, bool):
            if not -len(self) <= rows < len(self):
                raise IndexError(f"instance {rows} of {len(self)}; numbers go from 0 to {len(self) - 1}")
            instance = int(rows) % len(self)
            return self.graph(int(self.graph_index[instance]), instance=instance)
        return self.take(rows)

    def __iter__(self) -> Iterator[PreferenceGraph]:
        return (self[i] for i in range(len(self)))

    def __repr__(self) -> str:
        return (
            f"<Preferences: {len(self)} instances, {len(self.labels)} labels, {self.n_graphs} distinct graphs "
            f"({len(self.layer)} layered), {self.n_edges} edges>"
        )

    @property
    def n_graphs(self) -> int:
        """The number of distinct graphs."""
        return len(self.layer) + len(self.table)

    @property
    def is_layered(self) -> bool:
        """Whether every graph is kept as layers, so that nothing needs to list edges."""
        return len(self.table) == 0

    @property
    def n_edges(self) -> int:
        """The number of edges of all instances together."""
        return int(self.edge_counts().sum())

    @property
    def nbytes(self) -> int:
        """Bytes of all arrays (the values of edge attributes not counted)."""
        arrays = [self.graph_index, self.layer, self.weight, *vars(self.table).values()]
        return sum(a.nbytes for a in arrays if isinstance(a, np.ndarray))

    def edge_counts(self) -> IntArray:
        """The number of edges of each instance."""
        return self._graph_edge_counts()[self.graph_index]

    def _graph_edge_counts(self) -> IntArray:
        return np.concatenate([layered_edge_counts(self.layer), np.diff(self.table.offsets)])

    def graph(self, number: int, *, instance: object = None) -> PreferenceGraph:
        """One of the distinct graphs as a networkx object, its labels in the order of the index."""
        row = self._row(number)
        data = row.attributes or [{}] * len(row.init)
        graph = PreferenceGraph(nodes=[self.labels[v] for v in row.vertex], instance=instance)
        graph.add_edges_from(
            (self.labels[u], self.labels[v], dict(said) if w == 1.0 else {"weight": float(w), **said})
            for u, v, w, said in zip(row.init, row.term, row.weight, data, strict=True)
        )
        return graph

    def _row(self, number: int) -> GraphRow:
        """One of the distinct graphs as arrays over label positions, whatever its encoding."""
        if number >= len(self.layer):
            return self.table.row(number - len(self.layer))
        layer = self.layer[number : number + 1]
        init, term = layered_edges(layer, False, starts(layered_edge_counts(layer)))
        return GraphRow(np.flatnonzero(layer[0] != ABSENT).astype(np.int32), init, term, np.ones(len(init)))

    def graph_keys(self) -> list[str]:
        """The content key of each distinct graph, as `PreferenceGraph.key` gives it.

        >>> import prefgraph as pg
        >>> p = pg.as_preferences([{"a"}], labels="ab")
        >>> p.graph_keys() == [p[0].key]
        True
        """
        texts = [label_text(v) for v in self.labels]
        return [self._graph_key(g, texts) for g in range(self.n_graphs)]

    def _graph_key(self, number: int, texts: list[str]) -> str:
        if number < len(self.layer):
            layer = self.layer[number]
            if not np.any(layer == ISOLATED):
                groups: list[list[str]] = [[] for _ in range(layer.max(initial=-1) + 1)]
                for y in np.flatnonzero(layer >= 0):
                    groups[layer[y]].append(texts[y])
                return layers_key(groups)
        row = self._row(number)
        layers = row.layers(len(texts))
        if layers is not None and not np.any(layers == ISOLATED):
            return layers_key(
                [texts[y] for y in np.flatnonzero(layers == k)] for k in range(layers.max(initial=-1) + 1)
            )
        ends = zip(row.init, row.term, row.weight, row.attributes or [{}] * len(row.init), strict=True)
        rows = [
            (texts[u], texts[v], float(w), attributes_text(data, self.labels[u], self.labels[v]))
            for u, v, w, data in ends
        ]
        return edges_key([texts[v] for v in row.vertex], rows)

    def __eq__(self, other: object) -> bool:
        """Equal labels in equal order, equal weights, and equal graphs, instance by instance."""
        if not isinstance(other, Preferences):
            return NotImplemented
        if self.labels != other.labels or not np.array_equal(self.weight, other.weight):
            return False
        pairs = np.unique(np.column_stack([self.graph_index, other.graph_index]), axis=0)
        return all(self._row(a).digest() == other._row(b).digest() for a, b in pairs)

    __hash__ = None  # type: ignore[assignment]

    # -- cutting, joining, renaming ----------------------------------------------------------------------------------

    def take(self, rows: slice | npt.ArrayLike) -> Preferences:
        """The preferences of some instances, in the order given: a slice, row numbers or a mask.

        >>> import prefgraph as pg
        >>> len(pg.as_preferences([0, 1, 2]).take([True, False, True]))
        2
        """
        chosen = rows if isinstance(rows, slice) else np.asarray(rows)
        if not isinstance(chosen, slice):
            if chosen.dtype == bool and chosen.shape != (len(self),):
                raise IndexError(f"a mask of shape {chosen.shape} for {len(self)} instances; it has one entry for each")
            if chosen.dtype != bool:
                chosen = chosen.astype(np.int64, casting="safe" if chosen.size else "unsafe").reshape(-1)
                if chosen.size and not (-len(self) <= chosen.min() and chosen.max() < len(self)):
                    raise IndexError(f"instances {chosen.min()} to {chosen.max()} of {len(self)}; numbers go from 0")
        kept = Preferences(self.labels, self.graph_index[chosen], self.layer, self.table, self.weight[chosen])
        return kept._without_unused()

    def _without_unused(self) -> Preferences:
        """The same without the graphs that no instance has."""
        used, graph_index = np.unique(self.graph_index, return_inverse=True)
        if len(used) == self.n_graphs:
            return self
        n_layered = int(np.searchsorted(used, len(self.layer)))
        return Preferences(
            self.labels,
            graph_index.astype(np.int32).reshape(-1),
            self.layer[used[:n_layered]],
            self.table.take(used[n_layered:] - len(self.layer)),
            self.weight,
        )

    def with_weight(self, weight: npt.ArrayLike | None) -> Preferences:
        """The same with other instance weights; None for 1 each."""
        return Preferences(self.labels, self.graph_index, self.layer, self.table, weight)

    def rename(self, names: Mapping[Label, Label] | Callable[[Label], Label]) -> Preferences:
        """The same graphs with other labels; a mapping may leave out those that stay.

        >>> import prefgraph as pg
        >>> pg.as_preferences([{"a"}], labels="ab").rename({"a": "x"}).labels
        ('x', 'b')
        """
        renamed = [names.get(v, v) if isinstance(names, Mapping) else names(v) for v in self.labels]
        return Preferences(_index(renamed), self.graph_index, self.layer, self.table, self.weight)

    def with_labels(self, labels: Iterable[Label]) -> Preferences:
        """The same graphs over another label index, in another order or with labels more or fewer.

        A label that is a vertex of some graph cannot be left out.

        >>> import prefgraph as pg
        >>> pg.as_preferences([{"a"}], labels="ab").with_labels("cba").layer
        array([[-1,  1,  0]], dtype=int8)
        """
        index = _index(labels)
        if tuple(index) == self.labels:
            return self
        place = np.array([index.get(v, -1) for v in self.labels], np.int64)
        lost = place < 0
        missing = lost & np.any(self.layer != ABSENT, axis=0)
        missing[self.table.vertex] |= lost[self.table.vertex]
        if np.any(missing):
            label = self.labels[int(np.flatnonzero(missing)[0])]
            raise InvalidTarget(
                f"label {label!r} is a vertex of some graph and not among the new labels; add it to labels"
            )
        layer = np.full((len(self.layer), len(index)), ABSENT, self.layer.dtype)
        layer[:, place[~lost]] = self.layer[:, ~lost]
        rows = []
        for g in range(len(self.table)):
            row = self.table.row(g)
            init, term = place[row.init].astype(np.int32), place[row.term].astype(np.int32)
            order = np.lexsort((term, init))
            said = None if row.attributes is None else [row.attributes[e] for e in order]
            vertex = np.sort(place[row.vertex]).astype(np.int32)
            rows.append(GraphRow(vertex, init[order], term[order], row.weight[order], said))
        return Preferences(index, self.graph_index, layer, EdgeTable.of(rows), self.weight)

    def encoded(self, encoding: str = "auto") -> Preferences:
        """The same graphs with a given encoding.

        Parameters
        ----------
        encoding
            ``"layered"`` where a graph allows it, ``"edges"`` for all graphs, or ``"auto"``: layered unless the label
            index is so much longer than the graph that listing its edges takes less room.
        """
        check_option("encoding", encoding, ENCODINGS)
        rows = GraphCollector(len(self.labels), encoding)
        for g in range(self.n_graphs):
            rows.add(self._row(g))
        return Preferences(self.labels, *rows.arrays())._with_instances(self.graph_index, self.weight)

    def _with_instances(self, graph_index: IntArray, weight: FloatArray) -> Preferences:
        """Other instances that have the graphs of the instances of this object."""
        return Preferences(self.labels, self.graph_index[graph_index], self.layer, self.table, weight)

    def vertex_lists(self) -> tuple[IntArray, IntArray]:
        """The vertices of each instance as label positions: ``(offsets, vertices)``, ascending within an instance.

        >>> import prefgraph as pg
        >>> pg.as_preferences(["[a|b]", "[c|b]"], form="notation").vertex_lists()
        (array([0, 2, 4]), array([0, 1, 1, 2], dtype=int32))
        """
        graphs, vertex = np.nonzero(self.layer != ABSENT)
        counts = np.bincount(graphs, minlength=len(self.layer))
        offsets = starts(np.concatenate([counts, np.diff(self.table.vertex_offsets)]))
        vertex = np.concatenate([vertex.astype(np.int32), self.table.vertex])
        return starts(np.diff(offsets)[self.graph_index]), vertex[gather(offsets, self.graph_index)]

    def local(self) -> Preferences:
        """The same graphs over positions: vertex ``k`` of each instance, counted as in `vertex_lists`, is label ``k``.

        For instances that have their own labels (candidate answers, parses): the label index becomes as short as the
        longest candidate list, and scores can be a row per instance.

        >>> import prefgraph as pg
        >>> p = pg.as_preferences(["[x1|x2]", "[y2|y1,y3]"], form="notation")
        >>> len(p.labels), [str(g) for g in p.local()]
        (5, ['[0|1]', '[1|0,2]'])
        """
        sizes = np.concatenate([(self.layer != ABSENT).sum(axis=1), np.diff(self.table.vertex_offsets)])
        longest = int(sizes.max(initial=0))
        rows = GraphCollector(longest)
        for g in range(self.n_graphs):
            row = self._row(g)
            place = np.searchsorted(row.vertex, np.stack([row.init, row.term])).astype(np.int32)
            rows.add(row._replace(vertex=np.arange(len(row.vertex), dtype=np.int32), init=place[0], term=place[1]))
        return Preferences(range(longest), *rows.arrays())._with_instances(self.graph_index, self.weight)

    # -- parts -------------------------------------------------------------------------------------------------------

    def parts(self, decomposition: str | Decomposition = "identity") -> Parts:
        """Cut all graphs: every edge of every part of every instance, as flat arrays.

        A named decomposition, and any function of a graph alone, is applied once for each distinct graph; a function
        of a graph and an instance once for each instance. Edges are ordered by (init, term) within a part, parts by
        their label; what a function returns keeps its order.

        Parameters
        ----------
        decomposition
            A name in `DECOMPOSITIONS`, or a function.

        Examples
        --------
        >>> import prefgraph as pg
        >>> pg.as_preferences([0, 1], labels=range(3)).parts("dominated")
        <Parts: 4 parts with 4 edges of 2 instances>
        """
        return cut(self, decomposition)

    # -- saving ------------------------------------------------------------------------------------------------------

    def save(self, path: str | PathLike[str]) -> None:
        """Write everything to one ``.npz`` file, without pickle; a file that is there is replaced in one step.

        Labels must be str or int, edge attributes plain data.
        """
        arrays = {"graph_index": self.graph_index, "weight": self.weight, "layer": self.layer}
        table = {f"table_{name}": a for name, a in vars(self.table).items() if name != "attributes"}
        attributes = _npz.pack_columns(self.table.attributes)
        _npz.save(path, {"labels": _npz.pack_labels(self.labels), "attributes": attributes, **arrays, **table})

    @classmethod
    def load(cls, path: str | PathLike[str]) -> Preferences:
        """Read what `save` wrote."""
        arrays = _npz.load(path)
        names = ("vertex_offsets", "vertex", "offsets", "init", "term", "weight")
        attributes = _npz.unpack_columns(arrays["attributes"], len(arrays["table_init"]))
        table = EdgeTable(**{name: arrays[f"table_{name}"] for name in names}, attributes=attributes)
        labels = _npz.unpack_labels(arrays["labels"])
        return cls(labels, arrays["graph_index"], arrays["layer"], table, arrays["weight"])


def _index(labels: Iterable[Label]) -> dict[Label, int]:
    """Label -> position; labels are distinct."""
    ordered = [check_label(v) for v in labels]
    index = {v: k for k, v in enumerate(ordered)}
    if len(index) < len(ordered):
        twice = next(v for k, v in enumerate(ordered) if index[v] != k)
        raise InvalidTarget(f"label {twice!r} is listed twice; the labels of an index are distinct")
    return index


def _unknown_label(label: Label, instance: object, index: Mapping[Label, int]) -> InvalidTarget:
    known = ", ".join(map(repr, list(index)[:10])) + (" ..." if len(index) > 10 else "")
    return InvalidTarget(f"instance {instance!r}: label {label!r} is not among the labels {known}; add it to labels")


def _checked_weight(weight: npt.ArrayLike | None, m: int) -> FloatArray:
    if weight is None:
        values = np.ones(m)
    else:
        values = np.array(weight, np.float64)
        if values.shape != (m,):
            raise InvalidTarget(f"weight has the shape {values.shape} for {m} instances; give one number for each")
        if bad := values[~(np.isfinite(values) & (values >= 0))].tolist():
            raise InvalidGraph(f"an instance has the weight {bad[0]!r}; an instance's weight is finite and 0 or more")
    values.setflags(write=False)
    return values
