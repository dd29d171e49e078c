"""What a widget offers for a setting, and what a hand-typed address is taken to mean.

A shared address holds the text that the widget shows, so the texts of an offer are the
vocabulary of the address too. No Streamlit here.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from engine.core.errors import SpecError
from engine.core.spec import Choice, Knob, Setting, Spec, Value, types
from pages.ui.words import short

MANY = 60
"""A linear slider offers at most this many values."""
REPEATS = (5, 6, 10, 20, 50)
"""Repetitions of each setting that a page offers."""
OFTEN, QUICK = 20, 200
"""Times as many repetitions has a method that takes a hundredth of a second for each, and how many
it has at least. With QUICK, a curve's own error is about as small as its line is wide."""
ROUND = (1.0, 2.0, 5.0)
MOVED = "Link value moved: "
"""Begins the sentence on a number to which the nearest offered one was taken."""


@dataclass(frozen=True)
class Offer:
    """The values of one field that a page offers, each by its text.

    Attributes:
        field: Name of the field; with the paper's slug, the name in the address.
        texts: What the widget shows and the address holds.
        values: What each text stands for.
        default: The text that is chosen when the address says nothing.
        spec: The spec that checks other values; None where only the texts count.
    """

    field: str
    texts: tuple[str, ...]
    values: tuple[Value, ...]
    default: str
    spec: type[Spec] | None = None

    def value(self, text: str) -> Value:
        """What a text stands for."""
        return self.values[self.texts.index(text)]

    def text(self, value: Value) -> str:
        """The text of a value, or of the offered value that is nearest to it."""
        if value in self.values:
            return self.texts[self.values.index(value)]
        return self.texts[self._nearest(float(value))]

    def neighbours(self, value: Value) -> tuple[Value, ...]:
        """The offered values beside one: the next, then the one before; at an end, one of them."""
        if value not in self.values:
            return ()
        place = self.values.index(value)
        return (*self.values[place + 1 : place + 2], *self.values[max(place - 1, 0) : place])

    def among(self, values: Sequence[float]) -> "Offer":
        """The same offer with other values; the default stays if it is one, else the middle one."""
        texts = tuple(figure(float(value)) for value in values)
        default = self.default if self.default in texts else texts[len(texts) // 2]
        return Offer(self.field, texts, tuple(values), default, self.spec)

    def read(self, raw: str) -> tuple[str, str]:
        """A text from an address as an offered text, and one sentence if it was not one.

        Case, spaces and underscores do not matter, nor how a number is written.
        """
        if raw in self.texts:
            return raw, ""
        plain = {_plain(text): text for text in self.texts}
        plain |= {
            _plain(str(value)): text for value, text in zip(self.values, self.texts, strict=True)
        }
        if _plain(raw) in plain:
            return plain[_plain(raw)], ""
        try:
            value = self._number(raw)
        except SpecError as error:
            return self.default, f"Link value ignored: {error}"
        text = self.text(value)
        if value in self.values:
            return text, ""
        return text, f"{MOVED}{self.field} {raw} is not on its slider, {text} is nearest"

    def _number(self, raw: str) -> Value:
        """A number that the spec admits; an offer of names admits no other name."""
        if self.spec is not None and not isinstance(self.values[0], str):
            return self.spec.read(self.field, raw)
        known = ", ".join(self.texts)
        raise SpecError(self.field, f"expected one of {known}, got {raw!r}")

    def _nearest(self, value: float) -> int:
        """The position nearest to a number, by ratio where all are positive."""
        grid = [float(known) for known in self.values]
        if min(grid) > 0 and value > 0:
            return min(range(len(grid)), key=lambda i: abs(math.log(grid[i] / value)))
        return min(range(len(grid)), key=lambda i: abs(grid[i] - value))


def offer(spec: type[Spec], field: str, setting: Setting, default: Value) -> Offer:
    """The values that a page offers for one knob or choice of a spec."""
    if isinstance(setting, Choice):
        return Offer(field, setting.labels, setting.options, setting.text(default), spec)
    values = sorted({*_grid(setting, types(spec)[field]), default}, key=float)
    texts = tuple(figure(float(value)) for value in values)
    return Offer(field, texts, tuple(values), figure(float(default)), spec)


def names(field: str, keys: Sequence[str]) -> Offer:
    """An offer of names, shown as words; the first is the default."""
    return named(field, {key: short(key) for key in keys}, keys[0])


def named(field: str, texts: Mapping[str, str], default: str) -> Offer:
    """An offer of names, each with its text."""
    return Offer(field, tuple(texts.values()), tuple(texts), texts[default])


def figure(value: float) -> str:
    """A number as a slider shows it: plain decimals, or a power of ten where those are long."""
    if value != 0 and abs(value) < 1e-4:
        mantissa, exponent = f"{value:.6e}".split("e")
        return f"{float(mantissa):g}e{int(exponent)}"
    return f"{value:.8f}".rstrip("0").rstrip(".")


def _grid(knob: Knob, kind: type) -> list[Value]:
    """The knob's own grid, or round values over its range."""
    low, high = knob.range
    if knob.grid:
        values: Sequence[float] = knob.grid
    elif knob.scale == "log":
        values = _ladder(low, high)
    else:
        step = knob.step or _step(low, high)
        values = [low + step * i for i in range(int((high - low) / step + 1e-9) + 1)]
    return [round(value) if kind is int else float(f"{value:.10g}") for value in values]


def _ladder(low: float, high: float) -> list[float]:
    """1, 2, 5, 10 … between two positive numbers, and both of these."""
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    rungs = [figure * 10.0**power for power in powers for figure in ROUND]
    return [low, *(rung for rung in rungs if low * 1.001 < rung < high * 0.999), high]


def _step(low: float, high: float) -> float:
    """The finest round step that offers at most MANY values."""
    least = (high - low) / MANY
    power = 10.0 ** math.floor(math.log10(least))
    return next(figure * power for figure in (*ROUND, 10.0) if figure * power >= least)


def _plain(text: str) -> str:
    """A text without what people get wrong when they type an address."""
    return text.strip().casefold().replace("_", " ").replace("+", " ")
