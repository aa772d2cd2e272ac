"""Exchange: what goes out comes back, and what would change on the way is refused."""

import json
import math
import tempfile
from datetime import date
from pathlib import Path

import networkx as nx
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import prefgraph as pg
from prefgraph import InvalidFile, InvalidGraph, InvalidLabel, PreferenceGraph
from tests.strategies import labels, preference_graphs, simple_values

TEXTS = labels().filter(lambda v: isinstance(v, str))
NUMBERS = labels(bits=64).filter(lambda v: isinstance(v, int))
SMALL_NUMBERS = st.integers(-(2**53), 2**53)  # a data frame makes floats of ints where one is missing


def one_type_graphs(*kinds):
    """Graphs whose labels, and whose attributes of one name, have one type each, as the columns of a table."""
    kind = st.sampled_from(kinds)
    values = st.sampled_from(
        [st.text(max_size=3), st.booleans(), st.floats(-1e300, 1e300), st.lists(st.text(max_size=2))]
    )
    return st.tuples(kind, values).flatmap(
        lambda k: preference_graphs(k[0], max_labels=5, weights=True, attributes=k[1])
    )


@given(graph=one_type_graphs(TEXTS, NUMBERS))
def test_a_table_gives_the_graph_back(graph):
    table = pg.to_table(graph)
    assert table.column_names[:3] == ["init", "term", "weight"]
    assert table.num_rows == graph.number_of_edges() + sum(not graph.degree(v) for v in graph)
    again = pg.from_table(table)
    assert again == graph
    assert again.key == graph.key


@given(graph=one_type_graphs(TEXTS, SMALL_NUMBERS))
def test_a_data_frame_gives_the_graph_back(graph):
    again = pg.from_table(pg.to_table(graph).to_pandas())
    # A data frame has no lists without types: numpy arrays come back, which are lists to the key.
    assert again == graph
    assert again.key == graph.key


@given(graphs=st.lists(one_type_graphs(TEXTS), max_size=3))
def test_a_table_of_many_instances_gives_each_graph_back(graphs):
    plain = [pg.from_pairs(graph.edges.data("weight", default=1.0), graph) for graph in graphs]  # no attributes
    rows = [{**row, "instance": f"d{k}"} for k, graph in enumerate(plain) for row in pg.to_table(graph).to_pylist()]
    columns = {"init": pa.string(), "term": pa.string(), "weight": pa.float64(), "instance": pa.string()}
    found = pg.graphs_from_table(pa.Table.from_pylist(rows[::-1], pa.schema(columns.items())))
    assert found == {f"d{k}": graph for k, graph in enumerate(plain) if len(graph)}
    assert all(graph.instance == key for key, graph in found.items())


def test_columns_may_have_other_names_and_say_nothing_where_empty():
    table = pa.table(
        {"w": ["a", "b", "c"], "l": ["b", "c", None], "n": [1.0, None, None], "judge": [None, "ann", None]}
    )
    graph = pg.from_table(table, init="w", term="l", weight="n")
    assert dict(graph["a"]["b"]) == {}
    assert dict(graph["b"]["c"]) == {"judge": "ann"}
    assert list(pg.from_table(table.select(["w", "l", "judge"]), init="w", term="l").edges) == [("a", "b"), ("b", "c")]


@pytest.mark.parametrize(
    ("frame", "expected"),
    [
        ({"init": [1.0, 2.0], "term": [2.0, math.nan]}, "[1|2]"),
        ({"init": ["a", "b"], "term": ["b", None]}, "[a|b]"),
        ({"init": pd.array([1, 3], "Int64"), "term": pd.array([2, pd.NA], "Int64")}, "1>2, 3"),
        ({"init": pd.Categorical(["a", "b"]), "term": pd.Categorical(["b", "c"])}, "a>b, b>c"),
        ({"init": [1, 2], "term": [2, 3], "weight": [math.nan, 0.5]}, "1>2, 2>3:0.5"),
        ({"init": [1.5, 2.0], "term": [2.0, 3.5]}, "1.5>2.0, 2.0>3.5"),
    ],
)
def test_data_frames_with_gaps_are_read(frame, expected):
    graph = pg.from_table(pd.DataFrame(frame))
    assert str(graph) == expected


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ([("a", "b")], "list is not an edge table; give a pyarrow table or a pandas data frame"),
        (pa.table({"init": [1]}), "the table has no column 'term'; its columns are init"),
        (pa.table({"init": [1, None], "term": [2, 3]}), "row 1 of the edge table has no init; every row names a label"),
        (pa.table({"init": [1, 1], "term": [2, 2]}), "the edge from 1 to 2 stands twice in the table; .*from_pairs"),
        (pa.table({"init": [1, 2], "term": [2, 1]}), "labels 2 and 1 are each preferred to the other"),
        (pa.table({"init": [1], "term": [1]}), "label 1 is preferred to itself"),
        (pa.table({"init": [1], "term": [2], "weight": [math.nan]}), "the edge from 1 to 2 has weight nan"),
        (pa.table({"init": [1], "term": [2], "weight": ["x"]}), "the edge from 1 to 2 has weight 'x'"),
        (pa.table({"init": [[1]], "term": [2]}), r"label \[1\] cannot be hashed"),
        (pa.table({"init": [1], "term": [[2]]}), r"label \[2\] cannot be hashed"),
        (pd.DataFrame({"init": [1, "a"], "term": ["b", 2]}, dtype=object), "cannot become a table .*one type"),
    ],
)  # fmt: skip
def test_a_table_that_is_no_graph_is_refused(table, message):
    with pytest.raises((InvalidGraph, InvalidLabel), match=message):
        pg.from_table(table)


def test_a_table_of_instances_names_row_and_instance():
    def table(**columns):
        return pa.table({"instance": ["p", "q", "q"], "init": [1, 1, 2], "term": [2, 2, 3], **columns})

    assert list(pg.graphs_from_table(table())) == ["p", "q"]
    with pytest.raises(InvalidGraph, match="row 2 of the edge table has no init"):
        pg.graphs_from_table(table(init=[1, 1, None]))
    with pytest.raises(InvalidGraph, match=r"row 1 of the edge table has instance None; every row names its instance"):
        pg.graphs_from_table(table(instance=["p", None, "q"]))
    with pytest.raises(InvalidGraph, match=r"row 0 of the edge table has instance \['p'\]"):
        pg.graphs_from_table(table(instance=[["p"], ["q"], ["q"]]))
    with pytest.raises(InvalidGraph, match=r"instance 'q': the edge from 1 to 2 stands twice"):
        pg.graphs_from_table(table(init=[1, 1, 1], term=[2, 2, 2]))
    with pytest.raises(InvalidGraph, match=r"instance 'q': labels 2 and 1 are each preferred"):
        pg.graphs_from_table(table(term=[2, 2, 1]))
    with pytest.raises(InvalidLabel, match=r"instance 'q': label \[1\] cannot be hashed"):
        pg.graphs_from_table(table(term=[[1]] * 3, instance=["q"] * 3))
    with pytest.raises(InvalidGraph, match=r"the columns 'init', 'term', 'init' are not distinct"):
        pg.graphs_from_table(table(), instance="init")
    with pytest.raises(InvalidGraph, match="the table has no column 'prompt'"):
        pg.graphs_from_table(table(), instance="prompt")


@pytest.mark.parametrize(
    ("edges", "error", "message"),
    [
        ([(1, "a")], InvalidLabel, "has labels of type str and int; a column has one type, rename the labels first"),
        ([(1.5, 2)], InvalidLabel, "labels are str or int"),
        ([(1, 2**63)], InvalidLabel, "label 9223372036854775808 does not fit into 64 bits; rename it"),
        ([(1, 2, {"init": 5})], InvalidGraph, "an edge has the attribute 'init'; a column has a name of its own"),
        ([(1, 2, {0: 5})], InvalidGraph, "an edge has the attribute 0; a column has a name of its own, a str"),
        ([(1, 2, {"x": 5}), (2, 3, {"x": "5"})], InvalidGraph, "'x' has values of type int, str that one column"),
        ([(1, 2, {"x": 5}), (2, 3, {"x": 5.5})], InvalidGraph, "attribute 'x' has values of type float, int that one"),
        ([(1, 2, {"x": {"a": 1}}), (2, 3, {"x": {"b": 1}})], InvalidGraph, "values of type dict that one column"),
        ([(1, 2, {"x": 2**70})], InvalidGraph, "values of type int that one column cannot hold unchanged"),
        ([(1, 2, {"x": "\ud800"})], InvalidGraph, "values of type str that one column cannot hold unchanged"),
        ([(1, 2, {"x": object()})], InvalidGraph, "values of type object that one column cannot hold unchanged"),
    ],
)  # fmt: skip
def test_a_graph_that_no_table_can_hold_is_refused(edges, error, message):
    with pytest.raises(error, match=message):
        pg.to_table(PreferenceGraph(edges))


def test_a_table_holds_what_arrow_holds():
    graph = PreferenceGraph([(1, 2, {"when": date(2024, 1, 1), "who": ("a", "b"), "n": np.int8(3)})])
    again = pg.from_table(pg.to_table(graph))
    assert again == graph
    assert pg.to_table(PreferenceGraph()).num_rows == 0
    assert pg.from_table(pg.to_table(PreferenceGraph())) == PreferenceGraph()


# -- JSON -------------------------------------------------------------------------------------------------------------


@given(graph=preference_graphs(labels(), max_labels=5, weights=True, attributes=True), title=st.text(max_size=3))
def test_json_gives_the_graph_back_with_its_attributes(graph, title):
    graph.graph.update(instance="d17", title=title)
    graph.add_nodes_from(list(graph)[:1], colour=title)
    text = pg.to_json(graph)
    again = pg.from_json(text)
    assert again == graph
    assert again.key == graph.key
    assert (again.instance, again.graph["title"]) == ("d17", title)
    assert dict(again.nodes.data()) == dict(graph.nodes.data())
    assert pg.from_json(text.encode()) == graph


def test_json_keeps_what_votes_were_dropped():
    graph = pg.from_pairs([("a", "b"), ("b", "a", 2)], on_contradiction="majority")
    assert pg.from_json(pg.to_json(graph)).dropped == graph.dropped == (("a", "b", 1.0),)


def test_json_of_networkx_is_read_with_either_name_of_the_edges():
    graph = nx.DiGraph([("a", "b", {"weight": 2}), ("b", "c")])
    for name in ("edges", "links"):
        assert pg.from_json(json.dumps(nx.node_link_data(graph, edges=name))) == PreferenceGraph(graph)


def test_json_writes_numpy_numbers():
    graph = PreferenceGraph([(np.int64(1), np.int64(2), {"weight": np.float32(0.5), "x": np.array([1, 2])})])
    assert pg.from_json(pg.to_json(graph)) == graph


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "not a graph in node-link form"),
        ("{}", "not a graph in node-link form"),
        ("[]", "not a graph in node-link form"),
        ("3", "not a graph in node-link form"),
        (None, "not a graph in node-link form .*give what to_json.. or networkx wrote"),
        ('{"nodes": [5], "edges": []}', "not a graph in node-link form"),
        ('{"nodes": [], "edges": [{"source": 1}]}', "not a graph in node-link form"),
        ('{"nodes": [{"id": {}}], "edges": []}', "not a graph in node-link form"),
        ('{"graph": 5, "nodes": [], "edges": []}', "not a graph in node-link form"),
        ('{"directed": false, "nodes": [], "edges": []}', "Graph has no directions"),
        (
            (
                '{"graph": {"instance": "d"}, "nodes": [],'
                ' "edges": [{"source": 1, "target": 2}, {"source": 1, "target": 2}]}'
            ),
            "instance 'd': an edge stands twice in the JSON text",
        ),
        (
            (
                '{"graph": {"instance": "d"}, "nodes": [],'
                ' "edges": [{"source": 1, "target": 2}, {"source": 2, "target": 1}]}'
            ),
            "instance 'd': labels 2 and 1 are each preferred",
        ),
        ('{"nodes": [], "edges": [{"source": 1, "target": 2, "weight": NaN}]}', "has weight nan"),
    ],
)
def test_json_that_is_no_graph_is_refused(text, message):
    with pytest.raises(InvalidGraph, match=message):
        pg.from_json(text)


def test_json_refuses_what_it_would_change():
    with pytest.raises(InvalidLabel, match="labels are str or int"):
        pg.to_json(PreferenceGraph(nodes=[(1, 2)]))
    for name in ("id", "source", "target"):
        with pytest.raises(
            InvalidGraph, match=f"the graph has the attribute '{name}', a name that the node-link form needs"
        ):
            pg.to_json(PreferenceGraph([(1, 2, {name: 5})]))
        with pytest.raises(InvalidGraph, match=f"the graph has the attribute '{name}'"):
            pg.to_json(PreferenceGraph(nodes=[(1, {name: 5})]))
    with pytest.raises(InvalidGraph, match=r"datetime\.date"):
        pg.to_json(PreferenceGraph([(1, 2, {"when": date(2024, 1, 1)})]))


# -- GraphML ----------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def folder():
    with tempfile.TemporaryDirectory() as name:
        yield Path(name)


@given(graph=preference_graphs(labels(), max_labels=5, weights=True, attributes=simple_values()))
def test_graphml_gives_the_graph_back(folder, graph):
    for path in (folder / "g.graphml", str(folder / "g.graphml.gz")):
        pg.write_graphml(graph, path)
        again = pg.read_graphml(path)
        assert again == graph
        assert again.key == graph.key


@pytest.mark.parametrize("name", ["id", "key", "label", "source", "target", "x y", "<&>", "d0", "weights"])
def test_graphml_keeps_attributes_of_any_name(folder, name):
    graph = PreferenceGraph([(1, 2, {name: "", "n": np.int64(3)}), (2, 3, {name: 5}), (3, 1, {name: True})])
    pg.write_graphml(graph, folder / "names.graphml")
    assert pg.read_graphml(folder / "names.graphml") == graph


@pytest.mark.parametrize(
    "value", ["a\x00", "\x1b", "a\rb", "\ufffe", [1], {"a": 1}, math.inf, "\ud800", date(2024, 1, 1)]
)
def test_graphml_refuses_what_it_cannot_hold(folder, value):
    with pytest.raises(InvalidGraph, match="the edge from 1 to 2: attribute 'x' is "):
        pg.write_graphml(PreferenceGraph([(1, 2, {"x": value})]), folder / "bad.graphml")


def test_graphml_refuses_names_that_are_no_text_and_labels_that_are_neither(folder):
    for name in (3, "a\x00"):
        with pytest.raises(InvalidGraph, match="GraphML takes text without control characters"):
            pg.write_graphml(PreferenceGraph([(1, 2, {name: "x"})]), folder / "bad.graphml")
    with pytest.raises(InvalidLabel, match="labels are str or int"):
        pg.write_graphml(PreferenceGraph(nodes=[1.5]), folder / "bad.graphml")


def test_graphml_of_other_programs_has_its_ids_as_labels(folder):
    other = nx.DiGraph()
    other.add_node("n0", label="oil")
    other.add_node("n1", label="oil")
    other.add_edge("n0", "n1", id="e0", weight=2, judge="ann")
    nx.write_graphml_xml(other, folder / "other.graphml", edge_id_from_attribute="id")
    graph = pg.read_graphml(folder / "other.graphml")
    assert list(graph.edges(data=True)) == [("n0", "n1", {"weight": 2, "judge": "ann"})]


@pytest.mark.parametrize(
    ("graph", "message"),
    [
        (nx.path_graph(3), "Graph has no directions"),
        (nx.MultiDiGraph([(1, 2), (1, 2)]), "2 edges from '1' to '2'"),
        (nx.DiGraph([(1, 2), (2, 1)]), "labels '2' and '1' are each preferred"),
        (nx.DiGraph([(1, 2, {"weight": "heavy"})]), "has weight 'heavy'"),
    ],
)
def test_graphml_of_what_is_no_preference_graph_is_refused(folder, graph, message):
    nx.write_graphml_xml(graph, folder / "wrong.graphml")
    with pytest.raises(InvalidGraph, match=message):
        pg.read_graphml(folder / "wrong.graphml")


def test_a_file_that_is_no_graphml_is_named(folder):
    path = folder / "broken.graphml"
    good = folder / "good.graphml"
    pg.write_graphml(pg.parse("[oil|gas]"), good)
    for text in ("", "not xml", "<a/>", good.read_text().replace('"oil"', "oil"), good.read_text()[:-30]):
        path.write_text(text)
        with pytest.raises(InvalidFile, match=r"broken\.graphml: not a GraphML file .*give one that write_graphml"):
            pg.read_graphml(path)
    with pytest.raises(FileNotFoundError):
        pg.read_graphml(folder / "none.graphml")


def test_missing_ints_and_bools_survive_pandas_in_types_that_have_gaps():
    graph = pg.PreferenceGraph([(1, 2, {"year": 1996, "sure": True}), (2, 3, {"judge": "ann"})], nodes=[4])
    mapped = {pa.int64(): pd.Int64Dtype(), pa.bool_(): pd.BooleanDtype()}
    assert pg.from_table(pg.to_table(graph).to_pandas(types_mapper=mapped.get)) == graph
    plain = pg.from_table(pg.to_table(graph).to_pandas())
    assert repr(plain[1][2]["year"]) == "1996.0"
