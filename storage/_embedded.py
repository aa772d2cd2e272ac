"""The embedded backend: Ladybug, a graph database in one file. No other module knows its driver and its dialect."""

from __future__ import annotations

import contextlib
import os
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import ladybug
import pyarrow as pa

from storage import schema
from storage.codec import Batch
from storage.errors import (
    InvalidQuery,
    QueryTimeout,
    ReadOnlyStore,
    StoreBusy,
    StoreDamaged,
    StoreError,
    StoreFull,
    StoreUnavailable,
)

_TYPES = {
    "int": "INT64",
    "float": "DOUBLE",
    "text": "STRING",
    "bool": "BOOL",
    "bytes": "BLOB",
    "floats": "DOUBLE[]",
    "texts": "STRING[]",
}
# The engine would take 80% of the machine's memory.
BUFFER_POOL = 2 << 30
_RECOVERING = ("recovery pending", "may be checkpointing", "please retry")
# The engine's lock keeps other processes out, and the file would be let go with the first of two handles in this one.
_OPEN: dict[str, list[bool]] = {}
_OPENING = threading.Lock()


_REFUSED = (
    "Parser exception",
    "Binder exception",
    "Catalog exception",
    "Connection exception",
    "Connection Exception",
    "Parameter ",
)
# Text with a parameter is prepared, and the engine prepares one statement only: "COMMIT; CREATE" must not get through.
_ONE_STATEMENT = {"_one_statement": True}


class EmbeddedBackend:
    """Cypher on a file, or in memory. One process writes; others may read."""

    name = "ladybug"
    first_in_list = 1
    shared = False

    def __init__(self, path: str, *, read_only: bool = False, buffer_pool: int = BUFFER_POOL) -> None:
        self.path = path
        self.read_only = read_only
        self._lock = threading.RLock()
        self._closed = False
        self._full = False
        self._file = None if path == ":memory:" else os.path.realpath(path)
        self._enter()
        try:
            self._database = self._open(path, read_only, buffer_pool)
            self._connection = ladybug.Connection(self._database)
        except BaseException:
            self._leave()
            raise

    def _enter(self) -> None:
        """Note the file as open in this process, unless that cannot be together with how it is open already."""
        if self._file is None:
            return
        with _OPENING:
            handles = _OPEN.get(self._file, [])
            if handles and not (self.read_only and all(handles)):
                raise StoreBusy(f"{self.path} is open in this process already; use that store, or close it first")
            _OPEN[self._file] = [*handles, self.read_only]

    def _leave(self) -> None:
        with _OPENING:
            handles = _OPEN.get(self._file or "", [])
            if handles:
                handles.pop()

    def _open(self, path: str, read_only: bool, buffer_pool: int) -> Any:
        """Open the file; a reader waits a little while a writer is busy with it."""
        if path != ":memory:":
            if not Path(path).parent.is_dir():
                raise StoreUnavailable(f"{path}: the folder {Path(path).parent} does not exist; make it first")
            if Path(path).is_dir():
                raise StoreDamaged(f"{path} is a folder and not a store; give the path of a file")
            if read_only and not Path(path).exists():
                raise StoreUnavailable(f"{path}: no store is there to read; open it for writing once")
        for attempt in range(40):
            try:
                return ladybug.Database(path, buffer_pool_size=buffer_pool, read_only=read_only)
            except RuntimeError as error:
                if attempt < 39 and read_only and any(word in str(error) for word in _RECOVERING):
                    time.sleep(0.05)
                    continue
                raise _translated(error, path) from None
        raise AssertionError("unreachable")  # pragma: no cover

    @property
    def url(self) -> str:
        """How the store was asked for."""
        return self.path

    # -- the schema ----------------------------------------------------------------------------------------------------

    def declare(self) -> None:
        """Declare all tables that are not there yet."""
        with self._lock:
            there = set(self._run("CALL show_tables() RETURN name").column(0).to_pylist())
            for name, columns in schema.NODES.items():
                if name not in there:
                    fields = ", ".join(f"`{c}` {_TYPES[word]}" for c, word in columns.items())
                    self._run(f"CREATE NODE TABLE {name}({fields}, PRIMARY KEY(id))")
            for name, (start, end, columns) in schema.RELATIONSHIPS.items():
                if name not in there:
                    fields = "".join(f", `{c}` {_TYPES[word]}" for c, word in columns.items())
                    self._run(f"CREATE REL TABLE {name}(FROM {start} TO {end}{fields})")

    def is_empty(self) -> bool:
        """Whether nothing was ever declared here."""
        return bool(self._run("CALL show_tables() RETURN name").num_rows == 0)

    def is_ours(self) -> bool:
        """Whether the tables are those of a store."""
        return "Store" in self._run("CALL show_tables() RETURN name").column(0).to_pylist()

    def _columns(self, table: str) -> dict[str, str]:
        rows = self._run(f"CALL table_info('{table}') RETURN name, type").to_pylist()
        return {row["name"]: row["type"] for row in rows}

    def add_columns(self, table: str, columns: Mapping[str, str]) -> dict[str, str]:
        """Declare columns, and say under which name each can be written.

        A column has one type in the whole file; one that another data set has with another type gets a name of its own.
        The engine does not tell upper from lower case.
        """
        with self._lock:
            self._check_writable()
            there = {name.lower(): (name, kind) for name, kind in self._columns(table).items()}
            names = {}
            for column, word in columns.items():
                kind = _TYPES[word]
                same = there.get(column.lower(), (column, kind))[1] == kind
                name = column if same else f"{column}__{word}"
                if name.lower() not in there:
                    self._run(f"ALTER TABLE {table} ADD `{name}` {kind}")
                    there[name.lower()] = name, kind
                names[column] = there[name.lower()][0]  # COPY leaves out what is spelt otherwise, and says nothing
            return names

    # -- running -------------------------------------------------------------------------------------------------------

    def query(
        self, text: str, parameters: Mapping[str, Any], *, write: bool = False, timeout: float | None = None
    ) -> pa.Table:
        """Run one statement; one that only reads cannot change anything."""
        with self._lock:
            if write:
                self._check_writable()
                return self._run(text, {**parameters, **_ONE_STATEMENT}, timeout)
            with self._transaction(" READ ONLY"):
                return self._run(text, {**parameters, **_ONE_STATEMENT}, timeout)

    def transaction(self, statements: Sequence[tuple[str, Mapping[str, Any]]]) -> list[pa.Table]:
        """Run a few statements, all or none."""
        with self._lock:
            self._check_writable()
            with self._transaction(""):
                return [self._run(text, parameters) for text, parameters in statements]

    @contextlib.contextmanager
    def _transaction(self, kind: str) -> Iterator[None]:
        self._run(f"BEGIN TRANSACTION{kind}")
        try:
            yield
        except BaseException:
            with contextlib.suppress(StoreError):  # an error may have ended it already
                self._run("ROLLBACK")
            raise
        self._run("COMMIT")

    def _run(self, text: str, parameters: Mapping[str, Any] | None = None, timeout: float | None = None) -> pa.Table:
        if self._closed:
            raise StoreError(f"{self.path} was closed; open it again")
        if timeout is not None:
            self._connection.set_query_timeout(max(1, int(1000 * timeout)))
        try:
            result = self._connection.execute(text, dict(parameters) if parameters else None)
            if isinstance(result, list):  # a driver that lets two statements through
                raise InvalidQuery("the text holds more than one statement; run them one after the other")
            return result.get_as_arrow() if result.get_column_names() else pa.table({})
        except RuntimeError as error:
            raise self._failure(error, timeout) from None
        finally:
            if timeout is not None:
                self._connection.set_query_timeout(0)

    # -- bulk ----------------------------------------------------------------------------------------------------------

    def load(self, batch: Batch) -> None:
        """Copy all rows in, table by table; the caller sees to it that they are not visible until all are there."""
        with self._lock:
            self._check_writable()
            for name, table in {**batch.nodes, **batch.relationships}.items():
                self._copy(name, table, ends=name in schema.RELATIONSHIPS)

    def _copy(self, name: str, rows: pa.Table, *, ends: bool) -> None:
        """COPY on a connection of its own and outside any transaction: mixed with other writes it corrupts the file.

        The two ends of relationships are the first two columns, and are not listed.
        """
        if not rows.num_rows:
            return
        listed = ", ".join(f"`{c}`" for c in rows.column_names[2 if ends else 0 :])
        connection = ladybug.Connection(self._database)
        try:
            connection.execute(f"COPY {name}({listed}) FROM rows" if listed else f"COPY {name} FROM rows")
        except RuntimeError as error:
            raise self._failure(error) from None
        finally:
            connection.close()

    def remove(self, first_id: int, end_id: int) -> None:
        """Delete all nodes of a run of ids, the one that has the run on record last."""
        with self._lock:
            self._check_writable()
            for name in sorted(schema.NODES, key=("Dataset", "Model").__contains__):
                if name != "Store":
                    self._run(
                        f"MATCH (n:{name}) WHERE n.id >= $first_id AND n.id < $end_id DETACH DELETE n",
                        {"first_id": first_id, "end_id": end_id},
                    )

    def _failure(self, error: RuntimeError, timeout: float | None = None) -> StoreError:
        failure = _translated(error, self.path, timeout)
        self._full = self._full or isinstance(failure, StoreFull)
        return failure

    def _check_writable(self) -> None:
        if self._full:  # what is written after a failed write makes a log that the engine cannot read again
            raise StoreFull(f"no room was left for {self.path}; make some, and open the store again before you write")
        if self.read_only:
            raise ReadOnlyStore(f"{self.path} was opened for reading only; open it again without read_only=True")

    def close(self) -> None:
        """Let go of the file."""
        with self._lock:
            if not self._closed:
                self._closed = True
                self._connection.close()
                self._database.close()
                self._leave()


def _translated(error: RuntimeError, path: str, timeout: float | None = None) -> StoreError:
    """Our word for what the engine says."""
    text = str(error).strip().split("\n")[0]
    if "Could not set lock" in text:
        return StoreBusy(f"{path} is open for writing in another process; close it there, or open with read_only=True")
    if any(word in text for word in _RECOVERING):
        return StoreDamaged(f"{path} is cut short or being written to ({text}); try again, or restore an export of it")
    if ("not a valid" in text and "database file" in text) or "Reading past the end" in text:
        return StoreDamaged(f"{path} is not a store; give another path, nothing was changed")
    if "read-only" in text:
        return ReadOnlyStore(f"the query would change the store ({text}); say write=True if it should")
    if text.startswith("Interrupted") and timeout is not None:
        return QueryTimeout(f"the query took longer than {timeout:g} s; give it more time, or make it smaller")
    if any(word in text for word in ("No space left", "Cannot write to file", "File too large")):
        return StoreFull(f"no room is left for {path} ({text}); make some, open the store again and write again")
    if text.startswith(_REFUSED):
        return InvalidQuery(f"the engine does not take the query: {error}")
    if text.startswith(("Runtime exception", "Conversion exception", "Overflow exception", "Unable to cast")):
        return InvalidQuery(f"the engine cannot carry the query out: {error}")
    if "IO exception" in text:
        return StoreUnavailable(f"{path} cannot be used: {text}")
    return StoreError(f"{path}: {error}")
