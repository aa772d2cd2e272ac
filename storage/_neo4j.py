"""The server backend: Neo4j 5.26 and later. The only module that knows its driver and its dialect."""

from __future__ import annotations

import json
import logging
import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, TypeVar

import neo4j
import numpy as np
import pyarrow as pa
from neo4j.exceptions import (
    AuthError,
    ConfigurationError,
    ConnectionAcquisitionTimeoutError,
    DriverError,
    IncompleteCommit,
    Neo4jError,
    ServiceUnavailable,
    SessionExpired,
    TransientError,
)
from neo4j.graph import Node, Path, Relationship
from neo4j.spatial import Point
from neo4j.time import Date, DateTime, Duration, Time

from prefgraph import InvalidOption
from storage import schema
from storage.codec import Batch
from storage.errors import (
    AccessDenied,
    InvalidQuery,
    QueryTimeout,
    ReadOnlyStore,
    StoreBusy,
    StoreError,
    StoreFull,
    StoreUnavailable,
)

T = TypeVar("T")

# The driver tells of each new try; whoever wants to read it adds a handler, and nobody else finds it on the screen.
logging.getLogger("neo4j").addHandler(logging.NullHandler())

OLDEST = (5, 26)
# Rows in one transaction: larger ones are not faster, and the server holds a transaction in memory.
STEP_ROWS = 10_000
STEP_BYTES = 8 << 20
# What one transaction of `remove` should delete, nodes and relationships together.
REMOVE_AT_ONCE = 20_000
FETCH_ROWS = 10_000
# Roots last: they have the run of ids on record. Vertices before labels, which would have many relationships.
_REMOVE_ORDER = ("Ranking", "Vertex", "Instance", "PreferenceGraph", "Label", "Model", "Dataset")


class Neo4jBackend:
    """Cypher on a server or a cluster. Many processes and threads may read and write at once.

    Parameters
    ----------
    url
        ``bolt://host:port``, ``neo4j://``, ``neo4j+s://`` and the like, without user and password.
    auth
        User and password.
    database
        The server's database; by default the user's home database.
    read_only
        Refuse every change.
    timeout
        Seconds that a connection may take.
    patience
        Seconds during which a transaction is tried again when another one is in its way or the server is away; a server
        that restarts needs 10 to 20.

    Raises
    ------
    StoreUnavailable
        Nobody answers there, or not as Neo4j does.
    AccessDenied
        Wrong user or password.
    StoreError
        The server is older than 5.26.
    """

    name = "neo4j"
    first_in_list = 0
    shared = True

    def __init__(
        self,
        url: str,
        *,
        auth: tuple[str, str] | None = None,
        database: str | None = None,
        read_only: bool = False,
        timeout: float = 5.0,
        patience: float = 30.0,
    ) -> None:
        self._url = _checked(url)
        self.read_only = read_only
        self._database = database
        self._patience = patience
        self._closed = False
        try:
            self._driver = neo4j.GraphDatabase.driver(
                self._url,
                auth=auth,
                connection_timeout=timeout,
                connection_acquisition_timeout=3 * timeout,
                max_transaction_retry_time=patience,
                initial_retry_delay=0.25,
                retry_delay_multiplier=1.5,
                notifications_min_severity="OFF",
                telemetry_disabled=True,
                fetch_size=FETCH_ROWS,
            )
        except (ConfigurationError, ValueError) as error:
            raise InvalidOption(f"url={url!r} cannot be used: {error}") from None
        try:
            self._check_server()
        except BaseException:
            self.close()
            raise

    def _check_server(self) -> None:
        """Whether it answers, lets us in, and is new enough."""
        try:
            agent = self._driver.get_server_info().agent
        except (Neo4jError, DriverError) as error:
            raise self._translated(error) from None
        version = re.match(r"Neo4j/(\d+)\.(\d+)", agent)
        if version is None or tuple(map(int, version.groups())) < OLDEST:
            raise StoreError(f"{self.url} is a {agent}; a store needs Neo4j 5.26 or later, so upgrade the server")

    @property
    def url(self) -> str:
        """Where the server is."""
        return self._url

    # -- the schema ----------------------------------------------------------------------------------------------

    def declare(self) -> None:
        """Declare that ids are unique, which also makes them quick to find, and wait until the indexes are there.

        Names and keys of data sets and instances have no index: they may be longer than the 8 kB that one takes.
        """
        self._check_writable()
        indexes = self.query("SHOW INDEXES YIELD labelsOrTypes AS label, properties", {}).to_pylist()
        there = {(row["label"][0], row["properties"][0]) for row in indexes if row["label"] and row["properties"]}
        for label in schema.NODES:
            if (label, "id") not in there:
                self._schema(
                    f"CREATE CONSTRAINT prefgraph_{label}_id IF NOT EXISTS FOR (n:{label}) REQUIRE n.id IS UNIQUE"
                )
        if ("PreferenceGraph", "key") not in there:
            self._schema("CREATE INDEX prefgraph_PreferenceGraph_key IF NOT EXISTS FOR (n:PreferenceGraph) ON (n.key)")
        self.query("CALL db.awaitIndexes(300)", {})

    def _schema(self, text: str) -> None:
        def work(tx: neo4j.ManagedTransaction) -> None:
            tx.run(text).consume()

        try:
            self._run(work, write=True, again=True)
        except InvalidQuery:  # another process declared the same at this moment, which IF NOT EXISTS may overlook
            self._run(work, write=True, again=True)

    def is_empty(self) -> bool:
        """Whether there is no node."""
        return not self.query("MATCH (n) RETURN 1 AS one LIMIT 1", {}).num_rows

    def is_ours(self) -> bool:
        """Whether a store left its mark."""
        found = self.query("MATCH (s:Store {id: 0}) WHERE s.version IS NOT NULL RETURN 1 AS one", {})
        return bool(found.num_rows)

    def add_columns(self, table: str, columns: Mapping[str, str]) -> dict[str, str]:  # noqa: ARG002
        """Nothing to declare: every node may have any property, of any type."""
        self._check_writable()
        return {column: column for column in columns}

    # -- running -------------------------------------------------------------------------------------------------

    def query(
        self, text: str, parameters: Mapping[str, Any], *, write: bool = False, timeout: float | None = None
    ) -> pa.Table:
        """Run one statement; the server refuses to change anything for one that only reads."""
        if write:
            self._check_writable()
        deadline = None if timeout is None else time.monotonic() + timeout

        def work(tx: neo4j.ManagedTransaction) -> pa.Table:
            if deadline is not None and time.monotonic() > deadline:  # this may be another try
                raise _too_slow(timeout)
            return _table(_start(tx, text, parameters), deadline, timeout)

        return self._run(work, write=write, timeout=timeout, again=not write)

    def transaction(self, statements: Sequence[tuple[str, Mapping[str, Any]]]) -> list[pa.Table]:
        """Run a few statements, all or none."""
        self._check_writable()

        def work(tx: neo4j.ManagedTransaction) -> list[pa.Table]:
            return [_table(_start(tx, text, parameters)) for text, parameters in statements]

        return self._run(work, write=True, again=True)

    def _run(
        self,
        work: Callable[[neo4j.ManagedTransaction], T],
        *,
        write: bool,
        timeout: float | None = None,
        again: bool = False,
    ) -> T:
        """Run a unit of work in a transaction. The driver tries again after deadlocks and lost connections.

        A connection that is lost during the commit leaves open whether it took place, and a server that stops ends what
        it is doing; ``again`` says that then, too, the work may be run once more.
        """
        if self._closed:
            raise StoreError(f"{self.url} was closed; open it again")
        # 0 would mean no limit
        unit = neo4j.unit_of_work(timeout=None if timeout is None else max(timeout, 0.001))(work)
        until = time.monotonic() + self._patience
        while True:
            try:
                with self._session(write=write) as session:
                    return session.execute_write(unit) if write else session.execute_read(unit)
            except (Neo4jError, DriverError) as error:
                problem = self._translated(error, timeout)
                passing = isinstance(error, IncompleteCommit) or isinstance(problem, StoreBusy)
                if not (again and passing) or time.monotonic() > until:
                    raise problem from None
                time.sleep(0.2)

    def _session(self, *, write: bool) -> neo4j.Session:
        """A session that sees what all sessions of this backend wrote before, on whichever member of a cluster."""
        return self._driver.session(
            database=self._database,
            default_access_mode=neo4j.WRITE_ACCESS if write else neo4j.READ_ACCESS,
            bookmark_manager=self._driver.execute_query_bookmark_manager,
        )

    # -- bulk ----------------------------------------------------------------------------------------------------

    def load(self, batch: Batch) -> None:
        """Create all rows, some thousands in a transaction.

        The root of the write counts the transactions, so that one whose answer got lost is not done twice, and says
        when it was last touched, so that nobody takes the write for abandoned.
        """
        self._check_writable()
        root = batch.dataset["id"]
        kind = "Model" if "Ranking" in batch.nodes else "Dataset"
        number = 0
        for number, step in enumerate(_steps(batch), start=1):
            self._run(_once(kind, root, number, step), write=True, again=True)
        if number:
            self.transaction([(f"MATCH (d:{kind} {{id: $id}}) REMOVE d.step", {"id": root})])

    def remove(self, first_id: int, end_id: int) -> None:
        """Delete all nodes of a run of ids, the one that has the run on record last, in transactions of one size."""
        self._check_writable()
        try:  # a server that is away is not waited for: what is left has no name
            self._driver.verify_connectivity()
        except (Neo4jError, DriverError) as error:
            raise self._translated(error) from None
        span = {"first_id": first_id, "end_id": end_id}
        for label in _REMOVE_ORDER:
            run = f"MATCH (n:{label}) WHERE n.id >= $first_id AND n.id < $end_id"
            if label not in ("Ranking", "Vertex", "Instance"):  # one node of these may have any number of relationships
                relationships = f"{run} MATCH (n)-[r]-() WITH DISTINCT r LIMIT $some DELETE r"
                while self._deleted(relationships, {**span, "some": REMOVE_AT_ONCE}):
                    pass
            # From a few nodes on, as many as have about REMOVE_AT_ONCE relationships.
            nodes, some = f"{run} WITH n ORDER BY n.id LIMIT $some DETACH DELETE n", 100
            while deleted := self._deleted(nodes, {**span, "some": some}):
                some = max(1, min(REMOVE_AT_ONCE, 4 * some, some * REMOVE_AT_ONCE // deleted))

    def _deleted(self, text: str, parameters: Mapping[str, Any]) -> int:
        def work(tx: neo4j.ManagedTransaction) -> int:
            counters = _start(tx, text, parameters).consume().counters
            return counters.nodes_deleted + counters.relationships_deleted

        return self._run(work, write=True, again=True)

    def _check_writable(self) -> None:
        if self.read_only:
            raise ReadOnlyStore(f"{self.url} was opened for reading only; open it again without read_only=True")

    def close(self) -> None:
        """Let go of all connections."""
        self._closed = True
        self._driver.close()

    # -- errors --------------------------------------------------------------------------------------------------

    def _translated(self, error: Neo4jError | DriverError, timeout: float | None = None) -> StoreError:
        """Our word for what the driver or the server says."""
        if isinstance(error, (ServiceUnavailable, SessionExpired, ConnectionAcquisitionTimeoutError)):
            return StoreUnavailable(f"{self.url} does not answer ({_line(error)}); is a Neo4j server running there?")
        if isinstance(error, AuthError):
            return AccessDenied(f"{self.url} does not let us in ({_line(error)}); check auth=(user, password)")
        if not isinstance(error, Neo4jError):
            return StoreError(f"{self.url}: {_line(error)}")
        code, text = error.code or "", error.message or ""
        ended = code.endswith(_ENDED)
        if "TransactionTimedOut" in code or (ended and timeout is not None):
            return _too_slow(timeout)
        if code.endswith((".AccessMode", "ReadOnlyDatabase")):
            return ReadOnlyStore(f"the query would change the store ({text}); say write=True if it should")
        if "No space left" in text or "NoSpaceLeft" in code:
            return StoreFull(f"no room is left on the disk of {self.url} ({text}); make some and write again")
        if "OutOfMemory" in code:
            return StoreError(
                f"{self.url} has not enough memory ({text}); make the query smaller, or give the server more"
            )
        if "DatabaseNotFound" in code or "DatabaseUnavailable" in code:
            return StoreUnavailable(f"{self.url} has no database to offer ({text}); check database={self._database!r}")
        if code.startswith("Neo.ClientError.Security"):
            return AccessDenied(f"{self.url} does not allow it ({text}); ask with another user")
        if ended or isinstance(error, TransientError) or code.endswith(_IN_THE_WAY):
            return StoreBusy(f"{self.url}: another transaction is in the way ({text}); try again")
        if code.startswith(("Neo.ClientError.Statement", "Neo.ClientError.Procedure", "Neo.ClientError.Schema")):
            return InvalidQuery(f"the server does not take the query: {text}")
        return StoreError(f"{self.url}: {text} ({code})")


# The server ended a transaction: it took too long, somebody stopped it, or the server stops.
_ENDED = ("Transaction.Terminated", "Transaction.TransactionTerminated", "Transaction.LockClientStopped")
# Besides what the driver calls transient: another transaction holds, or has just deleted, what this one wants.
_IN_THE_WAY = ("Transaction.LockAcquisitionTimeout", "Statement.EntityNotFound")


def _checked(url: str) -> str:
    """The URL, if it is one of a server and holds no password."""
    # A password may hold any character, / and # among them, so that an @ anywhere is taken for the end of one.
    if "@" in url:
        raise InvalidOption(
            "the URL holds a user or a password; give them as auth=(user, password), URLs end up in logs"
        )
    if not re.fullmatch(r"(bolt|neo4j)(\+s|\+ssc)?://([^/?#:\[\]]+|\[[0-9A-Fa-f:.%]+\])(:[0-9]+)?/?(\?[^#]*)?", url):
        raise InvalidOption(f"url={url!r} is not one of a Neo4j server; give one such as neo4j://host:7687")
    return url.rstrip("/")


def _line(error: Exception) -> str:
    """The first line of what an error says."""
    return (str(error).strip() or type(error).__name__).split("\n")[0]


def _too_slow(timeout: float | None) -> QueryTimeout:
    given = "the server allows" if timeout is None else f"{timeout:g} s"
    return QueryTimeout(f"the query took longer than {given}; give it more time, or make it smaller")


def _start(tx: neo4j.ManagedTransaction, text: str, parameters: Mapping[str, Any]) -> neo4j.Result:
    try:
        return tx.run(text, dict(parameters))
    except (TypeError, ValueError, OverflowError) as error:  # the driver cannot send it
        raise InvalidQuery(
            f"a parameter cannot be sent: {error}; give numbers of 64 bits, text, bools, bytes or lists"
        ) from None


# -- writing: steps -------------------------------------------------------------------------------------------------


class _Step(NamedTuple):
    """What one transaction does: a statement, its parameters, and how many nodes and relationships it must create."""

    text: str
    parameters: dict[str, Any]
    rows: int


def _once(kind: str, root: int, number: int, step: _Step) -> Callable[[neo4j.ManagedTransaction], None]:
    """The unit of work that does a step unless it was done already, and counts it at the root of the write."""

    def work(tx: neo4j.ManagedTransaction) -> None:
        count = (
            f"MATCH (d:{kind} {{id: $id}}) WITH d, d.step AS before SET d.touched = $now, d.step = $step RETURN before"
        )
        row = _start(tx, count, {"id": root, "step": number, "now": int(time.time())}).single()
        if row is None:
            raise StoreBusy("the write took a long time and was cleared away by another process; write again")
        if row["before"] is not None and row["before"] >= number:
            return
        counters = _start(tx, step.text, step.parameters).consume().counters
        if counters.nodes_created + counters.relationships_created != step.rows:
            raise StoreBusy("what the write refers to was removed by another process meanwhile; write again")

    return work


def _steps(batch: Batch) -> Iterator[_Step]:
    """All rows of a batch; nodes before relationships."""
    for label, table in batch.nodes.items():
        for rows in _slices(table):
            columns, properties = _columns(rows, rows.column_names)
            text = f"UNWIND range(0, $count - 1) AS k CREATE (:{label} {properties})"
            yield _Step(text, {**columns, "count": rows.num_rows}, rows.num_rows)
    for kind, table in batch.relationships.items():
        for rows in _slices(table):
            yield _relationships(kind, rows)


def _slices(table: pa.Table) -> Iterator[pa.Table]:
    """Pieces that are small enough for one transaction."""
    if table.num_rows:
        size = max(1, min(STEP_ROWS, table.num_rows * STEP_BYTES // max(table.nbytes, 1)))
        for start in range(0, table.num_rows, size):
            yield table.slice(start, size)


_FIND = "MATCH (n:{label} {{id: id}}) USING INDEX n:{label}(id) WITH n ORDER BY n.id"


def _relationships(kind: str, rows: pa.Table) -> _Step:
    """Look each end up once, and create relationships between the nodes by their number in the list.

    That is what the rows of one transaction have in common: few nodes and many relationships between them.
    """
    start, end, _ = schema.RELATIONSHIPS[kind]
    parameters: dict[str, Any] = {"count": rows.num_rows}
    for column in ("from", "to"):
        ids, place = np.unique(np.asarray(rows[column]), return_inverse=True)
        parameters |= {f"{column}_ids": ids.tolist(), column: place.tolist()}
    columns, properties = _columns(rows, [c for c in rows.column_names if c not in ("from", "to")])
    text = f"""
    CALL () {{ UNWIND $from_ids AS id {_FIND.format(label=start)} RETURN collect(n) AS heads }}
    CALL () {{ UNWIND $to_ids AS id {_FIND.format(label=end)} RETURN collect(n) AS tails }}
    WITH heads, tails WHERE size(heads) = size($from_ids) AND size(tails) = size($to_ids)
    UNWIND range(0, $count - 1) AS k
    WITH heads[$from[k]] AS a, tails[$to[k]] AS b, k
    CREATE (a)-[:{kind} {properties}]->(b)
    """
    return _Step(text, {**parameters, **columns}, rows.num_rows)


def _columns(rows: pa.Table, names: Sequence[str]) -> tuple[dict[str, list[Any]], str]:
    """(columns as parameters, the map of properties that reads row k of them); a missing value makes no property."""
    there = [name for name in names if rows[name].null_count < rows.num_rows]
    columns = {f"c{j}": rows[name].to_pylist() for j, name in enumerate(there)}
    listed = (f"`{name.replace('`', '``')}`: $c{j}[k]" for j, name in enumerate(there))
    return columns, f"{{{', '.join(listed)}}}"


# -- reading: records to Arrow ----------------------------------------------------------------------------------------

_SCALARS = {int, float, str, bool, bytes, type(None)}


def _table(result: neo4j.Result, deadline: float | None = None, timeout: float | None = None) -> pa.Table:
    """All records of a result."""
    names = list(result.keys())
    columns: list[list[Any]] = [[] for _ in names]
    while records := result.fetch(FETCH_ROWS):
        if deadline is not None and time.monotonic() > deadline:
            raise _too_slow(timeout)
        # Past the record's own iterator, which looks at each value once more.
        for column, values in zip(columns, zip(*map(tuple.__iter__, records), strict=True), strict=True):
            column.extend(values)
    return pa.table([_array(column) for column in columns], names=names)


def _array(values: list[Any]) -> pa.Array | pa.ChunkedArray:
    """A column of the type that its values have; of values of several types, text."""
    kinds = set(map(type, values))
    if not kinds <= _SCALARS:
        values = [_plain(value) for value in values]
    elif {bool, int} <= kinds or {bool, float} <= kinds:
        kinds = {object}  # Arrow would take True for a 1
    if kinds != {object}:
        try:
            return pa.array(values)
        except (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError, OverflowError):
            if kinds <= {int, float, type(None)}:  # integers that a float holds only roughly
                return pa.array([None if value is None else float(value) for value in values], pa.float64())
    return pa.array([_as_text(value) for value in values], pa.string())


def _as_text(value: Any) -> str | None:
    return value if value is None or isinstance(value, str) else json.dumps(value, default=str)


def _plain(value: Any) -> Any:
    """Nodes, relationships and paths as maps with the embedded engine's names; dates and times as Python's, or text."""
    if isinstance(value, Node):
        return {"_ID": value.element_id, "_LABEL": ":".join(sorted(value.labels)), **_plain(dict(value))}
    if isinstance(value, Relationship):
        ends = [None if node is None else node.element_id for node in (value.start_node, value.end_node)]
        return {"_SRC": ends[0], "_DST": ends[1], "_LABEL": value.type, "_ID": value.element_id, **_plain(dict(value))}
    if isinstance(value, Path):
        return {
            "_NODES": [_plain(node) for node in value.nodes],
            "_RELS": [_plain(edge) for edge in value.relationships],
        }
    if isinstance(value, Point):
        return {"srid": value.srid, "coordinates": [float(x) for x in value]}
    if isinstance(value, (Date, DateTime)):
        return value.to_native()
    if isinstance(value, (Time, Duration)):
        return value.iso_format()
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_plain(item) for item in value]
    return value
