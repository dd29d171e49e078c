"""The loop: every replica is measured, priced and kept, in turns, whatever the order."""

import math
from contextlib import closing
from dataclasses import replace

import numpy as np
import pytest

from datasets import catalog as data
from engine.catalog import catalog
from engine.core.errors import BudgetError
from engine.papers.survival.samplers.corrected import ExactSampler
from engine.runs import driver
from engine.runs.checkpoint import Checkpoints
from engine.runs.driver import TURNS, drive
from engine.runs.events import Advanced, Finished, Measured, Produced, Spent, Started
from engine.runs.job import request
from engine.runs.results import collect
from tests.engine.toy import ENTRY, PAPER, guarantee


def reported(job, focus=None, kept=None):
    """A job's events; its arrays land in `kept` by name."""
    kept = {} if kept is None else kept

    def keep(name, arrays):
        kept[name] = arrays
        return name

    return list(drive(job, data.load(job.dataset), keep, focus=focus))


def kinds(events, kind):
    return [event for event in events if isinstance(event, kind)]


def test_it_begins_and_ends_once(toy):
    events = reported(toy({"scale": (1, 2, 3)}, seeds=(0, 1), steps=4))
    assert events[0] == Started(0, 4, 6)
    assert events[-1] == Finished(4, "completed", ())
    assert len(kinds(events, Started)) == len(kinds(events, Finished)) == 1


def test_every_step_of_every_replica_is_measured(toy):
    job = toy({"scale": (1, 2, 3)}, seeds=(0, 1), steps=4)
    events = reported(job)
    seen = {(event.step, row) for event in kinds(events, Measured) for row in event.replicas}
    assert seen == {(step, row) for step in range(1, 5) for row in range(6)}
    results = collect(job, events)
    np.testing.assert_array_equal(results.gauges["product"], [4, 4, 8, 8, 12, 12])


def test_every_replica_is_priced_once(toy):
    job = toy({"epsilon": (0.5, 2.0)}, seeds=(0, 1, 2))
    prices = {}
    for event in kinds(reported(job), Spent):
        prices.update(zip(event.replicas, event.epsilon, strict=True))
    assert prices == dict(enumerate([0.5] * 3 + [2.0] * 3))


def test_what_nobody_can_price_costs_infinity(toy, monkeypatch):
    """The card proves nothing, and no accountant knows the event."""

    def refuse(*_, **__):
        raise BudgetError("no")

    def unproved(*arguments):
        return replace(guarantee(*arguments), epsilon_proved=None, status="heuristic")

    entry = replace(ENTRY, guarantee=unproved)
    monkeypatch.setitem(catalog(), "toy", replace(PAPER, methods=(entry,)))
    (event,) = kinds(reported(toy()), Spent)
    assert event.epsilon == (1.0,)  # what the accountant says of the event
    monkeypatch.setattr(driver.accounting, "epsilon", refuse)
    (event,) = kinds(reported(toy()), Spent)
    assert event.epsilon == (math.inf,)


def test_chunks_take_turns(toy):
    """Nine replicas in chunks of four, of many steps: each grows before any has finished."""
    job = toy({"scale": (1, 2, 3)}, seeds=(0, 1, 2), steps=10 * TURNS)
    first = {}
    for number, event in enumerate(kinds(reported(job), Measured)):
        first.setdefault(event.replicas, number)
        if event.step == 10 * TURNS:
            break
    assert sorted(first) == [(0, 1, 2, 3), (4, 5, 6, 7), (8,)]


def test_progress_only_grows_and_ends_at_the_whole(toy):
    events = kinds(reported(toy({"scale": (1, 2, 3)}, seeds=(0, 1, 2), steps=50)), Advanced)
    done = [event.done for event in events]
    assert done == sorted(done)
    assert events[-1].done == events[-1].total == 3 * 50


def test_the_chunk_under_the_sliders_goes_first(toy):
    job = toy({"scale": (0.1, 0.2, 0.4, 0.8, 1.6, 3.2)}, seeds=(0, 1))
    measured = kinds(reported(job, focus={"scale": 3.0}), Measured)
    assert 10 in measured[0].replicas  # the first seed of scale 3.2
    assert 0 in kinds(reported(job, focus={"scale": 0.11}), Measured)[0].replicas


def test_the_order_of_chunks_changes_no_number(toy):
    job = toy({"scale": (0.1, 0.2, 0.4, 0.8, 1.6, 3.2)}, seeds=(0, 1))
    ahead, back = reported(job), reported(job, focus={"scale": 3.0})
    assert set(map(str, kinds(ahead, Measured))) == set(map(str, kinds(back, Measured)))
    assert ahead != back


def test_each_chunk_has_a_generator_of_its_own(toy):
    job, other = toy(), toy(steps=4)
    seeds = {driver._seed(some.id, number) for some in (job, other) for number in range(100)}
    assert len(seeds) == 200
    assert all(0 <= seed < 2**56 for seed in seeds)


def test_a_replica_that_diverges_is_a_result(toy):
    job = toy({"scale": (1, 2)}, seeds=(0, 1), behaviour="diverge")
    events = reported(job)
    assert events[-1] == Finished(3, "completed", (0,))
    assert kinds(events, Measured)[0].values["product"][:2] == (None, 1.0)
    results = collect(job, events)
    assert np.isnan(results.gauges["product"]).tolist() == [True, False, False, False]


def test_arrays_are_kept_for_each_chunk(toy):
    kept = {}
    events = kinds(reported(toy({"scale": (1, 2, 3)}, seeds=(0, 1)), kept=kept), Produced)
    assert [event.replicas for event in events] == [(0, 1, 2, 3), (4, 5)]
    assert [event.digest for event in events] == list(kept)
    np.testing.assert_array_equal(kept["final-0001"]["scales"][:, 0], [3, 3])


def test_closing_it_stops_the_work(toy):
    """A run that would take days ends as soon as nobody asks."""
    job = toy(steps=50_000, pause=0.01)
    with closing(drive(job, data.load(job.dataset), lambda name, arrays: name)) as events:
        assert isinstance(next(events), Started)
        assert next(events).step == 1
    assert next(events, None) is None


def test_an_error_of_a_method_is_passed_on(toy):
    with pytest.raises(ValueError, match="the toy"):
        reported(toy(behaviour="raise"))


def test_a_chunk_takes_a_step_before_the_next_begins(toy):
    """Where others wait, a turn ends after the step, and not after the beginning of all chunks."""
    job = toy({"scale": (1, 2, 3, 4, 5, 6, 7, 8)})
    with closing(
        drive(job, data.load("flchain"), lambda name, arrays: "", pause=lambda: True)
    ) as run:
        steps = [event.step for event in run if isinstance(event, Advanced)]
    assert steps[:4] == [0, 1, 0, 1]


def test_what_was_stopped_at_its_price_is_priced_when_it_goes_on(monkeypatch):
    """Its steps are done, its price and arrays are not: it is not over, even if somebody waits."""
    job = request("survival", "exact", "heart", {"samples": 40, "intervals": 5}, {}, (0,))
    kept, table = {}, data.load("heart")

    def save(arrays, *, going_on):
        kept.clear(), kept.update(arrays)

    def run(**how):
        past = Checkpoints(kept.get, save)
        return drive(job, table, lambda name, arrays: "digest", past=past, **how)

    def stop(*_):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(ExactSampler, "products", stop)
        with pytest.raises(KeyboardInterrupt):
            list(run())
    with closing(run(pause=lambda: True)) as again:
        next(event for event in again if isinstance(event, Advanced))
    kinds = [type(event) for event in run()]
    assert kinds.count(Spent) == kinds.count(Produced) == kinds.count(Finished) == 1
