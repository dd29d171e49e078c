"""Who may import whom. The table is the architecture; the test keeps it true."""

import ast
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
    # attacks on private methods, and what they prove
    "engine/audit": {
        "engine.core", "engine.privacy", "engine.method", "datasets.base", "torch", "scipy",
        "engine.training.spread",
    },
    # parts that several papers train with
    "engine/training": {
        "engine.core", "engine.privacy", "engine.method", "datasets.base", "torch", "scipy",
    },
    "engine/papers": {
        "engine.core", "engine.privacy", "engine.method", "engine.training", "engine.audit.witness",
        "datasets", *REQUEST,
        "torch", "dp_accounting", "scipy", "sklearn", "sksurv", "lifelines", "arviz", "pandas",
    },
    "engine/catalog.py": {"engine.core", "engine.method", "engine.papers"},
    # one run: its name, its loop, its results
    "engine/runs": {
        "engine.core", "engine.privacy", "engine.method", "engine.catalog", "engine.__version__",
        "engine.audit.entry", "datasets", "torch", "scipy", "pandas",
    },
    # many runs: store, worker, client
    "engine/service": {
        "engine.core", "engine.privacy", "engine.method", "engine.catalog", "engine.runs",
        "engine.__version__", "datasets", "torch",
    },
    "engine/cli": {"engine", "datasets"},
    "engine/__main__.py": {"engine.cli"},
    # what the browser shows
    "pages/ui/charts": {
        "engine.core", "engine.privacy.guarantee", "engine.runs", "engine.method",
        "pages.ui.words", "plotly",
    },
    "pages/ui/kit": {
        "engine", "datasets", "pages.ui.words", "pages.ui.charts", "streamlit", "plotly",
    },
    "pages/ui/jobs": {"engine", "datasets", "pages.ui.kit", "pages.ui.words", "streamlit"},
    "pages": {"engine", "datasets", "pages", "streamlit", "plotly", "pandas"},
    "app.py": {"engine", "pages", "streamlit"},
    "benchmarks": {
        "engine", "datasets", "torch", "scipy", "sklearn", "lifelines", "sksurv", "statsmodels",
        "pandas", "pages", "streamlit.proto",
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
