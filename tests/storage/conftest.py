"""Neo4j servers for the tests: one for the run, and one for the tests that stop or kill it.

With several workers each has servers of its own, so that tests never meet in one database. Groups of xdist, which would
bring all these tests to one worker, are silently ignored by xdist 3.8 with pytest 9.2 (pytest-xdist issue 1386).
"""

import os
from collections.abc import Iterator
from typing import NoReturn

import pytest
from neo4j import GraphDatabase

from storage.testing import Neo4jServer, ServerAddress, ServerUnavailable
from storage.testing._jars import fetch_jars
from storage.testing._java import find_java
from storage.testing._releases import choose_release


def give_up(reason: ServerUnavailable) -> NoReturn:
    """Skip for want of a server, or fail where that must not happen."""
    if os.environ.get("PREFGRAPH_REQUIRE_NEO4J") == "1":
        pytest.fail(f"PREFGRAPH_REQUIRE_NEO4J=1, and there is no Neo4j server: {reason}", pytrace=False)
    pytest.skip(f"no Neo4j server: {reason}")


def started(server: Neo4jServer) -> Iterator[Neo4jServer]:
    try:
        server.start()
    except ServerUnavailable as reason:
        give_up(reason)
    with server:
        yield server


def given_server() -> ServerAddress | None:
    """The server that the environment names, which must be there, empty and ours alone: tests delete everything."""
    uri = os.environ.get("PREFGRAPH_NEO4J_URI")
    if not uri:
        return None
    if int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1")) > 1:
        pytest.fail(
            f"PREFGRAPH_NEO4J_URI={uri} is one server, and several workers would delete each other's data; "
            "run with one worker: make test WORKERS=1",
            pytrace=False,
        )
    user, password = os.environ.get("PREFGRAPH_NEO4J_USER", "neo4j"), os.environ.get("PREFGRAPH_NEO4J_PASSWORD", "")
    with GraphDatabase.driver(uri, auth=(user, password), max_transaction_retry_time=5) as driver:
        count = driver.execute_query("MATCH (n) RETURN count(n) AS count").records[0]["count"]
    if count:
        pytest.fail(
            f"PREFGRAPH_NEO4J_URI={uri} holds {count} nodes, and tests delete everything; name an empty server",
            pytrace=False,
        )
    return ServerAddress(uri, user, password)


def delete_everything(address: ServerAddress) -> None:
    with GraphDatabase.driver(address.uri, auth=(address.user, address.password)) as driver:
        for (name,) in driver.execute_query("SHOW CONSTRAINTS YIELD name").records:
            driver.execute_query("DROP CONSTRAINT $name", name=name)
        for (name,) in driver.execute_query("SHOW INDEXES YIELD name, type WHERE type <> 'LOOKUP' RETURN name").records:
            driver.execute_query("DROP INDEX $name", name=name)
        with driver.session() as session:  # batches, because one transaction must fit into the memory of the server
            session.run("MATCH (n) CALL (n) { DETACH DELETE n } IN TRANSACTIONS OF 10000 ROWS").consume()


@pytest.fixture(scope="session")
def neo4j_server() -> Iterator[ServerAddress]:
    """Address, user and password of a server; what is in it is whatever the tests before left."""
    if address := given_server():
        yield address
        delete_everything(address)
    else:
        yield from (server.address for server in started(Neo4jServer()))


@pytest.fixture
def empty_neo4j(neo4j_server: ServerAddress) -> ServerAddress:
    """The server of the run, without a node, a constraint or an index."""
    delete_everything(neo4j_server)
    return neo4j_server


@pytest.fixture(scope="session")
def lone_neo4j() -> Iterator[Neo4jServer]:
    yield from started(Neo4jServer())


@pytest.fixture
def own_neo4j(lone_neo4j: Neo4jServer) -> Neo4jServer:
    """A server without a node that the test may stop, restart and kill; it leaves it running."""
    delete_everything(lone_neo4j.address)
    return lone_neo4j


@pytest.fixture(scope="session")
def neo4j_files() -> None:
    """Java and the jars, for a test that starts a server by itself."""
    try:
        find_java(choose_release())
        fetch_jars(choose_release().version)
    except ServerUnavailable as reason:
        give_up(reason)
