"""Every page as a first visitor finds it, in both themes, and every exhibit by clicks and link."""

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect

from engine.catalog import catalog
from engine.cli import shipping
from engine.runs import shipped
from engine.runs.exhibit import Exhibit, exhibits
from engine.service.client import Client
from pages.ui import openings
from pages.ui.kit import shell
from pages.ui.learn.declared import SCREENS
from tests.browser.app import drawn, settled, still
from tests.browser.conftest import App
from tests.browser.judged import judged

pytestmark = pytest.mark.browser
slow = pytest.mark.slow

PAPERS = {slug: paper.title.partition(" (")[0] for slug, paper in shell.papers().items()}
EXHIBIT = "reproduce?reproduce.paper=enadpp&reproduce.enadpp=table1"
TITLES = {
    "": "Home",
    "learn": "Learn",
    "lessons": "Lessons",
    "compare": "Compare",
    "reproduce": "Reproduce",
    "runs": "Runs",
    EXHIBIT: "Reproduce",
    **PAPERS,
}
LONG = ("learn", EXHIBIT)
"""Pages that have tests of their own beside these, and take long."""
CURVES = ("", "compare", *PAPERS)
"""Pages that show full curves at the first visit."""
STREAMLITS = ("stSidebarNavItems", "stSidebarNav")
"""Where findings are Streamlit's own: its menu puts headings between the items of a list."""
GRAVE = ("serious", "critical")
LINES = """() => { const plot = document.querySelector('.js-plotly-plot'); return plot?.data
  ? plot.data.filter(one => one.mode?.includes('lines') && one.x.length > 1).length : 0 }"""
COLOURS = """charted => {
  const one = (what, how) => getComputedStyle(document.querySelector(what))[how]
  const chart = () => [one('.js-plotly-plot .xtick text', 'fill'),
    one('.js-plotly-plot .js-line', 'stroke')]
  return [one('[data-testid=stApp]', 'backgroundColor'), ...(charted ? chart() : [])] }"""
"""Of the page, and of the words and the first line of its chart."""
BROKEN = "[data-testid=stException], [data-testid=stAlertContentError]"
MARKS = """() => [...document.querySelectorAll('[data-testid=stMain] .js-plotly-plot')].map(plot =>
  [...plot.querySelectorAll('.scatterlayer .trace path, .barlayer path, .heatmaplayer image')]
  .filter(mark => { const box = mark.getBoundingClientRect();
    return box.width > 2 || box.height > 2 }).length)"""


def findings(page: Page) -> list[str]:
    """Serious and critical findings of axe-core that are not Streamlit's own."""
    aside = {"exclude": [[f"[data-testid={one}]"] for one in STREAMLITS]}
    actual = Axe().run(page, context=aside, options={"resultTypes": ["violations"]})
    return [
        f"{one['id']}: {node['html'][:120]}"
        for one in actual.response["violations"]
        if one["impact"] in GRAVE
        for node in one["nodes"]
    ]


def shows(page: Page, path: str) -> None:
    """Waits for a page and its charts; nothing serious is found on it."""
    settled(page)
    expect(page).to_have_title(f"{TITLES[path]} · Epsilon Explorer")
    if path in CURVES:
        page.wait_for_function(f"() => ({LINES})() >= 2")
    elif path == "learn":  # it asks before it shows
        for left in range(len(SCREENS), 0, -1):
            skip = page.get_by_role("button", name="Show without answering")
            expect(skip).to_have_count(left)
            skip.first.click()
        page.locator(".js-plotly-plot .main-svg").first.wait_for()
    still(page)
    expect(page.get_by_text("the first points appear soon")).to_have_count(0)
    expect(page.get_by_text("there is nothing to compare yet")).to_have_count(0)
    expect(page.locator(BROKEN)).to_have_count(0)
    assert findings(page) == []
    if path in PAPERS:
        judged(page)


@pytest.mark.parametrize(
    ("path", "scheme"),
    [
        pytest.param(
            path, scheme, marks=[pytest.mark.thorough] * (number % 2 != turn or path in LONG)
        )
        for number, path in enumerate(TITLES)
        for turn, scheme in enumerate(("light", "dark"))
    ],
)
def test_a_page_is_whole_at_a_first_visit_and_trains_nothing(
    first_visit: App, path: str, scheme: str
):
    page = first_visit.tab(path, scheme)
    shows(page, path)
    expect(page.get_by_role("link", name="Home").first).to_be_visible()
    if path == "survival":
        drawn(page, 1.0)
        expect(page.get_by_text("attacked").first).to_be_visible()
        expect(page.get_by_text("times out of 100").first).to_be_visible()
    assert Client(first_visit.home, workers=False).runs() == []


@pytest.mark.parametrize(
    "path",
    [
        path if path == "survival" else pytest.param(path, marks=pytest.mark.thorough)
        for path in TITLES
    ],
)
def test_a_page_and_its_chart_have_other_colours_in_the_dark(first_visit: App, path: str):
    page = first_visit.tab(path)
    seen = []
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        page.reload()
        settled(page)
        if path in CURVES:
            page.wait_for_function(f"() => ({LINES})() >= 2")
        seen.append(page.evaluate(COLOURS, path in CURVES))
    assert all(one != other for one, other in zip(*seen, strict=True))


@pytest.mark.thorough
def test_nothing_serious_is_found_in_a_list_of_runs(app: App):
    page = app.tab("runs")
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        page.reload()
        expect(page.get_by_role("link", name="Open").nth(5)).to_be_visible()
        shows(page, "runs")


def test_every_page_s_first_runs_ship_as_today_s_code_computes_them():
    """Else run `python -m engine confirm`, or `make shipped` if numbers or defaults changed."""
    lacking = shipping.missing(openings.everything() | openings.moves(), shipped.FOLDER)
    assert [f"{job.paper} {job.method} {run}" for run, job in lacking.items()] == []


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


EXHIBITS = {
    f"{slug}-{exhibit.name}": (slug, exhibit)
    for slug in catalog()
    for exhibit in exhibits(slug).values()
}
KINDS = {
    (bool(exhibit.axis), bool(exhibit.beside)): name
    for name, (_, exhibit) in reversed(EXHIBITS.items())
}
"""The first exhibit of each kind: a table or a figure, a paper's own or not."""


@pytest.mark.parametrize(
    "names",
    [
        pytest.param([*KINDS.values()], id="one of each kind"),
        *(
            pytest.param(
                [f"{slug}-{one}" for one in exhibits(slug)], id=slug, marks=pytest.mark.slow
            )
            for slug in catalog()
        ),
    ],
)
@pytest.mark.thorough
def test_an_exhibit_opens_by_a_click_and_its_link_and_back_leads_to_the_list(
    app: App, names: list[str]
):
    page = app.tab("reproduce")
    for name in names:
        slug, exhibit = EXHIBITS[name]
        settled(page)
        heading = page.get_by_role("heading", name=catalog()[slug].title, exact=True)
        expect(heading).to_be_visible()
        paper = page.locator(f".st-key-reproduce-{'beside' if exhibit.beside else slug}")
        paper.get_by_role("link", name=exhibit.title, exact=True).click()
        opened(page, exhibit)
        page.reload()  # the address alone opens it too
        opened(page, exhibit)
        page.go_back()
        expect(heading).to_be_visible()
