"""What takes something away is its owner's alone: every action of the table, with two visitors."""

import ast
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from datasets import own
from engine.core.errors import RequestError
from engine.runs import ledger
from engine.runs.job import Job, request
from engine.service import answers, watching
from engine.service.client import Client
from engine.service.store import Store
from engine.service.watching import Visitor
from engine.yours import kept_runs
from pages.ui import rights
from pages.ui.jobs import submit
from pages.ui.kit import visitors
from pages.ui.lessons import contents, library
from pages.ui.lessons.rights import Editor
from pages.ui.words import short
from tests.pages import test_asked as asked
from tests.pages.conftest import Open
from tests.pages.played import play
from tests.pages.test_compare_library import CONTENT
from tests.pages.test_lessons import ASKS, lesson
from tests.pages.test_private import table

ROOT = Path(__file__).parents[2]
ANN, BEN = "ann", "ben"
JOB = ("mean", "laplace", "flchain", {}, {"epsilon": (0.5, 1.0)})


@dataclass
class Thing:
    """Something of Ann's.

    Attributes:
        name: What the action is told.
        there: Whether it is still as it was.
        open: The page that shows it, with what has to be ticked first.
        button: The key of the button that takes it away.
        more: What the action needs besides the name.
    """

    name: str
    there: Callable[[], bool]
    open: Callable[[Open], AppTest]
    button: str
    more: tuple[object, ...] = ()


def job() -> Job:
    return request(*JOB, seeds=(0,))


def trained(home: Path) -> str:
    one = job()
    play(home, one)
    watching.claim(Store(home), one.id, Visitor("page", ANN), passing=False)
    return one.id


def waiting(home: Path) -> Thing:
    client, one = Client(home, workers=False), job()
    client.submit(one, by=Visitor("page", ANN))
    return Thing(one.id, lambda: client.run(one.id).active, lambda visit: visit("runs"),
                 f"stop_circle.{one.id}")  # fmt: skip


def repeated(home: Path) -> Thing:
    client, run = Client(home, workers=False), trained(home)
    return Thing(run, lambda: client.run(run).state == "completed", lambda visit: visit("runs"),
                 f"restart_alt.{run}", (job(),))  # fmt: skip


def deleted(home: Path) -> Thing:
    client, run = Client(home, workers=False), trained(home)

    def opened(visit: Open) -> AppTest:
        test = visit("runs")
        return test.checkbox(key=f"sure.{run}").check().run()

    return Thing(run, lambda: run in {one.id for one in client.runs()}, opened, f"delete.{run}")


def removed(home: Path) -> Thing:
    name = table(owner=ANN)

    def opened(visit: Open) -> AppTest:
        test = visit("survival", **{"survival.dataset": short(name)})
        sure = [one for one in test.checkbox if one.key == "survival.sure"]
        return sure[0].check().run() if sure else test

    return Thing(name, lambda: name in own.names(), opened, "survival.remove")


def limited(home: Path) -> Thing:
    name, before = table(owner=ANN), ledger.Limit(1.0)
    ledger.set_limit(name, before)

    def opened(visit: Open) -> AppTest:
        test = visit("survival", **{"survival.dataset": short(name)})
        limits = [one for one in test.number_input if one.key == "survival.limit"]
        return limits[0].set_value(2.0).run() if limits else test

    return Thing(name, lambda: ledger.read(name).limit == before, opened, "survival.limits", (2.0,))


def spent(home: Path) -> Thing:
    name, axes = asked.brought(home, owner=ANN), ("--accuracy-first", "1", "--target", "0.05")
    words = ("choose", "survival", "--dataset", name, "--methods", "out_pert_gauss", *axes)
    return Thing(name, lambda: ledger.read(name).entries == (),
                 lambda visit: asked.opened(visit, asked.NEED),
                 f"compare.need.{name}.ask", (words,))  # fmt: skip


def brought(home: Path) -> Thing:
    name = kept_runs.keep(CONTENT, owner=ANN).name
    return Thing(name, lambda: name in kept_runs.names(), lambda visit: visit("compare"),
                 f"library.remove.{name}")  # fmt: skip


def edited(home: Path) -> Thing:
    name = library.keep(ASKS, editor=Editor(ANN))

    def opened(visit: Open) -> AppTest:
        test = visit("lessons", lesson=name)
        test.text_area[0].set_value(f"{ASKS}# changed").run()
        return test

    return Thing(name, lambda: contents.find(name).text == ASKS, opened, "lessons.save", ("x",))


def dropped(home: Path) -> Thing:
    name = library.keep(ASKS, editor=Editor(ANN))
    return Thing(name, lambda: name in library.names(),
                 lambda visit: visit("lessons", lesson=name), "lessons.delete")  # fmt: skip


def cleared(home: Path) -> Thing:
    name, store = library.keep(ASKS, editor=Editor(ANN)), Store(home)
    question = lesson(name).views[0].question
    assert question is not None
    answers.add(store.database, question.key, 1, 2)

    def opened(visit: Open) -> AppTest:
        test = visit("lessons", lesson=name)
        sure = [one for one in test.checkbox if one.label.startswith("Clear every answer")]
        return sure[0].check().run() if sure else test

    return Thing(name, lambda: sum(answers.counts(store.database, question.key, 2)) == 1, opened,
                 "lessons.forget", ([question.key],))  # fmt: skip


THINGS: dict[str, Callable[[Path], Thing]] = {
    "stop a run": waiting,
    "run it again": repeated,
    "delete a run": deleted,
    "remove a table": removed,
    "remove a library's run": brought,
    "limit a table": limited,
    "spend on a table": spent,
    "edit a lesson": edited,
    "delete a lesson": dropped,
    "clear the answers": cleared,
}


@pytest.fixture
def as_visitor(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Becomes a visitor of an app that serves a room."""
    monkeypatch.setattr("streamlit.get_option", lambda name: ["192.168.1.20"])
    return lambda name: monkeypatch.setattr(visitors, "visitor", lambda: name)


def pressed(test: AppTest, key: str) -> None:
    """Presses a button if it is there, grey or not: a browser can send what it likes."""
    assert not test.exception
    for one in [button for button in test.button if button.key == key]:
        one.proto.disabled = False
        one.click().run()
    assert not test.exception


@pytest.mark.parametrize("action", rights.ACTIONS)
@pytest.mark.thorough
def test_another_visitor_is_refused_and_the_owner_is_not(
    visit: Open, home: Path, as_visitor: Callable[[str], None], action: str
):
    thing = THINGS[action](home)
    as_visitor(BEN)
    assert not rights.may(action, thing.name)
    with pytest.raises(RequestError, match="got somebody else, so nothing was changed"):
        rights.do(action, thing.name, *thing.more)
    pressed(thing.open(visit), thing.button)
    assert thing.there()
    as_visitor(ANN)
    assert rights.may(action, thing.name)
    pressed(thing.open(visit), thing.button)
    assert not thing.there()


@pytest.mark.parametrize("action", ["run it again", "delete a run"])
def test_whoever_sits_at_the_machine_may_do_everything(
    visit: Open, home: Path, monkeypatch: pytest.MonkeyPatch, action: str
):
    thing = THINGS[action](home)
    monkeypatch.setattr(visitors, "visitor", lambda: BEN)
    pressed(thing.open(visit), thing.button)
    assert not thing.there()


def test_what_the_command_line_added_is_not_taken_away_by_visitors(
    home: Path, as_visitor: Callable[[str], None]
):
    name = table()
    Client(home, workers=False).submit(job())
    as_visitor(BEN)
    assert not rights.may("remove a table", name)
    assert not rights.may("delete a run", job().id)


def test_runs_of_two_visitors_are_run_again_together_or_not_at_all(
    home: Path, as_visitor: Callable[[str], None], monkeypatch: pytest.MonkeyPatch
):
    mine, theirs = job(), request(*JOB, seeds=(1,))
    for one, who in ((mine, BEN), (theirs, ANN)):
        play(home, one)
        watching.claim(Store(home), one.id, Visitor("page", who), passing=False)
    as_visitor(BEN)
    submit.again([mine, theirs], {})
    assert Client(home, workers=False).run(mine.id).state == "completed"
    submit.again([mine], {})
    assert Client(home, workers=False).run(mine.id).state == "queued"


TAKING = {
    *("delete", "again", "cancel", "clear", "remove", "tidy", "drop", "end", "forget", "set_limit"),
}
"""Names of what takes something away, in the engine and in the lessons."""
FROM = {
    *("client()", "own", "library", "answers", "client().store", "watching", "kept_runs", "ledger"),
}


def test_pages_take_nothing_away_but_by_the_table():
    found = set()
    for path in (ROOT / "pages").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Attribute) and node.attr in TAKING:
                whole = ast.unparse(node)
                if whole.rpartition(".")[0] in FROM:
                    found.add((path.relative_to(ROOT).as_posix(), whole))
    elsewhere = {one for one in found if one[0] != "pages/ui/rights.py"}
    assert not elsewhere
    assert len(found) >= 6
