"""Every verb outside the store, killed at each of its file operations, leaves what is whole."""

import io
import json
import os
import tempfile
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path

import pytest

from benchmarks.crash import Verb, at_every_point
from benchmarks.kills import damage
from datasets import own
from engine.catalog import catalog
from engine.cli.export import write
from engine.cli.main import main
from engine.cli.shared import replicas
from engine.cli.work import complete
from engine.core.errors import ExplorerError
from engine.core.files import PART, give
from engine.runs import ledger
from engine.runs.job import Job, request
from engine.service.client import Client
from pages.ui.lessons import contents, library, rights
from pages.ui.lessons.rights import Editor
from pages.ui.site import write as write_site
from tests.engine import walk
from tests.pages.played import play

ANN, BEN = Editor("ann"), Editor("ben")
OLD = 'title = "T"\ntext = "x"\n\n[[views]]\naddress = "/mean?mean.bound=5"\ntext = "y"\n'
NEW = OLD.replace('"T"', '"New"')
TABLE = b"time,event,age\n" + b"".join(b"%d,%d,%d\n" % (i + 1, i % 2, 40 + i) for i in range(12))
LINES = "time: 0 to 60\nage: 18 to 100"


@contextmanager
def at(home: Path) -> Iterator[None]:
    """The user's folder, as the environment names it."""
    before = os.environ.get("EXPLORER_HOME")
    os.environ["EXPLORER_HOME"] = str(home)
    try:
        yield
    finally:
        os.environ.pop("EXPLORER_HOME")
        if before is not None:
            os.environ["EXPLORER_HOME"] = before


def in_home(act: Callable[[], object]) -> Callable[[Path], object]:
    """An act in a folder that is the user's."""

    def acted(home: Path) -> object:
        with at(home):
            return act()

    return acted


def own_lessons() -> list[str]:
    return [name for name in library.names() if name not in library.ORDER]


def wrong_lessons(home: Path) -> list[str]:
    """A lesson without its owner, one that is neither old nor new, and what saving leaves over."""
    faults = []
    with at(home):
        for name in own_lessons():
            held = contents.find(name)
            faults += [f"{name} is torn"] * (held.text not in (OLD, NEW) or held.lesson is None)
            faults += [f"{name} is Ben's"] * rights.may(library.path_of(name), BEN)
            faults += [f"{name} is not Ann's"] * (not rights.may(library.path_of(name), ANN))
        for path in library.folder().glob("*"):
            os.utime(path, (0, 0))  # hours later
        library.tidy()
        kept = {library.path_of(name).name for name in own_lessons()}
        notes = {f"{name}{rights.NOTE}" for name in own_lessons()}
        faults += [f"left over: {path.name}" for path in library.folder().glob("*")
                   if path.name not in kept | notes]  # fmt: skip
    return faults


def first() -> str:
    return own_lessons()[0]


def tables(home: Path) -> list[str]:
    """A table without its owner, or one that cannot be read."""
    faults = []
    with at(home):
        for name in own.names():
            faults += [f"{name} is everybody's"] * (own.owner(name) != "ann")
            try:
                own.load(name)
            except ExplorerError as error:
                faults.append(str(error))
    return faults


def gone(home: Path) -> list[str]:
    """As `tables`; and after one more removal nothing is left of a table but whose it was."""
    faults = tables(home)
    with at(home):
        for name in own.names():
            own.remove(name)
        owners = {path.stem for path in (home / "tables").glob("*.owner")}
        faults += [f"{name} was Ann's" for name in owners if own.owner(name) != "ann"]
        own.keep("other.csv", TABLE, LINES, owner="ann")
        (other,) = own.names()
        left = [path.name for path in (home / "tables").glob("*") if path.stem != other]
    return [*faults, *(f"left over: {name}" for name in left if not name.endswith(".owner"))]


def job() -> Job:
    return request("mean", "laplace", "flchain", {"records": 100}, {"epsilon": (0.5, 1.0)}, (0,))


def export(home: Path) -> None:
    client = Client(home / "store", workers=False)
    write(client, client.run(job().id), home / "out")


def exported(home: Path) -> list[str]:
    """Each file is whole or not there; the next export clears away; the store is as it was."""
    client = Client(home / "store", workers=False)
    found = {path: path.read_bytes() for path in (home / "out").rglob("*") if path.is_file()}
    made = {path: path.read_bytes() for path in write(client, client.run(job().id), home / "out")}
    whole = {path for path, content in found.items() if made.get(path) == content}
    faults = [f"torn: {path.name}" for path in found.keys() - whole if path.suffix != PART]
    faults += [f"left over: {path.name}" for path in (home / "out").rglob(f"*{PART}")]
    return [*faults, *(["the run is gone"] * (client.run(job().id).state != "completed"))]


def whole(act: Callable[[Path], object], sound: Callable[[bytes], bool]) -> Verb:
    """A verb that writes one file, which is the former one or the new one."""

    def wrong(home: Path) -> list[str]:
        path = home / "made"
        found = path.read_bytes()
        faults = ["torn"] * (found != OLD.encode() and not sound(found))
        give(path, OLD.encode())  # the next one clears away
        return [*faults, *(f"left over: {one.name}" for one in home.glob(f".made*{PART}"))]

    @cache
    def once() -> None:
        """Loads what the verb needs, so that no killed process loads it again."""
        with tempfile.TemporaryDirectory() as place:
            act(Path(place) / "made")

    def before(home: Path) -> None:
        once()
        Client(home, workers=False).close()  # making a store is no part of these verbs
        (home / "made").write_bytes(OLD.encode())

    return Verb(lambda home: act(home / "made"), wrong, before)


def zipped(content: bytes) -> bool:
    """Whether a zip file holds the page and nothing of it is damaged."""
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as file:
            return file.testzip() is None and "index.html" in file.namelist()
    except zipfile.BadZipFile:
        return False


def sound_json(content: bytes) -> bool:
    """Whether a file is JSON to its end."""
    with suppress(ValueError):
        return bool(json.loads(content))
    return False


def asked(*words: str) -> Callable[[Path], object]:
    """A command that writes a file, as somebody types it, with a folder of its own."""

    def act(path: Path) -> object:
        with at(path.parent):
            return main([*words, "--to", str(path)])

    return act


def walk_job() -> Job:
    return request("walk", "walk", "flchain", {"steps": 6}, {"epsilon": (0.5, 1.0)}, (0, 1))


def stopped(home: Path) -> None:
    """A run that was stopped between two of its steps, and kept its state."""
    client = Client(home / "store", workers=False)

    def until(done: int, total: int) -> None:
        if done >= total / 2:
            raise KeyboardInterrupt

    with suppress(KeyboardInterrupt):
        complete(client, walk_job(), until)


def resumed(home: Path) -> None:
    complete(Client(home / "store", workers=False), walk_job(), lambda done, total: None)


@cache
def unbroken() -> str:
    """What the run gives that nobody stops."""
    with tempfile.TemporaryDirectory() as place:
        resumed(Path(place))
        return told(Path(place))


def told(home: Path) -> str:
    """The numbers of the run, to the last digit."""
    client = Client(home / "store", workers=False)
    rows = replicas(walk_job(), client.table(walk_job().id))
    arrays = {name: kept.tolist() for name, kept in client.arrays(walk_job().id).items()}
    return json.dumps([[row["gauges"] for row in rows], arrays])


def went_on(home: Path) -> list[str]:
    """Going on after a kill gives the numbers of the run that nobody stops; nothing is left."""
    resumed(home)
    faults = ["other numbers"] * (told(home) != unbroken())
    return [*faults, *damage(home / "store")]


def site(home: Path) -> None:
    """Static pages of one paper, over those of an earlier version."""
    with pytest.MonkeyPatch.context() as few:
        few.setattr("pages.ui.site.write._pages", lambda known: small_pages("new"))
        few.setattr("pages.ui.site.write.take", lambda slug: None)
        write_site.site(home / "site")


def small_pages(text: str) -> Iterator[tuple[str, str]]:
    """As many folders and files as pages have, each of one word."""
    names = ("assets/plotly.js", "assets/site.js", "index.html", "mean/data.js", "mean/index.html")
    return ((name, text) for name in names)


def old_site(home: Path) -> None:
    for name, text in small_pages("old"):
        (home / "site" / name).parent.mkdir(parents=True, exist_ok=True)
        (home / "site" / name).write_text(text)


def wrong_site(home: Path) -> list[str]:
    """Pages of one version, or between two renames none; the next one writes and clears away."""
    said = [path.read_text() for path in (home / "site").rglob("*") if path.is_file()]
    faults = ["two versions, or a part of one"] * (said not in ([], ["old"] * 5, ["new"] * 5))
    site(home)
    return [*faults, *(f"left over: {one.name}" for one in home.iterdir() if one.name != "site")]


def limited(home: Path) -> object:
    """A limit on what releases from the table may cost."""
    with at(home):
        return main(["ledger", next(iter(own.names())), "--limit-epsilon", "2"])


def wrong_limit(home: Path) -> list[str]:
    """The former limit or the new one; the next one can be set, and nothing is left over."""
    with at(home):
        (name,) = own.names()
        limit = ledger.read(name).limit
        faults = [f"limit {limit}"] * (limit not in (ledger.Limit(1.0), ledger.Limit(2.0)))
        faults += ["no other limit can be set"] * (limited(home) != 0)
    return [*faults, *tables(home)]


def with_limit(home: Path) -> None:
    with at(home):
        own.keep("a.csv", TABLE, LINES, owner="ann")
        ledger.set_limit(next(iter(own.names())), ledger.Limit(1.0))


def slide(content: bytes) -> bool:
    """Whether a zip file holds a slide and nothing of it is damaged."""
    with suppress(zipfile.BadZipFile), zipfile.ZipFile(io.BytesIO(content)) as file:
        return file.testzip() is None and "ppt/slides/slide1.xml" in file.namelist()
    return False


VERBS = {
    "new lesson": Verb(in_home(lambda: library.keep(OLD, editor=ANN)), wrong_lessons),
    "edit a lesson": Verb(
        in_home(lambda: library.keep(NEW, first(), ANN)), wrong_lessons,
        in_home(lambda: library.keep(OLD, editor=ANN)),
    ),
    "delete a lesson": Verb(
        in_home(lambda: library.remove(first(), ANN)), wrong_lessons,
        in_home(lambda: library.keep(OLD, editor=ANN)),
    ),
    "add a table": Verb(
        in_home(lambda: own.keep("a.csv", TABLE, LINES, owner="ann")), tables
    ),
    "remove a table": Verb(
        in_home(lambda: own.remove(next(iter(own.names())))), gone,
        in_home(lambda: own.keep("a.csv", TABLE, LINES, owner="ann")),
    ),
    "export": Verb(export, exported, lambda home: play(home / "store", job())),
    "resume": Verb(resumed, went_on, stopped),
    "card": whole(asked("card", "make", "mean", "laplace"), sound_json),
    "slide": whole(asked("slide", "/mean"), slide),
    "site": Verb(site, wrong_site, old_site),
    "ledger": Verb(limited, wrong_limit, with_limit),
    "bundle": whole(asked("bundle", "--paper", "mean"), zipped),
    "report": whole(asked("report", "mean"), lambda content: content.rstrip().endswith(b"%%EOF")),
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("name", VERBS)
def test_wherever_a_verb_is_killed_what_it_leaves_is_whole(
    name: str, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setitem(catalog(), "walk", walk.PAPER)
    kills, wrong = at_every_point(name, VERBS[name])
    print(f"{name}: {kills} points")
    assert kills > 1
    assert wrong == []


def test_a_lesson_that_is_written_in_place_is_noticed(monkeypatch: pytest.MonkeyPatch):
    """The check itself: what truncates a file before it writes leaves an empty one."""

    def in_place(path: Path, content: bytes) -> None:
        with path.open("wb") as file:
            file.flush()
            os.fsync(file.fileno())
            file.write(content)

    monkeypatch.setattr("engine.core.files.write", in_place)
    assert any("is torn" in one for one in at_every_point("edit", VERBS["edit a lesson"])[1])
