"""The shape of the project: what is public, what is documented, who imports whom, what an import costs."""

import ast
import importlib
import inspect
import pkgutil
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parents[1]
PACKAGES = ("prefgraph", "learners", "storage")

# Packages that `import prefgraph` must not load: optional, slow to import, or on the other side of a contract.
UNWANTED = {"ladybug", "learners", "matplotlib", "neo4j", "pandas", "rich", "sklearn", "storage", "typer"}

# What a module of kernels may import: arrays in, arrays out, nothing that knows a graph.
KERNEL_IMPORTS = {"numba", "numpy"} | sys.stdlib_module_names


# The order of sections in a docstring: an example comes before the papers.
SECTIONS = [
    "Parameters",
    "Attributes",
    "Returns",
    "Yields",
    "Raises",
    "Warns",
    "See Also",
    "Notes",
    "Examples",
    "References",
]


def modules_of(package: str) -> list[ModuleType]:
    """Every module of a package, the package itself first."""
    top = importlib.import_module(package)
    found = pkgutil.walk_packages(top.__path__, f"{package}.")
    return [top, *(importlib.import_module(info.name) for info in found)]


ALL_MODULES = [module for package in PACKAGES for module in modules_of(package)]


def is_public(module: ModuleType) -> bool:
    return not any(part.startswith("_") for part in module.__name__.split(".")) and ".cli" not in module.__name__


def in_listed_order(names: list[str]) -> list[str]:
    """Constants, then classes, then functions, each by the alphabet: the order that ruff (RUF022) writes."""
    return sorted(names, key=lambda name: (0 if name.isupper() else 1 if name[:1].isupper() else 2, name))


def surface(module: ModuleType) -> Iterator[tuple[str, object]]:
    """What a user can reach through `__all__`, listed modules opened: ('prefgraph.metrics.coverage', function)."""
    for name in module.__all__:
        thing = getattr(module, name)
        if inspect.ismodule(thing):
            yield from surface(thing)
        else:
            yield f"{module.__name__}.{name}", thing


SURFACE = {path: thing for package in PACKAGES for path, thing in surface(importlib.import_module(package))}
DOCUMENTED = {
    path: thing
    for path, thing in SURFACE.items()
    if (inspect.isfunction(thing) or inspect.isclass(thing)) and thing.__module__.split(".")[0] in PACKAGES
}


def documented_callables() -> dict[str, object]:
    """The public functions and classes, and the public methods that our classes define."""
    found = dict(DOCUMENTED)
    for path, thing in DOCUMENTED.items():
        if inspect.isclass(thing):
            for name, member in vars(thing).items():
                function = getattr(member, "__func__", member)
                if inspect.isfunction(function) and not name.startswith("_"):
                    found[f"{path}.{name}"] = function
    return found


def sections(docstring: str) -> dict[str, str]:
    """The numpydoc sections of a docstring in their order: {'Parameters': text, ...}."""
    parts = re.split(r"^([A-Z][A-Za-z ]+)\n-{3,}$", inspect.cleandoc(docstring), flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


def documented_parameters(section: str) -> list[str]:
    """The names that a Parameters section explains; 'a, b : int' explains two, '*rest' is called rest."""
    heads = [line for line in section.splitlines() if line and not line[0].isspace()]
    return [name.strip().lstrip("*") for head in heads for name in head.split(" :")[0].split(",")]


@pytest.mark.parametrize("package", PACKAGES)
def test_a_package_lists_its_public_names(package):
    names = importlib.import_module(package).__all__
    assert len(set(names)) == len(names)


@pytest.mark.parametrize(
    "module", [m for m in ALL_MODULES if hasattr(m, "__all__")], ids=lambda module: module.__name__
)
def test_every_listed_name_is_in_order_and_resolves(module):
    assert list(module.__all__) == in_listed_order(module.__all__)
    assert [name for name in module.__all__ if not hasattr(module, name)] == []


@pytest.mark.parametrize("package", PACKAGES)
def test_a_package_shows_nothing_that_it_does_not_list(package):
    module = importlib.import_module(package)
    shown = {name for name, thing in vars(module).items() if not name.startswith("_") and not inspect.ismodule(thing)}
    assert shown - set(module.__all__) == set()


def test_a_public_module_lists_what_it_offers():
    silent = [module.__name__ for module in ALL_MODULES if is_public(module) and not hasattr(module, "__all__")]
    assert silent == [], "give the module an __all__, or its name an underscore"


def test_every_listed_name_is_reached_from_a_package():
    reached = {id(thing) for thing in SURFACE.values()}
    hidden = [
        f"{module.__name__}.{name}"
        for module in filter(is_public, ALL_MODULES)
        for name in getattr(module, "__all__", [])
        if not inspect.ismodule(getattr(module, name)) and id(getattr(module, name)) not in reached
    ]
    assert hidden == [], "list the name in the package's __all__ too, or the module that holds it"


def test_the_surface_is_not_empty():
    assert DOCUMENTED, "the tests of docstrings would pass on nothing"


@pytest.mark.parametrize("path", DOCUMENTED)
def test_every_public_name_has_a_docstring_with_an_example(path):
    thing = DOCUMENTED[path]
    assert thing.__doc__, f"{path} has no docstring"
    if not (inspect.isclass(thing) and issubclass(thing, Exception)):  # an error is shown where it is raised
        assert ">>> " in thing.__doc__, f"{path} has no example"


@pytest.mark.parametrize("path", documented_callables())
def test_a_docstring_explains_exactly_the_parameters_that_exist(path):
    thing = documented_callables()[path]
    explained = sections(thing.__doc__ or "").get("Parameters")
    if explained is not None:
        existing = [name for name in inspect.signature(thing).parameters if name not in ("self", "cls")]
        assert set(documented_parameters(explained)) == set(existing)


@pytest.mark.parametrize("path", documented_callables())
def test_the_sections_of_a_docstring_come_in_one_order(path):
    found = list(sections(documented_callables()[path].__doc__ or ""))
    assert found == [section for section in SECTIONS if section in found]


def test_sections_and_parameters_are_read_off_a_docstring():
    text = """A summary.

    Parameters
    ----------
    a, b : int
        Two numbers: the second
        is larger.
    *rest
        More.

    Returns
    -------
    A number.
    """
    found = sections(text)
    assert list(found) == ["Parameters", "Returns"]
    assert documented_parameters(found["Parameters"]) == ["a", "b", "rest"]


def run_python(code: str, tmp_path: Path) -> str:
    """What a fresh interpreter prints, with numba's cache cold."""
    environment = {"NUMBA_CACHE_DIR": str(tmp_path), "PYTHONPATH": str(ROOT), "PATH": ""}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_import_prefgraph_loads_nothing_optional_or_heavy(tmp_path):
    loaded = run_python("import sys, prefgraph; print(*{name.split('.')[0] for name in sys.modules})", tmp_path).split()
    assert "prefgraph" in loaded
    assert UNWANTED.intersection(loaded) == set()


RECORD_COMPILATIONS = """
from numba.core.event import install_recorder
with install_recorder("numba:compile") as recorder:
    {code}
print(len(recorder.buffer))
"""


def test_import_prefgraph_compiles_nothing(tmp_path):
    assert run_python(RECORD_COMPILATIONS.format(code="import prefgraph"), tmp_path) == "0\n"


def test_the_recorder_sees_a_compilation_at_import(tmp_path):
    eager = "import numba; numba.njit('f8(f8)')(lambda x: x)"
    assert int(run_python(RECORD_COMPILATIONS.format(code=eager), tmp_path)) > 0


def imported_by(source: str) -> set[str]:
    """The top-level packages that a source text imports, anywhere in it."""
    nodes = list(ast.walk(ast.parse(source)))
    plain = {alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names}
    return {name.split(".")[0] for name in plain | {n.module or "." for n in nodes if isinstance(n, ast.ImportFrom)}}


def test_imports_are_read_off_a_source_text():
    assert imported_by("import numpy as np\ndef f():\n    from scipy.sparse import csr_array\n") == {"numpy", "scipy"}


def test_kernels_import_numpy_and_numba_only():
    kernels = [path for package in PACKAGES for path in (ROOT / package).rglob("_*kernels*.py")]
    assert kernels, "no module of kernels found"
    strangers = {str(path.relative_to(ROOT)): imported_by(path.read_text("utf-8")) - KERNEL_IMPORTS for path in kernels}
    assert {path: names for path, names in strangers.items() if names} == {}


def test_the_import_contracts_are_written_down():
    # lint-imports checks them; here only that nobody removes one or opens a hole in it.
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["importlinter"]
    contracts = {contract["id"]: contract for contract in settings["contracts"]}
    assert set(settings["root_packages"]) == set(PACKAGES)
    assert set(contracts) == {"packages", "command-line", "order", "drivers"}
    assert [name for name, contract in contracts.items() if contract.get("ignore_imports")] == []
    assert contracts["order"]["exhaustive"] is True
    assert not any("(" in layer for layer in contracts["order"]["layers"]), "a module in brackets may be missing"


@pytest.mark.parametrize("package", PACKAGES)
def test_a_package_says_that_it_is_typed(package):
    assert (ROOT / package / "py.typed").exists()


def test_the_lock_has_a_hash_for_every_pin_and_no_address():
    lock = (ROOT / "requirements-dev.lock").read_text("utf-8")
    pins = re.split(r"\n(?=\S)", lock.strip())
    assert len(pins) > 20
    assert [pin.splitlines()[0] for pin in pins if "==" not in pin or "--hash=sha256:" not in pin] == []
    assert "://" not in lock
