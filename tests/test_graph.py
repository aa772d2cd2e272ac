"""PreferenceGraph: the rule on every way in, content and key, copies, networkx on top of it, what it looks like."""

import copy
import itertools
import math
import os
import pickle
import subprocess
import sys
from enum import StrEnum
from fractions import Fraction

import networkx as nx
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

import prefgraph as pg
from prefgraph import InvalidGraph, InvalidLabel, PreferenceGraph
from tests.oracles import naive_edge_content, naive_graph_layers
from tests.strategies import edge_weights, labels, layered_graphs, plain_values, preference_graphs

ANY_GRAPH = preference_graphs(labels(), max_labels=5, weights=True, attributes=True)
BAD_WEIGHTS = [0, -1, -0.5, math.nan, math.inf, "2", None, True, 1j, 10**400, [1], Fraction(1, 10**400)]


def everything(graph):
    """All that can be seen of a graph, in order."""
    adjacency = [(u, v, dict(data)) for u, v, data in graph.edges(data=True)]
    backwards = [(u, v) for v in graph for u in graph.pred[v]]
    return [(v, dict(data)) for v, data in graph.nodes.data()], adjacency, backwards, dict(graph.graph)


def small():
    """A graph with a little of everything, in which 1 is preferred to 2."""
    graph = PreferenceGraph([(1, 2, {"judge": "ann"}), (2, 3, {"weight": 2.0})], nodes=[4], instance="d17")
    graph.add_node(1, colour="red")
    return graph


# Each way to make or change a graph, as a function of a graph (which a constructor ignores) and one edge.
CONSTRUCTORS = {
    "pairs": lambda u, v: PreferenceGraph([(u, v)], instance="d17"),
    "generator": lambda u, v: PreferenceGraph((e for e in [(5, 6), (u, v)]), instance="d17"),
    "dict of lists": lambda u, v: PreferenceGraph({u: [v]}, instance="d17"),
    "dict of dicts": lambda u, v: PreferenceGraph({u: {v: {"weight": 2}}}, instance="d17"),
    "networkx": lambda u, v: PreferenceGraph(nx.DiGraph([(u, v)]), instance="d17"),
    "from_networkx": lambda u, v: pg.from_networkx(nx.DiGraph([(u, v)]), instance="d17"),
    "graph attribute": lambda u, v: PreferenceGraph(nx.DiGraph([(u, v)], instance="d17")),
    "multigraph": lambda u, v: PreferenceGraph(nx.MultiDiGraph([(u, v)]), instance="d17"),
}
CHANGES = {
    "add_edge": lambda g, u, v: g.add_edge(u, v, judge="bob"),
    "add_edges_from": lambda g, u, v: g.add_edges_from([(7, 8, {"x": 1}), (u, v)]),
    "add_edges_from a generator": lambda g, u, v: g.add_edges_from(iter([(7, 8), (u, v)]), weight=3.0),
    "add_edges_from lists": lambda g, u, v: g.add_edges_from([[7, 8], [u, v]]),
    "add_weighted_edges_from": lambda g, u, v: g.add_weighted_edges_from([(7, 8, 1.5), (u, v, 2)]),
    "update with edges": lambda g, u, v: g.update(edges=[(7, 8), (u, v)]),
    "update with both": lambda g, u, v: g.update(edges=[(u, v)], nodes=[(9, {"colour": "blue"}), 10]),
    "update with a graph": lambda g, u, v: g.update(nx.DiGraph([(7, 8), (u, v)], title="other")),
}


@pytest.mark.parametrize("make", CONSTRUCTORS.values(), ids=CONSTRUCTORS)
def test_every_way_to_make_a_graph_rejects_a_self_loop_and_names_instance_and_label(make):
    assert list(make(1, 2).edges)[-1] == (1, 2)
    with pytest.raises(InvalidGraph, match=r"instance 'd17': label 'oil' is preferred to itself; an edge joins two"):
        make("oil", "oil")


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
@pytest.mark.parametrize(
    ("edge", "message"),
    [
        ((2, 1), "labels 2 and 1 are each preferred to the other; a pair has one direction at most, drop one edge"),
        ((8, 7), "labels 8 and 7 are each preferred to the other"),
        ((3, 3), "label 3 is preferred to itself"),
    ],
)
def test_every_change_against_the_rule_is_rejected_and_leaves_the_graph_as_it_was(change, edge, message):
    graph = small()
    graph.add_edges_from([(7, 8)] if edge == (8, 7) else [])
    before = everything(graph)
    with pytest.raises(InvalidGraph, match=f"instance 'd17': {message}"):
        change(graph, *edge)
    assert everything(graph) == before
    change(graph, 3, 1)  # a cycle of three is welcome
    assert graph.has_edge(3, 1)


TWO_WAY = nx.DiGraph([("a", "b"), ("b", "a")])


@pytest.mark.parametrize(
    "edges",
    [
        [("a", "b"), ("b", "a")],
        {"a": ["b"], "b": ["a"]},
        {"a": {"b": {}}, "b": {"a": {}}},
        TWO_WAY,
        nx.MultiDiGraph(TWO_WAY),
    ],
    ids=["pairs", "dict of lists", "dict of dicts", "networkx", "multigraph"],
)
def test_two_way_pairs_are_rejected_on_every_way_in(edges):
    with pytest.raises(InvalidGraph, match=r"labels '[ab]' and '[ab]' are each preferred to the other"):
        PreferenceGraph(edges)


MATRIX = np.array([[0, 2, 0], [0, 0, 1], [3, 0, 0]])
DENSE_AND_SPARSE = [np.asarray, sp.csr_array, sp.coo_matrix, pd.DataFrame]


@pytest.mark.parametrize("form", DENSE_AND_SPARSE)
@pytest.mark.parametrize("dtype", [int, float, np.uint8, bool])
def test_adjacency_matrices_are_read_with_their_weights_and_a_boolean_one_without(form, dtype):
    if form is pd.DataFrame and dtype is bool:
        pytest.skip("a data frame has a type for each column; networkx takes True for a weight")
    graph = PreferenceGraph(form(MATRIX.astype(dtype)))
    weights = {(0, 1): 2, (1, 2): 1, (2, 0): 3}
    assert {(u, v): w for u, v, w in graph.edges.data("weight")} == (
        dict.fromkeys(weights, 1) if dtype is bool else weights
    )
    assert graph.key == PreferenceGraph([(u, v, d) for u, v, d in graph.edges(data=True)]).key


@pytest.mark.parametrize("form", DENSE_AND_SPARSE)
@pytest.mark.parametrize(
    ("cell", "value"), [((1, 1), 1.0), ((1, 0), 1.0), ((2, 1), 0.5), ((0, 1), -1.0), ((0, 1), math.inf)]
)
def test_adjacency_matrices_against_the_rule_are_rejected(form, cell, value):
    matrix = MATRIX.astype(float)
    matrix[cell] = value
    with pytest.raises(InvalidGraph, match="instance 'd17': "):
        PreferenceGraph(form(matrix), instance="d17")


@pytest.mark.parametrize(
    "edges", [np.zeros((2, 3)), {("a", "b"): 2.0}, {None: ["a"]}, pd.DataFrame({"init": [1, 2, 3], "term": [2, 3, 4]})]
)
def test_what_is_no_adjacency_is_an_error_that_names_the_ways_in(edges):
    with pytest.raises(InvalidGraph, match=r"cannot be read as an adjacency .*square matrix.*from_table"):
        PreferenceGraph(edges)


def test_a_data_frame_of_edges_is_read_as_networkx_reads_it():
    frame = pd.DataFrame({"source": [1, 2, 3], "target": [2, 3, 1], "weight": [1.0, 2.0, 1.0]})
    assert PreferenceGraph(frame) == pg.parse("1>2, 2>3:2, 3>1")
    assert PreferenceGraph(frame[["source", "target"]]) == pg.parse("1>2, 2>3, 3>1")
    with pytest.raises(InvalidGraph, match="2 edges from 1 to 2"):
        PreferenceGraph(pd.concat([frame, frame]))
    assert nx.from_pandas_edgelist(frame, edge_attr=True, create_using=PreferenceGraph) == PreferenceGraph(frame)
    with pytest.raises(InvalidGraph, match="labels 2 and 1 are each"):
        nx.from_pandas_edgelist(pd.DataFrame({"source": [1, 2], "target": [2, 1]}), create_using=PreferenceGraph)


@pytest.mark.parametrize("graph", [nx.path_graph(3), nx.MultiGraph([(1, 2)])])
def test_a_graph_without_directions_is_refused_by_constructor_and_update(graph):
    with pytest.raises(InvalidGraph, match=r"Graph has no directions; .*give an nx.DiGraph"):
        PreferenceGraph(graph)
    target = small()
    before = everything(target)
    with pytest.raises(InvalidGraph, match=r"instance 'd17': .*Graph has no directions"):
        target.update(graph)
    assert everything(target) == before


def test_parallel_edges_are_refused_by_constructor_and_update():
    votes = nx.MultiDiGraph([("a", "b"), ("a", "b"), ("b", "c")])
    for take in (PreferenceGraph, small().update):
        with pytest.raises(InvalidGraph, match=r"2 edges from 'a' to 'b'; .*from_pairs"):
            take(votes)


def test_networkx_helpers_go_through_the_same_rule():
    for add in (nx.add_path, nx.add_star, nx.add_cycle):
        graph = small()
        with pytest.raises(InvalidGraph, match="each preferred to the other"):
            add(graph, [2, 1, 4])
        with pytest.raises(InvalidGraph, match="preferred to itself"):
            add(graph, [6, 6])
        assert list(graph.edges) == [(1, 2), (2, 3)]
        add(graph, [5, 6, 7])
        assert graph.has_edge(5, 6)
    with pytest.raises(InvalidGraph, match="each preferred"):
        nx.compose(PreferenceGraph([(1, 2)]), PreferenceGraph([(2, 1)]))
    assert isinstance(nx.compose(small(), PreferenceGraph([(9, 1)])), PreferenceGraph)
    with pytest.raises(TypeError):
        small() | small()


@pytest.mark.parametrize("in_place", [True, False])
def test_relabelling_keeps_class_and_rule(in_place):
    renamed = nx.relabel_nodes(small(), {1: "one", 3: "three"}, copy=not in_place)
    assert type(renamed) is PreferenceGraph
    assert list(renamed.edges.data("weight")) in (
        [("one", 2, None), (2, "three", 2.0)],
        [(2, "three", 2.0), ("one", 2, None)],
    )
    with pytest.raises(InvalidGraph, match="preferred to itself"):
        nx.relabel_nodes(small(), {1: 2}, copy=not in_place)
    with pytest.raises(InvalidGraph, match="each preferred"):
        nx.relabel_nodes(small(), {3: 1}, copy=not in_place)


WEIGHTED = {
    "constructor": lambda g, w: PreferenceGraph([(7, 8, {"weight": w})], instance="d17"),
    "add_edge": lambda g, w: g.add_edge(7, 8, weight=w),
    "existing edge": lambda g, w: g.add_edge(1, 2, weight=w),
    "keyword for all": lambda g, w: g.add_edges_from([(4, 5, {"weight": 1}), (7, 8)], weight=w),
    "triples": lambda g, w: g.add_weighted_edges_from([(4, 5, 1), (7, 8, w)]),
    "update": lambda g, w: g.update(edges=[(7, 8, {"weight": w})]),
    "networkx": lambda g, w: g.update(nx.DiGraph([(7, 8, {"weight": w})])),
}


@pytest.mark.parametrize("weight", BAD_WEIGHTS, ids=lambda w: repr(w)[:12])
@pytest.mark.parametrize("give", WEIGHTED.values(), ids=WEIGHTED)
def test_a_weight_is_a_finite_number_above_zero(give, weight):
    graph = small()
    before = everything(graph)
    with pytest.raises(
        InvalidGraph, match=r"instance 'd17': the edge from \d to \d has weight .*finite number above 0"
    ):
        give(graph, weight)
    assert everything(graph) == before


@pytest.mark.parametrize("weight", [1, 2.5, np.float32(0.5), np.int8(3), Fraction(1, 3), 5e-324, 1.7e308])
@pytest.mark.parametrize("give", WEIGHTED.values(), ids=WEIGHTED)
def test_every_kind_of_number_is_a_weight(give, weight):
    graph = small()
    made = give(graph, weight) or graph
    assert weight in {w for *_, w in made.edges.data("weight")}
    assert len(made.key) == 64


@pytest.mark.parametrize(
    "edge", ["ab", b"ab", {1, 2}, frozenset([1, 2]), {1: 2, 3: 4}, (1,), (1, 2, 3), (1, 2, {}, 4), 5, None]
)
def test_what_is_no_edge_is_named(edge):
    graph = small()
    before = everything(graph)
    with pytest.raises(InvalidGraph, match=r"instance 'd17': .* is not an edge; give .preferred, other."):
        graph.add_edges_from([(7, 8), edge])
    with pytest.raises(InvalidGraph, match="is not an edge"):
        graph.update(nodes=[11], edges=[edge])
    assert everything(graph) == before


@pytest.mark.parametrize("triple", [(1, 2), (1, 2, 3.0, 4), "abc", 5, {1, 2, 3}])
def test_what_is_no_weighted_edge_is_named(triple):
    graph = small()
    with pytest.raises(InvalidGraph, match=r"is not a weighted edge; give .preferred, other, weight."):
        graph.add_weighted_edges_from([(7, 8, 1), triple])
    assert 7 not in graph


def test_what_is_no_collection_is_named():
    for call in (PreferenceGraph, PreferenceGraph().add_edges_from, PreferenceGraph().add_weighted_edges_from):
        with pytest.raises(InvalidGraph, match="5 is not a collection of edges"):
            call(5)
    with pytest.raises(InvalidGraph, match="5 is not a collection of labels"):
        PreferenceGraph(nodes=5)
    with pytest.raises(InvalidGraph, match="neither edges nor nodes"):
        PreferenceGraph().update()


@pytest.mark.parametrize("label", [None, math.nan, np.float64("nan"), pd.NA, pd.NaT, [1], {"a": 1}, {1}, ([],)])
def test_what_cannot_be_a_label_is_named_and_changes_nothing(label):
    graph = small()
    before = everything(graph)
    calls = [
        lambda: graph.add_node(label),
        lambda: graph.add_nodes_from([9, label]),
        lambda: graph.add_nodes_from([9, (label, {"colour": "red"})]),
        lambda: graph.add_edge(1, label),
        lambda: graph.add_edges_from([(7, 8), (label, 1)]),
        lambda: graph.add_weighted_edges_from([(label, 1, 2.0)]),
        lambda: graph.update(nodes=[9, label]),
        lambda: graph.update(nodes=[9], edges=[(1, label)]),
        lambda: PreferenceGraph(nodes=[label], instance="d17"),
    ]
    for call in calls:
        with pytest.raises(InvalidLabel, match=r"instance 'd17': .*a label is a str, an int or another hashable"):
            call()
        assert everything(graph) == before


def test_labels_are_any_hashable_tuples_and_pairs_with_a_dict_as_in_networkx():
    graph = PreferenceGraph([((1, 2), (3, 4))], nodes=[("a", {"colour": "red"}), ("a", "b"), frozenset([1]), 1.5, True])
    assert list(graph) == [(1, 2), (3, 4), "a", ("a", "b"), frozenset([1]), 1.5, True]
    assert graph.nodes["a"] == {"colour": "red"}
    assert 1 in graph, "True and 1 are one label, as everywhere in Python"


def test_nodes_may_be_arrays_and_views():
    graph = PreferenceGraph(nodes=np.array([1, 2]))
    graph.update(nodes=np.array([2, 3]))
    graph.update(nodes=small().nodes)
    graph.add_nodes_from(graph.nodes)
    graph.add_edges_from(small().edges)
    graph.add_edges_from(graph.edges)
    graph.add_edges_from(np.array([[1, 2], [2, 3]]))
    graph.add_weighted_edges_from(np.array([[1, 2, 1]]))
    assert graph == PreferenceGraph([(1, 2), (2, 3)], nodes=[4])


def test_attributes_of_an_edge_are_merged_as_in_networkx():
    graph = small()
    graph.add_edge(1, 2, when="monday")
    graph.add_edges_from([(2, 3, {"judge": "bob"})], judge="ann", room=7)
    assert graph[1][2] == {"judge": "ann", "when": "monday"}
    assert graph[2][3] == {"weight": 2.0, "judge": "bob", "room": 7}


def test_update_with_a_graph_takes_its_attributes_and_an_instance():
    graph = small()
    graph.update(PreferenceGraph([(7, 8)], instance="d18", title="x"))
    assert (graph.instance, graph.graph["title"], graph.has_edge(7, 8)) == ("d18", "x", True)
    assert PreferenceGraph(graph, instance="d19").instance == "d19"
    assert PreferenceGraph(graph).instance == "d18"
    assert PreferenceGraph(instance=0).instance == 0


def test_a_graph_shares_no_attributes_with_what_it_was_made_of():
    source = nx.DiGraph([(1, 2, {"judge": "ann"})])
    graph = PreferenceGraph(source)
    source[1][2]["judge"] = "bob"
    source.add_edge(2, 1)
    assert dict(graph[1][2]) == {"judge": "ann"}
    assert not graph.has_edge(2, 1)


@pytest.mark.parametrize(
    "protect",
    [nx.freeze, lambda g: g.reverse(copy=False), lambda g: g.subgraph([1, 2]), lambda g: g.copy(as_view=True)],
    ids=["freeze", "reverse", "subgraph", "copy"],
)
def test_frozen_graphs_and_views_refuse_every_change(protect):
    graph = small()
    view = protect(graph)
    before, seen = everything(graph), everything(view)
    for change in CHANGES.values():
        with pytest.raises(nx.NetworkXError, match="Frozen"):
            change(view, 11, 12)
    assert (everything(graph), everything(view)) == (before, seen)


def test_building_edge_by_edge_looks_at_each_edge_once():
    seen = 0

    class Counted(PreferenceGraph):
        def _unpacked(self, edge):
            nonlocal seen
            seen += 1
            return super()._unpacked(edge)

        def has_edge(self, u, v):
            nonlocal seen
            seen += 1
            return super().has_edge(u, v)

    graph = Counted()
    for k in range(1000):
        graph.add_edge(k, k + 1)
    assert seen <= 2 * 1000


class GraphMachine(RuleBasedStateMachine):
    """Random calls, valid or not, against two dicts; a call that raises must leave no trace."""

    NAMES = st.sampled_from(["a", "b", "c", 1, 2])
    DATA = st.dictionaries(st.sampled_from(["judge", "when"]), st.integers(0, 2))
    WEIGHT = st.sampled_from([None, None, 1.0, 2, 0, -1.0, math.nan, "x"])
    EDGE = st.tuples(NAMES, NAMES, DATA, WEIGHT)

    def __init__(self):
        super().__init__()
        self.graph = PreferenceGraph()
        self.nodes, self.edges = {}, {}

    def attempt(self, call, nodes, edges):
        """Make the call, and on the dicts the same; the dicts say whether it must be refused."""
        new_nodes, new_edges = copy.deepcopy(self.nodes), copy.deepcopy(self.edges)
        allowed = True
        for label, data in nodes:
            new_nodes.setdefault(label, {}).update(data)
        for u, v, data in edges:
            weight = data.get("weight", 1)
            good = isinstance(weight, int | float) and 0 < weight < math.inf
            allowed = allowed and good and u != v and (v, u) not in new_edges
            new_nodes.setdefault(u, {})
            new_nodes.setdefault(v, {})
            new_edges.setdefault((u, v), {}).update(data)
        if allowed:
            call()
            self.nodes, self.edges = new_nodes, new_edges
        else:
            with pytest.raises(InvalidGraph):
                call()

    @staticmethod
    def triple(edge):
        u, v, data, weight = edge
        return u, v, data if weight is None else {**data, "weight": weight}

    @rule(label=NAMES, data=DATA)
    def add_node(self, label, data):
        self.attempt(lambda: self.graph.add_node(label, **data), [(label, data)], [])

    @rule(edge=EDGE)
    def add_edge(self, edge):
        u, v, data = self.triple(edge)
        self.attempt(lambda: self.graph.add_edge(u, v, **data), [], [(u, v, data)])

    @rule(edges=st.lists(EDGE, max_size=4), common=DATA)
    def add_edges_from(self, edges, common):
        edges = [self.triple(edge) for edge in edges]
        merged = [(u, v, {**common, **data}) for u, v, data in edges]
        self.attempt(lambda: self.graph.add_edges_from(iter(edges), **common), [], merged)

    @rule(edges=st.lists(st.tuples(NAMES, NAMES, WEIGHT.filter(lambda w: w is not None)), max_size=3))
    def add_weighted_edges_from(self, edges):
        expected = [(u, v, {"weight": w}) for u, v, w in edges]
        self.attempt(lambda: self.graph.add_weighted_edges_from(edges), [], expected)

    @rule(edges=st.lists(EDGE, max_size=3), nodes=st.lists(st.tuples(NAMES, DATA), max_size=3))
    def update(self, edges, nodes):
        edges = [self.triple(edge) for edge in edges]
        self.attempt(lambda: self.graph.update(edges=edges, nodes=nodes), nodes, edges)

    @rule(edges=st.lists(EDGE, max_size=3), nodes=st.lists(st.tuples(NAMES, DATA), max_size=3))
    def update_with_a_graph(self, edges, nodes):
        other = nx.DiGraph()
        other.add_nodes_from(nodes)
        other.add_edges_from(self.triple(edge) for edge in edges)
        self.attempt(lambda: self.graph.update(other), list(other.nodes.data()), list(other.edges(data=True)))

    @precondition(lambda self: self.edges)
    @rule(data=st.data())
    def remove_edge(self, data):
        edge = data.draw(st.sampled_from(list(self.edges)))
        self.graph.remove_edge(*edge)
        del self.edges[edge]

    @precondition(lambda self: self.nodes)
    @rule(data=st.data())
    def remove_node(self, data):
        label = data.draw(st.sampled_from(list(self.nodes)))
        self.graph.remove_node(label)
        del self.nodes[label]
        self.edges = {edge: data for edge, data in self.edges.items() if label not in edge}

    @rule(
        how=st.sampled_from([PreferenceGraph.copy, copy.copy, copy.deepcopy, lambda g: pickle.loads(pickle.dumps(g))])
    )
    def go_on_with_a_copy(self, how):
        self.graph = how(self.graph)

    @invariant()
    def the_graph_says_what_the_dicts_say(self):
        assert type(self.graph) is PreferenceGraph
        assert {v: dict(data) for v, data in self.graph.nodes.data()} == self.nodes
        assert {(u, v): dict(data) for u, v, data in self.graph.edges(data=True)} == self.edges
        assert {(u, v) for v in self.graph for u in self.graph.pred[v]} == set(self.edges)


TestGraphMachine = GraphMachine.TestCase


# -- copies -----------------------------------------------------------------------------------------------------------

COPIES = {
    "copy": lambda g: g.copy(),
    "copy view": lambda g: g.copy(as_view=True),
    "copy.copy": copy.copy,
    "deepcopy": copy.deepcopy,
    "pickle": lambda g: pickle.loads(pickle.dumps(g)),
    "to_directed": lambda g: g.to_directed(),
    "to_directed view": lambda g: g.to_directed(as_view=True),
    "reverse twice": lambda g: g.reverse().reverse(),
    "reverse view of a view": lambda g: g.reverse(copy=False).reverse(copy=False),
    "subgraph": lambda g: g.subgraph(list(g)),
    "subgraph copy": lambda g: g.subgraph(list(g)).copy(),
    "constructor": PreferenceGraph,
    "from_networkx": pg.from_networkx,
    "plain and back": lambda g: PreferenceGraph(nx.DiGraph(g)),
    "relabelled by nothing": lambda g: nx.relabel_nodes(g, {}),
}


@given(graph=ANY_GRAPH)
def test_a_copy_keeps_class_content_and_instance(graph):
    graph.graph["instance"] = "d17"
    for name, duplicate in COPIES.items():
        other = duplicate(graph)
        assert (type(other), name) == (PreferenceGraph, name)
        assert (other == graph, name) == (True, name)
        assert (other.key, name) == (graph.key, name)
        assert (other.instance, name) == ("d17", name)


@pytest.mark.parametrize("name", ["copy", "copy.copy", "deepcopy", "pickle", "to_directed", "constructor"])
def test_a_changed_copy_leaves_the_original_alone(name):
    graph = small()
    before = everything(graph)
    other = COPIES[name](graph)
    other.add_edge(3, 1)
    other.add_edge(1, 2, weight=7.0)
    other.graph["instance"] = "other"
    assert everything(graph) == before


@given(graph=ANY_GRAPH)
def test_a_copy_of_a_view_is_a_graph(graph):
    view = graph.subgraph(list(graph)[:3])
    for other in (view.copy(), copy.copy(view), copy.deepcopy(view), pickle.loads(pickle.dumps(view.copy()))):
        assert type(other) is PreferenceGraph
        assert other == view


@given(graph=ANY_GRAPH)
def test_reverse_turns_every_edge_and_keeps_what_was_said(graph):
    for turned in (graph.reverse(), graph.reverse(copy=False)):
        assert type(turned) is PreferenceGraph
        assert {(v, u): d for u, v, d in turned.edges(data=True)} == {(u, v): d for u, v, d in graph.edges(data=True)}
        assert set(turned) == set(graph)


@given(graph=ANY_GRAPH, data=st.data())
def test_subgraphs_keep_the_class(graph, data):
    some = [v for v in graph if data.draw(st.booleans())]
    induced = graph.subgraph(some)
    assert type(induced) is PreferenceGraph
    assert induced == PreferenceGraph([(u, v, d) for u, v, d in graph.edges(data=True) if {u, v} <= set(some)], some)
    edges = [e for e in graph.edges if data.draw(st.booleans())]
    part = graph.edge_subgraph(edges)
    assert type(part) is PreferenceGraph
    assert part == PreferenceGraph([(u, v, graph[u][v]) for u, v in edges])
    assert part.copy() == part


def test_a_subclass_stays_itself():
    class Ballot(PreferenceGraph):
        pass

    ballot = Ballot([(1, 2), (2, 3)])
    copies = [
        ballot.copy(),
        ballot.reverse(),
        ballot.to_directed(),
        ballot.subgraph([1]),
        *ballot.decompose("identity"),
    ]
    assert {type(other) for other in copies} == {Ballot}
    assert ballot == PreferenceGraph([(1, 2), (2, 3)])
    assert repr(ballot).startswith("<Ballot ")


# -- content and key --------------------------------------------------------------------------------------------------


@given(graph=ANY_GRAPH, data=st.data())
def test_the_order_of_insertion_does_not_matter(graph, data):
    edges = data.draw(st.permutations(list(graph.edges(data=True))))
    other = PreferenceGraph(nodes=data.draw(st.permutations(list(graph))))
    other.add_edges_from((u, v, dict(reversed(d.items()))) for u, v, d in edges)
    assert other == graph
    assert other.key == graph.key


@given(
    a=preference_graphs(labels(), max_labels=3, weights=True, attributes=True),
    b=preference_graphs(labels(), max_labels=3, weights=True, attributes=True),
)
def test_equal_content_equal_key_on_unrelated_graphs(a, b):
    same = set(a) == set(b) and naive_edge_content(a) == naive_edge_content(b)
    assert (a == b) == (a.key == b.key) == same


@given(graph=ANY_GRAPH, data=st.data(), value=plain_values(), weight=edge_weights())
def test_equal_content_equal_key_on_graphs_that_differ_in_one_place(graph, data, value, weight):
    other = graph.copy()
    what = data.draw(st.sampled_from(["attribute", "weight", "node", "remove", "turn"]))
    if what == "node" or not graph.number_of_edges():
        other.add_node(data.draw(labels()))
    else:
        u, v = data.draw(st.sampled_from(list(graph.edges)))
        if what == "attribute":
            other.add_edge(u, v, judge=value)
        elif what == "weight":
            other.add_edge(u, v, weight=weight)
        else:
            kept = dict(other[u][v])
            other.remove_edge(u, v)
            if what == "turn":
                other.add_edge(v, u, **kept)
    same = set(graph) == set(other) and naive_edge_content(graph) == naive_edge_content(other)
    assert (graph == other) == (graph.key == other.key) == same


def test_the_type_of_a_label_counts_and_a_missing_weight_is_one():
    assert PreferenceGraph([(1, 2)]) != PreferenceGraph([("1", 2)])
    assert PreferenceGraph([(1, 2)]).key != PreferenceGraph([("1", 2)]).key
    for weight in (1, 1.0, np.float32(1), Fraction(1)):
        other = PreferenceGraph([(1, 2, {"weight": weight})])
        assert other == PreferenceGraph([(1, 2)])
        assert other.key == PreferenceGraph([(1, 2)]).key


def test_weights_compare_as_the_floats_that_they_are_keyed_as():
    third, single = Fraction(1, 3), np.float32(0.1)
    for weight, same in [(third, 1 / 3), (single, float(single)), (2**53 + 1, 2.0**53)]:
        a, b = PreferenceGraph([(1, 2, {"weight": weight})]), PreferenceGraph([(1, 2, {"weight": same})])
        assert a == b
        assert a.key == b.key
    a, b = PreferenceGraph([(1, 2, {"weight": single})]), PreferenceGraph([(1, 2, {"weight": 0.1})])
    assert a != b
    assert a.key != b.key


def test_an_attribute_of_none_says_nothing_and_others_count_with_their_type():
    plain = PreferenceGraph([(1, 2)])
    assert PreferenceGraph([(1, 2, {"judge": None})]) == plain
    assert PreferenceGraph([(1, 2, {"judge": None})]).key == plain.key
    keys = {PreferenceGraph([(1, 2, {"x": x})]).key for x in (None, 1, 1.0, True, "1", [1], {"1": 1}, [None], {})}
    assert len(keys) == 9
    same = {PreferenceGraph([(1, 2, {"x": x})]).key for x in ([1, 2], (1, 2), np.array([1, 2]), [np.int8(1), 2])}
    assert len(same) == 1


def test_what_hangs_on_nodes_and_on_the_graph_does_not_count():
    graph = small()
    assert graph == PreferenceGraph(list(graph.edges(data=True)), nodes=[4])
    assert graph.key == PreferenceGraph(list(graph.edges(data=True)), nodes=[4], title="x").key


def test_a_graph_equals_no_other_thing_and_has_no_hash():
    graph = PreferenceGraph([(1, 2)])
    for other in (nx.DiGraph([(1, 2)]), "[1|2]", None, 5):
        assert (graph == other) is False
        assert (graph != other) is True
    with pytest.raises(TypeError, match="unhashable"):
        hash(graph)


def test_equality_works_where_there_is_no_key():
    graph = PreferenceGraph([((1, 2), 3.5, {"when": pd.Timestamp("2024-01-01"), "scores": np.array([1.0, 2.0])})])
    assert graph == copy.deepcopy(graph)
    assert graph != PreferenceGraph([((1, 2), 3.5)])
    arrays = PreferenceGraph([(1, 2, {"scores": np.array([1.0, 2.0])})])
    assert arrays == copy.deepcopy(arrays)


class Topic(StrEnum):
    OIL = "oil"


# Fixed for good: a key that changes would orphan every graph that is stored under it.
GOLDEN = {
    "empty": (PreferenceGraph(), "3a43e30c9b822fc73c8aae085e230c140f4a12ef7a45733c1db36d56aec31057"),
    "layers": (PreferenceGraph([(1, 3), ("2", 3)]), "8e0d36f79c9807055f92f15eed11707e655129a14952c856d8d5eee47a72c876"),
    "isolated": (
        PreferenceGraph([("oil", "gas")], nodes=["é😀\n"]),
        "cf1d585879be8130a76a41e5eaeb734e61725381e6a00aea95370c8949371df5",
    ),
    "cycle": (
        PreferenceGraph([(1, 2), (2, 3), (3, 1)]),
        "caed6014f1affb4fe961ee259a2a1e33723c7f47f3760c0f018ffd10539331f5",
    ),
    "weights": (
        PreferenceGraph([(1, 2, {"weight": 0.1}), (2, 10**30, {"weight": 3})]),
        "388726d06c6465ed613f646db012eb6032671892bcf6dc4c39867bdaa0786c81",
    ),
    "attributes": (
        PreferenceGraph([("a", "b", {"when": [1, 2.5, None, {"z": True}], "judge": "änn", "none": None})]),
        "152ea7d316f586da5ac82c96ea792cd5d64eee689cdce5f273c95053fadf32fe",
    ),
}


@pytest.mark.parametrize(("graph", "key"), GOLDEN.values(), ids=GOLDEN)
def test_keys_never_change(graph, key):
    assert graph.key == key


def test_keys_are_the_same_in_another_process_with_another_hash_seed():
    code = (
        "import prefgraph as pg\n"
        "g = pg.PreferenceGraph([('a', 'b', {'judge': 'x', 'at': 1}), ('b', 'c')], nodes={'d', 'e', 'f', 1, 2})\n"
        "print(g.key, pg.from_layers([{'a', 'b', 'c'}, {'d', 'e'}]), pg.from_ranking([{'a', 'b', 'c'}, 'd']))"
    )
    run = [
        subprocess.run(
            [sys.executable, "-c", code],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    ]
    graph = PreferenceGraph([("b", "c"), ("a", "b", {"at": 1, "judge": "x"})], nodes=[2, 1, "f", "e", "d"])
    assert run == [f"{graph.key} [a,b,c|d,e] [a,b,c|d]\n"] * 2


def test_numpy_labels_and_enums_give_the_key_of_plain_ones():
    plain = PreferenceGraph([(1, "oil")])
    for other in ([(np.int64(1), np.str_("oil"))], [(np.uint8(1), Topic.OIL)], [(1, np.array(["oil"])[0])]):
        assert PreferenceGraph(other).key == plain.key
    assert PreferenceGraph([(np.int64(1), np.str_("oil"))]) == plain


@pytest.mark.parametrize(
    "label", [1.5, True, (1, 2), frozenset([1]), b"oil", np.float64(2), Fraction(1, 2), "\ud83d\ude00"]
)
def test_a_label_that_cannot_be_keyed_is_named(label):
    with pytest.raises(InvalidLabel, match=r"label .*(labels are str or int where they are keyed or saved|surrogate)"):
        PreferenceGraph(nodes=[label]).key  # noqa: B018 - the property raises


@pytest.mark.parametrize(
    "value",
    [math.nan, math.inf, {1: 2}, pd.Timestamp("2024-01-01"), b"x", {"a", "b"}, [math.nan], "\ud800", Fraction(10**400)],
)
def test_an_attribute_that_cannot_be_keyed_is_named(value):
    with pytest.raises(InvalidGraph, match=r"the edge from 'a' to 'b': attribute 'judge' is .*isoformat"):
        PreferenceGraph([("a", "b", {"judge": value})]).key  # noqa: B018 - the property raises


@pytest.mark.parametrize("name", [3, 0, None, ("a",)])
def test_an_attribute_without_a_name_cannot_be_keyed(name):
    with pytest.raises(InvalidGraph, match=r"the edge from 1 to 2: an attribute is named .*names are str"):
        PreferenceGraph([(1, 2, {name: "x"})]).key  # noqa: B018 - the property raises


def test_a_weight_set_behind_the_back_is_found_by_the_key():
    graph = PreferenceGraph([(1, 2)], instance="d17")
    graph[1][2]["weight"] = -1
    with pytest.raises(InvalidGraph, match="instance 'd17': the edge from 1 to 2 has weight -1"):
        graph.key  # noqa: B018 - the property raises
    graph[1][2]["weight"] = "heavy"
    assert str(graph) == "1>2:'heavy'"
    assert graph != PreferenceGraph([(1, 2)])


# -- looking ----------------------------------------------------------------------------------------------------------


@given(graph=preference_graphs(max_labels=5))
def test_layers_are_those_of_the_definition(graph):
    expected, layers = naive_graph_layers(graph), graph.layers()
    assert (layers is None) == (expected is None)
    assert [set(layer) for layer in layers or []] == (expected or [])


@given(drawn=layered_graphs())
def test_a_layered_graph_has_its_layers(drawn):
    graph, layers = drawn
    assert [set(layer) for layer in graph.layers()] == [set(layer) for layer in layers]
    assert sorted(map(repr, itertools.chain(*graph.layers()))) == sorted(map(repr, graph))


@given(drawn=layered_graphs(), data=st.data())
def test_a_layered_graph_less_an_edge_keeps_no_wrong_layers(drawn, data):
    graph, _ = drawn
    if graph.number_of_edges():
        graph.remove_edge(*data.draw(st.sampled_from(list(graph.edges))))
    assert (graph.layers() is None) == (naive_graph_layers(graph) is None)


@given(graph=preference_graphs())
def test_a_complete_graph_has_an_edge_for_every_pair(graph):
    pairs = itertools.combinations(graph, 2)
    assert graph.is_complete() == all(graph.has_edge(u, v) or graph.has_edge(v, u) for u, v in pairs)


def test_dominated_by_lists_the_losers_and_names_an_unknown_label():
    graph = pg.parse("[1|2,3]", instance="d17")
    assert graph.dominated_by(1) == [2, 3]
    assert graph.dominated_by(2) == []
    for label in ("1", [1]):
        with pytest.raises(InvalidGraph, match=r"instance 'd17': label .* is not in the graph; its labels are 1, 2, 3"):
            graph.dominated_by(label)


def test_a_summary_tells_what_the_graph_is():
    assert PreferenceGraph().summary() == "0 labels, 0 edges\n[]\n0 layers of 0 labels"
    assert PreferenceGraph(nodes=["a"]).summary() == "1 label, 0 edges, 1 isolated label\n[a]\n1 layer of 1 labels"
    assert (
        pg.parse("[1|2,3]", instance="d17").summary()
        == "instance 'd17': 3 labels, 2 edges\n[1|2,3]\n2 layers of 1 | 2 labels"
    )
    assert pg.parse("1>2:2, 2>3").summary().splitlines()[2:] == [
        "1 edge with a weight other than 1",
        "acyclic, not layered",
    ]
    assert pg.parse("1>2, 2>3:2, 1>3").summary().splitlines()[3] == "3 layers of 1 | 1 | 1 labels"
    assert "cyclic: 1 strong component of 3 labels" in pg.parse("1>2, 2>3, 3>1").summary()


@given(graph=ANY_GRAPH)
def test_a_summary_and_a_repr_are_short_and_printable(graph):
    lines = graph.summary().splitlines()
    assert all(len(line) <= 100 for line in lines)
    assert 3 <= len(lines) <= 4
    assert repr(graph).isprintable()
    assert len(repr(graph)) <= 120


def test_odd_labels_are_shown_as_python_writes_them_weights_and_isolated_ones_too():
    graph = PreferenceGraph([((1, 2), 1.5, {"weight": 2})], nodes=[frozenset([3])])
    assert str(graph) == "(1, 2)>1.5:2.0, frozenset({3})"
    assert str(PreferenceGraph(nodes=[(1, 2)])) == "[(1, 2)]"
    assert "(1, 2)" in graph.summary()
    assert repr(PreferenceGraph(nodes=[(1, 2)], instance="d")) == "<PreferenceGraph instance 'd': [(1, 2)]>"


def test_the_notebook_view_escapes_labels_and_instance():
    for graph in (
        PreferenceGraph([("<script>", "a & b")], instance="<i>"),
        PreferenceGraph([("<script>", "b"), ("b", "c")], instance="<i>"),
        PreferenceGraph([("<script>", (1, 2))], instance="<i>"),
    ):
        html = graph._repr_html_()
        assert "<script>" not in html
        assert "&lt;script&gt;" in html
        assert "instance &#x27;&lt;i&gt;&#x27;" in html
        assert html.startswith("<div>")
    assert len(PreferenceGraph(nodes=range(10_000))._repr_html_()) < 1000
    assert PreferenceGraph()._repr_html_().count("<td") == 1


# -- networkx ---------------------------------------------------------------------------------------------------------


def test_networkx_algorithms_work_on_it():
    graph = PreferenceGraph([(1, 2), (2, 3), (3, 1), (3, 4)])
    assert len(nx.condensation(graph)) == 2
    assert nx.is_strongly_connected(graph) is False
    assert nx.to_undirected(graph).number_of_edges() == 4
    assert type(graph.to_undirected()) is nx.Graph
    assert nx.node_link_graph(nx.node_link_data(graph, edges="edges"), edges="edges").number_of_edges() == 4
    assert nx.adjacency_graph(nx.adjacency_data(graph)).number_of_edges() == 4
    assert nx.to_numpy_array(graph).sum() == 4
    assert nx.to_scipy_sparse_array(graph).nnz == 4
    assert len(nx.to_pandas_edgelist(graph)) == 4
    assert sorted(nx.descendants(graph, 1)) == [2, 3, 4]
    assert nx.shortest_path(graph, 1, 4) == [1, 2, 3, 4]
    assert sum(nx.pagerank(graph).values()) == pytest.approx(1.0)
    assert len(nx.line_graph(graph)) == 4
    assert nx.is_isomorphic(graph, graph.reverse().reverse())
    assert nx.create_empty_copy(graph).number_of_edges() == 0
    assert len(nx.disjoint_union(graph, graph)) == 8
    assert type(nx.transitive_closure_dag(pg.parse("1>2, 2>3"))) is PreferenceGraph
    chain = pg.parse("[1|2|3]")
    assert nx.dag_longest_path(chain) == [1, 2, 3]
    assert list(nx.topological_sort(chain)) == [1, 2, 3]
    assert nx.transitive_reduction(chain).number_of_edges() == 2
    with pytest.raises(InvalidGraph):
        nx.complement(PreferenceGraph(nodes=[1, 2]))
    assert nx.complement(nx.DiGraph(PreferenceGraph(nodes=[1, 2]))).number_of_edges() == 2


@given(graph=preference_graphs())
def test_cycles_are_those_of_networkx(graph):
    assert graph.is_cyclic() == (not nx.is_directed_acyclic_graph(nx.DiGraph(graph)))


class Marked(PreferenceGraph):
    """A kind of one's own."""


VIEWS = {
    "edges": lambda g: g.edge_subgraph([("a", "b")]),
    "labels": lambda g: g.subgraph(["a", "b"]),
    "reverse": lambda g: g.reverse(copy=False),
    "filter": lambda g: nx.subgraph_view(g, filter_node=lambda v: v != "c"),
}


@pytest.mark.parametrize("view", VIEWS.values(), ids=VIEWS)
@pytest.mark.parametrize("kind", [PreferenceGraph, Marked])
@pytest.mark.parametrize("again", [lambda g: pickle.loads(pickle.dumps(g)), copy.deepcopy], ids=["pickle", "deepcopy"])
def test_a_view_is_pickled_and_deep_copied_as_a_graph_of_its_own(view, kind, again):
    graph = kind([("a", "b", {"weight": 2.0, "judges": ["ann"]}), ("b", "c")], instance="d17")
    shown = view(graph)
    made = again(shown)
    assert made == shown
    assert (type(made), made.instance) == (kind, "d17")
    made.add_edge("d", "e")
    assert "d" not in graph
    (edge,) = [e for e in made.edges if set(e) == {"a", "b"}]
    made.edges[edge]["judges"].append("bob")
    assert graph["a"]["b"]["judges"] == ["ann"]


def test_a_networkx_function_in_place_stops_where_it_is_refused_and_keeps_the_rule():
    graph = PreferenceGraph([("a", "b"), ("b", "c"), ("c", "d")])
    with pytest.raises(InvalidGraph, match="preferred to"):
        nx.relabel_nodes(graph, {"a": "x", "d": "b"}, copy=False)
    assert not any(graph.has_edge(v, u) for u, v in graph.edges)
    assert nx.relabel_nodes(PreferenceGraph([("a", "b")]), {"a": "x"}) == PreferenceGraph([("x", "b")])
