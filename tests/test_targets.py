import itertools

import networkx as nx
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

import prefgraph as pg
from prefgraph import (
    Contradiction,
    InvalidGraph,
    InvalidLabel,
    InvalidNotation,
    InvalidOption,
    InvalidScores,
    InvalidTarget,
    Preferences,
)
from prefgraph.targets import FORMS
from tests.oracles import naive_set_graph
from tests.strategies import NAMES, label_sets, preference_lists, preferences


def texts(p):
    return [str(g) for g in p]


# -- what cannot be mistaken ----------------------------------------------------------------------------------------

CLASS_VECTORS = {
    "list": list,
    "tuple": tuple,
    "array": np.array,
    "objects": lambda y: np.array(y, object),
    "series": pd.Series,
    "categories": lambda y: pd.Series(pd.Categorical(y)),
    "index": pd.Index,
    "list of numpy scalars": lambda y: list(np.array(y)),
}


@pytest.mark.parametrize("made", CLASS_VECTORS.values(), ids=CLASS_VECTORS)
@pytest.mark.parametrize("form", [None, "classes"])
@pytest.mark.parametrize(
    "y", [["oil", "gas", "oil"], [3, 1, 3], [0, 1, 0], [True, False, True], [2.0, 1.0, 2.0]], ids=str
)
def test_a_vector_of_classes_puts_each_class_first(made, form, y):
    p = pg.as_preferences(made(y), form=form)
    assert p.labels == tuple(sorted(set(y)))
    assert all(type(v) is type(y[0]) for v in p.labels)
    assert [g.layers() for g in p] == [[[v], [u for u in p.labels if u != v]] for v in y]


@given(y=st.lists(NAMES, min_size=1, max_size=6), data=st.data())
def test_mixed_classes_keep_their_types_whatever_numpy_would_make_of_them(y, data):
    index = data.draw(st.permutations(list(dict.fromkeys([*y, "more"]))))
    p = pg.as_preferences(y, labels=iter(index), form="classes")
    assert list(p) == [pg.multiclass(v, index) for v in y]
    assert p == pg.as_preferences(np.array(y, object), labels=index, form="classes")


def test_classes_that_numpy_cannot_tell_apart():
    assert pg.as_preferences([1, "1"]).labels == (1, "1")
    assert pg.as_preferences([-1, 2**63, 2**63 + 1]).labels == (-1, 2**63, 2**63 + 1)
    assert pg.as_preferences([("a", 1), ("b", 2)], form="classes").labels == (("a", 1), ("b", 2))
    assert pg.as_preferences([0.5, 1.5], form="classes").labels == (0.5, 1.5)
    assert pg.as_preferences([2.0, 1.0], labels=[1, 2]).labels == (1, 2)
    assert pg.as_preferences(np.array([b"a", b"b"])).labels == (b"a", b"b")
    assert texts(pg.as_preferences(["[a", "b"], form="classes")) == ['["[a"|b]', '[b|"[a"]']


@pytest.mark.parametrize("column", [[["a"], ["b"]], np.array([["a"], ["b"]]), pd.DataFrame({"y": ["a", "b"]})])
def test_a_column_of_classes_is_read_as_scikit_learn_does_when_told(column):
    assert pg.as_preferences(column, form="classes") == pg.as_preferences(["a", "b"])


MATRICES = {
    "array": np.array,
    "bool": lambda y: np.array(y, bool),
    "float": lambda y: np.array(y, float),
    "unsigned": lambda y: np.array(y, np.uint8),
    "list": list,
    "tuples": lambda y: [tuple(row) for row in y],
    "rows": lambda y: [np.array(row) for row in y],
    "frame": pd.DataFrame,
    "frame of flags": lambda y: pd.DataFrame(y, columns=["a", "b", "preferences"]).astype(bool),
    **{
        f"{kind} {name}": getattr(sparse, f"{kind}_{name}")
        for kind in ("csr", "csc", "coo", "lil")
        for name in ("array", "matrix")
    },
}


@pytest.mark.parametrize("made", MATRICES.values(), ids=MATRICES)
@pytest.mark.parametrize("form", [None, "indicator"])
def test_a_matrix_of_zeros_and_ones_lists_the_relevant_labels(made, form):
    rows = [[0, 1, 0], [1, 1, 0], [0, 0, 0], [0, 1, 0]]
    p = pg.as_preferences(made(rows), labels="abc", form=form)
    assert texts(p) == ["[b|a,c]", "[a,b|c]", "[a,b,c]", "[b|a,c]"]
    assert p.n_graphs == 3
    named = getattr(made(rows), "columns", range(3))
    assert pg.as_preferences(made(rows), form=form).labels == tuple(named)


@given(sets=label_sets("abcd"), data=st.data())
def test_label_sets_are_read_against_all_labels(sets, data):
    index = data.draw(st.permutations("abcde"))
    p = pg.as_preferences(sets, labels=index, form="sets")
    assert [set(g.edges) for g in p] == [naive_set_graph(s, index) for s in sets]
    lists = [list(s) + list(s)[:1] for s in sets]  # a label listed twice is listed
    assert p == pg.as_preferences(lists, labels=index, form="sets")
    assert p == pg.as_preferences((set(s) for s in sets), labels=index, form="sets")
    assert p == pg.as_preferences([[v in s for v in index] for s in sets] or np.zeros((0, 5)), index, form="indicator")
    if sets:
        assert p == pg.as_preferences(sets, labels=index) == pg.as_preferences(pd.Series(sets), labels=index)
        assert p == pg.as_preferences([dict.fromkeys(s).keys() for s in sets], labels=index)


def test_labels_of_sets_are_sorted_and_plain():
    p = pg.as_preferences([{np.int64(10), 9}, np.array([9, 11])], form="sets")
    assert p.labels == (9, 10, 11)
    assert {type(v) for v in p.labels} == {int}


@given(graphs=preference_lists())
def test_graphs_are_recognised_in_lists_tuples_and_arrays(graphs):
    expected = Preferences.from_graphs(graphs)
    assert pg.as_preferences(tuple(graphs), form="graphs") == expected
    if graphs:
        array = np.empty(len(graphs), object)
        array[:] = graphs
        assert pg.as_preferences(graphs) == pg.as_preferences(array) == expected
        assert pg.as_preferences([nx.DiGraph(g) for g in graphs]) == expected


@given(p=preferences(), data=st.data())
def test_what_is_compiled_passes_through(p, data):
    assert pg.as_preferences(p) is p
    index = data.draw(st.permutations([*p.labels, "more"])) if "more" not in p.labels else p.labels
    weight = np.arange(len(p))
    again = pg.as_preferences(pg.PreferenceDataset(preferences=p), labels=index, weight=weight)
    assert again == p.with_labels(index).with_weight(weight)
    for options in ({"form": "graphs"}, {"hierarchy": pg.LabelHierarchy.from_parents({"a": None})}):
        with pytest.raises(InvalidTarget, match="y is compiled already"):
            pg.as_preferences(p, **options)


# -- what needs a word ----------------------------------------------------------------------------------------------


@given(graphs=preference_lists(attributes=False))
def test_notation_is_read_as_it_is_written(graphs):
    assert list(pg.as_preferences(texts(graphs), form="notation")) == graphs
    assert list(pg.as_preferences(np.array(texts(graphs), object), form="notation")) == graphs


@st.composite
def rankings(draw):
    """Rankings with ties and gaps over some labels."""
    names = draw(st.permutations("abcde"))
    places = [draw(st.integers(0, 3)) for _ in range(draw(st.integers(0, 5)))]
    groups = [[v for v, k in zip(names, places, strict=False) if k == place] for place in range(4)]
    kind = draw(st.sampled_from([list, tuple, frozenset]))
    return [group[0] if len(group) == 1 else kind(group) for group in groups]


@given(y=st.lists(rankings(), max_size=5), data=st.data())
def test_rankings_have_ties_gaps_and_labels_left_out(y, data):
    index = data.draw(st.permutations("abcdef"))
    expected = [pg.from_ranking(ranking) for ranking in y]
    p = pg.as_preferences(y, labels=index, form="rankings")
    assert list(p) == expected
    assert p == Preferences.from_graphs(expected, index)
    assert list(pg.as_preferences(y, form="rankings")) == expected
    assert p.n_graphs == len({g.key for g in expected})


def test_rankings_of_numbers_have_plain_labels():
    p = pg.as_preferences(np.array([[2, 0, 1], [0, 1, 2]]), form="rankings")
    assert p.labels == (0, 1, 2)
    assert {type(v) for v in p.labels} == {int}
    assert texts(p) == ["[2|0|1]", "[0|1|2]"]


VALUES = st.sampled_from([-2.5, 0.0, 1.0, 2.0, 1e300, float("nan")])


@given(rows=st.lists(st.lists(VALUES, min_size=3, max_size=3), max_size=5))
def test_ranks_and_scores_are_each_other_turned_round(rows):
    y = np.array(rows, float).reshape(len(rows), 3)
    rated = [{v: s for v, s in zip("abc", row, strict=True) if not np.isnan(s)} for row in rows]
    p = pg.as_preferences(y, labels="abc", form="scores")
    assert list(p) == [pg.from_scores(scores) for scores in rated]
    assert p == pg.as_preferences(-y, labels="abc", form="ranks")
    assert p == pg.as_preferences(pd.DataFrame(y), labels="abc", form="scores")
    assert p.layer.dtype == np.int8


@given(rows=st.lists(st.lists(VALUES, min_size=3, max_size=3), max_size=4), tolerance=st.sampled_from([0.0, 1.0, 2.5]))
def test_scores_within_the_tolerance_are_ties(rows, tolerance):
    y = np.array(rows, float).reshape(len(rows), 3)
    p = pg.as_preferences(y, form="scores", tolerance=tolerance)
    for i, row in enumerate(rows):
        rated = [k for k, s in enumerate(row) if not np.isnan(s)]
        assert set(p[i]) == set(rated)
        assert set(p[i].edges) == {
            (a, b) for a, b in itertools.permutations(rated, 2) if row[a] > row[b] and row[a] - row[b] > tolerance
        }


def test_ranks_may_be_integers_flags_and_lists_with_gaps():
    assert texts(pg.as_preferences([[1, 7, 7], [3, None, 1]], labels="abc", form="ranks")) == ["[a|b,c]", "[c|a]"]
    assert texts(pg.as_preferences(np.array([[200, 3]], np.uint8), form="ranks")) == ["[1|0]"]
    assert texts(pg.as_preferences([[True, False]], form="scores")) == ["[0|1]"]


def test_pairs_are_votes_and_follow_the_policy():
    y = [[("a", "b", 2.0), ("b", "a"), ("b", "c")], [], {("c", "a")}]
    p = pg.as_preferences(y, form="pairs", on_contradiction="majority")
    assert texts(p) == ["a>b:2.0, b>c", "[]", "[c|a]"]
    assert texts(pg.as_preferences(y, form="pairs", on_contradiction="drop"))[0] == "b>c, a"
    with pytest.raises(Contradiction, match="instance 0: labels 'a' and 'b' have votes both ways"):
        pg.as_preferences(y, form="pairs")
    assert pg.as_preferences(y[1:], labels="cab", form="pairs").labels == ("c", "a", "b")


HIERARCHY = pg.LabelHierarchy.from_parents({"all": None, "fuel": "all", "oil": "fuel", "gas": "fuel", "wind": "all"})


def test_a_hierarchy_orders_the_wrong_labels_of_classes_sets_and_indicators_alike():
    expected = HIERARCHY.preferences([{"oil"}, {"wind"}])
    assert texts(expected) == ["[oil|gas|wind]", "[wind|oil,gas]"]
    for y, options in [
        (["oil", "wind"], {}),
        (np.array(["oil", "wind"]), {"form": "classes"}),
        ([{"oil"}, {"wind"}], {}),
        ([["oil"], ["wind"]], {"form": "sets"}),
    ]:
        assert pg.as_preferences(y, hierarchy=HIERARCHY, **options) == expected
    for rows in (np.array([[0, 1, 0], [1, 0, 0]]), sparse.csr_matrix([[0, 1, 0], [1, 0, 0]])):
        assert pg.as_preferences(rows, labels=["wind", "oil", "gas"], hierarchy=HIERARCHY) == expected
    other = pg.as_preferences(["oil", "wind"], labels=["wind", "gas", "oil"], hierarchy=HIERARCHY, weight=[2, 3])
    assert (other.labels, other.weight.tolist(), list(other)) == (("wind", "gas", "oil"), [2.0, 3.0], list(expected))
    two = pg.as_preferences(["oil", "wind"], hierarchy=HIERARCHY, max_layers=2)
    assert texts(two) == ["[oil|gas,wind]", "[wind|oil,gas]"]


def test_a_hierarchy_needs_label_sets_and_names_of_columns():
    with pytest.raises(InvalidTarget, match=r"form='ranks' with a hierarchy; .* classes, label sets and"):
        pg.as_preferences([[1, 2]], hierarchy=HIERARCHY, form="ranks")
    with pytest.raises(InvalidTarget, match="an indicator matrix with a hierarchy needs labels"):
        pg.as_preferences(np.eye(3), hierarchy=HIERARCHY)


@pytest.mark.parametrize("form", FORMS)
def test_no_instances_are_fine_once_the_form_is_named(form):
    y = np.zeros((0, 2)) if form in ("indicator", "ranks", "scores") else []
    p = pg.as_preferences(y, labels="ab", form=form, weight=[])
    assert (len(p), p.labels, p.n_edges, p.n_graphs) == (0, ("a", "b"), 0, 0)
    assert list(p) == []


# -- errors: which value, which rule, the way out -------------------------------------------------------------------

COLUMN = r"a column of classes or the indicator of a single label\? give y.ravel\(\) or form='classes'"
NUMBERS = (
    "a list of lists of numbers, .* say which with form='indicator' .*, 'ranks' .*, 'scores' .*, 'rankings', 'sets' or"
)


@pytest.mark.parametrize(
    ("y", "message"),
    [
        ([], "y is empty, and so of any form; say which with form="),
        ("abc", "y is a str; it is one target for each instance, in a list or an array"),
        (b"abc", "y is a bytes"),
        ({"a": 1}, "y is a dict"),
        (None, "y is a NoneType"),
        (3, "y is a int"),
        (np.array(3), "y is a ndarray"),
        ({"a", "b"}, "y is a set, which has no order or can be read only once; give a list"),
        (iter(["a"]), "y is a list_iterator, which has no order"),
        (
            [["a", "b"]],
            "list of lists, which may be rankings, label sets or pairs; say which with form='rankings', form='sets'",
        ),
        ([["a", ["b", "c"]], ["c"]], "list of lists, which may be rankings"),
        ([[("a", "b")]], "list of lists, which may be rankings"),
        ([[1, 2], [2, 3]], NUMBERS),
        ([[0, 1], [1, 0]], NUMBERS),
        ([[0], [1]], NUMBERS),
        ([[0, 1, 1], [1]], NUMBERS),
        (np.array([[1, 2], [2, 3]]), "a matrix of numbers, which may be ranks or ratings; say which with form='ranks'"),
        (np.array([[0.5, 1]]), "a matrix of numbers"),
        (np.array([[0], [1]]), COLUMN),
        (np.array([["a"], ["b"]]), COLUMN),
        (pd.DataFrame({"y": [3, 4]}), COLUMN),
        (np.array([["a", "b"]]), r"the shape \(1, 2\) and type <U1; name its form with form=, one of graphs, notation"),
        (np.zeros((1, 1, 1)), r"the shape \(1, 1, 1\)"),
        (np.array([1j]), "type complex128; name its form"),
        (
            ["[a|b]", "c"],
            r"the text '\[a\|b\]', a graph or a class of that name\? say form='notation' or form='classes'",
        ),
        (["c", "a>b"], "the text 'a>b', a graph"),
        (np.array(["a>b"]), "the text 'a>b', a graph"),
        (np.array(["a>b"], object), "the text 'a>b', a graph"),
        ([0.5, 1.0], "y has the value .*0.5.*, and classes are no fractions; .* form='classes'"),
        ([1.0, np.nan], "y has the value nan; every instance needs a class"),
        (np.array([np.inf]), "y has the value inf"),
        ([{"a"}, ["a"]], "y mixes list, set; all targets must be of one form, named by form="),
        ([nx.DiGraph(), "a"], "y mixes DiGraph, str"),
        ([{"a": 1}, "a"], "y mixes dict, str"),
        (np.array([nx.DiGraph(), {"a"}], object), "y mixes DiGraph, set"),
    ],
)
def test_what_may_mean_several_things_is_not_guessed(y, message):
    with pytest.raises(InvalidTarget, match=message):
        pg.as_preferences(y)


@pytest.mark.parametrize(
    ("y", "form", "error", "message"),
    [
        (
            ["a", "d"],
            "classes",
            InvalidTarget,
            "instance 1: label 'd' is not among the labels 'a', 'b', 'c'; add it to",
        ),
        ([["a"], ["b", "d"]], "sets", InvalidTarget, "instance 1: label 'd' is not among the labels"),
        ([["a"], ["b", "d"]], "rankings", InvalidTarget, "instance 1: label 'd' is not among the labels"),
        (["[a|d]"], "notation", InvalidTarget, "instance 0: label 'd' is not among the labels"),
        ([[("a", "d")]], "pairs", InvalidTarget, "instance 0: label 'd' is not among the labels"),
        (["a", None], "classes", InvalidLabel, "instance 1: None is not a label"),
        ([{"a"}, {"b", float("nan")}], "sets", InvalidLabel, "instance 1: nan is not a label"),
        ([["a"], [[["b"]]]], "rankings", InvalidLabel, r"instance 1: label \['b'\] cannot be hashed"),
        (["a", "b"], "graphs", InvalidTarget, "instance 0: 'a' is not a graph; give PreferenceGraph or nx.DiGraph"),
        (["[a|b]", 3], "notation", InvalidTarget, r"instance 1: 3 is not a text; write the graph as in '\[a\|b,c\]'"),
        ([["a"], "b"], "sets", InvalidTarget, "instance 1: 'b' is not a set of labels; give a set or a list"),
        ([3], "sets", InvalidTarget, "instance 0: 3 is not a set of labels"),
        ([{"a": 1}], "sets", InvalidTarget, "instance 0: {'a': 1} is not a set of labels"),
        (["ab"], "rankings", InvalidTarget, "instance 0: 'ab' is not a ranking; give a list of labels, best first"),
        ([{"a", "b"}], "rankings", InvalidTarget, "instance 0: .* is not a ranking"),
        ([["a", ["b", "a"]]], "rankings", InvalidTarget, "instance 0: label 'a' stands twice; a label has one place"),
        ([["a", "b"]], "pairs", InvalidGraph, "instance 0: 'a' is not a vote; give"),
        ([[1, 2]], "pairs", InvalidTarget, "instance 0: 1 is not a pair; give"),
        ([3], "pairs", InvalidTarget, "instance 0: 3 is not a list of pairs; give"),
        ([[1, 2]], "ranks", InvalidTarget, "y has 2 columns for 3 labels; give one label for each column"),
        ([[1, 2]], "scores", InvalidTarget, "y has 2 columns for 3 labels; give one label for each column"),
        (
            [[1, 2, 3], [1, np.inf, 2]],
            "ranks",
            InvalidTarget,
            "instance 1: column 1 is inf; ranks are finite, NaN where",
        ),
        ([[1, 2, -np.inf]], "scores", InvalidTarget, "instance 0: column 2 is -inf; scores are finite, NaN where"),
        ([[1, 2], [3]], "scores", InvalidTarget, "form='scores' needs a matrix of numbers, and y is not one"),
        ([["a", "b", "c"]], "ranks", InvalidTarget, "form='ranks' needs a matrix of numbers, and y is not one"),
        (
            [1, 2, 3],
            "ranks",
            InvalidTarget,
            r"form='ranks' needs a matrix, and y has the shape \(3,\); give instances x",
        ),
        ([[0, 1, 2]], "indicator", InvalidTarget, "instance 0: .* the value 2 in column 2; it holds 0 and 1 only"),
        ([["a", ["b", "c"], "d"], ["c"]], "classes", InvalidLabel, "instance 0: label .* cannot be hashed; a label is"),
        ([np.zeros((2, 2)), np.zeros((2, 3))], "classes", InvalidTarget, "arrays of several shapes; classes are one"),
        (["[a|b]", "[a"], "notation", InvalidNotation, r"instance 1: '\[a', character 3: between two labels"),
        ([pg.parse("[a|b]"), 3], "graphs", InvalidTarget, "instance 1: 3 is not a graph; give PreferenceGraph or"),
        (pg.parse("[a|b]"), "graphs", InvalidTarget, "y is a single graph; .* put a single graph in a list"),
        (pg.parse("[a|b]"), None, InvalidTarget, "y is a single graph; .* put a single graph in a list"),
        ([{"a": 1.0}], None, InvalidTarget, r"y is a list of dicts; .* give \[from_scores\(item\) for item in y\]"),
        (pd.Series([{"a": 1.0}]), None, InvalidTarget, "y is a list of dicts; if they give scores to labels"),
        ([{"a": 1.0}, {"a"}], None, InvalidTarget, "y mixes dict, set; all targets must be of one form"),
        (np.zeros((2, 3)), "classes", InvalidTarget, r"the shape \(2, 3\); classes are a vector, one label for each"),
        (["a"], "words", InvalidOption, "form='words' is not one of 'graphs', 'notation', 'classes'"),
        (None, "sets", InvalidTarget, "y is a NoneType"),
        ("[a|b]", "notation", InvalidTarget, "y is a str"),
    ],
)
def test_a_target_that_breaks_its_form_is_named_with_the_way_out(y, form, error, message):
    with pytest.raises(error, match=message):
        pg.as_preferences(y, labels="abc", form=form)


@pytest.mark.parametrize("form", ["classes", "sets", "rankings", "graphs", "ranks"])
def test_labels_are_distinct_in_every_form(form):
    y = {"classes": ["a"], "sets": [{"a"}], "rankings": [["a"]], "graphs": [pg.parse("a")], "ranks": [[1, 2, 3]]}[form]
    with pytest.raises(InvalidTarget, match="label 'a' is listed twice; the labels of an index are distinct"):
        pg.as_preferences(y, labels="aba", form=form)


@pytest.mark.parametrize("tolerance", [-1.0, np.nan, np.inf])
def test_a_tolerance_is_finite_and_not_negative(tolerance):
    with pytest.raises(InvalidScores, match="tolerance="):
        pg.as_preferences([[1.0, 2.0]], form="scores", tolerance=tolerance)


def test_targets_are_left_alone():
    y = np.array([[1.0, np.nan], [2.0, 1.0]])
    matrix = sparse.csr_matrix(np.array([[0, 1], [1, 0]]))
    before = y.copy(), matrix.toarray()
    pg.as_preferences(y, form="ranks")
    pg.as_preferences(matrix)
    assert np.array_equal(y, before[0], equal_nan=True)
    assert np.array_equal(matrix.toarray(), before[1])
    assert y.flags.writeable
    assert matrix.data.flags.writeable


def test_a_class_in_a_list_of_its_own_keeps_its_type():
    assert pg.as_preferences([[1], ["b"]], form="classes").labels == (1, "b")


@pytest.mark.parametrize("form", ["indicator", "ranks", "scores"])
def test_a_data_frame_names_its_labels(form):
    frame = pd.DataFrame([[1, 0, 0], [0, 1, 1]], columns=["oil", "gas", "coal"])
    p = pg.as_preferences(frame, form=form)
    assert p == pg.as_preferences(frame.to_numpy(), labels=["oil", "gas", "coal"], form=form)
    assert pg.as_preferences(frame, labels="abc", form=form).labels == ("a", "b", "c")
    numbered = pg.as_preferences(frame.set_axis(np.array([7, 8, 9]), axis=1), form=form)
    assert [type(v) for v in numbered.labels] == [int, int, int]
    with pytest.raises(InvalidTarget, match="labels names the columns 'oil', 'gas', 'coal' of y in another order"):
        pg.as_preferences(frame, labels=["gas", "oil", "coal"], form=form)
    with pytest.raises(InvalidTarget, match="label 'oil' is listed twice"):
        pg.as_preferences(frame.set_axis(["oil", "gas", "oil"], axis=1), form=form)


def test_a_data_frame_names_the_labels_of_a_tolerance_and_of_a_hierarchy():
    frame = pd.DataFrame([[3, 2, 0]], columns=["oil", "gas", "coal"])
    assert texts(pg.as_preferences(frame, form="scores", tolerance=1.0)) == ["[oil,gas|coal]"]
    hierarchy = pg.LabelHierarchy.from_nested({"all": {"fuel": ["oil", "gas"], "other": ["coal"]}})
    assert texts(pg.as_preferences(frame == 3, hierarchy=hierarchy)) == ["[oil|gas|coal]"]


@pytest.mark.parametrize("labels", [5, 0.5])
@pytest.mark.parametrize("y", [[{"a"}], Preferences.from_indicator([[1]])], ids=["sets", "compiled"])
def test_labels_are_a_collection(y, labels):
    with pytest.raises(InvalidTarget, match=f"{labels} is not a collection of labels; put a single one in a list"):
        pg.as_preferences(y, labels=labels)


@pytest.mark.parametrize("hierarchy", [{"a": None}, [("a", "b")], "a"])
def test_a_hierarchy_is_built_first(hierarchy):
    with pytest.raises(InvalidTarget, match=f"hierarchy is a {type(hierarchy).__name__}; give a LabelHierarchy, which"):
        pg.as_preferences([{"a"}], hierarchy=hierarchy)


@pytest.mark.parametrize("policy", ["majority", "drop"])
def test_graphs_report_what_a_policy_drops_and_compile_to_the_same(policy):
    votes = [[("a", "b", 2), ("b", "a")], [("b", "c")], [("a", "c"), ("c", "a")]]
    graphs = [pg.from_pairs(pairs, on_contradiction=policy, instance=i) for i, pairs in enumerate(votes)]
    assert pg.as_preferences(graphs) == pg.as_preferences(votes, form="pairs", on_contradiction=policy)
    assert [len(g.dropped) for g in graphs] == [1 if policy == "majority" else 2, 0, 2]
