"""The contract: every estimator in learners.__all__ against every check, each pair a test of its own."""

import inspect
import pickle
from collections.abc import Callable

import numpy as np
import pytest
import skops.io
from scipy import sparse
from sklearn.base import BaseEstimator, clone
from sklearn.exceptions import NotFittedError
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.model_selection import GridSearchCV, KFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

import learners
import prefgraph as pg
from learners._threads import thread_limit

NAMES = [
    name
    for name in learners.__all__
    if inspect.isclass(getattr(learners, name)) and issubclass(getattr(learners, name), BaseEstimator)
]

# What an estimator is called with besides its defaults: one line for each way of working worth its own tests.
VARIANTS: dict[str, Callable[[], BaseEstimator]] = {name: getattr(learners, name) for name in NAMES} | {
    "LogLinearRanker, boosting": lambda: learners.LogLinearRanker(solver="boosting", max_iter=200, tol=0),
    "LogLinearRanker, identity, intercept": lambda: learners.LogLinearRanker("identity", fit_intercept=True),
    "PreferenceModel, smooth, codes": lambda: learners.PreferenceModel(
        "logistic", aggregate="sum", codes="one_vs_one", alpha=1e-2
    ),
}

# Laws that are not the method's own, with the reason; the learner's tests state the law that holds instead.
ONLINE: set[str] = set()  # weight 2 is one larger step, not the instance twice
COUNTS_EDGELESS: set[str] = set()  # an instance without edges is seen, and changes the model
CHANCE_IN_LABELS: set[str] = set()  # codes drawn for each label in its turn: a new order of labels draws others

every = pytest.mark.parametrize("name", VARIANTS)


def law(outside: set[str]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("name", [name for name in VARIANTS if name.split(",")[0] not in outside])


def make(name: str, **changes) -> BaseEstimator:
    """An estimator with its seed set, where it has one."""
    model = VARIANTS[name]()
    if "random_state" in model.get_params():
        changes.setdefault("random_state", 0)
    return model.set_params(**changes)


def tight(name):
    """A tolerance for laws about the optimum, where a solver stops on one."""
    return {"tol": 1e-10} if "boosting" not in name and "tol" in make(name).get_params() else {}


def rows(m=40, n=5, seed=0):
    return np.random.default_rng(seed).normal(size=(m, n))


def graphs(m=40, seed=0):
    """Layered graphs, chains, loose edges and cycles over four labels, no instance without edges."""
    choice = ["[a|b,c,d]", "[b,c|a|d]", "[d|c|b|a]", "a>b, c>d", "a>b, b>c, c>a", "[c,d|a,b]"]
    texts = [choice[k] for k in np.random.default_rng(seed).integers(0, len(choice), m)]
    return pg.as_preferences(texts, form="notation", labels="abcd")


def scores(model, X):
    return np.asarray(model.decision_function(X))


def same(model, other, X, tol=1e-6):
    np.testing.assert_allclose(scores(model, X), scores(other, X), rtol=tol, atol=tol)


@parametrize_with_checks([make(name) for name in VARIANTS])
def test_scikit_learn_agrees(estimator, check):
    check(estimator)


def test_the_walk_finds_estimators():
    assert "LogLinearRanker" in NAMES


# -- copies and files --------------------------------------------------------------------------------------------------


@every
def test_a_clone_has_the_parameters_and_learns_the_same(name):
    X, y = rows(), graphs()
    model = make(name)
    copy = clone(model)
    assert {k: repr(v) for k, v in copy.get_params().items()} == {k: repr(v) for k, v in model.get_params().items()}
    np.testing.assert_array_equal(scores(model.fit(X, y), X), scores(copy.fit(X, y), X))


@every
@pytest.mark.parametrize("target", [graphs, lambda: np.arange(40) % 3, lambda: np.eye(4, dtype=int)[np.arange(40) % 4]])
def test_pickle_and_skops_give_back_equal_scores_and_answers(name, target):
    X = rows()
    model = make(name).fit(X, target())
    blob = skops.io.dumps(model)
    unknown = skops.io.get_untrusted_types(data=blob)
    assert all(kind.startswith(("learners.", "prefgraph.")) for kind in unknown)
    for copy in (pickle.loads(pickle.dumps(model)), skops.io.loads(blob, trusted=unknown)):
        np.testing.assert_array_equal(scores(copy, X), scores(model, X))
        answer, expected = copy.predict(X), model.predict(X)
        assert answer == expected if isinstance(expected, pg.Preferences) else np.array_equal(answer, expected)


# -- scikit-learn's tools ----------------------------------------------------------------------------------------------


@every
@pytest.mark.parametrize("measure", ["average_precision", "domination_error"])
def test_a_grid_search_takes_our_scorers(name, measure):
    X = rows(60)
    y = np.argmax(X[:, :3], axis=1)
    search = GridSearchCV(make(name), {}, scoring=learners.scorer(measure), cv=3, error_score="raise").fit(X, y)
    p = pg.as_preferences(y)
    value = getattr(pg.metrics, measure)(p, scores(search, X))
    perfect = 1 if measure == "average_precision" else 0
    assert abs(value - perfect) < 0.4
    assert abs(search.best_score_) <= 1


@every
def test_a_grid_search_takes_graphs(name):
    X, y = rows(), graphs()
    values = cross_val_score(make(name), X, list(y), cv=KFold(3), scoring=learners.scorer("disagreement_error"))
    assert np.all((values >= -1) & (values <= 0))
    again = cross_val_score(make(name), X, y, cv=KFold(3), scoring=learners.scorer("disagreement_error"))
    np.testing.assert_allclose(again, values)


@every
def test_a_pipeline_learns_from_sparse_text(name):
    texts = ["oil price up", "crude oil falls", "wheat and corn", "corn harvest", "gas and oil", "gas pipe"] * 3
    y = ["oil", "oil", "corn", "corn", "gas", "gas"] * 3
    model = make_pipeline(TfidfVectorizer(), make(name)).fit(texts, y)
    assert model.score(texts, y) > 0.9
    assert model.predict(["corn"]).tolist() == ["corn"]


@every
def test_sparse_and_dense_features_learn_the_same(name):
    X, y = np.maximum(rows(), 0), graphs()
    same(make(name).fit(X, y), make(name).fit(sparse.csr_array(X), y), X)


# -- weights and edges -------------------------------------------------------------------------------------------------


@every
def test_weight_zero_leaves_an_instance_out(name):
    X, y = rows(), graphs()
    weight = (np.arange(40) % 4 > 0).astype(float)
    kept = np.flatnonzero(weight)
    same(make(name).fit(X, y, sample_weight=weight), make(name).fit(X[kept], y[kept]), X)


@law(ONLINE)
def test_weight_two_is_the_instance_twice(name):
    X, y = rows(), graphs()
    weight = 1.0 + (np.arange(40) % 3 == 0)
    twice = np.repeat(np.arange(40), weight.astype(int))
    weighted = make(name, **tight(name)).fit(X, y, sample_weight=weight)
    same(weighted, make(name, **tight(name)).fit(X[twice], y[twice]), X, tol=1e-4)


@law(ONLINE)
def test_the_weight_of_the_preferences_counts_as_sample_weight_does(name):
    X, y = rows(), graphs()
    weight = 1.0 + np.arange(40) % 3
    same(make(name).fit(X, y.with_weight(weight)), make(name).fit(X, y, sample_weight=weight), X)


@law(COUNTS_EDGELESS)
def test_an_instance_without_edges_changes_nothing(name):
    X, y = rows(), graphs()
    empty = pg.as_preferences([pg.PreferenceGraph(nodes="abcd")] * 3, labels="abcd")
    more, graphs_too = np.concatenate([X, 9 * rows(3, seed=1)]), pg.Preferences.concatenate([y, empty])
    same(make(name).fit(X, y), make(name).fit(more, graphs_too), X)


# -- what must not matter ----------------------------------------------------------------------------------------------


@law(CHANCE_IN_LABELS)
def test_renaming_labels_renames_the_ranking(name):
    X, y = rows(), graphs()
    names = {"a": "zinc", "b": "oil", "c": "corn", "d": "gas"}
    model, renamed = make(name).fit(X, y), make(name).fit(X, y.rename(names))
    np.testing.assert_array_equal(scores(model, X), scores(renamed, X))
    assert [[names[v] for v in row] for row in model.rank(X)] == renamed.rank(X).tolist()


@law(CHANCE_IN_LABELS)
def test_the_order_of_labels_only_orders_the_columns(name):
    X, y = rows(), graphs()
    model, turned = make(name, **tight(name)).fit(X, y), make(name, **tight(name)).fit(X, y.with_labels("dbca"))
    assert turned.labels_.tolist() == list("dbca")
    np.testing.assert_allclose(scores(turned, X)[:, [3, 1, 2, 0]], scores(model, X), rtol=1e-4, atol=1e-4)


@every
def test_the_same_seed_gives_the_same_model_whatever_the_number_of_threads(name):
    X, y = rows(1200), graphs(1200)
    found = []
    for threads in (1, 2, 1):
        with thread_limit(threads):
            found.append(scores(make(name).fit(X, y), X))
    np.testing.assert_array_equal(found[0], found[1])
    np.testing.assert_array_equal(found[0], found[2])


@every
@pytest.mark.parametrize("form", [np.array, sparse.csr_array])
def test_inputs_are_untouched(name, form):
    X, y, weight = form(rows()), np.eye(4, dtype=int)[np.arange(40) % 4], np.linspace(0, 2, 40)
    copies = X.copy(), y.copy(), weight.copy()
    model = make(name).fit(X, y, sample_weight=weight)
    for use in (model.decision_function, model.rank, model.predict):
        use(X)
    model.violations(X, y)
    assert (copies[0] != X).sum() == 0
    np.testing.assert_array_equal(y, copies[1])
    np.testing.assert_array_equal(weight, copies[2])


@every
def test_a_data_set_is_its_features_and_preferences(name):
    X, y = rows(), graphs()
    data = pg.PreferenceDataset(X=X, preferences=y)
    model, other = make(name).fit(X, y), make(name).fit(data)
    np.testing.assert_array_equal(scores(model, X), scores(other, data))
    assert model.score(X, y) == other.score(data)
    assert model.violations(X, y).equals(other.violations(data).drop_columns(["key"]))


# -- forms of targets --------------------------------------------------------------------------------------------------


@every
def test_predict_answers_in_the_form_of_the_target(name):
    X = np.concatenate([np.eye(4), np.eye(4)])
    classes = np.array(list("abcd") * 2)
    indicator = np.eye(4, dtype=int)[np.arange(8) % 4]
    assert make(name).fit(X, classes).predict(X).tolist() == classes.tolist()
    np.testing.assert_array_equal(make(name).fit(X, indicator).predict(X), indicator)
    answer = make(name).fit(X, sparse.csr_array(indicator)).predict(X)
    assert sparse.issparse(answer)
    np.testing.assert_array_equal(answer.toarray(), indicator)
    assert make(name).fit(X, [{v} for v in classes]).predict(X) == [{v} for v in classes]
    chains = make(name).fit(X, pg.as_preferences(classes)).predict(X)
    assert [graph.layers()[0] for graph in chains] == [[v] for v in classes]


@every
def test_decision_function_has_a_column_for_each_label_and_one_for_two_classes(name):
    X, y = rows(), graphs()
    assert make(name).fit(X, y).decision_function(X).shape == (40, 4)
    two = np.array(["no", "yes"])[(X[:, 0] > 0).astype(int)]
    model = make(name).fit(X, two)
    assert model.decision_function(X).shape == (40,)
    assert model.rank(X).shape == (40, 2)
    np.testing.assert_array_equal(model.predict(X), np.where(scores(model, X) > 0, "yes", "no"))


@every
def test_violations_are_the_edges_that_scores_do_not_order(name):
    X, y = rows(), graphs()
    model = make(name).fit(X, y)
    f = scores(model, X)
    expected = {
        (i, u, v) for i, graph in enumerate(y) for u, v in graph.edges if f[i, "abcd".index(u)] <= f[i, "abcd".index(v)]
    }
    table = model.violations(X, y).to_pylist()
    assert expected, "a cycle breaks an edge"
    assert {(row["instance"], row["init"], row["term"]) for row in table} == expected
    assert len(table) == len(expected)
    assert all(row["margin"] <= 0 for row in table)
    assert [row["margin"] for row in table] == sorted(row["margin"] for row in table)


# -- clear errors ------------------------------------------------------------------------------------------------------


@every
def test_use_before_fit_is_an_error(name):
    for use in ("decision_function", "rank", "predict"):
        with pytest.raises(NotFittedError):
            getattr(make(name), use)(rows())
    with pytest.raises(NotFittedError):
        make(name).violations(rows(), graphs())


@every
@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_features_that_are_not_finite_are_an_error(name, bad):
    X = rows()
    model = make(name).fit(X, graphs())
    X[3, 1] = bad
    with pytest.raises(ValueError, match=r"NaN|infinity"):
        make(name).fit(X, graphs())
    with pytest.raises(ValueError, match=r"NaN|infinity"):
        model.rank(X)


@every
def test_one_label_is_an_error(name):
    with pytest.raises(pg.InvalidTarget, match=r"1 class or label \('a'\)"):
        make(name).fit(rows(3), ["a", "a", "a"])


@every
def test_labels_that_the_model_does_not_know_are_an_error(name):
    X, y = rows(), graphs()
    model = make(name).fit(X, y)
    for unseen in (["a", "e"] * 20, [{"a", "e"}] * 40, pg.as_preferences(["[a|e]"] * 40, form="notation")):
        for use in (model.score, model.violations, lambda X, y: learners.scorer("one_error")(model, X, y)):
            with pytest.raises(pg.InvalidTarget, match="'e'"):
                use(X, unseen)
    with pytest.raises(pg.InvalidTarget, match="5 columns and the model 4 labels"):
        model.score(X, np.eye(5, dtype=int)[np.arange(40) % 5])


@every
def test_a_score_may_leave_labels_out(name):
    X, y = rows(), graphs()
    model = make(name).fit(X, y)
    part = pg.as_preferences(["[d|b]"] * 40, form="notation")
    expected = np.mean(scores(model, X)[:, 3] > scores(model, X)[:, 1])
    assert model.score(X, part) == pytest.approx(expected)


@every
def test_no_instances_are_an_error(name):
    with pytest.raises(ValueError, match="0 sample"):
        make(name).fit(np.empty((0, 3)), [])
    with pytest.raises(ValueError, match="weight zero"):
        make(name).fit(rows(4), list("abab"), sample_weight=np.zeros(4))


@every
def test_lengths_that_differ_are_an_error(name):
    with pytest.raises(pg.InvalidTarget, match="X has 40 rows and y 39 targets"):
        make(name).fit(rows(), graphs(39))
    with pytest.raises(pg.InvalidTarget, match=r"weight has the shape \(39,\) for 40 instances"):
        make(name).fit(rows(), graphs(), sample_weight=np.ones(39))
    model = make(name).fit(rows(), graphs())
    with pytest.raises(ValueError, match="39"):
        model.score(rows(), graphs(39))


@every
def test_a_data_set_beside_a_target_or_without_features_is_an_error(name):
    y = graphs()
    with pytest.raises(pg.InvalidTarget, match="its own targets"):
        make(name).fit(pg.PreferenceDataset(X=rows(), preferences=y), y)
    with pytest.raises(pg.InvalidDataset, match="vectorise its texts"):
        make(name).fit(pg.PreferenceDataset(texts=["oil"] * 40, preferences=y))


@every
def test_feature_names_are_kept_and_checked(name):
    pd = pytest.importorskip("pandas")
    X = pd.DataFrame(rows(), columns=list("uvwxy"))
    model = make(name).fit(X, graphs())
    assert model.feature_names_in_.tolist() == list("uvwxy")
    with pytest.raises(ValueError, match="feature names"):
        model.rank(X[list("yxwvu")])
