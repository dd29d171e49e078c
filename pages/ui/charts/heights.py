"""The vertical axis of a cost curve: errors or the measure itself, its scale, range and ticks.

The rule, which the caption tells: a share of right answers is drawn as the share of wrong ones, so
that every curve falls. The axis is logarithmic where a method comes within a tenth of what is
reached without privacy, since on a linear one the best methods would lie on each other. While lines
come in after a move, the axis stays as it was drawn before, unless a line would leave it.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from engine.core.gauges import Gauge
from pages.ui.charts.measured import Curve, Level
from pages.ui.charts.proof import finite
from pages.ui.charts.theme import PER_CENT, axis, even, marked
from pages.ui.words import SHARE, unit

NEAR = 0.1
"""A method within this part of the error without privacy is near."""
ROOM = 0.12
"""Part of the range that stays free above and below what is drawn."""
WORDS = {"up": " · higher is better", "down": " · lower is better", "neither": ""}
LADDERS = (
    (1.0,), (1.0, 3.0), (1.0, 2.0, 5.0), (1.0, 1.5, 2.0, 3.0, 5.0, 7.0),
    (1.0, 1.2, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0, 6.0, 8.0),
)  # fmt: skip
LOOSE = 0.6
"""Part of a kept range below which lines that are whole get a range of their own."""
TINY = 1e-4
"""An error without privacy below this part of every line's is rounding: no axis reaches for it."""
FEW = 4
"""Ticks that an axis has at least, where its ladder reaches so far."""


@dataclass(frozen=True)
class Heights:
    """The vertical axis.

    Attributes:
        title: Its title.
        share: Whether it is in per cent.
        turned: Whether values are drawn as 1 minus themselves.
        better: Which way is better, as drawn.
        log: Whether it is logarithmic.
        low: Its lower end.
        high: Its upper end.
    """

    title: str
    share: bool
    turned: bool
    better: str
    log: bool
    low: float
    high: float

    def of(self, values: Iterable[float]) -> list[float]:
        """Where values stand."""
        return _turned(values, self.turned)

    @property
    def length(self) -> float:
        """From its lower to its upper end, as drawn."""
        return self.place(self.high) - self.place(self.low)

    def place(self, height: float) -> float:
        """A height as annotations of the axis name it."""
        return math.log10(height) if self.log else height

    def axis(self) -> dict[str, Any]:
        """The axis, with as many decimals at its ticks as they need."""
        ticks = self.ticks()
        scale, sign = PER_CENT if self.share else (1.0, "")
        return axis(
            self.title,
            type="log" if self.log else "linear",
            range=[self.place(self.low), self.place(self.high)],
            **marked(ticks, scale, sign),
        )

    def ticks(self) -> list[float]:
        """Round heights within the range."""
        if not self.log:
            return even(self.low, self.high)
        powers = range(math.floor(math.log10(self.low)), math.ceil(math.log10(self.high)) + 1)
        every = max(1, len(powers) // 7)
        for ladder in LADDERS:
            ticks = [
                float(f"{step * 10.0**power:.6g}") for power in powers[::every] for step in ladder
            ]
            ticks = [tick for tick in ticks if self.low <= tick <= self.high]
            if len(ticks) >= FEW:
                return ticks
        return ticks or even(self.low, self.high)  # less than the finest ladder's step apart


def heights(
    curves: Sequence[Curve], levels: Sequence[Level], gauge: Gauge, errors: str = "",
    chance: float | None = None, before: Heights | None = None, whole: bool = True,
) -> Heights:  # fmt: skip
    """The axis for what is drawn.

    Args:
        curves: One per method that spends budget.
        levels: One per reference.
        gauge: What is measured.
        errors: What the wrong ones of a share are called; empty to draw the measure itself.
        chance: What guessing gets; None where nothing is to be guessed.
        before: The axis as it was drawn before; it is kept as far as it can be.
        whole: Whether every line is there: only then the range may become smaller.
    """
    turned = bool(errors)
    better = {"up": "down", "down": "up"}.get(gauge.better, "neither") if turned else gauge.better
    title = f"{errors or gauge.label}{unit(gauge)}{WORDS[better]}"
    of = partial(_turned, turned=turned)
    known = [v for one in curves for v in of(one.middle)]
    floor = TINY * min((v for v in known if v > 0.0), default=0.0)
    known += [v for v in of(one.value for one in levels) if better != "down" or v >= floor]
    known += [v for one in curves if one.focus for v in of((*one.sure_low, *one.sure_high))]
    known += [] if chance is None or not known else of([chance])
    known = [value for value in known if math.isfinite(value)]
    share = gauge.unit == SHARE
    error = better == "down"
    least = min(of(one.value for one in levels), default=0.0) if error else 0.0
    points = [
        point for one in curves if one.proved for point in zip(one.middle, one.proved, strict=True)
    ]
    proved = [value for value, epsilon in points if finite(epsilon)]
    near = error and any(0.0 < v <= (1.0 + NEAR) * least for v in of(proved))
    if before is not None and not whole:
        near = before.log
    log = gauge.scale == "log" or (near and min(known, default=1.0) > 0.0)
    low, high = _range(known, log, share)
    made = Heights(title, share, turned, better, log, low, high)
    return made if before is None or not known else _kept(made, before, known, whole)


def _turned(values: Iterable[float], turned: bool) -> list[float]:
    return [1.0 - value if turned else value for value in values]


def _kept(now: Heights, before: Heights, known: Sequence[float], whole: bool) -> Heights:
    """An axis with the range of the one before it, as far as what is drawn lies within that."""
    if (before.title, before.log) != (now.title, now.log):
        return now
    known = [value for value in known if value > 0.0] if now.log else known
    low = before.low if min(known, default=before.low) >= before.low else now.low
    high = before.high if max(known, default=before.high) <= before.high else now.high
    kept = replace(now, low=low, high=high)
    return now if whole and now.length < LOOSE * kept.length else kept


def _range(known: list[float], log: bool, share: bool) -> tuple[float, float]:
    """The ends of the axis, with room beyond what is drawn; shares begin at 0 on a linear one."""
    known = [value for value in known if value > 0.0] if log else known
    if not known:
        return (0.1, 10.0) if log else (0.0, 1.0)
    low, high = min(known), max(known)
    if log:
        reach = max(high / low, 1.2) ** ROOM
        return low / reach, min(high * reach, 1.0) if share and high < 1.0 else high * reach
    spare = ROOM / 2 * ((high - low) or abs(high) or 1.0)
    return (0.0 if share and low > 0.0 else low - spare), high + spare
