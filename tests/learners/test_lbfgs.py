"""L-BFGS: never uphill, right on quadratics, and an end at the optimum."""

from itertools import islice, pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import expit

from learners._lbfgs import iterates


def quadratic(scales, middle):
    def function(x):
        return float(0.5 * (scales * (x - middle) ** 2).sum()), scales * (x - middle)

    return function


numbers = st.lists(st.sampled_from([0.01, 1.0, 3.0, 1e4]), min_size=1, max_size=6)


@given(scales=numbers, start=st.sampled_from([0.0, 1.0, -1e3]))
def test_a_quadratic_is_solved_without_a_step_uphill_and_then_the_search_ends(scales, start):
    scales = np.array(scales)
    middle = np.arange(len(scales)) + 0.5
    points = list(islice(iterates(quadratic(scales, middle), np.full(len(scales), start)), 200))
    assert len(points) < 200
    assert all(after.value <= before.value for before, after in pairwise(points))
    np.testing.assert_allclose(points[-1].x, middle, atol=1e-4)


def test_a_start_at_the_optimum_is_the_only_point():
    points = list(iterates(quadratic(np.ones(3), np.zeros(3)), np.zeros(3)))
    assert len(points) == 1


@pytest.mark.parametrize("far", [1.0, 1e-6, 1e6])
def test_the_first_step_finds_its_length_whatever_the_unit(far):
    calls = []

    def function(x):
        calls.append(x)
        z = x / far
        return float((np.logaddexp(0, -z) + 0.01 * z).sum()), (0.01 - expit(-z)) / far

    near = next(point for point in iterates(function, np.zeros(2)) if np.abs(point.gradient).max() < 1e-7 / far)
    np.testing.assert_allclose(near.x / far, np.log(99), rtol=1e-4)
    assert len(calls) < 30
