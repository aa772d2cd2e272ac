"""How the edges of a graph run: straight where nothing is in the way, else curved round the labels in between.

Plain geometry in points, as in `_layers`; a route is an array of points from centre to centre.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from prefgraph._content import Edge, Label
from prefgraph.plot._layers import Layout, Ring, Sizes

Route = NDArray[np.float64]

STEPS = np.linspace(0.0, 1.0, 33)
MARGIN = 5.0  # what a curve leaves free beside a box
ROUTED = 400  # with more edges than this every edge outside the rings is a straight line: nobody could follow it anyway


class Router:
    """Routes between the boxes of a layout. Curves go left and right in turn where both are as good."""

    def __init__(self, layout: Layout, sizes: Sizes, edges: int = 0) -> None:
        self.number = {v: k for k, v in enumerate(layout.position)}
        self.centre = np.array([*layout.position.values()], float).reshape(-1, 2)
        self.half = np.array([sizes[v] for v in layout.position], float).reshape(-1, 2) / 2
        self.ring_of: dict[Label, Ring] = {v: ring for ring in layout.rings for v in ring.angle}
        self.straight_only = edges > ROUTED
        self.lean = 0  # curves to the right minus curves to the left, so far
        self.curves: list[Route] = []

    def routes(self, edges: Iterable[Edge]) -> dict[Edge, Route]:
        """The ways of all edges. Short ones go first, so that long curves bend round them."""
        edges = list(edges)
        height = {
            edge: abs(self.centre[self.number[edge[0]], 1] - self.centre[self.number[edge[1]], 1]) for edge in edges
        }
        ways = {edge: self.route(edge) for edge in sorted(edges, key=lambda edge: round(height[edge], 3))}
        return {edge: ways[edge] for edge in edges}

    def route(self, edge: Edge) -> Route:
        """The way of one edge."""
        init, term = edge
        ring = self.ring_of.get(init)
        if ring is not None and term in ring.angle:
            return _on_ring(ring, init, term)
        a, b = self.centre[self.number[init]], self.centre[self.number[term]]
        straight = np.asarray(a + STEPS[:, None] * (b - a))
        if self.straight_only:
            return np.stack([a, b])
        obstacles = self._between(edge)
        alone = float(np.ptp(self.centre[obstacles, 0])) < 1.0 if len(obstacles) else True  # beside a column is room
        margin = MARGIN + min(0.025 * float(np.hypot(*(b - a))), 14.0 if alone else 3.0)
        if not self._hits(straight[None], obstacles, MARGIN)[0]:
            return np.stack([a, b])
        arcs, bulge = self._arcs(straight, obstacles, margin)
        detour = self._through_gaps(a, b, obstacles, margin)
        cost = [(self._hits(way[None], obstacles, 1.5)[0], _aside(way, straight)) for way in (arcs, detour)]
        long = 40.0 + 0.3 * abs(float(b[1] - a[1]))  # an arc this wide is easier to follow than bends
        way = detour if cost[1][0] < cost[0][0] or (cost[1][0] == cost[0][0] and cost[0][1] > long) else arcs
        self.lean += int(np.sign(bulge)) if way is arcs else 0
        self.curves.append(way)
        return way

    def _between(self, edge: Edge) -> NDArray[np.int64]:
        """The boxes that an edge may run into."""
        ends = [self.number[v] for v in edge]
        low, high = sorted(self.centre[ends, 1])
        near = (self.centre[:, 1] + self.half[:, 1] > low) & (self.centre[:, 1] - self.half[:, 1] < high)
        near[ends] = False
        return np.flatnonzero(near)

    def _hits(self, ways: NDArray[np.float64], obstacles: NDArray[np.int64], margin: float) -> NDArray[np.int64]:
        """For each way the number of boxes that it touches."""
        if not len(obstacles):
            return np.zeros(len(ways), np.int64)
        away = np.abs(ways[:, :, None, :] - self.centre[obstacles]) < self.half[obstacles] + margin
        return np.asarray(away.all(axis=3).any(axis=1).sum(axis=1), np.int64)

    def _arcs(self, straight: Route, obstacles: NDArray[np.int64], margin: float) -> tuple[Route, float]:
        """The flattest arc that touches nothing, or as little as possible, and how far it leans to the right."""
        reach = float(np.ptp(self.centre[:, 0])) / 2 + 2 * float(self.half[:, 0].max()) + 30.0
        size = np.arange(1, 61) * max(5.0, reach / 40)
        flat = size[size < 80.0]  # up and down, for edges that run almost level
        bulge = np.concatenate([-size, size, 0 * flat, 0 * flat])
        lift = np.concatenate([0 * size, 0 * size, -flat, flat])
        ways = straight + (4 * STEPS * (1 - STEPS))[:, None] * np.stack([bulge, lift], 1)[:, None, :]
        hits = self._hits(ways, obstacles, margin)
        crowd = self._crowd(straight[len(STEPS) // 2], bulge)
        cost = 200.0 * hits + np.abs(bulge) + np.abs(lift) + 6.0 * crowd + 0.1 * (np.sign(bulge) * self.lean > 0)
        best = int(np.argmin(cost))
        return ways[best], float(bulge[best])

    def _crowd(self, middle: NDArray[np.float64], bulge: NDArray[np.float64]) -> NDArray[np.float64]:
        """For each bulge the number of earlier curves that the arc would run along at half height."""
        across = [
            np.interp(middle[1], way[::-1, 1], way[::-1, 0])
            for way in self.curves
            if way[-1, 1] < middle[1] < way[0, 1]
        ]
        return np.asarray((np.abs(middle[0] + bulge[:, None] - np.array(across)[None, :]) < 4.0).sum(axis=1), float)

    def _through_gaps(
        self, a: NDArray[np.float64], b: NDArray[np.float64], obstacles: NDArray[np.int64], margin: float
    ) -> Route:
        """A smooth way that crosses each row in between at the gap nearest to the straight line."""
        points = [a]
        heights = self.centre[obstacles, 1]
        inner = (heights < max(a[1], b[1]) - 1.0) & (heights > min(a[1], b[1]) + 1.0)
        for y in sorted(set(np.round(heights[inner], 3)), reverse=bool(a[1] > b[1])):
            row = obstacles[np.abs(heights - y) < 1.0]
            wanted = a[0] + (y - a[1]) / (b[1] - a[1]) * (b[0] - a[0])
            points.append(np.array([_free_place(wanted, self.centre[row, 0], self.half[row, 0] + margin), y]))
        return smooth(np.array([*points, b]))


def _aside(way: Route, straight: Route) -> float:
    """How far a way strays from the straight line, sideways."""
    return float(np.abs(way[:, 0] - np.interp(np.linspace(0, 1, len(way)), STEPS, straight[:, 0])).max())


def _free_place(wanted: float, centre: NDArray[np.float64], half: NDArray[np.float64]) -> float:
    """The x nearest to ``wanted`` outside all of the intervals."""
    places = np.concatenate([[wanted], centre - half, centre + half])
    free = ~(np.abs(places[:, None] - centre) < half - 1e-9).any(axis=1)
    if not free.any():
        return wanted
    return float(places[free][np.argmin(np.abs(places[free] - wanted))])


def smooth(points: NDArray[np.float64]) -> Route:
    """A Catmull-Rom spline through the points."""
    ends = np.concatenate([[2 * points[0] - points[1]], points, [2 * points[-1] - points[-2]]])
    t = np.linspace(0.0, 1.0, 13)[:, None]
    pieces = [
        (2 * q + (r - p) * t + (2 * p - 5 * q + 4 * r - s) * t**2 + (3 * q - p - 3 * r + s) * t**3) / 2
        for p, q, r, s in zip(ends, ends[1:], ends[2:], ends[3:], strict=False)
    ]
    return np.concatenate([pieces[0], *(piece[1:] for piece in pieces[1:])])


def _on_ring(ring: Ring, init: Label, term: Label) -> Route:
    """Along the ellipse between neighbours, else a chord that is drawn in towards the middle."""
    start, stop = ring.angle[init], ring.angle[term]
    turn = (stop - start + np.pi) % (2 * np.pi) - np.pi  # the shorter way round
    if abs(turn) < 2 * np.pi / len(ring.angle) * 1.01:
        return np.array([ring.at(start + step * turn) for step in STEPS])
    a, b, centre = (np.array(point) for point in (ring.at(start), ring.at(stop), ring.centre))
    control = centre + 0.45 * ((a + b) / 2 - centre)
    t = STEPS[:, None]
    return np.asarray((1 - t) ** 2 * a + 2 * t * (1 - t) * control + t**2 * b)
