"""What a picture is made of: a frame that fits the Axes, boxes with text, arrows that end at the boxes, a legend.

Places are in data coordinates, which are points at natural size; boxes and text are in points whatever the Axes do
later, and arrows find the boxes' borders each time they are drawn. So a picture survives zooming and resizing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from numpy.typing import NDArray

from prefgraph.plot._style import BORDER, EDGE, FILL, INK, QUIET, Writing

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.path import Path

DASHES = (0, (3.5, 2.5))
STRETCH = 1.5  # a picture grows by this at most where the Axes are larger than it needs
UNEVEN = 1.8  # width and height are stretched alike up to this ratio
LARGEST = (15.0, 11.0)  # inches: the figure that is made where no Axes are given
SMALLEST = (1.6, 1.2)
PAD = 10.0  # points left free on all sides


@dataclass(frozen=True)
class LegendEntry:
    """A line or a patch with its meaning."""

    text: str
    color: str | tuple[float, float, float]
    dashed: bool = False
    box: bool = False
    width: float = 1.4


@dataclass
class Extent:
    """The rectangle that a picture needs, in points."""

    left: float = float("inf")
    right: float = float("-inf")
    low: float = float("inf")
    high: float = float("-inf")
    slack: float = 1.0  # by how much text may be larger than the picture's scale says

    def box(self, at: tuple[float, float], size: tuple[float, float]) -> None:
        """Grow so that a box is inside."""
        half = np.array(size) / 2
        self.cover(np.array([at - half, at + half]))

    def cover(self, points: NDArray[np.float64]) -> None:
        """Grow so that all of the points are inside."""
        if len(points):
            (left, low), (right, high) = points.min(axis=0), points.max(axis=0)
            self.left, self.right = min(self.left, float(left)), max(self.right, float(right))
            self.low, self.high = min(self.low, float(low)), max(self.high, float(high))

    @property
    def size(self) -> tuple[float, float]:
        """Width and height with the margin; of an empty picture a little square."""
        if self.left > self.right:
            return 4 * PAD, 4 * PAD
        return self.right - self.left + 2 * PAD, self.high - self.low + 2 * PAD

    @property
    def centre(self) -> tuple[float, float]:
        """The middle."""
        return ((self.left + self.right) / 2, (self.low + self.high) / 2) if self.left <= self.right else (0.0, 0.0)


@dataclass
class Sheet:
    """Axes made ready: the limits fit, and ``scale`` says how much smaller than natural the text has to be."""

    ax: Axes
    scale: float
    writing: Writing
    base: float  # font size at natural size
    _points: Any = field(init=False, repr=False)

    def __post_init__(self) -> None:
        from matplotlib.transforms import Affine2D

        self._points = Affine2D().scale(1 / 72) + self.ax.figure.dpi_scale_trans

    def box(
        self,
        at: tuple[float, float],
        size: tuple[float, float],
        *,
        name: str,
        fill: Any = FILL,
        border: str = BORDER,
        dashed: bool = False,
        width: float = 1.0,
    ) -> None:
        """A rounded box around a place, of a size in points at natural size."""
        from matplotlib.patches import PathPatch
        from matplotlib.transforms import ScaledTranslation

        w, h = size[0] * self.scale, size[1] * self.scale
        patch = PathPatch(_rounded(w / 2, h / 2, corner(w, h, self.base * self.scale)))
        patch.set(facecolor=fill, edgecolor=border, linewidth=width * max(self.scale, 0.5), zorder=3, gid=name)
        if dashed:
            patch.set_linestyle((0, (2.5, 1.5)))
        self.ax.add_artist(patch)  # not add_patch: the limits are known, and asking each patch for its own is slow
        patch.set_transform(self._points + ScaledTranslation(*at, cast(Any, self.ax.transData)))

    def write(
        self,
        at: tuple[float, float],
        text: str,
        *,
        size: float = 1.0,
        color: Any = INK,
        shift: tuple[float, float] = (0.0, 0.0),
        align: str = "center",
        style: str = "normal",
    ) -> None:
        """A text at a place, shifted by points; ``size`` is relative to the labels."""
        from matplotlib.transforms import ScaledTranslation

        # One line is placed by its baseline, half a capital below the middle: gas and coal stand alike in their boxes.
        drop = 0.0 if "\n" in text else 0.35 * size * self.base
        dx, dy = shift[0] * self.scale / 72, (shift[1] - drop) * self.scale / 72
        self.ax.text(
            *at,
            text,
            transform=self.ax.transData + ScaledTranslation(dx, dy, self.ax.figure.dpi_scale_trans),
            fontproperties=self.writing.font(size * self.base * self.scale, style),
            color=color,
            ha=cast(Any, align),
            va="center" if "\n" in text else "baseline",
            linespacing=1.1,
            parse_math=False,
            usetex=False,
            clip_on=True,
            zorder=4,
        )

    def arrow(
        self,
        way: NDArray[np.float64],
        ends: tuple[tuple[float, float], tuple[float, float]],
        *,
        name: str,
        color: str = EDGE,
        dashed: bool = False,
        head: bool = True,
        width: float = 1.1,
        zorder: float = 2,
    ) -> None:
        """An arrow along a way between two boxes of the given sizes; dashed or not, with a head or without."""
        from matplotlib.patches import FancyArrowPatch

        width *= max(self.scale, 0.4)
        boxes = [(w * self.scale, h * self.scale, self.base * self.scale) for w, h in ends]
        patch = FancyArrowPatch(
            tuple(way[0]),
            tuple(way[-1]),
            connectionstyle=cast(Any, Connector(self.ax, way, boxes[0], boxes[1])),
            arrowstyle="-|>,head_length=0.55,head_width=0.22" if head else "-",
            mutation_scale=9.0 * max(self.scale, 0.35) + 1.5 * width,
            shrinkA=0,
            shrinkB=0,
            linewidth=width,
            color=color,
            linestyle=DASHES if dashed else "solid",
            capstyle="butt",
            joinstyle="miter",
            zorder=zorder,
        )
        patch.set_gid(name)
        self.ax.add_artist(patch)  # not add_patch: the limits are known, and asking each patch for its own is slow


def corner(width: float, height: float, font: float) -> float:
    """The radius of a box's corners for a font of this size: a short label gets a circle, a long one a box."""
    return min(min(width, height) * (0.5 if width < 1.6 * height else 0.3), font)


def _rounded(x: float, y: float, radius: float) -> Path:
    """A rectangle around the origin whose corners are quarters of a circle, so that `_leaves` knows where it ends."""
    from matplotlib.path import Path

    pull = radius * 0.4477  # 1 - 4/3 (sqrt 2 - 1): a cubic Bezier curve so bent is a circle to the eye
    points: list[tuple[float, float]] = []
    for sx, sy, first in ((1, 1, 1), (-1, 1, 0), (-1, -1, 1), (1, -1, 0)):  # counter-clockwise from the upper right
        quarter = [(x, y - radius), (x, y - pull), (x - pull, y), (x - radius, y)]
        points += [(sx * a, sy * b) for a, b in (quarter if first else quarter[::-1])]
    codes = [Path.LINETO, Path.CURVE4, Path.CURVE4, Path.CURVE4] * 4
    return Path(np.array([*points, points[0]]), [Path.MOVETO, *codes[1:], Path.CLOSEPOLY])


class Connector:
    """The path of an arrow in display coordinates, cut where it leaves the first box and where it meets the second."""

    def __init__(
        self,
        ax: Axes,
        way: NDArray[np.float64],
        first: tuple[float, float, float],
        last: tuple[float, float, float],
    ) -> None:
        self.ax, self.way, self.first, self.last = ax, way, first, last

    def __call__(self, *_: object, **__: object) -> Path:
        """Called by matplotlib each time that the arrow is drawn."""
        from matplotlib.path import Path

        way = self.ax.transData.transform(self.way)
        pixels = self.ax.figure.dpi / 72
        start = _leaves(way, way[0], self.first, pixels)
        stop = len(way) - 1 - _leaves(way[::-1], way[-1], self.last, pixels)
        if start >= stop:  # the boxes touch: nothing to see between them
            return Path(way[[0, -1]])
        return Path(np.stack([np.interp(_steps(start, stop), np.arange(len(way)), way[:, k]) for k in (0, 1)], axis=1))


def _steps(start: float, stop: float) -> NDArray[np.float64]:
    """The places between two fractional indices: both, and the whole numbers between them."""
    inner = np.arange(np.floor(start) + 1, np.ceil(stop))
    return np.concatenate([[start], inner[(inner > start + 0.05) & (inner < stop - 0.05)], [stop]])


def _leaves(
    way: NDArray[np.float64], centre: NDArray[np.float64], box: tuple[float, float, float], pixels: float
) -> float:
    """The fractional index at which a way leaves a rounded box (width, height, font) for good, half a point outside."""
    half = np.array(box[:2]) * pixels / 2
    radius = corner(*box) * pixels

    def outside(points: NDArray[np.float64]) -> NDArray[np.bool_]:
        past = np.maximum(np.abs(points - centre) - (half - radius), 0.0)
        return np.asarray(np.hypot(past[..., 0], past[..., 1]) > radius + 0.5 * pixels)

    inside = np.flatnonzero(~outside(way))
    last = int(inside[-1]) if len(inside) else 0
    if last == len(way) - 1:
        return float(last)
    low, high = 0.0, 1.0
    for _ in range(2):  # 33 places on the segment, then 33 between the last inside and the first outside
        fraction = np.linspace(low, high, 33)
        first = int(np.argmax(outside(way[last] + fraction[:, None] * (way[last + 1] - way[last]))))
        low, high = float(fraction[max(first - 1, 0)]), float(fraction[first])
    return last + high


# -- the frame ------------------------------------------------------------------------------------------------------


def new_axes(
    size: tuple[float, float], band: float, rows: int = 1, columns: int = 1, largest: tuple[float, float] = LARGEST
) -> tuple[Any, Any]:
    """A new figure with Axes for pictures of a size in points: the figure, and an array of Axes."""
    from matplotlib import pyplot as plt

    inches = [size[0] / 72 * columns, (size[1] + band) / 72 * rows]
    shrink = min(1.0, largest[0] / inches[0], largest[1] / inches[1])
    figure_size = tuple(max(least, side * shrink) for least, side in zip(SMALLEST, inches, strict=True))
    return plt.subplots(
        rows,
        columns,
        figsize=cast(Any, figure_size),
        squeeze=False,
        layout="constrained",  # a title that the caller adds finds room
        gridspec_kw={"left": 0.0, "right": 1.0, "bottom": 0.0, "top": 1.0},  # `fit` sees the Axes before their layout
    )


def room_of(ax: Axes) -> tuple[float, float]:
    """Width and height of Axes in points."""
    room = ax.get_window_extent()
    return room.width / ax.figure.dpi * 72, room.height / ax.figure.dpi * 72


def fit(ax: Axes, extent: Extent, band: float) -> float:
    """Set the limits so that the extent fills the Axes above a band of some points; return the scale of the text."""
    wide, high = room_of(ax)
    width, height = extent.size
    x = min(wide / width, STRETCH)
    y = min(max(high - band, high / 3) / height, STRETCH)
    x, y = min(x, UNEVEN * y), min(y, UNEVEN * x)
    middle = extent.centre
    ax.set_xlim(middle[0] - wide / x / 2, middle[0] + wide / x / 2)
    bottom = middle[1] - (high + band) / y / 2
    ax.set_ylim(bottom, bottom + high / y)
    ax.set_axis_off()
    return min(1.0, extent.slack * min(x, y))


def legend_size(
    entries: Sequence[LegendEntry], writing: Writing, base: float, extent: Extent, ax: Axes | None
) -> tuple[int, float, float]:
    """Columns of the legend in the Axes, or in new ones for the extent; its height and least width in points."""
    if not entries:
        return 1, 0.0, 0.0
    width = extent.size[0] if ax is None else room_of(ax)[0]
    size = 0.85 * base
    widest = max(writing.width(entry.text, size) for entry in entries) + 3.6 * size + 8
    columns = max(1, min(len(entries), int(width // widest)))
    rows = -(-len(entries) // columns)
    return columns, rows * size * 1.55 + 8.0, widest


def add_legend(ax: Axes, entries: Sequence[LegendEntry], columns: int, font: Any) -> None:
    """The legend at the bottom, in the band that `fit` left free."""
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    handles = [
        Patch(facecolor=entry.color, edgecolor=QUIET, linewidth=0.6, linestyle="dashed" if entry.dashed else "solid")
        if entry.box
        else Line2D([], [], color=entry.color, linewidth=entry.width, linestyle=DASHES if entry.dashed else "solid")
        for entry in entries
    ]
    legend = ax.legend(
        handles,
        [entry.text for entry in entries],
        loc="lower center",
        ncols=columns,
        prop=font,
        frameon=False,
        borderaxespad=0.1,
        borderpad=0.2,
        handlelength=1.9,
        columnspacing=1.4,
        labelspacing=0.35,
        labelcolor=INK,
    )
    legend.set_zorder(5)
    for text in legend.get_texts():
        text.set_parse_math(False)
