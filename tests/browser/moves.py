"""One move of a control, and what the first chart of the page shows from then on."""

import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from playwright.sync_api import Page

RECORD = """() => {
  window.samples = []; window.before = performance.now()
  clearInterval(window.recorder)
  const inside = one => { const b = one.getBoundingClientRect()
    return b.width > 0 && b.left >= 0 && b.right <= innerWidth
      && b.top >= 0 && b.bottom <= innerHeight }
  window.recorder = setInterval(() => {
    const plot = document.querySelector('.js-plotly-plot')
    window.samples.push({
      at: (performance.now() - window.before) / 1000,
      revision: plot?.layout?.uirevision ?? '',
      lines: (plot?.data ?? []).filter(one => one.name && one.x?.length)
        .map(one => [one.legendgroup, one.name, one.x.length]),
      told: [...document.querySelectorAll('[role=progressbar], [role=status]')].some(inside),
      said: document.querySelector('[data-testid=stProgress]')?.innerText ?? '',
      finding: document.querySelector('[data-testid=stMain] [data-testid=stMarkdown] p')
        ?.innerText ?? '',
    })
  }, 50)
}"""
"""Notes twenty times a second what is drawn and said; the clock begins with the call."""
BEFORE, MORE = "before", "More settings"


@dataclass(frozen=True)
class Sample:
    """What a page shows at one moment.

    Attributes:
        at: Seconds since the key was pressed.
        revision: Changes with the measure and with the run of the chosen method.
        lines: Label, name in the legend and number of points of every line.
        told: Whether a progress bar or a status is within the window.
        said: The words at the bar.
        finding: The sentence above the chart.
    """

    at: float
    revision: str
    lines: tuple[tuple[str, str, int], ...]
    told: bool
    said: str
    finding: str

    def ghosts(self) -> set[str]:
        """The labels of lines that show how it was."""
        return {label for label, name, _ in self.lines if name.endswith(BEFORE)}

    def points(self, label: str) -> int:
        """The points of a method's new line."""
        drawn = [n for own, name, n in self.lines if own == label and not name.endswith(BEFORE)]
        return max(drawn, default=0)


@dataclass(frozen=True)
class Times:
    """Seconds from the last key to what is drawn; infinite for what did not come.

    Attributes:
        point: The chosen method's first new point.
        coarse: Its coarse curve.
        proved: The coarse curves of every method with a proof.
        all: Those of every method that trains by itself.
        whole: Nothing trains any more.
    """

    point: float
    coarse: float
    proved: float
    all: float
    whole: float


def move(page: Page, control: str, key: str = "ArrowRight", times: int = 1) -> float:
    """Moves a slider by the keyboard, and notes from then on what the page shows.

    Returns:
        Seconds from the first key to the last one.
    """
    slider = page.get_by_role("slider", name=control).first
    if not slider.is_visible():
        page.locator("summary", has_text=MORE).first.click()
    slider.focus()
    page.evaluate(RECORD)
    begun, last = time.monotonic(), 0.0
    for _ in range(times):
        last = time.monotonic() - begun
        page.keyboard.press(key)
    return last


def samples(page: Page, known: int = 0) -> list[Sample]:
    """What has been noted since the move, without so many samples that are known."""
    found: list[dict[str, Any]] = page.evaluate("n => window.samples.slice(n)", known)
    return [Sample(**{**one, "lines": tuple(map(tuple, one["lines"]))}) for one in found]


def until(page: Page, over: str, seconds: float) -> None:
    """Waits until a condition on the samples holds, or the time is over."""
    for _ in range(int(seconds * 10)):
        if page.evaluate(over):
            return
        page.wait_for_timeout(100)


def reached(
    seen: list[Sample],
    chosen: str,
    points: int,
    apart: set[str],
    proved: set[str],
    typed: float = 0.0,
) -> Times:
    """When the page showed what.

    Args:
        seen: Its samples; the first shows the page before the move.
        chosen: Label of the method that is looked at, whose run the control changes.
        points: Points of its coarse curve.
        apart: Labels of methods that wait for a button: their ghosts stay.
        proved: Labels of the methods with a proof.
        typed: Seconds from the first key to the last one.
    """
    new = [one for one in seen if one.revision != seen[0].revision]

    def first(some: Iterator[Sample]) -> float:
        return next((one.at - typed for one in some), float("inf"))

    curves = [one for one in new if one.points(chosen) >= points]
    over = len(new)  # from here on nothing trains: between two phases it may look so for a moment
    while over and not (new[over - 1].told or new[over - 1].ghosts() - apart):
        over -= 1
    return Times(
        first(one for one in new if one.points(chosen)),
        first(iter(curves)),
        first(one for one in curves if not one.ghosts() & proved - apart),
        first(one for one in curves if not one.ghosts() - apart),
        first(iter(new[over:])),
    )
