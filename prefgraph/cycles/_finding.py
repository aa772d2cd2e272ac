"""Where the cycles of a graph are: strong components, and cycles by length."""

from __future__ import annotations

import heapq
import math
from collections.abc import Iterator
from numbers import Integral
from typing import Any

import networkx as nx

from prefgraph._content import Label, sort_labels
from prefgraph.errors import InvalidOption


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
    return components_by(graph, list(graph))


def components_by(graph: nx.DiGraph[Any], order: list[Label]) -> list[list[Label]]:
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
        A ``limit`` or ``length_bound`` that is negative or no int.

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
        if value is not None and (not isinstance(value, Integral) or value < 0):
            raise InvalidOption(f"{name}={value!r} is not an int from 0 up; give one, or None for no bound")
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

    for component in components_by(graph, labels):
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
        for v in bits(layers[-1]):
            reached |= before[v]
        reached &= room
        room &= ~reached
        if not reached:
            return None
        layers.append(reached)
    rest = []
    step = first
    for layer in reversed(layers[1:]):
        v = next(bits(step & layer))
        rest.append(v)
        step = after[v]
    return tuple(rest)


def bits(mask: int) -> Iterator[int]:
    """The numbers of the bits that are set, ascending."""
    while mask:
        low = mask & -mask
        yield low.bit_length() - 1
        mask ^= low


def listed(labels: list[Label], separator: str = ", ", most: int = 10) -> str:
    """Labels in one line, the middle left out where there are many."""
    names = [repr(v) for v in labels]
    if len(names) > most:
        names[most - 2 : -1] = ["..."]
    return separator.join(names)
