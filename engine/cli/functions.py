"""`audit FILE.py::FUNCTION`: attacks a training function that nobody has declared."""

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from engine.cli.shared import show_json, show_table
from engine.cli.work import progress
from engine.core.errors import RequestError

if TYPE_CHECKING:
    from engine.yours.function import Attacked

SIGN = "::"
"""Stands between a file and its function."""


def audit_function(arguments: argparse.Namespace) -> int:
    """Attacks the function that the arguments name and prints what was found.

    Raises:
        RequestError: An argument that is missing or does not fit.
    """
    place = arguments.paper
    if arguments.claim is None:
        raise RequestError(f"claim: expected --claim with {place}, got none")
    found = attacked(place, arguments.data, arguments.claim, arguments.seconds)
    if arguments.json:
        show_json({"function": place, **found.json()})
    else:
        _show(place, found)
    return 0


def attacked(place: str, data: Path | None, claim: str, seconds: str) -> "Attacked":
    """What an attack on a function shows.

    Args:
        place: The function, as FILE.py::FUNCTION.
        data: The file of its records.
        claim: What is claimed.
        seconds: Time for it, as it was typed.

    Raises:
        RequestError: An argument that is missing or does not fit.
    """
    if data is None:
        raise RequestError(f"data: expected --data with {place}, got none")
    try:
        most = float(seconds)
    except ValueError:
        raise RequestError(f"seconds: expected a number, got {seconds!r}") from None
    from engine.yours import function

    with progress(f"audit {place}") as report:
        return function.audit_function(
            place, table(data), claim, seconds=most,
            report=lambda now: report(min(round(now.seconds), round(most)), round(most)),
        )  # fmt: skip


def table(path: Path) -> Any:
    """The records of a file, as a pandas DataFrame.

    Raises:
        RequestError: It is not there, or is no table.
    """
    import pandas as pd

    try:
        return pd.read_parquet(path) if path.suffix == ".parquet" else pd.read_csv(path)
    except (OSError, ValueError, pd.errors.ParserError) as error:
        raise RequestError(f"data: expected a CSV or Parquet file, got {error}") from None


def _show(title: str, found: "Attacked") -> None:
    """Claimed and attacked, and how it was done."""
    symbol = found.claim.symbol
    rows = [
        (f"{symbol} claimed", found.claim.level),
        (f"{symbol} proved", "nothing was declared"),
        (f"{symbol} attacked, at least", found.attacked),
        ("a perfect attack could show", found.could_show),
        ("δ", found.claim.delta),
        ("confidence, at every moment", found.confidence),
        ("witness", found.witness),
        ("guessed by", found.statistics),
        ("right guesses", found.right),
        ("pairs of trainings", found.pairs),
        ("and before them, to learn from", found.learned_from),
    ]
    show_table(title, ("", ""), rows)
    print(found.sentence)
