import copy
import itertools
import pickle
import re
import subprocess
import sys

import networkx as nx
import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from scipy import sparse

from prefgraph.errors import InvalidFile, InvalidHierarchy, InvalidLabel, InvalidOption, InvalidTarget
from prefgraph.hierarchy import LabelHierarchy
from prefgraph.hierarchy._kernels import distances_between, layers_from_distances, leaves_of_path_ends
from tests.oracles import naive_hierarchy_distance, naive_layers, naive_path_ends
from tests.strategies import hierarchies, label_sets, semi_metrics

TOPICS = {"all": {"energy": {"fuel": ["oil", "gas"], "wind": None}, "sport": ["golf", "chess"], "misc": None}}
CAPS = st.none() | st.integers(2, 5)

RCV1_LINES = """parent: None    child: Root    child-description: No Description
parent: CCAT    child: C11     child-description: STRATEGY PLANS
parent: CCAT    child: C12     child-description: LEGAL JUDICIAL
parent: Root    child: CCAT    child-description: CORPORATE INDUSTRIAL

parent: Root    child: GSPO    child-description: SPORTS
"""


@pytest.fixture
def topics():
    return LabelHierarchy.from_nested(TOPICS)


# -- ways in ----------------------------------------------------------------------------------------------------------


def test_the_constructors_agree_on_one_tree():
    expected = LabelHierarchy.from_parents(
        {"all": None, "energy": "all", "oil": "energy", "gas": "energy", "sport": "all"}
    )
    edges = [("all", "energy"), ("energy", "oil"), ("energy", "gas"), ("all", "sport")]
    assert LabelHierarchy.from_edges(edges) == expected
    assert LabelHierarchy.from_nested({"all": {"energy": {"oil": {}, "gas": None}, "sport": []}}) == expected
    assert LabelHierarchy.from_nested({"all": [{"energy": ("oil", "gas")}, "sport"]}) == expected
    paths = ["all/energy/oil", "/all/energy/gas", "all/sport/"]
    assert LabelHierarchy.from_paths(paths, label="name") == expected
    assert LabelHierarchy(expected.to_parents()) == expected


def test_paths_name_labels_by_the_whole_path_so_that_equal_names_stay_apart():
    h = LabelHierarchy.from_paths(["oil > other", "gas > other"], separator=" > ", virtual_root="all")
    assert h.labels == ("all", "oil", "oil > other", "gas", "gas > other")
    assert h.is_tree
    by_name = LabelHierarchy.from_paths(
        ["oil > other", "gas > other"], separator=" > ", label="name", virtual_root="all"
    )
    assert by_name.parents("other") == ("oil", "gas")
    assert not by_name.is_tree


@pytest.mark.parametrize("kind", [list, tuple, set, frozenset])
def test_several_parents_make_a_dag_whose_parents_come_in_label_order(kind):
    h = LabelHierarchy.from_parents({"top": None, "a": "top", "b": "top", "ab": kind(["b", "a"])})
    assert h.parents("ab") == ("a", "b")
    assert not h.is_tree


def test_a_tuple_that_is_a_label_is_one_parent():
    h = LabelHierarchy.from_parents({("a", "b"): None, "c": ("a", "b"), "d": (("a", "b"), "c")})
    assert h.parents("c") == (("a", "b"),)
    assert h.parents("d") == (("a", "b"), "c")
    assert LabelHierarchy.from_parents(h.to_parents()) == h


def test_a_virtual_root_stands_above_all_roots_and_above_a_single_one():
    two = LabelHierarchy.from_parents({"a": None, "b": None, "c": "b"}, virtual_root="top")
    assert (two.root, two.labels, two.children("top")) == ("top", ("top", "a", "b", "c"), ("a", "b"))
    one = LabelHierarchy.from_edges([("b", "c")], virtual_root="top")
    assert one.path("c") == ("top", "b", "c")


def test_an_edge_from_none_announces_a_label():
    assert LabelHierarchy.from_edges([(None, "only")]).labels == ("only",)


def test_an_edge_said_twice_counts_once():
    h = LabelHierarchy.from_edges([("a", "b"), ("a", "b")])
    assert h.is_tree
    assert h.parents("b") == ("a",)


def test_a_deep_chain_is_no_problem():
    n = 5000
    h = LabelHierarchy.from_parents({0: None, **{i: i - 1 for i in range(1, n)}})
    assert h.distance(0, n - 1) == n - 1
    assert len(h.with_dummy_leaves().leaves) == n - 1
    assert h.render().count("\n") == n - 1


@given(hierarchies())
def test_to_parents_round_trips(parents):
    h = LabelHierarchy.from_parents(parents)
    assert LabelHierarchy.from_parents(h.to_parents()) == h
    grown = h.with_dummy_leaves()
    assert LabelHierarchy.from_parents(grown.to_parents(), dummies=grown.dummies) == grown


@given(hierarchies())
def test_the_networkx_form_has_an_edge_from_each_parent_to_each_child(parents):
    graph = LabelHierarchy.from_parents(parents).to_networkx()
    assert list(graph) == list(parents)
    assert set(graph.edges) == {(parent, child) for child, above in parents.items() for parent in above}
    assert nx.is_directed_acyclic_graph(graph)


def test_rcv1_lines_give_the_hierarchy_and_its_descriptions(tmp_path):
    file = tmp_path / "topics.hier"
    file.write_text(RCV1_LINES)
    h = LabelHierarchy.from_rcv1(file)
    assert h.labels == ("Root", "C11", "C12", "CCAT", "GSPO")
    assert h.root == "Root"
    assert h.descriptions["CCAT"] == "CORPORATE INDUSTRIAL"
    assert h.with_dummy_leaves().descriptions == h.descriptions
    assert h.to_networkx().nodes["C11"] == {"description": "STRATEGY PLANS"}
    assert LabelHierarchy.from_rcv1(str(file), virtual_root="top").path("C11") == ("top", "Root", "CCAT", "C11")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "parent: None child: Root\nCCAT C11\n",
            r"topics\.hier, line 2: 'CCAT C11' is not of the form 'parent: X child",
        ),
        (
            "parent: None child: Root\n\nparent: C1 child: C11\n",
            r"line 3: the parent 'C1' of 'C11' is the child of no line",
        ),
        (
            "parent: None child: A\nparent: None child: B\n",
            r"topics\.hier: the hierarchy has 2 roots, 'A', 'B'; .*virtual_root",
        ),
        ("parent: A child: B\nparent: B child: A\n", r"topics\.hier: the labels 'B' -> 'A' -> 'B'"),
        ("\n", r"topics\.hier: the hierarchy has no labels"),
    ],
)
def test_a_broken_rcv1_file_is_named_with_its_line(tmp_path, text, message):
    file = tmp_path / "topics.hier"
    file.write_text(text)
    with pytest.raises(InvalidFile, match=message):
        LabelHierarchy.from_rcv1(file)


def test_an_rcv1_file_that_is_no_text_is_named(tmp_path):
    file = tmp_path / "topics.hier"
    file.write_bytes(b"parent: None child: \xff\xfe")
    with pytest.raises(InvalidFile, match=r"topics\.hier: .*must be UTF-8 text"):
        LabelHierarchy.from_rcv1(file)


# -- what is no hierarchy ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: LabelHierarchy.from_parents({}), "has no labels; give at least one"),
        (lambda: LabelHierarchy.from_parents([("a", None)]), "is not a mapping; give {label: parent}"),
        (lambda: LabelHierarchy.from_parents({"oil": "energy"}), "the parent 'energy' of 'oil' .* add 'energy': None"),
        (lambda: LabelHierarchy.from_parents({"a": "a"}), "the labels 'a' -> 'a' (parent -> child) form a cycle"),
        (
            lambda: LabelHierarchy.from_parents({"top": None, "x": "c", "a": "b", "b": "c", "c": ["a", "top"]}),
            "the labels 'c' -> 'b' -> 'a' -> 'c' (parent -> child) form a cycle; .* drop one of these edges",
        ),
        (lambda: LabelHierarchy.from_edges([("a", "b"), ("b", "a")]), "'a' -> 'b' -> 'a'"),
        (lambda: LabelHierarchy.from_edges([("a", "b"), ("c", "d")]), "has 2 roots, 'a', 'c'; .* virtual_root='Root'"),
        (lambda: LabelHierarchy.from_parents(dict.fromkeys(range(9))), "has 9 roots, 0, 1, 2, 3, 4, ...; "),
        (lambda: LabelHierarchy.from_edges(["ab"]), "edge 0 is 'ab'; an edge is a pair (parent, child)"),
        (lambda: LabelHierarchy.from_edges([("a", "b"), ("a",)]), "edge 1 is ('a',); an edge is a pair"),
        (
            lambda: LabelHierarchy.from_nested({"a": 3}),
            "the value below 'a' is 3; .* a dict, a list of labels, or None",
        ),
        (lambda: LabelHierarchy.from_nested("abc"), "nested is 'abc'; "),
        (lambda: LabelHierarchy.from_nested({"a": {"b": ["a"]}}), "'a' -> 'b' -> 'a'"),
        (lambda: LabelHierarchy.from_paths("a/b"), "paths='a/b' is one text; .* ['a/b'] for a single one"),
        (lambda: LabelHierarchy.from_paths([("a", "b")]), "path ('a', 'b') is a tuple"),
        (lambda: LabelHierarchy.from_paths(["a//b"]), "path 'a//b' has an empty name"),
        (lambda: LabelHierarchy.from_paths(["a"], separator=""), "separator='' is no text"),
        (lambda: LabelHierarchy.from_paths(["a"], label="last"), "label='last' is not one of 'path', 'name'"),
        (lambda: LabelHierarchy.from_parents({"a": None}, virtual_root="a"), "virtual_root='a' is a label .* already"),
        (lambda: LabelHierarchy.from_parents({"a": None}, descriptions={"b": "?"}), "'b' is not a label"),
        (lambda: LabelHierarchy.from_parents({"a": None, "b": "a"}, dummies={"b": "a"}), "dummies names 'a' for 'b'; "),
        (lambda: LabelHierarchy.from_parents({"a": None, "b": "a"}, dummies={"c": "b"}), "dummies names 'b' for 'c'; "),
    ],
)
def test_what_is_no_hierarchy_is_refused_with_value_rule_and_way_out(build, message):
    pattern = ".*".join(map(re.escape, message.split(" .* ")))
    with pytest.raises((InvalidHierarchy, InvalidOption), match=pattern):
        build()


@pytest.mark.parametrize(
    "build",
    [
        lambda: LabelHierarchy.from_parents({None: None}),
        lambda: LabelHierarchy.from_edges([("a", None)]),
        lambda: LabelHierarchy.from_edges([(["a"], "b")]),
        lambda: LabelHierarchy.from_nested({"a": [["b"]]}),
        lambda: LabelHierarchy.from_parents({"a": None}, virtual_root=["x"]),
        lambda: LabelHierarchy.from_distances([[0]], [None]),
        lambda: LabelHierarchy.from_nested(TOPICS).with_dummy_leaves(lambda label: None),
    ],
)
def test_what_is_no_label_is_refused(build):
    with pytest.raises(InvalidLabel, match=r"a label is a str, an int or another hashable"):
        build()


@given(hierarchies(), st.data())
def test_an_edge_back_to_an_ancestor_is_reported_as_a_real_cycle(parents, data):
    h = LabelHierarchy.from_parents(parents)
    label = data.draw(st.sampled_from(h.labels))
    ancestor = data.draw(st.sampled_from((label, *h.ancestors(label))))
    broken = {**parents, ancestor: [*parents[ancestor], label]}
    with pytest.raises(InvalidHierarchy) as caught:
        LabelHierarchy.from_parents(broken)
    text = re.match(r"the labels (.*) \(parent", str(caught.value)).group(1)
    names = {repr(name): name for name in parents}
    cycle = [names[word] for word in text.split(" -> ")]
    assert cycle[0] == cycle[-1]
    assert all(parent in broken[child] for parent, child in itertools.pairwise(cycle))


# -- relations and distances ------------------------------------------------------------------------------------------


@given(hierarchies())
def test_relations_equal_those_of_networkx(parents):
    h = LabelHierarchy.from_parents(parents)
    graph = h.to_networkx()
    assert h.leaves == tuple(v for v in parents if graph.out_degree(v) == 0)
    assert h.is_tree == nx.is_arborescence(graph)
    for v in parents:
        assert set(h.parents(v)) == set(graph.predecessors(v))
        assert set(h.children(v)) == set(graph.successors(v))
        assert set(h.ancestors(v)) == nx.ancestors(graph, v)
        assert set(h.descendants(v)) == nx.descendants(graph, v)
        assert h.depth(v) == nx.shortest_path_length(graph, h.root, v) == len(h.path(v)) - 1
        assert nx.is_path(graph, h.path(v))
        assert (h.path(v)[0], h.path(v)[-1]) == (h.root, v)


@given(hierarchies())
def test_distances_equal_the_oracle_and_the_matrix(parents):
    h = LabelHierarchy.from_parents(parents)
    for a in parents:
        for b in parents:
            assert h.distance(a, b) == naive_hierarchy_distance(parents, a, b)
    assert h.distances().tolist() == [[h.distance(a, b) for b in h.leaves] for a in h.leaves]


@given(hierarchies())
def test_distances_in_a_hierarchy_are_a_metric(parents):
    h = LabelHierarchy.from_parents(parents)
    d = h.distances()
    assert (d == d.T).all()
    assert ((d == 0) == np.eye(len(d), dtype=bool)).all()
    assert (d[:, None, :] <= d[:, :, None] + d[None, :, :]).all()


def test_the_way_through_a_dag_is_the_shortest():
    h = LabelHierarchy.from_edges([("top", "a"), ("a", "b"), ("b", "c"), ("top", "d"), ("d", "c"), ("d", "e")])
    assert h.distance("c", "e") == 2
    assert h.path("c") == ("top", "d", "c")
    assert h.distances().tolist() == [[0, 2], [2, 0]]


def test_of_two_shortest_paths_the_one_over_the_first_parent_is_taken():
    h = LabelHierarchy.from_parents({"top": None, "b": "top", "a": "top", "c": ["a", "b"]})
    assert h.path("c") == ("top", "b", "c")


def test_the_matrix_of_distances_is_computed_once_and_cannot_be_written(topics):
    matrix = topics.distances()
    assert matrix is topics.distances()
    with pytest.raises(ValueError, match="read-only"):
        matrix[0, 0] = 1


@pytest.mark.parametrize(
    ("label", "message"),
    [
        ("oill", "'oill' is not a label of the hierarchy; did you mean 'oil'?"),
        (7, "7 is not a label"),
        ([], r"[] is not"),
    ],
)
def test_an_unknown_label_is_named(topics, label, message):
    for ask in (topics.parents, topics.path, topics.leaf_for, lambda v: topics.distance("oil", v)):
        with pytest.raises(InvalidHierarchy, match=re.escape(message)):
            ask(label)


# -- distances without a tree -----------------------------------------------------------------------------------------


def test_a_matrix_of_distances_makes_every_label_a_leaf():
    matrix = np.array([[0, 1.5], [1.5, 0]])
    h = LabelHierarchy.from_distances(matrix, ["a", "b"])
    matrix[0, 1] = 9  # the hierarchy has a copy
    assert h.labels == h.leaves == ("a", "b")
    assert h.distance("a", "b") == 1.5
    assert not h.is_tree
    assert h.with_dummy_leaves() is h
    assert h.leaf_for("a") == "a"
    assert h.path_ends(["b", "a"]) == h.correct_leaves(["b", "a"]) == ("a", "b")
    assert repr(h) == "<LabelHierarchy of 2 labels, 2 leaves, by distances>"
    assert h.summary() == "2 leaves with a matrix of distances\nthe largest distance is 1.5"
    with pytest.raises(ValueError, match="read-only"):
        h.distances()[0, 1] = 1


@pytest.mark.parametrize(
    "ask",
    [
        lambda h: h.root,
        lambda h: h.parents("a"),
        lambda h: h.children("a"),
        lambda h: h.ancestors("a"),
        lambda h: h.descendants("a"),
        lambda h: h.path("a"),
        lambda h: h.depth("a"),
        lambda h: h.to_parents(),
        lambda h: h.to_networkx(),
        lambda h: h.render(),
    ],
)
def test_questions_about_a_tree_need_one(ask):
    h = LabelHierarchy.from_distances([[0, 1], [1, 0]], "ab")
    with pytest.raises(
        InvalidHierarchy, match="made by from_distances and has distances but no tree; build it by from_"
    ):
        ask(h)


@pytest.mark.parametrize(
    ("matrix", "labels", "message"),
    [
        ([], [], "has no labels"),
        ([[0]], ["a", "b"], "have shape (1, 1) for 2 labels"),
        ([0, 0], ["a", "b"], "have shape (2,) for 2 labels"),
        ([[0, "x"], [1, 0]], ["a", "b"], "are not a matrix of numbers"),
        ([[0, 1], [1]], ["a", "b"], "are not a matrix of numbers"),
        ([[0, 1], [1, 0]], ["a", "a"], "label 'a' is listed twice"),
        ([[0, np.nan], [np.nan, 0]], ["a", "b"], "the distance from 'a' to 'b' is nan; a distance is a finite number"),
        ([[0, np.inf], [np.inf, 0]], ["a", "b"], "the distance from 'a' to 'b' is inf; a distance is a finite number"),
        ([[0, -1], [-1, 0]], ["a", "b"], "the distance from 'a' to 'b' is -1; a distance is 0 or more"),
        ([[0, 1], [1, 2]], ["a", "b"], "the distance from 'b' to 'b' is 2; a label has distance 0 from itself"),
        ([[0, 1], [2, 0]], ["a", "b"], "the distance from 'a' to 'b' is 1 and 2 the other way; a distance is the same"),
    ],
)
def test_a_matrix_that_is_no_semi_metric_is_refused_at_its_entry(matrix, labels, message):
    with pytest.raises(InvalidHierarchy, match=re.escape(message)):
        LabelHierarchy.from_distances(matrix, labels)


# -- dummy leaves -----------------------------------------------------------------------------------------------------


@given(hierarchies())
def test_every_label_but_an_inner_root_has_a_leaf_of_its_own_after_dummies(parents):
    h = LabelHierarchy.from_parents(parents)
    grown = h.with_dummy_leaves()
    inner = [v for v in h.labels if h.children(v) and v != h.root]
    assert grown.labels == (*h.labels, *(f"{v} (general)" for v in inner))
    assert dict(grown.dummies) == {v: f"{v} (general)" for v in inner}
    ranked = [v for v in h.labels if v != h.root or not h.children(v)]
    assert sorted(map(repr, grown.leaves)) == sorted(repr(grown.leaf_for(v)) for v in ranked)
    for v, dummy in grown.dummies.items():
        assert grown.parents(dummy) == (v,)
        assert not grown.children(dummy)
    assert all(grown.distance(a, b) == h.distance(a, b) for a in h.labels for b in h.labels)


@given(hierarchies())
def test_dummies_are_added_once(parents):
    grown = LabelHierarchy.from_parents(parents).with_dummy_leaves()
    assert grown.with_dummy_leaves() is grown
    assert grown.with_dummy_leaves("another {}") is grown


def test_dummy_names_come_from_a_text_or_a_function(topics):
    assert topics.with_dummy_leaves("{}, general").leaf_for("fuel") == "fuel, general"
    assert topics.with_dummy_leaves(lambda label: ("dummy", label)).leaf_for("fuel") == ("dummy", "fuel")
    numbers = LabelHierarchy.from_parents({0: None, 1: 0, 2: 1})
    assert numbers.with_dummy_leaves().leaves == (2, "1 (general)")


@pytest.mark.parametrize(
    ("parents", "name", "message"),
    [
        (
            {"r": None, "a": "r", "a (general)": "a"},
            "{} (general)",
            "the dummy leaf of 'a' would be called 'a (general)', which is a label of the hierarchy already; ",
        ),
        (
            {"r": None, 1: "r", "1": "r", "x": 1, "y": "1"},
            "{} (general)",
            "the dummy leaf of '1' would be called '1 (general)', which is that of 1 too; give another name=",
        ),
    ],
)
def test_a_dummy_name_that_is_taken_names_both(parents, name, message):
    with pytest.raises(InvalidHierarchy, match=re.escape(message)):
        LabelHierarchy.from_parents(parents).with_dummy_leaves(name)


@pytest.mark.parametrize("name", ["general", "{", "{label}", "{} {}", "{0.nothing}", "", 3])
def test_a_dummy_name_must_show_the_label(topics, name):
    with pytest.raises(InvalidOption, match=r"it is a text with \{\} where the label goes, or a function"):
        topics.with_dummy_leaves(name)


def test_an_inner_label_without_a_dummy_has_no_leaf(topics):
    with pytest.raises(InvalidHierarchy, match=r"'fuel' is an inner label .* rank over with_dummy_leaves\(\)"):
        topics.leaf_for("fuel")
    with pytest.raises(InvalidHierarchy, match=r"'all' is the root, which is relevant to everything .* virtual_root="):
        topics.with_dummy_leaves().leaf_for("all")


# -- label sets and layers --------------------------------------------------------------------------------------------


@given(hierarchies(), st.data())
def test_path_ends_and_correct_leaves_equal_the_oracle(parents, data):
    h = LabelHierarchy.from_parents(parents).with_dummy_leaves()
    for labels in data.draw(label_sets(parents)):
        ends = naive_path_ends(parents, labels)
        assert set(h.path_ends(labels)) == ends
        assert set(h.correct_leaves(labels)) == {h.leaf_for(v) for v in ends}


@given(hierarchies(), st.data())
def test_ancestors_and_the_root_add_nothing_to_a_label_set(parents, data):
    h = LabelHierarchy.from_parents(parents)
    labels = data.draw(st.frozensets(st.sampled_from(h.labels), max_size=3))
    closed = labels.union(*map(h.ancestors, labels), [h.root] if len(h) > 1 else [])
    assert h.path_ends(closed) == h.path_ends(labels)


def test_a_root_that_is_a_leaf_can_be_correct():
    h = LabelHierarchy.from_parents({"only": None})
    assert h.correct_leaves(["only"]) == ("only",)
    assert h.layer_matrix([["only"], []], max_layers=None).tolist() == [[0], [0]]


def test_the_root_alone_says_as_little_as_no_label(topics):
    assert topics.layers_of(["all"]) == topics.layers_of([]) == [list(topics.leaves)]
    assert topics.layer_matrix([["all"], []]).max() == 0


@given(hierarchies(), CAPS, st.data())
def test_layers_equal_the_oracle_one_by_one_and_all_at_once(parents, max_layers, data):
    h = LabelHierarchy.from_parents(parents).with_dummy_leaves()
    sets = data.draw(label_sets(parents))
    matrix = h.layer_matrix(sets, max_layers)
    assert matrix.shape == (len(sets), len(h.leaves))
    assert matrix.dtype == np.int8
    for labels, row in zip(sets, matrix, strict=True):
        expected = naive_layers(h.leaves, h.correct_leaves(labels), h.distance, max_layers)
        assert row.tolist() == list(expected.values())
        layers = h.layers_of(labels, max_layers)
        assert {leaf: k for k, layer in enumerate(layers) for leaf in layer} == expected
        assert all(layers)


@given(semi_metrics(), CAPS, st.data())
@example([[0.0, 1e300, 3.0], [1e300, 0.0, 2.0], [3.0, 2.0, 0.0]], None, None)
def test_layers_by_distances_equal_the_oracle(matrix, max_layers, data):
    labels = range(len(matrix))
    h = LabelHierarchy.from_distances(matrix, labels)
    sets = data.draw(label_sets(labels)) if data else [{0}, {1, 2}]
    layers = h.layer_matrix(sets, max_layers)
    for correct, row in zip(sets, layers, strict=True):
        expected = naive_layers(labels, correct, h.distance, max_layers)
        assert row.tolist() == list(expected.values())
        found = {leaf: k for k, layer in enumerate(h.layers_of(correct, max_layers)) for leaf in layer}
        assert found == expected


@pytest.mark.parametrize("max_layers", [3, None])
def test_many_distinct_distances_are_ranked_as_few_are(max_layers):
    rng = np.random.default_rng(0)
    matrix = np.triu(rng.random((12, 12)), 1)
    h = LabelHierarchy.from_distances(matrix + matrix.T, range(12))
    sets = [{0}, {3, 7}, set(), {0}]
    rows = h.layer_matrix(sets, max_layers).tolist()
    assert rows == [list(naive_layers(h.leaves, correct, h.distance, max_layers).values()) for correct in sets]


def test_layers_beyond_127_get_a_wider_integer():
    n = 150
    points = np.arange(n)
    h = LabelHierarchy.from_distances(abs(points[:, None] - points), points.tolist())
    assert h.layer_matrix([{0}], max_layers=None).tolist() == [list(range(n))]
    assert h.layer_matrix([{0}], max_layers=None).dtype == np.int16
    assert h.layer_matrix([{0}], max_layers=128).dtype == np.int8
    assert h.layer_matrix([{0}], max_layers=128).max() == 127


def test_the_kernels_do_what_their_python_source_does(monkeypatch):
    h = LabelHierarchy.from_edges([("top", "a"), ("top", "b"), ("a", "c"), ("b", "c"), ("a", "d"), ("b", "e")])
    matrix = np.triu(np.random.default_rng(1).random((9, 9)), 1)
    metric = LabelHierarchy.from_distances(matrix + matrix.T, range(9))  # more distinct distances than a table is worth
    sets, numbers = [["c"], ["a", "e", "top"], [], ["c"]], [{1, 4}, {2}]
    compiled = h.with_dummy_leaves().layer_matrix(sets), metric.layer_matrix(numbers, max_layers=None)
    with pytest.raises(InvalidHierarchy, match="instance 1: 'a' is an inner label"):
        h.layer_matrix([["c"], ["a"]])
    monkeypatch.setattr("prefgraph.hierarchy._base.distances_between", distances_between.py_func)
    monkeypatch.setattr("prefgraph.hierarchy._label_hierarchy.leaves_of_path_ends", leaves_of_path_ends.py_func)
    monkeypatch.setattr("prefgraph.hierarchy._label_hierarchy.layers_from_distances", layers_from_distances.py_func)
    plain = h.with_dummy_leaves().layer_matrix(sets), metric.layer_matrix(numbers, max_layers=None)
    assert [rows.tolist() for rows in plain] == [rows.tolist() for rows in compiled]
    with pytest.raises(InvalidHierarchy, match="instance 1: 'a' is an inner label"):
        h.layer_matrix([["c"], ["a"]])


@given(hierarchies(dag=False), CAPS, st.data())
def test_renaming_labels_commutes_with_everything(parents, max_layers, data):
    new = {v: f"{type(v).__name__} {v}" for v in parents}
    h = LabelHierarchy.from_parents(parents).with_dummy_leaves(lambda v: ("dummy", v))
    renamed = LabelHierarchy.from_parents({new[v]: [new[p] for p in above] for v, above in parents.items()})
    renamed = renamed.with_dummy_leaves(lambda v: ("dummy", v))
    sets = data.draw(label_sets(parents))
    again = [{new[v] for v in labels} for labels in sets]
    assert (renamed.distances() == h.distances()).all()
    assert (renamed.layer_matrix(again, max_layers) == h.layer_matrix(sets, max_layers)).all()
    new.update({("dummy", v): ("dummy", new[v]) for v in parents})
    for labels, other in zip(sets, again, strict=True):
        assert renamed.layers_of(other) == [[new[v] for v in layer] for layer in h.layers_of(labels)]


@given(hierarchies(), CAPS, st.data())
def test_an_indicator_matrix_dense_or_sparse_says_the_same_as_sets(parents, max_layers, data):
    h = LabelHierarchy.from_parents(parents).with_dummy_leaves()
    sets = data.draw(label_sets(parents))
    columns = data.draw(st.permutations(list(parents)))
    dense = np.array([[label in labels for label in columns] for labels in sets], bool).reshape(len(sets), len(columns))
    expected = h.layer_matrix(sets, max_layers)
    for matrix in (dense, dense.astype(float), sparse.csr_array(dense.astype(int)), sparse.csc_matrix(dense)):
        assert (h.layer_matrix(matrix, max_layers, columns=columns) == expected).all()


def test_a_sparse_matrix_with_stored_zeros_is_read_and_left_alone(topics):
    matrix = sparse.csr_array((np.array([1, 0]), np.array([1, 0]), np.array([0, 2])), shape=(1, 2))
    assert (topics.layer_matrix(matrix, columns=["gas", "oil"]) == topics.layer_matrix([{"oil"}])).all()
    assert matrix.nnz == 2


def test_equal_sets_in_any_form_share_their_layers(topics):
    rows = topics.layer_matrix([["oil", "golf"], ("golf", "oil", "oil"), {"golf": 1, "oil": 2}, iter(["oil", "golf"])])
    assert (rows == rows[0]).all()
    assert (topics.layer_matrix(iter([["oil"], ["oil"]])) == topics.layer_matrix([["oil"]])).all()


@pytest.mark.parametrize(
    ("sets", "columns", "error", "message"),
    [
        (
            [["oil"], ["gas", "oill"]],
            None,
            InvalidTarget,
            "instance 1: 'oill' is not a label of the hierarchy; did you",
        ),
        (
            [["oil"], [7], [8]],
            None,
            InvalidTarget,
            "instance 1: 7 is not a label of the hierarchy; add it there or leave",
        ),
        ([["oil"], [["gas"]]], None, InvalidTarget, "instance 1: ['gas'] is not a label"),
        (
            [["oil"], "gas"],
            None,
            InvalidTarget,
            "instance 1: 'gas' is one label and not a set of labels; write ['gas']",
        ),
        ([["oil"], iter([["gas"], "oil"])], None, InvalidTarget, "instance 1: ['gas'] is not a label"),
        ([["oil"], 3], None, InvalidTarget, "instance 1: 3 is one label and not a set of labels"),
        ("oil", None, InvalidTarget, "label_sets='oil' is not a list of label sets"),
        (5, None, InvalidTarget, "label_sets=5 is not a list of label sets"),
        ([["oil"], ["oil"], ["wind", "fuel"]], None, InvalidHierarchy, "instance 2: 'fuel' is an inner label without"),
        ([["oil"]], ["oil"], InvalidTarget, "columns= belongs to an indicator matrix"),
        (np.eye(2), None, InvalidTarget, "a matrix of 2 columns without names; say with columns="),
        (np.eye(2), ["oil"], InvalidTarget, "columns= names 1 labels for a matrix of 2 columns"),
        (np.eye(2), ["oil", "oil"], InvalidTarget, "columns= names 'oil' twice"),
        (
            np.eye(2),
            ["oil", "gaz"],
            InvalidTarget,
            "columns=: 'gaz' is not a label of the hierarchy; did you mean 'gas'?",
        ),
        (np.array([[0, 1], [0.5, 1]]), ["oil", "gas"], InvalidTarget, "instance 1: column 0 holds 0.5; an indicator"),
        (np.array([[0, np.nan]]), ["oil", "gas"], InvalidTarget, "instance 0: column 1 holds nan; an indicator"),
        (
            sparse.csr_array([[0, 1], [0, 2]]),
            ["oil", "gas"],
            InvalidTarget,
            "instance 1: column 1 holds 2; an indicator",
        ),
        (np.array([[1, 0], [0, 1]]), ["oil", "energy"], InvalidHierarchy, "instance 1: 'energy' is an inner label"),
    ],
)
def test_label_sets_that_cannot_be_read_name_the_instance(topics, sets, columns, error, message):
    with pytest.raises(error, match=re.escape(message)):
        topics.layer_matrix(sets, columns=columns)


def test_a_single_label_set_is_checked_as_many_are(topics):
    with pytest.raises(InvalidTarget, match=re.escape("'oil' is one label and not a set of labels; write ['oil']")):
        topics.layers_of("oil")
    with pytest.raises(InvalidTarget, match="instance 'd17': 'oill' is not a label"):
        topics.layers_of(["oill"], instance="d17")
    with pytest.raises(InvalidHierarchy, match="instance 'd17': 'fuel' is an inner label"):
        topics.preference_graph(["fuel"], instance="d17")


@pytest.mark.parametrize("max_layers", [1, 0, -3, 2.0, "3", True])
def test_there_are_at_least_two_layers(topics, max_layers):
    for ask in (topics.layers_of, topics.layer_matrix):
        with pytest.raises(InvalidOption, match=r"max_layers=.*; it is an int of 2 or more, or None for no limit"):
            ask([], max_layers)


# -- graphs -----------------------------------------------------------------------------------------------------------


@given(hierarchies(), CAPS, st.data())
def test_compiled_preferences_equal_the_graphs_one_by_one(parents, max_layers, data):
    h = LabelHierarchy.from_parents(parents).with_dummy_leaves()
    sets = data.draw(label_sets(parents))
    compiled = h.preferences(sets, max_layers)
    assert tuple(compiled.labels) == h.leaves
    assert [compiled[i] for i in range(len(sets))] == [h.preference_graph(labels, max_layers) for labels in sets]


def test_the_preference_graph_has_the_layers_of_the_instance(topics):
    graph = topics.preference_graph({"oil", "energy"}, instance="d17")
    assert graph.layers() == topics.layers_of({"oil"})
    assert graph.instance == "d17"
    assert topics.preference_graph([]).number_of_edges() == 0
    assert len(topics.preference_graph([])) == len(topics.leaves)


# -- content ----------------------------------------------------------------------------------------------------------


@given(hierarchies(), hierarchies())
def test_equality_and_key_are_about_content(one, other):
    a, b = LabelHierarchy.from_parents(one), LabelHierarchy.from_parents(other)
    same = list(one) == list(other) and all(set(one[v]) == set(other[v]) for v in one)
    assert (a == b) == same == (a.key == b.key)
    twin = LabelHierarchy.from_parents(
        {v: set(above) for v, above in one.items()}, descriptions=dict.fromkeys(one, "?")
    )
    assert (a, hash(a), a.key) == (twin, hash(twin), twin.key)


def test_dummies_and_distances_are_content(topics):
    grown = topics.with_dummy_leaves()
    unmarked = LabelHierarchy.from_parents(grown.to_parents())
    assert grown != unmarked
    assert grown.key != unmarked.key
    near, far = (LabelHierarchy.from_distances([[0, d], [d, 0]], "ab") for d in (1, 2))
    assert near != far
    assert near.key != far.key
    assert near == LabelHierarchy.from_distances([[-0.0, 1.0], [1.0, 0]], ["a", "b"])
    assert near.key == LabelHierarchy.from_distances([[-0.0, 1.0], [1.0, 0]], ["a", "b"]).key
    assert hash(near) == hash(far)
    assert near != topics != near
    assert topics != topics.to_parents()


def test_a_key_tells_the_str_from_the_int_and_needs_one_of_them():
    assert LabelHierarchy.from_parents({1: None}).key != LabelHierarchy.from_parents({"1": None}).key
    with pytest.raises(InvalidLabel, match="labels are str or int where they are keyed"):
        _ = LabelHierarchy.from_parents({("a", 1): None}).key


def test_a_key_is_the_same_in_another_process(topics):
    code = (
        "from prefgraph.hierarchy import LabelHierarchy\n"
        f"print(LabelHierarchy.from_nested({TOPICS!r}).with_dummy_leaves().key)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == topics.with_dummy_leaves().key


@pytest.mark.parametrize("again", [lambda h: pickle.loads(pickle.dumps(h)), copy.deepcopy, copy.copy])
def test_copies_are_equal_and_as_frozen(topics, again):
    metric = LabelHierarchy.from_distances([[0, 2], [2, 0]], "ab")
    topics.distances()
    for h in (topics.with_dummy_leaves(), metric):
        twin = again(h)
        assert twin == h
        assert (twin.distances() == h.distances()).all()
        assert not twin.distances().flags.writeable


def test_what_a_hierarchy_shows_cannot_be_changed(topics):
    for mapping in (topics.descriptions, topics.dummies):
        with pytest.raises(TypeError):
            mapping["oil"] = "x"
    with pytest.raises(AttributeError):
        topics.labels = ()


def test_a_hierarchy_is_a_collection_of_its_labels(topics):
    assert len(topics) == 10
    assert list(topics) == list(topics.labels)
    assert "oil" in topics
    assert "coal" not in topics


# -- text -------------------------------------------------------------------------------------------------------------


def test_the_tree_is_drawn_with_its_branches(topics):
    assert topics.render().splitlines() == [
        "all",
        "├── energy",
        "│   ├── fuel",
        "│   │   ├── oil",
        "│   │   └── gas",
        "│   └── wind",
        "├── sport",
        "│   ├── golf",
        "│   └── chess",
        "└── misc",
    ]
    assert topics.render(0) == "all (9 below)"


def test_a_dag_is_drawn_without_repeating_a_branch():
    h = LabelHierarchy.from_edges([("top", "a"), ("top", "b"), ("a", "c"), ("b", "c"), ("c", "d"), ("b", "d")])
    assert h.render().splitlines() == [
        "top",
        "├── a",
        "│   └── c",
        "│       └── d",
        "└── b",
        "    ├── c (above)",
        "    └── d",
    ]


def test_a_summary_counts_what_there_is(topics):
    assert topics.with_dummy_leaves().summary().splitlines() == [
        "12 labels below 'all', a tree of depth 3",
        "9 leaves; 3 inner labels besides the root, of which 3 have a dummy leaf",
    ]
    dag = LabelHierarchy.from_parents({"top": None, "a": "top", "b": "top", "c": ["a", "b"]})
    assert "a DAG (1 label with several parents) of depth 2" in dag.summary()
    assert repr(dag) == "<LabelHierarchy of 4 labels, 1 leaf, root 'top'>"


def holding_itself(kind):
    """Dicts and lists that hold themselves, at once or further down."""
    nested = {}
    nested["a"] = {"dict": nested, "list": [nested], "deep": {"b": ["c", {"d": nested}]}}[kind]
    return nested


@pytest.mark.parametrize("kind", ["dict", "list", "deep"])
def test_nested_dicts_that_hold_themselves_are_refused(kind):
    with pytest.raises(InvalidHierarchy, match=r"what stands below '[ad]' holds itself; a label cannot stand below"):
        LabelHierarchy.from_nested(holding_itself(kind))


def test_nested_dicts_may_be_shared():
    shared, empty = {"x": None, "y": ()}, ()
    h = LabelHierarchy.from_nested({"top": {"a": shared, "b": shared, "c": empty, "d": {"e": empty}}})
    assert h.parents("x") == ("a", "b")
    assert h.leaves == ("x", "y", "c", "e")


@pytest.mark.parametrize(
    "build", [LabelHierarchy.from_edges, LabelHierarchy.from_paths, lambda v: LabelHierarchy.from_distances([[0]], v)]
)
def test_a_hierarchy_is_built_from_collections(build):
    with pytest.raises(InvalidHierarchy, match="5 is not a collection of"):
        build(5)
