"""The loop behind the `max` of the preference learning model: arrays in, arrays out, nothing but numpy and numba."""

import numpy as np
from numba import njit


@njit(cache=True, nogil=True)
def critical_edges(  # type: ignore[no-untyped-def]
    scores, layer, graph_index, offsets, by_term, whole, start, stop, init, term
):
    """The edge of the smallest margin of each part of the layered instances: the one that ``max_a L(rho(a))`` takes.

        out-star of v:              v and the largest f of the layers below
        in-star of v (``by_term``): v and the smallest f of the layers above
        the graph (``whole``):      the smallest of its out-stars

    A running maximum over the layers replaces the edges: O(L) an instance. The parts of row i stand at
    ``offsets[i - start]`` and behind. Among equal margins any edge gives a subgradient; which one it is depends on the
    order of layers and labels only.
    """
    n_labels = scores.shape[1]
    best = np.empty(n_labels + 1, np.int64)
    for i in range(start, stop):
        g = graph_index[i]
        at = offsets[i - start]
        if not 0 <= g < len(layer) or offsets[i - start + 1] == at:
            continue
        k_of, f = layer[g], scores[i]
        last = _nearest(k_of, f, by_term, best)
        smallest = np.inf
        for v in range(n_labels):
            if k_of[v] < 0 or k_of[v] == (0 if by_term else last):
                continue
            u = best[k_of[v]]
            if not whole:
                init[at], term[at] = (u, v) if by_term else (v, u)
                at += 1
            elif np.float64(f[v]) - np.float64(f[u]) < smallest:
                smallest = np.float64(f[v]) - np.float64(f[u])
                init[at], term[at] = v, u


@njit(cache=True, nogil=True)
def _nearest(k_of, f, by_term, best):  # type: ignore[no-untyped-def]
    """Write the label of the largest f below layer k (``by_term``: smallest above) to ``best[k]``; the last layer."""
    last = np.int64(0)
    for y in range(len(k_of)):
        last = max(last, np.int64(k_of[y]))
    sign = -1.0 if by_term else 1.0
    best[: last + 1] = -1
    for y in range(len(k_of)):
        k = k_of[y]
        if k >= 0 and (best[k] < 0 or sign * f[y] > sign * f[best[k]]):
            best[k] = y
    running = -1
    for step in range(last + 1):
        k = step if by_term else last - step
        here = best[k]
        best[k] = running
        if here >= 0 and (running < 0 or sign * f[here] > sign * f[running]):
            running = here
    return last
