"""How each paper's page answers on a first visit: its first curve, its height and its slider.

Learn's as well: its first picture, and whether it is read in ten minutes.

python -m benchmarks.pages
"""

import re
import statistics
import time

from playwright.sync_api import Browser, Page

from benchmarks.row import TURNS, Row
from engine.catalog import catalog
from pages.ui.learn.declared import MINUTES, SCREENS
from tests.browser.app import browsing, serving, settled, temporary_home

WORDS_A_MINUTE = 200
"""Texts that teach are read more slowly than others: about 240 words (Brysbaert 2019)."""
SIZES = {"desktop": (1440, 900, 1.5), "phone": (390, 844, 3.0)}
"""Width and height in pixels, and how many screens high the first tab may be."""
MOVES = 40
BARE = """import plotly.graph_objects as go
import streamlit as st

st.title("Bare")
st.slider("Privacy budget", 0, 9, 1)
lines = [go.Scatter(x=[1, 2], y=y, mode="lines+markers") for y in ([1, 2], [2, 1])]
st.plotly_chart(go.Figure(lines))
"""
"""The least that such a page holds: what it takes on a first visit, every page of ours takes."""
TABS = {0: ("first screen", 200.0), 2: ("Why tab", 400.0)}
"""The tabs on which the slider is moved, by position, and the target in milliseconds."""
LINES = """() => {
  const lines = (document.querySelector('.js-plotly-plot')?.data ?? [])
    .filter(trace => trace.mode?.startsWith('lines') && trace.x.length > 1)
  return lines.length >= 2 && lines.some(trace => trace.mode === 'lines+markers') }"""
"""A curve and a line beside it: another curve, or what has no proof at any budget."""
BUDGETS = """() => [...document.querySelectorAll('.js-plotly-plot')]
  .map(one => one.layout?.meta?.budget).filter(one => one !== undefined)"""
MOVED = f"""was => new Promise(done => {{
  const look = () => {{
    const all = ({BUDGETS})()
    all.length && all.every(one => one === all[0] && one !== was)
      ? done([performance.now(), all[0]]) : requestAnimationFrame(look)
  }}
  look()
}})"""
"""Resolves once every chart is drawn for one budget that is not the one before."""


def rows() -> list[Row]:
    """Each page in each size, opened from an empty store; then its slider on two tabs."""
    measured = []
    with temporary_home() as home, serving(home) as address, browsing() as browser:
        opened(browser, f"{address}/")  # the first page of a process also loads the program
        least = bare(browser)
        measured += learn(browser, f"{address}/learn", least)
        for slug in catalog():
            for size, (width, height, screens) in SIZES.items():
                page, first = opened(browser, f"{address}/{slug}", width, height)
                tall = page.locator("[data-testid=stMain]").evaluate("one => one.scrollHeight")
                shown = f"{slug}, {size}: "
                measured += [
                    Row(f"{shown}first curve", first, least[size], "s", "under 2.5 s", first < 2.5,
                        "empty store, shipped numbers; peer: a bare page"),
                    Row(f"{shown}height of the first tab", tall / height, None, "screens",
                        f"at most {screens:g}", tall <= screens * height, f"{tall:.0f} pixels"),
                ]  # fmt: skip
                if size == "desktop":
                    measured += sliders(page, slug)
                page.context.close()
    return measured


def bare(browser: Browser) -> dict[str, float]:
    """Seconds to the first chart of a page with one slider and one chart, in each size."""
    with temporary_home() as home:
        script = home / "bare.py"
        script.write_text(BARE)
        with serving(home, str(script)) as address:
            opened(browser, address)[0].context.close()
            return {
                size: statistics.median(
                    visit(browser, address, width, height) for _ in range(TURNS)
                )
                for size, (width, height, _) in SIZES.items()
            }


def visit(browser: Browser, address: str, width: int, height: int) -> float:
    """Seconds of one new visitor to a page's first two lines."""
    page, first = opened(browser, address, width, height)
    page.context.close()
    return first


def learn(browser: Browser, address: str, least: dict[str, float]) -> list[Row]:
    """Learn in each size: seconds to its first picture; then its screens and its words."""
    measured = []
    for size, (width, height, _) in SIZES.items():
        page = browser.new_context(viewport={"width": width, "height": height}).new_page()
        began = time.perf_counter()
        page.goto(f"{address}?present=1")  # which asks nothing first
        page.locator(".js-plotly-plot .main-svg").first.wait_for()
        first = time.perf_counter() - began
        page.goto(address)
        settled(page)
        measured.append(Row(f"learn, {size}: first picture", first, least[size], "s", "under 3 s",
                            first < 3.0, "empty store; peer: a bare page"))  # fmt: skip
        text = page.locator("[data-testid=stMain]").inner_text().partition("\nGlossary\n")[0]
        count = len(re.findall(r"\w+", text))
        page.context.close()
    most = MINUTES * WORDS_A_MINUTE
    note = f"{len(SCREENS)} screens, without the glossary; {WORDS_A_MINUTE} words a minute"
    return [*measured, Row("learn: words", count, None, "words", f"at most {most:,}",
                           count <= most, note)]  # fmt: skip


def opened(
    browser: Browser, address: str, width: int = 1440, height: int = 900
) -> tuple[Page, float]:
    """A new visitor's page, and the seconds to its first two lines."""
    page = browser.new_context(viewport={"width": width, "height": height}).new_page()
    began = time.perf_counter()
    page.goto(address)
    page.wait_for_function(LINES)
    first = time.perf_counter() - began
    settled(page)
    return page, first


def sliders(page: Page, slug: str) -> list[Row]:
    """The slider's answers on each of TABS."""
    measured = []
    for position, (where, most) in TABS.items():
        page.get_by_role("tab").nth(position).click()
        settled(page)
        page.wait_for_timeout(2000)
        times = sorted(moves(page))
        late = times[int(0.95 * len(times))]
        note = f"{MOVES} moves, median {times[len(times) // 2]:.0f} ms, every chart in the tab"
        what = f"{slug}, {where}: budget slider, p95"
        measured.append(Row(what, late, None, "ms", f"under {most:g} ms", late < most, note))
    return measured


def moves(page: Page) -> list[float]:
    """Milliseconds from each key press to the last chart, up and down the slider."""
    slider = page.get_by_role("slider", name="Privacy budget")
    slider.focus()
    now, distances, key = page.evaluate(BUDGETS)[0], [], "ArrowRight"
    for _ in range(MOVES):
        at, low, high = slider.evaluate("one => [one.value, one.min, one.max].map(Number)")
        if at in (low, high):
            key = "ArrowRight" if at == low else "ArrowLeft"
        began = float(page.evaluate("performance.now()"))
        page.keyboard.press(key)
        done, now = page.evaluate(MOVED, now)
        distances.append(float(done) - began)
    return distances


if __name__ == "__main__":
    for row in rows():
        print(f"{row.what:50} {row.ours:8.3g} {row.unit:8} {row.target:14} {row.ok} {row.note}")
