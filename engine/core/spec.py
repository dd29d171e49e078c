r"""Parameters, declared once and read by the engine and by the pages alike.

A field has its bounds, its symbol and its help from a `Knob` or a `Choice`: in its annotation, or
in the table `[knobs.FIELD]` of the file `paper.toml` beside its class (`engine.core.declared`). The
engine checks values against it; the pages draw a widget from it. Neither keeps a second copy.

    >>> @dataclass(frozen=True, kw_only=True)
    ... class Toy(Spec):
    ...     clip: Annotated[float, Knob("Clipping norm", "C", (0.0, 9.0), (0.1, 4.0))] = 1.0
    >>> Toy(clip=10.0)
    Traceback (most recent call last):
    engine.core.errors.SpecError: clip: expected a number from 0 to 9, got 10.0
    >>> Toy.parse({"clip": "2.5"})
    Toy(clip=2.5)
"""

import dataclasses
import functools
import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Annotated, Any, ClassVar, Literal, Self, TypeAlias, get_args, get_type_hints

from engine.core import declared
from engine.core.errors import SpecError
from engine.core.stored import shown

__all__ = ["Annotated", "Choice", "Knob", "Setting", "Spec", "Value", "knobs", "setting"]

Value: TypeAlias = float | int | str
Scale = Literal["linear", "log"]
SCALES: tuple[Scale, ...] = get_args(Scale)


@dataclass(frozen=True)
class Knob:
    """What a number means and which values it admits.

    Attributes:
        label: Name in prose, without the symbol.
        symbol: LaTeX, without dollars, as the paper writes it.
        bounds: Values the engine admits, both ends included.
        range: Values a slider offers; lies within `bounds`.
        scale: How a slider is spaced.
        step: Spacing of a linear slider; None lets the page choose.
        grid: The values a slider offers, when they are not evenly spaced.
        unit: Unit of the value; empty for a pure number.
        axis: Whether the knob may vary inside one run, as a replica axis.
        feature: Whether it is the number of one of the data set's features, 1 for the first.
        help: One sentence: what grows when this grows.
        equation: LaTeX of the formula in which the symbol acts.
        source: Section or equation of the paper.
    """

    label: str
    symbol: str
    bounds: tuple[float, float]
    range: tuple[float, float]
    scale: Scale = "linear"
    step: float | None = None
    grid: tuple[float, ...] = ()
    unit: str = ""
    axis: bool = False
    feature: bool = False
    help: str = ""
    equation: str = ""
    source: str = ""

    def check(self, field: str, value: Value) -> None:
        """Raises `SpecError` unless `value` is a finite number within the bounds."""
        low, high = self.bounds
        number = isinstance(value, int | float) and not isinstance(value, bool)
        if not number or not low <= float(value) <= high:
            raise SpecError(
                field, f"expected a number from {low:g} to {high:g}, got {shown(value)}"
            )

    def among(self, features: int) -> "Knob":
        """The same knob on a data set of so many features: its slider offers no others.

        >>> Knob("Feature", "k", (1, 1000), (1, 10), feature=True).among(3).range
        (1, 3)
        """
        low, high = self.range
        return replace(self, range=(low, max(low, min(high, features)))) if self.feature else self


@dataclass(frozen=True)
class Choice:
    """What a name selects.

    Attributes:
        label: Name in prose.
        options: The admitted values; they stand in addresses, stored runs and commands.
        labels: What a page shows for each option, in the same order.
        help: One sentence: what the options do.
        symbol: LaTeX, without dollars; empty where the paper has none.
        source: Section or equation of the paper.
    """

    label: str
    options: tuple[str, ...]
    labels: tuple[str, ...]
    help: str = ""
    symbol: str = ""
    source: str = ""
    axis: ClassVar[bool] = False

    def among(self, features: int) -> "Choice":
        """The same: no choice here depends on the features of a data set."""
        return self

    def __post_init__(self) -> None:
        if len(self.labels) != len(self.options):
            raise ValueError(
                f"{self.label}: expected a label for each of {len(self.options)} options, "
                f"got {len(self.labels)}"
            )

    def text(self, value: Value) -> str:
        """What a page shows for an option.

        >>> Choice("Noise", ("laplace", "gaussian"), ("Laplace", "Gaussian")).text("laplace")
        'Laplace'
        """
        return self.labels[self.options.index(str(value))]

    def check(self, field: str, value: Value) -> None:
        """Raises `SpecError` unless `value` is one of the options."""
        if value not in self.options:
            raise SpecError(field, f"expected one of {', '.join(self.options)}, got {shown(value)}")


Setting: TypeAlias = Knob | Choice


def setting(tables: Mapping[str, declared.Table], name: str) -> Setting:
    """What a table of `paper.toml` declares: a choice if it has options, each with its label.

    >>> setting({"kind": {"label": "Kind", "options": {"a": "First"}}}, "kind")
    Choice(label='Kind', options=('a',), labels=('First',), help='', symbol='', source='')
    """
    found = declared.values(tables, name)
    options = found.pop("options", None)
    if options is None:
        return Knob(**found)
    return Choice(options=tuple(options), labels=tuple(options.values()), **found)


@dataclass(frozen=True, kw_only=True)
class Spec:
    """Everything public that determines a run.

    A spec is hashed, stored and put in the address bar. Data and random
    generators are therefore arguments of a method, never fields of a spec.
    """

    def __post_init__(self) -> None:
        for field, knob in knobs(type(self)).items():
            knob.check(field, getattr(self, field))
        self.check()

    def check(self) -> None:
        """Raises `SpecError` if fields contradict each other; the one hook."""

    def values(self) -> dict[str, Value]:
        """The fields as plain JSON values, in the order of declaration."""
        return {field.name: getattr(self, field.name) for field in dataclasses.fields(self)}

    def replace(self, **changes: Value) -> Self:
        """A copy with some fields changed, checked again."""
        return dataclasses.replace(self, **changes)

    @classmethod
    def parse(cls, texts: Mapping[str, Any]) -> Self:
        """Builds a spec from texts or numbers, as they come from an address or a command line.

        Raises:
            SpecError: A field that does not exist, or a text that is no such value.
        """
        return cls(**{field: cls.read(field, text) for field, text in texts.items()})

    @classmethod
    def read(cls, field: str, text: Any) -> Value:
        """One field's value from its text, checked against its knob.

        Raises:
            SpecError: As `parse`.
        """
        known = knobs(cls)
        if field not in known:
            raise SpecError(
                field, f"expected one of the fields {', '.join(known)}, got {shown(field)}"
            )
        value = _read(field, known[field], types(cls)[field], text)
        known[field].check(field, value)
        return value


def _read(field: str, knob: Setting, kind: type, text: Any) -> Value:
    """A text as the type of its field; a text that is no number is the user's error."""
    if isinstance(knob, Choice):
        return text if isinstance(text, str) else shown(text)
    try:
        if isinstance(text, bool):
            raise TypeError
        number = float(text)
    except (TypeError, ValueError, OverflowError):
        low, high = knob.bounds
        raise SpecError(
            field, f"expected a number from {low:g} to {high:g}, got {shown(text)}"
        ) from None
    if kind is int and math.isfinite(number):
        if number != int(number):
            raise SpecError(field, f"expected a whole number, got {shown(text)}")
        return int(number)
    return number


def knobs(spec: type[Spec]) -> dict[str, Setting]:
    """The knobs of a spec by field name, in the order of declaration."""
    key: Any = spec  # a class is hashable, whatever its instances are
    return _knobs(key)


def types(spec: type[Spec]) -> dict[str, type]:
    """The plain type of each field: float, int or str."""
    key: Any = spec
    return _types(key)


@functools.cache
def _knobs(spec: Any) -> dict[str, Setting]:
    """Cached, because every spec that is made reads its knobs."""
    hints, tables = get_type_hints(spec, include_extras=True), declared.own(spec, "knobs")
    found: dict[str, Setting] = {}
    for field in dataclasses.fields(spec):
        note = getattr(hints[field.name], "__metadata__", (None,))[0]
        if isinstance(note, Knob | Choice):
            found[field.name] = note
        elif tables:
            found[field.name] = setting(tables, field.name)
    return found


@functools.cache
def _types(spec: Any) -> dict[str, type]:
    return get_type_hints(spec)
