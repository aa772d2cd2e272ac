"""Start, stop, restart and kill a Neo4j server on this machine."""

import contextlib
import os
import secrets
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import NamedTuple, Self

from storage.testing import _guard
from storage.testing._errors import ServerUnavailable
from storage.testing._jars import fetch_jars
from storage.testing._java import find_java
from storage.testing._releases import Release, choose_release

HOST = "127.0.0.1"
USER = "neo4j"

STARTING = 300.0  # seconds; 5 on an idle machine, 45 were seen on a busy one, more after a crash with much data
STOPPING = 60.0  # seconds until a server that was asked to stop is killed
LOG_LINES = 30

JAVA_OPTIONS = (
    "-XX:+ExitOnOutOfMemoryError",  # a server without memory would hang and the test with it
    "-XX:-UsePerfData",  # no traces outside of its home
    "--add-opens=java.base/java.nio=ALL-UNNAMED",
    "--add-opens=java.base/java.io=ALL-UNNAMED",
    "--add-opens=java.base/sun.nio.ch=ALL-UNNAMED",
    "-Dlog4j2.disable.jmx=true",
)

# A third less work until the server answers, which counts where tests share two cores; long work is slower with them.
QUICK_START = ("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC")

SETTINGS = {
    "server.bolt.enabled": "true",
    "server.http.enabled": "false",
    "dbms.usage_report.enabled": "false",
    "db.tx_log.preallocate": "false",  # 2 MB on disk for an empty server, not 516
}


class ServerAddress(NamedTuple):
    """What a client needs to reach a server.

    Examples
    --------
    >>> uri, user, password = ServerAddress("bolt://127.0.0.1:7687", "neo4j", "correct horse battery")
    >>> user
    'neo4j'
    """

    uri: str
    user: str
    password: str


class Neo4jServer:
    """A Neo4j Community server that lives as long as this object, and never longer than this process.

    It listens on 127.0.0.1 only, has a random password, reports nothing to anybody and writes nothing to the terminal.
    As a context manager it starts on entering, and on leaving it goes away with all its data, unless ``home`` is given.
    When this process dies, even by SIGKILL, the server is killed and its temporary data removed.

    Parameters
    ----------
    version
        One of `RELEASES`; by default ``PREFGRAPH_NEO4J_VERSION``, else the long-term 5.26.
    home
        Folder for data, logs and the password, made if missing. By default a temporary one, removed by `close`.
    port
        By default a free one. It stays the same when the server is restarted, so that clients find it again.
    password
        At least 8 characters; by default the one kept in ``home``, else a random one.
    heap, page_cache
        Memory of Java and of the database files, as in ``"512m"`` and ``"2g"``.
    java_options
        More options of Java. By default those that start quickly; for a benchmark give none, ``()``.

    Attributes
    ----------
    home
        Where data and logs are.
    password
        The password of the user ``neo4j``.
    port
        The port on 127.0.0.1.
    release
        What is run.

    Raises
    ------
    ServerUnavailable
        The version is unknown. The methods raise it too, when the server cannot be fetched or does not start.

    Examples
    --------
    >>> with Neo4jServer() as server:  # doctest: +SKIP
    ...     driver = neo4j.GraphDatabase.driver(server.uri, auth=(server.user, server.password))

    Nothing is fetched or started before it is asked for:

    >>> server = Neo4jServer("5.26.26", port=7687)
    >>> server.uri, server.user, server.running
    ('bolt://127.0.0.1:7687', 'neo4j', False)
    """

    def __init__(
        self,
        version: str | None = None,
        *,
        home: str | os.PathLike[str] | None = None,
        port: int | None = None,
        password: str | None = None,
        heap: str = "1g",
        page_cache: str = "256m",
        java_options: Sequence[str] = QUICK_START,
    ) -> None:
        self.release: Release = choose_release(version)
        self._is_temporary = home is None
        temporary = Path(tempfile.gettempdir(), f"prefgraph-neo4j-{secrets.token_hex(8)}")
        self.home: Path = temporary if home is None else Path(home).absolute()
        self._may_choose_port = port is None
        self.port: int = _free_port() if port is None else port
        self.password: str = password or self._kept_password() or secrets.token_hex(12)
        self._heap = heap
        self._page_cache = page_cache
        self._java_options = (*JAVA_OPTIONS, *java_options)
        self._guard: subprocess.Popen[bytes] | None = None
        self._log_start = 0

    @property
    def user(self) -> str:
        """The name of the only user."""
        return USER

    @property
    def uri(self) -> str:
        """The address for the driver; ``neo4j://`` instead of ``bolt://`` works as well."""
        return f"bolt://{HOST}:{self.port}"

    @property
    def address(self) -> ServerAddress:
        """Address, user and password together."""
        return ServerAddress(self.uri, self.user, self.password)

    @property
    def running(self) -> bool:
        """Whether the process of the server is there."""
        return self._guard is not None and self._guard.poll() is None

    def start(self) -> Self:
        """Fetch what is missing, start the server and return when it answers a query.

        After `stop` or `kill` the data, the port and the password are those of before.

        Raises
        ------
        ServerUnavailable
            It cannot be fetched, there is no Java for it, the port is taken, or it does not answer; the message ends
            with the last lines of its log.
        """
        if self.running:
            return self
        self._forget_guard()
        java = find_java(self.release)
        environment = self._environment()
        self._claim_port()
        try:
            if not (self.home / "data").exists():
                self._prepare(java, environment)
            self._launch(java, environment)
            self._wait_for_an_answer()
        except BaseException:
            self.close()
            raise
        return self

    def stop(self) -> None:
        """Ask the server to shut down, and wait until it has: all is written, the data stays."""
        self._end(_guard.STOP)

    def kill(self) -> None:
        """End the server at once, as a power cut would (SIGKILL): the data stays as it is on disk at this moment."""
        self._end(_guard.KILL)

    def restart(self) -> None:
        """Stop and start again: same data, port and password."""
        self.stop()
        self.start()

    def close(self) -> None:
        """End the server; a temporary home is removed, a given one is shut down in order."""
        if self._is_temporary:
            self.kill()
            shutil.rmtree(self.home, ignore_errors=True)
        else:
            self.stop()

    def log_tail(self) -> str:
        """The last lines that the server wrote since its last start."""
        try:
            text = self._log_path.read_bytes()[self._log_start :].decode("utf-8", "replace")
        except FileNotFoundError:
            text = ""
        return "\n".join(text.splitlines()[-LOG_LINES:])

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        state = "running" if self.running else "not running"
        return f"<Neo4jServer {self.release.version} at {self.uri}, {state}>"

    @property
    def _log_path(self) -> Path:
        return self.home / "console.log"

    @property
    def _password_path(self) -> Path:
        return self.home / "password"

    def _kept_password(self) -> str:
        """The password of a home that was used before, else nothing."""
        return self._password_path.read_text("utf-8").strip() if self._password_path.exists() else ""

    def _environment(self) -> dict[str, str]:
        """The environment of both programs; the class path is too long for a command line on some systems."""
        jars = os.pathsep.join(map(str, fetch_jars(self.release.version)))
        return os.environ | {"CLASSPATH": jars, "NEO4J_HOME": str(self.home), "NEO4J_CONF": str(self.home / "conf")}

    def _claim_port(self) -> None:
        """Make sure of the port; before the first start it may still be exchanged for another one."""
        if _is_free(self.port):
            self._may_choose_port = False
        elif self._may_choose_port:
            self.port = _free_port()
        else:
            raise ServerUnavailable(f"port={self.port} on {HOST} is taken; choose another, or none to get a free one")

    def _prepare(self, java: Path, environment: dict[str, str]) -> None:
        """Make the home and set the password, which is possible before the first start only."""
        self.home.mkdir(mode=0o700, parents=True, exist_ok=True)
        for name in ("conf", "tmp"):
            (self.home / name).mkdir(exist_ok=True)
        # In a file, because other users can read the arguments of a process.
        self._password_path.touch(mode=0o600)
        self._password_path.write_text(self.password, "utf-8")
        tool = [str(java), *QUICK_START, *JAVA_OPTIONS, "org.neo4j.cli.AdminTool"]
        command = [*tool, "dbms", "set-initial-password", f"@{self._password_path}"]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)  # noqa: S603 - our own command
        if done.returncode:
            said = (done.stdout + done.stderr).strip()
            raise ServerUnavailable(f"Neo4j {self.release.version} did not take its first password:\n{said}")

    def _launch(self, java: Path, environment: dict[str, str]) -> None:
        """Start the guard, which starts the server."""
        listen = {"server.bolt.listen_address": f"{HOST}:{self.port}"}
        memory = {"server.memory.pagecache.size": self._page_cache}
        settings = SETTINGS | listen | memory | dict(self.release.settings)
        folder = str(self.home) if self._is_temporary else ""
        command = [
            *(sys.executable, "-I", "-S", _guard.__file__, folder),
            *(str(java), f"-Xmx{self._heap}", f"-Djava.io.tmpdir={self.home / 'tmp'}", *self._java_options),
            *(self.release.main_class, f"--home-dir={self.home}", f"--config-dir={self.home / 'conf'}"),
            "--console-mode",
            *(word for name, value in settings.items() for word in ("-c", f"{name}={value}")),
        ]
        with self._log_path.open("ab") as log:
            self._log_start = log.tell()
            # A session of its own: Ctrl-C is for us, who then stop the server in order.
            self._guard = subprocess.Popen(  # noqa: S603 - our own command
                command,
                stdin=subprocess.PIPE,
                stdout=log,
                stderr=log,
                bufsize=0,
                env=environment,
                start_new_session=True,
            )

    def _wait_for_an_answer(self) -> None:
        deadline = time.monotonic() + STARTING
        while not _answers(self.address):
            if not self.running:
                raise ServerUnavailable(f"Neo4j {self.release.version} ended while starting:\n{self.log_tail()}")
            if time.monotonic() > deadline:
                raise ServerUnavailable(
                    f"Neo4j {self.release.version} did not answer within {STARTING:.0f} seconds:\n{self.log_tail()}"
                )
            time.sleep(0.1)

    def _end(self, order: bytes) -> None:
        """Give an order that ends the server, and wait until it is gone; a deaf server is killed."""
        if self._guard is None:
            return
        self._tell(order)
        try:
            self._guard.wait(STOPPING)
        except subprocess.TimeoutExpired:
            self._tell(_guard.KILL)
            self._guard.wait()
        self._forget_guard()

    def _tell(self, order: bytes) -> None:
        """Send an order to the guard, who may be gone already."""
        if self._guard and self._guard.stdin:
            with contextlib.suppress(BrokenPipeError):
                self._guard.stdin.write(order)

    def _forget_guard(self) -> None:
        if self._guard and self._guard.stdin:
            self._guard.stdin.close()
        self._guard = None


def _free_port() -> int:
    """A port that nobody uses at this moment."""
    with socket.socket() as probe:
        probe.bind((HOST, 0))
        port: int = probe.getsockname()[1]
        return port


def _is_free(port: int) -> bool:
    """Whether a server could listen there, ended connections of an earlier one notwithstanding."""
    with socket.socket() as probe:
        if os.name == "posix":  # elsewhere the option lets two servers share a port
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((HOST, port))
        except OSError:
            return False
    return True


def _answers(address: ServerAddress) -> bool:
    """Whether the server answers a query."""
    try:
        socket.create_connection((HOST, int(address.uri.rpartition(":")[2])), timeout=5).close()
    except OSError:
        return False  # the usual case while it starts; quicker to see than with a driver
    from neo4j import GraphDatabase
    from neo4j.exceptions import AuthError, DriverError, Neo4jError

    try:
        with GraphDatabase.driver(
            address.uri, auth=(address.user, address.password), connection_timeout=5, max_transaction_retry_time=0
        ) as driver:
            driver.execute_query("RETURN 1", database_="neo4j")
    except AuthError as error:
        raise ServerUnavailable(
            f"{address.uri} does not take the password for user={address.user!r}: {error}"
        ) from error
    except (DriverError, Neo4jError):
        return False
    return True
