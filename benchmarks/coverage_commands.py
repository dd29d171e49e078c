"""How often the intervals that the command line prints hold the truth, on simulated tables.

python -m benchmarks coverage_commands [--json]; COVERAGE_COMMANDS=30 for a shorter look

Each table goes the whole way of a user: a CSV file with settings, `table add`, `run survival
dp_newton … --json`, and `table remove`. `coverage` measures the same intervals at more budgets and
sizes, without commands around them.
"""

import contextlib
import io
import json
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.coverage import BOUNDS, EFFECTS, HORIZON, INTERVALS, Tally, simulated
from benchmarks.row import Row
from datasets.base import SurvivalTable
from engine.cli.main import main
from engine.intervals import Estimate

TABLES = int(os.environ.get("COVERAGE_COMMANDS", "300"))
"""Simulated tables of each size."""
SIZES, BUDGETS, SEED = (4_000, 16_000), (1.0, 3.0), 1_000_000
"""Records of a table, what is spent on it, and the first seed: no table is one of `coverage`."""
LOW, HIGH = 92.0, 98.0
"""Per cent of the tables whose interval is to hold the truth."""
HOME = "EXPLORER_HOME"


def settings() -> str:
    """What is public about the tables, as `table add --settings` reads it."""
    ends = zip(EFFECTS, BOUNDS.covariates, strict=True)
    columns = [f"[columns.{name}]\nlow = {low}\nhigh = {high}\n" for name, (low, high) in ends]
    return f'[columns.days]\nrole = "time"\nhigh = {HORIZON}\n' + "".join(columns)


def text(data: SurvivalTable) -> str:
    """A table as a CSV file."""
    rows = zip(data.x, data.time, data.event, strict=True)
    lines = (",".join(map(repr, (float(t), int(e), *map(float, x)))) for x, t, e in rows)
    return "\n".join([",".join(("days", "event", *EFFECTS)), *lines, ""])


def said(*words: str) -> str:
    """What a command prints.

    Raises:
        RuntimeError: It failed.
    """
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        code = main(list(words))
    if code:
        raise RuntimeError(f"expected {' '.join(words)} to end with 0, got {code}")
    return out.getvalue()


def fitted(folder: Path, records: int, seed: int) -> list[list[dict[str, Any]]]:
    """The coefficients of one table at each budget, as `run --json` prints them."""
    file, public = folder / "table.csv", folder / "table.toml"
    file.write_text(text(simulated(records, seed)))
    name = said("table", "add", str(file), "--settings", str(public)).split()[0]
    budgets = f"epsilon={','.join(f'{at:g}' for at in BUDGETS)}"
    words = ("--dataset", name, "--set", f"intervals={INTERVALS}", "--sweep", budgets)
    found = json.loads(said("run", "survival", "dp_newton", *words, "--seeds", "1", "--json"))
    said("table", "remove", name)
    return [one["coefficients"] for one in found["replicas"]]


def rows() -> Iterator[Row]:
    """Rows for each size and budget; the figure is the coefficient that is furthest from 95 %."""
    with tempfile.TemporaryDirectory() as name:
        folder, before = Path(name), os.environ.get(HOME)
        os.environ[HOME] = str(folder / "home")
        (folder / "table.toml").write_text(settings())
        try:
            for records in SIZES:
                yield from _rows(folder, records)
        finally:
            os.environ.pop(HOME) if before is None else os.environ.update({HOME: before})


def _rows(folder: Path, records: int) -> Iterator[Row]:
    """The rows of one size."""
    tallies = [Tally.of(len(EFFECTS)) for _ in BUDGETS]
    for seed in range(SEED, SEED + TABLES):
        for tally, found in zip(tallies, fitted(folder, records, seed), strict=True):
            tally.note([Estimate(**one) for one in found], EFFECTS.values())
    for tally, at in zip(tallies, BUDGETS, strict=True):
        share = 100.0 * tally.held / np.maximum(tally.given, 1.0)
        worst = float(share[np.abs(share - 95.0).argmax()])
        each = ", ".join(f"{name} {one:.1f}" for name, one in zip(EFFECTS, share, strict=True))
        least = 100.0 * tally.given.min() / TABLES
        yield Row(
            f"`run survival dp_newton --json`, {records:,} records, ε = {at:g}: 95 % intervals "
            "hold the truth in", worst, None, "% of tables", f"{LOW:g} to {HIGH:g} %",
            LOW <= worst <= HIGH, f"{TABLES} tables: {each}; given for {least:.0f} % or more",
        )  # fmt: skip
