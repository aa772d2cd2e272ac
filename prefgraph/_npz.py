"""Arrays, labels and attribute columns in one ``.npz`` file, without pickle."""

import json
import os
import zipfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from prefgraph._content import Label, canonical_value, label_text
from prefgraph.errors import InvalidFile

VERSION = 1
_MAGIC = "prefgraph preferences"


def save(path: str | os.PathLike[str], arrays: Mapping[str, npt.NDArray[Any]]) -> None:
    """Write the arrays beside the target, then move the file into place, so that no half-written file is seen."""
    target = Path(path)
    partial = target.with_name(f".{target.name}.{os.getpid()}.tmp")
    header = _pack({"what": _MAGIC, "version": VERSION})
    try:
        with partial.open("wb") as file:
            np.savez(file, allow_pickle=False, header=header, **arrays)
        partial.replace(target)
    finally:
        partial.unlink(missing_ok=True)


def load(path: str | os.PathLike[str]) -> dict[str, npt.NDArray[Any]]:
    """The arrays of a file that `save` wrote."""
    try:
        with np.load(path, allow_pickle=False) as file:
            arrays = {name: file[name] for name in file.files}
        header = _unpack(arrays.pop("header"))
    except (zipfile.BadZipFile, ValueError, KeyError, EOFError, AttributeError) as error:
        raise InvalidFile(f"{path}: not a file of preferences ({error}); give one that save() wrote") from None
    if not isinstance(header, dict) or header.get("what") != _MAGIC:
        raise InvalidFile(f"{path}: not a file of preferences; give one that save() wrote")
    if header["version"] > VERSION:
        raise InvalidFile(
            f"{path}: written in version {header['version']} of the format, this release reads up to {VERSION}; "
            "read it with a newer prefgraph"
        )
    return arrays


def pack_labels(labels: Iterable[Label]) -> npt.NDArray[np.uint8]:
    """Labels as the bytes of a JSON list; they keep their type."""
    return _pack([json.loads(label_text(v)) for v in labels])


def unpack_labels(data: npt.NDArray[Any]) -> list[Label]:
    """What `pack_labels` packed."""
    return list(_unpack(data))


def pack_columns(columns: Mapping[str, npt.NDArray[np.object_]]) -> npt.NDArray[np.uint8]:
    """Columns of attributes as the bytes of JSON, only the rows in which something is said."""
    packed = {}
    for name, column in columns.items():
        rows = [row for row, value in enumerate(column) if value is not None]
        packed[name] = [rows, [canonical_value(column[row], f"edge attribute {name!r}") for row in rows]]
    return _pack(packed)


def unpack_columns(data: npt.NDArray[Any], n_rows: int) -> dict[str, npt.NDArray[np.object_]]:
    """What `pack_columns` packed."""
    columns = {}
    for name, (rows, values) in _unpack(data).items():
        columns[name] = np.full(n_rows, None, object)
        for row, value in zip(rows, values, strict=True):
            columns[name][row] = value
    return columns


def _pack(value: object) -> npt.NDArray[np.uint8]:
    return np.frombuffer(json.dumps(value).encode("ascii"), np.uint8)


def _unpack(data: npt.NDArray[Any]) -> Any:
    return json.loads(data.tobytes())
