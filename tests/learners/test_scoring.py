"""Scorers: the measures themselves, errors negated, over the labels of the model."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import prefgraph as pg
from learners import LogLinearRanker, scorer
from learners.scoring import _SIGNS

OPTIONS = {"precision_at": {"r": 1}, "recall_at": {"r": 2}}


def problem(m=50, seed=0):
    X = np.random.default_rng(seed).normal(size=(m, 3))
    return X, np.array(list("abc"))[np.argmax(X + np.random.default_rng(1).normal(size=X.shape), axis=1)]


@pytest.mark.parametrize("name", _SIGNS)
def test_a_scorer_is_its_measure_with_the_sign_that_makes_larger_better(name):
    X, y = problem()
    good, bad = LogLinearRanker().fit(X, y), LogLinearRanker().fit(-X, y)
    p, options = pg.as_preferences(y), OPTIONS.get(name, {})
    measure = getattr(pg.metrics, name)
    assert scorer(name, **options)(good, X, y) == _SIGNS[name] * measure(p, good.decision_function(X), **options)
    assert scorer(name, **options)(good, X, y) > scorer(name, **options)(bad, X, y)


def test_two_classes_are_two_labels():
    X, y = problem()
    y = np.where(y == "a", "a", "b")
    model = LogLinearRanker().fit(X, y)
    assert scorer("one_error")(model, X, y) == pytest.approx(model.score(X, y) - 1)


def test_any_classifier_and_any_pipeline_can_be_scored():
    X, y = problem()
    model = make_pipeline(StandardScaler(), LogisticRegression()).fit(X, y)
    assert scorer("one_error")(model, X, y) == pytest.approx(model.score(X, y) - 1)


def test_weights_and_data_sets_go_to_the_measure():
    X, y = problem()
    model, weight = LogLinearRanker().fit(X, y), np.arange(50.0)
    expected = -pg.metrics.one_error(pg.as_preferences(y), model.decision_function(X), sample_weight=weight)
    assert scorer("one_error")(model, X, y, sample_weight=weight) == expected
    data = pg.PreferenceDataset(X=X, preferences=y)
    assert scorer("one_error")(model, data) == scorer("one_error")(model, X, y)


def test_a_scorer_shows_what_it_is_and_can_be_cloned():
    assert repr(scorer("precision_at", r=3)) == "scorer('precision_at', r=3)"
    assert repr(clone(scorer("auc"), safe=False)) == "scorer('auc')"


def test_an_unknown_measure_is_named():
    with pytest.raises(pg.InvalidOption, match="name='accuracy'"):
        scorer("accuracy")
