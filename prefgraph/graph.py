"""PreferenceGraph: what was said about the labels of one instance, as a networkx graph that keeps its rule."""

from __future__ import annotations

import html
from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import TYPE_CHECKING, Any, Self

import networkx as nx
import numpy as np

from prefgraph import cycles
from prefgraph._content import (
    Edge,
    Label,
    as_list,
    attributes_text,
    check_label,
    check_weight,
    edges_key,
    finite,
    label_text,
    layers_key,
    plain_text,
    said,
    where,
)
from prefgraph.cycles import Change, FeedbackArcs
from prefgraph.decompose import Decomposition, cut_edges, find_decomposition, subgraph
from prefgraph.errors import InvalidGraph, InvalidLabel
from prefgraph.notation import format_edges, format_layers

if TYPE_CHECKING:
    _DiGraph = nx.DiGraph[Label]
else:
    _DiGraph = nx.DiGraph

__all__ = ["PreferenceGraph"]


class PreferenceGraph(_DiGraph):
    """A simple directed graph over labels; an edge goes from the preferred label to the other.

    No label is preferred to itself, and of two labels at most one is preferred to the other; cycles of three or more
    are welcome, because judges say such things. The rule holds on every way to change the graph, and a method of the
    graph that would break it leaves the graph as it was. A networkx function that works in place, such as
    ``relabel_nodes`` or ``contracted_nodes`` with ``copy=False``, calls many methods in turn: where one of them is
    refused, what was done before it stays done, so let such a function make its copy.

    Everything networkx computes from an ``nx.DiGraph`` works on it; to build what is no preference graph, such as a
    complement, start from the plain copy ``nx.DiGraph(graph)``. A view, such as that of ``edge_subgraph``, is pickled
    and deep-copied as a graph of its own.

    Parameters
    ----------
    edges
        Pairs ``(preferred, other)``, triples with a dict of attributes, an adjacency dict or square matrix, or a
        networkx graph. The attribute ``weight`` is a finite number above 0 (1 where it is missing); all others are
        yours.
    nodes
        Labels beyond those of the edges. A label is any hashable; str or int where it is keyed, saved or stored.
    instance
        What the graph is about; error messages name it.
    **attr
        Attributes of the graph, as in networkx.

    Raises
    ------
    InvalidGraph
        A self-loop, a pair with both directions, or a weight that is not finite and positive.

    Notes
    -----
    Two graphs are equal if they have the same labels and the same edges with the same weights and attributes; the
    order in which these were added, and what hangs on nodes or on the graph, do not count. An attribute of None says
    nothing. Graphs can change, so they have no hash: use `key` in a dict.

    Examples
    --------
    >>> import prefgraph as pg
    >>> g = pg.PreferenceGraph([("oil", "gas"), ("gas", "coal"), ("coal", "oil")], nodes=["wind"])
    >>> g.is_cyclic()
    True
    >>> print(g)
    oil>gas, gas>coal, coal>oil, wind
    >>> g.add_edge("gas", "oil")
    Traceback (most recent call last):
    prefgraph.errors.InvalidGraph: labels 'gas' and 'oil' are each preferred to the other; a pair has one direction at \
most, drop one edge
    """

    def __init__(
        self,
        edges: Any = None,
        nodes: Iterable[Any] = (),
        *,
        instance: object = None,
        **attr: Any,
    ) -> None:
        super().__init__(**attr)
        if instance is not None:
            self.graph["instance"] = instance
        if edges is None:
            pass
        elif isinstance(edges, nx.Graph):
            self._take_networkx(edges)
        elif isinstance(edges, Mapping) or hasattr(edges, "shape"):
            self._take_networkx(_read_adjacency(edges, instance))
        else:
            self.add_edges_from(edges)
        self.add_nodes_from(nodes)

    def _take_networkx(self, graph: nx.Graph[Any]) -> None:
        """Add the nodes, edges and attributes of a networkx graph."""
        self._check_networkx(graph)
        self.graph.update({**graph.graph, **self.graph})
        self.add_nodes_from(graph.nodes.data())
        self.add_edges_from(graph.edges(data=True))

    def _check_networkx(self, graph: nx.Graph[Any]) -> None:
        """Refuse a networkx graph that cannot be a preference graph: no directions, or parallel edges."""
        if not graph.is_directed():
            raise InvalidGraph(
                f"{where(self.instance)}{type(graph).__name__} has no directions; a preference goes from one label "
                "to the other, so give an nx.DiGraph"
            )
        if graph.is_multigraph() and graph.number_of_edges() > nx.DiGraph(graph).number_of_edges():
            init, term = next((u, v) for u, v in graph.edges() if graph.number_of_edges(u, v) > 1)
            raise InvalidGraph(
                f"{where(self.instance)}{graph.number_of_edges(init, term)} edges from {init!r} to {term!r}; a pair "
                "has one edge at most, so merge them first or give them to from_pairs as weighted votes"
            )

    # -- changing, always within the rule ---------------------------------------------------------------------------

    def add_node(self, node_for_adding: Label, **attr: Any) -> None:
        """Add a label, as in networkx."""
        super().add_node(check_label(node_for_adding, self.instance), **attr)

    def add_nodes_from(self, nodes_for_adding: Iterable[Any], **attr: Any) -> None:
        """Add labels, or ``(label, dict)`` pairs, as in networkx; all of them or, on an error, none."""
        super().add_nodes_from(self._checked_nodes(nodes_for_adding), **attr)

    def add_edge(self, u_of_edge: Label, v_of_edge: Label, **attr: Any) -> None:
        """Say that the first label is preferred to the second; ``weight`` and other attributes as keywords."""
        self.add_edges_from([(u_of_edge, v_of_edge)], **attr)

    def add_edges_from(self, ebunch_to_add: Iterable[Any], **attr: Any) -> None:
        """Add pairs, or triples with a dict of attributes; all of them or, on an error, none."""
        super().add_edges_from(self._checked_edges(ebunch_to_add, attr), **attr)

    def add_weighted_edges_from(self, ebunch_to_add: Iterable[Any], weight: str = "weight", **attr: Any) -> None:
        """Add ``(preferred, other, weight)`` triples; all of them or, on an error, none."""
        triples = []
        for triple in as_list(ebunch_to_add, "edges", self.instance):
            if not isinstance(triple, Sequence | np.ndarray) or isinstance(triple, str | bytes) or len(triple) != 3:
                raise InvalidGraph(
                    f"{where(self.instance)}{triple!r} is not a weighted edge; give (preferred, other, weight)"
                )
            triples.append((triple[0], triple[1], {weight: triple[2]}))
        self.add_edges_from(triples, **attr)

    def update(self, edges: Any = None, nodes: Iterable[Any] | None = None) -> None:
        """Add edges and nodes, or all of another graph, as in networkx; everything or, on an error, nothing."""
        attributes: dict[str, Any] = {}
        if isinstance(edges, nx.Graph) and nodes is None:
            self._check_networkx(edges)
            attributes, nodes, edges = edges.graph, edges.nodes.data(), edges.edges(data=True)
        if edges is None and nodes is None:
            raise InvalidGraph("update() got neither edges nor nodes; give at least one of them")
        new_nodes = self._checked_nodes(() if nodes is None else nodes)
        new_edges = self._checked_edges(() if edges is None else edges, {})
        # Both are checked before either is added. A frozen graph or a view refuses in its own add_... methods.
        self.add_nodes_from(new_nodes)
        self.add_edges_from(new_edges)
        self.graph.update(attributes)

    def _checked_nodes(self, nodes: Iterable[Any]) -> list[Any]:
        """The nodes as a list, each a label or a (label, dict) pair that networkx will take."""
        checked = as_list(nodes, "labels", self.instance)
        for node in checked:
            pair = isinstance(node, tuple) and len(node) == 2 and isinstance(node[1], dict)
            check_label(node[0] if pair else node, self.instance)
        return checked

    def _checked_edges(
        self, edges: Iterable[Any], attr: Mapping[str, Any]
    ) -> list[tuple[Label, Label, dict[str, Any]]]:
        """The edges as a list of triples, each within the rule, beside the graph as it is and beside one another."""
        checked: list[tuple[Label, Label, dict[str, Any]]] = []
        added: set[Edge] = set()
        for edge in as_list(edges, "edges", self.instance):
            init, term, data = self._unpacked(edge)
            if init == term:
                raise InvalidGraph(
                    f"{where(self.instance)}label {init!r} is preferred to itself; an edge joins two labels, drop it"
                )
            if (term, init) in added or self.has_edge(term, init):
                raise InvalidGraph(
                    f"{where(self.instance)}labels {init!r} and {term!r} are each preferred to the other; "
                    "a pair has one direction at most, drop one edge"
                )
            weight = data.get("weight", attr.get("weight", 1.0))
            if type(weight) is not float or not 0.0 < weight < float("inf"):
                check_weight(weight, init, term, self.instance)
            added.add((init, term))
            checked.append((init, term, data))
        return checked

    def _unpacked(self, edge: Any) -> tuple[Label, Label, dict[str, Any]]:
        """(init, term, attributes) of what a caller gave as an edge; sets and dicts have no first and second."""
        if not isinstance(edge, str | bytes | AbstractSet | Mapping):
            try:
                init, term, data = edge if len(edge) == 3 else (*edge, {})
            except (TypeError, ValueError):
                pass
            else:
                if isinstance(data, Mapping):
                    return check_label(init, self.instance), check_label(term, self.instance), dict(data)
        raise InvalidGraph(
            f"{where(self.instance)}{edge!r} is not an edge; give (preferred, other), a triple with a dict of "
            "attributes, or weights through add_weighted_edges_from"
        )

    def to_directed_class(self) -> type[PreferenceGraph]:
        """The class that networkx makes directed copies with."""
        return type(self)

    def __reduce_ex__(self, protocol: Any) -> Any:
        """A view of another graph holds functions, which no pickle can hold: what is saved is the graph it shows."""
        return self.copy().__reduce_ex__(protocol) if hasattr(self, "_graph") else super().__reduce_ex__(protocol)

    def __copy__(self) -> Self:
        return self.copy()  # the default would share the edges, and a change of one graph would change the other

    # -- content ------------------------------------------------------------------------------------------------------

    @property
    def instance(self) -> Any:
        """What the graph is about, or None."""
        return self.graph.get("instance")

    @property
    def dropped(self) -> tuple[tuple[Label, Label, float], ...]:
        """The votes ``(init, term, weight)`` that `from_pairs` left out.

        They hang on the graph and are no part of its content: `as_preferences` and `key` know nothing of them.
        """
        return tuple((init, term, weight) for init, term, weight in self.graph.get("dropped", ()))

    @property
    def key(self) -> str:
        """A digest of the content: labels with their type, edges, weights and edge attributes.

        The same in every process and Python version, whatever the order of insertion. Only for labels that are str or
        int and for attributes that are plain data.

        >>> import prefgraph as pg
        >>> pg.parse("[1|2]").key == pg.PreferenceGraph([(1, 2)]).key != pg.parse('["1"|2]').key
        True
        """
        edges = list(self.edges(data=True))
        attributes = [attributes_text(data, init, term) for init, term, data in edges]
        weights = [check_weight(data.get("weight", 1.0), init, term, self.instance) for init, term, data in edges]
        texts = {v: label_text(v) for v in self}
        layers = self.layers() if not any(attributes) and all(w == 1.0 for w in weights) else None
        if layers is not None:
            return layers_key([texts[v] for v in layer] for layer in layers)
        rows = [
            (texts[init], texts[term], weight, text)
            for (init, term, _), weight, text in zip(edges, weights, attributes, strict=True)
        ]
        return edges_key(texts.values(), rows)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, PreferenceGraph):
            return NotImplemented
        return set(self) == set(other) and self._edge_content() == other._edge_content()

    __hash__ = None  # type: ignore[assignment]

    def _edge_content(self) -> dict[Edge, tuple[float, Any]]:
        """Weight and attributes of each edge in a form that compares as the key does, where there is a key."""
        content: dict[Edge, tuple[float, Any]] = {}
        for init, term, data in self.edges(data=True):
            weight = data.get("weight", 1.0)
            content[init, term] = (finite(weight) or weight, {k: plain_text(v) for k, v in said(data).items()})
        return content

    # -- looking ------------------------------------------------------------------------------------------------------

    def layers(self) -> list[list[Label]] | None:
        """The layers, best first, or None when the graph is not layered.

        In a layered graph every label is preferred to every label of every lower layer, and to no other; a graph
        without edges is a single layer. Weights do not count. O(V).

        >>> import prefgraph as pg
        >>> pg.multilabel(["a", "b"], labels="abcd").layers()
        [['a', 'b'], ['c', 'd']]
        >>> pg.PreferenceGraph([("a", "b")], nodes=["c"]).layers() is None
        True
        """
        groups: dict[int, list[Label]] = {}
        for label, above in self.in_degree():
            groups.setdefault(above, []).append(label)
        # Degrees decide: a label without predecessor can only beat the rest, so its out-degree says whether it beats
        # all of it; remove that layer and repeat.
        seen = 0
        for above in sorted(groups):
            below = len(self) - seen - len(groups[above])
            if above != seen or any(self.out_degree(v) != below for v in groups[above]):
                return None
            seen += len(groups[above])
        return [groups[above] for above in sorted(groups)]

    def is_complete(self) -> bool:
        """Whether every pair of labels has an edge.

        >>> import prefgraph as pg
        >>> pg.parse("[1|2|3]").is_complete(), pg.parse("[1|2,3]").is_complete()
        (True, False)
        """
        return 2 * self.number_of_edges() == len(self) * (len(self) - 1)

    def dominated_by(self, label: Label) -> list[Label]:
        """The labels that this one is preferred to.

        >>> import prefgraph as pg
        >>> pg.parse("[1|2,3]").dominated_by(1)
        [2, 3]
        """
        if label not in self:
            known = ", ".join(repr(v) for v in list(self)[:10])
            raise InvalidGraph(f"{where(self.instance)}label {label!r} is not in the graph; its labels are {known}")
        return list(self.successors(label))

    def is_cyclic(self) -> bool:
        """Whether some labels are preferred to one another in a circle. See `prefgraph.cycles.is_cyclic`."""
        return cycles.is_cyclic(self)

    def cycles(self, limit: int | None = 100, length_bound: int | None = None) -> list[list[Label]]:
        """Elementary cycles, at most ``limit`` of them. See `prefgraph.cycles.cycles`."""
        return cycles.cycles(self, limit, length_bound)

    def strong_components(self) -> list[list[Label]]:
        """The groups of labels that lie on common cycles. See `prefgraph.cycles.strong_components`."""
        return cycles.strong_components(self)

    def feedback_arcs(self, exact: bool = True) -> FeedbackArcs:
        """Edges of least total weight whose removal leaves no cycle. See `prefgraph.cycles.feedback_arcs`."""
        return cycles.feedback_arcs(self, exact)

    def resolve_cycles(self, policy: str = "drop", **options: Any) -> tuple[Self, list[Change]]:
        """A graph without its cycles, by a named policy, and what changed. See `prefgraph.cycles.resolve_cycles`."""
        return cycles.resolve_cycles(self, policy, **options)

    def closure(self) -> Self:
        """The transitive closure of an acyclic graph. See `prefgraph.cycles.closure`."""
        return cycles.closure(self)

    def reduction(self) -> Self:
        """The transitive reduction of an acyclic graph. See `prefgraph.cycles.reduction`."""
        return cycles.reduction(self)

    def decompose(self, how: str | Decomposition) -> list[Self]:
        """Cut the graph into parts: graphs on the same vertices, each with some of the edges.

        Parameters
        ----------
        how
            A name in `DECOMPOSITIONS` or a function that returns collections of edges.

        Examples
        --------
        >>> import prefgraph as pg
        >>> [str(part) for part in pg.parse("[1,2|3]").decompose("domination")]
        ['1>3, 2', '2>3, 1']
        """
        return [subgraph(self, part) for part in cut_edges(self, find_decomposition(how), self.instance)]

    def summary(self) -> str:
        """A few lines about the graph for a terminal.

        >>> import prefgraph as pg
        >>> print(pg.PreferenceGraph([(1, 2), (2, 3), (3, 1)], nodes=[4]).summary())
        4 labels, 3 edges, 1 isolated label
        1>2, 2>3, 3>1, 4
        cyclic: 1 strong component of 3 labels
        """
        counts, *facts = self._facts()
        return "\n".join([counts, _shortened(str(self), 100), *facts])

    def _facts(self) -> list[str]:
        """What there is to say about the graph, a line each; how many labels and edges it has comes first."""
        isolated = sum(1 for v in self if not self.degree(v))
        counts = [_count(len(self), "label"), _count(self.number_of_edges(), "edge")]
        counts += [_count(isolated, "isolated label")] if isolated else []
        lines = [where(self.instance) + ", ".join(counts)]
        if weighted := [w for _, _, w in self.edges.data("weight", default=1.0) if w != 1.0]:
            lines.append(f"{_count(len(weighted), 'edge')} with a weight other than 1")
        components = sorted(map(len, self.strong_components()), reverse=True)
        if components:
            sizes = ", ".join(map(str, components))
            lines.append(f"cyclic: {_count(len(components), 'strong component')} of {sizes} labels")
        elif (layers := self.layers()) is not None:
            sizes = " | ".join(str(len(layer)) for layer in layers)
            lines.append(f"{_count(len(layers), 'layer')} of {sizes or 0} labels")
        else:
            lines.append("acyclic, not layered" + (", complete" if self.is_complete() else ""))
        return lines

    def __str__(self) -> str:
        layers = self.layers() if all(w == 1.0 for *_, w in self.edges.data("weight", default=1.0)) else None
        try:
            return format_edges(self) if layers is None else format_layers(layers)
        except InvalidLabel:  # labels that notation cannot write: still something to look at
            return format_edges(self, repr) if layers is None else format_layers(layers, repr)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {where(self.instance)}{_shortened(str(self), 80)}>"

    def _repr_html_(self) -> str:
        """The summary for a notebook, with labels as a table of layers where there are layers."""
        counts, *facts = self._facts()
        lines = [f"<b>{html.escape(type(self).__name__)}</b> {html.escape(counts)}", *map(html.escape, facts)]
        rows = [", ".join(map(str, layer)) for layer in self.layers() or []] or [str(self)]
        shown = [html.escape(_shortened(row, 500)) for row in rows]
        body = "".join(f"<tr><td style='text-align:left'>{row}</td></tr>" for row in shown)
        return "<div>" + "<br>".join(lines) + f"<table>{body}</table></div>"


def _read_adjacency(edges: Any, instance: object) -> nx.DiGraph[Any]:
    """An adjacency dict, a matrix, or a data frame of sources and targets, as networkx reads it."""
    columns = set(getattr(edges, "columns", ()))
    try:
        if columns >= {"source", "target"}:  # networkx would take as many edges as columns for a matrix
            attributes = True if len(columns) > 2 else None
            return nx.from_pandas_edgelist(edges, edge_attr=attributes, create_using=nx.MultiDiGraph)
        return nx.DiGraph(edges.astype(int) if getattr(edges, "dtype", None) == np.bool_ else edges)
    except (nx.NetworkXError, TypeError, ValueError) as error:
        raise InvalidGraph(
            f"{where(instance)}{type(edges).__name__} cannot be read as an adjacency ({error}); give a dict of "
            "successors or a square matrix, an array of pairs as array.tolist(), and a table of edges to from_table"
        ) from None


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" + ("" if number == 1 else "s")


def _shortened(text: str, width: int) -> str:
    return text if len(text) <= width else text[: width - 4] + " ..."


def edge_content(graph: nx.DiGraph[Label]) -> Sequence[tuple[Label, Label, float, dict[str, Any]]]:
    """(init, term, weight, attributes) of every edge, weights checked."""
    instance = graph.graph.get("instance")
    return [
        (init, term, check_weight(data.get("weight", 1.0), init, term, instance), said(data))
        for init, term, data in graph.edges(data=True)
    ]
