"""The language of an address stays from page to page, in the app and on the static pages."""

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect

from pages.ui import messages
from pages.ui.kit import plot
from tests.browser.conftest import App
from tests.browser.test_site import GRAVE, folder, page, served

CUT = """() => [...document.querySelectorAll('.js-plotly-plot')].flatMap(plot => {
  const { left, right, top, bottom } = plot.getBoundingClientRect()
  return [...plot.querySelectorAll('.main-svg text')]
    .map(text => [text.textContent, text.getBoundingClientRect()])
    .filter(([, at]) => at.width && (at.left < left - 1 || at.right > right + 1
      || at.top < top - 1 || at.bottom > bottom + 1))
    .map(([text]) => text)
})"""
"""The words that stand out of their charts."""
TITLES = "() => [...document.querySelectorAll('.modebar-btn')].map(one => one.dataset.title)"

__all__ = ["folder", "page", "served"]
OTHERS = [code for code in messages.languages() if code != messages.SOURCE]
pytestmark = [pytest.mark.browser, pytest.mark.slow]


def test_german_stays_until_another_language_is_chosen(first_visit: App):
    tab = first_visit.tab("?lang=de")
    expect(tab.get_by_role("heading", level=1)).to_have_text("Sehen Sie, was Privatsphäre kostet")
    tab.get_by_role("link", name="Lernen", exact=False).first.click()
    expect(tab.get_by_role("heading", level=1)).to_have_text("Lernen: was ε bedeutet")
    expect(tab.locator("html")).to_have_attribute("lang", "de")
    assert "lang=de" in tab.url
    tab.get_by_role("combobox", name="Sprache").click()
    tab.get_by_role("option", name="English").click()
    expect(tab.get_by_role("heading", level=1)).to_have_text("Learn: what ε means")
    expect(tab.locator("html")).to_have_attribute("lang", "en")
    assert "lang=en" in tab.url


def test_a_page_in_english_says_so_beside_a_german_menu(first_visit: App):
    tab = first_visit.tab("mean?lang=de")
    expect(tab.get_by_test_id("stSidebarNav")).to_have_attribute("lang", "de")
    expect(tab.locator("html")).to_have_attribute("lang", "en")


def test_a_static_page_leads_to_its_german_copy_and_names_charts_in_german(page: Page, served: str):
    page.goto(f"{served}/?lang=de")
    expect(page.locator("html")).to_have_attribute("lang", "de")
    expect(page.locator("h1")).to_have_text("Sehen Sie, was Privatsphäre kostet")
    assert [one["impact"] for one in Axe().run(page).response["violations"]
            if one["impact"] in GRAVE] == []  # fmt: skip
    page.get_by_role("link", name="Lernen", exact=True).click()
    expect(page.locator("h1")).to_have_text("Lernen: was ε bedeutet")
    page.wait_for_load_state()
    page.locator("#screen-count").get_by_role("button", name="Ohne Antwort zeigen").click()
    expect(page.locator("#screen-count .said")).to_contain_text("weicht die Zahl im Mittel um 2")
    expect(page.locator("#screen-count .chart")).to_contain_text("Veröffentlichte Zahl")
    page.get_by_role("link", name="Überlebenszeit-Regression", exact=True).click()
    expect(page.locator(".chart.main")).to_contain_text("Privatsphäre-Budget ε")
    assert "lang=de" in page.url
    page.goto(f"{served}/learn/index.de.html")
    page.get_by_role("link", name="English", exact=True).click()
    expect(page.locator("h1")).to_have_text("Learn: what ε means")


def drawn(page: Page) -> int:
    """How many charts a page has, once it draws no more of them when they are looked at."""
    seen = 0
    for _ in range(30):
        before = seen
        for figure in page.locator(".chart").all():
            figure.scroll_into_view_if_needed()
            page.wait_for_timeout(100)
        seen = page.locator(".js-plotly-plot").count()
        if seen == before > 2:
            break
    return seen


@pytest.mark.parametrize("code", messages.languages())
def test_no_label_of_a_chart_is_cut_on_a_phone(page: Page, served: str, code: str):
    page.set_viewport_size({"width": 390, "height": 844})
    for path in ("survival/", "pcdbn/", f"learn/?lang={code}"):
        page.goto(f"{served}/{path}" if "?" in path else f"{served}/{path}?lang={code}")
        page.wait_for_load_state()
        for skip in page.locator(".skip").all():
            skip.click()
        page.locator(".js-plotly-plot .main-svg").first.wait_for()
        assert drawn(page) > 2, path
        assert page.evaluate(CUT) == [], path
        told = set(page.evaluate(TITLES))
        assert told == {messages.catalogue(code).get(one, one) for one in plot.BUTTONS}, path
        shown = page.locator(".js-plotly-plot").first.text_content() or ""
        assert ("rivacy" in shown) == (code == messages.SOURCE and "learn" not in path), path


@pytest.mark.parametrize("code", OTHERS)
def test_a_static_page_names_the_page_s_language(page: Page, served: str, code: str):
    page.goto(f"{served}/?lang={code}")
    expect(page.locator("html")).to_have_attribute("lang", code)
    expect(page.locator("h1")).to_have_text(messages.catalogue(code)["See what privacy costs"])
    assert page.evaluate("() => document.documentElement.scrollWidth <= innerWidth")
    for other in messages.languages():
        link = page.get_by_role("link", name=messages.languages()[other], exact=True)
        expect(link).to_have_count(0 if other == code else 1)
