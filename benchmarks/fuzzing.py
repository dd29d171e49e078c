"""Damaged and made-up input of every kind: each is taken, or refused in one sentence.

python -m benchmarks.fuzzing [NUMBER]

Uploads, addresses, arguments of the command line and rows of the store are drawn with a fixed seed,
by damaging good ones and from nothing. Whatever is raised beside the program's own errors, whose
text is a sentence for the user, is a traceback.
"""

import contextlib
import io
import math
import os
import random
import shlex
import shutil
import sqlite3
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.row import Row
from datasets import own
from engine.catalog import catalog
from engine.cli.main import main
from engine.core.errors import ExplorerError
from engine.core.spec import knobs
from engine.method import Paper
from engine.runs.events import Advanced, Finished, Measured, Produced, Started
from engine.runs.job import Job, request
from engine.service.claim import take
from engine.service.client import Client
from engine.service.process import here
from pages.ui.kit.offers import offer
from pages.ui.words import escaped

SEED = 2026
NUMBER = 10_000
GOOD = (
    "# age: 18 to 100\n# time: 0 to 60\ntime,event,age\n"
    + "".join(f"{i + 1},{i % 2},{40 + i}\n" for i in range(12)),
    "# treated: 0 to 1\n# time: 0 to 60\nid;start;stop;event;treated\n"
    + "".join(f"p{i};0;{i + 1};{i % 2};1\n" for i in range(12)),
    "# label column: kind\n# size: 0 to 9\nkind,size\n"
    + "".join(f"{'ab'[i % 2]},{i % 9}\n" for i in range(24)),
)
LINES = (
    "age: 18 to 100",
    '[columns.age]\nrole = "number"\nlow = 0.0\nhigh = 120.0\nfrom = "data"\n',
    'kind = "classes"\nseed = 3\n[every]\nlow = 0\nhigh = 9\n[columns.kind]\nrole = "label"\n',
)
PIECES = (
    *('"', "'", ",", ";", "\t", "|", "\n", "\r", "\r\n", "\x00", "\ufeff", "\ud7ff", "\u202e"),
    *("--limit=9223372036854775808", "--limit=0", "--paper=\udc80", "True", "1000.0"),
    *("", " ", "nan", "inf", "-inf", "1e999", "-1", "0", "9" * 400, "1,5", "true", "NA", "=1+1"),
    *("#", "# x: 1 to", "# time: 60 to 0", "# classes: a", "# image: 0 x 0", "# person column: id"),
    *("![](http://x)", "<b>", "{", "[", "null", "PAR1", "../../etc/passwd", "%s%n", "a" * 5_000),
)
COMMANDS = (
    "run survival out_pert --set epsilon=1", "show", "list", "runs", "price survival",
    "tidy --json",
    "export x", "differ a b", "reproduce survival --quick", "data", "table list", "audits", "run",
)  # fmt: skip
COLUMNS = (
    *("text", "focus", "state", "created", "started", "finished", "pid", "born", "beat", "stop"),
    *("attempt", "done", "total", "seq", "error", "diverged", "worked", "sources", "crc", "method"),
)
VALUES = (None, "", "x", -1, 0, 2**62, 1e308, b"\x00\xff", "{}", "[]", "null", '{"a": 1}', "queued")


def rows() -> list[Row]:
    """One row for each kind of input."""
    return [_row(name, NUMBER // len(KINDS)) for name in KINDS]


def _row(name: str, number: int) -> Row:
    lost = tracebacks(name, number)
    note = f"{number:,} inputs, seed {SEED}" + "".join(f"; {one}" for one in lost[:2])
    what = f"tracebacks from made-up {name}"
    return Row(what, len(lost), None, "", "none", not lost, note)


def tracebacks(name: str, number: int, seed: int = SEED) -> list[str]:
    """What was raised that is no sentence of the program's own, by its type and text.

    Args:
        name: One of `KINDS`.
        number: How many inputs.
        seed: Of the draws.
    """
    rng, lost = random.Random(f"{seed}/{name}"), list[str]()
    with tempfile.TemporaryDirectory() as folder, _at_home(Path(folder)):
        act = KINDS[name](rng)
        for _ in range(number):
            try:
                act()
            except ExplorerError as error:
                if "\n" in str(error) or not str(error).strip():
                    lost.append(f"not one sentence: {error!r}")
                escaped(str(error))
            except Exception as error:  # this is what is looked for
                lost.append(f"{type(error).__name__}: {error}"[:200])
    return lost


@contextlib.contextmanager
def _at_home(folder: Path) -> Iterator[None]:
    before = os.environ.get("EXPLORER_HOME")
    os.environ["EXPLORER_HOME"] = str(folder)
    try:
        yield
    finally:
        os.environ.pop("EXPLORER_HOME")
        if before is not None:
            os.environ["EXPLORER_HOME"] = before


def damaged(rng: random.Random, text: str) -> str:
    """A text with some pieces put in, left out, swapped or repeated."""
    for _ in range(rng.randint(1, 6)):
        at = rng.randint(0, len(text))
        match rng.randint(0, 3):
            case 0:
                text = text[:at] + rng.choice(PIECES) + text[at:]
            case 1:
                text = text[:at] + text[at + rng.randint(1, 40) :]
            case 2:
                text = (
                    text[:at] + chr(rng.choice((0, 9, 34, 127, 255, 8232, 65533))) + text[at + 1 :]
                )
            case _:
                text = text[:at] + text[at : at + 30] * rng.randint(1, 20) + text[at:]
    return text


def uploads(rng: random.Random) -> Callable[[], None]:
    """Files and the lines that their owner types."""

    def act() -> None:
        text = damaged(rng, rng.choice(GOOD))
        content = text.encode(rng.choice(("utf-8", "utf-16", "latin-1")), "replace")
        if rng.random() < 0.15:
            content = rng.randbytes(rng.randint(0, 3_000))
        if rng.random() < 0.05:
            content = b"PAR1" + content
        lines = damaged(rng, rng.choice(LINES)) if rng.random() < 0.5 else ""
        own.propose(content, lines)
        label = rng.choice(("", "kind", "\x00"))
        accept = rng.random() < 0.5
        own.remove(own.keep(rng.choice(PIECES), content, lines, label, accept=accept))

    return act


def addresses(rng: random.Random) -> Callable[[], None]:
    """Values of a page's settings as somebody types them."""
    papers = list(catalog().values())

    def act() -> None:
        paper = rng.choice(papers)
        field, setting = rng.choice(list(knobs(paper.spec).items()))
        text = rng.choice(PIECES) if rng.random() < 0.5 else damaged(rng, "0.5")
        offered = offer(paper.spec, field, setting, paper.opens()[field])
        shown, _ = offered.read(text)
        assert shown in offered.texts
        entry = rng.choice(paper.methods)
        request(paper.slug, entry.name, rng.choice((paper.datasets[0], text)), {field: text})

    return act


def anything(rng: random.Random) -> Any:
    """A value of any type, as a program or a damaged file may hand it over."""
    odd: tuple[Any, ...] = (
        *(None, True, False, 0, -1, 1, 2**31, 2**63, 10**400, 0.5, -0.0, math.nan, math.inf, 1e308),
        *("", "1000.0", "0.5", "True", "1_000", "٣", "1e999", "\ud800", "a" * 5_000, b"1", (), []),
        *({}, [1], {"a": 1}, (0.1, "x"), [None], object, 1 + 2j, "nan", "laplace", "proved"),
    )
    return rng.choice(odd)


def requests(rng: random.Random) -> Callable[[], None]:
    """Requests as a program makes them, with a value of any type in any place; kept and read."""
    papers = list(catalog().values())

    def value(publication: Paper[Any], field: str) -> Any:
        return anything(rng) if rng.random() < 0.5 else publication.opens().get(field)

    def act() -> None:
        publication = rng.choice(papers)
        fields = [*knobs(publication.spec), "no_such_field"]
        some = rng.sample(fields, rng.randint(0, 3))
        values = {field: value(publication, field) for field in some}
        axes: dict[str, Any] = {}
        if rng.random() < 0.4:
            axes[rng.choice(fields)] = [value(publication, fields[0]) for _ in range(3)]
        seeds = anything(rng) if rng.random() < 0.1 else (0, 1)
        names = [publication.slug, rng.choice(publication.methods).name, publication.datasets[0]]
        paper, method, dataset = (anything(rng) if rng.random() < 0.03 else one for one in names)
        job = request(paper, method, dataset, values, axes, seeds, audit=rng.random() < 0.1)
        assert Job.read(job.text()) == job
        assert len(job.batch()) == job.replicas()

    return act


def arguments(rng: random.Random) -> Callable[[], None]:
    """Command lines; one that would run something asks for something that is not there."""

    def act() -> None:
        words = shlex.split(rng.choice(COMMANDS))
        if words[0] in ("run", "reproduce", "audits"):
            words.append("--set" if rng.random() < 0.5 else "--no-such-option")
        for _ in range(rng.randint(1, 3)):
            words.insert(rng.randint(1, len(words)), rng.choice(PIECES).replace("\x00", ""))
        if words[0] in ("run", "reproduce", "audits"):
            words.append("--surely-not-an-option")
        said = io.StringIO()
        with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
            try:
                main(words)
            except SystemExit as end:
                if end.code not in (0, 2):
                    raise RuntimeError(f"ended with {end.code!r}: {words}") from end
        if "Traceback" in said.getvalue():
            raise RuntimeError(f"printed a traceback: {words}")

    return act


def damage(connection: sqlite3.Connection, rng: random.Random) -> None:
    """Changes one value of a run or of one of its events."""
    with contextlib.suppress(sqlite3.IntegrityError), connection:
        value = rng.choice(VALUES)
        if rng.random() < 0.6:
            connection.execute(f"UPDATE jobs SET {rng.choice(COLUMNS)} = ?", (value,))
        else:
            column = rng.choice(("body", "crc", "at", "seq"))
            where = rng.randint(1, 4)
            connection.execute(f"UPDATE events SET {column} = ? WHERE seq = ?", (value, where))


def store(rng: random.Random) -> Callable[[], None]:
    """Rows that another program has changed."""
    folder = Path(os.environ["EXPLORER_HOME"])
    client = Client(folder, workers=False)

    def act() -> None:
        run = played(client)
        with contextlib.closing(sqlite3.connect(folder / "store.sqlite")) as connection:
            damage(connection, rng)
        try:
            look(rng, client, run)
        finally:
            client.delete(run)

    return act


def played(client: Client) -> str:
    """A run that is over; returns its id."""
    job = request("survival", "out_pert", "flchain", {}, {"epsilon": (0.5, 1.0)}, (0,))
    client.submit(job)
    claim = take(client.store, here(), job.id)
    if claim is not None:
        values: dict[str, tuple[float | None, ...]] = {"mre": (1.0, None)}
        claim.append([Started(0, 1, 2), Advanced(1, 1, 1), Measured(1, (0, 1), values)])
        digest = claim.keep("final-0000", {"theta": np.zeros((2, 3))})
        claim.append([Produced(1, "final-0000", digest, (0, 1))])
        claim.finish("completed", [Finished(1, "completed")])
    return job.id


def look(rng: random.Random, client: Client, run: str) -> None:
    """Reads all that is kept, in any order."""
    looks: tuple[Callable[[], object], ...] = (
        client.listed, client.at_hand, lambda: client.run(run),
        lambda: client.events(run), lambda: client.table(run), lambda: client.arrays(run),
        lambda: client.cancel(run), client.store.tidy, client.store.notice,
        lambda: [(own.card(name), own.load(name)) for name in own.names()],
    )  # fmt: skip
    for one in rng.sample(looks, len(looks)):
        with contextlib.suppress(ExplorerError):
            one()


def files(rng: random.Random) -> Callable[[], None]:
    """Files of a store whose bytes somebody has changed, cut off or removed."""
    folder = Path(os.environ["EXPLORER_HOME"])
    with contextlib.closing(Client(folder, workers=False)) as client:
        run = played(client)
    own.keep("mine", GOOD[0].encode(), accept=True)
    whole = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}

    def act() -> None:
        shutil.rmtree(folder)
        for path, content in whole.items():
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
        for path in rng.sample([*whole], rng.randint(1, 3)):
            spoil(rng, path)
        with contextlib.closing(Client(folder, workers=False)) as client:
            look(rng, client, run)
            with contextlib.suppress(ExplorerError):
                client.delete(run)

    return act


def spoil(rng: random.Random, path: Path) -> None:
    """Damages one file."""
    content = bytearray(path.read_bytes())
    match rng.randint(0, 4):
        case 0:
            content = content[: rng.randint(0, len(content))]
        case 1:
            for _ in range(rng.randint(1, 50) if content else 0):
                content[rng.randrange(len(content))] = rng.randrange(256)
        case 2:
            content = bytearray(rng.randbytes(len(content)))
        case 3:
            at = rng.randint(0, len(content))
            content[at : at + rng.randint(1, 4_000)] = bytes(rng.randint(0, 4_000))
        case _:
            path.unlink()
            if rng.random() < 0.3:
                path.mkdir()
            return
    path.write_bytes(content)


KINDS: dict[str, Callable[[random.Random], Callable[[], None]]] = {
    "uploads": uploads, "addresses": addresses, "requests": requests, "arguments": arguments,
    "rows of the store": store, "files of the store": files,
}  # fmt: skip


if __name__ == "__main__":
    each = int(sys.argv[1]) // len(KINDS) if len(sys.argv) > 1 else NUMBER // len(KINDS)
    for kind in KINDS:
        print(_row(kind, each), flush=True)
