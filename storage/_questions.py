"""The questions that every store answers alike: Cypher for what the database does best, arrays for the rest."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from prefgraph import InvalidDataset, LabelHierarchy, Preferences
from prefgraph.cycles import shortest_cycles, strong_components
from storage import codec, cypher
from storage.codec import Key
from storage.errors import UnknownQuestion

if TYPE_CHECKING:
    from storage.store import GraphStore

EDGES_AT_A_TIME = 2_000_000
_texts = pa.list_(pa.string())


def cyclic_instances(store: GraphStore, dataset: str) -> pa.Table:
    """Instances whose graph has a cycle of any length, with labels and one shortest cycle of each strong component."""
    rows = store._table(cypher.CYCLIC_INSTANCES, dataset=dataset)
    components, cycles = {}, {}
    for number, graph in store._graph_objects(dataset, rows["graph"]).items():
        components[number] = [list(map(_text, members)) for members in strong_components(graph)]
        cycles[number] = [list(map(_text, cycle)) for cycle in shortest_cycles(graph)]
    graphs = rows["graph"].to_pylist()
    return pa.table(
        {
            "key": key_column(rows),
            "components": pa.array([components[g] for g in graphs], pa.list_(_texts)),
            "cycles": pa.array([cycles[g] for g in graphs], pa.list_(_texts)),
        }
    )


def contradictions(store: GraphStore, dataset: str) -> pa.Table:
    """Pairs of labels of which some instances prefer the one and some the other, with how many do."""
    counts = _domination_counts(store, dataset)
    pairs = [(a, b, n, counts[b, a]) for (a, b), n in counts.items() if (b, a) in counts and a < b]
    pairs.sort(key=lambda row: (-min(row[2:]), row[:2]))
    first, second, forward, backward = zip(*pairs, strict=True) if pairs else ((),) * 4
    labels = store.labels(dataset)
    return pa.table(
        {
            "first": label_column(labels, first),
            "second": label_column(labels, second),
            "first_preferred": pa.array(forward, pa.int64()),
            "second_preferred": pa.array(backward, pa.int64()),
        }
    )


def dominations(store: GraphStore, dataset: str) -> pa.Table:
    """How many instances prefer each label to each other one, the most frequent pairs first."""
    counts = _domination_counts(store, dataset)
    pairs = sorted(counts, key=lambda pair: (-counts[pair], pair))
    labels = store.labels(dataset)
    return pa.table(
        {
            "init": label_column(labels, [a for a, _ in pairs]),
            "term": label_column(labels, [b for _, b in pairs]),
            "instances": pa.array([counts[pair] for pair in pairs], pa.int64()),
        }
    )


def never_preferred(store: GraphStore, dataset: str) -> pa.Table:
    """Labels that no instance prefers to any other."""
    preferred = {init for init, _ in _domination_counts(store, dataset)}
    labels = store.labels(dataset)
    return pa.table({"label": label_column(labels, [k for k in range(len(labels)) if k not in preferred])})


def hierarchy_contradictions(store: GraphStore, dataset: str) -> pa.Table:
    """Edges that prefer a leaf far from the correct ones to a nearer one (a far leaf above a sibling), by instance.

    The correct labels of an instance are those that it prefers to others and nothing to them.
    """
    hierarchy = store.hierarchy(dataset)
    if hierarchy is None:
        raise InvalidDataset(f"the data set {dataset!r} has no hierarchy to contradict; write it with one")
    rows = store._table(cypher.SUPERVISION_KEYS, dataset=dataset)
    p = store._preferences(dataset, store._writes(dataset))
    keys = codec.keys_of(rows)
    found = []
    against = {g: _against(hierarchy, p, g) for g in range(p.n_graphs)}
    for i, g in enumerate(p.graph_index.tolist()):
        found += [(i, u, v) for u, v in against[g]]
    return pa.table(
        {
            "key": key_values([keys[i] for i, _, _ in found]),
            "init": label_values([u for _, u, _ in found]),
            "term": label_values([v for _, _, v in found]),
        }
    )


def _against(hierarchy: LabelHierarchy, p: Preferences, number: int) -> list[tuple[Any, Any]]:
    """The edges of one graph that go from a farther to a nearer leaf."""
    graph = p.graph(number)
    correct = [v for v in graph if graph.out_degree(v) and not graph.in_degree(v) and v in hierarchy]
    if not correct:
        return []
    far = {v: min(hierarchy.distance(v, c) for c in correct) for v in graph if v in hierarchy}
    return [(u, v) for u, v in graph.edges if u in far and v in far and far[u] > far[v]]


def neighbours(store: GraphStore, dataset: str, key: Key) -> pa.Table:
    """Instances that have the same graph as the one with this key."""
    text, is_int = codec.text_of(key, "key")
    store.graph(dataset, key)  # says so if there is no such instance
    return pa.table({"key": key_column(store._table(cypher.NEIGHBOURS, dataset=dataset, key=text, key_is_int=is_int))})


def by_property(store: GraphStore, dataset: str, property: str, value: Any) -> pa.Table:  # noqa: A002 - its name
    """Instances with this value, or one of these values, of a property."""
    filters, parameters = store._filters(dataset, store._header(dataset), {property: value}, None)
    rows = store._table(cypher.BY_PROPERTY.format(filters=filters), **parameters, dataset=dataset)
    return pa.table({"key": key_column(rows)})


def star_counts(store: GraphStore, dataset: str) -> pa.Table:
    """For each instance how many labels are preferred to another (out-stars), and how many another is preferred to."""
    rows = store._table(cypher.SUPERVISION_KEYS, dataset=dataset)
    stars = {}
    for name, text in (("out_stars", cypher.OUT_STARS), ("in_stars", cypher.IN_STARS)):
        counts: dict[int, int] = {}
        for write in store._writes(dataset):
            found = store._rows(text, first_id=write["first_id"], end_id=write["end_id"])
            counts |= {row["graph"]: row["stars"] for row in found}
        stars[name] = pa.array([counts.get(g, 0) for g in rows["graph"].to_pylist()], pa.int64())
    return pa.table({"key": key_column(rows), **stars})


_FUNCTIONS: Mapping[str, Callable[..., pa.Table]] = {
    f.__name__: f
    for f in (
        by_property,
        contradictions,
        cyclic_instances,
        dominations,
        hierarchy_contradictions,
        neighbours,
        never_preferred,
        star_counts,
    )
}
QUESTIONS: Mapping[str, str] = MappingProxyType({name: str(f.__doc__).split("\n")[0] for name, f in _FUNCTIONS.items()})
"""The questions that `GraphStore.ask` answers, with a line each."""


def answer(store: GraphStore, question: str, dataset: str, parameters: Mapping[str, Any]) -> pa.Table:
    """Ask one of the questions."""
    function = _FUNCTIONS.get(question)
    if function is None:
        raise UnknownQuestion(f"question {question!r} is not known; the questions are {', '.join(_FUNCTIONS)}")
    wanted = [name for name in inspect.signature(function).parameters if name not in ("store", "dataset")]
    if sorted(wanted) != sorted(parameters):
        raise UnknownQuestion(
            f"question {question!r} got the parameters {sorted(parameters)}; it takes dataset and "
            f"{wanted or 'nothing else'}"
        )
    store._writes(dataset)
    return function(store, dataset, **parameters)


def _domination_counts(store: GraphStore, dataset: str) -> dict[tuple[int, int], int]:
    """How many instances prefer which label to which.

    From the packed graphs, some at a time: asked as a query, the join of millions of edges with their instances does
    not fit into an engine's memory.
    """
    p = store._preferences(dataset, store._writes(dataset))
    graphs = Preferences(p.labels, np.arange(p.n_graphs, dtype=np.int32), p.layer, p.table)
    times = np.bincount(p.graph_index, minlength=p.n_graphs)
    block = np.cumsum(graphs.edge_counts()) // EDGES_AT_A_TIME
    width = max(len(p.labels), 1)
    pairs: list[npt.NDArray[np.int64]] = [np.empty(0, np.int64)]
    counts: list[npt.NDArray[Any]] = [np.empty(0)]
    for rows in np.split(np.arange(p.n_graphs), np.flatnonzero(np.diff(block)) + 1):
        q = graphs.take(rows).parts("identity")
        found, place = np.unique(q.init.astype(np.int64) * width + q.term, return_inverse=True)
        pairs.append(found)
        counts.append(np.bincount(place, weights=times[rows][q.instance], minlength=len(found)))
    found, place = np.unique(np.concatenate(pairs), return_inverse=True)
    total = np.bincount(place, weights=np.concatenate(counts), minlength=len(found)).astype(np.int64)
    return {divmod(pair, width): n for pair, n in zip(found.tolist(), total.tolist(), strict=True)}


# -- columns of names --------------------------------------------------------------------------------------------------


def _text(label: Any) -> str:
    return codec.text_of(label)[0]


def key_column(rows: pa.Table) -> pa.Array:
    """Keys from the columns ``key`` and ``key_is_int``: int64 if all are ints, else text."""
    return key_values(codec.keys_of(rows))


def key_values(keys: Sequence[Key]) -> pa.Array:
    """Keys as a column: int64 if all are ints that fit, else text."""
    if keys and all(isinstance(key, int) and -(2**63) <= key < 2**63 for key in keys):
        return pa.array(keys, pa.int64())
    return pa.array([codec.text_of(key)[0] for key in keys], pa.string())


label_values = key_values


def label_column(labels: Sequence[Key], positions: Sequence[int]) -> pa.Array:
    """Labels by their position in the index, as a column."""
    return key_values([labels[k] for k in positions])
