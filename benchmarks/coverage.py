"""How often intervals hold the truth, on simulated tables whose truth is known.

python -m benchmarks coverage [--json]; COVERAGE_TABLES=100 for a shorter look
"""

import os
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
import torch

from benchmarks.row import Row
from datasets import catalog as data_catalog
from datasets.base import Bounds, Card, Floats, SurvivalTable
from engine.core.batch import Batch
from engine.core.gauges import unmeasured
from engine.intervals import Estimate
from engine.papers.survival.mechanisms import curve, newton
from engine.papers.survival.price.sensitivity import basis
from engine.papers.survival.spec import SurvivalSpec
from engine.runs.estimates import estimates

TABLES = int(os.environ.get("COVERAGE_TABLES", "1000"))
"""Simulated tables of each size."""
SIZES, BUDGETS, INTERVALS = (1_000, 4_000, 16_000), (0.5, 1.0, 3.0, 8.0), 20
LEVEL, LOW, HIGH = 0.95, 0.93, 0.97
"""Of the intervals, and between which shares they are to hold the truth."""
HORIZON, LEAVING = 1_000.0, 1.2
"""Days of follow-up, and the mean time of leaving as a share of them."""
BASELINE = (0.5, 0.8, -0.5)
"""Events in all without covariates, and the other coefficients of the baseline."""
EFFECTS = {"age": 0.03, "sex": 0.4, "marker": 0.5}
"""Logarithms of the odds ratios, of a year, of men and of a unit."""
BOUNDS = Bounds(
    covariates=((20.0, 80.0), (0.0, 1.0), (0.0, 5.0)), horizon=HORIZON, source="The simulator."
)
CENTRE, PEOPLE = (50.0, 0.0, 1.0), 400_000
"""Where the predictor is the baseline's, and how many persons the true curve is averaged over."""


@dataclass
class Tally:
    """What the intervals of one size and budget did.

    Attributes:
        held: How often each effect lay in its interval.
        naive: The same for intervals that count sampling alone.
        given: How many intervals of each effect there were.
        tables: Tables so far.
    """

    held: Floats
    naive: Floats
    given: Floats
    tables: int = 0

    def note(self, found: tuple[Estimate, ...]) -> None:
        """Counts the intervals of one table."""
        self.tables += 1
        for i, (one, truth) in enumerate(zip(found, EFFECTS.values(), strict=True)):
            assert one.naive is not None
            self.naive[i] += one.naive[0] <= truth <= one.naive[1]
            if one.low is not None and one.high is not None:
                self.given[i] += 1
                self.held[i] += one.low <= truth <= one.high


def persons(records: int, rng: np.random.Generator) -> tuple[Floats, Floats]:
    """Covariates (n, 3), and the chance of the event in each interval (n, q)."""
    age = np.clip(rng.normal(50.0, 12.0, records), 20.0, 80.0)
    sex = (rng.random(records) < 0.45).astype(np.float64)
    marker = np.clip(rng.lognormal(0.0, 0.5, records), 0.0, 5.0)
    x = np.stack([age, sex, marker], axis=1)
    alpha = np.array([np.log(BASELINE[0] / INTERVALS), *BASELINE[1:]])
    eta = basis(INTERVALS, 3) @ alpha + ((x - CENTRE) @ np.array([*EFFECTS.values()]))[:, None]
    chance: Floats = 1.0 / (1.0 + np.exp(-eta))
    return x, chance


def simulated(records: int, seed: int) -> SurvivalTable:
    """A table drawn from the discrete-time model with known effects; nobody's records."""
    rng = np.random.default_rng((records, seed))
    x, chance = persons(records, rng)
    happens = rng.random((records, INTERVALS)) < chance
    first = np.where(happens.any(axis=1), happens.argmax(axis=1), INTERVALS)
    leaves = rng.exponential(LEAVING, records) * INTERVALS
    last = np.minimum(leaves.astype(np.int64), INTERVALS - 1)
    time = (np.minimum(first, last) + 0.5) / INTERVALS * HORIZON
    return SurvivalTable(card(records), x, time, first <= last)


def card(records: int) -> Card:
    """What is public about a simulated table."""
    return replace(
        data_catalog.card("heart"), name="simulated", records=records, bounds=BOUNDS,
        features=tuple(EFFECTS), units=(), simulated=True, rows=1,
    )  # fmt: skip


def covered(
    records: int, tables: int = TABLES, method: newton.PrivateNewton = newton.METHOD
) -> dict[float, Tally]:
    """Fits every table at every budget; by budget, what the intervals did."""
    spec, count = SurvivalSpec(intervals=INTERVALS), len(EFFECTS)
    tallies = {at: Tally(np.zeros(count), np.zeros(count), np.zeros(count)) for at in BUDGETS}
    batch = Batch.grid(spec, {"epsilon": BUDGETS}, seeds=(0,))
    described = card(records)
    for seed in range(tables):
        data, rng = simulated(records, seed), torch.Generator().manual_seed(seed)
        with torch.no_grad(), unmeasured():
            state = method.init(batch, data, rng)
            for _ in range(spec.passes):
                state, _ = method.step(batch, data, state, rng)
            arrays = method.products(batch, data, state)
        for row, at in enumerate(BUDGETS):
            tallies[at].note(estimates(arrays, row, described, LEVEL))
    return tallies


def bands(records: int, tables: int = TABLES) -> dict[float, Floats]:
    """How often the private curve's band holds the true one; by budget, at each interval's end."""
    _, chance = persons(PEOPLE, np.random.default_rng(0))
    truth = (1.0 - chance).cumprod(axis=1).mean(axis=0)
    batch = Batch.grid(SurvivalSpec(intervals=INTERVALS), {"epsilon": BUDGETS}, seeds=(0,))
    held = np.zeros((len(BUDGETS), INTERVALS))
    for seed in range(tables):
        data, rng = simulated(records, seed), torch.Generator().manual_seed(seed)
        with torch.no_grad(), unmeasured():
            state, _ = curve.METHOD.step(batch, data, curve.METHOD.init(batch, data, rng), rng)
            arrays = curve.METHOD.products(batch, data, state)
        held += (arrays["km_low"][:, 1:] <= truth) & (truth <= arrays["km_high"][:, 1:])
    return dict(zip(BUDGETS, held / tables, strict=True))


def rows() -> list[Row]:
    """The coverage of private Newton's intervals, and of the private curve's bands."""
    return [row for records in SIZES for row in (*_rows(records), *_band_rows(records))]


def _band_rows(records: int) -> Iterator[Row]:
    for at, shares in bands(records).items():
        what = (
            f"private Kaplan–Meier, {records:,} records, ε = {at:g}: 95 % bands hold the truth in"
        )
        worst = float(shares[np.abs(shares - LEVEL).argmax()])
        note = f"the worst of {INTERVALS} times; {100.0 * shares.mean():.1f} % on average"
        met = LOW <= worst <= HIGH
        yield Row(what, 100.0 * worst, None, "% of tables", "93 to 97 %", met, note)


def _rows(records: int) -> Iterator[Row]:
    for at, tally in covered(records).items():
        what = f"private Newton, {records:,} records, ε = {at:g}: 95 % intervals hold the truth in"
        naive = np.round(100.0 * tally.naive / tally.tables, 1)
        given = tally.given / tally.tables
        if given.max() < 0.01:
            note = f"no interval is given; one that ignores the noise holds it in {naive} %"
            yield Row(what, 0.0, None, "% of tables", "none, or 93 to 97 %", True, note)
            continue
        shares = tally.held / np.maximum(tally.given, 1.0)
        some = shares[given >= 0.01]
        worst = float(some[np.abs(some - LEVEL).argmax()])
        note = (
            f"the worst of {dict(zip(EFFECTS, np.round(100.0 * shares, 1), strict=True))}; given "
            f"for {np.round(100.0 * given)} % of {tally.tables} tables; one that ignores the "
            f"noise holds it in {naive} %"
        )
        met = LOW <= worst <= HIGH
        yield Row(what, 100.0 * worst, None, "% of tables", "none, or 93 to 97 %", met, note)
