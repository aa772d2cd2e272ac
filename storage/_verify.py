"""Verification: what queries see and what training reads must say the same."""

from __future__ import annotations

import struct
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from prefgraph import PreferenceGraph, Preferences
from prefgraph._content import said
from storage import codec, cypher, packing

if TYPE_CHECKING:
    from storage.store import GraphStore


Problem = tuple[str, str, str]  # what it is, its key, what is wrong


def problems(store: GraphStore, name: str) -> pa.Table:
    """A row for each graph or instance that was changed behind the store's back: what it is, its key, what is wrong."""
    found: list[Problem] = []
    labels = store.labels(name)
    graph_keys: dict[int, str] = {}
    for write in store._writes(name):
        span = {"first_id": write["first_id"], "end_id": write["end_id"]}
        rows = store._rows(cypher.WHOLE_GRAPHS, **span)
        graph_keys |= {row["id"]: row["key"] for row in rows}
        found += _graph_problems(store, span, rows, labels)
        found += _instance_problems(store, name, write, graph_keys)
    kinds, keys, texts = zip(*found, strict=True) if found else ((), (), ())
    return pa.table(
        {name: pa.array(c, pa.string()) for name, c in (("what", kinds), ("key", keys), ("problem", texts))}
    )


def _instance_problems(
    store: GraphStore, name: str, write: dict[str, Any], graph_keys: Mapping[int, str]
) -> list[Problem]:
    """Compare the rows of a write with their number and their digest."""
    header = store._header(name, write)
    rows = store._instances(write, write["first_id"], write["end_id"], "", {})
    contained = store._one(cypher.CONTAINED, id=write["id"])["instances"]
    if not header["instances"] == rows.num_rows == contained:
        there = f"{contained} are there with {rows.num_rows} graphs"
        return [("instances", name, f"{header['instances']} were written, {there}")]
    keys = [graph_keys.get(number, "") for number in rows["graph"].to_pylist()]
    if codec.content_digest(rows, header["properties"].values(), keys) != header["content"]:
        return [("instances", name, "a key, text, split, weight, feature, property or graph of one was changed")]
    return []


def _graph_problems(
    store: GraphStore, span: dict[str, Any], rows: list[dict[str, Any]], labels: list[Any]
) -> list[Problem]:
    """Compare three things: the key, the packed copy, and the vertices and edges."""
    found: list[Problem] = []
    graphs = {}
    for row in rows:
        try:
            place, layer, table = packing.unpack_graphs([row["packed"]], len(labels))
            packed = Preferences(labels, place.astype(np.int32), layer, table)
            key = packed.graph_keys()[0]
            graphs[row["id"]] = packed.graph(0)
        except (ValueError, IndexError, TypeError, KeyError, struct.error) as error:
            found.append(("graph", row["key"], f"its packed copy cannot be read ({error})"))
            continue
        if key != row["key"]:
            found.append(("graph", row["key"], "its packed copy has another content key"))
    attributes = sorted({name for graph in graphs.values() for *_, data in graph.edges.data() for name in said(data)})
    columns = codec.column_names("attribute", attributes)
    listed = "".join(f", e.`{column}` AS attribute{k}" for k, column in enumerate(columns.values()))
    vertices = _grouped(store._table(cypher.VERTICES_OF_GRAPHS, **span), "label", "position")
    table = store._table(cypher.EDGES_OF_GRAPHS.format(columns=listed), **span)
    edges = _grouped(table, *table.column_names[1:])
    for row in rows:
        if row["id"] in graphs:
            graph = graphs[row["id"]]
            facts = {"cyclic": graph.is_cyclic(), "n_vertices": len(graph), "n_edges": graph.number_of_edges()}
            wrong = [f"{name}={row[name]}" for name, fact in facts.items() if row[name] != fact]
            if wrong:
                found.append(("graph", row["key"], f"it says {', '.join(wrong)}, and is not so"))
            if problem := _difference(graph, vertices.get(row["id"], []), edges.get(row["id"], []), labels, attributes):
                found.append(("graph", row["key"], problem))
    return found


def _difference(
    graph: PreferenceGraph, vertices: list[Any], edges: list[Any], labels: list[Any], attributes: list[str]
) -> str:
    """How vertices and edges differ from the packed graph, or nothing."""
    position = {label: k for k, label in enumerate(labels)}
    if any(label != named for label, named in vertices):
        return "a vertex has another label than its packed copy"
    if sorted(named for _, named in vertices) != sorted(position[v] for v in graph):
        return f"it has {len(vertices)} vertices, its packed copy {len(graph)} or others"
    stored = {(u, v): values for u, v, *values in edges}
    packed = {
        (position[u], position[v]): [data.get("weight", 1.0), *(codec.attribute_text(data.get(a)) for a in attributes)]
        for u, v, data in graph.edges.data()
    }
    if len(edges) != len(stored) or stored.keys() != packed.keys():
        return f"it has {len(edges)} edges, its packed copy {len(packed)} or others"
    if stored != packed:
        return "the weight or an attribute of an edge differs from its packed copy"
    return ""


def _grouped(table: pa.Table, *columns: str) -> dict[int, list[Any]]:
    groups: dict[int, list[Any]] = {}
    for graph, *values in zip(*(table[c].to_pylist() for c in ("graph", *columns)), strict=True):
        groups.setdefault(graph, []).append(tuple(values))
    return groups
