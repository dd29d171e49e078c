"""What axe-core finds on every page, in both themes; and each page's own title in the browser."""

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect

from pages.ui.kit import shell
from tests.browser.app import settled
from tests.browser.conftest import App

pytestmark = pytest.mark.browser
expect.set_options(timeout=60_000)

EXHIBIT = "reproduce?reproduce.paper=enadpp&reproduce.enadpp=table1"
PAGES = {
    "": "Home",
    "learn": "Learn",
    "lessons": "Lessons",
    "compare": "Compare",
    "reproduce": "Reproduce",
    "runs": "Runs",
}
TITLES = PAGES | {slug: paper.title.partition(" (")[0] for slug, paper in shell.papers().items()}
STREAMLITS = ("stSidebarNavItems", "stSidebarNav")
"""Where findings are Streamlit's own: its menu puts headings between the items of a list."""
GRAVE = ("serious", "critical")


def findings(page: Page) -> list[str]:
    """Serious and critical findings that are not Streamlit's own."""
    actual = Axe().run(page, context={"exclude": [[f"[data-testid={one}]"] for one in STREAMLITS]})
    return [
        f"{one['id']}: {node['html'][:120]}"
        for one in actual.response["violations"]
        if one["impact"] in GRAVE
        for node in one["nodes"]
    ]


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("path", [*TITLES, EXHIBIT])
def test_nothing_serious_is_found(app: App, path: str, theme: str):
    page = app.tab(path, theme)
    settled(page)
    if not path.startswith(("reproduce", "runs", "lessons")):
        page.locator(".js-plotly-plot .main-svg").first.wait_for()
    page.wait_for_timeout(1000)  # what moves in
    assert findings(page) == []


@pytest.mark.parametrize("path", TITLES)
def test_a_page_has_its_own_title_in_the_browser(app: App, path: str):
    page = app.tab(path)
    expect(page).to_have_title(f"{TITLES[path]} · Epsilon Explorer")
