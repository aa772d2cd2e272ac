"""What models say about the instances of a data set: their scores, and the preferences that these break."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from prefgraph import InvalidDataset, InvalidScores
from prefgraph.errors import check_option
from storage import codec, cypher
from storage._questions import key_column, label_column
from storage.codec import Batch, Key
from storage.errors import DatasetNotFound, InstanceNotFound

if TYPE_CHECKING:
    from storage.store import GraphStore

BY = ("edge", "pair", "instance")


def scores_batch(
    store: GraphStore,
    name: str,
    keys: Iterable[Key],
    scores: npt.ArrayLike,
    labels: Iterable[Key] | None,
    first_id: int | None = None,
) -> Batch:
    """The rows of a model's scores; without ``first_id`` only the checks are made."""
    index = store.labels(name)
    columns = index if labels is None else list(labels)
    listed = list(keys)
    matrix = np.asarray(scores, np.float64)
    if matrix.shape != (len(listed), len(columns)):
        raise InvalidScores(
            f"scores has the shape {matrix.shape} for {len(listed)} keys and {len(columns)} labels; give a row for "
            "each key and a column for each label"
        )
    if not np.all(np.isfinite(matrix)):
        row, column = np.argwhere(~np.isfinite(matrix))[0]
        raise InvalidScores(
            f"key {listed[row]!r}, label {columns[column]!r}: the score is {matrix[row, column]}; give finite numbers"
        )
    place = {codec.text_of(label): k for k, label in enumerate(columns)}
    if len(place) < len(columns):
        raise InvalidScores("a label is listed twice; give each label one column of scores")
    lost = [label for label in index if codec.text_of(label) not in place]
    if lost:
        raise InvalidScores(f"label {lost[0]!r} of the data set {name!r} has no column; score all its labels")
    matrix = matrix[:, [place[codec.text_of(label)] for label in index]]
    ids = {(row["key"], row["key_is_int"]): row["id"] for row in store._rows(cypher.INSTANCE_IDS, name=name)}
    texts = [codec.text_of(key, "key") for key in listed]
    unknown = [key for key, text in zip(listed, texts, strict=True) if text not in ids]
    if unknown:
        raise InstanceNotFound(f"the data set {name!r} has no instance with the key {unknown[0]!r}")
    if len(set(texts)) < len(texts):
        raise InvalidDataset("a key is listed twice; give each instance one row of scores")
    first = 0 if first_id is None else first_id
    rankings = first + 1 + np.arange(len(listed))
    flat = pa.array(matrix.ravel())
    offsets = pa.array(np.arange(len(listed) + 1, dtype=np.int32) * len(index))
    return Batch(
        {"id": first},
        {"Ranking": pa.table({"id": rankings, "scores": pa.ListArray.from_arrays(offsets, flat)})},
        {
            "MADE": pa.table({"from": np.full(len(listed), first), "to": rankings}),
            "RANKS": pa.table({"from": rankings, "to": np.array([ids[text] for text in texts], np.int64)}),
        },
        {},
    )


def violations(store: GraphStore, name: str, model: str, by: str) -> pa.Table:
    """The edges that a model's scores break (a tie breaks an edge), as they are or added up."""
    check_option("by", by, BY)
    models = [row["name"] for row in store._rows(cypher.MODELS, dataset=name)]
    if model not in models:
        known = ", ".join(map(repr, models)) or "none"
        raise DatasetNotFound(
            f"no model {model!r} has scores for {name!r}; its models: {known}; write them with write_scores"
        )
    text = cypher.BROKEN[by].format(first=store._backend.first_in_list)
    rows = store._backend.query(text, {"dataset": name, "model": model})
    labels = store.labels(name)
    columns: dict[str, Any] = {} if by == "pair" else {"key": key_column(rows)}
    if by != "instance":
        columns |= {end: label_column(labels, rows[end].to_pylist()) for end in ("init", "term")}
    for count in ("instances", "edges"):
        if count in rows.column_names:
            columns[count] = pa.array([int(n) for n in rows[count].to_pylist()], pa.int64())
    for number in ("weight", "margin"):
        if number in rows.column_names:
            columns[number] = rows[number].cast(pa.float64())
    return pa.table(columns)
