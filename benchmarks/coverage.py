"""How often intervals hold the truth, on simulated tables whose truth is known.

python -m benchmarks coverage [--json]; COVERAGE_TABLES=100 for a shorter look
"""

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.special import ndtr
from scipy.stats import binom

from benchmarks.row import Row
from datasets import catalog as data_catalog
from datasets.base import Bounds, Card, Floats, SurvivalTable
from engine import catalog
from engine.core.batch import Batch
from engine.core.gauges import unmeasured
from engine.intervals import Estimate, shares
from engine.method import Arrays
from engine.papers.mean.estimates import estimates as mean_estimates
from engine.papers.mean.spec import MeanSpec
from engine.papers.survival.evaluation.curves import Scale, survival
from engine.papers.survival.evaluation.estimates import median, persons
from engine.papers.survival.evaluation.evaluate import optimum
from engine.papers.survival.mechanisms import curve, gradient, newton, objective, output
from engine.papers.survival.price.compared import power, significance
from engine.papers.survival.price.curve import counts
from engine.papers.survival.price.sensitivity import basis
from engine.papers.survival.spec import SurvivalSpec
from engine.privacy.mechanisms import Gaussian, Laplace
from engine.runs.estimates import estimates

TABLES = int(os.environ.get("COVERAGE_TABLES", "1000"))
"""Simulated tables of each size."""
FEW, FEWER = 5, 10
"""A public table is drawn so many times fewer, and a method that gives no interval is tried so."""
SIZES, BUDGETS, INTERVALS = (1_000, 4_000, 16_000), (0.5, 1.0, 3.0, 8.0), 20
MOST = 4
"""So many times the tables, at most, where a share lies within one standard error of a bound."""
LEVEL, LOW, HIGH = 0.95, 0.93, 0.97
"""Of the intervals, and between which shares they are to hold the truth."""
HORIZON, LEAVING = 1_000.0, 1.2
"""Days of follow-up, and the mean time of leaving as a share of them."""
BASELINE = (0.5, 0.8, -0.5)
"""Events in all without covariates, and the other coefficients of the baseline."""
EFFECTS = {"age": 0.03, "sex": 0.4, "marker": 0.5}
"""Logarithms of the ratios, of a year, of men and of a unit."""
BOUNDS = Bounds(
    covariates=((20.0, 80.0), (0.0, 1.0), (0.0, 5.0)), horizon=HORIZON, source="The simulator."
)
CENTRE, PEOPLE = (50.0, 0.0, 1.0), 400_000
"""Where the predictor is the baseline's, and how many persons the true curve is averaged over."""
CHOSEN, TIMES = ((50.0, 0.0, 1.0), (35.0, 1.0, 0.5), (70.0, 0.0, 2.5)), (5, 10, 20)
"""Persons whose curves are drawn, and the intervals at whose ends they are looked at."""
TENTHS = [3, 6, 10]
"""The same of ten intervals."""
BOUND, SPREAD, MIDDLE = 5.0, 0.6, 0.3
"""A column for the mean: where it is cut, and its logarithm's deviation and mean."""
RIGHT, TESTED = (0.5, 0.8, 0.9, 0.95, 0.98, 0.99), (200, 359, 1_000, 10_000)
"""How often a model is right, and on how many records it is tested."""
REPEATS, RATIO = 10_000, 1.3
"""Simulated comparisons of two groups, and the hazard ratio that they are to find."""
GROUPS = ((0.5, 1.0), (0.2, 1.0), (0.3, 3.0))
"""Share of the second group, and how much faster its members leave."""


@dataclass
class Tally:
    """What the intervals of one size and budget did.

    Attributes:
        held: How often each truth lay in its interval.
        naive: The same for intervals that ignore the noise.
        given: How many intervals of each there were.
        tables: Tables so far.
    """

    held: Floats
    naive: Floats
    given: Floats
    tables: int = 0

    @classmethod
    def of(cls, k: int) -> "Tally":
        """Nothing yet, of k truths."""
        return cls(np.zeros(k), np.zeros(k), np.zeros(k))

    def note(self, found: Sequence[Estimate], truths: Iterable[float]) -> None:
        """Counts the intervals of one table."""
        self.tables += 1
        for i, (one, truth) in enumerate(zip(found, truths, strict=True)):
            if one.naive is not None:
                self.naive[i] += one.naive[0] <= truth <= one.naive[1]
            if one.low is not None:
                self.given[i] += 1
                self.held[i] += one.low <= truth <= (np.inf if one.high is None else one.high)

    def bands(self, low: Floats, high: Floats, truth: Floats) -> None:
        """Counts the bands of one table, each of shape (k,)."""
        self.tables += 1
        self.given += 1
        self.held += (low <= truth) & (truth <= high)

    def __add__(self, other: "Tally") -> "Tally":
        """What the intervals did on the tables of both."""
        return Tally(
            self.held + other.held, self.naive + other.naive, self.given + other.given,
            self.tables + other.tables,
        )  # fmt: skip

    @property
    def close(self) -> bool:
        """Whether a share lies within one standard error of a bound, on either side."""
        share = self.offered
        error = np.sqrt(share * (1.0 - share) / self.given[self._often])
        return bool((np.abs(share[:, None] - [LOW, HIGH]) < error[:, None]).any())

    @property
    def offered(self) -> Floats:
        """How often each interval that is given at least once in a hundred times held."""
        return self.held[self._often] / self.given[self._often]

    @property
    def _often(self) -> NDArray[np.bool_]:
        """Which intervals are given at least once in a hundred times."""
        often: NDArray[np.bool_] = self.given >= 0.01 * max(self.tables, 1)
        return often


Tallies = dict[float, Tally]
"""By budget."""


def decided(
    run: Callable[[range], tuple[Tallies, Tallies]], tables: int
) -> tuple[Tallies, Tallies]:
    """Runs so many tables, and so many again while a share is too close to a bound to call.

    The rule is the same on both sides of a bound, and every table counts.

    Args:
        run: What two kinds of intervals did on the tables of these seeds.
        tables: How many.
    """
    both = run(range(tables))
    for turn in range(1, MOST):
        if not any(tally.close for tallies in both for tally in tallies.values()):
            break
        more = run(range(turn * tables, (turn + 1) * tables))
        both = _both(both[0], more[0]), _both(both[1], more[1])
    return both


def _both(one: Tallies, other: Tallies) -> Tallies:
    return {at: one[at] + other[at] for at in one}


@dataclass(frozen=True)
class Study:
    """Intervals of one kind.

    Attributes:
        what: Whose, in words.
        tallies: What they did, by size and budget.
        note: What else a reader must know.
    """

    what: str
    tallies: dict[int, Tallies] = field(default_factory=dict)
    note: str = ""

    def rows(self) -> Iterator[Row]:
        """A row for each size; the figure is the worst at any budget."""
        for records, at in self.tallies.items():
            found = {budget: tally.offered for budget, tally in at.items()}
            every = np.concatenate(list(found.values()))
            worst = float(every[np.abs(every - LEVEL).argmax()]) if len(every) else 0.0
            after = f"; {max(tally.tables for tally in at.values()):,} tables"
            yield Row(
                f"{self.what}, {records:,} records: 95 % intervals hold the truth in",
                100.0 * worst, None, "% of tables", "none, or 93 to 97 %",
                not len(every) or LOW <= worst <= HIGH,
                f"{'; '.join(_said(budget, at[budget]) for budget in at)}{self.note}{after}",
            )  # fmt: skip


def _said(budget: float, tally: Tally) -> str:
    """What the intervals at one budget did."""
    some, naive = 100.0 * tally.offered, 100.0 * tally.naive / max(tally.tables, 1)
    held = "none given" if not len(some) else f"{some.min():.1f} to {some.max():.1f} %"
    ignoring = f", without noise {naive.min():.0f} to {naive.max():.0f} %" if naive.any() else ""
    given = tally.given.sum() / max(tally.tables * len(tally.given), 1)
    seldom = f", given for {100 * given:.0f} %" if 0.0 < given < 0.995 else ""
    return f"ε = {budget:g}: {held}{seldom}{ignoring}"


def people(records: int, rng: np.random.Generator, link: str = "logit") -> tuple[Floats, Floats]:
    """Covariates (n, 3), and the chance of the event in each interval (n, q)."""
    age = np.clip(rng.normal(50.0, 12.0, records), 20.0, 80.0)
    sex = (rng.random(records) < 0.45).astype(np.float64)
    marker = np.clip(rng.lognormal(0.0, 0.5, records), 0.0, 5.0)
    x = np.stack([age, sex, marker], axis=1)
    return x, hazards(x, link)


def hazards(x: Floats, link: str = "logit") -> Floats:
    """The chance of the event in each interval of persons (n, 3), shape (n, q)."""
    alpha = np.array([np.log(BASELINE[0] / INTERVALS), *BASELINE[1:]])
    eta = basis(INTERVALS, 3) @ alpha + ((x - CENTRE) @ np.array([*EFFECTS.values()]))[:, None]
    chance: Floats = -np.expm1(-np.exp(eta)) if link == "cloglog" else 1.0 / (1.0 + np.exp(-eta))
    return chance


def simulated(records: int, seed: int, link: str = "logit", within: bool = False) -> SurvivalTable:
    """A table drawn from the discrete-time model with known effects; nobody's records.

    Args:
        records: How many.
        seed: Of the draw.
        link: Of the model.
        within: Whether times lie anywhere within an interval, instead of at its middle, so that
            some leave before an event in the same interval.
    """
    rng = np.random.default_rng((records, seed))
    x, chance = people(records, rng, link)
    happens = rng.random((records, INTERVALS)) < chance
    first = np.where(happens.any(axis=1), happens.argmax(axis=1), INTERVALS)
    leaves = rng.exponential(LEAVING, records) * INTERVALS
    if within:
        event = first + rng.random(records)
        end = np.minimum(leaves, INTERVALS)
        time = np.minimum(event, end) / INTERVALS * HORIZON
        return SurvivalTable(card(records), x, time, happens.any(axis=1) & (event <= end))
    last = np.minimum(leaves.astype(np.int64), INTERVALS - 1)
    time = (np.minimum(first, last) + 0.5) / INTERVALS * HORIZON
    return SurvivalTable(card(records), x, time, first <= last)


def card(records: int) -> Card:
    """What is public about a simulated table."""
    return replace(
        data_catalog.card("heart"), name="simulated", records=records, bounds=BOUNDS,
        features=tuple(EFFECTS), units=(), simulated=True, rows=1,
    )  # fmt: skip


def trained(method: Any, data: SurvivalTable, seed: int, spec: SurvivalSpec, steps: int) -> Arrays:
    """What a method keeps of a table, at every budget."""
    batch = Batch.grid(spec, {"epsilon": BUDGETS}, seeds=(0,))
    rng = torch.Generator().manual_seed(seed)
    with torch.no_grad(), unmeasured():
        state = method.init(batch, data, rng)
        for _ in range(steps):
            state, _ = method.step(batch, data, state, rng)
        kept: Arrays = method.products(batch, data, state)
    return kept


def covered(
    records: int,
    seeds: range,
    method: newton.PrivateNewton = newton.METHOD,
    link: str = "logit",
) -> tuple[Tallies, Tallies]:
    """Fits every table at every budget: what intervals of effects and curves of persons did."""
    spec, described = SurvivalSpec(intervals=INTERVALS, link=link), card(records)
    effects = {at: Tally.of(len(EFFECTS)) for at in BUDGETS}
    curves = {at: Tally.of(len(CHOSEN) * len(TIMES)) for at in BUDGETS}
    truth = (1.0 - hazards(np.array(CHOSEN), link)).cumprod(axis=1)[:, np.array(TIMES) - 1].ravel()
    for seed in seeds:
        arrays = trained(method, simulated(records, seed, link), seed, spec, spec.passes)
        for row, at in enumerate(BUDGETS):
            found = estimates(arrays, row, described, spec.replace(epsilon=at))
            effects[at].note(found, EFFECTS.values())
            ends = persons(arrays, row, np.array(CHOSEN), spec, found)
            if ends is None:
                curves[at].tables += 1
                continue
            low, _, high = (part[:, list(TIMES)].ravel() for part in ends)
            curves[at].bands(low, high, truth)
    return effects, curves


def resampled(seeds: range) -> tuple[Tallies, Tallies]:
    """The same on FLchain, whose records are drawn again and again: its own fit is the truth."""
    data, spec = data_catalog.load("flchain"), SurvivalSpec(intervals=10)
    assert isinstance(data, SurvivalTable)
    best = optimum(data, spec.intervals, spec.knots).numpy()
    rows = np.linspace(0, len(data) - 1, 5).astype(int)
    effects = {at: Tally.of(len(data.card.features)) for at in BUDGETS}
    curves = {at: Tally.of(len(rows) * len(TENTHS)) for at in BUDGETS}
    for seed in seeds:
        drawn = np.random.default_rng(seed).integers(0, len(data), len(data))
        table = replace(
            data, x=data.x[drawn], time=data.time[drawn], event=data.event[drawn],
            missing=None if data.missing is None else data.missing[drawn],
        )  # fmt: skip
        arrays = trained(newton.METHOD, table, seed, spec, spec.passes)
        scale = Scale.read(arrays, 0)
        truth = survival(best[None], scale.covariates(data.x[rows]), spec.intervals, spec.knots)[0]
        for row, at in enumerate(BUDGETS):
            found = estimates(arrays, row, data.card, spec.replace(epsilon=at))
            effects[at].note(found, best[spec.knots :] / (scale.span * scale.norm))
            ends = persons(arrays, row, data.x[rows], spec, found)
            if ends is None:
                curves[at].tables += 1
                continue
            low, _, high = (part[:, TENTHS].ravel() for part in ends)
            curves[at].bands(low, high, truth[:, TENTHS].ravel())
    return effects, curves


def bands(records: int, seeds: range) -> tuple[Tallies, Tallies]:
    """What the private curve's bands did at each interval's end, and intervals of its median."""
    _, chance = people(PEOPLE, np.random.default_rng(0))
    truth = (1.0 - chance).cumprod(axis=1).mean(axis=0)
    whole = np.concatenate([[1.0], truth])
    half = median(whole, whole, whole, HORIZON, "days").estimate
    spec = SurvivalSpec(intervals=INTERVALS)
    everyone = {at: Tally.of(INTERVALS) for at in BUDGETS}
    middle = {at: Tally.of(1) for at in BUDGETS}
    for seed in seeds:
        arrays = trained(curve.METHOD, simulated(records, seed, within=True), seed, spec, 1)
        parts = [arrays[name] for name in ("km_private", "km_low", "km_high")]
        for row, at in enumerate(BUDGETS):
            own, low, high = (np.asarray(part[row], np.float64) for part in parts)
            everyone[at].bands(low[1:], high[1:], truth)
            middle[at].note([median(own, low, high, HORIZON, "days")], [half])
    return everyone, middle


def refused(records: int, method: Any, steps: int, tables: int) -> Tallies:
    """What intervals would do that a method does not give: its noise and the sampling error.

    The sampling error is taken from private Newton at the largest budget, which tells it.
    """
    spec = SurvivalSpec(intervals=INTERVALS)
    tallies = {at: Tally.of(len(EFFECTS)) for at in BUDGETS}
    for seed in range(tables):
        data = simulated(records, seed)
        told = trained(newton.METHOD, data, seed, spec, spec.passes)
        arrays = trained(method, data, seed, replace(spec, regularisation=1e-2), steps)
        span, norm, sampling = (
            np.asarray(told[name], np.float64) for name in ("span", "norm", "sampling")
        )
        value, noise = (np.asarray(arrays[name], np.float64) for name in ("coefficients", "noise"))
        width = span * norm[:, None]
        found = value[:, -len(EFFECTS) :] / width
        error = np.hypot(noise, sampling[-1:])[:, -len(EFFECTS) :] / width
        for row, at in enumerate(BUDGETS):
            ends = (found[row] - 1.96 * error[row], found[row] + 1.96 * error[row])
            tallies[at].tables += 1
            truth = np.array([*EFFECTS.values()])
            tallies[at].naive += (ends[0] <= truth) & (truth <= ends[1])
    return tallies


def averages(records: int, method: str, seeds: range) -> tuple[Tallies, Tallies]:
    """What intervals of a mean and of the shares of its histogram did."""
    entry, described = catalog.paper("mean").entry(method), replace(card(records), units=())
    edges = np.linspace(0.0, BOUND, 21)
    z = (np.log(np.maximum(edges, 1e-300)) - MIDDLE) / SPREAD
    parts = np.diff(np.append(ndtr(z[:-1]), 1.0))  # the last bin holds all beyond the bound too
    inside = np.exp(MIDDLE + 0.5 * SPREAD**2) * ndtr(z[-1] - SPREAD)
    truth = float(inside + BOUND * (1.0 - ndtr(z[-1])))
    means = {at: Tally.of(1) for at in BUDGETS}
    bins = {at: Tally.of(len(parts)) for at in BUDGETS}
    # the first tables are those that were measured before more could follow
    rng = np.random.default_rng((records, seeds.start) if seeds.start else records)
    for _ in seeds:
        column = np.minimum(rng.lognormal(MIDDLE, SPREAD, records), BOUND)
        exact = np.histogram(column, edges)[0]
        for at in BUDGETS:
            spec = MeanSpec(epsilon=at, bound=BOUND, records=records)
            draw = rng.laplace if method == "laplace" else rng.normal
            scales = [
                part.mechanism.scale for part in entry.releases(spec, records)
                if isinstance(part.mechanism, Laplace | Gaussian)
            ]  # fmt: skip
            arrays = {"edges": edges, "histogram": exact + draw(0.0, scales[1], len(exact))}
            gauges = {"mean": float(column.mean() + draw(0.0, scales[0]))}
            first, *others = mean_estimates(entry, spec, described, arrays, gauges)
            means[at].note([first], [truth])
            bins[at].note(others, parts)
    return means, bins


def accuracy(records: int) -> Floats:
    """How often the interval of a model's accuracy holds it, exactly, for each of RIGHT."""
    k = np.arange(records + 1.0)
    likely = np.flatnonzero(binom.pmf(k, records, np.array(RIGHT)[:, None]).max(0) > 1e-9)
    parts = [shares(k[likely[i : i + 100]], records, None) for i in range(0, len(likely), 100)]
    low, high = (np.concatenate(part) for part in zip(*parts, strict=True))
    held: Floats = np.array(
        [binom.pmf(likely, records, p)[(low <= p) & (p <= high)].sum() for p in RIGHT]
    )
    return held


def groups(records: int, ratio: float, share: float, leaving: float, seed: int) -> Floats:
    """How often the log-rank test of two groups says that they differ, for each of BUDGETS.

    Args:
        records: Of both groups.
        ratio: Hazard of the second over that of the first.
        share: Of the second group.
        leaving: How much faster its members leave.
        seed: Of the tables.
    """
    rng, q = np.random.default_rng((records, seed)), INTERVALS
    cells = []
    for part, hazard, faster in ((1.0 - share, 1.0, 1.0), (share, ratio, leaving)):
        event, gone = 0.6 * hazard, 0.5 * faster
        left = np.exp(-(event + gone) * np.arange(q + 1) / q)
        ended = -np.diff(left) / (event + gone)
        cells += [part * gone * ended, part * event * ended, part * left[-1:]]
    tables = rng.multinomial(records, np.concatenate(cells), REPEATS).reshape(REPEATS, 2, -1)
    found = []
    for at in BUDGETS:
        noise = counts(SurvivalSpec(epsilon=at)).scale
        _, p = significance(tables + noise * rng.standard_normal(tables.shape), noise, records)
        found.append(float((p < 0.05).mean()) if np.isfinite(p).all() else np.nan)
    return np.array(found)


def studies() -> Iterator[Study]:
    """Every kind of interval."""
    for name, method, link in (
        ("private Newton", newton.METHOD, "logit"),
        ("private Cox", newton.PROPORTIONAL, "cloglog"),
    ):
        both = {n: decided(partial(covered, n, method=method, link=link), TABLES) for n in SIZES}
        yield Study(f"{name}, effects", {n: one for n, (one, _) in both.items()})
        yield Study(f"{name}, curves of persons", {n: one for n, (_, one) in both.items()})
    real, lives = decided(resampled, max(1, TABLES // FEW))
    records = data_catalog.card("flchain").records
    yield Study("private Newton on resampled FLchain, effects", {records: real})
    yield Study("private Newton on resampled FLchain, curves of persons", {records: lives})
    pairs = {n: decided(partial(bands, n), TABLES) for n in SIZES}
    yield Study("private Kaplan–Meier, curve", {n: one for n, (one, _) in pairs.items()})
    yield Study("private Kaplan–Meier, median", {n: one for n, (_, one) in pairs.items()})
    for name in ("laplace", "gaussian"):
        pairs = {n: decided(partial(averages, n, name), TABLES) for n in SIZES}
        yield Study(f"mean, {name}", {n: one for n, (one, _) in pairs.items()})
        yield Study(f"histogram, {name}", {n: one for n, (_, one) in pairs.items()})
    steps = SurvivalSpec().steps
    without: tuple[tuple[str, Any, int], ...] = (
        ("private descent", gradient.METHOD, steps),
        ("output perturbation", output.METHOD, 1),
        ("objective perturbation", objective.METHOD, 1),
    )
    for name, other, count in without:
        rarely = max(1, TABLES // FEWER)
        tried = {n: refused(n, other, count, rarely) for n in SIZES[:2]}
        yield Study(f"{name}, effects", tried, " (of its noise and the sampling error)")


def rows() -> list[Row]:
    """The coverage of every kind of interval, and the errors of the test of two groups."""
    return [*(row for study in studies() for row in study.rows()), *_tested(), *_groups()]


def _tested() -> Iterator[Row]:
    for records in TESTED:
        held = accuracy(records)
        worst = float(held[np.abs(held - LEVEL).argmax()])
        each = ", ".join(
            f"{100 * p:g} %: {100 * share:.1f}" for p, share in zip(RIGHT, held, strict=True)
        )
        what = f"accuracy on {records:,} tested records: 95 % intervals hold the truth in"
        met = LOW <= worst <= HIGH
        yield Row(what, 100 * worst, None, "% of tables", "93 to 97 %", met, f"right {each}")


def _groups() -> Iterator[Row]:
    for records in SIZES:
        wrong = np.array([groups(records, 1.0, *how, seed=i) for i, how in enumerate(GROUPS)])
        given = wrong[np.isfinite(wrong)]
        worst = float(given[np.abs(given - 0.05).argmax()])
        what = f"log-rank test, {records:,} records: says wrongly that groups differ in"
        note = f"of {REPEATS:,} tables at each of ε = {', '.join(f'{at:g}' for at in BUDGETS)}"
        yield Row(what, 100 * worst, None, "% of tables", "4 to 6 %", 0.04 <= worst <= 0.06, note)
        found = groups(records, RATIO, 0.5, 1.0, len(GROUPS))
        events = round(records * _events())
        said = [power(SurvivalSpec(epsilon=at, intervals=INTERVALS), records, events, RATIO)
                for at in BUDGETS]  # fmt: skip
        each = "; ".join(
            f"ε = {at:g}: {100 * one:.0f} % (planned {100 * other:.0f} %)"
            for at, one, other in zip(BUDGETS, found, said, strict=True)
        )
        what = f"log-rank test, {records:,} records: finds a hazard ratio of {RATIO:g} at ε = 1 in"
        yield Row(what, 100 * found[1], None, "% of tables", "", None, each)


def _events() -> float:
    """The share of records with an event where two equal groups have RATIO."""
    ends = np.arange(INTERVALS + 1) / INTERVALS
    left = np.exp(-0.5 * ends)[:-1]
    both = [(-np.diff(np.exp(-0.6 * hazard * ends)) * left).sum() for hazard in (1.0, RATIO)]
    return float(np.mean(both))
