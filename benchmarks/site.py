"""How the static pages answer: their first chart, their slider, their size, and without a server.

python -m benchmarks site [--json]
"""

import os
import statistics
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import chain
from pathlib import Path

from playwright.sync_api import Browser, Page

from benchmarks.row import TURNS, Row
from pages.ui.kit import shell
from tests.browser.app import ROOT, browsing, publishing, temporary_home

FIRST, SLIDER, SIZE = 1.5, 50.0, 15.0
"""Seconds to the first chart, milliseconds of a move at most, megabytes of all pages."""
MOVES, HOME = 40, "home"
DRAWN = """() => new Promise(done => {
  const look = () => document.querySelector('.chart .js-plotly-plot .main-svg')
    ? requestAnimationFrame(() => setTimeout(() => done(performance.now())))
    : requestAnimationFrame(look)
  look()
})"""
"""Resolves with the milliseconds from the request of the page to its first chart on the screen."""
WATCH = """() => {
  window.times = []
  const drawn = () => document.querySelector('.chart.main .infolayer').textContent
  addEventListener('keydown', ({ timeStamp }) => {
    const before = drawn()
    const look = () => requestAnimationFrame(() => drawn() === before
      ? look() : setTimeout(() => window.times.push(performance.now() - timeStamp)))
    look()
  }, true)
}"""
"""Notes the milliseconds from each key to the picture in which the chart says another budget."""


def rows() -> list[Row]:
    """Writes the pages, then opens each from a server in a browser that has seen nothing."""
    with temporary_home() as home:
        folder = home / "pages"
        subprocess.run(
            [sys.executable, "-m", "engine", "site", "--to", str(folder)], check=True, cwd=ROOT,
            env={**os.environ, "EXPLORER_HOME": str(home / "store")}, stdout=subprocess.DEVNULL,
        )  # fmt: skip
        size = sum(one.stat().st_size for one in folder.rglob("*") if one.is_file()) / 1e6
        with publishing(folder) as address, browsing() as browser:
            measured = [row for name in (HOME, "learn", *shell.papers())
                        for row in _page(browser, address, name)]  # fmt: skip
            measured += _walked(browser, address, folder)
    return [*measured, Row("all pages", size, None, "MB", f"at most {SIZE:g}", size <= SIZE, "")]


def _page(browser: Browser, address: str, name: str) -> Iterator[Row]:
    """The first chart of a page over several visits, and its slider."""
    times, moves = [], []
    for _ in range(TURNS):
        with _opened(browser, f"{address}/{name}/" if name != HOME else address) as page:
            if name == "learn":  # it asks before it shows
                page.locator(".skip:enabled").nth(1).click()
            times.append(float(page.evaluate(DRAWN)) / 1e3)
            if name != "learn":
                moves.append(_moved(page))
    middle, ends = statistics.median(times), f"{min(times):.2f} to {max(times):.2f} s"
    yield Row(f"{name}: first chart", middle, None, "s", f"at most {FIRST:g}", middle <= FIRST,
              f"{TURNS} first visits, {ends}")  # fmt: skip
    if moves:
        each = [one[int(0.95 * len(one))] for one in moves]
        most, half = statistics.median(each), statistics.median(chain.from_iterable(moves))
        note = (
            f"{MOVES} keys in each of {TURNS} first visits, {min(each):.0f} to {max(each):.0f} ms"
        )
        yield Row(f"{name}: slider, p95", most, None, "ms", f"at most {SLIDER:g}", most <= SLIDER,
                  f"{note}; median {half:.0f} ms")  # fmt: skip


@contextmanager
def _opened(browser: Browser, address: str) -> Iterator[Page]:
    """A page of a browser without files of an earlier visit."""
    context = browser.new_context(viewport={"width": 1440, "height": 900})
    page = context.new_page()
    page.goto(address, wait_until="commit")
    yield page
    context.close()


def _moved(page: Page) -> list[float]:
    """Milliseconds of every move of the budget slider, up and down, in order of length."""
    page.wait_for_load_state()
    slider = page.locator("#epsilon")
    slider.focus()
    most, at, step = int(slider.get_attribute("max") or 0), int(slider.input_value()), 1
    page.evaluate(WATCH)
    for count in range(1, MOVES + 1):
        step = step if 0 <= at + step <= most else -step
        at += step
        page.keyboard.press("ArrowRight" if step > 0 else "ArrowLeft")
        page.wait_for_function("count => window.times.length === count", arg=count)
        page.wait_for_timeout(20)  # as a hand that rests between two keys
    times: list[float] = page.evaluate("() => window.times")
    return sorted(times)


def _walked(browser: Browser, address: str, folder: Path) -> Iterator[Row]:
    """Every page from the server and as a file: its requests, its errors and its charts."""
    with browser.new_context() as context:
        page, asked, wrong = context.new_page(), set[str](), list[str]()
        page.on("request", lambda one: asked.add(one.url))
        page.on("pageerror", lambda one: wrong.append(str(one)))
        page.on("console", lambda one: wrong.append(one.text) if one.type == "error" else None)
        names, drawn = ["", "learn/", "reproduce/", *(f"{slug}/" for slug in shell.papers())], 0
        for name in names:
            page.goto(f"{address}/{name}")
        for name in names:
            page.goto(f"{folder.as_uri()}/{name}index.html")
            drawn += page.evaluate(
                "() => document.querySelectorAll('.chart.main .main-svg').length > 0"
            )
    here = (address, folder.as_uri(), "data:", "blob:")
    away = [one for one in asked if not one.startswith(here)]
    yield Row("requests to other hosts", len(away), None, "", "none", not away,
              f"{len(names)} pages from a server and from a folder: {away[:3]}")  # fmt: skip
    curves = 1 + len(shell.papers())
    yield Row("pages with a curve from a folder", drawn, None, "", f"all {curves}",
              drawn == curves and not wrong, f"errors: {wrong[:3]}")  # fmt: skip


if __name__ == "__main__":
    for row in rows():
        print(f"{row.what:40} {row.ours:10.3g} {row.unit:4} {row.target:16} {row.ok} {row.note}")
