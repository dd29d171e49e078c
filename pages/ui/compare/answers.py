"""What curves answer: the budget that a wanted result needs, and the best proved method."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from engine.core.gauges import Gauge
from pages.ui import words
from pages.ui.charts.curves import Curve
from pages.ui.compare.candidates import Candidate


@dataclass(frozen=True)
class Need:
    """The budgets between which a curve reaches a wanted value; never beyond what was measured.

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
        least = f"below {first}" if self.low < 0 else words.number(self.low)
        if math.isinf(self.high):
            return f"ε of {least} or more; possibly not reached by ε = {last}"
        return f"ε between {least} and {words.number(self.high)}"


def need(curve: Curve, wanted: float, *, up: bool) -> Need | None:
    """Which budget a curve needs for a value, by its band; None where nothing is measured.

    Between two measured budgets the band is taken as straight over the logarithm of ε.

    Args:
        curve: Median and the band of four fifths of the repetitions.
        wanted: The value.
        up: Whether higher is better.
    """
    if not curve.epsilon:
        return None
    hopeful, careful = (curve.high, curve.low) if up else (curve.low, curve.high)
    sign = 1.0 if up else -1.0
    best = [sign * (value - wanted) for value in hopeful]
    worst = [sign * (value - wanted) for value in careful]
    return Need(
        _first(curve.epsilon, best),
        _lasting(curve.epsilon, worst),
        (curve.epsilon[0], curve.epsilon[-1]),
    )


def _first(at: Sequence[float], over: Sequence[float]) -> float:
    """Where a line first rises to zero; minus infinity if it begins there, infinity if never."""
    if over[0] >= 0:
        return -math.inf
    for i in range(1, len(at)):
        if over[i] >= 0:
            return _crossing(at[i - 1 : i + 1], over[i - 1 : i + 1])
    return math.inf


def _lasting(at: Sequence[float], over: Sequence[float]) -> float:
    """From where on a line stays at zero or above; as `_first` at the ends."""
    below = [i for i, value in enumerate(over) if value < 0]
    if not below:
        return -math.inf
    last = below[-1]
    if last + 1 == len(at):
        return math.inf
    return _crossing(at[last : last + 2], over[last : last + 2])


def _crossing(at: Sequence[float], over: Sequence[float]) -> float:
    """Where a line between two points is zero, over the logarithm of the budget."""
    part = -over[0] / (over[1] - over[0])
    return math.exp(math.log(at[0]) + part * (math.log(at[1]) - math.log(at[0])))


@dataclass(frozen=True)
class Best:
    """The best method among those whose proved budget is at most `epsilon`.

    Attributes:
        epsilon: The budget that may be spent.
        name: The run.
        spent: What is proved to be spent.
        at: The budget that it was asked for.
        middle: Its median.
        low: The 10 % quantile of its repetitions.
        high: Their 90 % quantile.
    """

    epsilon: float
    name: str
    spent: float
    at: float
    middle: float
    low: float
    high: float


def frontier(
    chosen: Mapping[str, Candidate], curves: Mapping[str, Curve], gauge: Gauge
) -> list[Best]:
    """The best proved method for each budget, budgets ascending, where the best changes.

    What a run spends was proved when it ran and is stored with it; runs of which no finite
    budget is proved are left out.
    """
    points = [
        Best(spent, name, spent, at, curve.middle[i], curve.low[i], curve.high[i])
        for name, curve in curves.items()
        for i, at in enumerate(curve.epsilon)
        if (spent := chosen[name].proved(at)) is not None
    ]
    sign = -1.0 if gauge.better == "down" else 1.0
    best: list[Best] = []
    for point in sorted(points, key=lambda one: (one.spent, -sign * one.middle)):
        if not best or sign * point.middle > sign * best[-1].middle:
            if best and best[-1].epsilon == point.epsilon:
                best.pop()
            best.append(point)
    return best
