"""What a part draws is sent at once, and a long part piece by piece."""

import asyncio
import runpy
from collections.abc import Callable
from types import SimpleNamespace

import pytest
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.runtime import app_session

from pages.ui.kit import outbox
from tests.browser.app import ROOT

DONE = ForwardMsg.FINISHED_FRAGMENT_RUN_SUCCESSFULLY


def began(*parts: str) -> ForwardMsg:
    message = ForwardMsg()
    message.new_session.name = "app"
    message.metadata.run.fragment_ids.extend(parts)
    return message


def running(yes: bool) -> ForwardMsg:
    message = ForwardMsg()
    message.session_status_changed.script_is_running = yes
    return message


def piece(*place: int, part: str = "") -> ForwardMsg:
    message = ForwardMsg()
    message.metadata.delta_path.extend([0, *place])
    message.delta.new_element.markdown.body = f"piece {place}"
    message.delta.fragment_id = part
    return message


def container(*place: int, part: str = "") -> ForwardMsg:
    """A piece that others are put in."""
    message = piece(*place, part=part)
    message.delta.add_block.vertical.SetInParent()
    return message


def too_soon(sent: list[ForwardMsg]) -> list[tuple[int, ...]]:
    """Which pieces come before their container: the browser breaks at the first."""
    containers, early = {(0,)}, []
    for message in sent:
        place = tuple(message.metadata.delta_path)
        if place and place[:-1] not in containers:
            early.append(place)
        if message.delta.WhichOneof("type") == "add_block":
            containers.add(place)
    return early


def ended() -> ForwardMsg:
    return ForwardMsg(script_finished=DONE)


@pytest.fixture
def woken(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """How often the server was asked to send."""
    times: list[bool] = []
    runtime = SimpleNamespace(_enqueued_some_message=lambda: times.append(True))
    monkeypatch.setattr(outbox.Runtime, "instance", lambda: runtime)
    monkeypatch.setattr(outbox, "SOON", 0.05)
    return times


def served(session: Callable[[outbox.Outbox], list[list[ForwardMsg]]], wait: float = 0.0):
    """What a session's queue gives, then what it gives after a while."""

    async def serve() -> list[list[ForwardMsg]]:
        queue = outbox.Outbox()
        given = session(queue)
        await asyncio.sleep(wait)
        return [*given, queue.flush()]

    return asyncio.run(serve())


def test_a_short_part_begins_at_once_and_comes_whole(woken):
    def session(queue):
        queue.enqueue(began("part"))
        first = queue.flush()
        for one in (running(True), piece(1), piece(2)):
            queue.enqueue(one)
        meanwhile = queue.flush()
        for one in (ended(), running(False)):
            queue.enqueue(one)
        return [first, meanwhile]

    first, meanwhile, last = served(session)
    assert (first, meanwhile) == ([began("part")], [])
    assert last == [piece(1), piece(2), ended(), running(False)]
    assert not woken


def test_a_long_part_comes_piece_by_piece_and_says_that_it_runs(woken):
    def session(queue):
        for one in (began("part"), running(True), piece(1)):
            queue.enqueue(one)
        return [queue.flush()]

    first, later = served(session, 0.2)
    assert first == [began("part")]
    assert later == [running(True), piece(1)]
    assert woken == [True]


def test_a_part_that_is_drawn_again_keeps_nothing_back(woken):
    def session(queue):
        for one in (began("part"), piece(1), began("part"), piece(2), ended()):
            queue.enqueue(one)
        return []

    assert served(session) == [[began("part"), piece(1), began("part"), piece(2), ended()]]


def test_a_part_sends_nothing_of_the_one_before(woken):
    def session(queue):
        given = []
        for place in (1, 2):
            for one in (began("part"), piece(place), ended()):
                queue.enqueue(one)
            given.append(queue.flush())
        return given

    first, second, last = served(session)
    assert first == [began("part"), piece(1), ended()]
    assert second == [began("part"), piece(2), ended()]
    assert last == []


PAGE = [
    began(),
    running(True),
    container(1),
    container(1, 0, part="outer"),
    piece(1, 0, 0, part="inner"),
]


def test_a_part_that_begins_before_its_page_was_sent_leaves_no_piece_without_its_container(woken):
    def session(queue):
        for one in (*PAGE, ForwardMsg(script_finished=ForwardMsg.FINISHED_SUCCESSFULLY)):
            queue.enqueue(one)
        queue.clear(retain_lifecycle_msgs=True, fragment_ids_this_run=["outer"])
        for one in (began("outer"), container(1, 0, part="outer"), piece(1, 0, 0, part="inner")):
            queue.enqueue(one)
        queue.enqueue(ended())
        return []

    (sent,) = served(session)
    assert not too_soon(sent)
    assert sent[-1] == ended()
    assert [one.WhichOneof("type") for one in sent].count("new_session") == 2
    assert ForwardMsg(script_finished=ForwardMsg.FINISHED_SUCCESSFULLY) in sent


@pytest.mark.parametrize("again", [[], ["inner"]], ids=["the page", "a part"])
def test_what_begins_while_a_part_waits_leaves_no_piece_without_its_container(woken, again):
    def session(queue):
        for one in (*PAGE, began("inner"), piece(1, 0, 0, part="inner")):
            queue.enqueue(one)
        queue.clear(retain_lifecycle_msgs=True, fragment_ids_this_run=again or None)
        for one in ([began(*again), *PAGE[2 if not again else 4 :]], [ended()]):
            for message in one:
                queue.enqueue(message)
        return []

    (sent,) = served(session)
    assert not too_soon(sent)
    assert tuple(sent[-2].metadata.delta_path) == (0, 1, 0, 0)
    assert sent[-1] == ended()


def test_a_page_that_begins_again_sends_nothing_of_the_one_before_but_how_it_ended(woken):
    def session(queue):
        for one in (*PAGE, began("inner"), running(True), piece(1, 0, 0, part="inner")):
            queue.enqueue(one)
        queue.clear(retain_lifecycle_msgs=True)
        queue.enqueue(began())
        return []

    (sent, page) = served(lambda queue: [*session(queue), queue.flush()], 0.2)
    assert sent == [began(), running(True), began("inner"), running(True)]
    assert page == [began()]


def test_a_whole_page_comes_as_it_is_drawn(woken):
    def session(queue):
        for one in (began(), running(True), piece(1)):
            queue.enqueue(one)
        return []

    assert served(session) == [[began(), running(True), piece(1)]]


EARLY = ForwardMsg(script_finished=ForwardMsg.FINISHED_EARLY_FOR_RERUN)
"""How a page ends that a widget's callback ends for one of its parts."""
ADDRESS = ForwardMsg()
ADDRESS.page_info_changed.query_string = "mean.bound=2"


def false_start(queue: outbox.Outbox) -> None:
    for one in (began(), running(True), ADDRESS, EARLY, running(False)):
        queue.enqueue(one)


def test_a_page_that_begins_for_one_of_its_parts_only_is_not_told(woken):
    def session(queue):
        false_start(queue)
        meanwhile = queue.flush()
        queue.clear(retain_lifecycle_msgs=True, fragment_ids_this_run=["part"])
        queue.enqueue(began("part"))
        first = queue.flush()
        for one in (running(True), piece(1, part="part"), ended()):
            queue.enqueue(one)
        return [meanwhile, first]

    meanwhile, first, last = served(session)
    assert meanwhile == []
    assert first == [ADDRESS, began("part")]
    assert last == [piece(1, part="part"), ended()]


def test_a_page_that_begins_again_as_a_whole_is_told_of_both(woken):
    def session(queue):
        false_start(queue)
        queue.clear(retain_lifecycle_msgs=True)
        for one in (began(), running(True), piece(1)):
            queue.enqueue(one)
        return []

    (sent,) = served(session)
    assert [one for one in sent if one.HasField("new_session")] == [began(), began()]
    assert sent[-1] == piece(1)


def test_a_page_that_ended_for_a_part_which_does_not_come_is_told(woken):
    def session(queue):
        false_start(queue)
        return [queue.flush()]

    first, later = served(session, 0.2)
    assert first == []
    assert later == [began(), running(True), ADDRESS, EARLY, running(False)]
    assert woken == [True]


def test_every_session_of_the_app_sends_so(monkeypatch):
    monkeypatch.setattr(app_session, "ForwardMsgQueue", app_session.ForwardMsgQueue)
    runpy.run_path(str(ROOT / "app.py"))
    assert app_session.ForwardMsgQueue is outbox.Outbox
