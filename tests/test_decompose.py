"""Decompositions: the four by definition, the laws, composition, the registry, and custom ones."""

import itertools
import pickle

import networkx as nx
import pytest
from hypothesis import given
from hypothesis import strategies as st

import prefgraph as pg
from prefgraph import DECOMPOSITIONS, InvalidDecomposition, PreferenceGraph, decompose
from tests.oracles import naive_parts
from tests.strategies import labels, preference_graphs

FOUR = {name: DECOMPOSITIONS[name] for name in ("identity", "disagreement", "domination", "dominated")}
ANY_GRAPH = preference_graphs(max_labels=6)


def as_sets(parts):
    """Parts without the order of parts and edges; a part that comes twice counts twice."""
    return sorted((sorted(map(repr, part)) for part in parts), key=repr)


def test_the_registry_holds_the_four():
    assert {
        "identity": pg.identity,
        "disagreement": pg.disagreement,
        "domination": pg.domination,
        "dominated": pg.dominated,
    } == FOUR
    with pytest.raises(TypeError):
        DECOMPOSITIONS["mine"] = pg.identity


@pytest.mark.parametrize("name", FOUR)
@given(graph=ANY_GRAPH)
def test_the_parts_are_those_of_the_definition(name, graph):
    assert as_sets(FOUR[name](graph)) == as_sets(naive_parts(graph, name))
    assert as_sets(FOUR[name](nx.DiGraph(graph))) == as_sets(naive_parts(graph, name))


@pytest.mark.parametrize("cut", FOUR.values(), ids=FOUR)
@given(graph=ANY_GRAPH)
def test_each_edge_lands_in_exactly_one_part_and_no_part_is_empty(cut, graph):
    parts = cut(graph)
    assert sorted(map(repr, (e for part in parts for e in part))) == sorted(map(repr, graph.edges))
    assert all(parts)


@given(graph=ANY_GRAPH)
def test_the_number_of_parts_is_known(graph):
    assert len(pg.identity(graph)) == bool(graph.edges)
    assert len(pg.disagreement(graph)) == graph.number_of_edges()
    assert len(pg.domination(graph)) == sum(graph.out_degree(v) > 0 for v in graph)
    assert len(pg.dominated(graph)) == sum(graph.in_degree(v) > 0 for v in graph)


@given(graph=ANY_GRAPH)
def test_dominated_is_domination_of_the_reverse(graph):
    turned = [[(v, u) for u, v in part] for part in pg.domination(graph.reverse())]
    assert as_sets(pg.dominated(graph)) == as_sets(turned)


@pytest.mark.parametrize("cut", FOUR.values(), ids=FOUR)
@given(graph=ANY_GRAPH, data=st.data())
def test_renaming_labels_commutes(cut, graph, data):
    new = data.draw(st.lists(labels(), min_size=len(graph), max_size=len(graph), unique=True))
    names = dict(zip(graph, new, strict=True))
    renamed = [[(names[u], names[v]) for u, v in part] for part in cut(graph)]
    assert as_sets(cut(nx.relabel_nodes(graph, names))) == as_sets(renamed)


@given(graph=preference_graphs(max_labels=5, weights=True, attributes=True), name=st.sampled_from(sorted(FOUR)))
def test_decompose_returns_graphs_on_the_same_vertices_with_all_that_was_said(graph, name):
    graph.graph["instance"] = "d17"
    before = graph.copy()
    parts = graph.decompose(name)
    assert [set(part.edges) for part in parts] == [set(part) for part in FOUR[name](graph)]
    for part in parts:
        assert type(part) is PreferenceGraph
        assert list(part) == list(graph)
        assert part.instance == "d17"
        assert all(part[u][v] == graph[u][v] for u, v in part.edges)
        for _, _, data in part.edges(data=True):
            data["judge"] = "changed"
    assert graph == before, "a part shares nothing with the graph"


@given(graph=ANY_GRAPH, name=st.sampled_from(sorted(FOUR)), other=st.sampled_from(sorted(FOUR)))
def test_composition_has_its_laws(graph, name, other):
    cut = FOUR[name]
    assert as_sets(pg.compose(name)(graph)) == as_sets(cut(graph))
    assert as_sets(pg.compose("identity", name)(graph)) == as_sets(cut(graph))
    assert as_sets(pg.compose(name, "identity")(graph)) == as_sets(cut(graph))
    assert as_sets(pg.compose(name, "disagreement")(graph)) == as_sets(pg.disagreement(graph))
    assert as_sets(pg.compose(name, name)(graph)) == as_sets(cut(graph))
    both = pg.compose(name, other)
    assert as_sets(pg.compose(both, "domination")(graph)) == as_sets(pg.compose(name, other, "domination")(graph))
    steps = [p for part in graph.decompose(name) for p in part.decompose(other)]
    assert as_sets(both(graph)) == as_sets(list(part.edges) for part in steps)
    assert as_sets(list(part.edges) for part in graph.decompose(both)) == as_sets(both(graph))


def test_a_composition_can_be_pickled():
    cut = pickle.loads(pickle.dumps(pg.compose("domination", "disagreement")))
    assert cut(pg.parse("[1|2,3]")) == [[(1, 2)], [(1, 3)]]


def test_a_composition_of_nothing_or_of_the_unknown_is_refused():
    with pytest.raises(InvalidDecomposition, match=r"compose\(\) got no decomposition; name at least one"):
        pg.compose()
    with pytest.raises(InvalidDecomposition, match="decomposition='nothing' is unknown"):
        pg.compose("identity", "nothing")


# -- custom ones ------------------------------------------------------------------------------------------------------


def overlapping(graph):
    """The whole graph and then each edge again; a generator, and parts as sets."""
    if graph.number_of_edges():
        yield set(graph.edges)
        for edge in graph.edges:
            yield {edge}


def by_instance(graph, instance):
    """Edges one by one where the instance says so, else the whole."""
    return pg.disagreement(graph) if instance == "strict" else pg.identity(graph)


def test_parts_may_overlap():
    graph = pg.parse("1>2, 2>3, 4")
    assert [str(part) for part in graph.decompose(overlapping)] == ["1>2, 2>3, 4", "1>2, 3, 4", "2>3, 1, 4"]
    assert PreferenceGraph(nodes=[1]).decompose(overlapping) == []
    assert len(pg.compose(overlapping, "disagreement")(graph)) == 4


def test_a_cut_may_depend_on_the_instance():
    assert len(pg.parse("1>2, 2>3", instance="strict").decompose(by_instance)) == 2
    assert len(pg.parse("1>2, 2>3", instance="other").decompose(by_instance)) == 1
    assert len(pg.parse("1>2, 2>3").decompose(by_instance)) == 1
    composed = pg.compose("identity", by_instance)
    assert decompose.takes_instance(composed)
    assert not decompose.takes_instance(pg.compose("identity", overlapping))
    assert len(pg.parse("1>2, 2>3", instance="strict").decompose(composed)) == 2
    assert pickle.loads(pickle.dumps(composed))(pg.parse("[1|2]"), "strict") == [[(1, 2)]]


def test_an_optional_second_argument_is_not_the_instance():
    assert not decompose.takes_instance(lambda graph, size=3: [])
    assert not decompose.takes_instance(lambda *arguments: [])
    assert decompose.takes_instance(lambda graph, instance, size=3: [])


@pytest.mark.parametrize(
    ("returned", "message"),
    [
        (None, "gives None for a part; it returns a list of parts, each a list of edges"),
        ([None], "gives None for a part"),
        ([[]], "part 0 has no edge; leave empty parts out"),
        ([[(1, 2)], [(1, 2), (1, 2)]], "part 1 names an edge twice; a part is a set of edges"),
        ([[(2, 1)]], r"part 0 has the edge \(2, 1\), which the graph has not; a part is made of edges of the graph"),
        ([[(1, 9)]], r"part 0 has the edge \(1, 9\), which the graph has not"),
        ([(1, 2)], r"part 0 is \[1, 2\]; a part is a list of edges, each a tuple \(init, term\)"),
        ([[[1, 2]]], r"part 0 is \[\[1, 2\]\]; a part is a list of edges"),
        ([[(1, 2, {})]], r"part 0 is \[\(1, 2, \{\}\)\]; a part is a list of edges"),
        ([PreferenceGraph([(1, 2)])], r"part 0 is \[1, 2\]; a part is a list of edges"),
    ],
)
def test_what_is_no_decomposition_of_the_graph_is_refused(returned, message):
    graph = pg.parse("1>2, 2>3", instance="d17")
    with pytest.raises(InvalidDecomposition, match=f"instance 'd17': .*{message}"):
        graph.decompose(lambda graph: returned)


def test_an_error_inside_a_decomposition_is_its_own():
    def broken(graph):
        yield [(1, 2)]
        raise TypeError("my own")

    with pytest.raises(TypeError, match="my own"):
        pg.parse("[1|2]").decompose(broken)


@pytest.mark.parametrize("how", ["Identity", "", 5, None, ["identity"]])
def test_an_unknown_decomposition_is_named_beside_the_known_ones(how):
    with pytest.raises(
        InvalidDecomposition, match=r"decomposition=.* is unknown; it is one of 'identity', 'disagreement',"
    ):
        pg.parse("[1|2]").decompose(how)


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (lambda: None, r"takes \(\); it must take a graph, or a graph and an instance"),
        (lambda a, b, c: [], r"takes \(a, b, c\); it must take a graph"),
        (lambda *, graph: [], "it must take a graph"),
        (max, "cannot be looked into .*give a Python function of a graph"),
    ],
)
def test_a_function_that_takes_no_graph_is_refused(function, message):
    with pytest.raises(InvalidDecomposition, match=message):
        pg.parse("[1|2]").decompose(function)
    with pytest.raises(InvalidDecomposition, match=message):
        pg.register_decomposition("no graph", function)
    assert "no graph" not in DECOMPOSITIONS


def test_a_registered_decomposition_is_found_by_its_name(monkeypatch):
    monkeypatch.setattr(decompose, "_REGISTRY", dict(decompose._REGISTRY))
    pg.register_decomposition("overlapping", overlapping)
    pg.register_decomposition("overlapping", overlapping)  # the same again is fine: a module may be imported twice
    assert len(pg.parse("[1|2]").decompose("overlapping")) == 2
    with pytest.raises(
        InvalidDecomposition, match="the decomposition 'overlapping' exists already; choose another name"
    ):
        pg.register_decomposition("overlapping", by_instance)
    with pytest.raises(InvalidDecomposition, match="the decomposition 'identity' exists already"):
        pg.register_decomposition("identity", overlapping)
    for name in ("", None, 5):
        with pytest.raises(InvalidDecomposition, match="of a decomposition is not a word"):
            pg.register_decomposition(name, overlapping)
    with pytest.raises(InvalidDecomposition, match="5 cannot be looked into"):
        pg.register_decomposition("five", 5)


# -- the papers' figures ----------------------------------------------------------------------------------------------


def adjacent(graph):
    """The pairs of neighbouring layers, each a part: Fig. 1(f) of the PLM paper."""
    layers = graph.layers()
    return [[(u, v)] for up, down in itertools.pairwise(layers) for u in up for v in down]


def cost(graph, cut, ranking):
    """The number of parts with an edge against a ranking, best first."""
    place = ranking.index
    return sum(any(place(u) > place(v) for u, v in part) for part in cut(graph))


def test_figure_1_of_the_plm_paper_two_labels_of_five():
    graph = pg.parse("[1,2|3,4,5]")
    assert pg.identity(graph) == [[(1, 3), (1, 4), (1, 5), (2, 3), (2, 4), (2, 5)]]
    assert pg.domination(graph) == [[(1, 3), (1, 4), (1, 5)], [(2, 3), (2, 4), (2, 5)]]
    assert [len(part) for part in pg.disagreement(graph)] == [1] * 6
    assert [len(part) for part in pg.dominated(graph)] == [2, 2, 2]


def test_figure_1_of_the_plm_paper_a_total_order_of_three():
    graph = pg.parse("[1|2|3]")
    assert cost(graph, pg.identity, [3, 1, 2]) == 1
    assert cost(graph, pg.disagreement, [3, 1, 2]) == 2
    assert cost(graph, adjacent, [3, 1, 2]) == 1


def test_figure_1_of_the_log_linear_paper_has_its_shapes():
    assert pg.domination(pg.multiclass(1, range(1, 6))) == [[(1, 2), (1, 3), (1, 4), (1, 5)]]
    assert len(pg.domination(pg.multilabel([1, 2], range(1, 6)))) == 2
    assert len(pg.domination(pg.from_layers([[1], [2, 3], [4, 5]]))) == 3
    assert len(pg.dominated(pg.from_layers([[1], [2, 3], [4, 5]]))) == 4


def test_a_part_whose_ends_are_no_labels_is_shown():
    with pytest.raises(
        InvalidDecomposition, match=r"part 0 is \[\(\[1\], 2\)\]; .* each a tuple \(init, term\) of labels"
    ):
        pg.parse("[1|2]").decompose(lambda graph: [[([1], 2)]])
