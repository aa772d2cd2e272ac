"""The Neo4j backend against the suite, and what is its own: many writers, the way in, a server that goes away."""

import threading
import time
from pathlib import Path

import neo4j
import numpy as np
import pytest

import prefgraph as pg
import storage
from prefgraph import InvalidOption
from storage import (
    AccessDenied,
    NewerStore,
    ReadOnlyStore,
    StoreBusy,
    StoreDamaged,
    StoreError,
    StoreUnavailable,
    open_store,
)
from storage._neo4j import Neo4jBackend
from storage.store import GraphStore
from tests.doc_blocks import read_blocks, run_page
from tests.storage.conformance import GraphStoreTests, news, small


def opened(address, **options):
    return open_store(address.uri, auth=(address.user, address.password), **options)


def driver_of(address):
    """A driver that the store knows nothing of."""
    return neo4j.GraphDatabase.driver(address.uri, auth=(address.user, address.password))


class TestNeo4j(GraphStoreTests):
    COUNT_NODES = "MATCH (n) RETURN labels(n)[0] AS what, count(*) AS n ORDER BY what"

    @pytest.fixture
    def server(self, neo4j_server):
        """The server without a node; its constraints stay, which saves a second a test."""
        with driver_of(neo4j_server) as driver:
            driver.execute_query("MATCH (n) DETACH DELETE n")
        return neo4j_server

    @pytest.fixture
    def store(self, server):
        with opened(server) as store:
            yield store

    @pytest.fixture
    def durable(self, server):
        stores = [opened(server)]

        def reopen():
            stores[-1].close()
            stores.append(opened(server))
            return stores[-1]

        yield stores[0], reopen
        stores[-1].close()

    @pytest.fixture
    def look(self, server):
        with driver_of(server) as driver:
            yield lambda text, **parameters: [r.data() for r in driver.execute_query(text, parameters).records]


def test_a_wrong_password_is_said_without_it(empty_neo4j):
    with pytest.raises(AccessDenied) as caught:
        open_store(empty_neo4j.uri, auth=(empty_neo4j.user, "not the password"))
    assert empty_neo4j.uri in str(caught.value)
    assert "not the password" not in str(caught.value)


def test_a_password_has_no_place_in_the_url():
    with pytest.raises(InvalidOption) as caught:
        open_store("bolt://neo4j:secret@localhost:7687")
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize("scheme", ["bolt", "neo4j"])
def test_a_server_that_is_not_there_is_said_within_seconds(scheme):
    start = time.monotonic()
    with pytest.raises(StoreUnavailable, match=r"127\.0\.0\.1:9") as caught:
        open_store(f"{scheme}://127.0.0.1:9", auth=("neo4j", "secret"))
    assert time.monotonic() - start < 30
    assert "secret" not in str(caught.value)


def test_a_database_that_is_no_store_is_left_alone(empty_neo4j):
    with driver_of(empty_neo4j) as driver:
        driver.execute_query("CREATE (:Person {name: 'ann'})")
        with pytest.raises(StoreDamaged, match="not a store"):
            opened(empty_neo4j)
        assert [r["n"] for r in driver.execute_query("MATCH (n) RETURN count(n) AS n").records] == [1]
        assert driver.execute_query("SHOW CONSTRAINTS").records == []


def test_a_store_of_a_newer_version_is_left_alone(empty_neo4j):
    with opened(empty_neo4j) as store:
        store.query("MATCH (s:Store) SET s.version = 99", write=True)
    with pytest.raises(NewerStore, match="99"):
        opened(empty_neo4j)
    with pytest.raises(NewerStore, match="99"):
        opened(empty_neo4j, read_only=True)


def test_a_read_only_store_refuses_every_change(empty_neo4j):
    with pytest.raises(StoreDamaged, match="no store yet"):
        opened(empty_neo4j, read_only=True)
    with opened(empty_neo4j) as store:
        store.write("news", news())
    with opened(empty_neo4j, read_only=True) as store:
        assert store.read("news") == news()
        for change in (lambda: store.write("x", small()), lambda: store.delete("news")):
            with pytest.raises(ReadOnlyStore):
                change()


def in_threads(*works):
    """Run each in a thread of its own; what they return or raise."""
    results = [None] * len(works)

    def run(number):
        try:
            results[number] = works[number]()
        except StoreError as error:
            results[number] = error

    threads = [threading.Thread(target=run, args=(k,)) for k in range(len(works))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return results


@pytest.mark.parametrize("shared", [True, False], ids=["one store", "two stores"])
def test_threads_write_different_data_sets_at_once(empty_neo4j, shared):
    with opened(empty_neo4j) as one, opened(empty_neo4j) as two:
        stores = [one, one if shared else two]
        works = [lambda k=k: stores[k % 2].write(f"d{k}", small(keys=range(20 * k, 20 * k + 20))) for k in range(4)]
        assert in_threads(*works) == [None] * 4
        for k in range(4):
            assert one.read(f"d{k}") == small(keys=range(20 * k, 20 * k + 20))
            assert two.verify(f"d{k}").num_rows == 0


@pytest.mark.parametrize("mode", ["create", "replace", "append"])
def test_of_threads_that_write_one_name_each_writes_all_or_nothing(empty_neo4j, mode):
    with opened(empty_neo4j) as one, opened(empty_neo4j) as two:
        if mode != "create":
            one.write("x", small())
        writes = [small(("b", "a", "c"), keys=range(10 * k, 10 * k + 10)) for k in range(1, 4)]
        answers = in_threads(*(lambda k=k: (one, two)[k % 2].write("x", writes[k], mode=mode) for k in range(3)))
        assert None in answers
        assert all(isinstance(a, StoreError) and not isinstance(a, StoreUnavailable) for a in answers if a is not None)
        done = [data.keys for data, answer in zip(writes, answers, strict=True) if answer is None]
        found = two.read("x")
        assert two.verify("x").num_rows == 0
        if mode == "append":
            assert found.keys[0] == 0
            assert sorted(found.keys[1:]) == sorted(key for keys in done for key in keys)
        else:
            assert found.keys in done
        one.delete("x")
        assert one.query("MATCH (n) RETURN count(*) AS n")["n"].to_pylist() == [1]


def test_of_two_writers_of_scores_one_wins(empty_neo4j):
    with opened(empty_neo4j) as one, opened(empty_neo4j) as two:
        one.write("x", small(keys=range(10)))
        works = [
            lambda s=s, k=k: s.write_scores("x", "m", range(10), np.full((10, 2), k)) for k, s in enumerate((one, two))
        ]
        assert None in in_threads(*works)
        assert one.stats("x")["models"] == ["m"]
        assert one.violations("x", "m").num_rows == 10


def test_a_write_under_way_is_left_alone_and_an_abandoned_one_is_cleared_away(empty_neo4j):
    with opened(empty_neo4j) as store:
        store.query(
            "CREATE (:Dataset {id: 500, first_id: 500, end_id: 510, touched: $now})", write=True, now=int(time.time())
        )
        store.query("CREATE (:Dataset {id: 600, first_id: 600, end_id: 610, touched: 5})", write=True)
        store.query("CREATE (:Instance {id: 601})", write=True)
    with opened(empty_neo4j) as store:
        assert store.datasets() == []
        assert store.query("MATCH (d:Dataset) RETURN d.id AS id")["id"].to_pylist() == [500]
        assert store.query("MATCH (i:Instance) RETURN i.id AS id").num_rows == 0


def test_the_page_on_storage_shows_what_neo4j_answers_too(empty_neo4j, tmp_path, monkeypatch):
    def on_the_server(url):
        return opened(empty_neo4j) if url == ":memory:" else open_store(url)

    page = (Path(__file__).parents[2] / "docs" / "storage.md").read_text("utf-8")
    monkeypatch.chdir(tmp_path)  # the page writes an export
    monkeypatch.setattr(storage, "open_store", on_the_server)
    assert run_page("docs/storage.md", read_blocks(page)) > 15


# -- a server that goes away -------------------------------------------------------------------------------------------


def large(m=2000, seed=0):
    layer = np.random.default_rng(seed).integers(0, 3, (m, 12))
    return pg.PreferenceDataset(
        keys=range(m), preferences=pg.Preferences.from_layer_matrix(layer, [f"l{k}" for k in range(12)])
    )


def impatient(server):
    address = server.address
    return GraphStore(Neo4jBackend(address.uri, auth=(address.user, address.password), patience=1.0))


def test_a_server_killed_in_the_middle_of_a_write_has_nothing_of_it(own_neo4j):
    with impatient(own_neo4j) as store:
        store.write("first", news())
        load = store._backend.load

        def cut(batch):
            load(type(batch)(batch.dataset, batch.nodes, {}, batch.columns))
            own_neo4j.kill()
            load(batch)

        store._backend.load = cut
        with pytest.raises((StoreUnavailable, StoreBusy)):
            store.write("second", large())
        own_neo4j.start()
    with opened(own_neo4j.address) as store:
        assert store.datasets() == ["first"]
        assert store.read("first") == news()
        assert store.verify("first").num_rows == 0
        store.write("second", large(50))
        assert store.read("second") == large(50)


def test_a_server_restarted_in_the_middle_of_a_stream_or_write_is_waited_for(own_neo4j):
    data = large(300)
    with opened(own_neo4j.address) as store:
        store.write("x", data)
        pieces = store.stream("x", batch_size=100)
        first = next(pieces)
        own_neo4j.kill()
        own_neo4j.start()
        assert pg.PreferenceDataset.concatenate([first, *pieces]) == data
        load = store._backend.load

        def restarted(batch):
            own_neo4j.kill()
            own_neo4j.start()
            load(batch)

        store._backend.load = restarted
        store.write("y", data)
        assert store.read("y") == data
        assert store.verify("y").num_rows == 0


def test_a_stream_from_a_server_that_stays_away_says_so(own_neo4j):
    with impatient(own_neo4j) as store:
        store.write("x", large(300))
        pieces = store.stream("x", batch_size=100)
        next(pieces)
        own_neo4j.kill()
        try:
            with pytest.raises(StoreUnavailable):
                list(pieces)
        finally:
            own_neo4j.start()
