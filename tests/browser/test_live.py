"""Every slider is live: after a move the chart is never blank, and what trains is said in sight."""

import re
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

from datasets import own
from pages.ui.words import short
from tests.browser.app import PATIENCE, serving, settled, temporary_home
from tests.browser.conftest import App, opened
from tests.browser.moves import Sample, move, samples, until
from tests.datasets.test_own import plain

pytestmark = pytest.mark.browser

CONTROLS = [
    ("mean", "Clipping bound", "ArrowRight", "Laplace"),
    ("survival?survival.regularisation=0.1", "Time intervals", "ArrowRight", "Private Newton"),
    ("lvq", "Clipping", "ArrowRight", "GLVQ"),
    ("enadpp", "Clipping", "ArrowRight", "EnADPP"),
    ("pcdbn", "Degree", "ArrowRight", "pCDBN"),
    ("yesiwell", "Degree", "ArrowLeft", "pCDBN"),
]
"""A path, a control of its page, a key and the chosen method. First curves of a move by one control
ship; of the second path some do not, so that it has ghosts."""
LATER = dict.fromkeys(("mean", "lvq", "pcdbn"), pytest.mark.thorough) | dict.fromkeys(
    ("enadpp", "yesiwell"), pytest.mark.slow
)
"""Pages that are moved in longer suites."""
SOON = 10
"""Samples in a row in which a bar may be away while a ghost is drawn."""
DRAWN = """chosen => document.querySelector('.js-plotly-plot')?.data
  ?.some(one => one.legendgroup?.startsWith(chosen) && one.x?.length)"""
"""Whether a method has a line."""
TOLD = "() => window.samples.some(one => one.told)"
MOVED = """() => window.samples.filter(one => one.revision !== window.samples[0].revision).length
  > 30"""
"""Whether thirty samples show what comes after a move."""


@pytest.fixture(scope="module")
def untouched() -> Iterator[tuple[str, Path]]:
    """The app on a store of its own, in which runs are trained."""
    with temporary_home() as home, serving(home) as address:
        yield address, home


@pytest.fixture
def app(untouched: tuple[str, Path], known: BrowserContext) -> Iterator[App]:
    with opened(*untouched, known) as one:
        yield one


@pytest.mark.parametrize(
    ("path", "control", "key", "chosen"),
    [pytest.param(*one, marks=LATER.get(one[0], ())) for one in CONTROLS],
)
def test_a_move_never_blanks_the_chart_and_says_what_trains(
    app: App, path: str, control: str, key: str, chosen: str
):
    page = app.tab(path, height=900)
    settled(page)
    page.wait_for_function(DRAWN, arg=chosen, timeout=240_000)
    move(page, control, key)
    until(page, TOLD, 60)  # the browser loads the bar when it first needs it
    first = samples(page)
    assert any(one.told for one in first)
    move(page, control, key)
    until(page, MOVED, 240)
    seen = samples(page)
    assert {one.revision for one in seen} != {seen[0].revision}
    for one in (*first, *seen):  # a ghost, or the new line, of the method that is looked at
        assert any(label.startswith(chosen) for label, _, _ in one.lines), one
    assert unsaid(seen) <= SOON


@pytest.mark.thorough
def test_what_has_been_trained_is_drawn_though_the_browser_asks_for_nothing(app: App):
    """Until the last run of the view has ended, the page says that it trains."""
    page = app.tab("mean", height=900)
    settled(page)
    page.wait_for_function("() => document.querySelector('.js-plotly-plot')?.data?.length > 1")
    move(page, "Clipping bound", "ArrowLeft")
    until(page, TOLD, 60)
    assert any(one.told for one in samples(page))
    over = "() => window.samples.slice(-20).every(one => !one.told)"
    until(page, over, 240)
    assert page.evaluate(over)


HEAR = """() => {
  window.heard = []
  const listen = () => {
    for (const one of document.querySelectorAll('[role=status], [aria-live=polite]')) {
      const text = one.innerText.trim()
      if (text && text !== one.heard && !one.querySelector('[data-testid=stProgress]'))
        window.heard.push(text)
      one.heard = text
    }
  }
  listen()
  window.heard = []
  new MutationObserver(listen).observe(document.body,
    { childList: true, subtree: true, characterData: true })
}"""
"""Notes each new text of what a screen reader follows."""


@pytest.mark.thorough
def test_a_screen_reader_is_told_that_training_begins_and_how_it_ends(app: App):
    page = app.tab("mean", height=900)
    settled(page)
    page.wait_for_function("() => document.querySelector('.js-plotly-plot')?.data?.length > 1")
    page.evaluate(HEAR)
    move(page, "Clipping bound")
    until(page, "() => window.heard.some(one => one.startsWith('Training has ended'))", 240)
    page.wait_for_timeout(1500)
    heard = [one for one in page.evaluate("window.heard") if one.startswith("Training")]
    assert heard[:1] == ["Training: the numbers may still change."]
    assert len(heard) == 2
    said = r"Training has ended: 4 methods, [\d,]+ trainings computed in .+"
    assert re.fullmatch(said, heard[1])


def unsaid(seen: list[Sample]) -> int:
    """The most samples in a row with ghosts and nothing in sight that says that lines train."""
    longest = row = 0
    for one in seen:
        row = row + 1 if one.ghosts() and not one.told else 0
        longest = max(longest, row)
    return longest


def quiet(page: Page, sent: list[bytes]) -> None:
    """Waits until no message has come for a second and a half, a minute at most."""
    for _ in range(40):
        before = len(sent)
        page.wait_for_timeout(1500)
        if len(sent) == before:
            return


@pytest.fixture
def counted(app: App) -> Callable[[str], tuple[Page, list[bytes]]]:
    """Opens a page, and notes every message that it gets from then on."""

    def opened(path: str) -> tuple[Page, list[bytes]]:
        page, sent = app.tab(path, height=900), list[bytes]()
        page.on(
            "websocket", lambda socket: socket.on("framereceived", lambda frame: sent.append(frame))
        )
        page.reload()
        settled(page)
        page.wait_for_function("() => document.querySelector('.js-plotly-plot')?.data?.length > 1")
        quiet(page, sent)
        sent.clear()
        return page, sent

    return opened


def came(page: Page, sent: list[bytes], word: bytes) -> bool:
    """Whether a word came within a minute: the browser tells of a message some time after it."""
    for _ in range(600):
        if word in b"".join(sent):  # a long message comes in parts
            return True
        page.wait_for_timeout(100)
    return False


FOLLOWS = 24
"""Messages that follow a budget, at most: the slider, the sentence, the chart, the guarantee, each
with its place; with all that stays as it is there are about forty."""


def test_a_move_of_the_budget_sends_only_what_follows_it(counted):
    page, sent = counted("enadpp")
    finding = page.locator("[data-testid=stMain] [data-testid=stMarkdown] p").first
    foot = page.locator("[data-testid=stBottomBlockContainer]")
    before = finding.inner_text(), foot.inner_text()
    slider = page.get_by_role("slider", name="Privacy budget")
    slider.focus()
    page.keyboard.press("ArrowLeft")
    page.wait_for_function(
        "was => document.querySelector('[data-testid=stMain] [data-testid=stMarkdown] p')"
        "?.innerText !== was", arg=before[0],
    )  # fmt: skip
    settled(page)
    assert before[1] != foot.inner_text()
    assert page.get_by_role("tab").count() == 5
    assert page.get_by_role("button", name="Axes", exact=True).is_visible()
    assert came(page, sent, b"enadpp.epsilon")
    assert b"enadpp.lines" not in b"".join(sent)
    assert b"enadpp.method" not in b"".join(sent)
    assert len(sent) <= FOLLOWS


def test_a_move_in_the_sidebar_sends_nothing_that_stays(counted):
    page, sent = counted("survival")
    page.locator("summary", has_text="Try q and e").click()
    tried = page.get_by_role("slider", name="Time intervals q").last
    assert tried.get_attribute("aria-valuetext") == "10"
    page.get_by_role("slider", name="Time intervals q").first.focus()
    page.keyboard.press("ArrowLeft")  # nobody has trained what is there
    page.wait_for_function(
        "() => [...document.querySelectorAll('[role=slider][aria-label^=\"Time intervals q\"]')]"
        ".every(one => one.getAttribute('aria-valuetext') === '5')"
    )
    settled(page)
    texts = page.locator("[data-testid=stSidebar]").inner_text()
    assert {"People to draw", "More settings"} <= set(texts.splitlines())
    assert came(page, sent, b"survival.try_q")
    assert b"survival.knots" not in b"".join(sent)


@pytest.mark.thorough
def test_a_move_in_the_sidebar_begins_its_parts_and_no_page(counted):
    """A busy machine may be too late for one move, and then tells of the page as well."""
    page, sent = counted("mean")
    slider, told = page.get_by_role("slider", name="Clipping bound B"), list[bool]()
    slider.focus()
    for key in ("ArrowRight", "ArrowLeft", "ArrowRight"):
        sent.clear()
        page.keyboard.press(key)
        assert came(page, sent, b"mean.epsilon")
        quiet(page, sent)
        messages = map(ForwardMsg.FromString, sent)
        parts = [one.metadata.run.fragment_ids for one in messages if one.HasField("new_session")]
        assert parts
        told.append(not all(parts))
    assert not all(told)


@pytest.mark.thorough
def test_a_table_that_somebody_removes_is_no_error_of_the_sidebar(
    browser: Browser, monkeypatch: pytest.MonkeyPatch
):
    """A slider draws the parts that follow it, which then find the table gone."""
    with temporary_home() as home, serving(home) as address:
        monkeypatch.setenv("EXPLORER_HOME", str(home))
        name = own.keep("study.csv", plain(40))
        with closing(browser.new_context(viewport={"width": 1440, "height": 900})) as context:
            context.set_default_timeout(PATIENCE)
            page = context.new_page()
            page.goto(f"{address}/survival?survival.dataset={short(name)}")
            settled(page)
            expect(page.get_by_text("People to draw")).to_be_visible()
            own.remove(name)
            page.get_by_role("slider", name="Time intervals q").first.focus()
            page.keyboard.press("ArrowLeft")
            expect(page.get_by_text("expected a table of your own on this machine")).to_be_visible()
            settled(page)
            expect(page.get_by_text("This app has encountered an error")).to_have_count(0)
