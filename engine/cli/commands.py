"""The commands as `commands.toml` declares them, and their parsers."""

import argparse
import functools
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from engine.core import stored

SHEET = Path(__file__).with_name("commands.toml")
SHARED = "shared"
"""The table of the sheet that holds arguments which several commands take."""
GROUPS = {"own": "a training function of your own: FILE.py::FUNCTION"}
"""Titles of arguments that stand apart in the help text."""
TYPES: dict[str, Callable[[str], Any]] = {"int": int, "float": float, "path": Path}


@dataclass(frozen=True, kw_only=True)
class Command:
    """One command.

    Attributes:
        help: What it does.
        run: Module and function that do it, within `engine.cli`; empty where it has actions.
        arguments: What argparse adds, with `name`, `type` and `group` as the sheet says.
        trains: Whether it trains, or starts what trains.
        writer: Module and function that write what is taken along (`engine.cli.bundle`).
        actions: Commands within it, by name.
    """

    help: str
    run: str = ""
    arguments: tuple[Mapping[str, Any], ...] = ()
    trains: bool = False
    writer: str = ""
    actions: "Mapping[str, Command]" = field(default_factory=dict)


@functools.cache
def commands() -> Mapping[str, Command]:
    """The commands by name."""
    sheet = tomllib.loads(SHEET.read_text(encoding="utf-8"))
    return stored.read(dict[str, Command], _whole(sheet, sheet.pop(SHARED)))


def _whole(told: Mapping[str, Any], shared: Mapping[str, list[Any]]) -> dict[str, Any]:
    """Commands whose shared arguments stand among their own."""
    return {
        name: one | {
            "arguments": [
                argument
                for part in one.get("arguments", ())
                for argument in (shared[part] if isinstance(part, str) else [part])
            ],
            "actions": _whole(one.get("actions", {}), shared),
        }
        for name, one in told.items()
    }  # fmt: skip


def add(parsers: "argparse._SubParsersAction[Any]", known: Mapping[str, Command]) -> None:
    """Adds commands to a parser, each with the text that names its function."""
    for name, one in known.items():
        parser = parsers.add_parser(name, help=one.help)
        if one.actions:
            add(parser.add_subparsers(metavar="ACTION", required=True), one.actions)
            continue
        groups: dict[str, argparse._ActionsContainer] = {"": parser}
        for argument in one.arguments:
            options = dict(argument)
            names, group = options.pop("name"), options.pop("group", "")
            if group not in groups:
                groups[group] = parser.add_argument_group(GROUPS[group])
            if "type" in options:
                options["type"] = TYPES[options["type"]]
            groups[group].add_argument(*([names] if isinstance(names, str) else names), **options)
        parser.set_defaults(command=one)
