"""Who may import whom. The table is the architecture; the test keeps it true."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
ACCOUNTING = {"dp_accounting", "attr"}
PLAIN = {"engine.errors", "engine.spec", "engine.gauges", "engine.guarantee", "engine.batch"}
LIGHT = PLAIN | {"engine.mechanisms", "engine.vocabulary", "engine.method", "engine.events"}
STORED = {"engine.artifacts", "engine.database", "engine.errors", "engine.events", "engine.job"} | {
    "engine.method",
    "engine.place",
    "engine.process",
}
REQUESTS = {"engine.job", "engine.results", "engine.exhibit"}
MAY_IMPORT = {
    "datasets": {
        "datasets",
        "engine.errors",
        "engine.place",
        "pooch",
        "sklearn",
        "sksurv",
        "pandas",
    }
    | {"lifelines"},
    "engine/errors.py": set(),
    "engine/spec.py": {"engine.errors"},
    "engine/vocabulary.py": {"engine.spec"},
    "engine/gauges.py": set(),
    "engine/events.py": set(),
    "engine/guarantee.py": set(),
    "engine/mechanisms.py": {"engine.pure", "dp_accounting"},
    "engine/pure.py": ACCOUNTING,
    "engine/accounting.py": {"engine.errors", "engine.guarantee", "engine.pure", "dp_accounting"},
    "engine/memory.py": set(),
    "engine/noise.py": {"engine.mechanisms", "torch"},
    "engine/batch.py": {"engine.gauges", "engine.spec"},
    "engine/method.py": PLAIN | {"datasets.base", "dp_accounting", "torch"},
    "engine/catalog.py": {"engine.errors", "engine.method", "engine.papers", "engine"},
    "engine/job.py": PLAIN | {"engine", "engine.catalog", "engine.method", "datasets"},
    "engine/results.py": PLAIN | {"engine.events", "engine.job"},
    "engine/exhibit.py": {"engine.catalog", "engine.job", "engine.results"},
    "engine/reference.py": {"engine", "engine.errors", "engine.exhibit"},
    "engine/resume.py": PLAIN | {"engine.artifacts", "engine.method", "datasets.base", "torch"},
    "engine/driver.py": PLAIN
    | {
        "engine.accounting",
        "engine.artifacts",
        "engine.resume",
        "engine.events",
        "engine.job",
        "engine.memory",
        "engine.method",
        "datasets.base",
        "torch",
    },
    "engine/training": {
        "engine.training",
        "engine.noise",
        "engine.accounting",
        "torch",
        "datasets.base",
    }
    | LIGHT,
    "engine/papers": {"engine.papers", "engine.training", "engine.noise", "engine.accounting"}
    | {"engine.pure", "datasets", "torch", "dp_accounting", "lifelines"}
    | {"sksurv", "sklearn", "arviz"}
    | LIGHT
    | REQUESTS,
    "engine/process.py": set(),
    "engine/place.py": set(),
    "engine/database.py": {"engine.errors"},
    "engine/artifacts.py": {"engine.errors", "engine.method"},
    "engine/store.py": STORED,
    "engine/claim.py": STORED | {"engine.store"},
    "engine/presence.py": {"engine.errors", "engine.process", "engine.store"},
    "engine/recorder.py": {"engine.claim", "engine.errors", "engine.events"},
    "engine/work.py": {"engine.claim", "engine.driver", "engine.store", "datasets"}
    | {"engine.__version__", "engine.errors", "engine.events", "engine.job"}
    | {"engine.presence", "engine.recorder", "engine.resume", "torch"},
    "engine/turns.py": {
        "engine.claim",
        "engine.memory",
        "engine.events",
        "engine.process",
        "engine.recorder",
    }
    | {"engine.store", "engine.work"},
    "engine/changes.py": set(),
    "engine/run.py": {"engine.changes", "engine.job", "engine.store"},
    "engine/client.py": {"engine", "datasets"},
    "engine/worker.py": {"engine", "datasets", "torch"},
    "engine/cli": {"engine", "datasets"},
    "engine/__main__.py": {"engine.cli"},
    "pages": {"engine", "datasets", "pages", "streamlit", "plotly"},
    "app.py": {"engine", "pages", "streamlit"},
    "benchmarks": {"engine", "datasets", "benchmarks", "torch", "sklearn", "lifelines", "sksurv"}
    | {"statsmodels"},
}
HEAVY = ("torch", "lifelines", "sksurv", "sklearn", "scipy", "dp_accounting", "statsmodels")
HEAVY += ("arviz",)
WATCHED = (*HEAVY, "engine", "datasets", "pages", "streamlit", "plotly", "attr", "pooch", "pandas")
FREE = {"scipy", "pandas", "attr"}
"""Plain tools that any engine module may use; pages may not load scipy either, see below."""


def imports(path: Path) -> set[str]:
    """Dotted names that a module imports, of ours and of the watched libraries."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and node.module:
            found |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
        elif isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
    return {name for name in found if name.split(".")[0] in WATCHED}


def modules(place: str) -> list[Path]:
    """The Python files of a place: a file, or all files of a folder."""
    target = ROOT / place
    return sorted(target.rglob("*.py")) if target.is_dir() else [target] * target.exists()


def allowed(name: str, place: str) -> bool:
    """Whether a module of `place` may import `name`: a listed module, or something in it."""
    if name.split(".")[0] in FREE and place.startswith("engine"):
        return True
    ours = MAY_IMPORT[place]
    within = any(name == top or name.startswith(f"{top}.") for top in ours)
    return within or any(top.startswith(f"{name}.") for top in ours)


@pytest.mark.parametrize("place", MAY_IMPORT)
def test_imports_follow_the_table(place: str) -> None:
    assert modules(place) or place == "engine/training", f"{place} is gone: correct the table"
    for module in modules(place):
        wrong = sorted(name for name in imports(module) if not allowed(name, place))
        assert not wrong, f"{module.relative_to(ROOT)} may not import {wrong}"


def test_every_engine_module_is_in_the_table() -> None:
    listed = {path for place in MAY_IMPORT for path in modules(place)}
    loose = {"__init__.py", "__main__.py", "store.py", "work.py", "worker.py", "client.py"}
    missing = [
        path.relative_to(ROOT).as_posix()
        for path in (ROOT / "engine").rglob("*.py")
        if path not in listed and path.name not in loose and "cli" not in path.parts
    ]
    assert not missing


def test_papers_do_not_know_each_other() -> None:
    for module in (ROOT / "engine/papers").rglob("*/*.py"):
        own = f"engine.papers.{module.relative_to(ROOT / 'engine/papers').parts[0]}"
        foreign = [n for n in imports(module) if n.startswith("engine.papers.")]
        assert all(n == own or n.startswith(f"{own}.") for n in foreign), module


@pytest.mark.parametrize("entry", ["engine.client", "engine.catalog", "datasets.catalog"])
def test_what_pages_import_stays_light(entry: str) -> None:
    """A fresh interpreter that lists every paper has loaded none of the heavy libraries."""
    code = (
        f"import sys, {entry}\n"
        "from engine.catalog import catalog\n"
        "from engine.exhibit import exhibits\n"
        "[exhibits(slug) for slug in catalog()]\n"
        f"print(*[name for name in {HEAVY} if name in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == []
