"""Start a Neo4j server for a person: ``python -m storage.testing``, or ``make neo4j``."""

import argparse
import signal
import sys
import threading
from collections.abc import Sequence

from storage.testing._errors import ServerUnavailable
from storage.testing._jars import fetch_jars, write_lock
from storage.testing._java import find_java
from storage.testing._releases import RELEASES, choose_release
from storage.testing._server import Neo4jServer

READY = """\
URL       {server.uri}
user      {server.user}
password  {server.password}
data      {server.home} ({fate})
Ctrl-C stops the server.
"""


def main(arguments: Sequence[str] | None = None, ended: threading.Event | None = None) -> int:
    """Run a server until Ctrl-C (or until ``ended`` is set); the exit code is 1 when there is none to run."""
    options = _parser().parse_args(arguments)
    if options.write_lock:
        sys.stdout.write(f"{write_lock(options.write_lock)}\n")
        return 0
    try:
        if options.fetch:
            release = choose_release(options.version)
            find_java(release)
            fetch_jars(release.version)
            return 0
        server = Neo4jServer(options.version, home=options.home, port=options.port, java_options=())
        sys.stdout.write(f"Neo4j {server.release.version} is starting; the first time, its jars are fetched.\n")
        sys.stdout.flush()
        with server:
            fate = "kept" if options.home else "removed at the end"
            sys.stdout.write(READY.format(server=server, fate=fate))
            sys.stdout.flush()
            (ended or threading.Event()).wait()
    except KeyboardInterrupt:
        sys.stdout.write("\nstopped\n")
    except ServerUnavailable as error:
        sys.stderr.write(f"{error}\n")
        return 1
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m storage.testing", description="Run a Neo4j server until Ctrl-C.")
    versions = " or ".join(RELEASES)
    parser.add_argument("--version", help=f"{versions}; by default PREFGRAPH_NEO4J_VERSION, else the first")
    parser.add_argument("--home", help="a folder that keeps data and password; by default a temporary one")
    parser.add_argument("--port", type=int, help="by default a free one")
    parser.add_argument("--fetch", action="store_true", help="only find a Java and fetch the jars")
    parser.add_argument("--write-lock", metavar="VERSION", help="only resolve a version and write the lock of its jars")
    return parser


if __name__ == "__main__":
    # Asked to end, it stops the server in order, as with Ctrl-C.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    sys.exit(main())
