"""Promises that every method of every paper keeps. New papers join unasked.

Each method runs once, small, on the first records of its paper's first data set without a file.
"""

import functools
import itertools
import json
import math
from dataclasses import replace

import numpy as np
import pytest

from datasets import catalog as data
from engine.audit import statistics
from engine.audit.neighbours import first
from engine.catalog import catalog
from engine.conformance.play import case, play, settings, some_multiplier
from engine.core.gauges import gauges
from engine.core.kept import declared, released
from engine.core.spec import knobs
from engine.privacy import accounting
from engine.runs.driver import drive
from engine.runs.events import Finished, Measured, Produced, Spent, Started
from engine.runs.job import Job, request
from tests.papers.survival.toys import flchain_with

SMALL = {"intervals": 10, "epochs": 1, "sample_rate": 0.1, "steps": 5, "samples": 50} | {
    "sampler_epochs": 0.01,
    "pretraining": 2,
    "filters": 8,
}
"""Values that make a run short, for the fields that a paper has."""

PAIRS = [(paper, entry) for paper in catalog().values() for entry in paper.methods]
each = pytest.mark.parametrize(
    ("paper", "entry"), PAIRS, ids=[f"{p.slug}-{e.name}" for p, e in PAIRS]
)


def small(paper, entry) -> Job:
    """A short job with two values on the privacy axis and two seeds."""
    dataset = next(name for name in paper.datasets if data.card(name).embedded)
    values = {field: value for field, value in SMALL.items() if field in knobs(paper.spec)}
    return request(paper.slug, entry.name, dataset, values, {"epsilon": (0.5, 2.0)}, seeds=(0, 1))


RECORDS = 400
"""What is promised does not depend on how many records there are."""


@functools.cache
def table(name: str):
    """The first records of a data set."""
    return first(data.load(name), RECORDS)


@functools.cache
def story(slug: str, name: str):
    """The job, its events and the arrays it kept."""
    paper = catalog()[slug]
    job = small(paper, paper.entry(name))
    kept = {}

    def keep(key, arrays):
        kept[key] = dict(arrays)
        return key

    return job, list(drive(job, table(job.dataset), keep)), kept


@each
@pytest.mark.thorough
def test_a_run_starts_measures_prices_and_finishes(paper, entry):
    job, events, _ = story(paper.slug, entry.name)
    assert isinstance(events[0], Started)
    assert isinstance(events[-1], Finished)
    assert events[0].replicas == job.replicas()
    measured = [event for event in events if isinstance(event, Measured)]
    assert {row for event in measured for row in event.replicas} == set(range(job.replicas()))
    priced = [event for event in events if isinstance(event, Spent)]
    assert sorted(row for event in priced for row in event.replicas) == list(range(job.replicas()))


@each
def test_what_it_measures_is_what_its_gauges_declare(paper, entry):
    _, events, _ = story(paper.slug, entry.name)
    for event in events:
        if isinstance(event, Measured):
            assert event.values.keys() == gauges(entry.info).keys()
            assert all(len(column) == len(event.replicas) for column in event.values.values())


@each
def test_arrays_have_the_replicas_first(paper, entry):
    _, events, kept = story(paper.slug, entry.name)
    for event in events:
        if isinstance(event, Produced):
            for name, array in kept[event.name].items():
                assert np.shape(array)[0] == len(event.replicas), name
                assert np.asarray(array).dtype != object


@each
def test_every_array_is_declared_and_a_proved_method_keeps_its_release(paper, entry):
    job, _, kept = story(paper.slug, entry.name)
    names = {name for arrays in kept.values() for name in arrays}
    assert [name for name in names if declared(paper.arrays, name) is None] == []
    cards = [entry.guarantee(spec, 2_000, "a person") for spec in job.batch().specs]
    if all(card.epsilon_proved is not None for card in cards):
        assert any(released(paper.arrays, name) for name in names)


@each
@pytest.mark.thorough
def test_the_same_job_tells_the_same_story(paper, entry):
    job, events, _ = story(paper.slug, entry.name)
    again = list(drive(job, table(job.dataset), lambda name, arrays: name))

    def tell(story):
        return [event for event in story if not isinstance(event, Produced)]

    assert tell(again) == tell(events)


@each
@pytest.mark.thorough
def test_a_price_is_known_before_anything_runs(paper, entry):
    known = knobs(paper.spec).get("calibration")
    readings = [{"calibration": option} for option in known.options] if known else [{}]
    for budget, reading in itertools.product((0.5, 2.0), readings):
        spec = paper.spec().replace(epsilon=budget, **reading)
        card = entry.guarantee(spec, 2_000, "a person")
        assert card.reasons
        assert card.unit == "a person"
        assert (card.epsilon_proved is None) == (card.status in ("heuristic", "not_private"))
        json.dumps(card.json(), allow_nan=False)


@each
def test_more_steps_never_cost_less(paper, entry):
    spec = paper.spec()
    card = entry.guarantee(spec, 2_000, "a person")
    total = entry.steps(spec, 2_000)
    costs = []
    for steps in sorted({1, max(1, total // 2), total}):
        try:
            event = entry.cost(spec, 2_000, steps)
            costs.append(accounting.epsilon(event, card.delta, card.relation))
        except accounting.BudgetError:
            costs.append(math.inf)
    assert costs == sorted(costs)


@each
def test_only_declared_fields_name_its_runs(paper, entry):
    assert set(entry.uses) <= set(knobs(paper.spec))
    job = small(paper, entry)
    for field, knob in knobs(paper.spec).items():
        if field not in entry.uses:
            other = knob.options[-1] if not hasattr(knob, "range") else knob.range[1]
            assert (
                request(paper.slug, entry.name, job.dataset, {**job.values, field: other}).values[
                    field
                ]
                == (paper.usual(job.dataset) | dict(entry.fixed))[field]
            )


@pytest.mark.parametrize("paper", catalog().values(), ids=lambda p: p.slug)
def test_names_are_unique_and_data_sets_exist(paper):
    names = [entry.name for entry in paper.methods]
    assert len(set(names)) == len(names)
    labels = [entry.label for entry in paper.methods]
    assert len(set(labels)) == len(labels)
    for dataset in paper.datasets:
        assert data.card(dataset).records > 0
    first = catalog()[paper.slug].methods[0]
    assert paper.gauge in gauges(first.info)


def gaps(name: str) -> bool:
    """Whether values of a data set are missing, and something public stands for them."""
    bounds = data.card(name).bounds
    return bounds is not None and bounds.missing != ()


WITH_GAPS = [
    pytest.param(
        paper,
        entry,
        id=f"{paper.slug}-{entry.name}",
        marks={"exact": pytest.mark.slow}.get(entry.name, pytest.mark.thorough)
        if paper.slug == "survival"
        else (),
    )
    for paper, entry in PAIRS
    if any(map(gaps, paper.datasets))
]


def test_one_data_set_has_gaps():
    """Another would need a pair of files of its own below."""
    assert {name for paper in catalog().values() for name in paper.datasets if gaps(name)} == {
        "flchain"
    }


@pytest.mark.parametrize(("paper", "entry"), WITH_GAPS)
def test_one_person_of_a_file_changes_that_person_alone(paper, entry, monkeypatch):
    """Two files that differ in one record, as the loader reads them.

    The loader fills missing values with the mean of the others, so that many rows differ. A proof
    holds where a run on the second table is a run on the first with one row replaced. As printed,
    survival assumes that column means and ranges are public.
    """
    one, other = (flchain_with(value, monkeypatch, count=80) for value in (0.4, 1e6))
    rows = (one.x != other.x).any(1)
    assert rows.sum() == 41  # the person, and 40 whose value is missing
    known = rows & ~one.missing.any(1)
    replaced = replace(one, x=np.where(known[:, None], other.x, one.x))
    short = case(paper, entry, one)
    with some_multiplier():
        for spec in settings(short):
            status = entry.guarantee(spec, short.n, "a person").status
            rigorous = status.startswith("proved") and spec.calibration == "rigorous"
            if status == "proved" or rigorous:
                alike(play(short, spec, table=other), play(short, spec, table=replaced))
                seen = play(short, spec).seen
                near(seen, play(short, spec, table=other, script=seen).seen)


def alike(one, other):
    """Two runs say the same numbers."""
    for first_part, part in zip(one.numbers(), other.numbers(), strict=True):
        np.testing.assert_array_equal(first_part, part)


def near(seen, other):
    """A run that was handed another's releases holds values within their sensitivities."""
    for one, two in zip(seen.releases, other.releases, strict=True):
        assert float(statistics.apart(one, two).max()) <= 1.0 + 1e-4
