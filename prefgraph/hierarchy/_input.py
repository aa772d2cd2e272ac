"""The ways people write a label hierarchy down, each turned into one ordered map from label to parents.

The map holds every label as a key, in the order that the hierarchy keeps; a root has no parents. Whether the whole is
a rooted hierarchy (one root, no cycle) is checked once, in `prefgraph.hierarchy._tree`.
"""

import re
from collections.abc import Collection, Iterable, Mapping
from os import PathLike, fspath
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from prefgraph._content import Label, as_list, check_label
from prefgraph.errors import InvalidFile, InvalidHierarchy, check_option

ParentMap = dict[Label, list[Label]]

_LEAVE = object()  # in place of a label: all that stands in a dict or list has been read

_RCV1_LINE = re.compile(r"\s*parent:\s*(\S+)\s+child:\s*(\S+)(?:\s+child-description:\s*(.*?))?\s*")
_RCV1_FORM = "'parent: X child: Y child-description: Z'"


def from_mapping(parents: Mapping[Label, Any]) -> ParentMap:
    """Read ``{label: parent}``, where a parent is a label, None for a root, or a collection of several labels."""
    if not isinstance(parents, Mapping):
        raise InvalidHierarchy(
            f"parents={parents!r} is not a mapping; give {{label: parent}} with None for the root, "
            "or use from_edges for (parent, child) pairs"
        )
    result: ParentMap = {}
    for label, value in parents.items():
        check_label(label)
        result[label] = _several(value, parents)
    for label, several in result.items():
        for parent in several:
            if parent not in result:
                raise InvalidHierarchy(
                    f"the parent {parent!r} of {label!r} is not a label of its own; add {parent!r}: None if it is the "
                    "root or its own parent if it is not, or use from_edges, which takes labels as they come"
                )
    return result


def _several(value: Any, labels: Collection[Label]) -> list[Label]:
    """The parents that one value of a parent map names; a tuple that is a label itself names that label."""
    if value is None:
        return []
    if isinstance(value, (list, set, tuple, frozenset)):
        if isinstance(value, (tuple, frozenset)) and value in labels:
            return [value]
        return [check_label(parent) for parent in value]
    return [check_label(value)]


def from_pairs(edges: Iterable[tuple[Any, Any]]) -> ParentMap:
    """Read ``(parent, child)`` pairs; a parent of None only announces the child."""
    result: ParentMap = {}
    for position, edge in enumerate(as_list(edges, "(parent, child) pairs", error=InvalidHierarchy)):
        if isinstance(edge, (str, bytes)) or not isinstance(edge, Collection) or len(edge) != 2:
            raise InvalidHierarchy(f"edge {position} is {edge!r}; an edge is a pair (parent, child)")
        parent, child = edge
        if parent is not None:
            result.setdefault(check_label(parent), [])
        above = result.setdefault(check_label(child), [])
        if parent is not None:
            above.append(parent)
    return result


def from_nested(nested: Any) -> ParentMap:
    """Read dicts of dicts; a list holds labels without children, or further dicts."""
    result: ParentMap = {}
    waiting: list[tuple[Label | None, Any, Any]] = []  # a stack, so that depth has no limit
    open_ids: set[int] = set()  # of the dicts and lists around the one that is being read

    def enter(label: Label | None, below: Any) -> None:
        if below is None:
            return
        if id(below) in open_ids:
            raise InvalidHierarchy(
                f"what stands below {label!r} holds itself; a label cannot stand below itself, so give it a dict of "
                "its own"
            )
        open_ids.add(id(below))
        waiting.append((None, _LEAVE, below))
        waiting.extend((label, child, deeper) for child, deeper in reversed(list(_branches(label, below))))

    enter(None, nested)
    while waiting:
        parent, label, below = waiting.pop()
        if label is _LEAVE:
            open_ids.remove(id(below))
            continue
        above = result.setdefault(check_label(label), [])
        if parent is not None:
            above.append(parent)
        enter(label, below)
    return result


def _branches(parent: Label | None, below: Any) -> Iterable[tuple[Any, Any]]:
    """The children that one value of a nested dict names, each with what stands below it."""
    if below is None:
        return
    if isinstance(below, Mapping):
        yield from below.items()
    elif isinstance(below, (list, tuple, set, frozenset)):
        for item in below:
            if isinstance(item, Mapping):
                yield from item.items()
            else:
                yield item, None
    else:
        owner = "nested" if parent is None else f"the value below {parent!r}"
        raise InvalidHierarchy(
            f"{owner} is {below!r}; what stands below a label is a dict, a list of labels, or None for nothing"
        )


def from_path_names(paths: Iterable[str], separator: str, label: str) -> ParentMap:
    """Read texts such as ``"energy/oil"``; each prefix of a path is a label."""
    check_option("label", label, ("path", "name"))
    if not isinstance(separator, str) or not separator:
        raise InvalidHierarchy(f"separator={separator!r} is no text; give what stands between two names of a path")
    if isinstance(paths, str):
        raise InvalidHierarchy(f"paths={paths!r} is one text; give a list of paths, [{paths!r}] for a single one")
    result: ParentMap = {}
    for path in as_list(paths, "paths", error=InvalidHierarchy):
        if not isinstance(path, str):
            raise InvalidHierarchy(f"path {path!r} is a {type(path).__name__}; a path is a str such as 'a{separator}b'")
        names = path.removeprefix(separator).removesuffix(separator).split(separator)
        if "" in names:
            raise InvalidHierarchy(
                f"path {path!r} has an empty name; give a name between every two separators {separator!r}"
            )
        above: str | None = None
        for depth, name in enumerate(names, start=1):
            node = name if label == "name" else separator.join(names[:depth])
            known = result.setdefault(node, [])
            if above is not None and above not in known:
                known.append(above)
            above = node
    return result


def from_rcv1_file(path: str | PathLike[str]) -> tuple[ParentMap, dict[Label, str]]:
    """Read the RCV1 topic file; returns the parents and the descriptions."""
    lines: dict[Label, int] = {}
    result: ParentMap = {}
    descriptions: dict[Label, str] = {}
    name = fspath(path)
    for number, line in enumerate(_text_lines(name), start=1):
        if not line.strip():
            continue
        match = _RCV1_LINE.fullmatch(line)
        if match is None:
            raise InvalidFile(f"{name}, line {number}: {line.strip()!r} is not of the form {_RCV1_FORM}; mend the line")
        parent, child, description = match.groups()
        lines.setdefault(child, number)
        above = result.setdefault(child, [])
        if parent != "None":
            above.append(parent)
        if description:
            descriptions.setdefault(child, description)
    for child, several in result.items():
        for parent in several:
            if parent not in result:
                raise InvalidFile(
                    f"{name}, line {lines[child]}: the parent {parent!r} of {child!r} is the child of no line; "
                    f"add 'parent: None child: {parent}' if it is the root"
                )
    return result, descriptions


def _text_lines(name: str) -> Iterable[str]:
    """The lines of a UTF-8 file; bytes that are none are a fault of the file, not of the caller."""
    try:
        with Path(name).open(encoding="utf-8") as file:
            yield from file
    except UnicodeDecodeError as error:
        raise InvalidFile(f"{name}: {error}; the file must be UTF-8 text with lines {_RCV1_FORM}") from None


def from_distance_matrix(matrix: ArrayLike, labels: Collection[Label]) -> NDArray[np.float64]:
    """A read-only copy of a matrix of distances between labels, or an error that names the entry."""
    names = list(labels)
    if not names:
        raise InvalidHierarchy("the hierarchy has no labels; give at least one")
    if len(set(names)) < len(names):
        twice = next(label for number, label in enumerate(names) if label in names[:number])
        raise InvalidHierarchy(f"label {twice!r} is listed twice; a label has one row and one column")
    try:
        d = np.array(matrix, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InvalidHierarchy(f"the distances are not a matrix of numbers ({error}); give a square array") from None
    if d.shape != (len(names), len(names)):
        raise InvalidHierarchy(
            f"the distances have shape {d.shape} for {len(names)} labels; give a row and a column for each label"
        )
    rules = (
        (~np.isfinite(d), "a distance is a finite number, use a large one for labels that have nothing in common"),
        (d < 0, "a distance is 0 or more"),
        (np.diag(np.diag(d)) != 0, "a label has distance 0 from itself"),
        (d != d.T, "a distance is the same both ways, take (d + d.T) / 2 and round away the noise"),
    )
    for broken, rule in rules:
        if broken.any():
            a, b = np.argwhere(broken)[0]
            back = f" and {d[b, a]:g} the other way" if d[a, b] != d[b, a] and np.isfinite(d[a, b]) else ""
            raise InvalidHierarchy(f"the distance from {names[a]!r} to {names[b]!r} is {d[a, b]:g}{back}; {rule}")
    d += 0.0  # -0.0 becomes 0.0: equal distances have equal bytes, and the key reads those
    d.setflags(write=False)
    return d
