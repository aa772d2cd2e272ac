"""Whatever we show is run: README, docs and examples, and the runner that does it."""

import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from tests.doc_blocks import (
    PYTHON,
    SHELL_ALIASES,
    Block,
    DocumentationError,
    check_command,
    commands,
    make_targets,
    read_blocks,
    run_page,
)

ROOT = Path(__file__).parents[1]
README = ROOT / "README.md"
DOCS = sorted((ROOT / "docs").rglob("*.md"))
PAGES = [README, ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md", *DOCS, *sorted(ROOT.glob("[a-z]*/README.md"))]
EXAMPLES = sorted(path for path in (ROOT / "examples").rglob("*.py") if not path.name.startswith("_"))
EXTRAS = set(tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["optional-dependencies"])


def page_name(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def blocks_of(path: Path) -> list[Block]:
    return read_blocks(path.read_text("utf-8"))


def test_the_readme_and_the_docs_have_python_blocks():
    assert DOCS, "docs/ holds no page"
    assert [block for block in blocks_of(README) if block.language in PYTHON]
    assert [block for page in DOCS for block in blocks_of(page) if block.language in PYTHON]


@pytest.mark.parametrize("page", PAGES, ids=page_name)
def test_the_python_blocks_of_a_page_run_and_print_what_it_shows(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # a page may write files
    blocks = blocks_of(page)
    expected = [block for block in blocks if block.language in PYTHON and block.reason_not_to_run is None]
    assert run_page(page_name(page), blocks) == len(expected)


@pytest.mark.parametrize("page", PAGES, ids=page_name)
def test_the_sh_blocks_of_a_page_hold_known_commands(page):
    blocks = blocks_of(page)
    assert [block.line for block in blocks if block.language in SHELL_ALIASES] == [], "call the language sh"
    lines = [line for block in blocks if block.language == "sh" for line in commands(block)]
    problems = {line: check_command(line, ROOT, EXTRAS) for line in lines}
    assert {line: problem for line, problem in problems.items() if problem} == {}


@pytest.mark.parametrize("page", PAGES, ids=page_name)
def test_the_relative_links_of_a_page_lead_somewhere(page):
    links = re.findall(r"\]\(([^)\s#]+)(?:#[^)]*)?\)", page.read_text("utf-8"))
    relative = [link for link in links if "://" not in link and not link.startswith("mailto:")]
    assert [link for link in relative if not (page.parent / link).exists()] == []


@pytest.mark.parametrize("script", EXAMPLES, ids=page_name)
def test_an_example_runs_prints_a_result_and_warns_of_nothing(script, tmp_path):
    done = subprocess.run(
        [sys.executable, "-W", "error", script],
        cwd=tmp_path,  # an example may write files, and may not lean on where it is started
        env={**os.environ, "PYTHONPATH": str(ROOT), "PREFGRAPH_DATA": ""},  # those in papers/ end at once without data
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.strip()


# The runner itself.


def page_of(*parts: tuple[str, str]) -> list[Block]:
    return read_blocks("\n".join(f"```{info}\n{text}\n```\n" for info, text in parts))


def test_blocks_keep_language_text_and_line():
    (block,) = read_blocks("# Title\n\nSome words.\n\n```python\nx = 1\nprint(x)\n```\n")
    assert (block.language, block.text, block.line, block.heading) == ("python", "x = 1\nprint(x)\n", 6, 1)


def test_a_longer_fence_may_hold_a_shorter_one():
    (block,) = read_blocks("````text\n```python\n```\n````\n")
    assert block.text == "```python\n```\n"


def test_an_indented_block_loses_its_indentation():
    (block,) = read_blocks("- item\n\n  ```python\n  if True:\n      x = 1\n\n  ```\n")
    assert block.text == "if True:\n    x = 1\n\n"


def test_a_block_that_is_never_closed_is_an_error():
    with pytest.raises(DocumentationError, match=r"line 3: .* never closed"):
        read_blocks("words\n\n```python\nx = 1\n")


def test_the_blocks_of_a_page_share_one_namespace():
    assert run_page("p.md", page_of(("python", "x = 1"), ("python", "y = x + 1\nprint(y)"), ("text", "2"))) == 2


def test_output_that_differs_is_an_error_with_page_and_line():
    with pytest.raises(DocumentationError, match=r"p\.md:6: shows\n2\nbut the block at line 2 printed\n1"):
        run_page("p.md", page_of(("python", "print(1)"), ("output", "2")))


def test_text_under_another_heading_is_no_output():
    blocks = read_blocks("```python\nprint(1)\n```\n\n## A picture\n\n```text\na -> b\n```\n")
    assert run_page("p.md", blocks) == 1


def test_prompts_are_run_as_a_doctest_in_the_same_namespace():
    blocks = page_of(("python", "x = 1"), ("python", ">>> y = x + 1\n>>> y\n2"), ("python", "y + 1"))
    assert run_page("p.md", blocks) == 3


def test_a_doctest_that_fails_is_an_error_with_its_report():
    with pytest.raises(DocumentationError, match=r"p\.md:2: (?s:.*)Expected:\n    3\nGot:\n    2"):
        run_page("p.md", page_of(("pycon", ">>> 1 + 1\n3")))


def test_an_error_in_a_block_has_the_line_of_the_page():
    with pytest.raises(ZeroDivisionError) as caught:
        run_page("p.md", page_of(("text", "words"), ("python", "x = 0\n1 / x")))
    assert (str(caught.traceback[-1].path), caught.traceback[-1].lineno + 1) == ("p.md", 7)


def test_a_block_may_say_why_it_is_not_run_but_must_compile():
    assert run_page("p.md", page_of(("python not-run: needs a server", "open_store('neo4j://...')"))) == 0
    with pytest.raises(SyntaxError):
        run_page("p.md", page_of(("python not-run: needs a server", "open_store(")))
    with pytest.raises(DocumentationError, match="no reason"):
        run_page("p.md", page_of(("python not-run:", "x = 1")))


def test_a_page_without_blocks_runs_nothing():
    assert run_page("p.md", read_blocks("Only words.\n")) == 0


def test_blocks_of_other_languages_are_not_run():
    assert run_page("p.md", page_of(("cypher", "MATCH (n) RETURN n"), ("", "a | b"))) == 0


def test_commands_lose_prompts_and_comments():
    (block,) = page_of(("sh", "# first\n$ make demo\n\nmake test"))
    assert commands(block) == ["make demo", "make test"]


def test_targets_are_those_that_the_makefile_explains():
    assert make_targets("demo: x  ## show\n\ntest:  ## run\n\nhidden:\n\techo\n") == {"demo", "test"}
    assert {"bench", "clean", "demo", "help", "lint", "lock", "neo4j", "newest", "test", "types"} == make_targets(
        (ROOT / "Makefile").read_text("utf-8")
    )


@pytest.mark.parametrize(
    "command",
    [
        "make demo",
        "make lint types  # both",
        "HYPOTHESIS_PROFILE=deep make test WORKERS=2",
        "python tests/doc_blocks.py",
        "pip install prefgraph-db",
        'pip install "prefgraph-db[plot,fast]"',
        "git clone https://example.org/prefgraph.git",
        "cd prefgraph",
        ".ci/run",
    ],
)
def test_commands_that_a_page_may_show(command):
    assert check_command(command, ROOT, {"plot", "fast"}) is None


@pytest.mark.parametrize(
    ("command", "problem"),
    [
        ("make coffee", "no target"),
        ("make", "not a known command"),
        ("python examples/missing.py", "no script"),
        ("pip install prefgraph", "not this project"),
        ("pip install prefgraph-db[turbo]", "no extra"),
        ("rm -rf .", "not a known command"),
    ],
)
def test_commands_that_a_page_may_not_show(command, problem):
    assert problem in (check_command(command, ROOT, {"plot", "fast"}) or "")
