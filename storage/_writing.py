"""Writing: rows under a node without a name, in whatever steps, and then the name, in one."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy.typing as npt

from prefgraph import InvalidDataset, PreferenceDataset
from storage import codec, cypher
from storage._models import scores_batch
from storage.codec import Batch, Key, Known
from storage.errors import StoreBusy, StoreError

if TYPE_CHECKING:
    from storage.store import GraphStore

Rows = list[dict[str, Any]]


def write_dataset(store: GraphStore, name: str, dataset: PreferenceDataset, there: Rows, mode: str) -> None:
    """Write a data set in place of, or behind, the writes that are there."""
    backend = store._backend
    known = _known(store, name, there) if mode == "append" else Known({}, {})
    run: list[int] = []

    def allocate(count: int) -> int:
        run[:] = _take_ids(store, count, "Dataset")
        return run[0]

    try:
        batch = codec.encode(name, dataset, known, allocate)
        names = {table: backend.add_columns(table, columns) for table, columns in batch.columns.items() if columns}
        batch = batch.renamed(names)
        backend.load(batch)
        old = _show(store, name, batch, there, mode)
    except BaseException as error:
        if run and _is_shown(store, "Dataset", run) and isinstance(error, StoreError):
            return  # the last step was taken, and only its answer was lost
        raise
    _remove(store, old)


def write_scores(
    store: GraphStore, name: str, model: str, keys: list[Key], scores: npt.ArrayLike, labels: list[Key] | None
) -> None:
    """Write a model's scores in place of those it gave before."""
    there = [row["id"] for row in store._writes(name)]
    scores_batch(store, name, keys, scores, labels)
    run = _take_ids(store, 1 + len(keys), "Model")
    new = {"id": run[0], "name": model, "dataset": name}
    steps = [
        (cypher.LOCK, {}),
        (cypher.SHOW_MODEL, {**new, "there": there, "others": len(there)}),
        (cypher.HIDE_SCORES, new),
    ]
    try:
        store._backend.load(scores_batch(store, name, keys, scores, labels, run[0]))
        _, shown, old = store._backend.transaction(steps)
        if not shown.num_rows:
            raise _changed(name)
    except BaseException as error:
        if _is_shown(store, "Model", run) and isinstance(error, StoreError):
            return
        raise
    _remove(store, old.to_pylist())


def check_fits(store: GraphStore, name: str, dataset: PreferenceDataset, there: Rows) -> None:
    """An append must have the columns and the hierarchy of what is there, and new keys."""
    stored, new = json.loads(there[0]["header"]), codec.header_of(dataset)
    for column in ("X", "texts", "split", "candidates", "hierarchy"):
        if stored[column] != new[column]:
            raise InvalidDataset(
                f"the data set {name!r} and what is appended to it differ in {column}: {_short(stored[column])} and "
                f"{_short(new[column])}; give both the same"
            )
    if codec.schema_of(stored) != codec.schema_of(new):
        raise InvalidDataset(
            f"the data set {name!r} has the properties {_fields(stored)} and what is appended {_fields(new)}; "
            "give both the same"
        )
    keys = {codec.text_of(key, "key") for key in dataset.keys}
    for row in store._rows(cypher.INSTANCE_IDS, name=name):
        if (row["key"], row["key_is_int"]) in keys:
            key = codec.name_of(row["key"], row["key_is_int"])
            raise InvalidDataset(
                f"the data set {name!r} has an instance with the key {key!r} already; keys are distinct"
            )


def _known(store: GraphStore, name: str, there: Rows) -> Known:
    """The labels and graphs that an append need not write again."""
    labels = {
        (row["name"], row["name_is_int"]): (row["id"], row["position"]) for row in store._rows(cypher.LABELS, name=name)
    }
    graphs: dict[str, int] = {}
    for write in there:
        rows = store._rows(cypher.GRAPH_IDS, first_id=write["first_id"], end_id=write["end_id"])
        graphs |= {row["key"]: row["id"] for row in rows}
    return Known(labels, graphs, 1 + max(row["position"] for row in there))


def _take_ids(store: GraphStore, count: int, root: str) -> tuple[int, int]:
    """A run of ids that is ours, on record under a node without a name."""
    *_, taken = store._backend.transaction([(cypher.TAKE_IDS, {"count": count}), (cypher.NEXT_ID, {})])
    end_id = int(taken["next_id"][0].as_py())
    first_id = end_id - count
    row = {"id": first_id, "first_id": first_id, "end_id": end_id, "now": int(time.time())}
    store._backend.transaction([(cypher.BEGIN_WRITE.format(root=root), row)])
    return first_id, end_id


def _show(store: GraphStore, name: str, batch: Batch, there: Rows, mode: str) -> Rows:
    """The last step: give the write its name, and what it replaces none. Returns what is to be removed."""
    new = {"id": batch.dataset["id"], "name": name}
    facts = {key: batch.dataset[key] for key in ("position", "header", "digest")}
    seen = [row["id"] for row in there]
    steps: list[tuple[str, dict[str, Any]]] = [
        (cypher.LOCK, {}),
        (cypher.SHOW_DATASET, {**new, **facts, "there": seen, "others": len(seen)}),
    ]
    if batch.placed:
        steps.append((cypher.PLACE_LABELS, {**new, "rows": [dict(row) for row in batch.placed]}))
    if mode == "replace":
        steps += [(cypher.HIDE_REPLACED, {**new, "there": seen}), (cypher.HIDE_REPLACED_MODELS, new)]
    _, shown, *rest = store._backend.transaction(steps)
    if not shown.num_rows:
        raise _changed(name)
    return [*rest[-1].to_pylist(), *there] if mode == "replace" else []


def _is_shown(store: GraphStore, root: str, run: Sequence[int]) -> bool:
    """Whether a write that failed did so after its last step; if not, what it left is removed."""
    try:
        if store._rows(cypher.SHOWN.format(root=root), id=run[0]):
            return True
        store._backend.remove(run[0], run[1])
    except StoreError:  # the server may be gone, the disk full; what is left has no name
        pass
    return False


def _remove(store: GraphStore, hidden: Sequence[Mapping[str, Any]]) -> None:
    """Delete what has no name any more. The write is done: where this fails, the next opening does it."""
    try:
        for row in hidden:
            store._backend.remove(row["first_id"], row["end_id"])
    except StoreError:
        pass


def _changed(name: str) -> StoreBusy:
    return StoreBusy(f"the data set {name!r} was changed by somebody else meanwhile; nothing was written, try again")


def _short(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 80 else text[:76] + " ..."


def _fields(header: Mapping[str, Any]) -> str:
    return ", ".join(f"{field.name} {field.type}" for field in codec.schema_of(header)) or "none"
