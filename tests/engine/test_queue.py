"""What somebody looks at goes first, what nobody does is paused and kept, and all have a share."""

import importlib
import itertools
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from engine.core import disk
from engine.runs import footprint, memory
from engine.runs.events import Measured
from engine.service import ahead, scheduler, shares, watching
from engine.service.claim import take
from engine.service.process import Process, here
from engine.service.scheduler import Scheduler
from engine.service.store import Store
from engine.service.watching import Stage, Visitor, Wanted, level
from tests.engine.conftest import LASTS, claimed, ended, running, until

pytestmark = pytest.mark.usefixtures("looks_last")

ADA, BOB = Visitor("page 1", "ada"), Visitor("page 2", "bob")


@pytest.fixture
def desk(store, monkeypatch) -> Scheduler:
    """Turns of one step.

    What other tests have left in this process's memory takes no room from a job.
    """
    importlib.import_module("engine.runs.driver")
    monkeypatch.setattr(scheduler, "SLICE", 0.0)
    monkeypatch.setattr(footprint, "resident", lambda: 0)
    return Scheduler(store, "cpu", 10.0)


def shows(client, visitor: Visitor, jobs, *, ahead=()) -> None:
    """A view, as a page asks for it: what it shows, in its order, and what comes after it."""
    view = {job.id: stage for job, stage in jobs} | dict.fromkeys(
        [job.id for job in ahead], Stage.AHEAD
    )
    watching.look_on(client.store, visitor, view)
    for job, _ in jobs:
        client.submit(job, {}, visitor, passing=True)
    for job in ahead:
        client.submit(job, {}, visitor, ahead=True)


@contextmanager
def eyes(client, visitor: Visitor, jobs, *, ahead=()) -> Iterator[None]:
    """Shows a view, and says so again and again, as a page does; the page closes at the end."""
    shows(client, visitor, jobs, ahead=ahead)
    store, closed = Store(client.store.folder), threading.Event()
    view = {job.id: stage for job, stage in jobs}
    view |= dict.fromkeys([job.id for job in ahead], Stage.AHEAD)

    def beat() -> None:
        while not closed.wait(1.0):
            watching.look_on(store, visitor, view)

    thread = threading.Thread(target=beat)
    thread.start()
    try:
        yield
    finally:
        closed.set()
        thread.join()
        watching.gone(store, [visitor.session])
        store.database.close()


def order(desk: Scheduler, client, jobs) -> list:
    """The jobs in the order in which they come to their end."""
    left, over = list(jobs), []
    while left and desk.go():
        done = [job for job in left if not client.run(job.id).active]
        over += done
        left = [job for job in left if job not in done]
    return over


def test_a_view_gets_its_point_then_its_curves_then_the_rest(toy, client, desk):
    point, coarse, other, full = (toy(steps=20 + i) for i in range(4))
    view = [(full, Stage.FULL), (other, Stage.OTHER), (coarse, Stage.COARSE), (point, Stage.POINT)]
    shows(client, ADA, view)
    assert order(desk, client, [full, other, coarse, point]) == [point, coarse, other, full]


@pytest.mark.thorough
def test_the_chosen_curve_comes_first_and_holds_no_quick_one_back_for_long(
    toy, client, desk, clock, monkeypatch
):
    """Its time counts for a sixteenth: it ends before others of its length, not before all."""
    monkeypatch.setattr(watching, "LEVEL", 0.02)
    chosen, alike, quick = toy(steps=20, pause=0.01), toy(steps=21, pause=0.01), toy(steps=2)
    view = [(quick, Stage.COARSE), (alike, Stage.COARSE), (chosen, Stage.CURVE)]
    shows(client, ADA, view)
    assert order(desk, client, [quick, alike, chosen]) == [chosen, quick, alike]
    monkeypatch.setattr(watching, "LEVEL", 0.1)
    slow, others = toy(steps=600, pause=0.01), [toy(steps=3), toy(steps=4)]
    shows(client, BOB, [*((job, Stage.COARSE) for job in others), (slow, Stage.CURVE)])
    assert order(desk, client, [slow, *others]) == [*others, slow]


@pytest.mark.parametrize("shared", [False, True])
def test_the_chosen_curve_keeps_its_turn_longer_where_a_second_process_takes_the_others(
    toy, client, desk, clock, monkeypatch, shared
):
    monkeypatch.setattr(scheduler, "FAVOUR", 1.0)
    monkeypatch.setattr(scheduler, "FAVOUR_OF_TWO", 1e6)
    chosen, quick = toy(steps=40, pause=0.01), toy(steps=2)
    desk.shared = shared
    shows(client, ADA, [(quick, Stage.COARSE), (chosen, Stage.CURVE)])
    assert order(desk, client, [chosen, quick]) == ([chosen, quick] if shared else [quick, chosen])


def test_whole_runs_wait_while_their_page_is_drawn(toy, client, store, desk, monkeypatch):
    """The point does not wait."""
    monkeypatch.setattr(scheduler, "SETTLE", 0.5)
    point, whole, moved = toy(steps=5), toy(steps=20), store.now()
    monkeypatch.setattr(store, "now", lambda: moved)
    shows(client, ADA, [(point, Stage.POINT), (whole, Stage.FULL)])
    assert order(desk, client, [point, whole]) == [point]
    assert not desk.go()
    monkeypatch.setattr(store, "now", lambda: moved + 30.0)
    assert order(desk, client, [whole]) == [whole]


def test_within_a_stage_the_order_is_the_view_s(toy, client, desk, monkeypatch):
    monkeypatch.setattr(watching, "LEVEL", 60.0)  # none has had more than another
    jobs = [toy(steps=20 + i) for i in range(6)]
    shows(client, ADA, [(job, Stage.COARSE) for job in reversed(jobs)])
    assert order(desk, client, jobs) == jobs[::-1]


def test_the_newest_move_of_a_person_goes_first(toy, client, desk, monkeypatch):
    monkeypatch.setattr(watching, "LEVEL", 60.0)
    older, newer = toy(steps=20), toy(steps=21)
    shows(client, Visitor("another page", "ada"), [(older, Stage.COARSE)])
    time.sleep(0.02)
    shows(client, ADA, [(newer, Stage.COARSE)])
    assert order(desk, client, [older, newer]) == [newer, older]


@pytest.mark.thorough
def test_everybody_has_a_first_curve_before_anybody_has_a_second(toy, client, desk):
    firsts = [toy(steps=10 + i, pause=0.002) for i in range(8)]
    seconds = [toy(steps=30 + i, pause=0.002) for i in range(8)]
    for number, (first, second) in enumerate(zip(firsts, seconds, strict=True)):
        one = Visitor(f"page {number}", f"person {number}")
        shows(client, one, [(first, Stage.COARSE), (second, Stage.OTHER)])
    over = order(desk, client, [*firsts, *seconds])
    assert {job.id for job in over[:8]} == {job.id for job in firsts}


def test_many_who_wait_for_little_are_served_one_after_the_other(toy, client, desk, monkeypatch):
    """Turn by turn, they would all come to their end when the last of them does."""
    monkeypatch.setattr(shares, "FIRST", 60.0)
    jobs = [toy(steps=5 + i) for i in range(6)]
    for number, job in enumerate(jobs):
        shows(client, Visitor(f"page {number}", f"person {number}"), [(job, Stage.POINT)])
    for job in jobs:
        assert order(desk, client, [job]) == [job]
        assert not desk.open


def test_a_turn_that_loads_takes_a_step_too(toy, client, desk):
    """Else the one who waited for the loading would stand behind all others with nothing done."""
    shows(client, ADA, [(toy(steps=5), Stage.POINT)])
    assert desk.go()
    (work,) = desk.open
    assert work._step == 1
    desk.leave()


@pytest.mark.thorough
def test_persons_have_the_same_time_however_many_jobs_they_have(toy, client, desk, clock):
    one = toy(steps=2_000, pause=0.01)
    many = [toy(steps=2_001 + i, pause=0.01) for i in range(6)]
    shows(client, ADA, [(job, Stage.FULL) for job in many])
    shows(client, BOB, [(one, Stage.FULL)])
    while clock.now < 3.0:
        assert desk.go()
    spent = {work.claim.job.id: work.spent for work in desk.open}
    bob = spent.pop(one.id)
    assert abs(bob - sum(spent.values())) < 0.2 * (bob + sum(spent.values()))
    desk.leave()


def test_what_nobody_looks_at_any_more_sleeps_and_goes_on_where_it_was(toy, client, store, desk):
    job, other = toy(steps=300, pause=0.001), toy(steps=20)
    shows(client, ADA, [(job, Stage.FULL)])
    for _ in range(10):
        desk.go()
    watching.look_on(store, ADA, [])
    assert not desk.go()
    (work,) = desk.open
    assert work.asleep
    assert client.run(job.id).paused
    shows(client, BOB, [(other, Stage.FULL)])
    assert order(desk, client, [other]) == [other]
    watching.look_on(store, ADA, [job.id])
    assert order(desk, client, [job]) == [job]
    steps = [event.step for _, event in client.events(job.id) if isinstance(event, Measured)]
    assert steps == list(range(1, 301))  # each once: it did not begin again


def test_a_job_that_sleeps_makes_room(toy, client, store, desk, monkeypatch):
    monkeypatch.setattr(scheduler, "MOST", 1)
    job, other = toy(steps=300, pause=0.001), toy(steps=20)
    shows(client, ADA, [(job, Stage.FULL)])
    desk.go()
    shows(client, ADA, [(other, Stage.FULL)])
    assert order(desk, client, [other]) == [other]
    assert client.run(job.id).state == "queued"
    assert client.run(job.id).paused


def test_in_a_process_that_holds_much_a_new_job_takes_the_place_of_a_paused_one(
    toy, client, store, desk, monkeypatch
):
    """The one that has been paused for longest goes; memory does not grow with every move."""
    held = [0]
    monkeypatch.setattr(footprint, "resident", lambda: held[0])
    jobs = [toy(steps=300 + i, pause=0.001) for i in range(4)]
    for job in jobs[:3]:
        shows(client, ADA, [(job, Stage.FULL)])
        desk.go()
    assert [work.claim.job for work in desk.open] == jobs[:3]  # all of them go on where they were
    held[0] = scheduler.COMFORT + 1
    shows(client, ADA, [(jobs[3], Stage.FULL)])
    desk.go()
    assert [work.claim.job for work in desk.open] == jobs[1:]
    assert client.run(jobs[0].id).state == "queued"
    desk.leave()


def test_free_memory_goes_before_a_paused_job(toy, client, desk, monkeypatch):
    held = [0]
    monkeypatch.setattr(footprint, "resident", lambda: held[0])
    monkeypatch.setattr(memory, "trim", lambda: held.insert(0, 0))
    jobs = [toy(steps=300 + i, pause=0.001) for i in range(2)]
    for job in jobs:
        shows(client, ADA, [(job, Stage.FULL)])
        desk.go()
        held[0] = scheduler.COMFORT + 1
    assert [work.claim.job for work in desk.open] == jobs
    desk.leave()


def test_in_a_crowded_process_several_paused_jobs_make_room(toy, client, desk, monkeypatch):
    held = [0]
    monkeypatch.setattr(footprint, "resident", lambda: held[0])
    monkeypatch.setattr(memory, "trim", lambda: None)
    jobs = [toy(steps=300 + i, pause=0.001) for i in range(4)]
    for job in jobs:
        held[0] = scheduler.CROWDED + 1 if job is jobs[3] else 0
        shows(client, ADA, [(job, Stage.FULL)])
        desk.go()
    assert [work.claim.job for work in desk.open] == jobs[3:]
    desk.leave()


def test_a_process_with_nothing_to_do_hands_free_memory_back_once(toy, client, desk, monkeypatch):
    trimmed = []
    monkeypatch.setattr(memory, "trim", lambda: trimmed.append(True))
    monkeypatch.setattr(scheduler, "COLLECT", 0.0)
    for jobs in range(3):
        shows(client, ADA, [(toy(steps=jobs + 1), Stage.FULL)] if jobs else [])
        for _ in range(20):
            desk.go()
        assert len(trimmed) == jobs


def test_abandoned_views_are_not_queued_in_front(toy, client, desk):
    """Nine views were left; the tenth is trained as if they had never been."""
    for number in range(9):
        shows(client, ADA, [(toy(steps=500 + number, pause=0.01), Stage.POINT)])
        desk.go()
    last, before = toy(steps=20), [work.spent for work in desk.open]
    shows(client, ADA, [(last, Stage.POINT)])
    assert order(desk, client, [last]) == [last]
    assert all(work.asleep for work in desk.open)
    assert [work.spent for work in desk.open] == before
    assert client.run(last.id).ahead == 0
    desk.leave()


def test_a_session_that_closed_its_page_holds_nobody_up(toy, client, store, desk, monkeypatch):
    job = toy(steps=300, pause=0.001)
    shows(client, ADA, [(job, Stage.FULL)])
    desk.go()
    later = store.now() + LASTS + 1.0
    monkeypatch.setattr(store, "now", lambda: later)
    assert not desk.go()
    desk.leave()
    assert client.run(job.id).state == "queued"  # it waits for somebody to look, not for a button


@pytest.mark.thorough
def test_the_background_has_its_share_and_no_more(toy, client, desk, clock):
    """A tenth of the time of a view that trains, within what a turn is long."""
    quiet, looked = toy(steps=5_000, pause=0.01), toy(steps=5_001, pause=0.01)
    client.submit(quiet)
    shows(client, ADA, [(looked, Stage.FULL)])
    while clock.now < 4.0:
        assert desk.go()
    spent = {work.claim.job.id: work.spent for work in desk.open}
    share = spent[quiet.id] / sum(spent.values())
    assert 0.02 < share < 0.2
    desk.leave()


@pytest.mark.thorough
def test_whole_runs_of_others_have_a_share_beside_curves_that_never_end(toy, client, desk, clock):
    whole, curves = toy(steps=5_000, pause=0.01), toy(steps=5_001, pause=0.01)
    shows(client, ADA, [(whole, Stage.FULL)])
    shows(client, BOB, [(curves, Stage.COARSE)])
    while clock.now < 4.0:
        assert desk.go()
    spent = {work.claim.job.id: work.spent for work in desk.open}
    assert 0.02 < spent[whole.id] / sum(spent.values()) < 0.2
    desk.leave()


def test_a_short_job_is_not_held_up_by_many_that_were_open_before(toy, client, desk, clock):
    long = [toy(steps=100 + i, pause=0.01) for i in range(scheduler.OPEN)]
    shows(client, ADA, [(job, Stage.FULL) for job in long])
    while len(desk.open) < len(long) or min(work.spent for work in desk.open) < 0.1:
        assert desk.go()  # each has had enough to stand behind one that has had nothing
    short = toy(steps=10)
    shows(client, ADA, [*((job, Stage.FULL) for job in long), (short, Stage.FULL)])
    before = [work.spent for work in desk.open]
    assert order(desk, client, [short]) == [short]
    assert [work.spent for work in desk.open] == before
    desk.leave()


def test_levels_grow():
    assert [level(seconds) for seconds in (0.0, 0.09, 0.1, 0.39, 0.4, 1.6)] == [0, 0, 1, 1, 2, 3]


def test_what_a_person_has_had_fades(monkeypatch):
    now = [0.0]
    monkeypatch.setattr(shares.time, "monotonic", lambda: now[0])
    had = shares.Shares()
    ada, bob = (
        Wanted(person, Stage.COARSE, (person,), 1.0, 0, 0.0, number)
        for number, person in enumerate(("ada", "bob"))
    )
    had.charge(ada, 8.0, [bob])
    now[0] = 20.0
    had.charge(bob, 6.0, [ada])  # 8 s have become 5
    assert list(had.ranked([ada, bob], lambda one: 0.0, shares.FAVOUR)) == [ada, bob]


# Workers that die


@pytest.mark.slow
def test_what_a_killed_worker_did_goes_on_by_itself(toy, client, worker):
    """Between the coarse curve and the whole: both are there without anybody's pressing."""
    coarse, full = toy(steps=5), toy(steps=400, pause=0.01)
    first = worker()
    with eyes(client, ADA, [(coarse, Stage.COARSE), (full, Stage.FULL)]):
        assert ended(client, coarse.id).state == "completed"
        running(client, full.id)
        first.kill()
        first.wait()
        worker()
        assert ended(client, full.id).state == "completed"
    assert client.run(coarse.id).state == "completed"


def test_a_job_that_ends_its_workers_waits_for_somebody_to_ask(toy, client, store, monkeypatch):
    job = toy()
    shows(client, ADA, [(job, Stage.FULL)])
    states = []
    for _ in range(4):
        if take(store, here(), job.id) is None:
            break
        store.sweep(idle=here())
        states.append(client.run(job.id).state)
    assert states == ["queued", "queued", "interrupted"]


@pytest.mark.slow
def test_a_worker_s_end_leaves_what_was_asked_for_in_passing_in_the_queue(toy, client, worker):
    process = worker()
    job = toy(steps=1_000, pause=0.01)
    with eyes(client, ADA, [(job, Stage.FULL)]):
        until(lambda: len(client.events(job.id)) > 1)
        process.send_signal(signal.SIGTERM)
    assert process.wait(300) == 128 + signal.SIGTERM
    assert client.run(job.id).state == "queued"


@pytest.mark.slow
def test_a_worker_rests_once_nobody_looks_and_leaves_once_no_app_is_there(toy, client, worker):
    """The page was left and the app has ended: nothing is trained on, and the process ends."""
    process = worker(environment={"EXPLORER_IDLE_SECONDS": "3"})
    job = toy(steps=100_000, pause=0.01)
    with eyes(client, ADA, [(job, Stage.FULL)]):
        until(lambda: len(client.events(job.id)) > 1)

    def steps() -> int:
        return sum(isinstance(event, Measured) for _, event in client.events(job.id))

    def rests() -> bool:
        before = steps()
        time.sleep(1.5)
        return steps() == before

    until(rests)
    assert process.wait(300) == 0
    assert client.run(job.id).state == "queued"


@pytest.mark.thorough
def test_a_stop_breaks_into_a_step(toy, client, worker):
    """In a step that goes on for long, also after the page was left."""
    process = worker()
    job = toy(behaviour="spin", pause=60.0)
    with eyes(client, ADA, [(job, Stage.FULL)]):
        until(lambda: client.events(job.id))
        time.sleep(0.5)
        client.cancel(job.id)
    assert ended(client, job.id, 40.0).state == "cancelled"
    assert process.poll() is None  # the step was broken into; a process that hangs is given up


# Ahead


def test_neighbours_are_trained_once_nothing_else_waits(toy, client, desk, monkeypatch):
    here_, neighbour, quiet = toy(steps=20), toy(steps=10), toy(steps=30)
    client.submit(quiet)
    shows(client, ADA, [(here_, Stage.FULL)], ahead=[neighbour])
    assert order(desk, client, [here_, neighbour, quiet]) == [here_, quiet, neighbour]
    monkeypatch.setenv(ahead.SWITCH, "off")
    further = toy(steps=11)
    shows(client, ADA, [(here_, Stage.FULL)], ahead=[further])
    assert not desk.go()


@pytest.mark.thorough
def test_a_move_breaks_into_what_is_trained_ahead(toy, client, worker):
    worker()
    neighbour, moved = toy(behaviour="spin", pause=60.0), toy(steps=3)
    shows(client, ADA, [], ahead=[neighbour])
    until(lambda: client.events(neighbour.id))
    time.sleep(1.0)
    with eyes(client, ADA, [(moved, Stage.POINT)]):
        assert ended(client, moved.id, 40.0).state == "completed"
    assert client.run(neighbour.id).state == "queued"


def test_a_neighbour_that_fails_is_no_error_on_any_page(toy, client, desk):
    """It is not there, and is asked for in earnest by who gets there."""
    broken = toy(behaviour="raise")
    shows(client, ADA, [], ahead=[broken])
    assert desk.go()
    while desk.go():
        pass
    assert client.runs() == []
    shows(client, ADA, [(broken, Stage.POINT)])
    while desk.go():
        pass
    assert client.run(broken.id).error == "ValueError: the toy is broken"


def test_a_full_disk_while_training_ahead_is_no_error(toy, client, store, desk, monkeypatch):
    one, two = toy(steps=5), toy(steps=6)
    shows(client, ADA, [], ahead=[one, two])
    with monkeypatch.context() as little:
        little.setattr(disk, "room", lambda folder: 1_000)
        assert not desk.go()
    assert {run.state for run in client.runs()} == {"queued"}
    full = store.artifacts  # the disk fills while it trains

    def keep(self, name, arrays):
        raise OSError(28, "No space left on device", str(full))

    with monkeypatch.context() as filled:
        filled.setattr("engine.service.claim.Claim.keep", keep)
        while desk.go():
            pass
    assert [run.job for run in client.runs()] == [two]  # and nothing more is tried for a while
    assert client.run(two.id).state == "queued"


def test_what_takes_too_long_ahead_is_dropped(toy, client, desk, clock, monkeypatch):
    monkeypatch.setenv(ahead.SECONDS, "1")
    long = toy(steps=1_000, pause=0.01)
    shows(client, ADA, [], ahead=[long])
    while desk.go():
        assert clock.now < 2.0
    assert client.run(long.id).state == "queued"
    assert not desk.open


def test_what_is_trained_ahead_has_room_of_its_own(toy, client, store, desk, monkeypatch):
    """The oldest goes first; what somebody has looked at stays."""
    monkeypatch.setattr(ahead, "RUNS", 2)
    jobs = [toy(steps=5 + i) for i in range(4)]
    for job in jobs:
        shows(client, ADA, [], ahead=[job])
        assert order(desk, client, [job]) == [job]
        if job == jobs[0]:
            watching.look_on(store, ADA, [job.id])
    assert {run.job.id for run in client.runs()} == {jobs[0].id, jobs[2].id, jobs[3].id}


# Stores from before


def test_a_store_from_before_views_had_stages_loses_nothing(toy, client, home):
    """It gets what it lacks when it is opened; its runs are whole and can be asked for."""
    done, waits = toy(steps=1), toy(steps=2)
    claimed(client.store, done).finish("completed", [], worked=1.0)
    client.submit(waits)
    with client.store.database.writing() as connection:
        connection.execute("DROP TABLE looking")
        for column in ("viewed", "lost"):
            connection.execute(f"ALTER TABLE jobs DROP COLUMN {column}")
        connection.execute(
            "CREATE TABLE watching (run TEXT NOT NULL, session TEXT NOT NULL, person TEXT NOT "
            "NULL, seen REAL NOT NULL, PRIMARY KEY (run, session)) WITHOUT ROWID"
        )
    client.close()
    store = Store(home)
    watching.look_on(store, ADA, {waits.id: Stage.POINT})
    assert take(store, here()).job == waits
    assert {run.state for run in client.runs()} == {"completed", "running"}
    store.database.close()


def test_a_second_process_takes_what_comes_after_the_chosen_curve(toy, client, store):
    importlib.import_module("engine.runs.driver")
    point, curve, background, coarse, other, full = (toy(steps=20 + i) for i in range(6))
    shows(client, ADA, [(point, Stage.POINT), (curve, Stage.CURVE)])
    shows(client, BOB, [(full, Stage.FULL), (other, Stage.OTHER), (coarse, Stage.COARSE)])
    client.submit(background)
    second = Scheduler(store, "cpu", 10.0, stages=watching.SECOND)
    every = [full, other, coarse, point, curve, background]
    assert order(second, client, every) == [coarse, other, full]
    assert not second.go()
    first = Scheduler(store, "cpu", 10.0)
    assert order(first, client, [background, curve, point]) == [point, curve, background]


def test_what_is_trained_ahead_leaves_the_first_of_two_processes_free(toy, client, store):
    importlib.import_module("engine.runs.driver")
    first, neighbour = Scheduler(store, "cpu", 10.0), toy(steps=10)
    shows(client, ADA, [], ahead=[neighbour])
    first.shared = True
    assert not first.go()
    second = Scheduler(store, "cpu", 10.0, stages=watching.SECOND)
    second.shared = True
    assert order(second, client, [neighbour]) == [neighbour]
    further = toy(steps=11)
    shows(client, ADA, [], ahead=[further])
    first.shared = False  # there is no second any more
    assert order(first, client, [further]) == [further]


def test_nothing_is_trained_ahead_while_another_process_trains(toy, client, store, desk):
    trains, neighbour = toy(steps=20), toy(steps=10)
    shows(client, ADA, [(trains, Stage.FULL)], ahead=[neighbour])
    own = here()
    claim = take(store, Process(own.pid, f"{own.born}0"), trains.id)
    assert not desk.go()
    claim.finish("completed", [])
    assert order(desk, client, [neighbour]) == [neighbour]


@pytest.mark.thorough
@pytest.mark.parametrize(
    "stage",
    [
        Stage.COARSE,
        *(pytest.param(one, marks=pytest.mark.thorough) for one in (Stage.OTHER, Stage.FULL)),
    ],
)
def test_where_two_processes_work_neither_opens_all_runs_of_a_person(
    toy, client, desk, monkeypatch, stage
):
    """Those that are open in one of them cannot be gone on with in the other."""
    monkeypatch.setattr(watching, "LEVEL", 0.0001)  # each turn makes a job one that has had much
    monkeypatch.setattr(watching, "TIMES", 1.01)

    def opened(count: int) -> int:
        shows(client, ADA, [(toy(steps=5_000 + count + i), stage) for i in range(4)])
        for _ in range(12):
            desk.go()
        return len(desk.open)

    desk.shared = True
    most = scheduler.HELD[stage]
    assert opened(0) == most == (1 if stage == Stage.FULL else 2)
    shows(client, BOB, [(other := toy(steps=6_000), stage)])
    while not client.run(other.id).done:
        assert desk.go()
    assert len(desk.open) == most + 1  # another person's begins beside them
    desk.shared = False
    turns = itertools.takewhile(lambda _: len(desk.open) < 5, range(10_000))
    assert all(desk.go() for _ in turns)
    assert len(desk.open) == 5


def test_a_wrong_number_of_seconds_ahead_trains_nothing_ahead(toy, client, desk, monkeypatch):
    monkeypatch.setenv(ahead.SECONDS, "0.5")
    shows(client, ADA, [], ahead=[toy(steps=3)])
    assert not desk.go()
    assert not desk._ahead.long(1.0)
