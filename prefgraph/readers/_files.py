"""What the readers share: finding a corpus's files, and one shape of message for broken ones."""

from collections.abc import Sequence
from os import PathLike
from pathlib import Path

from prefgraph.errors import InvalidFile


def find_files(folder: str | PathLike[str], pattern: str, *, inside: Sequence[str], published: str) -> list[Path]:
    """Return the files that match ``pattern``, sorted by name, from the first place that has any.

    The places are ``folder`` itself, then its sub-folders named in ``inside``. ``published`` says which corpus the
    files belong to, for the error when there are none.
    """
    root = Path(folder)
    for place in (root, *(root / name for name in inside)):
        if found := sorted(path for path in place.glob(pattern) if path.is_file()):
            return found
    if not root.exists():
        problem = "the folder does not exist"
    elif not root.is_dir():
        problem = f"it is a file, and the folder that holds {pattern} is wanted"
    else:
        places = " or ".join(["it", *(f"its folder {name!r}" for name in inside)])
        problem = f"no {pattern} in {places}"
    raise InvalidFile(f"{root}: {problem}; the files are published as {published}, unpack them there")


def broken(path: Path, line: int, problem: str, *, document: object = None) -> InvalidFile:
    """Return the error for line ``line`` of ``path``; ``document`` is named where it is known."""
    where = f"{path}:{line}" if document is None else f"{path}:{line}: document {document}"
    return InvalidFile(f"{where}: {problem}")
