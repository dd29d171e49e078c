"""Who may import whom. The table is the architecture; the test keeps it true."""

import ast
import functools
import graphlib
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
REQUEST = {
    "engine.runs.job",
    "engine.runs.results",
    "engine.runs.exhibit",
    "engine.runs.difference",
}
"""How a paper asks for the runs of its tables and figures."""
MAY_IMPORT: dict[str, set[str]] = {
    # values: parameters, measurements, the replica axis, errors
    "engine/core": set(),
    # noise and its price
    "engine/privacy": {"engine.core", "dp_accounting", "attr", "torch", "scipy"},
    # what a data set is; its loaders
    "datasets": {"engine.core", "pooch", "sklearn", "sksurv", "pandas", "lifelines"},
    # what a method and a paper are
    "engine/method.py": {
        "engine.core", "engine.privacy", "datasets.base", "dp_accounting", "torch",
    },
    # what a run's releases promise
    "engine/promise.py": {"engine.core", "engine.privacy"},
    # intervals that count sampling and noise
    "engine/intervals.py": {"engine.privacy.mechanisms", "scipy"},
    # attacks on private methods, and what they prove
    "engine/audit": {
        "engine.core", "engine.privacy", "engine.method", "datasets.base", "torch", "scipy",
        "engine.training.spread",
    },
    # parts that several papers train with
    "engine/training": {
        "engine.core", "engine.privacy", "engine.method", "engine.intervals", "datasets.base",
        "torch", "scipy",
    },
    "engine/papers": {
        "engine.core", "engine.privacy", "engine.method", "engine.promise", "engine.training",
        "engine.intervals",
        "engine.audit.witness", "datasets", *REQUEST,
        "torch", "dp_accounting", "scipy", "sklearn", "sksurv", "lifelines", "arviz", "pandas",
    },
    "engine/catalog.py": {
        "engine.core", "engine.method", "engine.papers", "datasets.catalog",
    },
    # one run: its name, its loop, its results
    "engine/runs": {
        "engine.core", "engine.privacy", "engine.method", "engine.catalog", "engine.__version__",
        "engine.audit.entry", "engine.intervals", "engine.promise", "engine.training.weights",
        "datasets", "torch", "scipy",
        "pandas",
    },
    # many runs: store, worker, client
    "engine/service": {
        "engine.core", "engine.privacy", "engine.method", "engine.catalog", "engine.runs",
        "engine.__version__", "engine.audit.outside", "engine.audit.training", "datasets", "torch",
    },
    # a private synthetic table, beside an original
    "engine/synthetic": {
        "engine.core", "engine.privacy", "engine.promise", "datasets.base",
    },
    # what people bring: functions to attack, runs of other libraries, cards as files
    "engine/yours": {
        "engine.core", "engine.privacy", "engine.method", "engine.catalog", "engine.runs",
        "engine.service", "engine.__version__", "datasets", "scipy", "sklearn", "pandas",
        "dp_accounting", "pooch",
    },
    # what every private method must keep, and the tests of it
    "engine/conformance": {
        "engine.core", "engine.privacy", "engine.method", "engine.catalog", "engine.audit",
        "datasets", "torch", "scipy",
    },
    "engine/cli": {"engine", "datasets", "pandas"},
    "engine/__main__.py": {"engine.cli"},
    # what the browser shows
    "pages/ui/charts": {
        "engine.core", "engine.intervals", "engine.privacy.guarantee", "engine.runs",
        "engine.method", "pages.ui.words", "plotly",
    },
    "pages/ui/kit": {
        "engine", "datasets", "pages.ui.words", "pages.ui.messages", "pages.ui.charts", "streamlit",
        "plotly",
    },
    "pages/ui/jobs": {
        "engine", "datasets", "pages.ui.kit", "pages.ui.rights", "pages.ui.words",
        "pages.ui.messages", "streamlit",
    },
    "pages": {"engine", "datasets", "pages", "streamlit", "plotly", "pandas"},
    # what a notebook imports
    "epsilon_explorer.py": {"engine", "datasets", "pages.ui.charts", "pandas", "plotly"},
    "app.py": {"engine", "pages", "streamlit"},
    "benchmarks": {
        "engine", "datasets", "torch", "scipy", "sklearn", "lifelines", "sksurv", "statsmodels",
        "pandas", "pages", "streamlit.proto", "dp_accounting",
    },
}  # fmt: skip
"""What a file or folder may import, beside itself and the libraries that are not watched."""
HEAVY = ("torch", "lifelines", "sksurv", "sklearn", "scipy", "dp_accounting", "statsmodels")
HEAVY += ("arviz",)
WATCHED = (*HEAVY, "engine", "datasets", "pages", "streamlit", "plotly", "attr", "pooch", "pandas")


def imports(path: Path) -> set[str]:
    """Dotted names that a module imports, of ours and of the watched libraries."""
    names = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and node.module:
            names |= {f"{node.module}.{alias.name}" for alias in node.names}
        elif isinstance(node, ast.Import):
            names.update(alias.name for alias in node.names)
    return {name for name in names if name.split(".")[0] in WATCHED}


def modules(place: str) -> list[Path]:
    """The Python files of a place: a file, or all files of a folder."""
    target = ROOT / place
    return sorted(target.rglob("*.py")) if target.is_dir() else [target]


def within(name: str, top: str) -> bool:
    """Whether a dotted name is `top` or lies in it."""
    return name == top or name.startswith(f"{top}.")


@pytest.mark.parametrize("place", MAY_IMPORT)
def test_imports_follow_the_table(place: str) -> None:
    allowed = MAY_IMPORT[place] | {place.removesuffix(".py").replace("/", ".")}
    assert modules(place), f"{place} is gone: correct the table"
    for module in modules(place):
        wrong = sorted(n for n in imports(module) if not any(within(n, top) for top in allowed))
        assert not wrong, f"{module.relative_to(ROOT)} may not import {wrong}"


def test_every_module_is_in_the_table() -> None:
    listed = {path for place in MAY_IMPORT for path in modules(place)}
    listed |= {ROOT / "engine/__init__.py"}
    ours = [path for place in ("engine", "pages", "datasets") for path in modules(place)]
    assert not [path.relative_to(ROOT).as_posix() for path in ours if path not in listed]


@pytest.mark.parametrize("folder", ["engine/papers", "pages/ui/papers"])
def test_papers_do_not_know_each_other(folder: str) -> None:
    """A paper's folder imports no other paper's, in the engine and on the pages."""
    top = folder.replace("/", ".")
    for module in (ROOT / folder).rglob("*/*.py"):
        own = f"{top}.{module.relative_to(ROOT / folder).parts[0]}"
        foreign = [name for name in imports(module) if within(name, top) and not within(name, own)]
        assert not foreign, f"{module.relative_to(ROOT)} may not import {foreign}"


@pytest.mark.parametrize("entry", ["engine.service.client", "engine.catalog", "datasets.catalog"])
@pytest.mark.thorough
def test_what_pages_import_stays_light(entry: str) -> None:
    """A fresh interpreter that lists every paper has loaded none of the heavy libraries."""
    code = (
        f"import sys, {entry}\n"
        "from engine.catalog import catalog\n"
        "from engine.runs.exhibit import exhibits\n"
        "[exhibits(slug) for slug in catalog()]\n"
        f"print(*[name for name in {HEAVY} if name in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == []


def test_a_run_on_a_built_in_data_set_needs_no_reader_of_tables() -> None:
    code = (
        "import sys, engine.cli.running\n"
        "print(*{'pyarrow', 'datasets.own_reader'} & {*sys.modules})"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == []


def ours() -> dict[str, Path]:
    """Every module of the product by its dotted name; a package by its own."""
    places = ("engine", "pages", "datasets", "app.py")
    paths = [path.relative_to(ROOT) for place in places for path in modules(place)]
    return {".".join(path.with_suffix("").parts).removesuffix(".__init__"): path for path in paths}


def imported(text: str, known: set[str]) -> set[str]:
    """The known modules that a module imports, late and for types alone too."""
    names = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.ImportFrom) and node.module:
            each = {f"{node.module}.{alias.name}" for alias in node.names}
            names |= {one if one in known else node.module for one in each}
        elif isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
    return names & known


def circle(edges: dict[str, set[str]]) -> list[str]:
    """Some circle of imports; empty where there is none."""
    try:
        graphlib.TopologicalSorter(edges).prepare()
    except graphlib.CycleError as error:
        return list(error.args[1])
    return []


@functools.cache
def graph() -> dict[str, set[str]]:
    """Who imports whom among our modules."""
    found = ours()
    known = set(found)
    return {n: imported((ROOT / p).read_text("utf-8"), known) - {n} for n, p in found.items()}


def folder(module: str) -> str:
    """The folder that a module lies in, for a circle of folders: `a.b` of `a.b.c`."""
    return module.rpartition(".")[0]


def test_no_import_leads_back() -> None:
    assert circle(graph()) == []


RIGHTS = "pages.ui.rights"
"""Who may do what, in one table. It names what is done to lessons, whose pages ask it: this one
module stands between two folders."""


def test_a_folder_does_not_know_what_stands_above_it() -> None:
    """What imports a folder is not imported by it: the arrows between the two point one way."""
    edges = graph()
    inside: dict[str, set[str]] = {}
    for name in edges:
        inside.setdefault(folder(name), set()).add(name)
    wrong = [
        f"{name} -> {to} -> {back}"
        for name, some in edges.items()
        for to in some
        if not within(to, folder(name)) and within(folder(name), folder(to))
        if to != RIGHTS
        for back in edges[to]
        if back in inside[folder(name)] and to in inside[folder(to)]
    ]
    assert wrong == []
    assert any(within(to, "pages.ui.lessons") for to in edges[RIGHTS])  # else it is no exception


def test_circles_and_arrows_upwards_are_seen() -> None:
    assert circle({"a": {"b"}, "b": {"c"}, "c": set()}) == []
    assert set(circle({"a": {"b"}, "b": {"c"}, "c": {"a"}})) == {"a", "b", "c"}
    text = "def f():\n    from engine.runs import driver\n    import engine.core.spec\n"
    known = {"engine.runs", "engine.runs.driver", "engine.core.spec"}
    assert imported(text, known) == {"engine.runs.driver", "engine.core.spec"}
