"""What a backend is: a few primitives, one docstring for each promise. `GraphStore` builds all else on them, once."""

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

import pyarrow as pa

from storage.codec import Batch

__all__ = ["Backend"]


class Backend(Protocol):
    """A graph database behind a driver.

    To add one, write a class with these attributes and methods, and let `GraphStore` have it; the conformance tests say
    whether it keeps the promises.

    Examples
    --------
    >>> [name for name in vars(Backend) if callable(getattr(Backend, name)) and not name.startswith("_")]
    ['is_empty', 'is_ours', 'declare', 'add_columns', 'query', 'transaction', 'load', 'remove', 'close']
    """

    name: str
    """The engine, in a word."""

    first_in_list: int
    """The number of a list's first element in this dialect: 0 or 1."""

    read_only: bool
    """Whether it was opened for reading only."""

    shared: bool
    """Whether other processes may be writing at the same time."""

    @property
    def url(self) -> str:
        """Where it is, without a password."""

    def is_empty(self) -> bool:
        """Whether nothing is in the database."""

    def is_ours(self) -> bool:
        """Whether what is in the database was put there by a store."""

    def declare(self) -> None:
        """Declare what the engine wants declared: tables, constraints. May be called again."""

    def add_columns(self, table: str, columns: Mapping[str, str]) -> dict[str, str]:
        """Declare columns with their types; returns the name under which each is kept."""

    def query(
        self, text: str, parameters: Mapping[str, Any], *, write: bool = False, timeout: float | None = None
    ) -> pa.Table:
        """Run one statement. Unless ``write``, a statement that would change something is refused by the engine.

        Raises `QueryTimeout` after ``timeout`` seconds.
        """

    def transaction(self, statements: Sequence[tuple[str, Mapping[str, Any]]]) -> list[pa.Table]:
        """Run a few statements, all or none. They may be run again, so they must be idempotent."""

    def load(self, batch: Batch) -> None:
        """Put in all nodes and relationships of a batch, in whatever steps; nothing is visible before it is named."""

    def remove(self, first_id: int, end_id: int) -> None:
        """Delete all nodes with ids from ``first_id`` up to ``end_id`` and what hangs on them. May be called again.

        The node with ``first_id`` goes last: it has the run on record, and a crash must leave it to be found.
        """

    def close(self) -> None:
        """Let go of everything. May be called again."""
