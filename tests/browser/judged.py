"""What the first screen of a paper's page is judged by, in a real browser."""

import re

from playwright.sync_api import Page

from tests.browser.app import still

ON_SLIDER = """() => document.activeElement.type === 'range'
  || document.activeElement.getAttribute('role') === 'slider'"""
FINDING = re.compile(
    r"At ε = [\d.]+, privacy costs (less than )?[\d.]+ "
    r"(pairs?|test records?|test images?|users?|mg/dL)"
)
"""The finding names what privacy costs, with its unit."""
BOXES = """() => [...document.querySelectorAll('.js-plotly-plot .annotation-text-g')].map(one => {
  const frame = one.closest('.js-plotly-plot').getBoundingClientRect()
  const box = one.getBoundingClientRect()
  return { text: one.textContent, left: box.left - frame.left, top: box.top - frame.top,
    right: frame.right - box.right, bottom: frame.bottom - box.bottom,
    x: box.left, y: box.top, width: box.width, height: box.height } })"""
"""The words in all charts, with how far they stay from the edges of theirs."""
COLOURED = """() => {
  const parts = colour => [1, 3, 5].map(at => parseInt(colour.slice(at, at + 2), 16))
  const grey = colour => Math.max(...parts(colour)) - Math.min(...parts(colour)) < 40
  return document.querySelector('.js-plotly-plot').data
    .filter(trace => (trace.mode ?? '').includes('lines') && !grey(trace.line.color)).length }"""
SIZE = """() => Math.min(...[...document.querySelectorAll('.js-plotly-plot text')]
  .filter(one => one.textContent.trim() && one.getBoundingClientRect().width)
  .map(one => parseFloat(getComputedStyle(one).fontSize)))"""


LEGIBLE = """() => {
  const parts = colour => colour.match(/[\\d.]+/g).slice(0, 3).map(part => part / 255)
    .map(part => part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4)
  const bright = colour => parts(colour)
    .reduce((sum, part, i) => sum + part * [.2126, .7152, .0722][i], 0)
  return [...document.querySelectorAll('.js-plotly-plot .annotation-text')].map(one => {
    const frame = one.closest('.js-plotly-plot').querySelector('.main-svg')
    const pair = [getComputedStyle(one).fill, getComputedStyle(frame).backgroundColor].map(bright)
    return [one.textContent, (Math.max(...pair) + 0.05) / (Math.min(...pair) + 0.05)] }) }"""
"""The words in all charts, with their contrast: axe looks at no text that a chart draws."""
CROSSED = """() => {
  const plot = document.querySelector('.js-plotly-plot')
  const words = [...plot.querySelectorAll('.annotation-text-g')]
    .find(one => one.textContent.startsWith('guessing'))
  if (!words) return []
  const box = words.getBoundingClientRect()
  const inside = at => at.x > box.left && at.x < box.right && at.y > box.top && at.y < box.bottom
  return plot.data.filter(one => one.mode === 'lines+markers').map(one => one.legendgroup)
    .filter(name => [...plot.querySelectorAll('.scatterlayer .trace')].some(trace =>
      trace.__data__?.[0]?.trace.legendgroup === name
      && [...trace.querySelectorAll('.lines path')].some(path => {
        const long = path.getTotalLength()
        return Array.from({ length: 200 }, (_, i) => path.getPointAtLength(i * long / 199)
          .matrixTransform(path.getScreenCTM())).some(inside) }))) }"""
"""The lines in colour that run through the words at the line of guessing."""


def over(one: dict[str, float], other: dict[str, float]) -> bool:
    """Whether two boxes lie on each other by more than a pixel."""
    across = min(one["x"] + one["width"], other["x"] + other["width"]) - max(one["x"], other["x"])
    down = min(one["y"] + one["height"], other["y"] + other["height"]) - max(one["y"], other["y"])
    return across > 1 and down > 1


def budget_comes_first(page: Page) -> None:
    """Fails unless the first Tab reaches the budget slider, as long as nothing has focus."""
    page.keyboard.press("Tab")
    words = str(page.evaluate("() => document.activeElement.textContent"))
    assert page.evaluate(ON_SLIDER), f"{words!r} comes first"


def few_are_named(page: Page) -> None:
    """Fails unless two to four lines are in colour, and the name of each is whole and readable."""
    page.locator(".js-plotly-plot .annotation-text-g").first.wait_for()
    still(page)
    assert 2 <= page.evaluate(COLOURED) <= 4
    assert len(page.evaluate(BOXES)) >= 4
    faint = [words for words in page.evaluate(LEGIBLE) if words[1] < 4.5]
    assert faint == [], f"{faint} are hard to read"
    names_are_whole(page)


def names_are_whole(page: Page) -> None:
    """Fails unless no word in the chart is cut, lies on another, or is small."""
    assert page.locator(".js-plotly-plot .legend").count() == 0
    boxes = page.evaluate(BOXES)
    for box in boxes:
        assert min(box[side] for side in ("left", "top", "right", "bottom")) >= -1, f"{box} is cut"
    pairs = [(a["text"], b["text"]) for i, a in enumerate(boxes) for b in boxes[:i] if over(a, b)]
    assert pairs == [], f"{pairs} lie on each other"
    assert page.evaluate(SIZE) >= 12


def judged(page: Page) -> None:
    """Fails unless the finding has a number with its unit, and few lines are in colour, named."""
    few_are_named(page)
    said = page.locator("[data-testid=stMain] p").filter(has_text="At ε =").first.inner_text()
    assert FINDING.match(said), said
    budget_comes_first(page)
