"""The loops behind the preference learning model, each under its formula: arrays in, arrays out, numpy and numba only.

With the margin ``rho_e = f(init) - f(term)`` of an edge and a loss L, an instance costs [AS05, Eqs. 1-2]

    weight  sum_{S in A(G)}  max_{e in S} w_e L(rho_e),        or the sum over e in S instead of the max

Every kernel writes, for the rows ``start:stop`` of ``scores``, this cost to ``risk`` and its derivative by the scores
to ``gradient``. Row ``i`` has the graph ``graph_index[i]``; rows whose graph is not among those given, or has no edges,
or whose weight is 0, are passed over, so that each encoding of `Preferences` fills in its own rows.

A layered graph is a row of layer numbers, 0 the best, negative for a label without edges; its edges are never listed.
"""

import math

import numpy as np
from numba import njit

HINGE, SQUARES, LOGISTIC, EXPONENTIAL = 0, 1, 2, 3  # the losses; beta is of the hinge only

STEEPEST = 50.0  # past exp(50) the exponential loss goes on as a straight line: sums stay finite in single precision
FULL = 1e30  # products of (1 + x) are collected up to here before a logarithm is taken of them
LN2 = math.log(2.0)


@njit(cache=True, nogil=True)
def edge_loss(loss, beta, margin):  # type: ignore[no-untyped-def]
    """(value, derivative) of one margin: the functions of `learners.losses`, one number at a time."""
    if loss == HINGE:
        slack = 1.0 - margin / beta
        return (slack, -1.0 / beta) if slack > 0.0 else (0.0, 0.0)
    if loss == SQUARES:
        slack = 1.0 - margin
        return (slack * slack, -2.0 * slack) if slack > 0.0 else (0.0, 0.0)
    if loss == LOGISTIC:
        small = math.exp(-abs(margin))
        value = (max(-margin, 0.0) + math.log1p(small)) / LN2
        return value, -(1.0 if margin < 0.0 else small) / ((1.0 + small) * LN2)
    slope = math.exp(min(-margin, STEEPEST))
    return slope * (1.0 + max(-margin - STEEPEST, 0.0)), -slope


# -- the worst edge of each part of a layered graph -------------------------------------------------------------------


@njit(cache=True, nogil=True)
def worst_edge_risk(  # type: ignore[no-untyped-def]
    scores, layer, graph_index, weight, loss, beta, by_term, whole, start, stop, risk, gradient
):
    """Layered graphs, ``max``: L falls, so that the edge of the smallest margin counts.

        out-star of v:              v and the largest f of the layers below
        in-star of v (``by_term``): v and the smallest f of the layers above
        the graph (``whole``):      the smallest of its out-stars

    A running maximum over the layers replaces the edges: O(L) an instance. Among equal margins any edge gives a
    subgradient; which one it is depends on the order of layers and labels only.
    """
    n_labels = scores.shape[1]
    best, slopes = np.empty(n_labels + 1, np.int64), np.empty(n_labels)
    for i in range(start, stop):
        g = graph_index[i]
        if not 0 <= g < len(layer) or weight[i] == 0.0:
            continue
        k_of, f = layer[g], scores[i]
        last = _nearest(k_of, f, by_term, best)
        if last == 0:
            continue
        slopes[:] = 0.0
        total, smallest = 0.0, np.inf
        worst_init, worst_term = 0, 0
        for v in range(n_labels):
            if k_of[v] < 0 or k_of[v] == (0 if by_term else last):
                continue
            u = best[k_of[v]]
            init, term = (u, v) if by_term else (v, u)
            margin = np.float64(f[init]) - np.float64(f[term])
            if not whole:
                total += _charge(loss, beta, margin, init, term, slopes)
            elif margin < smallest:
                smallest, worst_init, worst_term = margin, init, term
        if whole:
            total = _charge(loss, beta, smallest, worst_init, worst_term, slopes)
        risk[i] = weight[i] * total
        for y in range(n_labels):
            gradient[i, y] = weight[i] * slopes[y]


@njit(cache=True, nogil=True)
def _charge(loss, beta, margin, init, term, slopes):  # type: ignore[no-untyped-def]
    """The loss of an edge of weight 1; its derivative is added to ``slopes``."""
    value, slope = edge_loss(loss, beta, margin)
    slopes[init] += slope
    slopes[term] -= slope
    return value


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


# -- all edges of a layered graph -------------------------------------------------------------------------------------


@njit(cache=True, nogil=True)
def pair_risk(  # type: ignore[no-untyped-def]
    scores, layer, graph_index, weight, loss, beta, start, stop, risk, gradient
):
    """Layered graphs, ``sum`` (or single edges): the sum over v, u with layer(v) < layer(u) of L(f_v - f_u).

    Labels are put in the order of their layers, so that those below v stand together and a loop over them needs no
    branch. The hinge of margin beta is that of margin 1 of ``f / beta``. The logistic loss is not here: it is that of
    the log-linear ranker, `learners._loss_kernels.pair_flows`.
    """
    n_labels = scores.shape[1]
    end, place = np.empty(n_labels + 2, np.int64), np.empty(n_labels, np.int64)
    f, pull, push = np.empty(n_labels), np.empty(n_labels), np.empty(n_labels)
    unit = beta if loss == HINGE else 1.0
    for i in range(start, stop):
        g = graph_index[i]
        if not 0 <= g < len(layer) or weight[i] == 0.0:
            continue
        k_of = layer[g]
        n, last = _by_layer(k_of, end, place)
        if last == 0:
            continue
        for j in range(n):
            f[j] = np.float64(scores[i, place[j]]) / unit
            pull[j], push[j] = 0.0, 0.0
        narrow = loss == EXPONENTIAL and _to_exponentials(f[:n])
        total = 0.0
        for j in range(n):
            first = end[k_of[place[j]]]
            if first == n:
                break
            if loss == HINGE:
                value, push[j] = _hinge_pairs(f[j], f[first:n], pull[first:n])
            elif loss == SQUARES:
                value, push[j] = _square_pairs(f[j], f[first:n], pull[first:n])
            elif narrow:
                value, push[j] = _ratio_pairs(f[j], f[first:n], pull[first:n])
            else:
                value, push[j] = _steep_pairs(f[j], f[first:n], pull[first:n])
            total += value
        risk[i] = weight[i] * total
        gradient[i] = 0.0
        for j in range(n):
            gradient[i, place[j]] = weight[i] * ((pull[j] - push[j]) / unit)


@njit(cache=True, nogil=True)
def _by_layer(k_of, end, place):  # type: ignore[no-untyped-def]
    """Write the labels in the order of their layers to ``place``, the end of layer k to ``end[k]``.

    Returns the number of labels that have a layer, and the last layer.
    """
    last = np.int64(0)
    for y in range(len(k_of)):
        last = max(last, np.int64(k_of[y]))
    end[: last + 2] = 0
    for y in range(len(k_of)):
        if k_of[y] >= 0:
            end[k_of[y] + 1] += 1
    for k in range(1, last + 2):
        end[k] += end[k - 1]
    n = end[last + 1]
    for y in range(len(k_of)):
        if k_of[y] >= 0:
            place[end[k_of[y]]] = y
            end[k_of[y]] += 1  # from the end of the layer before to the end of this one
    return n, last


@njit(cache=True, nogil=True)
def _to_exponentials(f):  # type: ignore[no-untyped-def]
    """Replace f by ``exp(f - max f)`` where no ratio of two exceeds exp(50); whether it did."""
    high = f.max()
    if high - f.min() > STEEPEST:
        return False
    for j in range(len(f)):
        f[j] = math.exp(f[j] - high)
    return True


# The four loops over the labels behind v return (sum of L, sum of -L'), and add -L' to ``pull``. "reassoc" lets the
# compiler keep partial sums side by side, for vector instructions; their order is fixed when it compiles.


@njit(cache=True, nogil=True, fastmath={"reassoc"})
def _hinge_pairs(f_v, behind, pull):  # type: ignore[no-untyped-def]
    """[1 - rho]_+."""
    value, flow = 0.0, 0.0
    for j in range(len(behind)):
        slack = 1.0 - (f_v - behind[j])
        value += slack if slack > 0.0 else 0.0  # noqa: FURB136 - max() also minds NaN, and is slower
        step = 1.0 if slack > 0.0 else 0.0
        pull[j] += step
        flow += step
    return value, flow


@njit(cache=True, nogil=True, fastmath={"reassoc"})
def _square_pairs(f_v, behind, pull):  # type: ignore[no-untyped-def]
    """[1 - rho]_+^2."""
    value, flow = 0.0, 0.0
    for j in range(len(behind)):
        slack = 1.0 - (f_v - behind[j])
        slack = slack if slack > 0.0 else 0.0  # noqa: FURB136
        value += slack * slack
        pull[j] += 2.0 * slack
        flow += 2.0 * slack
    return value, flow


@njit(cache=True, nogil=True, fastmath={"reassoc"})
def _ratio_pairs(a_v, behind, pull):  # type: ignore[no-untyped-def]
    """exp(-rho) = a_u / a_v, with a = exp(f) of a row shifted by its largest."""
    value = 0.0
    inverse = 1.0 / a_v
    for j in range(len(behind)):
        x = behind[j] * inverse
        value += x
        pull[j] += x
    return value, value


@njit(cache=True, nogil=True)
def _steep_pairs(f_v, behind, pull):  # type: ignore[no-untyped-def]
    """exp(-rho) for scores of any size."""
    value, flow = 0.0, 0.0
    for j in range(len(behind)):
        cost, slope = edge_loss(EXPONENTIAL, 1.0, f_v - behind[j])
        value += cost
        pull[j] -= slope
        flow -= slope
    return value, flow


# -- any parts --------------------------------------------------------------------------------------------------------


@njit(cache=True, nogil=True)
def part_risk(  # type: ignore[no-untyped-def]
    scores,
    graph_index,
    part_start,
    offsets,
    init,
    term,
    edge_weight,
    weight,
    loss,
    beta,
    worst,
    start,
    stop,
    risk,
    gradient,
):
    """Any parts of any graphs, edge by edge; the edge of the largest weighted loss of each part with ``worst``.

    The parts of graph g are ``part_start[g]:part_start[g + 1]``, the edges of a part as in `Parts`.
    """
    n_labels = scores.shape[1]
    f, slopes = np.empty(n_labels), np.empty(n_labels)
    for i in range(start, stop):
        g = graph_index[i]
        if not 0 <= g < len(part_start) - 1 or weight[i] == 0.0:
            continue
        first, behind = part_start[g], part_start[g + 1]
        if first == behind:
            continue
        for y in range(n_labels):
            f[y] = scores[i, y]
            slopes[y] = 0.0
        if worst:
            total = 0.0
            for part in range(first, behind):
                e = _worst_edge(f, init, term, edge_weight, loss, beta, offsets[part], offsets[part + 1])
                total += _listed(f, init, term, edge_weight, loss, beta, e, e + 1, slopes)
        else:
            edges = offsets[first], offsets[behind]
            if loss in (HINGE, SQUARES):
                total = _listed_slacks(f, init, term, edge_weight, loss == HINGE, beta, *edges, slopes)
            elif _to_exponentials(f):
                total = _listed_ratios(f, init, term, edge_weight, loss == LOGISTIC, *edges, slopes)
            else:
                total = _listed(f, init, term, edge_weight, loss, beta, *edges, slopes)
        risk[i] = weight[i] * total
        for y in range(n_labels):
            gradient[i, y] = weight[i] * slopes[y]


# The three loops over the edges ``first:behind`` return the sum of w L, and add its derivative to ``slopes``. The last
# two say the same as the first, without a branch for each edge, or an exponential.


@njit(cache=True, nogil=True)
def _listed(f, init, term, edge_weight, loss, beta, first, behind, slopes):  # type: ignore[no-untyped-def]
    """Any loss, scores of any size."""
    total = 0.0
    for e in range(first, behind):
        value, slope = edge_loss(loss, beta, f[init[e]] - f[term[e]])
        total += edge_weight[e] * value
        slopes[init[e]] += edge_weight[e] * slope
        slopes[term[e]] -= edge_weight[e] * slope
    return total


@njit(cache=True, nogil=True)
def _listed_slacks(  # type: ignore[no-untyped-def]
    f, init, term, edge_weight, is_hinge, beta, first, behind, slopes
):
    """The losses of ``s = [1 - rho / beta]_+``: s itself, or its square."""
    total = 0.0
    inverse = 1.0 / beta
    for e in range(first, behind):
        v, u = np.uint64(init[e]), np.uint64(term[e])
        slack = 1.0 - (f[v] - f[u]) * inverse
        slack = slack if slack > 0.0 else 0.0  # noqa: FURB136
        step = (1.0 if slack > 0.0 else 0.0) if is_hinge else 2.0 * slack
        total += edge_weight[e] * (slack if is_hinge else slack * slack)
        step *= edge_weight[e] * inverse
        slopes[v] -= step
        slopes[u] += step
    return total


@njit(cache=True, nogil=True)
def _listed_ratios(  # type: ignore[no-untyped-def]
    a, init, term, edge_weight, is_logistic, first, behind, slopes
):
    """The losses of ``x = exp(-rho) = a_u / a_v``: x itself, or log2(1 + x).

    With t = prod(1 + x) - 1 over neighbours of equal weight there is one logarithm for many edges.
    """
    total, t = 0.0, 0.0
    same = 0.0
    for e in range(first, behind):
        v, u = np.uint64(init[e]), np.uint64(term[e])
        w = edge_weight[e]
        x = a[u] / a[v]
        if is_logistic:
            if w != same or t > FULL:
                total += same * (math.log1p(t) / LN2)
                same, t = w, 0.0
            t += x + x * t
            x /= (1.0 + x) * LN2
        else:
            total += w * x
        slopes[v] -= w * x
        slopes[u] += w * x
    return total + same * (math.log1p(t) / LN2)


@njit(cache=True, nogil=True)
def _worst_edge(f, init, term, edge_weight, loss, beta, first, behind):  # type: ignore[no-untyped-def]
    """The edge of the largest w L(rho) among ``first:behind``, the first one of equal ones.

    L falls: an edge of no larger weight and no smaller margin than the worst so far need not be priced.
    """
    worst = first
    heavy, smallest = 0.0, np.inf
    most = -1.0
    for e in range(first, behind):
        margin = f[init[e]] - f[term[e]]
        if edge_weight[e] <= heavy and margin >= smallest:
            continue
        price = edge_weight[e] * edge_loss(loss, beta, margin)[0]
        if price > most:
            worst, most = e, price
            heavy, smallest = edge_weight[e], margin
    return worst
