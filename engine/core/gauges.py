"""Measurements, declared once: what a method reports and how a page draws it.

A column has its gauge in its annotation, or in the table `[gauges.FIELD]` of the file `paper.toml`
beside its class (`engine.core.declared`).

>>> @dataclass(frozen=True)
... class Counted(Info):
...     error: Annotated[Column, Gauge("Error of the count", "down", unit="records")]
>>> gauges(Counted)["error"].unit
'records'
"""

import dataclasses
import functools
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Annotated, Any, Literal, TypeAlias, get_args, get_type_hints

import numpy as np
from numpy.typing import NDArray

from engine.core import declared
from engine.core.errors import RequestError
from engine.core.spec import Scale

__all__ = ["Annotated", "Column", "Gauge", "Info", "gauges"]

Column: TypeAlias = NDArray[np.float64]
"""One number per replica, shape (R,); not finite where a replica has diverged or has none."""


Better = Literal["up", "down", "neither"]
BETTER: tuple[Better, ...] = get_args(Better)


@dataclass(frozen=True)
class Gauge:
    """What a measurement means.

    Attributes:
        label: Name in prose.
        better: Which way is good.
        released: Whether the value is itself an output of the private
            mechanism. A page marks every gauge for which this is False: it was
            computed from raw records and could not be published.
        unit: Unit of the value; empty for a pure number.
        scale: How an axis is spaced.
        help: One sentence: how it is computed and how to read it.
        may_be_undefined: Whether some data have no such value, so that one that is not finite
            does not mean that a replica has diverged.
    """

    label: str
    better: Better
    released: bool = False
    unit: str = ""
    scale: Scale = "linear"
    help: str = ""
    may_be_undefined: bool = False


@dataclass(frozen=True)
class Info:
    """Base class of what one step reports; subclasses add annotated columns.

    Raises:
        RequestError: A column is no list of numbers.
    """

    def __post_init__(self) -> None:
        for name in gauges(type(self)):
            shape = np.shape(getattr(self, name))
            if len(shape) != 1:
                raise RequestError(
                    f"measure {name}: expected one number for each replica, got an array of shape "
                    f"{shape}"
                )


def gauges(info: type[Info]) -> dict[str, Gauge]:
    """The gauges of an info class by field name, in the order of declaration."""
    key: Any = info  # a class is hashable, whatever its instances are
    return _gauges(key)


@functools.cache
def _gauges(info: Any) -> dict[str, Gauge]:
    """Cached, because every event that is reported reads its gauges."""
    hints, tables = get_type_hints(info, include_extras=True), declared.own(info, "gauges")
    found: dict[str, Gauge] = {}
    for field in dataclasses.fields(info):
        note = getattr(hints[field.name], "__metadata__", (None,))[0]
        if isinstance(note, Gauge):
            found[field.name] = note
        elif tables:
            found[field.name] = Gauge(**declared.values(tables, field.name))
    return found


_MEASURING: ContextVar[bool] = ContextVar("measuring", default=True)


def measuring() -> bool:
    """Whether anybody reads what a step would report; a method may leave it out if not."""
    return _MEASURING.get()


@contextmanager
def unmeasured() -> Iterator[None]:
    """Within the block steps need not measure: only what is released counts."""
    token = _MEASURING.set(False)
    try:
        yield
    finally:
        _MEASURING.reset(token)
