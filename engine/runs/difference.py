"""Whether two runs can be told apart by their repetitions, and how many more that would take."""

import math
from bisect import bisect_left
from dataclasses import dataclass

import numpy as np

from engine.core.errors import RequestError
from engine.core.spec import Value
from engine.runs.job import Job
from engine.runs.results import Results

LEVEL = 0.05
"""Below this p-value two runs are called different."""
POWER = 0.8
"""Chance of that which the wanted number of repetitions gives, if the difference is as measured."""
MOST = 100_000
"""More repetitions than these are not worth naming."""


@dataclass(frozen=True)
class Difference:
    """A test of one run's repetitions against another's.

    Attributes:
        paired: Whether repetitions with the same seed were compared with each other.
        counts: Repetitions of either run; equal where they are paired.
        mean: Mean of the first minus the mean of the second.
        low: Lower end of the 95 % confidence interval of that.
        high: Upper end.
        p: Two-sided p-value of Student's t-test (paired), or of Welch's.
        needed: Repetitions of each run with which a difference as large as measured would be
            found with 80 % chance; None where nothing differs, or where it takes more than MOST.
    """

    paired: bool
    counts: tuple[int, int]
    mean: float
    low: float
    high: float
    p: float
    needed: int | None

    @property
    def apart(self) -> bool:
        """Whether the two can be told apart."""
        return self.p < LEVEL


def pairs(first: Job, second: Job) -> bool:
    """Whether equal seeds mean the same split and start: the same paper on the same data."""
    alike = (first.paper, first.dataset) == (second.paper, second.dataset)
    return alike and len(set(first.seeds) & set(second.seeds)) >= 2


def by_seed(job: Job, results: Results, gauge: str, at: dict[str, Value]) -> dict[int, float]:
    """A gauge by seed at a point of the axes; what diverged or is not measured is left out.

    Raises:
        RequestError: No such gauge or axis, or an axis that `at` leaves open.
    """
    if gauge not in results.gauges:
        known = ", ".join(results.gauges)
        raise RequestError(f"gauge: expected one of {known}, got {gauge!r}")
    at = {field: value for field, value in at.items() if field in job.axes}
    if loose := [field for field, some in job.axes.items() if field not in at and len(some) > 1]:
        raise RequestError(
            f"run: expected one value of {' and '.join(loose)}, got a sweep: run it with one"
        )
    values = results.values(gauge, **at)
    seeds = results.seeds[results.rows(**at)]
    return {int(s): float(v) for s, v in zip(seeds, values, strict=True) if math.isfinite(float(v))}


def difference(first: dict[int, float], second: dict[int, float], *, paired: bool) -> Difference:
    """Tests two runs' repetitions.

    Args:
        first: Values by seed.
        second: Values by seed.
        paired: Whether to compare repetitions with the same seed; only common seeds count then.

    Raises:
        RequestError: Fewer than two repetitions of either.

    Source: Student 1908; Welch 1947; power from the noncentral t distribution (Cohen 1988).
    """
    common = sorted(first.keys() & second.keys())
    one = np.array([first[s] for s in common] if paired else list(first.values()))
    two = np.array([second[s] for s in common] if paired else list(second.values()))
    if min(len(one), len(two)) < 2:
        raise RequestError("repetitions: expected at least 2 of each run, got fewer")
    mean = float(one.mean() - two.mean())
    spread = (  # of a pair's difference, or the pooled one of both runs
        float((one - two).std(ddof=1))
        if paired
        else math.sqrt((one.var(ddof=1) + two.var(ddof=1)) / 2.0)
    )
    counts = (len(one), len(two))
    if spread <= 1e-12 * max(1.0, abs(mean)):  # every repetition differs by the same
        return Difference(paired, counts, mean, mean, mean, 0.0 if mean else 1.0, None)
    from scipy import stats

    test = stats.ttest_rel(one, two) if paired else stats.ttest_ind(one, two, equal_var=False)
    low, high = map(float, test.confidence_interval(1.0 - LEVEL))
    needed = _needed(abs(mean) / spread, paired=paired)
    return Difference(paired, counts, mean, low, high, float(test.pvalue), needed)


def _needed(effect: float, *, paired: bool) -> int | None:
    """Repetitions of each run that find an effect (in standard deviations) with POWER."""

    def found(count: int) -> bool:
        return power(effect, count, paired=paired) >= POWER

    high = 2
    while effect and high <= MOST and not found(high):
        high *= 2  # upwards: far beyond, the distribution cannot be computed
    if not effect or high > MOST:
        return None
    few = range(high // 2 + 1, high)  # power grows with the number
    return few.start + bisect_left(few, True, key=found)


def power(effect: float, count: int, *, paired: bool) -> float:
    """Chance that a two-sided t-test finds an effect with `count` repetitions of each run."""
    from scipy import stats

    free = count - 1 if paired else 2 * count - 2
    shift = effect * math.sqrt(count if paired else count / 2.0)
    edge = stats.t.ppf(1.0 - LEVEL / 2.0, free)
    return float(stats.nct.sf(edge, free, shift) + stats.nct.cdf(-edge, free, shift))
