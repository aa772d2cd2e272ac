"""The transitive closure and reduction of a graph without cycles."""

from __future__ import annotations

from typing import Any, TypeVar

import networkx as nx

from prefgraph._content import Label, sort_labels, where
from prefgraph.cycles._finding import bits, cycles, is_cyclic, listed
from prefgraph.errors import InvalidGraph

G = TypeVar("G", bound="nx.DiGraph[Any]")


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
        result.add_edges_from((u, labels[v]) for v in bits(below[k]) if labels[v] not in graph.succ[u])
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
        shown = listed([*(cycle := cycles(graph, limit=1)[0]), cycle[0]], " > ")
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
