"""Cycles of a preference graph: where they are, what the least to drop is, and what to do about them.

The functions take any ``nx.DiGraph`` without self-loops and two-way pairs, and never change it. `PreferenceGraph` has
them as methods. Wherever something has to be chosen among equals, ints go before strs and each ascending, so that
equal graphs give equal answers in whatever order they were built.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple, Self, TypeVar

import networkx as nx

from prefgraph._content import Edge, Label, check_weight, sort_labels, where
from prefgraph._feedback import feedback
from prefgraph.errors import InvalidGraph, InvalidOption, TooLarge, check_option

__all__ = [
    "CYCLE_POLICIES",
    "EXACT_LIMIT",
    "Change",
    "FeedbackArcs",
    "closure",
    "cycle_report",
    "cycles",
    "feedback_arcs",
    "is_cyclic",
    "reduction",
    "resolve_cycles",
    "shortest_cycles",
    "strong_components",
]

EXACT_LIMIT = 25
"""Labels up to which `feedback_arcs` is exact, counted in each piece that is left after splitting and contracting."""

CYCLE_POLICIES = ("keep", "drop", "condense", "downweight")
"""What `resolve_cycles` can do."""

_CHEAP = 12  # pieces up to this size are solved exactly even where a heuristic is enough: it takes milliseconds

G = TypeVar("G", bound="nx.DiGraph[Any]")


# -- finding --------------------------------------------------------------------------------------------------------


def is_cyclic(graph: nx.DiGraph[Any]) -> bool:
    """Whether some labels are preferred to one another in a circle.

    Parameters
    ----------
    graph
        A preference graph.

    Returns
    -------
    bool
        False for a graph without edges.

    Examples
    --------
    >>> is_cyclic(nx.DiGraph([("a", "b"), ("b", "c"), ("c", "a")])), is_cyclic(nx.DiGraph([("a", "b"), ("a", "c")]))
    (True, False)
    """
    return not nx.is_directed_acyclic_graph(graph)


def strong_components(graph: nx.DiGraph[Any]) -> list[list[Label]]:
    """The groups of labels that lie on common cycles.

    Two labels are in one group if each can be reached from the other. A label on no cycle is in no group, so an acyclic
    graph has none.

    Parameters
    ----------
    graph
        A preference graph.

    Returns
    -------
    list of lists
        At least three labels each, in the order of the graph's nodes; the groups by their first labels.

    Examples
    --------
    >>> strong_components(nx.DiGraph([("d", "a"), ("a", "b"), ("b", "c"), ("c", "a")]))
    [['a', 'b', 'c']]
    >>> strong_components(nx.DiGraph([("a", "b")]))
    []
    """
    return _components(graph, list(graph))


def _components(graph: nx.DiGraph[Any], order: list[Label]) -> list[list[Label]]:
    """The components with a cycle, their labels and they themselves in the given order of all labels."""
    place = {v: k for k, v in enumerate(order)}
    groups = [sorted(c, key=place.__getitem__) for c in nx.strongly_connected_components(graph) if len(c) > 1]
    return sorted(groups, key=lambda group: place[group[0]])


def cycles(graph: nx.DiGraph[Any], limit: int | None = 100, length_bound: int | None = None) -> list[list[Label]]:
    """The shortest elementary cycles, at most ``limit`` of them.

    A graph can have exponentially many cycles. They come in the order of their lengths, and the time for each next one
    is bounded: O(n (n + m)) for n labels and m edges, with O(n) memory for each one found.

    Parameters
    ----------
    graph
        A preference graph.
    limit
        The number of cycles, 0 or more, at which to stop; None lists all of them, however many.
    length_bound
        Only cycles of at most so many labels; None (the default) for any length.

    Returns
    -------
    list of lists
        The labels of each cycle along its edges, beginning with the smallest (ints before strs, each ascending);
        short cycles first, those of one length in label order.

    Raises
    ------
    InvalidOption
        A negative ``limit`` or ``length_bound``.

    Examples
    --------
    >>> g = nx.DiGraph([("b", "c"), ("c", "a"), ("a", "b"), ("c", "d"), ("d", "a")])
    >>> cycles(g)
    [['a', 'b', 'c'], ['a', 'b', 'c', 'd']]
    >>> cycles(g, limit=1), cycles(nx.DiGraph([("a", "b")]))
    ([['a', 'b', 'c']], [])

    References
    ----------
    E. L. Lawler: A procedure for computing the K best solutions to discrete optimization problems, 1972.
    """
    for name, value in (("limit", limit), ("length_bound", length_bound)):
        if value is not None and value < 0:
            raise InvalidOption(f"{name}={value!r} is negative; give a number from 0 up, or None for no bound")
    found = _cycles(graph, math.inf if length_bound is None else length_bound)
    return [cycle for cycle, _ in zip(found, range(limit), strict=False)] if limit is not None else list(found)


def shortest_cycles(graph: nx.DiGraph[Any]) -> list[list[Label]]:
    """One shortest cycle of each strong component; weights do not count.

    Parameters
    ----------
    graph
        A preference graph.

    Returns
    -------
    list of lists
        In the order of `strong_components`; each cycle along its edges, beginning with its smallest label.

    Examples
    --------
    >>> shortest_cycles(nx.DiGraph([(1, 2), (2, 3), (3, 1), (3, 4), (4, 1), (8, 9), (9, 7), (7, 8)]))
    [[1, 2, 3], [7, 8, 9]]
    """
    return [next(_cycles(graph.subgraph(component), math.inf)) for component in strong_components(graph)]


def _cycles(graph: nx.DiGraph[Any], length_bound: float) -> Iterator[list[Label]]:
    """Elementary cycles by length, then by labels.

    A subproblem holds the cycles that begin with a given path (from their smallest label) and do not go on to some
    banned labels. It is represented by its best cycle; when that cycle is given out, the others of the subproblem fall
    into one new subproblem for each place where they leave it. Sets of labels are the bits of an int.
    """
    labels = sort_labels(graph)
    place = {v: k for k, v in enumerate(labels)}
    after = [sum(1 << place[w] for w in graph.succ[v]) for v in labels]
    before = [sum(1 << place[w] for w in graph.pred[v]) for v in labels]
    heap: list[tuple[int, tuple[int, ...], int, int, int]] = []

    def push(path: tuple[int, ...], banned: int, room: int) -> None:
        rest = _completion(path, banned, room, after, before)
        if rest is not None and len(path) + len(rest) <= length_bound:
            heapq.heappush(heap, (len(path) + len(rest), path + rest, len(path), banned, room))

    for component in _components(graph, labels):
        room = sum(1 << place[v] for v in component)
        for v in component:  # in ascending order: what was a root already is out of the room of the next ones
            room &= ~(1 << place[v])
            push((place[v],), 0, room)
    while heap:
        length, cycle, fixed, banned, room = heapq.heappop(heap)
        yield [labels[v] for v in cycle]
        for end in range(fixed, length + 1):
            banned |= 1 << cycle[end % length]
            push(cycle[:end], banned, room)
            banned = 0
            if end < length:
                room &= ~(1 << cycle[end])


def _completion(
    path: tuple[int, ...], banned: int, room: int, after: list[int], before: list[int]
) -> tuple[int, ...] | None:
    """The labels of ``room`` that lead from the end of a path back to its start: fewest first, then smallest."""
    root = 1 << path[0]
    first = after[path[-1]] & ~banned & (room | root)
    if not first:
        return None
    layers = [root]  # layers[d]: labels of the room whose shortest way to the root has d edges
    while not layers[-1] & first:
        reached = 0
        for v in _bits(layers[-1]):
            reached |= before[v]
        reached &= room
        room &= ~reached
        if not reached:
            return None
        layers.append(reached)
    rest = []
    step = first
    for layer in reversed(layers[1:]):
        v = next(_bits(step & layer))
        rest.append(v)
        step = after[v]
    return tuple(rest)


def _bits(mask: int) -> Iterator[int]:
    """The numbers of the bits that are set, ascending."""
    while mask:
        low = mask & -mask
        yield low.bit_length() - 1
        mask ^= low


# -- feedback arcs --------------------------------------------------------------------------------------------------


class FeedbackArcs(tuple[Edge, ...]):  # noqa: SLOT001 - a tuple with attributes cannot have slots
    """Edges whose removal leaves no cycle: a tuple of ``(init, term)`` that knows its weight.

    Attributes
    ----------
    weight
        Total weight of the edges.
    exact
        Whether the weight is known to be the least possible.

    Examples
    --------
    >>> arcs = feedback_arcs(nx.DiGraph([("a", "b"), ("b", "c")]))
    >>> arcs, arcs.weight, arcs.exact
    (FeedbackArcs((), weight=0.0, exact=True), 0.0, True)
    """

    _weight: float
    _exact: bool

    def __new__(cls, arcs: Iterable[Edge] = (), weight: float = 0.0, exact: bool = True) -> Self:
        """A tuple of the arcs, with what is known about it."""
        self = super().__new__(cls, arcs)
        self._weight, self._exact = weight, exact
        return self

    def __getnewargs__(self) -> tuple[tuple[Edge, ...], float, bool]:
        return tuple(self), self._weight, self._exact

    @property
    def weight(self) -> float:
        """Total weight of the edges."""
        return self._weight

    @property
    def exact(self) -> bool:
        """Whether the weight is known to be the least possible."""
        return self._exact

    def __repr__(self) -> str:
        return f"FeedbackArcs({tuple(self)!r}, weight={self.weight!r}, exact={self.exact!r})"


def feedback_arcs(graph: nx.DiGraph[Any], exact: bool = True) -> FeedbackArcs:
    """Edges of least total weight whose removal leaves no cycle.

    A graph is solved piece by piece: strong components, cut at labels that alone hold them together, with chains and
    other edges that need never go contracted. Exact answers are given for pieces of up to `EXACT_LIMIT` (25) labels:
    a fraction of a second for almost all graphs of that size, seconds for the most symmetric ones; up to 256 MB.

    Parameters
    ----------
    graph
        A preference graph; an edge without ``weight`` weighs 1.
    exact
        True (the default) for a minimum, up to a relative rounding of 1e-12. False for a good set at any size: a
        greedy order improved by moving single labels. Small pieces are solved exactly in any case.

    Returns
    -------
    FeedbackArcs
        The edges in label order. No edge can be left out: any single one put back closes a cycle. Equal graphs get
        equal edges.

    Raises
    ------
    TooLarge
        ``exact=True`` and a piece has more than `EXACT_LIMIT` labels.
    InvalidGraph
        A weight that is not finite and positive.

    Examples
    --------
    >>> g = nx.DiGraph()
    >>> g.add_weighted_edges_from([("a", "b", 3.0), ("b", "c", 2.0), ("c", "a", 0.5)])
    >>> feedback_arcs(g)
    FeedbackArcs((('c', 'a'),), weight=0.5, exact=True)
    """
    labels = sort_labels(graph)
    place = {v: k for k, v in enumerate(labels)}
    inside = {v: k for k, component in enumerate(_components(graph, labels)) for v in component}
    arcs = sorted(
        (place[u], place[v], check_weight(data.get("weight", 1.0), u, v, graph.graph.get("instance")))
        for u, v, data in graph.edges(data=True)
        if u in inside and inside[u] == inside.get(v)
    )
    cut, past = feedback(len(labels), arcs, EXACT_LIMIT if exact else _CHEAP, stop_past=exact)
    if exact and past:
        raise TooLarge(
            f"{where(graph.graph.get('instance'))}a strong component holds {past} labels that do not come apart; exact "
            f"feedback arcs are found for at most {EXACT_LIMIT}, use exact=False for a good set that may not be minimum"
        )
    chosen = [arcs[k] for k in sorted(cut)]
    weight = math.fsum(w for _, _, w in chosen)
    return FeedbackArcs(((labels[u], labels[v]) for u, v, _ in chosen), weight, not past)


# -- resolving ------------------------------------------------------------------------------------------------------


class Change(NamedTuple):
    """One edge that `resolve_cycles` changed.

    Examples
    --------
    >>> print(Change("dropped", "c", "a", 0.5, 0.0, "minimum feedback arc"))
    dropped 'c' > 'a' (weight 0.5): minimum feedback arc
    """

    action: str  # "dropped" or "downweighted"
    init: Label
    term: Label
    before: float
    after: float  # 0.0 where the edge is gone
    reason: str

    def __str__(self) -> str:
        weight = f"{self.before:g}" + (f" -> {self.after:g}" if self.after else "")
        return f"{self.action} {self.init!r} > {self.term!r} (weight {weight}): {self.reason}"


def resolve_cycles(
    graph: G, policy: str = "drop", *, exact: bool = True, factor: float | None = None
) -> tuple[G, list[Change]]:
    """Do something about the cycles, and say what.

    =============== ==================================================================================================
    ``"keep"``       nothing: learners take cyclic graphs
    ``"drop"``       remove the feedback arcs; the result is acyclic
    ``"condense"``   remove every edge inside a strong component: its labels are tied, because those who preferred
                     each of them to the next have not said which is best; the result is acyclic
    ``"downweight"`` multiply the weights of the feedback arcs by a factor; the cycles stay
    =============== ==================================================================================================

    No policy adds an edge: condensing keeps ``a > d`` of one tied label as it was said and does not claim it for the
    labels that are tied with ``a``.

    Parameters
    ----------
    graph
        A preference graph; it stays as it is.
    policy
        One of the words above.
    exact
        As in `feedback_arcs`, for ``"drop"`` and ``"downweight"``.
    factor
        For ``"downweight"`` only: a number between 0 and 1, both excluded; 0.5 where it is not given.

    Returns
    -------
    graph
        A new graph of the same class, with the same labels and attributes.
    changes
        A `Change` for every edge that is gone or has another weight, in label order.

    Raises
    ------
    InvalidOption
        An unknown policy, a factor outside (0, 1), or a factor for another policy.
    TooLarge
        ``exact=True`` and a component is past the limit of `feedback_arcs`.

    Examples
    --------
    >>> g = nx.DiGraph([("a", "b"), ("b", "c"), ("c", "a"), ("a", "d")])
    >>> resolved, changes = resolve_cycles(g, "drop")
    >>> [str(change) for change in changes]
    ["dropped 'c' > 'a' (weight 1): minimum feedback arc"]
    >>> list(resolve_cycles(g, "condense")[0].edges)
    [('a', 'd')]
    >>> resolve_cycles(g, "keep")[1]
    []
    """
    check_option("policy", policy, CYCLE_POLICIES)
    if factor is not None and policy != "downweight":
        raise InvalidOption(f"factor={factor!r} with policy={policy!r}; a factor is for 'downweight', leave it out")
    factor = 0.5 if factor is None else factor
    if not 0.0 < factor < 1.0:
        raise InvalidOption(f"factor={factor!r} is not between 0 and 1; choose 0.5 to halve the weights, for example")
    changes = _changes(graph, policy, exact, factor)
    result = graph.copy()
    for change in changes:
        if change.after:
            result.add_edge(change.init, change.term, weight=change.after)
        else:
            result.remove_edge(change.init, change.term)
    return result, changes


def _changes(graph: nx.DiGraph[Any], policy: str, exact: bool, factor: float) -> list[Change]:
    """What a policy changes."""
    if policy == "keep":
        return []
    if policy == "condense":
        return _condensing(graph)
    arcs = feedback_arcs(graph, exact)
    reason = "minimum feedback arc" if arcs.exact else "feedback arc found by a heuristic"
    action, kept = ("dropped", 0.0) if policy == "drop" else ("downweighted", factor)
    weights = [float(graph.edges[arc].get("weight", 1.0)) for arc in arcs]
    return [Change(action, *arc, w, kept * w, reason) for arc, w in zip(arcs, weights, strict=True)]


def _condensing(graph: nx.DiGraph[Any]) -> list[Change]:
    """Every edge inside a strong component, to be dropped."""
    labels = sort_labels(graph)
    place = {v: k for k, v in enumerate(labels)}
    changes = []
    for component in _components(graph, labels):
        members = set(component)
        reason = "tied in the strong component " + _listed(component)
        for u in component:
            for v in sorted(members.intersection(graph.succ[u]), key=place.__getitem__):
                weight = float(graph.edges[u, v].get("weight", 1.0))
                changes.append(Change("dropped", u, v, weight, 0.0, reason))
    return sorted(changes, key=lambda change: (place[change.init], place[change.term]))


def cycle_report(graph: nx.DiGraph[Any]) -> str:
    """What there is to know about the cycles of a graph, for a terminal.

    Parameters
    ----------
    graph
        A preference graph.

    Returns
    -------
    str
        For each strong component its labels, a shortest cycle and its feedback arcs, then what each policy of
        `resolve_cycles` would do. Past the limit of exact feedback arcs those of the heuristic, and it says so.

    Examples
    --------
    >>> print(cycle_report(nx.DiGraph([("a", "b"), ("b", "c"), ("c", "a"), ("a", "d")])))
    1 strong component; 3 of 4 labels and 3 of 4 edges lie on cycles
    component 1: 3 labels: 'a', 'b', 'c'
      a shortest cycle: 'a' > 'b' > 'c' > 'a'
      minimum feedback arcs: 1 edge of weight 1
        'c' > 'a' (weight 1)
    policies
      keep: changes nothing
      drop: drops 1 edge of weight 1
      condense: drops 3 edges of weight 3
      downweight: multiplies the weight of 1 edge by 0.5
    >>> print(cycle_report(nx.DiGraph([("a", "b")])))
    no cycles: 2 labels, 1 edge
    """
    name = where(graph.graph.get("instance"))
    components = strong_components(graph)
    if not components:
        return f"{name}no cycles: {_count(len(graph), 'label')}, {_count(graph.number_of_edges(), 'edge')}"
    inner = _condensing(graph)
    share = f"{sum(map(len, components))} of {len(graph)} labels and {len(inner)} of {graph.number_of_edges()} edges"
    lines = [f"{name}{_count(len(components), 'strong component')}; {share} lie on cycles"]
    found = []
    for number, component in enumerate(components, start=1):
        piece = graph.subgraph(component)
        arcs = _best_arcs(piece)
        found.append(arcs)
        lines.append(f"component {number}: {_count(len(component), 'label')}: {_listed(component)}")
        lines += _described(piece, arcs)
    dropped = _weighing(sum(map(len, found)), math.fsum(arcs.weight for arcs in found))
    condensed = _weighing(len(inner), math.fsum(change.before for change in inner))
    guess = "" if all(arcs.exact for arcs in found) else " (exact=False)"
    lines += ["policies", "  keep: changes nothing", f"  drop{guess}: drops {dropped}"]
    lines += [f"  condense: drops {condensed}"]
    lines += [f"  downweight{guess}: multiplies the weight of {_count(sum(map(len, found)), 'edge')} by 0.5"]
    return "\n".join(lines)


def _best_arcs(graph: nx.DiGraph[Any]) -> FeedbackArcs:
    """Exact feedback arcs up to the limit, those of the heuristic past it."""
    try:
        return feedback_arcs(graph)
    except TooLarge:
        return feedback_arcs(graph, exact=False)


def _described(component: nx.DiGraph[Any], arcs: FeedbackArcs) -> list[str]:
    """Lines about one strong component."""
    (cycle,) = cycles(component, limit=1)
    kind = "minimum feedback arcs" if arcs.exact else "feedback arcs (heuristic, perhaps not minimum)"
    lines = [f"  a shortest cycle: {_listed([*cycle, cycle[0]], ' > ')}"]
    lines += [f"  {kind}: {_weighing(len(arcs), arcs.weight)}"]
    weights = [component.edges[arc].get("weight", 1.0) for arc in arcs[:10]]
    lines += [f"    {u!r} > {v!r} (weight {w:g})" for (u, v), w in zip(arcs, weights, strict=False)]
    return lines + ([f"    and {len(arcs) - 10} more"] if len(arcs) > 10 else [])


def _listed(labels: list[Label], separator: str = ", ", most: int = 10) -> str:
    """Labels in one line, the middle left out where there are many."""
    names = [repr(v) for v in labels]
    if len(names) > most:
        names[most - 2 : -1] = ["..."]
    return separator.join(names)


def _weighing(number: int, weight: float) -> str:
    return f"{_count(number, 'edge')} of weight {weight:g}"


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" + ("" if number == 1 else "s")


# -- transitive closure and reduction ---------------------------------------------------------------------------------


def closure(graph: G) -> G:
    """The transitive closure: an edge from each label to all that can be reached from it.

    Parameters
    ----------
    graph
        An acyclic preference graph; it stays as it is.

    Returns
    -------
    graph
        A new graph of the same class. Edges that were there keep their weights and attributes; new ones have none, so
        they weigh 1.

    Raises
    ------
    InvalidGraph
        The graph is cyclic. On a cycle each label would be preferred to each other, both ways, which no preference
        graph can hold.

    Examples
    --------
    >>> list(closure(nx.DiGraph([("a", "b"), ("b", "c")])).edges)
    [('a', 'b'), ('a', 'c'), ('b', 'c')]
    """
    labels, below = _reach(graph, "closure")
    result = graph.copy()
    for k, u in enumerate(labels):
        result.add_edges_from((u, labels[v]) for v in _bits(below[k]) if labels[v] not in graph.succ[u])
    return result


def reduction(graph: G) -> G:
    """The transitive reduction: without the edges that follow from others.

    Parameters
    ----------
    graph
        An acyclic preference graph; it stays as it is.

    Returns
    -------
    graph
        A new graph of the same class with the fewest edges that have the same closure, weights and attributes as they
        were.

    Raises
    ------
    InvalidGraph
        The graph is cyclic; then no such graph is the only one.

    Examples
    --------
    >>> list(reduction(nx.DiGraph([("a", "b"), ("b", "c"), ("a", "c")])).edges)
    [('a', 'b'), ('b', 'c')]
    """
    labels, below = _reach(graph, "reduction")
    place = {v: k for k, v in enumerate(labels)}
    result = graph.copy()
    for u in labels:
        implied = 0
        for v in graph.succ[u]:
            implied |= below[place[v]]
        result.remove_edges_from([(u, v) for v in graph.succ[u] if implied >> place[v] & 1])
    return result


def _reach(graph: nx.DiGraph[Any], name: str) -> tuple[list[Label], list[int]]:
    """Labels in order, and for each the labels below it as bits; an error that shows a cycle where there is one."""
    if is_cyclic(graph):
        shown = _listed([*(cycle := cycles(graph, limit=1)[0]), cycle[0]], " > ")
        raise InvalidGraph(
            f"{where(graph.graph.get('instance'))}the graph has the cycle {shown}; only an acyclic graph has a {name}, "
            "so take the graph that resolve_cycles returns"
        )
    labels = sort_labels(graph)
    place = {v: k for k, v in enumerate(labels)}
    below = [0] * len(labels)
    for u in reversed(list(nx.topological_sort(graph))):
        for v in graph.succ[u]:
            below[place[u]] |= below[place[v]] | 1 << place[v]
    return labels, below
