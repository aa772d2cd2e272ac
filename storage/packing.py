"""Graphs, features and candidates as bytes: what training reads, beside the nodes and edges that queries read."""

from __future__ import annotations

import itertools
import json
import struct
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from scipy import sparse

from prefgraph import Candidates, Preferences
from prefgraph._content import canonical_value
from prefgraph._edge_table import EdgeTable, GraphRow

__all__: list[str] = []  # for the package itself

# A graph is one byte that says how it is kept, then arrays in little-endian order:
#   layers: the width of a layer number, then one for each label;
#   edges: the numbers of vertices and edges, the vertices, init, term, weight, and JSON for the attributes.
LAYERS, EDGES = b"L", b"E"
_EDGES_HEAD = struct.Struct("<cii")
ABSENT = -1


def pack_graphs(p: Preferences) -> list[bytes]:
    """The bytes of each distinct graph."""
    width = bytes([p.layer.dtype.itemsize])
    rows = np.ascontiguousarray(p.layer).astype(p.layer.dtype.newbyteorder("<"), copy=False)
    layered = [LAYERS + width + row.tobytes() for row in rows]
    return layered + [_pack_edges(p.table.row(g)) for g in range(len(p.table))]


def _pack_edges(row: GraphRow) -> bytes:
    arrays = (row.vertex.astype("<i4"), row.init.astype("<i4"), row.term.astype("<i4"), row.weight.astype("<f8"))
    said = b""
    if row.attributes is not None:
        said = json.dumps([{k: canonical_value(v, k) for k, v in data.items()} for data in row.attributes]).encode()
    head = _EDGES_HEAD.pack(EDGES, len(row.vertex), len(row.init))
    return head + b"".join(a.tobytes() for a in arrays) + said


def unpack_graphs(packed: Sequence[bytes], n_labels: int) -> tuple[npt.NDArray[np.int64], npt.NDArray[Any], EdgeTable]:
    """(place of each graph, layers of the layered ones, table of the others), as `Preferences` takes them."""
    layered = [k for k, data in enumerate(packed) if data[:1] == LAYERS]
    others = [k for k, data in enumerate(packed) if data[:1] != LAYERS]
    place = np.empty(len(packed), np.int64)
    place[layered + others] = np.arange(len(packed))
    table = EdgeTable.of([_unpack_edges(packed[k]) for k in others])
    return place, _unpack_layers([packed[k] for k in layered], n_labels), table


def _unpack_layers(packed: Sequence[bytes], n_labels: int) -> npt.NDArray[Any]:
    """Rows of layer numbers. Labels that came later than a graph are not among its vertices."""
    width = max((data[1] for data in packed), default=1)
    layer = np.full((len(packed), n_labels), ABSENT, f"i{width}")
    shapes = {(data[1], len(data)) for data in packed}
    for itemsize, length in shapes:
        rows = [k for k, data in enumerate(packed) if (data[1], len(data)) == (itemsize, length)]
        block = np.frombuffer(b"".join(packed[k][2:] for k in rows), f"<i{itemsize}")
        layer[rows, : (length - 2) // itemsize] = block.reshape(len(rows), -1)
    return layer


def _unpack_edges(data: bytes) -> GraphRow:
    _, n_vertices, n_edges = _EDGES_HEAD.unpack_from(data)
    sizes = np.cumsum([_EDGES_HEAD.size, 4 * n_vertices, 4 * n_edges, 4 * n_edges, 8 * n_edges]).tolist()
    vertex, init, term = (np.frombuffer(data[a:b], "<i4") for a, b in itertools.pairwise(sizes[:4]))
    said = json.loads(data[sizes[4] :]) if len(data) > sizes[4] else None
    return GraphRow(vertex, init, term, np.frombuffer(data[sizes[3] : sizes[4]], "<f8"), said)


# -- features ----------------------------------------------------------------------------------------------------------


def describe_features(X: Any) -> dict[str, Any]:
    """What has to be known to read packed rows: how they are kept, their type and width."""
    kind = "dense" if not sparse.issparse(X) else "array" if isinstance(X, sparse.sparray) else "matrix"
    return {"kind": kind, "dtype": X.dtype.newbyteorder("<").str, "width": X.shape[1]}


def pack_features(X: Any) -> list[bytes]:
    """The bytes of each row: the numbers, or (column, number) pairs where X is sparse."""
    dtype = X.dtype.newbyteorder("<")
    if not sparse.issparse(X):
        return [row.tobytes() for row in np.ascontiguousarray(X, dtype)]
    rows: Any = sparse.csr_array(X)  # type: ignore[call-overload]
    pairs = np.empty(rows.nnz, [("column", "<i4"), ("value", dtype)])
    pairs["column"], pairs["value"] = rows.indices, rows.data
    data, size = pairs.tobytes(), pairs.dtype.itemsize
    return [data[size * a : size * b] for a, b in zip(rows.indptr[:-1], rows.indptr[1:], strict=True)]


def unpack_features(column: pa.ChunkedArray | Sequence[bytes], shape: dict[str, Any]) -> Any:
    """The matrix whose rows `pack_features` packed."""
    blobs = column.to_pylist() if isinstance(column, pa.ChunkedArray) else list(column)
    data, width, dtype = b"".join(blobs), shape["width"], np.dtype(shape["dtype"])
    if shape["kind"] == "dense":
        return np.frombuffer(data, dtype).reshape(len(blobs), width).astype(dtype.newbyteorder("="))
    pairs = np.frombuffer(data, [("column", "<i4"), ("value", dtype)])
    indptr = np.zeros(len(blobs) + 1, np.int64)
    np.cumsum([len(blob) // pairs.dtype.itemsize for blob in blobs], out=indptr[1:])
    build = sparse.csr_array if shape["kind"] == "array" else sparse.csr_matrix
    values = pairs["value"].astype(dtype.newbyteorder("="))
    return build((values, pairs["column"].astype(np.int32), indptr), shape=(len(blobs), width))


def pack_candidates(candidates: Candidates) -> list[bytes]:
    """For each instance: the labels of its candidates as JSON, then their packed rows."""
    rows = pack_features(candidates.X)
    packed = []
    for a, b in zip(candidates.offsets[:-1], candidates.offsets[1:], strict=True):
        names = [v if isinstance(v, str) else int(v) for v in candidates.labels[a:b]]  # type: ignore[call-overload]
        head = json.dumps([names, [len(row) for row in rows[a:b]]]).encode()
        packed.append(struct.pack("<i", len(head)) + head + b"".join(rows[a:b]))
    return packed


def unpack_candidates(column: pa.ChunkedArray | Sequence[bytes], shape: dict[str, Any]) -> Candidates:
    """What `pack_candidates` packed."""
    labels: list[Any] = []
    rows: list[bytes] = []
    counts = [0]
    for blob in column.to_pylist() if isinstance(column, pa.ChunkedArray) else column:
        (length,) = struct.unpack_from("<i", blob)
        names, sizes = json.loads(blob[4 : 4 + length])
        place = 4 + length
        for size in sizes:
            rows.append(blob[place : place + size])
            place += size
        labels += names
        counts.append(len(names))
    return Candidates(unpack_features(rows, shape), np.cumsum(counts), tuple(labels))
