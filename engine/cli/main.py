"""Arguments to commands, and errors to one sentence and an exit code.

0: done. 1: it could not be done. 2: the request was wrong. 130: stopped.
"""

import argparse
import os
import pkgutil
import re
import shlex
import sys
from collections.abc import Callable, Sequence
from contextlib import redirect_stdout
from contextvars import ContextVar
from io import TextIOWrapper
from typing import NoReturn, TextIO

from engine import __version__
from engine.cli.commands import add, commands
from engine.core import disk, room
from engine.core.errors import BudgetError, ExplorerError, RequestError, SpecError

WRONG, FAILED, STOPPED = 2, 1, 130
ANSWERS: ContextVar[TextIO | None] = ContextVar("answers", default=None)
"""Where JSON goes that was asked for; what methods print goes to the errors meanwhile."""

OURS = {
    r"unrecognized arguments: (.*)": r"expected the arguments that --help lists, got \1",
    r"the following arguments are required: (.*)": r"\1: expected a value, got none",
    r"argument (.*): expected (?:one|at least one) argument": r"\1: expected a value, got none",
    r"argument (.*): ignored explicit argument (.*)": r"\1: expected no value, got \2",
    r"argument (.*): not allowed with argument (.*)": r"\1: expected it without \2, got both",
    r"argument (.*): invalid choice: (.*) \(choose from (.*)\)": r"\1: expected one of \3, got \2",
    r"ambiguous option: (.*) could match (.*)": r"\1: expected one of \2, got \1",
    r"argument (.*): invalid int value: (.*)": r"\1: expected a whole number, got \2",
    r"argument (.*): invalid float value: (.*)": r"\1: expected a number, got \2",
    r"argument (.*)": r"\1",
}
"""What argparse says of a wrong argument, and what is said instead: field, expected, got."""


class Parser(argparse.ArgumentParser):
    """A parser whose errors are ours: one sentence, no usage."""

    def error(self, message: str) -> NoReturn:
        """Raises `RequestError` instead of printing and leaving."""
        message = re.sub(r"\(choose from .*\)", lambda found: found[0].replace("'", ""), message)
        found = ((re.fullmatch(theirs, message), ours) for theirs, ours in OURS.items())
        raise RequestError(next((known.expand(ours) for known, ours in found if known), message))


def main(arguments: Sequence[str] | None = None, program: str = "python -m engine") -> int:
    """Runs the command line and returns its exit code.

    Args:
        arguments: Those of the command line if None.
        program: The name to show in help texts.
    """
    try:
        if isinstance(sys.stdout, TextIOWrapper):
            sys.stdout.reconfigure(errors="replace")  # a table is worth a sign that is not there
        code = _command(sys.argv[1:] if arguments is None else arguments, program)
        if sys.stdout is not None:  # nobody reads where it was closed
            sys.stdout.flush()
        return code
    except (BudgetError, RequestError, SpecError) as error:
        return _say(error, WRONG)
    except ExplorerError as error:
        return _say(error, FAILED)
    except KeyboardInterrupt:
        return _say("stopped", STOPPED)
    except BrokenPipeError:
        _drop()
        return FAILED
    except OSError as error:
        if error.filename is not None or not disk.full(error):
            raise
        _drop()
        return _say(f"output: expected room for the answer, got: {error.strerror}", FAILED)


def _drop() -> None:
    """Leaves out what is still in the buffer: it must not fail at the exit again."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _say(what: object, code: int) -> int:
    print(what, file=sys.stderr)
    return code


def _command(arguments: Sequence[str], program: str) -> int:
    for word in arguments:
        try:
            word.encode()
        except UnicodeEncodeError:
            raise RequestError(f"arguments: expected text in UTF-8, got {word!r}") from None
    parser, known = _parser(program)
    named = next((word for word in arguments if not word.startswith("-")), None)
    if named is not None and named not in known:
        raise RequestError(f"command: expected one of {', '.join(known)}, got {named!r}")
    if not arguments:
        parser.print_help()
        return WRONG
    chosen = parser.parse_args(arguments)
    chosen.line = shlex.join(["python", "-m", "engine", *arguments])
    room.check(room.NEEDED if chosen.command.trains else room.READS)
    function: Callable[[argparse.Namespace], int] = pkgutil.resolve_name(
        f"engine.cli.{chosen.command.run}"
    )
    if not vars(chosen).get("json"):
        return function(chosen)
    kept = ANSWERS.set(sys.stdout)
    try:
        with redirect_stdout(sys.stderr):
            return function(chosen)
    finally:
        ANSWERS.reset(kept)


def _parser(program: str) -> tuple[Parser, tuple[str, ...]]:
    """The parser, and the names of its commands."""
    parser = Parser(prog=program, description="See what differential privacy costs.")
    parser.add_argument("--version", action="version", version=f"epsilon-explorer {__version__}")
    known = commands()
    add(parser.add_subparsers(metavar="COMMAND", required=True), known)
    return parser, tuple(known)
