"""Sentences that a layout declares, with what a section has found in their braces.

`{budget:g}` is written as Python writes it, `{error:n2}` as pages write numbers, in two significant
figures (three without a figure), `{bound:l}` likewise but rounded down, `{share:p1}` in per
cent with one decimal (none without a figure).
A fact that is True stands for the sentence of its own name in the same table, False for nothing,
and `Named("other")` for the sentence "other": so a caption has parts that only some runs need.
Sentences and numbers are those of the visitor's language, where its catalogue has them.
"""

import re
import string
from collections.abc import Mapping, Sequence
from typing import Any

from pages.ui.messages import figures, tight, tr
from pages.ui.words import least, number

SPACES = re.compile("  +")


class Named(str):
    """The name of a sentence that stands where this fact is; nothing where it is empty."""

    __slots__ = ()


class _Sentences(string.Formatter):
    """Sentences of one table."""

    def __init__(self, table: Mapping[str, Any]) -> None:
        self.table = table

    def get_value(self, key: int | str, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
        fact = kwargs[str(key)]
        name = fact if isinstance(fact, Named) else str(key) if fact is True else ""
        if name:
            return self.vformat(tr(self.table[name]), args, kwargs)
        return "" if fact is False or isinstance(fact, Named) else fact

    def format_field(self, value: Any, spec: str) -> str:
        kind, digits = spec[:1], spec[1:]
        if told := {"n": number, "l": least}.get(kind):
            return figures(told(float(value), int(digits or 3)))
        if kind == "p":
            return figures(f"{100 * value:.{digits or 0}f}")
        text = str(super().format_field(value, spec))
        return figures(text) if isinstance(value, int | float) else text


def say(table: Mapping[str, Any], name: str, facts: Mapping[str, object]) -> str:
    """A sentence of a table with its facts; empty where the table has none of that name.

    Raises:
        KeyError: A fact, or a sentence that a fact names, is not there.
    """
    text = _Sentences(table).vformat(tr(table.get(name, "")), (), facts)
    return tight(SPACES.sub(" ", text).strip())
