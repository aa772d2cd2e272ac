"""The store against what its engines do by themselves: loads, reads, questions, and all label sets of RCV1.

python benchmarks/bench_storage.py [--quick] [--only embedded|growth|neo4j|rcv1] [--data FOLDER]

Each section runs in a process of its own, so that its peak memory is its own. Times are the best of a few runs, and
what is compared is run in turns. Neo4j is the server of PREFGRAPH_NEO4J_URI (with PREFGRAPH_NEO4J_USER and
PREFGRAPH_NEO4J_PASSWORD), else one that storage.testing starts. The folder (or PREFGRAPH_DATA) is that of RCV1.
"""

import argparse
import contextlib
import multiprocessing
import os
import resource
import sys
import tempfile
from collections.abc import Callable, Iterator
from itertools import combinations, islice
from pathlib import Path
from time import perf_counter
from typing import Any

import ladybug
import numpy as np
import pyarrow as pa
from rich.console import Console
from rich.table import Table

import prefgraph as pg
from prefgraph._edge_table import EdgeTable, GraphRow
from storage import GraphStore, open_store
from storage.codec import Batch, Known, encode
from storage.cypher import GRAPHS, SUPERVISION

N_LABELS = 100
EDGES_PER_GRAPH = 1_000_000 // 3_000
BUFFER_POOL = 2 << 30
NAME = "benchmark"
QUESTIONS = ("contradictions", "cyclic_instances", "dominations", "never_preferred", "star_counts")
_ROWS = """
MATCH (v:Vertex)-[e:PREFERRED_TO]->(w:Vertex) WHERE v.id >= $first_id AND v.id < $end_id
RETURN v.id AS init, w.id AS term, e.weight AS weight
"""
console = Console()


# -- what is measured --------------------------------------------------------------------------------------------------


def some_preferences(n_graphs: int, n_instances: int, n_edges: int) -> pg.Preferences:
    """Half of the graphs are label sets of three or four, half are random weighted comparisons, mostly with cycles."""
    rng = np.random.default_rng(0)
    half = n_graphs // 2
    layer = np.ones((half, N_LABELS), np.int8)
    for row, relevant in zip(layer, islice(combinations(rng.permutation(N_LABELS).tolist(), 4), half), strict=True):
        row[list(relevant[rng.integers(2) :])] = 0
    layer = np.unique(layer, axis=0)
    rows = []
    pairs = np.stack(np.triu_indices(N_LABELS, 1), axis=1).astype(np.int32)
    left = n_edges - int(np.sum((layer == 0).sum(axis=1) * (layer == 1).sum(axis=1)))
    for size in np.diff(np.linspace(0, left, n_graphs - len(layer) + 1).astype(int)):
        ends = rng.permuted(pairs[rng.choice(len(pairs), size, replace=False)], axis=1)
        ends = ends[np.lexsort((ends[:, 1], ends[:, 0]))]
        rows.append(GraphRow(np.arange(N_LABELS, dtype=np.int32), *ends.T, rng.integers(1, 6, size).astype(float)))
    index = np.concatenate([np.arange(n_graphs), rng.integers(0, n_graphs, n_instances - n_graphs)]).astype(np.int32)
    return pg.Preferences([f"label {k}" for k in range(N_LABELS)], index, layer, EdgeTable.of(rows))


def some_data(n_graphs: int, n_instances: int) -> pg.PreferenceDataset:
    p = some_preferences(n_graphs, n_instances, n_graphs * EDGES_PER_GRAPH + n_graphs // 3)
    assert (len(p), p.n_graphs, len(set(p.graph_keys()))) == (n_instances, n_graphs, n_graphs)
    return pg.PreferenceDataset(keys=[f"d{k}" for k in range(n_instances)], preferences=p)


def rows_of(data: pg.PreferenceDataset) -> Batch:
    """The rows that a write puts in."""
    return encode(NAME, data, Known({}, {}), lambda _: 1)


def distinct_edges(data: pg.PreferenceDataset) -> int:
    return rows_of(data).relationships["PREFERRED_TO"].num_rows


# -- measuring ---------------------------------------------------------------------------------------------------------


def seconds(work: Callable[[], Any]) -> float:
    start = perf_counter()
    work()
    return perf_counter() - start


def in_turns(repeat: int, **works: Callable[[], Any]) -> dict[str, float]:
    """The best time of each, run one after the other so that a busy moment hits all."""
    times = [{name: seconds(work) for name, work in works.items()} for _ in range(repeat)]
    return {name: min(run[name] for run in times) for name in works}


def peak_mb() -> float:
    """Largest resident size of this process so far."""
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / 2**20


def ratio(ours: float, theirs: float) -> str:
    return f"{ours / theirs:.2f}x"


def _shown(value: object) -> str:
    if isinstance(value, float):
        return f"{value:.3f}" if value < 10 else f"{value:,.1f}"
    return f"{value:,}" if isinstance(value, int) else str(value)


def show(title: str, columns: list[str], rows: list[list[object]]) -> None:
    table = Table(*columns, title=title, title_justify="left")
    for row in rows:
        table.add_row(*map(_shown, row))
    for column in table.columns[1:]:
        column.justify = "right"
    console.print(table)


# -- the embedded store ------------------------------------------------------------------------------------------------


class EmbeddedStore:
    """Instances that share graphs over 100 labels: our write and reads, and the engine's own."""

    param_names = ("graphs", "instances")
    params = ((30, 200), (3_000, 20_000))

    def setup(self, graphs: int, instances: int) -> None:
        self.folder = tempfile.TemporaryDirectory()
        self.count = 0
        self.data = some_data(graphs, instances)
        self.one_each = self.data.take(range(graphs))
        self.batch = rows_of(self.data)
        self.store = self.time_write()
        self.store.write("one each", self.one_each)
        assert self.store.read(NAME) == self.data
        assert self.store.stats(NAME)["cyclic"] > 0
        arrays = ("instance", "part", "init", "term", "weight")
        for name, data in ((NAME, self.data), ("one each", self.one_each)):
            q, r = self.store.parts(name, "domination"), data.preferences.parts("domination")
            assert all(np.array_equal(getattr(q, a), getattr(r, a)) for a in arrays)
        find = "MATCH (d:Dataset) WHERE d.name = $name RETURN d.first_id AS first_id, d.end_id AS end_id"
        self.span = self.store.query(find, name="one each").to_pylist()[0]
        assert self.time_engine_rows().num_rows == self.batch.relationships["PREFERRED_TO"].num_rows
        assert self.time_engine_packed().num_rows == graphs

    def teardown(self) -> None:
        self.store.close()
        self.folder.cleanup()

    def new_path(self) -> str:
        self.count += 1
        return str(Path(self.folder.name, f"{self.count}.prefgraph"))

    def time_write(self) -> GraphStore:
        store = open_store(self.new_path())
        store.write(NAME, self.data)
        return store

    def engine(self) -> ladybug.Connection:
        """A database with the tables of a store and nothing in it but the node that all hangs on."""
        path = self.new_path()
        with open_store(path) as store:
            store.query("CREATE (:Dataset {id: 1})", write=True)
        self.database = ladybug.Database(path, buffer_pool_size=BUFFER_POOL)
        return ladybug.Connection(self.database)

    def time_engine_copy(self, connection: ladybug.Connection) -> None:
        for name, rows in {**self.batch.nodes, **self.batch.relationships}.items():
            own = ", ".join(c for c in rows.column_names if c not in ("from", "to"))
            if rows.num_rows:  # the engine finds `rows` by its name
                connection.execute(f"COPY {name}({own}) FROM rows" if own else f"COPY {name} FROM rows")

    def compare_writes(self, repeat: int) -> dict[str, float]:
        """Seconds of our write and of the engine's COPY, in turns; opening and declaring are no part of either."""
        ours, engine = [], []
        for _ in range(repeat):
            with open_store(self.new_path()) as store:
                ours.append(seconds(lambda s=store: s.write(NAME, self.data)))
            connection = self.engine()
            engine.append(seconds(lambda c=connection: self.time_engine_copy(c)))
            connection.close()
            self.database.close()
        return {"ours": min(ours), "engine": min(engine)}

    def time_parts(self, name: str) -> pg.Parts:
        return self.store.parts(name)

    def time_engine_rows(self) -> pa.Table:
        """The edges of all graphs as the engine gives them, a row an edge, in Arrow; not yet in order, nor labels."""
        return self.store.query(_ROWS, **self.span)

    def time_engine_packed(self) -> pa.Table:
        """The same edges as bytes, without making anything of them, and who has which graph."""
        self.store.query(SUPERVISION, **self.span)
        return self.store.query(GRAPHS, **self.span)

    def time_read(self) -> pg.PreferenceDataset:
        return self.store.read(NAME)

    def time_stream(self) -> int:
        return sum(len(piece) for piece in self.store.stream(NAME, 1_000))

    def time_ask(self, question: str) -> pa.Table:
        return self.store.ask(question, dataset=NAME)


def embedded(*, quick: bool) -> None:
    bench = EmbeddedStore()
    graphs, instances = bench.params[0 if quick else 1]
    bench.setup(graphs, instances)
    n_edges = bench.batch.relationships["PREFERRED_TO"].num_rows
    repeat = 1 if quick else 5
    writes = bench.compare_writes(repeat)
    reads = in_turns(
        repeat,
        parts=lambda: bench.time_parts("one each"),
        rows=bench.time_engine_rows,
        packed=bench.time_engine_packed,
        all_parts=lambda: bench.time_parts(NAME),
        in_memory=bench.data.preferences.parts,
        read=bench.time_read,
        stream=bench.time_stream,
    )
    implied = bench.data.preferences.n_edges
    show(
        f"embedded: {n_edges:,} edges in {graphs:,} graphs of {instances:,} instances",
        ["work", "seconds", "of the engine's own"],
        [
            ["engine: COPY of the same rows", writes["engine"], ""],
            ["write", writes["ours"], ratio(writes["ours"], writes["engine"])],
            [f"engine: {n_edges:,} edges as rows, Arrow", reads["rows"], ""],
            ["engine: the packed column, Arrow", reads["packed"], ""],
            [
                f"parts, an instance a graph ({n_edges:,} edges)",
                reads["parts"],
                ratio(reads["parts"], reads["rows"]),
            ],
            [f"parts of all instances ({implied:,} edges)", reads["all_parts"], ""],
            ["  the same from memory", reads["in_memory"], ""],
            ["read", reads["read"], ""],
            ["stream, 1,000 at a time", reads["stream"], ""],
            *[[f"ask {q}", in_turns(repeat, ask=lambda q=q: bench.time_ask(q))["ask"], ""] for q in QUESTIONS],
        ],
    )
    bench.store.close()
    size = Path(bench.folder.name, "1.prefgraph").stat().st_size / 2**20
    console.print(f"file with both data sets {size:.0f} MB, peak memory {peak_mb():.0f} MB\n")
    bench.teardown()


# -- how the cost grows ------------------------------------------------------------------------------------------------


SIZES = ((30, 200), (750, 20_000), (3_000, 20_000), (12_000, 20_000), (3_000, 80_000), (3_000, 320_000))


def growth(*, quick: bool) -> None:
    rows = []
    repeat = 1 if quick else 3
    for graphs, instances in SIZES[:1] if quick else SIZES[1:]:
        data = some_data(graphs, instances)
        with tempfile.TemporaryDirectory() as folder:
            paths = [Path(folder, f"{k}.prefgraph") for k in range(repeat)]
            write = min(_timed_write(path, data) for path in paths)
            with open_store(paths[0], read_only=True) as store:
                assert store.read(NAME) == data
                times = in_turns(
                    repeat,
                    read=lambda s=store: s.read(NAME),
                    ask=lambda s=store: s.ask("dominations", dataset=NAME),
                )
            size = paths[0].stat().st_size / 2**20
        rows.append([instances, graphs, distinct_edges(data), write, times["read"], times["ask"], size])
    columns = ["instances", "graphs", "edges", "write, s", "read, s", "ask, s", "file, MB"]
    show("embedded: how the cost grows (ask: dominations)", columns, rows)
    console.print()


def _timed_write(path: Path, data: pg.PreferenceDataset) -> float:
    with open_store(path) as store:
        return seconds(lambda: store.write(NAME, data))


# -- Neo4j -------------------------------------------------------------------------------------------------------------

_BARE_INDEX = "CREATE CONSTRAINT bench_vertex IF NOT EXISTS FOR (v:BenchVertex) REQUIRE v.id IS UNIQUE"
_BARE_VERTICES = "UNWIND $rows AS row CREATE (:BenchVertex {id: row})"
_BARE_EDGES = """
UNWIND $rows AS row MATCH (v:BenchVertex {id: row[0]}) MATCH (w:BenchVertex {id: row[1]})
CREATE (v)-[:BENCH_EDGE {weight: row[2]}]->(w)
"""
_BARE_ROWS = "MATCH (v:BenchVertex)-[e:BENCH_EDGE]->(w:BenchVertex) RETURN v.id, w.id, e.weight"


class Neo4jStore:
    """The same data on a server, beside the bare driver's UNWIND in batches of 10,000 rows."""

    param_names = ("graphs", "instances")
    params = ((30, 200), (3_000, 20_000))

    def setup(self, uri: str, auth: tuple[str, str], graphs: int, instances: int) -> None:
        import neo4j

        self.data = some_data(graphs, instances)
        batch = rows_of(self.data)
        self.vertices = batch.nodes["Vertex"]["id"].to_pylist()
        edges = batch.relationships["PREFERRED_TO"]
        self.edges = list(zip(*(edges[c].to_pylist() for c in ("from", "to", "weight")), strict=True))
        self.store = open_store(uri, auth=auth)
        self.driver = neo4j.GraphDatabase.driver(uri, auth=auth)
        self.driver.execute_query(_BARE_INDEX)

    def teardown(self) -> None:
        """Leave a server that is not ours as it was."""
        if NAME in self.store.datasets():
            self.store.delete(NAME)
        with self.driver.session() as session:
            session.run("MATCH (v:BenchVertex) CALL (v) { DETACH DELETE v } IN TRANSACTIONS OF 10000 ROWS").consume()
        self.driver.execute_query("DROP CONSTRAINT bench_vertex IF EXISTS")
        self.driver.close()
        self.store.close()

    def time_write(self) -> None:
        self.store.write(NAME, self.data, mode="replace")

    def time_unwind(self) -> None:
        for text, rows in ((_BARE_VERTICES, self.vertices), (_BARE_EDGES, [list(row) for row in self.edges])):
            for start in range(0, len(rows), 10_000):
                self.driver.execute_query(text, rows=rows[start : start + 10_000])

    def time_parts(self) -> pg.Parts:
        return self.store.parts(NAME)

    def time_rows(self) -> int:
        return len(self.driver.execute_query(_BARE_ROWS).records)

    def time_read(self) -> pg.PreferenceDataset:
        return self.store.read(NAME)


@contextlib.contextmanager
def neo4j_server() -> Iterator[tuple[str, tuple[str, str]] | str]:
    """Address and login of a server, or why there is none."""
    if uri := os.environ.get("PREFGRAPH_NEO4J_URI"):
        yield uri, (os.environ.get("PREFGRAPH_NEO4J_USER", "neo4j"), os.environ.get("PREFGRAPH_NEO4J_PASSWORD", ""))
        return
    from storage.testing import Neo4jServer, ServerUnavailable

    try:
        server = Neo4jServer().start()
    except ServerUnavailable as error:
        yield str(error)
        return
    with server:
        yield server.uri, (server.user, server.password)


def neo4j(*, quick: bool) -> None:
    with neo4j_server() as address:
        if isinstance(address, str):
            console.print(f"no Neo4j: {address}\n")
            return
        bench = Neo4jStore()
        graphs, instances = bench.params[0 if quick else 1]
        try:
            bench.setup(*address, *bench.params[0])  # Java compiles while it works
            bench.time_write()
            bench.time_unwind()
            bench.teardown()
            bench.setup(*address, graphs, instances)
            write, unwind = seconds(bench.time_write), seconds(bench.time_unwind)
            assert bench.time_read() == bench.data
            assert bench.time_rows() == len(bench.edges)
            repeat = 1 if quick else 3
            reads = in_turns(repeat, parts=bench.time_parts, rows=bench.time_rows, read=bench.time_read)
            dominations = in_turns(repeat, ask=lambda: bench.store.ask("dominations", dataset=NAME))["ask"]
        finally:
            if "PREFGRAPH_NEO4J_URI" in os.environ:
                bench.teardown()
    n = len(bench.edges)
    show(
        f"Neo4j: {n:,} edges in {graphs:,} graphs of {instances:,} instances",
        ["work", "seconds", "edges/s", "of the bare driver's"],
        [
            ["bare driver: UNWIND of vertices and edges", unwind, round(n / unwind), ""],
            ["write (with instances, labels and packed copies)", write, round(n / write), ratio(write, unwind)],
            [f"bare driver: {n:,} edges as rows", reads["rows"], round(n / reads["rows"]), ""],
            [
                "parts, from the packed column",
                reads["parts"],
                round(n / reads["parts"]),
                ratio(reads["parts"], reads["rows"]),
            ],
            ["read", reads["read"], "", ""],
            ["ask dominations", dominations, "", ""],
        ],
    )
    console.print(f"peak memory of this process {peak_mb():.0f} MB\n")


# -- RCV1 --------------------------------------------------------------------------------------------------------------


def rcv1(folder: str | None) -> None:
    if folder is None:
        console.print(
            "RCV1 left out: give --data FOLDER or PREFGRAPH_DATA with rcv1-v2.topics.qrels and "
            "rcv1.topics.hier.orig, published as online appendices of Lewis, Yang, Rose and Li, JMLR 5 (2004)\n"
        )
        return
    data = pg.readers.rcv1(folder, "assignments", supervision="hierarchy")
    before = peak_mb()
    with tempfile.TemporaryDirectory() as place:
        path = Path(place, "rcv1.prefgraph")
        with open_store(path) as store:
            write = seconds(lambda: store.write("rcv1", data))
            written = peak_mb()
        with open_store(path, read_only=True) as store:
            opened = perf_counter()
            again = store.read("rcv1")
            read = perf_counter() - opened
            assert again == data
            train = seconds(lambda: store.read("rcv1", split="train"))
            stream = seconds(lambda: sum(len(piece) for piece in store.stream("rcv1", 10_000)))
            asks = [[f"ask {q}", seconds(lambda q=q: store.ask(q, dataset="rcv1"))] for q in QUESTIONS]
            edges = store.query("MATCH (:Vertex)-[e:PREFERRED_TO]->(:Vertex) RETURN count(*) AS n")["n"][0].as_py()
        size = path.stat().st_size / 2**20
    p = data.preferences
    show(
        f"RCV1: {len(data):,} label sets, {p.n_graphs:,} distinct graphs, {edges:,} edges stored for {p.n_edges:,}",
        ["work", "seconds"],
        [
            ["write", write],
            ["read all, equal to what was written", read],
            ["read the training split", train],
            ["stream, 10,000 at a time", stream],
            *asks,
        ],
    )
    console.print(
        f"file {size:.0f} MB; peak memory {before:.0f} MB with the data set in memory, {written:.0f} MB after the "
        f"write, {peak_mb():.0f} MB at the end\n"
    )


# -- running -----------------------------------------------------------------------------------------------------------


def main(arguments: list[str] | None = None) -> None:
    sections = ("embedded", "growth", "neo4j", "rcv1")
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="the smallest size, embedded only")
    parser.add_argument("--only", choices=sections, help="one section")
    parser.add_argument("--data", default=os.environ.get("PREFGRAPH_DATA"), help="folder of RCV1")
    options = parser.parse_args(arguments)
    if options.quick:
        chosen = [options.only] if options.only else ["embedded", "growth"]
    else:
        chosen = [options.only] if options.only else list(sections)
    for section in chosen:
        given = {"folder": options.data} if section == "rcv1" else {"quick": options.quick}
        if options.quick:
            globals()[section](**given)
            continue
        process = multiprocessing.get_context("spawn").Process(target=globals()[section], kwargs=given)
        process.start()
        process.join()
        if process.exitcode:
            sys.exit(process.exitcode)


if __name__ == "__main__":
    main()
