"""Arrays, labels and attribute columns in one ``.npz`` file, without pickle."""

import json
import os
import zipfile
import zlib
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from prefgraph._content import Label, canonical_value, label_text
from prefgraph.errors import InvalidFile

VERSION = 1
_MAGIC = "prefgraph preferences"

# What numpy, zip and JSON raise on a file that is none of theirs, or that is broken.
_BROKEN = (
    zipfile.BadZipFile,
    zlib.error,
    AttributeError,
    EOFError,
    LookupError,
    NotImplementedError,
    TypeError,
    ValueError,
)


def save(path: str | os.PathLike[str], arrays: Mapping[str, npt.NDArray[Any]]) -> None:
    """Write the arrays beside the target, then move the file into place, so that no half-written file is seen."""
    target = Path(path)
    partial = target.with_name(f".{target.name}.{os.getpid()}.tmp")
    header = _pack({"what": _MAGIC, "version": VERSION})
    try:
        with partial.open("wb") as file:
            np.savez(file, allow_pickle=False, header=header, **arrays)
        partial.replace(target)
    except OSError as error:
        if error.filename is None:
            raise
        # about the path that was asked for, not the file beside it
        raise type(error)(error.errno, error.strerror, os.fspath(path)) from None
    finally:
        partial.unlink(missing_ok=True)


def load(path: str | os.PathLike[str]) -> dict[str, npt.NDArray[Any]]:
    """The arrays of a file that `save` wrote."""
    with reading(path):
        # opened here, because numpy leaves a broken archive open
        with Path(path).open("rb") as source:
            if not zipfile.is_zipfile(source):  # numpy would advise to unpickle it
                raise ValueError("it is no archive of arrays")
            source.seek(0)
            with np.load(source, allow_pickle=False) as file:
                arrays = {name: _array(file, name) for name in file.files}
        header = _unpack(arrays.pop("header"))
        if header["what"] != _MAGIC:
            raise ValueError(f"it says to hold {header['what']!r}")
        newer = header["version"] > VERSION
    if newer:
        raise InvalidFile(
            f"{path}: written in version {header['version']} of the format, this release reads up to {VERSION}; "
            "read it with a newer prefgraph"
        )
    return arrays


def _array(file: Any, name: str) -> npt.NDArray[Any]:
    """One array of an archive; numpy's own words about one with objects tell people to unpickle it."""
    try:
        return np.asarray(file[name])
    except ValueError:
        raise ValueError(f"the array {name!r} is broken, or holds objects") from None


@contextmanager
def reading(path: str | os.PathLike[str]) -> Iterator[None]:
    """Turn what a broken file makes other code raise into an `InvalidFile` that names the file."""
    try:
        yield
    except _BROKEN as error:
        raise InvalidFile(
            f"{path}: not a file of preferences, or a broken one ({error}); give one that save() wrote"
        ) from None


def check(arrays: Mapping[str, npt.NDArray[Any]], n_labels: int) -> None:
    """Raise ValueError where the arrays do not fit together: fast loops would read past their ends."""
    layer, weight = arrays["layer"], arrays["table_weight"]
    if layer.ndim != 2 or layer.shape[1] != n_labels:
        raise ValueError(f"layer has the shape {layer.shape} for {n_labels} labels")
    _check_offsets("vertex_offsets", arrays["table_vertex_offsets"], len(arrays["table_vertex"]))
    _check_offsets("offsets", arrays["table_offsets"], len(arrays["table_init"]))
    if len(arrays["table_offsets"]) != len(arrays["table_vertex_offsets"]):
        raise ValueError("the graphs with edges and those with vertices differ in number")
    if not arrays["table_init"].shape == arrays["table_term"].shape == weight.shape or not np.all(weight > 0):
        raise ValueError("the columns of the edges differ in length, or a weight is not above 0")
    _check_range("graph_index", arrays["graph_index"], 0, len(layer) + len(arrays["table_offsets"]) - 1)
    _check_range("layer", layer, -2, max(n_labels, 1))
    for name in ("table_vertex", "table_init", "table_term"):
        _check_range(name, arrays[name], 0, n_labels)


def _check_offsets(name: str, offsets: npt.NDArray[Any], end: int) -> None:
    if offsets.ndim != 1 or not len(offsets) or [offsets[0], offsets[-1]] != [0, end] or np.any(np.diff(offsets) < 0):
        raise ValueError(f"{name} does not go from 0 to {end} without falling")


def _check_range(name: str, values: npt.NDArray[Any], low: int, high: int) -> None:
    if values.dtype.kind != "i" or (values.size and not (low <= values.min() and values.max() < high)):
        raise ValueError(f"{name} has a value outside {low} .. {high - 1}")


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
