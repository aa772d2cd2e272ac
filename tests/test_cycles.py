"""Cycles: found, bounded, cut at the least weight, resolved with a trail."""

import copy
import itertools
import math
import pickle

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from prefgraph import PreferenceGraph, _feedback, _feedback_kernels
from prefgraph import cycles as pgc
from prefgraph._content import sort_labels
from prefgraph.errors import InvalidGraph, InvalidOption, TooLarge
from tests.oracles import naive_feedback_weight, naive_feedback_weight_by_sets
from tests.strategies import preference_graphs

WEIGHTS = st.sampled_from([1.0, 2.0, 3.0]) | st.floats(1e-9, 1e9)
WEIGHTED = preference_graphs(weights=WEIGHTS)
TRIANGLE = [("a", "b"), ("b", "c"), ("c", "a")]


def tournament(n, seed, weights=(1.0,)):
    """Every pair in a random direction."""
    random = np.random.default_rng(seed)
    graph = PreferenceGraph(nodes=range(n))
    for u, v in itertools.combinations(range(n), 2):
        init, term = (u, v) if random.random() < 0.5 else (v, u)
        graph.add_edge(init, term, weight=float(random.choice(weights)))
    return graph


def paley(p):
    """u is preferred to u + a square modulo p: as symmetric as a tournament can be, so bounds help least."""
    squares = {k * k % p for k in range(1, p)}
    return PreferenceGraph((u, (u + k) % p) for u in range(p) for k in squares)


def without(graph, edges):
    rest = nx.DiGraph(graph)
    rest.remove_edges_from(edges)
    return rest


def canonical(cycle, place):
    """The cycle from its smallest label on."""
    start = min(range(len(cycle)), key=lambda k: place[cycle[k]])
    return tuple(cycle[start:] + cycle[:start])


def content(graph):
    return list(graph.nodes.data()), list(graph.edges.data())


# -- components and cycles ------------------------------------------------------------------------------------------


@given(graph=preference_graphs())
def test_a_graph_is_cyclic_iff_it_has_a_strong_component_iff_it_has_a_cycle(graph):
    assert pgc.is_cyclic(graph) == bool(pgc.strong_components(graph)) == bool(pgc.cycles(graph))


@given(graph=preference_graphs())
def test_strong_components_are_the_labels_that_reach_one_another(graph):
    below = {v: nx.descendants(graph, v) for v in graph}
    groups = {frozenset(u for u in graph if u in below[v] and v in below[u]) | {v} for v in graph}
    components = pgc.strong_components(graph)
    assert {frozenset(c) for c in components} == {g for g in groups if len(g) > 1}
    place = {v: k for k, v in enumerate(graph)}
    numbers = [[place[v] for v in c] for c in components]
    assert numbers == sorted(sorted(c) for c in numbers)


@given(graph=preference_graphs())
def test_all_cycles_are_those_of_networkx_each_once_and_short_ones_first(graph):
    found = pgc.cycles(graph, limit=None)
    place = {v: k for k, v in enumerate(sort_labels(graph))}
    assert sorted(map(repr, found)) == sorted(repr(list(canonical(c, place))) for c in nx.simple_cycles(graph))
    order = [(len(c), [place[v] for v in c]) for c in found]
    assert order == sorted(order)


@given(graph=preference_graphs(), limit=st.integers(0, 5), bound=st.integers(0, 6))
def test_limit_and_length_bound_take_the_first_of_all_cycles(graph, limit, bound):
    every = pgc.cycles(graph, limit=None)
    assert pgc.cycles(graph, limit=limit) == every[:limit]
    assert pgc.cycles(graph, limit=None, length_bound=bound) == [c for c in every if len(c) <= bound]


@given(graph=preference_graphs())
def test_there_is_a_shortest_cycle_for_each_component(graph):
    components = pgc.strong_components(graph)
    shortest = pgc.shortest_cycles(graph)
    assert len(shortest) == len(components)
    for cycle, component in zip(shortest, components, strict=True):
        assert set(cycle) <= set(component)
        assert len(cycle) == min(map(len, nx.simple_cycles(graph.subgraph(component))))


@given(graph=WEIGHTED, data=st.data())
def test_cycles_and_arcs_do_not_depend_on_the_order_of_insertion(graph, data):
    other = PreferenceGraph(nodes=data.draw(st.permutations(list(graph))))
    other.add_edges_from(data.draw(st.permutations(list(graph.edges.data()))))
    assert pgc.cycles(other) == pgc.cycles(graph)
    assert pgc.feedback_arcs(other) == pgc.feedback_arcs(graph)
    assert pgc.feedback_arcs(other, exact=False) == pgc.feedback_arcs(graph, exact=False)


def test_a_few_cycles_of_a_dense_graph_come_at_once():
    found = pgc.cycles(tournament(200, 0), limit=50)  # it has more cycles than there are atoms
    assert len(found) == len(set(map(tuple, found))) == 50
    assert {len(c) for c in found} == {3}


def test_a_dead_end_of_many_paths_does_not_hide_the_only_long_cycle():
    # Between the ring's labels and a wide ladder that leads nowhere back there are 2^40 paths.
    ring = [(k, (k + 1) % 30) for k in range(30)]
    ladder = [(a, b) for k in range(40) for a in ((0, k), (1, k)) for b in ((0, k + 1), (1, k + 1))]
    graph = nx.DiGraph([*ring, (0, (0, 0)), *ladder])
    assert pgc.cycles(graph) == [list(range(30))]


@pytest.mark.parametrize("option", ["limit", "length_bound"])
@pytest.mark.parametrize("value", [-1, 2.5, "a"])
def test_a_bound_is_a_number_from_zero_up(option, value):
    with pytest.raises(InvalidOption, match=f"{option}={value!r} is not an int from 0 up; give one, or None"):
        pgc.cycles(nx.DiGraph(), **{option: value})


# -- feedback arcs --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("exact", [True, False])
@given(graph=preference_graphs(weights=WEIGHTS, max_labels=9))
def test_feedback_arcs_make_the_graph_acyclic_and_none_can_be_left_out(exact, graph):
    arcs = pgc.feedback_arcs(graph, exact=exact)
    assert nx.is_directed_acyclic_graph(without(graph, arcs))
    for spared in arcs:
        assert not nx.is_directed_acyclic_graph(without(graph, set(arcs) - {spared}))
    assert arcs.weight == math.fsum(graph.edges[arc]["weight"] for arc in arcs)


@given(graph=WEIGHTED)
def test_feedback_arcs_are_minimum(graph):
    arcs = pgc.feedback_arcs(graph)
    assert arcs.exact
    assert arcs.weight == pytest.approx(naive_feedback_weight(graph), rel=1e-11)


@given(graph=preference_graphs())
def test_unit_weights_are_those_of_a_graph_without_weights(graph):
    assert pgc.feedback_arcs(graph).weight == naive_feedback_weight(graph)


@pytest.mark.parametrize("graph", [paley(7), paley(11), *(tournament(11, seed, (1.0, 1.5, 4.0)) for seed in range(8))])
def test_feedback_arcs_of_hard_graphs_are_minimum(graph):
    assert pgc.feedback_arcs(graph).weight == pytest.approx(naive_feedback_weight_by_sets(graph), rel=1e-11)


def test_feedback_arcs_of_a_tournament_at_the_limit_are_proven_minimum():
    graph = tournament(pgc.EXACT_LIMIT, 3, (1.0, 2.0, 5.0))
    arcs, guess = pgc.feedback_arcs(graph), pgc.feedback_arcs(graph, exact=False)
    assert arcs.exact
    assert not guess.exact
    assert arcs.weight <= guess.weight
    assert nx.is_directed_acyclic_graph(without(graph, arcs))


@given(graph=WEIGHTED, data=st.data())
def test_renaming_labels_leaves_the_weight_of_feedback_arcs(graph, data):
    names = dict(zip(graph, data.draw(st.permutations(range(len(graph)))), strict=True))
    renamed = nx.relabel_nodes(nx.DiGraph(graph), {v: f"new {k}" for v, k in names.items()})
    assert pgc.feedback_arcs(renamed).weight == pytest.approx(pgc.feedback_arcs(graph).weight, rel=1e-11)


@given(graph=preference_graphs(weights=WEIGHTS, max_labels=9))
def test_the_heuristic_is_never_below_the_minimum_and_equal_where_it_says_exact(graph):
    least, guess = pgc.feedback_arcs(graph), pgc.feedback_arcs(graph, exact=False)
    assert guess.weight >= least.weight * (1 - 1e-11)
    if guess.exact:
        assert guess.weight == pytest.approx(least.weight, rel=1e-11)


@pytest.mark.parametrize("make", [lambda: tournament(60, 1), lambda: tournament(60, 2, (0.1, 7.0))])
def test_past_the_limit_the_heuristic_is_acyclic_minimal_and_says_what_it_is(make):
    graph = make()
    arcs = pgc.feedback_arcs(graph, exact=False)
    assert not arcs.exact
    rest = without(graph, arcs)
    assert nx.is_directed_acyclic_graph(rest)
    assert all(nx.has_path(rest, term, init) for init, term in arcs)
    assert arcs == pgc.feedback_arcs(graph, exact=False)


def test_past_the_limit_exact_is_an_error_that_names_the_way_out():
    graph = tournament(60, 1)
    graph.graph["instance"] = "d17"
    with pytest.raises(TooLarge, match=r"instance 'd17': .* 60 labels .* at most 25, use exact=False"):
        pgc.feedback_arcs(graph)


def test_large_graphs_that_come_apart_are_solved_exactly():
    rings = [(f"{r}-{k}", f"{r}-{(k + 1) % 50}", 1 + (k == 7)) for r in range(4) for k in range(50)]
    bridges = [(f"{r}-0", f"{r + 1}-0", 9.0) for r in range(3)]
    graph = PreferenceGraph()
    graph.add_weighted_edges_from(rings + bridges)
    arcs = pgc.feedback_arcs(graph)
    assert (len(arcs), arcs.weight, arcs.exact) == (4, 4.0, True)


def test_weights_far_apart_are_told_apart():
    graph = PreferenceGraph()
    graph.add_weighted_edges_from([("a", "b", 1e9), ("b", "c", 1e9), ("c", "a", 2e-9), ("c", "d", 1e-9), ("d", "a", 1)])
    assert pgc.feedback_arcs(graph) == (("c", "a"), ("c", "d"))


def test_of_equals_the_edge_against_the_order_of_labels_goes():
    assert pgc.feedback_arcs(nx.DiGraph(TRIANGLE)) == (("c", "a"),)


def test_feedback_arcs_are_a_read_only_tuple_that_copies_and_pickles():
    arcs = pgc.feedback_arcs(nx.DiGraph(TRIANGLE))
    with pytest.raises(AttributeError):
        arcs.weight = 3.0
    for twin in (copy.copy(arcs), copy.deepcopy(arcs), pickle.loads(pickle.dumps(arcs))):
        assert (type(twin), twin, twin.weight, twin.exact) == (pgc.FeedbackArcs, arcs, 1.0, True)


def test_a_weight_that_is_no_weight_is_refused():
    graph = nx.DiGraph(TRIANGLE)
    graph.edges["a", "b"]["weight"] = -1.0
    with pytest.raises(InvalidGraph, match=r"from 'a' to 'b' has weight -1\.0"):
        pgc.feedback_arcs(graph)


# -- the solver's steps ---------------------------------------------------------------------------------------------


def as_kernel(graph):
    """All labels that have an edge as a kernel, without reductions."""
    place = {v: k for k, v in enumerate(v for v in graph if graph.degree(v))}
    arcs = [(place[u], place[v], data.get("weight", 1.0)) for u, v, data in graph.edges(data=True)]
    init, term, weight = (np.array(column) for column in zip(*arcs, strict=True))
    return _feedback.Kernel(len(place), init, term, weight, [(k,) for k in range(len(arcs))])


@given(graph=WEIGHTED.filter(lambda graph: graph.number_of_edges()))
def test_the_search_over_prefixes_needs_no_bound_to_be_right(graph):
    kernel = as_kernel(graph)
    weights = np.zeros((kernel.size, kernel.size))
    weights[kernel.init, kernel.term] = kernel.weight
    start = 2.0 * kernel.weight.sum()
    no_cycles = np.zeros(0, dtype=np.int64), np.zeros(0)
    order = _feedback_kernels.search_prefixes(weights, start, 1e-12 * start, *no_cycles)
    assert sorted(order) == list(range(kernel.size))
    cost = math.fsum(kernel.weight[_feedback.cut_by(kernel, order)])
    assert cost == pytest.approx(naive_feedback_weight(graph), rel=1e-11, abs=1e-11 * start)


@pytest.mark.parametrize("size", [1, 2, 5])
def test_compiled_and_plain_search_agree(size, monkeypatch):
    weights = np.random.default_rng(size).random((size, size))
    np.fill_diagonal(weights, 0.0)
    arguments = weights, weights.sum() + 1.0, 1e-9, np.array([3], dtype=np.int64), np.array([weights[0, -1] / 2])
    hopeless = weights, 1e-3, 1e-9, np.array([3], dtype=np.int64), np.array([1.0])
    compiled = _feedback_kernels.search_prefixes(*arguments)
    for name in ("_subset_sums", "_split_sums", "_affordable", "_walk_back"):
        monkeypatch.setattr(_feedback_kernels, name, getattr(_feedback_kernels, name).py_func)
    plain = _feedback_kernels.search_prefixes.py_func
    assert list(plain(*arguments)) == list(compiled)
    assert sorted(compiled) == list(range(size))
    assert len(plain(*hopeless)) == 0


@given(graph=WEIGHTED.filter(lambda graph: graph.number_of_edges()))
def test_prices_of_cycles_fit_under_the_weights_and_bound_the_minimum(graph):
    masks, price = _feedback.cycle_prices(as_kernel(graph))
    assert (price > 0).all()
    assert len(masks) == len(price)
    assert price.sum() <= naive_feedback_weight(graph) * (1 + 1e-12)


@given(graph=preference_graphs(weights=WEIGHTS, max_labels=9).filter(lambda graph: graph.number_of_edges()))
def test_orders_hold_every_label_once_and_moving_one_label_does_not_help(graph):
    kernel = as_kernel(graph)
    assert sorted(_feedback.greedy_order(kernel)) == list(range(kernel.size))
    order = list(_feedback.heuristic_order(kernel))
    assert sorted(order) == list(range(kernel.size))
    cost = kernel.weight[_feedback.cut_by(kernel, np.array(order))].sum()
    for v in order:
        others = [u for u in order if u != v]
        for place in range(len(order)):
            moved = np.array([*others[:place], v, *others[place:]])
            assert kernel.weight[_feedback.cut_by(kernel, moved)].sum() >= cost - 1e-9 * kernel.weight.sum()


def test_arcs_that_are_not_needed_are_put_back_heaviest_first():
    arcs = [(0, 1, 1.0), (1, 2, 5.0), (2, 0, 3.0), (2, 3, 1.0)]
    assert _feedback.put_back(4, arcs, {0, 1, 2, 3}) == {0}


# -- policies -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("policy", pgc.CYCLE_POLICIES)
@given(graph=WEIGHTED)
def test_every_policy_returns_a_new_graph_that_differs_by_its_changes_only(policy, graph):
    for v in graph:
        graph.nodes[v]["seen"] = True
    graph.graph["instance"] = "d17"
    before = copy.deepcopy(content(graph))
    result, changes = pgc.resolve_cycles(graph, policy)
    assert content(graph) == before
    assert result is not graph
    assert type(result) is PreferenceGraph
    assert list(result.nodes.data()) == list(graph.nodes.data())
    assert result.graph == graph.graph
    expected = {(u, v): w for u, v, w in graph.edges.data("weight")}
    for change in changes:
        assert expected[change.init, change.term] == change.before > change.after
        expected[change.init, change.term] = change.after
    assert {(u, v): w for u, v, w in result.edges.data("weight")} == {e: w for e, w in expected.items() if w}


@given(graph=WEIGHTED)
def test_policies_do_what_they_are_called(graph):
    arcs = pgc.feedback_arcs(graph)
    inside = [set(c) for c in pgc.strong_components(graph)]
    resolved = {policy: pgc.resolve_cycles(graph, policy) for policy in pgc.CYCLE_POLICIES}
    changed = {policy: [(c.init, c.term) for c in changes] for policy, (_, changes) in resolved.items()}
    assert changed["keep"] == []
    assert changed["drop"] == changed["downweight"] == list(arcs)
    assert set(changed["condense"]) == {(u, v) for u, v in graph.edges if any({u, v} <= c for c in inside)}
    assert not pgc.is_cyclic(resolved["drop"][0])
    assert not pgc.is_cyclic(resolved["condense"][0])
    assert pgc.is_cyclic(resolved["downweight"][0]) == pgc.is_cyclic(graph)
    assert set(resolved["drop"][0].edges) >= set(resolved["condense"][0].edges)


def test_downweight_multiplies_by_the_factor_and_keeps_attributes():
    graph = PreferenceGraph([("a", "b", {"who": "x"}), ("b", "c", {"who": "y"}), ("c", "a", {"who": "z"})])
    result, (change,) = pgc.resolve_cycles(graph, "downweight", factor=0.25)
    assert change == ("downweighted", "c", "a", 1.0, 0.25, "minimum feedback arc")
    assert str(change) == "downweighted 'c' > 'a' (weight 1 -> 0.25): minimum feedback arc"
    assert result.edges["c", "a"] == {"who": "z", "weight": 0.25}


def test_a_heuristic_is_named_in_the_trail():
    _, changes = pgc.resolve_cycles(tournament(40, 0), exact=False)
    assert {change.reason for change in changes} == {"feedback arc found by a heuristic"}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"policy": "delete"}, "policy='delete' is not one of 'keep', 'drop'"),
        ({"policy": "downweight", "factor": 1.0}, r"factor=1\.0 is not between 0 and 1"),
        ({"policy": "downweight", "factor": math.nan}, "factor=nan is not between 0 and 1"),
        ({"policy": "drop", "factor": 0.5}, r"factor=0\.5 with policy='drop'"),
    ],
)
def test_wrong_options_are_named(options, message):
    with pytest.raises(InvalidOption, match=message):
        pgc.resolve_cycles(nx.DiGraph(TRIANGLE), **options)


# -- report ---------------------------------------------------------------------------------------------------------


@given(graph=WEIGHTED)
def test_the_report_names_what_each_policy_drops(graph):
    report = pgc.cycle_report(graph)
    if not pgc.is_cyclic(graph):
        assert report.startswith("no cycles: ")
        assert "\n" not in report
        return
    arcs = pgc.feedback_arcs(graph)
    assert report.count("a shortest cycle: ") == len(pgc.strong_components(graph))
    assert all(f"{u!r} > {v!r} (weight " in report for u, v in arcs)
    assert f"of weight {arcs.weight:g}" in report


def test_the_report_of_a_large_component_is_short_and_says_that_it_guessed():
    graph = tournament(40, 0)
    graph.graph["instance"] = "d17"
    report = pgc.cycle_report(graph)
    assert report.startswith("instance 'd17': 1 strong component; 40 of 40 labels")
    assert "0, 1, 2, 3, 4, 5, 6, 7, ..., 39" in report
    assert "feedback arcs (heuristic, perhaps not minimum)" in report
    assert "drop (exact=False): drops" in report
    assert len(report.splitlines()) < 25


# -- closure and reduction ------------------------------------------------------------------------------------------


@given(graph=preference_graphs(weights=WEIGHTS, acyclic=True))
def test_closure_and_reduction_are_those_of_networkx_and_keep_what_was_said(graph):
    before = copy.deepcopy(content(graph))
    full, core = pgc.closure(graph), pgc.reduction(graph)
    assert content(graph) == before
    assert set(full.edges) == set(nx.transitive_closure_dag(graph).edges)
    assert set(core.edges) == set(nx.transitive_reduction(nx.DiGraph(graph)).edges)
    assert list(full) == list(core) == list(graph)
    assert type(full) is type(core) is PreferenceGraph
    for u, v, data in graph.edges.data():
        assert full.edges[u, v] == data
    assert all(data == {} for u, v, data in full.edges.data() if not graph.has_edge(u, v))
    assert all(data == graph.edges[u, v] for u, v, data in core.edges.data())


@given(graph=preference_graphs(acyclic=True))
def test_closure_and_reduction_undo_each_other(graph):
    assert set(pgc.closure(pgc.reduction(graph)).edges) == set(pgc.closure(graph).edges)
    assert set(pgc.reduction(pgc.closure(graph)).edges) == set(pgc.reduction(graph).edges)


@pytest.mark.parametrize("function", [pgc.closure, pgc.reduction])
def test_a_cyclic_graph_has_no_closure_and_the_error_shows_a_cycle(function):
    graph = PreferenceGraph(TRIANGLE, instance="d17")
    shown = "instance 'd17': the graph has the cycle 'a' > 'b' > 'c' > 'a'"
    with pytest.raises(InvalidGraph, match=f"{shown}; .* {function.__name__}, .* resolve_cycles"):
        function(graph)


@pytest.mark.parametrize("factor", ["x", math.nan, 1.0, 0, -0.5])
def test_a_factor_is_a_number_between_zero_and_one(factor):
    with pytest.raises(InvalidOption, match=r"factor=.* is not between 0 and 1; choose 0.5"):
        PreferenceGraph(TRIANGLE).resolve_cycles("downweight", factor=factor, exact=False)


def test_a_weight_is_never_weighted_down_to_zero():
    graph = PreferenceGraph(TRIANGLE, instance="d17")
    graph.edges["c", "a"]["weight"] = 5e-324
    with pytest.raises(
        InvalidGraph, match=r"instance 'd17': the edge from 'c' to 'a' has weight 5e-324, and 0\.5 times"
    ):
        graph.resolve_cycles("downweight")
    resolved, _ = graph.resolve_cycles("downweight", factor=0.75)
    assert resolved.edges["c", "a"]["weight"] == 5e-324
    assert not graph.resolve_cycles("drop")[0].is_cyclic()


@pytest.mark.parametrize("weight", [5e307, 1.7e308])
@pytest.mark.parametrize("ask", [PreferenceGraph.feedback_arcs, pgc.cycle_report], ids=["arcs", "report"])
def test_weights_past_the_largest_float_are_named(weight, ask):
    edges = [(u + end, v + end, {"weight": weight}) for end in "xy" for u, v in TRIANGLE]
    with pytest.raises(InvalidGraph, match="the weights of the edges on cycles add up to more than the largest float"):
        ask(PreferenceGraph(edges))
