"""What was measured of a method: a curve over budgets, or one level for what spends none."""

import functools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from engine.core.gauges import Column
from engine.privacy.guarantee import Status
from engine.runs.results import Results
from pages.ui.charts.proof import BRIEF
from pages.ui.charts.theme import Style, reference_style, style

INNER = (0.1, 0.9)
"""The band holds four fifths of the repetitions."""
SURE = 0.95
"""Confidence of the interval of a median."""
FEWEST = 6
"""Of fewer values no two have the median between them so often."""
BANDS = (
    f"Bands: where the median is, with {100 * SURE:.0f}\u00a0% confidence; of fewer than {FEWEST} "
    "repetitions, the range of all releases."
)
"""What the bands of several methods hold."""
NEAR = 0.1
"""Less than this part of the way from guessing to the best possible answer is guessing."""
SOME_FAIL, MOST_FAIL = 0.1, 0.9
"""From this share of failing releases on the median hides that some fail; up to that, that some
do not."""
LINE = 5
"""Of fewer repetitions no line is drawn out of focus: its bends would be those of single releases.
In focus it is drawn in full from FEWEST on, below thin with its points."""


@dataclass(frozen=True)
class Named:
    """What a legend reads of a line.

    Attributes:
        label: Name of the method.
        style: Its look.
        brief: Its name in the legend, where the label is long.
        status: How far the argument for its privacy carries; None where that is not said.
        focus: Whether it is drawn in colour, or in ink; else it is thin and grey.
        before: The settings that it was trained with, where a newer one is on its way.
    """

    label: str
    style: Style
    brief: str = field(default="", kw_only=True)
    status: Status | None = field(default=None, kw_only=True)
    focus: bool = field(default=True, kw_only=True)
    before: str | None = field(default=None, kw_only=True)

    @property
    def legend(self) -> str:
        """Its name with its status."""
        if self.before is not None:
            return f"{self.brief or self.label}: {ghost(self.before)}"
        return _named(self.brief or self.label, self.status)


@dataclass(frozen=True)
class Curve(Named):
    """One method's utility over the budgets that have been measured.

    Attributes:
        epsilon: Budgets with at least one measurement, ascending.
        middle: Median over the repetitions.
        low: Their 10 % quantile.
        high: Their 90 % quantile.
        count: Repetitions measured at each budget.
        sure_low: Lower end of the median's interval; empty where it is not worked out.
        sure_high: Its upper end.
        proved: The budget that is proved at each of `epsilon`, None where no finite one is;
            empty while it is not worked out.
        failed: The share of releases at each budget that are no better than guessing; empty where
            nothing is to be guessed.
    """

    epsilon: tuple[float, ...]
    middle: tuple[float, ...]
    low: tuple[float, ...]
    high: tuple[float, ...]
    count: tuple[int, ...]
    proved: tuple[float | None, ...] = ()
    sure_low: tuple[float, ...] = ()
    sure_high: tuple[float, ...] = ()
    failed: tuple[float, ...] = ()

    @property
    def few(self) -> bool:
        """Whether an interval of its median would be the whole range of its repetitions."""
        return min(self.count, default=0) < FEWEST

    @property
    def partly(self) -> tuple[bool, ...]:
        """At which budgets some releases fail and others do not."""
        return tuple(SOME_FAIL <= share <= MOST_FAIL for share in self.failed)

    @property
    def name(self) -> str:
        """Its name at its end: with a word where its label does not say what is proved."""
        text = self.brief or self.label
        if self.before is not None:
            return ghost(self.before)
        if self.status in ("heuristic", "not_private"):
            return f"{text}: no proof"
        said = "proof" in text or "printed" in text or self.status != "proved"
        return text if said else f"{text}, proved"

    def at(self, epsilon: float) -> int | None:
        """The position of a budget on this curve; None where nothing is measured yet."""
        near = [i for i, known in enumerate(self.epsilon) if math.isclose(known, epsilon)]
        return near[0] if near else None


@dataclass(frozen=True)
class Level(Named):
    """A method that spends no budget: one number.

    Attributes:
        value: The median over the repetitions.
        count: Repetitions measured.
        sure: Both ends of the median's interval; empty where it is not worked out.
        told: Whether it is named at its end though it is grey: a line in focus ends at it.
    """

    value: float
    count: int = 1
    sure: tuple[float, ...] = ()
    told: bool = False

    @property
    def name(self) -> str:
        """What it is called at its end where no other stands beside it."""
        named = self.name_among
        return named.partition(":")[0] if self.before is None else named

    @property
    def name_among(self) -> str:
        """What it is called beside others: that it is not private, and which method it is."""
        text = self.brief or self.label
        if self.before is not None:
            return ghost(self.before)
        return text if "rivacy" in text else f"No privacy: {text}"


def ghost(setting: str) -> str:
    """What a line is called that shows how it was: "L = 3, before"."""
    return f"{setting}, before" if setting else "before"


def _named(name: str, status: Status | None) -> str:
    """A name with its status, which says "with proof" already."""
    if status == "proved":
        name = name.removesuffix(", with proof")
    return f"{name} · {BRIEF[status]}" if status else name


@functools.lru_cache(maxsize=256)
def curve(
    results: Results, gauge: str, label: str, position: int, axis_name: str = "epsilon"
) -> Curve:
    """A method's curve from its results; replicas that diverged or wait are left out.

    Kept while the slider moves: results hash by identity, and a run's new ones are new.
    """
    values, at = results.gauges[gauge], results.axes[axis_name]
    points = []
    for budget in np.unique(at):
        column = values[at == budget]
        column = column[np.isfinite(column)]
        if len(column):
            points.append((float(budget), *spread(column), len(column), *interval(column)))
    columns: Sequence[tuple[Any, ...]] = list(zip(*points, strict=True)) or [()] * 7
    epsilon, middle, low, high, count, sure_low, sure_high = columns
    return Curve(
        label, style(position), epsilon, middle, low, high, count,
        sure_low=sure_low, sure_high=sure_high,
    )  # fmt: skip


@functools.lru_cache(maxsize=256)
def failing(results: Results, gauge: str, chance: float, best: float) -> tuple[float, ...]:
    """The share of releases that are no better than guessing, at each budget of the curve.

    A median hides them where a method either works or fails.

    Args:
        results: What was measured.
        gauge: The measure.
        chance: What guessing gets.
        best: The best possible value.
    """
    values, at = results.gauges[gauge], results.axes["epsilon"]
    known = np.isfinite(values)
    lost = (values - chance) / (best - chance) < NEAR
    return tuple(float(lost[known & (at == x)].mean()) for x in np.unique(at[known]))


def interval(column: Column) -> tuple[float, float]:
    """An interval that holds the median of all releases with 95 %, from finite values.

    Its ends are order statistics, whose ranks follow from the binomial distribution alone (David
    and Nagaraja 2003, Section 7.1). Of fewer than six values it is their whole range, which holds
    the median with 1 - 2^(1 - n).
    """
    ordered = np.sort(column)
    rank = max(_rank(len(ordered)), 1)
    return float(ordered[rank - 1]), float(ordered[-rank])


@functools.cache
def _rank(count: int) -> int:
    """The largest k with P(Binomial(count, 1/2) < k) at most half of what SURE leaves."""
    below, rank = 0, 0
    while (below + math.comb(count, rank)) / 2**count <= (1.0 - SURE) / 2.0:
        below, rank = below + math.comb(count, rank), rank + 1
    return rank


def spread(column: Column) -> tuple[float, float, float]:
    """Median and the two quantiles of the band, of finite values."""
    middle, low, high = np.quantile(column, (0.5, *INNER))
    return float(middle), float(low), float(high)


def level(results: Results, gauge: str, label: str, position: int) -> Level | None:
    """The median of a method that spends no budget; None while there is none."""
    column = results.gauges[gauge]
    column = column[np.isfinite(column)]
    if not len(column):
        return None
    middle = float(np.median(column))
    return Level(label, reference_style(position), middle, len(column), interval(column))


def medians(curves: Mapping[str, Curve], chosen: float) -> dict[str, float]:
    """Each method's median at the chosen budget, where measured."""
    return {
        name: one.middle[i] for name, one in curves.items() if (i := one.at(chosen)) is not None
    }
