"""One SQLite file that many processes share: opening it, and saying in a sentence why not.

Connections are kept and handed out one at a time, so any thread may use a database. A
file that was replaced under an open connection is noticed and opened again. Nothing is
ever deleted: a damaged file, or one of an older version, is set aside under another name.
"""

import os
import sqlite3
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from engine.core import disk
from engine.core.errors import FullError, RequestError, StoreError
from engine.core.home import private_folder, private_opener
from engine.service import spare
from engine.service.layout import LAYOUT, LOOSE, SCHEMA, version, widen

_DAMAGED = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)
_LOCKED = (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)
_IDLE = 8
_UNKNOWN = -1
"""No file's number: a connection that believes its file to be fixed is not used twice."""


class Database:
    """The store's file; cheap to make, opened at the first use.

    Args:
        path: The file; its folder is made if it is not there.
        patience: Seconds to wait for another process's lock.

    Attributes:
        again: Whether a file that was removed is made again. A process that serves a store has no
            reason to: it leaves.
    """

    def __init__(self, path: Path, patience: float = 5.0) -> None:
        self.path = path
        self.patience = patience
        self.again = True
        self._idle: list[tuple[int, sqlite3.Connection]] = []

    @property
    def writable(self) -> bool:
        """Whether the file, or the folder that it would be made in, can be written."""
        folder = self.path.parent
        while not disk.there(folder) and folder != folder.parent:
            folder = folder.parent
        return os.access(folder, os.W_OK) and (
            not disk.there(self.path) or os.access(self.path, os.W_OK)
        )

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """A connection; each statement sees the last commit.

        Raises:
            StoreError: The file cannot be opened or read.
        """
        with self._translated(), self._connection() as connection:
            yield connection

    def rows(self, statement: str, values: Any = ()) -> list[sqlite3.Row]:
        """What one statement reads, with the values for its marks.

        Raises:
            StoreError: The file cannot be opened or read.
        """
        with self.reading() as connection:
            return connection.execute(statement, values).fetchall()

    def row(self, statement: str, values: Any = ()) -> sqlite3.Row | None:
        """The first row that one statement reads, as `rows`; None if there is none."""
        return next(iter(self.rows(statement, values)), None)

    @contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """A connection inside a transaction: all of it is kept, or none.

        Raises:
            StoreError: The file cannot be opened or written.
        """
        with self._translated(), self._connection() as connection:
            connection.execute("BEGIN IMMEDIATE")
            yield connection
            connection.execute("COMMIT")

    def close(self) -> None:
        """Closes the connections that nobody is using."""
        while self._idle:
            self._idle.pop()[1].close()

    @contextmanager
    def _connection(self) -> Iterator[sqlite3.Connection]:
        """Lends a connection to the file that is there now."""
        file, connection = self._take()
        try:
            yield connection
        finally:
            if connection.in_transaction:
                with suppress(sqlite3.Error):
                    connection.execute("ROLLBACK")
            if len(self._idle) < _IDLE:
                self._idle.append((file, connection))
            else:
                connection.close()

    def _take(self) -> tuple[int, sqlite3.Connection]:
        with suppress(OSError, IndexError):  # no file, or no connection that is idle
            now = self.path.stat().st_ino
            while True:
                file, connection = self._idle.pop()
                if file == now:
                    return file, connection
                connection.close()  # the file was replaced
        if not self.writable:
            return _UNKNOWN, self._open_for_reading()
        try:
            connection = self._open()
        except sqlite3.Error as error:
            if not self._full(error):
                raise
            with suppress(StoreError, sqlite3.Error):
                return _UNKNOWN, self._open_for_reading()
            if not spare.give(self.path.parent):  # a log that a killed process left is in the way
                raise
            connection = self._open()
        spare.keep(self.path.parent)
        return self.path.stat().st_ino, connection

    def _open(self) -> sqlite3.Connection:
        """A new connection to a file of this version."""
        if not self.again and not disk.there(self.path):
            raise StoreError(f"{self.path.parent}: expected a store, it was removed")
        try:
            private_folder(self.path.parent)
            # One that is there stays shut: to close it would drop this process's locks on it.
            with suppress(FileExistsError):
                os.close(private_opener(str(self.path), os.O_RDWR | os.O_CREAT | os.O_EXCL))
        except OSError as error:
            raise StoreError(
                f"{self.path.parent}: expected a folder for the store, got {error.strerror}"
            ) from None
        connection = self._connect(str(self.path))
        try:
            self._prepare(connection)
        except BaseException:
            connection.close()
            raise
        return connection

    def _connect(self, name: str) -> sqlite3.Connection:
        # Each connection is lent to one thread at a time, so the module's own check is off.
        connection = sqlite3.connect(
            name,
            timeout=self.patience,
            isolation_level=None,
            check_same_thread=False,
            uri=name.startswith("file:"),
        )
        connection.row_factory = sqlite3.Row
        return connection

    def _open_for_reading(self) -> sqlite3.Connection:
        """A connection to a file that cannot be written, if it is there.

        A file without a log beside it, or with an empty one, cannot change: SQLite must be told
        so, since it may not make the log's files.
        """
        if not disk.there(self.path):
            raise StoreError(f"{self.path.parent}: expected a folder that can be written")
        log = self.path.with_name(f"{self.path.name}-wal")
        fixed = "" if disk.there(log) and log.stat().st_size else "&immutable=1"
        connection = self._connect(f"{self.path.absolute().as_uri()}?mode=ro{fixed}")
        if version(connection) != SCHEMA:
            raise StoreError(f"{self.path}: expected a store of version {SCHEMA}, got another")
        return connection

    def _prepare(self, connection: sqlite3.Connection) -> None:
        """Sets a connection up, and the layout if the file is new."""
        self._journal(connection)
        connection.execute("PRAGMA synchronous = NORMAL")
        connection.execute("PRAGMA foreign_keys = ON")
        if version(connection) is None:
            connection.execute("BEGIN IMMEDIATE")
            if version(connection) is None:  # nobody else was quicker
                for statement in LAYOUT:
                    connection.execute(statement)
            connection.execute("COMMIT")
        stored = version(connection)
        if stored is not None and stored > SCHEMA:
            raise StoreError(
                f"{self.path}: expected a store of version {SCHEMA}, got version {stored}, which "
                "a newer Epsilon Explorer has written: use that one, or another EXPLORER_HOME"
            )
        if stored != SCHEMA:
            connection.close()
            raise self.set_aside(f"version-{stored}", f"is of the older version {stored}")
        widen(connection)
        for statement in LOOSE:
            connection.execute(statement)

    def _journal(self, connection: sqlite3.Connection) -> None:
        """Turns the write-ahead log on; SQLite does not wait for a lock here by itself."""
        deadline = time.monotonic() + self.patience
        while True:
            try:
                connection.execute("PRAGMA journal_mode = WAL")
                return
            except sqlite3.OperationalError as error:
                if _code(error) not in _LOCKED or time.monotonic() > deadline:
                    raise
                time.sleep(0.01)

    def set_aside(self, kind: str, what: str) -> StoreError:
        """Renames the file, with its log, begins a new one that says so, and returns the error.

        The log goes first: SQLite would play it into whatever file it finds beside it.
        """
        self.close()
        stamp = time.strftime("%Y%m%d-%H%M%S", time.gmtime())
        aside = self.path.with_name(f"{self.path.name}.{kind}-{stamp}")
        try:
            for suffix in ("-wal", "-shm", ""):
                file = self.path.with_name(self.path.name + suffix)
                if file.exists():
                    file.replace(aside.with_name(aside.name + suffix))
        except OSError as error:
            return StoreError(f"{self.path} {what} and cannot be set aside: {error.strerror}")
        notice = (
            f"The store {self.path} {what}: it was kept as {aside.name} beside it, nothing in it "
            "was deleted, and a new store begins; runs that are missing can be repeated"
        )
        with suppress(StoreError), self.writing() as connection:
            connection.execute("INSERT OR REPLACE INTO meta VALUES ('notice', ?)", (notice,))
        return StoreError(notice)

    def _damaged(self) -> bool:
        """Whether the file that is there now is damaged: another process may have replaced it."""
        self.close()
        connection = self._connect(str(self.path))
        try:
            return [row[0] for row in connection.execute("PRAGMA quick_check(1)")] != ["ok"]
        except (sqlite3.DatabaseError, UnicodeDecodeError) as error:
            return _code(error) in _DAMAGED
        finally:
            connection.close()

    @contextmanager
    def _translated(self) -> Iterator[None]:
        """SQLite's errors as a sentence each."""
        try:
            yield
        except (sqlite3.Error, UnicodeDecodeError) as error:
            raise self._sentence(error) from error
        except (UnicodeEncodeError, OverflowError) as error:
            what = error.object if isinstance(error, UnicodeEncodeError) else "a larger number"
            raise RequestError(
                f"store: expected text in UTF-8 and numbers below 2^63, got {what!r}"
            ) from None

    def _sentence(self, error: sqlite3.Error | UnicodeDecodeError) -> StoreError:
        code = _code(error)
        if code in _DAMAGED and self._damaged():
            return self.set_aside("damaged", "is damaged")
        if code in _LOCKED:
            return StoreError(
                f"{self.path}: expected to be let in within {self.patience:g} seconds, but another "
                "process keeps it locked: end that process and try again"
            )
        if self._full(error):
            return FullError(disk.sentence(self.path.parent, spare.NEEDED, "the store", str(error)))
        if code == sqlite3.SQLITE_READONLY or not self.writable:
            return StoreError(f"{self.path}: expected a file that can be written, it is read-only")
        return StoreError(f"{self.path}: expected a store that can be used, got: {error}")

    def _full(self, error: sqlite3.Error | UnicodeDecodeError) -> bool:
        """Whether an error comes from a disk that is full.

        SQLite says so, or that a file could not be written. A file that was opened for reading
        alone, since its log could not be made, is then no file that nobody may write.
        """
        code, none = _code(error), disk.room(self.path.parent) < spare.SLACK
        closed = code == sqlite3.SQLITE_READONLY and self.writable
        return code == sqlite3.SQLITE_FULL or (none and (closed or code == sqlite3.SQLITE_IOERR))


def _code(error: sqlite3.Error | UnicodeDecodeError) -> int:
    """SQLite's primary result code; 0 when the error is the Python module's own.

    A message that Python cannot read quotes a name from a layout that is damaged.
    """
    if isinstance(error, UnicodeDecodeError):
        return sqlite3.SQLITE_CORRUPT
    return int(getattr(error, "sqlite_errorcode", 0)) & 0xFF
