import copy
import pickle

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

import prefgraph as pg
from prefgraph import Candidates, InvalidDataset, InvalidLabel, PreferenceDataset, Preferences
from tests.strategies import preferences

TREE = pg.LabelHierarchy.from_parents({"all": None, "a": "all", "b": "all"})


def small(**columns):
    """Three instances, with the columns given."""
    return PreferenceDataset(**{"preferences": ["a", "b", "a"], **columns})


KEYS = st.integers(-9, 99) | st.text("ab1", max_size=2)


@st.composite
def datasets(draw):
    """A data set with any columns, over any preferences."""
    p = draw(preferences(max_instances=4, attributes=False))
    m = len(p)
    columns = {"keys": draw(st.lists(KEYS, min_size=m, max_size=m, unique=True))}
    if draw(st.booleans()):
        X = np.arange(2.0 * m).reshape(m, 2) - 1
        columns["X"] = draw(st.sampled_from([np.asarray, sparse.csr_array, sparse.csc_matrix]))(X)
    if draw(st.booleans()):
        columns["texts"] = [f"text {i}" for i in range(m)]
    if draw(st.booleans()):
        columns["split"] = draw(st.lists(st.sampled_from(["train", "test", None]), min_size=m, max_size=m))
    if draw(st.booleans()):
        columns["properties"] = {
            "year": np.arange(m),
            "source": pa.array([None if i % 3 else "wire" for i in range(m)]),
        }
    if draw(st.booleans()):
        columns["candidates"] = candidates_of(p, draw(st.permutations([*p.labels, "extra"])))
    return PreferenceDataset(preferences=p, **columns)


def candidates_of(p, labels):
    """Candidates of each instance: its vertices in the order of ``labels``, and one more label in all."""
    own = [[v for v in dict.fromkeys(labels) if v in g or v == labels[0]] for g in p]
    offsets = np.cumsum([0, *map(len, own)])
    return Candidates(np.arange(3.0 * offsets[-1]).reshape(-1, 3), offsets, [v for some in own for v in some])


def rows_of(data):
    """A data set as a list of plain rows."""
    rows = []
    for i, key in enumerate(data.keys):
        c = data.candidates
        own = None
        if c is not None:
            places = range(c.offsets[i], c.offsets[i + 1])
            own = [(c.labels[k], c.X[k].tolist()) for k in places]
        X = data.X.toarray() if sparse.issparse(data.X) else data.X
        rows.append(
            {
                "key": key,
                "graph": data.graph(key),
                "weight": data.preferences.weight[i],
                "X": None if X is None else X[i].tolist(),
                "text": None if data.texts is None else data.texts[i],
                "split": None if data.split is None else data.split[i],
                "properties": {name: data.properties[name][i].as_py() for name in data.properties.column_names},
                "candidates": own,
            }
        )
    return rows


# -- taking and joining ---------------------------------------------------------------------------------------------


@given(data=datasets(), draw=st.data())
def test_taking_rows_takes_them_in_every_column(data, draw):
    m = len(data)
    chosen = draw.draw(st.permutations(range(m)))[: draw.draw(st.integers(0, m))]
    mask = np.isin(np.arange(m), chosen)
    everything = rows_of(data)
    assert rows_of(data.take(chosen)) == [everything[i] for i in chosen]
    assert rows_of(data.take(mask)) == [everything[i] for i in sorted(chosen)]
    assert rows_of(data.take(slice(None, None, -1))) == everything[::-1]
    assert data.take(range(m)) == data
    assert data.take([i - m for i in chosen]) == data.take(chosen)


@given(data=datasets(), draw=st.data())
def test_pieces_put_together_again_are_the_whole(data, draw):
    cut = draw.draw(st.integers(0, len(data)))
    pieces = [data.take(slice(cut)), data.take(slice(cut, None))]
    joined = PreferenceDataset.concatenate(iter(pieces))
    assert joined == data
    assert rows_of(joined) == rows_of(data)


@given(data=datasets())
def test_copies_and_pickles_are_equal_and_read_only(data):
    for same in (copy.deepcopy(data), pickle.loads(pickle.dumps(data))):
        assert same == data
        assert rows_of(same) == rows_of(data)
        assert not same.preferences.graph_index.flags.writeable
        assert data.candidates is None or not same.candidates.offsets.flags.writeable


@given(data=datasets())
def test_selecting_is_filtering_rows(data):
    everything = rows_of(data)
    for word in {"train", "test"} & set(data.split or ()):
        assert rows_of(data.select(split=word)) == [row for row in everything if row["split"] == word]
    if "year" in data.properties.column_names:
        where = {"year": {0, 1, 2, 77}, "source": [None]}
        wanted = [row for row in everything if row["properties"]["year"] <= 2 and row["properties"]["source"] is None]
        assert rows_of(data.select(where=where)) == wanted
        assert rows_of(data.select(where={"source": "wire"})) == [
            row for row in everything if row["properties"]["source"] == "wire"
        ]
    keys = data.keys[::-2]
    assert data.select(keys=keys).keys == keys
    assert data.select() == data
    for key in data.keys:
        assert data.keys[data.row(key)] == key


def test_selections_come_together():
    data = small(keys=["x", "y", "z"], split=["train", "test", "train"], properties={"year": [1, 2, 2]})
    assert data.select(split="train", where={"year": 2}, keys=["z", "y", "x"]).keys == ("z",)
    assert data.select(keys=["z", "x"], split="train").keys == ("z", "x")
    assert data.select(where={"year": np.array([2, 3])}).keys == ("y", "z")
    assert len(data.select(where={"year": []})) == 0
    assert len(data.select(keys=[])) == 0
    assert data.split_counts() == {"test": 1, "train": 2}
    assert repr(data) == "<PreferenceDataset: 3 instances, 2 labels, properties year; test 1, train 2>"
    assert repr(small(X=np.eye(3), hierarchy=TREE)) == "<PreferenceDataset: 3 instances, 2 labels, X, hierarchy>"


def test_selecting_what_is_not_there_names_what_is():
    data = small(
        keys=[1, "1", 2], split=["train", None, "test"], properties={"year": [1, 2, 3], "tags": [["x"], [], []]}
    )
    with pytest.raises(
        InvalidDataset, match="split='dev' is not a split of this data set; its splits: 'test', 'train', None"
    ):
        data.select(split="dev")
    with pytest.raises(InvalidDataset, match="its splits: none"):
        small().select(split="train")
    with pytest.raises(InvalidDataset, match=r"where names the property 'month', .*; its properties: 'year', 'tags'"):
        data.select(where={"month": 1})
    for wrong in ("1996", 1.5, 2**70, [1, "x"], True):
        with pytest.raises(
            InvalidDataset, match=r"where has .* for the property 'year' of type int64; give such values"
        ):
            data.select(where={"year": wrong})
    with pytest.raises(InvalidDataset, match="the property 'tags' of type list"):
        data.select(where={"tags": [["x"]]})
    for wrong in (3, "2", True, 1.0):
        with pytest.raises(KeyError, match=r"no instance has the key .*; keys look like 1, '1', 2"):
            data.select(keys=[wrong])


def test_keys_of_both_types_are_told_apart_and_numpy_keys_are_found():
    data = small(keys=np.array([1, "1", np.int64(2)], object))
    assert data.keys == (1, "1", 2)
    assert [type(key) for key in data.keys] == [int, str, int]
    assert (data.row(1), data.row("1"), data.row(np.int64(2)), data.row(np.str_("1"))) == (0, 1, 2, 1)
    assert data.select(keys=np.array([2, 1])).keys == (2, 1)
    assert data.graph("1").instance == "1"
    assert small().keys == (0, 1, 2)
    assert data != small(keys=["1", 1, 2])


def test_a_column_in_which_nothing_is_said_matches_nothing_but_none():
    data = small(properties={"source": [None] * 3})
    assert len(data.select(where={"source": "wire"})) == 0
    assert len(data.select(where={"source": [None, "wire"]})) == 3


def test_categories_can_be_asked_for():
    data = small(properties=pd.DataFrame({"source": pd.Categorical(["wire", "desk", None])}))
    assert data.select(where={"source": "wire"}).keys == (0,)
    assert data.select(where={"source": None}).keys == (2,)


# -- what does not fit ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"keys": ["x", "y"]}, "2 keys for 3 instances; give one for each"),
        ({"keys": ["x", "y", "x"]}, "the key 'x' occurs twice; keys are distinct"),
        ({"keys": ["x", 1.5, "y"]}, "instance 1 has the key 1.5; a key is a str or an int"),
        ({"keys": [True, 2, 3]}, "instance 0 has the key True"),
        ({"keys": [None, 2, 3]}, "instance 0 has the key None"),
        ({"keys": "abc"}, "keys is 'abc'; give a list with one for each instance"),
        ({"keys": 3}, "keys is 3; give a list"),
        ({"X": np.eye(2)}, "X has 2 rows for 3 instances; give one row for each"),
        ({"X": np.zeros(3)}, r"X has the shape \(3,\) and type float64; it is a matrix of numbers"),
        ({"X": [["a"], ["b"], ["c"]]}, r"X has the shape \(3, 1\) and type <U1"),
        ({"X": sparse.coo_array([1.0, 2.0, 3.0])}, r"X has the shape \(3,\)"),
        ({"X": sparse.eye_array(4)}, "X has 4 rows for 3 instances"),
        ({"texts": ["x", "y"]}, "texts has 2 entries for 3 instances; give one for each"),
        ({"texts": ["x", None, "y"]}, "texts: instance 1 has None; give a str"),
        ({"texts": "abc"}, "texts is 'abc'; give a list"),
        ({"split": ["x", 1, None]}, "split: instance 1 has 1; give a str or None"),
        ({"split": ["x"]}, "split has 1 entries for 3 instances"),
        ({"properties": {"a": [1, 2]}}, "properties has 2 rows for 3 instances; give one for each"),
        ({"properties": {"a": [1, 2, 3], "b": [1]}}, "properties cannot be made a table: .*; give named columns"),
        ({"properties": {"a": [1, "x", 3]}}, "properties cannot be made a table"),
        ({"properties": {"a": 3}}, "properties cannot be made a table"),
        ({"properties": {"a": [2**70] * 3}}, "properties cannot be made a table"),
        ({"properties": {1: [1, 2, 3]}}, "properties has a column named 1; give names as str"),
        ({"properties": [1, 2, 3]}, "properties is a list; give a pyarrow table, a mapping of columns or a data frame"),
        ({"properties": {"key": [1, 2, 3]}}, "properties has the column 'key', a name that is taken; choose another"),
        ({"properties": {"text": [1, 2, 3]}}, "the column 'text', a name that is taken"),
        ({"properties": pd.DataFrame({"split": [1, 2, 3]})}, "the column 'split', a name that is taken"),
        ({"properties": pd.DataFrame([[1, 2]] * 3, columns=["a", "a"])}, "properties cannot be made a table: Dupl"),
        ({"properties": pd.DataFrame({"a": [1, "x", 2]})}, "properties cannot be made a table"),
        ({"properties": pa.table([[1, 2, 3], [1, 2, 3]], names=["a", "a"])}, "the column 'a', a name that is taken"),
        ({"properties": pa.table({"a": [1]})}, "properties has 1 rows for 3 instances"),
        ({"candidates": (np.eye(1), [0, 1], ["a"])}, "candidates has 1 instances for 3; give rows for each"),
    ],
)
def test_columns_that_do_not_fit_are_named(columns, message):
    with pytest.raises(InvalidDataset, match=message):
        small(**columns)


@pytest.mark.parametrize(
    "properties",
    [
        {"year": [1, 2, 3], "source": ("x", None, "y")},
        {"year": np.array([1, 2, 3]), "source": pd.Series(["x", None, "y"], dtype=object)},
        pa.table({"year": [1, 2, 3], "source": ["x", None, "y"]}),
        pd.DataFrame({"year": [1, 2, 3], "source": ["x", None, "y"]}, index=[7, 8, 9]),
    ],
    ids=["lists", "arrays", "arrow", "pandas"],
)
def test_properties_come_in_many_forms(properties):
    data = small(properties=properties)
    assert data.properties.to_pylist() == [
        {"year": 1, "source": "x"},
        {"year": 2, "source": None},
        {"year": 3, "source": "y"},
    ]


@pytest.mark.parametrize(
    "properties", [None, {}, pa.table({}), pd.DataFrame()], ids=["none", "dict", "arrow", "pandas"]
)
def test_no_properties_are_a_table_without_columns(properties):
    data = small(properties=properties)
    assert data.properties.num_columns == 0
    assert data == small()
    assert PreferenceDataset.concatenate([data.take([0]), data.take([1, 2])]) == data


@pytest.mark.parametrize("shape", [(0, 0), (0, 2), (2, 0)])
def test_data_without_instances_or_labels(shape):
    m = shape[0]
    p = Preferences.from_indicator(np.zeros(shape))
    data = PreferenceDataset(
        preferences=p, X=np.zeros((m, 4)), texts=["t"] * m, split=["train"] * m, properties={"a": np.arange(m)}
    )
    assert (len(data), len(data.labels)) == shape
    assert len(data.take([])) == 0
    assert data.take([]).labels == data.labels
    assert PreferenceDataset.concatenate([data, data.take([])]) == data
    assert pickle.loads(pickle.dumps(data)) == data


def test_equality_is_about_every_column():
    X = sparse.csr_array(np.array([[0.0, 1], [2, 0], [np.nan, 3]]))
    columns = {
        "keys": ["x", "y", "z"],
        "X": X,
        "texts": ["1", "2", "3"],
        "split": ["train", None, None],
        "properties": {"a": [1, 2, 3]},
        "hierarchy": TREE,
        "candidates": (np.eye(6), [0, 2, 4, 6], [*"abbaab"]),
    }
    data = small(**columns)
    assert data == small(**columns)
    unsorted = sparse.csr_array(([1.0, 0, 2, 3, np.nan], [1, 0, 0, 1, 0], [0, 2, 3, 5]), shape=(3, 2))
    assert data == small(**{**columns, "X": unsorted})
    assert unsorted.nnz == 5
    others = {
        "keys": ["x", "y", "w"],
        "X": [X.toarray(), X * 2, X[:, :1], sparse.csr_array(X, copy=True) + sparse.eye_array(3, 2)],
        "texts": ["1", "2", "4"],
        "split": [None, None, None],
        "properties": [{"a": [1, 2, 4]}, {"b": [1, 2, 3]}],
        "hierarchy": pg.LabelHierarchy.from_parents({"all": None, "b": "all", "a": "all"}),
        "candidates": [
            (np.eye(6), [0, 2, 4, 6], [*"ababab"]),
            (np.eye(6) * 2, [0, 2, 4, 6], [*"abbaab"]),
            (np.eye(7, 6), [0, 3, 5, 7], [*"abcbaab"]),
        ],
        "preferences": [["a", "b", "b"]],
    }
    for name, values in others.items():
        for value in values if name in ("X", "properties", "candidates", "preferences") else [values]:
            assert data != small(**{**columns, name: value}), name
        if name not in ("keys", "preferences"):
            assert data != small(**{k: v for k, v in columns.items() if k != name}), name
    assert data != "data"
    assert data.__hash__ is None


def test_data_sets_that_do_not_fit_are_not_joined():
    data = small(keys=["x", "y", "z"], X=np.eye(3), properties={"a": [1, 2, 3]}, hierarchy=TREE)

    def other(**columns):
        given = {"keys": [1, 2, 3], "X": np.eye(3), "properties": {"a": [1, 2, 3]}, "hierarchy": TREE, **columns}
        return small(**{name: value for name, value in given.items() if value is not None})

    assert len(PreferenceDataset.concatenate([data, other()])) == 6
    assert sparse.issparse(PreferenceDataset.concatenate([data, other(X=sparse.eye_array(3))]).X)
    for columns, message in [
        ({"keys": ["x", "y", "w"]}, "the key 'x' occurs twice"),
        ({"X": None}, "some of the data sets have X and some have not; give all of them the same columns"),
        ({"texts": ["", "", ""]}, "some of the data sets have texts and some have not"),
        ({"split": [None] * 3}, "some of the data sets have split"),
        ({"candidates": (np.eye(6), [0, 2, 4, 6], [*"ababab"])}, "some of the data sets have candidates"),
        ({"X": np.eye(3, 2)}, "X has 2 and 3 columns; give all data sets the same features"),
        ({"hierarchy": None}, "the data sets have different hierarchies; give all of them the same one"),
        (
            {"properties": {"b": [1, 2, 3]}},
            "the properties of the data sets do not fit [^;]*; give all of them the same columns",
        ),
        ({"properties": {"a": ["x", "y", "z"]}}, "the properties of the data sets do not fit"),
    ]:
        with pytest.raises(InvalidDataset, match=message):
            PreferenceDataset.concatenate([data, other(**columns)])
    with pytest.raises(InvalidDataset, match="got no data set; give at least one"):
        PreferenceDataset.concatenate([])


# -- candidates -----------------------------------------------------------------------------------------------------


@given(p=preferences(attributes=False), draw=st.data())
def test_each_vertex_has_the_row_of_its_candidate(p, draw):
    c = candidates_of(p, draw.draw(st.permutations([*p.labels, "extra"])))
    rows = c.vertex_rows(p)
    offsets, vertices = p.vertex_lists()
    instance = np.repeat(np.arange(len(p)), np.diff(offsets))
    assert [c.labels[k] for k in rows] == [p.labels[v] for v in vertices]
    assert all(c.offsets[i] <= k < c.offsets[i + 1] for i, k in zip(instance, rows, strict=True))


def test_candidates_are_taken_by_numbers_masks_and_slices():
    c = Candidates(sparse.csr_array(np.eye(4)), [0, 1, 1, 4], "abcd")
    assert len(c) == 3
    for rows, labels, offsets in [
        ([2, 0], "bcda", [0, 3, 4]),
        ([True, False, False], "a", [0, 1]),
        ([-1], "bcd", [0, 3]),
        ([], "", [0]),
        (slice(1, None), "bcd", [0, 0, 3]),
    ]:
        taken = c.take(rows)
        assert (taken.labels, taken.offsets.tolist(), taken.X.shape) == (tuple(labels), offsets, (len(labels), 4))
    with pytest.raises(IndexError, match="instances 3 to 3 of 3"):
        c.take([3])


def test_offsets_of_a_caller_are_left_alone():
    offsets = np.array([0, 1, 2])
    c = Candidates(np.eye(2), offsets, "ab")
    offsets[1] = 0
    assert c.offsets.tolist() == [0, 1, 2]


@pytest.mark.parametrize(
    ("fields", "error", "message"),
    [
        (
            (np.eye(2), [0, 1], "ab"),
            InvalidDataset,
            r"offsets go from \[0, 1\] and not from 0 to the number of rows, 2",
        ),
        ((np.eye(2), [1, 2], "ab"), InvalidDataset, r"offsets go from \[1, 2\]"),
        ((np.eye(2), [0, 2, 1, 2], "ab"), InvalidDataset, "without falling"),
        ((np.eye(2), np.empty(0, int), "ab"), InvalidDataset, r"offsets go from \[\]"),
        ((np.eye(2), [0.0, 2.0], "ab"), InvalidDataset, "type float64; it is a list of row numbers"),
        ((np.eye(2), [[0, 2]], "ab"), InvalidDataset, r"the shape \(1, 2\)"),
        ((np.eye(2), [0, 2], "abc"), InvalidDataset, "3 labels for 2 rows; give one for each row"),
        ((np.zeros(2), [0, 2], "ab"), InvalidDataset, r"candidates.X has the shape \(2,\)"),
        ((np.eye(2), [0, 2], ["a", []]), InvalidLabel, r"label \[\] cannot be hashed"),
    ],
)
def test_candidates_that_do_not_fit_are_refused(fields, error, message):
    with pytest.raises(error, match=message):
        Candidates(*fields)


def test_candidates_are_distinct_and_include_all_vertices():
    p = pg.as_preferences(["[a|b]", "[b|c]"], form="notation")
    assert PreferenceDataset(preferences=p, candidates=(np.eye(5), [0, 3, 5], "abzcb")).candidates.labels[2] == "z"
    for labels, offsets, message in [
        (
            "abzz",
            [0, 2, 4],
            "instance 1: the candidate 'z' is listed twice; the candidates of an instance are distinct",
        ),
        ("abbb", [0, 2, 4], "instance 1: the candidate 'b' is listed twice"),
        ("abbz", [0, 2, 4], "instance 1: the graph has the label 'c', which is no candidate; add its row"),
        ("bcab", [0, 2, 4], "instance 0: the graph has the label 'a', which is no candidate"),
        ("ab", [0, 2, 2], "instance 1: the graph has the label 'b', which is no candidate"),
        ("", [0, 0, 0], "instance 0: the graph has the label 'a', which is no candidate"),
    ]:
        with pytest.raises(InvalidDataset, match=message):
            PreferenceDataset(preferences=p, candidates=(np.eye(len(labels), 2), offsets, labels))


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"X": [[1], [1, 2]]}, "X has rows of several lengths; give rows of one length"),
        ({"hierarchy": {"a": None}}, r"hierarchy is a dict and no LabelHierarchy; make one with LabelHierarchy.from"),
        ({"candidates": 5}, "candidates is a int and no Candidates; give X, offsets and labels in a tuple"),
        ({"candidates": (np.eye(2), [0, 1, 2])}, "candidates is a tuple and no Candidates; give X, offsets and labels"),
        ({"candidates": (np.eye(2), [[0], [1, 2]], "ab")}, "candidates: offsets has rows of several lengths"),
        ({"candidates": (np.eye(2), [0, 1, 2], 5)}, "5 is not a collection of labels"),
    ],
)
def test_a_column_of_another_kind_is_refused(columns, message):
    with pytest.raises(InvalidDataset, match=message):
        PreferenceDataset(preferences=["a", "b"], **columns)


def test_what_cannot_be_asked_or_joined_is_named():
    data = PreferenceDataset(preferences=["a", "b"], properties={"n": [1, 2]}, split=["train", "test"])
    for asked, message in (
        ({"where": 5}, "where is 5; give a dict from names of properties to values"),
        ({"split": ["train"]}, r"split=\['train'\] is not a split of this data set"),
        ({"keys": 5}, "keys is 5; give a list"),
    ):
        with pytest.raises(InvalidDataset, match=message):
            data.select(**asked)
    for key in ([1], None, True, 1.0):
        with pytest.raises(KeyError, match="no instance has the key"):
            data.graph(key)
    with pytest.raises(InvalidDataset, match=r"concatenate\(\) got 1; it takes a list of data sets"):
        PreferenceDataset.concatenate([data, 1])
    with pytest.raises(InvalidDataset, match="is not a collection of data sets; put a single one in a list"):
        PreferenceDataset.concatenate(data)
