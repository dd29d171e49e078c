"""The finding of a page: one generated sentence with its result at the chosen budget."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from datasets.base import Card
from engine.core.gauges import Gauge
from pages.ui.charts.curves import Curve, Level
from pages.ui.charts.proof import finite
from pages.ui.words import SHARE, number

NEAR = 0.1
"""Less than this part of the way from guessing to the answer without privacy is guessing."""
HELD = ("proved", "proved_under_assumption")
"""What a guarantee is known to hold by, the better first."""
BEST = {
    "proved": "the best proved method",
    "proved_under_assumption": "the best method proved under an assumption",
}


@dataclass(frozen=True)
class Saying:
    """How the finding of a page is put in words.

    Attributes:
        text: What a method does, with a place for the number: "ranks {} of 100 pairs right".
        scale: What a measured value is multiplied with.
        chance: What guessing gets, from the data; None where nothing is to be guessed.
    """

    text: str
    scale: float = 1.0
    chance: Callable[[Card], float] | None = None


def guessing(data: Card) -> float:
    """The share that guessing among equally frequent classes gets right."""
    return 1.0 / (data.classes or 2)


def saying(gauge: Gauge, own: Mapping[str, Saying], name: str) -> Saying:
    """How a gauge is put in words: as the layout says, or by its label."""
    if name in own:
        return own[name]
    label = f"{gauge.label[:1].lower()}{gauge.label[1:]}"
    article = "an" if label[:1] in "aeiou" else "a"
    if gauge.unit == SHARE:
        return Saying(f"has {article} {label} of {{}} %", 100.0)
    unit = f" {gauge.unit}" if gauge.unit else ""
    return Saying(f"has {article} {label} of {{}}{unit}")


def finding(
    curves: Sequence[Curve], levels: Sequence[Level], gauge: Gauge, how: Saying, data: Card,
    budget: float,
) -> str:  # fmt: skip
    """The result at a budget in one sentence; empty before anything is measured there.

    Args:
        curves: Every method's curve, with its status.
        levels: Methods without privacy.
        gauge: What is measured.
        how: How it is put in words.
        data: The data set.
        budget: The budget under the slider.
    """
    known = [one for one in curves if _at(one, budget) is not None]
    ranks = (status for status in HELD if any(one.status == status for one in known))
    status = next(ranks, HELD[0])
    held = [one for one in known if one.status == status]
    open_ = [one for one in curves if one.status not in (*HELD, None) and _lost(one, budget)]
    exact = _best([(one.label, one.value) for one in levels], gauge)
    parts = [_first(held, BEST[status], exact, gauge, how, data, budget)] if held else []
    if exact is not None:
        several = " at best" if len(levels) > 1 else ""
        parts.append(f"without privacy {_figure(exact[1], how)}{several}")
    printed = _best([(one.label, _value(one, budget)) for one in open_], gauge)
    if printed is not None:
        does = f": {_figure(printed[1], how)}" if held else f" {_said(printed[1], how)}"
        parts.append(f"{printed[0]}{does}, but nothing is proved")
    return f"At ε = {budget:g}, {'; '.join(parts)}." if held or printed else ""


def _first(
    held: Sequence[Curve], called: str, exact: tuple[str, float] | None, gauge: Gauge,
    how: Saying, data: Card, budget: float,
) -> str:  # fmt: skip
    """What the best proved method does; that it says nothing where it is as good as guessing."""
    best = _best([(one.label, _value(one, budget)) for one in held], gauge)
    assert best is not None
    text = f"{called} ({best[0]}) **{_said(best[1], how)}**"
    chance = how.chance(data) if how.chance else None
    if chance is None or exact is None:
        return text
    way = (best[1] - chance) / (exact[1] - chance) if exact[1] != chance else 0.0
    return text if way >= NEAR else f"{text}, no better than guessing ({_figure(chance, how)})"


def _best(values: Sequence[tuple[str, float]], gauge: Gauge) -> tuple[str, float] | None:
    """The best of some values; None where there is none."""
    known = [one for one in values if math.isfinite(one[1])]
    if not known:
        return None
    return (min if gauge.better == "down" else max)(known, key=lambda one: one[1])


def _at(one: Curve, budget: float) -> int | None:
    """Where a curve has a proved, finite budget under the slider."""
    i = one.at(budget)
    return i if i is not None and (not one.proved or finite(one.proved[i])) else None


def _lost(one: Curve, budget: float) -> bool:
    """Whether a curve is measured at a budget of which nothing is proved."""
    i = one.at(budget)
    return i is not None and bool(one.proved) and not finite(one.proved[i])


def _value(one: Curve, budget: float) -> float:
    i = one.at(budget)
    return math.nan if i is None else one.middle[i]


def _figure(value: float, how: Saying) -> str:
    return number(how.scale * value, 2 if how.scale == 100.0 else 3)


def _said(value: float, how: Saying) -> str:
    return how.text.format(_figure(value, how))
