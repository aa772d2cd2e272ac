"""The one door for ``(y, scores, sample_weight)``: everything behind it may trust what it gets."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from prefgraph.compiled import Preferences
from prefgraph.errors import InvalidOption, InvalidScores, InvalidTarget
from prefgraph.parts import FloatArray, IntArray
from prefgraph.targets import as_preferences

Scores = npt.NDArray[np.floating[Any]]


def read(y: Any, scores: npt.ArrayLike, sample_weight: npt.ArrayLike | None = None) -> tuple[Preferences, Scores]:
    """The preferences, with the weights of their instances, and a finite instances x labels matrix."""
    values = _numbers(scores)
    relevant = _topic(y, values) if values.ndim == 1 else None
    if relevant is not None:
        p, values = _one_ranking(relevant), values[np.newaxis]
    else:
        p = as_preferences(y)
    if values.ndim == 1:
        p, values = _padded(p, values)
    elif values.shape != (len(p), len(p.labels)):
        raise InvalidScores(
            f"scores has the shape {values.shape} for {len(p)} instances and {len(p.labels)} labels; "
            f"give a matrix of shape {(len(p), len(p.labels))}, columns in the order of the labels"
            + ("; as_preferences(y, labels=...) fixes the labels" if values.shape[:1] == (len(p),) else "")
        )
    _check_finite(values)
    values = values.view()
    values.setflags(write=False)  # one type for the compiled loops, whatever the caller's array allows
    return (p if sample_weight is None else p.with_weight(sample_weight)), values


def _numbers(scores: npt.ArrayLike) -> Scores:
    """A vector or matrix of real numbers, single or double precision."""
    try:
        values = np.asarray(scores)
    except ValueError:
        raise InvalidScores("scores has rows of different lengths; pad them, or give one flat list") from None
    if values.dtype.kind not in "biuf":
        raise InvalidScores(f"scores has the type {values.dtype}; scores are real numbers in a dense array")
    if values.ndim not in (1, 2):
        raise InvalidScores(f"scores has the shape {values.shape}; it is an instances x labels matrix, or flat")
    return np.ascontiguousarray(values, np.float32 if values.dtype == np.float32 else np.float64)


def _check_finite(values: Scores) -> None:
    """Refuse NaN and infinity; a sum tells in one pass that there are none, except where it overflows."""
    with np.errstate(all="ignore"):
        if np.isfinite(values.sum()):
            return
    bad = np.argwhere(~np.isfinite(values))
    if len(bad):
        place = tuple(bad[0].tolist())
        raise InvalidScores(f"scores{list(place)} is {values[place]}; scores are finite numbers, replace it")


def _topic(y: Any, scores: Scores) -> IntArray | None:
    """``y`` as the relevance of each document, 0 or 1, where that is what it is."""
    number = (int, float, np.number, np.bool_)
    is_list = isinstance(y, (list, tuple)) and all(isinstance(item, number) for item in y)
    if not is_list and (isinstance(y, (list, tuple)) or not hasattr(y, "__array__")):
        return None
    vector = np.asarray(y)
    if vector.shape != scores.shape or vector.dtype.kind not in "biuf" or not np.all((vector == 0) | (vector == 1)):
        return None
    return vector.astype(np.int8)


def _one_ranking(relevant: IntArray) -> Preferences:
    """One graph over all documents: each relevant one beats each other one."""
    return Preferences.from_layer_matrix((1 - relevant)[np.newaxis])


def _padded(p: Preferences, flat: Scores) -> tuple[Preferences, Scores]:
    """Scores of the vertices of each instance, one after the other, as a matrix over positions."""
    offsets, _ = p.vertex_lists()
    if len(flat) != offsets[-1]:
        raise InvalidScores(
            f"scores has the shape {flat.shape} for {len(p)} instances and {len(p.labels)} labels; "
            f"give a matrix of shape {(len(p), len(p.labels))}, or {offsets[-1]} scores, one for each vertex of each "
            "instance (or y as a vector of 0 and 1 and one score for each, to rank documents)"
        )
    _check_finite(flat)
    local = p.local()
    sizes = np.diff(offsets)
    instance = np.repeat(np.arange(len(p)), sizes)
    matrix = np.zeros((len(p), len(local.labels)), flat.dtype)
    matrix[instance, np.arange(len(flat)) - offsets[instance]] = flat
    return local, matrix


def mean(values: npt.NDArray[Any], weight: FloatArray) -> float:
    """The mean over instances, by weight."""
    total = float(weight.sum())
    if total <= 0:
        raise InvalidTarget(
            f"{len(weight)} instances with a total weight of {total}; a mean needs one of positive weight"
        )
    return weighted_sum(values, weight) / total


def weighted_sum(values: npt.NDArray[Any], weight: FloatArray) -> float:
    """The sum over instances, by weight; not a BLAS product, whose threads cost more than they save here."""
    return float((weight * values).sum())


def ratio(numerator: npt.NDArray[Any], denominator: npt.NDArray[Any]) -> FloatArray:
    """``numerator / denominator``, 0 where the denominator is 0."""
    out = np.zeros(len(numerator))
    np.divide(numerator, denominator, out=out, where=denominator > 0)
    return out


def check_cutoff(r: int) -> None:
    """Raise unless ``r`` is a rank."""
    if isinstance(r, bool) or not isinstance(r, (int, np.integer)) or r < 1:
        raise InvalidOption(f"r={r!r} is not a rank; ranks are whole numbers from 1")
