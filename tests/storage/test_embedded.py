"""The embedded backend against the suite, and what is its own: files, other handles, read-only opening."""

import ladybug
import pytest
from hypothesis import given, settings

from prefgraph import InvalidOption
from storage import ReadOnlyStore, StoreBusy, StoreDamaged, StoreUnavailable, open_store
from tests.storage.conformance import GraphStoreTests, assert_same, news, small
from tests.strategies import datasets


class TestEmbedded(GraphStoreTests):
    COUNT_NODES = "MATCH (n) RETURN label(n) AS what, count(*) AS n ORDER BY what"

    @pytest.fixture
    def store(self):
        with open_store(":memory:") as store:
            yield store

    @pytest.fixture
    def durable(self, tmp_path):
        stores = [open_store(tmp_path / "a.prefgraph")]

        def reopen():
            stores[-1].close()
            stores.append(open_store(tmp_path / "a.prefgraph"))
            return stores[-1]

        yield stores[0], reopen
        stores[-1].close()

    @pytest.fixture
    def look(self, store):
        return look_into(store)


@settings(max_examples=40)
@given(data=datasets())
def test_what_is_written_is_read_whatever_it_is(data):
    with open_store(":memory:") as store:
        store.write("any", data)
        assert_same(store.read("any"), data)
        assert store.verify("any").num_rows == 0


def look_into(store):
    """Cypher on a connection of the engine that the store knows nothing of."""

    def look(text, **parameters):
        with ladybug.Connection(store._backend._database) as connection:
            result = connection.execute(text, parameters or None)
            return result.get_as_arrow().to_pylist() if result.get_column_names() else []

    return look


def test_a_file_is_open_once_in_a_process(tmp_path):
    path = tmp_path / "a.prefgraph"
    with open_store(path) as store:
        store.write("news", news())
        (tmp_path / "link").symlink_to(path)
        for other in (path, str(path), f"ladybug://{path}", tmp_path / "link"):
            for read_only in (False, True):
                with pytest.raises(StoreBusy, match="in this process"):
                    open_store(other, read_only=read_only)
        assert store.read("news") == news()
    with open_store(path, read_only=True) as one, open_store(path, read_only=True) as two:
        assert one.read("news") == two.read("news")
        with pytest.raises(StoreBusy):
            open_store(path)
    with open_store(path) as store:
        assert store.read("news") == news()


def test_memory_stores_are_apart():
    with open_store(":memory:") as a, open_store(":memory:") as b:
        a.write("x", small())
        assert b.datasets() == []


def test_a_read_only_store_refuses_every_change(tmp_path):
    path = tmp_path / "a.prefgraph"
    with open_store(path) as store:
        store.write("news", news())
    before = path.read_bytes()
    with open_store(path, read_only=True) as store:
        assert store.read("news") == news()
        for change in (
            lambda: store.write("x", small()),
            lambda: store.delete("news"),
            lambda: store.write_scores("news", "m", ["d1"], [[1, 2, 3, 4]]),
            lambda: store.query("MATCH (n) DETACH DELETE n", write=True),
        ):
            with pytest.raises(ReadOnlyStore):
                change()
        assert store.read("news") == news()
    assert path.read_bytes() == before


def test_there_must_be_something_to_read(tmp_path):
    with pytest.raises(StoreUnavailable, match="no store is there"):
        open_store(tmp_path / "nothing", read_only=True)
    ladybug.Database(tmp_path / "empty", buffer_pool_size=1 << 26).close()
    with pytest.raises(StoreDamaged, match="no store yet"):
        open_store(tmp_path / "empty", read_only=True)
    open_store(tmp_path / "empty").close()
    open_store(tmp_path / "empty", read_only=True).close()


@pytest.mark.parametrize("url", ["", "ladybug://", "ladybug://host/path", "sqlite:///x", "http://localhost:7474"])
def test_a_url_names_a_file_or_a_server(url):
    with pytest.raises(InvalidOption):
        open_store(url)


@pytest.mark.parametrize("options", [{"auth": ("a", "b")}, {"database": "x"}])
def test_a_file_has_no_user_and_no_database(tmp_path, options):
    with pytest.raises(InvalidOption, match="for a server"):
        open_store(tmp_path / "a", **options)


def test_a_url_may_hold_any_path(tmp_path):
    path = tmp_path / "with space & ünïcode%20#?"
    path.mkdir()
    with open_store(path / "it's.db") as store:
        store.write("x", small())
    assert (path / "it's.db").is_file()
    with open_store(str(path / "it's.db")) as store:
        assert store.read("x") == small()
    with open_store(f"ladybug://{tmp_path!s}/with%20dots...db") as store:
        assert store.datasets() == []
    assert (tmp_path / "with dots...db").is_file()
