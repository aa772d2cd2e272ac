"""Drawings of one preference graph and of its decompositions."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import networkx as nx
import numpy as np
from numpy.typing import NDArray

from prefgraph._content import Edge, Label, where
from prefgraph.decompose import Decomposition, cut_edges, find_decomposition
from prefgraph.errors import InvalidGraph, InvalidOption, InvalidScores
from prefgraph.graph import PreferenceGraph
from prefgraph.plot._artists import Extent, LegendEntry, Sheet, add_legend, fit, legend_size, new_axes
from prefgraph.plot._bundles import paint_bundles, place_bundles
from prefgraph.plot._layers import Layout, Point, place, slack
from prefgraph.plot._routes import Route, Router
from prefgraph.plot._style import (
    BORDER,
    CYCLE,
    EDGE,
    FAINT,
    FILL,
    FILL_CYCLE,
    INK,
    QUIET,
    Writing,
    check_matplotlib,
    writing,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Scores = Mapping[Any, float] | Sequence[float] | NDArray[Any]

ROW_WIDTH = 900.0  # points: a row of parts in a new figure
WIDTHS = (0.6, 3.4)  # line widths from no weight at all to the largest weight of the graph


def draw(
    graph: nx.DiGraph[Any],
    scores: Scores | None = None,
    *,
    ax: Axes | None = None,
    write_scores: bool = False,
    legend: bool = True,
    max_edges: int = 200,
    fontsize: float = 10.0,
) -> Axes:
    """Draw a preference graph by layers, the best on top.

    A label stands below all labels that are preferred to it; in a layered graph the rows are its layers. Labels that
    lie on common cycles (a strong component) stand on a ring, and the edges between them are orange. Edges that
    disagree with the scores, ``f(init) <= f(term)``, are dashed and have no arrowhead. Where weights differ, the width
    of an edge shows its weight. Labels without an edge stand apart at the bottom.

    Parameters
    ----------
    graph
        The graph. Another networkx graph is read as a preference graph first.
    scores
        A number for each label, in a mapping or in the order of ``list(graph)``. More labels than the graph has are
        fine in a mapping.
    ax
        The Axes to draw on; by default new ones in a figure of the size that the graph needs.
    write_scores
        Whether to write the scores under the labels.
    legend
        Whether to explain colours and dashes; only what occurs is explained.
    max_edges
        A layered graph with more edges than this is drawn as one panel for each layer and one arrow from each layer to
        the next, with the number of edges between the two. Another graph with more edges gets thin lines.
    fontsize
        The size of the labels in points. In Axes that are too small for the graph they are smaller.

    Returns
    -------
    matplotlib.axes.Axes
        The Axes that were given or made.

    Raises
    ------
    InvalidScores
        A label has no score, or a score is not a finite number.
    InvalidGraph
        ``graph`` is not a graph, or breaks the rule of a preference graph.
    MissingDependency
        matplotlib is not installed.

    Notes
    -----
    Labels are wrapped and, where they are very long, cut in the middle; a character that no installed font has is
    written as its escape. Patches carry a ``gid``: ``label:'oil'``, ``edge:'oil'>'gas'``.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("Agg")
    >>> import prefgraph as pg
    >>> from prefgraph.plot import draw
    >>> g = pg.PreferenceGraph([("oil", "gas"), ("gas", "coal"), ("coal", "oil"), ("coal", "wind")])
    >>> ax = draw(g, {"oil": 3, "gas": 2, "coal": 1, "wind": 1})
    >>> [patch.get_gid() for patch in ax.patches if patch.get_linestyle() != "solid"]
    ["edge:'coal'>'oil'", "edge:'coal'>'wind'"]
    >>> [text.get_text() for text in ax.get_legend().get_texts()]
    ['in a cycle', 'disagrees with the scores']

    References
    ----------
    [DMS03] Fig. 1 and Fig. 2.
    """
    check_matplotlib()
    picture = Picture.of(graph, scores, write_scores, fontsize)
    if picture.graph.number_of_edges() > max_edges and (layers := picture.graph.layers()) is not None:
        return _draw_bundles(picture, layers, ax, legend)
    picture.arrange()
    entries = picture.entries(picture.graph.edges) if legend else []
    columns, band, least = legend_size(entries, picture.writing, fontsize, picture.extent, ax)
    ax = ax if ax is not None else _axes_for(picture.extent, band, least)
    sheet = Sheet(ax, fit(ax, picture.extent, band), picture.writing, fontsize)
    picture.paint(sheet, picture.graph.edges, thin=picture.graph.number_of_edges() > max_edges)
    if entries:
        add_legend(ax, entries, columns, picture.writing.font(0.85 * fontsize))
    return ax


def draw_decomposition(
    graph: nx.DiGraph[Any],
    decomposition: str | Decomposition,
    scores: Scores | None = None,
    *,
    axes: Any = None,
    columns: int | None = None,
    max_parts: int = 24,
    fontsize: float = 9.0,
) -> NDArray[Any]:
    """Draw the parts of a graph as small graphs in a row, or in several rows, with every label in the same place.

    Labels that a part leaves out are faint. With scores, edges that disagree are dashed and without arrowhead, the
    parts that have one say so, and the title gives the error: the fraction of parts with an edge that disagrees.

    Parameters
    ----------
    graph
        The graph.
    decomposition
        A name in `prefgraph.DECOMPOSITIONS`, or a function as in `prefgraph.PreferenceGraph.decompose`.
    scores
        As in `draw`.
    axes
        One Axes for each part, in an array or any nested sequence; those too many are left as they are. By default a
        new figure, which carries the title; on given Axes the title stands above the first.
    columns
        Parts in a row of a new figure; by default as many as find room.
    max_parts
        Only so many parts are drawn, the first ones. The error counts all.
    fontsize
        As in `draw`.

    Returns
    -------
    ndarray of matplotlib.axes.Axes
        Those drawn on, one for each part. A graph without edges has no part: then one Axes with its labels.

    Raises
    ------
    InvalidOption
        Fewer Axes than parts, or a number of columns or parts below 1.
    InvalidDecomposition, InvalidScores, InvalidGraph, MissingDependency
        As in `prefgraph.PreferenceGraph.decompose` and in `draw`.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("Agg")
    >>> import prefgraph as pg
    >>> from prefgraph.plot import draw_decomposition
    >>> axes = draw_decomposition(pg.parse("[1,2|3,4]"), "domination", {1: 4, 2: 2, 3: 3, 4: 1})
    >>> len(axes), axes[0].figure.get_suptitle()
    (2, 'domination: 2 parts, error 1/2')

    References
    ----------
    [DMS03] Fig. 2; [AS05] Fig. 1.
    """
    check_matplotlib()
    picture = Picture.of(graph, scores, False, fontsize)
    picture.arrange()
    parts = cut_edges(picture.graph, find_decomposition(decomposition), picture.graph.instance)
    shown = parts[: _positive("max_parts", max_parts)] or [[]]
    name = decomposition if isinstance(decomposition, str) else getattr(decomposition, "__name__", "decomposition")
    wrong = [any(map(picture.disagrees, part)) for part in parts]
    title = _decomposition_title(name, len(parts), len(shown), sum(wrong) if scores is not None else None)
    band = 1.9 * fontsize if scores is not None and parts else 0.0
    if axes is None:
        columns = (
            _positive("columns", columns) if columns is not None else _columns_for(len(shown), picture.extent.size[0])
        )
        columns = min(columns, len(shown))
        rows = math.ceil(len(shown) / columns)
        figure, grid = new_axes(picture.extent.size, band + 2.4 * fontsize / rows, rows, columns)
        for spare in grid.flat[len(shown) :]:
            spare.set_axis_off()
        figure.suptitle(title, fontsize=1.15 * fontsize, parse_math=False)
        used = np.array(grid.flat[: len(shown)])
    else:
        used = _given_axes(axes, len(shown))
        used[0].set_title(title, loc="left", fontsize=1.15 * fontsize, parse_math=False)
    for ax, part, bad in zip(used, shown, wrong or [False], strict=False):
        sheet = Sheet(ax, fit(ax, picture.extent, band), picture.writing, fontsize)
        picture.paint(sheet, part, others_faint=bool(part), mark_cycles=False)
        _frame(ax)
        if band:
            _verdict(ax, bad, picture.writing, fontsize)
    return used


# -- what both share ------------------------------------------------------------------------------------------------


@dataclass
class Picture:
    """A graph with all that is needed to draw it or some of its edges, as often as wanted in the same places."""

    graph: PreferenceGraph
    scores: dict[Label, float] | None
    written: bool
    writing: Writing
    fontsize: float
    sizes: dict[Label, tuple[float, float]]
    layout: Layout = field(default_factory=Layout)
    routes: dict[Edge, Route] = field(default_factory=dict)
    extent: Extent = field(default_factory=Extent)
    ring: dict[Label, int] = field(default_factory=dict)

    @classmethod
    def of(cls, graph: Any, scores: Scores | None, written: bool, fontsize: float) -> Picture:
        """Check the graph and the scores, and measure the labels."""
        graph = _checked_graph(graph)
        values = None if scores is None else checked_scores(graph, scores)
        texts = writing(graph)
        written = written and values is not None
        sizes = {v: box_size(texts, texts.text[v], fontsize, score_line=written) for v in graph}
        return cls(graph, values, written, texts, fontsize, sizes)

    def arrange(self) -> None:
        """Place the labels and find the ways of the edges."""
        self.layout = layout = place(self.graph, self.sizes)
        self.ring = {v: number for number, ring in enumerate(layout.rings) for v in ring.angle}
        self.routes = Router(layout, self.sizes, self.graph.number_of_edges()).routes(self.graph.edges)
        room = slack(layout.position, self.sizes)
        self.extent = Extent(slack=room)
        for v, at in layout.position.items():
            self.extent.box(at, (self.sizes[v][0] * room, self.sizes[v][1] * room))
        for way in self.routes.values():
            self.extent.cover(way)
        if layout.caption is not None:
            size = 0.8 * self.fontsize
            self.extent.box(layout.caption, (self.writing.width(_CAPTION, size), 1.2 * size))

    def disagrees(self, edge: Edge) -> bool:
        """Whether the scores put an edge's ends the other way round, or tie them."""
        return self.scores is not None and self.scores[edge[0]] <= self.scores[edge[1]]

    def in_cycle(self, edge: Edge) -> bool:
        """Whether an edge lies on a cycle: both ends on one ring."""
        return edge[0] in self.ring and self.ring[edge[0]] == self.ring.get(edge[1])

    def entries(self, edges: Iterable[Edge]) -> list[LegendEntry]:
        """What the legend has to explain."""
        edges = list(edges)
        entries = []
        if any(map(self.in_cycle, edges)):
            entries.append(LegendEntry("in a cycle", CYCLE))
        if any(map(self.disagrees, edges)):
            entries.append(LegendEntry("disagrees with the scores", EDGE, dashed=True))
        weights = sorted({self.graph.edges[edge].get("weight", 1.0) for edge in edges})
        if len(weights) > 1:
            entries.append(LegendEntry(f"width: weight {weights[0]:g} to {weights[-1]:g}", EDGE, width=WIDTHS[1]))
        return entries

    def paint(
        self,
        sheet: Sheet,
        edges: Collection[Edge],
        *,
        thin: bool = False,
        others_faint: bool = False,
        mark_cycles: bool = True,
    ) -> None:
        """Draw all labels and some of the edges; ``others_faint``: labels without one of these edges are pale."""
        touched = {v for edge in edges for v in edge}
        rings = set(self.ring) if mark_cycles else set()
        for v, at in self.layout.position.items():
            pale = others_faint and v not in touched
            alone = v in self.layout.isolated or pale
            sheet.box(
                at,
                self.sizes[v],
                name=f"label:{v!r}",
                fill="white" if alone else FILL_CYCLE if v in rings else FILL,
                border=FAINT if pale else QUIET if alone else CYCLE if v in rings else BORDER,
            )
            self.write_label(sheet, v, at, QUIET if pale else INK)
        if self.layout.caption is not None and not others_faint:
            sheet.write(self.layout.caption, _CAPTION, size=0.8, color=QUIET)
        weights = {edge: self.graph.edges[edge].get("weight", 1.0) for edge in edges}
        largest, differ = max(weights.values(), default=1.0), len(set(weights.values())) > 1
        for edge in edges:
            width = WIDTHS[0] + (WIDTHS[1] - WIDTHS[0]) * weights[edge] / largest if differ else 1.2
            bad, cyclic = self.disagrees(edge), mark_cycles and self.in_cycle(edge)
            sheet.arrow(
                self.routes[edge],
                (self.sizes[edge[0]], self.sizes[edge[1]]),
                name=f"edge:{edge[0]!r}>{edge[1]!r}",
                color=CYCLE if cyclic else QUIET if thin else EDGE,
                dashed=bad,
                head=not bad,
                width=0.4 * width if thin else width,
                zorder=2.2 if cyclic else 2,
            )

    def write_label(self, sheet: Sheet, label: Label, at: Point, color: str) -> None:
        """A label in its box, with its score below it where scores are written."""
        text = self.writing.text[label]
        if self.written and self.scores is not None:
            sheet.write(at, text, color=color, shift=(0.0, 0.45 * self.fontsize))
            below = self.sizes[label][1] / 2 - 0.75 * self.fontsize
            sheet.write(at, f"{self.scores[label]:.3g}", size=0.75, color=BORDER, shift=(0.0, -below))
        else:
            sheet.write(at, text, color=color)


_CAPTION = "without preferences"


def box_size(texts: Writing, text: str, fontsize: float, *, score_line: bool = False) -> tuple[float, float]:
    """Width and height of the box of a label: at least a circle."""
    lines = text.count("\n") + 1
    height = (1.18 * lines + 0.75 + (0.95 if score_line else 0.0)) * fontsize
    width = max(texts.width(text, fontsize), 2.4 * fontsize if score_line else 0.0)
    return max(width + 1.1 * fontsize, height), height


def _checked_graph(graph: Any) -> PreferenceGraph:
    """The graph as a preference graph."""
    if isinstance(graph, PreferenceGraph):
        return graph
    if isinstance(graph, nx.DiGraph):
        return PreferenceGraph(graph)
    raise InvalidGraph(f"{graph!r} is not a graph; give a PreferenceGraph, prefgraph.parse() makes one of a text")


def checked_scores(graph: PreferenceGraph, scores: Scores) -> dict[Label, float]:
    """The score of each label of the graph, finite."""
    before = where(graph.instance)
    if isinstance(scores, Mapping) or hasattr(scores, "keys"):
        table: dict[Any, Any] = dict(scores)
        if (missing := next((v for v in graph if v not in table), None)) is not None:
            raise InvalidScores(f"{before}label {missing!r} has no score; give one for each label of the graph")
    else:
        values = list(scores)
        if len(values) != len(graph):
            raise InvalidScores(
                f"{before}{len(values)} scores for {len(graph)} labels; give one for each, in the order of "
                "list(graph), or a mapping from labels to scores"
            )
        table = dict(zip(graph, values, strict=True))
    checked: dict[Label, float] = {}
    for v in graph:
        try:
            checked[v] = float(table[v])
        except (TypeError, ValueError):
            checked[v] = math.nan
        if not math.isfinite(checked[v]):
            raise InvalidScores(f"{before}label {v!r} has the score {table[v]!r}; a score is a finite number")
    return checked


def _axes_for(extent: Extent, band: float, least: float) -> Axes:
    """Axes in a new figure, large enough for the picture and its legend."""
    width, height = extent.size
    axes: Axes = new_axes((max(width, least), height), band)[1][0, 0]
    return axes


def _draw_bundles(picture: Picture, layers: list[list[Label]], ax: Axes | None, legend: bool) -> Axes:
    """A layered graph as panels and bundles of edges."""
    made = place_bundles(layers, picture.sizes)
    wrong = dict.fromkeys(range(len(layers)), 0) if picture.scores is not None else None
    level = {v: number for number, layer in enumerate(layers) for v in layer}
    marked: set[Label] = set()
    for edge in filter(picture.disagrees, picture.graph.edges):
        marked.update(edge)
        if wrong is not None and level[edge[1]] == level[edge[0]] + 1:
            wrong[level[edge[0]]] += 1
    entries = [LegendEntry(f"each label is preferred to all below, {picture.graph.number_of_edges()} edges", EDGE)]
    if marked:
        entries.append(LegendEntry("an edge of the label disagrees with the scores", "white", dashed=True, box=True))
    entries = entries if legend else []
    columns, band, least = legend_size(entries, picture.writing, picture.fontsize, made.extent, ax)
    ax = ax if ax is not None else _axes_for(made.extent, band, least)
    sheet = Sheet(ax, fit(ax, made.extent, band), picture.writing, picture.fontsize)
    paint_bundles(sheet, made, picture.sizes, wrong)
    for v, at in made.position.items():
        bad = v in marked
        sheet.box(at, picture.sizes[v], name=f"label:{v!r}", fill="white" if bad else FILL, dashed=bad)
        picture.write_label(sheet, v, at, INK)
    if entries:
        add_legend(ax, entries, columns, picture.writing.font(0.85 * picture.fontsize))
    return ax


# -- decompositions -------------------------------------------------------------------------------------------------


def _decomposition_title(name: str, parts: int, shown: int, wrong: int | None) -> str:
    """``domination: 3 parts, error 1/3``."""
    if not parts:
        return f"{name}: no parts" + ("" if wrong is None else ", error 0")
    title = f"{name}: {parts} part{'s' if parts > 1 else ''}" + (f", the first {shown} shown" if shown < parts else "")
    return title if wrong is None else f"{title}, error {wrong}/{parts}"


def _frame(ax: Axes) -> None:
    """A line around a part, so that labels are not read across parts."""
    from matplotlib.patches import Rectangle

    corners = Rectangle((0.01, 0.01), 0.98, 0.98, transform=ax.transAxes, zorder=0)
    corners.set(facecolor="none", edgecolor=FAINT, linewidth=0.8, gid="frame")
    ax.add_patch(corners)


def _verdict(ax: Axes, bad: bool, texts: Writing, fontsize: float) -> None:
    """One word under a part."""
    ax.text(
        0.5,
        0.025,
        "disagrees" if bad else "agrees",
        transform=ax.transAxes,
        ha="center",
        va="bottom",
        color=INK if bad else QUIET,
        fontproperties=texts.font(0.9 * fontsize, "italic" if bad else "normal"),
    )


def _columns_for(parts: int, width: float) -> int:
    """As many parts in a row as find room, in rows of about equal length."""
    rows = math.ceil(parts / max(1, min(8, int(ROW_WIDTH // width))))
    return math.ceil(parts / rows)


def _given_axes(axes: Any, needed: int) -> NDArray[Any]:
    """As many of the caller's Axes as there are parts."""
    given = np.asarray(axes, dtype=object).ravel()
    if len(given) < needed:
        raise InvalidOption(f"axes holds {len(given)} Axes for {needed} parts; give one for each, or a lower max_parts")
    return given[:needed]


def _positive(name: str, value: int) -> int:
    """A number of 1 or more, or an error."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < 1:
        raise InvalidOption(f"{name}={value!r}; it is an int of 1 or more")
    return int(value)
