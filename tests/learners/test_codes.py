"""Codes of labels: a row for each, no two alike."""

import numpy as np
import pytest

from learners.codes import CODES, EXHAUSTIVE, code_matrix, ecoc, identity, one_vs_one
from prefgraph.errors import InvalidOption


@pytest.mark.parametrize("n_labels", [2, 3, 5, EXHAUSTIVE, EXHAUSTIVE + 1, 30])
@pytest.mark.parametrize("name", CODES)
def test_every_label_has_a_finite_row_of_its_own(name, n_labels):
    codes = code_matrix(name, n_labels, 0)
    assert len(codes) == n_labels
    assert np.all(np.isfinite(codes))
    assert len(np.unique(codes, axis=0)) == n_labels


@pytest.mark.parametrize("name", CODES)
def test_a_seed_gives_the_same_codes_again(name):
    np.testing.assert_array_equal(code_matrix(name, 12, 5), code_matrix(name, 12, 5))


def test_other_seeds_give_other_random_codes():
    for name in ("random", "ecoc"):
        first, second = code_matrix(name, 12, 0), code_matrix(name, 12, 1)
        assert first.shape != second.shape or not np.array_equal(first, second)


@pytest.mark.parametrize("n_labels", range(2, EXHAUSTIVE + 1))
def test_exhaustive_codes_split_the_labels_in_every_way_once(n_labels):
    codes = ecoc(n_labels)
    splits = {tuple(column * column[0]) for column in codes.T}
    assert len(splits) == codes.shape[1] == 2 ** (n_labels - 1) - 1
    assert all(len(set(column)) == 2 for column in codes.T)
    distances = [(a != b).sum() for k, a in enumerate(codes) for b in codes[:k]]
    assert set(distances) == {2 ** (n_labels - 2)}


def test_dense_random_codes_keep_their_rows_apart():
    codes = ecoc(20, 0)
    assert set(np.unique(codes)) == {-1.0, 1.0}
    nearest = min((a != b).sum() for k, a in enumerate(codes) for b in codes[:k])
    assert nearest >= codes.shape[1] / 4
    assert np.all(np.abs(codes.sum(axis=0)) < 20)


def test_one_vs_one_has_a_column_for_each_pair():
    codes = one_vs_one(5)
    assert codes.shape == (5, 10)
    assert np.all(codes.sum(axis=0) == 0)
    assert np.all(np.abs(codes).sum(axis=0) == 2)
    assert len(np.unique(np.abs(codes), axis=1).T) == 10


def test_a_given_matrix_is_copied():
    given = np.eye(3)
    codes = code_matrix(given, 3)
    codes[0, 0] = 7.0
    np.testing.assert_array_equal(given, identity(3))


@pytest.mark.parametrize(
    ("codes", "message"),
    [
        ("unary", "codes='unary' is not one of 'identity'"),
        ([[1, 0], [0, 1]], r"shape \(2, 2\) for 3 labels"),
        ([1, 2, 3], r"shape \(3,\) for 3 labels"),
        ([[1, 0], [0, np.nan], [0, 0]], "not finite"),
        ([[1, 0], [0, 1], [1, 0]], "equal rows for the labels number 0 and 2"),
        ([["a"], ["b"], ["c"]], "neither a name nor a matrix"),
        (object(), "neither a name nor a matrix"),
    ],
)
def test_codes_that_tell_nothing_apart_are_refused(codes, message):
    with pytest.raises(InvalidOption, match=message):
        code_matrix(codes, 3)
