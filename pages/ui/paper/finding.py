"""The finding of a page: one generated sentence with its result at the chosen budget."""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from datasets.base import Card
from engine.core.declared import read
from engine.core.gauges import Gauge
from pages.ui.charts.measured import FEWEST, Curve, Level
from pages.ui.charts.proof import finite
from pages.ui.kit.labels import label
from pages.ui.messages import figures, joined, tight, tr
from pages.ui.paper.cast import Cast
from pages.ui.paper.said import say
from pages.ui.words import SHARE, number

NEAR = 0.1
"""Less than this part of the way from guessing to the answer without privacy is guessing."""


FEW, MOST = 0.02, 0.98
"""Shares of releases that fail between these are told."""
SENTENCES: Mapping[str, str] = read(Path(__file__).with_suffix(".toml"))["sentences"]
"""What a finding is made of."""
BAD = 1 / 3
"""From this part of the way to guessing on, what a smaller budget costs is told."""


@dataclass(frozen=True)
class Saying:
    """How the finding of a page is put in words.

    Attributes:
        text: What a method does, with a place for the number: "ranks {} of 100 pairs right".
        cost: What is lost, one and several of it: "pair in 100" and "pairs in 100".
        scale: What a measured value is multiplied with.
        chance: What guessing gets, from the data; None where nothing is to be guessed.
        errors: What the wrong ones of a share are called, as the chart draws them; empty to draw
            the measure itself.
        own: What the paper's own method is called.
        thanks: What helps a private method to be better than the training without privacy, after
            "thanks to"; empty where none can be.
        before: What is lost without any noise too, with a place for the number: "clipping costs
            {}". It is told first where that is more than by the noise; empty to tell nothing.
    """

    text: str
    cost: tuple[str, str] = ("", "")
    scale: float = 1.0
    chance: Callable[[Card], float] | None = None
    errors: str = ""
    own: str = "the paper's own method"
    thanks: str = ""
    before: str = ""

    def guessed(self, data: Card) -> float | None:
        """What guessing gets."""
        return self.chance(data) if self.chance else None


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
        unit = f"of 100 points of {label}"
        return Saying(f"has {article} {label} of {{}} %", (unit, unit), 100.0)
    unit = f" {gauge.unit}" if gauge.unit else ""
    return Saying(f"has {article} {label} of {{}}{unit}")


def finding(
    cast: Cast, gauge: Gauge, how: Saying, data: Card, budget: float, chosen: str = ""
) -> str:
    """The result at a budget in one sentence; empty before anything is measured there.

    Args:
        cast: The lines that the page is about.
        gauge: What is measured.
        how: How it is put in words.
        data: The data set.
        budget: The budget under the slider.
        chosen: Label of the method that is looked at: it comes first, as the card below is its own.
    """
    held = [one for one in (cast.best, cast.own) if one and _at(one, budget) is not None]
    sign = 1.0 if gauge.better == "down" else -1.0
    held.sort(key=lambda one: (one.label != chosen, sign * _value(one, budget)))
    lost = cast.printed if cast.printed and _lost(cast.printed, budget) else None
    if not held and lost is None:
        return ""
    told = _Told(cast, sign, how, budget, gauge.better != "neither")
    own = tr(how.own)
    names = [own if one is cast.own else label(_plain(one.label)) for one in held]
    parts = []
    if held:
        guess = _guess(held[0], cast, how, data, budget)
        parts.append(f"{told.first(held[0], names[0])}{guess}")
    if len(held) > 1:
        parts.append(told.next(held[1], names[1]))
    if held and (before := told.before(held[0])):
        parts = [before, *map(told.adds, held[:2], names)]
    if lost is not None:
        same = _say("it") if names[-1:] == [own] else _say("printed", name=own)
        said = told.next(lost, same) if held else told.first(lost, label(lost.label))
        parts.append(_say("unproved", said=said))
    sentences = [_say("at", budget=budget, parts=joined(parts)), *_failing(held, names, budget)]
    sentences.append(_elsewhere(told, held, names, how.guessed(data)))
    return tight(" ".join(filter(None, sentences)))


def _elsewhere(
    told: "_Told", held: Sequence[Curve], names: Sequence[str], chance: float | None
) -> str:
    """Where the first method beats no privacy, or the second; else how the first breaks down.

    A line below that of no privacy is a riddle unless the words say what sets them apart.
    """
    if not held:
        return ""
    rival = told.beats(held[1], names[1]) if len(held) > 1 and told.how.thanks else ""
    return told.beats(held[0], names[0]) or rival or told.breaks(held[0], names[0], chance)


def _plain(label: str) -> str:
    """A method's name; what is named is private, with a proof, unless the sentence says else."""
    return label.removesuffix(", with proof").removesuffix(", private")


def _say(key: str, **facts: object) -> str:
    return say(SENTENCES, key, facts)


def _failing(held: Sequence[Curve], names: Sequence[str], budget: float) -> Iterator[str]:
    """How many releases fail, where some do and others do not: a median hides them."""
    for one, name in zip(held, names, strict=True):
        i = one.at(budget)
        if i is not None and one.failed and FEW < one.failed[i] < MOST:
            lost = round(one.failed[i] * one.count[i])
            key = "fail" if lost == 1 else "fails"
            yield _say(key, all=one.count[i], name=name, lost=lost)


@dataclass(frozen=True)
class _Told:
    """What methods lose to privacy, in words; how they do where nothing can be compared."""

    cast: Cast
    sign: float
    how: Saying
    budget: float
    fair: bool
    """Whether the measure has a better side."""

    @property
    def compared(self) -> bool:
        return self.fair and self.cast.none is not None and bool(self.how.cost[0])

    def level(self, one: Curve) -> Level:
        """What a line's costs are counted from: its own method without privacy, if measured."""
        level = self.cast.twins.get(one.label, self.cast.none)
        assert level is not None
        return level

    def none(self, one: Curve) -> float:
        """The same as a number."""
        return self.level(one).value

    def first(self, one: Curve, name: str) -> str:
        """The sentence's beginning."""
        if not self.compared:
            return _say("alone", name=name, what=self._said(one))
        count, unit = self._amount(one)
        return _say("first", count=count, unit=unit, name=name)

    def next(self, one: Curve, name: str) -> str:
        """A further method."""
        aside = ", more" * ("," in name)
        if not self.compared:
            return _say(f"also{aside}", name=name, what=self._said(one))
        count, plain = self._amount(one)[0], replace(self.cast, twins={})
        if not aside and count != replace(self, cast=plain)._amount(one)[0]:
            aside = ", own"  # the level that is drawn and named would give another number
        return _say(f"next{aside}", name=name, count=count)

    def before(self, one: Curve) -> str:
        """What is lost without any noise, where that is more than by the noise; else empty.

        Both add up as squares do: noise that loses as much as is lost without it makes an error
        √2 times as large.
        """
        if not self.compared or not self.how.before:
            return ""
        if _value(one, self.budget) > math.sqrt(2.0) * self.none(one):
            return ""
        return tr(self.how.before).format(figures(number(self.how.scale * self.none(one), 2)))

    def adds(self, one: Curve, name: str) -> str:
        """What a method's noise costs beside that."""
        return _say("adds", name=name, count=self._amount(one)[0])

    def beats(self, one: Curve, name: str) -> str:
        """Where a line beats no privacy, the intervals of both medians apart; else empty.

        Of fewer than FEWEST repetitions an interval is their range, which proves nothing.
        """
        worst = one.sure_low if self.sign < 0 else one.sure_high
        if not self.compared or not worst:
            return ""
        level = self.level(one)
        if level.count < FEWEST:
            return ""
        best = min(self.sign * end for end in (level.value, *level.sure))
        known = zip(worst, one.count, strict=True)
        over = _from(one, [self.sign * end < best and count >= FEWEST for end, count in known])
        if over is None:
            return ""
        why = f" {_say('why', thanks=tr(self.how.thanks))}" if self.how.thanks else ""
        key = "here" if over == ("only", self.budget) else over[0]
        return _say(key, budget=over[1], name=name, why=why)

    def breaks(self, one: Curve, name: str, chance: float | None) -> str:
        """How a line breaks down at a smaller budget; empty where it costs no more there."""
        if not self.compared or chance is None or chance == (none := self.none(one)):
            return ""
        way = [(v - none) / (chance - none) for v in one.middle]
        bad = [at for at, part in zip(one.epsilon, way, strict=True) if part > BAD]
        low = [at for at in bad if at < self.budget and at == one.epsilon[bad.index(at)]]
        if not low:
            return ""
        least = min(low, key=lambda at: self.sign * _value(one, at))
        count = replace(self, budget=least)._amount(one)[0]
        if self._loss(one, least) <= self._loss(one, self.budget) or count == self._amount(one)[0]:
            return ""
        key = "below" if len(low) > 1 else "worse"
        return _say(key, budget=low[-1], name=name, count=count)

    def _said(self, one: Curve) -> str:
        value = self.how.scale * _value(one, self.budget)
        digits = 2 if self.how.scale == 100.0 else 3
        return tr(self.how.text).format(figures(number(value, digits)))

    def _loss(self, one: Curve, budget: float) -> float:
        """What a line loses at a budget, in the unit of the cost."""
        return self.how.scale * self.sign * (_value(one, budget) - self.none(one))

    def _amount(self, one: Curve) -> tuple[str, str]:
        """The loss and its unit."""
        loss = self._loss(one, self.budget)
        few, many = map(tr, self.how.cost)
        if self.how.scale != 100.0:
            return figures(number(max(loss, 0.0), 2)), many
        count = max(round(loss), 0)
        if count == 0 and loss > 0.0:
            return _say("less"), few
        return f"{count}", few if count == 1 else many


def _from(one: Curve, holds: Sequence[bool]) -> tuple[str, float] | None:
    """From which budget on something holds, or there only; None where not at the last one."""
    last = next((i for i, held in reversed(list(enumerate(holds))) if not held), -1) + 1
    if last == len(holds):
        return None
    return "from" if last + 1 < len(holds) else "only", one.epsilon[last]


def _guess(one: Curve, cast: Cast, how: Saying, data: Card, budget: float) -> str:
    """That a method says nothing, where it is as good as guessing."""
    chance = how.guessed(data)
    if chance is None or cast.none is None or cast.none.value == chance:
        return ""
    way = (_value(one, budget) - chance) / (cast.none.value - chance)
    return "" if way >= NEAR else tr(SENTENCES["guess"])


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
