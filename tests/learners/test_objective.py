"""The log-linear loss: every road to it meets the definition, and it has the properties of its paper."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import prefgraph as pg
from learners import _loss_kernels as kernels
from learners._objective import Objective
from learners._threads import over_rows, thread_limit
from prefgraph import DECOMPOSITIONS, PreferenceGraph, Preferences, metrics
from prefgraph.errors import InvalidScores
from tests.oracles import naive_log_linear, naive_parts
from tests.strategies import scored_preferences

NAMES = list(DECOMPOSITIONS)


def paths(graph):
    """Overlapping parts: the edges at each label."""
    return [part for v in graph if (part := [*graph.in_edges(v), *graph.out_edges(v)])]


def first_edge_of_odd_instances(graph, instance):
    """Parts that depend on the instance, and none for some."""
    return [[edge] for edge in list(graph.edges)[: instance % 2]]


def expected(p, scores, parts_of):
    """Loss, In and Out of all instances by the naive loops."""
    loss, flow_in, flow_out = [], [], []
    for i, graph in enumerate(p):
        score = dict(zip(p.labels, scores[i].tolist(), strict=True))
        one, inner, outer = naive_log_linear(graph, parts_of(graph, i), score)
        weight = float(p.weight[i])
        loss.append(weight * one)
        flow_in.append([weight * inner[v] for v in p.labels])
        flow_out.append([weight * outer[v] for v in p.labels])
    return np.array(loss), np.array(flow_in), np.array(flow_out)


def assert_close(found, wanted, rtol=1e-10):
    for one, other in zip(found, wanted, strict=True):
        np.testing.assert_allclose(one, other, rtol=rtol, atol=1e-290)


def spread(draw_scores, factor):
    """Scores of a test, as large as the test wants them."""
    return draw_scores.astype(np.float64) * factor


factors = st.sampled_from([1.0, 7.3, 60.0, 133.0, 1000.0])


@pytest.mark.parametrize("name", NAMES)
@given(given_=scored_preferences(), factor=factors)
def test_layers_and_edges_and_the_definition_agree(name, given_, factor):
    p, scores = given_
    scores = spread(scores, factor)
    wanted = expected(p, scores, lambda graph, _: naive_parts(graph, name))
    assert_close(Objective(p, name).value_and_flows(scores), wanted)
    assert_close(Objective(p.encoded("layered"), name).value_and_flows(scores), wanted)
    assert_close(Objective(p.encoded("edges"), name).value_and_flows(scores), wanted)


@pytest.mark.parametrize("cut", [paths, first_edge_of_odd_instances, pg.compose("domination", paths)])
@given(given_=scored_preferences(), factor=factors)
def test_any_decomposition_agrees_with_the_definition(cut, given_, factor):
    p, scores = given_
    scores = spread(scores, factor)
    takes_instance = cut is first_edge_of_odd_instances
    wanted = expected(p, scores, lambda graph, i: list(cut(graph, i) if takes_instance else cut(graph)))
    assert_close(Objective(p, cut).value_and_flows(scores), wanted)


@pytest.mark.parametrize("name", NAMES)
def test_a_function_and_its_name_are_one_decomposition(name):
    p = pg.as_preferences(["[a|b,c]", "a>b, b>c, c>a"], form="notation")
    scores = np.array([[1.0, 2.0, 3.0], [0.5, 0.0, -1.0]])
    for one, other in zip(
        Objective(p, name).value_and_flows(scores),
        Objective(p, DECOMPOSITIONS[name]).value_and_flows(scores),
        strict=True,
    ):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("name", NAMES)
@given(given_=scored_preferences())
def test_the_gradient_by_the_scores_is_in_minus_out(name, given_):
    p, scores = given_
    scores = scores.astype(np.float64)
    objective = Objective(p, name)
    _, flow_in, flow_out = objective.value_and_flows(scores)
    h = 1e-5
    for y in range(scores.shape[1]):
        step = np.zeros_like(scores)
        step[:, y] = h
        up, down = objective.value_and_flows(scores + step)[0], objective.value_and_flows(scores - step)[0]
        np.testing.assert_allclose((up - down) / (2 * h), (flow_in - flow_out)[:, y], rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("name", NAMES)
@given(given_=scored_preferences())
def test_the_loss_over_log_2_bounds_the_error(name, given_):
    p, scores = given_
    p = p.with_weight(None)
    # an edge of a small weight asks for less than its count in the error
    plain = Preferences.from_graphs([PreferenceGraph(g.edges, nodes=g.nodes) for g in p], p.labels)
    loss, *_ = Objective(plain, name).value_and_flows(scores)
    assert np.all(loss / np.log(2) >= metrics.graph_errors(plain, scores, name) - 1e-7)


@given(scores=st.lists(st.floats(-1e3, 1e3), min_size=3, max_size=3))
def test_no_scores_satisfy_a_cycle(scores):
    p = pg.as_preferences(["a>b, b>c, c>a"], form="notation")
    row = np.array([scores])
    # the margins of a cycle add up to 0, so by convexity the loss is least where they all are 0
    floors = {"identity": np.log(4), "disagreement": np.log(2), "domination": np.log(2), "dominated": np.log(2)}
    for name, floor in floors.items():
        assert Objective(p, name).value_and_flows(row)[0][0] >= floor - 1e-12
        assert Objective(p, name).value_and_flows(np.zeros((1, 3)))[0][0] == pytest.approx(floor)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("name", NAMES)
def test_scores_of_any_size_overflow_nothing(name, dtype):
    p = pg.as_preferences(["[a,b|c|d]", "a>b, b>c, c>a, d"], form="notation")
    for size in (0.0, 30.0, 1e3, 1e6, 1e30):
        scores = np.array([[-size, size, size, 0], [size, -size, 0, size]], dtype)
        loss, flow_in, flow_out = Objective(p, name).value_and_flows(scores)
        assert np.all(np.isfinite(loss))
        assert flow_in.dtype == flow_out.dtype == dtype
        for flow in (flow_in, flow_out):
            assert np.all((flow >= 0) & (flow <= 1 + 1e-6))
        if size == 1e3 and name == "identity":
            assert loss == pytest.approx([2e3, 1e3], rel=1e-2)


@pytest.mark.parametrize("name", NAMES)
@given(given_=scored_preferences())
def test_what_flows_in_flows_out(name, given_):
    p, scores = given_
    _, flow_in, flow_out = Objective(p, name).value_and_flows(scores.astype(np.float64))
    np.testing.assert_allclose(flow_in.sum(axis=1), flow_out.sum(axis=1), rtol=1e-12)
    assert np.all(flow_in.sum(axis=1) <= p.weight)  # q of a part adds up to less than 1


@pytest.mark.parametrize("name", NAMES)
def test_single_precision_agrees_with_double(name):
    rng = np.random.default_rng(3)
    p = Preferences.from_layer_matrix(rng.integers(-2, 3, size=(40, 7)))
    scores = rng.normal(size=(40, 7), scale=5).astype(np.float32)
    single = Objective(p, name).value_and_flows(scores)
    double = Objective(p, name).value_and_flows(scores.astype(np.float64))
    assert single[1].dtype == np.float32
    np.testing.assert_allclose(single[0], double[0], rtol=1e-12)
    for one, other in zip(single[1:], double[1:], strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-6, atol=1e-37)


@pytest.mark.parametrize("name", [*NAMES, paths])
def test_the_result_is_the_same_for_any_number_of_threads_and_any_blocks(name, monkeypatch):
    monkeypatch.setattr("learners._threads.SCORES", 1000)
    rng = np.random.default_rng(5)
    p = Preferences.from_layer_matrix(rng.integers(0, 3, size=(2500, 5)))
    scores = rng.normal(size=(2500, 5))
    objective = Objective(p, name)
    results = []
    for threads in (1, 2, 3):
        with thread_limit(threads):
            results.append(objective.value_and_flows(scores))
    blocks = [slice(0, 1000), slice(1000, 1001), slice(1001, 2500)]
    pieces = [objective.value_and_flows(scores[rows], rows) for rows in blocks]
    results.append(tuple(np.concatenate(piece) for piece in zip(*pieces, strict=True)))
    for other in results[1:]:
        for one, two in zip(results[0], other, strict=True):
            np.testing.assert_array_equal(one, two)


@given(n=st.integers(0, 40), width=st.integers(0, 9), threads=st.integers(1, 4), scores=st.integers(1, 40))
def test_blocks_cover_every_row_once(n, width, threads, scores):
    seen = np.zeros(n, int)

    def visit(start, stop):
        seen[start:stop] += 1

    with thread_limit(threads), pytest.MonkeyPatch.context() as patch:
        patch.setattr("learners._threads.SCORES", scores)
        over_rows(visit, (n, width))
    assert np.all(seen == 1)


def test_an_error_in_a_thread_reaches_the_caller(monkeypatch):
    monkeypatch.setattr("learners._threads.SCORES", 1)

    def fail(start, stop):
        raise KeyError(start)

    with thread_limit(2), pytest.raises(KeyError):
        over_rows(fail, (10, 1))


@pytest.mark.parametrize("name", NAMES)
def test_wide_rows_take_the_same_road_as_narrow_ones(name, monkeypatch):
    # the road of logarithms, asked for rows that do not need it
    rng = np.random.default_rng(11)
    p = Preferences.from_layer_matrix(rng.integers(-2, 4, size=(60, 30)))
    scores = rng.normal(size=(60, 30), scale=4)
    wanted = Objective(p, name).value_and_flows(scores)
    shifted = scores.copy()
    lone = np.argmax(p.layer[p.graph_index] == -1, axis=1)  # a label that is no vertex may have any score
    shifted[np.arange(60), lone] = np.where(p.layer[p.graph_index, lone] == -1, 1e9, shifted[np.arange(60), lone])
    assert_close(Objective(p, name).value_and_flows(shifted), wanted)


@pytest.mark.parametrize("name", NAMES)
def test_labels_of_each_instance_are_scored_by_position(name):
    p = pg.as_preferences(["[x1|x2]", "[y2|y1,y3]"], form="notation").local()
    scores = np.array([[0.0, 1.0, np.finfo(float).max], [2.0, 1.0, 0.0]])
    wanted = expected(p, scores, lambda graph, _: naive_parts(graph, name))
    assert_close(Objective(p, name).value_and_flows(scores), wanted)


def test_weight_replaces_that_of_the_preferences():
    p = pg.as_preferences([{"a"}, {"b"}], labels="ab", weight=[3.0, 1.0])
    scores = np.zeros((2, 2))
    np.testing.assert_allclose(Objective(p).value_and_flows(scores)[0], np.log(2) * np.array([3.0, 1.0]))
    np.testing.assert_allclose(Objective(p, weight=[0.0, 5.0]).value_and_flows(scores)[0], [0.0, 5 * np.log(2)])


def test_no_instances_and_no_edges_cost_nothing():
    empty = Preferences.from_layer_matrix(np.zeros((0, 3), int))
    assert Objective(empty).value_and_flows(np.zeros((0, 3)))[1].shape == (0, 3)
    flat = Preferences.from_layer_matrix([[0, 0], [-1, -2]])
    for name in NAMES:
        objective = Objective(flat, name)
        assert objective.n_parts.tolist() == [0, 0]
        assert [a.any() for a in objective.value_and_flows(np.ones((2, 2)))] == [False] * 3


def test_scores_of_a_wrong_shape_are_refused():
    with pytest.raises(InvalidScores, match=r"shape \(2, 2\) for 1 instances and 3 labels"):
        Objective(pg.as_preferences(["[a|b,c]"], form="notation")).value_and_flows(np.zeros((2, 2)))


@pytest.mark.parametrize("name", NAMES)
@given(given_=scored_preferences())
def test_the_number_of_parts_is_that_of_the_parts(name, given_):
    p, _ = given_
    np.testing.assert_array_equal(Objective(p, name).n_parts, p.parts(name).counts)


def test_the_spread_leaves_room_for_the_sums():
    assert np.isfinite(np.exp(kernels.SPREAD) * 1e12 * kernels.FULL)
