"""The columns of a file of one's own: CSV in the forms that people have, and Parquet.

Everything is read as text by pyarrow, column by column, so that a million rows take the room of
the file and what a cell says stays as it was typed until its column is understood.
"""

import csv
import io
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import csv as arrow_csv
from pyarrow import parquet

from datasets import own_lines
from datasets.own_limits import MEGABYTES, ROWS, most
from engine.core.errors import DatasetError

MAGIC = b"PAR1"
INDEX = ("", "unnamed: 0", "index", "rownames", "row.names", "row_names")
"""Names of a column that only counts rows."""
SEPARATORS = ",;\t|"
WIDEST = 10_000
"""Columns at most."""
UTF16 = (b"\xff\xfe", b"\xfe\xff")


@dataclass(frozen=True, eq=False)
class Read:
    """The columns of a file.

    Attributes:
        columns: Each by its name in small letters, all of one length.
        lines: What stood above the table.
        mark: What separates values; empty for Parquet.
        dropped: Columns without a name of their own that only count rows.
    """

    columns: dict[str, pa.ChunkedArray]
    lines: tuple[str, ...]
    mark: str
    dropped: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(next(iter(self.columns.values())))


def read(content: bytes, name: str) -> Read:
    """The columns of a file.

    Raises:
        DatasetError: It is too large, or no table; one sentence says why.
    """
    if len(content) > most(MEGABYTES) * 1_000_000:
        raise DatasetError(
            f"{name}: expected at most {most(MEGABYTES):,} MB, got {len(content) / 1e6:,.0f} MB"
        )
    if content[:4] == MAGIC:
        return _checked(_parquet(content, name), name)
    return _checked(_text(content, name), name)


def _parquet(content: bytes, name: str) -> Read:
    try:
        file = parquet.ParquetFile(io.BytesIO(content))
        if file.metadata.num_rows > most(ROWS):
            _too_many(name, file.metadata.num_rows)
        table = file.read()
    except (pa.ArrowException, OSError, ValueError) as error:
        reason = str(error).splitlines()[0][:80]
        raise DatasetError(
            f"{name}: expected a Parquet file, got a damaged one: {reason}"
        ) from None
    columns: dict[str, pa.ChunkedArray] = {}
    for field, column in zip(table.schema, table.columns, strict=True):
        key = field.name.strip().lower()
        if key == "__index_level_0__":
            key = ""
        if key in columns:
            raise DatasetError(f"{name}: expected columns with names of their own, got {key} twice")
        columns[key] = _plain(name, key, column)
    return Read(columns, (), "")


def _plain(name: str, key: str, column: pa.ChunkedArray) -> pa.ChunkedArray:
    """A column of a Parquet file as numbers, truth values or text."""
    kind = column.type
    if pa.types.is_dictionary(kind):
        column, kind = column.cast(kind.value_type), kind.value_type
    if pa.types.is_boolean(kind) or pa.types.is_null(kind):
        return column.cast(pa.string())
    if pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind):
        return column.cast(pa.float64(), safe=False)
    if pa.types.is_string(kind) or pa.types.is_large_string(kind):
        return column.cast(pa.large_string())
    raise DatasetError(
        f"{name}: column {key!r}: expected numbers, text or true and false, got {kind}; "
        "write nested values and dates as plain columns of numbers"
    )


def _text(content: bytes, name: str) -> Read:
    text, stated = own_lines.split(_decoded(content, name))
    text = text.lstrip("\r\n")
    first, _, rest = text.partition("\n")
    mark = max(SEPARATORS, key=first.count)
    head = _cells(name, first, mark)
    if not rest.strip():
        raise DatasetError(f"{name}: expected a line of column names and a row for each record")
    second = rest.lstrip("\r\n").partition("\n")[0]
    if len(head) > 1 and len(_cells(name, second, mark)) == len(head) + 1:
        head = ["", *head]  # as R writes row names: the line of names has none for them
    _names(name, head, first)
    table = _parsed(rest.encode(), name, head, mark)
    columns = dict(zip(head, table.columns, strict=True))
    return Read(columns, tuple(stated), mark)


def _decoded(content: bytes, name: str) -> str:
    """The text of a file in UTF-8, UTF-16 with its mark, or Latin-1 as Windows writes it."""
    coding = "utf-16" if content[:2] in UTF16 else "utf-8-sig"
    try:
        text = content.decode(coding)
    except UnicodeDecodeError:
        text = content.decode("cp1252", errors="replace")
    if "\x00" in text or (coding == "utf-16" and "\ufffd" in text):
        raise DatasetError(f"{name}: expected text or a Parquet file, got something else")
    return text


def _cells(name: str, line: str, mark: str) -> list[str]:
    try:
        cells = next(csv.reader([line.rstrip("\r")], delimiter=mark), [])
    except csv.Error as error:
        raise DatasetError(f"{name}: expected a line of column names, got {error}") from None
    return [cell.strip().lower() for cell in cells]


def _names(name: str, head: list[str], first: str) -> None:
    """Checks the names of the columns; only the first may lack one, as an index does."""
    if len(set(head)) < len(head) or "" in head[1:]:
        raise DatasetError(
            f"{name}: expected columns with names of their own, got {first.strip()[:80]}"
        )
    if len(head) > WIDEST:
        raise DatasetError(f"{name}: expected at most {WIDEST:,} columns, got {len(head):,}")


def _parsed(content: bytes, name: str, head: list[str], mark: str) -> pa.Table:
    wrong: list[arrow_csv.InvalidRow] = []

    def note(row: arrow_csv.InvalidRow) -> str:
        if any(cell.strip() for cell in row.text.split(mark)):
            wrong.append(row)
        return "skip"

    places = [str(place) for place in range(len(head))]
    try:
        table = arrow_csv.read_csv(
            io.BytesIO(content),
            read_options=arrow_csv.ReadOptions(column_names=places, use_threads=False),
            parse_options=arrow_csv.ParseOptions(
                delimiter=mark, newlines_in_values=True, invalid_row_handler=note
            ),
            convert_options=arrow_csv.ConvertOptions(
                column_types=dict.fromkeys(places, pa.large_string()), strings_can_be_null=False
            ),
        )
    except pa.ArrowException as error:
        reason = str(error).splitlines()[0][:80]
        raise DatasetError(f"{name}: expected a table of values, got {reason}") from None
    if wrong:
        row = wrong[0]
        raise DatasetError(
            f"{name}: expected {row.expected_columns} values in every row, got "
            f"{row.actual_columns} in row {row.number}"
        )
    return table


def _checked(read: Read, name: str) -> Read:
    """A file whose size is right, without a column that only counts rows."""
    if not read.columns or not len(read):
        raise DatasetError(f"{name}: expected a line of column names and a row for each record")
    if len(read) > most(ROWS):
        _too_many(name, len(read))
    first = next(iter(read.columns))
    index = first if first in INDEX else ""
    dropped = (index,) if index in read.columns and len(read.columns) > 1 else ()
    kept = {key: column for key, column in read.columns.items() if key not in dropped}
    return Read(kept, read.lines, read.mark, dropped)


def _too_many(name: str, rows: int) -> None:
    raise DatasetError(f"{name}: expected at most {most(ROWS):,} rows, got {rows:,}")


def words(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """A column of text in small letters and without spaces around."""
    if pa.types.is_floating(column.type):
        column = column.cast(pa.large_string())
    return pc.utf8_lower(pc.utf8_trim_whitespace(column))
