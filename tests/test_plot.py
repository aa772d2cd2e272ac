"""Pictures, by what is on them: the artists, their colours and dashes, and where they stand once they are drawn."""

import io
import pickle
import sys
from collections.abc import Iterator
from itertools import combinations, pairwise

import matplotlib as mpl
import networkx as nx
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from matplotlib import pyplot as plt
from matplotlib.colors import to_hex
from matplotlib.patches import FancyArrowPatch

import prefgraph as pg
from prefgraph.errors import (
    InvalidDecomposition,
    InvalidGraph,
    InvalidHierarchy,
    InvalidOption,
    InvalidScores,
    InvalidTarget,
    MissingDependency,
)
from prefgraph.metrics import graph_error
from prefgraph.plot import _style as style
from prefgraph.plot import draw, draw_decomposition, draw_hierarchy
from prefgraph.plot._bundles import MAX_SHOWN
from prefgraph.plot._layers import MAX_ROW, place, ring_order
from prefgraph.plot._routes import ROUTED
from tests.strategies import hierarchies, preference_graphs

FIG2 = [(1, 2), (3, 1), (2, 4), (3, 4), (5, 3), (1, 5)]  # five labels, a cycle and an acyclic tail
ORDER = {1: 5.0, 2: 4.0, 3: 3.0, 4: 2.0, 5: 1.0}
CYCLE = [("oil", "gas"), ("gas", "coal"), ("coal", "oil"), ("coal", "wind"), ("wind", "sun")]
TREE = {"all": {"energy": {"fossil": ["oil", "gas"], "wind": None}, "sport": ["golf", "chess"]}}


@pytest.fixture(autouse=True)
def _no_figure_stays_open() -> Iterator[None]:
    plt.close("all")
    yield
    plt.close("all")


def artists(ax, kind):
    """The patches of a kind by what they show: {"1>2": patch} for kind "edge"."""
    named = [(patch.get_gid() or "", patch) for patch in ax.patches]
    return {gid.split(":", 1)[1]: patch for gid, patch in named if gid.startswith(f"{kind}:")}


def edge_names(edges):
    return {f"{init!r}>{term!r}" for init, term in edges}


def is_dashed(patch):
    return patch.get_linestyle() != "solid"


def is_cycle_coloured(patch):
    return to_hex(patch.get_edgecolor()) == style.CYCLE


def has_head(patch):
    return patch.get_arrowstyle().arrow != "-"


def legend_texts(ax):
    return [text.get_text() for text in ax.get_legend().get_texts()] if ax.get_legend() else []


def texts(ax):
    return [text.get_text() for text in ax.texts]


def boxes(ax):
    """Bounding boxes of the labels in pixels."""
    return {name: patch.get_window_extent() for name, patch in artists(ax, "label").items()}


def centre(box):
    return np.array([(box.x0 + box.x1) / 2, (box.y0 + box.y1) / 2])


def render(ax):
    """Everything that drawing does, warnings included, but for the pixels."""
    ax.figure.draw_without_rendering()


def save(ax):
    ax.figure.savefig(io.BytesIO(), format="png")


def assert_nothing_overlaps(ax):
    for (one, a), (other, b) in combinations(boxes(ax).items(), 2):
        apart = a.x1 <= b.x0 or b.x1 <= a.x0 or a.y1 <= b.y0 or b.y1 <= a.y0
        assert apart, f"{one} and {other} overlap"


# -- one graph ------------------------------------------------------------------------------------------------------


@settings(max_examples=15)
@given(graph=preference_graphs(max_labels=7))
def test_every_label_and_every_edge_is_drawn_once_and_no_labels_overlap(graph):
    ax = draw(graph)
    render(ax)
    assert (list(artists(ax, "label")) and set(artists(ax, "label")) == {repr(v) for v in graph}) or not len(graph)
    assert set(artists(ax, "edge")) == edge_names(graph.edges)
    assert len(ax.patches) == len(graph) + graph.number_of_edges()
    assert_nothing_overlaps(ax)
    frame = ax.get_window_extent()
    for box in boxes(ax).values():
        assert frame.x0 <= box.x0 < box.x1 <= frame.x1
        assert frame.y0 <= box.y0 < box.y1 <= frame.y1
    plt.close(ax.figure)


@settings(max_examples=15)
@given(graph=preference_graphs(max_labels=7))
def test_exactly_the_edges_on_cycles_have_the_colour_of_cycles(graph):
    ax = draw(graph)
    component = {v: k for k, group in enumerate(nx.strongly_connected_components(graph)) for v in group}
    cyclic = edge_names((u, v) for u, v in graph.edges if component[u] == component[v])
    assert {name for name, patch in artists(ax, "edge").items() if is_cycle_coloured(patch)} == cyclic
    assert ("in a cycle" in legend_texts(ax)) == bool(cyclic)
    plt.close(ax.figure)


@settings(max_examples=15)
@given(graph=preference_graphs(max_labels=7))
def test_exactly_the_edges_that_disagree_are_dashed_and_without_a_head(graph):
    scores = {v: k % 3 for k, v in enumerate(graph)}  # with ties
    ax = draw(graph, scores)
    wrong = edge_names((u, v) for u, v in graph.edges if scores[u] <= scores[v])
    assert {name for name, patch in artists(ax, "edge").items() if is_dashed(patch)} == wrong
    assert {name for name, patch in artists(ax, "edge").items() if not has_head(patch)} == wrong
    assert ("disagrees with the scores" in legend_texts(ax)) == bool(wrong)
    plt.close(ax.figure)


@settings(max_examples=15)
@given(graph=preference_graphs(max_labels=7, acyclic=True))
def test_in_an_acyclic_graph_the_preferred_label_stands_higher(graph):
    ax = draw(graph)
    where = boxes(ax)
    for u, v in graph.edges:
        assert where[repr(u)].y0 > where[repr(v)].y1
    plt.close(ax.figure)


def test_the_rows_of_a_layered_graph_are_its_layers():
    graph = pg.from_layers([[1, 2], [3, 4, 5], [6]])
    where = {name: round(centre(box)[1]) for name, box in boxes(draw(graph)).items()}
    assert len(set(where.values())) == 3
    for layer in graph.layers():
        assert len({where[repr(v)] for v in layer}) == 1


def test_labels_on_a_cycle_stand_on_a_ring_in_the_order_of_the_cycle():
    graph = pg.PreferenceGraph([(0, 3), (3, 1), (1, 4), (4, 2), (2, 0)])
    where = {int(name): centre(box) for name, box in boxes(draw(graph)).items()}
    middle = np.mean(list(where.values()), axis=0)
    angle = {v: np.arctan2(*(point - middle)[::-1]) for v, point in where.items()}
    clockwise = sorted(where, key=lambda v: -angle[v])
    start = clockwise.index(0)
    assert clockwise[start:] + clockwise[:start] == [0, 3, 1, 4, 2]


def test_a_label_off_the_longest_cycle_joins_the_ring_behind_one_that_beats_it():
    graph = pg.PreferenceGraph([(0, 1), (1, 2), (2, 0), (1, 3), (3, 4), (4, 0)])  # no cycle through all five
    order = ring_order(graph, list(graph))
    assert sorted(order) == [0, 1, 2, 3, 4]
    assert graph.has_edge(order[order.index(2) - 1], 2)


@pytest.mark.parametrize("edges", [CYCLE, FIG2, [(a, b) for a, b in combinations(range(6), 2)]])
def test_arrows_end_at_the_border_of_the_boxes_and_not_inside(edges):
    ax = draw(pg.PreferenceGraph(edges))
    render(ax)
    where = boxes(ax)
    arrows = artists(ax, "edge")
    for u, v in edges:
        path = arrows[f"{u!r}>{v!r}"].get_connectionstyle()(None, None).vertices
        for end, label in ((path[0], u), (path[-1], v)):
            box = where[repr(label)]
            beyond = np.abs(end - centre(box)) - np.array([box.width, box.height]) / 2
            assert beyond.max() < 2.5  # pixels: it is at the border, or in a cut corner
            assert np.abs(end - centre(box)).max() > min(box.width, box.height) / 2 * 0.6


def test_an_edge_past_a_label_between_its_ends_runs_round_it():
    graph = pg.parse("[1|2|3|4]")
    ax = draw(graph)
    render(ax)
    where = boxes(ax)
    for (u, v), arrow in zip(graph.edges, artists(ax, "edge").values(), strict=True):
        path = arrow.get_connectionstyle()(None, None).vertices
        dense = np.concatenate([np.linspace(a, b, 20) for a, b in pairwise(path)])
        for other in set(graph) - {u, v}:
            box = where[repr(other)]
            assert not ((np.abs(dense - centre(box)) < [box.width / 2, box.height / 2]).all(axis=1)).any()


def test_an_edge_that_finds_no_gap_is_drawn_all_the_same():
    names = [f"a label too wide for gaps {k}" for k in range(9)]
    graph = pg.PreferenceGraph([("top", v) for v in names] + [(v, "low") for v in names] + [("top", "low")])
    ax = draw(graph)
    render(ax)
    assert "'top'>'low'" in artists(ax, "edge")
    assert_nothing_overlaps(ax)


def test_separate_pieces_stand_side_by_side_and_isolated_labels_below():
    graph = pg.PreferenceGraph([("a", "b"), ("x", "y"), ("x", "z")], nodes=["alone", "lonely"])
    ax = draw(graph)
    where = {name: centre(box) for name, box in boxes(ax).items()}
    assert max(where["'a'"][0], where["'b'"][0]) < min(where[v][0] for v in ("'x'", "'y'", "'z'"))
    assert where["'alone'"][1] == pytest.approx(where["'lonely'"][1])
    assert where["'alone'"][1] < min(where[v][1] for v in where if "lon" not in v)
    assert "without preferences" in texts(ax)


def test_many_pieces_and_wide_layers_are_broken_into_rows():
    pieces = pg.PreferenceGraph([(f"u{k}", f"v{k}") for k in range(40)])
    wide = pg.PreferenceGraph([("top", f"label number {k}") for k in range(60)] + [("top", "x"), ("x", "y")])
    for graph in (pieces, wide):
        layout = place(graph, dict.fromkeys(graph, (80.0, 20.0)))
        assert layout.width <= MAX_ROW + 100
        ax = draw(graph)
        render(ax)
        assert_nothing_overlaps(ax)


def test_the_width_of_an_edge_grows_with_its_weight():
    graph = pg.PreferenceGraph([("a", "b", {"weight": 4.0}), ("b", "c", {"weight": 0.5}), ("a", "d")])
    ax = draw(graph)
    width = {name: patch.get_linewidth() for name, patch in artists(ax, "edge").items()}
    assert width["'b'>'c'"] < width["'a'>'d'"] < width["'a'>'b'"]
    assert legend_texts(ax) == ["width: weight 0.5 to 4"]
    assert len({patch.get_linewidth() for patch in artists(draw(pg.parse("[1,2|3]")), "edge").values()}) == 1


def test_scores_are_written_under_the_labels_when_asked_for():
    graph = pg.parse("[a|b]")
    assert texts(draw(graph, {"a": 0.123456, "b": -2}, write_scores=True)) == ["a", "0.123", "b", "-2"]
    assert texts(draw(graph, {"a": 0.123456, "b": -2})) == texts(draw(graph, write_scores=True)) == ["a", "b"]


@pytest.mark.parametrize(
    "scores", [{1: 2, 2: 3, 3: 1, "other": 9}, [2, 3, 1], np.array([2.0, 3.0, 1.0]), pd.Series({1: 2, 2: 3, 3: 1})]
)
def test_scores_come_as_a_mapping_or_in_the_order_of_the_labels(scores):
    ax = draw(pg.parse("[1|2|3]"), scores)
    assert [name for name, patch in artists(ax, "edge").items() if is_dashed(patch)] == ["1>2"]


@pytest.mark.parametrize(
    ("scores", "message"),
    [
        ({"a": 1.0}, r"instance 'd17': label 'b' has no score"),
        ([1.0], r"1 scores for 2 labels"),
        ({"a": 1.0, "b": float("nan")}, r"label 'b' has the score nan"),
        ({"a": 1.0, "b": float("inf")}, r"label 'b' has the score inf"),
        ({"a": "high", "b": 1.0}, r"label 'a' has the score 'high'"),
        ([None, 1.0], r"label 'a' has the score None"),
    ],
)
def test_scores_that_do_not_fit_are_an_error_that_names_the_label(scores, message):
    graph = pg.PreferenceGraph([("a", "b")], instance="d17")
    with pytest.raises(InvalidScores, match=message):
        draw(graph, scores)
    with pytest.raises(InvalidScores, match=message):
        draw_decomposition(graph, "identity", scores)
    assert plt.get_fignums() == []


def test_another_networkx_graph_is_read_as_a_preference_graph():
    assert set(artists(draw(nx.DiGraph([(1, 2)])), "edge")) == {"1>2"}
    with pytest.raises(InvalidGraph, match="each preferred to the other"):
        draw(nx.DiGraph([(1, 2), (2, 1)]))
    with pytest.raises(InvalidGraph, match=r"'\[1\|2\]' is not a graph"):
        draw("[1|2]")


def test_a_graph_without_labels_or_without_edges_is_drawn():
    render(draw(pg.PreferenceGraph()))
    ax = draw(pg.PreferenceGraph(nodes="abc"), max_edges=0)
    assert len(artists(ax, "label")) == 3
    assert ax.get_legend() is None


def test_the_legend_can_be_left_out_and_explains_only_what_occurs():
    graph = pg.PreferenceGraph(CYCLE)
    assert draw(graph, legend=False).get_legend() is None
    assert legend_texts(draw(graph)) == ["in a cycle"]
    assert draw(pg.parse("[1|2]"), [2, 1]).get_legend() is None


def test_the_legend_covers_no_label():
    graph = pg.PreferenceGraph([(u, v, {"weight": 1.0 + u}) for u, v in FIG2], nodes=[6])
    _, given_axes = plt.subplots(figsize=(3, 3))
    for ax in (draw(graph, {**ORDER, 6: 0}), draw(graph, {**ORDER, 6: 0}, ax=given_axes)):
        render(ax)
        assert len(legend_texts(ax)) == 3
        top = ax.get_legend().get_window_extent().y1
        assert all(box.y0 >= top for box in boxes(ax).values())


# -- large graphs ---------------------------------------------------------------------------------------------------


def test_a_layered_graph_with_many_edges_is_drawn_as_bundles_between_neighbouring_layers():
    layers = [["best"], [f"b{k}" for k in range(10)], [f"c{k}" for k in range(30)]]
    ax = draw(pg.from_layers(layers))
    render(ax)
    assert set(artists(ax, "bundle")) == {"0>1", "1>2"}
    assert artists(ax, "edge") == {}
    assert set(artists(ax, "layer")) == {"1", "2"}  # a single label needs no panel
    assert {"10 edges", "300 edges", "10 labels", "30 labels"} <= set(texts(ax))
    assert legend_texts(ax) == ["each label is preferred to all below, 340 edges"]
    assert_nothing_overlaps(ax)
    assert set(artists(draw(pg.from_layers(layers), max_edges=340), "bundle")) == set()


def test_bundles_count_the_edges_that_disagree_and_mark_their_labels():
    graph = pg.multilabel(range(3), labels=range(10))
    scores = {v: 10.0 - v for v in graph} | {9: 8.5}  # above the label 2, below 0 and 1
    ax = draw(graph, scores, max_edges=5, write_scores=True)
    assert "21 edges, 1 disagree" in texts(ax)
    assert {name for name, patch in artists(ax, "label").items() if is_dashed(patch)} == {"2", "9"}
    assert legend_texts(ax)[1] == "an edge of the label disagrees with the scores"
    assert not is_dashed(artists(ax, "bundle")["0>1"])
    upside_down = draw(graph, [-v for v in scores.values()], max_edges=5, legend=False)
    assert "21 edges, 20 disagree" in texts(upside_down)
    all_wrong = artists(draw(graph, [0] * 10, max_edges=5), "bundle")["0>1"]
    assert is_dashed(all_wrong)
    assert not has_head(all_wrong)


def test_a_long_ranking_is_folded_into_columns_and_a_large_layer_is_cut():
    ranking = draw(pg.from_ranking(list(range(40))))
    render(ranking)
    assert_nothing_overlaps(ranking)
    assert len({round(centre(box)[0]) for box in boxes(ranking).values()}) > 1
    assert not any("edge" in text for text in texts(ranking))
    large = draw(pg.multilabel(range(2), labels=range(MAX_SHOWN + 102)))
    assert f"{MAX_SHOWN + 100} labels, the first {MAX_SHOWN} shown" in texts(large)
    assert len(artists(large, "label")) == MAX_SHOWN + 2


def test_a_large_graph_without_layers_has_thin_lines_for_all_its_edges():
    edges = [(u, v) for u in range(60) for v in range(u + 1, 60) if (u * v + u) % 4 < 2 and v > u + 1]
    graph = pg.PreferenceGraph(edges)
    assert len(edges) > ROUTED
    assert graph.layers() is None
    drawn = artists(draw(graph), "edge")
    assert len(drawn) == len(edges)
    assert max(patch.get_linewidth() for patch in drawn.values()) < 0.6


def test_a_large_strong_component_is_a_large_ring():
    graph = pg.PreferenceGraph([(k, (k + 1) % 80) for k in range(80)] + [(k, (k + 9) % 80) for k in range(80)])
    ax = draw(graph)
    assert all(map(is_cycle_coloured, artists(ax, "edge").values()))
    assert_nothing_overlaps(ax)


# -- text -----------------------------------------------------------------------------------------------------------


def test_long_labels_are_wrapped_and_cut_in_the_middle():
    short = style.wrapped("commodities and raw materials, metals in the port of Rotterdam", 16, 3)
    assert len(short.split("\n")) <= 3
    assert max(map(len, short.split("\n"))) <= 16
    assert short.startswith("commodities")
    assert short.endswith("Rotterdam")
    assert "…" in short
    assert style.wrapped("oil", 16, 3) == "oil"
    assert 8 <= len(style.wrapped("x" * 100, 10, 1)) <= 10


def test_labels_that_read_alike_are_told_apart():
    ax = draw(pg.PreferenceGraph([(1, "1"), ("1", "a b"), ("a b", "a  b"), ("a  b", "")]))
    assert texts(ax) == ["1", "'1'", "'a b'", "'a  b'", "''"]


def test_dollar_signs_are_not_read_as_formulas():
    ax = draw(pg.PreferenceGraph([("$x^$", "100$ or 200$")]))
    save(ax)
    assert texts(ax) == ["$x^$", "100$ or 200$"]


def test_characters_without_a_glyph_are_escaped_without_a_warning(monkeypatch):
    monkeypatch.setattr(style, "FALLBACK_FONTS", ())
    invisible = "\U000e0061"  # a tag character, of the kind that flags are spelled with
    names = ["Łódź", "石油", "tab\tand\x07bell", f"a{invisible}b"]
    ax = draw(pg.PreferenceGraph(pairwise(names)))
    save(ax)
    assert [text.replace("\n", "") for text in texts(ax)] == ["Łódź", "\\u77f3\\u6cb9", "tab and\\x07bell", "ab"]


def test_a_font_that_has_the_glyph_is_used_before_an_escape(monkeypatch):
    wanted = "\u2a00"  # in STIX, which comes with matplotlib, and not in the serif that is asked for
    with mpl.rc_context({"font.family": ["cmr10"]}):
        monkeypatch.setattr(style, "FALLBACK_FONTS", ("No Such Font", "STIXGeneral", "cmtt10"))
        made = style.writing([wanted])
    assert made.text[wanted] == wanted
    assert made.families == ("cmr10", "STIXGeneral")


# -- being a good guest ---------------------------------------------------------------------------------------------

DRAWINGS = {
    "graph": lambda ax: draw(pg.PreferenceGraph(FIG2), ORDER, ax=ax),
    "bundles": lambda ax: draw(pg.multilabel(range(3), labels=range(10)), ax=ax, max_edges=5),
    "hierarchy": lambda ax: draw_hierarchy(pg.LabelHierarchy.from_nested(TREE), ax=ax),
    "parts": lambda ax: draw_decomposition(pg.parse("[1|2]"), "identity", axes=ax)[0],
}


@pytest.mark.parametrize("drawing", DRAWINGS.values(), ids=DRAWINGS)
def test_given_axes_are_returned_and_no_state_of_pyplot_changes(drawing):
    _, (ours, other) = plt.subplots(1, 2)
    settings_before, figures = dict(mpl.rcParams), plt.get_fignums()
    assert drawing(ours) is ours
    assert plt.get_fignums() == figures
    assert plt.gca() is other
    assert dict(mpl.rcParams) == settings_before
    assert not other.patches


@pytest.mark.parametrize("drawing", DRAWINGS.values(), ids=DRAWINGS)
def test_pictures_fit_small_axes_and_survive_resizing_and_pickling(drawing):
    figure, ax = plt.subplots(figsize=(2, 1.5))
    render(drawing(ax))
    assert_nothing_overlaps(ax)
    figure.set_size_inches(9, 7)
    render(ax)
    assert_nothing_overlaps(ax)
    copy = pickle.loads(pickle.dumps(figure))
    copy.savefig(io.BytesIO(), format="svg")
    assert len(copy.axes[0].patches) == len(ax.patches)


@pytest.mark.parametrize("drawing", DRAWINGS.values(), ids=DRAWINGS)
def test_the_same_picture_comes_out_each_time(drawing):
    pictures = []
    for _ in range(2):
        figure, ax = plt.subplots()
        drawing(ax)
        figure.canvas.draw()
        pictures.append(np.asarray(figure.canvas.buffer_rgba()))
    assert np.array_equal(*pictures)
    assert pictures[0].std() > 1.0


@pytest.mark.parametrize("drawing", DRAWINGS.values(), ids=DRAWINGS)
def test_a_missing_matplotlib_is_named_with_its_extra(drawing, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(MissingDependency, match=r'pip install "prefgraph-db\[plot\]"'):
        drawing(None)


def test_without_axes_one_new_figure_is_made_of_the_size_that_is_needed():
    small, large = draw(pg.parse("[1|2]")), draw(pg.parse("[1,2,3|4,5,6,7,8,9]"))
    assert len(plt.get_fignums()) == 2
    assert small.figure.get_size_inches()[0] < large.figure.get_size_inches()[0]


# -- decompositions -------------------------------------------------------------------------------------------------


@settings(max_examples=10)
@given(graph=preference_graphs(max_labels=5))
@pytest.mark.parametrize("name", pg.DECOMPOSITIONS)
def test_a_decomposition_is_drawn_part_by_part_with_its_error_in_the_title(name, graph):
    scores = {v: k % 3 for k, v in enumerate(graph)}
    parts = pg.DECOMPOSITIONS[name](graph)
    axes = draw_decomposition(graph, name, scores)
    assert len(axes) == max(1, len(parts))
    for ax, part in zip(axes, parts, strict=False):
        assert set(artists(ax, "edge")) == edge_names(part)
        wrong = any(scores[u] <= scores[v] for u, v in part)
        assert ("disagrees" if wrong else "agrees") in texts(ax)
        assert any(map(is_dashed, artists(ax, "edge").values())) == wrong
    error = axes[0].figure.get_suptitle().split("error ")[1]
    numerator, denominator = map(int, f"{error}/1".split("/")[:2])
    p = pg.as_preferences([graph])
    expected = graph_error(p, np.array([[scores[v] for v in p.labels]]), name) if len(graph) else 0.0
    assert numerator / denominator == pytest.approx(expected)
    plt.close(axes[0].figure)


def test_every_label_has_the_same_place_in_all_parts():
    axes = draw_decomposition(pg.PreferenceGraph(FIG2), "domination", ORDER)
    axes[0].figure.canvas.draw()
    places = [{name: centre(box) - ax.get_window_extent().p0 for name, box in boxes(ax).items()} for ax in axes]
    for place_of in places[1:]:
        assert place_of.keys() == places[0].keys()
        for name, point in place_of.items():
            assert point == pytest.approx(places[0][name], abs=0.5)


def test_labels_that_a_part_leaves_out_are_faint():
    axes = draw_decomposition(pg.parse("[1,2|3]"), "disagreement")
    faint = {name for name, box in artists(axes[0], "label").items() if to_hex(box.get_edgecolor()) == style.FAINT}
    assert faint == {"2"}
    assert "agrees" not in texts(axes[0])


def test_titles_name_the_decomposition_the_parts_and_the_error():
    graph = pg.PreferenceGraph(FIG2)

    def halves(graph):
        edges = list(graph.edges)
        return [edges[:4], edges[3:]]

    def title(*arguments, **options):
        return draw_decomposition(*arguments, **options)[0].figure.get_suptitle()

    assert title(graph, "domination", ORDER) == "domination: 4 parts, error 2/4"
    assert title(graph, "identity", ORDER) == "identity: 1 part, error 1/1"
    assert title(graph, "disagreement") == "disagreement: 6 parts"
    assert title(graph, halves, ORDER) == "halves: 2 parts, error 2/2"
    assert title(graph, "disagreement", ORDER, max_parts=4) == "disagreement: 6 parts, the first 4 shown, error 2/6"
    assert title(pg.PreferenceGraph(nodes="ab"), "identity") == "identity: no parts"
    assert title(pg.PreferenceGraph(nodes="ab"), "identity", [1, 2]) == "identity: no parts, error 0"


def test_parts_go_into_rows_of_the_number_asked_for():
    axes = draw_decomposition(pg.PreferenceGraph(FIG2), "disagreement", columns=4)
    grid = axes[0].get_subplotspec().get_gridspec()
    assert (grid.nrows, grid.ncols, len(axes)) == (2, 4, 6)
    assert sum(bool(artists(ax, "label")) for ax in axes[0].figure.axes) == 6
    assert draw_decomposition(pg.parse("[1|2]"), "identity", columns=9).shape == (1,)


def test_parts_are_drawn_on_given_axes():
    figure, grid = plt.subplots(2, 3)
    axes = draw_decomposition(pg.PreferenceGraph(FIG2), "domination", ORDER, axes=grid)
    assert list(axes) == list(grid.flat)[:4]
    assert axes[0].get_title(loc="left") == "domination: 4 parts, error 2/4"
    assert figure.get_suptitle() == ""
    assert not grid[1, 2].patches


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"columns": 0}, InvalidOption, "columns=0; it is an int of 1 or more"),
        ({"max_parts": 0}, InvalidOption, "max_parts=0; it is an int of 1 or more"),
        ({"columns": True}, InvalidOption, "columns=True"),
        ({"axes": []}, InvalidOption, "axes holds 0 Axes for 6 parts"),
        ({"decomposition": "nope"}, InvalidDecomposition, "'nope' is unknown"),
    ],
)
def test_options_of_a_decomposition_that_make_no_sense_are_errors(options, error, message):
    arguments = {"decomposition": "disagreement", **options}
    with pytest.raises(error, match=message):
        draw_decomposition(pg.PreferenceGraph(FIG2), **arguments)
    assert plt.get_fignums() == []


# -- hierarchies ----------------------------------------------------------------------------------------------------


@settings(max_examples=15)
@given(parents=hierarchies())
def test_every_label_of_a_hierarchy_is_drawn_with_all_its_parents(parents):
    h = pg.LabelHierarchy.from_parents({v: above or None for v, above in parents.items()})
    ax = draw_hierarchy(h)
    render(ax)
    assert set(artists(ax, "label")) == {repr(v) for v in h}
    links = artists(ax, "link")
    assert set(links) == {f"{u!r}>{v!r}" for v in h for u in h.parents(v)}
    assert sum(is_dashed(link) for link in links.values()) == len(links) - (len(h) - 1)
    assert ("further parent" in legend_texts(ax)) == (not h.is_tree)
    assert_nothing_overlaps(ax)
    plt.close(ax.figure)


def test_a_parent_stands_in_the_middle_of_its_children_and_leaves_are_evenly_spaced():
    h = pg.LabelHierarchy.from_nested({"r": {"a": ["b", "c", "d"]}})
    where = {name.strip("'"): centre(box) for name, box in boxes(draw_hierarchy(h)).items()}
    x = {v: point[0] for v, point in where.items()}
    assert x["a"] == pytest.approx((x["b"] + x["d"]) / 2, abs=0.6)
    assert x["c"] - x["b"] == pytest.approx(x["d"] - x["c"], abs=0.6)
    assert where["r"][1] > where["a"][1] > where["b"][1] == pytest.approx(where["c"][1])


def test_many_leaves_make_the_tree_grow_to_the_right():
    h = pg.LabelHierarchy.from_nested({"r": {"a": list(range(30)), "b": list(range(30, 40))}})
    ax = draw_hierarchy(h)
    render(ax)
    where = {name: centre(box) for name, box in boxes(ax).items()}
    assert where["'r'"][0] < where["'a'"][0] < where["3"][0]
    assert where["0"][1] > where["1"][1] > where["39"][1]
    assert_nothing_overlaps(ax)
    upright = {name: centre(box) for name, box in boxes(draw_hierarchy(h, horizontal=False)).items()}
    assert upright["'r'"][1] > upright["'a'"][1] > upright["3"][1]
    lying = boxes(draw_hierarchy(pg.LabelHierarchy.from_nested(TREE), horizontal=True))
    assert centre(lying["'all'"])[0] < centre(lying["'oil'"])[0]


def test_leaves_are_coloured_by_their_distance_to_the_correct_ones():
    h = pg.LabelHierarchy.from_nested(TREE)
    ax = draw_hierarchy(h, correct={"oil"})
    assert legend_texts(ax) == ["layer 0: correct", "layer 1: distance 2", "layer 2: distance 3 to 5"]
    colour = {name.strip("'"): to_hex(patch.get_facecolor()) for name, patch in artists(ax, "label").items()}
    layers = h.layers_of({"oil"})
    assert [len({colour[v] for v in layer}) for layer in layers] == [1, 1, 1]
    assert len({colour[v] for v in h.leaves}) == 3
    assert colour["all"] == colour["energy"] not in {colour[v] for v in h.leaves}
    assert len(legend_texts(draw_hierarchy(h, correct=["oil"], max_layers=None))) == 4
    assert draw_hierarchy(h, correct=[]).get_legend() is None


def test_dummy_leaves_have_a_dashed_border():
    h = pg.LabelHierarchy.from_nested(TREE).with_dummy_leaves()
    ax = draw_hierarchy(h)
    assert {name for name, patch in artists(ax, "label").items() if is_dashed(patch)} == set(
        map(repr, h.dummies.values())
    )
    assert legend_texts(ax) == ["dummy leaf: stands for the label above it"]


def test_highlighted_labels_and_their_way_to_the_root_are_marked():
    ax = draw_hierarchy(pg.LabelHierarchy.from_nested(TREE), highlight=["oil"])
    assert [name for name, patch in artists(ax, "label").items() if is_cycle_coloured(patch)] == ["'oil'"]
    assert {name for name, patch in artists(ax, "link").items() if is_cycle_coloured(patch)} == {
        "'all'>'energy'",
        "'energy'>'fossil'",
        "'fossil'>'oil'",
    }
    assert draw_hierarchy(pg.LabelHierarchy.from_nested(TREE), highlight=["oil"], legend=False).get_legend() is None


def test_too_many_leaves_are_folded_into_their_parents_and_counted():
    h = pg.LabelHierarchy.from_nested({"r": {"a": {"a1": ["x", "y"], "a2": None}, "b": ["u", "v", "w"]}})
    folded = draw_hierarchy(h, max_leaves=2)
    assert texts(folded) == ["r", "a (+3)", "b (+3)"]
    assert "(+n): n leaves not shown" in legend_texts(folded)
    assert texts(draw_hierarchy(h, max_leaves=1)) == ["r (+6)"]
    shown = texts(draw_hierarchy(h, max_leaves=2, highlight=["x"]))
    assert {"x", "y", "a1", "b (+3)"} <= set(shown)
    assert "u" in texts(draw_hierarchy(h, max_leaves=2, correct=["u"]))


def test_descriptions_are_written_when_asked_for():
    h = pg.LabelHierarchy.from_parents({"r": None, "a": "r"}, descriptions={"a": "about apples"})
    assert texts(draw_hierarchy(h, descriptions=True, horizontal=True)) == ["r", "a  about apples"]
    assert texts(draw_hierarchy(h)) == ["r", "a"]


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"highlight": "oil"}, InvalidOption, "highlight='oil' is one label"),
        ({"correct": "oil"}, InvalidOption, "correct='oil' is one label"),
        ({"highlight": ["coal"]}, InvalidHierarchy, "'coal'"),
        ({"correct": ["coal"]}, InvalidTarget, "'coal'"),
        ({"max_leaves": 0}, InvalidOption, "max_leaves=0"),
        ({"max_leaves": "all"}, InvalidOption, "max_leaves='all'"),
        ({"correct": ["oil"], "max_layers": 1}, InvalidOption, "max_layers=1"),
    ],
)
def test_what_cannot_be_drawn_of_a_hierarchy_is_named(options, error, message):
    with pytest.raises(error, match=message):
        draw_hierarchy(pg.LabelHierarchy.from_nested(TREE), **options)
    assert plt.get_fignums() == []


def test_a_hierarchy_without_a_tree_cannot_be_drawn():
    flat = pg.LabelHierarchy.from_distances([[0, 1], [1, 0]], labels=["a", "b"])
    with pytest.raises(InvalidHierarchy, match="no tree"):
        draw_hierarchy(flat)
    with pytest.raises(InvalidHierarchy, match="is not a LabelHierarchy"):
        draw_hierarchy({"a": ["b"]})


def test_arrows_between_boxes_that_touch_are_still_paths():
    figure, ax = plt.subplots(figsize=(4, 4))
    draw(pg.parse("[1|2]"), ax=ax)
    figure.set_size_inches(0.3, 0.3)
    render(ax)
    arrow = next(patch for patch in ax.patches if isinstance(patch, FancyArrowPatch))
    assert len(arrow.get_connectionstyle()(None, None).vertices) == 2
