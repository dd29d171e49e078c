"""Every kind of kept file and row with one value damaged: one sentence, and the rest is usable.

The kinds are found by their declarations: each field of a body, at every depth, goes missing, is
nothing, is of another type, and is huge.
"""

import dataclasses
import itertools
import json
import lzma
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from datasets import catalog as data_catalog
from datasets import own, packed
from engine.core.errors import ExplorerError
from engine.runs import attacks, audits, ledger, met, naming, reference, shipped
from engine.runs.audits import Row
from engine.runs.events import KINDS, decode, encode
from engine.runs.exhibit import Cell
from engine.runs.job import Job, request
from engine.runs.ledger import LedgerEntry
from engine.runs.met import Meeting
from engine.runs.reference import Reference
from engine.runs.results import collect
from engine.service import ahead, answers, presence, quotas, watching
from engine.service.claim import DAMAGED, take
from engine.service.client import Client
from engine.service.job_runner import perform
from engine.service.layout import LATER, LAYOUT
from engine.service.process import here
from engine.yours import kept_runs
from tests.datasets.test_own import plain
from tests.engine.test_values import EVENTS
from tests.pages.played import play, ship
from tests.pages.test_compare_library import CONTENT

GONE = object()
HUGE = (10**400, "9" * 100_000, [[]] * 10_000, -(2**63) - 1, 1e308)
WRONG = (GONE, None, True, "x", "\ud800", -1, 1.5, [], {}, [None], {"x": None}, *HUGE)


def job(count: int = 100) -> Job:
    return request("mean", "laplace", "flchain", {"records": count}, {"epsilon": (0.5, 1.0)}, (0,))


def places(body: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Where every value of a body stands, at every depth; of a list its first two."""
    if path:
        yield path
    inner = body.items() if isinstance(body, dict) else ()
    inner = enumerate(body[:2]) if isinstance(body, list) else inner
    for key, one in inner:
        yield from places(one, (*path, key))


def damaged(body: Any, path: tuple[Any, ...], value: object) -> Any:
    """A copy of a body with another value at one place."""
    made = json.loads(json.dumps(body))
    inner = made
    for key in path[:-1]:
        inner = inner[key]
    if value is GONE:
        del inner[path[-1]]
    else:
        inner[path[-1]] = value
    return made


def all_damaged(body: Any) -> Iterator[tuple[str, Any]]:
    """Every damaged body, and where it is damaged how."""
    for path in places(body):
        for value in WRONG:
            what = (
                "missing" if value is GONE else repr(value)[:40] if value is not HUGE[0] else "huge"
            )
            yield f"{path}: {what}", damaged(body, path, value)
    for whole in (None, [], {}, "x", 1, [body], {"x": body}):
        yield f"all: {whole!r}"[:60], whole


def text(body: Any) -> str:
    """A body as JSON, huge numbers too."""
    return json.dumps(body) if body is not None else "null"


def sentence(act: Callable[[], object], what: str, *more: type[Exception]) -> None:
    """That something ends, or says in one line what is wrong."""
    try:
        act()
    except (ExplorerError, *more) as error:
        said = str(error)
        assert said.strip(), what
        assert "\n" not in said, what
        assert len(said) < 1_000, what
        said.encode("utf-8")
    except Exception as error:
        raise AssertionError(f"{what}: {type(error).__name__}: {error}"[:300]) from error


READERS: dict[str, tuple[Callable[[], Any], Callable[[Any], object]]] = {
    **{
        f"event {type(event).__name__}": (
            lambda event=event: json.loads(json.dumps(encode(event))), decode
        )
        for event in EVENTS
    },
    "job": (lambda: json.loads(job().text()), lambda body: used(Job.read(text(body)))),
    "card of a table": (
        lambda: json.loads(json.dumps(packed.described(data_catalog.card("flchain")))), packed.card
    ),
}  # fmt: skip
"""What reads bodies, and a whole body of each; damage is a `ValueError` that its caller names."""


def used(one: Job) -> None:
    """What the list of runs and pages ask of a job."""
    assert one.id
    assert one.replicas() > 0
    one.batch()
    assert one.entry().label


@pytest.mark.parametrize("kind", READERS)
def test_a_damaged_body_is_a_value_or_one_sentence(kind: str):
    whole, read = READERS[kind]
    read(whole())
    refused = 0
    for what, body in all_damaged(whole()):
        try:
            read(body)
        except (ValueError, ExplorerError) as error:
            refused += 1
            assert "\n" not in str(error), what
            assert len(str(error)) < 1_000, what
    assert refused > 10


def test_every_kind_of_event_is_damaged():
    assert {f"event {name}" for name in KINDS} <= READERS.keys()


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("EXPLORER_HOME", str(tmp_path / "home"))
    monkeypatch.setattr(shipped, "FOLDER", tmp_path / "shipped")
    monkeypatch.setattr(Client, "ensure_worker", lambda self: None)
    return tmp_path / "home"


def looks(client: Client, run: str) -> Iterator[Callable[[], object]]:
    """Everything that pages and the command line ask of a run."""
    yield lambda: client.run(run)
    yield lambda: client.events(run)
    yield lambda: client.table(run)
    yield lambda: client.arrays(run)
    yield lambda: client.store.device(run)
    yield client.store.sweep
    yield client.store.tidy
    yield client.store.notice


def columns(table: str) -> list[str]:
    """The columns of a table of the store, by its declaration."""
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as connection:
        connection.row_factory = sqlite3.Row
        for statement in LAYOUT:
            connection.execute(statement)
        from engine.service.layout import widen

        widen(connection)
        return [row[1] for row in connection.execute(f"PRAGMA table_info({table})")]


ROW = (None, "", "x", -1, 2**62, 1e308, b"\x00\xff", "{", "null", "[]", '{"a": 1}', "[" * 50_000)


def change(home: Path, statement: str, values: tuple[object, ...]) -> bool:
    """Changes the store as another program would; False where the store itself refuses it."""
    with closing(sqlite3.connect(home / "store.sqlite")) as connection:
        try:
            with connection:
                connection.execute(statement, values)
        except sqlite3.IntegrityError:
            return False
    return True


@pytest.mark.parametrize("table", ["jobs", "events"])
@pytest.mark.thorough
def test_one_damaged_row_hides_no_other_run(home: Path, table: str):
    client, other = Client(home, workers=False), job(200).id
    play(home, job(200))
    where, tried = "id = ?" if table == "jobs" else "run = ? AND seq = 1", 0
    for column, value in itertools.product(columns(table), ROW):
        play(home, job())
        if change(home, f"UPDATE {table} SET {column} = ? WHERE {where}", (value, job().id)):
            what, tried = f"{table}.{column} = {value!r}"[:80], tried + 1
            runs, _ = client.listed()
            assert other in {run.id for run in runs}, what
            assert client.table(other).gauges, what
            for look in looks(client, job().id):
                sentence(look, what)
        change(home, "DELETE FROM events WHERE run IS NOT ?", (other,))
        change(home, "DELETE FROM jobs WHERE id IS NOT ?", (other,))
    assert tried > 40


BESIDE = ("meta", "artifacts", "workers", "apps", "answers", "looking", "questions", "prices")
"""The tables beside those of runs and events."""


def asks(client: Client) -> Iterator[Callable[[], object]]:
    """What pages and the worker ask of the tables beside runs and events."""
    store, ben = client.store, watching.Visitor("t", "ben")
    yield lambda: watching.look_on(store, ben, [job(200).id])
    yield lambda: watching.others(store, job(200).id, ben)
    yield lambda: watching.owner(store, job(200).id)
    yield lambda: watching.gone(store, ["t"])
    yield lambda: presence.working(store, "cpu")
    yield lambda: presence.apps(store)
    yield lambda: quotas.check(store, job(300), "ben")
    yield lambda: quotas.tidy(store)
    yield lambda: watching.wanted(store, here())
    yield lambda: ahead.trim(store)
    yield lambda: answers.counts(store.database, "q", 3)
    yield lambda: answers.add(store.database, "q", 2, 3)
    yield lambda: client.runs()
    yield from looks(client, job(100).id)
    yield from looks(client, job(200).id)


def fill(client: Client, home: Path) -> None:
    """A row in every table of the store."""
    play(home, job(100))
    client.submit(job(200), {"epsilon": 1.0}, watching.Visitor("s", "ann"), passing=True)
    watching.look_on(client.store, watching.Visitor("s", "ann"), [job(200).id])
    answers.add(client.store.database, "q", 1, 3)
    presence.open_app(client.store)
    for statement, values in (
        ("artifacts (run, name, digest) VALUES (?, 'final', '0')", (job(100).id,)),
        ("workers (device, pid, born, beat) VALUES ('cpu', 1, 'x', 1.0)", ()),
        ("questions (text, asked, urgent) VALUES (?, 1.0, 1)", ('["mean", "laplace"]',)),
        ("prices (code, value) VALUES ('x', 1.0)", ()),
    ):
        assert change(home, f"INSERT INTO {statement}", values)


def test_every_table_of_the_store_is_damaged():
    with closing(sqlite3.connect(":memory:")) as connection:
        for statement in (*LAYOUT, *LATER):
            connection.execute(statement)
        rows = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
        assert {name for (name,) in rows} == {"jobs", "events", *BESIDE}


@pytest.mark.parametrize("table", BESIDE)
@pytest.mark.thorough
def test_a_damaged_row_beside_the_runs_is_one_sentence_or_nothing(home: Path, table: str):
    client = Client(home, workers=False)
    fill(client, home)
    names, tried = columns(table), 0
    with closing(sqlite3.connect(home / "store.sqlite")) as connection:
        whole = connection.execute(f"SELECT {', '.join(names)} FROM {table}").fetchall()
    assert whole
    for column, value in itertools.product(names, ROW):
        if change(home, f"UPDATE {table} SET {column} = ?", (value,)):
            tried += 1
            for ask in asks(client):
                sentence(ask, f"{table}.{column} = {value!r}"[:80])
        change(home, f"DELETE FROM {table}", ())
        for row in whole:
            marks = ", ".join("?" * len(names))
            assert change(home, f"INSERT INTO {table} ({', '.join(names)}) VALUES ({marks})", row)
    assert tried >= 2 * len(ROW) - 4


def test_a_damaged_request_in_the_queue_is_one_sentence_and_the_next_one_is_done(home: Path):
    client = Client(home, workers=False)
    client.submit(job(), {"epsilon": 1.0})
    unknown = [
        ("an unknown setting", {"nobody": 1.0}),
        ("two settings", {"epsilon": 1.0, "x": 2.0}),
    ]
    for what, body in [*all_damaged({"epsilon": 1.0}), *unknown]:
        client.submit(job(200), {"epsilon": 1.0})
        change(home, "UPDATE jobs SET focus = ? WHERE id = ?", (text(body), job(200).id))
        claim = take(client.store, here(), job(200).id)
        if claim is None:
            assert client.run(job(200).id).error == DAMAGED, what
        else:
            sentence(lambda claim=claim: perform(claim), what)
            assert client.run(job(200).id).state == "completed", what
        client.delete(job(200).id)
    assert take(client.store, here()).job.id == job().id


@pytest.mark.thorough
def test_one_damaged_shipped_run_hides_no_other(home: Path):
    ship(shipped.FOLDER, job())
    ship(shipped.FOLDER, job(200))
    path = shipped.FOLDER / "mean" / f"{job().id}.xz"
    lines = [json.loads(line) for line in lzma.decompress(path.read_bytes()).splitlines()]
    for number in range(len(lines)):
        for what, body in all_damaged(lines[number]):
            changed = [*lines[:number], body, *lines[number + 1 :]]
            path.write_bytes(lzma.compress("\n".join(map(text, changed)).encode(), preset=0))
            look_at_shipped(f"line {number}, {what}")
    for content in (b"", b"x", lzma.compress(b""), lzma.compress(b"\xff"), path.read_bytes()[:-9]):
        path.write_bytes(content)
        look_at_shipped(repr(content[:20]))
    ship(shipped.FOLDER, job())
    arrays = path.with_suffix(".npz")
    for content in (b"", b"PK\x03\x04", b"x" * 100):
        arrays.write_bytes(content)
        look_at_shipped(repr(content[:20]))


def look_at_shipped(what: str) -> None:
    shipped.index.cache_clear()
    index = shipped.index(shipped.FOLDER)
    whole = index[job(200).id]
    assert collect(whole.job, whole.events()).gauges, what
    for one in index.values():
        if one.path != whole.path:
            sentence(lambda one=one: collect(one.job, one.events()), what)
            sentence(one.arrays, what)


@pytest.mark.thorough
def test_a_damaged_exhibit_and_damaged_attacks_are_one_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    cell = Cell("a", "b", "c", 1.0, 2.0, 0.5, "x", 0.1)
    kept = Reference(cells=(cell,), full=True, seconds=1.0, version="1", date="2026-01-01")
    path = tmp_path / "mean" / "table.json"
    path.parent.mkdir()
    for what, body in all_damaged(json.loads(json.dumps(dataclasses.asdict(kept)))):
        path.write_text(text(body))
        sentence(lambda: reference.load("mean", "table", tmp_path), what)
    monkeypatch.setattr(naming, "FOLDER", tmp_path)
    for shelf, kind in ((audits.KEPT, Row), (met.KEPT, Meeting)):
        row = json.loads(json.dumps(dataclasses.asdict(attack(kind))))
        for number, (what, body) in enumerate(all_damaged([row])):
            (tmp_path / shelf.file).write_text(text(body))
            attacks._read.cache_clear()
            sentence(shelf.rows, f"{shelf.file}, {number}, {what}")


def attack(kind: type[Any]) -> Any:
    """A shipped attack with every field, made of each field's own kind."""
    values: dict[str, Any] = {"str": "x", "float": 0.5, "int": 3, "bool": True}
    hints = {one.name: str(one.type) for one in dataclasses.fields(kind)}
    made = {
        name: next((value for kind, value in values.items() if kind in hint), ())
        for name, hint in hints.items()
    }
    return kind(**{**made, "first": (0.5, 1.0)})


@pytest.mark.parametrize("kind", ["ledger", "library's run"])
@pytest.mark.thorough
def test_what_is_kept_beside_the_store_is_a_value_or_one_sentence(home: Path, kind: str):
    if kind == "ledger":
        name = own.keep("a.csv", plain())
        entry = LedgerEntry(1.0, 0.0, "replace_one", "survival", "dp_gd", "2026-01-01T00:00:00")
        body = {"table": name, "entries": [dataclasses.asdict(entry)] * 2,
                "limit": {"epsilon": 2.0, "delta": None}}  # fmt: skip
        path, read = home / "tables" / f"{name}.ledger", lambda: ledger.read(name).json()
    else:
        name = kept_runs.keep(CONTENT, owner="ann").name
        path = kept_runs._place(name)
        body = json.loads(path.read_text())

        def read() -> object:
            return [kept_runs.find(name) for name in kept_runs.names()], kept_runs.owner(name)

    path.write_text(text(body))
    assert read()
    for what, changed in all_damaged(body):
        path.write_text(text(changed))
        sentence(read, what)
