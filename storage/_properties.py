"""Columns of properties: Arrow's types as the few that every engine keeps, and back."""

from __future__ import annotations

from collections.abc import Set as AbstractSet
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from prefgraph import InvalidDataset


def property_word(kind: pa.DataType) -> str | None:
    """The engine-independent word for an Arrow type, or None where a store cannot keep it."""
    if pa.types.is_boolean(kind):
        return "bool"
    if pa.types.is_integer(kind):
        return "int"
    if pa.types.is_floating(kind):
        return "float"
    if _is_text(kind) or pa.types.is_date(kind) or pa.types.is_time(kind) or pa.types.is_timestamp(kind):
        return "text"
    if pa.types.is_dictionary(kind):
        return property_word(kind.value_type)
    if (pa.types.is_list(kind) or pa.types.is_large_list(kind)) and _is_text(kind.value_type):
        return "texts"
    return None


def _is_text(kind: pa.DataType) -> bool:
    """Whether it is text; a column of nothing counts as such."""
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_null(kind))


ARROW = {
    "bool": pa.bool_(),
    "int": pa.int64(),
    "float": pa.float64(),
    "text": pa.string(),
    "texts": pa.list_(pa.string()),
    "bytes": pa.binary(),
}


def encode_column(name: str, column: pa.ChunkedArray) -> tuple[str, pa.ChunkedArray]:
    """(word, values as the store keeps them). Dates and times become text in ISO form, which sorts as they do."""
    word = property_word(column.type)
    if word is None:
        raise InvalidDataset(
            f"the property {name!r} has the type {column.type}; a store keeps bools, numbers, text, dates and times, "
            "and lists of text, so turn it into one of these"
        )
    plain = column.cast(column.type.value_type) if pa.types.is_dictionary(column.type) else column
    if word == "texts" and pc.list_flatten(plain).null_count:
        raise InvalidDataset(
            f"the property {name!r} has a list with a missing value in it, which Neo4j cannot keep; leave it out of "
            "the list"
        )
    try:
        encoded = plain.cast(ARROW[word])
        exact = not pa.types.is_temporal(plain.type) or decode_column(encoded, plain.type).equals(plain)
    except pa.ArrowInvalid as error:
        raise InvalidDataset(
            f"the property {name!r} does not fit: {error}; integers have 64 bits with a sign"
        ) from None
    if not exact:
        raise InvalidDataset(f"the property {name!r} has times that cannot be written as text; turn it into numbers")
    return word, encoded


def encode_values(name: str, values: Any, kind: pa.DataType) -> list[Any]:
    """A value, or a set or list of them, as the store keeps those of a property."""
    wanted = list(values) if isinstance(values, (AbstractSet, list, tuple, np.ndarray)) else [values]
    kind = kind.value_type if pa.types.is_dictionary(kind) else kind
    try:
        if property_word(kind) == "texts":
            raise pa.ArrowInvalid("lists are not compared")
        if pa.types.is_integer(kind) and any(isinstance(v, float) and not v.is_integer() for v in wanted):
            raise pa.ArrowInvalid("Arrow would cut the fraction off")
        return list(encode_column(name, pa.chunked_array([pa.array(wanted, kind)]))[1].to_pylist())
    except (pa.ArrowException, OverflowError, UnicodeEncodeError):
        raise InvalidDataset(
            f"where has {wanted!r} for the property {name!r} of type {kind}; give such values, and no lists"
        ) from None


def decode_column(column: pa.ChunkedArray, kind: pa.DataType) -> pa.ChunkedArray:
    """What `encode_column` encoded."""
    if pa.types.is_null(kind):
        return pa.chunked_array([pa.nulls(len(column))])
    if pa.types.is_dictionary(kind):
        return decode_column(column, kind.value_type).cast(kind)
    if pa.types.is_time(kind):  # no cast reads a time alone
        instant = pc.binary_join_element_wise("1970-01-01", column, " ")
        return instant.cast(pa.timestamp(kind.unit)).cast(kind)
    if pa.types.is_nested(kind) and pa.types.is_null(kind.value_type):
        return pa.chunked_array([pa.array(column.to_pylist(), kind)])
    return column.cast(kind)
