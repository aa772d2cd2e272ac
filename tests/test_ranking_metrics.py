"""Ranking metrics against their definitions, against scikit-learn, and against each other."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import coverage_error, label_ranking_average_precision_score, roc_auc_score

import prefgraph as pg
from prefgraph import Preferences, as_preferences, metrics
from prefgraph import _metric_kernels as kernels
from prefgraph.errors import InvalidOption, InvalidTarget
from prefgraph.metrics import _ranking
from tests.oracles import (
    naive_auc,
    naive_average_precision,
    naive_coverage,
    naive_interpolated_precision,
    naive_precision_recall,
    naive_worst_order,
)
from tests.strategies import scored_preferences

RANKING = {
    "auc": lambda g, s: naive_auc(g, s, 0.5),
    "auc_strict": lambda g, s: naive_auc(g, s, 0.0),
    "average_precision": naive_average_precision,
    "coverage": naive_coverage,
    "max_f1": lambda g, s: max(map(f1, *zip(*all_cuts(g, s), strict=True))),
    "one_error": lambda g, s: float(not [*naive_worst_order(g, s), True][0]),
}
AT_R = {
    "aup_at": naive_average_precision,
    "precision_at": lambda g, s, r: naive_precision_recall(g, s, r)[0],
    "recall_at": lambda g, s, r: naive_precision_recall(g, s, r)[1],
}


def f1(precision, recall):
    return 2 * precision * recall / (precision + recall) if precision + recall else 0.0


def all_cuts(graph, score):
    return [naive_precision_recall(graph, score, r) for r in range(1, len(score) + 1)]


def each(p, scores, naive, *more):
    return [naive(g, dict(zip(p.labels, row.tolist(), strict=True)), *more) for g, row in zip(p, scores, strict=True)]


def weighted_edges(p):
    """The same graphs with a weight on each edge: what makes `Preferences` list the edges."""
    graphs = list(p)
    for graph in graphs:
        for u, v in graph.edges:
            graph[u][v]["weight"] = 2.0
    return Preferences.from_graphs(graphs, p.labels, p.weight)


@pytest.mark.parametrize("name", RANKING)
@given(data=scored_preferences(layered=True))
def test_ranking_metrics_are_those_of_the_loop(name, data):
    p, scores = data
    expected = np.average(each(p, scores, RANKING[name]), weights=p.weight)
    assert getattr(metrics, name)(p, scores) == pytest.approx(expected)
    assert getattr(metrics, name)(weighted_edges(p), scores) == pytest.approx(expected)


@pytest.mark.parametrize("name", AT_R)
@given(data=scored_preferences(layered=True), r=st.integers(1, 8))
def test_metrics_at_r_are_those_of_the_loop(name, data, r):
    p, scores = data
    expected = np.average(each(p, scores, AT_R[name], r), weights=p.weight)
    assert getattr(metrics, name)(p, scores, r) == pytest.approx(expected)


@given(data=scored_preferences(layered=True))
def test_the_curve_is_the_mean_at_each_rank_and_holds_the_best_f1_of_the_set(data):
    p, scores = data
    cuts = np.array(each(p, scores, all_cuts))
    expected = np.average(cuts, axis=0, weights=p.weight)
    precision, recall = metrics.precision_recall_curve(p, scores)
    assert np.column_stack([precision, recall]) == pytest.approx(expected)
    assert metrics.max_f1(p, scores, "set") == pytest.approx(max(map(f1, *expected.T)))


@given(data=scored_preferences(layered=True), levels=st.lists(st.sampled_from([0, 0.1, 1 / 3, 0.5, 1]), max_size=4))
def test_precision_at_recall_levels_is_the_best_one_from_there_on(data, levels):
    p, scores = data
    precision, recall = metrics.precision_recall_curve(p, scores, levels)
    assert recall.tolist() == levels
    expected = [np.average(each(p, scores, naive_interpolated_precision, t), weights=p.weight) for t in levels]
    assert precision == pytest.approx(np.array(expected))


@given(data=scored_preferences(layered=True))
def test_compiled_counts_are_the_interpreted_ones(data):
    p, scores = data
    names = ("average_precision", "coverage", "auc", "auc_strict")

    def answers():
        curve = metrics.precision_recall_curve(p, scores, [0.0, 0.5, 1.0])[0].tolist()
        return [curve, *(getattr(metrics, name)(p, scores) for name in names)]

    expected = answers()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_ranking, "relevance_counts", kernels.relevance_counts.py_func)
        patch.setattr(_ranking, "best_from_here", kernels.best_from_here.py_func)
        assert answers() == expected


@given(st.integers(1, 5), st.integers(2, 6), st.data())
def test_average_precision_and_coverage_are_those_of_scikit_learn(m, n_labels, data):
    cells = m * n_labels
    y = np.array(data.draw(st.lists(st.integers(0, 1), min_size=cells, max_size=cells))).reshape(m, n_labels)
    scores = np.array(data.draw(st.lists(st.integers(0, 5), min_size=cells, max_size=cells))).reshape(m, n_labels)
    expected = label_ranking_average_precision_score(y, scores)
    assert metrics.average_precision(y, scores) == pytest.approx(expected)
    some = (y.sum(axis=1) > 0) & (y.sum(axis=1) < n_labels)
    if some.any():
        assert metrics.coverage(y[some], scores[some]) == pytest.approx(coverage_error(y[some], scores[some]) - 1)


@given(data=scored_preferences(layered=True))
def test_one_error_is_at_most_loss_1_and_the_rest_of_precision_at_1(data):
    p, scores = data
    assert metrics.one_error(p, scores) <= metrics.mmp_loss(p, scores, "indicator") + 1e-12
    assert metrics.one_error(p, scores) == pytest.approx(1 - metrics.precision_at(p, scores, 1))


@given(st.lists(st.tuples(st.integers(0, 3), st.lists(st.integers(0, 5), min_size=4, max_size=4)), min_size=1))
def test_coverage_is_loss_2_for_one_relevant_label(rows):
    p = as_preferences([y for y, _ in rows], labels=range(4))
    scores = [f for _, f in rows]
    assert metrics.coverage(p, scores) == pytest.approx(metrics.mmp_loss(p, scores, "count"))


@given(data=scored_preferences(layered=True), seed=st.randoms(use_true_random=False))
def test_neither_the_order_of_labels_nor_the_scale_of_scores_matters(data, seed):
    p, scores = data
    order = list(range(len(p.labels)))
    seed.shuffle(order)
    moved, cubed = p.with_labels([p.labels[k] for k in order]), scores[:, order].astype(float) ** 3 / 2
    for name in RANKING:
        assert getattr(metrics, name)(moved, cubed) == pytest.approx(getattr(metrics, name)(p, scores))
    for name in AT_R:
        assert getattr(metrics, name)(moved, cubed, 2) == pytest.approx(getattr(metrics, name)(p, scores, 2))


@given(data=scored_preferences(layered=True))
def test_a_perfect_ranking_has_perfect_values(data):
    p, _ = data
    layer = p.encoded("layered").layer[p.encoded("layered").graph_index]
    scores = -layer.astype(float)
    perfect = {"auc": 1, "auc_strict": 1, "average_precision": 1, "max_f1": 1, "one_error": 0}
    assert {name: getattr(metrics, name)(p, scores) for name in perfect} == perfect
    assert metrics.aup_at(p, scores, len(p.labels)) == 1


def test_instances_without_edges_count_as_perfect():
    y, scores = np.array([[0, 0], [1, 1]]), [[0.3, 0.2], [0.1, 0.1]]
    values = {name: getattr(metrics, name)(y, scores) for name in RANKING}
    assert values == {**dict.fromkeys(RANKING, 1.0), "coverage": 0.0, "one_error": 0.0}
    assert {getattr(metrics, name)(y, scores, 5) for name in AT_R} == {1.0}
    assert metrics.max_f1(y, scores, "set") == 1
    assert metrics.max_f1(Preferences.from_layer_matrix(np.zeros((1, 0), int)), np.zeros((1, 0)), "set") == 1


def test_a_graph_that_is_not_layered_is_named_with_what_takes_it():
    cyclic = pg.PreferenceGraph([(0, 1), (1, 2), (2, 0)])
    p = as_preferences([pg.multiclass(0, range(3)), cyclic])
    assert metrics.mmp_loss(p, np.zeros((2, 3))) == 1
    for name in RANKING:
        with pytest.raises(InvalidTarget, match=r"instance 1: the graph is not layered.*kendall_tau take any graph"):
            getattr(metrics, name)(p, np.zeros((2, 3)))


def test_isolated_labels_are_neither_relevant_nor_in_the_way():
    p = Preferences.from_layer_matrix([[0, 1, -2, -1]])
    assert metrics.coverage(p, [[1, 0, 5, 5]]) == 0
    assert metrics.average_precision(p, [[1, 0, 5, 5]]) == 1


def test_lower_layers_are_all_irrelevant():
    p = as_preferences(["[a|b|c]"], form="notation")
    assert metrics.coverage(p, [[1, 2, 0]]) == 1
    assert metrics.auc(p, [[1, 2, 0]]) == 0.5


@given(st.lists(st.tuples(st.integers(0, 1), st.integers(0, 9)), min_size=2, max_size=40))
def test_auc_of_documents_is_that_of_scikit_learn(documents):
    y, scores = zip(*documents, strict=True)
    if len(set(y)) == 2:
        assert metrics.auc(y, scores) == pytest.approx(roc_auc_score(y, scores))
    assert metrics.auc_strict(y, scores) <= metrics.auc(y, scores)


def test_a_topic_is_one_row_over_all_documents():
    rng = np.random.default_rng(5)
    y, scores = (rng.random(3000) < 0.1).astype(int), rng.integers(0, 400, 3000) / 7
    for name in RANKING:
        assert getattr(metrics, name)(y, scores) == getattr(metrics, name)(y[None], scores[None])
    assert metrics.auc(y, scores) == pytest.approx(roc_auc_score(y, scores))
    assert metrics.auc_strict(y, scores) == 1 - metrics.graph_error(y, scores, "disagreement")
    assert metrics.precision_at(y, scores, 50) == metrics.precision_at(y[None], scores[None], 50)


def test_aup_divides_by_all_relevant_documents():
    assert metrics.aup_at([1, 0, 1, 1], [4, 3, 2, 1], 3) == pytest.approx((1 + 2 / 3) / 3)
    assert metrics.aup_at([1, 0, 1, 1], [4, 3, 2, 1], 4) == metrics.average_precision([1, 0, 1, 1], [4, 3, 2, 1])


def test_a_cut_between_equal_scores_takes_the_irrelevant_ones_first():
    y, scores = [1, 1, 1, 0], [5, 5, 5, 5]
    assert [metrics.precision_at(y, scores, r) for r in (1, 2, 4)] == [0, 1 / 2, 3 / 4]
    assert metrics.precision_at([1, 1, 0], [5, 5, 1], 1) == 1


@pytest.mark.parametrize("r", [0, -1, 1.5, True, "3"])
def test_a_cut_off_is_a_whole_number_from_1(r):
    for name in AT_R:
        with pytest.raises(InvalidOption, match=r"whole numbers from 1"):
            getattr(metrics, name)(np.array([[1, 0]]), [[1, 0]], r)


def test_words_and_levels_outside_their_range_are_named():
    with pytest.raises(InvalidOption, match="cutoff='document'"):
        metrics.max_f1(np.array([[1, 0]]), [[1, 0]], "document")
    for levels in ([0.5, 1.5], [[0.5]]):
        with pytest.raises(InvalidOption, match="recall levels are numbers from 0 to 1"):
            metrics.precision_recall_curve(np.array([[1, 0]]), [[1, 0]], levels)


@pytest.mark.parametrize("levels", ["abc", [2], [-0.1], [[0.1], [0.1, 0.2]], [[0.1]], [None]])
def test_recall_levels_are_numbers_from_zero_to_one(levels):
    with pytest.raises(InvalidOption, match=r"levels=.*; recall levels are numbers from 0 to 1 in a list"):
        metrics.precision_recall_curve(np.eye(2), np.eye(2), levels)
