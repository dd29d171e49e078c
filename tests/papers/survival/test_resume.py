"""Samplers that are stopped go on where they were, number by number."""

import itertools

import numpy as np
import pytest

from engine.papers.survival.samplers import corrected, langevin
from engine.runs import driver
from engine.runs.artifacts import DONE
from engine.runs.checkpoint import Checkpoints
from engine.runs.driver import drive
from engine.runs.events import Advanced, Finished, Measured, Produced, Spent, Started
from engine.runs.job import request
from engine.service.claim import take
from engine.service.client import Client
from engine.service.job_runner import perform
from engine.service.process import here
from tests.papers.survival.toys import table

VALUES = {"intervals": 8, "samples": 80, "sampler_epochs": 2.0, "burn_in": 20, "minibatch": 10}
METHODS = {"psgld": langevin, "exact": corrected}
each = pytest.mark.parametrize("method", METHODS)
DATA = table(60, 2)


def job(method):
    return request("survival", method, "flchain", VALUES, {"epsilon": (0.5, 5.0)}, (0, 1))


def begin(method, past):
    """A run whose arrays are told with the event, and where its state is left."""
    kept = {}

    def keep(name, arrays):
        kept[name] = {k: np.array(v) for k, v in arrays.items()}
        return name

    mind = Checkpoints(past.get, lambda kept, going_on: past.update(kept))
    return drive(job(method), DATA, keep, past=mind), kept


def reported(events):
    return [event for event in events if not isinstance(event, Advanced)]


def first(event):
    """The first replica that an event is about; the run's own events come before all."""
    return event.replicas[0] if isinstance(event, Measured | Produced | Spent) else -1


def by_chunk(events):
    """Each chunk's events in their order; whose turn it was may differ."""
    return sorted(reported(events), key=first)


@pytest.fixture
def chunks(monkeypatch):
    entries = [job(method).entry() for method in METHODS]
    before = [entry.chunk for entry in entries]
    monkeypatch.setattr(driver, "TURNS", 5)
    for entry in entries:
        object.__setattr__(entry, "chunk", lambda spec, n, device: 2)
    yield
    for entry, chunk in zip(entries, before, strict=True):
        object.__setattr__(entry, "chunk", chunk)


@each
@pytest.mark.thorough
def test_a_run_stopped_anywhere_tells_the_same_story(method, chunks):
    """Stopped again and again."""
    run, whole = begin(method, {})
    story = reported(run)
    assert isinstance(story[0], Started)
    every = len(story) // 9 + 5  # going on is told first, once for each chunk
    past, events, kept = {}, [], {}
    for _ in range(50):
        run, mine = begin(method, past)
        events += itertools.islice(run, every)
        run.close()
        kept |= mine
        if isinstance(events[-1], Finished):
            break
        assert DONE in past
    once = list(dict.fromkeys(map(repr, by_chunk(events))))  # an end may be told twice
    assert once == list(map(repr, by_chunk(story)))
    for name, arrays in whole.items():
        for key, values in arrays.items():
            np.testing.assert_array_equal(kept[name][key], values)


@each
@pytest.mark.thorough
def test_a_step_that_is_broken_into_is_taken_again(method, monkeypatch):
    run, whole = begin(method, {})
    story = reported(run)
    past, module = {}, METHODS[method]
    real, calls = module.advance, []

    def breaks(*arguments):
        actual = real(*arguments)  # uses the generator, and is lost
        calls.append(1)
        if len(calls) == 4:
            raise KeyboardInterrupt
        return actual

    monkeypatch.setattr(module, "advance", breaks)
    run, _ = begin(method, past)
    events = []
    with pytest.raises(KeyboardInterrupt):
        events.extend(run)
    run, kept = begin(method, past)
    assert reported([*events, *run]) == story
    for name, values in whole["final-0000"].items():
        np.testing.assert_array_equal(kept["final-0000"][name], values)


@each
def test_the_store_keeps_a_stopped_run_and_goes_on(method, tmp_path, monkeypatch):
    """Cancelled after some events and asked for again: the rest is added, nothing is left over."""
    monkeypatch.setattr("engine.service.job_runner.data_catalog.load", lambda name: DATA)
    here_and_there = []
    for stops, folder in ((False, tmp_path / "one"), (True, tmp_path / "two")):
        client, asked = Client(folder, workers=False), job(method)
        seen = []

        def watch(event, client=client, asked=asked, seen=seen, stops=stops):
            seen.append(event)
            if stops and isinstance(event, Measured) and len(seen) == 3:
                client.cancel(asked.id)

        client.submit(asked)
        state = perform(take(client.store, here()), watch=watch)
        if stops and state == "cancelled":
            assert {n for n in _names(client, asked)} >= {DONE, "state-0000"}
            client.submit(asked)
            state = perform(take(client.store, here()), watch=watch)
        assert state == "completed"
        assert not [name for name in _names(client, asked) if name.startswith("state")]
        assert isinstance(client.events(asked.id)[-1][1], Finished)
        here_and_there.append((client.table(asked.id), client.arrays(asked.id)))
        client.close()
    (one, arrays), (two, again) = here_and_there
    for gauge, column in one.gauges.items():
        np.testing.assert_array_equal(two.gauges[gauge], column)
    assert arrays.keys() == again.keys()
    for name, values in arrays.items():
        np.testing.assert_array_equal(again[name], values)


def _names(client, asked):
    with client.store.database.reading() as connection:
        rows = connection.execute("SELECT name FROM artifacts WHERE run = ?", (asked.id,))
        return [row["name"] for row in rows.fetchall()]


def test_a_method_that_cannot_go_on_leaves_nothing():
    past = {}
    asked = request("survival", "out_pert", "flchain", {"intervals": 8})
    mind = Checkpoints(past.get, lambda kept, going_on: past.update(kept))
    run = drive(asked, DATA, lambda name, arrays: name, past=mind)
    assert isinstance(next(run), Started)
    assert not isinstance(next(run), Produced)
    run.close()
    assert past == {}
