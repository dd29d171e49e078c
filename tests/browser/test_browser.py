"""The app as people use it: a real server, a real worker, a real browser."""

from collections.abc import Callable
from dataclasses import replace

import pytest
from playwright.sync_api import Page, expect

from engine.catalog import catalog
from engine.service.client import Client
from engine.service.run import Run
from pages.ui.jobs.live import BUDGET
from pages.ui.paper.choice import jobs, untouched
from pages.ui.paper.view import Layout, offers
from tests.browser.app import drawn, settled, trained
from tests.browser.conftest import App
from tests.datasets.test_own import stretches
from tests.pages.played import play

pytestmark = pytest.mark.browser

POINTS = """() => [...document.querySelectorAll('.js-plotly-plot')].slice(0, 1)
  .flatMap(plot => plot.data).filter(trace => trace.mode === 'lines+markers')
  .map(trace => trace.x.length).reduce((a, b) => a + b, 0)"""
SHOWN = """() => [...document.querySelectorAll('.js-plotly-plot')]
  .map(plot => JSON.stringify([...plot.data.map(trace => [trace.name, trace.x, trace.y]),
    ...(plot.layout.shapes ?? []).filter(one => one.name === 'ring')
      .map(one => [one.xanchor, one.yanchor])]))"""


def slide(page: Page, name: str, key: str, times: int = 1) -> None:
    """Moves a slider by the keyboard."""
    slider = page.get_by_role("slider", name=name).first
    slider.focus()
    for _ in range(times):
        page.keyboard.press(key)


def eventually(page: Page, holds: Callable[[], bool], seconds: float = 60) -> None:
    """Waits until something holds, looking ten times a second."""
    for _ in range(int(seconds * 10)):
        if holds():
            return
        page.wait_for_timeout(100)
    raise AssertionError("expected it to hold by now")


def stop_all(app: App) -> None:
    """Stops what the page has asked for, so that the next test need not wait for it."""
    client = Client(app.home, workers=False)
    for run in client.runs():
        if run.active:
            client.cancel(run.id)


@pytest.mark.thorough
def test_sliding_moves_the_charts_of_a_tab_and_the_address(app: App):
    page = app.tab()
    for tab in ("Cost", "People", "Why"):
        page.goto(f"{app.address}/survival?survival.tab={tab}")
        drawn(page, 1.0)
        before = page.evaluate(SHOWN)
        slide(page, "Privacy budget", "ArrowRight", 3)
        drawn(page, 2.0)
        after = page.evaluate(SHOWN)
        assert before[0] != after[0]  # the first of a tab; some later ones are formulas alone
        assert f"survival.tab={tab}" in page.url or tab == "Cost"
        assert "survival.epsilon=2" in page.url


def test_a_chart_is_changed_in_place_and_keeps_what_was_hidden(app: App):
    page = app.tab("survival?survival.lines=All+methods")  # more than six have a legend
    drawn(page, 1.0)
    page.evaluate("() => { document.querySelector('.js-plotly-plot').sameAsBefore = true }")
    page.locator(".js-plotly-plot .legendtoggle").first.click()
    hidden = "() => document.querySelector('.js-plotly-plot')._fullData.map(one => one.visible)"
    page.wait_for_function(f"() => ({hidden})().includes('legendonly')")
    before = page.evaluate(hidden)
    slide(page, "Privacy budget", "ArrowRight")
    drawn(page, 1.25)
    assert page.evaluate("() => document.querySelector('.js-plotly-plot').sameAsBefore")
    assert page.evaluate(hidden) == before
    bounds = page.locator(".js-plotly-plot").first.bounding_box()
    page.set_viewport_size({"width": 1300, "height": 1000})
    page.wait_for_function(
        "was => document.querySelector('.js-plotly-plot').clientWidth < was"
        " && document.querySelector('.js-plotly-plot .main-svg').clientWidth < was",
        arg=bounds["width"] if bounds else 0,
    )


@pytest.mark.thorough
def test_an_address_shows_the_same_in_another_browser(app: App):
    page = app.tab("survival")
    drawn(page, 1.0)
    slide(page, "Privacy budget", "ArrowLeft", 3)
    drawn(page, 0.5)
    page.get_by_role("button", name="Axes", exact=True).click()
    page.get_by_role("combobox", name="Measured by").click()
    page.get_by_role("option", name="Integrated Brier score").click()
    page.wait_for_url("**gauge=Integrated**")
    settled(page)
    drawn(page, 0.5)
    other = app.tab(page.url.removeprefix(f"{app.address}/"), alone=True)
    settled(other)
    drawn(other, 0.5)
    other.get_by_role("button", name="Axes", exact=True).click()
    expect(other.get_by_role("combobox", name="Measured by")).to_have_value(
        "Integrated Brier score"
    )
    eventually(other, lambda: other.evaluate(SHOWN) == page.evaluate(SHOWN))


@pytest.mark.thorough
def test_another_q_trains_live_stops_and_stays_stopped(app: App):
    page = app.tab("survival?survival.intervals=100")
    stop = page.get_by_role("button", name="Stop")
    expect(stop).to_be_visible()
    page.locator("summary", has_text="Try q and e").click()
    tried = page.locator("input[aria-label='Time intervals q']").nth(1)
    expect(tried).to_have_attribute("aria-valuetext", "100")
    slide(page, "Time intervals", "ArrowRight", 2)
    page.wait_for_url("**intervals=400")
    expect(tried).to_have_attribute("aria-valuetext", "400")  # the app has followed the slider
    expect(stop).to_be_visible()
    page.wait_for_function(f"() => ({POINTS})() > 0", timeout=240_000)
    page.set_viewport_size({"width": 390, "height": 844})
    finding = page.locator(".st-key-survival-finding")
    expect(stop).to_be_visible()
    under, over = (one.bounding_box() for one in (page.get_by_test_id("stProgress"), finding))
    assert under is not None
    assert over is not None
    assert under["y"] >= over["y"] + over["height"]
    page.set_viewport_size({"width": 1440, "height": 1000})
    stop.press("Enter")
    expect(page.get_by_role("heading", level=1)).to_be_focused()
    expect(page.get_by_role("button", name="Run again")).to_be_visible()
    expect(page.get_by_text("stopped; what").first).to_be_visible()
    measured = page.evaluate(POINTS)
    page.reload()
    expect(page.get_by_text("stopped; what").first).to_be_visible()
    page.wait_for_function(f"want => ({POINTS})() >= want", arg=measured)
    stop_all(app)


@pytest.mark.thorough
def test_two_browsers_ask_for_one_run_and_both_see_its_end(app: App):
    path = "mean?mean.share=0.3&mean.repeats=5"
    first, second = app.tab(path), app.tab(path, alone=True)
    for page in (first, second):
        trained(page)
        drawn(page, 1.0)
    client = Client(app.home, workers=False)

    def asked() -> list[Run]:
        """What is trained here."""
        return [run for run in client.runs() if run.job.paper == "mean"]

    eventually(first, lambda: len({run.job.method for run in asked()}) == 2, 60)
    eventually(first, lambda: not any(run.active for run in asked()), 240)
    eventually(first, lambda: first.evaluate(SHOWN) == second.evaluate(SHOWN))
    runs = asked()
    # what has no noise ships; Gaussian noise is drawn as printed too, and Laplace's at a point
    assert len(runs) == len({run.id for run in runs}) == 7
    assert {run.state for run in runs} == {"completed"}
    first.reload()
    trained(first)


def test_junk_in_an_address_is_told_and_a_page_that_does_not_exist_leads_home(app: App):
    page = app.tab("survival?survival.epsilon=lots&survival.dataset=nobody&survival.intervals=2e2")
    expect(page.get_by_text("Link value ignored: epsilon: expected a number")).to_be_visible()
    expect(page.get_by_text("Link value ignored: dataset: expected one of")).to_be_visible()
    drawn(page, 1.0)
    assert "nobody" not in page.url
    page.goto(f"{app.address}/nowhere")
    settled(page)
    expect(page.get_by_role("dialog")).to_have_count(0)
    page.get_by_role("link", name="Go to the start page").click()
    expect(page.get_by_role("heading", name="See what privacy costs")).to_be_visible()


@pytest.mark.thorough
def test_the_list_of_runs_opens_a_run_where_it_was(app: App):
    paper = catalog()["survival"]
    offered = offers(paper, Layout())
    chosen = replace(untouched(offered), dataset="flchain", values={"intervals": 20}, repeats=10)
    for job in jobs(paper, chosen, offered.knobs[BUDGET].values).values():
        play(app.home, job)
    page = app.tab("runs")
    settled(page)
    expect(page.get_by_text("Objective perturbation").first).to_be_visible()
    with page.expect_popup() as opened:
        page.get_by_role("link", name="Open").first.click()
    settled(opened.value)
    assert "survival.intervals=20" in opened.value.url
    drawn(opened.value, 1.0)


@pytest.mark.parametrize(
    ("width", "theme"), [(1440, "light"), pytest.param(390, "dark", marks=pytest.mark.slow)]
)
@pytest.mark.thorough
def test_a_table_of_ones_own_is_put_in_and_a_malformed_one_is_a_sentence(
    app: App, width: int, theme: str
):
    page = app.tab("survival", theme, width)
    settled(page)
    if width < 500:
        page.get_by_test_id("stExpandSidebarButton").click()
    page.get_by_role("button", name="Data: FLchain").click()
    file = page.locator("input[type=file]")
    bad, good = stretches() + b"\np3,3,9,0,1", stretches(14)
    file.set_input_files({"name": "bad.csv", "mimeType": "text/csv", "buffer": bad})
    page.get_by_role("button", name="Add this table").click()
    expect(page.get_by_text("File: expected rows without overlap")).to_be_visible()
    file.set_input_files({"name": "clinic.csv", "mimeType": "text/csv", "buffer": good})
    expect(page.get_by_text("28 rows, 5 columns")).to_be_visible()
    page.get_by_role("button", name="Add this table").click()
    expect(page.get_by_text("14 records").first).to_be_visible()
    assert "survival.dataset=Own+clinic" in page.url
    settled(page)  # a run of the page that is still to come may close what is open
    if not page.get_by_text("Delete the chosen table").is_visible():
        page.get_by_role("button", name="Data: clinic.csv").click()
    page.get_by_text("Delete the chosen table").click()
    page.get_by_role("button", name="Remove this table").click()
    expect(page.get_by_text("7,874 records").first).to_be_attached()


@pytest.mark.thorough
def test_the_address_holds_what_is_tried_where_it_was_moved_by_itself(app: App):
    page = app.tab("survival")
    settled(page)
    page.get_by_text("Try q and e").click()
    own, tried = (page.get_by_role("slider", name="Time intervals q").nth(n) for n in (0, 1))
    tried.focus()
    page.keyboard.press("ArrowLeft")
    page.wait_for_url("**survival?survival.try_q=5")
    settled(page)
    own.focus()
    page.keyboard.press("ArrowRight")
    page.wait_for_url("**survival?survival.intervals=20")
    expect(tried).to_have_attribute("aria-valuetext", "20")
    stop_all(app)
