"""The jars of a release: fetched once into the user's cache, each compared with the lock in this folder.

A lock lists every jar with its SHA-256, so fetching needs no resolution of dependencies (which takes longer than the
download) and brings the same bytes everywhere. A jar enters the cache by one renaming, after it was compared: several
processes may fetch at once, one may die in the middle, and no lock on the cache is needed.
"""

import hashlib
import os
import tempfile
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from storage.testing._errors import ServerUnavailable

LOCKS = Path(__file__).parent
DOWNLOADS_AT_ONCE = 8
ATTEMPTS = 3  # there are hundreds of jars: one hiccup of the network must not spoil all
TIMEOUT = 30  # seconds without a byte

HEADER = """\
# The jars of Neo4j Community {version} with their SHA-256. They are fetched for tests, licensed GPL-3, and no part of
# this project. Written by: python -m storage.testing --write-lock {version}
"""


@dataclass(frozen=True, order=True)
class Jar:
    """One line of a lock: the Maven coordinate of a jar and the SHA-256 of its bytes."""

    group: str
    artifact: str
    version: str
    classifier: str
    sha256: str

    @property
    def coordinate(self) -> str:
        """The coordinate as text, ``org.neo4j:neo4j:5.26.26``, with the classifier as a fourth part if there is one."""
        return ":".join(filter(None, (self.group, self.artifact, self.version, self.classifier)))

    @property
    def filename(self) -> str:
        """Unique within a release: two groups may use one name for an artifact."""
        return self.coordinate.replace(":", "-") + ".jar"


def cache_folder() -> Path:
    """``PREFGRAPH_CACHE``, else ``prefgraph`` in the user's cache."""
    if given := os.environ.get("PREFGRAPH_CACHE"):
        return Path(given)
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "prefgraph"


def lock_path(version: str) -> Path:
    """Where the lock of a release is kept."""
    return LOCKS / f"neo4j-{version}.lock"


def read_lock(path: Path) -> list[Jar]:
    """The jars that a lock lists."""
    lines = [line.split() for line in path.read_text("utf-8").splitlines() if line and not line.startswith("#")]
    jars = []
    for sha256, coordinate in lines:
        group, artifact, version, *classifier = coordinate.split(":")
        jars.append(Jar(group, artifact, version, "".join(classifier), sha256))
    return jars


def fetch_jars(version: str) -> list[Path]:
    """Bring all jars of a release into the cache, and return them in the order of the lock.

    Raises
    ------
    ServerUnavailable
        A jar cannot be fetched, or its bytes are not those of the lock.
    """
    jars = read_lock(lock_path(version))
    folder = cache_folder() / f"neo4j-{version}"
    # What is in the cache is compared at each start: 0.2 s, against a server that fails in strange ways.
    missing = [jar for jar in jars if not _is_intact(jar, folder / jar.filename)]
    if missing:
        try:
            folder.mkdir(parents=True, exist_ok=True)
            with ThreadPoolExecutor(DOWNLOADS_AT_ONCE) as pool:
                list(pool.map(lambda jar: _fetch(jar, folder), missing))  # the first error cancels what has not begun
        except OSError as error:
            raise ServerUnavailable(f"cannot keep the jars of Neo4j {version} in {folder}: {error}") from error
    return [folder / jar.filename for jar in jars]


def write_lock(version: str) -> Path:
    """Resolve a release by its Maven coordinate, fetch its jars and write their lock: for a new release, by hand."""
    import jgo

    artifacts = jgo.resolve(f"org.neo4j:neo4j:{version}")
    jars = sorted(
        Jar(part.groupId, part.artifactId, part.version, part.classifier or "", sha256_of(part.resolve()))
        for part in artifacts
    )
    path = lock_path(version)
    path.write_text(HEADER.format(version=version) + _lines(jars), "utf-8")
    return path


def sha256_of(path: Path) -> str:
    """The SHA-256 of a file's bytes, in hexadecimal digits."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _lines(jars: Iterable[Jar]) -> str:
    return "".join(f"{jar.sha256}  {jar.coordinate}\n" for jar in jars)


def _is_intact(jar: Jar, path: Path) -> bool:
    return path.exists() and sha256_of(path) == jar.sha256


def _fetch(jar: Jar, folder: Path) -> None:
    """Download one jar, compare it, and only then give it its place."""
    with tempfile.TemporaryDirectory(prefix=".fetch-", dir=folder) as scratch:
        fetched = _download(jar, Path(scratch))
        found = sha256_of(fetched)
        if found != jar.sha256:
            raise ServerUnavailable(
                f"the jar {jar.coordinate} was fetched with SHA-256 {found}, and the lock says {jar.sha256}; "
                "it is not used: find out who changed it before you write a new lock"
            )
        fetched.replace(folder / jar.filename)


def _download(jar: Jar, scratch: Path) -> Path:
    """Fetch one jar from the Maven repository that jgo knows."""
    try:
        from jgo.maven import MavenContext
    except ImportError as error:
        raise ServerUnavailable("Neo4j is fetched with jgo, which is not installed: pip install jgo") from error
    reason: Exception | None = None
    for attempt in range(ATTEMPTS):
        # A folder for each attempt: jgo would take what a broken download left for the jar.
        context = MavenContext(repo_cache=scratch / str(attempt), timeout=TIMEOUT)
        artifact = context.project(jar.group, jar.artifact).at_version(jar.version).artifact(classifier=jar.classifier)
        try:
            return artifact.resolve()
        except (OSError, RuntimeError) as error:
            reason = error
    raise ServerUnavailable(
        f"cannot fetch the jar {jar.coordinate}: {reason}; "
        "try again with a network, or name a running server in PREFGRAPH_NEO4J_URI"
    ) from reason
