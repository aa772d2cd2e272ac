"""open_store: from a path or a URL to a store."""

from __future__ import annotations

from os import PathLike, fspath
from typing import Any
from urllib.parse import unquote, urlsplit

from prefgraph import InvalidOption, MissingDependency
from storage.store import GraphStore

SERVER_SCHEMES = ("bolt", "bolt+s", "bolt+ssc", "neo4j", "neo4j+s", "neo4j+ssc")


def open_store(
    url: str | PathLike[str],
    *,
    auth: tuple[str, str] | None = None,
    database: str | None = None,
    read_only: bool = False,
) -> GraphStore:
    """Open a store; a file is created on first use.

    Parameters
    ----------
    url
        A path or ``ladybug:///path`` for the embedded store, ``":memory:"`` for one that lives as long as the process;
        ``bolt://``, ``neo4j://`` or ``neo4j+s://`` with host and port for a Neo4j server, 5.26 or later.
    auth
        User and password of the server. They have no place in the URL.
    database
        The server's database; by default the user's home database.
    read_only
        Open for reading. A file that one process writes can be read by others.

    Raises
    ------
    StoreBusy
        Another process has the file open for writing.
    StoreUnavailable, AccessDenied
        The server does not answer, or refuses user and password.
    StoreDamaged, NewerStore
        The file is not a store, is broken, or is of a later version.

    Examples
    --------
    >>> with open_store(":memory:") as store:
    ...     store.datasets()
    []
    """
    address = fspath(url)
    scheme = urlsplit(address).scheme if "://" in address else ""
    if scheme in SERVER_SCHEMES:
        return GraphStore(_server(address, auth, database, read_only))
    if scheme not in ("", "ladybug"):
        known = ", ".join(["ladybug", *SERVER_SCHEMES])
        raise InvalidOption(f"url={address!r} has the scheme {scheme!r}; give a path, or one of {known}")
    if auth is not None or database is not None:
        raise InvalidOption(f"url={address!r} is a file, and auth= and database= are for a server; leave them out")
    if scheme and urlsplit(address).netloc:
        raise InvalidOption(
            f"url={address!r} names a host; a file has three slashes, ladybug:///path, or is given as a path"
        )
    path = unquote(urlsplit(address).path) if scheme else address
    if not path:
        raise InvalidOption(f"url={address!r} names no file; give a path, or ':memory:'")
    from storage._embedded import EmbeddedBackend

    return GraphStore(EmbeddedBackend(path, read_only=read_only))


def _server(address: str, auth: tuple[str, str] | None, database: str | None, read_only: bool) -> Any:
    if urlsplit(address).username is not None or urlsplit(address).password is not None:
        raise InvalidOption(
            "the URL holds a user or a password; give them as auth=(user, password), URLs end up in logs"
        )
    try:
        from storage._neo4j import Neo4jBackend
    except ModuleNotFoundError as error:
        if error.name != "neo4j":
            raise
        raise MissingDependency("a Neo4j store needs the package neo4j; pip install neo4j") from None
    return Neo4jBackend(address, auth=auth, database=database, read_only=read_only)
