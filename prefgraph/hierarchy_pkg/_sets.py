"""Label sets of many instances as flat arrays: what the kernels of a hierarchy read."""

from array import array
from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from prefgraph._content import Label, where
from prefgraph.errors import InvalidTarget


class EncodedSets(NamedTuple):
    """Sets of vertices in CSR form (``members[start[j]:start[j + 1]]``), and which of them each instance has."""

    start: NDArray[np.int64]
    members: NDArray[np.int64]
    which: NDArray[np.int64]


def unknown(label: object, labels: Iterable[Label]) -> str:
    """What to say about a label that the hierarchy does not have, with a near miss where there is one."""
    near = get_close_matches(label, [v for v in labels if isinstance(v, str)], 1) if isinstance(label, str) else []
    hint = f"did you mean {near[0]!r}?" if near else "add it there or leave it out here"
    return f"{label!r} is not a label of the hierarchy; {hint}"


def checked_set(label_set: Any, position: Mapping[Label, int], instance: object = None) -> frozenset[Label]:
    """The labels of one instance as a set, each of them known."""
    if isinstance(label_set, (str, bytes)) or not isinstance(label_set, Iterable):
        raise InvalidTarget(
            f"{where(instance)}{label_set!r} is one label and not a set of labels; write [{label_set!r}]"
        )
    members = list(label_set)
    for label in members:
        try:
            known = label in position
        except TypeError:
            known = False
        if not known:
            raise InvalidTarget(where(instance) + unknown(label, position))
    return frozenset(members)


def encode(label_sets: Any, position: Mapping[Label, int], columns: Iterable[Label] | None) -> EncodedSets:
    """Turn label sets, or an indicator matrix and the labels of its columns, into flat arrays."""
    if len(getattr(label_sets, "shape", ())) == 2:
        return _encode_indicator(label_sets, position, columns)
    if columns is not None:
        raise InvalidTarget(
            f"columns= belongs to an indicator matrix of instances x labels, and the label sets are a "
            f"{type(label_sets).__name__}; leave columns out, or give a two-dimensional array"
        )
    if isinstance(label_sets, (str, bytes)) or not isinstance(label_sets, Iterable):
        raise InvalidTarget(f"label_sets={label_sets!r} is not a list of label sets; give one set for each instance")
    return _encode_sets(label_sets, position)


def _encode_sets(label_sets: Iterable[Any], position: Mapping[Label, int]) -> EncodedSets:
    """Equal sets are met often (RCV1: 14,000 sets for 800,000 documents), so each is looked up once."""
    distinct: dict[frozenset[Label], int] = {}
    which = array("q")
    for instance, labels in enumerate(label_sets):
        try:
            members = checked_set(labels, position, instance) if isinstance(labels, str) else frozenset(labels)
        except TypeError:  # not iterable, or a member without a hash: let the check find out and say it
            members = checked_set(labels, position, instance)
        which.append(distinct.setdefault(members, len(distinct)))
    for members, number in distinct.items():
        if not members <= position.keys():
            checked_set(sorted(members, key=repr), position, which.index(number))
    start = np.zeros(len(distinct) + 1, np.int64)
    np.cumsum(np.fromiter(map(len, distinct), np.int64, len(distinct)), out=start[1:])
    places = np.fromiter((position[label] for labels in distinct for label in labels), np.int64, int(start[-1]))
    return EncodedSets(start, places, np.frombuffer(which, np.int64))


def _encode_indicator(matrix: Any, position: Mapping[Label, int], columns: Iterable[Label] | None) -> EncodedSets:
    """Rows of a 0/1 matrix, dense or sparse. Which label a column stands for is never guessed from the width."""
    rows, width = matrix.shape
    if columns is None:
        raise InvalidTarget(
            f"the label sets are a matrix of {width} columns without names; say with columns= which label each one is"
        )
    columns = list(columns)
    if len(columns) != width:
        raise InvalidTarget(f"columns= names {len(columns)} labels for a matrix of {width} columns; name one for each")
    if len(set(columns)) < width:
        twice = next(label for number, label in enumerate(columns) if label in columns[:number])
        raise InvalidTarget(f"columns= names {twice!r} twice; a label has one column, so merge the two first")
    for label in columns:
        if label not in position:
            raise InvalidTarget(f"columns=: {unknown(label, position)}")
    start, numbers = _sparse_rows(matrix) if hasattr(matrix, "tocsr") else _dense_rows(np.asarray(matrix))
    place = np.fromiter((position[label] for label in columns), np.int64, width)
    return EncodedSets(start, place[numbers], np.arange(rows, dtype=np.int64))


def _dense_rows(matrix: NDArray[Any]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    chosen = matrix != 0
    _check_binary(matrix[chosen], lambda k: np.argwhere(chosen)[k])
    start = np.zeros(len(matrix) + 1, np.int64)
    np.cumsum(np.count_nonzero(chosen, axis=1), out=start[1:])
    return start, np.nonzero(chosen)[1]


def _sparse_rows(matrix: Any) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    rows = matrix.tocsr(copy=True)
    rows.sum_duplicates()
    rows.eliminate_zeros()
    _check_binary(rows.data, lambda k: (np.searchsorted(rows.indptr, k, "right") - 1, rows.indices[k]))
    return rows.indptr.astype(np.int64), rows.indices.astype(np.int64)


def _check_binary(values: NDArray[Any], place: Any) -> None:
    """Raise at the first value of an indicator matrix, of those that are not 0, that is not 1 either."""
    wrong = np.flatnonzero(values != 1)
    if wrong.size:
        row, column = place(wrong[0])
        value = values[wrong[0]]
        raise InvalidTarget(
            f"instance {row}: column {column} holds {value!s}; an indicator matrix holds 0 and 1 only, so decide "
            "first from which value on a label counts"
        )
