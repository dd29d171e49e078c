"""What curves answer: the budget that a wanted result needs, and the best proved method."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from engine.core.gauges import Gauge
from pages.ui import words
from pages.ui.charts.measured import Curve
from pages.ui.charts.proof import STATUS
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
        if self.low < 0:
            return f"ε up to {words.number(self.high)}"
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
    """The best methods among those whose proved budget is at most `epsilon`.

    Attributes:
        epsilon: The smallest budget of the row; it holds up to the next row's.
        names: The runs, the best median first; of several, no difference was found.
        under: What each proof stands under, in the words of its card; empty where under nothing.
        at: The budget that the first was asked for.
        middle: Its median.
        low: The 10 % quantile of its repetitions.
        high: Their 90 % quantile.
    """

    epsilon: float
    names: tuple[str, ...]
    under: tuple[str, ...]
    at: float
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
        return words.listed(
            [f"**{name}**{f' ({under})' if under else ''}" for name, under in pairs]
        )


@dataclass(frozen=True)
class _Point:
    """A point of a run: what is proved to be spent there, and what is measured."""

    spent: float
    name: str
    at: float
    middle: float
    band: tuple[float, float]
    sure: tuple[float, float]


def frontier(
    chosen: Mapping[str, Candidate], curves: Mapping[str, Curve], gauge: Gauge
) -> list[Best]:
    """The best proved methods for each budget, budgets ascending, where they change.

    What a run spends was proved when it ran and is stored with it; runs of which no finite
    budget is proved are left out. Two runs are told apart where the intervals of their medians
    do not overlap.
    """
    points = _points(chosen, curves)
    sign = 1.0 if gauge.better == "down" else -1.0
    rows: list[Best] = []
    for epsilon in sorted({point.spent for point in points}):
        able: dict[str, _Point] = {}
        for point in points:
            if point.spent <= epsilon:
                known = able.setdefault(point.name, point)
                if sign * point.middle < sign * known.middle:
                    able[point.name] = point
        top = min(able.values(), key=lambda one: sign * one.middle)
        near = [one for one in able.values() if one.sure[0] <= top.sure[1]
                and top.sure[0] <= one.sure[1]]  # fmt: skip
        names = tuple(one.name for one in sorted(near, key=lambda one: sign * one.middle))
        if not rows or set(rows[-1].names) != set(names):
            under = tuple(_under(curves[name]) for name in names)
            rows.append(Best(epsilon, names, under, top.at, top.middle, *top.band))
    return rows


def _under(curve: Curve) -> str:
    return "" if curve.status in (None, "proved") else STATUS[curve.status]


def _points(chosen: Mapping[str, Candidate], curves: Mapping[str, Curve]) -> list[_Point]:
    """Every point of which a finite budget is proved."""
    return [
        _Point(spent, name, at, curve.middle[i], (curve.low[i], curve.high[i]), _sure(curve, i))
        for name, curve in curves.items()
        for i, at in enumerate(curve.epsilon)
        if (spent := chosen[name].proved(at)) is not None
    ]


def _sure(curve: Curve, i: int) -> tuple[float, float]:
    """The interval of a median; the median alone where it is not worked out."""
    if not curve.sure_low:
        return curve.middle[i], curve.middle[i]
    return curve.sure_low[i], curve.sure_high[i]
