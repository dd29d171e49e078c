"""Faults that are put into a copy of the project, one at a time: `make test` notices each.

A fault names the tests that are run on it, which are some of those that `make test` runs. Faults in
methods and their promises are in `engine/conformance`.
"""

import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
KEEP = ("app.py", "pyproject.toml", "engine", "datasets", "pages", "tests", ".streamlit")
FAILED = 1
"""The code with which pytest ends where a test has failed."""


@dataclass(frozen=True)
class Fault:
    """A slip of the keyboard.

    Attributes:
        file: Where it is.
        right: What stands there; once.
        wrong: What stands there instead.
        tests: Where it is noticed.
    """

    file: str
    right: str
    wrong: str
    tests: str


FAULTS = {
    "a wrong sign in a price": Fault(
        "engine/privacy/pure.py", "epsilon + math.log(q)", "epsilon - math.log(q)",
        "tests/engine/test_accounting.py",
    ),
    "a method with the label of another": Fault(
        "engine/papers/mean/__init__.py", 'label="Laplace"', 'label="Gaussian"',
        "tests/test_conformance.py -k names_are_unique",
    ),
    "a key of a cache that goes stale": Fault(
        "engine/service/client.py", 'key = (run_id, row["created"])', "key = (run_id, 1.0)",
        "tests/engine/test_client.py tests/engine/test_shipped.py",
    ),
    "a slider that ends one value early": Fault(
        "pages/ui/kit/offers.py", "/ step + 1e-9) + 1)", "/ step + 1e-9))",
        "tests/pages/test_offers.py",
    ),
    "a link that takes the farthest value": Fault(
        "pages/ui/kit/offers.py", "return min(range(len(grid)), key=lambda i: abs(math.log",
        "return max(range(len(grid)), key=lambda i: abs(math.log",
        "tests/pages/test_offers.py",
    ),
    "one seed for all chunks": Fault(
        "engine/runs/driver.py", '{run}/{number}', '{run}',
        "tests/engine/test_driver.py",
    ),
    "a price for twice the noise": Fault(
        "engine/privacy/mechanisms.py", "return LaplaceDpEvent(1.0 / self.epsilon)",
        "return LaplaceDpEvent(2.0 / self.epsilon)",
        "tests/engine/test_noise.py tests/engine/test_accounting.py",
    ),
    "errors taken for hits in a bound": Fault(
        "engine/audit/bounds.py", "0.5 * (self.hits + 1.0 - self.alarms)",
        "0.5 * (self.hits + self.alarms)", "tests/audit/test_bounds.py tests/audit/test_audit.py",
    ),
    "released where it is raw": Fault(
        "engine/papers/mean/arrays.py", "released=True, public=True", "public=True",
        "tests/test_conformance.py tests/engine/test_release.py -k mean",
    ),
    "a result of the first step for the last": Fault(
        "engine/runs/results.py", "step = np.where(measured, new.step, old.step)",
        "step = np.where(measured, old.step, new.step)", "tests/engine/test_client.py",
    ),
    "a digest that leaves sources out": Fault(
        "engine/runs/changes.py", '"engine.training", "engine.privacy"', '"engine.privacy"',
        "tests/engine/test_changes.py",
    ),
}  # fmt: skip


@pytest.fixture(scope="module")
def copy(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("power")
    for name in KEEP:
        if (ROOT / name).is_dir():
            shutil.copytree(
                ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__")
            )
        else:
            shutil.copy(ROOT / name, folder / name)
    os.symlink(ROOT / "reference", folder / "reference")
    return folder


def ended(copy: Path, tests: str) -> int:
    """The code with which the tests end in the copy."""
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider"]
    chosen = ["-m", "not slow and not browser", *tests.split()]
    environment = os.environ | {"EXPLORER_HOME": str(copy / "home")}
    return subprocess.run(
        [*command, *chosen], cwd=copy, env=environment, capture_output=True
    ).returncode


@pytest.mark.slow
@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_is_noticed(copy: Path, name: str):
    fault = FAULTS[name]
    path = copy / fault.file
    before = path.read_text(encoding="utf-8")
    assert before.count(fault.right) == 1, "correct the fault: its line has changed"
    path.write_text(before.replace(fault.right, fault.wrong), encoding="utf-8")
    try:
        assert ended(copy, fault.tests) == FAILED
    finally:
        path.write_text(before, encoding="utf-8")


@pytest.mark.slow
def test_the_copy_without_a_fault_passes(copy: Path):
    assert ended(copy, "tests/engine/test_driver.py tests/engine/test_changes.py") == 0
