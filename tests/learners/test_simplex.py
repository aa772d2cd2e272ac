"""The small quadratic program inside the bundle method."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from learners._simplex import simplex_minimum


def problem(n, rank, seed, spread):
    rng = np.random.default_rng(seed)
    factor = rng.normal(size=(n, rank)) * 10.0 ** rng.uniform(-spread, spread, size=rank)
    factor[rng.random(n) < 0.3] = factor[0]  # planes that differ by their height only
    H, b = factor @ factor.T, rng.normal(size=n)
    alpha = rng.random(n) * (rng.random(n) < 0.5)
    alpha[rng.integers(n)] += 1.0
    return H, b, alpha / alpha.sum()


@given(
    n=st.integers(1, 12), rank=st.integers(1, 6), seed=st.integers(0, 10**6), spread=st.sampled_from([0.0, 1.0, 2.0])
)
def test_the_minimum_on_the_simplex_is_found(n, rank, seed, spread):
    H, b, start = problem(n, rank, seed, spread)
    before = start.copy()
    alpha = simplex_minimum(H, b, start, 1e-9)
    np.testing.assert_array_equal(start, before)
    assert alpha.min() >= 0
    assert alpha.sum() == pytest.approx(1.0)
    g = H @ alpha - b
    assert alpha @ g - g.min() <= 1e-7 * (1 + np.abs(H).max())


@given(n=st.integers(1, 12), seed=st.integers(0, 10**6))
def test_it_never_ends_above_where_it_began(n, seed):
    H, b, start = problem(n, 3, seed, 4.0)

    def value(alpha):
        return 0.5 * alpha @ H @ alpha - b @ alpha

    found = value(simplex_minimum(H, b, start, 1e-12))
    assert found <= value(start) + 1e-12 * abs(value(start))


def test_without_curvature_the_best_corner_wins():
    np.testing.assert_array_equal(
        simplex_minimum(np.zeros((3, 3)), np.array([1.0, 3.0, 2.0]), np.ones(3) / 3, 0.0), [0, 1, 0]
    )


def test_two_planes_share_the_weight_by_hand():
    # 1/2 (a^2 + 4 b^2) on a + b = 1: a = 4/5
    np.testing.assert_allclose(
        simplex_minimum(np.diag([1.0, 4.0]), np.zeros(2), np.array([1.0, 0.0]), 1e-12), [0.8, 0.2]
    )
