"""Builders: each graph from its definition, the laws between them, and what they refuse."""

import itertools
import math
import re
from fractions import Fraction

import networkx as nx
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import prefgraph as pg
from prefgraph import Contradiction, InvalidGraph, InvalidLabel, InvalidNotation, InvalidOption, InvalidScores
from tests.strategies import labels, layered_graphs, preference_graphs

DISTINCT = st.lists(labels(), unique=True, max_size=6)


@given(drawn=layered_graphs(labels()))
def test_from_layers_prefers_every_label_to_all_lower_ones(drawn):
    graph, layers = drawn
    assert pg.from_layers(layers) == graph
    assert pg.from_layers(map(iter, layers)) == graph
    assert pg.from_layers([[], *layers, ()]) == graph, "an empty layer says nothing"
    assert pg.from_layers(layers).layers() == layers


def test_from_layers_takes_sets_in_an_order_that_does_not_change():
    assert pg.from_layers([{"b", 10, "a", 9}, frozenset(["z"])]).layers() == [[9, 10, "a", "b"], ["z"]]


def test_from_layers_names_what_it_refuses():
    with pytest.raises(
        InvalidGraph, match=r"instance 'd17': label 'a' stands twice; a label has one place in the layers"
    ):
        pg.from_layers([["a", "b"], ["a"]], instance="d17")
    with pytest.raises(InvalidGraph, match=r"1 is not a layer; give a list of layers, each a list of labels"):
        pg.from_layers([1, 2])
    with pytest.raises(InvalidLabel, match=r"instance 'd17': None is not a label"):
        pg.from_layers([[None]], instance="d17")


@given(names=DISTINCT.filter(bool), data=st.data())
def test_a_class_is_a_label_set_of_one(names, data):
    label = data.draw(st.sampled_from(names))
    graph = pg.multiclass(label, names, instance="d17")
    assert graph == pg.multilabel([label], names)
    assert set(graph.edges) == {(label, other) for other in names if other != label}
    assert list(graph) == sorted(names, key=lambda v: v != label), "the order of the labels is kept"
    assert graph.instance == "d17"


@given(names=DISTINCT, data=st.data())
def test_a_label_set_is_preferred_to_all_others(names, data):
    relevant = [v for v in names if data.draw(st.booleans())]
    graph = pg.multilabel(iter([*relevant, *relevant]), iter(names))
    assert set(graph) == set(names)
    assert set(graph.edges) == {(u, v) for u in relevant for v in names if v not in relevant}
    assert pg.from_ranking([relevant], names, rest="below") == graph


@pytest.mark.parametrize(
    "build",
    [
        lambda names: pg.multiclass("a", names, instance="d17"),
        lambda names: pg.multilabel(["b", "a"], names, instance="d17"),
        lambda names: pg.from_ranking(["b", "a"], names, instance="d17"),
        lambda names: pg.ordinal("a", names, instance="d17"),
    ],
    ids=["multiclass", "multilabel", "from_ranking", "ordinal"],
)
def test_all_labels_are_listed_once_and_hold_the_chosen_ones(build):
    with pytest.raises(
        InvalidGraph, match=r"instance 'd17': label 'a' is not among the labels 'b', 'c'; add it to labels"
    ):
        build(["b", "c"])
    with pytest.raises(
        InvalidGraph, match=r"'a' is not among the labels 'b', 0, 1, 2, 3, 4, 5, 6, 7, 8 \.\.\.; add it"
    ):
        build(["b", *range(20)])
    with pytest.raises(InvalidGraph, match=r"instance 'd17': label 'b' is listed twice; list each label once"):
        build(["a", "b", "b"])
    with pytest.raises(InvalidLabel, match=r"instance 'd17': label \['b'\] cannot be hashed"):
        build(["a", ["b"]])


@given(drawn=layered_graphs(labels()), more=DISTINCT)
def test_a_ranking_is_layers_and_says_nothing_or_below_of_the_rest(drawn, more):
    graph, layers = drawn
    ranking = [layer[0] if len(layer) == 1 else tuple(layer) for layer in layers]
    assert pg.from_ranking(ranking) == graph
    assert pg.from_ranking(ranking, rest="below") == graph
    rest = [v for v in more if v not in graph]
    everything = [*rest, *graph]
    unknown = pg.from_ranking(ranking, everything)
    assert set(unknown.edges) == set(graph.edges)
    assert {v for v in unknown if not unknown.degree(v)} >= set(rest)
    assert set(unknown) == set(everything)
    assert pg.from_ranking(ranking, everything, rest="below") == pg.from_layers([*layers, rest])


def test_a_ranking_names_what_it_refuses():
    with pytest.raises(InvalidGraph, match="label 'a' stands twice"):
        pg.from_ranking(["a", ["b", "a"]])
    with pytest.raises(InvalidOption, match=r"rest='above' is not one of 'unknown', 'below'"):
        pg.from_ranking("ab", rest="above")


@given(scale=st.lists(st.integers(-50, 50), unique=True, min_size=1, max_size=6), data=st.data())
def test_ordinal_numbers_are_worse_the_farther_they_are(scale, data):
    right = data.draw(st.sampled_from(scale))
    graph = pg.ordinal(right, scale)
    assert set(graph) == set(scale)
    assert set(graph.edges) == {(u, v) for u in scale for v in scale if abs(u - right) < abs(v - right)}


@given(names=st.lists(st.text(max_size=2), unique=True, min_size=1, max_size=6), data=st.data())
def test_ordinal_words_are_worse_the_farther_they_are_in_the_list(names, data):
    right = data.draw(st.integers(0, len(names) - 1))
    by_place = pg.ordinal(right, range(len(names)))
    assert pg.ordinal(names[right], names) == nx.relabel_nodes(by_place, dict(enumerate(names)))


@pytest.mark.parametrize("dtype", [np.uint8, np.int8, np.int64, np.float32])
def test_ordinal_numpy_labels_do_not_wrap_around(dtype):
    scale = np.array([0, 1, 2, 100, 127], dtype)
    assert pg.ordinal(scale[2], scale).layers() == [[2], [1], [0], [100], [127]]


def test_ordinal_decimals_tie_as_they_look():
    assert pg.ordinal(0.3, [0.1, 0.2, 0.3, 0.4]).layers() == [[0.3], [0.2, 0.4], [0.1]]
    thirds = [Fraction(k, 3) for k in range(3)]
    assert pg.ordinal(thirds[1], thirds).layers() == [[thirds[1]], [thirds[0], thirds[2]]]
    assert pg.ordinal(math.inf, [1, 2, math.inf]).layers() == [[math.inf], [2], [1]], (
        "by place: infinity has no distance"
    )


SCORES = st.dictionaries(labels(), st.sampled_from([0, 0.25, 0.5, 1, 2.0, -1]) | st.floats(-1e6, 1e6), max_size=6)


@given(scores=SCORES, tolerance=st.sampled_from([0, 0.25, 1.0]) | st.floats(0, 10))
def test_scores_prefer_what_is_higher_by_more_than_the_tolerance(scores, tolerance):
    graph = pg.from_scores(scores, tolerance)
    pairs = itertools.permutations(scores, 2)
    assert set(graph) == set(scores)
    assert set(graph.edges) == {(u, v) for u, v in pairs if scores[u] > scores[v] and scores[u] - scores[v] > tolerance}
    assert not graph.is_cyclic()


@given(scores=SCORES)
def test_scores_without_tolerance_are_layers(scores):
    values = sorted(set(scores.values()), reverse=True)
    layers = [[v for v in scores if scores[v] == value] for value in values]
    assert pg.from_scores(scores) == pg.from_layers(layers)


def test_scores_may_be_numpy_numbers_or_a_series():
    expected = pg.parse("[a|b|c]")
    assert pg.from_scores(pd.Series({"a": 0.9, "b": 0.1, "c": 0.0})) == expected
    assert pg.from_scores(dict(zip("abc", np.array([200, 100, 3], np.uint8), strict=True))) == expected
    assert pg.from_scores({"a": 1e308, "b": 0, "c": -1e308}) == expected


@pytest.mark.parametrize("score", [math.nan, math.inf, "3", None, 10**400, 1j])
def test_a_score_is_a_finite_number(score):
    with pytest.raises(
        InvalidScores, match=r"instance 'd17': label 'b' has the score .*leave out a label that has none"
    ):
        pg.from_scores({"a": 1, "b": score}, instance="d17")


@pytest.mark.parametrize("tolerance", [-1, math.nan, math.inf, "1", None])
def test_a_tolerance_is_a_finite_number_from_zero_up(tolerance):
    with pytest.raises(InvalidScores, match=r"tolerance=.*it is a finite number, 0 or more"):
        pg.from_scores({"a": 1}, tolerance)


def test_scores_need_labels():
    with pytest.raises(InvalidScores, match=r"instance 'd17': \[0.9, 0.1\] has no labels; give a dict from labels"):
        pg.from_scores([0.9, 0.1], instance="d17")


VOTES = st.lists(
    st.tuples(st.sampled_from("abc"), st.sampled_from("abc"), st.sampled_from([0.1, 0.2, 0.3, 1.0, 2]))
    .filter(lambda vote: vote[0] != vote[1])
    .map(lambda vote: vote[:2] if vote[2] == 1.0 else vote),
    max_size=10,
)


def counted(votes):
    totals = {}
    for u, v, *weight in votes:
        totals.setdefault((u, v), []).append(weight[0] if weight else 1.0)
    return {edge: math.fsum(weights) for edge, weights in totals.items()}


@given(votes=VOTES, policy=st.sampled_from(["error", "majority", "drop"]), data=st.data())
def test_votes_add_up_and_contradictions_follow_the_policy(votes, policy, data):
    totals = counted(votes)
    both_ways = {(u, v) for u, v in totals if (v, u) in totals}
    if policy == "error" and both_ways:
        with pytest.raises(
            Contradiction, match=r"instance 'd17': labels '.' and '.' have votes both ways .*'majority' or 'drop'"
        ):
            pg.from_pairs(votes, on_contradiction=policy, instance="d17")
        return
    graph = pg.from_pairs(iter(votes), labels=["z"], on_contradiction=policy)
    lost = {(u, v) for u, v in both_ways if policy == "drop" or totals[u, v] <= totals[v, u]}
    assert {(u, v): w for u, v, w in graph.edges.data("weight", default=1.0)} == {
        edge: weight for edge, weight in totals.items() if edge not in lost
    }
    assert {(u, v): w for u, v, w in graph.dropped} == {edge: totals[edge] for edge in lost}
    assert set(graph) == {"z", *itertools.chain(*totals)}, "a label stays when its votes go"
    again = pg.from_pairs(data.draw(st.permutations(votes)), labels=["z"], on_contradiction=policy)
    assert again.key == graph.key, "the order of the votes does not count"


def test_a_tie_of_votes_drops_both_directions():
    graph = pg.from_pairs([("a", "b", 2), ("b", "a"), ("b", "a"), ("b", "c")], on_contradiction="majority")
    assert list(graph.edges) == [("b", "c")]
    assert graph.dropped == (("a", "b", 2.0), ("b", "a", 2.0))
    assert pg.from_pairs([("a", "b")]).dropped == ()
    assert graph.copy().dropped == graph.dropped


@given(graph=preference_graphs(labels(), weights=True))
def test_a_graph_is_the_graph_of_its_edges_as_votes(graph):
    votes = [(u, v, w) for u, v, w in graph.edges.data("weight", default=1.0)]
    assert pg.from_pairs(votes, graph) == graph


@pytest.mark.parametrize("pair", ["ab", b"ab", {1, 2}, {1: 2, 3: 4}, ("a",), (1, 2, 3, 4), 5, None])
def test_what_is_no_vote_is_named(pair):
    with pytest.raises(InvalidGraph, match=r"instance 'd17': .* is not a vote; give \(preferred, other\) or"):
        pg.from_pairs([("a", "b"), pair], instance="d17")


def test_votes_name_what_else_they_refuse():
    with pytest.raises(
        InvalidGraph, match=r"instance 'd17': label 'a' is preferred to itself; a vote is about two labels"
    ):
        pg.from_pairs([("a", "a")], instance="d17")
    with pytest.raises(InvalidGraph, match="the edge from 'a' to 'b' has weight 0"):
        pg.from_pairs([("a", "b", 0)])
    with pytest.raises(InvalidLabel, match=r"\[1\] cannot be hashed"):
        pg.from_pairs([("a", [1])])
    with pytest.raises(InvalidOption, match=r"on_contradiction='minority' is not one of 'error', 'majority', 'drop'"):
        pg.from_pairs([], on_contradiction="minority")


def test_parse_builds_layers_and_edges_and_takes_an_instance():
    assert pg.parse("[1,2|3]", instance="d17") == pg.from_layers([[1, 2], [3]])
    assert pg.parse("[1,2|3]", instance="d17").instance == "d17"
    assert pg.parse("1>2:2.5, 2>3, 4", instance="d17").instance == "d17"
    assert pg.parse("1>2:2.5, 2>3, 4") == pg.PreferenceGraph([(1, 2, {"weight": 2.5}), (2, 3)], nodes=[4])
    with pytest.raises(InvalidNotation, match=r"'a>b, a>b:2': the edge 'a'>'b' stands twice; write it once"):
        pg.parse("a>b, a>b:2")
    for text, rule in [("a>a", "itself"), ("a>b, b>a", "each preferred"), ("a>b:-1", "weight -1"), ("[a|a]", "twice")]:
        with pytest.raises(InvalidGraph, match=f"instance 'd17': .*{rule}"):
            pg.parse(text, instance="d17")


def test_from_networkx_takes_graphs_only():
    with pytest.raises(InvalidGraph, match=r"list is not a networkx graph; give an nx.DiGraph"):
        pg.from_networkx([(1, 2)])
    graph = pg.from_networkx(nx.DiGraph([(1, 2, {"weight": 2})], instance="d17"))
    assert (graph.instance, graph[1][2]) == ("d17", {"weight": 2})


@pytest.mark.parametrize("given", [None, 5])
@pytest.mark.parametrize(
    ("build", "kind"),
    [
        (pg.from_layers, "layers"),
        (pg.from_ranking, "labels, best first"),
        (pg.from_pairs, "votes"),
        (lambda given, **more: pg.from_ranking("ab", labels=given or 0, **more), "labels"),
        (lambda given, **more: pg.from_pairs([("a", "b")], labels=given, **more), "labels"),
        (lambda given, **more: pg.multiclass("a", given, **more), "labels"),
        (lambda given, **more: pg.multilabel(given, "abc", **more), "labels"),
        (lambda given, **more: pg.multilabel("a", given, **more), "labels"),
        (lambda given, **more: pg.ordinal(1, given, **more), "labels"),
    ],
)
def test_what_is_no_collection_is_named(build, kind, given):
    with pytest.raises(InvalidGraph, match=f"instance 'd17': .* is not a collection of {kind}; put a single one in"):
        build(given, instance="d17")


def test_votes_past_the_largest_float_are_named():
    with pytest.raises(InvalidGraph, match="instance 'd17': the weights of the votes for 'a' against 'b' add up to"):
        pg.from_pairs([("a", "b", 1e308)] * 3, instance="d17")


@pytest.mark.parametrize("text", ["[a", "a>b, a>b", "a>b:x"])
def test_parse_names_the_instance(text):
    with pytest.raises(InvalidNotation, match=f"^instance 'd17': {re.escape(repr(text))}"):
        pg.parse(text, instance="d17")


@given(graph=preference_graphs(weights=st.floats(0.1, 9.0)))
def test_format_is_what_parse_reads_and_what_str_shows(graph):
    text = pg.format(graph)
    assert text == str(graph) == pg.format(nx.DiGraph(graph))
    assert pg.parse(text) == graph


def test_format_refuses_what_parse_could_not_read():
    assert str(pg.PreferenceGraph([((1, 2), "a")])) == "[(1, 2)|'a']"
    with pytest.raises(InvalidLabel, match=r"label \(1, 2\) is a tuple; labels are str or int where"):
        pg.format(pg.PreferenceGraph([((1, 2), "a")]))
    with pytest.raises(InvalidGraph, match="str is not a networkx graph"):
        pg.format("[a|b]")
