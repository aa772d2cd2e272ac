"""Reads the code blocks of a Markdown page and runs them, so that what a page shows is what happens.

A ``python`` block runs in the page's namespace, one block after the other. With ``>>>`` in it, it is run as a doctest;
otherwise a ``text`` or ``output`` block that comes next under the same heading must equal what it printed. A block that
cannot run says why after its language: ``python not-run: needs a server``; it must compile all the same. A ``sh``
block may hold only commands that `check_command` knows.
"""

import contextlib
import doctest
import io
import re
import shlex
from dataclasses import dataclass
from pathlib import Path
from typing import Any

PYTHON = ("python", "pycon")
OUTPUT = ("text", "output")
# Two names for one thing would let a block slip through unread.
SHELL_ALIASES = ("bash", "console", "shell", "zsh")

_FENCE = re.compile(r"^(?P<indent> *)(?P<fence>`{3,}|~{3,})(?P<info>[^`]*)$")
_NOT_RUN = re.compile(r"^\w+ not-run: *(?P<reason>.*)$")


class DocumentationError(AssertionError):
    """A page that shows what does not happen; the message starts with page and line."""


@dataclass(frozen=True)
class Block:
    """One fenced block: its language, the rest of its info line, its text, the line of its first line of text."""

    language: str
    info: str
    text: str
    line: int
    heading: int = 0

    @property
    def reason_not_to_run(self) -> str | None:
        found = _NOT_RUN.match(self.info)
        return found["reason"].strip() if found else None


def read_blocks(markdown: str) -> list[Block]:
    """The fenced blocks of a page in order; a fence that is never closed is an error."""
    blocks: list[Block] = []
    opening: re.Match[str] | None = None
    lines: list[str] = []
    start = heading = 0
    for number, line in enumerate(markdown.splitlines(), 1):
        found = _FENCE.match(line)
        if opening is None:
            if found:
                opening, lines, start = found, [], number + 1
            elif line.startswith("#"):
                heading = number
        elif found and not found["info"].strip() and found["fence"].startswith(opening["fence"]):
            info = opening["info"].strip()
            language = info.split()[0] if info else ""
            blocks.append(Block(language, info, "".join(f"{text}\n" for text in lines), start, heading))
            opening = None
        else:
            indent = len(opening["indent"])
            lines.append(line[indent:] if not line[:indent].strip() else line)
    if opening is not None:
        raise DocumentationError(f"line {start - 1}: a code block that is never closed")
    return blocks


def run_page(page: str, blocks: list[Block]) -> int:
    """Run a page's Python blocks in one namespace and compare what they print; the number of blocks run."""
    namespace: dict[str, Any] = {"__name__": "__main__"}
    run = 0
    for number, block in enumerate(blocks, 1):
        if block.language not in PYTHON:
            continue
        if block.reason_not_to_run is not None:
            if not block.reason_not_to_run:
                raise DocumentationError(f"{page}:{block.line}: 'not-run:' gives no reason")
            compile(block.text, f"{page}:{block.line}", "exec")
            continue
        run += 1
        if ">>> " in block.text:
            _run_doctest(page, block, namespace)
            continue
        printed = _run_plain(page, block, namespace)
        for shown in blocks[number : number + 1]:
            belongs = shown.language in OUTPUT and shown.heading == block.heading
            if belongs and printed.rstrip() != shown.text.rstrip():
                raise DocumentationError(
                    f"{page}:{shown.line}: shows\n{shown.text.rstrip()}\nbut the block at line {block.line} "
                    f"printed\n{printed.rstrip()}"
                )
    return run


def _run_doctest(page: str, block: Block, namespace: dict[str, Any]) -> None:
    """Run one block of prompts; the report of the first failures becomes the message."""
    test = doctest.DocTestParser().get_doctest(block.text, namespace, page, page, block.line - 1)
    report = io.StringIO()
    runner = doctest.DocTestRunner(verbose=False)
    failed, _ = runner.run(test, out=report.write, clear_globs=False)
    namespace.update(test.globs)
    if failed:
        raise DocumentationError(f"{page}:{block.line}: {report.getvalue()}")


def _run_plain(page: str, block: Block, namespace: dict[str, Any]) -> str:
    """Run one block and return what it printed; line numbers in a traceback are those of the page."""
    code = compile("\n" * (block.line - 1) + block.text, page, "exec")
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        exec(code, namespace)
    return printed.getvalue()


def commands(block: Block) -> list[str]:
    """The commands of a sh block, without prompts and comments."""
    lines = [line.strip().removeprefix("$ ") for line in block.text.splitlines()]
    return [line for line in lines if line and not line.startswith("#")]


def make_targets(makefile: str) -> set[str]:
    """The targets that a Makefile explains with '##'."""
    return set(re.findall(r"^([a-z0-9]+):.*##", makefile, flags=re.MULTILINE))


def check_command(command: str, root: Path, extras: set[str]) -> str | None:
    """What is wrong with a command that a page tells the reader to type, or None.

    Known are ``make`` with targets that exist, ``python`` with a script that exists, ``pip install`` of this project
    with extras that exist, ``git clone``, ``cd`` and ``.ci/run``; settings such as ``WORKERS=2`` may stand among them.
    """
    words = [word for word in shlex.split(command, comments=True) if not re.match(r"^[A-Z_]+=", word)]
    match words:
        case ["make", *targets] if targets:
            missing = set(targets) - make_targets((root / "Makefile").read_text("utf-8"))
            return f"the Makefile has no target {sorted(missing)}" if missing else None
        case ["python" | ".venv/bin/python", script, *_]:
            return None if (root / script).is_file() else f"there is no script {script}"
        case ["pip", "install", requirement]:
            found = re.fullmatch(r"(?:prefgraph-db|\.)(?:\[([a-z,]+)\])?", requirement)
            if not found:
                return f"{requirement} is not this project"
            missing = set(filter(None, (found[1] or "").split(","))) - extras
            return f"there is no extra {sorted(missing)}" if missing else None
        case [".ci/run"] | ["cd", _] | ["git", "clone", _]:
            return None
        case _:
            return "is not a known command; add it to check_command with a check of its own"
