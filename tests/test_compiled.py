import copy
import itertools
import json
import pickle
import runpy
import zipfile
from datetime import date
from pathlib import Path

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

import prefgraph as pg
from prefgraph import InvalidFile, InvalidGraph, InvalidLabel, InvalidOption, InvalidTarget, Preferences, _sharing
from prefgraph._edge_table import EdgeTable, gather, row_numbers, runs, starts
from prefgraph.decompose import BUILT_IN
from tests.oracles import naive_layer_row, naive_normal_row, naive_set_graph
from tests.strategies import NAMES, layered_graphs, preference_graphs, preference_lists, preferences

ENCODINGS = ("auto", "layered", "edges")
CYCLE = pg.PreferenceGraph([("a", "b"), ("b", "c"), ("c", "a")])


def all_arrays(p):
    return [p.graph_index, p.layer, p.weight, *p.table.arrays().values(), *p.table.attributes.values()]


def shuffled(data, items):
    return data.draw(st.permutations(list(items)))


# -- compile and back ------------------------------------------------------------------------------------------------


@given(graphs=preference_lists())
def test_compiling_and_decompiling_is_the_identity(graphs):
    p = pg.as_preferences(graphs, form="graphs")
    assert len(p) == len(graphs)
    assert list(p) == graphs
    assert [g.instance for g in p] == list(range(len(graphs)))
    assert p.labels == tuple(dict.fromkeys(sorted({v for g in graphs for v in g}, key=lambda v: (type(v) is str, v))))


@given(graphs=preference_lists(), data=st.data())
def test_labels_fix_the_index_and_change_no_graph(graphs, data):
    index = shuffled(data, {v for g in graphs for v in g} | {"unused"})
    p = Preferences.from_graphs(graphs, index)
    assert p.labels == tuple(index)
    assert list(p) == graphs


@given(graphs=preference_lists())
def test_equal_graphs_are_kept_once(graphs):
    p = Preferences.from_graphs(graphs)
    assert p.n_graphs == len({g.key for g in graphs})
    for i, g in enumerate(graphs):
        for j, other in enumerate(graphs):
            assert (p.graph_index[i] == p.graph_index[j]) == (g == other)


@given(p=preferences())
def test_keys_of_compiled_graphs_are_keys_of_graphs(p):
    keys = p.graph_keys()
    assert [keys[g] for g in p.graph_index] == [g.key for g in p]


@given(graphs=preference_lists())
def test_a_graph_is_kept_as_layers_exactly_when_it_is_layered_beside_its_isolated_labels(graphs):
    p = Preferences.from_graphs(graphs).encoded("layered")
    for i, graph in enumerate(graphs):
        said = any(data for *_, data in p[i].edges(data=True))
        row = None if said else naive_layer_row(graph, p.labels)
        number = p.graph_index[i]
        assert (p.layer[number].tolist() if number < len(p.layer) else None) == row


def test_inputs_are_left_alone():
    graphs = [CYCLE.copy(), nx.DiGraph([("a", "b", {"who": ["x"]})])]
    before = copy.deepcopy(graphs)
    layer = np.array([[0, 5], [1, 1]], np.int8)
    matrix = sparse.csr_array(([1, 0, 1], [1, 0, 0], [0, 2, 3]), shape=(2, 2))
    weight = np.array([1.0, 2.0])
    arrays = [layer, matrix.data, matrix.indices, matrix.indptr, weight]
    copies = copy.deepcopy(arrays)
    Preferences.from_graphs(graphs, weight=weight)
    Preferences.from_layer_matrix(layer, weight=weight)
    Preferences.from_indicator(matrix, weight=weight)
    index, rows = np.zeros(1, np.int32), np.zeros((1, 1), np.int8)
    Preferences("a", index, rows, EdgeTable.of([]))
    assert all(nx.utils.graphs_equal(a, b) for a, b in zip(graphs, before, strict=True))
    assert all(np.array_equal(a, b) for a, b in zip(arrays, copies, strict=True))
    assert all(array.flags.writeable for array in [*arrays, index, rows])


@given(p=preferences())
def test_arrays_are_read_only_in_copies_and_pickles_too(p):
    for same in (p, p[:], pickle.loads(pickle.dumps(p)), copy.deepcopy(p), copy.copy(p)):
        assert same == p
        assert not any(array.flags.writeable for array in all_arrays(same))
        with pytest.raises(TypeError):
            same.table.attributes["x"] = None


def test_attributes_that_are_not_plain_data_are_kept_and_compared():
    graph = pg.PreferenceGraph([("a", "b", {"when": date(2001, 2, 3)})])
    other = pg.PreferenceGraph([("a", "b", {"when": date(2001, 2, 4)})])
    p = pg.as_preferences([graph, graph])
    assert list(p) == [graph, graph]
    assert p == pg.as_preferences([graph, graph])
    assert p != pg.as_preferences([graph, other])
    assert p == p.encoded("layered") == Preferences.concatenate([p[:1], p[1:]])
    with pytest.raises(InvalidGraph, match="isoformat"):
        p.graph_keys()


def test_labels_that_cannot_be_keyed_work_in_memory():
    graph = pg.PreferenceGraph([((1, 2), 2.5), (2.5, frozenset("a"))])
    p = pg.as_preferences([graph])
    assert p[0] == graph
    with pytest.raises(InvalidLabel, match="str or int"):
        p.graph_keys()


def test_a_graph_that_breaks_the_rule_is_named_by_its_instance():
    with pytest.raises(InvalidGraph, match="instance 1: labels"):
        Preferences.from_graphs([nx.DiGraph([(1, 2)]), nx.DiGraph([(1, 2), (2, 1)])])
    with pytest.raises(InvalidGraph, match="instance 'd7': Graph has no directions"):
        Preferences.from_graphs([nx.Graph([(1, 2)], instance="d7")])
    with pytest.raises(InvalidTarget, match="instance 0: label 'c' is not among the labels 'a', 'b'; add it to labels"):
        Preferences.from_graphs([CYCLE], "ab")
    with pytest.raises(InvalidTarget, match=r"instance 'd7': label 99 .* 0, 1, 2, 3, 4, 5, 6, 7, 8, 9 \.\.\.; add"):
        Preferences.from_graphs([pg.PreferenceGraph([(99, 1)], instance="d7")], range(20))
    with pytest.raises(InvalidTarget, match="label 'a' is listed twice"):
        Preferences.from_graphs([], "aba")
    with pytest.raises(InvalidLabel, match="None is not a label"):
        Preferences.from_graphs([], [None])


# -- matrices --------------------------------------------------------------------------------------------------------


@given(rows=st.lists(st.lists(st.sampled_from([-2, -1, 0, 1, 2, 300, 70_000]), min_size=4, max_size=4), max_size=5))
def test_a_layer_matrix_means_the_graph_of_its_order(rows):
    p = Preferences.from_layer_matrix(np.array(rows, np.int64).reshape(len(rows), 4), "abcd")
    assert p.is_layered
    for i, row in enumerate(rows):
        graph = pg.PreferenceGraph(nodes=[v for v, k in zip("abcd", row, strict=True) if k != -1])
        graph.add_edges_from(
            (u, v) for u, k in zip("abcd", row, strict=True) for v, r in zip("abcd", row, strict=True) if 0 <= k < r
        )
        assert p[i] == graph
        assert p.layer[p.graph_index[i]].tolist() == naive_normal_row(row)
    assert p == Preferences.from_graphs(list(p), "abcd")


INDICATORS = {
    "dense": np.asarray,
    "bool": lambda a: a.astype(bool),
    "float": lambda a: a.astype(float),
    "csr_array": sparse.csr_array,
    "csr_matrix": sparse.csr_matrix,
    "csc_array": sparse.csc_array,
    "csc_matrix": sparse.csc_matrix,
    "coo_array": sparse.coo_array,
    "coo_matrix": sparse.coo_matrix,
    "lil_array": sparse.lil_array,
    "bool csr": lambda a: sparse.csr_array(a.astype(bool)),
    "with zeros": lambda a: sparse.csr_array(
        (a.ravel(), np.tile(np.arange(a.shape[1]), len(a)), np.arange(len(a) + 1) * a.shape[1]), a.shape
    ),
    "unsorted": lambda a: sparse.csr_array(
        (a[:, ::-1].ravel(), np.tile(np.arange(a.shape[1])[::-1], len(a)), np.arange(len(a) + 1) * a.shape[1]), a.shape
    ),
    "wide index": lambda a: sparse.csr_array(
        (
            a.ravel(),
            np.tile(np.arange(a.shape[1]), len(a)).astype(np.int64),
            np.arange(len(a) + 1, dtype=np.int64) * a.shape[1],
        ),
        a.shape,
    ),
}


@given(rows=st.lists(st.lists(st.integers(0, 1), min_size=3, max_size=3), max_size=5))
def test_an_indicator_matrix_means_relevant_before_the_rest(rows):
    matrix = np.array(rows, np.int8).reshape(len(rows), 3)
    expected = Preferences.from_layer_matrix(1 - matrix, "abc")
    for made in INDICATORS.values():
        p = Preferences.from_indicator(made(matrix), "abc")
        assert p == expected
        assert (p.is_layered, p.graph_index.dtype) == (True, np.int32)
        assert p.n_graphs == len({frozenset(g.edges) for g in p})
    for i, row in enumerate(rows):
        relevant = {v for v, is_relevant in zip("abc", row, strict=True) if is_relevant}
        assert set(p[i].edges) == naive_set_graph(relevant, "abc")
        assert set(p[i]) == set("abc")


def test_nothing_relevant_and_everything_relevant_are_one_graph_without_edges():
    p = Preferences.from_indicator([[0, 0, 0], [1, 0, 0], [1, 1, 1], [0, 0, 0]])
    assert p.graph_index.tolist() == [0, 1, 0, 0]
    assert p.layer.tolist() == [[0, 0, 0], [0, 1, 1]]
    assert p.edge_counts().tolist() == [0, 2, 0, 0]


@pytest.mark.parametrize("shape", [(0, 0), (0, 3), (3, 0), (1, 1)])
def test_matrices_without_instances_or_labels(shape):
    expected = pg.as_preferences([pg.PreferenceGraph(nodes=range(shape[1]))] * shape[0], range(shape[1]), form="graphs")
    assert Preferences.from_indicator(np.zeros(shape)) == expected
    assert Preferences.from_indicator(sparse.csr_array(shape)) == expected
    assert Preferences.from_layer_matrix(np.zeros(shape, int)) == expected


@pytest.mark.parametrize(
    ("matrix", "message"),
    [
        ([[1, 0], [0, 2]], r"instance 1: the indicator matrix has the value 2 in column 1; it holds 0 and 1 only"),
        ([[np.nan, 0]], "instance 0: the indicator matrix has the value nan in column 0"),
        (
            sparse.coo_array(([1, 1], ([1, 1], [0, 0])), shape=(2, 2)),
            "instance 1: .* the value 2 in column 0; .* each entry once",
        ),
        (sparse.csr_array(([1, 1], [0, 0], [0, 0, 2]), shape=(2, 2)), "instance 1: .* lists column 0 twice; list each"),
        (sparse.csr_array(([True] * 300, [0] * 300, [0, 300]), shape=(1, 2)), "instance 0: .* lists column 0 twice"),
        ([1, 0], r"the shape \(2,\); it is instances x labels"),
        (sparse.coo_array([1, 0]), r"the shape \(2,\); it is instances x labels"),
        (np.zeros((2, 3)), "3 columns for 2 labels; give one label for each"),
    ],
)
def test_what_is_no_indicator_matrix_is_refused(matrix, message):
    with pytest.raises(InvalidTarget, match=message):
        Preferences.from_indicator(matrix, "ab")


@pytest.mark.parametrize(
    ("matrix", "message"),
    [
        ([[0.0, 1.0]], r"the shape \(1, 2\) and type float64; it is an instances x labels matrix of integers"),
        ([0, 1], r"the shape \(2,\)"),
        ([[True, False]], "type bool"),
        ([[0, 1, 2]], "3 columns for 2 labels; give one label for each"),
        (
            [[0, 1], [0, -3]],
            "instance 1: layer has the value -3; layers are 0 or more, -1 means no vertex, -2 no edges",
        ),
    ],
)
def test_what_is_no_layer_matrix_is_refused(matrix, message):
    with pytest.raises(InvalidTarget, match=message):
        Preferences.from_layer_matrix(matrix, "ab")


@pytest.mark.parametrize(("n", "dtype"), [(100, np.int8), (200, np.int16), (40_000, np.int32)])
def test_long_rankings_are_kept_in_small_integers_and_never_expanded(n, dtype, tmp_path):
    order = np.random.default_rng(0).permutation(n)
    p = Preferences.from_layer_matrix(order[np.newaxis] * 3)
    assert p.layer.dtype == dtype
    assert np.array_equal(p.layer[0], order)
    assert p.n_edges == n * (n - 1) // 2
    assert p == pg.as_preferences([np.argsort(order)], form="rankings")
    backwards = p.with_labels(range(n)[::-1])
    assert backwards != p
    assert backwards.graph_keys() == p.graph_keys()
    assert Preferences.concatenate([p, backwards]).n_graphs == 1
    assert Preferences.concatenate([p, pg.as_preferences([pg.PreferenceGraph([(0, 1), (1, 2), (2, 0)])])]).n_graphs == 2
    assert p.local() == p.encoded("layered") == p
    p.save(tmp_path / "p.npz")
    assert Preferences.load(tmp_path / "p.npz") == p


# -- encodings -------------------------------------------------------------------------------------------------------


@given(p=preferences())
def test_all_encodings_are_equal_and_say_the_same(p):
    encodings = [p.encoded(encoding) for encoding in ENCODINGS]
    for q in encodings:
        assert q == p
        assert p == q
        assert list(q) == list(p)
        assert [q.graph_keys()[g] for g in q.graph_index] == [p.graph_keys()[g] for g in p.graph_index]
        assert np.array_equal(q.edge_counts(), p.edge_counts())
        assert q.n_edges == sum(g.number_of_edges() for g in p)
        assert repr(q).startswith(f"<Preferences: {len(p)} instances, {len(p.labels)} labels, {q.n_graphs} distinct")
        assert q.nbytes > 0 or not len(p)
    assert len(encodings[2].layer) == 0
    assert encodings[1].layer.shape[0] >= encodings[0].layer.shape[0]


def test_a_word_that_is_no_encoding_is_refused():
    with pytest.raises(InvalidOption, match="encoding='rows' is not one of 'auto', 'layered', 'edges'"):
        Preferences.from_graphs([CYCLE]).encoded("rows")


@given(p=preferences(), other=preferences())
def test_preferences_are_equal_exactly_when_labels_weights_and_graphs_are(p, other):
    same = p.labels == other.labels and list(p) == list(other) and np.array_equal(p.weight, other.weight)
    assert (p == other) == same


def test_equality_sees_a_difference_in_any_graph(monkeypatch):
    monkeypatch.setattr(_sharing, "BLOCK", 4)
    rows = np.array([[0, 1, 1], [1, 0, 1], [1, 1, 0], [0, 0, 1]])
    p = Preferences.from_layer_matrix(rows, "abc")
    for i in range(4):
        other = rows.copy()
        other[i] = [0, 1, 2]
        assert p != Preferences.from_layer_matrix(other, "abc")
        assert p != Preferences.from_layer_matrix(other, "abc").encoded("edges")
        assert p.encoded("edges") != Preferences.from_layer_matrix(other, "abc")
    assert p != "[a|b,c]"
    assert p.__hash__ is None


def test_small_graphs_over_a_long_index_are_kept_as_edges():
    graphs = [pg.parse(f"[{5 * i}|{5 * i + 1},{5 * i + 2}]") for i in range(400)]
    p = pg.as_preferences(graphs)
    assert len(p.layer) == 0
    assert p.nbytes < 400 * 200
    assert pg.as_preferences([[5 * i, [5 * i + 1, 5 * i + 2]] for i in range(400)], form="rankings").nbytes == p.nbytes
    pieces = Preferences.concatenate([pg.as_preferences([g]) for g in graphs])
    assert pieces == p.with_labels(pieces.labels)
    assert pieces.nbytes == p.nbytes
    assert Preferences.from_graphs(graphs[:1]).with_labels(range(2000)).nbytes < 200
    assert list(p.encoded("layered").with_labels(range(3000))) == graphs


def test_graphs_without_edges_over_all_labels_leave_the_data_layered():
    p = pg.as_preferences([pg.multilabel([], labels=range(200)), pg.multilabel([3], labels=range(200))])
    assert p.is_layered


@given(p=preferences(encoding="layered"), data=st.data())
def test_listing_some_layered_graphs_changes_nothing(p, data):
    chosen = np.array([data.draw(st.booleans()) for _ in p.layer], bool)
    listed = p._listed(chosen)
    assert len(listed.layer) == np.count_nonzero(~chosen)
    assert listed == p


# -- cutting, joining, renaming --------------------------------------------------------------------------------------


@given(p=preferences(), data=st.data())
def test_taking_rows_is_taking_graphs_and_weights(p, data):
    m = len(p)
    numbers = data.draw(st.lists(st.integers(-m, m - 1), max_size=8)) if m else []
    mask = data.draw(st.lists(st.booleans(), min_size=m, max_size=m))
    begin, end, step = data.draw(st.tuples(st.integers(-9, 9), st.integers(-9, 9), st.sampled_from([-2, -1, 1, 2])))
    dtype = data.draw(st.sampled_from([np.int64, np.int8, object]))
    choices = {
        "numbers": (numbers if dtype is object else np.array(numbers, dtype), numbers),
        "mask": (np.array(mask, bool), [i for i in range(m) if mask[i]]),
        "slice": (slice(begin, end, step), list(range(m))[begin:end:step]),
    }
    rows, expected = choices[data.draw(st.sampled_from(sorted(choices)))]
    q = p.take(rows)
    assert list(q) == [p[i] for i in expected]
    assert q.weight.tolist() == [p.weight[i] for i in expected]
    assert q == p[rows]
    assert q.labels == p.labels
    assert q.n_graphs == len(set(q.graph_index.tolist()))
    assert q.graph_index.dtype == np.int32
    assert all(any(value is not None for value in column) for column in q.table.attributes.values()) or len(q) == 0


def test_rows_are_numbers_a_mask_or_a_slice():
    p = pg.as_preferences([0, 1, 2])
    assert p[-1] == p[2] == p[np.int8(2)] == p[np.uint64(2)]
    assert list(p[np.array([2, 0], np.uint64)]) == [p[2], p[0]]
    assert list(p.take(1)) == [p[1]]
    assert len(p[[]]) == len(p[()]) == len(p[np.zeros(3, bool)]) == len(p[3:]) == 0
    assert p[[]].n_graphs == 0
    for wrong, message in [
        (3, "instance 3 of 3; numbers go from 0 to 2"),
        (-4, "instance -4 of 3"),
        ([0, 3], "instances 0 to 3 of 3; numbers go from 0 to 2"),
        ([True], r"a mask of shape \(1,\) for 3 instances"),
        (True, r"a mask of shape \(\) for 3 instances"),
        ([0.0], "type float64; give a slice, a list of row numbers or a mask"),
        ([[0]], r"shape \(1, 1\)"),
        (["a"], "give a slice"),
    ]:
        with pytest.raises(IndexError, match=message):
            p[wrong]
    for wrong in (-1, 3):
        with pytest.raises(IndexError, match=f"graph {wrong} of 3; numbers go from 0 to 2"):
            p.graph(wrong)


@given(p=preferences(), data=st.data())
def test_other_labels_in_any_order_change_no_graph(p, data):
    used = {v for g in p for v in g}
    more = data.draw(st.lists(NAMES, unique=True, max_size=3))
    index = shuffled(data, used | set(more))
    q = p.with_labels(index)
    assert q.labels == tuple(index)
    assert list(q) == list(p)
    assert q == Preferences.from_graphs(list(p), index, p.weight)
    again = [*used, *(v for v in p.labels if v not in used)]
    assert q.with_labels(again) == p.with_labels(again)
    for name in BUILT_IN:
        assert parts_of(q.parts(name)) == parts_of(p.parts(name), q.labels, name)


def parts_of(q, labels=None, name=None):
    """(instance, edges) of each part; in the order that another label index asks for."""
    parts = [(int(q.part_instance[k]), q.edges(k)) for k in range(len(q))]
    if labels is None:
        return parts
    place = {v: k for k, v in enumerate(labels)}
    key = (lambda e: (place[e[1]], place[e[0]])) if name == "dominated" else (lambda e: (place[e[0]], place[e[1]]))
    return sorted(((i, sorted(edges, key=key)) for i, edges in parts), key=lambda part: (part[0], key(part[1][0])))


@given(p=preferences())
def test_renaming_labels_renames_the_graphs_and_their_parts(p):
    renamed = p.rename(lambda v: f"<{v!r}>")
    assert list(renamed) == [nx.relabel_nodes(g, lambda v: f"<{v!r}>") for g in p]
    assert renamed == p.rename({v: f"<{v!r}>" for v in p.labels})
    assert renamed.n_graphs == p.n_graphs
    for name in BUILT_IN:
        before, after = p.parts(name), renamed.parts(name)
        assert [[(f"<{u!r}>", f"<{v!r}>") for u, v in before.edges(k)] for k in range(len(before))] == [
            after.edges(k) for k in range(len(after))
        ]
    assert p.rename({}) == p


def test_labels_in_use_cannot_be_left_out_or_merged():
    p = pg.as_preferences(["[a|b]", "a>c:2"], form="notation", labels="abcd")
    assert p.with_labels("cba").labels == ("c", "b", "a")
    for encoding in ENCODINGS:
        with pytest.raises(InvalidTarget, match="instance 1: label 'c' is a vertex of its graph and not among the new"):
            p.encoded(encoding).with_labels("ab")
    with pytest.raises(InvalidTarget, match="label 'b' is listed twice"):
        p.rename({"a": "b"})
    with pytest.raises(InvalidTarget, match="label 'b' is listed twice"):
        p.with_labels("abbc")


@given(graphs=st.lists(preference_lists(max_instances=3), min_size=1, max_size=3), data=st.data())
def test_concatenating_is_compiling_the_concatenated_lists(graphs, data):
    pieces = [pg.as_preferences(some, form="graphs").encoded(data.draw(st.sampled_from(ENCODINGS))) for some in graphs]
    everything = [g for some in graphs for g in some]
    joined = Preferences.concatenate(pieces)
    assert joined.labels == tuple(dict.fromkeys(v for piece in pieces for v in piece.labels))
    assert list(joined) == everything
    assert joined == Preferences.from_graphs(everything, joined.labels)
    assert joined.n_graphs == len({g.key for g in everything})
    assert joined.graph_index.dtype == np.int32


@given(p=preferences(), data=st.data())
def test_pieces_put_together_again_are_the_whole(p, data):
    cuts = sorted(data.draw(st.lists(st.integers(0, len(p)), max_size=3)))
    pieces = [p[a:b] for a, b in zip([0, *cuts], [*cuts, len(p)], strict=True)]
    assert Preferences.concatenate(iter(pieces)) == p


def test_concatenating_nothing_is_an_error_and_types_of_layers_may_differ():
    with pytest.raises(InvalidTarget, match="concatenate\\(\\) got no preferences; give at least one"):
        Preferences.concatenate([])
    small = pg.as_preferences([0, 1], labels=range(200))
    wide = Preferences.from_layer_matrix(np.arange(200)[np.newaxis])
    assert (small.layer.dtype, wide.layer.dtype) == (np.int8, np.int16)
    assert list(Preferences.concatenate([small, wide])) == [*small, *wide]


@pytest.mark.parametrize("weight", [[1.0, np.nan], [1.0, np.inf], [1.0, -1.0]])
def test_a_weight_of_an_instance_is_finite_and_not_negative(weight):
    with pytest.raises(InvalidTarget, match=r"instance 1: the weight is (nan|inf|-1.0); .* finite and 0 or more"):
        pg.as_preferences([0, 1], weight=weight)


def test_weights_are_one_number_for_each_instance():
    p = pg.as_preferences([0, 1], weight=[0, 2.5])
    assert p.weight.tolist() == [0.0, 2.5]
    assert p.with_weight(None).weight.tolist() == [1.0, 1.0]
    assert p != p.with_weight(None)
    with pytest.raises(InvalidTarget, match=r"the shape \(1,\) for 2 instances; give one number for each"):
        p.with_weight([1.0])
    with pytest.raises(InvalidTarget, match="weight is not numeric; give one number for each of the 2 instances"):
        p.with_weight(["a", "b"])


# -- a label set per instance ----------------------------------------------------------------------------------------


@given(p=preferences())
def test_vertex_lists_are_the_vertices_of_each_instance_in_the_order_of_the_index(p):
    offsets, vertices = p.vertex_lists()
    place = {v: k for k, v in enumerate(p.labels)}
    assert [vertices[a:b].tolist() for a, b in itertools.pairwise(offsets)] == [sorted(place[v] for v in g) for g in p]


@given(p=preferences())
def test_local_graphs_are_the_graphs_over_positions(p):
    offsets, vertices = p.vertex_lists()
    local = p.local()
    assert local.labels == tuple(range(max((len(g) for g in p), default=0)))
    assert local.weight.tolist() == p.weight.tolist()
    for i, graph in enumerate(p):
        own = [p.labels[v] for v in vertices[offsets[i] : offsets[i + 1]]]
        assert nx.relabel_nodes(local[i], dict(enumerate(own))) == graph


# -- saving ----------------------------------------------------------------------------------------------------------


@given(p=preferences(labels=st.integers() | st.text(max_size=3)))
def test_what_is_saved_is_loaded(p, tmp_path_factory):
    path = tmp_path_factory.getbasetemp() / "saved.npz"
    p.save(path)
    loaded = Preferences.load(path)
    assert loaded == p
    assert list(map(type, loaded.labels)) == list(map(type, p.labels))
    assert loaded.graph_keys() == p.graph_keys()
    assert not any(array.flags.writeable for array in all_arrays(loaded))
    with np.load(path, allow_pickle=False) as file:
        assert all(file[name].dtype != object for name in file.files)


@pytest.fixture
def saved(tmp_path):
    graph = pg.PreferenceGraph([("a", "b", {"judge": "x", "weight": 2.0})])
    path = tmp_path / "p.npz"
    pg.as_preferences([CYCLE, graph, pg.parse("[a|b,c]")]).save(path)
    return path


def test_a_save_that_fails_leaves_the_old_file_and_no_other(saved, monkeypatch):
    before = Preferences.load(saved)
    with pytest.raises(InvalidLabel, match="str or int"):
        pg.as_preferences([pg.PreferenceGraph([(0.5, 1.5)])]).save(saved)
    with pytest.raises(InvalidGraph, match="edge attribute 'when' is datetime"):
        pg.as_preferences([pg.PreferenceGraph([(1, 2, {"when": date(2001, 2, 3)})])]).save(saved)

    def full(file, **arrays):
        file.write(b"half")
        raise OSError("no space left")

    monkeypatch.setattr(np, "savez", full)
    with pytest.raises(OSError, match="no space left"):
        before.save(str(saved))
    assert Preferences.load(saved) == before
    assert [path.name for path in saved.parent.iterdir()] == ["p.npz"]


def rewritten(path, **changes):
    """The file with some arrays replaced, or left out where the value is None."""
    with np.load(path) as file:
        arrays = {name: file[name] for name in file.files}
    arrays = {name: a for name, a in {**arrays, **changes}.items() if a is not None}
    np.savez(path, **arrays)


def packed(value):
    return np.frombuffer(json.dumps(value).encode(), np.uint8)


@pytest.mark.parametrize(
    "changes",
    [
        {"header": None},
        {"header": np.array([1])},
        {"header": packed({"what": "something else", "version": 1})},
        {"header": packed({"what": "prefgraph preferences"})},
        {"header": packed({"what": "prefgraph preferences", "version": "1"})},
        {"header": packed([])},
        {"labels": None},
        {"labels": packed(["a", "b"])},
        {"labels": packed(["a", "b", "b"])},
        {"labels": packed(["a", "b", None])},
        {"labels": packed(3)},
        {"attributes": None},
        {"attributes": packed({"judge": [[99], ["x"]]})},
        {"graph_index": np.array([0, 1, 3])},
        {"graph_index": np.array([0, 1, -1])},
        {"graph_index": np.array([0.0, 1.0, 2.0])},
        {"weight": np.ones(2)},
        {"weight": -np.ones(3)},
        {"layer": np.zeros((1, 2), np.int8)},
        {"layer": np.full((1, 3), 3, np.int8)},
        {"layer": np.full((1, 3), -3, np.int8)},
        {"layer": np.zeros(3, np.int8)},
        {"table_offsets": None},
        {"table_offsets": np.array([0, 4, 3, 4])},
        {"table_offsets": np.array([0, 5])},
        {"table_offsets": np.array([0, 4])},
        {"table_offsets": np.empty(0, int)},
        {"table_vertex": np.array([0, 1, 2, 0, 3], np.int32)},
        {"table_term": np.array([0], np.int32)},
        {"table_weight": np.array([1.0, 1.0, 0.0, 1.0])},
        {"table_init": None},
        {"table_more": np.array([0])},
    ],
    ids=lambda changes: next(iter(changes)),
)
def test_a_file_whose_arrays_do_not_fit_is_refused_by_name(saved, changes):
    Preferences.load(saved)
    rewritten(saved, **changes)
    with pytest.raises(InvalidFile, match=r"p\.npz: not a file of preferences, or a broken one .*; give one that save"):
        Preferences.load(saved)


def test_foreign_truncated_and_newer_files_are_refused(saved, tmp_path):
    whole = saved.read_bytes()
    foreign = {
        "empty": b"",
        "text": b"a,b\n1,2\n",
        "half": whole[: len(whole) // 2],
        "short": whole[:-1],
        "garbled": whole.replace(b"NUMPY", b"NVMPY"),
        "zeros": bytes(100),
    }
    for name, content in foreign.items():
        (tmp_path / name).write_bytes(content)
    np.save(tmp_path / "array.npy", np.arange(3))
    np.savez(tmp_path / "other.npz", a=np.arange(3))
    np.save(tmp_path / "pickled.npy", np.array([{}], object), allow_pickle=True)
    with zipfile.ZipFile(tmp_path / "text.zip", "w") as archive:
        archive.writestr("readme.txt", "hello")
    for path in [
        *(tmp_path / name for name in foreign),
        *tmp_path.glob("*.npy"),
        tmp_path / "other.npz",
        tmp_path / "text.zip",
    ]:
        with pytest.raises(InvalidFile, match=f"{path.name}: not a file of preferences, or a broken one"):
            Preferences.load(path)
    rewritten(saved, header=packed({"what": "prefgraph preferences", "version": 2}))
    with pytest.raises(InvalidFile, match=r"version 2 of the format, this release reads up to 1; .* newer prefgraph"):
        Preferences.load(saved)
    with pytest.raises(FileNotFoundError):
        Preferences.load(tmp_path / "missing.npz")


@given(p=preferences())
def test_cyclic_instances_and_components_are_those_of_the_graphs(p):
    assert p.is_cyclic().tolist() == [graph.is_cyclic() for graph in p]
    component = p.table.components()
    for g in range(len(p.table)):
        span = slice(p.table.vertex_offsets[g], p.table.vertex_offsets[g + 1])
        groups = {}
        for vertex, number in zip(p.table.vertex[span], component[span], strict=True):
            groups.setdefault(int(number), set()).add(p.labels[vertex])
        groups.pop(-1, None)
        graph = p.graph(g + len(p.layer))
        assert {frozenset(g) for g in groups.values()} == {frozenset(c) for c in graph.strong_components()}


# -- small helpers ---------------------------------------------------------------------------------------------------


@given(counts=st.lists(st.integers(0, 3), max_size=5), data=st.data())
def test_runs_and_gathered_runs_are_what_loops_say(counts, data):
    offsets = starts(counts)
    assert offsets.tolist() == [sum(counts[:k]) for k in range(len(counts) + 1)]
    assert runs(offsets).tolist() == [k for k, count in enumerate(counts) for _ in range(count)]
    chosen = data.draw(st.lists(st.integers(0, len(counts) - 1), max_size=5)) if counts else []
    assert gather(offsets, np.array(chosen, np.int64)).tolist() == [
        e for k in chosen for e in range(offsets[k], offsets[k + 1])
    ]


def test_row_numbers_of_nothing():
    assert row_numbers([], 0).tolist() == row_numbers(slice(None), 0).tolist() == []


@given(graph=preference_graphs(max_labels=5) | layered_graphs().map(lambda pair: pair[0]))
def test_parts_of_one_graph_do_not_depend_on_the_others(graph):
    alone = Preferences.from_graphs([graph])
    beside = Preferences.from_graphs([pg.PreferenceGraph([("x", "y", {"weight": 2})]), graph, CYCLE])
    for name in BUILT_IN:
        q = beside.parts(name)
        assert [edges for i, edges in parts_of(q) if i == 1] == [edges for _, edges in parts_of(alone.parts(name))]


def test_the_benchmark_checks_all_roads_at_its_smallest_size(capsys):
    script = Path(__file__).parents[1] / "benchmarks" / "bench_graphs.py"
    runpy.run_path(str(script))["main"](quick=True)
    printed = capsys.readouterr().out
    assert all(word in printed for word in ("compile", "rustworkx", "MB", "parts('domination')"))


@pytest.mark.parametrize("name", ["weight", "labels", "graph_index", "layer", "table", "more"])
def test_no_attribute_can_be_set(name):
    p = pg.as_preferences(["a", "b"])
    with pytest.raises(
        AttributeError, match=rf"{name} of Preferences cannot be set: .* with_weight\(\), with_labels\(\)"
    ):
        setattr(p, name, 1)
    assert p == pg.as_preferences(["a", "b"])


def test_concatenate_and_rename_name_what_they_cannot_take():
    p = pg.as_preferences(["a", "b"])
    for pieces, shown in (([p, 1], "1"), (p, r"<PreferenceGraph instance 0: \[a\|b\]>")):
        with pytest.raises(InvalidTarget, match=rf"concatenate\(\) got {shown}; it takes a list of Preferences"):
            Preferences.concatenate(pieces)
    with pytest.raises(InvalidTarget, match="1 is not a collection of Preferences; put a single one in a list"):
        Preferences.concatenate(1)
    with pytest.raises(InvalidTarget, match=r"names=\['x', 'y'\] is no mapping; give {old: new} or a function"):
        p.rename(["x", "y"])
    with pytest.raises(InvalidTarget, match="5 is not a collection of labels"):
        p.with_labels(5)
    with pytest.raises(InvalidTarget, match="instance 1: 5 is not a graph"):
        Preferences.from_graphs([p[0], 5])


@pytest.mark.parametrize("content", [b"", b"garbage", pickle.dumps([1]), b"\x93NUMPY"])
def test_a_file_of_something_else_is_refused_without_advice_to_unpickle_it(tmp_path, content):
    path = tmp_path / "p.npz"
    path.write_bytes(content)
    with pytest.raises(InvalidFile, match=r"p.npz: .*\(it is no archive of arrays\); give one") as caught:
        Preferences.load(path)
    assert "pickle" not in str(caught.value)


def test_an_archive_of_objects_is_refused_without_advice_to_unpickle_it(tmp_path):
    np.savez(tmp_path / "p.npz", header=np.array([{}], object))
    with pytest.raises(InvalidFile, match="the array 'header' is broken, or holds objects") as caught:
        Preferences.load(tmp_path / "p.npz")
    assert "pickle" not in str(caught.value)


def test_a_save_names_the_path_that_was_asked_for(tmp_path):
    with pytest.raises(FileNotFoundError) as caught:
        pg.as_preferences(["a"]).save(tmp_path / "missing" / "p.npz")
    assert caught.value.filename == str(tmp_path / "missing" / "p.npz")
    assert ".tmp" not in str(caught.value)
    with pytest.raises(IsADirectoryError) as caught:
        pg.as_preferences(["a"]).save(tmp_path)
    assert caught.value.filename == str(tmp_path)
