"""A quadratic function on the simplex: the small problem inside the bundle method, solved by an active set."""

from __future__ import annotations

import numpy as np

from prefgraph.parts import FloatArray, IntArray

RIDGE = 1e-13  # added to the diagonal of H, as a share of the largest number there: equal planes have no unique weights


def simplex_minimum(H: FloatArray, b: FloatArray, alpha: FloatArray, tol: float) -> FloatArray:
    """Minimise ``1/2 alpha' H alpha - b' alpha`` with ``alpha >= 0`` and ``sum alpha = 1``, H positive semi-definite.

    The places with weight, the active set, are solved for as if there were no others and no bounds; where that leaves
    the simplex the step ends at its border, and a place is dropped; where another place has a smaller derivative it
    joins. Each round lowers the function, so that no set returns.

    Parameters
    ----------
    H, b
        The function.
    alpha
        Where to start, on the simplex; the solution of a problem a little different is a good place.
    tol
        Stop when ``alpha' g - min g``, with ``g`` the gradient, is at most this: it bounds the distance to the minimum.

    Returns
    -------
    ndarray
        A point of the simplex. Rounding may end the search before ``tol`` is met.
    """
    alpha = alpha.copy()
    ridge = RIDGE * max(float(H.diagonal().max()), float(np.abs(b).max()), 1e-200)
    best, least = alpha, np.inf
    for _ in range(10 * len(b) + 100):
        g = H @ alpha - b
        value = float(0.5 * alpha @ (g - b))
        if value < least:
            best, least = alpha.copy(), value
        elif value > least + 1e-12 * abs(least):
            break  # rounding decides from here on
        place = int(np.argmin(g))
        if float(alpha @ g) - g[place] <= tol:
            break
        active = alpha > 0.0
        active[place] = True
        if not _settle(H, b, alpha, np.flatnonzero(active), ridge):
            break
    return best


def _settle(H: FloatArray, b: FloatArray, alpha: FloatArray, active: IntArray, ridge: float) -> bool:
    """Move ``alpha`` to the minimum over the active places, dropping those that reach 0; False where nothing moved."""
    moved = False
    while True:
        n = len(active)
        system = np.ones((n + 1, n + 1))  # H alpha + level = b, sum alpha = 1
        system[:n, :n], system[n, n] = H[np.ix_(active, active)], 0.0
        system[np.arange(n), np.arange(n)] += ridge
        # the proximal ridge pulls towards where we are, so that it does not shift the solution
        right = np.append(b[active] + ridge * alpha[active], 1.0)
        try:
            target = np.linalg.solve(system, right)[:n]
        except np.linalg.LinAlgError:
            return moved
        if not np.all(np.isfinite(target)):
            return moved
        here = alpha[active]
        falling = target <= 0.0
        if not np.any(falling):
            alpha[active] = target / target.sum()
            return moved or not np.array_equal(here, alpha[active])
        steps = np.where(falling, here / np.where(falling, np.maximum(here - target, 1e-300), 1.0), np.inf)
        first = int(np.argmin(steps))
        step = min(float(steps[first]), 1.0)
        alpha[active] = np.maximum(here + step * (target - here), 0.0)
        alpha[active[first]] = 0.0
        alpha /= alpha.sum()
        moved = moved or step > 0.0
        active = np.delete(active, first)
        if not len(active):
            return moved
