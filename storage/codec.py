"""From a data set to rows of nodes and relationships, and back; shared by all backends, so that they cannot differ."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
from scipy import sparse

from prefgraph import InvalidDataset, InvalidLabel, LabelHierarchy, Parts, PreferenceDataset, Preferences
from prefgraph._content import canonical_value
from storage import packing
from storage._properties import ARROW, decode_column, encode_column, property_word
from storage.schema import NODES

__all__: list[str] = []  # for the package itself

Key = str | int
INSTANCE_CONTENT = ("key", "key_is_int", "text", "split", "weight", "features", "candidates")
PLAIN_NAME = re.compile(r"[A-Za-z][A-Za-z0-9]*(_[A-Za-z0-9]+)*")
LONGEST_NAME = 60
# What the columns of a row are called beside its properties; engines do not always tell "Year" from "year".
TAKEN = {"property": {*NODES["Instance"], "graph"}, "attribute": {"from", "to", "weight"}}


@dataclass(frozen=True)
class Batch:
    """All rows of one write: nodes by label, relationships by type (columns ``from`` and ``to`` hold ids)."""

    dataset: dict[str, Any]
    nodes: Mapping[str, pa.Table]
    relationships: Mapping[str, pa.Table]
    columns: Mapping[str, Mapping[str, str]]  # declared beyond the schema: table -> column -> type
    placed: Sequence[Mapping[str, int]] = ()  # labels that had a node and get a place in the label index: id, position

    def renamed(self, names: Mapping[str, Mapping[str, str]]) -> Batch:
        """The same with the column names that the backend chose, by table."""

        def moved(tables: Mapping[str, pa.Table]) -> dict[str, pa.Table]:
            return {
                kind: table.rename_columns([names.get(kind, {}).get(c, c) for c in table.column_names])
                for kind, table in tables.items()
            }

        header = json.loads(self.dataset["header"])
        own = names.get("Instance", {})
        header["properties"] = {name: own.get(column, column) for name, column in header["properties"].items()}
        dataset = {**self.dataset, "header": json.dumps(header)}
        return Batch(dataset, moved(self.nodes), moved(self.relationships), self.columns, self.placed)


@dataclass(frozen=True)
class Known:
    """What the store already has of a data set that is appended to."""

    labels: Mapping[tuple[str, bool], tuple[int, int | None]]  # (name, is an int) -> (id, index)
    graphs: Mapping[str, int]  # content key -> id
    position: int = 0


def text_of(name: object, what: str = "label") -> tuple[str, bool]:
    """A key or label as text, and whether it is an int.

    >>> text_of("1"), text_of(1)
    (('1', False), ('1', True))
    """
    if isinstance(name, str):
        return stored_text(name, what), False
    if isinstance(name, Integral) and not isinstance(name, bool):
        return str(int(name)), True
    raise InvalidLabel(
        f"{what} {name!r} is a {type(name).__name__}; a store keeps str and int, so map it to one of these"
    )


def name_of(text: str, is_int: bool) -> Key:
    """What `text_of` turned into text."""
    return int(text) if is_int else text


def plain_names(names: Iterable[object]) -> list[Key]:
    """Labels as plain str and int, which JSON takes: numpy has ints of its own."""
    return [name_of(*text_of(name)) for name in names]


def stored_text(text: str, what: str) -> str:
    """The text, if a file can hold it."""
    if not text.isascii():
        try:
            text.encode()
        except UnicodeEncodeError:
            raise InvalidDataset(
                f"{what} {text!r} holds half of a surrogate pair, which no file can hold; repair the text first"
            ) from None
    return text


def column_names(prefix: str, names: Iterable[str]) -> dict[str, str]:
    """The column of each property: its own name where every engine takes it, else a name made of its bytes.

    >>> column_names("property", ["year", "Year", "a`b", "key"])
    {'year': 'year', 'Year': 'property_59656172', 'a`b': 'property_616062', 'key': 'property_6b6579'}
    """
    columns: dict[str, str] = {}
    taken = {name.lower() for name in TAKEN[prefix]}
    for name in names:
        plain = PLAIN_NAME.fullmatch(name) and len(name) <= LONGEST_NAME
        if plain and not name.lower().startswith(f"{prefix}_") and name.lower() not in taken:
            columns[name] = name
            taken.add(name.lower())
        else:
            data = stored_text(name, prefix).encode()
            made = data.hex() if len(data) <= LONGEST_NAME else hashlib.sha256(data).hexdigest()
            columns[name] = f"{prefix}_{made}"
    return columns


# -- writing -----------------------------------------------------------------------------------------------------------


def content_digest(instances: pa.Table, properties: Iterable[str], graph_keys: Iterable[str]) -> str:
    """A digest of all that the rows of instances say: their columns, those of their properties, their graphs."""
    state = hashlib.sha256()
    for name in (*INSTANCE_CONTENT, *properties):
        state.update(_column_bytes(instances[name]))
    state.update("".join(graph_keys).encode())
    return state.hexdigest()


def _column_bytes(column: pa.ChunkedArray) -> bytes:
    """The values of a column one after the other, however its rows are cut and its nulls are filled."""
    nothing = np.packbits(np.asarray(column.is_null(), bool)).tobytes()
    if pa.types.is_list(column.type):
        return nothing + json.dumps(column.to_pylist()).encode()
    if pa.types.is_primitive(column.type):
        zero = False if pa.types.is_boolean(column.type) else 0
        return nothing + np.ascontiguousarray(column.fill_null(zero).to_numpy()).tobytes()
    values = [value or b"" for value in column.cast(pa.large_binary()).to_pylist()]
    return nothing + np.array([len(value) for value in values], "<i8").tobytes() + b"".join(values)


def digest_of(data: PreferenceDataset, keys: Sequence[str] | None = None, content: str | None = None) -> str:
    """A digest of all that a data set says, to recognise a write that is tried again.

    ``keys`` are those of its graphs and ``content`` is the digest of its instances, where they are known already.
    """
    if content is None:
        rows, words, _ = _instances(data, 0)
        known = data.preferences.graph_keys() if keys is None else keys
        content = content_digest(rows, words, (known[g] for g in data.preferences.graph_index))
    header = {name: value for name, value in header_of(data).items() if name != "schema"}
    types = [(field.name, str(field.type)) for field in data.properties.schema]
    return hashlib.sha256(json.dumps([plain_names(data.labels), header, types, content]).encode()).hexdigest()


def encode(name: str, data: PreferenceDataset, known: Known, allocate: Callable[[int], int]) -> Batch:
    """The rows of a data set.

    Parameters
    ----------
    name
        The name it will have.
    data
        The data set.
    known
        Labels and graphs that are in the store and need no new node.
    allocate
        Takes a number of ids and returns the first of them.
    """
    p = data.preferences
    keys = p.graph_keys()
    new_graphs = np.array([g for g, key in enumerate(keys) if key not in known.graphs], np.int64)
    label_rows = _label_rows(name, data, known)
    new_labels = [row for row in label_rows if row["id"] is None]
    distinct = Preferences(p.labels, np.arange(p.n_graphs), p.layer, p.table)
    offsets, vertices = distinct.take(new_graphs).vertex_lists()

    counts = np.cumsum([1, len(data), len(new_graphs), len(vertices), len(new_labels)])
    first_id = allocate(int(counts[-1]))
    first = dict(
        zip(("Instance", "PreferenceGraph", "Vertex", "Label"), (first_id + counts[:-1]).tolist(), strict=True)
    )

    for k, row in enumerate(new_labels):
        row["id"] = first["Label"] + k
    label_ids = np.array([row["id"] for row in label_rows[: len(p.labels)]], np.int64)
    graph_ids = np.empty(p.n_graphs, np.int64)
    graph_ids[new_graphs] = first["PreferenceGraph"] + np.arange(len(new_graphs))
    for g, key in enumerate(keys):
        graph_ids[g] = known.graphs.get(key, graph_ids[g])
    index = np.array([row["position"] for row in label_rows[: len(p.labels)]], np.int64)

    instances, property_columns, header = _instances(data, first["Instance"])
    header["content"] = content_digest(instances, property_columns, (keys[g] for g in p.graph_index))
    graphs = distinct.take(new_graphs).with_labels(_stored_order(label_rows, known))
    vertex_rows, edges, edge_columns = _vertices_and_edges(
        distinct.take(new_graphs), offsets, vertices, index, first["Vertex"]
    )
    components = vertex_rows.column("component")
    cyclic = np.zeros(len(new_graphs), bool)
    owner = np.repeat(np.arange(len(new_graphs)), np.diff(offsets))
    cyclic[np.unique(owner[np.asarray(pc.is_valid(components))])] = True
    graph_table = pa.table(
        {
            "id": graph_ids[new_graphs],
            "key": pa.array([keys[g] for g in new_graphs], pa.string()),
            "packed": pa.array(packing.pack_graphs(graphs), pa.binary()),
            "cyclic": cyclic,
            "n_vertices": np.diff(offsets),
            "n_edges": graphs.edge_counts(),
        }
    )
    ids = first["Instance"] + np.arange(len(data))
    ends = {
        "CONTAINS": (np.full(len(data), first_id), ids),
        "NAMES": (np.full(len(new_labels), first_id), np.array([row["id"] for row in new_labels], np.int64)),
        "SUPERVISED_BY": (ids, graph_ids[p.graph_index]),
        "HAS": (graph_ids[new_graphs][owner], np.asarray(vertex_rows["id"])),
        "IS": (np.asarray(vertex_rows["id"]), label_ids[vertices]),
        "CHILD_OF": _child_of(data.hierarchy, label_rows, known),
    }
    relationships = {kind: pa.table({"from": a, "to": b}) for kind, (a, b) in ends.items()}
    return Batch(
        {
            "id": first_id,
            "position": known.position,
            "first_id": first_id,
            "end_id": first_id + int(counts[-1]),
            "header": json.dumps(header),
            "digest": digest_of(data, keys, header["content"]),
        },
        {
            "Label": _label_table(new_labels),
            "PreferenceGraph": graph_table,
            "Vertex": vertex_rows,
            "Instance": instances,
        },
        {**relationships, "PREFERRED_TO": edges},
        {"Instance": property_columns, "PREFERRED_TO": edge_columns},
        [{"id": row["id"], "position": row["position"]} for row in label_rows if row["placed"]],
    )


def _label_rows(name: str, data: PreferenceDataset, known: Known) -> list[dict[str, Any]]:
    """A row for each label of the index, in its order, then for each label that only the hierarchy has."""
    indexed = [index for _, index in known.labels.values() if index is not None]
    next_index = max(indexed, default=-1) + 1
    rows = []
    own = set(data.labels)
    beside = [] if data.hierarchy is None else [v for v in data.hierarchy.labels if v not in own]
    for label in [*data.labels, *beside]:
        text, is_int = text_of(label)
        node, index = known.labels.get((text, is_int), (None, None))
        new = index is None and label in own
        if new:
            index, next_index = next_index, next_index + 1
        row = {"id": node, "dataset": name, "name": text, "name_is_int": is_int, "position": index}
        rows.append({**row, "label": name_of(text, is_int), "placed": new and node is not None})
    return rows


def _label_table(rows: Sequence[Mapping[str, Any]]) -> pa.Table:
    return pa.table(
        {
            "id": pa.array([row["id"] for row in rows], pa.int64()),
            "dataset": pa.array([row["dataset"] for row in rows], pa.string()),
            "name": pa.array([row["name"] for row in rows], pa.string()),
            "name_is_int": pa.array([row["name_is_int"] for row in rows], pa.bool_()),
            "position": pa.array([row["position"] for row in rows], pa.int64()),
        }
    )


def _stored_order(label_rows: Sequence[Mapping[str, Any]], known: Known) -> list[Key]:
    """The stored label index, which packed graphs refer to: what is there, then what is new."""
    indexed = {index: name_of(*label) for label, (_, index) in known.labels.items() if index is not None}
    indexed.update({row["position"]: row["label"] for row in label_rows if row["position"] is not None})
    return [indexed[k] for k in range(len(indexed))]


def _child_of(
    hierarchy: LabelHierarchy | None, rows: Sequence[Mapping[str, Any]], known: Known
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """The relationships of the hierarchy; an append brings none, its hierarchy is the stored one."""
    ids = {row["label"]: row["id"] for row in rows}
    pairs = []
    if hierarchy is not None and known.position == 0 and hierarchy.has_tree:
        pairs = [(ids[v], ids[u]) for v in hierarchy.labels for u in hierarchy.parents(v)]
    ends = np.array(pairs, np.int64).reshape(-1, 2)
    return ends[:, 0], ends[:, 1]


def _vertices_and_edges(
    graphs: Preferences,
    offsets: npt.NDArray[Any],
    vertices: npt.NDArray[Any],
    index: npt.NDArray[np.int64],
    first_vertex: int,
) -> tuple[pa.Table, pa.Table, dict[str, str]]:
    """(vertices, edges, columns of edge attributes) of graphs that are one instance each."""
    graph = np.repeat(np.arange(len(graphs)), np.diff(offsets))
    n_layered = len(graphs.layer)
    place = np.asarray(graphs.graph_index)
    layered = place[graph] < n_layered
    layer = np.full(len(vertices), -1, np.int64)
    layer[layered] = graphs.layer[place[graph[layered]], vertices[layered]]
    q = graphs.parts("identity")
    width = len(graphs.labels)
    slots = graph * width + vertices  # ascending, so that an edge finds its vertices
    init, term = (_places(slots, q.instance * width + end, len(graphs) * width) for end in (q.init, q.term))
    loose = place[q.instance] >= n_layered  # layers have no cycle
    component = _components(graph, init[loose], term[loose])
    vertex_table = pa.table(
        {
            "id": first_vertex + np.arange(len(vertices)),
            "layer": pa.array(layer, mask=layer < 0),
            "component": pa.array(component, mask=component < 0),
            "label": index[vertices],
        }
    )
    columns = {"from": first_vertex + init, "to": first_vertex + term, "weight": q.weight}
    names = column_names("attribute", sorted(q.attributes))
    columns |= {
        column: pa.array(map(attribute_text, q.attributes[name]), pa.string()) for name, column in names.items()
    }
    return vertex_table, pa.table(columns), dict.fromkeys(names.values(), "text")


def _places(slots: npt.NDArray[np.int64], wanted: npt.NDArray[np.int64], size: int) -> npt.NDArray[np.int64]:
    """Where the wanted numbers, all below ``size``, stand among the ascending slots."""
    if size > 4 * (
        len(slots) + len(wanted)
    ):  # graphs with a few labels each of very many: a table would be mostly empty
        return np.searchsorted(slots, wanted)
    table = np.empty(size, np.int64)
    table[slots] = np.arange(len(slots))
    return table[wanted]


def _components(
    graph: npt.NDArray[np.int64], init: npt.NDArray[np.int64], term: npt.NDArray[np.int64]
) -> npt.NDArray[np.int64]:
    """The number of each vertex's strong component in its graph, by their first vertices; -1 where on no cycle."""
    edges = sparse.csr_array((np.ones(len(init), np.int8), (init, term)), shape=(len(graph), len(graph)))
    number = sparse.csgraph.connected_components(edges, connection="strong")[1]
    component = np.full(len(graph), -1, np.int64)
    busy = np.flatnonzero(np.bincount(number)[number] > 1) if len(init) else np.empty(0, np.int64)
    _, first, member = np.unique(number[busy], return_index=True, return_inverse=True)
    order = np.argsort(first)
    owner = graph[busy[first[order]]]  # ascending, and so is the number of a component within its graph
    within = np.empty(len(order), np.int64)
    within[order] = np.arange(len(order)) - np.searchsorted(owner, owner)
    component[busy] = within[member]
    return component


def attribute_text(value: Any) -> str | None:
    """An edge attribute as queries see it: text as it is, anything else as JSON."""
    return value if value is None or isinstance(value, str) else json.dumps(canonical_value(value, "attribute"))


def _instances(data: PreferenceDataset, first: int) -> tuple[pa.Table, dict[str, str], dict[str, Any]]:
    """(rows, columns of properties, header)."""
    keys = [text_of(key, "key") for key in data.keys]
    m = len(data)
    nothing = pa.nulls(m, pa.binary())
    columns: dict[str, Any] = {
        "id": first + np.arange(m),
        "key": pa.array([text for text, _ in keys], pa.string()),
        "key_is_int": pa.array([is_int for _, is_int in keys], pa.bool_()),
        "text": _texts(data.texts, m, "text"),
        "split": _texts(data.split, m, "split"),
        "weight": data.preferences.weight,
        "features": nothing if data.X is None else pa.array(packing.pack_features(data.X), pa.binary()),
        "candidates": nothing
        if data.candidates is None
        else pa.array(packing.pack_candidates(data.candidates), pa.binary()),
    }
    stored = column_names("property", data.properties.column_names)
    words = {}
    for name, column in stored.items():
        words[column], columns[column] = encode_column(name, data.properties[name])
    return pa.table(columns), words, header_of(data)


def _texts(texts: Sequence[str | None] | None, m: int, what: str) -> pa.Array:
    listed = [None] * m if texts is None else [text if text is None else stored_text(text, what) for text in texts]
    return pa.array(listed, pa.string())


def header_of(data: PreferenceDataset) -> dict[str, Any]:
    """What has to be known to read the columns of a data set."""
    return {
        "instances": len(data),
        "properties": column_names("property", data.properties.column_names),
        "schema": base64.b64encode(data.properties.schema.serialize().to_pybytes()).decode(),
        "texts": data.texts is not None,
        "split": data.split is not None,
        "X": None if data.X is None else packing.describe_features(data.X),
        "candidates": None if data.candidates is None else packing.describe_features(data.candidates.X),
        "hierarchy": encode_hierarchy(data.hierarchy),
    }


# -- hierarchies -------------------------------------------------------------------------------------------------------


def encode_hierarchy(hierarchy: LabelHierarchy | None) -> dict[str, Any] | None:
    """A hierarchy as JSON data; labels stand in lists, because a JSON object would make text of an int."""
    if hierarchy is None:
        return None
    labels = plain_names(hierarchy.labels)
    described = [[name_of(*text_of(label)), text] for label, text in hierarchy.descriptions.items()]
    if not hierarchy.has_tree:
        return {"labels": labels, "distances": hierarchy.distances().tolist(), "descriptions": described}
    parents = [[label, plain_names(hierarchy.parents(label))] for label in labels]
    dummies = [plain_names(pair) for pair in hierarchy.dummies.items()]
    return {"parents": parents, "dummies": dummies, "descriptions": described}


def decode_hierarchy(data: Mapping[str, Any] | None) -> LabelHierarchy | None:
    """What `encode_hierarchy` encoded."""
    if data is None:
        return None
    if "distances" in data:
        return LabelHierarchy.from_distances(data["distances"], data["labels"])
    return LabelHierarchy.from_parents(
        {label: above or None for label, above in data["parents"]},
        descriptions=dict(data["descriptions"]),
        dummies=dict(data["dummies"]),
    )


# -- reading -----------------------------------------------------------------------------------------------------------


def decode(
    instances: pa.Table, graphs: pa.Table, labels: Sequence[Key], header: Mapping[str, Any]
) -> PreferenceDataset:
    """The data set of some rows.

    Parameters
    ----------
    instances
        A row for each instance in order, with the columns of the node and ``graph``, the id of its graph.
    graphs
        ``id`` and ``packed`` of every graph that an instance has.
    labels
        The stored label index.
    header
        What the data set's node says about its columns.
    """
    return PreferenceDataset(
        preferences=preferences_of(instances, graphs, labels),
        keys=keys_of(instances),
        X=None if header["X"] is None else packing.unpack_features(instances["features"], header["X"]),
        texts=instances["text"].to_pylist() if header["texts"] else None,
        properties=properties_of(instances, header),
        hierarchy=decode_hierarchy(header["hierarchy"]),
        split=instances["split"].to_pylist() if header["split"] else None,
        candidates=None
        if header["candidates"] is None
        else packing.unpack_candidates(instances["candidates"], header["candidates"]),
    )


def preferences_of(instances: pa.Table, graphs: pa.Table, labels: Sequence[Key]) -> Preferences:
    """The preferences of instances from their columns ``graph`` and ``weight``; graphs that none has are left out."""
    place, layer, table = packing.unpack_graphs(graphs["packed"].to_pylist(), len(labels))
    ids = np.asarray(graphs["id"], np.int64)
    order = np.argsort(ids)
    rows = order[np.searchsorted(ids[order], np.asarray(instances["graph"], np.int64))]
    weight = np.asarray(instances["weight"], np.float64)
    return Preferences(labels, place[rows].astype(np.int32), layer, table, weight).take(slice(None))


def parts_of(rows: pa.Table, instances: npt.NDArray[np.int64], labels: Sequence[Key], decomposition: str) -> Parts:
    """Parts from the rows of a decomposition query: instance id, star, init, term and weight of every edge."""
    instance = np.searchsorted(instances, np.asarray(rows["instance"], np.int64))
    star, init, term = (np.asarray(rows[c], np.int64) for c in ("star", "init", "term"))
    inner = (init, term) if decomposition == "dominated" else (term, init)
    order = np.lexsort((*inner, star, instance))
    instance, star, init, term = instance[order], star[order], init[order], term[order]
    changes = np.ones(len(order), bool)
    if decomposition != "disagreement" and len(order):
        changes[1:] = (instance[1:] != instance[:-1]) | (star[1:] != star[:-1])
    first = np.flatnonzero(changes)
    return Parts(
        instance,
        np.cumsum(changes) - 1,
        init.astype(np.int32),
        term.astype(np.int32),
        np.asarray(rows["weight"], np.float64)[order],
        np.append(first, len(order)),
        instance[first],
        tuple(labels),
        len(instances),
    )


def instance_schema(header: Mapping[str, Any]) -> pa.Schema:
    """The types of the rows of instances; a server that has seen no value of a column knows none."""
    words = {"id": "int", **{name: NODES["Instance"][name] for name in INSTANCE_CONTENT}}
    words |= {header["properties"][field.name]: str(property_word(field.type)) for field in schema_of(header)}
    return pa.schema([*((name, ARROW[word]) for name, word in words.items()), ("graph", pa.int64())])


def keys_of(rows: pa.Table) -> list[Key]:
    """The keys of instances from the columns ``key`` and ``key_is_int``."""
    return [name_of(*pair) for pair in zip(rows["key"].to_pylist(), rows["key_is_int"].to_pylist(), strict=True)]


def schema_of(header: Mapping[str, Any]) -> pa.Schema:
    """The Arrow schema of the properties as they were written."""
    return pa.ipc.read_schema(pa.py_buffer(base64.b64decode(header["schema"])))


def properties_of(rows: pa.Table, header: Mapping[str, Any]) -> pa.Table | None:
    """The properties with the types they were written with."""
    schema = schema_of(header)
    if not len(schema):
        return None
    columns: Iterable[pa.ChunkedArray] = (
        decode_column(rows[header["properties"][field.name]], field.type) for field in schema
    )
    return pa.table(list(columns), schema=schema)
