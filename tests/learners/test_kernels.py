"""The compiled kernels and their sources say the same; other tests compare the compiled ones with the definitions."""

import contextlib

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from learners import _loss_kernels, _objective, _plm_kernels, _plm_risk
from learners._objective import Objective
from learners._plm_risk import Risk
from learners.losses import LOSSES
from prefgraph import DECOMPOSITIONS, Preferences
from tests.strategies import scored_preferences

SOME = settings(max_examples=10)  # Python's loops are slow
factors = st.sampled_from([1.0, 7.3, 60.0, 1000.0])


@contextlib.contextmanager
def sources():
    """Every kernel replaced by its source, where it is defined and where it is used."""
    with pytest.MonkeyPatch.context() as patch, np.errstate(all="ignore"):  # compiled code is silent about overflow
        for module in (_loss_kernels, _objective, _plm_kernels, _plm_risk):
            for name, thing in list(vars(module).items()):
                if hasattr(thing, "py_func"):
                    patch.setattr(module, name, thing.py_func)
        yield


def assert_the_source_says_the_same(compute):
    compiled = compute()
    with sources():
        source = compute()
    for one, other in zip(compiled, source, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("encoding", ["layered", "edges"])
@pytest.mark.parametrize("name", DECOMPOSITIONS)
@SOME
@given(given_=scored_preferences(), factor=factors)
def test_kernels_of_the_log_linear_loss(name, encoding, given_, factor):
    p, scores = given_
    objective = Objective(p.encoded(encoding), name)
    assert_the_source_says_the_same(lambda: objective.value_and_flows(scores * factor))


@pytest.mark.parametrize("aggregate", ["max", "sum"])
@pytest.mark.parametrize("loss", LOSSES)
@SOME
@given(
    given_=scored_preferences(),
    factor=factors,
    name=st.sampled_from([*DECOMPOSITIONS]),
    encoding=st.sampled_from(["layered", "edges"]),
)
def test_kernels_of_the_preference_model(loss, aggregate, given_, factor, name, encoding):
    p, scores = given_
    risk = Risk(p.encoded(encoding), name, loss, aggregate)
    assert_the_source_says_the_same(lambda: risk.value_and_gradient(scores * factor))


@pytest.mark.parametrize("factor", [1.0, 30.0, 1000.0])
@pytest.mark.parametrize("name", DECOMPOSITIONS)
def test_kernels_on_rows_longer_than_a_vector_of_the_processor(name, factor):
    rng = np.random.default_rng(3)
    p = Preferences.from_layer_matrix(rng.integers(-2, 4, (5, 40)))
    scores = factor * rng.normal(size=(5, 40))
    objective = Objective(p, name)
    assert_the_source_says_the_same(lambda: objective.value_and_flows(scores))
