"""The columns of a file of one's own, CSV in the forms that people have, or Parquet, in batches.

A file is judged before it is read: a Parquet file by its own description of rows, columns, types
and sizes, a text by its first lines. Then it is read twice, a few thousand rows at a time: once to
see what each column holds (`summarised`), and once to take the columns that are used
(`Source.batches`). Text of a Parquet file stays as its dictionary, so that one long word in every
row is kept once.
"""

import codecs
import csv
import io
import re
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import IO

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import csv as arrow_csv
from pyarrow import parquet

from datasets import own_lines
from datasets.own_limits import MEGABYTES, ROWS, most
from datasets.own_names import BLANKS
from engine.core.errors import DatasetError

MAGIC = b"PAR1"
INDEX = ("", "unnamed: 0", "rownames", "row.names", "row_names", "__index_level_0__")
"""Names of a column that only counts rows."""
SEPARATORS = ",;\t| "
WIDEST = 10_000
"""Columns at most."""
CELLS = 50_000_000
"""Rows times columns at most: 400 MB as numbers."""
DECODED = 800_000_000
"""Bytes that a Parquet file may say it holds when it is unpacked."""
BLOCK, HEAD = 1 << 22, 1 << 20
"""Bytes that are read at once, and in which the line of names must end."""
RESERVE = 4e8
"""Bytes of text times columns in a block: Arrow sets half as much memory aside."""
WIDE = 400
"""Columns from which on a text is read by lines: Arrow's blocks would be shorter than a row."""
LINES = 1 << 25
"""Bytes of such a text that are read at once."""
LONGEST = 10_000_000
"""Bytes of one of its lines at most."""
BATCH, CHUNK = 8_000_000, 2_000_000
"""Cells that are read at once: as numbers or by a dictionary, and as words one by one."""


@dataclass(frozen=True, eq=False)
class Source:
    """A file whose columns can be read, again and again.

    Attributes:
        names: Of its columns, in small letters.
        lines: What stands above the table.
        mark: What separates values; empty for Parquet.
        dropped: Columns without a name of their own that only count rows.
        odd: Columns that cannot be read, and what they hold.
        batches: Gives some of the columns, a few thousand rows at a time.
    """

    names: tuple[str, ...]
    lines: tuple[str, ...]
    mark: str
    dropped: tuple[str, ...]
    odd: dict[str, str]
    batches: Callable[[Sequence[str]], Iterator[dict[str, pa.Array]]]


@contextmanager
def opened(file: IO[bytes], name: str) -> Iterator[Source]:
    """A file, judged by its size and its first bytes.

    Raises:
        DatasetError: It is too large, or no table; one sentence says why.
    """
    size = file.seek(0, io.SEEK_END)
    if size > most(MEGABYTES) * 1_000_000:
        raise DatasetError(
            f"{name}: expected at most {most(MEGABYTES):,} MB, got {size / 1e6:,.0f} MB"
        )
    file.seek(0)
    if file.read(4) == MAGIC:
        yield _parquet(file, name)
        return
    text = _as_utf8(file, name)
    try:
        yield _text(text, name)
    finally:
        if text is not file:
            text.close()


def _parquet(file: IO[bytes], name: str) -> Source:
    try:
        file.seek(0)
        opened = parquet.ParquetFile(pa.PythonFile(file, mode="r"))
        about, schema = opened.metadata, opened.schema_arrow
        groups = [about.row_group(i) for i in range(about.num_row_groups)]
        decoded = sum(group.total_byte_size for group in groups)
    except (pa.ArrowException, OSError, ValueError) as error:
        raise _damaged(name, error) from None
    _judged(name, about.num_rows, about.num_columns)
    if decoded > DECODED:
        raise DatasetError(
            f"{name}: expected at most {DECODED / 1e6:,.0f} MB when it is unpacked, got "
            f"{decoded / 1e6:,.0f} MB"
        )
    if not about.num_rows:
        raise _empty(name)
    keys = [field.name.strip().lower() for field in schema]
    _names(name, keys, ", ".join(keys))
    fields = dict(zip(keys, schema, strict=True))
    odd = {key: str(one.type)[:40] for key, one in fields.items() if not _readable(one.type)}
    words = [one.name for one in schema if one.type in (pa.string(), pa.large_string())]

    def batches(wanted: Sequence[str]) -> Iterator[dict[str, pa.Array]]:
        """The wanted columns, some rows at a time."""
        try:
            file.seek(0)
            reading = parquet.ParquetFile(pa.PythonFile(file, mode="r"), read_dictionary=words)
            names = [fields[key].name for key in wanted]
            rows = max(1_000, min(65_536, BATCH // max(1, len(names))))
            for batch in reading.iter_batches(rows, columns=names, use_threads=False):
                yield {key: _plain(batch.column(fields[key].name)) for key in wanted}
        except pa.ArrowMemoryError:
            raise
        except (pa.ArrowException, OSError, ValueError) as error:
            raise _damaged(name, error) from None

    return _without_index(Source(tuple(k for k in keys if k not in odd), (), "", (), odd, batches))


def _readable(kind: pa.DataType) -> bool:
    """Whether a type is one of numbers, text, dates, or true and false."""
    if pa.types.is_dictionary(kind):
        return _readable(kind.value_type)
    tests = (
        *(pa.types.is_boolean, pa.types.is_null, pa.types.is_integer, pa.types.is_floating),
        *(pa.types.is_decimal, pa.types.is_string, pa.types.is_large_string),
        *(pa.types.is_date, pa.types.is_timestamp),
    )
    return any(test(kind) for test in tests)


def _plain(column: pa.Array) -> pa.Array:
    """A column of a Parquet file as numbers, or as words by their dictionary."""
    kind = column.type
    if pa.types.is_dictionary(kind):
        if kind.value_type in (pa.string(), pa.large_string()):
            return column
        return _plain(column.dictionary_decode())
    if pa.types.is_date(kind) or pa.types.is_timestamp(kind):
        return column.cast(pa.date32(), safe=False).cast(pa.string()).dictionary_encode()
    if pa.types.is_boolean(kind) or pa.types.is_null(kind) or pa.types.is_string(kind):
        return column.cast(pa.string()).dictionary_encode()
    if pa.types.is_integer(kind):
        return column  # ids above 2^53 stay apart
    if pa.types.is_floating(kind):
        return column  # its bits tell which ids may have merged
    return column.cast(pa.float64(), safe=False)


def _text(text: IO[bytes], name: str) -> Source:
    text.seek(0)
    head = text.read(HEAD)
    body = head.decode("utf-8", errors="ignore")
    table, stated = own_lines.split(body)
    table = table.lstrip("\ufeff\r\n")
    table = re.sub(r"\A\"?sep=.\"?\r?\n", "", table, flags=re.IGNORECASE)  # of Excel
    start = len(body[: len(body) - len(table)].encode())
    lines = re.split(r"\r\n|\r|\n", table)
    if len(head) == HEAD and len(lines) < 2:
        raise DatasetError(f"{name}: expected a line of column names, got {HEAD:,} bytes without")
    if not any(line.strip() for line in lines[1:]):
        raise _empty(name)
    names, mark = _header(name, lines)
    first = re.match(r"[^\r\n]*(\r\n|\r|\n)", table)
    start += len(first[0].encode()) if first else 0
    above = len(re.findall(r"\r\n|\r|\n", body.removesuffix(table))) + 1
    unchecked = True

    def batches(wanted: Sequence[str]) -> Iterator[dict[str, pa.Array]]:
        """The wanted columns, some rows at a time."""
        nonlocal unchecked
        text.seek(start)
        if unchecked:
            _closed(text, name, len(names), mark, above)
            unchecked = False
            text.seek(start)
        places = {key: str(place) for place, key in enumerate(names)}
        count = 0
        read = _csv if len(names) < WIDE else _by_lines
        for batch in read(text, name, len(names), [places[key] for key in wanted], mark):
            count += batch.num_rows
            _judged(name, count, len(names))
            yield {key: batch.column(places[key]) for key in wanted}
        if not count:
            raise _empty(name)

    return _without_index(Source(tuple(names), tuple(stated), mark, (), {}, batches))


def _as_utf8(file: IO[bytes], name: str) -> IO[bytes]:
    """The file itself if it is UTF-8, else a copy of it in UTF-8.

    Guarantees:
        No line decides how another one is read: only a mark at the beginning says UTF-16, and
        each line of any other file is UTF-8, or else of Windows.
    """
    file.seek(0)
    if file.read(2) in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE):
        return _copied(_decoded(file, name, "utf-16"), name)
    try:
        for _ in _decoded(file, name, "utf-8"):
            pass
    except UnicodeDecodeError:
        return _copied(_each_line(file, name), name)
    return file


def _copied(text: Iterator[str], name: str) -> IO[bytes]:
    copy = tempfile.TemporaryFile()  # noqa: SIM115
    try:
        for block in text:
            copy.write(block.encode())
    except BaseException as error:
        copy.close()
        if isinstance(error, UnicodeError):
            raise _binary(name) from None
        raise
    return copy


def _each_line(file: IO[bytes], name: str) -> Iterator[str]:
    """The text of a file, a block at a time, each of its lines decoded by itself.

    Raises:
        DatasetError: It holds a byte that no text does, or a line that is too long.
    """
    file.seek(0)
    rest = b""
    while block := file.read(BLOCK):
        if b"\0" in block:
            raise _binary(name)
        *lines, rest = (rest + block).splitlines(keepends=True)
        if len(rest) > LONGEST:
            raise DatasetError(f"{name}: expected lines of a table, got one of {len(rest):,} bytes")
        yield "".join(map(_line, lines))
    yield _line(rest)


def _line(line: bytes) -> str:
    try:
        return line.decode()
    except UnicodeDecodeError:
        return line.decode("cp1252", "replace")


def _decoded(file: IO[bytes], name: str, coding: str) -> Iterator[str]:
    """The text of a file, a block at a time.

    Raises:
        DatasetError: It holds a byte that no text does.
        UnicodeDecodeError: It is not of this coding.
    """
    file.seek(0)
    text = io.TextIOWrapper(file, coding, newline="")
    try:
        while block := text.read(BLOCK):
            if "\0" in block:
                raise _binary(name)
            yield block
    finally:
        text.detach()


def _header(name: str, lines: Sequence[str]) -> tuple[list[str], str]:
    """The names of the columns, and what separates values: what splits the first lines alike."""
    best = _alike(lines[0], lines[1:40])
    if not best[0] and (joined := _alike(lines[0], _joined(lines[1:40])))[0]:
        best = joined
    _, names, mark = best
    _names(name, names, lines[0])
    cells = [one if mark == "," else one.replace(",", ".") for one in names]
    figures = [one for one in cells if re.fullmatch(own_lines.NUMBER, one)]
    if figures and {*cells} <= {*figures, *BLANKS} and not _counted(figures):
        raise DatasetError(
            f"{name}: expected a line of column names, got numbers alone: {lines[0].strip()[:80]!r}"
        )
    return names, mark


def _counted(figures: Sequence[str]) -> bool:
    """Whether numbers are those of columns, one after the other."""
    first = float(figures[0])
    return [float(one) for one in figures] == [first + at for at in range(len(figures))]


def _alike(first: str, lines: Sequence[str]) -> tuple[bool, list[str], str]:
    """Whether a mark splits lines as it does the first, into what names, and which mark."""
    rows = [line for line in lines if line.strip()][:20]
    best = (False, 0, ",", list[str]())
    for mark in SEPARATORS:
        head = _cells(first, mark)
        widths = [len(_cells(row, mark)) for row in rows]
        if len(head) > 1 and all(width == len(head) + 1 for width in widths):
            head = ["", *head]  # as R writes row names: the line of names has none for them
        fits = all(width == len(head) for width in widths)
        best = max(best, (fits and len(head) > 1, len(head), mark, head), key=lambda one: one[:2])
    return best[0], best[3], best[2]


def _joined(lines: Sequence[str]) -> list[str]:
    """The lines, with those joined between which a cell in quotes goes on."""
    rows = [""]
    for line in lines:
        open_ = rows[-1].count('"') % 2 == 1
        rows[-1:] = [f"{rows[-1]} {line}"] if open_ else [rows[-1], line]
    return rows[1:]


def _cells(line: str, mark: str) -> list[str]:
    try:
        cells = next(csv.reader([line.rstrip("\r")], delimiter=mark), [])
    except csv.Error:
        return []
    return [cell.strip().lower() for cell in cells]


def _closed(text: IO[bytes], name: str, width: int, mark: str, above: int) -> None:
    """Refuses quotes that may take in other records.

    A cell in quotes may go on in the next line. Where one of its further lines begins a row of as
    many values by itself, somebody may have left out the second quote: then the cell takes in all
    rows up to the next one. A cell that is too long for this is too long for the table too.

    Args:
        text: Stands behind the line of names.
        name: What a sentence calls the file.
        width: Values in a row.
        mark: What separates them.
        above: How many lines have been read.

    Raises:
        DatasetError: There is such a quote.
    """
    lines, held = io.TextIOWrapper(text, "utf-8", newline=""), list[tuple[int, str]]()

    def noted() -> Iterator[str]:
        """The lines of rows that hold a quote."""
        for number, line in enumerate(iter(lambda: lines.readline(2 * BLOCK), ""), above + 1):
            if held or '"' in line:
                held.append((number, line))
                yield line

    most = csv.field_size_limit(2 * BLOCK)
    try:
        for _ in csv.reader(noted(), delimiter=mark):
            for at in range(1, len(held)):
                rest = csv.reader((held[k][1] for k in range(at, len(held))), delimiter=mark)
                if len(next(rest, [])) == width:
                    raise DatasetError(
                        f"{name}: expected a quote in line {held[0][0]:,} that is closed in its "
                        f"row, got one that takes in line {held[at][0]:,}, which begins a row by "
                        "itself: close it, or write each record in one line"
                    )
            held.clear()
    except csv.Error:
        return
    finally:
        csv.field_size_limit(most)
        lines.detach()


def _csv(
    text: IO[bytes], name: str, width: int, wanted: list[str], mark: str
) -> Iterator[pa.RecordBatch]:
    wrong: list[arrow_csv.InvalidRow] = []

    def note(row: arrow_csv.InvalidRow) -> str:
        if any(cell.strip() for cell in row.text.split(mark)):
            wrong.append(row)
        return "skip"

    places = [str(place) for place in range(width)]
    block = min(BLOCK, int(RESERVE / width))
    try:
        reader = arrow_csv.open_csv(
            pa.PythonFile(text, mode="r"),
            read_options=arrow_csv.ReadOptions(
                column_names=places, use_threads=False, block_size=block
            ),
            parse_options=arrow_csv.ParseOptions(
                delimiter=mark, newlines_in_values=True, invalid_row_handler=note
            ),
            convert_options=arrow_csv.ConvertOptions(
                column_types=dict.fromkeys(places, pa.large_string()), strings_can_be_null=False,
                include_columns=wanted,
            ),
        )  # fmt: skip
        for batch in reader:
            if not wrong:
                yield batch
    except pa.ArrowMemoryError:
        raise
    except (pa.ArrowException, OSError) as error:
        reason = str(error).splitlines()[0][:80]
        if "straddling" in reason:
            reason = f"a row of more than {BLOCK / 1e6:.0f} MB, or a quote that is never closed"
        raise DatasetError(f"{name}: expected a table of values, got {reason}") from None
    if wrong:
        row = wrong[0]
        place = f" in row {row.number}" if row.number is not None else f": {row.text[:40]!r}"
        raise _uneven(name, row.expected_columns, row.actual_columns, place)


def _by_lines(
    text: IO[bytes], name: str, width: int, wanted: list[str], mark: str
) -> Iterator[pa.RecordBatch]:
    """As `_csv`, in a hundredth of its memory where there are thousands of columns.

    Lines are split at every mark. From the first block on in which that may divide a cell in
    quotes, or a line ends in another way, rows are read one by one, which takes longer.
    """
    number, rest, more = 0, b"", True
    while more:
        block = text.read(LINES)
        whole, end, rest = (rest + block).rpartition(b"\n") if block else (rest, b"", b"")
        more = bool(block)
        if more and not end and len(rest) > LONGEST:
            raise DatasetError(f"{name}: expected lines of a table, got one of {len(rest):,} bytes")
        if more and not end:
            continue
        if not (whole or end):
            return
        cells = _split(whole, name, width, mark, number)
        if cells is None:
            text.seek(text.tell() - len(rest) - len(end) - len(whole))
            yield from _row_by_row(text, name, width, wanted, mark, number)
            return
        places = [np.arange(int(place), len(cells), width) for place in wanted]
        yield pa.record_batch([cells.take(pa.array(one)) for one in places], wanted)
        number += whole.count(b"\n") + 1


def _split(block: bytes, name: str, width: int, mark: str, before: int) -> pa.Array | None:
    """The cells of whole lines, row by row; None where lines cannot be split at marks.

    Args:
        block: The lines, without the last one's end.
        name: What a sentence calls the file.
        width: Cells in a row.
        mark: What separates them.
        before: How many lines stand above.
    """
    plain = block.removesuffix(b"\r").replace(b"\r\n", b"\n")
    if b"\r" in plain:
        return None
    body = pa.array([plain], pa.large_binary()).cast(pa.large_string())
    rows = pc.split_pattern(pc.split_pattern(body, "\n").flatten(), mark)
    if b'"' in plain:
        cells = rows.flatten()
        whole = pc.match_substring_regex(cells, '^("[^"]*"|[^"]*)$')
        if not pc.all(whole).as_py():
            return None
        cells = pc.replace_substring(cells, '"', "")
        rows = pa.ListArray.from_arrays(rows.offsets, cells)
    wrong = pc.not_equal(pc.list_value_length(rows), width)
    for at in np.flatnonzero(wrong):
        cells = rows[int(at)].as_py()
        if any(cell.strip() for cell in cells):
            raise _uneven(name, width, len(cells), f" in row {before + int(at) + 1}")
    return rows.filter(pc.invert(wrong)).flatten()


def _row_by_row(
    text: IO[bytes], name: str, width: int, wanted: list[str], mark: str, before: int
) -> Iterator[pa.RecordBatch]:
    """As `_by_lines`, for cells in quotes."""
    lines = io.TextIOWrapper(text, "utf-8", newline="")
    places, held = [int(place) for place in wanted], list[list[str]]()

    def batch() -> pa.RecordBatch:
        columns = list(zip(*held, strict=True))
        arrays = [pa.array(columns[place], pa.large_string()) for place in places]
        held.clear()
        return pa.record_batch(arrays, wanted)

    try:
        for number, row in enumerate(csv.reader(lines, delimiter=mark), start=before + 1):
            if len(row) == width:
                held.append(row)
            elif any(cell.strip() for cell in row):
                raise _uneven(name, width, len(row), f" in row {number}")
            if len(held) * width > CHUNK:
                yield batch()
        if held:
            yield batch()
    except csv.Error as error:
        raise DatasetError(f"{name}: expected a table of values, got {error}") from None
    finally:
        lines.detach()


def _uneven(name: str, expected: int, got: int, place: str) -> DatasetError:
    return DatasetError(f"{name}: expected {expected} values in every row, got {got}{place}")


def _names(name: str, head: Sequence[str], first: str) -> None:
    """Checks the names of the columns; only the first may lack one, as an index does."""
    if not head or len(set(head)) < len(head) or "" in head[1:]:
        raise DatasetError(
            f"{name}: expected columns with names of their own, got {first.strip()[:80]!r}"
        )
    if len(head) > WIDEST:
        raise DatasetError(f"{name}: expected at most {WIDEST:,} columns, got {len(head):,}")


def _judged(name: str, rows: int, columns: int) -> None:
    """Refuses a table that is too large by its rows, its columns or both."""
    if columns > WIDEST:
        raise DatasetError(f"{name}: expected at most {WIDEST:,} columns, got {columns:,}")
    if rows > most(ROWS):
        raise DatasetError(f"{name}: expected at most {most(ROWS):,} rows, got {rows:,}")
    if rows * columns > CELLS:
        raise DatasetError(
            f"{name}: expected at most {CELLS:,} cells, got {rows:,} rows of {columns:,} columns: "
            "leave out rows or columns that you do not need"
        )


def _without_index(one: Source) -> Source:
    """The columns without a first one that only counts rows."""
    index = next((key for key in one.names if key in INDEX), None)
    if index is None or len(one.names) == 1 or index not in (one.names[0], INDEX[-1]):
        return one
    names = tuple(key for key in one.names if key != index)
    return Source(names, one.lines, one.mark, (index,), one.odd, one.batches)


def _empty(name: str) -> DatasetError:
    return DatasetError(f"{name}: expected a line of column names and a row for each record")


def _binary(name: str) -> DatasetError:
    return DatasetError(f"{name}: expected text or a Parquet file, got something else")


def _damaged(name: str, error: Exception) -> DatasetError:
    reason = (str(error).splitlines() or [type(error).__name__])[0][:80]
    return DatasetError(f"{name}: expected a Parquet file, got a damaged one: {reason}")
