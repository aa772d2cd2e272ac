import contextlib
import datetime as dt
import re
import socket
import threading
import time

import neo4j
import pyarrow as pa
import pytest

import prefgraph as pg
from storage import (
    AccessDenied,
    InvalidQuery,
    QueryTimeout,
    ReadOnlyStore,
    StoreBusy,
    StoreError,
    StoreFull,
    StoreUnavailable,
    _neo4j,
    codec,
    open_store,
    schema,
)
from storage._neo4j import Neo4jBackend

SECRET = "correct-horse-battery"


def connect(address, **options) -> Neo4jBackend:
    return Neo4jBackend(options.pop("url", address.uri), auth=(address.user, address.password), **options)


@pytest.fixture
def backend(empty_neo4j):
    with contextlib.closing(connect(empty_neo4j)) as backend:
        yield backend


def batch_of(n_graphs: int, first_id: int = 1) -> codec.Batch:
    """The rows of a data set of small cyclic and layered graphs."""
    graphs = ["[a|b,c]" if k % 2 else f"a>b, b>c:{k + 1}, c>a" for k in range(n_graphs)]
    p = pg.as_preferences(graphs, form="notation")
    data = pg.PreferenceDataset(keys=range(n_graphs), preferences=p)
    return codec.encode("n", data, codec.Known({}, {}), lambda count: first_id)


def begin(backend: Neo4jBackend, root: int = 1) -> None:
    backend.declare()
    backend.transaction([("MERGE (d:Dataset {id: $id})", {"id": root})])


def counts(backend: Neo4jBackend) -> dict[str, int]:
    nodes = backend.query("MATCH (n) RETURN labels(n)[0] AS kind, count(*) AS n", {}).to_pylist()
    edges = backend.query("MATCH ()-[r]->() RETURN type(r) AS kind, count(*) AS n", {}).to_pylist()
    return {row["kind"]: row["n"] for row in nodes + edges}


def expected(batch: codec.Batch) -> dict[str, int]:
    rows = {kind: table.num_rows for kind, table in {**batch.nodes, **batch.relationships}.items()}
    return {kind: n for kind, n in {"Dataset": 1, **rows}.items() if n}


# Opening


def test_a_wrong_password_is_denied_and_not_shown(neo4j_server):
    with pytest.raises(AccessDenied, match="auth=") as caught:
        Neo4jBackend(neo4j_server.uri, auth=(neo4j_server.user, SECRET))
    assert SECRET not in str(caught.value)


@pytest.mark.parametrize("scheme", ["bolt", "neo4j"])
def test_a_server_that_is_not_there_is_reported_within_seconds(scheme):
    with socket.socket() as taken:  # bound and not listening: nobody answers, and nobody else can
        taken.bind(("127.0.0.1", 0))
        url = f"{scheme}://127.0.0.1:{taken.getsockname()[1]}"
        start = time.monotonic()
        with pytest.raises(StoreUnavailable, match=f"{url} does not answer"):
            Neo4jBackend(url, auth=("neo4j", SECRET))
        assert time.monotonic() - start < 20


def test_a_server_that_listens_and_says_nothing_is_reported_within_seconds():
    with socket.create_server(("127.0.0.1", 0)) as silent, pytest.raises(StoreUnavailable, match="does not answer"):
        Neo4jBackend(f"bolt://127.0.0.1:{silent.getsockname()[1]}", timeout=0.5)


@pytest.mark.parametrize("url", ["bolt://neo4j:{}@host:7687", "bolt://neo4j:a/b#{}@host", "neo4j+s://{}@host"])
def test_a_password_in_the_url_is_refused_and_not_shown(url):
    with pytest.raises(pg.InvalidOption, match="auth=") as caught:
        Neo4jBackend(url.format(SECRET))
    assert SECRET not in str(caught.value)


@pytest.mark.parametrize(
    "url", ["bolt://host:port", "bolt:host", "http://host", "bolt://", "neo4j://host/database", "bolt://host?a=b"]
)
def test_a_url_of_no_server_is_refused(url):
    with pytest.raises(pg.InvalidOption, match=re.escape(url)):
        Neo4jBackend(url)


def test_a_url_may_end_in_a_slash(neo4j_server):
    with contextlib.closing(connect(neo4j_server, url=f"{neo4j_server.uri}/")) as backend:
        assert backend.url == neo4j_server.uri


@pytest.mark.parametrize("agent", ["Neo4j/5.25.1", "Neo4j/4.4.40", "Neo4j/v5 compatible"])
def test_an_old_server_is_refused(monkeypatch, neo4j_server, agent):
    class Info:
        pass

    Info.agent = agent
    monkeypatch.setattr(neo4j.Driver, "get_server_info", lambda self: Info)
    with pytest.raises(StoreError, match=r"5\.26 or later"):
        connect(neo4j_server)


def test_a_database_that_does_not_exist_is_named(neo4j_server):
    with (
        pytest.raises(StoreUnavailable, match="nowhere"),
        contextlib.closing(connect(neo4j_server, database="nowhere")) as b,
    ):
        b.is_empty()


def test_a_closed_backend_says_so(neo4j_server):
    backend = connect(neo4j_server)
    backend.close()
    backend.close()
    with pytest.raises(StoreError, match="was closed"):
        backend.query("RETURN 1 AS x", {})


def test_a_read_only_backend_changes_nothing(empty_neo4j):
    with contextlib.closing(connect(empty_neo4j, read_only=True)) as backend:
        for change in (
            backend.declare,
            lambda: backend.load(batch_of(1)),
            lambda: backend.remove(0, 9),
            lambda: backend.add_columns("Instance", {"x": "int"}),
            lambda: backend.transaction([("CREATE (:Label)", {})]),
            lambda: backend.query("CREATE (:Label)", {}, write=True),
        ):
            with pytest.raises(ReadOnlyStore, match="without read_only"):
                change()
        assert backend.is_empty()


def test_a_database_of_somebody_else_is_not_ours(backend):
    assert backend.is_empty()
    backend.query("CREATE (:Store {id: 0})", {}, write=True)
    assert not backend.is_empty()
    assert not backend.is_ours()


# Declaring


def test_every_node_has_a_unique_id_and_a_second_declaration_changes_nothing(backend):
    backend.declare()
    indexes = "SHOW INDEXES YIELD name, state, labelsOrTypes, properties, owningConstraint"
    once = backend.query(indexes, {}).to_pylist()
    backend.declare()
    assert backend.query(indexes, {}).to_pylist() == once
    unique = {row["labelsOrTypes"][0] for row in once if row["owningConstraint"]}
    assert unique == set(schema.NODES)
    assert all(row["state"] == "ONLINE" for row in once)


def test_several_processes_may_declare_at_once(empty_neo4j):
    problems = []

    def declare():
        try:
            with contextlib.closing(connect(empty_neo4j)) as backend:
                backend.declare()
        except StoreError as error:
            problems.append(error)

    threads = [threading.Thread(target=declare) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert problems == []


def test_names_and_keys_may_be_longer_than_an_index_takes(empty_neo4j):
    long = "é" * 50_000
    p = pg.as_preferences([pg.PreferenceGraph([(long, "b")])])
    data = pg.PreferenceDataset(keys=[long], preferences=p, texts=[long], split=[long], properties={"p": [long]})
    with open_store(empty_neo4j.uri, auth=(empty_neo4j.user, empty_neo4j.password)) as store:
        store.write(long, data)
        assert store.read(long, keys=[long], split=long, where={"p": long}) == data
        assert store.datasets() == [long]


# Asking


def test_the_server_refuses_changes_by_a_query_that_only_reads(backend):
    backend.declare()
    for text in ("CREATE (:Label)", "CREATE INDEX x FOR (n:Label) ON (n.name)", "MERGE (s:Store {id: 0})"):
        with pytest.raises(ReadOnlyStore, match="write=True"):
            backend.query(text, {})
    assert backend.is_empty()


@pytest.mark.parametrize(
    "text",
    [
        "MATCH (n RETURN n",
        "RETURN nothing(1)",
        "RETURN 1 / 0",
        "RETURN $missing",
        "CALL no.procedure()",
        "RETURN 1; RETURN 2",
    ],
)
def test_a_query_that_the_server_does_not_take_is_invalid(backend, text):
    with pytest.raises(InvalidQuery):
        backend.query(text, {})


@pytest.mark.parametrize("value", [2**63, {1, 2}, object()])
def test_a_parameter_that_cannot_be_sent_is_invalid(backend, value):
    with pytest.raises(InvalidQuery, match="parameter"):
        backend.query("RETURN $value AS value", {"value": value})


def test_a_constraint_that_a_query_breaks_is_reported(backend):
    backend.declare()
    with pytest.raises(InvalidQuery, match="already exists"):
        backend.query("CREATE (:Label {id: 1}) CREATE (:Label {id: 1})", {}, write=True)
    assert backend.is_empty()


@pytest.mark.parametrize("timeout", [0, 0.5])
def test_a_query_ends_after_its_time(backend, timeout):
    start = time.monotonic()
    with pytest.raises(QueryTimeout, match=f"{timeout:g} s"):
        backend.query(
            "UNWIND range(1, 1000000) AS a UNWIND range(1, 1000000) AS b WITH a WHERE a < 0 RETURN count(*) AS n",
            {},
            timeout=timeout,
        )
    assert time.monotonic() - start < 20
    with pytest.raises(QueryTimeout):  # a result that arrives for longer than that
        backend.query("UNWIND range(1, 100000000) AS k RETURN k", {}, timeout=timeout)
    assert backend.query("RETURN 1 AS x", {}, timeout=20)["x"].to_pylist() == [1]


def test_columns_have_the_types_of_their_values(backend):
    table = backend.query(
        """UNWIND [1, 2] AS k
        RETURN k AS int, k * 0.5 AS float, 'x' AS text, k = 1 AS bool, $bytes AS bytes, [k] AS ints,
        CASE k WHEN 1 THEN 1 END AS gap, NULL AS nothing, [] AS empty, {a: k, b: 'x'} AS map, $bytes IS NULL AS no""",
        {"bytes": b"\x00\xff"},
    )
    assert table.schema == pa.schema(
        [
            ("int", pa.int64()),
            ("float", pa.float64()),
            ("text", pa.string()),
            ("bool", pa.bool_()),
            ("bytes", pa.binary()),
            ("ints", pa.list_(pa.int64())),
            ("gap", pa.int64()),
            ("nothing", pa.null()),
            ("empty", pa.list_(pa.null())),
            ("map", pa.struct([("a", pa.int64()), ("b", pa.string())])),
            ("no", pa.bool_()),
        ]
    )
    first = table.to_pylist()[0]
    assert first["gap"] == 1
    assert first["bytes"] == b"\x00\xff"


def test_an_empty_result_keeps_its_columns(backend):
    assert backend.query("MATCH (i:Instance) RETURN i.key AS key, i.id AS id", {}).column_names == ["key", "id"]
    assert backend.query("MATCH (n:Label) DELETE n", {}, write=True).column_names == []


@pytest.mark.parametrize(
    ("values", "answer"),
    [
        ([1, 2.5, None], [1.0, 2.5, None]),
        ([2**62 + 1, 0.5], [float(2**62), 0.5]),
        ([1, "a", None], ["1", "a", None]),
        ([True, 1], ["true", "1"]),
        ([True, 0.5], ["true", "0.5"]),
        ([[1], "a"], ["[1]", "a"]),
        ([{"a": 1}, {"a": "x"}], ['{"a": 1}', '{"a": "x"}']),
        ([{"a": 1}, {"b": 2}], [{"a": 1, "b": None}, {"a": None, "b": 2}]),
    ],
)
def test_values_of_several_types_become_one_type(backend, values, answer):
    assert backend.query("UNWIND $values AS x RETURN x", {"values": values})["x"].to_pylist() == answer


def test_many_rows_arrive_in_order(backend):
    n = 2 * _neo4j.FETCH_ROWS + 1
    assert backend.query("UNWIND range(1, $n) AS k RETURN k", {"n": n})["k"].to_pylist() == list(range(1, n + 1))


def test_nodes_relationships_and_paths_are_maps_with_the_names_of_the_embedded_engine(backend):
    backend.query("CREATE (:Label {id: 1, name: 'a'})-[:CHILD_OF {w: 2.0}]->(:Label {id: 2})", {}, write=True)
    row = backend.query("MATCH p = (a:Label)-[r]->(b:Label) RETURN a, r, p", {}).to_pylist()[0]
    node, edge = row["a"], row["r"]
    assert {key: node[key] for key in ("_LABEL", "id", "name")} == {"_LABEL": "Label", "id": 1, "name": "a"}
    assert {key: edge[key] for key in ("_LABEL", "_SRC", "w")} == {"_LABEL": "CHILD_OF", "_SRC": node["_ID"], "w": 2.0}
    assert [n["id"] for n in row["p"]["_NODES"]] == [1, 2]
    assert row["p"]["_NODES"][1]["_ID"] == edge["_DST"]
    assert row["p"]["_RELS"][0] == edge


def test_dates_times_and_points_arrive(backend):
    row = backend.query(
        "RETURN date('2020-01-02') AS date, localdatetime('2020-01-02T03:04:05') AS local, "
        "datetime('2020-01-02T03:04:05+01:00') AS at, "
        "localtime('03:04:05') AS time, duration('P1DT2S') AS span, point({x: 1, y: 2.5}) AS point",
        {},
    ).to_pylist()[0]
    assert row["date"] == dt.date(2020, 1, 2)
    assert row["local"] == dt.datetime(2020, 1, 2, 3, 4, 5)  # noqa: DTZ001
    assert row["at"] == dt.datetime(2020, 1, 2, 2, 4, 5, tzinfo=dt.UTC)
    assert row["time"].startswith("03:04:05")
    assert row["span"] == "P1DT2S"
    assert row["point"]["coordinates"] == [1.0, 2.5]


def test_a_failed_statement_undoes_those_before_it(backend):
    with pytest.raises(InvalidQuery):
        backend.transaction([("CREATE (:Label {id: 1})", {}), ("RETURN 1 / 0", {})])
    assert backend.is_empty()


def test_threads_take_different_ids(backend):
    backend.declare()
    backend.query("CREATE (:Store {id: 0, next_id: 1})", {}, write=True)
    taken = []

    def take():
        for _ in range(10):
            *_, rows = backend.transaction(
                [
                    ("MATCH (s:Store {id: 0}) SET s.next_id = s.next_id + $count", {"count": 1}),
                    ("MATCH (s:Store {id: 0}) RETURN s.next_id AS next_id", {}),
                ]
            )
            taken.append(rows["next_id"][0].as_py())

    threads = [threading.Thread(target=take) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(taken) == list(range(2, 42))


# Loading and removing


@pytest.mark.parametrize("rows", [1, 7, 10_000])
def test_steps_of_any_size_load_the_same(backend, monkeypatch, rows):
    monkeypatch.setattr(_neo4j, "STEP_ROWS", rows)
    begin(backend)
    batch = batch_of(9)
    backend.load(batch)
    assert counts(backend) == expected(batch)
    edges = backend.query(
        "MATCH (v:Vertex)-[e:PREFERRED_TO]->(w:Vertex) RETURN v.id AS `from`, w.id AS to, e.weight AS weight", {}
    )
    assert sorted(map(tuple, (row.values() for row in edges.to_pylist()))) == sorted(
        map(tuple, (row.values() for row in batch.relationships["PREFERRED_TO"].to_pylist()))
    )
    root = backend.query("MATCH (d:Dataset) RETURN d", {}).to_pylist()[0]["d"]
    assert "step" not in root
    assert root["touched"] > time.time() - 600


def test_steps_are_smaller_where_rows_are_long():
    table = pa.table({"id": range(100), "text": ["x" * 1_000_000] * 100})
    assert [piece.num_rows for piece in _neo4j._slices(table)][:2] == [8, 8]


def test_a_write_that_was_cleared_away_says_so(backend):
    backend.declare()
    with pytest.raises(StoreBusy, match="cleared away"):
        backend.load(batch_of(2))
    assert backend.is_empty()


def test_a_relationship_to_a_node_that_is_gone_is_not_made(backend):
    begin(backend)
    batch = batch_of(2)
    some = {kind: table for kind, table in batch.nodes.items() if kind != "Label"}
    with pytest.raises(StoreBusy, match="removed by another process"):
        backend.load(codec.Batch(batch.dataset, some, batch.relationships, {}))


@pytest.mark.parametrize("at_once", [1, 5, 20_000])
def test_removing_a_run_leaves_the_others(backend, monkeypatch, at_once):
    monkeypatch.setattr(_neo4j, "REMOVE_AT_ONCE", at_once)
    begin(backend)
    begin(backend, 1001)
    mine, other = batch_of(5), batch_of(3, 1001)
    backend.load(mine)
    backend.load(other)
    backend.query(
        "MATCH (l:Label {id: $id}), (v:Vertex) WHERE v.id > 1000 CREATE (v)-[:IS]->(l)",
        {"id": mine.dataset["end_id"] - 1},
        write=True,
    )
    for _ in range(2):
        backend.remove(1, 1001)
        assert counts(backend) == expected(other)


def test_two_may_remove_the_same_run(backend):
    begin(backend)
    backend.load(batch_of(60))
    problems = []

    def remove():
        try:
            backend.remove(1, 10_000)
        except StoreError as error:
            problems.append(error)

    threads = [threading.Thread(target=remove) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert problems == []
    assert backend.is_empty()


# Faults


class Proxy:
    """Passes bytes on to the server, and can lose the answer to the next commits."""

    COMMIT = b"\xb0\x12"

    def __init__(self, uri: str) -> None:
        host, port = uri.rpartition("/")[2].split(":")
        self.server = (host, int(port))
        self.lose = 0
        self.lost = 0
        self.door = socket.create_server(("127.0.0.1", 0))
        self.url = f"bolt://127.0.0.1:{self.door.getsockname()[1]}"
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                client = self.door.accept()[0]
                threading.Thread(
                    target=self.serve, args=(client, socket.create_connection(self.server)), daemon=True
                ).start()

    def serve(self, client: socket.socket, server: socket.socket) -> None:
        back = threading.Thread(target=self.copy, args=(server, client), daemon=True)
        back.start()
        with contextlib.suppress(OSError), client, server:
            while data := client.recv(1 << 16):
                if self.lose and self.COMMIT in data:
                    self.lose -= 1
                    self.lost += 1
                    client.shutdown(socket.SHUT_RDWR)
                    server.sendall(data)
                    time.sleep(0.5)  # the server commits, and its answer goes nowhere
                    return
                server.sendall(data)

    @staticmethod
    def copy(source: socket.socket, target: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while data := source.recv(1 << 16):
                target.sendall(data)
            target.shutdown(socket.SHUT_RDWR)


@pytest.fixture
def proxy(empty_neo4j):
    proxy = Proxy(empty_neo4j.uri)
    yield proxy
    proxy.door.close()


def test_a_step_whose_answer_got_lost_is_not_done_twice(empty_neo4j, proxy, monkeypatch):
    monkeypatch.setattr(_neo4j, "STEP_ROWS", 20)
    with contextlib.closing(connect(empty_neo4j, url=proxy.url)) as backend:
        begin(backend)
        batch = batch_of(9)
        proxy.lose = 2
        backend.load(batch)
        assert proxy.lost == 2
        assert counts(backend) == expected(batch)


def test_statements_whose_answer_got_lost_are_run_again(empty_neo4j, proxy):
    with contextlib.closing(connect(empty_neo4j, url=proxy.url)) as backend:
        backend.declare()
        proxy.lose = 1
        (rows,) = backend.transaction([("MERGE (d:Dataset {id: 1}) SET d.name = 'n' RETURN d.id AS id", {})])
        assert rows.to_pylist() == [{"id": 1}]
        assert counts(backend) == {"Dataset": 1}


def test_a_query_whose_answer_got_lost_is_not_run_again(empty_neo4j, proxy):
    with contextlib.closing(connect(empty_neo4j, url=proxy.url)) as backend:
        proxy.lose = 1
        with pytest.raises(StoreUnavailable):
            backend.query("CREATE (:Label)", {}, write=True)
        assert counts(backend) == {"Label": 1}


def test_a_transaction_whose_answers_all_get_lost_ends_in_an_error(empty_neo4j, proxy):
    with contextlib.closing(connect(empty_neo4j, url=proxy.url, patience=1)) as backend:
        proxy.lose = 100
        with pytest.raises(StoreUnavailable):
            backend.transaction([("MERGE (d:Dataset {id: 1})", {})])
        proxy.lose = 0


def test_a_query_that_waits_for_a_lock_ends_after_its_time(backend, empty_neo4j):
    backend.query("CREATE (:Store {id: 0, next_id: 1})", {}, write=True)
    with (
        neo4j.GraphDatabase.driver(empty_neo4j.uri, auth=(empty_neo4j.user, empty_neo4j.password)) as driver,
        driver.session() as session,
        session.begin_transaction() as blocking,
    ):
        blocking.run("MATCH (s:Store) SET s.next_id = s.next_id").consume()  # what LOCK does
        with pytest.raises(QueryTimeout):
            backend.query("MATCH (s:Store) SET s.next_id = 5", {}, write=True, timeout=1)
    assert backend.query("MATCH (s:Store) RETURN s.next_id AS n", {})["n"].to_pylist() == [1]


@pytest.mark.parametrize(
    ("code", "kind"),
    [
        ("Neo.TransientError.Transaction.DeadlockDetected", StoreBusy),
        ("Neo.ClientError.Transaction.LockAcquisitionTimeout", StoreBusy),
        ("Neo.ClientError.Transaction.LockClientStopped", StoreBusy),
        ("Neo.TransientError.General.DatabaseUnavailable", StoreUnavailable),
        ("Neo.TransientError.General.MemoryPoolOutOfMemoryError", StoreError),
        ("Neo.ClientError.General.ForbiddenOnReadOnlyDatabase", ReadOnlyStore),
        ("Neo.ClientError.Security.Forbidden", AccessDenied),
        ("Neo.ClientError.Security.CredentialsExpired", AccessDenied),
        ("Neo.ClientError.Transaction.TransactionTimedOut", QueryTimeout),
        ("Neo.DatabaseError.General.UnknownError", StoreError),
    ],
)
def test_each_answer_of_the_server_has_its_error(backend, code, kind):
    error = neo4j.exceptions.Neo4jError._hydrate_neo4j(code=code, message="it says so")
    assert type(backend._translated(error)) is kind


def test_a_full_disk_of_the_server_is_a_full_store(backend):
    error = neo4j.exceptions.Neo4jError._hydrate_neo4j(
        code="Neo.DatabaseError.Transaction.TransactionCommitFailed", message="No space left on device"
    )
    assert type(backend._translated(error)) is StoreFull


def test_a_write_goes_on_when_the_server_restarts(own_neo4j, monkeypatch):
    monkeypatch.setattr(_neo4j, "STEP_ROWS", 5)
    batch = batch_of(100)
    with contextlib.closing(connect(own_neo4j.address, patience=60)) as backend:
        begin(backend)
        thread = threading.Thread(target=backend.load, args=(batch,))
        thread.start()
        while backend.query("MATCH (v:Vertex) RETURN count(*) AS n", {})["n"][0].as_py() == 0:
            time.sleep(0.01)
        own_neo4j.kill()
        own_neo4j.start()
        thread.join()
        assert counts(backend) == expected(batch)
        backend.remove(1, 10_000)
        assert backend.is_empty()


def test_a_server_that_goes_away_is_reported_and_not_waited_for_when_clearing_away(own_neo4j):
    with contextlib.closing(connect(own_neo4j.address, patience=1)) as backend:
        begin(backend)
        own_neo4j.kill()
        try:
            for call in (
                lambda: backend.query("RETURN 1 AS x", {}),
                lambda: backend.transaction([("RETURN 1 AS x", {})]),
                lambda: backend.load(batch_of(3)),
                lambda: backend.remove(1, 10),
            ):
                start = time.monotonic()
                with pytest.raises(StoreUnavailable, match=own_neo4j.uri):
                    call()
                assert time.monotonic() - start < 20
        finally:
            own_neo4j.start()
        assert counts(backend) == {"Dataset": 1}
