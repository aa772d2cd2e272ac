"""The search over sets of labels behind exact feedback arcs. Arrays in, arrays out; numpy and numba only."""

import numpy as np
from numba import njit
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@njit(cache=True)  # type: ignore[misc, untyped-decorator, unused-ignore]
def _subset_sums(values: Floats) -> Floats:
    """sums[S] = the sum of values over the bits of S."""
    sums = np.zeros(1 << len(values))
    for s in range(1, len(sums)):
        low = 0
        while not (s >> low) & 1:
            low += 1
        sums[s] = sums[s & (s - 1)] + values[low]
    return sums


@njit(cache=True)  # type: ignore[misc, untyped-decorator, unused-ignore]
def _split_sums(rows: Floats, low: int) -> tuple[Floats, Floats]:
    """Subset sums of each row over its first ``low`` columns and over the others: two small tables, not a huge one."""
    n = len(rows)
    lower = np.zeros((n, 1 << low))
    upper = np.zeros((n, 1 << (n - low)))
    for v in range(n):
        lower[v], upper[v] = _subset_sums(rows[v, :low]), _subset_sums(rows[v, low:])
    return lower, upper


@njit(cache=True)  # type: ignore[misc, untyped-decorator, unused-ignore]
def _affordable(room: float, p: int, cycles: Ints, price: Floats) -> bool:
    """Whether the prices of the cycles that avoid the set p sum to less than ``room``."""
    for k in range(len(cycles)):
        if cycles[k] & p == 0:
            room -= price[k]
            if room <= 0.0:
                return False
    return room > 0.0


@njit(cache=True)  # type: ignore[misc, untyped-decorator, unused-ignore]
def search_prefixes(weights: Floats, cost: float, gap: float, cycles: Ints, price: Floats) -> Ints:
    """The cheapest order of all labels if it costs less than ``cost - gap``, else an empty array.

        g(P + v) = g(P) + sum_{u not in P + v} w(u, v),    g({}) = 0

    g(P) is the least weight that the orders starting with the set P cut among the arcs into P. Kept is saved(P) =
    cost - g(P), 2^n numbers, where 0 means "not reached". A set is given up when the prices of the cycles among the
    other labels use up what it saved. And v follows P only if moving v to the very front or to the very end would not
    be cheaper, which holds in every optimal order.
    """
    n = len(weights)
    low = n // 2
    low_mask = (1 << low) - 1
    everything = (1 << n) - 1
    net = weights - weights.T
    in_low, in_high = _split_sums(np.ascontiguousarray(weights.T), low)
    net_low, net_high = _split_sums(net, low)
    net_all = net.sum(axis=1)
    rounding = 1e-12 * (weights + weights.T).sum(axis=1)
    saved = np.zeros(1 << n)
    saved[0] = cost
    for p in range(everything):
        if saved[p] == 0.0 or not _affordable(saved[p] - gap, p, cycles, price):
            continue
        rest = everything & ~p
        a, b = rest & low_mask, rest >> low
        for v in range(n):
            to_rest = net_low[v, a] + net_high[v, b]  # weight to the rest minus weight from it
            if not (rest >> v) & 1 or to_rest < -rounding[v] or net_all[v] - to_rest > rounding[v]:
                continue
            now = saved[p] - (in_low[v, a] + in_high[v, b])
            if now > gap and now > saved[p | (1 << v)]:
                saved[p | (1 << v)] = now
    return _walk_back(saved, in_low, in_high) if saved[everything] > gap else np.zeros(0, dtype=np.int64)


@njit(cache=True)  # type: ignore[misc, untyped-decorator, unused-ignore]
def _walk_back(saved: Floats, in_low: Floats, in_high: Floats) -> Ints:
    """The order behind saved[everything]: the same sums give the same bits, so equality finds a step that led there."""
    n = len(in_low)
    low = n // 2
    low_mask = (1 << low) - 1
    everything = (1 << n) - 1
    order = np.zeros(n, dtype=np.int64)
    p = everything
    for place in range(n - 1, -1, -1):
        for v in range(n):
            before = p & ~(1 << v)
            rest = everything & ~before
            into = in_low[v, rest & low_mask] + in_high[v, rest >> low]
            if before != p and saved[before] != 0.0 and saved[before] - into == saved[p]:
                order[place] = v
                p = before
                break
    return order
