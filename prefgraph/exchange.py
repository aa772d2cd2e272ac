"""Preference graphs in other programs' formats: edge tables (Arrow, pandas), JSON and GraphML."""

from __future__ import annotations

import json
import re
from collections.abc import Hashable
from os import PathLike, fspath
from typing import TYPE_CHECKING, Any
from xml.etree.ElementTree import ParseError

import networkx as nx

from prefgraph._content import Label, canonical_value, check_label, label_text, plain_text, said, where
from prefgraph.errors import InvalidFile, InvalidGraph, InvalidLabel
from prefgraph.graph import PreferenceGraph, edge_content

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["from_json", "from_table", "graphs_from_table", "read_graphml", "to_json", "to_table", "write_graphml"]

_OURS = "prefgraph JSON"
_NOT_IN_XML = re.compile("[\x00-\x08\x0b-\x1f\ud800-\udfff\ufffe\uffff]")


def to_table(graph: PreferenceGraph) -> pa.Table:
    """The edges as an Arrow table with the columns init, term, weight and one for each attribute.

    An isolated label is a row with init only. ``to_table(graph).to_pandas()`` is a data frame. There an int that is
    missing in some rows makes floats of the others (1 becomes 1.0, another value and so another graph), because that is
    how pandas has a column of ints with gaps by default; types with a gap of their own keep them, as in the example.

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

    To pandas and back, an attribute that only some edges have:

    >>> import pandas as pd, pyarrow as pa
    >>> g = pg.PreferenceGraph([("a", "b", {"year": 1996}), ("b", "c")])
    >>> from_table(to_table(g).to_pandas())["a"]["b"]
    {'year': 1996.0}
    >>> from_table(to_table(g).to_pandas(types_mapper={pa.int64(): pd.Int64Dtype()}.get)) == g
    True
    """
    import pyarrow as pa

    kinds = {"text" if label_text(v).startswith('"') else "int" for v in graph}
    if len(kinds) > 1:
        raise InvalidLabel(f"{graph!r} has labels of type str and int; a column has one type, rename the labels first")
    isolated: list[tuple[Any, Any, Any, dict[str, Any]]] = [(v, None, None, {}) for v in graph if not graph.degree(v)]
    content = [*edge_content(graph), *isolated]
    names = list(dict.fromkeys(name for *_, data in content for name in data))
    if taken := [name for name in names if name in ("init", "term", "weight") or not isinstance(name, str)]:
        raise InvalidGraph(f"an edge has the attribute {taken[0]!r}; a column has a name of its own, a str: rename it")
    kind = pa.int64() if kinds == {"int"} else pa.string()
    try:
        columns: dict[str, Any] = {
            "init": pa.array([row[0] for row in content], kind),
            "term": pa.array([row[1] for row in content], kind),
            "weight": pa.array([row[2] for row in content], pa.float64()),
        }
    except OverflowError:
        wide = next(v for v in graph if not -(2**63) <= v < 2**63)  # type: ignore[operator]
        raise InvalidLabel(f"label {wide!r} does not fit into 64 bits; rename it, to a str for example") from None
    for name in names:
        columns[name] = _column(name, [data.get(name) for *_, data in content])
    return pa.table(columns)


def _column(name: str, values: list[Any]) -> pa.Array:
    """An Arrow column that gives back the very values; Arrow would turn 1 into 1.0 beside 2.5, and join dicts."""
    import pyarrow as pa

    try:
        column = pa.array(values)
    except (pa.ArrowException, OverflowError, UnicodeError):
        column = None
    if column is None or [*map(plain_text, column.to_pylist())] != [*map(plain_text, values)]:
        shown = ", ".join(sorted({type(value).__name__ for value in values if value is not None}))
        raise InvalidGraph(
            f"the edge attribute {name!r} has values of type {shown} that one column cannot hold unchanged; a column "
            "has one type, so give them one, or write JSON"
        )
    return column


def from_table(table: Any, *, init: str = "init", term: str = "term", weight: str = "weight") -> PreferenceGraph:
    """A graph from an edge table: an Arrow table or a pandas data frame with a row for each edge.

    Parameters
    ----------
    table
        Columns beyond the named ones become edge attributes; missing values say nothing. A row without term is an
        isolated label. Labels that are whole floats become ints, because a data frame makes floats of ints where one
        is missing.
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
    return _graph_of(_rows(table, init, term), init, term, weight, None)


def graphs_from_table(
    table: Any, *, instance: str = "instance", init: str = "init", term: str = "term", weight: str = "weight"
) -> dict[Any, PreferenceGraph]:
    """A graph for each instance from one edge table, with a column that says which instance a row is about.

    Parameters
    ----------
    table
        As in `from_table`, with the rows of an instance anywhere.
    instance
        The name of the column with the instances.
    init, term, weight
        As in `from_table`.

    Examples
    --------
    >>> import pyarrow as pa
    >>> table = pa.table({"prompt": ["p", "p", "q"], "init": [1, 2, 2], "term": [2, 3, 1]})
    >>> {key: str(graph) for key, graph in graphs_from_table(table, instance="prompt").items()}
    {'p': '1>2, 2>3', 'q': '[2|1]'}
    """
    groups: dict[Any, list[tuple[int, dict[str, Any]]]] = {}
    for number, row in _rows(table, init, term, instance):
        key = row.pop(instance)
        if not isinstance(key, Hashable) or key is None:
            raise InvalidGraph(f"row {number} of the edge table has {instance} {key!r}; every row names its instance")
        groups.setdefault(key, []).append((number, row))
    return {key: _graph_of(rows, init, term, weight, key) for key, rows in groups.items()}


def _rows(table: Any, *columns: str) -> list[tuple[int, dict[str, Any]]]:
    """The rows of an edge table with their numbers; the first two of the columns that it must have hold labels."""
    import pyarrow as pa

    if hasattr(table, "iloc"):
        try:
            table = pa.Table.from_pandas(table, preserve_index=False)
        except (pa.ArrowException, ValueError) as error:
            raise InvalidGraph(f"a data frame cannot become a table ({error}); a column has one type") from None
    if not isinstance(table, pa.Table):
        raise InvalidGraph(f"{type(table).__name__} is not an edge table; give a pyarrow table or a pandas data frame")
    for name in columns:
        if name not in table.column_names:
            raise InvalidGraph(f"the table has no column {name!r}; its columns are {', '.join(table.column_names)}")
    if len(set(columns)) < len(columns):
        raise InvalidGraph(f"the columns {', '.join(map(repr, columns))} are not distinct; name one for each purpose")
    rows = list(table.to_pylist())
    for name in columns[:2]:
        if all(row[name] is None or (isinstance(row[name], float) and row[name].is_integer()) for row in rows):
            for row in rows:
                row[name] = None if row[name] is None else int(row[name])
    return list(enumerate(rows))


def _graph_of(
    rows: list[tuple[int, dict[str, Any]]], init: str, term: str, weight: str, instance: object
) -> PreferenceGraph:
    """The graph of the numbered rows about one instance."""
    graph = PreferenceGraph(instance=instance)
    edges: dict[tuple[Label, Label], dict[str, Any]] = {}
    for number, row in rows:
        u, v, w = row.pop(init), row.pop(term), row.pop(weight, None)
        if u is None:
            raise InvalidGraph(f"row {number} of the edge table has no {init}; every row names a label there")
        graph.add_node(u)
        if v is None:
            continue
        edge = (u, check_label(v, instance))
        if edge in edges:
            raise InvalidGraph(
                f"{where(instance)}the edge from {u!r} to {v!r} stands twice in the table; add up votes with from_pairs"
            )
        edges[edge] = {**said(row), **({} if w is None or w == 1.0 else {"weight": w})}
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
    """A graph from JSON text in networkx's node-link form.

    Raises
    ------
    InvalidGraph
        The text is not JSON in that form, an edge stands twice, or the rule is broken.

    Examples
    --------
    >>> print(from_json('{"nodes": [{"id": "c"}], "edges": [{"source": "a", "target": "b", "weight": 2}]}'))
    a>b:2.0, c
    """
    try:
        data = json.loads(text)
        edges = "edges" if "edges" in data else "links"
        graph = nx.node_link_graph(data, directed=True, multigraph=False, edges=edges)
        graph.graph = dict(graph.graph)
        repeated = len(data[edges]) > graph.number_of_edges()
    except (ValueError, KeyError, TypeError, AttributeError, nx.NetworkXError) as error:
        raise InvalidGraph(
            f"not a graph in node-link form ({error!r}); give what to_json() or networkx wrote"
        ) from None
    if repeated:
        raise InvalidGraph(
            f"{where(graph.graph.get('instance'))}an edge stands twice in the JSON text; a pair has one edge at most"
        )
    return PreferenceGraph(graph)


def write_graphml(graph: PreferenceGraph, path: str | PathLike[str]) -> None:
    """Write the labels and edges as a GraphML file, with weights and edge attributes.

    Labels keep their type: each node has its JSON text as ``label``. Attributes of nodes and of the graph are left out.

    Parameters
    ----------
    graph
        The graph; its edge attributes are texts, bools and numbers.
    path
        The file, compressed where the name ends in ``.gz``.

    Raises
    ------
    InvalidGraph
        An attribute that GraphML cannot hold: a list, or text with control characters.

    Examples
    --------
    >>> import tempfile, pathlib, prefgraph as pg
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "g.graphml"
    >>> write_graphml(pg.parse("1>2, 2>3, 3>1"), file)
    >>> print(read_graphml(file))
    1>2, 2>3, 3>1
    """
    plain: nx.DiGraph[str] = nx.DiGraph(label_format=_OURS)
    names = {v: f"n{k}" for k, v in enumerate(graph)}
    for label, name in names.items():
        plain.add_node(name, label=label_text(label))
    for init, term, weight, data in edge_content(graph):
        plain.add_edge(names[init], names[term], weight=weight)
        place = f"the edge from {init!r} to {term!r}: attribute "
        for key, value in data.items():
            simple = canonical_value(value, place + repr(key))
            if isinstance(simple, (list, dict)) or not isinstance(key, str) or _NOT_IN_XML.search(f"{key}{simple}"):
                raise InvalidGraph(
                    f"{place}{key!r} is {value!r}; GraphML takes text without control characters, bools and numbers"
                )
            plain[names[init]][names[term]][key] = simple
    nx.write_graphml_xml(plain, fspath(path))


def read_graphml(path: str | PathLike[str]) -> PreferenceGraph:
    """Read a GraphML file: one that `write_graphml` wrote, or any other directed one, whose node ids become labels.

    Raises
    ------
    InvalidFile
        Not a GraphML file.
    InvalidGraph
        The graph in it has no directions, parallel edges, a self-loop or a two-way pair.

    Examples
    --------
    >>> import tempfile, pathlib, networkx as nx
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "g.graphml"
    >>> nx.write_graphml_xml(nx.DiGraph([("oil", "gas")]), file)
    >>> print(read_graphml(file))
    [oil|gas]
    """
    try:
        graph = nx.read_graphml(fspath(path))
        ours = graph.graph.get("label_format") == _OURS
        names = {v: json.loads(data["label"]) if ours else v for v, data in graph.nodes.data()}
    except (ParseError, nx.NetworkXError, ValueError, KeyError, TypeError) as error:
        raise InvalidFile(
            f"{fspath(path)}: not a GraphML file ({error}); give one that write_graphml() wrote"
        ) from None
    renamed = PreferenceGraph(nodes=names.values())
    directed = PreferenceGraph(graph)
    renamed.add_edges_from(
        # networkx makes an attribute of the id that another program gave an edge; nobody said it about the labels.
        (names[u], names[v], {k: w for k, w in data.items() if (k, w) != ("weight", 1.0) and (ours or k != "id")})
        for u, v, data in directed.edges(data=True)
    )
    return renamed
