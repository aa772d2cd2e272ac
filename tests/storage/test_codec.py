"""Rows and bytes: what goes in comes out, whichever backend keeps it."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import prefgraph as pg
from prefgraph import InvalidDataset, InvalidLabel
from storage import codec, packing
from storage._properties import decode_column, encode_column, encode_values
from tests.strategies import (
    INJECTIONS,
    ODD_TEXTS,
    PROPERTY_KINDS,
    candidate_rows,
    datasets,
    feature_matrices,
    labels,
    preferences,
)

NAMES = st.lists(st.sampled_from(["year", "Year", "from", *ODD_TEXTS, *INJECTIONS]) | st.text(max_size=80), unique=True)


@given(labels())
def test_a_name_and_its_text_are_one(label):
    assert codec.name_of(*codec.text_of(label)) == label
    assert type(codec.name_of(*codec.text_of(label))) is type(label)


@pytest.mark.parametrize("name", [1.0, True, None, (1,), b"x", "\ud800"])
def test_only_whole_texts_and_ints_are_names(name):
    with pytest.raises((InvalidLabel, InvalidDataset)):
        codec.text_of(name)


@pytest.mark.parametrize("prefix", ["property", "attribute"])
@given(names=NAMES)
def test_every_name_has_a_column_that_no_other_has_in_any_case(prefix, names):
    columns = codec.column_names(prefix, names)
    folded = [column.lower() for column in columns.values()]
    assert len(set(folded)) == len(names)
    assert not set(folded) & {name.lower() for name in codec.TAKEN[prefix]}
    assert all(column.isascii() and column.isidentifier() and len(column) < 140 for column in columns.values())


@pytest.mark.parametrize(
    "kind",
    [
        *(kind for _, kind in PROPERTY_KINDS),
        pa.dictionary(pa.int8(), pa.string()),
        pa.float16(),
        pa.date64(),
        pa.time32("s"),
        pa.time32("ms"),
        pa.time64("ns"),
        pa.timestamp("ns", "Europe/Berlin"),
        pa.large_list(pa.large_string()),
    ],
    ids=str,
)
def test_a_column_of_every_kind_comes_back(kind):
    values = {
        "list": [["a", ""], []],
        "large_list": [["a"], []],
        "string": ["a", ""],
        "dictionary": ["a", "b"],
        "bool": [True, False],
        "date64": [86_400_000, 0],
    }
    plain = next((v for name, v in values.items() if str(kind).removeprefix("large_").startswith(name)), [1, 0])
    plain = (
        [[], []] if "null" in str(kind) and "list" in str(kind) else [None, None] if pa.types.is_null(kind) else plain
    )
    column = pa.chunked_array([pa.array([*plain, None], kind)])
    for piece in (column, column.slice(2), column.slice(0, 0)):
        _, encoded = encode_column("p", piece)
        again = decode_column(encoded, kind)
        assert again.type == kind
        assert again.to_pylist() == piece.to_pylist()


@pytest.mark.parametrize(
    "column",
    [
        pa.array([b"x"]),
        pa.array([[1]]),
        pa.array([{"a": 1}]),
        pa.array([5], pa.duration("s")),
        pa.array([2**64 - 1], pa.uint64()),
        pa.array([2**50], pa.timestamp("s")),
        pa.array([["a", None]]),
    ],
    ids=lambda column: str(column.type),
)
def test_a_column_that_cannot_be_kept_is_refused(column):
    with pytest.raises(InvalidDataset, match="'p'"):
        encode_column("p", pa.chunked_array([column]))


@pytest.mark.parametrize("value", ["x", 1.5, 2**70, [[1]], object(), True])
def test_a_value_of_another_kind_is_refused(value):
    with pytest.raises(InvalidDataset, match="'p'"):
        encode_values("p", value, pa.int64())


@given(p=preferences(labels()))
def test_packed_graphs_are_the_graphs(p):
    distinct = pg.Preferences(p.labels, np.arange(p.n_graphs), p.layer, p.table)
    place, layer, table = packing.unpack_graphs(packing.pack_graphs(p), len(p.labels))
    assert pg.Preferences(p.labels, place.astype(np.int32), layer, table) == distinct


@given(data=st.data(), m=st.integers(0, 4))
def test_packed_features_are_the_features(data, m):
    X = data.draw(feature_matrices(m))
    again = packing.unpack_features(packing.pack_features(X), packing.describe_features(X))
    assert again.dtype == X.dtype
    np.testing.assert_array_equal(
        np.asarray(again.todense() if hasattr(again, "todense") else again),
        np.asarray(X.todense() if hasattr(X, "todense") else X),
    )


@given(data=st.data())
def test_packed_candidates_are_the_candidates(data):
    rows = data.draw(candidate_rows(data.draw(preferences(labels()))))
    again = packing.unpack_candidates(packing.pack_candidates(rows), packing.describe_features(rows.X))
    assert again.labels == rows.labels
    np.testing.assert_array_equal(again.offsets, rows.offsets)


@given(data=datasets(), other=datasets())
def test_equal_data_sets_have_one_digest_and_others_another(data, other):
    assert codec.digest_of(data) == codec.digest_of(data.take(slice(None)))
    assert (codec.digest_of(data) == codec.digest_of(other)) <= (
        data.keys == other.keys and data.labels == other.labels
    )
