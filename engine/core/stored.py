"""Values read back from JSON: every field is checked against its annotation, and named if wrong."""

import dataclasses
import functools
import json
import types
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

T = TypeVar("T")
Reader = Callable[[Any], Any]
LARGEST = 2**63
"""Whole numbers from here on fit no array and no row."""
SHORT = 60
"""Characters of a value that a sentence repeats."""
PLAIN: dict[type, tuple[str, tuple[type, ...]]] = {
    bool: ("true or false", (bool,)),
    int: ("a whole number", (int,)),
    float: ("a number", (float, int)),
    str: ("a text", (str,)),
    type(None): ("nothing", (type(None),)),
}


def parsed(text: str | bytes) -> Any:
    """A text as JSON values.

    Raises:
        ValueError: It is none, or lists in it lie too deep.
    """
    try:
        return json.loads(text)
    except RecursionError:
        raise ValueError("expected JSON, got lists in lists too deep to read") from None


def read(kind: type[T], body: Any) -> T:
    """A value of a dataclass, or of a type such as `tuple[int, ...]`, from JSON values.

    >>> read(tuple[int, ...], [1, 2])
    (1, 2)
    >>> read(dict[str, float], {"a": None})
    Traceback (most recent call last):
    ValueError: a: expected a number, got None

    Raises:
        ValueError: A field that is missing, unknown or of another kind: named, with what came.
    """
    key: Any = kind  # a type is hashable
    made: T = _reader(key)(body)
    return made


@functools.cache
def _reader(kind: Any) -> Reader:
    """Reads a value of one type; made once for each type, since events are many."""
    origin, inner = get_origin(kind), get_args(kind)
    if kind in PLAIN:
        return functools.partial(_plain, *PLAIN[kind])
    if origin in (Union, types.UnionType):
        return functools.partial(_either, tuple(inner))
    if origin is Literal:
        return functools.partial(_named, inner)
    if origin is tuple and inner[-1] is not ...:
        return functools.partial(_row, tuple(map(_reader, inner)))
    if origin in (tuple, list, Sequence):
        return functools.partial(
            _many, inner[0], _plainly(inner[0]), list if origin is list else tuple
        )
    if origin in (dict, Mapping):
        return functools.partial(_table, _reader(inner[1]))
    if dataclasses.is_dataclass(kind):
        return functools.partial(_fields, kind)
    return lambda value: value


def _plain(what: str, kinds: tuple[type, ...], value: Any) -> Any:
    if type(value) not in kinds:
        raise wrong(what, value)
    if type(value) is int and not -LARGEST <= value < LARGEST:
        raise ValueError(f"expected {what} below 2^63, got a larger one")
    return value


def _either(kinds: tuple[Any, ...], value: Any) -> Any:
    for kind in kinds:
        try:
            return _reader(kind)(value)
        except ValueError as error:
            last = error
    plain = [PLAIN[kind][0] for kind in kinds if kind in PLAIN]
    raise wrong(" or ".join(plain), value) if len(plain) == len(kinds) else last


def _named(options: tuple[Any, ...], value: Any) -> Any:
    if not any(value == one and type(value) is type(one) for one in options):
        raise wrong(f"one of {', '.join(map(str, options))}", value)
    return value


def _row(readers: tuple[Reader, ...], value: Any) -> Any:
    if not isinstance(value, list | tuple) or len(value) != len(readers):
        raise wrong(f"{len(readers)} values", value)
    return tuple(read_one(one) for read_one, one in zip(readers, value, strict=True))


def _plainly(kind: Any) -> frozenset[type]:
    """The types of values that are read as they are where a list of `kind` is expected."""
    kinds = get_args(kind) if get_origin(kind) in (Union, types.UnionType) else (kind,)
    return frozenset(one for part in kinds if part in PLAIN for one in PLAIN[part][1])


def _many(kind: Any, plain: frozenset[type], whole: type, value: Any) -> Any:
    if not isinstance(value, list | tuple):
        raise wrong("a list", value)
    there = set(map(type, value))
    if there <= plain and _fit(value, there):  # a look at all of them at once is much faster
        return whole(value)
    read_one = _reader(kind)
    return whole(_at(str(place), read_one, one) for place, one in enumerate(value))


def _fit(values: Sequence[Any], there: set[type]) -> bool:
    """Whether the whole numbers among plain values, whose types are `there`, fit a row."""
    if int not in there:
        return True
    numbers = values if len(there) == 1 else [one for one in values if type(one) is int]
    return min(numbers) >= -LARGEST and max(numbers) < LARGEST


def _table(read_one: Reader, value: Any) -> Any:
    if not isinstance(value, dict):
        raise wrong("a table", value)
    return {name: _at(name, read_one, one) for name, one in value.items()}


@functools.cache
def _hints(kind: Any) -> dict[str, tuple[Reader, bool]]:
    """The reader of each field of a dataclass, and whether the field must be there."""
    hints = get_type_hints(kind)
    return {
        one.name: (
            _reader(hints[one.name]),
            one.default is dataclasses.MISSING and one.default_factory is dataclasses.MISSING,
        )
        for one in dataclasses.fields(kind)
        if one.init
    }


def _fields(kind: Any, value: Any) -> Any:
    if not isinstance(value, dict):
        raise wrong(f"the fields of {kind.__name__}", value)
    known = _hints(kind)
    for name in value:
        if name not in known:
            raise ValueError(f"{shown(name)}: expected no such field")
    for name, (_, needed) in known.items():
        if needed and name not in value:
            raise ValueError(f"{name}: expected a value, got none")
    return kind(**{name: _at(name, known[name][0], one) for name, one in value.items()})


def _at(name: str, read_one: Reader, value: Any) -> Any:
    """Reads a part, and names it where it is wrong."""
    try:
        return read_one(value)
    except ValueError as error:
        raise ValueError(f"{shown(name, bare=True)}: {error}") from None


def wrong(what: str, value: Any) -> ValueError:
    """The error that a value is not what is expected."""
    return ValueError(f"expected {what}, got {shown(value)}")


def shown(value: Any, *, bare: bool = False) -> str:
    """A value as a sentence repeats it: in one line, and not at any length.

    Args:
        value: Any value.
        bare: Whether a name stands without quotation marks.
    """
    try:
        text = value if bare and str(value).isidentifier() else repr(value)
    except (ValueError, RecursionError):  # Python writes no number of thousands of digits
        return f"a {type(value).__name__} too large to show"
    text = text.encode("utf-8", "backslashreplace").decode()
    return text if len(text) <= SHORT else f"{text[:SHORT]}…"
