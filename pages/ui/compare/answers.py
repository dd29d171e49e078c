"""What curves answer: the budget that a wanted result needs, and the best proved method."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from engine.core.gauges import Gauge
from pages.ui import words
from pages.ui.charts.measured import Curve
from pages.ui.charts.proof import STATUS


@dataclass(frozen=True)
class Need:
    """The proved budgets between which a curve reaches a value; never beyond what was measured.

    Attributes:
        low: The smallest budget with which the best tenth of the repetitions reaches it; minus
            infinity where it does so from the smallest measured budget on; infinite for none.
        high: The smallest budget from which on nine of ten repetitions reach it, likewise.
        ends: The smallest and the largest budget that were measured.
    """

    low: float
    high: float
    ends: tuple[float, float]

    def sentence(self) -> str:
        """The answer in words, after the method's name."""
        first, last = (words.number(end) for end in self.ends)
        if math.isinf(self.low) and self.low > 0:
            return f"not reached up to ε = {last}, the largest budget measured"
        if math.isinf(self.high) and self.high < 0:
            return f"reached at every budget measured, from ε = {first} on"
        low, high = words.number(self.low), words.number(self.high)
        if math.isinf(self.high):
            doubt = f"possibly not reached by ε = {last}"
            early = f"possibly reached from ε = {first} on"
            return f"{early if self.low < 0 else f'ε of {low} or more'}; {doubt}"
        return f"ε up to {high}" if self.low < 0 else f"ε between {low} and {high}"


def need(curve: Curve, wanted: float, *, up: bool) -> Need | None:
    """Which proved budget a curve needs for a value, by its band; None where none is proved.

    Between two measured budgets the band is taken as straight over the logarithm of ε.

    Args:
        curve: Median and the band of four fifths of the repetitions.
        wanted: The value.
        up: Whether higher is better.
    """
    spent = sorted((at, i) for i, at in enumerate(curve.proved) if at is not None)
    if not spent:
        return None
    sign = 1.0 if up else -1.0
    best, worst = (
        [sign * (band[i] - wanted) for _, i in spent]
        for band in ((curve.high, curve.low) if up else (curve.low, curve.high))
    )
    budgets, count = [at for at, _ in spent], len(spent)
    first = next((i for i, over in enumerate(best) if over >= 0), count)
    lasting = next((i + 1 for i in reversed(range(count)) if worst[i] < 0), 0)
    return Need(
        _crossing(budgets, best, first),
        _crossing(budgets, worst, lasting),
        (budgets[0], budgets[-1]),
    )


def needed(curve: Curve, wanted: float, *, up: bool) -> str:
    """The same in words, also where there is no such budget."""
    if not curve.epsilon:
        return "not measured"
    found = need(curve, wanted, up=up)
    return found.sentence() if found else "no finite ε is proved"


def _crossing(at: Sequence[float], over: Sequence[float], place: int) -> float:
    """Where a line rises to zero before the point at a place, over the logarithm of the budget.

    Minus infinity where that is the first point, infinity where it is behind the last.
    """
    if place in (0, len(at)):
        return math.inf if place else -math.inf
    pair = slice(place - 1, place + 1)
    return math.exp(np.interp(0.0, over[pair], np.log(at[pair])))


@dataclass(frozen=True)
class Best:
    """The best methods among those whose proved budget is at most `epsilon`.

    Attributes:
        epsilon: The smallest budget of the row; it holds up to the next row's.
        names: The runs, the best median first; of several, no difference was found.
        under: What each proof stands under, as `under` says it.
        middle: The median of the first.
        low: The 10 % quantile of its repetitions.
        high: Their 90 % quantile.
    """

    epsilon: float
    names: tuple[str, ...]
    under: tuple[str, ...]
    middle: float
    low: float
    high: float

    @property
    def said(self) -> str:
        """The runs in words."""
        return self.listed + ", no difference found" * (len(self.names) > 1)

    @property
    def named(self) -> str:
        """That they are best."""
        return f"{self.listed} {'is' if len(self.names) == 1 else 'are'} best"

    @property
    def listed(self) -> str:
        """Their names, with what a proof stands under."""
        pairs = zip(self.names, self.under, strict=True)
        return words.listed([f"**{name}**{under}" for name, under in pairs])


def frontier(curves: Mapping[str, Curve], gauge: Gauge) -> list[Best]:
    """The best proved methods for each budget, budgets ascending, where they change.

    What a run spends was proved when it ran and is stored with it; runs of which no finite
    budget is proved are left out. Two runs are told apart where the intervals of their medians
    do not overlap.
    """
    sign = 1.0 if gauge.better == "down" else -1.0
    spent = {
        name: {i: at for i, at in enumerate(curve.proved) if at is not None}
        for name, curve in curves.items()
    }
    rows: list[Best] = []
    for epsilon in sorted({at for points in spent.values() for at in points.values()}):
        able = {
            name: min(there, key=lambda i: sign * curves[name].middle[i])
            for name, points in spent.items()
            if (there := [i for i, at in points.items() if at <= epsilon])
        }
        ranked = sorted(able, key=lambda name: sign * curves[name].middle[able[name]])
        top, i = curves[ranked[0]], able[ranked[0]]
        low, high = _sure(top, i)
        ends = {name: _sure(curves[name], able[name]) for name in ranked}
        names = tuple(name for name in ranked if ends[name][0] <= high and low <= ends[name][1])
        if not rows or set(rows[-1].names) != set(names):
            stands = tuple(under(curves[name]) for name in names)
            middle = top.middle[i]
            if rows and words.number(rows[-1].epsilon) == words.number(epsilon):
                epsilon = rows.pop().epsilon  # the same budget, but for its rounding
            if not rows or set(rows[-1].names) != set(names):
                rows.append(Best(epsilon, names, stands, middle, top.low[i], top.high[i]))
    return rows


def under(curve: Curve) -> str:
    """What a proof stands under, in brackets and the words of its card; empty for nothing."""
    return "" if curve.status in (None, "proved") else f" ({STATUS[curve.status]})"


def _sure(curve: Curve, i: int) -> tuple[float, float]:
    """The interval of a median; the median alone where it is not worked out.

    One repetition tells nothing of chance, so it is never said to differ from another run.
    """
    if curve.count[i] < 2:
        return -math.inf, math.inf
    if not curve.sure_low:
        return curve.middle[i], curve.middle[i]
    return curve.sure_low[i], curve.sure_high[i]
