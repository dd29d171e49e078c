"""How long a user waits for the page, on the real app in a real browser.

python -m benchmarks.browser
"""

import statistics
import time

from playwright.sync_api import Page

from benchmarks.row import Row
from engine.core.vocabulary import EPSILONS
from tests.browser.app import browsing, serving, settled, temporary_home, trained

MOVES = 50
ASKED = 5
START = EPSILONS.index(1.0)
DRAWN = """want => new Promise(done => {
  const look = () => {
    const all = [...document.querySelectorAll('.js-plotly-plot')].filter(one => one.layout?.meta)
    all.length && all.every(one => Math.abs(one.layout.meta.budget - want) < 1e-9)
      ? done(performance.now()) : requestAnimationFrame(look)
  }
  look()
})"""
"""Resolves with the time at which every chart is drawn for a budget."""
POINTS = """() => new Promise(done => {
  const look = () => [...document.querySelectorAll('.js-plotly-plot')].slice(0, 1)
    .flatMap(one => one.data).some(one => one.mode === 'lines+markers' && one.x.length)
      ? done(performance.now()) : requestAnimationFrame(look)
  look()
})"""
"""Resolves with the time at which the first curve has its first point."""


def rows() -> list[Row]:
    """Starts the app on an empty store, trains the first page, then moves the slider."""
    with temporary_home() as home, browsing() as browser:
        begin = time.perf_counter()
        with serving(home) as address:
            page = browser.new_page(viewport={"width": 1440, "height": 1000})
            page.goto(f"{address}/")
            settled(page)
            ready = time.perf_counter() - begin
            trained(page, timeout=600_000)
            page.goto(f"{address}/survival")
            trained(page, timeout=600_000)
            times = sorted(moves(page))
            each: list[tuple[float, float]] = []
            for _ in range(ASKED):
                each.append(asked(page))
                trained(page, timeout=600_000)
    visible, live = (statistics.median(column) for column in zip(*each, strict=True))
    note = f"{MOVES} moves, every chart of the survival page redrawn, trained grid"
    middle, most = times[len(times) // 2], times[int(0.95 * len(times))]
    return [
        Row("page ready after start", ready, None, "s", "under 4 s", ready < 4, "home page"),
        Row("budget slider, p95", most, None, "ms", "under 400 ms", most < 400, note),
        Row("budget slider, median", middle, None, "ms", "", None, note),
        Row(
            "job accepted and visible", visible, None, "ms", "under 300 ms", visible < 300,
            f"q changed, median of {ASKED} times",
        ),
        Row("first live point", live, None, "ms", "under 1500 ms", live < 1500, "worker warm"),
    ]  # fmt: skip


def moves(page: Page) -> list[float]:
    """Milliseconds from each key press to the last chart, going up and down the slider."""
    settled(page)
    slider = page.get_by_role("slider", name="Privacy budget")
    slider.focus()
    position, step, distances = START, 1, []
    for _ in range(MOVES):
        if not 0 <= position + step < len(EPSILONS):
            step = -step
        position += step
        begin = float(page.evaluate("performance.now()"))
        page.keyboard.press("ArrowRight" if step > 0 else "ArrowLeft")
        distances.append(float(page.evaluate(DRAWN, EPSILONS[position])) - begin)
    return distances


def asked(page: Page) -> tuple[float, float]:
    """Milliseconds from another q to the bar that shows its run, and to its first point."""
    page.get_by_role("slider", name="Time intervals").focus()
    begin = float(page.evaluate("performance.now()"))
    page.keyboard.press("ArrowLeft")
    page.locator("[data-testid=stProgress]").first.wait_for()
    visible = float(page.evaluate("performance.now()")) - begin
    return visible, float(page.evaluate(POINTS)) - begin


if __name__ == "__main__":
    for row in rows():
        print(f"{row.what:40} {row.ours:10.3g} {row.unit:4} {row.target:16} {row.ok} {row.note}")
