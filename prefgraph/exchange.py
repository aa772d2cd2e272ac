"""Preference graphs in other programs' formats: edge tables (Arrow, pandas), JSON and GraphML."""

from __future__ import annotations

import json
import re
from os import PathLike, fspath
from typing import TYPE_CHECKING, Any
from xml.etree.ElementTree import ParseError

import networkx as nx

from prefgraph._content import Label, canonical_value, label_text, said
from prefgraph.errors import InvalidFile, InvalidGraph, InvalidLabel
from prefgraph.graph import PreferenceGraph, edge_content

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["from_json", "from_table", "graphs_from_table", "read_graphml", "to_json", "to_table", "write_graphml"]

_NOT_IN_XML = re.compile("[\x00-\x08\x0b-\x1f\ud800-\udfff\ufffe\uffff]")


def to_table(graph: PreferenceGraph) -> pa.Table:
    """The edges as an Arrow table with the columns init, term, weight and one for each attribute.

    An isolated label is a row with init only. ``to_table(graph).to_pandas()`` is a data frame.

    Raises
    ------
    InvalidLabel
        The labels are not all str or all int: a column has one type.

    Examples
    --------
    >>> import prefgraph as pg
    >>> g = pg.PreferenceGraph([("a", "b", {"judge": "ann"}), ("b", "c", {"weight": 2})], nodes=["d"])
    >>> to_table(g).to_pylist()[0]
    {'init': 'a', 'term': 'b', 'weight': 1.0, 'judge': 'ann'}
    >>> from_table(to_table(g)) == g
    True
    """
    import pyarrow as pa

    kinds = {"text" if label_text(v).startswith('"') else "int" for v in graph}
    if len(kinds) > 1:
        raise InvalidLabel(f"{graph!r} has labels of type str and int; a column has one type, rename the labels first")
    isolated: list[tuple[Any, Any, Any, dict[str, Any]]] = [(v, None, None, {}) for v in graph if not graph.degree(v)]
    content = [*edge_content(graph), *isolated]
    names = list(dict.fromkeys(name for *_, data in content for name in data))
    if taken := {"init", "term", "weight"}.intersection(names):
        raise InvalidGraph(f"an edge has the attribute {min(taken)!r}, the name of a column of the table; rename it")
    kind = pa.int64() if kinds == {"int"} else pa.string()
    columns: dict[str, Any] = {
        "init": pa.array([row[0] for row in content], kind),
        "term": pa.array([row[1] for row in content], kind),
        "weight": pa.array([row[2] for row in content], pa.float64()),
    }
    for name in names:
        try:
            columns[name] = pa.array([data.get(name) for *_, data in content])
        except pa.ArrowException:
            raise InvalidGraph(
                f"the edge attribute {name!r} has values of several types; a column has one type"
            ) from None
    return pa.table(columns)


def from_table(table: Any, *, init: str = "init", term: str = "term", weight: str = "weight") -> PreferenceGraph:
    """A graph from an edge table: an Arrow table or a pandas data frame with a row for each edge.

    Parameters
    ----------
    table
        Columns beyond the named ones become edge attributes; missing values say nothing. A row without term is an
        isolated label.
    init, term, weight
        The names of the columns; that of weights may be missing.

    Raises
    ------
    InvalidGraph
        A column or a label is missing, an edge stands twice (give votes to `from_pairs`), or the rule is broken.

    Examples
    --------
    >>> import pyarrow as pa
    >>> print(from_table(pa.table({"winner": [1, 2], "loser": [2, 3]}), init="winner", term="loser"))
    1>2, 2>3
    """
    rows = _rows(table, (init, term))
    return _graph_of(rows, init, term, weight, None)


def graphs_from_table(
    table: Any, *, instance: str = "instance", init: str = "init", term: str = "term", weight: str = "weight"
) -> dict[Any, PreferenceGraph]:
    """A graph for each instance from one edge table, with a column that says which instance a row is about.

    Examples
    --------
    >>> import pyarrow as pa
    >>> table = pa.table({"prompt": ["p", "p", "q"], "init": [1, 2, 2], "term": [2, 3, 1]})
    >>> {key: str(graph) for key, graph in graphs_from_table(table, instance="prompt").items()}
    {'p': '1>2, 2>3', 'q': '[2|1]'}
    """
    groups: dict[Any, list[dict[str, Any]]] = {}
    for row in _rows(table, (instance, init, term)):
        groups.setdefault(row.pop(instance), []).append(row)
    return {key: _graph_of(rows, init, term, weight, key) for key, rows in groups.items()}


def _rows(table: Any, columns: tuple[str, ...]) -> list[dict[str, Any]]:
    import pyarrow as pa

    if hasattr(table, "iloc"):
        table = pa.Table.from_pandas(table, preserve_index=False)
    if not isinstance(table, pa.Table):
        raise InvalidGraph(f"{type(table).__name__} is not an edge table; give a pyarrow table or a pandas data frame")
    for name in columns:
        if name not in table.column_names:
            raise InvalidGraph(f"the table has no column {name!r}; its columns are {', '.join(table.column_names)}")
    return list(table.to_pylist())


def _graph_of(rows: list[dict[str, Any]], init: str, term: str, weight: str, instance: object) -> PreferenceGraph:
    graph = PreferenceGraph(instance=instance)
    edges: dict[tuple[Label, Label], dict[str, Any]] = {}
    for number, row in enumerate(rows):
        u, v, w = row.pop(init), row.pop(term), row.pop(weight, None)
        data = {**said(row), **({} if w is None or w == 1.0 else {"weight": w})}
        if u is None:
            raise InvalidGraph(f"row {number} of the edge table has no {init}; every row names a label there")
        graph.add_node(u)
        if v is None:
            continue
        if (u, v) in edges:
            raise InvalidGraph(f"the edge from {u!r} to {v!r} stands twice in the table; add up votes with from_pairs")
        edges[u, v] = data
    graph.add_edges_from((u, v, data) for (u, v), data in edges.items())
    return graph


def to_json(graph: PreferenceGraph) -> str:
    """The graph as JSON text in networkx's node-link form, with all attributes that are plain data.

    Examples
    --------
    >>> import prefgraph as pg
    >>> g = pg.PreferenceGraph([(1, 2, {"judge": "ann"})], instance="d1")
    >>> from_json(to_json(g)) == g, from_json(to_json(g)).instance
    (True, 'd1')
    """
    for label in graph:
        label_text(label)  # what JSON would change on the way is refused here
    for name in ("id", "source", "target"):
        if any(name in data for *_, data in graph.edges(data=True)) or any(name in d for _, d in graph.nodes.data()):
            raise InvalidGraph(f"the graph has the attribute {name!r}, a name that the node-link form needs; rename it")
    data = nx.node_link_data(graph, edges="edges")
    return json.dumps(canonical_value(data, "the graph"), ensure_ascii=False)


def from_json(text: str) -> PreferenceGraph:
    """A graph from JSON text in networkx's node-link form."""
    try:
        data = json.loads(text)
        graph = nx.node_link_graph(data, directed=True, multigraph=False, edges="edges" if "edges" in data else "links")
    except (ValueError, KeyError, TypeError, AttributeError, nx.NetworkXError) as error:
        raise InvalidGraph(
            f"not a graph in node-link form ({error!r}); give what to_json() or networkx wrote"
        ) from None
    return PreferenceGraph(graph)


def write_graphml(graph: PreferenceGraph, path: str | PathLike[str]) -> None:
    """Write the graph as a GraphML file. Labels keep their type: each node has its JSON text as ``label``.

    Examples
    --------
    >>> import tempfile, pathlib, prefgraph as pg
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "g.graphml"
    >>> write_graphml(pg.parse("1>2, 2>3, 3>1"), file)
    >>> print(read_graphml(file))
    1>2, 2>3, 3>1
    """
    plain: nx.DiGraph[str] = nx.DiGraph()
    names = {v: f"n{k}" for k, v in enumerate(graph)}
    for label, name in names.items():
        plain.add_node(name, label=label_text(label))
    for init, term, weight, data in edge_content(graph):
        plain.add_edge(names[init], names[term], weight=weight)
        for key, value in data.items():
            if not isinstance(value, (str, bool, int, float)) or _NOT_IN_XML.search(key + str(value)):
                raise InvalidGraph(
                    f"the edge from {init!r} to {term!r}: attribute {key!r} is {value!r}; GraphML takes text without "
                    "control characters, bools and numbers"
                )
            plain[names[init]][names[term]][key] = value
    nx.write_graphml_xml(plain, fspath(path))


def read_graphml(path: str | PathLike[str]) -> PreferenceGraph:
    """Read a GraphML file: one that `write_graphml` wrote, or any other directed one, whose node ids become labels."""
    try:
        graph = nx.read_graphml(fspath(path))
        names = {v: json.loads(data["label"]) if "label" in data else v for v, data in graph.nodes.data()}
    except (ParseError, nx.NetworkXError, ValueError, KeyError) as error:
        raise InvalidFile(
            f"{fspath(path)}: not a GraphML file ({error}); give one that write_graphml() wrote"
        ) from None
    renamed = PreferenceGraph(nodes=names.values())
    directed = PreferenceGraph(graph)
    renamed.add_edges_from(
        (names[u], names[v], {k: w for k, w in data.items() if (k, w) != ("weight", 1.0) and k != "id"})
        for u, v, data in directed.edges(data=True)
    )
    return renamed
