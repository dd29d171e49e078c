"""The coarse curves of first moves ship: of every control of every page, and on large data."""

import pytest

from engine.cli import shipping
from engine.core.spec import Knob, Value, knobs
from engine.runs import shipped
from pages.ui import openings
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
    known = knobs(page.paper.spec)
    sliders = [
        field
        for field in page.chosen.values
        if isinstance(known[field], Knob) and field not in (BUDGET, *page.layout.main)
    ]
    assert len(sliders) > 1
    asked: dict[str, set[Value]] = {field: set() for field in sliders}
    for job, curve in openings.nearby(slug):
        assert job.id in index or curve.id in index, (job.method, job.values)
        before = page.jobs[job.method].values  # some methods have values of their own
        for field in sliders:
            now = page.chosen.values[field]
            asked[field] |= {now if job.values[field] == before[field] else job.values[field]}
    lead = page.jobs[page.chosen.method].entry()
    for field in sliders:
        values = page.offers.knobs[field].values
        place = values.index(page.chosen.values[field])
        there = set(values[max(place - 1, 0) : place + 2])
        assert asked[field] <= there, field
        if field in lead.uses and field not in ("epochs", "sample_rate"):
            assert asked[field] == there, field  # the others may take twice as many steps


@pytest.mark.parametrize("slug", sorted(shell.papers()))
def test_another_number_of_repetitions_is_answered_by_what_ships(slug: str):
    layout, index = defaults.layout(slug), shipped.index(FOLDER)
    for count in ("10", "20", "50"):
        more = defaults.addressed(slug, {f"{slug}.repeats": count})
        for name, job in more.jobs.items():
            if name not in layout.by_hand:
                curve = stages.coarse(job, more.first, layout.sketch)
                assert job.id in index or curve.id in index, (name, count)


@pytest.mark.parametrize("slug", ["enadpp", "lvq", "pcdbn"])
def test_a_main_slider_s_next_stop_ships_on_a_large_data_set_too(slug: str):
    layout, index = defaults.layout(slug), shipped.index(FOLDER)
    for name in layout.ships:
        page = defaults.addressed(slug, {f"{slug}.dataset": name})
        for field in layout.main:
            for value in page.offers.knobs[field].beside(page.chosen.values[field]):
                text = page.offers.knobs[field].text(value)
                there = defaults.addressed(slug, {f"{slug}.dataset": name, f"{slug}.{field}": text})
                assert stages.sketch(there, there.jobs[there.chosen.method]).id in index


def test_all_that_ships_is_small():
    files = [path for path in FOLDER.parent.rglob("*") if path.is_file()]
    assert sum(path.stat().st_size for path in files) <= LIMIT


def test_nothing_ships_that_no_page_asks_for():
    whole, moves = openings.everything(), openings.moves()
    assert shipping.unwanted(whole, FOLDER) == []
    held = {run for run, one in shipped.index(FOLDER).items() if one.held is not None}
    assert held <= set(moves)
