"""Every table and figure of every paper opens, by its link and by clicks, with nothing broken."""

from urllib.parse import urlencode

import pytest
from playwright.sync_api import Page, expect

from engine.catalog import catalog
from engine.runs.exhibit import Exhibit, exhibits
from tests.browser.app import settled
from tests.browser.conftest import App

pytestmark = pytest.mark.browser
expect.set_options(timeout=60_000)

BROKEN = "[data-testid=stException], [data-testid=stAlertContentError]"
MARKS = """() => [...document.querySelectorAll('[data-testid=stMain] .js-plotly-plot')].map(plot =>
  [...plot.querySelectorAll('.scatterlayer .trace path, .barlayer path, .heatmaplayer image')]
  .filter(mark => { const box = mark.getBoundingClientRect();
    return box.width > 2 || box.height > 2 }).length)"""


def opened(page: Page, exhibit: Exhibit) -> None:
    """Waits for an exhibit and fails on an error box, a blank chart or an empty table."""
    settled(page)
    expect(page.get_by_role("heading", name=exhibit.title, exact=True)).to_be_visible()
    if exhibit.axis:
        page.wait_for_function(f"() => {{ const counts = ({MARKS})(); return counts.length > 0"
                               " && counts.every(count => count > 0) }")  # fmt: skip
    else:
        table = page.locator("[data-testid=stMain] [data-testid=stTable] tbody tr")
        expect(table.first).to_be_visible()
        assert any(text.strip("–\n ") for text in table.all_inner_texts())
    expect(page.locator(BROKEN)).to_have_count(0)


@pytest.mark.parametrize("slug", [slug for slug in catalog() if exhibits(slug)])
def test_every_exhibit_opens_by_its_link(app: App, slug: str):
    page = app.tab("reproduce")
    for name, exhibit in exhibits(slug).items():
        page.goto(f"{app.address}/reproduce?" + urlencode(
            {"reproduce.paper": catalog()[slug].title, f"reproduce.{slug}": name}
        ))  # fmt: skip
        opened(page, exhibit)


@pytest.mark.parametrize("slug", [slug for slug in catalog() if exhibits(slug)])
def test_every_exhibit_opens_by_clicks_and_back_leads_to_the_list(app: App, slug: str):
    page = app.tab("reproduce")
    for exhibit in exhibits(slug).values():
        settled(page)
        heading = page.get_by_role("heading", name=catalog()[slug].title, exact=True)
        expect(heading).to_be_visible()
        paper = page.locator(f".st-key-reproduce-{slug}")
        paper.get_by_role("link", name=exhibit.title, exact=True).click()
        opened(page, exhibit)
        page.go_back()
        expect(heading).to_be_visible()
