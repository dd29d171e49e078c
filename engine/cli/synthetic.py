"""`synthetic`: a private synthetic table beside an original, with its card."""

import argparse
import json
import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from random import SystemRandom
from tempfile import TemporaryFile
from typing import TYPE_CHECKING, Any

import tomli_w

from datasets import catalog as data_catalog
from datasets import own
from engine import __version__
from engine.cli.shared import plain, show_json, spreadsheet, words_only
from engine.core import disk, files
from engine.core.errors import RequestError, StoreError
from engine.runs import ledger
from engine.synthetic.columns import groups

if TYPE_CHECKING:
    from engine.synthetic.price import SyntheticPlan
    from engine.synthetic.release import Synthetic

KIND = "Private synthetic data"
"""What every file beside the table calls it."""
RECORD = "a synthetic record"
NOTES = (
    "All rows are drawn from noisy counts. A row that equals a record of the original does so by "
    "chance.",
    "Each column follows the original, and each pair of columns of the tree. What three columns do "
    "together is not kept.",
    "Intervals and tests that are computed from this table do not count the noise: they are too "
    "narrow.",
)
"""What a reader must know to use it."""
CELL, BESIDE = 16, 10_000
"""Bytes of a number in the table, and of a column in its card and settings, at most."""


def synthesise(arguments: argparse.Namespace) -> int:
    """Prices a synthetic table, enters it, makes it and writes it with its card."""
    from engine.synthetic.price import plan
    from engine.synthetic.release import make

    places = _places(arguments.to)
    made = plan(data_catalog.card(arguments.table), arguments.epsilon, arguments.delta)
    data = data_catalog.load(arguments.table)
    classes = own.words(arguments.table).classes
    with _room(places[0], _largest(made, classes)):
        # before a draw: a kill in between must not forget it
        ledger.enter(arguments.table, "synthetic", "table", made.guarantee)
        drawn = make(made, data, SystemRandom().getrandbits)
    body = _body(arguments.table, made, drawn, classes)
    _written(places, drawn, body, classes)
    if arguments.json:
        show_json({**body, "files": [str(place) for place in places]})
        return 0
    card = made.guarantee
    print(
        f"{KIND}: {made.card.records:,} records for ε = {card.epsilon_proved:.6g}, "
        f"δ = {card.delta:g}, for {card.unit}."
    )
    print("\n".join(map(str, places)))
    return 0


def _places(target: Path) -> tuple[Path, Path, Path]:
    """The table, its settings and its card.

    Raises:
        RequestError: One of them is there, or cannot be written.
    """
    if target.suffix.lower() != ".csv":
        raise RequestError(f"to: expected a file that ends with .csv, got {target}")
    places = target, target.with_suffix(".toml"), target.with_suffix(".card.json")
    if there := [place.name for place in places if place.exists()]:
        raise RequestError(f"to: expected new files, got {there[0]}, which is there already")
    folder = target.absolute().parent
    if not (folder.is_dir() and os.access(folder, os.W_OK)):
        raise RequestError(f"to: expected a folder that can be written, got {folder}")
    return places


def _largest(made: "SyntheticPlan", classes: Sequence[str]) -> int:
    """Bytes that the three files take at most, about: before anything is drawn."""
    words = [len(one.encode()) + CELL for one in classes]
    columns = sum(map(len, groups(made.card))) + 2
    table = made.card.records * (CELL * columns + max(words, default=0))
    return table + BESIDE * columns + 2 * sum(words)


@contextmanager
def _room(table: Path, size: int) -> Iterator[None]:
    """Holds so much room on the disk of a file that will be written; nothing of it stays.

    Raises:
        StoreError: There is none.
    """
    with ExitStack() as held:
        try:
            file = held.enter_context(TemporaryFile(buffering=0, dir=table.absolute().parent))
            left = memoryview(bytes(size))
            while left:
                left = left[file.write(left) :]
            os.fsync(file.fileno())
        except OSError as error:
            said = error.strerror or error
            needed = disk.megabytes(size)
            raise StoreError(
                f"{table}: expected {needed} of free space, got: {said}; nothing was drawn"
            ) from None
        yield


def _body(
    table: str, made: "SyntheticPlan", drawn: "Synthetic", classes: Sequence[str]
) -> dict[str, Any]:
    """The card of the table as JSON values."""
    columns = drawn.table.columns
    return {
        "kind": KIND,
        "version": __version__,
        "dataset": table,
        "records": made.card.records,
        "guarantee": made.guarantee.json(),
        "releases": [
            {"what": one.what, "sensitivity": move**0.5, "deviation": deviation}
            for one, move, deviation in zip(made.made, made.moves, made.deviations, strict=True)
        ],
        "tree": [[columns[given].title, columns[new].title] for given, new in drawn.tree],
        "columns": [{**one.json(), "shares": one.shares(drawn.values).tolist()} for one in columns],
        "classes": classes,
        "notes": NOTES,
    }


def _written(
    places: tuple[Path, Path, Path],
    drawn: "Synthetic",
    body: dict[str, Any],
    classes: Sequence[str],
) -> None:
    """Writes the card, the settings and then the table.

    Args:
        places: Of the table, its settings and its card.
        drawn: What was drawn.
        body: The card.
        classes: The words of the classes; their numbers stand for them where there are none.

    Raises:
        StoreError: They cannot be written; none of them stays, and the price stays in the ledger.
    """
    names = drawn.table.names
    rows = zip(*(_cells(drawn, name, classes) for name in names), strict=True)
    table, settings, card = places
    told = json.dumps(plain(body), indent=2, ensure_ascii=False)
    try:
        for place, text in (
            (card, f"{told}\n"),
            (settings, _settings(drawn, classes)),
            (table, spreadsheet(names, rows, "\n")),
        ):
            files.write(place, text.encode(), files.SHARED)
    except OSError as error:
        for place in places:
            with suppress(OSError):
                place.unlink()
        raise StoreError(
            f"{table}: expected files that can be written, got: {error.strerror or error}; "
            "the synthetic table is lost and its price stays in the ledger"
        ) from None


def _cells(drawn: "Synthetic", name: str, classes: Sequence[str]) -> Iterable[str | float]:
    """The cells of a column: numbers, or the words of the classes."""
    values = drawn.values[name].tolist()
    if classes and name == drawn.table.names[0]:
        return (classes[int(one)] for one in values)
    return map(_figure, values)


def _figure(value: float) -> float | int:
    """A number to seven digits; a whole one without a point."""
    short = float(f"{value:.7g}")
    return int(short) if short.is_integer() else short


def _settings(drawn: "Synthetic", classes: Sequence[str]) -> str:
    """What `table add FILE --settings` reads: the roles and the public bounds."""
    heads = drawn.table.columns[0].heads
    roles = ("time", "event") if len(heads) == 2 else ("label",)
    columns: dict[str, dict[str, Any]] = {
        name: {"role": "number", "low": low, "high": high}
        for name, (low, high) in zip(drawn.table.names, drawn.table.ends, strict=True)
    }
    columns |= {name: {"role": role} for name, role in zip(heads, roles, strict=True)}
    if len(heads) == 2:
        columns[heads[0]]["high"] = drawn.table.ends[0][1]
    else:  # the classes of a synthetic table are as public as the table
        there = sorted({int(one) for one in drawn.values[heads[0]]})
        # as the table spells them
        words = [str(words_only(classes[k])) if classes else str(k) for k in there]
        columns[heads[0]]["categories"] = words
    kind = "survival" if len(heads) == 2 else "classes"
    body = {"kind": kind, "record": RECORD, "columns": columns}
    return f"# {KIND}: table add FILE.csv --settings FILE.toml\n{tomli_w.dumps(body)}"
