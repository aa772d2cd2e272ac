"""What to do about cycles: the least to drop, four policies, and a report."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any, NamedTuple, Self, TypeVar

import networkx as nx

from prefgraph._content import Edge, Label, check_weight, finite, sort_labels, total, where
from prefgraph._feedback import feedback
from prefgraph.cycles._finding import components_by, cycles, listed, strong_components
from prefgraph.errors import InvalidGraph, InvalidOption, TooLarge, check_option

EXACT_LIMIT = 25
"""Labels up to which `feedback_arcs` is exact, counted in each piece that is left after splitting and contracting."""

CYCLE_POLICIES = ("keep", "drop", "condense", "downweight")
"""What `resolve_cycles` can do."""

_CHEAP = 12  # pieces up to this size are solved exactly even where a heuristic is enough: it takes milliseconds

G = TypeVar("G", bound="nx.DiGraph[Any]")


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
        A weight that is not finite and positive, or a sum of them that is not finite.

    Examples
    --------
    >>> g = nx.DiGraph()
    >>> g.add_weighted_edges_from([("a", "b", 3.0), ("b", "c", 2.0), ("c", "a", 0.5)])
    >>> feedback_arcs(g)
    FeedbackArcs((('c', 'a'),), weight=0.5, exact=True)
    """
    labels = sort_labels(graph)
    place = {v: k for k, v in enumerate(labels)}
    inside = {v: k for k, component in enumerate(components_by(graph, labels)) for v in component}
    arcs = sorted(
        (place[u], place[v], check_weight(data.get("weight", 1.0), u, v, graph.graph.get("instance")))
        for u, v, data in graph.edges(data=True)
        if u in inside and inside[u] == inside.get(v)
    )
    total((w for *_, w in arcs), "edges on cycles", graph.graph.get("instance"))  # whatever is added up below is less
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
    InvalidGraph
        ``"downweight"`` would make a weight smaller than the smallest float.
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
    if not 0.0 < (finite(factor) or 0.0) < 1.0:
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
    for (u, v), w in zip(arcs, weights, strict=True):
        if kept and not kept * w:
            raise InvalidGraph(
                f"{where(graph.graph.get('instance'))}the edge from {u!r} to {v!r} has weight {w!r}, and {factor!r} "
                "times that is 0; a weight is above 0, so multiply all weights by a large number first, or drop"
            )
    return [Change(action, *arc, w, kept * w, reason) for arc, w in zip(arcs, weights, strict=True)]


def _condensing(graph: nx.DiGraph[Any]) -> list[Change]:
    """Every edge inside a strong component, to be dropped."""
    labels = sort_labels(graph)
    place = {v: k for k, v in enumerate(labels)}
    changes = []
    for component in components_by(graph, labels):
        members = set(component)
        reason = "tied in the strong component " + listed(component)
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
        lines.append(f"component {number}: {_count(len(component), 'label')}: {listed(component)}")
        lines += _described(piece, arcs)
    dropped = _weighing(sum(map(len, found)), total((arcs.weight for arcs in found), "feedback arcs"))
    condensed = _weighing(len(inner), total((change.before for change in inner), "edges on cycles"))
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
    lines = [f"  a shortest cycle: {listed([*cycle, cycle[0]], ' > ')}"]
    lines += [f"  {kind}: {_weighing(len(arcs), arcs.weight)}"]
    weights = [component.edges[arc].get("weight", 1.0) for arc in arcs[:10]]
    lines += [f"    {u!r} > {v!r} (weight {w:g})" for (u, v), w in zip(arcs, weights, strict=False)]
    return lines + ([f"    and {len(arcs) - 10} more"] if len(arcs) > 10 else [])


def _weighing(number: int, weight: float) -> str:
    return f"{_count(number, 'edge')} of weight {weight:g}"


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" + ("" if number == 1 else "s")
