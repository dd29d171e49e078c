"""Reads the two plain formats that several publishers share: tables of text, and IDX."""

import io

import numpy as np
from numpy.typing import NDArray

from datasets.base import Floats
from engine.core.errors import DatasetError


def numbers(content: bytes, name: str, header: tuple[str, ...] = ()) -> Floats:
    """Returns the numbers of a whitespace-separated table, shape (rows, columns).

    Args:
        content: The file, with its header line where `header` names the columns.
        name: What an error calls the file.
        header: Column names that the first line must hold, in this order; empty for no header.

    Raises:
        DatasetError: Another header, a field that is no number, or rows of unequal length.
    """
    lines = content.decode("ascii", errors="replace").splitlines()
    if header and (not lines or tuple(lines[0].split()) != header):
        got = lines[0][:80] if lines else "an empty file"
        raise DatasetError(f"{name}: expected the columns {' '.join(header)}, got {got!r}")
    rows = lines[1:] if header else lines
    if not any(row.strip() for row in rows):
        raise DatasetError(f"{name}: expected rows of numbers, got none")
    try:
        table: Floats = np.loadtxt(rows, dtype=np.float64, ndmin=2, comments=None)
    except ValueError as error:
        reason = str(error).split(";")[0].rstrip(".")
        raise DatasetError(f"{name}: expected a table of numbers, got {reason}") from error
    if header and table.shape[1] != len(header):
        raise DatasetError(f"{name}: expected {len(header)} numbers in a row, got {table.shape[1]}")
    return table


def words(content: bytes, name: str, columns: int) -> NDArray[np.str_]:
    """Returns the fields of a comma-separated table, shape (rows, columns).

    Lines with another number of fields (comments, blank lines) are left out; the number of
    records on the card tells whether that was right.

    Raises:
        DatasetError: No line has `columns` fields.
    """
    split = (line.strip().split(",") for line in io.StringIO(content.decode("ascii", "replace")))
    rows = [fields for fields in split if len(fields) == columns]
    if not rows:
        raise DatasetError(f"{name}: expected rows of {columns} fields, got none")
    return np.array(rows)


def idx(content: bytes, name: str) -> NDArray[np.uint8]:
    """Returns the array of an IDX file of unsigned bytes (LeCun, Cortes and Burges).

    The file is two zero bytes, the type 8, the number of dimensions, each dimension as a
    big-endian 32-bit integer, then the values.

    Raises:
        DatasetError: Another first word, or not as many values as the dimensions say.
    """
    if len(content) < 4 or content[:3] != b"\x00\x00\x08":
        raise DatasetError(f"{name}: expected an IDX file of bytes, got {content[:4].hex()!r}")
    start = 4 + 4 * content[3]
    shape = tuple(int(size) for size in np.frombuffer(content[4:start].ljust(start - 4), ">u4"))
    expected = int(np.prod(shape, dtype=np.int64))
    if len(content) - start != expected:
        raise DatasetError(f"{name}: expected {expected} values, got {len(content) - start}")
    return np.frombuffer(content, np.uint8, offset=start).reshape(shape).copy()
