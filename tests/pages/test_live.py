"""Many sessions on one page: what is made once for all, and when a page is drawn again."""

import asyncio
import runpy
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractAsyncContextManager
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

from engine.core.errors import StoreError
from engine.runs.events import Advanced, Measured
from engine.runs.job import Job, request
from engine.service import watching
from engine.service.board import Board
from engine.service.claim import take
from engine.service.client import Client, Run
from engine.service.process import Process, here
from engine.service.store import INTERRUPTED, Store
from engine.service.watching import Stage, Visitor
from pages.ui.jobs import clock, submit
from pages.ui.kit import access, outbox
from pages.ui.kit.shared import Shared
from pages.ui.paper import defaults
from tests.browser.app import ROOT
from tests.engine.conftest import until
from tests.pages.conftest import Open
from tests.pages.played import begin, play


def test_what_many_ask_for_is_made_once():
    """Twenty threads ask for the same while it is being made: one maker, one thing."""
    shared, made, begun = Shared(), list[int](), threading.Barrier(20)

    def make() -> object:
        made.append(1)
        time.sleep(0.05)
        return object()

    def ask() -> None:
        begun.wait()
        found.append(shared.once("figure", make))

    found: list[object] = []
    threads = [threading.Thread(target=ask) for _ in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(made) == 1
    assert len(found) == 20
    assert len(set(map(id, found))) == 1


def test_an_error_is_kept_by_nobody_and_the_oldest_go_first():
    shared = Shared(most=2)
    with pytest.raises(ZeroDivisionError):
        shared.once("a", lambda: 1 / 0)
    assert [shared.once(name, lambda name=name: name.upper()) for name in "abc"] == ["A", "B", "C"]
    assert len(shared) == 2
    assert shared.once("c", lambda: "new") == "C"
    assert shared.once("a", lambda: "new") == "new"


def test_a_board_reads_the_store_once_in_a_while_and_its_own_changes_at_once(home: Path):
    job = defaults.opening("survival")["out_pert"]
    claim = begin(home, job)
    client = Client(home)
    board = Board(client)
    board.pace = 60.0
    first = board.look([job.id])[job.id]
    measured = board.results(first)
    claim.append([Advanced(2, 2, 4), Measured(2, (0,), {"concordance": (0.5,)})])
    assert board.look([job.id])[job.id] is first
    assert board.results(first) is measured
    board.pace = 0.0
    later = board.look([job.id])[job.id]
    assert (later.done, later.seq) == (2, first.seq + 1)
    assert later.job is first.job
    assert board.results(later).gauges["concordance"][0] == 0.5
    board.pace = 60.0
    client.cancel(job.id)
    assert board.look([job.id])[job.id].stopping


def test_a_signature_changes_with_what_a_page_shows(home: Path):
    job = defaults.opening("survival")["out_pert"]
    assert clock.signature({}, {}) == ()
    claim = begin(home, job)
    board, seen = Board(Client(home)), list[object]()

    def look() -> bool:
        """Whether there is something new."""
        seen.append(clock.signature(board.look([job.id]), {}))
        return seen[-1] not in seen[:-1]

    assert look()
    claim.beat()
    assert not look()
    claim.append([Advanced(2, 2, 4)])
    assert look()
    claim.append([Measured(2, (0,), {"concordance": (0.5,)})])
    assert look()
    claim.finish("cancelled", [])
    assert look()


def test_of_a_coarse_curve_only_its_end_is_new(home: Path):
    job = defaults.opening("survival")["out_pert"]
    claim, board = begin(home, job), Board(Client(home))

    def seen(stage: Stage) -> object:
        return clock.signature(board.look([job.id]), {job.id: stage})

    coarse, whole = seen(Stage.COARSE), seen(Stage.FULL)
    claim.append([Measured(1, (0,), {"concordance": (0.5,)})])
    assert seen(Stage.COARSE) == coarse
    assert seen(Stage.FULL) != whole
    claim.finish("completed", [])
    assert seen(Stage.COARSE) != coarse


def test_pages_are_drawn_more_often_until_their_first_curves_are_there():
    assert clock.FIRST < clock.interval(1, clock.QUICK) < clock.interval(1, clock.FASTEST)
    assert clock.interval(40, clock.QUICK) == clock.interval(40, clock.FASTEST)


def test_a_page_waits_less_for_the_chosen_curve_than_for_another_and_not_for_a_beginning(
    home: Path, follower: clock.Follower, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(clock, "FASTEST", 3600.0)
    monkeypatch.setattr(clock, "QUICK", 1800.0)
    monkeypatch.setattr(clock, "SLOWEST", 3600.0)
    jobs = defaults.opening("survival")
    for name, stage in (("out_pert", Stage.COARSE), ("obj_pert", Stage.CURVE)):
        job = jobs[name]
        Client(home, workers=False).submit(job)
        again = followed(monkeypatch, job, stage, access.board().look([job.id]))
        claim = begin(home, job)
        time.sleep(0.1)
        assert not again
        claim.finish("completed", [])
        if stage == Stage.CURVE:
            until(again.copy)
        else:
            time.sleep(0.2)
            assert not again


@pytest.fixture
def follower(monkeypatch: pytest.MonkeyPatch) -> Iterator[clock.Follower]:
    """What follows the pages of a server that is not there, in which every session is open."""
    own = clock.Follower()
    monkeypatch.setattr(clock, "FOLLOWER", own)
    monkeypatch.setattr(clock, "ONLOOKERS", clock.Onlookers())
    monkeypatch.setattr(submit, "there", lambda session: True)
    monkeypatch.setattr(clock.runtime, "exists", lambda: True)
    monkeypatch.setattr(clock, "LOOK", 0.01)
    for name in ("FIRST", "QUICK", "FASTEST", "EACH"):
        monkeypatch.setattr(clock, name, 0.0)
    yield own
    thread = own._thread
    own.leave(PAGE)
    if thread is not None:
        thread.join()


PAGE = "page"
"""The session of a test."""


def followed(
    monkeypatch: pytest.MonkeyPatch, job: Job, stage: Stage, drawn: dict[str, Run] | None
) -> list[str]:
    """Follows a part that has drawn a job so; its name is added whenever it is to be drawn."""
    again: list[str] = []
    context = SimpleNamespace(session_id=PAGE)
    monkeypatch.setattr(clock, "get_script_run_ctx", lambda **given: context)
    monkeypatch.setattr(clock.visitors, "here", lambda: Visitor(PAGE, "ada"))
    monkeypatch.setattr(clock, "_asks", lambda context, part: lambda: again.append(part))
    clock.follow("part", {job.id: stage}, drawn)
    return again


def test_what_has_ended_is_not_followed(
    home: Path, follower: clock.Follower, monkeypatch: pytest.MonkeyPatch
):
    job = defaults.opening("survival")["out_pert"]
    play(home, job)
    again = followed(monkeypatch, job, Stage.FULL, access.board().look([job.id]))
    time.sleep(0.1)
    assert not again
    assert not follower.parts


def test_a_part_is_drawn_once_when_its_run_has_something_new(
    home: Path, follower: clock.Follower, monkeypatch: pytest.MonkeyPatch
):
    job = defaults.opening("survival")["out_pert"]
    claim = begin(home, job)
    again = followed(monkeypatch, job, Stage.FULL, access.board().look([job.id]))
    time.sleep(0.1)
    assert not again  # nothing is new
    claim.append([Advanced(2, 2, 4)])
    until(lambda: again)
    claim.append([Advanced(3, 3, 4)])
    time.sleep(0.1)
    assert again == ["part"]  # the drawing says what it has drawn; until then nobody asks again


def test_a_run_that_ends_while_a_page_is_drawn_is_drawn_again(
    home: Path, follower: clock.Follower, monkeypatch: pytest.MonkeyPatch
):
    job = defaults.opening("survival")["out_pert"]
    claim = begin(home, job)
    drawn = access.board().look([job.id])
    claim.finish("cancelled", [])
    again = followed(monkeypatch, job, Stage.FULL, drawn)
    until(lambda: again)


def test_the_end_of_a_coarse_curve_is_drawn_sooner_than_its_progress(
    home: Path, follower: clock.Follower, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(clock, "FASTEST", 60.0)
    monkeypatch.setattr(clock, "SLOWEST", 60.0)
    job = defaults.opening("survival")["out_pert"]
    claim = begin(home, job)
    again = followed(monkeypatch, job, Stage.COARSE, access.board().look([job.id]))
    claim.append([Advanced(2, 2, 4)])
    time.sleep(0.1)
    assert not again
    claim.finish("completed", [])
    until(lambda: again)


@pytest.mark.thorough
def test_pages_that_were_closed_slow_down_nobody(
    home: Path, follower: clock.Follower, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(submit, "there", lambda session: session == PAGE)
    monkeypatch.setattr(clock, "EACH", 1.0)
    monkeypatch.setattr(clock, "SLOWEST", 1000.0)
    monkeypatch.setattr(clock, "GONE", 1000.0)
    job = defaults.opening("survival")["out_pert"]
    claim = begin(home, job)
    again = followed(monkeypatch, job, Stage.COARSE, access.board().look([job.id]))
    (one,) = follower.parts.values()
    for name in map(str, range(100)):
        clock.ONLOOKERS.note(name)
        follower.parts[name, "part"] = replace(one, visitor=Visitor(name, name))
    time.sleep(0.5)  # it has looked at all of them
    claim.finish("completed", [])
    until(lambda: again)
    for name in map(str, range(100)):
        follower.leave(name)


def test_a_part_that_is_left_is_not_drawn(
    home: Path, follower: clock.Follower, monkeypatch: pytest.MonkeyPatch
):
    job = defaults.opening("survival")["out_pert"]
    claim = begin(home, job)
    again = followed(monkeypatch, job, Stage.FULL, access.board().look([job.id]))
    clock.leave("another part")
    assert follower.parts
    clock.leave("part")
    assert not follower.parts
    claim.finish("completed", [])
    time.sleep(0.1)
    assert not again


def test_who_leaves_waits_until_nothing_is_said_of_any_part(
    home: Path, follower: clock.Follower, monkeypatch: pytest.MonkeyPatch
):
    """Else what a page showed before would be said of it after what it shows now."""
    monkeypatch.setattr(submit, "there", lambda session: False)  # the thread says nothing
    job = defaults.opening("survival")["out_pert"]
    begin(home, job)
    drawn = access.board().look([job.id])
    followed(monkeypatch, job, Stage.FULL, drawn)
    clock.follow("another part", {job.id: Stage.FULL}, drawn)
    first, last = follower.parts.values()
    leaving = threading.Thread(target=clock.leave)
    with last.busy:
        leaving.start()
        leaving.join(0.2)
        assert leaving.is_alive()
        assert not first.busy.locked()
    leaving.join(10.0)
    assert not leaving.is_alive()
    assert not follower.parts


def test_a_page_that_is_followed_is_said_to_look_on(
    home: Path, follower: clock.Follower, monkeypatch: pytest.MonkeyPatch
):
    """A page that says nothing for a while would be taken to be gone, and its runs would rest."""
    monkeypatch.setattr(submit, "AGAIN", 0.05)
    job = defaults.opening("survival")["out_pert"]
    begin(home, job)
    store = Store(home)
    assert watching.others(store, job.id, watching.NOBODY) == 0
    followed(monkeypatch, job, Stage.FULL, access.board().look([job.id]))
    until(lambda: watching.others(store, job.id, watching.NOBODY) == 1)
    (one,), asked = follower.parts.values(), list[str]()
    monkeypatch.setattr(submit, "there", asked.append)  # it is not
    until(lambda: asked)
    with one.busy:  # a look that began before has ended
        pass
    watching.gone(store, [PAGE])
    time.sleep(0.1)
    asked.clear()
    until(lambda: len(asked) > 1)  # it has been looked at again
    assert watching.others(store, job.id, watching.NOBODY) == 0  # its connection is lost


def test_an_error_of_one_page_does_not_end_what_follows_the_others(
    home: Path, follower: clock.Follower, monkeypatch: pytest.MonkeyPatch
):
    job = defaults.opening("survival")["out_pert"]
    claim, failed, new = begin(home, job), list[int](), clock.new

    def fails_once(one: clock.Followed, sessions: int) -> bool:
        if not failed:
            failed.append(1)
            raise RuntimeError("nobody has thought of this")
        return new(one, sessions)

    monkeypatch.setattr(clock, "new", fails_once)
    again = followed(monkeypatch, job, Stage.FULL, access.board().look([job.id]))
    claim.append([Advanced(2, 2, 4)])
    until(lambda: again)


def test_a_store_that_cannot_be_read_is_said_once_and_the_page_recovers(
    home: Path, follower: clock.Follower, monkeypatch: pytest.MonkeyPatch
):
    job = defaults.opening("survival")["out_pert"]
    begin(home, job)
    board = access.board()
    drawn, look = board.look([job.id]), board.look

    def broken(ids: Iterable[str]) -> dict[str, Run]:
        raise StoreError("store: expected to read it")

    again = followed(monkeypatch, job, Stage.FULL, drawn)
    monkeypatch.setattr(board, "look", broken)
    until(lambda: again)  # the page says why
    again = followed(monkeypatch, job, Stage.FULL, None)
    time.sleep(0.1)
    assert not again
    monkeypatch.setattr(board, "look", look)
    until(lambda: again)


def test_pages_are_drawn_more_slowly_the_more_sessions_look_on():
    paces = [clock.interval(count, clock.FASTEST) for count in (1, 5, 20, 40, 400)]
    assert paces == [1.0, 1.0, 2.0, 4.0, 5.0]
    onlookers = clock.Onlookers()
    assert [onlookers.note(name) for name in ("a", "b", "a")] == [1, 2, 2]


def test_a_session_that_went_is_not_counted(monkeypatch: pytest.MonkeyPatch):
    onlookers = clock.Onlookers()
    onlookers.note("gone")
    later = time.monotonic() + clock.GONE + 1.0
    monkeypatch.setattr(time, "monotonic", lambda: later)
    assert onlookers.note("here") == 1


def test_deleting_asks_first_and_says_who_else_looks(visit: Open, home: Path):
    job = defaults.opening("survival")["out_pert"]
    play(home, job)
    page = visit("runs")
    assert not any("look" in one.value for one in page.caption if "person" in one.value)
    (delete,) = [one for one in page.button if one.label == "Delete for good"]
    assert delete.disabled
    for number in range(2):
        watching.look_on(Store(home), Visitor(f"page {number}", f"person {number}"), [job.id])
    page = visit("runs")
    assert any("2 other people are looking at this run" in one.value for one in page.caption)
    page.checkbox(key=f"sure.{job.id}").check().run()
    (delete,) = [one for one in page.button if one.label == "Delete for good"]
    assert not delete.disabled


def test_a_run_whose_process_died_goes_on_when_somebody_looks(visit: Open, home: Path):
    job, store = defaults.opening("survival")["out_pert"], Store(home)
    store.submit(job, {})
    claim = take(store, Process(2**22, f"{here().born.rpartition('/')[0]}/1"), job.id)
    assert claim is not None
    client = Client(home, workers=False)
    assert client.run(job.id).state == "interrupted"
    visit("runs")
    assert client.run(job.id).state == "interrupted"  # a list is no look at it
    assert not visit("survival").exception
    assert client.run(job.id).state == "queued"
    with store.database.writing() as connection:
        connection.execute("UPDATE jobs SET state = 'interrupted', lost = 2, error = ? "
                           "WHERE id = ?", (INTERRUPTED, job.id))  # fmt: skip
    visit("survival")
    assert client.run(job.id).state == "interrupted"  # it may be what ends its processes


def test_a_page_that_shows_no_runs_says_so(home: Path, monkeypatch: pytest.MonkeyPatch):
    job = defaults.opening("survival")["out_pert"]
    monkeypatch.setattr(submit.st, "session_state", {})
    Client(home, workers=False).submit(job, {}, passing=True)
    paused = [Client(home, workers=False).run(job.id).paused]
    with submit.page():
        submit.look_on({job.id: Stage.POINT})
    paused.append(Client(home, workers=False).run(job.id).paused)
    with submit.page():
        pass
    paused.append(Client(home, workers=False).run(job.id).paused)
    assert paused == [True, False, True]


@pytest.mark.parametrize("setting", ["on", "off"])
def test_an_open_page_has_a_worker_and_an_accountant_ready(
    home: Path, monkeypatch: pytest.MonkeyPatch, setting: str
):
    begun: list[str] = []
    monkeypatch.setenv("EXPLORER_AHEAD", setting)
    monkeypatch.setattr(submit.st, "session_state", {})
    monkeypatch.setattr(submit.runtime, "exists", lambda: True)
    monkeypatch.setattr(submit, "there", lambda session: True)
    monkeypatch.setattr(Client, "ensure_worker", lambda self: begun.append("worker"))
    monkeypatch.setattr(submit.pricing, "start", lambda store: begun.append("accountant"))
    with submit.page():
        pass
    assert begun == (["worker", "accountant"] if setting == "on" else [])


@pytest.mark.parametrize("stays", [False, True])
def test_a_server_has_a_worker_and_an_accountant_ready_before_its_first_visitor(
    home: Path, monkeypatch: pytest.MonkeyPatch, stays: bool
):
    begun: list[str] = []
    monkeypatch.setenv("EXPLORER_AHEAD", "on")
    monkeypatch.setattr(submit, "FIRST", 0.05)
    monkeypatch.setattr(submit.runtime, "exists", lambda: True)
    monkeypatch.setattr(Client, "ensure_worker", lambda self: begun.append("worker"))
    monkeypatch.setattr(submit.pricing, "start", lambda store: begun.append("accountant"))
    served: dict[str, Callable[[object], AbstractAsyncContextManager[None]]] = {}
    monkeypatch.setattr(submit.st, "App", lambda script, **settings: served.update(settings))
    monkeypatch.setattr(outbox, "install", lambda: None)
    runpy.run_path(str(ROOT / "app.py"))

    async def serve() -> None:
        async with served["lifespan"](None):
            await asyncio.sleep(0)
            end = time.monotonic() + 60
            while stays and len(begun) < 2 and time.monotonic() < end:
                await asyncio.sleep(0.01)

    asyncio.run(serve())
    assert begun == (["worker", "accountant"] if stays else [])


def test_the_runs_of_a_page_that_was_closed_rest(home: Path, monkeypatch: pytest.MonkeyPatch):
    """Another person who has a page open says so for it."""
    client, job = Client(home, workers=False), defaults.opening("survival")["out_pert"]
    client.submit(job, {}, passing=True)
    open_pages = {"one", "two"}
    monkeypatch.setattr(submit, "TOLD", set())
    monkeypatch.setattr(submit, "there", open_pages.__contains__)
    for session, stages in (("one", {job.id: Stage.POINT}), ("two", {"another": Stage.POINT})):
        monkeypatch.setattr(submit.st, "session_state", {})
        monkeypatch.setattr(submit.visitors, "here", lambda name=session: Visitor(name, name))
        submit.look_on(stages)
    assert not client.run(job.id).paused
    open_pages.remove("one")
    submit.look_on({"a third": Stage.POINT})
    assert client.run(job.id).paused


def test_neighbours_are_asked_for_once_the_view_is_complete(
    home: Path, monkeypatch: pytest.MonkeyPatch
):
    client, job = Client(home, workers=False), defaults.opening("survival")["out_pert"]
    neighbour = request("survival", "out_pert", "flchain", {"intervals": 20}, {"epsilon": (1.0,)})
    monkeypatch.setattr(submit.st, "session_state", {})
    stages = {job.id: Stage.FULL}
    submit.look_on(stages)
    submit.look_ahead(stages, [job, neighbour])
    assert [run.id for run in client.runs()] == [neighbour.id]
    assert not client.run(neighbour.id).paused
    submit.look_on(stages)  # as a tick says again
    assert not client.run(neighbour.id).paused
    submit.look_on({"after a move": Stage.POINT})
    assert client.run(neighbour.id).paused
    monkeypatch.setenv("EXPLORER_AHEAD", "off")
    further = request("survival", "out_pert", "flchain", {"intervals": 50}, {"epsilon": (1.0,)})
    submit.look_ahead(stages, [further])
    assert [run.id for run in client.runs()] == [neighbour.id]
