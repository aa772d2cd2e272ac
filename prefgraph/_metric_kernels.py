"""The loops behind `prefgraph.metrics`, each under its formula: arrays in, arrays out, nothing but numpy and numba.

Row ``i`` of ``scores`` belongs to graph ``graph_index[i]``. A layered graph is a row of layer numbers as in `_kernels`:
0 is the best layer, a negative number marks a label without edges. Instances whose graph is not among those given are
passed over, so that each encoding of `Preferences` fills in its own instances.
"""

import numpy as np
from numba import njit

FEW_LAYERS = 4  # up to this number of layers, a pass over the labels for each of them is quicker than sorting by layer
LANES = 4  # running maxima kept side by side: one alone waits for the value it has just written
LOWEST = np.iinfo(np.int64).min
FEW_PAIRS = 500  # up to this number of edges a label, comparing all pairs is quicker than sorting


@njit(cache=True, nogil=True)
def star_errors(  # type: ignore[no-untyped-def]
    scores, layer, graph_index, by_term, ties_agree, weighted, few_layers, wrong, total
):
    """The violated stars of each layered instance and all of its stars, counted, or their edges where ``weighted``.

        out-star of v:  f_v <= max {f_u : layer(u) > layer(v)}
        in-star of v:   f_v >= min {f_u : layer(u) < layer(v)}, that is  -f_v <= max {-f_u : layer(u) < layer(v)}

    The right side depends on the layer only: one pass for the maximum of each layer, a running maximum over the
    layers, one pass to compare. O(L) an instance, not O(|E|). Layer k is kept at k + 2: labels without edges (-1, -2)
    fall into two places of their own with the bound -inf and no star, and need no branch. With ``few_layers`` or less
    there is a quicker way.
    """
    n_labels = scores.shape[1]
    key = np.empty(n_labels, np.int64)
    best = np.empty((n_labels + 3, LANES), scores.dtype)
    bound = np.full(n_labels + 3, -np.inf, scores.dtype)
    share = np.zeros(n_labels + 3, np.int64)
    for i in range(len(graph_index)):
        if not 0 <= graph_index[i] < len(layer):
            continue
        k_of, f = layer[graph_index[i]], scores[i]
        last = _last_layer(k_of)
        if last < few_layers and not weighted:
            wrong[i], total[i] = _stars_by_passes(k_of, f, last, by_term, ties_agree, key)
        else:
            _layer_bounds(k_of, f, last, by_term, best, bound)
            _star_sizes(k_of, last, by_term, weighted, share)
            wrong[i], total[i] = _stars_by_bounds(k_of, f, by_term, ties_agree, bound, share)


@njit(cache=True, nogil=True)
def _stars_by_passes(k_of, f, last, by_term, ties_agree, key):  # type: ignore[no-untyped-def]
    """(violated stars, stars) of one instance, by two passes over all labels for each layer but one.

    Scores are compared as integers of the same order: compilers turn the maximum of integers into vector instructions,
    that of floats not. Adding 0.0 makes -0.0 and 0.0 one number.
    """
    sign = -1.0 if by_term else 1.0
    value = key.view(np.float64)
    for y in range(len(f)):
        value[y] = sign * f[y] + 0.0
    for y in range(len(f)):
        key[y] ^= (key[y] >> 63) & 0x7FFFFFFFFFFFFFFF  # the bits of a negative float count downwards
    violated = 0
    for step in range(last):
        k = step + 1 if by_term else step
        low, high = (0, step) if by_term else (step + 1, last)  # the layers that a label of layer k is compared with
        bound = LOWEST
        for y in range(len(f)):
            bound = max(bound, key[y] if (low <= k_of[y]) & (k_of[y] <= high) else LOWEST)
        bound -= ties_agree  # the next smaller integer: then equal scores are no violation
        for y in range(len(f)):
            violated += (k_of[y] == k) & (key[y] <= bound)
    low, high = (1, last) if by_term else (0, last - 1)
    stars = 0
    for y in range(len(f)):
        stars += (low <= k_of[y]) & (k_of[y] <= high)
    return violated, stars


@njit(cache=True, nogil=True)
def _stars_by_bounds(k_of, f, by_term, ties_agree, bound, share):  # type: ignore[no-untyped-def]
    """(violated stars, stars) of one instance by the bounds of its layers; a star counts ``share[k + 2]``."""
    sign = -1.0 if by_term else 1.0
    violated, stars = 0, 0
    for y in range(len(f)):
        k = np.uint64(k_of[y] + 2)
        value = sign * f[y]
        violated += share[k] * ((value < bound[k]) | ((value == bound[k]) & (not ties_agree)))
        stars += share[k]
    return violated, stars


@njit(cache=True, nogil=True)
def _last_layer(k_of):  # type: ignore[no-untyped-def]
    """The largest layer number of a graph, 0 where it has none."""
    last = np.int64(0)
    for y in range(len(k_of)):
        last = max(last, k_of[y])
    return last


@njit(cache=True, nogil=True)
def _layer_bounds(k_of, f, last, by_term, best, bound):  # type: ignore[no-untyped-def]
    """Write the maximum of f over the layers behind k (``by_term``: of -f over those before k) to ``bound[k + 2]``."""
    sign = -1.0 if by_term else 1.0
    best[: last + 3] = -np.inf
    for y in range(len(f)):
        k, lane = np.uint64(k_of[y] + 2), np.uint64(y % LANES)
        value, so_far = sign * f[y], best[k, lane]
        best[k, lane] = value if value > so_far else so_far  # noqa: FURB136 - max() also minds NaN, and is slower
    running = -np.inf
    for step in range(last + 1):
        at = step + 2 if by_term else last - step + 2
        bound[at] = running
        for j in range(LANES):
            running = max(running, best[at, j])


@njit(cache=True, nogil=True)
def _star_sizes(k_of, last, by_term, weighted, share):  # type: ignore[no-untyped-def]
    """Write what the star of a label in layer k counts to ``share[k + 2]``: 1, or its number of edges."""
    share[2 : last + 3] = 0
    for y in range(len(k_of)):
        if k_of[y] >= 0:
            share[k_of[y] + 2] += 1
    n = 0
    for step in range(last + 1):
        at = step + 2 if by_term else last - step + 2
        size = share[at]
        share[at] = n if weighted else min(n, 1)
        n += size


@njit(cache=True, nogil=True)
def pair_errors(scores, layer, graph_index, ties_agree, few_pairs, wrong, total):  # type: ignore[no-untyped-def]
    """The violated edges of each layered instance and all of its edges, counted.

        |{(u, v) : layer(u) < layer(v), f_u <= f_v}|

    Scores are put in the order of the layers; then every label is compared with all that come behind its layer, or,
    where there are more than ``few_pairs`` edges a label, pairs are counted while sorting. Edges are never listed.
    """
    n_labels = scores.shape[1]
    end = np.empty(n_labels + 2, np.int64)
    value = np.empty(n_labels, scores.dtype)
    rank = np.empty(n_labels, np.int64)
    for i in range(len(graph_index)):
        if not 0 <= graph_index[i] < len(layer):
            continue
        k_of = layer[graph_index[i]]
        last = _last_layer(k_of)
        n, edges = _in_layer_order(k_of, scores[i], last, end, value, rank)
        total[i] = edges
        if edges > few_pairs * n:
            wrong[i] = _inversions(value[:n], rank[:n], last, ties_agree)
            continue
        violated = 0
        for a in range(n):
            f_u = value[a]
            behind = value[end[rank[a]] : n]
            if ties_agree:
                for b in range(len(behind)):
                    violated += f_u < behind[b]
            else:
                for b in range(len(behind)):
                    violated += f_u <= behind[b]
        wrong[i] = violated


@njit(cache=True, nogil=True)
def _in_layer_order(k_of, f, last, end, value, rank):  # type: ignore[no-untyped-def]
    """Sort the scores of one instance by layer into ``value``, the layers into ``rank``, their ends into ``end``.

    Returns the number of labels with a layer, and the number of edges.
    """
    end[:] = 0
    for y in range(len(k_of)):
        if k_of[y] >= 0:
            end[k_of[y] + 1] += 1
    edges = 0
    for k in range(1, last + 2):
        edges += end[k] * end[k - 1]
        end[k] += end[k - 1]
    n = end[last + 1]
    for y in range(len(k_of)):
        if k_of[y] >= 0:
            place = end[k_of[y]]  # so far the end of the layer before, and then one more for each label
            value[place] = f[y]
            rank[place] = k_of[y]
            end[k_of[y]] += 1
    return n, edges


@njit(cache=True, nogil=True)
def _inversions(value, rank, last, ties_agree):  # type: ignore[no-untyped-def]
    """The pairs with rank(u) < rank(v) and f_u < f_v (or equal), in O(n log n).

    By ascending score; a Fenwick tree over the ranks holds those of the scores that were smaller.
    """
    order = np.argsort(value)
    tree = np.zeros(last + 2, np.int64)
    tied = np.zeros(last + 1, np.int64)
    total = 0
    a = 0
    while a < len(order):
        b = a
        while b < len(order) and value[order[b]] == value[order[a]]:
            r = rank[order[b]]
            node = r
            while node > 0:
                total += tree[node]
                node -= node & -node
            if not ties_agree:
                total += (b - a) - tied[r]
                tied[r] += 1
            b += 1
        for at in range(a, b):
            tied[rank[order[at]]] = 0
            node = rank[order[at]] + 1
            while node <= last + 1:
                tree[node] += 1
                node += node & -node
        a = b
    return total


@njit(cache=True, nogil=True)
def part_errors(  # type: ignore[no-untyped-def]
    scores, graph_index, part_start, offsets, init, term, weight, ties_agree, weighted, wrong
):
    """The number of violated parts of each instance, or the weight of their edges, written to ``wrong``.

        |{S in A(G_i) : some e in S has f(init e) <= f(term e)}|

    The parts of graph g are ``part_start[g]:part_start[g + 1]``, the edges of a part as in `Parts`.
    """
    for i in range(len(graph_index)):
        g = graph_index[i]
        if not 0 <= g < len(part_start) - 1:
            continue
        f = scores[i]
        total = 0.0
        for part in range(part_start[g], part_start[g + 1]):
            violated = False
            size = 0.0
            for e in range(offsets[part], offsets[part + 1]):
                f_u, f_v = f[init[e]], f[term[e]]
                violated |= f_u < f_v or (f_u == f_v and not ties_agree)
                size += weight[e]
            if violated:
                total += size if weighted else 1.0
        wrong[i] = total


@njit(cache=True, nogil=True)
def relevance_counts(scores, layer, graph_index, offsets):  # type: ignore[no-untyped-def]
    """Three counts for each relevant label (layer 0) of each instance, those of larger scores first.

        above(r)     irrelevant labels with f_s >  f_r
        level(r)     irrelevant labels with f_s >= f_r
        among(r)     relevant labels with   f_s >= f_r

    The relevant scores are sorted, and each irrelevant one is looked up among them: O(L log |R|). The relevant labels
    of instance i are written to ``offsets[i]:offsets[i + 1]``; an instance without edges has none.
    """
    above = np.zeros(offsets[-1], np.int64)
    level = np.zeros(offsets[-1], np.int64)
    among = np.zeros(offsets[-1], np.int64)
    for i in range(len(graph_index)):
        first, n = offsets[i], offsets[i + 1] - offsets[i]
        if n == 0:
            continue
        k_of, f = layer[graph_index[i]], scores[i]
        down = np.empty(n, scores.dtype)  # the negated scores, ascending
        j = 0
        for y in range(len(f)):
            if k_of[y] == 0:
                down[j] = -f[y]
                j += 1
        down.sort()
        for y in range(len(f)):
            if k_of[y] > 0:
                at = np.searchsorted(down, -f[y])
                if at < n:
                    level[first + at] += 1
                    if down[at] == -f[y]:
                        at = np.searchsorted(down, -f[y], side="right")
                    if at < n:
                        above[first + at] += 1
        for j in range(1, n):
            level[first + j] += level[first + j - 1]
            above[first + j] += above[first + j - 1]
        among[first + n - 1] = n
        for j in range(n - 2, -1, -1):
            among[first + j] = among[first + j + 1] if down[j] == down[j + 1] else j + 1
    return above, level, among


@njit(cache=True, nogil=True)
def best_from_here(offsets, values):  # type: ignore[no-untyped-def]
    """Within each list ``values[offsets[i]:offsets[i + 1]]``: the largest of a value and those behind it."""
    out = values.copy()
    for i in range(len(offsets) - 1):
        for j in range(offsets[i + 1] - 2, offsets[i] - 1, -1):
            out[j] = max(out[j], out[j + 1])
    return out


@njit(cache=True, nogil=True)
def unequal_pairs(scores, graph_index, offsets, vertex):  # type: ignore[no-untyped-def]
    """The number of pairs of vertices with different scores: n (n - 1) / 2 - sum over ties of t (t - 1) / 2."""
    out = np.zeros(len(graph_index), np.float64)
    for i in range(len(graph_index)):
        here = vertex[offsets[graph_index[i]] : offsets[graph_index[i] + 1]]
        f = np.empty(len(here), scores.dtype)
        for j in range(len(here)):
            f[j] = scores[i, here[j]]
        f.sort()
        run = 0
        total = 0
        for j in range(len(f)):
            run = run + 1 if j > 0 and f[j] == f[j - 1] else 0
            total += j - run
        out[i] = total
    return out
