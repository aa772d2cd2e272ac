"""Where the labels of a graph stand: in rows by layer, cycles as rings, separate pieces side by side.

Plain geometry in points (1/72 inch), y upwards; nothing here knows matplotlib.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import networkx as nx
import numpy as np
from numpy.typing import NDArray

from prefgraph._content import Label
from prefgraph.graph import PreferenceGraph

Point = tuple[float, float]
Sizes = Mapping[Label, tuple[float, float]]
FloatArray = NDArray[np.float64]

GAP = 26.0  # between neighbours in a row
MAX_ROW = 900.0  # a wider layer is broken into several rows
CYCLE_STEPS = 5000  # how long to look for one cycle through all labels of a strong component
SWEEPS = 8  # passes over the layers, down and up in turn


@dataclass(frozen=True)
class Ring:
    """An ellipse with the labels of a strong component on it, clockwise, each at its angle."""

    centre: Point
    radius: Point
    angle: Mapping[Label, float]

    def at(self, angle: float) -> Point:
        """The point of the ellipse at an angle."""
        return (
            self.centre[0] + self.radius[0] * math.cos(angle),
            self.centre[1] + self.radius[1] * math.sin(angle),
        )

    def moved(self, dx: float, dy: float) -> Ring:
        """The same ring elsewhere."""
        return replace(self, centre=(self.centre[0] + dx, self.centre[1] + dy))


@dataclass
class Layout:
    """Centres of the labels; rings for the strong components; the isolated labels and where their caption goes."""

    position: dict[Label, Point] = field(default_factory=dict)
    rings: list[Ring] = field(default_factory=list)
    isolated: list[Label] = field(default_factory=list)
    caption: Point | None = None
    width: float = 0.0
    height: float = 0.0

    def add(self, other: Layout, dx: float, dy: float) -> None:
        """Put another layout into this one."""
        self.position.update({v: (x + dx, y + dy) for v, (x, y) in other.position.items()})
        self.rings += [ring.moved(dx, dy) for ring in other.rings]


def place(graph: PreferenceGraph, sizes: Sizes) -> Layout:
    """The layout of a graph whose labels need boxes of the given widths and heights.

    Rows are the layers of the condensation, by the longest way from the top; in a layered graph these are its layers.
    """
    order = {v: k for k, v in enumerate(graph)}
    isolated = [v for v in graph if not graph.degree(v)]
    pieces = [sorted(piece, key=order.__getitem__) for piece in nx.weakly_connected_components(graph) if len(piece) > 1]
    rings = [sorted(ring, key=order.__getitem__) for ring in graph.strong_components()]
    islands = [_island(graph, piece, rings, sizes) for piece in sorted(pieces, key=lambda piece: order[piece[0]])]
    whole = _shelves(islands, 1.7 * GAP)
    if isolated:
        _add_isolated(whole, isolated, sizes)
    return whole


def _shelves(parts: Sequence[Layout], gap: float) -> Layout:
    """Layouts side by side, in a new row where the width is used up; each row centred."""
    rows: list[list[Layout]] = []
    used = math.inf
    for part in parts:
        if used + gap + part.width > MAX_ROW:
            rows.append([])
            used = -gap
        rows[-1].append(part)
        used += gap + part.width
    whole = Layout()
    for row in rows:
        width = sum(part.width for part in row) + gap * (len(row) - 1)
        x = -width / 2
        for part in row:
            whole.add(part, x + part.width / 2, -whole.height)
            x += part.width + gap
        whole.width = max(whole.width, width)
        whole.height += max(part.height for part in row) + gap
    whole.height = max(0.0, whole.height - gap)
    return whole


def _add_isolated(whole: Layout, isolated: list[Label], sizes: Sizes) -> None:
    """Labels without an edge, apart from the others: rows at the bottom, under a caption."""
    top = -whole.height - (1.3 * GAP if whole.height else 0.0)
    whole.caption = (0.0, top)
    y = top - 0.7 * GAP
    for row in split_row(isolated, sizes, max(whole.width, 300.0), GAP / 2):
        height = max(sizes[v][1] for v in row)
        for v, x in zip(row, _spread(row, sizes, GAP / 2), strict=True):
            whole.position[v] = (x, y - height / 2)
        whole.width = max(whole.width, sum(sizes[v][0] + GAP / 2 for v in row) - GAP / 2)
        y -= height + GAP / 2
    whole.isolated = isolated
    whole.height = GAP / 2 - y


def split_row(labels: Sequence[Label], sizes: Sizes, width: float, gap: float) -> list[list[Label]]:
    """Labels in reading order, broken into rows of about equal width, none much wider than ``width``."""
    total = sum(sizes[v][0] + gap for v in labels)
    share = total / max(1, math.ceil(total / (width + gap)))
    rows: list[list[Label]] = [[]]
    used = 0.0
    for v in labels:
        if rows[-1] and used + sizes[v][0] / 2 > share * len(rows):
            rows.append([])
        rows[-1].append(v)
        used += sizes[v][0] + gap
    return rows


def _spread(row: Sequence[Label], sizes: Sizes, gap: float) -> list[float]:
    """Centres of the boxes of a row, evenly apart and centred on 0."""
    widths = np.array([sizes[v][0] for v in row])
    ends = np.cumsum(widths + gap)
    return list(ends - widths / 2 - gap - (ends[-1] - gap) / 2)


def slack(position: Mapping[Label, Point], sizes: Sizes) -> float:
    """By how much the boxes could grow where they stand, at most 1.35: what text may lose less than the picture.

    They grow by 5 points to each side at most, which is what curves leave free.
    """
    n = len(position)
    if not 2 <= n <= 400:
        return 1.0
    centre, size = np.array([*position.values()]), np.array([sizes[v] for v in position])
    apart = np.abs(centre[:, None] - centre) / ((size[:, None] + size) / 2)
    room = apart.max(axis=2)[~np.eye(n, dtype=bool)].min()
    return float(np.clip(min(room / 1.12, 1.0 + 10.0 / size.max()), 1.0, 1.35))


# -- one connected piece --------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Block:
    """What takes one place in a row: a label, or a ring of labels; offsets from its centre."""

    offset: Mapping[Label, Point]
    width: float
    height: float
    ring: Ring | None = None


def _island(graph: PreferenceGraph, piece: list[Label], rings: list[list[Label]], sizes: Sizes) -> Layout:
    """The layout of a connected piece, its top at 0 and its middle at x = 0."""
    members = set(piece)
    blocks: list[_Block] = []
    block_of: dict[Label, int] = {}
    on_ring = {v: ring for ring in rings for v in ring}
    for v in piece:
        if v not in block_of:
            group = on_ring.get(v, [v])
            block_of.update(dict.fromkeys(group, len(blocks)))
            blocks.append(_ring_block(graph, group, sizes) if len(group) > 1 else _Block({v: (0.0, 0.0)}, *sizes[v]))
    condensed: nx.DiGraph[int] = nx.DiGraph()
    condensed.add_nodes_from(range(len(blocks)))
    condensed.add_edges_from((block_of[u], block_of[v]) for u, v in graph.edges(members) if block_of[u] != block_of[v])
    layers = [sorted(layer) for layer in nx.topological_generations(condensed)]
    width = np.array([block.width for block in blocks])
    rows, x = _ordered_rows(layers, condensed, width)
    return _stacked(rows, x, blocks, row_gap(graph, len(piece), x))


def row_gap(graph: PreferenceGraph, labels: int, x: FloatArray) -> float:
    """The height between two rows: more where the picture is wide, so that edges do not lie flat."""
    spread = float(np.ptp(x)) if len(x) else 0.0
    dense = graph.number_of_edges() / max(1, labels)
    return min(30.0 + 0.16 * spread + 3.0 * dense, 150.0)


def _stacked(rows: list[list[int]], x: FloatArray, blocks: list[_Block], gap: float) -> Layout:
    """Rows under one another, the first at the top."""
    layout = Layout()
    left = min(x[b] - blocks[b].width / 2 for row in rows for b in row)
    right = max(x[b] + blocks[b].width / 2 for row in rows for b in row)
    middle, y = (left + right) / 2, 0.0
    for row in rows:
        height = max(blocks[b].height for b in row)
        for b in row:
            centre = (float(x[b] - middle), y - height / 2)
            layout.position.update({v: (centre[0] + dx, centre[1] + dy) for v, (dx, dy) in blocks[b].offset.items()})
            if (ring := blocks[b].ring) is not None:
                layout.rings.append(ring.moved(*centre))
        y -= height + gap
    layout.width, layout.height = float(right - left), -y - gap
    return layout


def _ordered_rows(
    layers: list[list[int]],
    condensed: nx.DiGraph[int],
    width: FloatArray,
) -> tuple[list[list[int]], FloatArray]:
    """Order in each layer and x of each block, by barycentres: few crossings, neighbours under one another."""
    x = np.zeros(len(width))
    layers = [list(layer) for layer in layers]
    for layer in layers:
        x[layer] = _apart(np.zeros(len(layer)), width[layer])
    for sweep in range(SWEEPS):
        down = sweep % 2 == 0
        for k in range(len(layers)) if down else range(len(layers) - 1, -1, -1):
            layer = layers[k]
            near = [list(condensed.pred[b] if down else condensed.succ[b]) for b in layer]
            wanted = np.array([x[n].mean() if n else x[b] for b, n in zip(layer, near, strict=True)])
            rank = sorted(range(len(layer)), key=lambda j: (round(float(wanted[j]), 6), float(x[layer[j]]), layer[j]))
            layers[k] = [layer[j] for j in rank]
            x[layers[k]] = _apart(wanted[rank], width[layers[k]])
    if all(width[layer].sum() + GAP * (len(layer) - 1) <= MAX_ROW for layer in layers):
        return layers, x
    rows = [layer[k::parts] for layer in layers for parts in [_rows_for(width[layer])] for k in range(parts)]
    for row in rows:
        x[row] = _apart(np.zeros(len(row)), width[row])
    return rows, x


def _rows_for(width: FloatArray) -> int:
    """How many rows a layer needs."""
    return min(len(width), math.ceil((float(width.sum()) + GAP * len(width)) / (MAX_ROW + GAP)))


def _apart(wanted: FloatArray, width: FloatArray) -> FloatArray:
    """Least squares: the x nearest to ``wanted`` in this order with room for the boxes (pool adjacent violators)."""
    offset = np.concatenate([[0.0], np.cumsum((width[:-1] + width[1:]) / 2 + GAP)])
    pools: list[tuple[float, int]] = []
    for value in wanted - offset:
        mean, count = float(value), 1
        while pools and pools[-1][0] >= mean:
            before, many = pools.pop()
            mean, count = (before * many + mean * count) / (many + count), many + count
        pools.append((mean, count))
    return np.asarray(np.concatenate([np.full(count, mean) for mean, count in pools]) + offset)


# -- a strong component ---------------------------------------------------------------------------------------------


def _ring_block(graph: PreferenceGraph, group: list[Label], sizes: Sizes) -> _Block:
    """A strong component on an ellipse, in the order of a long cycle; what beats it near its top, its prey below."""
    order = ring_order(graph, group)
    n, inside = len(order), set(group)
    width, height = (max(sizes[v][k] for v in group) for k in (0, 1))
    radius = tuple(0.62 * (side + GAP) / math.sin(math.pi / n) for side in (width, height))
    pull = [
        sum(u not in inside for u in graph.predecessors(v)) - sum(u not in inside for u in graph.successors(v))
        for v in order
    ]
    angles = [math.pi / 2 - 2 * math.pi * k / n for k in range(n)]

    def badness(turn: int) -> tuple[float, int]:
        return -round(sum(p * math.sin(angles[(k + turn) % n]) for k, p in enumerate(pull)), 9), turn

    turn = min(map(badness, range(n)))[1]
    ring = Ring((0.0, 0.0), (radius[0], radius[1]), {v: angles[(k + turn) % n] for k, v in enumerate(order)})
    offset = {v: ring.at(angle) for v, angle in ring.angle.items()}
    return _Block(offset, 2 * radius[0] + width, 2 * radius[1] + height, ring)


def ring_order(graph: PreferenceGraph, group: Sequence[Label]) -> list[Label]:
    """The labels of a strong component along a long cycle: through all of them where one is found quickly.

    A depth-first search of at most `CYCLE_STEPS` steps; labels off the longest cycle found go behind one that beats
    them.
    """
    inside = set(group)
    order = _long_cycle({v: [w for w in graph.successors(v) if w in inside] for v in group}, group[0])
    missing = [v for v in group if v not in set(order)]
    for v in missing:
        before = next((k for k, u in enumerate(order) if graph.has_edge(u, v)), len(order) - 1)
        order.insert(before + 1, v)
    return order


def _long_cycle(below: Mapping[Label, Sequence[Label]], start: Label) -> list[Label]:
    """The longest cycle through ``start`` that a bounded search meets."""
    path, on_path, best = [start], {start}, [start]
    ways: list[Iterable[Label]] = [iter(below[start])]
    for _ in range(CYCLE_STEPS):
        if len(best) == len(below) or not ways:
            break
        label = next(iter(ways[-1]), None)
        if label is None:
            ways.pop()
            on_path.discard(path.pop())
        elif label == start:
            best = list(path) if len(path) > len(best) else best
        elif label not in on_path:
            path.append(label)
            on_path.add(label)
            ways.append(iter(below[label]))
    return best
