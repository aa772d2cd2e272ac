"""What every backend must do: one suite, inherited by each of them."""

import datetime as dt
import itertools
import json
from collections import Counter
from collections.abc import Mapping
from types import MappingProxyType

import networkx as nx
import numpy as np
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from scipy import sparse

import prefgraph as pg
from prefgraph import InvalidDataset, InvalidFile, InvalidLabel, InvalidOption, InvalidScores
from storage import (
    QUESTIONS,
    DatasetExists,
    DatasetNotFound,
    InstanceNotFound,
    InvalidQuery,
    QueryTimeout,
    ReadOnlyStore,
    StoreBusy,
    StoreError,
    UnknownQuestion,
    open_store,
)
from storage import _writing as writing
from tests.strategies import INJECTIONS, ODD_TEXTS, datasets, score_matrices

# A failure is not made smaller: against a database that takes minutes. All backends run the same tests: what failed
# with one of them is a fine example for the others.
SOME = settings(
    max_examples=settings().max_examples // 8,
    phases=[Phase.explicit, Phase.reuse, Phase.generate],
    suppress_health_check=[
        HealthCheck.differing_executors,
        HealthCheck.function_scoped_fixture,
        HealthCheck.too_slow,
        HealthCheck.data_too_large,
    ],
)
ARRAYS = ("instance", "part", "init", "term", "weight", "offsets", "part_instance")
# fmt: off
TEXTS = [*ODD_TEXTS, *INJECTIONS, "name", "x" * 10_000, "日本語 " * 1000, "a\u0301", "\ufeff", "\U0010ffff", "a\r\nb",
         "NULL", "None", "true", "\\u0041", "\\'", "''", "--", "i.key"]
# fmt: on


def news() -> pg.PreferenceDataset:
    """A data set with something in every column: ties, a cycle, isolated labels, weights, attributes, equal graphs."""
    said = pg.PreferenceGraph(
        [("oil", "gas", {"judge": "ann", "turn": 3}), ("gas", "wind", {"judge": "bob", "weight": 2.5})], nodes=["sun"]
    )
    cycle = pg.PreferenceGraph([("oil", "gas"), ("gas", "wind"), ("wind", "oil"), ("oil", "sun")])
    layered = pg.from_layers([["gas"], ["oil", "wind"]])
    far = pg.PreferenceGraph([("oil", "sun"), ("sun", "gas")])
    p = pg.Preferences.from_graphs(
        [said, cycle, layered, layered.copy(), far, pg.PreferenceGraph()], weight=[1, 2, 0.5, 0, 1, 1]
    )
    return pg.PreferenceDataset(
        keys=["d1", 1, "1", "d'4", "", -7],
        preferences=p,
        X=sparse.csr_array(np.arange(18.0).reshape(6, 3) % 4),
        texts=["oil up", "", "gas 'n' oil", "☃", "e", "f"],
        properties={
            "year": [1996, 1997, None, 1996, 1998, 1997],
            "source": ["wire", None, "desk", "wire", "", "it's"],
            "when": pa.array([0, 1, None, 10**9, -1, 5], pa.timestamp("ms")),
            "good": [True, None, False, True, False, True],
            "share": pa.array([0.5, None, 0.1, 1, 2, 3], pa.float32()),
            "tags": [["a"], [], None, ["b", ""], [""], ["c", "d"]],
        },
        split=["train", "test", None, "train", "", "train"],
        hierarchy=pg.LabelHierarchy.from_nested({"all": {"fuel": ["oil", "gas"], "free": ["wind", "sun"]}}),
    )


def small(labels=("a", "b"), keys=(0,), **columns) -> pg.PreferenceDataset:
    graphs = [pg.from_ranking(list(labels)) for _ in keys]
    return pg.PreferenceDataset(keys=keys, preferences=pg.Preferences.from_graphs(graphs, labels), **columns)


def shown(names):
    """Keys or labels as an answer shows them."""
    if names and all(isinstance(name, int) and -(2**63) <= name < 2**63 for name in names):
        return list(names)
    return [str(name) for name in names]


def assert_same(a, b):
    """Two data sets are equal; column by column first, for the message."""
    for name in ("keys", "texts", "split", "hierarchy", "labels", "preferences"):
        assert getattr(a, name) == getattr(b, name), name
    assert a.properties.equals(b.properties), (a.properties, b.properties)
    assert a == b, (a.X, b.X)


def rows_of(table, *columns):
    return Counter(zip(*(table[c].to_pylist() for c in columns), strict=True))


def same_parts(a, b):
    assert a.labels == b.labels
    assert a.n_instances == b.n_instances
    for name in ARRAYS:
        np.testing.assert_array_equal(getattr(a, name), getattr(b, name), name)


class GraphStoreTests:
    """Subclass, supply the fixtures, override no test.

    `store`
        A new, empty store.
    `durable`
        (a new, empty store, a function that closes it and opens it again).
    `look`
        A function from Cypher and parameters to rows, past the store.
    """

    gaps: Mapping[str, str] = MappingProxyType({})  # test name -> why this backend cannot pass it yet

    def __init_subclass__(cls):
        muted = [n for n in vars(cls) if n.startswith("test_") and hasattr(GraphStoreTests, n)]
        assert not muted, f"{cls.__name__} overrides {muted}; declare a gap instead"

    @pytest.fixture(autouse=True)
    def _declared_gap(self, request):
        if reason := self.gaps.get(request.function.__name__):
            request.applymarker(pytest.mark.xfail(reason=reason, strict=True))

    @pytest.fixture
    def full(self, store):
        store.write("news", news())
        return store

    # -- write and read ---------------------------------------------------------------------------------------------

    @SOME
    @given(data=datasets())
    def test_what_is_written_is_read(self, store, data):
        store.write("any", data, mode="replace")
        assert_same(store.read("any"), data)
        assert store.verify("any").num_rows == 0
        assert store.labels("any") == list(data.labels)
        assert store.hierarchy("any") == data.hierarchy

    @SOME
    @given(data=st.data())
    def test_appending_is_concatenating(self, store, data):
        first = data.draw(datasets().filter(lambda d: d.candidates is None))
        second = data.draw(datasets(like=first))
        store.write("any", first, mode="replace")
        store.write("any", second, mode="append")
        together = first
        if len(second) or second.labels:
            together = pg.PreferenceDataset.concatenate([first, second])
        assert_same(store.read("any"), together)
        store.write("any", second, mode="append")
        assert_same(store.read("any"), together)
        assert store.verify("any").num_rows == 0
        same_parts(store.parts("any", "domination"), together.preferences.parts("domination"))

    def test_names_of_every_text_stay_apart(self, store):
        texts = list(dict.fromkeys(text for text in TEXTS if text))
        chosen = [text for k, text in enumerate(texts) if k % 4 == 0 or len(text) > 99 or "DELETE" in text]
        for number, name in enumerate(chosen):
            store.write(name, small(keys=[number]))
        assert store.datasets() == sorted(chosen)
        for number, name in enumerate(chosen):
            assert store.read(name).keys == (number,)
        store.delete(chosen[0])
        assert store.datasets() == sorted(chosen[1:])

    def test_labels_keys_texts_and_values_of_every_text_are_kept(self, store):
        names = [*TEXTS, 1, 0, -1, 2**40, 2**80, -(2**80)]
        names = list(dict.fromkeys(names))
        edges = [(u, v, v) for u, v in itertools.pairwise(names) if isinstance(v, str) and v != "weight"]
        said = pg.PreferenceGraph([(u, v, {text: text}) for u, v, text in edges])
        p = pg.Preferences.from_graphs([pg.from_ranking(names), *[said] * (len(names) - 1)], names)
        words = [str(name) for name in names]
        data = pg.PreferenceDataset(
            keys=names, preferences=p, texts=words, split=words, properties={"a": words, "b": [[w] for w in words]}
        )
        store.write("odd", data)
        assert store.read("odd") == data
        assert store.labels("odd") == names
        for key in names:
            assert store.graph("odd", key).instance == key
        for word in ("", "$name", "'}) DETACH DELETE n //", "x" * 10_000):
            assert store.read("odd", where={"a": word}) == data.select(where={"a": word})
            assert store.read("odd", split=word) == data.select(split=word)
            assert store.read("odd", keys=[word]) == data.select(keys=[word])
        assert store.verify("odd").num_rows == 0

    def test_property_names_of_every_text_are_kept(self, store):
        more = ["ID", "Key", "TEXT", "YEAR", "order", "property_79656172", "year__text"]
        names = list(dict.fromkeys([*TEXTS, *more]))
        names = [name for name in names if name not in ("key", "text", "split")]
        data = small(keys=[0, 1], properties={name: [f"v{k}", None] for k, name in enumerate(names)})
        store.write("odd", data)
        assert store.read("odd") == data
        for k, name in list(enumerate(names))[::7]:
            assert store.read("odd", where={name: f"v{k}"}).keys == (0,), name
            assert store.ask("by_property", dataset="odd", property=name, value=None)["key"].to_pylist() == [1]

    def test_an_int_and_a_str_of_the_same_text_are_two_things(self, store):
        g, h = pg.PreferenceGraph([(1, "1")]), pg.PreferenceGraph([("1", 1)])
        data = pg.PreferenceDataset(keys=["1", 1], preferences=pg.Preferences.from_graphs([g, h]))
        store.write("twins", data)
        assert store.read("twins", keys=[1]).keys == (1,)
        assert store.read("twins", keys=["1"]).keys == ("1",)
        assert store.graph("twins", 1).key == h.key
        assert store.graph("twins", "1").key == g.key
        assert store.labels("twins") == [1, "1"]

    def test_two_data_sets_share_nothing_but_the_store(self, store):
        a = small(keys=["k"], properties={"year": [1996], "Year": ["x"]})
        b = small(("b", "a", "c"), keys=["k"], properties={"year": ["nineteen"], "year__text": ["y"]})
        c = small(keys=["k"], properties={"YEAR": [1.5], "year": [["x"]]})
        d = small(keys=["k"], properties={"YEAR": [1998]})
        e = small(keys=["k"], properties={"yEAR": ["ninety"]})
        everything = (("a", a), ("b", b), ("c", c), ("d", d), ("e", e))
        for name, data in everything:
            store.write(name, data)
        for name, data in everything:
            assert store.read(name) == data
            assert store.verify(name).num_rows == 0
        assert store.labels("b") == ["b", "a", "c"]
        assert store.ask("neighbours", dataset="a", key="k").num_rows == 0
        store.delete("a")
        assert store.read("b") == b
        assert store.read("c", where={"YEAR": 1.5}) == c

    @pytest.mark.parametrize("m", [0, 1])
    def test_almost_nothing_is_kept(self, store, m):
        data = pg.PreferenceDataset(preferences=pg.Preferences.from_graphs([pg.PreferenceGraph()] * m))
        store.write("nothing", data)
        assert store.read("nothing") == data
        assert store.labels("nothing") == []
        assert len(store.parts("nothing")) == 0
        assert list(store.stream("nothing"))[m:] == []
        assert store.stats("nothing")["instances"] == m
        for question in ("cyclic_instances", "contradictions", "dominations", "never_preferred"):
            assert store.ask(question, dataset="nothing").num_rows == 0
        store.write_scores("nothing", "m", range(m), np.empty((m, 0)))
        assert store.violations("nothing", "m").num_rows == 0

    def test_numpy_names_are_plain_ints_and_strs(self, store):
        labels = [np.int64(3), np.str_("b")]
        graph = pg.PreferenceGraph([(labels[0], labels[1], {"n": np.int32(2), "t": (1, 2), "f": np.float64(0.5)})])
        hierarchy = pg.LabelHierarchy.from_parents({labels[0]: "r", labels[1]: "r", "r": None})
        data = pg.PreferenceDataset(
            keys=np.array([5]),
            preferences=pg.Preferences.from_graphs([graph]),
            hierarchy=hierarchy,
            candidates=(np.eye(2), [0, 2], labels),
        )
        store.write("numpy", data)
        assert store.read("numpy") == data
        assert list(map(type, store.labels("numpy"))) == [int, str]
        assert store.read("numpy", keys=np.array([5])).keys == (5,)

    @pytest.mark.parametrize(
        "hierarchy",
        [
            pg.LabelHierarchy.from_parents({"r": None, "a": "r", "b": "r"}, descriptions={"a": "an 'a'"}),
            pg.LabelHierarchy.from_parents({"r": None, 1: "r", "a": ["r", 1], "b": "r"}),
            pg.LabelHierarchy.from_nested({"r": {"x": ["a"], "b": None}}).with_dummy_leaves(),
            pg.LabelHierarchy.from_distances([[0, 0.1], [0.1, 0]], ["b", "a"]),
        ],
        ids=["tree", "dag", "dummies", "distances"],
    )
    def test_hierarchies_of_every_kind_are_kept(self, store, look, hierarchy):
        store.write("h", small(hierarchy=hierarchy))
        again = store.hierarchy("h")
        assert again == hierarchy
        assert again.descriptions == hierarchy.descriptions
        edges = [(v, u) for v in hierarchy.labels for u in hierarchy.parents(v)] if hierarchy.has_tree else []
        rows = look("MATCH (a:Label)-[:CHILD_OF]->(b:Label) RETURN a.name AS child, b.name AS parent")
        assert Counter((row["child"], row["parent"]) for row in rows) == Counter((str(v), str(u)) for v, u in edges)

    def test_a_label_of_the_hierarchy_may_be_met_first_in_an_append(self, store):
        hierarchy = pg.LabelHierarchy.from_nested({"r": ["a", "b", "c", "d"]})
        first, second = small(("a", "b"), hierarchy=hierarchy), small(("c", "r", "a", "e"), [1], hierarchy=hierarchy)
        store.write("h", first)
        store.write("h", second, mode="append")
        store.write("h", small(("d", "c"), [2], hierarchy=hierarchy), mode="append")
        assert store.labels("h") == ["a", "b", "c", "r", "e", "d"]
        assert store.read("h", keys=[0, 1]).take([1]).graph(1).key == second.graph(1).key
        assert store.verify("h").num_rows == 0
        assert store.hierarchy("h") == hierarchy

    # -- modes ------------------------------------------------------------------------------------------------------

    def test_create_refuses_a_name_that_is_taken(self, full):
        with pytest.raises(DatasetExists, match="'news'"):
            full.write("news", small())
        assert full.read("news") == news()

    def test_append_wants_a_data_set_and_replace_does_not(self, store):
        with pytest.raises(DatasetNotFound, match="'nope'"):
            store.write("nope", small(), mode="append")
        store.write("nope", small(), mode="replace")
        assert store.datasets() == ["nope"]

    def test_replace_leaves_nothing_of_what_was_there(self, full, look):
        full.write_scores("news", "m", ["d1"], [[1.0, 2, 3, 4]])
        full.write("news", small(), mode="replace")
        assert full.read("news") == small()
        assert full.stats("news")["models"] == []
        counts = {row["what"]: row["n"] for row in look(self.COUNT_NODES)}
        expected = {"Store": 1, "Dataset": 1, "Instance": 1, "PreferenceGraph": 1, "Vertex": 2, "Label": 2}
        assert {what: n for what, n in counts.items() if n} == expected

    def test_delete_leaves_nothing_behind(self, full, look):
        more = news().take([0])
        more = pg.PreferenceDataset(
            **{**_columns(more), "keys": ["new"], "preferences": more.preferences.rename({"oil": "coal"})}
        )
        full.write("news", more, mode="append")
        full.write_scores("news", "m", ["d1"], [[1.0, 2, 3, 4, 5]])
        full.delete("news")
        assert {row["what"]: row["n"] for row in look(self.COUNT_NODES) if row["n"]} == {"Store": 1}
        assert look("MATCH (a)-[r]->(b) RETURN count(r) AS n") == [{"n": 0}]
        assert full.datasets() == []
        for verb in (
            full.read,
            full.delete,
            full.labels,
            full.stats,
            full.verify,
            full.hierarchy,
            full.parts,
            full.stream,
        ):
            with pytest.raises(DatasetNotFound, match="'news'"):
                verb("news")

    @pytest.mark.parametrize(
        ("change", "words"),
        [
            ({"texts": None}, "texts"),
            ({"split": None}, "split"),
            ({"X": np.ones((1, 3))}, "X"),
            ({"hierarchy": None}, "hierarchy"),
            ({"properties": None}, "properties"),
            ({"keys": [1]}, "key 1 already"),
        ],
    )
    def test_an_append_that_does_not_fit_is_refused(self, full, change, words):
        more = pg.PreferenceDataset(**{**_columns(news().take([0])), "keys": ["new"], **change})
        with pytest.raises(InvalidDataset, match=words):
            full.write("news", more, mode="append")
        assert full.read("news") == news()

    def test_what_no_store_can_keep_is_refused_and_leaves_nothing(self, store, look):
        half = "\ud800"
        tuples = pg.PreferenceDataset(preferences=pg.Preferences.from_graphs([pg.PreferenceGraph([(("t",), "b")])]))
        unused = pg.PreferenceDataset(preferences=pg.Preferences.from_graphs([pg.PreferenceGraph()], [1.5, "a"]))
        for data, error in [
            (small(keys=[half]), InvalidDataset),
            (small(texts=[half]), InvalidDataset),
            (small(properties={"p": pa.array([[1]], pa.list_(pa.int64()))}), InvalidDataset),
            (small(properties={"p": pa.array([2**64 - 1], pa.uint64())}), InvalidDataset),
            (small(properties={"p": pa.array([2**62], pa.timestamp("s"))}), InvalidDataset),
            (small(properties={"p": pa.array([5], pa.duration("s"))}), InvalidDataset),
            (tuples, InvalidLabel),
            (unused, InvalidLabel),
            ("no data set", InvalidDataset),
        ]:
            with pytest.raises(error):
                store.write("bad", data)
        for name in ("", 3, half):
            with pytest.raises(InvalidDataset):
                store.write(name, small())
        with pytest.raises(InvalidOption, match="mode='add'"):
            store.write("x", small(), mode="add")
        assert store.datasets() == []
        assert {row["what"]: row["n"] for row in look(self.COUNT_NODES) if row["n"]} == {"Store": 1}

    # -- filters ----------------------------------------------------------------------------------------------------

    @pytest.mark.parametrize(
        "where",
        [
            {"year": 1996},
            {"year": {1996, 1998}},
            {"year": [1997, None]},
            {"year": None},
            {"year": set()},
            {"year": np.array([1996])},
            {"year": 1850},
            {"source": "it's"},
            {"source": ""},
            {"good": True},
            {"share": 0.1},
            {"when": dt.datetime(1970, 1, 12, 13, 46, 40)},  # noqa: DTZ001 - as stored
            {"year": 1996, "source": "wire"},
            {"year": {1996, None}, "good": {False, True}},
            {},
        ],
        ids=str,
    )
    def test_where_selects_as_the_data_set_does(self, full, where):
        assert full.read("news", where=where) == news().select(where=where)
        if len(where) == 1:
            ((name, value),) = where.items()
            keys = full.ask("by_property", dataset="news", property=name, value=value)["key"].to_pylist()
            assert keys == shown(news().select(where=where).keys)

    def test_split_keys_and_where_work_together(self, full):
        assert full.read("news", split="train") == news().select(split="train")
        assert full.read("news", split="") == news().select(split="")
        keys = [-7, "d1", 1]
        assert full.read("news", keys=keys) == news().select(keys=keys)
        assert full.read("news", keys=iter(keys), split="train", where={"year": 1996}).keys == ("d1",)
        assert full.read("news", keys=[]) == news().take([])

    def test_what_is_not_there_is_an_error(self, full):
        with pytest.raises(InvalidDataset, match="'dev'"):
            full.read("news", split="dev")
        with pytest.raises(InvalidDataset, match="'colour'"):
            full.read("news", where={"colour": 1})
        for wrong in ({"year": "x"}, {"year": 2**70}, {"source": 3}, {"tags": "a"}, {"tags": ["a"]}):
            with pytest.raises(InvalidDataset, match=next(iter(wrong))):
                full.read("news", where=wrong)
        for options in ({}, {"split": "train"}, {"where": {"year": 1996}}):
            with pytest.raises(InstanceNotFound, match="'2'"):
                full.read("news", keys=["d1", "2"], **options)
        with pytest.raises(InstanceNotFound, match="2"):
            full.graph("news", 2)
        for key in (1.0, True, None, ("d1",)):
            with pytest.raises(InvalidLabel):
                full.graph("news", key)
        with pytest.raises(DatasetNotFound, match="'nope'; the store has 'news'"):
            full.read("nope")

    # -- pieces, parts, graphs --------------------------------------------------------------------------------------

    @pytest.mark.parametrize("size", [1, 4, np.int64(100)])
    def test_a_stream_is_the_data_set_in_order(self, full, size):
        pieces = list(full.stream("news", batch_size=size))
        assert [len(piece) for piece in pieces] == [min(size, 6 - k) for k in range(0, 6, int(size))]
        assert pg.PreferenceDataset.concatenate(pieces) == news()

    def test_a_stream_goes_on_over_appended_instances(self, store):
        for k, mode in enumerate(["create", "append", "append"]):
            store.write("s", small(("a", f"l{k}"), [10 * k, 10 * k + 1, 10 * k + 2]), mode=mode)
        pieces = list(store.stream("s", batch_size=2))
        assert [piece.keys for piece in pieces] == [(0, 1), (2,), (10, 11), (12,), (20, 21), (22,)]
        assert pg.PreferenceDataset.concatenate(pieces) == store.read("s")

    @pytest.mark.parametrize("size", [0, -1, 1.5, "2", None])
    def test_a_batch_size_is_a_positive_number(self, full, size):
        with pytest.raises(InvalidDataset, match="batch_size"):
            full.stream("news", batch_size=size)

    def test_a_stream_says_when_the_data_set_is_gone(self, full):
        pieces = full.stream("news", batch_size=2)
        next(pieces)
        full.delete("news")
        with pytest.raises(StoreBusy, match="'news'"):
            next(pieces)

    @pytest.mark.parametrize("cut", pg.DECOMPOSITIONS)
    @SOME
    @given(data=datasets(st.sampled_from(["a", "b", 1, "1", "e", 7]), max_instances=4))
    def test_the_three_forms_of_a_decomposition_meet(self, store, cut, data):
        store.write("any", data, mode="replace")
        compiled = data.preferences.parts(cut)
        same_parts(store.parts("any", cut), compiled)
        same_parts(store.decompose("any", cut), compiled)
        for key in data.keys:
            number = data.row(key)
            parts = [compiled.edges(k) for k in np.flatnonzero(compiled.part_instance == number)]
            graph = store.graph("any", key)
            assert Counter(map(frozenset, parts)) == Counter(
                frozenset(part) for part in pg.DECOMPOSITIONS[cut](graph) if part
            )

    def test_a_decomposition_is_one_of_the_four(self, full):
        with pytest.raises(InvalidOption, match="'cut'"):
            full.decompose("news", "cut")

    def test_graphs_keep_weights_and_attributes(self, full):
        graph = full.graph("news", "d1")
        assert graph.instance == "d1"
        assert dict(graph.edges["oil", "gas"]) == {"judge": "ann", "turn": 3}
        assert graph.edges["gas", "wind"] == {"judge": "bob", "weight": 2.5}
        assert graph.key == news().graph("d1").key

    def test_edge_attributes_can_be_queried(self, full):
        rows = full.query(
            "MATCH (v:Vertex)-[e:PREFERRED_TO]->(w:Vertex) WHERE e.judge = $judge "
            "MATCH (w)-[:IS]->(l:Label) RETURN l.name AS label, e.weight AS weight, e.judge AS judge, e.turn AS turn",
            judge="bob",
        )
        assert rows.to_pylist() == [{"label": "wind", "weight": 2.5, "judge": "bob", "turn": None}]

    def test_stats_count(self, full):
        full.write_scores("news", "m", ["d1"], [[1.0, 2, 3, 4]])
        assert full.stats("news") == {
            "instances": 6,
            "labels": 4,
            "graphs": 5,
            "edges": 12,
            "cyclic": 1,
            "splits": {"": 1, "test": 1, "train": 3},
            "models": ["m"],
        }

    # -- questions --------------------------------------------------------------------------------------------------

    @SOME
    @given(data=datasets(st.sampled_from(["a", "b", "c", "d", 7]), max_instances=6))
    def test_every_question_is_answered_as_by_hand(self, store, data):
        store.write("any", data, mode="replace")
        graphs = {key: data.graph(key) for key in data.keys}
        above = Counter(edge for graph in graphs.values() for edge in graph.edges)
        labels = list(data.labels)

        answer = store.ask("dominations", dataset="any")
        assert answer["instances"].to_pylist() == sorted(above.values(), reverse=True)
        names = dict(zip(labels, map(str, labels), strict=True))
        said = rows_of(answer, "init", "term", "instances")
        assert Counter({(str(u), str(v), n): c for (u, v, n), c in said.items()}) == Counter(
            (names[u], names[v], n) for (u, v), n in above.items()
        )

        answer = store.ask("contradictions", dataset="any")
        pairs = [(u, v) for u, v in itertools.combinations(labels, 2) if (u, v) in above and (v, u) in above]
        said = rows_of(answer, "first", "second", "first_preferred", "second_preferred")
        assert Counter((str(a), str(b), m, n) for (a, b, m, n), c in said.items() for _ in range(c)) == Counter(
            (str(u), str(v), above[u, v], above[v, u]) for u, v in pairs
        )

        low = [v for v in labels if not any(u == v for u, _ in above)]
        assert store.ask("never_preferred", dataset="any")["label"].to_pylist() == shown(low)

        answer = store.ask("cyclic_instances", dataset="any").to_pylist()
        cyclic = [key for key, graph in graphs.items() if not nx.is_directed_acyclic_graph(graph)]
        assert [row["key"] for row in answer] == shown(cyclic)
        for row, key in zip(answer, cyclic, strict=True):
            strong = [{str(v) for v in c} for c in nx.strongly_connected_components(graphs[key]) if len(c) > 1]
            assert sorted(map(sorted, row["components"])) == sorted(map(sorted, strong))
            edges = {(str(u), str(v)) for u, v in graphs[key].edges}
            assert len(row["cycles"]) == len(strong)
            for cycle in row["cycles"]:
                assert set(zip(cycle, cycle[1:] + cycle[:1], strict=True)) <= edges
                assert any(set(cycle) <= component for component in strong)

        answer = store.ask("star_counts", dataset="any")
        assert answer["key"].to_pylist() == shown(list(data.keys))
        assert answer["out_stars"].to_pylist() == [sum(d > 0 for _, d in g.out_degree()) for g in graphs.values()]
        assert answer["in_stars"].to_pylist() == [sum(d > 0 for _, d in g.in_degree()) for g in graphs.values()]

        for key in data.keys[:2]:
            others = [k for k in data.keys if k != key and graphs[k].key == graphs[key].key]
            assert store.ask("neighbours", dataset="any", key=key)["key"].to_pylist() == shown(others)

    def test_an_instance_that_prefers_a_far_leaf_to_a_sibling_contradicts_the_hierarchy(self, full):
        # oil > sun > gas: oil is correct, gas its sibling at distance 2, sun at 4.
        rows = full.ask("hierarchy_contradictions", dataset="news").to_pylist()
        assert {"key": "", "init": "sun", "term": "gas"} in rows
        naive = []
        h = news().hierarchy
        for key in news().keys:
            graph = news().graph(key)
            tops = [v for v in graph if graph.out_degree(v) and not graph.in_degree(v)]
            far = {v: min((h.distance(v, t) for t in tops), default=0) for v in graph}
            naive += [(str(key), u, v) for u, v in graph.edges if far[u] > far[v]]
        assert Counter((row["key"], row["init"], row["term"]) for row in rows) == Counter(naive)

    def test_every_question_is_listed_and_refuses_other_parameters(self, full):
        for question in QUESTIONS:
            with pytest.raises(UnknownQuestion, match=question):
                full.ask(question, dataset="news", colour="red")
            with pytest.raises(DatasetNotFound, match="'nope'"):
                full.ask(question, dataset="nope", **_needed(question))
            assert full.ask(question, dataset="news", **_needed(question)).num_columns
        with pytest.raises(UnknownQuestion, match="'why'"):
            full.ask("why", dataset="news")
        with pytest.raises(InstanceNotFound):
            full.ask("neighbours", dataset="news", key="nobody")
        full.write("flat", small())
        with pytest.raises(InvalidDataset, match="no hierarchy"):
            full.ask("hierarchy_contradictions", dataset="flat")

    def test_keys_beyond_64_bits_are_answered_as_text(self, store):
        store.write("big", small(keys=[2**70, 2**71]))
        assert store.ask("star_counts", dataset="big")["key"].to_pylist() == [str(2**70), str(2**71)]
        assert store.ask("neighbours", dataset="big", key=2**70)["key"].to_pylist() == [str(2**71)]

    # -- queries ----------------------------------------------------------------------------------------------------

    def test_a_query_gives_an_arrow_table_and_a_data_frame(self, full):
        table = full.query("MATCH (i:Instance) WHERE i.year = $year RETURN i.key AS key ORDER BY key", year=1996)
        assert isinstance(table, pa.Table)
        assert table.to_pylist() == [{"key": "d'4"}, {"key": "d1"}]
        assert list(table.to_pandas()["key"]) == ["d'4", "d1"]

    def test_parameters_are_values_never_text(self, full):
        for text in [*INJECTIONS, "x\x00y"]:
            assert full.query("RETURN $value AS value", value=text)["value"].to_pylist() == [text]
        assert full.query("RETURN '$nope' AS a, \"$nope\" AS `$b` /* $c */ // $d").num_rows == 1
        assert full.read("news") == news()

    def test_numpy_and_sets_are_taken_as_parameters(self, full):
        text = "MATCH (i:Instance) WHERE i.year IN $years RETURN count(*) AS n"
        for years in (np.array([1996]), {np.int64(1996)}, (1996,), [np.int32(1996)]):
            assert full.query(text, years=years)["n"].to_pylist() == [2]
        value = np.float32(0.5)
        assert full.query("RETURN $x AS x", x=value)["x"].to_pylist() == [0.5]

    @pytest.mark.parametrize(
        "text",
        ["MATCH (n RETURN n", "", "RETURN nonsense", "MATCH (n) RETURN n LIMIT -", "RETURN 1 AS a; RETURN 2 AS b"],
    )
    def test_a_query_that_is_none_is_refused(self, full, text):
        with pytest.raises(InvalidQuery):
            full.query(text)

    def test_a_parameter_without_a_value_is_named(self, full):
        with pytest.raises(InvalidQuery, match=r"n=\.\.\."):
            full.query("MATCH (i:Instance) RETURN i.key LIMIT $n", m=1)

    @pytest.mark.parametrize(
        "text",
        [
            "MATCH (n:Label) DETACH DELETE n",
            "MATCH (i:Instance) SET i.text = 'x'",
            "CREATE (:Label {id: -3})",
            "MERGE (:Label {id: -3})",
            "COMMIT; MATCH (n:Label) DETACH DELETE n",
            "RETURN 1 AS one; MATCH (n:Label) DETACH DELETE n",
            "RETURN 1 AS one /* ' */; MATCH (n:Label) DETACH DELETE n //'",
        ],
    )
    def test_a_query_changes_nothing_unless_asked(self, full, text):
        with pytest.raises((ReadOnlyStore, InvalidQuery)):
            full.query(text)
        assert full.read("news") == news()
        assert full.verify("news").num_rows == 0

    def test_a_query_may_write_if_asked(self, full):
        full.query("MATCH (i:Instance {key: $key}) SET i.text = $text", write=True, key="d1", text="new")
        assert full.read("news", keys=["d1"]).texts == ("new",)

    def test_a_query_that_takes_too_long_is_stopped(self, full):
        heavy = (
            "UNWIND range(1, 1000000) AS a MATCH (v:Vertex) MATCH (w:Vertex) MATCH (x:Vertex) "
            "RETURN sum(a + v.label + w.label + x.label) AS n"
        )
        with pytest.raises(QueryTimeout, match=r"0\.2 s"):
            full.query(heavy, timeout=0.2)
        assert full.read("news") == news()
        assert full.query("RETURN 1 AS one", timeout=None)["one"].to_pylist() == [1]

    # -- models -----------------------------------------------------------------------------------------------------

    @SOME
    @given(data=st.data())
    def test_violations_are_the_edges_that_scores_do_not_order(self, store, data):
        d = data.draw(datasets(st.sampled_from(["a", "b", "c", "d", 7]), max_instances=5).filter(lambda d: len(d) > 0))
        scores = data.draw(score_matrices(len(d), len(d.labels)))
        store.write("any", d, mode="replace")
        order = data.draw(st.permutations(range(len(d.labels))))
        store.write_scores("any", "m", d.keys, scores[:, order], labels=[d.labels[k] for k in order])
        q = d.preferences.parts("identity")
        f = np.asarray(scores, np.float64)
        margin = f[q.instance, q.init] - f[q.instance, q.term]
        bad = np.flatnonzero(margin <= 0)
        names, keys = [str(v) for v in d.labels], [str(k) for k in d.keys]
        expected = Counter(
            (keys[q.instance[e]], names[q.init[e]], names[q.term[e]], q.weight[e], margin[e]) for e in bad
        )
        edges = store.violations("any", "m")
        found = rows_of(edges, "key", "init", "term", "weight", "margin")
        assert Counter({(str(k), str(u), str(v), w, s): n for (k, u, v, w, s), n in found.items()}) == expected
        assert edges["margin"].to_pylist() == sorted(margin[bad].tolist())
        pairs = store.violations("any", "m", by="pair")
        assert Counter((str(u), str(v), n) for u, v, n in rows_of(pairs, "init", "term", "instances")) == Counter(
            (u, v, n) for (u, v), n in Counter((e[1], e[2]) for e in expected.elements()).items()
        )
        instances = store.violations("any", "m", by="instance")
        broken = Counter(q.instance[bad].tolist())
        assert sorted(instances["edges"].to_pylist()) == sorted(broken.values())
        with np.errstate(over="ignore"):  # weights go up to the largest float
            weight = np.bincount(q.instance[bad], q.weight[bad], len(d))
        np.testing.assert_allclose(sorted(instances["weight"].to_pylist()), sorted(weight[list(broken)]))

    def test_scores_written_again_take_the_place_of_the_old_ones(self, full, look):
        keys, labels = ["d1", "1"], full.labels("news")
        for sign in (1.0, -1.0):
            full.write_scores("news", "m", keys, sign * np.array([[4, 3, 2, 1.0]] * 2))
        full.write_scores("news", "other 'model'", keys[:1], np.ones((1, 4)))
        assert full.stats("news")["models"] == ["m", "other 'model'"]
        assert sum(row["n"] for row in look("MATCH (r:Ranking) RETURN count(*) AS n")) == 3
        assert labels == ["gas", "oil", "sun", "wind"]
        assert full.violations("news", "m", by="instance").to_pylist() == [
            {"key": "1", "edges": 2, "weight": 2.0},
            {"key": "d1", "edges": 1, "weight": 2.5},
        ]

    def test_scores_that_do_not_fit_are_refused_and_leave_nothing(self, full, look):
        fine = np.ones((1, 4))
        for keys, scores, labels, error in [
            (["d1"], np.ones((1, 3)), None, InvalidScores),
            (["d1"], fine * np.nan, None, InvalidScores),
            (["d1"], np.ones((1, 3)), ["oil", "gas", "wind"], InvalidScores),
            (["d1"], np.ones((1, 5)), ["oil", "gas", "wind", "sun", "oil"], InvalidScores),
            (["nobody"], fine, None, InstanceNotFound),
            (["d1", "d1"], np.ones((2, 4)), None, InvalidDataset),
        ]:
            with pytest.raises(error):
                full.write_scores("news", "m", keys, scores, labels)
        with pytest.raises(InvalidDataset):
            full.write_scores("news", "", ["d1"], fine)
        with pytest.raises(DatasetNotFound):
            full.write_scores("nope", "m", ["d1"], fine)
        with pytest.raises(DatasetNotFound, match="'m'"):
            full.violations("news", "m")
        assert look("MATCH (m:Model) RETURN count(*) AS n") == [{"n": 0}]
        with pytest.raises(InvalidOption, match="'label'"):
            full.violations("news", "m", by="label")

    # -- verify -----------------------------------------------------------------------------------------------------

    @pytest.mark.parametrize(
        ("tampering", "what"),
        [
            ("MATCH (v:Vertex)-[e:PREFERRED_TO]->(w:Vertex) WHERE e.weight > 2 SET e.weight = 9.0", "graph"),
            ("MATCH (v:Vertex)-[e:PREFERRED_TO]->(w:Vertex) WHERE e.judge = 'ann' SET e.judge = 'eve'", "graph"),
            ("MATCH (v:Vertex)-[e:PREFERRED_TO]->(w:Vertex) WHERE e.judge = 'ann' DELETE e", "graph"),
            (
                (
                    "MATCH (g:PreferenceGraph)-[:HAS]->(v:Vertex)-[:IS]->(:Label {name: 'oil'}) WHERE g.n_vertices = 3 "
                    "MATCH (g)-[:HAS]->(w:Vertex)-[:IS]->(:Label {name: 'wind'}) "
                    "CREATE (v)-[:PREFERRED_TO {weight: 1.0}]->(w)"
                ),
                "graph",
            ),
            ("MATCH (v:Vertex)-[:IS]->(:Label {name: 'sun'}) DETACH DELETE v", "graph"),
            ("MATCH (v:Vertex) WHERE v.label = 0 SET v.label = 1", "graph"),
            ("MATCH (g:PreferenceGraph) WHERE g.cyclic SET g.cyclic = false", "graph"),
            ("MATCH (g:PreferenceGraph) WHERE g.cyclic SET g.key = 'x'", "graph"),
            ("MATCH (g:PreferenceGraph) WHERE g.cyclic SET g.n_edges = 77", "graph"),
            ("MATCH (g:PreferenceGraph) WHERE g.n_vertices = 3 SET g.packed = $bytes", "graph"),
            ("MATCH (l:Label) WHERE l.name = 'oil' SET l.name = 'OIL'", "graph"),
            ("MATCH (i:Instance) WHERE i.key = 'd1' SET i.key = 'd2'", "instances"),
            ("MATCH (i:Instance) WHERE i.key = 'd1' SET i.year = 1", "instances"),
            ("MATCH (i:Instance) WHERE i.key = 'd1' SET i.text = NULL", "instances"),
            ("MATCH (i:Instance) WHERE i.key = 'd1' SET i.weight = 2.0", "instances"),
            ("MATCH (i:Instance) WHERE i.key = 'd1' SET i.features = $bytes", "instances"),
            ("MATCH (i:Instance) WHERE i.key = 'd1' DETACH DELETE i", "instances"),
            ("MATCH (i:Instance)-[s:SUPERVISED_BY]->(g:PreferenceGraph) WHERE i.key = 'd1' DELETE s", "instances"),
            ("MATCH (d:Dataset)-[c:CONTAINS]->(i:Instance) WHERE i.key = 'd1' DELETE c", "instances"),
        ],
        ids=range(19),
    )
    def test_verify_finds_what_was_changed_behind_its_back(self, full, look, tampering, what):
        assert full.verify("news").num_rows == 0
        look(tampering, **({"bytes": b"Enonsense"} if "$bytes" in tampering else {}))
        found = full.verify("news")
        assert what in found["what"].to_pylist()
        assert found.column_names == ["what", "key", "problem"]

    # -- export and import ------------------------------------------------------------------------------------------

    def test_an_export_is_read_by_every_backend(self, full, tmp_path):
        full.write("it's / odd", small())
        full.write("news", _renamed(news().take([0, 1]), ["n1", "n2"]), mode="append")
        full.export_to(tmp_path / "export")
        with open_store(":memory:") as other:
            other.import_from(tmp_path / "export")
            assert other.datasets() == full.datasets()
            for name in other.datasets():
                assert other.read(name) == full.read(name)
                assert other.verify(name).num_rows == 0
            other.export_to(tmp_path / "again", ["news"])
        full.delete("news")
        full.import_from(tmp_path / "again")
        assert len(full.read("news")) == 8
        with pytest.raises(DatasetExists):
            full.import_from(tmp_path / "export")
        full.import_from(tmp_path / "export", ["it's / odd"], mode="replace")
        with pytest.raises(DatasetNotFound, match="'nope'"):
            full.import_from(tmp_path / "export", ["nope"])
        with pytest.raises(DatasetNotFound, match="'nope'"):
            full.export_to(tmp_path / "third", ["nope"])
        with pytest.raises(InvalidFile, match="not empty"):
            full.export_to(tmp_path / "export")

    @SOME
    @given(data=datasets())
    def test_an_export_says_all(self, store, data, tmp_path_factory):
        folder = tmp_path_factory.mktemp("export") / "x"
        store.write("any", data, mode="replace")
        store.export_to(folder, ["any"])
        store.delete("any")
        store.import_from(folder)
        assert store.read("any") == data

    def test_a_broken_export_is_refused(self, full, tmp_path):
        full.export_to(tmp_path / "x")
        full.delete("news")

        def refused(change):
            saved = {path: path.read_bytes() for path in (tmp_path / "x").rglob("*") if path.is_file()}
            change()
            with pytest.raises(InvalidFile):
                full.import_from(tmp_path / "x")
            assert full.datasets() == []
            for path, data in saved.items():
                path.write_bytes(data)

        folder = tmp_path / "x" / "0000"
        for name in ("instances", "graphs", "labels"):
            path = folder / f"{name}.parquet"
            refused(lambda path=path: path.write_bytes(path.read_bytes()[:-9]))
            refused(path.unlink)
            refused(lambda path=path: path.write_bytes(b""))
            refused(lambda path=path: pa.parquet.write_table(pa.parquet.read_table(path).slice(1), path))
            refused(lambda path=path: pa.parquet.write_table(pa.table({"nothing": [1]}), path))
        for path in (folder / "header.json", tmp_path / "x" / "index.json"):
            refused(lambda path=path: path.write_text("{"))
            refused(lambda path=path: path.write_text("[]"))
            refused(lambda path=path: path.write_text("{}"))
            refused(path.unlink)
        index = tmp_path / "x" / "index.json"
        refused(lambda: index.write_text(json.dumps({**json.loads(index.read_text()), "version": 99})))
        refused(lambda: index.write_text(json.dumps({**json.loads(index.read_text()), "datasets": {"news": "../.."}})))
        with pytest.raises(InvalidFile):
            full.import_from(tmp_path / "nowhere")
        full.import_from(tmp_path / "x")
        assert full.read("news") == news()

    # -- all or nothing ---------------------------------------------------------------------------------------------

    @pytest.mark.parametrize("mode", ["create", "replace", "append"])
    @pytest.mark.parametrize(
        "error", [StoreError("no"), KeyboardInterrupt(), MemoryError()], ids=lambda e: type(e).__name__
    )
    def test_a_write_that_fails_in_the_middle_leaves_nothing(self, full, look, monkeypatch, mode, error):
        before = look(self.COUNT_NODES)
        backend, load = full._backend, full._backend.load

        def broken(batch):
            load(type(batch)(batch.dataset, batch.nodes, dict(list(batch.relationships.items())[:3]), batch.columns))
            raise error

        monkeypatch.setattr(backend, "load", broken)
        data = _renamed(news().take([1]), ["new"])
        with pytest.raises(type(error)):
            full.write("other" if mode == "create" else "news", data, mode=mode)
        with pytest.raises(type(error)):
            full.write_scores("news", "m", ["d1"], np.ones((1, 4)))
        monkeypatch.undo()
        assert look(self.COUNT_NODES) == before
        assert full.datasets() == ["news"]
        assert full.read("news") == news()
        full.write("news", data, mode="append")
        assert len(full.read("news")) == 7

    def test_a_write_whose_last_answer_is_lost_is_there(self, full, monkeypatch):
        backend, transaction = full._backend, full._backend.transaction

        def lossy(statements):
            answer = transaction(statements)
            if any("SET d.name = $name" in text for text, _ in statements):
                raise StoreError("the answer got lost")
            return answer

        monkeypatch.setattr(backend, "transaction", lossy)
        full.write("news", small(), mode="replace")
        monkeypatch.undo()
        assert full.read("news") == small()

    @pytest.mark.parametrize("mode", ["replace", "append"])
    def test_a_write_that_another_overtook_changes_nothing(self, full, monkeypatch, mode):
        show = writing._show
        more = _renamed(news().take([0]), ["other"])

        def overtaken(store, *rest):
            monkeypatch.setattr(writing, "_show", show)
            store.write("news", more, mode="append")
            return show(store, *rest)

        monkeypatch.setattr(writing, "_show", overtaken)
        with pytest.raises(StoreBusy, match="'news'"):
            full.write("news", _renamed(news().take([1]), ["mine"]), mode=mode)
        assert full.read("news") == pg.PreferenceDataset.concatenate([news(), more])
        assert full.verify("news").num_rows == 0

    def test_a_read_that_a_write_came_between_is_done_again(self, full, monkeypatch):
        instances = full._instances

        def late(*arguments):
            monkeypatch.undo()
            full.write("news", small(), mode="replace")
            return instances(*arguments)

        monkeypatch.setattr(full, "_instances", late)
        assert full.read("news") == small()

    # -- opening and closing ----------------------------------------------------------------------------------------

    def test_a_store_that_is_opened_again_has_all_it_had(self, durable):
        store, reopen = durable
        store.write("news", news())
        store.write("news", _renamed(news().take([0]), ["more"]), mode="append")
        store.write_scores("news", "m", ["d1"], np.ones((1, 4)))
        before = store.read("news"), store.stats("news"), store.violations("news", "m")
        store = reopen()
        assert (store.read("news"), store.stats("news"), store.violations("news", "m")) == before
        store.write("other", small())
        store.delete("news")
        store = reopen()
        assert store.datasets() == ["other"]
        assert store.read("other") == small()

    def test_a_closed_store_says_so(self, full):
        pieces = full.stream("news", batch_size=1)
        next(pieces)
        full.close()
        full.close()
        for use in (
            full.datasets,
            lambda: full.read("news"),
            lambda: full.write("x", small()),
            lambda: full.query("RETURN 1 AS one"),
            lambda: full.delete("news"),
            lambda: next(pieces),
        ):
            with pytest.raises(StoreError, match="open it again"):
                use()

    def test_a_store_is_a_context_and_names_itself(self, store):
        with store as same:
            assert same is store
            assert store.url in repr(store)
        with pytest.raises(StoreError):
            store.datasets()


def _columns(data):
    names = ("keys", "X", "texts", "preferences", "properties", "hierarchy", "split", "candidates")
    return {name: getattr(data, name) for name in names}


def _renamed(data, keys):
    return pg.PreferenceDataset(**{**_columns(data), "keys": keys})


def _needed(question):
    return {"neighbours": {"key": "d1"}, "by_property": {"property": "year", "value": 1996}}.get(question, {})
