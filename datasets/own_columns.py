"""One column of a file of one's own as numbers: blanks, true and false, categories, commas."""

from dataclasses import dataclass
from typing import Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from datasets.base import Booleans, Floats
from datasets.own_reader import words
from engine.core.errors import DatasetError

Kind = Literal["number", "truth", "words", "blank"]
BLANKS = ("", "na", "n/a", "nan", "null", "none", ".", "?", "-", "#n/a")
"""What stands for a value that is missing, in small letters."""
TRUTHS = {"true": 1.0, "false": 0.0, "yes": 1.0, "no": 0.0}
COMMA = r"^([-+]?\d+),(\d+(?:[eE][-+]?\d+)?)$"
NUMERIC = r"^[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?$"


@dataclass(frozen=True, eq=False)
class Column:
    """A column that has been understood.

    Attributes:
        name: In small letters.
        kind: What it holds: numbers, true and false, words, or nothing at all.
        values: Numbers, shape (n,), NaN where blank; None for words.
        blank: Where there is nothing, shape (n,).
        text: What the cells say, in small letters.
        odd: The first row, from 1, that holds a word, and the word; None where none does.
    """

    name: str
    kind: Kind
    values: Floats | None
    blank: Booleans
    text: pa.ChunkedArray
    odd: tuple[int, str] | None = None


def understood(name: str, column: pa.ChunkedArray, comma: bool) -> Column:
    """What a column holds.

    Args:
        name: Its name.
        column: Text, or numbers.
        comma: Whether numbers have a decimal comma.
    """
    if pa.types.is_floating(column.type):
        values = column.to_numpy().astype(np.float64)
        return Column(name, "number", values, np.isnan(values), column)
    text = words(column)
    missing = pc.or_kleene(pc.is_null(text), pc.is_in(text, pa.array(BLANKS, pa.large_string())))
    blank = np.asarray(pc.fill_null(missing, True))
    if blank.all():
        return Column(name, "blank", np.full(len(blank), np.nan), blank, text)
    present = pc.if_else(pa.chunked_array([pa.array(blank)]), None, text)
    if bool(pc.all(pc.is_in(pc.drop_null(present), pa.array(TRUTHS, pa.large_string()))).as_py()):
        true = pc.is_in(present, pa.array([k for k, v in TRUTHS.items() if v], pa.large_string()))
        values = np.where(blank, np.nan, np.asarray(true, np.float64))
        return Column(name, "truth", values, blank, text)
    plain = pc.replace_substring_regex(present, COMMA, r"\1.\2") if comma else present
    fits = np.asarray(pc.fill_null(pc.match_substring_regex(plain, NUMERIC), True))
    if not fits.all():
        row = int(np.flatnonzero(~fits)[0])
        return Column(name, "words", None, blank, text, (row + 1, column[row].as_py().strip()))
    unsigned = pc.replace_substring_regex(plain, r"^\+", "")
    values = pc.cast(unsigned, pa.float64()).to_numpy().astype(np.float64)
    return Column(name, "number", values, blank, text)


def numbers(file: str, column: Column, fill: float | None = None) -> Floats:
    """The column's numbers, shape (n,), blanks filled by a public value.

    Args:
        file: What a sentence calls the file.
        column: What to take.
        fill: What stands for a blank; None if none may be.

    Raises:
        DatasetError: It holds words, or a blank or an infinite value.
    """
    if column.values is None:
        row, word = column.odd or (1, "")
        raise DatasetError(
            f"{file}: column {column.name!r}, row {row}: expected a number, got {word[:40]!r}; "
            f'write a line such as "{column.name}: categories ...", or leave the column out'
        )
    values = column.values
    if column.blank.any():
        if fill is None:
            row = int(np.flatnonzero(column.blank)[0]) + 1
            raise DatasetError(
                f"{file}: expected a number in every row of {column.name!r}, got none in row "
                f'{row}; write "{column.name}: 0 to 1, blanks 0" with its own numbers to fill it'
            )
        values = np.where(column.blank, fill, values)
    wrong = np.flatnonzero(~np.isfinite(values))
    if len(wrong):
        raise DatasetError(
            f"{file}: expected a number in every row of {column.name!r}, got "
            f"{values[wrong[0]]} in row {wrong[0] + 1}"
        )
    return values


def indicators(
    file: str, column: Column, levels: tuple[str, ...], first: bool
) -> tuple[tuple[str, ...], list[Floats]]:
    """A column of 0 and 1 for each category, and their names.

    A cell that is blank or none of the categories is 0 in all of them.

    Args:
        file: What a sentence calls the file.
        column: What to take.
        levels: The categories, in small letters.
        first: Whether the first category has a column; where it has none, it is the baseline.

    Raises:
        DatasetError: No row holds any of them.
    """
    text = column.text if pa.types.is_large_string(column.text.type) else words(column.text)
    parts = [np.asarray(pc.fill_null(pc.equal(text, level), False), np.float64) for level in levels]
    if not any(part.any() for part in parts):
        raise DatasetError(
            f"{file}: expected {', '.join(levels)[:60]} in column {column.name!r}, got none of them"
        )
    kept = slice(0 if first else 1, None)
    return tuple(f"{column.name} {level}" for level in levels[kept]), parts[kept]


def levels(column: Column) -> tuple[str, ...]:
    """The values that occur, in small letters: numbers by size, words by the alphabet."""
    if column.values is not None:
        seen = np.unique(column.values[~column.blank])
        return tuple(f"{value:.15g}" for value in seen)
    text = pc.unique(column.text).to_pylist()
    return tuple(sorted(word for word in text if word is not None and word not in BLANKS))
