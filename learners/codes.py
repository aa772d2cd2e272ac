"""Codes of labels: matrices with a row for each label, for the embedding ``f(x, r) = <W x, M_r>`` [AS05, Eq. 3].

With ``identity`` codes every label has a weight vector of its own. Other codes share them: an edge from ``r`` to ``q``
asks for ``<W x, M_r - M_q> > 0``, so that two labels with equal rows can never be told apart.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.utils import check_random_state

from prefgraph.errors import InvalidOption, check_option

__all__ = ["CODES", "code_matrix", "ecoc", "identity", "one_vs_one", "random"]

Codes = npt.NDArray[np.float64]
RandomState = int | np.random.RandomState | None

EXHAUSTIVE = 7  # up to this number of labels ECOC has all columns: 63
TRIES = 100  # matrices drawn for a dense random code; the one whose rows differ most is kept


def identity(n_labels: int) -> Codes:
    """A unit vector for each label: the codes of [AS05, section 4].

    Parameters
    ----------
    n_labels
        The number of labels.

    Examples
    --------
    >>> from learners import codes
    >>> codes.identity(2)
    array([[1., 0.],
           [0., 1.]])
    """
    return np.eye(n_labels)


def one_vs_one(n_labels: int) -> Codes:
    """A column for each pair of labels, +1 for the one and -1 for the other.

    Parameters
    ----------
    n_labels
        The number of labels.

    Examples
    --------
    >>> from learners import codes
    >>> codes.one_vs_one(3).astype(int)
    array([[ 1,  1,  0],
           [-1,  0,  1],
           [ 0, -1, -1]])
    """
    first, second = np.triu_indices(n_labels, 1)
    codes = np.zeros((n_labels, len(first)))
    columns = np.arange(len(first))
    codes[first, columns], codes[second, columns] = 1.0, -1.0
    return codes


def random(n_labels: int, random_state: RandomState = None) -> Codes:
    """Independent normal numbers, rows of length 1 on average: about ``10 log2 L`` columns.

    Rows of independent numbers are almost orthogonal, at a length that grows with the logarithm of the labels only.

    Parameters
    ----------
    n_labels
        The number of labels.
    random_state
        A seed or a generator.

    Examples
    --------
    >>> from learners import codes
    >>> codes.random(100, random_state=0).shape
    (100, 67)
    """
    length = _length(n_labels)
    codes: Codes = check_random_state(random_state).standard_normal((n_labels, length)) / np.sqrt(length)
    return codes


def ecoc(n_labels: int, random_state: RandomState = None) -> Codes:
    """Error-correcting output codes of +1 and -1.

    Up to 7 labels the exhaustive code: all ``2^(L-1) - 1`` ways to split the labels in two. Beyond, a dense random code
    of about ``10 log2 L`` columns: of 100 matrices the one whose two nearest rows differ most, columns that split
    nothing left out.

    Parameters
    ----------
    n_labels
        The number of labels.
    random_state
        A seed or a generator, for more than 7 labels.

    Examples
    --------
    >>> from learners import codes
    >>> codes.ecoc(3).astype(int)
    array([[ 1,  1,  1],
           [-1, -1,  1],
           [-1,  1, -1]])
    """
    if n_labels <= EXHAUSTIVE:
        splits = np.arange(2 ** max(n_labels - 1, 0) - 1)
        bits = (splits[np.newaxis] >> np.arange(n_labels - 1)[::-1, np.newaxis]) & 1
        return np.concatenate([np.ones((min(n_labels, 1), len(splits))), 2.0 * bits - 1.0])
    rng = check_random_state(random_state)
    best, most = np.zeros((n_labels, 0)), -1.0
    for _ in range(TRIES):
        codes = rng.choice([-1.0, 1.0], size=(n_labels, _length(n_labels)))
        codes = codes[:, np.abs(codes.sum(axis=0)) < n_labels]
        nearest = _separation(codes)
        if nearest > most:
            best, most = codes, nearest
    return best


def _length(n_labels: int) -> int:
    """Columns of a random code: enough to keep rows apart."""
    return int(np.ceil(10 * np.log2(max(n_labels, 2))))


def _separation(codes: Codes) -> float:
    """The number of columns in which the two nearest rows of a matrix of +1 and -1 differ."""
    agreement = codes @ codes.T
    np.fill_diagonal(agreement, -np.inf)
    return float((codes.shape[1] - agreement.max()) / 2)


CODES: Mapping[str, Callable[..., Codes]] = MappingProxyType(
    {f.__name__: f for f in (identity, one_vs_one, random, ecoc)}
)
DRAWN = ("random", "ecoc")


def code_matrix(codes: Any, n_labels: int, random_state: RandomState = None) -> Codes:
    """The matrix behind a name, or a given matrix, checked: a row for each label, no two rows equal.

    Parameters
    ----------
    codes
        A name in `CODES`, or a matrix with a row for each label.
    n_labels
        The number of labels.
    random_state
        A seed or a generator, for ``"random"`` and ``"ecoc"``.

    Raises
    ------
    InvalidOption
        An unknown name; a matrix of another shape, with a number that is not finite, or with two equal rows.

    Examples
    --------
    >>> from learners import codes
    >>> codes.code_matrix([[1, 0], [1, 0]], 2)
    Traceback (most recent call last):
    prefgraph.errors.InvalidOption: codes has equal rows for the labels number 0 and 1, which then always tie; give \
each label a row of its own
    """
    if isinstance(codes, str):
        check_option("codes", codes, CODES)
        return CODES[codes](n_labels, random_state) if codes in DRAWN else CODES[codes](n_labels)
    try:
        matrix = np.array(codes, np.float64)
    except (ValueError, TypeError):
        raise InvalidOption(
            f"codes={codes!r} is neither a name nor a matrix of numbers; it is one of {', '.join(map(repr, CODES))}, "
            "or a row of numbers for each label"
        ) from None
    if matrix.ndim != 2 or len(matrix) != n_labels:
        raise InvalidOption(f"codes has the shape {matrix.shape} for {n_labels} labels; give a row for each label")
    if not np.all(np.isfinite(matrix)):
        raise InvalidOption("codes has a number that is not finite; codes are finite numbers, replace it")
    _, first, number = np.unique(matrix, axis=0, return_index=True, return_inverse=True)
    same = np.flatnonzero(first[number.ravel()] != np.arange(n_labels))
    if same.size:
        raise InvalidOption(
            f"codes has equal rows for the labels number {first[number.ravel()[same[0]]]} and {same[0]}, which then "
            "always tie; give each label a row of its own"
        )
    return matrix
