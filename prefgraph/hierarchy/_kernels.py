"""Fast loops over a numbered hierarchy: arrays in, arrays out. Sets and neighbours are CSR rows."""
# mypy: disallow-untyped-decorators=False

from typing import Any

import numba as nb
import numpy as np
from numpy.typing import NDArray

__all__ = ["distances_between", "layers_from_distances", "leaves_of_path_ends"]

Ints = NDArray[np.int64]


@nb.njit(cache=True, nogil=True)
def distances_between(start: Ints, to: Ints, leaves: Ints, out: NDArray[Any]) -> None:
    """Number of edges between any two leaves, written into ``out``.

        out[a, b] = length of the shortest path between leaves[a] and leaves[b] over the links (start, to)

    Breadth first from each leaf: O(leaves x vertices), for trees and DAGs alike.
    """
    n = start.size - 1
    distance = np.empty(n, np.int32)
    queue = np.empty(n, np.int64)
    for a in range(leaves.size):
        distance[:] = -1
        distance[leaves[a]] = 0
        queue[0] = leaves[a]
        head, tail = 0, 1
        while head < tail:
            v = queue[head]
            head += 1
            for k in range(start[v], start[v + 1]):
                u = to[k]
                if distance[u] < 0:
                    distance[u] = distance[v] + 1
                    queue[tail] = u
                    tail += 1
        for b in range(leaves.size):
            out[a, b] = distance[leaves[b]]


@nb.njit(cache=True, nogil=True)
def leaves_of_path_ends(
    set_start: Ints, members: Ints, parent_start: Ints, parents: Ints, leaf_of: Ints
) -> tuple[Ints, Ints, int]:
    """Correct leaves of each set of vertices.

        ends(S)   = {v in S: no u in S has v as an ancestor}
        leaves(S) = {leaf_of[v]: v in ends(S), leaf_of[v] != -1}

    ``leaf_of[v]`` is a leaf's number; -1 says "drop" (the root), -2 "an inner vertex without a leaf of its own".
    Returns the leaf sets in CSR form and the first set with a -2 among its ends, or -1 if there is none.
    """
    m = set_start.size - 1
    start = np.zeros(m + 1, np.int64)
    leaves = np.empty(members.size, np.int64)
    mark = np.full(leaf_of.size, -1, np.int64)  # mark[v] == i: v is an ancestor of a member of set i
    stack = np.empty(2 * parents.size + 1, np.int64)
    count = 0
    for i in range(m):
        for k in range(set_start[i], set_start[i + 1]):
            top = 0
            v = members[k]
            for p in range(parent_start[v], parent_start[v + 1]):
                stack[top] = parents[p]
                top += 1
            while top > 0:
                top -= 1
                v = stack[top]
                if mark[v] != i:
                    mark[v] = i
                    for p in range(parent_start[v], parent_start[v + 1]):
                        stack[top] = parents[p]
                        top += 1
        for k in range(set_start[i], set_start[i + 1]):
            v = members[k]
            if mark[v] != i:
                if leaf_of[v] == -2:
                    return start, leaves[:count], i
                if leaf_of[v] >= 0:
                    leaves[count] = leaf_of[v]
                    count += 1
        start[i + 1] = count
    return start, leaves[:count], -1


@nb.njit(cache=True, nogil=True)
def layers_from_distances(
    code: NDArray[Any], n_codes: int, start: Ints, leaves: Ints, which: Ints, cap: int, out: NDArray[Any]
) -> None:
    """Layer of each leaf for each instance i, whose correct leaves are row ``which[i]`` of the sets.

        near(y)   = min over correct leaves c of code[c, y]
        out[i, y] = min(cap, number of distinct values of near below near(y))

    ``code`` orders the distances as small integers 0..n_codes-1. No correct leaf: all leaves in layer 0. An instance
    whose set was met before gets a copy of that row, so that nothing but ``out`` grows with the instances.
    """
    n = code.shape[0]
    done = np.full(start.size - 1, -1, np.int64)
    near = np.empty(n, code.dtype)
    few = n_codes <= 4 * n  # then a table over the codes ranks them faster than sorting
    rank = np.empty(n_codes if few else 0, np.int64)
    for i in range(which.size):
        j = which[i]
        if done[j] >= 0:
            out[i] = out[done[j]]
            continue
        done[j] = i
        if start[j] == start[j + 1]:
            out[i] = 0
            continue
        near[:] = code[leaves[start[j]]]
        for k in range(start[j] + 1, start[j + 1]):
            row = code[leaves[k]]
            for y in range(n):
                near[y] = min(near[y], row[y])
        if few:
            rank[:] = 0
            for y in range(n):
                rank[near[y]] = 1
            total = 0
            for c in range(n_codes):  # from "is present" to "how many present before"
                present = rank[c]
                rank[c] = min(total, cap)
                total += present
            for y in range(n):
                out[i, y] = rank[near[y]]
        else:
            order = np.argsort(near)
            layer = 0
            for k in range(n):
                if k > 0 and near[order[k]] != near[order[k - 1]]:
                    layer = min(layer + 1, cap)
                out[i, order[k]] = layer
