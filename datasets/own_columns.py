"""What columns of a file of one's own hold: numbers, true and false, dates, words, nothing."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from datasets.base import Booleans, Floats
from datasets.own_names import BLANKS
from datasets.own_reader import Source
from engine.core.errors import DatasetError

Kind = Literal["number", "truth", "date", "words", "blank"]
TRUTHS = {"true": 1.0, "false": 0.0, "yes": 1.0, "no": 0.0}
NUMERIC = r"^[-+]?(\d+\.?\d*|\.\d+)(e[-+]?\d+)?$"
COMMA = r"^([-+]?\d+),(\d+(?:e[-+]?\d+)?)$"
THOUSANDS = r"^[-+]?\d{1,3}(,\d{3})+(\.\d+)?$"
GROUPS = r"^[-+]?\d{1,3}(,\d{3}){2,}$|^[-+]?\d{1,3}(,\d{3})+\.\d+$"
"""Numbers in which a comma can only group thousands."""
DATES = ("%Y-%m-%d", "%d.%m.%Y", "%m/%d/%Y", "%d/%m/%Y", "%Y/%m/%d")
CLOCK = r"^(\d{4}-\d\d-\d\d)[ t]\d\d:\d\d(:\d\d)?(\.\d+)?z?$"
WHOLE = {16: 2.0**11, 32: 2.0**24, 64: 2.0**53}
"""By the bits of a float: from here on it does not tell all whole numbers apart."""
MOST_LEVELS = 200
"""So many different values are remembered; a column with more has no list of them."""
MOST_WORDED = 1_000
"""Columns that hold words, at most."""
Codes = NDArray[np.int64]
T = TypeVar("T")


@dataclass(eq=False)
class Column:
    """One column as it has been seen so far.

    Attributes:
        name: In small letters.
        comma: What a comma in a number is: "," for decimals, "." where it groups thousands; empty
            while there was none.
        guessed: Whether the cells have decided that together. In a file whose values are not
            separated by commas, a comma in a number is for decimals.
        rows: How many have been seen, and `blanks`: how many of them are blank.
        low: The smallest number, `high`: the largest, and `total`: the sum.
        words: The different values in small letters; None where there are too many.
        figures: The different numbers; None where there are too many.
        examples: What the first cells say.
        odd: The first row, from 1, that holds no number, and the word.
        infinite: The first row, from 1, that holds an infinite number.
        merged: The first row, from 1, whose number the file may have rounded to another one's: a
            whole number that it keeps as a float and that is too large to be told from the next.
        first_blank: The first row, from 1, without a value.
        truth: Whether all values so far say true or false, and `dates`: the forms in which all are
            dates.
        bits: Of the floats that the file keeps.
    """

    name: str
    comma: str = ""
    guessed: bool = False
    rows: int = 0
    blanks: int = 0
    low: float = np.inf
    high: float = -np.inf
    total: float = 0.0
    words: set[str] | None = field(default_factory=set)
    figures: set[float] | None = field(default_factory=set)
    examples: tuple[str, ...] = ()
    odd: tuple[int, str] | None = None
    infinite: int = 0
    merged: int = 0
    first_blank: int = 0
    truth: bool = True
    dates: tuple[str, ...] = DATES
    bits: int = 64

    @property
    def kind(self) -> Kind:
        """What it holds."""
        if self.blanks == self.rows:
            return "blank"
        if self.truth:
            return "truth"
        if self.odd is None:
            return "number"
        return "date" if self.dates else "words"

    @property
    def mean(self) -> float:
        """Of the numbers that are there."""
        return self.total / max(1, self.rows - self.blanks)

    @property
    def levels(self) -> tuple[str, ...] | None:
        """The different values: numbers by size, words by the alphabet; None if too many."""
        if self.kind == "number":
            figures = self.figures
            if figures is None:
                return None
            return tuple(figure(one, self.bits) for one in sorted(figures))
        return None if self.words is None else tuple(sorted(self.words))

    def see(self, cells: pa.Array, mark: str) -> None:
        """Takes further cells into account.

        Args:
            cells: Numbers, or text as it is typed or by its dictionary.
            mark: What separates values in the file.
        """
        if len(self.examples) < 3:
            more = ("" if one is None else str(one) for one in cells[:3].to_pylist())
            self.examples = (*self.examples, *more)[:3]
        values = _quick(cells)
        if values is None:
            self._see_words(cells, mark)
        else:
            self.truth, self.dates = False, ()
            if self.words is not None and pa.types.is_large_string(cells.type):
                seen = pc.unique(pc.utf8_lower(cells)).to_pylist()
                self.words = _more(self.words, [one for one in seen if one not in BLANKS])
            if pa.types.is_floating(cells.type):
                self.bits = cells.type.bit_width
                self.merged = self.merged or self._first(
                    np.abs(values) >= WHOLE[cells.type.bit_width]
                )
            self._see_numbers(values, np.isnan(values))
        self.rows += len(cells)

    def _see_words(self, cells: pa.Array, mark: str) -> None:
        texts, codes = _coded(cells)
        blank = _blank(texts)
        present = pc.if_else(pa.array(blank), None, texts)
        commas = pc.match_substring_regex(present, COMMA)
        if not self.comma and pc.any(commas).as_py():
            grouped = pc.all(pc.match_substring_regex(pc.filter(present, commas), THOUSANDS))
            self.comma = "." if mark == "," and grouped.as_py() else ","
            self.guessed = mark == ","
        if not self.comma and pc.any(pc.match_substring_regex(present, GROUPS)).as_py():
            self.comma, self.guessed = ".", True
        values = _parsed(present, self.comma)
        wrong = np.isnan(values) & ~blank
        seen = [one for one in pc.unique(present).to_pylist() if one is not None]
        self.truth = self.truth and all(one in TRUTHS for one in seen)
        if seen and not seen[0][:1].isdigit():
            self.dates = ()
        self.dates = tuple(form for form in self.dates if _dated(present, form) is not None)
        self.words = _more(self.words, seen)
        if self.odd is None and (row := self._first(wrong[codes])):
            self.odd = (row, str(texts[int(codes[row - self.rows - 1])].as_py()))
        self._see_numbers(values[codes], blank[codes])

    def _first(self, where: Booleans) -> int:
        """The first row, from 1, of these; 0 for none."""
        return self.rows + int(where.argmax()) + 1 if where.any() else 0

    def _see_numbers(self, values: Floats, blank: Booleans) -> None:
        self.first_blank = self.first_blank or self._first(blank)
        self.blanks += int(blank.sum())
        self.infinite = self.infinite or self._first(np.isinf(values))
        held = values[np.isfinite(values)]
        if len(held):
            self.low = min(self.low, float(held.min()))
            self.high = max(self.high, float(held.max()))
            with np.errstate(over="ignore", invalid="ignore"):  # then there is no mean
                self.total += float(held.sum())
            if self.figures is not None:
                self.figures = _more(self.figures, np.unique(held).tolist())


def figure(value: float, bits: int = 64) -> str:
    """A number as a text that is read as that number, however many digits it takes.

    Arrow writes floats of 32 bits in as few digits as tell them apart, and those of 16 in full.

    >>> figure(2.0), figure(0.1), figure(1 / 3), figure(float(np.float32(0.2)), 32)
    ('2', '0.1', '0.3333333333333333', '0.2')
    """
    if bits == 32:
        return np.format_float_positional(np.float32(value), trim="-")
    short = f"{value:.15g}"
    return short if float(short) == value else repr(float(value))


def _more(known: set[T] | None, seen: Sequence[T]) -> set[T] | None:
    """Further values of a set, and None once there are too many."""
    if known is None or len(seen) > MOST_LEVELS:
        return None
    known = known | set(seen)
    return known if len(known) <= MOST_LEVELS else None


def summarised(source: Source, comma: str = "", name: str = "file") -> dict[str, Column]:
    """What every column of a file holds.

    Args:
        source: The file.
        comma: What a comma in a number is, where somebody has said so: as `Column.comma`.
        name: What a sentence calls the file.

    Raises:
        DatasetError: Too many columns hold words.
    """
    columns, worded = {key: Column(key, comma) for key in source.names}, set[str]()
    for batch in source.batches(source.names):
        for key, cells in batch.items():
            columns[key].see(cells, source.mark)
            worded |= {key} if columns[key].odd else set()
            if len(worded) > MOST_WORDED:
                raise DatasetError(
                    f"{name}: expected at most {MOST_WORDED:,} columns of words, got more of the "
                    f"{len(columns):,}: leave them out, or write them as numbers"
                )
    return columns


def numbers(cells: pa.Array, column: Column) -> Floats:
    """Cells as numbers, NaN where blank or no number; dates are days since 1970."""
    values = _quick(cells)
    if values is not None:
        return values
    texts, codes = _coded(cells)
    present = pc.if_else(pa.array(_blank(texts)), None, texts)
    if column.kind == "date":
        known = _dated(present, column.dates[0])
        return np.full(len(codes), np.nan) if known is None else known[codes]
    if column.kind == "truth":
        return np.array([TRUTHS.get(one, np.nan) for one in present.to_pylist()], float)[codes]
    return _parsed(present, column.comma)[codes]


def places(cells: pa.Array, column: Column, levels: Sequence[str]) -> Codes:
    """Which level each cell is, -1 for none of them, shape (n,).

    A cell is the level that it spells, or else the first one that is the same number; what other
    cells hold does not matter.
    """
    texts, codes = _coded(cells)
    held = pa.array([one.strip().lower() for one in levels], texts.type)
    spelled = np.asarray(pc.fill_null(pc.index_in(texts, held), -1), np.int64)
    values, known = _parsed(texts, column.comma), _parsed(held, "")
    known = np.where(np.isnan(known), np.inf, known)  # what is no number is none that occurs
    order = np.argsort(known, kind="stable")
    at = np.clip(np.searchsorted(known[order], values), 0, len(levels) - 1)
    same = np.where(np.isfinite(values) & (known[order][at] == values), order[at], -1)
    return np.where(spelled >= 0, spelled, same)[codes].astype(np.int64)


def words(cells: pa.Array) -> list[str | None]:
    """Cells as they are told apart, None where blank: ids may differ in capitals alone."""
    texts, codes = _coded(cells, lower=False)
    present = pc.if_else(pa.array(_blank(pc.utf8_lower(texts))), None, texts).to_pylist()
    return [present[code] for code in codes]


def _quick(cells: pa.Array) -> Floats | None:
    """Cells as numbers where all are plain numbers; None elsewhere."""
    if pa.types.is_dictionary(cells.type):
        return None
    try:
        return np.asarray(pc.cast(cells, pa.float64()).to_numpy(zero_copy_only=False), float)
    except pa.ArrowInvalid:
        return None


def _coded(cells: pa.Array, lower: bool = True) -> tuple[pa.Array, Codes]:
    """The different texts that cells use, blanks as "", and which one each cell is."""
    held = cells if pa.types.is_dictionary(cells.type) else cells.dictionary_encode()
    texts = pc.utf8_trim_whitespace(held.dictionary.cast(pa.large_string()))
    texts = pc.utf8_lower(texts) if lower else texts
    texts = pa.concat_arrays([pc.fill_null(texts, ""), pa.array([""], pa.large_string())])
    codes = np.asarray(pc.fill_null(held.indices.cast(pa.int64()), len(texts) - 1), np.int64)
    used = np.bincount(codes, minlength=len(texts)) > 0  # a dictionary may hold further texts
    return texts.filter(pa.array(used)), (np.cumsum(used) - 1)[codes]


def _blank(texts: pa.Array) -> Booleans:
    return np.asarray(pc.is_in(texts, pa.array(BLANKS, pa.large_string())), bool)


def _parsed(texts: pa.Array, comma: str) -> Floats:
    """Texts as numbers, NaN where they are none."""
    if comma == ",":
        texts = pc.replace_substring_regex(texts, COMMA, r"\1.\2")
    elif comma == ".":
        grouped = pc.fill_null(pc.match_substring_regex(texts, THOUSANDS), False)
        texts = pc.if_else(grouped, pc.replace_substring(texts, ",", ""), texts)
    fits = pc.fill_null(pc.match_substring_regex(texts, NUMERIC), False)
    plain = pc.replace_substring_regex(pc.if_else(fits, texts, None), r"^\+", "")
    return np.asarray(pc.cast(plain, pa.float64()).to_numpy(zero_copy_only=False), float)


def _dated(texts: pa.Array, form: str) -> Floats | None:
    """Texts as days since 1970 if all that are there are dates of one form."""
    days = pc.replace_substring_regex(texts, CLOCK, r"\1")
    try:
        known = pc.strptime(days.cast(pa.string()), format=form, unit="s", error_is_null=True)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        return None
    if known.null_count > texts.null_count:
        return None
    seconds = pc.cast(known, pa.int64()).to_numpy(zero_copy_only=False)
    return np.asarray(seconds, float) / 86_400


def taken(
    source: Source, columns: Mapping[str, Column], wanted: Sequence[str]
) -> Iterator[tuple[slice, dict[str, pa.Array]]]:
    """The rows of some columns in batches, with their places in the table.

    Raises:
        DatasetError: The file has changed since it was judged.
    """
    at, rows = 0, max((column.rows for column in columns.values()), default=0)
    for batch in source.batches(wanted):
        size = len(next(iter(batch.values())))
        if at + size > rows:
            raise DatasetError("file: expected the file that was looked at, got a longer one")
        yield slice(at, at + size), batch
        at += size
