"""Minimum-weight feedback arcs of a graph given as numbers: reduce, search, prove.

An order of the labels cuts the arcs that point backwards in it, and the cheapest order cuts a minimum feedback arc
set. The work is done on *kernels*: what is left of a strong component after splitting and contracting (`kernels_of`).
"""

import math
from collections import defaultdict
from typing import Any, NamedTuple

import networkx as nx
import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Arcs = dict[tuple[int, int], tuple[float, tuple[int, ...]]]  # (init, term) -> weight, the original arcs it stands for

_SLACK = 1e-12  # costs closer than this, relatively, are the same: it covers the rounding of some hundred additions


class Kernel(NamedTuple):
    """A strongly connected, biconnected, contracted piece; its labels are 0 .. size-1."""

    size: int
    init: Ints
    term: Ints
    weight: Floats
    arcs: list[tuple[int, ...]]  # the original arcs behind each arc


def kernels_of(arcs: Arcs) -> tuple[list[Kernel], list[int]]:
    """Kernels to be solved one by one, and the original arcs that a minimum set can be taken to hold anyway.

    A cycle stays inside a strong component and, in it, inside a biconnected block, so weights add up over these.
    """
    kernels: list[Kernel] = []
    forced: list[int] = []
    todo = [arcs]
    while todo:
        piece = todo.pop()
        for block in _blocks(piece):
            before = len(block)
            forced += _contract(block)
            if len(block) < before:
                todo.append(block)
            else:
                kernels.append(_kernel(block))
    return kernels, forced


def _blocks(arcs: Arcs) -> list[Arcs]:
    """The biconnected blocks of the strong components that have a cycle."""
    directed: nx.DiGraph[int] = nx.DiGraph(list(arcs))
    component = {v: k for k, c in enumerate(nx.strongly_connected_components(directed)) for v in c}
    undirected: nx.Graph[int] = nx.Graph([(u, v) for u, v in arcs if component[u] == component[v]])
    blocks: list[Arcs] = []
    for pairs in nx.biconnected_component_edges(undirected):
        both = sorted({arc for u, v in pairs for arc in ((u, v), (v, u)) if arc in arcs})
        blocks.append({arc: arcs[arc] for arc in both})
    return sorted(blocks, key=min)


def _contract(arcs: Arcs) -> list[int]:
    """Contract, in place, arcs that need never be cut; return the original arcs behind the loops this makes.

    If (u, v) is the only arc into v and weighs at least as much as all arcs out of v, then these may be cut in its
    place, so (u, v) stays and v becomes one with u. The same holds the other way round for the only arc out of v.
    Long chains of comparisons shrink to single arcs in this way.
    """
    out: dict[int, dict[int, None]] = defaultdict(dict)
    into: dict[int, dict[int, None]] = defaultdict(dict)
    for u, v in arcs:
        out[u][v] = into[v][u] = None
    forced: list[int] = []
    todo = sorted(out, reverse=True)

    def unlink(u: int, v: int) -> tuple[float, tuple[int, ...]]:
        del out[u][v], into[v][u]
        todo.extend((u, v))
        return arcs.pop((u, v))

    def link(u: int, v: int, weight: float, ids: tuple[int, ...]) -> None:
        if u == v:
            forced.extend(ids)
            return
        old_weight, old_ids = arcs.get((u, v), (0.0, ()))
        arcs[u, v] = (old_weight + weight, old_ids + ids)
        out[u][v] = into[v][u] = None

    while todo:
        v = todo.pop()
        weight_in = math.fsum(arcs[u, v][0] for u in into[v])
        weight_out = math.fsum(arcs[v, x][0] for x in out[v])
        single_in = len(into[v]) == 1 and weight_in >= weight_out
        single_out = len(out[v]) == 1 and weight_out >= weight_in
        # Among equals the arc against the order of the labels stays open to be cut: of a > b > c > a that is c > a.
        if single_in and not (single_out and min(into[v]) > v):
            (u,) = into[v]
            unlink(u, v)
            for x in list(out[v]):
                link(u, x, *unlink(v, x))
        elif single_out:
            (x,) = out[v]
            unlink(v, x)
            for u in list(into[v]):
                link(u, x, *unlink(u, v))
    return forced


def _kernel(arcs: Arcs) -> Kernel:
    """A block as arrays."""
    labels = sorted({v for arc in arcs for v in arc})
    place = {v: k for k, v in enumerate(labels)}
    rows = sorted(arcs)
    return Kernel(
        size=len(labels),
        init=np.array([place[u] for u, _ in rows], dtype=np.int64),
        term=np.array([place[v] for _, v in rows], dtype=np.int64),
        weight=np.array([arcs[arc][0] for arc in rows]),
        arcs=[arcs[arc][1] for arc in rows],
    )


def cut_by(kernel: Kernel, order: Ints) -> Ints:
    """The arcs of the kernel, as indices, that point backwards in an order of its labels."""
    place = np.empty(kernel.size, dtype=np.int64)
    place[order] = np.arange(kernel.size)
    return np.flatnonzero(place[kernel.init] > place[kernel.term])


def _cost(kernel: Kernel, order: Ints) -> float:
    """Weight of the arcs that an order cuts, correctly rounded."""
    return math.fsum(kernel.weight[cut_by(kernel, order)])


# -- heuristic ------------------------------------------------------------------------------------------------------


def heuristic_order(kernel: Kernel, restarts: int = 0) -> Ints:
    """A good order: greedy, then single labels moved while that helps; ``restarts`` from seeded random orders too."""
    neighbours = _neighbours(kernel)
    best = _improved(greedy_order(kernel), neighbours)
    cost = _cost(kernel, best)
    random = np.random.default_rng(0)
    for _ in range(restarts):
        order = _improved(random.permutation(kernel.size), neighbours)
        if (other := _cost(kernel, order)) < cost:
            best, cost = order, other
    return best


def greedy_order(kernel: Kernel) -> Ints:
    """Sources to the front, sinks to the back, else the label with the largest weight out minus weight in [ELS93]_.

    .. [ELS93] Eades, Lin, Smyth: A fast and effective heuristic for the feedback arc set problem, 1993.
    """
    n = kernel.size
    out: list[dict[int, float]] = [{} for _ in range(n)]
    into: list[dict[int, float]] = [{} for _ in range(n)]
    for u, v, w in zip(kernel.init.tolist(), kernel.term.tolist(), kernel.weight.tolist(), strict=True):
        out[u][v] = into[v][u] = w
    net = np.bincount(kernel.init, kernel.weight, n) - np.bincount(kernel.term, kernel.weight, n)
    front: list[int] = []
    back: list[int] = []
    alive = [True] * n
    ready = [v for v in range(n) if not out[v] or not into[v]]
    while len(front) + len(back) < n:
        v = ready.pop() if ready else int(np.argmax(net))
        if not alive[v]:
            continue
        alive[v] = False
        (front if out[v] or not into[v] else back).append(v)
        net[v] = -math.inf
        for x, w in out[v].items():
            del into[x][v]
            net[x] += w
            if not into[x]:
                ready.append(x)
        for u, w in into[v].items():
            del out[u][v]
            net[u] -= w
            if not out[u]:
                ready.append(u)
    return np.array(front + back[::-1], dtype=np.int64)


def _neighbours(kernel: Kernel) -> list[tuple[Ints, Floats]]:
    """For each label v its neighbours u, and what it costs v to be after u rather than before: w(v, u) - w(u, v)."""
    ends = np.concatenate([kernel.init, kernel.term])
    others = np.concatenate([kernel.term, kernel.init])
    costs = np.concatenate([kernel.weight, -kernel.weight])
    by_end = np.argsort(ends, kind="stable")
    stops = np.cumsum(np.bincount(ends, minlength=kernel.size))[:-1]
    return list(zip(np.split(others[by_end], stops), np.split(costs[by_end], stops), strict=True))


def _improved(order: Ints, neighbours: list[tuple[Ints, Floats]]) -> Ints:
    """Move single labels to their cheapest place until no move helps. A pass costs O(E log E)."""
    order = order.copy()
    place = np.empty(len(order), dtype=np.int64)
    place[order] = np.arange(len(order))
    moved = True
    while moved:
        moved = False
        for v, (others, costs) in enumerate(neighbours):
            sequence = np.argsort(place[others], kind="stable")
            running = np.cumsum(costs[sequence])  # cost of standing just after each neighbour; before all of them: 0
            old = int(place[v])
            passed = int(np.count_nonzero(place[others] < old))
            now = running[passed - 1] if passed else 0.0
            best = int(np.argmin(running))
            if min(running[best], 0.0) >= now - _SLACK * float(np.abs(costs).sum()):
                continue
            new = 0 if running[best] >= 0.0 else int(place[others[sequence[best]]]) + 1
            new -= new > old  # taking v out shifts what stood behind it
            low, high = min(old, new), max(old, new) + 1
            order[low:high] = np.roll(order[low:high], -1 if new > old else 1)
            place[order[low:high]] = np.arange(low, high)
            moved = True
    return order


# -- exact ----------------------------------------------------------------------------------------------------------


def exact_order(kernel: Kernel) -> Ints:
    """An order that cuts a minimum weight, up to a relative 1e-12 of rounding.

    A good order first; then a bound from linear programming that often proves it; else a search over the sets of
    labels that can stand first, which that bound cuts short. That search takes 8 bytes a set: 256 MB for 25 labels.
    """
    order = heuristic_order(kernel, restarts=2 * kernel.size)
    cost = _cost(kernel, order)
    gap = _SLACK * cost
    scaled = kernel.weight / kernel.weight.max()
    if np.array_equal(kernel.weight, np.round(kernel.weight)) and cost < 1e9:
        gap = 1.0 - 1e-6  # whole weights: only an order cheaper by 1 is cheaper
    cycles, price = cycle_prices(kernel._replace(weight=scaled))
    price *= kernel.weight.max()
    if math.fsum(price) >= cost - gap:
        return order
    from prefgraph._feedback_kernels import search_prefixes

    weights = np.zeros((kernel.size, kernel.size))
    weights[kernel.init, kernel.term] = kernel.weight
    better = search_prefixes(weights, cost, gap, cycles, price)
    return np.asarray(better, dtype=np.int64) if len(better) else order


def cycle_prices(kernel: Kernel) -> tuple[Ints, Floats]:
    """Cycles as bit masks of their labels, with prices y >= 0 whose sum is a lower bound of the cost.

        maximise  sum_C y_C   subject to   sum_{C: e in C} y_C <= w_e   for every arc e

    Every cycle in C must lose an arc, so the prices of the cycles inside a set of labels bound what that set costs.
    This is the dual of covering the cycles by arcs, whose cycles are added as they are found violated.
    """
    from scipy.optimize import linprog
    from scipy.sparse import csr_array

    rows = _short_cycles(kernel)
    known = {frozenset(row) for row in rows}
    y = np.zeros(len(rows))
    x = np.zeros(len(kernel.weight))
    for _ in range(100):
        if rows:
            lengths = [len(row) for row in rows]
            places = (np.repeat(np.arange(len(rows)), lengths), np.concatenate(rows))
            cover: Any = csr_array((np.ones(sum(lengths)), places), shape=(len(rows), len(x)))
            solved: Any = linprog(kernel.weight, A_ub=-cover, b_ub=-np.ones(len(rows)), method="highs")
            if solved.status != 0:
                break  # prices so far, or none, are still a bound
            x, y = solved.x, np.maximum(-solved.ineqlin.marginals, 0.0)
        found = [row for row in _violated_cycles(kernel, x) if frozenset(row) not in known]
        if not found:
            break
        known.update(map(frozenset, found))
        rows += found
        y = np.append(y, np.zeros(len(found)))
    load = np.zeros(len(x))  # the solver's prices may exceed a weight by its tolerance: scale those down
    for row, price in zip(rows, y, strict=True):
        load[row] += price
    ratio = kernel.weight / np.maximum(load, kernel.weight) * (1.0 - 1e-15)
    y *= [ratio[row].min() for row in rows]
    masks = [int(np.bitwise_or.reduce(1 << kernel.init[row])) for row in rows]
    keep = np.flatnonzero(y > 0.0)
    keep = keep[np.argsort(-y[keep], kind="stable")]
    return np.array(masks, dtype=np.int64)[keep], y[keep]


def _short_cycles(kernel: Kernel) -> list[list[int]]:
    """The cycles of two or three labels, as lists of arcs."""
    arc = np.full((kernel.size, kernel.size), -1)
    arc[kernel.init, kernel.term] = np.arange(len(kernel.weight))
    is_arc = arc >= 0
    pairs = [[int(arc[u, v]), int(arc[v, u])] for u, v in np.argwhere(np.triu(is_arc & is_arc.T))]
    closing = is_arc[:, :, None] & is_arc[None, :, :] & is_arc.T[:, None, :]
    triples = [(u, v, x) for u, v, x in np.argwhere(closing).tolist() if u < v and u < x]
    return pairs + [[int(arc[u, v]), int(arc[v, x]), int(arc[x, u])] for u, v, x in triples]


def _violated_cycles(kernel: Kernel, x: Floats) -> list[list[int]]:
    """For each arc the cycle through it that is shortest by x, where it is shorter than 1 (all pairs by Floyd)."""
    n = kernel.size
    distance = np.full((n, n), np.inf)
    # A little beside x counts arcs, so that among equals the cycle with fewest arcs is found, and it is elementary.
    distance[kernel.init, kernel.term] = np.maximum(x, 0.0) + 1e-9
    step = np.full((n, n), -1)
    step[kernel.init, kernel.term] = np.arange(len(x))
    for k in range(n):
        through = distance[:, k, None] + distance[None, k]
        shorter = through < distance
        distance = np.where(shorter, through, distance)
        step = np.where(shorter, step[:, k, None], step)
    cycles = []
    for arc in np.flatnonzero(x + distance[kernel.term, kernel.init] < 1.0 - 1e-6):
        row, at = [int(arc)], int(kernel.term[arc])
        while at != kernel.init[arc]:
            row.append(int(step[at, kernel.init[arc]]))
            at = int(kernel.term[row[-1]])
        cycles.append(row)
    return cycles


# -- together -------------------------------------------------------------------------------------------------------


def put_back(size: int, arcs: list[tuple[int, int, float]], cut: set[int]) -> set[int]:
    """Drop from ``cut`` what is not needed, heaviest first: afterwards each arc alone would close a cycle.

    reach[v] holds, as bits, v and all labels below v in what is left.
    """
    left: nx.DiGraph[int] = nx.DiGraph((u, v) for k, (u, v, _) in enumerate(arcs) if k not in cut)
    left.add_nodes_from(range(size))
    reach = [1 << v for v in range(size)]
    for v in reversed(list(nx.topological_sort(left))):
        for x in left.succ[v]:
            reach[v] |= reach[x]
    needed = set(cut)
    for k in sorted(cut, key=lambda k: (-arcs[k][2], k)):
        u, v, _ = arcs[k]
        if not reach[v] >> u & 1:
            needed.remove(k)
            reach = [seen | reach[v] if seen >> u & 1 else seen for seen in reach]
    return needed


def feedback(
    size: int, arcs: list[tuple[int, int, float]], exact_up_to: int, *, stop_past: bool
) -> tuple[set[int], int]:
    """Indices of the arcs to cut, and the labels in the largest kernel that is past ``exact_up_to`` (0: none is).

    Kernels past it are left to the heuristic, or with ``stop_past`` nothing is solved at all.
    """
    kernels, forced = kernels_of({(u, v): (w, (k,)) for k, (u, v, w) in enumerate(arcs)})
    cut = set(forced)
    past = max((kernel.size for kernel in kernels if kernel.size > exact_up_to), default=0)
    if past and stop_past:
        return cut, past
    for kernel in kernels:
        order = exact_order(kernel) if kernel.size <= exact_up_to else heuristic_order(kernel)
        cut.update(k for arc in cut_by(kernel, order) for k in kernel.arcs[arc])
    return put_back(size, arcs, cut), past
