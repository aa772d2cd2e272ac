"""Data sets as a directory of Parquet files, the same from every backend: the way to move, and the insurance."""

from __future__ import annotations

import json
import struct
from collections.abc import Iterable
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet as pq

from prefgraph import InvalidFile, PreferenceDataset
from storage import codec
from storage.codec import Known
from storage.errors import DatasetNotFound

if TYPE_CHECKING:
    from storage.store import GraphStore

VERSION = 1
_FILES = ("instances", "graphs", "labels")


def export(store: GraphStore, directory: str | PathLike[str], names: Iterable[str] | None) -> None:
    """One folder for each data set, numbered, and an index written last: without it the directory is no export."""
    target = Path(directory)
    chosen = store.datasets() if names is None else list(names)
    for name in chosen:
        store._writes(name)
    if target.exists() and any(target.iterdir()):
        raise InvalidFile(f"{target} is not empty; export to a new directory")
    target.mkdir(parents=True, exist_ok=True)
    index = {}
    for number, name in enumerate(chosen):
        folder = target / f"{number:04d}"
        folder.mkdir()
        index[name] = folder.name
        _write_dataset(folder, store.read(name))
    part = target / "index.json.part"
    part.write_text(json.dumps({"what": "prefgraph export", "version": VERSION, "datasets": index}), "utf-8")
    part.replace(target / "index.json")


def _write_dataset(folder: Path, data: PreferenceDataset) -> None:
    """Three tables that say all: instances with their columns, packed graphs, labels; the header beside them."""
    batch = codec.encode("", data, Known({}, {}), lambda _: 0)
    graphs = batch.nodes["PreferenceGraph"].select(["id", "key", "packed", "cyclic", "n_vertices", "n_edges"])
    instances = batch.nodes["Instance"].append_column("graph", batch.relationships["SUPERVISED_BY"]["to"])
    tables = {"instances": instances, "graphs": graphs, "labels": batch.nodes["Label"]}
    for name, table in tables.items():
        pq.write_table(table, folder / f"{name}.parquet")
    header = {**json.loads(batch.dataset["header"]), "digest": batch.dataset["digest"]}
    (folder / "header.json").write_text(json.dumps(header), "utf-8")


def import_(store: GraphStore, directory: str | PathLike[str], names: Iterable[str] | None, mode: str) -> None:
    """Write the data sets of an export, each all or nothing."""
    source = Path(directory)
    index = _index(source)
    chosen = list(index) if names is None else list(names)
    for name in chosen:
        if name not in index:
            raise DatasetNotFound(
                f"the export {source} has no data set {name!r}; it has {', '.join(map(repr, index)) or 'none'}"
            )
    for name in chosen:
        store.write(name, _read_dataset(source / index[name]), mode)


def _index(source: Path) -> dict[str, str]:
    try:
        index = json.loads((source / "index.json").read_text("utf-8"))
    except (OSError, ValueError) as error:
        raise InvalidFile(f"{source}: not a finished export ({error}); give a directory that export_to wrote") from None
    try:
        known = index["what"] == "prefgraph export" and index["version"] <= VERSION
        folders = {str(name): Path(folder).name for name, folder in index["datasets"].items()}
    except (LookupError, TypeError, AttributeError):
        known = False
    if not known:
        raise InvalidFile(f"{source}: not an export that this release knows; give a directory that export_to wrote")
    return folders


def _read_dataset(folder: Path) -> PreferenceDataset:
    """The data set, if it is all there and says what was exported."""
    try:
        tables = {name: pq.read_table(folder / f"{name}.parquet") for name in _FILES}
        header = json.loads((folder / "header.json").read_text("utf-8"))
        rows = [row for row in tables["labels"].to_pylist() if row["position"] is not None]
        rows.sort(key=lambda row: int(row["position"]))
        labels = [codec.name_of(row["name"], row["name_is_int"]) for row in rows]
        data = codec.decode(tables["instances"], tables["graphs"], labels, header)
        if codec.digest_of(data) != header["digest"]:
            raise InvalidFile("it says something else than what was exported")
    except (OSError, LookupError, TypeError, ValueError, struct.error, pa.ArrowException) as error:
        raise InvalidFile(f"{folder}: broken ({error}); export again") from None
    return data
