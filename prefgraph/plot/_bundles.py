"""A layered graph with too many edges to draw one by one: a panel for each layer, one arrow from each to the next."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from prefgraph._content import Label
from prefgraph.plot._artists import Extent, Sheet
from prefgraph.plot._layers import Point, Sizes, split_row
from prefgraph.plot._style import CYCLE, EDGE, FAINT, INK, PANEL, QUIET

MAX_SHOWN = 200  # labels of one layer; the others are counted
MAX_HEIGHT = 760.0  # a taller pile of panels is folded into columns
PAD, GAP, ARROW, CAPTION = 10.0, 8.0, 30.0, 15.0


@dataclass
class Panel:
    """One layer: its labels, how many are left out, and its rectangle (centre and size)."""

    labels: list[Label]
    hidden: int
    rows: list[list[Label]]
    size: tuple[float, float]
    at: Point = (0.0, 0.0)

    @property
    def caption(self) -> str:
        """What stands at the top of the panel; nothing above a single label."""
        count = len(self.labels) + self.hidden
        return (
            "" if count == 1 else f"{count} labels" + (f", the first {len(self.labels)} shown" if self.hidden else "")
        )


@dataclass
class Bundles:
    """The panels of a layered graph with their places, and the ways of the arrows between them."""

    panels: list[Panel]
    position: dict[Label, Point] = field(default_factory=dict)
    ways: list[NDArray[np.float64]] = field(default_factory=list)
    extent: Extent = field(default_factory=Extent)


def place_bundles(layers: Sequence[Sequence[Label]], sizes: Sizes) -> Bundles:
    """Panels under one another, in several columns where there are many layers."""
    area = max(sum((sizes[v][0] + GAP) * (sizes[v][1] + GAP) for v in layer[:MAX_SHOWN]) for layer in layers)
    width = min(max(1.7 * math.sqrt(area), 60.0), 760.0)
    sizes = _evened(layers, sizes)
    made = Bundles([_panel(list(layer), sizes, width) for layer in layers])
    common = max(panel.size[0] for panel in made.panels)
    total = sum(panel.size[1] + ARROW for panel in made.panels)
    share = total / math.ceil(total / MAX_HEIGHT) + 1.0
    column, y, above = 0, 0.0, 0.0
    for panel in made.panels:
        if above + panel.size[1] / 2 > share * (column + 1):
            column, y = column + 1, 0.0
        panel.size = (common, panel.size[1])
        panel.at = (column * (common + 60.0), y - panel.size[1] / 2)
        y -= panel.size[1] + ARROW
        above += panel.size[1] + ARROW
        _fill(panel, sizes, made.position)
        made.extent.box(panel.at, panel.size)
    made.ways = [_between(a, b) for a, b in zip(made.panels, made.panels[1:], strict=False)]
    return made


def _evened(layers: Sequence[Sequence[Label]], sizes: Sizes) -> Sizes:
    """The same room for all labels of a layer that are about equally wide: they stand in columns then."""
    room = dict(sizes)
    for layer in layers:
        widths = [sizes[v][0] for v in layer]
        if max(widths) < 1.5 * sum(widths) / len(widths):
            room.update({v: (max(widths), sizes[v][1]) for v in layer})
    return room


def _panel(layer: list[Label], sizes: Sizes, width: float) -> Panel:
    """The panel of a layer, not placed yet."""
    labels = layer[:MAX_SHOWN]
    if len(layer) == 1:
        return Panel(labels, 0, [labels], sizes[labels[0]])
    rows = split_row(labels, sizes, width, GAP)
    inner = max(sum(sizes[v][0] + GAP for v in row) - GAP for row in rows)
    height = sum(max(sizes[v][1] for v in row) + GAP for row in rows) - GAP
    return Panel(labels, len(layer) - len(labels), rows, (max(inner + 2 * PAD, 120.0), height + 2 * PAD + CAPTION))


def _fill(panel: Panel, sizes: Sizes, position: dict[Label, Point]) -> None:
    """Give the labels of a placed panel their places, row by row, each row centred."""
    y = panel.at[1] + panel.size[1] / 2 - (PAD + CAPTION if panel.caption else 0.0)
    for row in panel.rows:
        height = max(sizes[v][1] for v in row)
        x = panel.at[0] - (sum(sizes[v][0] + GAP for v in row) - GAP) / 2
        for v in row:
            position[v] = (x + sizes[v][0] / 2, y - height / 2)
            x += sizes[v][0] + GAP
        y -= height + GAP


def _between(upper: Panel, lower: Panel) -> NDArray[np.float64]:
    """From the lower border of a panel to the upper one of the next; into the next column from the right side.

    A single label has no border in data coordinates: there the way goes to its middle, and the arrow finds the box.
    """
    out, into = (0.5 if panel.caption else 0.0 for panel in (upper, lower))
    if upper.at[0] == lower.at[0]:
        down, up = upper.at[1] - out * upper.size[1], lower.at[1] + into * lower.size[1]
        return np.array([[upper.at[0], down], [lower.at[0], up]])
    right, left = upper.at[0] + out * upper.size[0], lower.at[0] - into * lower.size[0]
    low, high = upper.at[1], lower.at[1]
    t = np.linspace(0.0, 1.0, 65)[:, None]
    start, bend, back, end = (np.array(p) for p in ((right, low), (left + 20, low), (right - 20, high), (left, high)))
    return np.asarray((1 - t) ** 3 * start + 3 * t * (1 - t) ** 2 * bend + 3 * t**2 * (1 - t) * back + t**3 * end)


def paint_bundles(sheet: Sheet, made: Bundles, sizes: Sizes, wrong: Mapping[int, int] | None) -> None:
    """Draw the panels and the arrows; ``wrong`` counts the edges to the next layer that disagree with the scores."""
    from matplotlib.patches import FancyBboxPatch

    for number, panel in enumerate(made.panels):
        (x, y), (w, h) = panel.at, panel.size
        if panel.caption:
            patch = FancyBboxPatch((x - w / 2, y - h / 2), w, h, boxstyle="round,pad=0,rounding_size=8")
            patch.set(facecolor=PANEL, edgecolor=FAINT, linewidth=0.8, zorder=1, gid=f"layer:{number}")
            sheet.ax.add_patch(patch)
            sheet.write((x, y + h / 2), panel.caption, size=0.8, color=QUIET, shift=(0.0, -PAD - 1))
    counts = [len(panel.labels) + panel.hidden for panel in made.panels]
    boxes = [(0.0, 0.0) if panel.caption else sizes[panel.labels[0]] for panel in made.panels]
    for number, way in enumerate(made.ways):
        count, bad = counts[number] * counts[number + 1], wrong[number] if wrong is not None else 0
        sheet.arrow(
            way,
            (boxes[number], boxes[number + 1]),
            name=f"bundle:{number}>{number + 1}",
            color=EDGE,
            dashed=bad == count,
            head=bad < count,
            width=1.2 + 0.5 * math.log10(count),
        )
        if max(counts) > 1 or bad:
            middle = tuple(way[[0, -1]].mean(axis=0))
            text = f"{count} edge{'s' if count > 1 else ''}" + (f", {bad} disagree" if bad else "")
            sheet.write(middle, text, size=0.8, color=CYCLE if bad else INK, shift=(9.0, 0.0), align="left")
