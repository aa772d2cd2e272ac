"""Preferences: the graphs of all instances of a data set, compiled to flat read-only arrays."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from os import PathLike
from typing import Any, overload

import networkx as nx
import numpy as np
import numpy.typing as npt

from prefgraph import _npz
from prefgraph._content import (
    Label,
    as_list,
    attributes_text,
    edges_key,
    label_index,
    label_text,
    layers_key,
    sort_labels,
    unknown_label,
)
from prefgraph._cutting import cut
from prefgraph._edge_table import EdgeTable, GraphRow, gather, instance_weights, row_numbers, runs, starts
from prefgraph._kernels import ABSENT, ISOLATED, indicator_layers, layered_edge_counts, normalize_layers
from prefgraph._sharing import (
    GraphCollector,
    compact_layers,
    distinct_lists,
    distinct_rows,
    equal_rows,
    indicator_matrix,
    worth_a_row,
)
from prefgraph.decompose import Decomposition
from prefgraph.errors import InvalidTarget, check_option
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

    labels: tuple[Label, ...]
    graph_index: IntArray
    layer: IntArray
    table: EdgeTable
    weight: FloatArray

    def __init__(
        self,
        labels: Iterable[Label],
        graph_index: IntArray,
        layer: IntArray,
        table: EdgeTable,
        weight: npt.ArrayLike | None = None,
    ) -> None:
        graph_index, layer = graph_index.view(), layer.view()  # views, so that the caller's own arrays keep their flags
        for array in (graph_index, layer):
            array.setflags(write=False)
        checked = instance_weights(weight, len(graph_index))
        vars(self).update(labels=tuple(labels), graph_index=graph_index, layer=layer, table=table, weight=checked)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(
            f"{name} of Preferences cannot be set: nothing here changes; with_weight(), with_labels(), rename() and "
            "take() return new ones"
        )

    def __reduce__(self) -> tuple[Any, ...]:
        """Copies and pickles are made again, because numpy would give them arrays that can be written."""
        return Preferences, (self.labels, self.graph_index, self.layer, self.table, self.weight)

    # -- making ------------------------------------------------------------------------------------------------------

    @classmethod
    def from_graphs(
        cls,
        graphs: Iterable[nx.DiGraph[Any]],
        labels: Iterable[Label] | None = None,
        weight: npt.ArrayLike | None = None,
    ) -> Preferences:
        """Compile graphs; ``labels`` fixes the index, by default all labels that occur, sorted."""
        checked: list[PreferenceGraph] = []
        for i, g in enumerate(as_list(graphs, "graphs", error=InvalidTarget)):
            if not isinstance(g, nx.Graph):
                raise InvalidTarget(f"instance {i}: {g!r} is not a graph; give PreferenceGraph or nx.DiGraph objects")
            if isinstance(g, PreferenceGraph):
                checked.append(g)
            else:
                checked.append(PreferenceGraph(g, instance=g.graph.get("instance", i)))
        index = label_index(labels if labels is not None else sort_labels(v for g in checked for v in g))
        rows = GraphCollector(len(index))
        for i, g in enumerate(checked):
            try:
                vertex = [index[v] for v in g]
            except KeyError as unknown:
                raise unknown_label(unknown.args[0], i if g.instance is None else g.instance, index) from None
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
        index = label_index(range(matrix.shape[1]) if labels is None else labels)
        if len(index) != matrix.shape[1]:
            raise InvalidTarget(f"layer has {matrix.shape[1]} columns for {len(index)} labels; give one label for each")
        if matrix.size and matrix.min() < ISOLATED:
            instance = int(np.argmin(matrix.min(axis=1)))
            raise InvalidTarget(
                f"instance {instance}: layer has the value {matrix.min()}; layers are 0 or more, -1 means no vertex, "
                "-2 no edges"
            )
        compact = compact_layers(matrix)
        normalize_layers(compact)
        rows, graph_index = distinct_rows(compact)
        return cls(index, graph_index, rows, EdgeTable.of([]), weight)

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
        matrix = indicator_matrix(relevant)
        index = label_index(range(matrix.shape[1]) if labels is None else labels)
        if len(index) != matrix.shape[1]:
            raise InvalidTarget(
                f"the indicator matrix has {matrix.shape[1]} columns for {len(index)} labels; give one label for each"
            )
        first, graph_index = distinct_lists(matrix.indptr, matrix.indices)
        layer = indicator_layers(matrix.indptr, matrix.indices, first, len(index))
        if (empty := np.flatnonzero(~layer.any(axis=1))).size > 1:  # nothing relevant, and everything relevant
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
        pieces = as_list(pieces, "Preferences", error=InvalidTarget)
        if not pieces:
            raise InvalidTarget("concatenate() got no preferences; give at least one")
        if strange := [piece for piece in pieces if not isinstance(piece, Preferences)]:
            raise InvalidTarget(f"concatenate() got {strange[0]!r}; it takes a list of Preferences, one or more")
        indices = {id(piece.labels): piece.labels for piece in pieces}.values()  # slices of one data set share theirs
        labels = label_index(dict.fromkeys(v for index in indices for v in index))
        aligned = [piece._over(labels) for piece in pieces]
        if all(piece.is_layered for piece in aligned):
            width = np.result_type(*(piece.layer.dtype for piece in aligned))
            layer = np.concatenate([piece.layer.astype(width, copy=False) for piece in aligned])
            distinct, number = distinct_rows(layer)
            graphs = Preferences(labels, number, distinct, EdgeTable.of([]))
        else:
            rows = GraphCollector(len(labels))
            for piece in aligned:
                piece._add_graphs_to(rows)
            graphs = Preferences(labels, *rows.arrays())
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
        arrays = [self.graph_index, self.layer, self.weight, *self.table.arrays().values()]
        return sum(a.nbytes for a in arrays)

    def is_cyclic(self) -> npt.NDArray[np.bool_]:
        """Which instances have a graph with a cycle. Layered graphs have none, all others are asked at once.

        >>> import prefgraph as pg
        >>> pg.as_preferences(["[a|b]", "a>b, b>c, c>a"], form="notation").is_cyclic()
        array([False,  True])
        """
        cyclic = np.zeros(self.n_graphs, bool)
        on_cycle = self.table.components() >= 0
        cyclic[len(self.layer) + runs(self.table.vertex_offsets)[on_cycle]] = True
        return cyclic[self.graph_index]

    def edge_counts(self) -> IntArray:
        """The number of edges of each instance."""
        return self._graph_edge_counts()[self.graph_index]

    def _graph_edge_counts(self) -> IntArray:
        return np.concatenate([layered_edge_counts(self.layer), np.diff(self.table.offsets)])

    def graph(self, number: int, *, instance: object = None) -> PreferenceGraph:
        """One of the distinct graphs as a networkx object, its labels in the order of the index."""
        if not 0 <= number < self.n_graphs:
            raise IndexError(f"graph {number} of {self.n_graphs}; numbers go from 0 to {self.n_graphs - 1}")
        row = self._row(number)
        data = row.attributes or [{}] * len(row.init)
        names = self.labels
        graph = PreferenceGraph(nodes=[names[v] for v in row.vertex.tolist()], instance=instance)
        edges = zip(row.init.tolist(), row.term.tolist(), row.weight.tolist(), data, strict=True)
        # past the checks of PreferenceGraph: the graph has kept its rule on the way in
        nx.DiGraph.add_edges_from(
            graph, ((names[u], names[v], dict(said) if w == 1.0 else {"weight": w, **said}) for u, v, w, said in edges)
        )
        return graph

    def _row(self, number: int) -> GraphRow:
        """One of the distinct graphs as arrays over label positions, whatever its encoding."""
        if number >= len(self.layer):
            return self.table.row(number - len(self.layer))
        return GraphRow.of_layers(*self._layer_list(number))

    def _layer_list(self, number: int) -> tuple[IntArray, IntArray]:
        """(vertices, their layers) of a graph that is kept as layers."""
        vertex = np.flatnonzero(self.layer[number] != ABSENT).astype(np.int32)
        return vertex, self.layer[number, vertex]

    def _add_graphs_to(self, rows: GraphCollector) -> None:
        """Add all distinct graphs, those kept as layers without listing their edges."""
        for g in range(len(self.layer)):
            rows.add_layers(*self._layer_list(g))
        for g in range(len(self.table)):
            rows.add(self.table.row(g))

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
        layer: IntArray | None
        if number < len(self.layer):
            vertex, layer = self._layer_list(number)
        else:
            row = self.table.row(number - len(self.layer))
            vertex, layer = row.vertex, row.layers()
        if layer is not None and layer.min(initial=0) >= 0:
            groups: list[list[str]] = [[] for _ in range(layer.max(initial=-1) + 1)]
            for y, k in zip(vertex.tolist(), layer.tolist(), strict=True):
                groups[k].append(texts[y])
            return layers_key(groups)
        row = self._row(number)
        ends = zip(row.init.tolist(), row.term.tolist(), row.weight.tolist(), strict=True)
        rows = [
            (texts[u], texts[v], w, attributes_text(data, self.labels[u], self.labels[v]))
            for (u, v, w), data in zip(ends, row.attributes or [{}] * len(row.init), strict=True)
        ]
        return edges_key([texts[v] for v in row.vertex.tolist()], rows)

    def __eq__(self, other: object) -> bool:
        """Equal labels in equal order, equal weights, and equal graphs, instance by instance."""
        if not isinstance(other, Preferences):
            return NotImplemented
        if self.labels != other.labels or not np.array_equal(self.weight, other.weight):
            return False
        width = max(other.n_graphs, 1)
        mine, theirs = np.divmod(np.unique(self.graph_index.astype(np.int64) * width + other.graph_index), width)
        layered = (mine < len(self.layer)) & (theirs < len(other.layer))
        if not equal_rows(self.layer, mine[layered], other.layer, theirs[layered]):
            return False
        return all(self._same(a, other, b) for a, b in zip(mine[~layered], theirs[~layered], strict=True))

    def _same(self, a: int, other: Preferences, b: int) -> bool:
        """Whether graph a of this object is graph b of the other; at least one of the two is kept as edges."""
        if a < len(self.layer):
            return other._same(b, self, a)
        row = self.table.row(a - len(self.layer))
        if b >= len(other.layer):
            return row.same(other.table.row(b - len(other.layer)))
        layer, (vertex, expected) = row.layers(), other._layer_list(b)
        return layer is not None and np.array_equal(row.vertex, vertex) and np.array_equal(layer, expected)

    __hash__ = None  # type: ignore[assignment]

    # -- cutting, joining, renaming ----------------------------------------------------------------------------------

    def take(self, rows: slice | npt.ArrayLike) -> Preferences:
        """The preferences of some instances, in the order given: a slice, row numbers or a mask.

        >>> import prefgraph as pg
        >>> len(pg.as_preferences([0, 1, 2]).take([True, False, True]))
        2
        """
        chosen = rows if isinstance(rows, slice) else row_numbers(rows, len(self))
        kept = Preferences(self.labels, self.graph_index[chosen], self.layer, self.table, self.weight[chosen])
        return kept._without_unused()

    def _without_unused(self) -> Preferences:
        """The same without the graphs that no instance has."""
        is_used = np.zeros(self.n_graphs, bool)
        is_used[self.graph_index] = True
        if np.all(is_used):
            return self
        number = (np.cumsum(is_used) - 1).astype(np.int32)
        n_layered = len(self.layer)
        table = self.table.take(np.flatnonzero(is_used[n_layered:]))
        return Preferences(self.labels, number[self.graph_index], self.layer[is_used[:n_layered]], table, self.weight)

    def with_weight(self, weight: npt.ArrayLike | None) -> Preferences:
        """The same with other instance weights; None for 1 each."""
        return Preferences(self.labels, self.graph_index, self.layer, self.table, weight)

    def rename(self, names: Mapping[Label, Label] | Callable[[Label], Label]) -> Preferences:
        """The same graphs with other labels; a mapping may leave out those that stay.

        >>> import prefgraph as pg
        >>> pg.as_preferences([{"a"}], labels="ab").rename({"a": "x"}).labels
        ('x', 'b')
        """
        if not isinstance(names, Mapping) and not callable(names):
            raise InvalidTarget(f"names={names!r} is no mapping; give {{old: new}} or a function from old to new")
        renamed = [names.get(v, v) if isinstance(names, Mapping) else names(v) for v in self.labels]
        return Preferences(label_index(renamed), self.graph_index, self.layer, self.table, self.weight)

    def with_labels(self, labels: Iterable[Label]) -> Preferences:
        """The same graphs over another label index, in another order or with labels more or fewer.

        A label that is a vertex of some graph cannot be left out.

        >>> import prefgraph as pg
        >>> pg.as_preferences([{"a"}], labels="ab").with_labels("cba").layer
        array([[-1,  1,  0]], dtype=int8)
        """
        return self._over(label_index(labels))

    def _over(self, index: Mapping[Label, int]) -> Preferences:
        if tuple(index) == self.labels:
            return self
        place = np.array([index.get(v, -1) for v in self.labels], np.int64)
        lost = place < 0
        missing = lost & np.any(self.layer != ABSENT, axis=0)
        missing[self.table.vertex] |= lost[self.table.vertex]
        if np.any(missing):
            raise self._left_out(int(np.flatnonzero(missing)[0]))
        p = self if len(index) <= len(self.labels) else self._listed(~worth_a_row(len(index), self.layer))
        layer = np.full((len(p.layer), len(index)), ABSENT, p.layer.dtype)
        layer[:, place[~lost]] = p.layer[:, ~lost]
        return Preferences(index, p.graph_index, layer, p.table.relabelled(place), self.weight)

    def _left_out(self, position: int) -> InvalidTarget:
        """The error about a label that is a vertex and not among the new labels."""
        label = self.labels[position]
        offsets, vertex = self.vertex_lists()
        instance = runs(offsets)[vertex == position]
        return InvalidTarget(
            f"instance {instance[0]}: label {label!r} is a vertex of its graph and not among the new labels; add it "
            "to labels"
        )

    def _listed(self, chosen: npt.NDArray[np.bool_]) -> Preferences:
        """The same with some of the layered graphs kept as edges."""
        if not np.any(chosen):
            return self
        table = self.table.followed_by(EdgeTable.of_layers(self.layer[chosen]))
        order = np.concatenate([np.flatnonzero(~chosen), np.arange(len(chosen), self.n_graphs), np.flatnonzero(chosen)])
        number = np.empty(self.n_graphs, np.int32)
        number[order] = np.arange(self.n_graphs, dtype=np.int32)
        return Preferences(self.labels, number[self.graph_index], self.layer[~chosen], table, self.weight)

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
        self._add_graphs_to(rows)
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
        sizes = np.concatenate([np.count_nonzero(self.layer != ABSENT, axis=1), np.diff(self.table.vertex_offsets)])
        longest = int(sizes.max(initial=0))
        positions = np.arange(longest, dtype=np.int32)
        rows = GraphCollector(longest)
        for g in range(len(self.layer)):
            rows.add_layers(positions[: sizes[g]], self._layer_list(g)[1])
        for g in range(len(self.table)):
            row = self.table.row(g)
            init, term = np.searchsorted(row.vertex, np.stack([row.init, row.term])).astype(np.int32)
            rows.add(row._replace(vertex=positions[: len(row.vertex)], init=init, term=term))
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
        table = {f"table_{name}": array for name, array in self.table.arrays().items()}
        attributes = _npz.pack_columns(self.table.attributes)
        _npz.save(path, {"labels": _npz.pack_labels(self.labels), "attributes": attributes, **arrays, **table})

    @classmethod
    def load(cls, path: str | PathLike[str]) -> Preferences:
        """Read what `save` wrote.

        Raises
        ------
        InvalidFile
            The file is another one, broken, or of a newer format.
        """
        arrays = _npz.load(path)
        with _npz.reading(path):
            labels = label_index(_npz.unpack_labels(arrays["labels"]))
            attributes = _npz.unpack_columns(arrays["attributes"], len(arrays["table_init"]))
            _npz.check(arrays, len(labels))
            edges = {name.removeprefix("table_"): a for name, a in arrays.items() if name.startswith("table_")}
            table = EdgeTable(**edges, attributes=attributes)
            return cls(labels, arrays["graph_index"], arrays["layer"], table, arrays["weight"])
