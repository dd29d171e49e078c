"""The errors that several packages raise on purpose, the data sets among them.

* ExplorerError
  x SpecError       a field outside its bounds, or fields that contradict
  x RequestError    a name that is not in the catalogue, or a request that fits no method
  x DatasetError    a data set that is missing, damaged or not the one its card describes
  x BudgetError     an event that the accountant cannot price
  x StoreError      a store that cannot be opened, read or written
    x FullError     the same because the disk is full
  x MemoryLimitError  a limit on memory below which training cannot start (engine.core.room)
  x InterruptedRunError  a run that cannot go on now, and may when it is asked for again

An error of one module alone is defined there. Each message is one sentence that says what was
expected and what came instead.
"""

import re

LONG = re.compile(r"\S{300,}")
"""A word that no path and no name has."""
KEPT = 60


class ExplorerError(Exception):
    """Base class: pages and the command line catch this and nothing wider.

    What a message repeats of a user's input can be shown: a word of thousands of characters is cut,
    and half of a character is written as its number.
    """

    def __init__(self, message: str = "") -> None:
        shown = str(message).encode("utf-8", "backslashreplace").decode()
        super().__init__(LONG.sub(_cut, shown))


def _cut(word: re.Match[str]) -> str:
    return f"{word[0][:KEPT]}…{word[0][-3:]}"


class SpecError(ExplorerError):
    """A value that its knob does not admit.

    Attributes:
        field: Name of the offending field, so that a page can mark its widget.
    """

    def __init__(self, field: str, message: str) -> None:
        super().__init__(f"{field}: {message}")
        self.field = field

    def __reduce__(self) -> tuple[type["SpecError"], tuple[str, str]]:
        return type(self), (self.field, str(self).removeprefix(f"{self.field}: "))


class RequestError(ExplorerError):
    """A paper, method, data set, run or axis that does not exist or does not fit."""


class DatasetError(ExplorerError):
    """A data set that is missing, damaged or not the one its card describes."""


class BudgetError(ExplorerError):
    """A privacy cost that no accountant can compute."""


class StoreError(ExplorerError):
    """A store that cannot be opened, read or written."""


class FullError(StoreError):
    """A store on a disk that is full."""


class InterruptedRunError(ExplorerError):
    """A run whose machines went away; it is left as it is, to go on when it is asked for again."""
