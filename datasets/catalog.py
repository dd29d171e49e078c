"""Data sets by name: what each is, without loading it, and its table on request.

A data set is a module of this package with `CARD` and `load()`; a further one needs no edit
elsewhere. One whose card depends on the files at hand also has `card()`. Besides these there are
the user's own tables (`datasets.own`).
"""

from functools import cache, lru_cache
from types import ModuleType

import datasets
from datasets import own
from datasets.base import Card, Table
from engine.core.discovery import imported, installed, matching
from engine.core.errors import DatasetError, RequestError

DECLARED = r"(?m)^CARD\b"
"""How a module says that it is a data set."""
GROUP = "epsilon_explorer.datasets"
"""Of the entry points by which installed packages add such modules."""


def names() -> tuple[str, ...]:
    """Returns the name of every data set: survival tables first, then labelled ones and panels."""
    cards = {name: module.CARD for name, module in _found()[0].items()}
    return tuple(sorted(cards, key=lambda name: (cards[name].events is None, name)))


def problems() -> tuple[str, ...]:
    """Returns one sentence for each module of a data set that is broken."""
    return tuple(_found()[1].values())


def card(name: str) -> Card:
    """Returns the card of `name`, which loads no data set.

    Raises:
        RequestError: There is no such data set.
        DatasetError: Its module is broken.
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
        DatasetError: Its module is broken, or its file is missing, damaged or not the one that
            the card describes.
    """
    return _load(card(name))


@lru_cache(maxsize=4)
def _load(described: Card) -> Table:
    """Keyed by the card: a file that appears or goes changes the card, and so the table."""
    if own.mine(described.name):
        return own.load(described.name)
    table: Table = _module(described.name).load()
    return table


def _module(name: str) -> ModuleType:
    modules, broken = _found()
    if name in broken:
        raise DatasetError(broken[name])
    if name not in modules:
        raise RequestError(f"dataset: expected one of {', '.join(names())}, got {name!r}")
    return modules[name]


@cache
def _found() -> tuple[dict[str, ModuleType], dict[str, str]]:
    """The modules of the data sets, and what is wrong with those that are broken."""
    read, broken = imported(matching(datasets, DECLARED))
    added, wrong = installed(GROUP)
    read, broken = added | read, wrong | broken  # a name that is taken keeps its meaning
    modules = {name: module for name, module in read.items() if hasattr(module, "CARD")}
    for name in list(modules):
        card = modules[name].CARD
        if not isinstance(card, Card) or card.name != name:
            got = f"the name {card.name!r}" if isinstance(card, Card) else type(card).__name__
            broken[name] = f"datasets.{name}: expected a CARD with the name {name!r}, got {got}"
        elif not callable(getattr(modules[name], "load", None)):
            broken[name] = f"datasets.{name}: expected a function load(), got none"
        if name in broken:
            del modules[name]
    return modules, broken
