"""The coarse curves of first moves ship: of every control of every page, and on large data."""

from contextlib import suppress
from dataclasses import replace

import pytest

from datasets import catalog as data
from engine.cli import shipping
from engine.core.errors import ExplorerError
from engine.core.spec import Knob, Value, knobs
from engine.privacy import answers
from engine.runs import shipped
from engine.runs.job import Job
from pages.ui import openings, prices
from pages.ui.jobs.live import BUDGET
from pages.ui.kit import shell
from pages.ui.paper import defaults, stages

FOLDER = shipped.FOLDER
LIMIT = 8e6
"""Bytes of all that ships."""


@pytest.mark.parametrize("slug", sorted(shell.papers()))
def test_every_method_s_coarse_curve_ships_at_every_stop_of_the_main_sliders(slug: str):
    layout, index = defaults.layout(slug), shipped.index(FOLDER)
    assert layout.stops
    pairs = openings.stops(slug)
    assert len(pairs) > 10
    lacking = {
        (job.method, *(str(job.values[field]) for group in layout.stops for field in group))
        for job, sketch in pairs
        if job.id not in index and sketch.id not in index
    }
    assert lacking == set()


@pytest.mark.parametrize("slug", sorted(shell.papers()))
def test_one_step_of_any_other_control_is_answered_by_what_ships(slug: str):
    page, index = defaults.addressed(slug, {}), shipped.index(FOLDER)
    known, lead = knobs(page.paper.spec), page.jobs[page.chosen.method]
    asked: dict[str, set[Value]] = {field: set() for field in page.chosen.values}
    for job, curve in openings.nearby(slug):
        assert job.id in index or curve.id in index, (job.method, job.values)
        if job.method == lead.method:
            for field, values in asked.items():
                values |= {job.values[field]}
    others = {
        field
        for field in lead.entry().uses
        if isinstance(known[field], Knob) and field not in (BUDGET, *page.layout.main)
    }
    assert others
    for field in others:
        values = page.offers.knobs[field].values
        place = values.index(page.chosen.values[field])
        there = {values[place]} | {
            value
            for value in (*values[max(place - 1, 0) : place], *values[place + 1 : place + 2])
            if taken(replace(lead, values={**lead.values, field: value})) <= 2 * taken(lead)
        }
        assert asked[field] == there, field


def taken(job: Job) -> int:
    """Training steps of one replica."""
    return job.entry().steps(job.spec(), data.card(job.dataset).records)


@pytest.mark.parametrize("slug", sorted(shell.papers()))
def test_the_first_step_of_any_control_needs_no_accountant(
    slug: str, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(answers, "answers", {})
    with answers.at_once():
        for job, _ in openings.nearby(slug):
            with suppress(ExplorerError):  # no noise meets this budget
                prices.promised(job)


@pytest.mark.parametrize("slug", sorted(shell.papers()))
def test_another_number_of_repetitions_is_answered_by_what_ships(slug: str):
    layout, index = defaults.layout(slug), shipped.index(FOLDER)
    for count in ("10", "20", "50"):
        more = defaults.addressed(slug, {f"{slug}.repeats": count})
        for name, job in more.jobs.items():
            if name not in layout.by_hand:
                curve = stages.coarse(job, more.first, layout.sketch)
                assert job.id in index or curve.id in index, (name, count)


@pytest.mark.parametrize("slug", [slug for slug in shell.papers() if defaults.layout(slug).ships])
def test_a_main_slider_s_next_stop_ships_on_a_large_data_set_too(slug: str):
    layout, index = defaults.layout(slug), shipped.index(FOLDER)
    for name in layout.ships:
        page = defaults.addressed(slug, {f"{slug}.dataset": name})
        for field in layout.main:
            texts = page.offers.knobs[field].texts
            place = page.offers.knobs[field].values.index(page.chosen.values[field])
            beside = (*texts[max(place - 1, 0) : place], *texts[place + 1 : place + 2])
            assert beside
            for text in beside:
                there = defaults.addressed(slug, {f"{slug}.dataset": name, f"{slug}.{field}": text})
                curve = stages.coarse(there.jobs[there.chosen.method], there.first, 1)
                assert curve.id in index, (field, text)


def test_all_that_ships_is_small():
    files = [path for path in FOLDER.parent.rglob("*") if path.is_file()]
    assert sum(path.stat().st_size for path in files) <= LIMIT


def test_nothing_ships_that_no_page_asks_for():
    whole, moves = openings.everything(), openings.moves()
    assert shipping.unwanted(whole, FOLDER) == []
    held = {run for run, one in shipped.index(FOLDER).items() if one.held is not None}
    assert held <= set(moves)
