"""`python -m engine.service.pricing`: one process that works out prices which take seconds.

Pages put questions into the store: a method, its settings and a data set. The process asks the
accountant and leaves the answers there, under the codes of `engine.privacy.answers`, for every
page process that shares the store. Each answer keeps the digest of the code that worked it out,
and a checksum; others are not read. The process stops by itself when nothing has been asked for a
while, and leaves its questions to a new one where the program was replaced. No torch here.
"""

import functools
import json
import signal
import time
import traceback
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from contextvars import Context
from pathlib import Path
from sqlite3 import Row
from types import FrameType

from datasets import catalog as data_catalog
from datasets.base import Card
from engine.catalog import catalog, paper
from engine.core.errors import ExplorerError, StoreError
from engine.core.spec import Spec
from engine.method import Entry
from engine.privacy import answers
from engine.runs.changes import accountants
from engine.service import presence
from engine.service.process import handling, stand_back
from engine.service.starting import Starter
from engine.service.store import Store, checksum
from engine.service.worker import code

DEVICE = "accountant"
"""What the process calls itself on the list of workers."""
POLL, IDLE = 0.1, 600.0
"""Seconds between two looks at the questions, and without one until it leaves."""
NICE = 5
"""How much the process steps back: training goes first where both want the same core."""
LIMIT = 120.0
"""Seconds after which a question is given up."""
FIRST = "urgent DESC, round(asked, 1) DESC, rowid"
"""The order in which questions are answered."""
MOST = 1_000
"""Questions that wait; of more, those that were asked first are dropped."""


def question(entry: Entry[Spec], spec: Spec, data: Card) -> str:
    """What is asked, as text."""
    slug = next(one.slug for one in catalog().values() if one.spec is type(spec))
    return json.dumps([slug, entry.name, data.name, spec.values()], sort_keys=True)


def ask(store: Store, questions: Iterable[str], *, urgent: bool = False) -> None:
    """Puts questions to the process.

    Args:
        store: Where they wait.
        questions: In the order in which they are to be answered.
        urgent: Whether somebody waits for the answer, rather than for a further point of a curve.

    Raises:
        StoreError: The store cannot be written.
    """
    rows = [(text, store.now(), urgent) for text in questions]
    with store.database.writing() as connection:
        connection.executemany(
            "INSERT INTO questions VALUES (?, ?, ?) ON CONFLICT (text) DO UPDATE "
            "SET asked = excluded.asked, urgent = max(urgent, excluded.urgent)",
            rows,
        )
        connection.execute(
            "DELETE FROM questions WHERE text NOT IN (SELECT text FROM questions "
            f"ORDER BY {FIRST} LIMIT ?)",
            (MOST,),
        )


def waiting(store: Store) -> list[str]:
    """The questions without an answer: urgent ones first, then those that were asked last."""
    rows = store.database.rows(f"SELECT text FROM questions ORDER BY {FIRST}")
    return [str(row["text"]) for row in rows]


def read(store: Store, after: int = 0) -> int:
    """Takes answers that have come into `answers.answers`; returns where to read on.

    Those that other code has worked out, and damaged ones, are left: their questions are asked
    again. What ships or was worked out here stays as it is.
    """
    patient = Context()  # a price that is there takes nobody's time
    newer = "SELECT rowid, * FROM prices WHERE rowid > ? ORDER BY rowid"
    for row in store.database.rows(newer, (after,)):
        if _sound(row):
            patient.run(answers.answer, row["code"], functools.partial(float, row["value"]))
        after = int(row["rowid"])
    return after


def collect(store: Store) -> None:
    """Removes the answers that `read` leaves; the last row stays, so that no number comes again."""
    with store.database.writing() as connection:
        rows = connection.execute("SELECT rowid, * FROM prices ORDER BY rowid").fetchall()
        left = [(row["rowid"],) for row in rows[:-1] if not _sound(row)]
        connection.executemany("DELETE FROM prices WHERE rowid = ?", left)


def _sound(row: Row) -> bool:
    """Whether today's code computed a row, and nobody has changed it since."""
    if "crc" not in row.keys():  # noqa: SIM118  # a row is no dict; one that cannot be widened
        return False
    return bool(row["sources"] == accountants() and row["crc"] == _sum(row["code"], row["value"]))


def _sum(code: str, value: float) -> int:
    """The checksum of a row."""
    return checksum(f"{code} {value!r} {accountants()}")


def work_out(store: Store, text: str) -> None:
    """Answers one question and takes it off the list; an error leaves it without an answer."""
    known = dict(answers.answers)
    try:
        with _limited(LIMIT):
            slug, name, dataset, values = json.loads(text)
            publication = paper(slug)
            entry, spec = publication.entry(name), publication.spec.parse(values)
            entry.promise(spec, data_catalog.card(dataset))
    except (ExplorerError, LookupError, TypeError, ValueError, ArithmeticError):
        pass  # nobody can answer it
    except Exception:
        traceback.print_exc()  # into the log; the next question has its turn
    finally:
        new = [
            (code, value, accountants(), _sum(code, value))
            for code, value in answers.answers.items() if code not in known
        ]  # fmt: skip
        with store.database.writing() as connection:
            connection.executemany(
                "INSERT OR REPLACE INTO prices (code, value, sources, crc) VALUES (?, ?, ?, ?)", new
            )
            connection.execute("DELETE FROM questions WHERE text = ?", (text,))


@contextmanager
def _limited(seconds: float) -> Iterator[None]:
    """Breaks off what takes longer, where the system has a clock for it.

    Raises:
        TimeoutError: It was broken off.
    """

    def late(number: int, frame: FrameType | None) -> None:
        raise TimeoutError(f"expected an answer within {seconds:g} seconds")

    alarm = {signal.SIGALRM: late} if hasattr(signal, "setitimer") else {}
    with handling(alarm) as here:
        if not (alarm and here):
            yield
            return
        signal.setitimer(signal.ITIMER_REAL, seconds)
        try:
            yield
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0.0)


def serve(store: Store, idle: float = IDLE) -> None:
    """Answers questions until there has been none for a while, or another process does.

    Once the program was replaced, nobody reads what this code works out: a new process answers. A
    store that was removed is not made again.

    Raises:
        StoreError: It was removed at this very moment.
    """
    collect(store)
    read(store)
    store.database.again = False
    wanted, place, written = time.monotonic(), store.database.path, code()
    replaced = False
    while time.monotonic() - wanted < idle and place.exists() and presence.work_on(store, DEVICE):
        if not (some := waiting(store)):
            time.sleep(POLL)
            continue
        if replaced := code() != written:
            break
        work_out(store, some[0])
        wanted = time.monotonic()
    presence.leave(store)
    if replaced:
        start(store)


@functools.cache
def _starter(folder: Path) -> Starter:
    """What starts the process for a store; one for each folder."""
    return Starter(Store(folder), "engine.service.pricing")


def start(store: Store) -> bool:
    """Starts the process unless one is there; whether one is there or has just been started."""
    try:
        return _starter(store.folder).start(DEVICE) == 0
    except ExplorerError:
        return False


def main() -> None:
    """The command line of the process."""
    store = Store()
    stand_back(NICE)
    with suppress(StoreError):  # the store was removed, or cannot be written any more
        serve(store, presence.setting("EXPLORER_IDLE_SECONDS", IDLE))


if __name__ == "__main__":
    main()
