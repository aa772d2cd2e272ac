"""L-BFGS for a smooth convex loss: two-loop recursion and a line search with the weak Wolfe conditions.

Sums run in one order, so that the number of threads never changes a result; the routine in scipy leaves them to a
threaded BLAS, and spends on bounds that nobody asked for about as much time as a sparse product takes.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np

from prefgraph.parts import FloatArray

MEMORY = 10  # pairs (s, y) that are kept
TRIALS = 20  # evaluations of one line search, before it is given up
DECREASE, SLOPE = 1e-4, 0.9  # the constants of Wolfe's conditions

Function = Callable[[FloatArray], tuple[float, FloatArray]]


class Point(NamedTuple):
    """A point with its value and gradient."""

    x: FloatArray
    value: float
    gradient: FloatArray


def iterates(function: Function, start: FloatArray) -> Iterator[Point]:
    """The start, then the point after each iteration; ends where doubles cannot tell a better one.

    The direction is ``-H g``, H from the last pairs ``s = x' - x``, ``y = g' - g`` by the two-loop recursion; the first
    one is ``-g``, and so is the next one after a line search that found nothing.
    """
    point = Point(start, *function(start))
    yield point
    pairs: deque[tuple[FloatArray, FloatArray, float]] = deque(maxlen=MEMORY)
    while True:
        direction = _direction(point.gradient, pairs)
        found = _search(function, point, direction, is_first=not pairs)
        if found is None:
            if not pairs:
                return
            pairs.clear()
            continue
        s, y = found.x - point.x, found.gradient - point.gradient
        if (curvature := dot(s, y)) > 0:
            pairs.append((s, y, curvature))
        point = found
        yield point


def _direction(gradient: FloatArray, pairs: deque[tuple[FloatArray, FloatArray, float]]) -> FloatArray:
    """``-H g`` by the two-loop recursion, ``H_0 = (s'y / y'y) I`` of the last pair."""
    direction, product = -gradient, np.empty_like(gradient)
    shares = []
    for s, y, curvature in reversed(pairs):
        share = dot(s, direction) / curvature
        direction -= np.multiply(share, y, out=product)
        shares.append(share)
    if pairs:
        _, y, curvature = pairs[-1]
        direction *= curvature / dot(y, y)
    for (s, y, curvature), share in zip(pairs, reversed(shares), strict=True):
        direction += np.multiply(share - dot(y, direction) / curvature, s, out=product)
    return direction


def _search(function: Function, start: Point, direction: FloatArray, *, is_first: bool) -> Point | None:
    """The first trial point with ``f(t) <= f + DECREASE t f'`` and ``f'(t) >= SLOPE f'``, slopes along the direction.

    The bracket holds such a point; trials are the zero of the slope by the secant, kept inside the bracket. None where
    no trial was good, which is so at the optimum.
    """
    slope = dot(start.gradient, direction)
    if not slope < 0:
        return None
    low, low_slope, high = 0.0, slope, np.inf
    step = 1.0 / max(np.sqrt(-slope), 1e-300) if is_first else 1.0
    for _ in range(TRIALS):
        x = start.x + step * direction
        trial = Point(x, *function(x))
        trial_slope = dot(trial.gradient, direction)
        is_lower = trial.value <= start.value + DECREASE * step * slope
        # close to the optimum values differ by rounding alone, and the slope tells more [Hager and Zhang, 2005]
        is_level = trial.value <= start.value and trial_slope <= (2 * DECREASE - 1) * slope
        if not (is_lower or is_level):
            most = 0.9 if low > 0 else 0.5 if not is_first else 0.25  # the first length is a guess, and may be far off
            high, step = step, low + _secant(low_slope, trial_slope, 0.05, most) * (step - low)
        elif trial_slope < SLOPE * slope:
            if np.isinf(high):
                low, low_slope, step = step, trial_slope, step * _secant(slope, trial_slope, 2.0, 50.0)
            else:
                low, low_slope, step = step, trial_slope, (step + high) / 2
        else:
            return trial
    return None


def _secant(left: float, right: float, least: float, most: float) -> float:
    """Where a line with these values at 0 and 1 is zero, within limits."""
    return float(np.clip(left / (left - right), least, most)) if right > left else most


def dot(a: FloatArray, b: FloatArray) -> float:
    """``a'b``, summed in one order whatever the number of threads."""
    return float(np.einsum("i,i->", a, b))
