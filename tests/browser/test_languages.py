"""The language of an address stays from page to page, in the app and on the static pages."""

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect

from tests.browser.conftest import App
from tests.browser.test_site import GRAVE, folder, page, served

__all__ = ["folder", "page", "served"]
pytestmark = [pytest.mark.browser, pytest.mark.slow]


def test_german_stays_until_another_language_is_chosen(first_visit: App):
    tab = first_visit.tab("?lang=de")
    expect(tab.get_by_role("heading", level=1)).to_have_text("Sehen Sie, was Privatsphäre kostet")
    tab.get_by_role("link", name="Lernen", exact=False).first.click()
    expect(tab.get_by_role("heading", level=1)).to_have_text("Lernen: was ε bedeutet")
    assert "lang=de" in tab.url
    tab.get_by_role("combobox", name="Sprache").click()
    tab.get_by_role("option", name="English").click()
    expect(tab.get_by_role("heading", level=1)).to_have_text("Learn: what ε means")
    assert "lang=en" in tab.url


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
