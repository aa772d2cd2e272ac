"""PreferenceModel: its risk is the definition, its solvers reach the minimum, and it keeps the laws of its paper."""

import itertools
import warnings
from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize
from sklearn.datasets import make_classification
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import LinearSVC

import prefgraph as pg
from learners import PreferenceModel, kesler
from learners._plm_risk import Risk, candidate_losses
from learners._threads import thread_limit
from learners.codes import CODES
from learners.losses import LOSSES, SMOOTH_LOSSES
from prefgraph import DECOMPOSITIONS, Preferences, TooLarge
from prefgraph.errors import InvalidDecomposition, InvalidOption
from tests.oracles import NAIVE_LOSSES, listed_plm_risk, naive_parts, naive_plm_risk
from tests.strategies import scored_preferences

CYCLE = "a>b, b>c, c>a"
MIXED = pg.as_preferences(["[a|b,c]", CYCLE, "[b|c|a]", "a>c:2.5, b", "[c|a,b]", "[a,b|c]"], form="notation")
FEATURES = np.random.default_rng(7).normal(size=(6, 3))


def overlapping(graph):
    """Parts that share edges: the edges at each label."""
    return [part for v in graph if (part := [*graph.in_edges(v), *graph.out_edges(v)])]


def adjacent_layers(graph):
    """[AS05, Fig. 1(f)]."""
    layers = graph.layers()
    return [[(a, b)] for up, down in itertools.pairwise(layers) for a in up for b in down]


def naive_risks(p, scores, parts_of, loss, aggregate):
    rows = [dict(zip(p.labels, row, strict=True)) for row in scores.astype(float).tolist()]
    return [
        w * naive_plm_risk(graph, parts_of(graph), score, loss, aggregate)
        for graph, score, w in zip(p, rows, p.weight, strict=True)
    ]


# -- the risk ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("aggregate", ["max", "sum"])
@pytest.mark.parametrize("loss", LOSSES)
@given(given_=scored_preferences(), name=st.sampled_from([*DECOMPOSITIONS, "overlapping"]))
def test_layers_and_edges_and_the_definition_agree(loss, aggregate, given_, name):
    p, scores = given_
    cut = overlapping if name == "overlapping" else name
    wanted = naive_risks(
        p, scores, lambda g: overlapping(g) if cut is overlapping else naive_parts(g, name), loss, aggregate
    )
    for encoded in (p, p.encoded("layered"), p.encoded("edges")):
        risk = Risk(encoded, cut, loss, aggregate)
        value, gradient = risk.value_and_gradient(scores)
        np.testing.assert_allclose(value, wanted, rtol=1e-6 if scores.dtype == np.float32 else 1e-10)
        assert gradient.dtype == scores.dtype
        assert risk.n_parts.tolist() == encoded.parts(cut).counts.tolist()


@pytest.mark.parametrize("aggregate", ["max", "sum"])
@pytest.mark.parametrize("loss", LOSSES)
@given(given_=scored_preferences(), other=st.integers(0, 99), name=st.sampled_from([*DECOMPOSITIONS]))
def test_the_gradient_is_a_subgradient(loss, aggregate, given_, other, name):
    p, scores = given_
    scores = scores.astype(float)
    risk = Risk(p, name, loss, aggregate)
    value, gradient = risk.value_and_gradient(scores)
    elsewhere = np.random.default_rng(other).normal(size=scores.shape, scale=3)
    there, _ = risk.value_and_gradient(elsewhere)
    total, slope = risk.value_and_slope(scores, elsewhere)
    assert total == pytest.approx(value.sum())
    assert slope == pytest.approx((gradient * elsewhere).sum(), rel=1e-9, abs=1e-9)
    below = value + (gradient * (elsewhere - scores)).sum(axis=1)
    assert np.all(there >= below - 1e-9 * (1 + np.abs(below)))


@pytest.mark.parametrize("loss", sorted(SMOOTH_LOSSES))
def test_the_gradient_of_a_sum_is_the_finite_difference(loss):
    scores = np.random.default_rng(2).normal(size=(6, 3))
    risk = Risk(MIXED, "identity", loss, "sum")
    _, gradient = risk.value_and_gradient(scores)
    for y in range(3):
        step = np.zeros_like(scores)
        step[:, y] = 1e-6
        up, down = risk.value_and_gradient(scores + step)[0], risk.value_and_gradient(scores - step)[0]
        np.testing.assert_allclose((up - down) / 2e-6, gradient[:, y], rtol=1e-5, atol=1e-7)


def drawn(p, seed, scale, dtype):
    """Scores without ties."""
    return (scale * np.random.default_rng(seed).normal(size=(len(p), len(p.labels)))).astype(dtype)


@pytest.mark.parametrize("aggregate", ["max", "sum"])
@pytest.mark.parametrize("loss", LOSSES)
@given(
    given_=scored_preferences(),
    name=st.sampled_from([*DECOMPOSITIONS, overlapping]),
    beta=st.sampled_from([0.3, 1.0, 2.5]),
    scale=st.sampled_from([0.1, 1.0, 10.0]),
    seed=st.integers(0, 99),
)
def test_risk_and_gradient_are_those_of_listed_edges(loss, aggregate, given_, name, beta, scale, seed):
    p, precision = given_[0], given_[1].dtype
    scores = drawn(p, seed, scale, precision)
    public = partial(LOSSES[loss], beta=beta) if loss == "perceptron" else LOSSES[loss]
    wanted, slopes = listed_plm_risk(p, name, public, aggregate, scores)
    for encoded in (p, p.encoded("layered"), p.encoded("edges")):
        risk = Risk(encoded, name, loss, aggregate, beta)
        value, gradient = risk.value_and_gradient(scores)
        np.testing.assert_allclose(value, wanted, rtol=1e-10)
        rtol = 1e-6 if precision == np.float32 else 1e-10
        size = np.abs(slopes).max(axis=1, initial=0.0, keepdims=True)
        assert np.all(np.abs(gradient - slopes) <= rtol * size)


@pytest.mark.parametrize("aggregate", ["max", "sum"])
@pytest.mark.parametrize("loss", LOSSES)
@given(given_=scored_preferences(), name=st.sampled_from([*DECOMPOSITIONS]), seed=st.integers(0, 99))
def test_margins_of_any_size_are_priced(loss, aggregate, given_, name, seed):
    p = given_[0]
    scores = drawn(p, seed, 50.0, np.float64)  # exp(50), and past it
    wanted, slopes = listed_plm_risk(p, name, LOSSES[loss], aggregate, scores)
    value, gradient = Risk(p, name, loss, aggregate).value_and_gradient(scores)
    np.testing.assert_allclose(value, wanted, rtol=1e-10)
    assert np.all(np.abs(gradient - slopes) <= 1e-9 * np.abs(slopes).max(axis=1, initial=0.0, keepdims=True))


def test_a_line_search_at_other_scores_starts_afresh():
    rng = np.random.default_rng(8)
    for loss, aggregate in itertools.product(LOSSES, ("max", "sum")):
        risk = Risk(MIXED, "domination", loss, aggregate)
        for dtype in (np.float64, np.float32, np.float32):
            scores, towards = rng.normal(size=(2, 6, 3)).astype(dtype)
            value, gradient = risk.value_and_gradient(scores)
            total, slope = risk.value_and_slope(scores, towards)
            assert total == pytest.approx(value.sum(), rel=1e-12)
            assert slope == pytest.approx((gradient.astype(float) * towards).sum(), rel=1e-9)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("loss", LOSSES)
def test_any_number_of_threads_gives_the_same_risk(loss, dtype, monkeypatch):
    monkeypatch.setattr("learners._threads.SCORES", 1000)
    rng = np.random.default_rng(5)
    layered = Preferences.from_layer_matrix(rng.integers(-2, 3, size=(2100, 5)))
    mixed = pg.as_preferences(["[a|b,c|d]", CYCLE, "d>b:2.5, d>e:0.5, a"], list("abcde"), form="notation")
    for p, name, aggregate in itertools.product(
        (layered, mixed.take(np.arange(2100) % 3)), DECOMPOSITIONS, ("max", "sum")
    ):
        scores = drawn(p, 6, 1.0, dtype)
        risk = Risk(p, name, loss, aggregate)
        with thread_limit(1):
            value, gradient = risk.value_and_gradient(scores)
        with thread_limit(2):
            again, gradient_again = risk.value_and_gradient(scores)
        np.testing.assert_array_equal(value, again)
        np.testing.assert_array_equal(gradient, gradient_again)
        assert gradient.any()


def test_two_decompositions_of_a_total_order_cost_2_and_1():
    # [AS05, Fig. 1(e) and (f)]: the ranking [3|1|2] for the order [1|2|3]; 1 for a broken edge, and by how much it is
    p = pg.as_preferences(["[1|2|3]"], form="notation")
    scores = np.array([[2e6, 1e6, 3e6]])
    for aggregate in ("max", "sum"):
        assert Risk(p, "disagreement", "soft_margin", aggregate).value_and_gradient(scores)[0] == [2.0 + 3e6]
        assert Risk(p, adjacent_layers, "soft_margin", aggregate).value_and_gradient(scores)[0] == [1.0 + 2e6]


@pytest.mark.parametrize("loss", LOSSES)
@given(given_=scored_preferences())
def test_the_loss_bounds_the_number_of_inconsistent_parts(loss, given_):
    p, scores = given_
    plain = Preferences.from_graphs([pg.PreferenceGraph(g.edges, nodes=g.nodes) for g in p], p.labels)
    for name in DECOMPOSITIONS:
        value, _ = Risk(plain, name, loss, "max").value_and_gradient(scores)
        errors = pg.metrics.graph_errors(plain, scores, name, normalize="count")
        assert np.all(value >= errors - 1e-6)


# -- the minimum ------------------------------------------------------------------------------------------------------


def objective(X, p, q, model, W):
    """The objective at any W, by loops over edges and parts q."""
    design = np.hstack([X, np.ones((len(X), 1))]) if model.fit_intercept else X
    h = design @ W.T @ model.codes_.T
    margin = h[q.instance, q.init] - h[q.instance, q.term]
    losses = np.array([NAIVE_LOSSES[model.loss][0](rho) for rho in margin]) * q.weight * p.weight[q.instance]
    combine = np.max if model.aggregate == "max" else np.sum
    total = sum(combine(losses[a:b]) for a, b in itertools.pairwise(q.offsets))
    return model.alpha * (W**2).sum() + total / p.weight[q.part_instance].sum()


def learnt(model):
    """W with its constants: the least-norm solution of M W = coef_, which for these codes is W itself."""
    return np.linalg.pinv(model.codes_) @ np.column_stack([model.coef_, model.intercept_])


@pytest.mark.parametrize("aggregate", ["max", "sum"])
@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("decomposition", ["identity", "domination", overlapping])
def test_the_solver_reaches_what_a_general_solver_finds(loss, aggregate, decomposition):
    model = PreferenceModel(loss, aggregate=aggregate, decomposition=decomposition, alpha=0.05, tol=1e-7, max_iter=3000)
    model.fit(FEATURES, MIXED, sample_weight=[1, 2, 1, 1, 0.5, 1])
    p = MIXED.with_weight([1, 2, 1, 1, 0.5, 1])
    q = p.parts(decomposition)
    found = objective(FEATURES, p, q, model, learnt(model))
    assert found == pytest.approx(model.loss_curve_[-1], rel=1e-9)
    assert model.converged_
    assert model.gap_ <= 1e-7 * found

    def value(flat):
        return objective(FEATURES, p, q, model, flat.reshape(3, 4))

    # a solver that knows no derivatives finds nothing better from there
    done = minimize(value, learnt(model).ravel(), method="Powell", options={"maxfev": 500})
    assert done.fun >= found * (1 - 1e-6)


@pytest.mark.parametrize("decomposition", ["identity", "disagreement", "domination", "dominated"])
def test_the_soft_margin_solves_the_quadratic_program_with_one_slack_a_part(decomposition):
    # [AS05, Eq. 5] with C = 1 / (2 alpha N), by a solver of quadratic programs with constraints
    alpha = 0.05
    model = PreferenceModel(decomposition=decomposition, alpha=alpha, tol=1e-8, max_iter=5000, fit_intercept=False)
    p = Preferences.from_graphs([pg.PreferenceGraph(g.edges, nodes=g.nodes) for g in MIXED], MIXED.labels)
    model.fit(FEATURES, p)
    order = {edge: row for row, edge in enumerate(_edges(p.parts("identity")))}
    q = p.parts(decomposition)
    z = kesler(FEATURES, p).toarray()[[order[edge] for edge in _edges(q)]]
    n, d = len(q), z.shape[1]
    C = 1 / (2 * alpha * n)
    membership = q.membership().toarray().T

    def primal(v):
        return 0.5 * v[:d] @ v[:d] + C * v[d:].sum()

    start = np.concatenate([np.zeros(d), np.ones(n)])
    done = minimize(
        primal,
        start,
        jac=lambda v: np.concatenate([v[:d], np.full(n, C)]),
        bounds=[(None, None)] * d + [(0, None)] * n,
        constraints={
            "type": "ineq",
            "fun": lambda v: z @ v[:d] + membership @ v[d:] - 1,
            "jac": lambda v: np.hstack([z, membership]),
        },
        method="SLSQP",
        options={"maxiter": 1000, "ftol": 1e-12},
    )
    assert done.success
    assert model.loss_curve_[-1] == pytest.approx(2 * alpha * done.fun, rel=1e-5)
    np.testing.assert_allclose(model.coef_.ravel(), done.x[:d], atol=2e-3)


def _edges(q):
    return list(zip(q.instance.tolist(), q.init.tolist(), q.term.tolist(), strict=True))


@pytest.mark.parametrize("fit_intercept", [True, False])
def test_two_classes_with_the_soft_margin_are_a_linear_svm(fit_intercept):
    # w = w_1 - w_0 and w_1 = -w_0 at the optimum: alpha |W|^2 = alpha/2 |w|^2, so that C = 1 / (alpha n)
    X, y = make_classification(80, 5, flip_y=0.1, random_state=3)
    alpha = 0.01
    model = PreferenceModel(alpha=alpha, tol=1e-7, fit_intercept=fit_intercept, max_iter=3000).fit(X, y)
    svm = LinearSVC(
        loss="hinge", C=1 / (alpha * 80), tol=1e-7, max_iter=10**6, fit_intercept=fit_intercept, random_state=0
    ).fit(X, y)
    np.testing.assert_allclose(model.coef_[1] - model.coef_[0], svm.coef_[0], atol=1e-3)
    np.testing.assert_allclose(model.coef_[1], -model.coef_[0], atol=1e-6)
    np.testing.assert_allclose(model.decision_function(X), svm.decision_function(X), atol=3e-3)


@pytest.mark.parametrize("loss", sorted(SMOOTH_LOSSES))
def test_both_solvers_meet(loss):
    settings_ = {"aggregate": "sum", "alpha": 0.02, "tol": 1e-6, "max_iter": 3000}
    smooth = PreferenceModel(loss, solver="lbfgs", **settings_).fit(FEATURES, MIXED)
    planes = PreferenceModel(loss, solver="bundle", **settings_).fit(FEATURES, MIXED)
    assert smooth.loss_curve_[-1] == pytest.approx(planes.loss_curve_[-1], rel=2e-6)
    np.testing.assert_allclose(smooth.coef_, planes.coef_, atol=0.02)


@pytest.mark.parametrize("loss", LOSSES)
def test_with_sum_domination_and_disagreement_coincide(loss):
    # [AS05, section 2]: only N differs; an alpha that undoes it gives the same model
    shared = {"aggregate": "sum", "tol": 1e-7, "max_iter": 3000}
    stars, edges = MIXED.parts("domination"), MIXED.parts("disagreement")
    one = PreferenceModel(loss, decomposition="domination", alpha=0.02, **shared).fit(FEATURES, MIXED)
    alpha = 0.02 * len(stars) / len(edges)
    two = PreferenceModel(loss, decomposition="disagreement", alpha=alpha, **shared).fit(FEATURES, MIXED)
    np.testing.assert_allclose(one.coef_, two.coef_, atol=3e-3)
    assert one.loss_curve_[-1] * len(stars) == pytest.approx(two.loss_curve_[-1] * len(edges), rel=1e-6)


@pytest.mark.parametrize("codes", CODES)
def test_margins_are_products_with_keslers_vectors(codes):
    model = PreferenceModel(codes=codes, random_state=0, fit_intercept=False, alpha=0.01).fit(FEATURES, MIXED)
    q = MIXED.parts("identity")
    scores = model.decision_function(FEATURES)
    z = kesler(FEATURES, MIXED, model.codes_)
    margins = scores[q.instance, q.init] - scores[q.instance, q.term]
    np.testing.assert_allclose(z @ model.embedding_.ravel(), margins, atol=1e-10)


def test_a_cycle_costs_its_floor():
    p = pg.as_preferences([CYCLE] * 3, form="notation")
    X = np.random.default_rng(0).normal(size=(3, 2))
    # the margins of a cycle add up to 0: the largest soft margin loss is at least 1, reached at W = 0
    model = PreferenceModel(decomposition="identity").fit(X, p)
    assert model.loss_curve_[-1] == pytest.approx(1.0)
    np.testing.assert_allclose(model.coef_, 0.0, atol=1e-6)


# -- fitting ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("codes", ["identity", "one_vs_one", np.array([[1.0, 0, 1], [0, 1, -1], [2, 0, 0]])])
def test_renaming_labels_renames_the_model(codes):
    model = PreferenceModel(codes=codes, alpha=0.01).fit(FEATURES, MIXED)
    renamed = PreferenceModel(codes=codes, alpha=0.01).fit(FEATURES, MIXED.rename({"a": "z", "b": "x"}))
    assert renamed.labels_.tolist() == ["z", "x", "c"]
    np.testing.assert_array_equal(model.coef_, renamed.coef_)


@pytest.mark.parametrize("codes", ["identity", "one_vs_one", "ecoc"])
def test_the_order_of_labels_does_not_matter_for_symmetric_codes(codes):
    shared = {"codes": codes, "alpha": 0.05, "loss": "logistic", "aggregate": "sum", "tol": 1e-8}
    model = PreferenceModel(**shared).fit(FEATURES, MIXED)
    turned = PreferenceModel(**shared).fit(FEATURES, MIXED.with_labels("cab"))
    np.testing.assert_allclose(turned.coef_, model.coef_[[2, 0, 1]], atol=1e-3)


def test_weights_of_instances_and_edges_count():
    shared = {"alpha": 0.05, "tol": 1e-7, "max_iter": 3000}
    twice = PreferenceModel(**shared).fit(
        np.concatenate([FEATURES, FEATURES[:2]]), Preferences.concatenate([MIXED, MIXED[:2]])
    )
    weighted = PreferenceModel(**shared).fit(FEATURES, MIXED, sample_weight=[2, 2, 1, 1, 1, 1])
    np.testing.assert_allclose(twice.coef_, weighted.coef_, atol=1e-3)
    plain = PreferenceModel(**shared).fit(FEATURES, MIXED)
    assert np.abs(plain.coef_ - weighted.coef_).max() > 0.01
    unweighted = Preferences.from_graphs([pg.PreferenceGraph(g.edges, nodes=g.nodes) for g in MIXED], MIXED.labels)
    heavy, light = (PreferenceModel("logistic", **shared).fit(FEATURES, p) for p in (MIXED, unweighted))
    assert np.abs(heavy.coef_ - light.coef_).max() > 0.01


def test_the_curve_falls_and_ends_at_the_objective():
    for shared in ({}, {"loss": "logistic", "aggregate": "sum"}):
        model = PreferenceModel(alpha=0.01, **shared).fit(FEATURES, MIXED)
        assert len(model.loss_curve_) == model.n_iter_ > 1
        assert np.all(np.diff(model.loss_curve_) <= 1e-12)
        assert 0 <= model.gap_ <= model.tol * model.loss_curve_[-1]


@pytest.mark.parametrize("shared", [{}, {"loss": "logistic", "aggregate": "sum"}])
def test_the_gap_bounds_the_distance_to_the_minimum(shared):
    best = PreferenceModel(alpha=0.01, tol=1e-8, max_iter=5000, **shared).fit(FEATURES, MIXED).loss_curve_[-1]
    for max_iter in (1, 3, 6, 10):
        model = PreferenceModel(alpha=0.01, tol=0, max_iter=max_iter, **shared).fit(FEATURES, MIXED)
        assert model.n_iter_ == max_iter
        assert model.loss_curve_[-1] - best <= model.gap_ + 1e-9


@pytest.mark.parametrize("shared", [{}, {"loss": "logistic", "aggregate": "sum"}])
def test_too_few_iterations_are_told(shared):
    with pytest.warns(ConvergenceWarning, match="2 iterations did not reach tol=1e-09"):
        model = PreferenceModel(alpha=1e-3, tol=1e-9, max_iter=2, **shared).fit(FEATURES, MIXED)
    assert not model.converged_


@pytest.mark.parametrize("shared", [{}, {"loss": "logistic", "aggregate": "sum"}])
def test_an_interruption_keeps_the_best_so_far(shared, monkeypatch):
    calls = itertools.count()
    honest = Risk.value_and_gradient

    def interrupted(self, scores):
        if next(calls) == 12:
            raise KeyboardInterrupt
        return honest(self, scores)

    monkeypatch.setattr(Risk, "value_and_gradient", interrupted)
    with pytest.warns(ConvergenceWarning, match="interrupted after"):
        model = PreferenceModel(alpha=1e-4, tol=1e-12, **shared).fit(FEATURES, MIXED)
    assert model.loss_curve_[-1] < 1.0
    assert model.coef_.any()


def test_a_smooth_solver_refuses_kinks():
    for shared in ({"aggregate": "max", "loss": "logistic"}, {"aggregate": "sum", "loss": "soft_margin"}):
        with pytest.raises(InvalidOption, match="solver='lbfgs' with loss"):
            PreferenceModel(solver="lbfgs", **shared).fit(FEATURES, MIXED)


def test_parts_of_one_edge_have_no_kink():
    model = PreferenceModel("logistic", decomposition="disagreement", solver="lbfgs").fit(FEATURES, MIXED)
    assert model.converged_


def test_no_edges_learn_nothing():
    model = PreferenceModel().fit(FEATURES[:2], Preferences.from_layer_matrix([[0, 0], [-1, -2]]))
    assert not model.coef_.any()
    assert model.converged_
    assert model.gap_ == 0.0


def test_single_precision_is_kept():
    model = PreferenceModel(alpha=0.01).fit(FEATURES.astype(np.float32), MIXED)
    assert model.coef_.dtype == model.decision_function(FEATURES.astype(np.float32)).dtype == np.float32
    double = PreferenceModel(alpha=0.01).fit(FEATURES, MIXED)
    assert model.loss_curve_[-1] == pytest.approx(double.loss_curve_[-1], rel=2e-3)


def test_progress_is_told(capsys):
    PreferenceModel(alpha=0.01, verbose=2).fit(FEATURES, MIXED)
    assert "iteration 2: objective" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("option", "message"),
    [
        ({"loss": "hinge"}, "loss='hinge' is not one of 'perceptron'"),
        ({"aggregate": "mean"}, "aggregate='mean'"),
        ({"solver": "sgd"}, "solver='sgd'"),
        ({"alpha": 0.0}, "alpha=0.0"),
        ({"beta": -1.0}, "beta=-1.0"),
        ({"max_iter": 0}, "max_iter=0"),
        ({"tol": -1e-3}, "tol=-0.001"),
        ({"codes": "unary"}, "codes='unary'"),
    ],
)
def test_options_outside_their_range_are_named(option, message):
    with pytest.raises(InvalidOption, match=message):
        PreferenceModel(**option).fit(FEATURES, MIXED)


def test_an_unknown_decomposition_is_named():
    with pytest.raises(InvalidDecomposition, match="decomposition='star'"):
        PreferenceModel(decomposition="star").fit(FEATURES, MIXED)


def test_beta_scales_the_margin_of_the_perceptron():
    # f -> beta f turns the perceptron of margin beta into that of margin 1 with alpha beta^2
    one = PreferenceModel("perceptron", alpha=0.04, tol=1e-7, max_iter=3000).fit(FEATURES, MIXED)
    two = PreferenceModel("perceptron", beta=2.0, alpha=0.01, tol=1e-7, max_iter=3000).fit(FEATURES, MIXED)
    np.testing.assert_allclose(two.coef_, 2 * one.coef_, atol=3e-3)


# -- prediction -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("aggregate", ["max", "sum"])
@pytest.mark.parametrize("decomposition", [*DECOMPOSITIONS])
@given(scores=st.lists(st.lists(st.integers(-3, 3), min_size=4, max_size=4), min_size=1, max_size=4))
def test_the_q_largest_scores_are_the_best_set_of_q_labels(decomposition, aggregate, scores):
    scores = np.array(scores, float)
    for loss, q in itertools.product(("soft_margin", "logistic"), (1, 2)):
        sets = [set(chosen) for chosen in itertools.combinations(range(4), q)]
        graphs = pg.as_preferences(sets, labels=range(4))
        losses = candidate_losses(scores, graphs, decomposition, loss, aggregate)
        for row, score in zip(losses, scores, strict=True):
            largest = set(np.argsort(-score, kind="stable")[:q].tolist())
            assert row[sets.index(largest)] <= row.min() + 1e-12


@pytest.mark.parametrize("aggregate", ["max", "sum"])
@given(given_=scored_preferences(), name=st.sampled_from([*DECOMPOSITIONS]))
def test_losses_of_candidates_are_the_definition(aggregate, given_, name):
    p, scores = given_
    losses = candidate_losses(scores, p, name, "logistic", aggregate)
    for row, found in zip(scores.astype(float).tolist(), losses, strict=True):
        score = dict(zip(p.labels, row, strict=True))
        wanted = [naive_plm_risk(g, naive_parts(g, name), score, "logistic", aggregate) for g in p]
        np.testing.assert_allclose(found, wanted, rtol=1e-9)


def test_classes_are_predicted_by_the_graph_of_least_loss():
    X, y = make_classification(60, 6, n_classes=3, n_informative=4, random_state=1)
    named = PreferenceModel(alpha=0.01).fit(X, y)
    np.testing.assert_array_equal(named.predict(X), named.labels_[named.decision_function(X).argmax(axis=1)])
    own = PreferenceModel(alpha=0.01, decomposition=overlapping).fit(X, y)
    graphs = pg.as_preferences([0, 1, 2])
    losses = candidate_losses(own.decision_function(X), graphs, overlapping, "soft_margin", "max")
    np.testing.assert_array_equal(own.predict(X), losses.argmin(axis=1))


def test_sets_of_a_given_size_come_in_the_form_of_the_target():
    Y = np.array([[1, 0, 1], [1, 1, 0], [0, 1, 1], [0, 0, 1], [1, 0, 0], [0, 1, 0]])
    model = PreferenceModel(alpha=0.01).fit(FEATURES, Y)
    answer = model.predict(FEATURES, candidates=2)
    assert answer.dtype == np.int64
    assert np.all(answer.sum(axis=1) == 2)
    ranks = np.argsort(np.argsort(-model.decision_function(FEATURES), axis=1), axis=1)
    np.testing.assert_array_equal(answer, ranks < 2)
    own = PreferenceModel(alpha=0.01, decomposition=adjacent_layers).fit(FEATURES, Y)
    np.testing.assert_array_equal(own.predict(FEATURES, candidates=1).sum(axis=1), 1)
    sets = PreferenceModel(alpha=0.01).fit(FEATURES, [set(np.flatnonzero(row).tolist()) for row in Y])
    assert [set(np.flatnonzero(row).tolist()) for row in answer] == sets.predict(FEATURES, candidates=2)
    assert model.predict(FEATURES).shape == Y.shape


def test_given_graphs_are_compared():
    model = PreferenceModel(alpha=0.01).fit(FEATURES, MIXED)
    graphs = pg.as_preferences(["[a|b|c]", CYCLE, "[c|b|a]"], form="notation")
    scores = model.decision_function(FEATURES)
    losses = candidate_losses(scores, graphs, "domination", "soft_margin", "max")
    chosen = model.predict(FEATURES, candidates=graphs)
    assert isinstance(chosen, Preferences)
    assert [str(g) for g in chosen] == [str(graphs[int(k)]) for k in losses.argmin(axis=1)]
    again = model.predict(FEATURES, candidates=["[a|b|c]", CYCLE, "[c|b|a]"])
    assert [g.key for g in again] == [g.key for g in chosen]


def test_candidates_that_cannot_be_are_refused():
    model = PreferenceModel(alpha=0.01).fit(FEATURES, MIXED)
    with pytest.raises(InvalidOption, match="candidates=4 labels of 3"):
        model.predict(FEATURES, candidates=4)
    with pytest.raises(InvalidOption, match="candidates is empty"):
        model.predict(FEATURES, candidates=MIXED[:0])
    many = Preferences.from_indicator(np.eye(40, dtype=int)[:6])
    own = PreferenceModel(alpha=0.1, decomposition=adjacent_layers).fit(FEATURES, many)
    with pytest.raises(TooLarge, match="91390 sets of 4 of 40 labels"):
        own.predict(FEATURES, candidates=4)


def test_a_fit_says_nothing_when_all_is_well():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        PreferenceModel().fit(FEATURES, MIXED)


@pytest.mark.parametrize("aggregate", ["max", "sum"])
def test_single_precision_does_not_overflow(aggregate):
    p = pg.as_preferences(["[a|b,c,d]", "a>b, b>c, c>a"], form="notation")
    scores = np.array([[-1e4, 1e4, 0.0, 50.0], [1e4, -1e4, 0.0, 0.0]], np.float32)
    risk, gradient = Risk(p, "domination", "exponential", aggregate).value_and_gradient(scores)
    assert np.isfinite(risk).all()
    assert np.isfinite(gradient).all()
