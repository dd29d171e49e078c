"""The coarse curves of first moves ship: every stop of every page's main sliders."""

import pytest

from engine.cli import shipping
from engine.runs import shipped
from pages.ui import openings
from pages.ui.kit import shell
from pages.ui.paper import defaults

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


def test_all_that_ships_is_small():
    files = [path for path in FOLDER.parent.rglob("*") if path.is_file()]
    assert sum(path.stat().st_size for path in files) <= LIMIT


def test_nothing_ships_that_no_page_asks_for():
    whole, moves = openings.everything(), openings.moves()
    assert shipping.unwanted(whole, FOLDER) == []
    held = {run for run, one in shipped.index(FOLDER).items() if one.held is not None}
    assert held <= set(moves)
