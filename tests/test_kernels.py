import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from prefgraph import _kernels, _sharing
from prefgraph._edge_table import starts
from prefgraph._kernels import (
    equal_lists,
    hash_lists,
    indicator_layers,
    layered_edge_counts,
    layered_edges,
    normalize_layers,
)
from prefgraph._sharing import compact_layers, distinct_lists, distinct_rows, rank_rows
from tests.oracles import naive_layered_edges, naive_normal_row

TYPES = st.sampled_from([np.int8, np.int16, np.int32])


@st.composite
def layer_matrices(draw, *, max_rows=4, max_labels=5, normal=True):
    """A matrix of layer numbers below its width, -1 and -2; numbered without gaps where ``normal``."""
    n = draw(st.integers(0, max_labels))
    cells = st.lists(st.integers(-2, max(n - 1, -1)), min_size=n, max_size=n)
    rows = draw(st.lists(cells, max_size=max_rows))
    if normal:
        rows = [naive_normal_row(row) for row in rows]
    return np.array(rows, draw(TYPES)).reshape(len(rows), n)


@st.composite
def lists_of_lists(draw):
    rows = draw(st.lists(st.lists(st.integers(-2, 127), max_size=3), max_size=6))
    values = np.array([v for row in rows for v in row], draw(TYPES))
    return rows, starts([len(row) for row in rows]).astype(draw(st.sampled_from([np.int32, np.int64]))), values


@pytest.mark.parametrize("kernel", [normalize_layers, normalize_layers.py_func], ids=["compiled", "source"])
@given(matrix=layer_matrices(normal=False))
def test_normalizing_numbers_the_layers_of_each_row_without_gaps(kernel, matrix):
    expected = [naive_normal_row(row) for row in matrix.tolist()]
    kernel(matrix)
    assert matrix.tolist() == expected


@pytest.mark.parametrize("kernel", [layered_edge_counts, layered_edge_counts.py_func], ids=["compiled", "source"])
@given(matrix=layer_matrices())
def test_edge_counts_are_the_numbers_of_ordered_pairs(kernel, matrix):
    assert kernel(matrix).tolist() == [len(naive_layered_edges(row)) for row in matrix.tolist()]


@pytest.mark.parametrize("by_term", [False, True])
@pytest.mark.parametrize("kernel", [layered_edges, layered_edges.py_func], ids=["compiled", "source"])
@given(matrix=layer_matrices())
def test_layered_edges_are_all_ordered_pairs_in_order(kernel, by_term, matrix):
    init, term = kernel(matrix, by_term, starts(layered_edge_counts(matrix)))
    expected = []
    for row in matrix.tolist():
        pairs = naive_layered_edges(row)
        expected += sorted(pairs, key=lambda pair: pair[::-1]) if by_term else pairs
    assert list(zip(init.tolist(), term.tolist(), strict=True)) == expected


@pytest.mark.parametrize("kernel", [indicator_layers, indicator_layers.py_func], ids=["compiled", "source"])
@given(sets=st.lists(st.sets(st.integers(0, 3)), max_size=5), data=st.data())
def test_layers_of_label_sets_are_those_of_relevant_before_the_rest(kernel, sets, data):
    chosen = data.draw(st.lists(st.integers(0, len(sets) - 1), max_size=5)) if sets else []
    values = np.array([v for s in sets for v in sorted(s)], np.int32)
    layer = kernel(starts([len(s) for s in sets]), values, np.array(chosen, np.int64), 4)
    assert layer.tolist() == [naive_normal_row([int(v not in sets[k]) for v in range(4)]) for k in chosen]
    assert layer.shape == (len(chosen), 4)


@given(drawn=lists_of_lists())
def test_hashes_are_the_same_in_compiled_and_source_form_and_of_equal_lists(drawn):
    rows, offsets, values = drawn
    hashes = hash_lists(offsets, values)
    with np.errstate(over="ignore"):
        assert np.array_equal(hashes, hash_lists.py_func(offsets, values))
    by_content = {}
    for row, value in zip(rows, hashes.tolist(), strict=True):
        assert by_content.setdefault(tuple(row), value) == value


@pytest.mark.parametrize("kernel", [equal_lists, equal_lists.py_func], ids=["compiled", "source"])
@given(drawn=lists_of_lists(), data=st.data())
def test_lists_are_equal_when_all_elements_are(kernel, drawn, data):
    rows, offsets, values = drawn
    first = [data.draw(st.integers(0, len(rows) - 1)) for _ in rows]
    assert kernel(offsets, values, np.array(first, np.int64)) == all(
        row == rows[k] for row, k in zip(rows, first, strict=True)
    )


def _naive_groups(rows):
    """(first of each group, group of each)."""
    content = {}
    for i, row in enumerate(rows):
        content.setdefault(tuple(row), i)
    numbers = {row: k for k, row in enumerate(content)}
    return list(content.values()), [numbers[tuple(row)] for row in rows]


@pytest.mark.parametrize("colliding", [False, True], ids=["distinct hashes", "all hashes equal"])
@given(drawn=lists_of_lists())
def test_equal_lists_are_grouped_in_the_order_of_appearance_whatever_the_hash(colliding, drawn):
    rows, offsets, values = drawn
    with pytest.MonkeyPatch.context() as patch:
        if colliding:
            patch.setattr(_sharing, "hash_lists", lambda offsets, values: np.zeros(len(offsets) - 1, np.uint64))
        first, number = distinct_lists(offsets, values)
    assert (first.tolist(), number.tolist()) == _naive_groups(rows)
    assert number.dtype == np.int32


@given(matrix=layer_matrices(max_rows=6, max_labels=2))
def test_distinct_rows_put_together_again_are_the_rows(matrix):
    rows, number = distinct_rows(matrix)
    assert np.array_equal(rows[number], matrix)
    assert len({tuple(row) for row in matrix.tolist()}) == len(rows)


@pytest.mark.parametrize("block", [1, 8, 2**20], ids=["row by row", "two rows", "all rows"])
@given(rows=st.lists(st.lists(st.sampled_from([np.nan, -1e300, -0.0, 0.0, 0.5, 1e300]), min_size=4, max_size=4)))
def test_ranks_number_the_values_of_a_row_by_size(block, rows):
    values = np.array(rows, float).reshape(len(rows), 4)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_sharing, "BLOCK", block)
        ranks = rank_rows(values, np.isnan(values))
    for row, rank in zip(rows, ranks.tolist(), strict=True):
        order = sorted({v for v in row if not math.isnan(v)})
        assert rank == [-1 if math.isnan(v) else order.index(v) for v in row]


@given(
    rows=st.lists(st.lists(st.sampled_from([-2, -1, 0, 1, 5, 127, 128, 40_000, 2**40]), min_size=3, max_size=3)),
    dtype=st.sampled_from([np.int64, np.uint64]),
)
def test_compact_layers_keep_order_and_marks_in_the_smallest_type(rows, dtype):
    rows = [[abs(k) for k in row] for row in rows] if dtype is np.uint64 else rows
    compact = compact_layers(np.array(rows, dtype).reshape(len(rows), 3))
    assert compact.dtype == np.int8
    normalize_layers(compact)
    assert compact.tolist() == [naive_normal_row(row) for row in rows]


@pytest.mark.parametrize(("n_labels", "dtype"), [(128, np.int8), (129, np.int16), (40_000, np.int32)])
def test_the_type_grows_with_the_number_of_layers(n_labels, dtype):
    row = np.arange(n_labels)[np.newaxis]
    assert compact_layers(row).dtype == dtype
    assert np.array_equal(compact_layers(row), row)


def test_the_marks_of_layers_are_negative_and_differ():
    assert (_kernels.ABSENT, _kernels.ISOLATED) == (-1, -2)
