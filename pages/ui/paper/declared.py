"""A paper's layout as `layout.toml` declares it: titles, sentences and lists; Python computes.

What is computed is named as "module:function" within the paper's folder: `draw`, `side` and `free`
of a `[[sections]]`, `story`, and `values` of a section that is `swept` over a setting.
`free` may be the names themselves where all data sets have the same.
"""

import importlib
from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any

from engine.core import declared
from engine.runs.job import Job
from pages.ui.paper import pays
from pages.ui.paper.finding import Saying, guessing
from pages.ui.paper.swept import Swept
from pages.ui.paper.view import Layout, Section

FILE = "layout.toml"
OWN = {one.name for one in fields(Section)}
CHANCES = {
    "the right class": guessing,
    "a wrong class": lambda data: 1.0 - guessing(data),
    "a coin": lambda data: 0.5,
}
"""What guessing gets, by what `chance` says."""


def layout(package: str, folder: Path) -> Layout:
    """The layout that a folder declares.

    Raises:
        TypeError: A key that no layout has, or a section without a title.
        KeyError: A chance that nobody knows.
        AttributeError, ModuleNotFoundError: A function or its module that is not there.
    """
    table = {name: fixed(value) for name, value in declared.read(folder / FILE).items()}
    says = {name: _saying(how) for name, how in table.pop("says", {}).items()}
    swept = []

    def section(own: Mapping[str, Any]) -> Section:
        own = {name: _found(package, name, value) for name, value in own.items()}
        if "swept" in own:
            one = own.pop("swept")
            swept.append(Swept(**{n: _found(package, n, value) for n, value in one.items()}))
            own["draw"] = swept[-1].section
        words = {name: value for name, value in own.items() if name not in OWN}
        return Section(**{name: own[name] for name in own.keys() - words}, words=words)

    sections = tuple(map(section, table.pop("sections", ())))
    shared = pays.shared(table.get("shows", Layout.shows), table.pop("quotes", True))
    rest = {name: _found(package, name, value) for name, value in table.items()}

    def beside(jobs: Mapping[str, Job]) -> dict[str, Job]:
        return {name: job for one in swept for name, job in one.beside(jobs).items()}

    return Layout(says=says, sections=sections + shared, beside=beside, **rest)


def _saying(table: Mapping[str, Any]) -> Saying:
    """How a gauge is put in words."""
    own = dict(table)
    if "chance" in own:
        own["chance"] = CHANCES[own["chance"]]
    return Saying(**own)


def _found(package: str, name: str, value: Any) -> Any:
    """A function where its name stands, or the names that it would return."""
    if name == "free" and isinstance(value, tuple):
        return lambda dataset: value
    if name not in ("draw", "side", "free", "story", "values"):
        return value
    module, _, function = value.partition(":")
    return getattr(importlib.import_module(f"{package}.{module}"), function)


def fixed(value: Any) -> Any:
    """Tuples for lists, at every depth."""
    if isinstance(value, dict):
        return {name: fixed(one) for name, one in value.items()}
    return tuple(map(fixed, value)) if isinstance(value, list) else value
