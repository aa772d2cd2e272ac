"""Every loss in the registry is what its table says, convex, falling, and differentiated right."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from learners._plm_kernels import edge_loss
from learners._plm_risk import CODES
from learners.losses import LOSSES, SMOOTH_LOSSES, perceptron
from tests.oracles import NAIVE_LOSSES

margins = st.lists(st.floats(-30, 30), min_size=1, max_size=8).map(np.array)


def test_every_loss_of_the_table_is_listed():
    assert set(LOSSES) == set(NAIVE_LOSSES)
    assert set(LOSSES) > SMOOTH_LOSSES
    assert {name for name, (_, kinks) in NAIVE_LOSSES.items() if not kinks} == SMOOTH_LOSSES


@pytest.mark.parametrize("name", LOSSES)
@given(margin=margins)
def test_values_are_those_of_the_table(name, margin):
    value, _ = LOSSES[name](margin)
    np.testing.assert_allclose(value, [NAIVE_LOSSES[name][0](rho) for rho in margin], rtol=1e-9, atol=1e-15)


@pytest.mark.parametrize("name", LOSSES)
@given(margin=margins)
def test_the_derivative_is_the_finite_difference(name, margin):
    h = 1e-5
    kinks = np.array([*NAIVE_LOSSES[name][1], np.inf])
    away = np.abs(margin[:, np.newaxis] - kinks).min(axis=1) > 2 * h
    value = LOSSES[name]
    difference = (value(margin + h)[0] - value(margin - h)[0]) / (2 * h)
    np.testing.assert_allclose(value(margin)[1][away], difference[away], rtol=1e-5, atol=2 * h)


@pytest.mark.parametrize("name", LOSSES)
@given(a=st.floats(-600, 600), b=st.floats(-600, 600))
def test_a_tangent_lies_below_so_the_loss_is_convex(name, a, b):
    (at_a, at_b), (slope, _) = LOSSES[name](np.array([a, b]))
    assert at_b >= at_a + slope * (b - a) - 1e-9 * (1 + abs(at_a) + abs(slope * (b - a)))
    assert slope <= 0


@pytest.mark.parametrize("name", LOSSES)
@given(rho=st.floats(-1e9, 1e9))
def test_a_loss_bounds_the_mistake_and_stays_finite(name, rho):
    (value,), (slope,) = LOSSES[name](np.array([rho]))
    assert np.isfinite(value)
    assert np.isfinite(slope)
    assert value >= (1.0 if rho <= 0 else 0.0)


@given(rho=st.floats(-9, 9), beta=st.sampled_from([0.1, 1.0, 4.0]))
def test_the_perceptron_asks_for_the_margin_beta(rho, beta):
    assert perceptron(np.array([rho]), beta)[0][0] == max(0.0, 1.0 - rho / beta)


@pytest.mark.parametrize("name", LOSSES)
def test_losses_take_arrays_of_any_shape(name):
    value, slope = LOSSES[name](np.zeros((2, 0, 3)))
    assert value.shape == slope.shape == (2, 0, 3)


@pytest.mark.parametrize("name", LOSSES)
@given(
    margin=margins
    | st.lists(st.sampled_from([-1e9, -501.0, -51.0, -50.0, -49.0, 0.0, 0.3, 1.0, 2.0, 1e9])).map(np.array)
)
def test_the_compiled_loss_is_the_public_one(name, margin):
    assert set(CODES) == set(LOSSES)
    for beta in (0.3, 1.0, 2.0) if name == "perceptron" else (1.0,):
        wanted = LOSSES[name](margin, beta) if name == "perceptron" else LOSSES[name](margin)
        found = np.array([edge_loss(CODES[name], beta, rho) for rho in margin]).reshape(-1, 2)
        np.testing.assert_allclose(found, np.column_stack(wanted), rtol=1e-14)
