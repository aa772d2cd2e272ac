"""Preference graphs from what people have: a class, label sets, layers, rankings, ratings, votes, text."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from collections.abc import Set as AbstractSet
from fractions import Fraction
from itertools import chain
from numbers import Integral
from typing import Any

import networkx as nx

from prefgraph._content import (
    Edge,
    Label,
    as_list,
    check_label,
    check_weight,
    finite,
    label_text,
    sort_labels,
    total,
    where,
)
from prefgraph.errors import Contradiction, InvalidGraph, InvalidNotation, InvalidScores, check_option
from prefgraph.graph import PreferenceGraph
from prefgraph.notation import read_notation

__all__ = [
    "format",
    "from_layers",
    "from_networkx",
    "from_pairs",
    "from_ranking",
    "from_scores",
    "multiclass",
    "multilabel",
    "ordinal",
    "parse",
]


def from_layers(layers: Iterable[Iterable[Label]], *, instance: object = None) -> PreferenceGraph:
    """The layered graph: every label is preferred to all labels of all lower layers.

    Parameters
    ----------
    layers
        Groups of labels, best first. A group may be empty; a label may stand in one group only.
    instance
        What the graph is about, for error messages.

    Examples
    --------
    >>> from_layers([["a", "b"], ["c"]])
    <PreferenceGraph [a,b|c]>

    References
    ----------
    [DMS03] Fig. 1(c).
    """
    groups = [
        [check_label(v, instance) for v in _ordered(layer, instance)] for layer in as_list(layers, "layers", instance)
    ]
    labels = [v for group in groups for v in group]
    _check_distinct(labels, instance, "stands twice; a label has one place in the layers")
    graph = PreferenceGraph(nodes=labels, instance=instance)
    graph.add_edges_from((u, v) for k, group in enumerate(groups) for u in group for v in chain(*groups[k + 1 :]))
    return graph


def multiclass(label: Label, labels: Iterable[Label], *, instance: object = None) -> PreferenceGraph:
    """The graph of a single right label: it is preferred to all others.

    Parameters
    ----------
    label
        The right one.
    labels
        All labels, the right one among them.
    instance
        What the graph is about, for error messages.

    Examples
    --------
    >>> multiclass("a", labels="abc")
    <PreferenceGraph [a|b,c]>

    References
    ----------
    [DMS03] Fig. 1(a).
    """
    return multilabel([label], labels, instance=instance)


def multilabel(relevant: Iterable[Label], labels: Iterable[Label], *, instance: object = None) -> PreferenceGraph:
    """The bipartite graph of a label set: each relevant label is preferred to each of the others.

    No relevant label, or nothing but relevant ones, gives a graph without edges.

    Parameters
    ----------
    relevant
        The labels of the instance.
    labels
        All labels.
    instance
        What the graph is about, for error messages.

    Examples
    --------
    >>> multilabel(["a", "b"], labels="abcde")
    <PreferenceGraph [a,b|c,d,e]>

    References
    ----------
    [DMS03] Fig. 1(b).
    """
    everything = as_list(labels, "labels", instance)
    chosen = {check_label(v, instance) for v in as_list(relevant, "labels", instance)}
    _check_known(chosen, everything, instance)
    layers = [v for v in everything if v in chosen], [v for v in everything if v not in chosen]
    return from_layers(layers, instance=instance)


def from_ranking(
    ranking: Iterable[Any],
    labels: Iterable[Label] | None = None,
    *,
    rest: str = "unknown",
    instance: object = None,
) -> PreferenceGraph:
    """The graph of a ranking, best first, with ties and gaps.

    Parameters
    ----------
    ranking
        Labels; a list, tuple or set stands for labels that are tied.
    labels
        All labels, where the ranking leaves some out.
    rest
        What is known of the labels that the ranking leaves out: ``"unknown"`` nothing (they are isolated),
        ``"below"`` they are below all that were ranked, as in a list of the best k.
    instance
        What the graph is about, for error messages.

    Examples
    --------
    >>> from_ranking(["a", ["b", "c"], "d"])
    <PreferenceGraph [a|b,c|d]>
    >>> print(from_ranking(["a", "b"], labels="abc"))
    a>b, c
    >>> print(from_ranking(["a", "b"], labels="abcd", rest="below"))
    [a|b|c,d]
    """
    check_option("rest", rest, ("unknown", "below"))
    tied = (list, tuple, set, frozenset)
    places = as_list(ranking, "labels, best first", instance)
    layers = [_ordered(group, instance) if isinstance(group, tied) else [group] for group in places]
    named = {check_label(v, instance) for layer in layers for v in layer}
    everything = as_list(labels, "labels", instance) if labels is not None else []
    if labels is not None:
        _check_known(named, everything, instance)
    left_out = [v for v in everything if v not in named]
    if rest == "below":
        layers.append(left_out)
        left_out = []
    graph = from_layers(layers, instance=instance)
    graph.add_nodes_from(left_out)
    return graph


def ordinal(label: Label, labels: Iterable[Label], *, instance: object = None) -> PreferenceGraph:
    """The graph of a point on a scale: labels are worse the farther they are from it.

    The layers are those of ``|y - label|`` where all labels are numbers (0.2 and 0.4 are as far from 0.3 as they look),
    and of the distance in the order of ``labels`` otherwise.

    Parameters
    ----------
    label
        The right one.
    labels
        The scale, in order.
    instance
        What the graph is about, for error messages.

    Examples
    --------
    >>> ordinal(2, labels=range(5))
    <PreferenceGraph [2|1,3|0,4]>
    >>> ordinal("low", labels=["low", "middle", "high"])
    <PreferenceGraph [low|middle|high]>
    """
    scale = as_list(labels, "labels", instance)
    _check_known({check_label(label, instance)}, scale, instance)
    place: dict[Label, Any] = {v: i for i, v in enumerate(scale)}
    if all(finite(v) is not None for v in scale):
        # Exact: the difference of small numpy ints would wrap around, that of decimals would not tie.
        place = {v: int(v) if isinstance(v, Integral) else Fraction(str(v)) for v in scale}
    layers = defaultdict(list)
    for v in scale:
        layers[abs(place[v] - place[label])].append(v)
    return from_layers([layers[distance] for distance in sorted(layers)], instance=instance)


def from_scores(scores: Mapping[Label, float], tolerance: float = 0.0, *, instance: object = None) -> PreferenceGraph:
    """The graph of ratings: a label is preferred to those that score lower by more than a tolerance.

    Parameters
    ----------
    scores
        A finite number for each label, as a dict or a pandas series; leave out a label without a rating.
    tolerance
        Differences up to this one are ties; 0 or more. Above 0 the graph is acyclic but in general not layered.
    instance
        What the graph is about, for error messages.

    Examples
    --------
    >>> from_scores({"a": 0.9, "b": 0.1, "c": 0.1})
    <PreferenceGraph [a|b,c]>
    >>> print(from_scores({"a": 3, "b": 2, "c": 1}, tolerance=1))
    a>c, b
    """
    limit = finite(tolerance)
    if limit is None or limit < 0:
        raise InvalidScores(f"tolerance={tolerance!r}; it is a finite number, 0 or more")
    if not hasattr(scores, "items"):
        raise InvalidScores(f"{where(instance)}{scores!r} has no labels; give a dict from labels to scores")
    rating: dict[Label, float] = {}
    for label, score in scores.items():
        number = finite(score)
        if number is None:
            raise InvalidScores(
                f"{where(instance)}label {label!r} has the score {score!r}; a score is a finite number, "
                "leave out a label that has none"
            )
        rating[check_label(label, instance)] = number
    edges = ((u, v) for u in rating for v in rating if rating[u] > rating[v] and rating[u] - rating[v] > limit)
    return PreferenceGraph(edges, nodes=rating, instance=instance)


def from_pairs(
    pairs: Iterable[Any],
    labels: Iterable[Label] = (),
    *,
    on_contradiction: str = "error",
    instance: object = None,
) -> PreferenceGraph:
    """The graph of pairwise votes; votes for the same pair add up.

    Parameters
    ----------
    pairs
        ``(preferred, other)`` or ``(preferred, other, weight)``.
    labels
        Labels that no vote may have named.
    on_contradiction
        What to do with a pair that has votes both ways: ``"error"``; ``"majority"`` keeps the heavier direction with
        the votes it got, and neither if both weigh the same; ``"drop"`` keeps neither. What was left out is in the
        graph's `dropped`.
    instance
        What the graph is about, for error messages.

    Raises
    ------
    Contradiction
        A pair has votes both ways, and the policy is ``"error"``.

    Examples
    --------
    >>> g = from_pairs([("a", "b", 2.0), ("b", "a", 1.0), ("b", "c")], on_contradiction="majority")
    >>> print(g)
    a>b:2.0, b>c
    >>> g.dropped
    (('b', 'a', 1.0),)
    """
    check_option("on_contradiction", on_contradiction, ("error", "majority", "drop"))
    votes = _counted(pairs, instance)
    dropped: list[tuple[Label, Label, float]] = []
    for (init, term), weight in votes.items():
        against = votes.get((term, init))
        if against is None:
            continue
        if on_contradiction == "error":
            raise Contradiction(
                f"{where(instance)}labels {init!r} and {term!r} have votes both ways ({weight:g} and {against:g}); "
                "a pair has one direction at most, choose on_contradiction='majority' or 'drop'"
            )
        if on_contradiction == "drop" or weight <= against:
            dropped.append((init, term, weight))
    named = [v for edge in votes for v in edge]
    graph = PreferenceGraph(nodes=[*named, *as_list(labels, "labels", instance)], instance=instance)
    for init, term, _ in dropped:
        del votes[init, term]
    graph.add_edges_from((u, v, {} if weight == 1.0 else {"weight": weight}) for (u, v), weight in votes.items())
    if dropped:
        graph.graph["dropped"] = dropped
    return graph


def parse(text: str, *, instance: object = None) -> PreferenceGraph:
    """A graph from a line of text, as `format` writes it.

    ``[1,2|3,4,5]`` is layered, best layer first; ``1>2, 2>3, 3>1, 4`` lists edges and isolated labels, and ``a>b:2.5``
    gives an edge a weight. ``1`` is the int and ``"1"`` the str; labels with characters of the notation, and with space
    around them, go in double quotes with JSON's escapes. Edge attributes are not part of the notation.

    Parameters
    ----------
    text
        The line.
    instance
        What the graph is about, for error messages.

    Raises
    ------
    InvalidNotation
        The text breaks the grammar; the message names the character.

    Examples
    --------
    >>> parse("[1,2|3]").layers()
    [[1, 2], [3]]
    >>> sorted(parse('"crude, oil">gas').nodes)
    ['crude, oil', 'gas']

    References
    ----------
    [AS05] section 2 for the brackets.
    """
    try:
        notation = read_notation(text)
    except InvalidNotation as error:
        raise InvalidNotation(f"{where(instance)}{error}") from None
    if notation.layers is not None:
        return from_layers(notation.layers, instance=instance)
    graph = PreferenceGraph(instance=instance)
    known: set[Edge] = set()
    for init, term, _ in notation.edges:
        if (init, term) in known:
            raise InvalidNotation(
                f"{where(instance)}{text!r}: the edge {init!r}>{term!r} stands twice; write it once, with its weight"
            )
        known.add((init, term))
    graph.add_edges_from((u, v, {} if weight is None else {"weight": weight}) for u, v, weight in notation.edges)
    graph.add_nodes_from(notation.labels)
    return graph


def format(graph: "nx.Graph[Any]") -> str:  # noqa: A001 - the counterpart of parse; users write prefgraph.format
    """A graph as a line of text, which `parse` reads back: what ``str(graph)`` shows.

    Attributes of edges other than the weight are not part of the notation; `to_json` keeps them.

    Parameters
    ----------
    graph
        A preference graph, or a networkx graph that can be one.

    Raises
    ------
    InvalidLabel
        A label is neither str nor int. ``str(graph)`` shows such a graph all the same, but nothing reads it back.

    Examples
    --------
    >>> format(from_layers([["a", "b"], ["crude oil"]]))
    '[a,b|"crude oil"]'
    >>> format(from_pairs([("a", "b", 2.5)], labels=["c"]))
    'a>b:2.5, c'
    >>> format(PreferenceGraph())
    '[]'
    """
    checked = graph if isinstance(graph, PreferenceGraph) else from_networkx(graph)
    for label in checked:
        label_text(label)
    return str(checked)


def from_networkx(graph: "nx.Graph[Any]", *, instance: object = None) -> PreferenceGraph:
    """A preference graph with the nodes, edges and attributes of a networkx graph.

    Parameters
    ----------
    graph
        A directed graph; with ``instance`` among its attributes, messages name that.
    instance
        What the graph is about instead.

    Raises
    ------
    InvalidGraph
        The graph has no directions, parallel edges, a self-loop or a two-way pair.

    Examples
    --------
    >>> import networkx as nx
    >>> print(from_networkx(nx.DiGraph([(1, 2), (2, 3)])))
    1>2, 2>3
    """
    if not isinstance(graph, nx.Graph):
        raise InvalidGraph(f"{type(graph).__name__} is not a networkx graph; give an nx.DiGraph")
    return PreferenceGraph(graph, instance=instance)


def _counted(pairs: Iterable[Any], instance: object) -> dict[Edge, float]:
    """The total weight of the votes in each direction of each pair."""
    votes: dict[Edge, list[float]] = defaultdict(list)
    for pair in as_list(pairs, "votes", instance):
        init, term, weight = _vote(pair, instance)
        votes[init, term].append(weight)
    # rounded once, because the same votes in another order are the same graph, with the same key.
    return {(u, v): total(ws, f"votes for {u!r} against {v!r}", instance) for (u, v), ws in votes.items()}


def _vote(pair: Any, instance: object) -> tuple[Label, Label, float]:
    """(init, term, weight) of what a caller gave as a vote; sets and dicts have no first and second."""
    readable = isinstance(pair, Iterable) and not isinstance(pair, str | bytes | AbstractSet | Mapping)
    values = list(pair) if readable else []
    if len(values) not in (2, 3):
        raise InvalidGraph(
            f"{where(instance)}{pair!r} is not a vote; give (preferred, other) or (preferred, other, weight)"
        )
    init, term = check_label(values[0], instance), check_label(values[1], instance)
    if init == term:
        raise InvalidGraph(
            f"{where(instance)}label {init!r} is preferred to itself; a vote is about two labels, drop it"
        )
    return init, term, check_weight(values[2] if len(values) == 3 else 1.0, init, term, instance)


def _ordered(layer: Iterable[Label], instance: object) -> list[Label]:
    """The labels of a layer; those of a set in an order that is the same in every process."""
    if isinstance(layer, AbstractSet):
        return sort_labels(layer)
    if not isinstance(layer, Iterable):
        raise InvalidGraph(f"{where(instance)}{layer!r} is not a layer; give a list of layers, each a list of labels")
    return list(layer)


def _check_known(chosen: set[Label], labels: list[Label], instance: object) -> None:
    for label in labels:
        check_label(label, instance)
    _check_distinct(labels, instance, "is listed twice; list each label once")
    if unknown := chosen.difference(labels):
        known = ", ".join(map(repr, labels[:10])) + (" ..." if len(labels) > 10 else "")
        first = min(unknown, key=repr)
        raise InvalidGraph(f"{where(instance)}label {first!r} is not among the labels {known}; add it to labels")


def _check_distinct(labels: list[Label], instance: object, rule: str) -> None:
    if len(set(labels)) < len(labels):
        twice = next(v for i, v in enumerate(labels) if v in labels[:i])
        raise InvalidGraph(f"{where(instance)}label {twice!r} {rule}")
