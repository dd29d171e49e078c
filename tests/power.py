"""Faults that are put into a copy of the project, one at a time, and the test that notices each.

`make power` runs the tests that can notice a fault, which are some of those that `make test` runs,
and writes the table `docs/power.md`. Faults in a small method, one for each promise that private
methods make, are in `tests/conformance/mutants.py`, and part of `make test`.
"""

import contextlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]
TABLE = ROOT / "docs" / "power.md"
KEEP = (
    "app.py", "epsilon_explorer.py", "pyproject.toml", "Makefile", "engine", "datasets", "pages",
    "tests", "benchmarks", "docs", ".streamlit",
)  # fmt: skip
HEAD = """# What the tests notice

`make power` puts each of these faults into a copy of the project and runs tests that belong to
`make test`. The last column is the first test that fails.

| fault | where | noticed by |
|---|---|---|
"""


@dataclass(frozen=True)
class Fault:
    """A slip of the keyboard.

    Attributes:
        file: Where it is.
        right: What stands there; once.
        wrong: What stands there instead.
        tests: Where it is noticed, as arguments of pytest.
        marks: Which tests of these, as an expression of marks.
        swapped: Whether `right` stands instead of `wrong`, too.
    """

    file: str
    right: str
    wrong: str
    tests: str
    marks: str = "not slow and not thorough and not browser"
    swapped: bool = False

    def planted(self, text: str) -> str:
        """The text of the file with the fault."""
        assert text.count(self.right) == 1, f"{self.file}: its line has changed: {self.right!r}"
        if not self.swapped:
            return text.replace(self.right, self.wrong)
        return self.wrong.join(
            one.replace(self.wrong, self.right) for one in text.split(self.right)
        )


BROWSER = "browser and not slow and not thorough"
MEAN, SURVIVAL = "engine/papers/mean", "engine/papers/survival"
EDGES = '[arrays.public]\nedges = "Edges of the bins"\n'
EXACT = 'histogram_exact = "Counts without noise"\n'
PROMISES = "engine/conformance/test_methods.py --paper mean"
FAULTS = {
    # noise and what it hides
    "no noise at all": Fault(
        "engine/privacy/noise.py", "block.copy_(noise.add_(block))", "block.copy_(block)",
        "tests/engine/test_noise.py",
    ),
    "half the noise": Fault(
        "engine/privacy/noise.py", "scales = [mechanism.scale", "scales = [0.5 * mechanism.scale",
        "tests/engine/test_noise.py",
    ),
    "noise in single precision": Fault(
        "engine/privacy/secret.py", "dtype=torch.float64, device=rng.device)",
        "device=rng.device).double()", "tests/engine/test_noise.py",
    ),
    "noise of a fixed seed": Fault(
        f"{MEAN}/method.py", "noisy = (release(total, self._noises(batch, data, 0), rng, unit)",
        "noisy = (release(total, self._noises(batch, data, 0), rng.manual_seed(1), unit)", PROMISES,
    ),
    "noise drawn and forgotten": Fault(
        f"{MEAN}/method.py", "histogram = release(exact,", "release(exact,", PROMISES,
    ),
    "noise of another budget": Fault(
        f"{MEAN}/method.py", "parts = [self.releases(spec, len(data))[which].mechanism for",
        "parts = [self.releases(spec.replace(epsilon=2.0), len(data))[which].mechanism for",
        PROMISES,
    ),
    "asked twice and paid once": Fault(
        f"{MEAN}/method.py", "histogram = release(exact, self._noises(batch, data, 1), rng)",
        "histogram = sum(release(exact, self._noises(batch, data, 1), rng) for _ in range(2)) / 2",
        PROMISES,
    ),
    "half the sensitivity of counts": Fault(
        f"{MEAN}/price.py", "Laplace(2.0, spec.share", "Laplace(1.0, spec.share", PROMISES,
    ),
    "half the sensitivity of a curve": Fault(
        f"{SURVIVAL}/price/curve.py", "Gaussian(2.0**0.5,", "Gaussian(0.5 * 2.0**0.5,",
        "tests/papers/survival/test_methods.py engine/conformance/test_methods.py -k km",
    ),
    "an event's interval left out of the sensitivity": Fault(
        f"{SURVIVAL}/price/sensitivity.py", "along = norms[0] + np.cumsum(norms)",
        "along = np.cumsum(norms)",
        "tests/papers/survival/test_sensitivity.py",
    ),
    "half the log ratio of determinants": Fault(
        f"{SURVIVAL}/price/sensitivity.py", "part = 0.25 * (squares(", "part = 0.125 * (squares(",
        "tests/papers/survival/test_sensitivity.py",
    ),
    "class counts that are priced too low": Fault(
        "engine/papers/lvq/price.py", '"counts": 1.0, "sums": b', '"counts": 0.5, "sums": b',
        "tests/audit/test_replay.py -k lvq",
    ),
    "correlated noise without the norm of its factor": Fault(
        "engine/papers/enadpp/price.py",
        "reach = spec.clip * toeplitz.norm(bands(variant, spec), spec.momentum)",
        "reach = spec.clip", "tests/papers/enadpp/test_ftrl.py",
    ),
    "gradients that are not clipped": Fault(
        "engine/training/ghost.py", "SAFE / norms).clamp(max=1.0)", "SAFE / norms).clamp(min=1.0)",
        "tests/training/test_ghost.py",
    ),
    "a sampling rate that is rounded up": Fault(
        "engine/training/sampling.py", "math.floor(rate * GRID)", "math.ceil(rate * GRID)",
        "tests/training/test_sampling_and_noise.py",
    ),
    "a coin that falls on the other side": Fault(
        "engine/privacy/discrete.py", "return k % 2 == 1", "return k % 2 == 0",
        "tests/engine/test_exact.py",
    ),
    # prices and cards
    "a price for twice the noise": Fault(
        "engine/privacy/mechanisms.py", "return LaplaceDpEvent(1.0 / self.epsilon)",
        "return LaplaceDpEvent(2.0 / self.epsilon)",
        "tests/engine/test_noise.py tests/engine/test_accounting.py",
    ),
    "the price of coins on shuffled batches": Fault(
        "engine/papers/enadpp/price.py", 'if spec.sampling == "poisson" else Batches(1.0, parts)',
        "if parts else Batches(1.0, parts)",
        "tests/papers/enadpp/test_price.py tests/audit/test_must_catch.py",
    ),
    "an epoch that is not paid": Fault(
        "engine/privacy/releases.py", "// self.disjoint - start // self.disjoint + 1",
        "// self.disjoint - start // self.disjoint", "tests/engine/test_accounting.py "
        "tests/audit/test_must_catch.py tests/papers/enadpp/test_price.py",
    ),
    "neighbours of another kind": Fault(
        "engine/privacy/accounting.py", '"replace_one": NeighboringRelation.REPLACE_ONE',
        '"replace_one": NeighboringRelation.ADD_OR_REMOVE_ONE', "tests/engine/test_accounting.py",
    ),
    "a card of half the cost": Fault(
        "engine/promise.py", "epsilon_proved=None if exposed else spent",
        "epsilon_proved=None if exposed else 0.5 * (spent or 0.0)",
        "tests/engine/test_promise.py",
    ),
    "budgets of a table that do not add up": Fault(
        "engine/runs/ledger.py", "epsilon = math.fsum(pair[0]", "epsilon = max(pair[0]",
        "tests/engine/test_ledger.py",
    ),
    "a synthetic table whose noise is made for half of its columns": Fault(
        "engine/synthetic/price.py", "moves = (2 * columns, ", "moves = (columns, ",
        "tests/engine/test_synthetic.py",
    ),
    "the largest of Gaussian releases for their sum": Fault(
        "engine/privacy/composing.py", "math.fsum(part.precision for part in parts), delta",
        "max(part.precision for part in parts), delta", "tests/engine/test_ledger.py",
    ),
    "levels of a search that share no chance of failure": Fault(
        "engine/runs/searching.py", "delta / len(set(budgets))", "delta",
        "tests/engine/test_searching.py",
    ),
    "noise of a level that is not the difference": Fault(
        "engine/privacy/refining.py", "(whole - held) ** -0.5", "whole**-0.5",
        "tests/engine/test_searching.py",
    ),
    "errors taken for hits in a bound": Fault(
        "engine/audit/bounds.py", "0.5 * (self.hits + 1.0 - self.alarms)",
        "0.5 * (self.hits + self.alarms)", "tests/audit/test_bounds.py tests/audit/test_audit.py",
    ),
    # what leaves
    "released where it is raw": Fault(
        f"{MEAN}/paper.toml", f"{EDGES}\n[arrays.raw]\n{EXACT}",
        f"{EXACT}\n{EDGES}\n[arrays.raw]\n", PROMISES,
    ),
    "edges that follow the records": Fault(
        f"{MEAN}/method.py", "np.linspace(0.0, 1.0, BINS + 1) * bound,",
        "np.linspace(0.0, 1.0, BINS + 1) * state.raw.max(1).values.numpy()[:, None],", PROMISES,
    ),
    "a field left out of what a method reads": Fault(
        f"{MEAN}/__init__.py", '"epsilon", "share")', '"epsilon")', PROMISES,
    ),
    "a result of the first step for the last": Fault(
        "engine/runs/results.py", "step = np.where(measured, new.step, old.step)",
        "step = np.where(measured, old.step, new.step)", "tests/engine/test_client.py",
    ),
    "a digest that leaves sources out": Fault(
        "engine/runs/changes.py", '"engine.papers", "engine.training", "engine.privacy"',
        '"engine.papers", "engine.privacy"', "tests/engine/test_changes.py",
    ),
    "a link that takes the farthest value": Fault(
        "pages/ui/kit/offers.py", "return min(range(len(grid)), key=lambda i: abs(math.log",
        "return max(range(len(grid)), key=lambda i: abs(math.log", "tests/pages/test_offers.py",
    ),
    "points that move for who asks for less motion": Fault(
        "pages/ui/kit/plot.js",
        'const still = () => window.matchMedia("(prefers-reduced-motion: reduce)").matches',
        "const still = () => false",
        "tests/browser/test_first_screen.py -k less_motion", BROWSER,
    ),
    # ten slips of other kinds
    "a wrong sign in a price": Fault(
        "engine/privacy/pure.py", "epsilon + math.log(q)", "epsilon - math.log(q)",
        "tests/engine/test_accounting.py",
    ),
    "labels of two methods that are swapped": Fault(
        f"{MEAN}/paper.toml", 'label = "Laplace"', 'label = "Gaussian"',
        "tests/pages/test_labels.py", swapped=True,
    ),
    "a key of a cache that goes stale": Fault(
        "engine/service/client.py", 'key = (run_id, row["created"])', "key = (run_id, 1.0)",
        "tests/engine/test_client.py tests/engine/test_shipped.py",
    ),
    "a slider that ends one value early": Fault(
        "pages/ui/kit/offers.py", "/ step + 1e-9) + 1)", "/ step + 1e-9))",
        "tests/pages/test_offers.py",
    ),
    "a δ that is squared": Fault(
        "engine/privacy/gaussian.py", "return _log_curve(mu, at) - math.log(delta)",
        "return _log_curve(mu, at) - 2.0 * math.log(delta)", "tests/engine/test_accounting.py",
    ),
    "a value that is not clipped": Fault(
        f"{MEAN}/method.py", "clipped = state.raw.clamp(max=bound)", "clipped = state.raw",
        PROMISES,
    ),
    "one step too few": Fault(
        "engine/runs/driver.py", "range(place.step + 1, total + 1)", "range(place.step + 1, total)",
        "tests/engine/test_driver.py",
    ),
    "one seed for all chunks": Fault(
        "engine/runs/driver.py", "{run}/{number}", "{run}", "tests/engine/test_driver.py",
    ),
    "a release that is left out of a card": Fault(
        f"{SURVIVAL}/price/perturbation.py",
        'return (start, Release(plan.finish, what="where the optimiser stops"))', "return (start,)",
        "tests/papers/survival/test_methods.py tests/papers/survival/test_sensitivity.py "
        "engine/conformance/test_methods.py -k obj_pert",
    ),
    "a setting of the address that is ignored": Fault(
        "pages/ui/kit/address.py",
        "st.session_state.get(key) or st.query_params.get(key, offer.default)",
        "st.session_state.get(key) or offer.default", "tests/pages/test_app.py",
    ),
}  # fmt: skip
"""By what is wrong."""


def copied(folder: Path) -> Path:
    """A copy of the project; the shipped numbers are linked."""
    for name in KEEP:
        if (ROOT / name).is_dir():
            aside = shutil.ignore_patterns("__pycache__", "shots", "tour")
            shutil.copytree(ROOT / name, folder / name, ignore=aside)
        else:
            shutil.copy(ROOT / name, folder / name)
    os.symlink(ROOT / "reference", folder / "reference")
    return folder


@contextlib.contextmanager
def planted(copy: Path, fault: Fault) -> Iterator[None]:
    """The copy with a fault in it, and as it was afterwards."""
    path = copy / fault.file
    before = path.read_text(encoding="utf-8")
    path.write_text(fault.planted(before), encoding="utf-8")
    try:
        yield
    finally:
        path.write_text(before, encoding="utf-8")


def failed(copy: Path, fault: Fault) -> str:
    """The first test of the copy that fails; empty if all pass."""
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", "--tb=no"]
    environment = os.environ | {"EXPLORER_HOME": str(copy / "home")}
    done = subprocess.run(
        [*command, "-m", fault.marks, *fault.tests.split()],
        cwd=copy, env=environment, capture_output=True, text=True,
    )  # fmt: skip
    found = re.search(r"^(?:FAILED|ERROR) (\S+)", done.stdout, re.MULTILINE)
    assert done.returncode == (1 if found else 0), done.stdout[-2000:] + done.stderr[-2000:]
    return found.group(1) if found else ""


def noticed(copy: Path, name: str) -> str:
    """The test that notices a fault; empty if none does."""
    with planted(copy, FAULTS[name]):
        return failed(copy, FAULTS[name])


def main(wanted: Sequence[str]) -> int:
    """Tries the faults whose names hold one of the words, or all, and writes the table of all."""
    missed, rows = [], []
    with tempfile.TemporaryDirectory() as folder:
        copy = copied(Path(folder))
        for name, fault in FAULTS.items():
            if wanted and not any(word in name for word in wanted):
                continue
            test = noticed(copy, name)
            print(f"{name}: {test or 'NOT NOTICED'}", flush=True)
            missed += [] if test else [name]
            rows.append(
                f"| {name} | `{fault.file}` | `{test.partition('::')[2].partition('[')[0]}` |"
            )
    if not wanted and not missed:
        TABLE.write_text(HEAD + "\n".join(rows) + "\n", encoding="utf-8")
    return len(missed)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
