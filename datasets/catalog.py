"""Data sets by name: what each is, without loading it, and its table once asked for.

A data set is a module of this package with `CARD` and `load()`. One whose card depends on the
files at hand also has `card()`. Besides these there are the user's own tables (`datasets.own`).
"""

from functools import lru_cache
from importlib import import_module
from types import ModuleType

from datasets import own
from datasets.base import Card, Table
from engine.core.errors import RequestError

NAMES = (
    "flchain",
    "third_births",
    "wichert",
    "second_births",
    "heart",
    "digits",
    "mnist",
    "segment",
    "har",
    "adni",
    "yesiwell",
    "yesiwell_weekly",
    "yesiwell_large",
)


def names() -> tuple[str, ...]:
    """Returns the name of every data set: survival tables first, then labelled ones and panels."""
    return NAMES


def card(name: str) -> Card:
    """Returns the card of `name`, which loads no data set.

    Raises:
        RequestError: There is no such data set.
    """
    if own.mine(name):
        return own.card(name)
    module = _module(name)
    described: Card = vars(module).get("card", lambda: module.CARD)()
    return described


def load(name: str) -> Table:
    """Returns the table of `name`; the last few are kept, so do not write into their arrays.

    Raises:
        RequestError: There is no such data set.
        DatasetError: Its file is missing, damaged or not the one the card describes.
    """
    return _load(card(name))


@lru_cache(maxsize=4)
def _load(described: Card) -> Table:
    """Keyed by the card: a file that appears or goes changes the card, hence the table."""
    if own.mine(described.name):
        return own.load(described.name)
    table: Table = _module(described.name).load()
    return table


def _module(name: str) -> ModuleType:
    if name not in NAMES:
        raise RequestError(f"dataset: expected one of {', '.join(NAMES)}, got {name!r}")
    return import_module(f"datasets.{name}")
