"""The loops behind the log-linear loss, each under its formula: arrays in, arrays out, nothing but numpy and numba.

With the margin ``rho_e = f(init) - f(term)`` of an edge, a part S with edges of weight ``w_e`` costs

    log(1 + sum_{e in S} w_e exp(-rho_e)),      q_e = w_e exp(-rho_e) / (1 + sum_{e' in S} w_e' exp(-rho_e'))

[DMS03, section 3 and Fig. 3]. Every kernel writes, for the rows ``start:stop`` of ``scores``, the loss of the instance
and the flows ``In_y = sum_{e: term = y} q_e`` and ``Out_y = sum_{e: init = y} q_e``, all times ``scale`` of the
instance (its weight over its number of parts). The gradient of the loss by the scores is ``In - Out``. Row ``i`` has
the graph ``graph_index[i]``; rows whose graph is not among those given are passed over, so that each encoding of
`Preferences` fills in its own rows. Rows of scale 0 are passed over too.

A layered graph is a row of layer numbers, 0 the best, negative for a label without edges. There the sum over edges
factorises: with ``a_y = exp(f_y - c)`` an out-star costs ``log(1 + T_v / a_v)``, ``T_v`` the sum of a over the layers
below v. One exponential a label and O(L) a row. Sums are of positive numbers only, so nothing cancels. Where the scores
of a row spread over more than `SPREAD`, and a might underflow, the same sums are kept as logarithms.
"""

import math

import numpy as np
from numba import njit

SPREAD = 500.0  # exp(500) times the square of a million labels, times FULL, is still a number
FULL = 1e30  # products of (1 + x) are collected up to here before a logarithm is taken of them
LANES = 8  # sums and products kept side by side, for vector instructions

# exp(x) = 2^n exp(r), n the integer next to x / log 2: added to SHIFTER, n stands in the lowest bits of the sum.
SHIFTER = 1.5 * 2.0**52
LOG2_E = 1.4426950408889634
LN2_HIGH = 6.93147180369123816490e-01  # the leading bits of log 2: its product with n is exact
LN2_LOW = 1.90821492927058770002e-10


@njit(cache=True, nogil=True)
def star_flows(  # type: ignore[no-untyped-def]
    scores, layer, graph_index, scale, by_term, start, stop, loss, flow_in, flow_out
):
    """Layered graphs cut into out-stars (domination) or, ``by_term``, into in-stars (dominated).

        out-star of v:   log(1 + T_v / a_v),           T_v = sum {a_u : layer(u) > layer(v)}
        Out_v = T_v / (a_v + T_v),                     In_u = a_u sum {1 / (a_v + T_v) : layer(v) < layer(u)}

    In-stars are the out-stars of the negated scores with the layers turned round, In and Out exchanged.
    """
    n_labels = scores.shape[1]
    a, scratch = np.empty(n_labels), np.empty(n_labels)
    total, share = np.empty(n_labels + 3), np.empty(n_labels + 3)
    for i in range(start, stop):
        g = graph_index[i]
        if not 0 <= g < len(layer) or scale[i] == 0.0:
            continue
        k_of = layer[g]
        last, low, high = _extent(k_of, scores[i])
        if last == 0:
            continue
        if by_term:
            hub, leaf, sign, shift = flow_in[i], flow_out[i], -1.0, -low
        else:
            hub, leaf, sign, shift = flow_out[i], flow_in[i], 1.0, high
        if high - low <= SPREAD:
            _star_row(k_of, scores[i], last, sign, shift, scale[i], a, scratch, total, share, loss, i, hub, leaf)
        else:
            _star_row_by_logs(k_of, scores[i], last, sign, scale[i], total, share, loss, i, hub, leaf)


@njit(cache=True, nogil=True)
def _extent(k_of, f):  # type: ignore[no-untyped-def]
    """(largest layer number, smallest score, largest score) of the labels that have a layer."""
    last = np.int64(0)
    low, high = np.inf, -np.inf
    for y in range(len(k_of)):
        last = max(last, np.int64(k_of[y]))
    for y in range(len(f)):
        value = np.float64(f[y])
        if k_of[y] >= 0:
            low = value if value < low else low  # noqa: FURB136 - min() also minds NaN, and is slower
            high = value if value > high else high  # noqa: FURB136
    return last, low, high


@njit(cache=True, nogil=True)
def _exp_row(f, sign, shift, a, scratch):  # type: ignore[no-untyped-def]
    """Write ``exp(sign * f - shift)`` to ``a``, in loops that compilers turn into vector instructions.

    The Taylor polynomial of degree 13 on |r| <= log(2) / 2 is off by less than the rounding. Exponents are cut at
    +-700: only labels without edges have such.
    """
    for y in range(len(f)):
        x = sign * np.float64(f[y]) - shift
        x = x if x < 700.0 else 700.0  # noqa: FURB136 - min() also minds NaN, and is slower
        x = x if x > -700.0 else -700.0  # noqa: FURB136
        t = x * LOG2_E + SHIFTER
        scratch[y] = t
        n = t - SHIFTER
        r = (x - n * LN2_HIGH) - n * LN2_LOW
        tail = 1.0 / 479001600.0 + r * (1.0 / 6227020800.0)
        tail = 1.0 / 3628800.0 + r * (1.0 / 39916800.0 + r * tail)
        tail = 1.0 / 40320.0 + r * (1.0 / 362880.0 + r * tail)
        tail = 1.0 / 720.0 + r * (1.0 / 5040.0 + r * tail)
        tail = 1.0 / 24.0 + r * (1.0 / 120.0 + r * tail)
        a[y] = 1.0 + (r + r * r * (0.5 + r * (1.0 / 6.0 + r * tail)))
    bits = scratch.view(np.int64)
    for y in range(len(f)):
        bits[y] = (bits[y] + 1023) << 52  # the bits of the number 2^n
    for y in range(len(f)):
        a[y] *= scratch[y]


@njit(cache=True, nogil=True)
def _star_row(  # type: ignore[no-untyped-def]
    k_of, f, last, sign, shift, scale, a, scratch, total, share, loss, i, hub, leaf
):
    """One row of `star_flows`. Layer k is kept at k + 2: labels without edges fall into two places of their own."""
    n_labels = len(f)
    total[: last + 3] = 0.0
    share[: last + 3] = 0.0
    _exp_row(f, sign, shift, a, scratch)
    for y in range(n_labels):
        total[np.uint64(k_of[y] + 2)] += a[y]
    total[:2] = 0.0
    _sum_behind(total[2:], last, sign)
    row_loss, t = 0.0, 0.0
    for y in range(n_labels):
        k = np.uint64(k_of[y] + 2)
        if total[k] == 0.0:  # no edges, or the last layer of all: no star
            hub[y] = 0.0
            continue
        x = total[k] / a[y]
        t += x + x * t  # 1 + t is the product of all 1 + x: positive terms only, so that a small t is exact
        if t > FULL:
            row_loss += math.log1p(t)
            t = 0.0
        inverse = 1.0 / (a[y] + total[k])
        hub[y] = scale * (total[k] * inverse)
        share[k] += inverse
    _sum_behind(share[2:], last, -sign)
    for y in range(n_labels):
        leaf[y] = scale * (a[y] * share[np.uint64(k_of[y] + 2)])
    loss[i] = scale * (row_loss + math.log1p(t))


@njit(cache=True, nogil=True)
def _sum_behind(values, last, sign):  # type: ignore[no-untyped-def]
    """Replace the value of each layer by the sum over the layers below it (sign 1) or above it (sign -1)."""
    running = 0.0
    for step in range(last + 1):
        k = last - step if sign > 0 else step
        here = values[k]
        values[k] = running
        running += here


@njit(cache=True, nogil=True)
def _log_add(x, y):  # type: ignore[no-untyped-def]
    """log(exp(x) + exp(y)), also for -inf."""
    high, low = max(x, y), min(x, y)
    return high if low == -np.inf else high + math.log1p(math.exp(low - high))


@njit(cache=True, nogil=True)
def _log_sum_behind(values, last, sign):  # type: ignore[no-untyped-def]
    """As `_sum_behind`, of logarithms."""
    running = -np.inf
    for step in range(last + 1):
        k = last - step if sign > 0 else step
        here = values[k]
        values[k] = running
        running = _log_add(running, here)


@njit(cache=True, nogil=True)
def _star_row_by_logs(  # type: ignore[no-untyped-def]
    k_of, f, last, sign, scale, total, share, loss, i, hub, leaf
):
    """One row of `star_flows` for scores of any size: ``total`` and ``share`` are logarithms."""
    total[: last + 1] = -np.inf
    share[: last + 1] = -np.inf
    for y in range(len(f)):
        if k_of[y] >= 0:
            total[k_of[y]] = _log_add(total[k_of[y]], sign * np.float64(f[y]))
    _log_sum_behind(total, last, sign)
    row_loss = 0.0
    for y in range(len(f)):
        k = k_of[y]
        if k < 0 or total[k] == -np.inf:
            hub[y] = 0.0
            continue
        value = sign * np.float64(f[y])
        row_loss += _log_add(0.0, total[k] - value)
        both = _log_add(value, total[k])
        hub[y] = scale * math.exp(total[k] - both)
        share[k] = _log_add(share[k], -both)
    _log_sum_behind(share, last, -sign)
    for y in range(len(f)):
        leaf[y] = scale * math.exp(sign * np.float64(f[y]) + share[k_of[y]]) if k_of[y] >= 0 else 0.0
    loss[i] = scale * row_loss


@njit(cache=True, nogil=True)
def whole_flows(scores, layer, graph_index, scale, start, stop, loss, flow_in, flow_out):  # type: ignore[no-untyped-def]
    """Layered graphs as they are (identity).

    log(1 + Z),  Z = sum_v T_v / a_v,  T_v = sum {a_u : layer(u) > layer(v)}
    Out_v = T_v / a_v / (1 + Z),       In_u = a_u sum {1 / a_v : layer(v) < layer(u)} / (1 + Z)
    """
    n_labels = scores.shape[1]
    a, scratch = np.empty(n_labels), np.empty(n_labels)
    total, share = np.empty(n_labels + 3), np.empty(n_labels + 3)
    for i in range(start, stop):
        g = graph_index[i]
        if not 0 <= g < len(layer) or scale[i] == 0.0:
            continue
        k_of = layer[g]
        last, low, high = _extent(k_of, scores[i])
        if last == 0:
            continue
        if high - low <= SPREAD:
            _whole_row(
                k_of, scores[i], last, high, scale[i], a, scratch, total, share, loss, i, flow_in[i], flow_out[i]
            )
        else:
            _whole_row_by_logs(k_of, scores[i], last, scale[i], total, share, loss, i, flow_in[i], flow_out[i])


@njit(cache=True, nogil=True)
def _whole_row(  # type: ignore[no-untyped-def]
    k_of, f, last, shift, scale, a, scratch, total, share, loss, i, row_in, row_out
):
    """One row of `whole_flows`. Layer k is kept at k + 2: labels without edges fall into two places of their own."""
    n_labels = len(f)
    total[: last + 3] = 0.0
    share[: last + 3] = 0.0
    _exp_row(f, 1.0, shift, a, scratch)
    for y in range(n_labels):
        scratch[y] = 1.0 / a[y]
    for y in range(n_labels):
        k = np.uint64(k_of[y] + 2)
        total[k] += a[y]
        share[k] += scratch[y]
    total[:2] = 0.0
    share[:2] = 0.0
    z = 0.0
    running = 0.0
    for place in range(last + 2, 1, -1):
        here = total[place]
        total[place] = running
        z += running * share[place]
        running += here
    _sum_behind(share[2:], last, -1.0)
    factor = scale / (1.0 + z)
    for y in range(n_labels):
        k = np.uint64(k_of[y] + 2)
        row_out[y] = factor * (total[k] * scratch[y])
        row_in[y] = factor * (a[y] * share[k])
    loss[i] = scale * math.log1p(z)


@njit(cache=True, nogil=True)
def _whole_row_by_logs(  # type: ignore[no-untyped-def]
    k_of, f, last, scale, total, share, loss, i, row_in, row_out
):
    """One row of `whole_flows` for scores of any size: ``total`` and ``share`` are logarithms."""
    total[: last + 1] = -np.inf
    share[: last + 1] = -np.inf
    for y in range(len(f)):
        k = k_of[y]
        if k >= 0:
            total[k] = _log_add(total[k], np.float64(f[y]))
            share[k] = _log_add(share[k], -np.float64(f[y]))
    z = -np.inf
    running = -np.inf
    for k in range(last, -1, -1):
        here = total[k]
        total[k] = running
        z = _log_add(z, running + share[k])
        running = _log_add(running, here)
    _log_sum_behind(share, last, -1.0)
    bottom = _log_add(0.0, z)
    for y in range(len(f)):
        k = k_of[y]
        row_out[y] = scale * math.exp(total[k] - np.float64(f[y]) - bottom) if k >= 0 else 0.0
        row_in[y] = scale * math.exp(np.float64(f[y]) + share[k] - bottom) if k >= 0 else 0.0
    loss[i] = scale * bottom


@njit(cache=True, nogil=True)
def pair_flows(scores, layer, graph_index, scale, start, stop, loss, flow_in, flow_out):  # type: ignore[no-untyped-def]
    """Layered graphs cut into their edges (disagreement), which are never listed.

        sum over v, u with layer(v) < layer(u) of log(1 + a_u / a_v),        q = a_u / (a_v + a_u)

    Labels are put in the order of their layers, so that those below v stand together.
    """
    n_labels = scores.shape[1]
    end = np.empty(n_labels + 2, np.int64)
    place = np.empty(n_labels, np.int64)
    f, a, scratch, inner = np.empty(n_labels), np.empty(n_labels), np.empty(n_labels), np.empty(n_labels)
    lanes = np.empty((2, LANES))
    for i in range(start, stop):
        g = graph_index[i]
        if not 0 <= g < len(layer) or scale[i] == 0.0:
            continue
        k_of = layer[g]
        last, low, high = _extent(k_of, scores[i])
        if last == 0:
            continue
        n = _by_layer(k_of, last, end, place)
        flow_in[i] = 0.0
        flow_out[i] = 0.0
        for j in range(n):
            f[j] = scores[i, place[j]]
            inner[j] = 0.0
        lanes[:] = 0.0
        row_loss = 0.0
        narrow = high - low <= SPREAD
        if narrow:
            _exp_row(f[:n], 1.0, high, a, scratch)
        for j in range(n):
            first = end[k_of[place[j]]]
            if first == n:
                break
            if narrow:
                star_loss, flow = _pairs(a[j], a[first:n], inner[first:n], lanes)
            else:
                star_loss, flow = _pairs_by_logs(f[j], f[first:n], inner[first:n])
            row_loss += star_loss
            flow_out[i, place[j]] = scale[i] * flow
        for j in range(n):
            flow_in[i, place[j]] = scale[i] * inner[j]
        loss[i] = scale[i] * (row_loss + _take_logs(lanes[0]))


@njit(cache=True, nogil=True)
def _by_layer(k_of, last, end, place):  # type: ignore[no-untyped-def]
    """Write the labels in the order of their layers to ``place``, the end of layer k to ``end[k]``; their number."""
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
    return n


@njit(cache=True, nogil=True)
def _pairs(a_v, behind, inner, lanes):  # type: ignore[no-untyped-def]
    """(sum of log(1 + a_u / a_v), sum of q) over the labels behind v; q is added to ``inner``.

    ``lanes[0]`` holds products t = prod(1 + x) - 1 whose logarithms are not in the sum yet; the next v goes on with it.
    """
    n = len(behind)
    total = 0.0
    inverse = 1.0 / a_v
    product, flow = lanes[0], lanes[1]
    flow[:] = 0.0
    whole = n - n % LANES
    for b in range(0, whole, LANES):
        for lane in range(LANES):
            a_u = behind[b + lane]
            x = a_u * inverse
            product[lane] += x + x * product[lane]
            q = a_u / (a_v + a_u)
            inner[b + lane] += q
            flow[lane] += q
        largest = 0.0
        for lane in range(LANES):
            largest = product[lane] if product[lane] > largest else largest  # noqa: FURB136
        if largest > FULL:
            total += _take_logs(product)
    for j in range(whole, n):
        x = behind[j] * inverse
        product[j - whole] += x + x * product[j - whole]
        q = behind[j] / (a_v + behind[j])
        inner[j] += q
        flow[j - whole] += q
    if product.max() > FULL:
        total += _take_logs(product)
    return total, flow.sum()


@njit(cache=True, nogil=True)
def _take_logs(product):  # type: ignore[no-untyped-def]
    """The sum of log(1 + t); the products start again."""
    total = 0.0
    for lane in range(LANES):
        total += math.log1p(product[lane])
        product[lane] = 0.0
    return total


@njit(cache=True, nogil=True)
def _pairs_by_logs(f_v, behind, inner):  # type: ignore[no-untyped-def]
    """As `_pairs`, for scores of any size instead of their exponentials."""
    total, flow = 0.0, 0.0
    for j in range(len(behind)):
        d = behind[j] - f_v
        if d > 0.0:
            x = math.exp(-d)
            total += d + math.log1p(x)
            q = 1.0 / (1.0 + x)
        else:
            x = math.exp(d)
            total += math.log1p(x)
            q = x / (1.0 + x)
        inner[j] += q
        flow += q
    return total, flow


@njit(cache=True, nogil=True)
def part_flows(  # type: ignore[no-untyped-def]
    scores, graph_index, part_start, offsets, init, term, log_weight, scale, start, stop, loss, flow_in, flow_out
):
    """Any parts of any graphs, edge by edge, shifted by the largest exponent of the part.

        log(1 + sum_e exp(d_e)) = b + log(exp(-b) + sum_e exp(d_e - b)),   d_e = log w_e - rho_e,  b = max(0, max_e d_e)

    The parts of graph g are ``part_start[g]:part_start[g + 1]``, the edges of a part as in `Parts`.
    """
    for i in range(start, stop):
        g = graph_index[i]
        if not 0 <= g < len(part_start) - 1 or scale[i] == 0.0:
            continue
        f, row_in, row_out = scores[i], flow_in[i], flow_out[i]
        row_in[:] = 0.0
        row_out[:] = 0.0
        row_loss = 0.0
        for part in range(part_start[g], part_start[g + 1]):
            top = 0.0
            for e in range(offsets[part], offsets[part + 1]):
                top = max(top, log_weight[e] + np.float64(f[term[e]]) - np.float64(f[init[e]]))
            total = 0.0
            for e in range(offsets[part], offsets[part + 1]):
                total += math.exp(log_weight[e] + np.float64(f[term[e]]) - np.float64(f[init[e]]) - top)
            if top > 0.0:
                total += math.exp(-top)
                row_loss += top + math.log(total)
            else:
                row_loss += math.log1p(total)
                total += 1.0
            for e in range(offsets[part], offsets[part + 1]):
                d = log_weight[e] + np.float64(f[term[e]]) - np.float64(f[init[e]]) - top
                q = scale[i] * (math.exp(d) / total)
                row_in[term[e]] += q
                row_out[init[e]] += q
        loss[i] = scale[i] * row_loss
