"""A rooted hierarchy over positions 0..n-1: checked once, then asked about parents, depths and distances."""

from collections import deque
from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from prefgraph._content import Label, check_label
from prefgraph.errors import InvalidHierarchy

_SHOWN = 5  # how many offenders a message names


class Links(NamedTuple):
    """Neighbours in CSR form: those of ``v`` are ``to[start[v]:start[v + 1]]``."""

    start: NDArray[np.int64]
    to: NDArray[np.int64]


class RootedTree:
    """Parents and children by position; a tree, or a DAG where a vertex has several parents."""

    def __init__(self, parents: Sequence[tuple[int, ...]], root: int) -> None:
        self.parents = tuple(parents)
        self.root = root
        below: list[list[int]] = [[] for _ in parents]
        for vertex, above in enumerate(parents):
            for parent in above:
                below[parent].append(vertex)
        self.children = tuple(map(tuple, below))
        self.is_tree = all(len(above) <= 1 for above in parents)
        self.depth = self.distances_from([root], up=False)

    def neighbours(self, vertex: int) -> tuple[int, ...]:
        """Parents and children."""
        return self.parents[vertex] + self.children[vertex]

    def distances_from(self, sources: Iterable[int], *, up: bool = True) -> list[int]:
        """Number of edges from the closest source to each vertex, breadth first; only downwards if not ``up``."""
        step = self.neighbours if up else self.children.__getitem__
        distance = [-1] * len(self.parents)
        waiting: deque[int] = deque()
        for source in sources:
            distance[source] = 0
            waiting.append(source)
        while waiting:
            vertex = waiting.popleft()
            for other in step(vertex):
                if distance[other] < 0:
                    distance[other] = distance[vertex] + 1
                    waiting.append(other)
        return distance

    def distance(self, a: int, b: int) -> int:
        """Number of edges between two vertices: up to the first common ancestor and down, or breadth first in a DAG."""
        if not self.is_tree:
            return self.distances_from([a])[b]
        steps = 0
        while a != b:
            if self.depth[a] < self.depth[b]:
                a, b = b, a
            (a,) = self.parents[a]
            steps += 1
        return steps

    def path(self, vertex: int) -> list[int]:
        """A shortest path from the root; among several the one over the parent that comes first."""
        found = [vertex]
        while found[-1] != self.root:
            found.append(min(self.parents[found[-1]], key=lambda parent: (self.depth[parent], parent)))
        return found[::-1]

    def above(self, vertex: int) -> list[int]:
        """All ancestors, nearest first."""
        return _reached(vertex, self.parents)

    def below(self, vertex: int) -> list[int]:
        """All descendants, nearest first."""
        return _reached(vertex, self.children)

    def links(self, *, both: bool) -> Links:
        """Parents of each vertex in CSR form, with its children too if ``both``."""
        rows = [self.neighbours(v) if both else self.parents[v] for v in range(len(self.parents))]
        start = np.zeros(len(rows) + 1, np.int64)
        np.cumsum([len(row) for row in rows], out=start[1:])
        return Links(start, np.array([v for row in rows for v in row], np.int64))


def _reached(start: int, links: Sequence[tuple[int, ...]]) -> list[int]:
    """Vertices that links lead to from ``start``, breadth first, without the start."""
    seen = {start: None}
    waiting = deque([start])
    while waiting:
        for other in links[waiting.popleft()]:
            if other not in seen:
                seen[other] = None
                waiting.append(other)
    return list(seen)[1:]


def render(tree: RootedTree, labels: Sequence[Label], max_depth: int | None) -> str:
    """The tree as lines of text; labels below ``max_depth`` are counted, and no label shows its children twice."""
    lines: list[str] = []
    shown: set[int] = set()
    waiting = [(tree.root, "", "", 0)]  # vertex, what leads its line, what leads the lines below it, depth
    while waiting:
        vertex, lead, indent, depth = waiting.pop()
        below = tree.children[vertex]
        line = lead + str(labels[vertex])
        if below and vertex in shown:
            lines.append(f"{line} (above)")
        elif below and max_depth is not None and depth >= max_depth:
            lines.append(f"{line} ({len(tree.below(vertex))} below)")
        else:
            lines.append(line)
            shown.add(vertex)
            branches = [(child, indent + "├── ", indent + "│   ", depth + 1) for child in below[:-1]]
            branches += [(child, indent + "└── ", indent + "    ", depth + 1) for child in below[-1:]]
            waiting.extend(reversed(branches))
    return "\n".join(lines)


def rooted_tree(
    parents: Mapping[Label, Sequence[Label]], virtual_root: Label | None = None
) -> tuple[tuple[Label, ...], RootedTree]:
    """Check a parent map and number its labels; a virtual root, if named, goes first and above all roots."""
    if not parents:
        raise InvalidHierarchy("the hierarchy has no labels; give at least one")
    if virtual_root is not None and check_label(virtual_root) in parents:
        raise InvalidHierarchy(
            f"virtual_root={virtual_root!r} is a label of the hierarchy already; name one that is not, "
            "or leave virtual_root out if the hierarchy has one root"
        )
    _check_acyclic(parents)
    roots = [label for label, above in parents.items() if not above]
    if virtual_root is None and len(roots) > 1:
        raise InvalidHierarchy(
            f"the hierarchy has {len(roots)} roots, {_named(roots)}; it needs one, so name a parent for all roots, "
            "such as virtual_root='Root'"
        )
    labels = tuple(parents) if virtual_root is None else (virtual_root, *parents)
    position = {label: number for number, label in enumerate(labels)}
    above_all = () if virtual_root is None else (position[virtual_root],)
    numbered = [tuple(sorted({position[p] for p in above})) or above_all for above in parents.values()]
    if virtual_root is None:
        return labels, RootedTree(numbered, position[roots[0]])
    return labels, RootedTree([(), *numbered], 0)


def _named(labels: Sequence[Hashable]) -> str:
    shown = ", ".join(map(repr, labels[:_SHOWN]))
    return shown if len(labels) <= _SHOWN else f"{shown}, ..."


def _check_acyclic(parents: Mapping[Label, Sequence[Label]]) -> None:
    """Raise with the cycle, written from parent to child, if some labels are their own ancestors."""
    children: dict[Label, list[Label]] = {label: [] for label in parents}
    missing = {label: len(above) for label, above in parents.items()}
    for label, above in parents.items():
        for parent in above:
            children[parent].append(label)
    ready = [label for label, count in missing.items() if not count]
    while ready:
        for child in children[ready.pop()]:
            missing[child] -= 1
            if not missing[child]:
                ready.append(child)
    stuck = {label for label, count in missing.items() if count}
    if not stuck:
        return
    walk = [next(label for label in parents if label in stuck)]
    seen: set[Label] = set()
    while walk[-1] not in seen:  # every stuck label has a stuck parent, so the walk upwards must meet itself
        seen.add(walk[-1])
        walk.append(next(parent for parent in parents[walk[-1]] if parent in stuck))
    cycle = " -> ".join(map(repr, reversed(walk[walk.index(walk[-1]) :])))
    raise InvalidHierarchy(
        f"the labels {cycle} (parent -> child) form a cycle; no label is its own ancestor, drop one of these edges"
    )
