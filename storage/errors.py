"""Every error that a store raises on purpose.

    StoreError (PrefGraphError)
    ├── DatasetNotFound (LookupError)     no data set of that name
    ├── DatasetExists (ValueError)        a data set of that name is there, and the mode is "create"
    ├── InstanceNotFound (LookupError)    no instance with that key
    ├── UnknownQuestion (ValueError)      a question that is not in QUESTIONS, or with the wrong parameters
    ├── InvalidQuery (ValueError)         Cypher that the engine refuses
    ├── QueryTimeout (TimeoutError)       a query that took longer than it was given
    ├── ReadOnlyStore (PermissionError)   a change asked of a store or a query that only reads
    ├── AccessDenied (PermissionError)    a wrong user or password
    ├── StoreUnavailable (ConnectionError)  a server that does not answer, or went away
    ├── StoreBusy (BlockingIOError)       another process has the store, or a transaction got in the way: try again
    ├── StoreFull (OSError)               no room left on the disk
    ├── StoreDamaged (OSError)            a file that is no store, or a broken one
    └── NewerStore (OSError)              a store of a later version of the schema

`StoreBusy` says "try again"; every other one says "do not".
"""

from prefgraph import PrefGraphError

__all__ = [
    "AccessDenied",
    "DatasetExists",
    "DatasetNotFound",
    "InstanceNotFound",
    "InvalidQuery",
    "NewerStore",
    "QueryTimeout",
    "ReadOnlyStore",
    "StoreBusy",
    "StoreDamaged",
    "StoreError",
    "StoreFull",
    "StoreUnavailable",
    "UnknownQuestion",
]


class StoreError(PrefGraphError):
    """Base class: ``except StoreError`` catches all that a store raises on purpose."""


class DatasetNotFound(StoreError, LookupError):
    """No data set of that name is in the store."""


class DatasetExists(StoreError, ValueError):
    """A data set of that name is in the store already."""


class InstanceNotFound(StoreError, LookupError):
    """No instance of the data set has that key."""


class UnknownQuestion(StoreError, ValueError):
    """A question that the store does not know, or one asked with the wrong parameters."""


class InvalidQuery(StoreError, ValueError):
    """Cypher that the engine does not take."""


class QueryTimeout(StoreError, TimeoutError):
    """A query took longer than it was given."""


class ReadOnlyStore(StoreError, PermissionError):
    """Something would change a store that was opened, or is asked, for reading only."""


class AccessDenied(StoreError, PermissionError):
    """The server does not accept user and password."""


class StoreUnavailable(StoreError, ConnectionError):
    """The server does not answer, or went away in the middle."""


class StoreBusy(StoreError, BlockingIOError):
    """Somebody else is in the way for now; the same call may work later."""


class StoreFull(StoreError, OSError):
    """The disk has no room left; nothing of the write is visible."""


class StoreDamaged(StoreError, OSError):
    """The file is not a store, or is broken."""


class NewerStore(StoreError, OSError):
    """The store was written by a later version."""
