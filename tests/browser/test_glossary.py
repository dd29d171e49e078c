"""A term of a page leads to its entry in the glossary, which comes into sight."""

import pytest
from playwright.sync_api import expect

from tests.browser.app import settled
from tests.browser.conftest import App

pytestmark = pytest.mark.browser


def test_a_term_leads_to_its_entry(app: App):
    page = app.tab("mean")
    settled(page)
    with page.context.expect_page() as opened:
        page.locator("[data-testid=stBottom]").get_by_role("link", name="proved").click()
    entry = opened.value.locator("#proved")
    expect(entry).to_be_in_viewport()
    assert opened.value.url.endswith("/learn#proved")
