"""The commands as `commands.toml` declares them: their parsers, and the functions that do them."""

import argparse
import functools
import pkgutil
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from engine.core import stored

SHEET = Path(__file__).with_name("commands.toml")
SHARED = "shared"
"""The table of the sheet that holds arguments which several commands take."""
GROUPS = {"own": "a training function of your own: FILE.py::FUNCTION"}
"""Titles of arguments that stand apart in the help text."""


def _number(kind: Callable[[str], Any], what: str) -> Callable[[str], Any]:
    """A reader of numbers whose errors say what was expected and what was found."""

    def read(text: str) -> Any:
        try:
            return kind(text)
        except ValueError:
            raise argparse.ArgumentTypeError(f"expected {what}, got {text!r}") from None

    return read


TYPES: dict[str, Callable[[str], Any]] = {
    "int": _number(int, "a whole number"), "float": _number(float, "a number"), "path": Path,
}  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class Argument:
    """One argument of a command.

    Attributes:
        name: As it is written, or the ways in which it may be.
        help: What it means.
        metavar: What stands for its value in the help text; empty for its name.
        type: What its value is read as; empty for a text.
        choices: What it may be; empty for anything.
        default: What it is if it is left out.
        dest: What the function reads it as; empty for its name.
        nargs: How many values, as argparse says it; empty for one.
        required: Whether it must be there.
        switch: Whether it has no value, and is on or off.
        repeatable: Whether it may stand several times.
        group: A key of GROUPS; empty for none.
    """

    name: str | tuple[str, ...]
    help: str = ""
    metavar: str = ""
    type: Literal["", "int", "float", "path"] = ""
    choices: tuple[str, ...] = ()
    default: str | int | float | None = None
    dest: str = ""
    nargs: str = ""
    required: bool = False
    switch: bool = False
    repeatable: bool = False
    group: str = ""

    def add(self, parser: argparse._ActionsContainer) -> None:
        """Adds it to a parser."""
        names = (self.name,) if isinstance(self.name, str) else self.name
        said = {
            name: getattr(self, name) for name in ("metavar", "help", "choices", "dest", "nargs")
        }
        options: dict[str, Any] = {name: value for name, value in said.items() if value}
        if self.switch:
            parser.add_argument(*names, action="store_true", **options)
            return
        if self.type:
            options["type"] = TYPES[self.type]
        if self.required:
            options["required"] = True
        more = {"action": "append", "default": []} if self.repeatable else {"default": self.default}
        parser.add_argument(*names, **options, **more)


@dataclass(frozen=True, kw_only=True)
class Command:
    """One command.

    Attributes:
        help: What it does.
        run: Module and function that do it, within `engine.cli`; empty where it has actions.
        before: Shared arguments that stand before its own.
        arguments: Its own.
        after: Shared arguments that stand after its own.
        trains: Whether it trains, or starts what trains.
        writer: Module and function that write what is taken along (`engine.cli.bundle`).
        actions: Commands within it, by name.
    """

    help: str
    run: str = ""
    before: tuple[str, ...] = ()
    arguments: tuple[Argument, ...] = ()
    after: tuple[str, ...] = ()
    trains: bool = False
    writer: str = ""
    actions: "Mapping[str, Command]" = field(default_factory=dict)


@functools.cache
def commands() -> tuple[Mapping[str, Command], Mapping[str, tuple[Argument, ...]]]:
    """The commands by name, and the arguments that several of them take."""
    sheet = tomllib.loads(SHEET.read_text(encoding="utf-8"))
    shared = stored.read(dict[str, tuple[Argument, ...]], sheet.pop(SHARED))
    return stored.read(dict[str, Command], sheet), shared


def add(parsers: "argparse._SubParsersAction[Any]", known: Mapping[str, Command]) -> None:
    """Adds commands to a parser, each with the text that names its function."""
    shared = commands()[1]
    for name, one in known.items():
        parser = parsers.add_parser(name, help=one.help)
        if one.actions:
            add(parser.add_subparsers(metavar="ACTION", required=True), one.actions)
            continue
        before, after = (
            [a for key in keys for a in shared[key]] for keys in (one.before, one.after)
        )
        groups: dict[str, argparse._ActionsContainer] = {"": parser}
        for argument in (*before, *one.arguments, *after):
            if argument.group not in groups:
                groups[argument.group] = parser.add_argument_group(GROUPS[argument.group])
            argument.add(groups[argument.group])
        parser.set_defaults(command=one)


def do(arguments: argparse.Namespace) -> int:
    """Does the command that was asked for; returns its exit code."""
    function: Callable[[argparse.Namespace], int] = pkgutil.resolve_name(
        f"engine.cli.{arguments.command.run}"
    )
    return function(arguments)
