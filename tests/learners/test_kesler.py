"""Kesler's construction: margins of edges as products with one long vector."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

import prefgraph as pg
from learners import kesler
from learners.codes import CODES, code_matrix
from prefgraph import InvalidTarget
from prefgraph.errors import InvalidOption
from tests.strategies import scored_preferences


@pytest.mark.parametrize("codes", CODES)
@given(given_=scored_preferences(), seed=st.integers(0, 9), is_sparse=st.booleans())
def test_kesler_margins_are_score_differences(codes, given_, seed, is_sparse):
    p, _ = given_
    rng = np.random.default_rng(seed)
    X = rng.integers(-2, 3, size=(len(p), 3)).astype(float)
    M = code_matrix(codes, len(p.labels), seed)
    W = rng.normal(size=(M.shape[1], 3))
    scores = X @ W.T @ M.T
    q = p.parts("identity")
    z = kesler(sparse.csr_array(X) if is_sparse else X, p, codes, random_state=seed)
    assert z.shape == (len(q.init), W.size)
    margins = scores[q.instance, q.init] - scores[q.instance, q.term]
    np.testing.assert_allclose(z @ W.ravel(), margins, atol=1e-12)


def test_chunks_are_multiples_of_the_features():
    p = pg.as_preferences(["a>b, b>c"], form="notation")
    codes = np.array([[1.0, 0.5], [0.0, 2.0], [3.0, 0.0]])
    z = kesler([[1.0, 10.0]], p, codes).toarray()
    np.testing.assert_array_equal(z, [[1.0, 10.0, -1.5, -15.0], [-3.0, -30.0, 2.0, 20.0]])


def test_only_what_differs_is_stored():
    z = kesler(sparse.csr_array([[0.0, 1.0, 0.0]]), pg.as_preferences([{"a"}], labels="abcd"))
    assert z.nnz == 2 * 3  # an edge touches two chunks, each with one non-zero


def test_one_target_for_each_row():
    with pytest.raises(InvalidTarget, match="2 rows and there are 1 targets"):
        kesler([[1.0], [2.0]], pg.as_preferences(["[a|b]"], form="notation"))


def test_codes_are_checked():
    with pytest.raises(InvalidOption, match="codes='none'"):
        kesler([[1.0]], pg.as_preferences(["[a|b]"], form="notation"), "none")
