"""The first screen of a paper's page in a real browser: what is in sight, moves, obeys keys."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, FloatRect, Page, expect

from engine.catalog import catalog
from engine.runs.exhibit import exhibits
from pages.ui import messages
from tests.browser.app import PATIENCE, serving, settled, still, temporary_home
from tests.browser.conftest import App
from tests.browser.judged import (
    BOXES,
    CROSSED,
    SIZE,
    budget_comes_first,
    few_are_named,
    names_are_whole,
    over,
)

pytestmark = pytest.mark.browser
RANGE = r"[\d.]+(–[\d.]+)?(\u00a0%)?"
"""What stands in the column of points without a proof, from the lowest to the highest."""
SIZES = {"phone": (390, 844), "laptop at 200 %": (960, 540), "laptop": (1440, 900)}
INSIDE = """node => { const box = node.getBoundingClientRect()
  return box.width > 0 && box.top >= 0 && box.left >= 0
    && box.bottom <= window.innerHeight + 1 && box.right <= window.innerWidth + 1 }"""
ABOVE = """node => node.getBoundingClientRect().bottom
  <= document.querySelector('[data-testid=stBottom]').getBoundingClientRect().top"""
LOWER = """() => { const block = document.querySelector('[data-testid=stMainBlockContainer]')
  block.firstElementChild.style.marginTop = '20px' }"""
ROOM = """() => { const main = document.querySelector('[data-testid=stMain]')
  return main.scrollWidth - main.clientWidth }"""
OPEN = """() => ['Slider', 'Selectbox', 'Radio', 'ButtonGroup', 'Checkbox', 'MultiSelect']
  .flatMap(kind => [...document.querySelectorAll(`[data-testid=st${kind}]`)])
  .filter(one => one.checkVisibility() && one.getBoundingClientRect().width > 0)
  .map(one => one.innerText)"""
"""Sliders, lists and switches that stand open."""
LINES = """() => (document.querySelector('.js-plotly-plot')?.data ?? [])
  .filter(trace => trace.mode === 'lines+markers' && trace.x.length > 1).length"""
PLACES = """() => document.querySelector('.js-plotly-plot').data
  .filter(trace => trace.mode === 'lines+markers').map(trace => trace.x)"""
POINTS = """() => [...document.querySelectorAll('.js-plotly-plot .scatterlayer .point')]
  .map(one => one.getBoundingClientRect())
  .map(({ x, y, width, height }) => ({ x, y, width, height }))"""
WATCH = """() => { window.seen = []
  const look = () => { window.seen.push([...document.querySelectorAll(
      '.js-plotly-plot .scatterlayer .trace .points path')]
    .map(point => point.getBoundingClientRect().x)); requestAnimationFrame(look) }
  look() }"""
RESTED = """() => { const last = window.seen.slice(-60).map(one => JSON.stringify(one))
  return last.length === 60 && new Set(last).size === 1
    && last[0] !== JSON.stringify(window.seen[0]) }"""
DRAWN = """() => { window.drawn = []
  const was = window.Plotly.react
  window.Plotly.react = (node, data, layout, ...more) => {
    window.drawn.push(layout.meta.budget)
    return was(node, data, layout, ...more) } }"""
"""Keeps the budget of every picture that is drawn from now on."""
FOOT = """() => document.querySelector('[data-testid=stBottomBlockContainer]')
  .getBoundingClientRect().height"""
TOLD = """() => [...document.querySelectorAll('[data-testid=stBottomBlockContainer] p')]
  .map(one => one.innerText).find(one => one.includes('proved')) ?? ''"""
"""What the foot says of the method; empty while its proof is worked out."""
HEIGHTS = f"""() => {{
  const foot = document.querySelector('[data-testid=stBottomBlockContainer]')
  const aside = window.innerWidth - foot.getBoundingClientRect().width
  const found = []
  for (let width = 1000; width < 1480; width += 10) {{
    foot.style.width = `${{width - aside}}px`
    found.push([width, ({FOOT})()]) }}
  foot.style.width = ''
  return found }}"""
SMALL = """() => [...document.querySelectorAll(
    '[data-testid=stMain] *, [data-testid=stBottomBlockContainer] *')]
  .filter(one => !one.children.length && one.textContent.trim() && one.checkVisibility()
    && one.getBoundingClientRect().width > 1 && !one.closest('.js-plotly-plot')
    && parseFloat(getComputedStyle(one).fontSize) < 18)
  .map(one => [one.tagName, one.textContent.slice(0, 40), getComputedStyle(one).fontSize])"""
"""Words outside charts that a projector's last row cannot read, in sight or further down."""
TICKS = """() => [...document.querySelectorAll('.js-plotly-plot')].map(plot => {
  const boxes = [...plot.querySelectorAll('.xaxislayer-above .xtick text')]
    .map(one => one.getBoundingClientRect()).sort((a, b) => a.left - b.left)
  return boxes.slice(1).map((one, i) => one.left - boxes[i].right) })"""
"""Pixels between neighbouring ticks of each chart."""
SIGN = r" (✓|\(✓\)|×)$"
"""What stands behind the name of a table or figure that is graded."""
ROWS = """() => [...document.querySelector('.js-plotly-plot').querySelectorAll('.ytick text')]
  .map(one => [...(one.querySelectorAll('tspan').length ? one.querySelectorAll('tspan') : [one])]
    .map(line => line.textContent).join(' '))"""
"""The names of the rows of the first chart, whose lines are joined."""
ROW_BOXES = """() => { const boxes = [...document.querySelector('.js-plotly-plot')
    .querySelectorAll('.ytick text')].map(one => one.getBoundingClientRect())
    .filter(one => one.height).sort((a, b) => a.top - b.top)
  return boxes.slice(1).map((one, i) => [boxes[i].bottom, one.top]) }"""
"""Where each name of a row ends, and where the next one begins."""
WHOLE = """node => { const box = node.getBoundingClientRect()
  for (let up = node.parentElement; up; up = up.parentElement)
    if (getComputedStyle(up).overflowX !== 'visible'
      && up.getBoundingClientRect().right < box.right - 1) return false
  return box.right <= window.innerWidth }"""
BUDGET = "() => document.querySelector('.js-plotly-plot').layout.meta.budget"
COVERED = """() => [...document.querySelectorAll('.js-plotly-plot')].flatMap(plot => {
  const boxes = [...plot.querySelectorAll('.modebar-btn')].map(one => one.getBoundingClientRect())
  const on = (a, b) => Math.min(a.right, b.right) - Math.max(a.left, b.left) > 1
    && Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 1
  return [...plot.querySelectorAll('.main-svg text')]
    .filter(one => boxes.some(box => on(box, one.getBoundingClientRect())))
    .map(one => one.textContent) })"""
"""The words of all charts that a button lies on."""
LINE = "all => all.map(one => getComputedStyle(one).textDecorationLine)"
PAINTED = """slider => [...new Set([...slider.querySelectorAll(':scope > div *')]
  .map(one => getComputedStyle(one)).map(one => `${one.backgroundColor} ${one.backgroundImage}`)
  .filter(one => !/^(rgba\\(.*, 0\\)|rgb\\(255, 255, 255\\)) none$/.test(one)))]"""
"""The grounds of a slider's parts, but for those that cannot be seen on white."""


def ready(page: Page) -> None:
    """Waits for the curve and what is proved of it."""
    settled(page)
    page.wait_for_function(f"() => ({LINES})() >= 2")
    expect(page.get_by_text("times out of 100").first).to_be_visible()
    still(page)


def heights(page: Page) -> dict[int, float]:
    """The height of the foot at many widths of the window."""
    found: list[tuple[int, float]] = page.evaluate(HEIGHTS)
    return dict(found)


def in_sight(page: Page, size: str) -> None:
    """Fails unless slider, finding, marks, odds and curve are on the screen together."""
    for what in (
        page.get_by_role("slider", name="Privacy budget"),
        page.get_by_text("At ε = 1, privacy costs"),
        page.get_by_text("attacked"),
        page.get_by_text("times out of 100").first,
        page.locator(".js-plotly-plot .main-svg").first,
    ):
        assert what.evaluate(INSIDE), f"{what} is not in sight on a {size}"


def sized(app: App, path: str) -> Iterator[tuple[str, Page]]:
    """A page, opened anew in a window of each size; the laptop's last."""
    (width, height), *_ = SIZES.values()
    page = app.tab(path, width=width, height=height)
    for size, (width, height) in SIZES.items():
        if page.viewport_size != {"width": width, "height": height}:
            page.set_viewport_size({"width": width, "height": height})
            page.reload()
        still(page)
        yield size, page


def chooses_by_keys(page: Page) -> None:
    """Fails unless a method is chosen without a mouse, and its button keeps the focus."""
    still(page)
    button = page.get_by_role("button", name="Method: Private Newton")
    expect(page.locator(".st-key-survival-method")).to_be_visible()  # by it a lesson hides it
    button.press("Enter")
    page.get_by_role("menuitem", name="Objective perturbation", exact=True).press("Enter")
    page.wait_for_url("**survival.method=Objective+perturbation**")
    expect(page.get_by_role("button", name="Method: Objective perturbation")).to_be_focused()
    page.get_by_role("button", name="All 15 methods").press("Enter")
    page.wait_for_url("**survival.lines=All+methods**")
    page.get_by_role("button", name="Main lines").press("Enter")
    page.wait_for_url(lambda url: "survival.lines" not in url)


def obeys_keys(page: Page) -> None:
    """Fails unless a laptop's page is short, and the slider is reached and moved by keys."""
    budget_comes_first(page)
    high = page.locator("[data-testid=stMainBlockContainer]").evaluate("one => one.scrollHeight")
    assert high <= 1350  # a screen and a half
    page.get_by_role("textbox", name="Type ε").fill("1.9")
    page.keyboard.press("Enter")
    page.wait_for_url("**epsilon=2**")
    expect(page.get_by_text("the nearest is 2")).to_be_visible()


@pytest.mark.thorough
def test_the_network_its_sentence_and_its_widgets_are_in_sight_together(app: App):
    page = app.tab("yesiwell?yesiwell.tab=Network", height=900)
    settled(page)
    moment = page.get_by_role("slider", name="Times after training")
    expect(moment).to_be_visible()
    still(page)
    for what in (
        page.get_by_text("1 day after training"),
        page.locator(".js-plotly-plot .main-svg").first,
        page.get_by_test_id("stMenuButton"),
        moment,
        page.get_by_role("slider", name="Privacy budget"),
    ):
        assert what.evaluate(INSIDE), f"{what} is not in sight"
    moment.press("ArrowRight")
    expect(page.get_by_text("2 days after training")).to_be_visible()
    page.wait_for_url("**yesiwell.time=2**")


@pytest.mark.thorough
def test_the_menu_of_a_server_that_has_just_started_has_room_for_every_name(browser: Browser):
    with temporary_home() as home, serving(home) as address:
        page = browser.new_page(viewport={"width": 1440, "height": 900})
        page.set_default_timeout(PATIENCE)
        page.goto(f"{address}/pcdbn")
        still(page)
        names = page.locator("[data-testid=stSidebarNavLink] span:last-child").all()
        assert len(names) > 8
        cut = "one => one.scrollWidth > one.clientWidth + 1"
        assert not [one.inner_text() for one in names if one.evaluate(cut)]
        page.close()


@pytest.mark.thorough
def test_the_wall_names_its_groups_and_their_tables_whole(app: App):
    for width, query in ((960, ""), (960, "?present=1"), (390, "")):
        page = app.tab(f"reproduce{query}", width=width, height=844)
        page.locator(".js-plotly-plot .annotation-text-g").first.wait_for()
        still(page)
        named = page.locator(".js-plotly-plot .annotation-text-g").all_text_contents()
        papers = [slug for slug, paper in catalog().items() if paper.exhibits]
        assert {catalog()[slug].title for slug in papers} <= {*named}
        titles = {one.title for slug in papers for one in exhibits(slug).values()}
        rows = page.evaluate(ROWS)
        signed = [row for row in rows if re.search(SIGN, row)]
        assert titles <= {re.sub(SIGN, "", row) for row in rows}
        graded = re.search(r"Of (\d+) tables and figures", page.locator("body").inner_text())
        assert graded is not None
        assert len(signed) == int(graded[1])  # the sign of a verdict is whole too
        tops = page.evaluate(ROW_BOXES)
        assert min(low - high for high, low in tops) >= -1  # no name lies on the next


@pytest.mark.thorough
def test_every_line_of_compare_is_named_whole(app: App):
    for _, page in sized(app, "compare"):
        page.locator(".js-plotly-plot .annotation-text-g").first.wait_for()
        names_are_whole(page)


@pytest.mark.parametrize("slug", ["survival", "enadpp"])
@pytest.mark.thorough
def test_no_line_runs_through_the_words_for_guessing_on_a_phone(first_visit: App, slug: str):
    page = first_visit.tab(slug, width=390, height=844)
    page.locator(".js-plotly-plot .annotation-text-g", has_text="guessing").first.wait_for()
    few_are_named(page)
    assert page.evaluate(CROSSED) == []


@pytest.mark.thorough
@pytest.mark.parametrize("code", ["en", "de", "fr"])
def test_the_names_of_budgets_lie_on_no_point_and_no_other_words_on_a_phone(
    first_visit: App, code: str
):
    page = first_visit.tab(f"?lang={code}", width=390, height=844)
    page.locator(".js-plotly-plot .annotation-text-g", has_text="%").first.wait_for()
    still(page)
    boxes = page.evaluate(BOXES)
    named = [one for one in boxes if one["text"].endswith("%")]
    assert len(named) == 3
    other = [one["text"] for one in boxes for stop in named if one != stop and over(one, stop)]
    assert not {*other} - {messages.catalogue(code).get("guessing", "guessing")}  # its top is empty
    points = page.evaluate(POINTS)
    assert len(points) > 20
    assert not [one["text"] for one in named for point in points if over(one, point)]


def test_ticks_do_not_touch_at_200_percent(app: App):
    page = app.tab("pcdbn?pcdbn.tab=Why", width=960, height=540)
    page.locator(".js-plotly-plot .xtitle", has_text="Filters K").wait_for()
    still(page)
    beside = page.evaluate(TICKS)
    assert len(beside) > 4
    assert not [gaps for gaps in beside if min(gaps, default=9) < 2]


def phone(browser: Browser, address: str, width: int) -> Page:
    """A page as a phone of this width shows it."""
    page = browser.new_page(
        viewport={"width": width, "height": 844}, has_touch=True, is_mobile=True
    )
    page.set_default_timeout(PATIENCE)
    page.goto(address)
    return page


@pytest.mark.thorough
def test_buttons_that_a_phone_always_shows_cover_no_budget(
    browser: Browser, server: tuple[str, Path]
):
    page = phone(browser, f"{server[0]}/mean", 390)
    named = page.locator(".js-plotly-plot .annotation-text-g", has_text="ε = 1")
    named.first.wait_for()
    still(page)
    bar, name = page.locator(".modebar").first.bounding_box(), named.first.bounding_box()
    page.close()
    assert bar is not None
    assert name is not None
    assert name["y"] >= bar["y"] + bar["height"]


def places(page: Page, *parts: str) -> list[FloatRect]:
    """Where parts of the first chart with a legend lie, once it stands still; ends the page."""
    chart = page.locator(".js-plotly-plot:has(.legend .traces)").first
    chart.wait_for()
    still(page)
    boxes = [chart.locator(part).first.bounding_box() for part in parts]
    page.close()
    assert None not in boxes
    return [box for box in boxes if box is not None]


def test_buttons_that_a_phone_always_shows_cover_no_legend(
    browser: Browser, server: tuple[str, Path]
):
    page = phone(browser, f"{server[0]}/mean?mean.tab=Why", 390)
    bar, names = places(page, ".modebar", ".legend")
    assert names["y"] >= bar["y"] + bar["height"]


@pytest.mark.thorough
@pytest.mark.parametrize("width", [360, 390])
def test_a_phone_s_legend_of_all_methods_begins_below_the_axis_title(
    browser: Browser, server: tuple[str, Path], width: int
):
    """Ticks of two lines, as that of lines without a proof has, move the title down."""
    page = phone(browser, f"{server[0]}/survival?survival.lines=All+methods", width)
    title, names = places(page, ".xtitle", ".legend")
    assert names["y"] >= title["y"] + title["height"]


@pytest.mark.thorough
@pytest.mark.parametrize("path", ["pcdbn", "lvq?lvq.tab=Pictures", "yesiwell?yesiwell.tab=Network"])
def test_buttons_that_a_phone_always_shows_cover_no_words(
    browser: Browser, server: tuple[str, Path], path: str
):
    page = phone(browser, f"{server[0]}/{path}", 390)
    page.locator(".js-plotly-plot .main-svg").nth(1).wait_for()
    still(page)
    covered = page.evaluate(COVERED)
    page.close()
    assert covered == []


def test_sliders_and_the_chosen_tab_are_seen_in_colours_of_the_system(app: App):
    page = app.tab("mean?mean.tab=Why")
    page.emulate_media(forced_colors="active")
    still(page)
    line = page.get_by_role("tab").evaluate_all(LINE)
    colours = page.get_by_test_id("stSlider").last.evaluate(PAINTED)
    page.emulate_media(forced_colors="none")
    assert [one == "underline" for one in line] == [False, False, True, False, False]
    assert len(colours) >= 2, colours


def test_no_control_of_compare_is_cut_at_200_percent(app: App):
    page = app.tab("compare", width=960, height=540)
    still(page)
    shown = page.locator("[data-testid=stMain] [data-testid=stButtonGroup] button").all()
    assert len(shown) >= 2
    for one in shown:
        assert one.evaluate(WHOLE), one.inner_text()


def test_points_move_to_where_they_are_proved_but_not_for_who_asks_for_less_motion(app: App):
    page = app.tab("survival?survival.by=By+claim")
    ready(page)
    claimed = page.evaluate(PLACES)
    assert all(places == claimed[0] for places in claimed)
    page.get_by_role("button", name="Axes", exact=True).click()
    began, *between, ended = frames(page, "By proof")
    # some point was seen on its way, neither where it began nor where it ended
    # (points without a proof become one bar, so there may be fewer of them at the end)
    rest = [*began, *ended]
    assert any(min(abs(b - place) for place in rest) > 3 for one in between for b in one)
    page.emulate_media(reduced_motion="reduce")
    seen = frames(page, "By claim")
    rest = {round(x) for one in (seen[0], seen[-1]) for x in one}
    # in every frame each point is where it began or where it ended
    assert all(round(x) in rest for one in seen for x in one)


def frames(page: Page, by: str) -> list[list[float]]:
    """Where the points are in each picture, from the choice until they rest elsewhere."""
    before = page.evaluate(f"() => JSON.stringify(({PLACES})())")
    page.evaluate(WATCH)
    page.get_by_text(by).first.click()
    page.wait_for_function(f"was => JSON.stringify(({PLACES})()) !== was", arg=before)
    page.wait_for_function(RESTED)
    seen: list[list[float]] = page.evaluate("() => window.seen")
    return seen


@pytest.mark.thorough
def test_a_move_that_changes_the_height_of_the_foot_draws_no_picture_of_the_budget_before(app: App):
    page = app.tab("survival")
    ready(page)
    budget = page.get_by_role("slider", name="Privacy budget")
    first, said = heights(page), page.evaluate(TOLD)
    budget.press("ArrowRight")
    page.wait_for_function(f"() => ({BUDGET})() !== 1")
    page.wait_for_function(
        f"said => ({TOLD})() !== said && ({TOLD})().includes('proved')", arg=said
    )
    settled(page)
    second = heights(page)
    budget.press("ArrowLeft")
    page.wait_for_function(f"() => ({BUDGET})() === 1")
    page.wait_for_function(f"said => ({TOLD})() === said", arg=said)
    settled(page)
    # a width at which the foot takes a line more at one budget than at the other
    width = next(one for one in first if first[one] != second[one])
    page.set_viewport_size({"width": width, "height": 900})
    still(page)
    page.evaluate(DRAWN)
    high = page.evaluate(FOOT)
    budget.press("ArrowRight")
    page.wait_for_function(f"high => ({FOOT})() !== high && window.drawn.length", arg=high)
    page.wait_for_timeout(500)  # another picture would be drawn by now
    assert 1.0 not in page.evaluate("() => window.drawn")


def test_the_start_page_shows_slider_sentence_and_curve_together_at_200_percent(app: App):
    page = app.tab("", width=960, height=540)
    settled(page)
    label = page.get_by_text("Privacy budget ε", exact=True).first
    expect(label).to_be_visible()
    assert label.evaluate("one => one.getBoundingClientRect().height") < 30  # on one line
    page.locator(".js-plotly-plot .annotation-text-g").first.wait_for()
    # the chart takes the room that the window leaves
    page.wait_for_function(f"() => ({INSIDE})(document.querySelector('.js-plotly-plot .main-svg'))")
    for what in (
        page.get_by_role("slider", name="Privacy budget"),
        page.get_by_text("At ε = 1, privacy costs").first,
        page.locator(".js-plotly-plot .main-svg").first,
    ):
        assert what.evaluate(INSIDE), f"{what} is not in sight"
    names_are_whole(page)
    page.evaluate(LOWER)  # words above that come later move the chart down, and it gets lower
    page.wait_for_function(f"() => ({INSIDE})(document.querySelector('.js-plotly-plot .main-svg'))")


@pytest.mark.parametrize(
    "slug",
    [
        "pcdbn",
        *(pytest.param(slug, marks=pytest.mark.thorough) for slug in ("survival", "mean")),
        *(pytest.param(slug, marks=pytest.mark.slow) for slug in ("enadpp", "lvq", "yesiwell")),
    ],
)  # fmt: skip
def test_few_lines_are_in_colour_and_each_is_named_in_sight(app: App, slug: str):
    for size, page in sized(app, slug):
        few_are_named(page)
        assert page.evaluate(ROOM) <= 1  # nobody scrolls sideways
        assert len(page.evaluate(OPEN)) <= 3
        if slug == "survival":
            ready(page)
            in_sight(page, size)
    assert page.get_by_text("trainings computed in").first.evaluate(ABOVE)
    if slug == "survival":
        obeys_keys(page)
        chooses_by_keys(page)
    follows_the_window(page)


def follows_the_window(page: Page) -> None:
    """Fails unless the chart of a laptop's page is lower where the window is."""
    page.set_viewport_size({"width": 1440, "height": 900})
    still(page)
    chart = page.locator(".js-plotly-plot .main-svg").first
    high = chart.evaluate("node => node.getBoundingClientRect().height")
    page.set_viewport_size({"width": 1440, "height": 720})
    page.wait_for_function(
        "high => document.querySelector('.js-plotly-plot .main-svg')"
        ".getBoundingClientRect().height < high - 100",
        arg=high,
    )


@pytest.mark.thorough
def test_the_legend_of_all_methods_is_wholly_in_sight_and_does_not_scroll(app: App):
    for _, page in sized(app, "survival?survival.lines=All+methods"):
        legend_is_whole(page)


def legend_is_whole(page: Page) -> None:
    """Fails unless the legend of all methods is wholly in its frame and in the chart."""
    page.locator(".js-plotly-plot .legend .traces").nth(14).wait_for()
    still(page)
    assert page.locator(".js-plotly-plot .legend .scrollbar[height]:not([height='0'])").count() == 0
    frame = page.locator(".js-plotly-plot .legend .bg").first.bounding_box()
    chart = page.locator(".js-plotly-plot .main-svg").first.bounding_box()
    assert frame is not None
    assert chart is not None
    for name in page.locator(".js-plotly-plot .legend .traces").all():
        box = name.bounding_box()
        assert box is not None
        assert box["y"] + box["height"] <= frame["y"] + frame["height"] + 1
    assert frame["y"] + frame["height"] <= chart["y"] + chart["height"] + 1


@pytest.mark.parametrize(
    "address",
    [
        *(
            pytest.param(f"{slug}?present=1", marks=pytest.mark.thorough)
            for slug in ("survival", "enadpp", "lvq", "pcdbn", "yesiwell")
        ),
        "mean?lesson=clipping&view=4&mean.bound=5&present=1",
    ],
)
def test_a_projector_s_chart_has_half_of_its_height_and_large_words(first_visit: App, address: str):
    page = first_visit.tab(address, width=960, height=540)
    settled(page)
    expect(page.get_by_text("times out of 100").first).to_be_visible()
    page.locator(".js-plotly-plot .annotation-text-g").first.wait_for()
    still(page)
    chart = page.locator(".js-plotly-plot .main-svg").first
    assert chart.evaluate(INSIDE)
    assert chart.evaluate("node => node.getBoundingClientRect().height") >= 270
    assert page.evaluate(SIZE) >= 18
    assert page.evaluate(SMALL) == []
    names_are_whole(page)
    told = page.locator(".js-plotly-plot .annotation-text-g").all_text_contents()
    # Where a title has no room, and left of the numbers what they are.
    assert {"← more private", "less private →"} <= {*told}
    assert {"Proved ε", "ε"} & {*told}
    if page.locator(".xtick text", has_text="no proof").count():
        assert any(re.fullmatch(RANGE, one) for one in told), (
            f"no range of what has no proof: {told}"
        )
    said = page.get_by_text("proved", exact=True).first
    label = page.locator("[data-testid=stBottomBlockContainer] [data-testid=stSlider] label p")
    for what in (said, label, page.get_by_role("slider").first):
        assert what.evaluate(INSIDE), f"{what} is not in sight"
    assert said.evaluate("node => parseFloat(getComputedStyle(node).fontSize)") >= 18


@pytest.mark.parametrize(
    "address",
    [
        "learn?learn.screen=count&learn.count=10&lesson=epsilon&view=1",
        *(
            pytest.param(address, marks=pytest.mark.thorough)
            for address in (
                "learn?learn.screen=clipping&learn.bound=30&lesson=clipping&view=1",
                "learn?learn.screen=clipping&learn.bound=5&lesson=clipping&view=2",
                "survival?survival.intervals=10&lesson=intervals&view=1",
            )
        ),
    ],
)
def test_a_lesson_s_chart_has_half_of_a_projector_when_the_question_is_answered(
    first_visit: App, address: str
):
    page = first_visit.tab(f"{address}&present=1", width=960, height=540)
    still(page)
    if "view=1" in address:
        page.keyboard.press("ArrowRight")  # answers the question
    page.locator(".js-plotly-plot .main-svg").first.wait_for()
    still(page)
    chart = page.locator(".js-plotly-plot .main-svg").first
    assert chart.evaluate(INSIDE)
    assert chart.evaluate("node => node.getBoundingClientRect().height") >= 270
    label = page.locator("[data-testid=stSlider] label p:visible").first
    assert label.evaluate(INSIDE)


RINGS = """() => {
  const node = document.querySelector('.js-plotly-plot')
  const area = node.querySelector('.nsewdrag').getBoundingClientRect()
  return node.layout.shapes.flatMap((one, i) => {
    if (one.name !== 'ring') return []
    const drawn = node.querySelector(`.shapelayer [data-index="${i}"]`)
    const parts = [drawn, ...drawn.querySelectorAll('*')]
    const clips = parts.some((part) => part.hasAttribute('clip-path'))
    return [{ beyond: drawn.getBoundingClientRect().left < area.left, clips }]
  })
}"""
"""Of each ring whether it reaches beyond the vertical axis, and whether it is cut there."""


def test_a_ring_at_the_smallest_budget_is_whole_on_a_phone(first_visit: App):
    page = first_visit.tab("enadpp?enadpp.epsilon=0.2", width=390, height=844)
    settled(page)
    page.wait_for_function(
        "() => document.querySelector('.js-plotly-plot')"
        "?.layout?.shapes?.some(one => one.name === 'ring')"
    )
    still(page)
    rings = page.evaluate(RINGS)
    assert any(one["beyond"] for one in rings)
    assert not any(one["clips"] for one in rings)


def focused(page: Page) -> bool:
    """Whether what has the keyboard lies in sight: above the foot, or in it, or beside the page."""
    return bool(
        page.evaluate("""() => {
      const one = document.activeElement
      const main = document.querySelector("[data-testid=stMain]")
      const foot = document.querySelector("[data-testid=stBottom]")
      if (!main.contains(one) || foot.contains(one)) return true
      return one.getBoundingClientRect().top < foot.getBoundingClientRect().top
    }""")
    )


@pytest.mark.thorough
def test_the_foot_hides_nothing_that_has_the_keyboard(first_visit: App):
    page = first_visit.tab("lvq?lvq.tab=Proof", width=1440, height=900)
    settled(page)
    still(page)
    hidden, seen = [], set()
    for _ in range(60):
        page.keyboard.press("Tab")
        page.wait_for_timeout(80)
        said = page.evaluate(
            "() => document.activeElement.ariaLabel || document.activeElement.innerText"
        )
        seen.add(said)
        for _ in range(50):  # the page scrolls to it after the key
            if focused(page):
                break
            page.wait_for_timeout(100)
        else:
            hidden.append(said)
    assert len(seen) > 30
    assert hidden == []


@pytest.mark.thorough
def test_a_closed_menu_is_out_of_the_order_of_the_keyboard(
    browser: Browser, server: tuple[str, Path]
):
    page = phone(browser, f"{server[0]}/compare", 390)
    page.get_by_role("heading", level=1).first.wait_for()
    menu = page.locator("[data-testid=stSidebar]")
    expect(menu).to_have_css("visibility", "hidden")
    page.get_by_test_id("stExpandSidebarButton").click()
    expect(menu).to_have_css("visibility", "visible")
    page.close()


@pytest.mark.thorough
@pytest.mark.parametrize(("width", "height"), [(844, 390), (320, 256)])
def test_in_a_low_window_the_foot_leaves_the_chart_its_room(
    browser: Browser, server: tuple[str, Path], width: int, height: int
):
    page = browser.new_page(viewport={"width": width, "height": height}, has_touch=True)
    page.set_default_timeout(PATIENCE)
    page.goto(f"{server[0]}/survival")
    chart = page.locator(".js-plotly-plot:has(.annotation-text-g)").first
    chart.wait_for()
    settled(page)
    still(page)
    assert chart.evaluate("one => one.getBoundingClientRect().height") >= 330
    foot = page.locator("[data-testid=stBottom]")
    assert foot.evaluate("one => getComputedStyle(one).position") == "static"
    names_are_whole(page)
    page.close()


@pytest.mark.thorough
@pytest.mark.parametrize(("width", "height"), [(1440, 900), (960, 540)])
def test_ticks_beside_the_legend_of_all_methods_do_not_touch(
    browser: Browser, server: tuple[str, Path], width: int, height: int
):
    page = browser.new_page(viewport={"width": width, "height": height})
    page.set_default_timeout(PATIENCE)
    page.goto(f"{server[0]}/survival?survival.lines=All+methods")
    chart = page.locator(".js-plotly-plot:has(.legend .traces)").first
    chart.wait_for()
    still(page)
    [gaps, *_] = [one for one in page.evaluate(TICKS) if len(one) > 2]
    assert min(gaps) > 0
    page.close()
