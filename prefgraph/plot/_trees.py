"""Drawings of label hierarchies."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from prefgraph._content import Label
from prefgraph.errors import InvalidHierarchy, InvalidOption
from prefgraph.hierarchy import LabelHierarchy
from prefgraph.plot._artists import DASHES, Extent, LegendEntry, Sheet, add_legend, fit, legend_size, new_axes
from prefgraph.plot._layers import Point
from prefgraph.plot._style import (
    BORDER,
    CYCLE,
    FILL,
    INK,
    LAYER_BEST,
    LAYER_WORST,
    QUIET,
    Writing,
    check_matplotlib,
    writing,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

UPRIGHT_LEAVES = 12  # a hierarchy with more leaves, or wider than UPRIGHT_WIDTH, grows from left to right
UPRIGHT_WIDTH = 760.0
LARGEST = (15.0, 24.0)  # inches: a long list of leaves may be scrolled
Color = str | tuple[float, float, float]


def draw_hierarchy(
    hierarchy: LabelHierarchy,
    *,
    ax: Axes | None = None,
    highlight: Iterable[Any] = (),
    correct: Iterable[Any] | None = None,
    max_layers: int | None = 3,
    descriptions: bool = False,
    horizontal: bool | None = None,
    max_leaves: int = 150,
    legend: bool = True,
    fontsize: float = 9.0,
) -> Axes:
    """Draw a label hierarchy as a tree: leaves evenly spaced, every label in the middle of those below it.

    Dummy leaves, which stand for an inner label, have a dashed border. In a DAG a label stands below the parent on its
    `path`; the links to its other parents are dashed.

    Parameters
    ----------
    hierarchy
        The hierarchy; it must have a tree, so not one of `prefgraph.LabelHierarchy.from_distances`.
    ax
        The Axes to draw on; by default new ones in a figure of the size that the hierarchy needs.
    highlight
        Labels to mark, with their way to the root.
    correct
        The labels of an instance, as in `prefgraph.LabelHierarchy.preference_graph`: the leaves are coloured by their
        layer, that is by their distance to the closest correct leaf.
    max_layers
        As in `prefgraph.LabelHierarchy.preference_graph`; only with ``correct``.
    descriptions
        Whether to write the descriptions behind the labels, where the hierarchy has them.
    horizontal
        Whether the root is on the left rather than on top; by default where there are many leaves.
    max_leaves
        Where there are more leaves, the lowest labels are folded into their parents, which then say how many leaves
        they hide. What is highlighted or correct is shown in any case.
    legend
        Whether to explain marks and colours; only what occurs is explained.
    fontsize
        The size of the labels in points. In Axes that are too small for the hierarchy they are smaller.

    Returns
    -------
    matplotlib.axes.Axes
        The Axes that were given or made.

    Raises
    ------
    InvalidHierarchy
        A hierarchy without a tree, or a highlighted label that it does not have.
    InvalidTarget
        A correct label that the hierarchy does not have.
    InvalidOption
        ``highlight`` or ``correct`` is a single str, or ``max_leaves`` is below 1.
    MissingDependency
        matplotlib is not installed.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("Agg")
    >>> import prefgraph as pg
    >>> from prefgraph.plot import draw_hierarchy
    >>> h = pg.LabelHierarchy.from_nested({"all": {"energy": ["oil", "gas"], "sport": ["golf", "chess"]}})
    >>> ax = draw_hierarchy(h, correct={"oil"})
    >>> [text.get_text() for text in ax.get_legend().get_texts()]
    ['layer 0: correct', 'layer 1: distance 2', 'layer 2: distance 4']

    References
    ----------
    [DMS03] Section 4.
    """
    check_matplotlib()
    marked = _label_list("highlight", highlight)
    picture = TreePicture(hierarchy, marked, None if correct is None else _label_list("correct", correct), max_layers)
    picture.show(_leaf_limit(max_leaves))
    picture.measure(horizontal, descriptions, fontsize)
    entries = picture.entries() if legend else []
    columns, band, least = legend_size(entries, picture.writing, fontsize, picture.extent, ax)
    if ax is None:
        width, height = picture.extent.size
        ax = new_axes((max(width, least), height), band, largest=LARGEST)[1][0, 0]
    picture.paint(Sheet(ax, fit(ax, picture.extent, band), picture.writing, fontsize))
    if entries:
        add_legend(ax, entries, columns, picture.writing.font(0.85 * fontsize))
    return ax


@dataclass
class TreePicture:
    """A hierarchy with what is shown of it, where and how."""

    hierarchy: LabelHierarchy
    highlight: list[Label]
    correct: list[Label] | None
    max_layers: int | None
    above: dict[Label, Label] = field(default_factory=dict)  # the parent under which a label stands
    below: dict[Label, list[Label]] = field(default_factory=dict)  # of shown labels those that stand under them
    hidden: dict[Label, int] = field(default_factory=dict)  # leaves folded into a label
    layer: dict[Label, int] = field(default_factory=dict)  # of leaves, with ``correct``
    layer_text: list[str] = field(default_factory=list)
    sizes: dict[Label, tuple[float, float]] = field(default_factory=dict)
    position: dict[Label, Point] = field(default_factory=dict)
    extent: Extent = field(default_factory=Extent)
    writing: Writing = field(default_factory=lambda: Writing((), {}))
    horizontal: bool = False
    fontsize: float = 9.0

    def __post_init__(self) -> None:
        h = self.hierarchy
        if not isinstance(h, LabelHierarchy):
            raise InvalidHierarchy(f"{h!r} is not a LabelHierarchy; prefgraph.LabelHierarchy.from_nested() makes one")
        self.above = {v: path[-2] for v in h for path in [h.path(v)] if len(path) > 1}
        self.on_way = {v for label in self.highlight for v in h.path(label)}
        if self.correct is not None:
            self._find_layers(self.correct)

    def _find_layers(self, correct: list[Label]) -> None:
        """The layer of each leaf, and the distances that each layer stands for."""
        h = self.hierarchy
        layers = h.layers_of(correct, self.max_layers)
        places = [h.leaves.index(v) for v in h.correct_leaves(correct)]
        if not places:  # nothing is correct, so nothing is far from it
            return
        self.layer = {v: number for number, layer in enumerate(layers) for v in layer}
        near = dict(zip(h.leaves, h.distances()[:, places].min(axis=1), strict=True))
        for number, layer in enumerate(layers):
            low, high = min(near[v] for v in layer), max(near[v] for v in layer)
            text = "correct" if high == 0 else f"distance {low:g}" + (f" to {high:g}" if high > low else "")
            self.layer_text.append(f"layer {number}: {text}")

    def show(self, max_leaves: int) -> None:
        """Choose the labels that are shown: from the root downwards, until there are too many leaves."""
        h = self.hierarchy
        children: dict[Label, list[Label]] = {v: [] for v in h}
        for v in h:
            if v in self.above:
                children[self.above[v]].append(v)
        wanted = {a for v in [*self.highlight, *(self.correct_leaves())] for a in h.path(v)[:-1]}
        count, queue = 1, deque([h.root])
        while queue:
            v = queue.popleft()
            grown = count + len(children[v]) - 1
            if children[v] and (grown <= max_leaves or v in wanted):
                self.below[v], count = children[v], grown
                queue.extend(children[v])
            else:
                self.below[v] = []
                self.hidden[v] = _leaves_under(children, v) if children[v] else 0

    def correct_leaves(self) -> tuple[Label, ...]:
        """The leaves that are correct; none without ``correct``."""
        return () if self.correct is None else self.hierarchy.correct_leaves(self.correct)

    # -- places -----------------------------------------------------------------------------------------------------

    def measure(self, horizontal: bool | None, descriptions: bool, fontsize: float) -> None:
        """Write the labels, then place them, upright where they are few and nothing else was asked for."""
        leaves = sum(not below for below in self.below.values())
        notes = {v: f" (+{count})" for v, count in self.hidden.items() if count}
        if descriptions:
            told = self.hierarchy.descriptions
            notes = {v: (f"  {told[v]}" if v in told else "") + notes.get(v, "") for v in self.below}
        self.fontsize = fontsize
        for upright in [True, False] if horizontal is None else [not horizontal]:
            columns = 12 if upright else 48
            self.horizontal = not upright
            self.writing = writing(self.below, columns=columns, lines=3 if upright else 1, notes=notes)
            self.sizes = {v: self._size(self.writing.text[v]) for v in self.below}
            self._place()
            if leaves <= UPRIGHT_LEAVES and self.extent.size[0] <= UPRIGHT_WIDTH:
                break

    def _size(self, text: str) -> tuple[float, float]:
        height = (1.15 * (text.count("\n") + 1) + (0.2 if self.horizontal else 0.7)) * self.fontsize
        return self.writing.width(text, self.fontsize) + 1.0 * self.fontsize, height

    def _place(self) -> None:
        """Each label gets a slot as wide as what is below it; its depth decides on the row, or column."""
        across = 1 if self.horizontal else 0
        gap = (0.22 if self.horizontal else 1.1) * self.fontsize
        slot: dict[Label, float] = {}
        order = list(self.below)  # parents before children
        for v in reversed(order):
            family = sum(slot[child] for child in self.below[v])
            slot[v] = max(self.sizes[v][across] + gap, family + (gap if family else 0.0))
        depth = {order[0]: 0}
        start = {order[0]: 0.0}
        for v in order:
            free = start[v] + (slot[v] - sum(slot[child] for child in self.below[v])) / 2
            for child in self.below[v]:
                depth[child], start[child] = depth[v] + 1, free
                free += slot[child]
        edges = self._depth_edges(depth)
        self.position, self.extent = {}, Extent()
        for v in order:
            w, h = self.sizes[v]
            middle = start[v] + slot[v] / 2
            at = (edges[depth[v]] + w / 2, -middle) if self.horizontal else (middle, -edges[depth[v]] - h / 2)
            self.position[v] = at
            self.extent.box(at, (w, h))

    def _depth_edges(self, depth: Mapping[Label, int]) -> list[float]:
        """Where the columns (rows) of each depth begin: the widest box of the one before, and room for the links."""
        along = 0 if self.horizontal else 1
        gap = 3.2 * self.fontsize
        widest = [0.0] * (max(depth.values()) + 1)
        for v, d in depth.items():
            widest[d] = max(widest[d], self.sizes[v][along])
        return [float(edge) for edge in np.concatenate([[0.0], np.cumsum(np.array(widest) + gap)])[:-1]]

    # -- drawing ----------------------------------------------------------------------------------------------------

    def entries(self) -> list[LegendEntry]:
        """What the legend has to explain."""
        entries = [LegendEntry(text, self._layer_color(k), box=True) for k, text in enumerate(self.layer_text)]
        if self.highlight:
            entries.append(LegendEntry("highlighted", CYCLE))
        if any(v in self.below for v in self.hierarchy.dummies.values()):
            entries.append(LegendEntry("dummy leaf: stands for the label above it", "white", True, box=True))
        if any(self._further(v) for v in self.below):
            entries.append(LegendEntry("further parent", QUIET, dashed=True, width=1.0))
        if any(self.hidden.values()):
            entries.append(LegendEntry("(+n): n leaves not shown", "none", width=0.0))
        return entries

    def paint(self, sheet: Sheet) -> None:
        """Draw links, boxes and texts."""
        dummies = set(self.hierarchy.dummies.values())
        for v in self.below:
            if v in self.above:
                self._link(sheet, self.above[v], v)
            for parent in self._further(v):
                self._link(sheet, parent, v, further=True)
        for v, at in self.position.items():
            fill, ink = self._colors(v)
            marked = v in self.highlight
            sheet.box(
                at,
                self.sizes[v],
                name=f"label:{v!r}",
                fill=fill,
                border=CYCLE if marked else QUIET if v in dummies else BORDER,
                dashed=v in dummies,
                width=1.9 if marked else 0.8,
            )
            sheet.write(at, self.writing.text[v], color=ink)

    def _colors(self, label: Label) -> tuple[Color, Color]:
        """Of the box and of the text in it."""
        if label in self.layer:
            fill = self._layer_color(self.layer[label])
            return fill, "white" if sum(fill) < 1.6 else "#111111"
        return (FILL if self.below[label] or self.hidden[label] else "white"), INK

    def _layer_color(self, layer: int) -> tuple[float, float, float]:
        share = layer / max(1, len(self.layer_text) - 1)
        r, g, b = (best + (worst - best) * share for best, worst in zip(LAYER_BEST, LAYER_WORST, strict=True))
        return r, g, b

    def _further(self, label: Label) -> list[Label]:
        """Shown parents other than the one under which a label stands."""
        parents = self.hierarchy.parents(label)
        return [v for v in parents if v != self.above.get(label) and v in self.below]

    def _link(self, sheet: Sheet, parent: Label, child: Label, *, further: bool = False) -> None:
        """A curve from a label to one below it; its ends lie under the boxes."""
        from matplotlib.patches import PathPatch
        from matplotlib.path import Path

        a, b = np.array(self.position[parent]), np.array(self.position[child])
        reach = np.array([1.0, 0.0]) if self.horizontal else np.array([0.0, -1.0])
        side = 0 if self.horizontal else 1
        out, into = a + reach * self.sizes[parent][side] / 2, b - reach * self.sizes[child][side] / 2
        bend = reach * max(abs(float(((into - out) * reach).sum())) * 0.5, 6.0)
        points = [a, out, out + bend, into - bend, into, b]
        codes = [Path.MOVETO, Path.LINETO, Path.CURVE4, Path.CURVE4, Path.CURVE4, Path.LINETO]
        hot = not further and child in self.on_way
        patch = PathPatch(
            Path(np.array(points), codes),
            facecolor="none",
            edgecolor=CYCLE if hot else QUIET,
            linewidth=(1.6 if hot else 0.8) * max(sheet.scale, 0.5),
            linestyle=DASHES if further else "solid",
            zorder=2.2 if hot else 2,
            gid=f"link:{parent!r}>{child!r}",
        )
        sheet.ax.add_patch(patch)


def _leaves_under(children: Mapping[Label, list[Label]], label: Label) -> int:
    """The number of leaves below a label, along the drawn tree."""
    count, stack = 0, [label]
    while stack:
        v = stack.pop()
        count += not children[v]
        stack.extend(children[v])
    return count


def _label_list(name: str, labels: Iterable[Any]) -> list[Label]:
    """The labels of an argument; a single str is a slip."""
    if isinstance(labels, str):
        raise InvalidOption(f"{name}={labels!r} is one label; give a collection of labels, such as [{labels!r}]")
    return list(labels)


def _leaf_limit(max_leaves: int) -> int:
    if isinstance(max_leaves, bool) or not isinstance(max_leaves, int | np.integer) or max_leaves < 1:
        raise InvalidOption(f"max_leaves={max_leaves!r}; it is an int of 1 or more")
    return int(max_leaves)
