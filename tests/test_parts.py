import copy
import itertools
import pickle
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import prefgraph as pg
from prefgraph import InvalidDecomposition, Preferences
from prefgraph.decompose import BUILT_IN, cut_edges, find_decomposition
from tests.oracles import naive_parts
from tests.strategies import preferences

ENCODINGS = ("auto", "layered", "edges")


def overlapping(graph):
    """All edges, then each again on its own, then each pair of edges."""
    edges = list(graph.edges)
    return [edges, *([e] for e in edges), *map(list, itertools.combinations(edges, 2))] if edges else []


def backwards(graph):
    return [[edge] for edge in reversed(list(graph.edges))]


def no_part(graph):
    return []


def by_instance(graph, instance):
    """As many copies of the first edge as the number of the instance."""
    return [list(graph.edges)[:1]] * instance if graph.number_of_edges() else []


def edgewise(graph):
    return pg.disagreement(graph)


def of_three(graph, instance, more):
    return []


CUSTOM = {
    "overlapping": overlapping,
    "backwards": backwards,
    "no part": no_part,
    "composed": pg.compose("domination", "disagreement"),
    "composed with overlap": pg.compose(overlapping, "dominated"),
    "by instance": by_instance,
    "by name of its own": edgewise,
}
HOW = {**{name: name for name in BUILT_IN}, **CUSTOM}


@given(p=preferences(max_instances=4))
def test_parts_are_those_of_each_graph_in_the_same_order_in_every_encoding(p):
    encodings = [p.encoded(encoding) for encoding in ENCODINGS]
    for how in HOW.values():
        function = find_decomposition(how)
        expected = [
            (i, [(u, v, graph[u][v]) for u, v in part])
            for i, graph in enumerate(p)
            for part in cut_edges(graph, function, i)
        ]
        assert all(rows_of(q.parts(how)) == expected for q in encodings)


@given(p=preferences(max_instances=4))
def test_parts_as_graphs_are_those_that_each_graph_gives(p):
    for how in HOW.values():
        q = p.parts(how)
        graphs = [part for graph in p for part in graph.decompose(how)]
        assert [set(q.edges(k)) for k in range(len(q))] == [set(part.edges) for part in graphs]


def rows_of(q):
    """(instance, edges with what is said of them) of each part."""
    rows = []
    for k in range(len(q)):
        edges = []
        for e in range(q.offsets[k], q.offsets[k + 1]):
            said = {name: column[e] for name, column in q.attributes.items() if column[e] is not None}
            weight = {} if q.weight[e] == 1.0 else {"weight": q.weight[e]}
            edges.append((q.labels[q.init[e]], q.labels[q.term[e]], {**weight, **said}))
        rows.append((int(q.part_instance[k]), edges))
    return rows


@given(p=preferences(max_instances=4))
def test_parts_are_those_of_the_definition(p):
    for name in BUILT_IN:
        q = p.parts(name)
        found = [(int(i), frozenset(q.edges(k))) for k, i in enumerate(q.part_instance)]
        expected = [(i, frozenset(part)) for i, graph in enumerate(p) for part in naive_parts(graph, name)]
        assert Counter(found) == Counter(expected)


@given(p=preferences(max_instances=4, attributes=False), data=st.data())
def test_arrays_and_matrices_of_parts_fit_together(p, data):
    scores = np.array(data.draw(st.lists(st.integers(-9, 9), min_size=len(p.labels), max_size=len(p.labels))), float)
    for how in HOW.values():
        q = p.parts(how)
        n = len(q.init)
        assert q.n_instances == len(p)
        assert q.labels == p.labels
        assert np.array_equal(q.instance, q.part_instance[q.part])
        assert np.array_equal(q.part, np.repeat(np.arange(len(q)), np.diff(q.offsets)))
        assert np.all(np.diff(q.instance) >= 0)
        assert q.counts.tolist() == [len(cut_edges(g, find_decomposition(how), i)) for i, g in enumerate(p)]
        incidence, membership = q.incidence(), q.membership(np.int64)
        assert incidence.shape == (n, len(p.labels))
        assert membership.shape == (len(q), n)
        assert np.array_equal(incidence @ scores, scores[q.init] - scores[q.term])
        assert np.array_equal(membership.sum(axis=1), np.diff(q.offsets))
        assert np.array_equal(membership.sum(axis=0), np.ones(n))
        assert (incidence.dtype, membership.dtype) == (np.float64, np.int64)


@given(p=preferences())
def test_each_edge_lands_in_exactly_one_part_of_the_four(p):
    place = {v: k for k, v in enumerate(p.labels)}
    expected = sorted((i, place[u], place[v]) for i, g in enumerate(p) for u, v in g.edges)
    assert len(expected) == p.n_edges
    for name in BUILT_IN:
        q = p.parts(name)
        assert sorted(zip(q.instance.tolist(), q.init.tolist(), q.term.tolist(), strict=True)) == expected


@pytest.mark.parametrize("how", HOW.values(), ids=HOW)
def test_nothing_has_no_parts(how):
    for p in (
        Preferences.from_indicator(np.zeros((0, 0))),
        Preferences.from_indicator(np.zeros((0, 3))),
        Preferences.from_indicator(np.zeros((3, 0))),
        Preferences.from_indicator(np.zeros((2, 3))),
        pg.as_preferences([pg.PreferenceGraph(nodes="ab")] * 2).encoded("edges"),
    ):
        q = p.parts(how)
        assert (len(q), len(q.init), q.offsets.tolist()) == (0, 0, [0])
        assert q.counts.tolist() == [0] * len(p)
        assert q.incidence().shape == (0, len(p.labels))
        assert q.membership().shape == (0, 0)
        assert repr(q) == f"<Parts: 0 parts with 0 edges of {len(p)} instances>"


@given(p=preferences())
def test_parts_are_read_only_in_copies_and_pickles_too(p):
    q = p.parts("domination")
    for same in (q, copy.deepcopy(q), pickle.loads(pickle.dumps(q))):
        assert rows_of(same) == rows_of(q)
        arrays = [v for v in vars(same).values() if isinstance(v, np.ndarray)]
        assert len(arrays) == 7
        assert not any(array.flags.writeable for array in (*arrays, *same.attributes.values()))
        with pytest.raises(TypeError):
            same.attributes["x"] = None


def test_a_function_of_a_graph_is_called_once_for_each_distinct_graph():
    calls = []

    def counted(graph):
        calls.append(graph)
        return pg.identity(graph)

    pg.as_preferences(["a", "b", "a", "a"]).parts(counted)
    assert len(calls) == 2


def test_a_function_of_an_instance_gets_its_number():
    calls = []

    def counted(graph, instance):
        calls.append((graph.instance, instance))
        return pg.identity(graph)

    pg.as_preferences(["a", "b", "a"]).parts(counted)
    assert calls == [(0, 0), (1, 1), (2, 2)]


@pytest.mark.parametrize(
    ("how", "message"),
    [
        ("stars", "decomposition='stars' is unknown; it is one of 'identity'"),
        (
            lambda graph, instance: [[("b", "a")]],
            r"instance 0: part 0 has the edge \('b', 'a'\), which the graph has not",
        ),
        (lambda graph: [[]], "part 0 has no edge; leave empty parts out"),
        (lambda graph: [list(graph.edges) * 2], "part 0 names an edge twice"),
        (of_three, "it must take a graph, or a graph and an instance"),
    ],
)
def test_a_wrong_decomposition_is_refused(how, message):
    with pytest.raises(InvalidDecomposition, match=message):
        pg.as_preferences(["a"], labels="ab").parts(how)


def test_a_part_that_is_not_there_is_an_index_error():
    q = pg.as_preferences(["a"], labels="abc").parts("domination")
    assert q.edges(0) == [("a", "b"), ("a", "c")]
    for part in (-1, 1):
        with pytest.raises(IndexError, match=f"part {part} of 1; numbers go from 0 to 0"):
            q.edges(part)
