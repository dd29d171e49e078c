"""Every slider of every paper's page, moved once on an empty store."""

from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from engine.catalog import catalog
from tests.browser.app import PATIENCE, serving, settled, still, temporary_home
from tests.browser.conftest import App
from tests.browser.moves import MORE

pytestmark = [pytest.mark.browser, pytest.mark.slow]

DRAWN = "() => document.querySelector('.js-plotly-plot')?.data?.some(one => one.x?.length)"
"""Whether a line is drawn, be it the new one or a ghost."""
LIVE = "[aria-live=polite]"


@pytest.mark.parametrize("slug", sorted(catalog()))
def test_every_slider_can_be_moved_and_the_chart_is_never_empty(slug: str, browser: Browser):
    with temporary_home() as home, serving(home) as address:
        page = browser.new_context(viewport={"width": 1440, "height": 900}).new_page()
        page.set_default_timeout(PATIENCE)
        page.goto(f"{address}/{slug}")
        settled(page)
        page.wait_for_function(DRAWN)
        page.locator("summary", has_text=MORE).first.click()
        moved = [moved_once(page, place) for place in range(sliders(page).count())]
        assert moved
        assert all(moved), moved


def sliders(page: Page) -> Locator:
    """All that stand beside the chart, in their order."""
    return page.locator("[data-testid=stSidebar]").get_by_role("slider")


def says_other(page: Page, slider: Locator, before: str | None) -> bool:
    """Whether a slider says something else within three seconds."""
    for _ in range(30):
        if slider.get_attribute("aria-valuetext") != before:
            return True
        page.wait_for_timeout(100)
    return False


def moved_once(page: Page, place: int) -> bool:
    """Moves a slider by one stop, and back where that contradicts another; whether it moved."""
    slider = sliders(page).nth(place)
    if slider.is_disabled():
        return True
    before = slider.get_attribute("aria-valuetext")
    for key in ("ArrowRight", "ArrowLeft"):
        slider.focus()
        page.keyboard.press(key)
        if says_other(page, slider, before):
            break
    settled(page)
    after = slider.get_attribute("aria-valuetext")
    assert page.locator("[data-testid=stException]").count() == 0
    if page.locator("[data-testid=stAlertContentError]").count():  # it says so, and why
        page.keyboard.press("ArrowLeft" if key == "ArrowRight" else "ArrowRight")
        settled(page)
    page.wait_for_function(DRAWN)
    return after != before


def test_back_in_the_browser_shows_the_budget_of_its_address(app: App):
    """Typed budgets are steps of the browser's history."""
    page = app.tab("mean")
    typed = page.get_by_role("textbox", name="Type ε")
    finding = page.get_by_test_id("stMarkdownContainer")
    for budget in ("0.1", "5"):
        typed.fill(budget)
        typed.press("Enter")
        finding.get_by_text(f"At ε = {budget}, privacy costs").first.wait_for()
        page.wait_for_url(f"**mean.epsilon={budget}")
    page.go_back()
    finding.get_by_text("At ε = 0.1, privacy costs").first.wait_for()
    page.locator("[aria-live=polite]").get_by_text("At ε = 0.1, privacy costs").wait_for()


def test_a_budget_is_typed_with_a_point_or_a_comma(app: App):
    page = app.tab("?lang=de")
    typed = page.locator("[class*='-typed'] input")
    for text, budget in (("0,5", "0.5"), ("0.2", "0.2"), ("\uff11", "1")):
        typed.fill("")
        typed.press_sequentially(text)
        typed.press("Enter")
        page.wait_for_function(
            "to => (new URLSearchParams(location.search).get('home.epsilon') ?? '1') === to",
            arg=budget,
        )
        expect(typed).to_have_value("")
    typed.press_sequentially("0,5,1")
    typed.press("Enter")
    refused = "ε: erwartet wird eine Zahl von 0,05 bis 10, nicht 0,5,1."
    expect(page.get_by_test_id("stToast").get_by_text(refused)).to_be_visible()
    assert "home.epsilon" not in page.url


def test_a_slider_writes_numbers_as_the_language_does_and_its_address_does_not(app: App):
    page = app.tab("?lang=de&home.epsilon=0.5")
    slider, thumb = page.get_by_role("slider"), page.get_by_test_id("stSliderThumbValue")
    expect(thumb).to_have_text("0,5")
    expect(slider).to_have_attribute("aria-valuetext", "0,5")
    expect(page.get_by_test_id("stSliderTickBar")).to_contain_text("0,05")
    slider.press("ArrowLeft")
    page.wait_for_function("() => !location.search.includes('home.epsilon=0.5')")
    (at,) = parse_qs(urlsplit(page.url).query)["home.epsilon"]
    assert 0.05 < float(at) < 0.5
    for text in (at.replace(".", ","), at):  # in German, and then in English
        expect(thumb).to_have_text(text)
        expect(slider).to_have_attribute("aria-valuetext", text)
        if text != at:
            page.get_by_role("combobox", name="Sprache").click()
            page.get_by_role("option", name="English").click()


def test_stops_that_a_question_writes_in_the_language_are_left_alone(app: App):
    page = app.tab("learn?lang=de&learn.screen=answers")
    expect(page.get_by_test_id("stSliderTickBar")).to_contain_text("0,1")
    page.get_by_role("slider").press("ArrowRight")
    page.wait_for_timeout(500)
    expect(page.get_by_test_id("stSliderTickBar")).to_contain_text("0,1")


def test_back_from_another_page_shows_the_view_of_the_address(app: App):
    page = app.tab("mean?mean.epsilon=0.5&mean.tab=Why")
    finding = page.locator("[aria-live=polite]").get_by_text("At ε = 0.5, privacy costs")
    finding.wait_for()
    for other in ("Compare", "Runs"):
        page.get_by_test_id("stSidebarNav").get_by_text(other, exact=True).click()
        page.wait_for_function("to => location.pathname === to", arg=f"/{other.lower()}")
        page.get_by_role("heading", name=other, exact=True).wait_for()
        page.go_back()
        finding.wait_for()
        assert "mean.epsilon=0.5" in page.evaluate("location.search")
        page.get_by_role("tab", name="Why", selected=True).wait_for()


def test_back_to_learn_keeps_what_was_answered(app: App):
    page = app.tab("learn?lang=de")
    skip = page.get_by_role("button", name="Ohne Antwort zeigen")
    for left in (7, 6):
        expect(skip).to_have_count(left)
        skip.first.click()
    expect(skip).to_have_count(5)
    slider = page.locator(".st-key-learn-count").get_by_role("slider")
    slider.press("ArrowRight")
    page.wait_for_url("**learn?lang=de&learn.count=1")  # a setting, by which other pages load again
    page.get_by_test_id("stSidebarNav").get_by_text("Faltungs", exact=False).click()
    page.wait_for_function("location.pathname === '/pcdbn'")
    settled(page)
    page.go_back()
    page.get_by_role("heading", name="Lernen: was ε bedeutet").wait_for()
    settled(page)
    expect(skip).to_have_count(5)


@pytest.mark.parametrize("path", ["", "compare"])
def test_the_sentence_that_a_slider_moves_is_read_out(app: App, path: str):
    page = app.tab(path)
    told = page.locator(LIVE).filter(has_text="At ε = 1").first
    before = told.inner_text()
    page.get_by_role("slider", name="Privacy budget").first.press("ArrowLeft")
    expect(page.locator(LIVE).filter(has_text="At ε = 0.").first).to_be_visible()
    expect(page.locator(LIVE).get_by_text(before, exact=True)).to_have_count(0)


def test_a_question_that_goes_leaves_the_keyboard_at_its_heading_and_its_answer_is_read_out(
    app: App,
):
    page = app.tab("learn")
    question = page.locator(".st-key-learn-odds")
    question.get_by_role("radio").first.press("Space")
    question.get_by_role("button", name="Show", exact=True).press("Enter")
    expect(question.get_by_role("heading")).to_be_focused()
    expect(question.locator(LIVE).filter(has_text="Right: ")).to_be_visible()
    last = page.locator(".st-key-learn-papers")
    last.get_by_role("button", name="Show without answering").press("Enter")
    expect(last.get_by_role("heading")).to_be_focused()
    page.keyboard.press("Tab")
    assert last.evaluate("one => one.contains(document.activeElement)")


def test_a_button_that_is_left_does_not_call_the_keyboard_back(app: App):
    page = app.tab("learn")
    button = page.locator(".st-key-learn-odds").get_by_role("button", name="Show without answering")
    still(page)
    button.focus()
    page.evaluate("document.activeElement.blur()")
    page.wait_for_timeout(100)
    button.evaluate("one => one.click()")
    expect(button).to_have_count(0)
    still(page)
    assert page.evaluate("document.activeElement === document.body")
