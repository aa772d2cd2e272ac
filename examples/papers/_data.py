"""Where the corpora of the papers are: ``--data DIR`` or the environment variable PREFGRAPH_DATA."""

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path


def options(parser: argparse.ArgumentParser, arguments: Sequence[str] | None) -> argparse.Namespace:
    """Parse the arguments; without a place for the data say so in one line, and end well: nothing went wrong."""
    told = os.environ.get("PREFGRAPH_DATA", "")
    parser.add_argument("--data", default=told, metavar="DIR", help="a folder with the corpus, or with its folder")
    chosen = parser.parse_args(arguments)
    if not chosen.data:
        print(
            "nothing done: this needs a corpus that is not ours to ship; say where it is: --data DIR, or PREFGRAPH_DATA"
        )
        sys.exit(0)
    return chosen


def folder_of(data: str, corpus: str) -> Path:
    """The folder of one corpus: inside DIR under its own name, or DIR itself."""
    inside = Path(data) / corpus
    return inside if inside.is_dir() else Path(data)
