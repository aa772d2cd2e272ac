"""Hypothesis strategies: each can only build valid things."""

import itertools
from typing import Any

import numpy as np
import pyarrow as pa
from hypothesis import note
from hypothesis import strategies as st
from scipy import sparse

from prefgraph import Candidates, LabelHierarchy, PreferenceDataset, PreferenceGraph, Preferences

NAMES = st.integers(0, 99) | st.text("abc", min_size=1, max_size=3)


@st.composite
def hierarchies(draw, labels=NAMES, *, dag=None, max_labels=12):
    """A valid parent map ``{label: [parents]}`` in any order: a tree, a DAG, or (dag=None) one of the two."""
    names = draw(st.lists(labels, unique=True, min_size=1, max_size=max_labels))
    several = draw(st.booleans()) if dag is None else dag
    parents: dict[Any, list[Any]] = {names[0]: []}
    for place, name in enumerate(names[1:], start=1):
        above = st.lists(st.sampled_from(names[:place]), min_size=1, max_size=3 if several else 1, unique=True)
        parents[name] = draw(above)
    return {name: parents[name] for name in draw(st.permutations(names))}


@st.composite
def label_sets(draw, labels, *, max_sets=5, max_size=4):
    """Label sets of several instances, empty ones and repeated ones too."""
    return draw(
        st.lists(st.frozensets(st.sampled_from(sorted(labels, key=repr)), max_size=max_size), max_size=max_sets)
    )


@st.composite
def semi_metrics(draw, *, max_labels=6):
    """A symmetric matrix with a zero diagonal and few distinct values, so that ties occur; not always a metric."""
    n = draw(st.integers(1, max_labels))
    values = draw(st.lists(st.sampled_from([0.0, 0.5, 1.0, 2.5, 7.0]), min_size=n * n, max_size=n * n))
    return [[0.0 if a == b else values[min(a, b) * n + max(a, b)] for b in range(n)] for a in range(n)]


@st.composite
def layer_rows(draw, n_labels, *, max_layers=4):
    """Layers of each label: 0 is best, -1 no vertex, -2 a vertex without edges; rows without edges too."""
    values = st.sampled_from([*range(max_layers), -1, -2])
    return draw(st.lists(values, min_size=n_labels, max_size=n_labels))


@st.composite
def loose_edges(draw, n_labels):
    """A weighted edge list over labels 0, 1 ... in which every pair has one direction at most: cyclic ones too."""
    pairs = [(a, b) for a in range(n_labels) for b in range(a)]
    chosen = draw(st.lists(st.sampled_from(pairs), unique=True, max_size=8)) if pairs else []
    turned = [draw(st.sampled_from([(a, b), (b, a)])) for a, b in chosen]
    return [(u, v, draw(st.sampled_from([1.0, 1.0, 0.5, 3.0]))) for u, v in turned]


@st.composite
def scored_preferences(draw, *, layered=False, max_labels=6, max_instances=5):
    """(Preferences, scores): mixed encodings, isolated and absent labels, weights, and scores that tie often."""
    n_labels = draw(st.integers(1, max_labels))
    graphs = []
    for _ in range(draw(st.integers(1, max_instances))):
        if layered or draw(st.booleans()):
            row = draw(layer_rows(n_labels))
            graphs.append(Preferences.from_layer_matrix([row])[0])
        else:
            graph = PreferenceGraph(nodes=draw(st.lists(st.sampled_from(range(n_labels)), unique=True)))
            graph.add_weighted_edges_from(draw(loose_edges(n_labels)))
            graphs.append(graph)
    weight = [draw(st.sampled_from([1.0, 2.0, 0.5])) for _ in graphs]
    if draw(st.booleans()):
        weight[0] = 0.0 if len(graphs) > 1 else weight[0]
    p = Preferences.from_graphs(graphs, range(n_labels), weight)
    p = p.encoded(draw(st.sampled_from(["auto", "edges"])))
    return p, draw(score_matrices(len(p), n_labels))


@st.composite
def score_matrices(draw, m, n_labels):
    """Finite scores of few distinct values, in double or single precision."""
    values = st.sampled_from([0.0, 0.25, 0.5, 1.0, -2.0, 7.5])
    cells = draw(st.lists(values, min_size=m * n_labels, max_size=m * n_labels))
    return np.array(cells, draw(st.sampled_from([np.float64, np.float32]))).reshape(m, n_labels)


# fmt: off
ODD_TEXTS = ("", " ", '"', "\\", "1", "-0", "01", "1e5", "nan", "a,b", "[a|b]", "a>b:2", "crude oil", " x ", "\n",
             "\x00", "é", "²", "😀", "\u2028")
# fmt: on


def labels(*, bits=200):
    """Any label that can be keyed: ints of up to so many bits, and texts of every kind; "1" is not 1."""
    numbers = st.integers(-9, 9) | st.integers(-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)
    return numbers | st.sampled_from(ODD_TEXTS) | st.text("abc", max_size=2) | st.text(max_size=5)


def edge_weights():
    """Weights that often are 1, and the extremes."""
    return st.sampled_from([1, 1.0, 2, 0.1, 1e-300, 1e308]) | st.floats(5e-324, 1.7e308)


def simple_values():
    """Attribute values that every format can hold."""
    numbers = st.integers(-(2**53), 2**53) | st.floats(allow_nan=False, allow_infinity=False)
    return st.text("ab <&>'\"é😀\t\n", max_size=4) | st.booleans() | numbers


def plain_values():
    """Attribute values that can be keyed: plain JSON data, nested too, and None, which says nothing."""
    leaves = st.none() | st.text(max_size=3) | simple_values()
    names = st.text(max_size=2)
    return st.recursive(
        leaves, lambda inner: st.lists(inner, max_size=2) | st.dictionaries(names, inner, max_size=2), max_leaves=4
    )


@st.composite
def preference_graphs(draw, labels=NAMES, *, max_labels=6, weights=None, attributes=None, acyclic=False):
    """Any valid graph: isolated labels and long cycles too, never a loop or a two-way pair.

    ``weights`` and ``attributes`` are strategies of values, or True for all that there are; no weight may then be drawn
    for an edge.
    """
    weights = {None: st.none(), True: st.none() | edge_weights()}.get(weights, weights)
    values = plain_values() if attributes is True else attributes
    names = st.sampled_from(["judge", "when", "é x"])
    said = st.builds(dict) if attributes is None else st.dictionaries(names, values)
    names = draw(st.lists(labels, unique=True, max_size=max_labels))
    edges = []
    for a, b in itertools.combinations(names, 2):
        edges += draw(st.sampled_from([[], [(a, b)], [(a, b)] if acyclic else [(b, a)]]))
    graph = PreferenceGraph(nodes=draw(st.permutations(names)))
    for init, term in draw(st.permutations(edges)):
        weight = draw(weights)
        graph.add_edge(init, term, **draw(said), **({} if weight is None else {"weight": weight}))
    note(f"nodes={list(graph)} edges={list(graph.edges(data=True))}")
    return graph


@st.composite
def layered_graphs(draw, labels=NAMES, *, max_labels=8, max_layers=4):
    """A layered graph and its layers, best first, none of them empty."""
    names = draw(st.lists(labels, unique=True, max_size=max_labels))
    place = [draw(st.integers(0, max_layers - 1)) for _ in names]
    layers = [[v for v, k in zip(names, place, strict=True) if k == layer] for layer in range(max_layers)]
    layers = [layer for layer in layers if layer]
    edges = [(u, v) for up, down in itertools.combinations(layers, 2) for u in up for v in down]
    return PreferenceGraph(draw(st.permutations(edges)), nodes=draw(st.permutations(names))), layers


@st.composite
def preference_lists(draw, labels=NAMES, *, max_instances=6, attributes=True):
    """Graphs of several instances over some common labels: layered, cyclic, weighted, empty ones and repeated ones."""
    names = st.sampled_from(draw(st.lists(labels, unique=True, min_size=1, max_size=7)))
    said = plain_values() if attributes else None
    plain = preference_graphs(names, max_labels=5)
    weighted = preference_graphs(names, max_labels=4, weights=True, attributes=said)
    layered = layered_graphs(names, max_labels=6).map(lambda pair: pair[0])
    with_isolated = st.builds(with_labels_beside, layered, st.lists(names, max_size=2))
    graphs = draw(st.lists(layered | with_isolated | plain | weighted, max_size=max_instances))
    again = draw(st.lists(st.integers(0, max(len(graphs) - 1, 0)), max_size=3)) if graphs else []
    return graphs + [graphs[i].copy() for i in again]


def with_labels_beside(graph, names):
    """The graph with more labels, isolated where they are new."""
    graph.add_nodes_from(names)
    return graph


@st.composite
def preferences(draw, labels=NAMES, *, max_instances=6, attributes=True, encoding=None):
    """Compiled graphs in any encoding (or the given one), over an index in any order with labels that no graph has."""
    graphs = draw(preference_lists(labels, max_instances=max_instances, attributes=attributes))
    used = {v: None for graph in graphs for v in graph}
    index = draw(st.permutations(list({**used, **dict.fromkeys(draw(st.lists(labels, max_size=2)))})))
    weight = draw(
        st.none() | st.lists(st.sampled_from([0.0, 0.5, 1.0, 3.0]), min_size=len(graphs), max_size=len(graphs))
    )
    p = Preferences.from_graphs(graphs, index, weight)
    return p.encoded(encoding or draw(st.sampled_from(["auto", "layered", "edges"])))


def keys():
    """Keys of instances: like labels, ints and texts that look alike."""
    return labels(bits=70) | st.sampled_from([*INJECTIONS, 1, "1", -1, "-1"])


# fmt: off
INJECTIONS = ("'}) DETACH DELETE n //", "`) DETACH DELETE n //", "$name", "{name}", "{{}}", "%s", "a`b", "x' OR '1'='1",
              "*/ RETURN 1 /*", "; MATCH (n) DETACH DELETE n;", "id", "key", "from", "to", "graph",
              "Year", "year", "weight")
# fmt: on


def _instants(unit, tz=None):
    return st.integers(-(2**31), 2**31), pa.timestamp(unit, tz)


# (values, Arrow type) of properties that a store keeps
PROPERTY_KINDS = (
    (st.booleans(), pa.bool_()),
    (st.integers(-(2**63), 2**63 - 1), pa.int64()),
    (st.integers(0, 255), pa.uint8()),
    (st.integers(0, 2**63 - 1), pa.uint64()),
    (st.floats(allow_nan=False), pa.float64()),
    (st.floats(allow_nan=False, width=32), pa.float32()),
    (st.text(max_size=4) | st.sampled_from(ODD_TEXTS), pa.string()),
    (st.text(max_size=4), pa.large_string()),
    (st.dates(), pa.date32()),
    _instants("s"),
    _instants("ms"),
    _instants("us"),
    _instants("ns"),
    _instants("us", "UTC"),
    (st.times(), pa.time64("us")),
    (st.lists(st.text(max_size=2), max_size=3), pa.list_(pa.string())),
    (st.just([]), pa.list_(pa.null())),
    (st.none(), pa.null()),
)


@st.composite
def property_tables(draw, m, *, max_columns=4):
    """Columns of all kinds that a store keeps, nulls among them, under names of any text."""
    names = st.sampled_from(["year", "source", *INJECTIONS, *ODD_TEXTS]) | st.text(max_size=4)
    columns = {}
    for name in draw(
        st.lists(names.filter(lambda n: n not in ("key", "text", "split")), unique=True, max_size=max_columns)
    ):
        values, kind = draw(st.sampled_from(PROPERTY_KINDS))
        columns[name] = pa.array(draw(st.lists(values | st.none(), min_size=m, max_size=m)), kind)
    return pa.table(columns)


@st.composite
def feature_matrices(draw, m):
    """Features of m instances: dense or sparse, whole and real numbers of several widths, no columns too."""
    width = draw(st.integers(0, 3))
    dtype = draw(st.sampled_from(["f8", "f4", "i8", "u1", "?"]))
    cells = draw(st.lists(st.sampled_from([0, 0, 1, 0.5, 7]), min_size=m * width, max_size=m * width))
    dense = np.array(cells, np.float64).reshape(m, width).astype(dtype)
    return draw(st.sampled_from([np.asarray, sparse.csr_array, sparse.csr_matrix, sparse.coo_array]))(dense)


@st.composite
def label_hierarchies(draw, labels):
    """A hierarchy over these labels and some more: a tree, a DAG, with dummy leaves, or distances."""
    if draw(st.booleans()) and labels:
        n = len(labels)
        upper = draw(st.lists(st.sampled_from([0.0, 0.1, 1.0, 2.5]), min_size=n * n, max_size=n * n))
        matrix = np.triu(np.array(upper).reshape(n, n), 1)
        return LabelHierarchy.from_distances(matrix + matrix.T, labels)
    names = list(
        dict.fromkeys([*draw(st.lists(st.sampled_from(["root", "x", 77, "y y"]), min_size=1, unique=True)), *labels])
    )
    parents = {names[0]: None}
    for place, name in enumerate(names[1:], start=1):
        parents[name] = draw(st.lists(st.sampled_from(names[:place]), min_size=1, max_size=2, unique=True))
    tree = LabelHierarchy.from_parents(parents, descriptions={names[0]: "the 'root'"})
    return tree.with_dummy_leaves("{!r} (general)") if draw(st.booleans()) else tree  # 1 and '1' may both be there


@st.composite
def candidate_rows(draw, p):
    """Candidates for compiled graphs: all vertices and sometimes one more, in any order."""
    more = [st.just([]) if "one more" in graph else st.sampled_from([[], ["one more"]]) for graph in p]
    listed = [draw(st.permutations([*graph, *draw(beside)])) for graph, beside in zip(p, more, strict=True)]
    offsets = np.cumsum([0, *map(len, listed)])
    return Candidates(draw(feature_matrices(int(offsets[-1]))), offsets, tuple(v for row in listed for v in row))


@st.composite
def datasets(draw, labels=labels(), *, max_instances=5, like=None, keys=keys()):  # noqa: B008 - strategies never change
    """Any data set that a store keeps. ``like`` another one: with its columns and hierarchy, and none of its keys."""
    p = draw(preferences(labels, max_instances=max_instances))
    m = len(p)
    taken = set() if like is None else set(like.keys)
    listed = draw(st.lists(keys.filter(lambda key: key not in taken), unique=True, min_size=m, max_size=m))

    def some(values, name):
        there = draw(st.booleans()) if like is None else getattr(like, name) is not None
        return draw(values) if there else None

    return PreferenceDataset(
        preferences=p,
        keys=listed,
        X=some(feature_matrices(m), "X") if like is None else _rows_like(like.X, m),
        texts=some(st.lists(st.text(max_size=5) | st.sampled_from(ODD_TEXTS), min_size=m, max_size=m), "texts"),
        properties=draw(property_tables(m)) if like is None else _rows_like(like.properties, m),
        hierarchy=some(label_hierarchies(list(p.labels)), "hierarchy") if like is None else like.hierarchy,
        split=some(st.lists(st.sampled_from(["train", "test", "", "'"]) | st.none(), min_size=m, max_size=m), "split"),
        candidates=some(candidate_rows(p), "candidates") if like is None else None,
    )


def _rows_like(table, m):
    """m rows of the same kind as a table or matrix: its own again, or empty ones."""
    if table is None:
        return None
    if isinstance(table, pa.Table):
        return pa.table([pa.nulls(m, field.type) for field in table.schema], schema=table.schema)
    return (
        type(table)((m, table.shape[1]), dtype=table.dtype)
        if sparse.issparse(table)
        else np.ones((m, table.shape[1]), table.dtype)
    )


@st.composite
def learning_problems(draw, *, max_features=3, **options):
    """(X, Preferences): features of both signs for graphs of all kinds, every instance of positive weight."""
    p, _ = draw(scored_preferences(**options))
    p = p.with_weight([w or 1.0 for w in p.weight])
    width = draw(st.integers(1, max_features))
    cells = st.lists(st.sampled_from([0.0, 0.0, 1.0, -0.5, 0.3, 2.0]), min_size=len(p) * width, max_size=len(p) * width)
    X = np.array(draw(cells)).reshape(len(p), width)
    return draw(st.sampled_from([np.asarray, sparse.csr_array]))(X), p
