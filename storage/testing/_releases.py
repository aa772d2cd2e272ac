"""The releases of Neo4j that we test against, and what differs between them."""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field

from storage.testing._errors import ServerUnavailable

DEFAULT_VERSION = "5.26.26"


@dataclass(frozen=True)
class Release:
    """One release of Neo4j Community and how it is started.

    Attributes
    ----------
    version
        The version of the Maven artifact ``org.neo4j:neo4j``.
    main_class
        The class that starts the server; it was renamed with the calendar versions.
    java
        The feature versions of Java that run it.
    settings
        Settings that only this release knows.

    Examples
    --------
    >>> RELEASES["5.26.26"].java
    (17, 21)
    """

    version: str
    main_class: str
    java: tuple[int, ...]
    settings: Mapping[str, str] = field(default_factory=dict)


# Stopping waits until the network has been quiet for 5 seconds, twice; nobody else talks to a server of a test.
RELEASES: Mapping[str, Release] = {
    release.version: release
    for release in (
        Release(
            version="5.26.26",
            main_class="org.neo4j.server.CommunityEntryPoint",
            java=(17, 21),
            settings={"internal.dbms.bolt.netty_server_shutdown_quiet_period": "0"},
        ),
        Release(
            version="2026.09.0",
            main_class="org.neo4j.server.Neo4jCommunity",
            java=(21, 25),
            settings={
                "internal.dbms.bolt.netty_server_shutdown_quiet_period_duration": "0s",
                # It looks for its kind with broadcasts on the local network, and offers itself to a cloud console.
                "server.fleet_discovery.enabled": "false",
                "dbms.fleet_manager.enabled": "false",
            },
        ),
    )
}


def choose_release(version: str | None = None) -> Release:
    """The release of a version; by default of ``PREFGRAPH_NEO4J_VERSION``, else the long-term one."""
    version = version or os.environ.get("PREFGRAPH_NEO4J_VERSION") or DEFAULT_VERSION
    if version not in RELEASES:
        raise ServerUnavailable(
            f"version={version!r} of Neo4j is not one of {', '.join(map(repr, RELEASES))}; "
            "choose one of these, or add it to storage/testing/_releases.py and write its lock"
        )
    return RELEASES[version]
