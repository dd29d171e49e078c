"""A first visitor, whose store is empty, sees full curves at once: they ship with the app."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from engine.cli import shipping
from engine.runs import shipped
from engine.service.client import Client
from pages.ui import openings
from pages.ui.kit import shell
from tests.browser.app import browsing, serving, settled, temporary_home

pytestmark = pytest.mark.browser
LINES = """() => { const plot = document.querySelector('.js-plotly-plot'); return plot?.data
  ? plot.data.filter(one => one.mode === 'lines+markers' && one.x.length > 1).length : 0 }"""


@pytest.fixture(scope="module")
def empty() -> Iterator[tuple[str, Path, Browser]]:
    with temporary_home() as home, serving(home) as address, browsing() as browser:
        yield address, home, browser


def test_every_page_s_first_runs_ship_as_today_s_code_computes_them():
    """Else `make shipped` is to be run: code or defaults have changed since."""
    lacking = shipping.missing(openings.everything(), shipped.FOLDER)
    assert [f"{job.paper} {job.method} {run}" for run, job in lacking.items()] == []


@pytest.mark.parametrize("path", ["", *shell.papers(), "compare"])
def test_a_first_visit_shows_curves_and_trains_nothing(empty: tuple[str, Path, Browser], path: str):
    address, home, browser = empty
    page = browser.new_context(viewport={"width": 1440, "height": 900}).new_page()
    page.goto(f"{address}/{path}")
    page.wait_for_function(f"() => ({LINES})() >= 2", timeout=60_000)
    settled(page)
    expect(page.get_by_text("the first points appear soon")).to_have_count(0)
    expect(page.get_by_text("there is nothing to compare yet")).to_have_count(0)
    assert Client(home, workers=False).runs() == []
    page.context.close()
