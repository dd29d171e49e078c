"""An attack is started in the Proof tab, its bound climbs, it is stopped and opened by its link."""

import re
from urllib.parse import urlencode

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.app import settled
from tests.browser.conftest import App

pytestmark = pytest.mark.browser

TRAINED = 240_000
"""Milliseconds until an attack has measured something, and until it has ended."""
SHOWN = re.compile("The attack (shows that at least|has shown no loss)")
LINK = urlencode({"lvq.tab": "Proof"})
BROKEN = "[data-testid=stException], [data-testid=stAlertContentError]"


def _button(page: Page, name: str) -> Locator:
    return page.get_by_role("button", name=name, exact=True)


@pytest.mark.thorough
def test_an_attack_climbs_is_stopped_and_is_there_by_its_link(app: App):
    """LVQ's attack takes minutes, so there is time to stop it."""
    page = app.tab(f"lvq?{LINK}")
    settled(page)
    _button(page, "Attack this").click()
    expect(page.get_by_text("Attack under way…")).to_be_visible(timeout=TRAINED)
    expect(page.get_by_text(SHOWN)).to_be_visible(timeout=TRAINED)
    address = page.url
    _button(page, "Stop").click()
    expect(page.get_by_text("The attack did not finish.")).to_be_visible(timeout=TRAINED)
    expect(_button(page, "Attack again")).to_be_visible()
    other = app.tab(alone=True)
    other.goto(address)
    settled(other)
    expect(other.get_by_text("The attack did not finish.")).to_be_visible()
    expect(other.locator(BROKEN)).to_have_count(0)
