"""Preference graphs in a graph database: embedded in a file, or on a Neo4j server."""

from storage import testing
from storage._opening import open_store
from storage._questions import QUESTIONS
from storage.errors import (
    AccessDenied,
    DatasetExists,
    DatasetNotFound,
    InstanceNotFound,
    InvalidQuery,
    NewerStore,
    QueryTimeout,
    ReadOnlyStore,
    StoreBusy,
    StoreDamaged,
    StoreError,
    StoreFull,
    StoreUnavailable,
    UnknownQuestion,
)
from storage.protocol import Backend
from storage.store import GraphStore

__all__ = [
    "QUESTIONS",
    "AccessDenied",
    "Backend",
    "DatasetExists",
    "DatasetNotFound",
    "GraphStore",
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
    "open_store",
    "testing",
]
