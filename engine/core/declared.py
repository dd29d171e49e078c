"""What a paper declares as data: tables in a file `paper.toml` beside its code.

`[paper]`, `[methods.NAME]`, `[knobs.FIELD]`, `[gauges.FIELD]`, `[arrays.KIND]`, `[cards.NAME]` and
`[sentences]` hold names, words, bounds and lists; Python holds what computes. So each is said once,
by everybody in the same way, and no number that ships is dated by a better word: the digest of
sources reads Python alone (`engine.runs.changes`).
"""

import functools
import sys
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeAlias

Table: TypeAlias = Mapping[str, Any]
FILE = "paper.toml"
LIKE = "like"
"""The key that names another table of the same kind, whose values stand where a table has none."""


@functools.cache
def read(file: Path) -> Mapping[str, Table]:
    """The tables of a file; none where there is no file."""
    return tomllib.loads(file.read_text(encoding="utf-8")) if file.exists() else {}


def kind(module: str, name: str) -> Mapping[str, Table]:
    """The tables of one kind, such as "knobs", in the file beside a loaded module or package."""
    path = getattr(sys.modules[module], "__file__", None)
    return _beside(path).get(name, {}) if path else {}


@functools.cache
def _beside(path: str) -> Mapping[str, Table]:
    """The tables of the file beside a module's; a page asks for some at every card."""
    return read(Path(path).with_name(FILE))


def own(cls: type, name: str) -> Mapping[str, Table]:
    """The tables of one kind for the fields of a class: those beside it and beside its bases."""
    found: dict[str, Table] = {}
    for base in reversed(cls.__mro__):
        found |= kind(base.__module__, name)
    return found


def values(tables: Mapping[str, Table], name: str) -> dict[str, Any]:
    """One table of a kind, with the values of the one that it is like, and tuples for lists.

    Raises:
        KeyError: There is no such table.
    """
    table = dict(tables[name])
    base = values(tables, table.pop(LIKE)) if LIKE in table else {}
    return base | {key: fixed(value) for key, value in table.items()}


def fixed(value: Any) -> Any:
    """Tuples for lists, at every depth."""
    if isinstance(value, dict):
        return {name: fixed(one) for name, one in value.items()}
    return tuple(map(fixed, value)) if isinstance(value, list) else value
