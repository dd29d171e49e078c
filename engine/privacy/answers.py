"""Numbers that take seconds to work out: kept in the process, and shipped with the program."""

import functools
import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from pathlib import Path

SHIPPED = Path(__file__).parents[2] / "reference" / "prices.json"
answers: dict[str, float] = {}
"""What has been answered in this process, by the code of its question."""


def answer(code: str, work: Callable[[], float]) -> float:
    """The answer to a question: shipped, remembered, or worked out now.

    Raises:
        UnansweredError: It would have to be worked out within `at_once`.
    """
    known = answers.get(code, _shipped().get(code))
    if known is None:
        if _HURRIED.get():
            raise UnansweredError(f"expected a question that is answered already, got {code}")
        known = work()
    answers[code] = known
    return known


@functools.cache
def _shipped() -> dict[str, float]:
    """Answers that ship with the program, for the settings that its pages open with."""
    with suppress(OSError, ValueError):
        table: dict[str, float] = json.loads(SHIPPED.read_text(encoding="utf-8"))
        return table
    return {}


def ship(codes: Mapping[str, float]) -> None:
    """Writes answers to where `answer` looks for them before it works one out."""
    lines = ",\n".join(f'"{code}": {codes[code]!r}' for code in sorted(codes))
    SHIPPED.write_text(f"{{\n{lines}\n}}\n", encoding="utf-8")
    _shipped.cache_clear()


class UnansweredError(Exception):
    """An accountant would have to be asked, which may take seconds."""


_HURRIED: ContextVar[bool] = ContextVar("_HURRIED", default=False)


@contextmanager
def at_once() -> Iterator[None]:
    """Within it, what takes an accountant is refused.

    Raises:
        UnansweredError: An answer is neither shipped nor remembered.
    """
    token = _HURRIED.set(True)
    try:
        yield
    finally:
        _HURRIED.reset(token)
