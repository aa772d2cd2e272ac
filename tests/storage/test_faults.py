"""What goes wrong around an embedded store: killed writers, other processes, broken files, a full disk."""

import multiprocessing
import os
import random
import resource
import signal
import time
from pathlib import Path

import ladybug
import numpy as np
import pytest

import prefgraph as pg
from storage import NewerStore, StoreBusy, StoreDamaged, StoreError, StoreFull, StoreUnavailable, open_store
from storage._embedded import EmbeddedBackend
from tests.storage.conformance import news, small
from tests.storage.test_embedded import look_into

SPAWN = multiprocessing.get_context("spawn")  # a forked child of the engine hangs
LAYERS = [f"l{k}" for k in range(20)]
COUNT = "MATCH (n) RETURN label(n) AS what, count(*) AS n ORDER BY what"


def large(m, seed=0):
    rng = np.random.default_rng(seed)
    p = pg.Preferences.from_layer_matrix(rng.integers(0, 3, (m, len(LAYERS))), LAYERS)
    return pg.PreferenceDataset(keys=[f"{seed}-{k}" for k in range(m)], preferences=p, X=rng.normal(size=(m, 30)))


def in_a_process(target, *arguments):
    """Start a process and wait until it says that it is ready."""
    ours, theirs = SPAWN.Pipe()
    process = SPAWN.Process(target=target, args=(theirs, *arguments), daemon=True)
    process.start()
    theirs.close()
    assert ours.poll(120)
    return process, ours, ours.recv()


def write_and_die(connection, path, step, mode):
    """Write, and kill the own process at one of the steps of a write."""

    def die(*_):
        os.kill(os.getpid(), signal.SIGKILL)

    with open_store(path) as store:
        backend = store._backend
        copy, remove, run, transaction = backend._copy, backend.remove, backend._run, backend.transaction
        copied = []

        def counted(name, rows, **options):
            if step == f"before {name}":
                die()
            copy(name, rows, **options)
            copied.append(name)
            if step == f"after {name}":
                die()

        def shown(statements):
            last = any("SET d.name = $name" in text for text, _ in statements)
            if last and step == "before the name":
                die()
            answer = transaction(statements)
            if last and step == "after the name":
                die()
            return answer

        def removing(text, *rest):
            if step == "in the removal" and "MATCH (n:Vertex)" in text:
                die()
            return run(text, *rest)

        backend._copy, backend.transaction, backend._run, backend.remove = counted, shown, removing, remove
        connection.send("ready")
        if mode == "delete":
            store.delete("first")
        else:
            store.write("first" if mode != "create" else "second", large(60, 1), mode=mode)
    raise AssertionError("it should be dead")


@pytest.mark.parametrize(
    ("step", "mode"),
    [
        ("before Label", "create"),
        ("after Vertex", "create"),
        ("after Instance", "append"),
        ("after SUPERVISED_BY", "append"),
        ("after PREFERRED_TO", "replace"),
        ("before the name", "replace"),
        ("after the name", "replace"),
        ("after the name", "create"),
        ("in the removal", "replace"),
        ("in the removal", "delete"),
    ],
)
def test_a_writer_killed_at_any_step_leaves_all_or_nothing(tmp_path, step, mode):
    path = tmp_path / "a.prefgraph"
    with open_store(path) as store:
        store.write("first", large(40))
        store.write_scores("first", "m", ["0-0"], np.ones((1, 20)))
        before = look_into(store)(COUNT)
    process, _, _ = in_a_process(write_and_die, str(path), step, mode)
    process.join(120)
    assert process.exitcode == -signal.SIGKILL
    done = step in ("after the name", "in the removal")
    with open_store(path) as store:
        if mode == "delete":
            assert store.datasets() == []
            assert look_into(store)(COUNT) == [{"what": "Store", "n": 1}]
            return
        assert store.datasets() == (["first", "second"] if done and mode == "create" else ["first"])
        for name in store.datasets():
            assert store.verify(name).num_rows == 0
        if done:
            assert store.read("second" if mode == "create" else "first") == large(60, 1)
            assert store.stats("first")["models"] == ([] if mode == "replace" else ["m"])
        else:
            assert look_into(store)(COUNT) == before
            assert store.read("first") == large(40)
            assert store.stats("first")["models"] == ["m"]
        store.write("third", small())
        assert store.read("third") == small()


def write_on_and_on(connection, path):
    with open_store(path) as store:
        connection.send("ready")
        for k in range(1, 1000):
            store.write("big", large(1500, k), mode="replace" if k % 2 else "append")


@pytest.mark.parametrize("seed", range(3))
def test_a_writer_killed_at_a_random_moment_leaves_whole_writes(tmp_path, seed):
    path = tmp_path / "a.prefgraph"
    with open_store(path) as store:
        store.write("news", news())
    process, _, _ = in_a_process(write_on_and_on, str(path))
    time.sleep(random.Random(seed).uniform(0.3, 3))
    process.kill()
    process.join(60)
    with open_store(path) as store:
        assert store.read("news") == news()
        assert store.verify("news").num_rows == 0
        counts = {row["what"]: row["n"] for row in look_into(store)(COUNT)}
        if "big" in store.datasets():
            data = store.read("big")
            seeds = list(dict.fromkeys(int(key.split("-")[0]) for key in data.keys))
            pieces = [large(1500, k) for k in seeds]
            assert data == pg.PreferenceDataset.concatenate(pieces)
            assert counts["Instance"] == len(news()) + len(data)
        else:
            assert counts["Instance"] == len(news())
            assert counts["Dataset"] == 1


def hold(connection, path):
    with open_store(path) as store:
        store.write("held", small(), mode="replace")
        connection.send("ready")
        connection.recv()
        store.write("after", small())
        connection.send("done")


def test_a_second_process_may_read_and_not_write(tmp_path):
    path = tmp_path / "a.prefgraph"
    with open_store(path) as store:
        store.write("news", news())
    process, connection, _ = in_a_process(hold, str(path))
    with pytest.raises(StoreBusy, match="another process"):
        open_store(path)
    with open_store(path, read_only=True) as reader:
        assert reader.read("news") == news()
    connection.send("go on")
    assert connection.poll(60)
    connection.recv()
    process.join(60)
    assert process.exitcode == 0
    with open_store(path) as store:
        assert store.datasets() == ["after", "held", "news"]
        assert store.read("news") == news()


# -- files that are no stores ------------------------------------------------------------------------------------------


def contents(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}


@pytest.mark.parametrize("read_only", [False, True])
@pytest.mark.parametrize("data", [b"hello world", b"\x89PNG\r\n" * 2000, b"LB", os.urandom(1 << 16)], ids=range(4))
def test_a_foreign_file_is_left_alone(tmp_path, data, read_only):
    (tmp_path / "a").write_bytes(data)
    with pytest.raises(StoreDamaged):
        open_store(tmp_path / "a", read_only=read_only)
    assert contents(tmp_path) == {"a": data}


@pytest.mark.parametrize("share", [0.0005, 0.2, 0.9])
def test_a_truncated_file_is_said_to_be_damaged(tmp_path, share):
    path = tmp_path / "a"
    with open_store(path) as store:
        store.write("x", large(200))
    os.truncate(path, int(path.stat().st_size * share))
    before = contents(tmp_path)
    with pytest.raises(StoreDamaged):
        open_store(path)
    assert contents(tmp_path) == before


def test_a_database_of_others_is_left_alone(tmp_path):
    database = ladybug.Database(tmp_path / "a", buffer_pool_size=1 << 26)
    with ladybug.Connection(database) as connection:
        connection.execute("CREATE NODE TABLE Person(id INT64, PRIMARY KEY(id))")
    database.close()
    for read_only in (False, True):
        with pytest.raises(StoreDamaged, match="not a store"):
            open_store(tmp_path / "a", read_only=read_only)


def test_a_folder_is_no_store_and_a_missing_one_is_not_made(tmp_path):
    with pytest.raises(StoreDamaged, match="a folder"):
        open_store(tmp_path)
    with pytest.raises(StoreUnavailable, match="does not exist"):
        open_store(tmp_path / "no" / "a")
    assert list(tmp_path.iterdir()) == []


def test_a_store_of_a_newer_version_is_left_alone(tmp_path):
    path = tmp_path / "a"
    with open_store(path) as store:
        store.write("news", news())
        store.query("MATCH (s:Store) SET s.version = 99", write=True)
        store.query("DROP TABLE RANKS", write=True)  # as if the newer one had no use for it
    for read_only in (False, True):
        with pytest.raises(NewerStore, match="99"):
            open_store(path, read_only=read_only)
    backend = EmbeddedBackend(str(path), read_only=True)
    tables = backend.query("CALL show_tables() RETURN name", {})["name"].to_pylist()
    backend.close()
    assert "RANKS" not in tables


# -- a full disk -------------------------------------------------------------------------------------------------------


def fill(connection, path, room):
    """Write more than a file may hold; say what became of it."""
    with open_store(path) as store:
        store.write("first", large(100))
    size = Path(path).stat().st_size
    resource.setrlimit(resource.RLIMIT_FSIZE, (size + room, size + room))
    store = open_store(path)
    try:
        store.write("second", large(4000, 1))
        outcome = "written"
    except StoreFull:
        outcome = "full"
    except StoreError as error:
        outcome = repr(error)
    whole = store.read("first") == large(100)
    try:
        store.close()
    except StoreError as error:
        outcome = repr(error)
    connection.send((outcome, whole))


@pytest.mark.parametrize("room", [0, 300_000, 1_500_000])
def test_a_full_disk_is_said_and_harms_nothing(tmp_path, room):
    path = tmp_path / "a"
    process, _, (outcome, whole) = in_a_process(fill, str(path), room)
    process.join(60)
    assert outcome == "full"
    assert whole
    with open_store(path) as store:
        assert store.datasets() == ["first"]
        assert store.read("first") == large(100)
        assert store.verify("first").num_rows == 0
        assert {row["what"]: row["n"] for row in look_into(store)(COUNT)}["Instance"] == 100
        store.write("second", large(400, 1))
        assert store.read("second") == large(400, 1)
