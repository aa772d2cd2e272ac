"""LogLinearRanker: the sums of Fig. 3, Theorem 1, two solvers with one optimum, joint features, what fit tells."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning

import prefgraph as pg
from learners import LogLinearRanker, _features
from learners._features import Joint, LabelBlock
from learners._loglinear_loss import LogLinearLoss
from learners._solvers import Run, boost
from tests.oracles import naive_boosting_sums, naive_parts
from tests.strategies import learning_problems

names = st.sampled_from(list(pg.DECOMPOSITIONS))


def dense(X):
    return X.toarray() if sparse.issparse(X) else X


def loss_of(X, p, name="domination", nu=0.5, intercept=False):
    return LogLinearLoss(LabelBlock(X, len(p.labels), intercept=intercept), p, name, nu)


def parameters_of(loss, seed=0):
    return np.random.default_rng(seed).normal(size=loss.size)


def as_candidates(X, p):
    """Label-block features written out as joint ones: a row of kron(x_i, [y = .]) for each label of each instance."""
    L = len(p.labels)
    rows = np.concatenate([np.kron(x, np.eye(L)) for x in dense(X)])
    return pg.Candidates(rows, L * np.arange(len(p) + 1), p.labels * len(p))


def edges_of(X, p, name):
    """What the naive sums want: parts with their scale, edges with their weight and pi."""
    L = len(p.labels)
    found = []
    for i, graph in enumerate(p):
        parts = naive_parts(graph, name)
        for part in parts:
            rows = []
            for u, v in part:
                end = np.zeros(L)
                end[p.labels.index(v)] += 1
                end[p.labels.index(u)] -= 1
                rows.append((graph[u][v].get("weight", 1.0), np.kron(dense(X)[i], end).tolist()))
            found.append((p.weight[i] / len(parts), rows))
    return found


@given(problem=learning_problems(), name=names)
def test_the_sums_are_those_of_figure_3(problem, name):
    X, p = problem
    loss = loss_of(X, p, name, nu=0.0)
    parameters = parameters_of(loss)
    value, rising, falling, rho = naive_boosting_sums(edges_of(X, p, name), parameters.tolist())
    found = loss.value_and_weights(parameters)
    assert found.value == pytest.approx(value)
    np.testing.assert_allclose(found.rising, rising, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(found.falling, falling, rtol=1e-9, atol=1e-12)
    assert loss.step_bound() == pytest.approx(rho)


@given(problem=learning_problems(), name=names)
def test_joint_features_that_spell_out_label_blocks_are_label_blocks(problem, name):
    X, p = problem
    block = loss_of(X, p, name)
    joint = LogLinearLoss(Joint(as_candidates(X, p), p), p, name, 0.5)
    parameters = parameters_of(block)
    for one, other in zip(block.value_and_weights(parameters), joint.value_and_weights(parameters), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-12)
    for one, other in zip(block.value_and_gradient(parameters), joint.value_and_gradient(parameters), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-12)
    assert joint.value(parameters) == pytest.approx(block.value(parameters))
    assert joint.step_bound() == pytest.approx(block.step_bound())


@given(problem=learning_problems(), name=names, intercept=st.booleans())
def test_the_gradient_is_that_of_finite_differences_and_the_difference_of_the_sums(problem, name, intercept):
    X, p = problem
    loss = loss_of(X, p, name, intercept=intercept)
    parameters = parameters_of(loss)
    value, gradient = loss.value_and_gradient(parameters)
    sums = loss.value_and_weights(parameters)
    assert value == pytest.approx(sums.value) == pytest.approx(loss.value(parameters))
    np.testing.assert_allclose(gradient, sums.rising - sums.falling, rtol=1e-9, atol=1e-12)
    h = 1e-5
    steps = h * np.eye(loss.size)
    slopes = [(loss.value(parameters + e) - loss.value(parameters - e)) / (2 * h) for e in steps]
    np.testing.assert_allclose(gradient, slopes, rtol=1e-5, atol=1e-6)


@settings(max_examples=50)
@given(problem=learning_problems(), name=names, nu=st.sampled_from([0.0, 0.01, 1.0]), intercept=st.booleans())
def test_theorem_1_bounds_the_decrease_of_every_iteration(problem, name, nu, intercept):
    X, p = problem
    loss = loss_of(X, p, name, nu, intercept)
    rho = loss.step_bound()
    first = loss.value_and_weights(np.zeros(loss.size))
    assume(nu > 0 or np.all((first.rising > 0) == (first.falling > 0)))  # the theorem wants both sums, or none
    run = Run(np.zeros(loss.size))
    for _ in range(6):
        value, rising, falling = loss.value_and_weights(run.parameters)
        boost(loss, run, 1, 0.0, 1.0, lambda *_: None, None)
        bound = ((np.sqrt(rising) - np.sqrt(falling)) ** 2).sum() / rho if rho else 0.0
        assert value - run.curve[-1] >= bound - 1e-9 * max(1.0, value)


@settings(max_examples=15, deadline=None)
@given(problem=learning_problems(max_labels=4, max_features=2), name=names, intercept=st.booleans())
def test_boosting_and_lbfgs_meet_at_the_optimum(problem, name, intercept):
    X, p = problem
    assume(len(p.labels) > 1)
    common = {"decomposition": name, "regularization": 0.5, "fit_intercept": intercept}
    quick = LogLinearRanker(**common, tol=1e-9).fit(X, p)
    slow = LogLinearRanker(**common, solver="boosting", tol=1e-6, max_iter=5000).fit(X, p)
    np.testing.assert_allclose(slow.coef_, quick.coef_, atol=1e-4)
    np.testing.assert_allclose(slow.intercept_, quick.intercept_, atol=1e-4)


@given(problem=learning_problems(), name=names)
def test_the_loss_over_log_2_bounds_the_error(problem, name):
    X, p = problem
    assume(p.table.weight.min(initial=1.0) >= 1.0)  # a tie on an edge of a smaller weight costs less than log 2
    loss = loss_of(X, p, name, nu=0.0)
    parameters = parameters_of(loss)
    scores = dense(X) @ parameters.reshape(-1, len(p.labels))
    assert pg.metrics.graph_error_sum(p, scores, name) <= loss.value(parameters) / np.log(2) * (1 + 1e-12)


@pytest.mark.parametrize(
    ("name", "floor"), [("identity", np.log(4)), ("disagreement", np.log(2)), ("domination", np.log(2))]
)
def test_a_cycle_of_three_trains_and_its_loss_has_the_right_floor(name, floor):
    p = pg.as_preferences(["a>b, b>c, c>a"] * 4, form="notation")
    X = np.ones((4, 1))
    model = LogLinearRanker(name, regularization=1e-6, tol=1e-10, warm_start=True)
    model.coef_, model.intercept_ = np.array([[1.0], [0.5], [-2.0]]), np.zeros(3)
    model.labels_, model._is_joint = np.array(["a", "b", "c"]), False
    model.fit(X, p)
    np.testing.assert_allclose(model.coef_ - model.coef_.mean(), 0, atol=1e-3)
    assert model.loss_curve_[-1] - 4 * floor == pytest.approx(0, abs=1e-4)
    assert np.all(model.loss_curve_ >= 4 * floor)


# -- what fit reports --------------------------------------------------------------------------------------------------


def problem(m=60, seed=0):
    X = np.random.default_rng(seed).normal(size=(m, 4))
    return X, pg.as_preferences(np.argsort(np.argsort(-X[:, :3], axis=1), axis=1) + 1, labels="abc", form="ranks")


@pytest.mark.parametrize("solver", ["lbfgs", "boosting"])
def test_the_curve_is_the_minimised_sum_after_each_iteration(solver):
    X, p = problem()
    model = LogLinearRanker(solver=solver, max_iter=12, tol=0, regularization=0.3).fit(X, p)
    assert model.n_iter_ == len(model.loss_curve_) == 12
    assert np.all(np.diff(model.loss_curve_) <= 0)
    assert loss_of(X, p, nu=0.3).value(model.coef_.T.ravel()) == pytest.approx(model.loss_curve_[-1])


@pytest.mark.parametrize("solver", ["lbfgs", "boosting"])
def test_too_few_iterations_are_a_warning_and_a_flag(solver):
    X, p = problem()
    with pytest.warns(ConvergenceWarning, match=r"max_iter=2 .* tol=1e-06"):
        model = LogLinearRanker(solver=solver, max_iter=2, tol=1e-6).fit(X, p)
    assert not model.converged_
    assert LogLinearRanker(solver=solver, max_iter=5000, tol=1e-2).fit(X, p).converged_


def test_a_warm_start_goes_on_where_the_last_fit_stopped():
    X, p = problem()
    model = LogLinearRanker(solver="boosting", max_iter=5, tol=0, warm_start=True).fit(X, p)
    model.fit(X, p)
    at_once = LogLinearRanker(solver="boosting", max_iter=10, tol=0).fit(X, p)
    np.testing.assert_allclose(model.coef_, at_once.coef_, rtol=1e-12)
    assert model.n_iter_ == 5
    quick = LogLinearRanker(warm_start=True, fit_intercept=True, tol=1e-5).fit(X, p)
    assert quick.fit(X, p).n_iter_ <= 1


def test_a_warm_start_from_other_features_or_labels_is_an_error():
    X, p = problem()
    model = LogLinearRanker(warm_start=True).fit(X, p)
    with pytest.raises(pg.InvalidOption, match="warm_start=True"):
        model.fit(X[:, :3], p)
    model = LogLinearRanker(warm_start=True).fit(X, p)
    with pytest.raises(pg.InvalidOption, match="other labels"):
        model.fit(X, p.rename({"a": "z"}))


@pytest.mark.parametrize(("solver", "method"), [("lbfgs", "value_and_gradient"), ("boosting", "value_and_weights")])
def test_an_interruption_keeps_the_last_iteration(solver, method, monkeypatch):
    X, p = problem()
    calls, original = [], getattr(LogLinearLoss, method)

    def interrupted(self, parameters):
        calls.append(1)
        if len(calls) == 7:
            raise KeyboardInterrupt
        return original(self, parameters)

    monkeypatch.setattr(LogLinearLoss, method, interrupted)
    model = LogLinearRanker(solver=solver, tol=0)
    with pytest.warns(ConvergenceWarning, match="interrupted after"):
        model.fit(X, p)
    assert 0 < model.n_iter_ < 7
    assert loss_of(X, p, nu=model.regularization_).value(model.coef_.T.ravel()) <= model.loss_curve_[-1] + 1e-9
    assert model.score(X, p) > 0.5


def test_a_step_without_bound_is_an_error_unless_smoothed():
    X, p = [[1.0], [1.0]], ["a", "a"]
    p = pg.as_preferences(p, labels="ab")
    with pytest.raises(pg.InvalidOption, match=r"regularization=0 and smoothing=None"):
        LogLinearRanker(solver="boosting", regularization=0, max_iter=3, tol=0).fit(X, p)
    model = LogLinearRanker(solver="boosting", regularization=0, smoothing=0.1, max_iter=30, tol=0).fit(X, p)
    assert np.all(np.diff(model.loss_curve_) < 0)
    assert model.rank(X).tolist() == [["a", "b"]] * 2


def test_no_edges_at_all_learn_nothing():
    p = pg.as_preferences([pg.PreferenceGraph(nodes="ab")] * 2)
    for solver in ("lbfgs", "boosting"):
        model = LogLinearRanker(solver=solver, regularization=0).fit([[1.0], [2.0]], p)
        np.testing.assert_array_equal(model.coef_, 0)


def test_progress_is_written_where_asked(capsys):
    X, p = problem()
    LogLinearRanker(verbose=2, max_iter=4, tol=0).fit(X, p)
    shown = capsys.readouterr().err.splitlines()
    assert [line.split(":")[0] for line in shown] == ["iteration 2", "iteration 4"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"solver": "newton"}, "solver='newton'"),
        ({"regularization": -1}, "regularization=-1"),
        ({"regularization": "none"}, "regularization='none'"),
        ({"regularization": float("nan")}, "regularization=nan"),
        ({"max_iter": 1.5}, r"max_iter=1\.5"),
        ({"max_iter": True}, "max_iter=True"),
        ({"tol": "small"}, "tol='small'"),
        ({"smoothing": 0}, "smoothing=0"),
        ({"decomposition": "stars"}, "'stars'"),
    ],
)
def test_a_parameter_outside_its_range_is_named(options, message):
    with pytest.raises(ValueError, match=message) as caught:
        LogLinearRanker(**options).fit(*problem())
    assert isinstance(caught.value, pg.PrefGraphError)


# -- roads that meet ---------------------------------------------------------------------------------------------------


def test_single_precision_stays_single_and_is_close():
    X, p = problem()
    single, double = LogLinearRanker(tol=1e-3).fit(X.astype(np.float32), p), LogLinearRanker(tol=1e-3).fit(X, p)
    assert single.coef_.dtype == single.decision_function(X.astype(np.float32)).dtype == np.float32
    assert double.coef_.dtype == np.float64
    np.testing.assert_allclose(single.coef_, double.coef_, atol=1e-2)


def test_the_default_regularization_goes_with_the_unit_of_the_features():
    X, p = problem()
    model, scaled = LogLinearRanker(tol=1e-8).fit(X, p), LogLinearRanker(tol=1e-8).fit(100 * X, p)
    assert scaled.regularization_ == pytest.approx(1e4 * model.regularization_)
    assert model.regularization_ == pytest.approx(0.05 * (X**2).sum(axis=1).mean())
    assert np.mean(model.rank(X) == scaled.rank(100 * X)) > 0.95


@given(problem=learning_problems())
def test_the_spread_of_joint_features_is_that_of_the_candidates_about_their_mean(problem):
    X, p = problem
    rows = as_candidates(X, p)
    everyone = np.arange(len(p))
    blocks, joint = LabelBlock(X, len(p.labels)), Joint(rows, p)
    sizes = np.diff(p.vertex_lists()[0])
    expected = (dense(X) ** 2).sum(axis=1) * (1 - 1 / np.maximum(sizes, 1))
    assert joint.spread(everyone, p.weight) == pytest.approx(np.average(expected, weights=p.weight), abs=1e-12)
    assert blocks.spread(everyone, p.weight) == pytest.approx(
        np.average((dense(X) ** 2).sum(axis=1), weights=p.weight), abs=1e-12
    )


def test_a_decomposition_of_ones_own_takes_the_expanded_road_to_the_same_model():
    X, p = problem()
    own = LogLinearRanker(lambda graph: list(pg.domination(graph)), tol=1e-6).fit(X, p)
    np.testing.assert_allclose(own.coef_, LogLinearRanker(tol=1e-6).fit(X, p).coef_, atol=1e-5)


@pytest.mark.parametrize("solver", ["lbfgs", "boosting"])
def test_blocks_of_rows_add_up_to_the_whole(solver, monkeypatch):
    X, p = problem()
    whole = LogLinearRanker(solver=solver, max_iter=8, tol=0).fit(sparse.csr_array(X), p)
    monkeypatch.setattr(_features, "ENTRIES_OF_A_BLOCK", 21)
    assert len(LabelBlock(X, 3).blocks) == 9
    pieces = LogLinearRanker(solver=solver, max_iter=8, tol=0).fit(sparse.csr_array(X), p)
    np.testing.assert_allclose(pieces.coef_, whole.coef_, rtol=1e-6, atol=1e-8)


# -- joint features ----------------------------------------------------------------------------------------------------


def answers(m=30, seed=0):
    """Each instance has candidates of its own, two to four; the better one has the larger first feature."""
    rng = np.random.default_rng(seed)
    sizes = rng.integers(2, 5, m)
    offsets = np.concatenate([[0], np.cumsum(sizes)])
    X = rng.normal(size=(offsets[-1], 3))
    labels = [f"q{i}a{k}" for i in range(m) for k in range(sizes[i])]
    order = [sorted(range(a, b), key=lambda r: -X[r, 0]) for a, b in pairwise(offsets)]
    graphs = [pg.from_ranking([labels[r] for r in best]) for best in order]
    return pg.PreferenceDataset(preferences=graphs, candidates=pg.Candidates(X, offsets, labels)), order


@pytest.mark.parametrize("solver", ["lbfgs", "boosting"])
def test_candidates_of_each_instance_are_ranked_by_joint_features(solver):
    data, order = answers()
    model = LogLinearRanker(solver=solver, regularization=0.01, max_iter=3000, tol=1e-2).fit(data)
    assert model.coef_.shape == (3,)
    assert model.coef_[0] > 5 * np.abs(model.coef_[1:]).max()
    labels = data.candidates.labels
    found = model.rank(data.candidates)
    assert np.mean([one == [labels[r] for r in best] for one, best in zip(found, order, strict=True)]) > 0.8
    assert found == model.rank(data)
    assert model.decision_function(data).shape == (len(labels),)
    assert model.score(data) > 0.8
    assert [graph.layers() for graph in model.predict(data)] == [[[v] for v in one] for one in found]


def test_the_two_solvers_meet_on_joint_features():
    data, _ = answers()
    quick = LogLinearRanker("identity", regularization=1, tol=1e-8).fit(data)
    slow = LogLinearRanker("identity", regularization=1, solver="boosting", tol=1e-6, max_iter=5000).fit(data)
    np.testing.assert_allclose(slow.coef_, quick.coef_, atol=1e-4)


def test_violations_of_candidates_name_their_labels():
    data, _ = answers()
    model = LogLinearRanker(max_iter=1, tol=0).fit(data)
    f = dict(zip(data.candidates.labels, model.decision_function(data), strict=True))
    expected = {
        (key, u, v) for key, g in zip(data.keys, data.preferences, strict=True) for u, v in g.edges if f[u] <= f[v]
    }
    rows = model.violations(data).to_pylist()
    assert expected
    assert {(row["key"], row["init"], row["term"]) for row in rows} == expected
    assert rows == sorted(rows, key=lambda row: row["margin"])


def test_a_candidate_that_no_edge_names_is_ranked_too():
    rows = pg.Candidates([[1.0], [0.0], [5.0]], [0, 3], ["good", "bad", "new"])
    data = pg.PreferenceDataset(preferences=[pg.PreferenceGraph([("good", "bad")])], candidates=rows)
    assert LogLinearRanker().fit(data).rank(rows) == [["new", "good", "bad"]]


def test_features_of_the_other_kind_are_an_error():
    data, _ = answers()
    joint = LogLinearRanker().fit(data)
    with pytest.raises(pg.InvalidDataset, match="fitted on joint features"):
        joint.rank(np.zeros((2, 3)))
    with pytest.raises(pg.InvalidTarget, match="y is None"):
        joint.score(data.candidates)
    X, p = problem()
    with pytest.raises(pg.InvalidDataset, match="fitted on X"):
        LogLinearRanker().fit(X, p).rank(data.candidates)
