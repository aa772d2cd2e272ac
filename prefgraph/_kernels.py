"""Fast loops over compiled arrays, each under its formula: arrays in, arrays out, nothing but numpy and numba.

A layered graph is a row of layer numbers, one per label: 0 is the best layer, larger is worse, and a negative number
marks a label without edges (`ABSENT` is no vertex of the graph, `ISOLATED` is one). Edges go from every label to every
label of a larger layer number.
"""

import numpy as np
from numba import njit

ABSENT, ISOLATED = -1, -2


@njit(cache=True, nogil=True)
def normalize_layers(layer):  # type: ignore[no-untyped-def]
    """Number the layers of each row 0, 1, 2 ... without gaps, in place; numbers are below the number of labels.

    A row without edges (one layer at most) is written in one way: its vertices are all in layer 0.
    """
    m, n_labels = layer.shape
    rank = np.empty(n_labels, np.int64)
    for i in range(m):
        rank[:] = -1
        for y in range(n_labels):
            if layer[i, y] >= 0:
                rank[layer[i, y]] = 0
        k = 0
        for value in range(n_labels):
            if rank[value] == 0:
                rank[value] = k
                k += 1
        for y in range(n_labels):
            if k <= 1:
                if layer[i, y] != ABSENT:
                    layer[i, y] = 0
            elif layer[i, y] >= 0:
                layer[i, y] = rank[layer[i, y]]


@njit(cache=True, nogil=True)
def indicator_layers(offsets, relevant, chosen, n_labels):  # type: ignore[no-untyped-def]
    """The layers of label sets: 0 where label y is relevant, 1 where it is not; all 0 where there are no edges.

    The label set of row ``k`` is ``relevant[offsets[i]:offsets[i + 1]]`` with ``i = chosen[k]``.
    """
    layer = np.zeros((len(chosen), n_labels), np.int8)
    for k in range(len(chosen)):
        i = chosen[k]
        if offsets[i] < offsets[i + 1]:
            layer[k, :] = 1
            for j in range(offsets[i], offsets[i + 1]):
                layer[k, relevant[j]] = 0
    return layer


@njit(cache=True, nogil=True)
def hash_lists(offsets, values):  # type: ignore[no-untyped-def]
    """A 64-bit hash of each list ``values[offsets[i]:offsets[i + 1]]``: h = mix((h xor value) * P), P odd."""
    m = len(offsets) - 1
    out = np.empty(m, np.uint64)
    for i in range(m):
        h = np.uint64(14695981039346656037)
        for j in range(offsets[i], offsets[i + 1]):
            h = (h ^ np.uint64(np.int64(values[j]) + 3)) * np.uint64(1099511628211)
            h ^= h >> np.uint64(29)
        out[i] = h
    return out


@njit(cache=True, nogil=True)
def equal_lists(offsets, values, first):  # type: ignore[no-untyped-def]
    """Whether each list equals the list numbered ``first[i]``: what tells equal lists from equal hashes."""
    for i in range(len(offsets) - 1):
        a, b = offsets[i], offsets[first[i]]
        length = offsets[i + 1] - a
        if offsets[first[i] + 1] - b != length:
            return False
        for j in range(length):
            if values[a + j] != values[b + j]:
                return False
    return True


@njit(cache=True, nogil=True)
def layered_edge_counts(layer):  # type: ignore[no-untyped-def]
    """The number of edges of each layered graph: sum over layers k of |layer k| * |layers below k|."""
    m, n_labels = layer.shape
    out = np.zeros(m, np.int64)
    size = np.empty(n_labels + 1, np.int64)
    for i in range(m):
        size[:] = 0
        top = -1
        for y in range(n_labels):
            k = layer[i, y]
            if k >= 0:
                size[k] += 1
                top = max(top, k)
        below = 0
        for k in range(top, -1, -1):
            out[i] += size[k] * below
            below += size[k]
    return out


@njit(cache=True, nogil=True)
def layered_edges(layer, by_term, offsets):  # type: ignore[no-untyped-def]
    """All edges of the layered graphs, ordered by (init, term), or by (term, init) where ``by_term``.

    ``offsets`` are the running sums of `layered_edge_counts`.
    """
    m, n_labels = layer.shape
    init = np.empty(offsets[m], np.int32)
    term = np.empty(offsets[m], np.int32)
    e = 0
    for i in range(m):
        for a in range(n_labels):
            for b in range(n_labels):
                u, v = (b, a) if by_term else (a, b)
                if layer[i, u] >= 0 and layer[i, v] > layer[i, u]:
                    init[e] = u
                    term[e] = v
                    e += 1
    return init, term
