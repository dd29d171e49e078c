"""The sheet of commands names functions that are there, and offers what they understand."""

import pkgutil
import re

import pytest

from engine.cli import audit, confirm
from engine.cli.commands import Command, commands
from engine.cli.main import _parser, main


def every(known: dict[str, Command], before: str = "") -> list[tuple[str, Command]]:
    """All commands and actions, by their whole name."""
    found = []
    for name, one in known.items():
        found += every(one.actions, f"{before}{name} ") if one.actions else [(before + name, one)]
    return found


EVERY = dict(every(commands()))


@pytest.mark.parametrize("name", EVERY)
def test_a_command_has_its_function(name):
    one = EVERY[name]
    assert callable(pkgutil.resolve_name(f"engine.cli.{one.run}"))
    assert not one.writer or callable(pkgutil.resolve_name(one.writer))


def offered(name: str, argument: str) -> tuple[str, ...]:
    return next(tuple(a["choices"]) for a in EVERY[name].arguments if a["name"] == argument)


def test_choices_are_those_that_the_functions_know():
    assert offered("confirm", "--only") == confirm.KINDS
    assert offered("audit", "--sees") == offered("audits", "--sees") == tuple(audit.SEEN)


@pytest.mark.parametrize(
    ("words", "name", "values"),
    [
        (["runs", "--limit", "7"], "limit", [7]),
        (["confirm", "--seconds", "2"], "seconds", [2.0]),
        (["run", "mean", "laplace", "--set", "a=1", "--set", "b=2"], "set", [["a=1", "b=2"]]),
        (["table", "add", "x.csv", "--bounds", "y"], "settings", ["y"]),
        (["app", "--class"], "room", [True]),
        (["stop", "a", "b"], "runs", [["a", "b"]]),
    ],
)
def test_arguments_are_read_as_the_sheet_says(words, name, values):
    value = vars(_parser("x")[0].parse_args(words))[name]
    assert [str(value)] == [str(one) for one in values]


def test_what_may_stand_several_times_begins_empty_each_time():
    first, second = (
        _parser("x")[0].parse_args(["run", "mean", "laplace", *more])
        for more in (["--set", "a=1"], [])
    )
    assert (first.set, second.set) == (["a=1"], [])


def test_an_action_that_is_not_there_is_a_sentence(capsys):
    assert main(["card", "burn"]) == 2
    assert re.search("^ACTION: expected one of make, .*, got 'burn'$", capsys.readouterr().err)
