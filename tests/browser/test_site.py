"""The static pages in a browser without other hosts: every slider moves what the app shows."""

import html
import io
import json
import re
import shutil
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from PIL import Image
from playwright.sync_api import Browser, Error, Page, Route, expect
from pptx import Presentation
from pptx.enum.shapes import MSO_SHAPE_TYPE

from engine.cli.main import main
from engine.core.spec import knobs
from pages.ui import home as first
from pages.ui.bundle import slide
from pages.ui.compare import answers, candidates, shown
from pages.ui.jobs.live import Watched
from pages.ui.jobs.submit import look
from pages.ui.kit import markdown, shell
from pages.ui.kit.chart import Picture, named
from pages.ui.kit.knobs import label
from pages.ui.kit.offers import figure
from pages.ui.learn import maths, pictures
from pages.ui.learn.ask import AFTER, BEFORE
from pages.ui.learn.declared import QUESTIONS, SCREENS, filled
from pages.ui.learn.page import RUN
from pages.ui.lessons import contents, library
from pages.ui.messages import spoken, tr
from pages.ui.paper import attack, drawing, panels, parts, whole
from pages.ui.paper.defaults import addressed
from pages.ui.paper.published import METHOD
from pages.ui.paper.view import PROOF, WHY
from pages.ui.site import compare as site_compare
from pages.ui.site import start, states
from pages.ui.site.blocks import NO_ATTACK
from tests.browser.app import PATIENCE, publishing
from tests.browser.test_tour import GRAVE

pytestmark = [pytest.mark.browser, pytest.mark.slow]
POINTS = """() => document.querySelector('.chart.main .js-plotly-plot').data
  .filter(one => one.mode === 'lines+markers' && one.x.length > 1)
  .map(one => [one.x.length, ...one.y].join(' '))"""
LINES = """name => document.querySelector(`[data-chart=${name}] .js-plotly-plot`)?.data
  .map(one => [one.name ?? null, one.x ?? null, one.y ?? null, one.z ?? null])"""
PLACES = """tab => [document.querySelector(".held").getBoundingClientRect().bottom,
  document.getElementById(tab).getBoundingClientRect().top]"""
RESTLESS = """window.moving = setInterval(
  () => window.dispatchEvent(new KeyboardEvent('keydown', { key: 'Shift' })), 1000)"""
"""Somebody who uses the keyboard every second, by the browser's own clock."""
TRAINS = "The app trains this for"
"""Begins what is said where a stop's chart is not at hand."""
MOST = 15e6
"""Bytes of all pages."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """All pages, as the command writes them."""
    made = tmp_path_factory.mktemp("site") / "pages"
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("EXPLORER_HOME", str(made.parent / "home"))
        assert main(["site", "--to", str(made)]) == 0
    return made


@pytest.fixture(scope="module")
def served(folder: Path) -> Iterator[str]:
    """The address of the pages."""
    with publishing(folder) as address:
        yield address


@pytest.fixture
def page(browser: Browser, served: str) -> Iterator[Page]:
    """A page without any other host; it must have no error and ask for nothing elsewhere."""
    context = browser.new_context(viewport={"width": 1440, "height": 900})
    context.set_default_timeout(PATIENCE)
    opened, errors = context.new_page(), list[str]()
    opened.on("pageerror", lambda error: errors.append(str(error)))
    opened.on("console", lambda one: errors.append(one.text) if one.type == "error" else None)

    def only(route, request) -> None:
        if request.url.startswith((served, "file:", "data:", "blob:")):
            route.continue_()
        else:
            errors.append(request.url)
            route.abort()

    context.route("**/*", only)
    yield opened
    context.close()
    assert errors == []


def plain(text: str) -> str:
    """A sentence without marks and with one space between words."""
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>|\*\*", "", text)).strip()


def drawn(page: Page, finding: str) -> list[str]:
    """The lines of the chart once the page says so."""
    page.wait_for_function(
        "want => document.querySelector('.finding').textContent.replace(/\\s+/g, ' ') === want",
        arg=finding,
    )
    found: list[str] = page.evaluate(POINTS)
    return found


def said(slug: str, settings: dict[str, str]) -> str:
    """The app's own sentence."""
    return plain(panels.result(slide.opened(slug, settings)))


@pytest.mark.parametrize("slug", list(shell.papers()))
def test_every_slider_has_the_app_s_label_and_numbers(page: Page, served: str, slug: str):
    offered = addressed(slug, {}).offers
    budgets = offered.knobs["epsilon"]
    page.goto(f"{served}/{slug}/")
    page.locator(".chart.main .js-plotly-plot .main-svg").first.wait_for()
    epsilon = page.get_by_role("slider", name="Privacy budget ε")
    first = drawn(page, said(slug, {}))
    assert first
    view = slide.opened(slug, {})
    up = drawing.heights(view)
    ours = {
        " ".join(map(str, [len(one.epsilon), *(float(f"{y:.4g}") for y in up.of(one.middle))]))
        for one in drawing.shown(view)[0].values()
    }
    rounded = {
        " ".join([line.split()[0], *(str(float(f"{float(y):.4g}")) for y in line.split()[1:])])
        for line in first
    }
    assert rounded <= ours
    epsilon.press("ArrowRight")
    at = budgets.texts[budgets.texts.index(budgets.default) + 1]
    drawn(page, said(slug, {f"{slug}.epsilon": at}))
    page.wait_for_url(f"**?{slug}.epsilon={at}")
    epsilon.press("ArrowLeft")
    moved = 0
    for group in addressed(slug, {}).layout.stops:
        for field in group:
            name = label(knobs(addressed(slug, {}).paper.spec)[field])
            slider = page.locator(f"#{field}")
            if not slider.count():
                continue
            assert page.locator(f"label[for={field}]").inner_text().startswith(name)
            before = slider.get_attribute("aria-valuetext")
            slider.press("ArrowRight")
            if slider.get_attribute("aria-valuetext") == before:  # it opens with its last stop
                slider.press("ArrowLeft")
            page.wait_for_function(
                "field => new URLSearchParams(location.search).has(field)",
                arg=f"{slug}.{field}",
            )
            assert page.locator(".finding").text_content()
            assert page.evaluate(POINTS) != first
            moved += 1
    assert moved


def behind(slug: str, settings: dict[str, str]) -> dict[str, list[list[Any]]]:
    """The lines of the app's charts of Why and Proof, by name; the attack's where one ships.

    A coarse curve that ships stands beside the whole run that does not, as in the app.
    """
    page = addressed(slug, settings)
    _, views = states._views(page, states.ships)
    budget = settings[f"{slug}.epsilon"]
    beside = states._beside(page, views)
    view = next(one for one in beside if figure(one.budget) == budget)
    profile, mark, found = whole.of(view), attack.attacked(view), dict[str, Picture]()
    if profile is not None:
        found = {f"whole.{name}": one for name, one in whole.pictures(view, profile).items()}
    if mark is not None:
        found[attack.RULER] = attack.ruler(view.guarantee(), mark.bound, view.budget)
    found = {f"{slug}.{name}": one for name, one in found.items()}
    for section in addressed(slug, {}).layout.sections:
        if section.tab in (WHY, PROOF):
            found |= {key: one for key, one, *_ in parts.bare(section, view).charts}
    figures = {named(key): json.loads(one.text) for key, one in found.items()}
    return {
        name: [[line.get(key) for key in ("name", "x", "y", "z")] for line in figure["data"]]
        for name, figure in figures.items()
    }


def compared(page: Page, wanted: dict[str, list[list[Any]]]) -> int:
    """How many numbers of charts are those of the page, which waits until they are."""
    for name, lines in wanted.items():
        place = page.locator(f"[data-chart={name}]")
        place.scroll_into_view_if_needed()
        page.wait_for_function(
            f"([name, want]) => JSON.stringify(({LINES})(name)) === JSON.stringify(want)",
            arg=[name, lines],
        )
        expect(place.locator(".said")).not_to_be_empty()
        expect(place.locator(".said")).not_to_contain_text(TRAINS)
    return sum(len(line[2] or ()) for lines in wanted.values() for line in lines)


@pytest.mark.parametrize("slug", list(shell.papers()))
def test_the_charts_of_why_and_proof_hold_the_app_s_numbers(page: Page, served: str, slug: str):
    """At the budget that the page opens with, where an attack ships, and at the next one."""
    page.goto(f"{served}/{slug}/")
    epsilon = page.get_by_role("slider", name="Privacy budget ε")
    numbers, ruler = 0, named(f"{slug}.{attack.RULER}")
    for attacked in (True, False):
        budget = str(epsilon.get_attribute("aria-valuetext"))
        wanted = behind(slug, {f"{slug}.epsilon": budget})
        assert (ruler in wanted) == attacked
        numbers += compared(page, wanted)
        if not attacked:
            place = page.locator(f"[data-chart={ruler}]")
            place.scroll_into_view_if_needed()
            expect(place.locator(".said")).to_have_text(NO_ATTACK)
            expect(place.locator(".chart")).to_be_hidden()
        epsilon.press("ArrowRight")
    assert numbers > 200


@pytest.mark.parametrize("slug", list(shell.papers()))
def test_every_control_moves_the_charts_of_why_and_proof_to_the_app_s_numbers(
    page: Page, served: str, slug: str
):
    """What is not trained there is what the page opens with, and the page says so."""
    offered = addressed(slug, {}).offers
    groups = addressed(slug, {}).layout.stops
    page.goto(f"{served}/{slug}/")
    budget = offered.knobs["epsilon"].default
    first = behind(slug, {f"{slug}.epsilon": budget})
    numbers = waiting = other = 0
    for field in [*(field for group in groups for field in group), METHOD]:
        place = page.locator(f"#{field}")
        if not place.count():
            continue
        expect(place).to_be_enabled()
        texts = stops(page, field)
        at = texts.index((offered.knobs | {METHOD: offered.method})[field].default)
        text = texts[at + 1] if at + 1 < len(texts) else texts[at - 1]
        if field == METHOD:
            place.select_option(text)
        else:
            place.press("ArrowRight" if at + 1 < len(texts) else "ArrowLeft")
        page.wait_for_function(
            "([name, text]) => new URLSearchParams(location.search).get(name) === text",
            arg=[f"{slug}.{field}", text],
        )
        wanted = behind(slug, {f"{slug}.{field}": text, f"{slug}.epsilon": budget})
        numbers += compared(page, wanted)
        other += sum(lines != first.get(name) for name, lines in wanted.items())
        for name, lines in first.items():
            figure = page.locator(f"[data-chart={name}]")
            if name not in wanted and figure.is_visible() and name != named(f"{slug}.attack.ruler"):
                figure.scroll_into_view_if_needed()  # what is out of sight waits until it is seen
                expect(figure.locator(".said")).to_contain_text(TRAINS)
                expect(figure.locator(".said")).to_contain_text(f"{text}. Shown here: {texts[at]}.")
                assert page.evaluate(LINES, name) == lines
                waiting += 1
    assert numbers > 200
    assert other > 0
    assert waiting > 0 or slug not in ("lvq", "enadpp")


def stops(page: Page, field: str) -> list[str]:
    """The stops of one of a page's controls."""
    found: list[str] = page.evaluate(
        "field => window.explorer.controls.find(one => one.field === field).texts", field
    )
    return found


@pytest.mark.parametrize("code", ["", "de"])
def test_the_slider_of_the_first_page_moves_the_app_s_curve(page: Page, served: str, code: str):
    """In its language: the curve with its named budgets, the sentence, and the dots that fill."""
    with spoken(code or "en"):
        state, _ = start.taken() or ({}, "")
        names = [f"{tr(words)}:" for words in first.stops().values()]
    page.goto(f"{served}/?home.epsilon=2{'&lang=' * bool(code)}{code}")
    for key, at in (("", "2"), ("ArrowLeft", "1.6"), ("Home", "0.05"), ("End", "10")):
        if key:
            page.locator("#epsilon").press(key)
        place = state["budgets"].index(at)
        expect(page.locator(".finding")).to_have_text(plain(state["findings"][place]))
        (dots,) = re.findall(r'aria-label="([^"]+)"', state["rulers"][place])
        expect(page.get_by_role("img", name=dots)).to_be_visible()
        expect(page.locator("#epsilon")).to_have_attribute("aria-valuetext", at)
        labels = page.locator(".chart.main .infolayer")
        expect(labels).to_contain_text(f"ε = {at}".replace(".", "," if code else "."))
        for words in names:
            expect(labels).to_contain_text(words)
        page.wait_for_url(f"**?home.epsilon={at}*")
    page.goto(f"{served}/?embed=1&home.epsilon=2{'&lang=' * bool(code)}{code}")
    expect(page.locator("#epsilon")).to_have_attribute("aria-valuetext", "2")
    expect(page.locator(".finding")).to_be_visible()
    for hidden in ("nav", "h1", ".cards", ".embed-this"):
        expect(page.locator(hidden).first).to_be_hidden()


def test_an_address_opens_its_stop_from_a_server_and_from_a_folder(
    page: Page, served: str, folder: Path
):
    for base in (served, folder.as_uri()):
        page.goto(f"{base}/survival/index.html?survival.epsilon=2")
        drawn(page, said("survival", {"survival.epsilon": "2"}))
        page.goto(f"{base}/survival/index.html?survival.intervals=20")
        slider = page.get_by_role("slider", name="Time intervals q")
        expect(slider).to_have_attribute("aria-valuetext", "20")
        page.goto(f"{base}/index.html")
        page.get_by_role("link", name="Reproduce").click()
        page.get_by_text("Table 1").first.click()


def resting(page: Page, tab: str) -> list[float]:
    """Where the sliders end and a heading begins, once neither has moved for a second and a half.

    A minute at most.
    """
    last, same = page.evaluate(PLACES, tab), 0
    for _ in range(600):
        page.wait_for_timeout(100)
        now = page.evaluate(PLACES, tab)
        last, same = now, same + 1 if now == last else 0
        if same == 15:
            break
    found: list[float] = last
    return found


@pytest.mark.parametrize("slug", list(shell.papers()))
def test_an_address_opens_a_tab_at_its_heading(page: Page, served: str, slug: str):
    """Parts above it take their heights later; below the sliders, which stay in sight."""
    for tab in (WHY, PROOF):
        page.goto(f"{served}/{slug}/?{slug}.tab={tab}")
        page.wait_for_function("() => window.others !== undefined")
        held, top = resting(page, tab)
        assert held <= top < 300, (tab, held, top)


def test_learn_asks_and_then_shows_what_the_app_shows(page: Page, served: str):
    """Each screen: a prediction, the app's verdict on it, and the app's sentence at every stop."""
    page.goto(f"{served}/learn/")
    for screen in SCREENS.values():
        place = page.locator(f"#screen-{screen.name}")
        expect(place.locator(".shown")).to_be_hidden()
        if not screen.ask.slider:
            place.get_by_role("button", name="Show", exact=True).click()
            expect(place.locator(".warning")).to_have_text("Choose an answer first.")
            place.get_by_role("radio").first.check()
        place.get_by_role("button", name="Show", exact=True).click()
        job = maths.clipping()
        results = Watched("", job, look(job)).results if screen.name == RUN else None
        answer = len(pictures.asked(screen)) // 2 if screen.ask.slider else 0
        told = pictures.verdict(screen, answer, pictures.truth(screen, results))
        expect(place.locator(".verdict")).to_have_text(plain(told))
        if screen.plays or screen.control.lists:
            continue
        control = place.get_by_role("slider", name=filled(screen.control.label), exact=False).last
        control.press("Home")
        for stop in pictures.options(screen):
            facts = pictures.DRAWN[screen.name](screen, stop, results).facts
            expect(place.locator(".said")).to_have_text(plain(screen.says("finding", facts)))
            control.press("ArrowRight")


def test_the_game_is_won_and_lost_without_a_server(page: Page, served: str):
    page.goto(f"{served}/learn/")
    place = page.locator("#screen-attacker")
    place.get_by_role("button", name="Show without answering").click()
    place.get_by_role("button", name="Mia is in the data").click()
    expect(place.locator(".last")).to_have_text(re.compile(r"(Right|Wrong)\. Mia was"))
    place.get_by_role("button", name="Guess 100 times").click()
    expect(place.locator(".said")).to_contain_text("You win.")
    place.get_by_role("button", name="Mia is in the data").click()
    expect(place.locator(".last")).not_to_be_empty()
    place.locator("#attacker").press("Home")
    expect(place.locator(".last")).to_be_empty()  # it was said of another budget
    for _ in range(9):
        place.get_by_role("button", name="Guess 100 times").click()
    expect(place.locator(".said")).to_contain_text("of 900 times. You lose:")


def test_five_questions_give_the_gain_without_a_server(page: Page, served: str):
    page.goto(f"{served}/learn/")
    for when, wrong in ((BEFORE, 3), (AFTER, 1)):
        for i, one in enumerate(QUESTIONS):
            at = one.answer - 1 if i >= wrong else one.answer % len(one.options)
            page.locator(f"input[name={when}-{i}]").nth(at).check()
        page.locator(f"form[data-name={when}]").get_by_role("button", name="Answer").click()
    expect(page.locator(".gain")).to_have_text(
        "You had 2 of 5 right before, and 4 of 5 now. Gain: +2."
    )


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_nothing_serious_is_found_and_it_fits_a_phone(page: Page, served: str, scheme: str):
    page.emulate_media(color_scheme="dark" if scheme == "dark" else "light")
    page.set_viewport_size({"width": 390, "height": 844})
    papers = [f"{slug}/" for slug in shell.papers()]
    for path in ("", *papers, "learn/", "reproduce/", "compare/", "lessons/", "lessons/epsilon/"):
        page.goto(f"{served}/{path}")
        page.wait_for_timeout(500)
        for skip in page.locator(".skip").all():
            skip.click()
        for place in page.locator("figure, [data-told]").all():
            place.scroll_into_view_if_needed()
        violations = Axe().run(page).response["violations"]
        assert [one["id"] for one in violations if one["impact"] in GRAVE] == [], path
        assert page.evaluate("() => document.documentElement.scrollWidth") <= 390, path


def test_it_is_small_and_holds_no_script_of_its_data(folder: Path):
    sizes = [file.stat().st_size for file in folder.rglob("*") if file.is_file()]
    assert sum(sizes) <= MOST
    for file in folder.rglob("index.html"):
        text = file.read_text(encoding="utf-8")
        assert "Content-Security-Policy" in text
        assert not re.search(r"<script(?! src=)|\son\w+=", text), file
    assert markdown.html("<script>") == "&lt;script&gt;"


def test_a_folder_with_other_files_is_left_alone(tmp_path: Path, capsys):
    (tmp_path / "mine.txt").write_text("kept")
    assert main(["site", "--to", str(tmp_path)]) == 2
    assert "--to: expected a folder that is empty or not there" in capsys.readouterr().err
    assert (tmp_path / "mine.txt").read_text() == "kept"


@pytest.mark.parametrize(("name", "finding"), [("1", True), ("chart-people", False)])
def test_a_chart_stands_alone_in_a_frame_with_its_slider_and_its_guarantee(
    page: Page, served: str, name: str, finding: bool
):
    page.set_viewport_size({"width": 800, "height": 560})
    page.goto(f"{served}/survival/?embed={name}&survival.epsilon=2")
    chart = page.locator(f"[data-chart={name}]" if name != "1" else ".chart.main")
    chart.locator(".main-svg").first.wait_for()
    expect(page.locator(".finding")).to_be_visible(visible=finding)
    expect(page.locator(".meaning")).to_contain_text("A guess whether a person is in the data")
    slider = page.get_by_role("slider", name="Privacy budget ε")
    assert slider.get_attribute("aria-valuetext") == "2"
    slider.press("ArrowLeft")
    expect(slider).to_have_attribute("aria-valuetext", "1.6")
    for hidden in ("nav", "h1", "#cards", ".embed-this", "#intervals"):
        expect(page.locator(hidden).first).to_be_hidden()
    assert page.locator(".chart:visible").count() == 1
    whole = page.get_by_role("link", name="Epsilon Explorer").get_attribute("href")
    assert whole is not None
    assert "embed" not in whole


def test_the_line_of_a_chart_opens_it_with_its_settings_in_another_page(
    page: Page, served: str, tmp_path: Path
):
    page.goto(f"{served}/survival/?survival.intervals=20")
    page.get_by_role("slider", name="Time intervals q").wait_for()
    expect(page.locator("#intervals")).to_have_attribute("aria-valuetext", "20")
    page.wait_for_url("**?survival.intervals=20")
    box = page.locator(".embed-this").first
    box.locator("summary").click()
    box.get_by_role("button", name="Copy").click()
    line = box.locator("input").input_value()
    told = page.locator(".finding").text_content()
    (place,) = re.findall(r'<iframe src="([^"]+)"', line)
    page.goto(html.unescape(place))
    page.locator(".chart.main .main-svg").first.wait_for()
    expect(page.locator("#intervals")).to_have_attribute("aria-valuetext", "20")
    expect(page.locator(".finding")).to_have_text(told or "none")
    expect(page.locator("nav")).to_be_hidden()


def test_a_chart_lives_in_a_page_of_another_host(
    browser: Browser, served: str, page: Page, tmp_path: Path
):
    """The line as it is copied, in a page of another site: it draws, moves and leads back."""
    page.goto(f"{served}/survival/?survival.epsilon=2")
    box = page.locator(".embed-this").first
    box.locator("summary").click()
    (tmp_path / "index.html").write_text(
        '<!doctype html><title>A slide</title><link rel="icon" href="data:,">'
        + box.locator("input").input_value()
    )
    with publishing(tmp_path) as address, browser.new_context() as context:
        context.set_default_timeout(PATIENCE)
        other, errors = context.new_page(), list[str]()
        other.on("pageerror", lambda error: errors.append(str(error)))
        other.on("console", lambda one: errors.append(one.text) if one.type == "error" else None)
        other.goto(f"{address}/index.html".replace("127.0.0.1", "localhost"))
        frame = other.frame_locator("iframe")
        expect(frame.locator(".finding")).to_have_text(said("survival", {"survival.epsilon": "2"}))
        frame.locator(".chart.main .main-svg").first.wait_for()
        slider = frame.get_by_role("slider", name="Privacy budget ε")
        expect(frame.locator("nav")).to_be_hidden()
        slider.press("ArrowRight")
        expect(slider).not_to_have_attribute("aria-valuetext", "2")
        moved = str(slider.get_attribute("aria-valuetext"))
        settings = {"survival.epsilon": moved}
        expect(frame.locator(".finding")).to_have_text(said("survival", settings))
        whole = frame.get_by_role("link", name="Epsilon Explorer")
        with context.expect_page() as opened:
            whole.click()
        opened.value.wait_for_url(f"{served}/survival/**")
        expect(opened.value.locator("#epsilon")).to_have_attribute("aria-valuetext", moved)
        assert other.url.endswith("/index.html")
        assert errors == []


def test_a_view_of_a_lesson_stands_alone_in_a_frame(page: Page, served: str):
    known = contents.find("clipping").lesson
    assert known is not None
    page.goto(f"{served}/lessons/clipping/")
    section = page.locator("section.drawn").last
    section.locator(".embed-this summary").click()
    (place,) = re.findall(r'src="([^"]+)"', section.locator(".embed-this input").input_value())
    number = int(section.locator("h2").inner_text())
    page.goto(html.unescape(place))
    settings = known.views[number - 1].settings
    alone = page.locator(f"[data-chart=view-{number}]")
    expect(alone.locator(".finding")).to_have_text(said("mean", settings))
    alone.locator(".main-svg").first.wait_for()
    assert page.locator("section:visible").count() == page.locator(".chart:visible").count() == 1
    for hidden in ("nav", "h1", "section h2", ".embed-this"):
        assert page.locator(hidden).locator("visible=true").count() == 0, hidden
    before = alone.locator("output").inner_text()
    alone.get_by_role("slider").press("ArrowRight")
    expect(alone.locator("output")).not_to_have_text(before)


def test_a_chart_is_saved_as_svg_and_as_png_of_300_dpi_on_clear_ground(
    page: Page, served: str, tmp_path: Path
):
    page.goto(f"{served}/mean/")
    page.locator(".chart.main .main-svg").first.wait_for()
    seen = page.locator(".chart.main .ytick text").first.evaluate("one => one.style.fontSize")
    box = page.locator(".embed-this").first
    box.locator("summary").click()
    kept = {}
    for kind in ("svg", "png"):
        with page.expect_download() as download:
            box.locator(f"[data-take={kind}]").click()
        kept[kind] = tmp_path / download.value.suggested_filename
        download.value.save_as(kept[kind])
    drawing = kept["svg"].read_text(encoding="utf-8")
    large = re.findall(r'class="ytick".*?font-size: ([\d.]+)px', drawing)
    assert large
    assert float(large[0]) >= 1.5 * float(seen.removesuffix("px"))
    with Image.open(kept["png"]) as picture:
        assert picture.info["dpi"] == pytest.approx((300, 300), abs=0.1)
        assert picture.width == 3000
        assert picture.convert("RGBA").getpixel((2, 2))[3] == 0
        inked = picture.convert("RGBA").getchannel("A").getextrema()
        assert inked == (0, 255)


@pytest.mark.parametrize("base", ["served", "folder"])
def test_a_chart_is_saved_as_a_slide_with_its_sentence_and_the_card_as_notes(
    page: Page, request: pytest.FixtureRequest, base: str, tmp_path: Path
):
    """From a server and from a folder: PowerPoint's library reads it, and its picture is whole."""
    found = request.getfixturevalue(base)
    start = found if isinstance(found, str) else found.as_uri()
    settings = {"survival.epsilon": "2"}
    page.goto(f"{start}/survival/index.html?survival.epsilon=2")
    sentence = drawn(page, said("survival", settings)) and said("survival", settings)
    page.wait_for_function("() => window.others !== undefined")
    for box, told in ((page.locator(".embed-this").first, sentence), (None, "")):
        if box is None:
            figure = page.locator("figure[data-chart]").first
            figure.scroll_into_view_if_needed()
            figure.locator(".main-svg").first.wait_for()
            told, box = figure.locator(".said").inner_text(), figure.locator(".embed-this")
        box.locator("summary").click()
        with page.expect_download() as download:
            box.get_by_role("button", name="PPTX").click()
        assert download.value.suggested_filename == "epsilon-explorer.pptx"
        file = tmp_path / "slide.pptx"
        download.value.save_as(file)
        with zipfile.ZipFile(file) as archive:
            assert archive.testzip() is None
        show = Presentation(str(file))
        (made,) = show.slides
        texts = [one.text_frame.text for one in made.shapes if one.has_text_frame]
        assert plain(" ".join(texts)) == plain(told)
        assert texts[0].endswith(".")
        (drawing_,) = [one for one in made.shapes if one.shape_type == MSO_SHAPE_TYPE.PICTURE]
        with Image.open(io.BytesIO(drawing_.image.blob)) as picture:
            assert picture.width == 3000
            ratio = picture.width / picture.height
            assert drawing_.width / drawing_.height == pytest.approx(ratio, rel=1e-3)
        assert drawing_.left > 0
        assert drawing_.left + drawing_.width < show.slide_width
        assert drawing_.top + drawing_.height < show.slide_height
        notes = made.notes_slide.notes_text_frame.text
        view = slide.opened("survival", settings)
        card = view.guarantee()
        assert plain(told) in plain(notes)
        assert plain(card.reasons[0].split(":")[0]) in plain(notes)
        assert page.locator(".meaning").inner_text().splitlines()[-1] in notes
        assert "survival.epsilon=2" in notes


def test_lessons_and_compare_say_what_the_app_says(page: Page, served: str):
    page.goto(f"{served}/lessons/")
    for name in library.ORDER:
        expect(page.get_by_role("heading", name=contents.find(name).title)).to_be_visible()
    page.get_by_role("heading", name="Why clipping hurts").click()
    known = contents.find("clipping").lesson
    assert known is not None
    curves = (one for one in known.views if one.page == "mean" and "mean.tab" not in one.settings)
    view = next(curves)
    expect(page.locator(".drawn .finding").first).to_have_text(said("mean", view.settings))
    page.get_by_role("link", name="Open this view").first.click()
    expect(page.locator("#screen-clipping")).to_be_in_viewport()

    page.goto(f"{served}/compare/?compare.data=Digits&compare.epsilon=2")
    expect(page.locator(".question")).to_have_text(shown.QUESTION.format("Digits"))
    runs = [one for one in site_compare._shipped() if one.dataset == "digits"]
    name = next(iter(candidates.gauges(runs)))
    able = shown.able(runs, name, "digits")
    first = candidates.first(able, name, shown.FIRST)
    chosen = candidates.shortened({one: able[one] for one in first})
    lines, _ = candidates.drawn(chosen, name, 2.0)
    rows = answers.frontier(lines, candidates.gauges(runs)[name])
    expect(page.locator(".finding")).to_have_text(
        plain(shown.answer(rows, 2.0)[0]).replace("*", "")
    )
    cells = page.locator("#cards tbody td:nth-child(2)").all_text_contents()
    readings = shown.guarantees(chosen, name, candidates.gauges(runs)[name], 2.0)
    assert cells == [one["Median"] for one in readings]
    page.locator(".chart.main .main-svg").first.wait_for()
    before = page.evaluate(POINTS)
    page.locator("#gauge").select_option(index=1)
    page.wait_for_function(f"was => JSON.stringify(({POINTS})()) !== was", arg=json.dumps(before))


def test_a_site_that_was_visited_once_opens_without_a_network(browser: Browser, folder: Path):
    with publishing(folder) as address, browser.new_context() as context:
        context.set_default_timeout(PATIENCE)
        tab = context.new_page()
        tab.goto(f"{address}/")
        tab.evaluate("() => navigator.serviceWorker.ready")
        tab.wait_for_function("() => navigator.serviceWorker.controller !== null")
        context.set_offline(True)
        for path in ("survival/?survival.epsilon=2", "learn/index.de.html", "lessons/clipping/"):
            tab.goto(f"{address}/{path}")
            expect(tab.locator("h1")).not_to_be_empty()
        tab.goto(f"{address}/survival/index.html?survival.intervals=20")
        tab.locator(".chart.main .main-svg").first.wait_for()
        expect(tab.locator("#intervals")).to_have_attribute("aria-valuetext", "20")
        with pytest.raises(Error, match="ERR_"):
            tab.goto(f"{address}/nothing.html")


def test_pages_are_kept_once_the_visitor_rests(browser: Browser, served: str):
    """To keep them takes a second of work, in which a slider would wait."""
    kept = "() => navigator.serviceWorker.getRegistration().then(Boolean)"
    with browser.new_context() as context:
        context.set_default_timeout(PATIENCE)
        tab = context.new_page()
        tab.add_init_script(RESTLESS)
        tab.goto(f"{served}/mean/")
        tab.wait_for_function("() => window.others !== undefined")
        tab.get_by_role("slider", name="Privacy budget ε").press("ArrowRight")
        tab.wait_for_timeout(7000)
        assert not tab.evaluate(kept)
        tab.evaluate("() => clearInterval(window.moving)")
        tab.wait_for_function(f"async () => await ({kept})()")


def test_another_version_of_the_site_takes_the_place_of_what_was_kept(
    browser: Browser, folder: Path, tmp_path: Path
):
    ours = tmp_path / "pages"
    shutil.copytree(folder, ours)
    with publishing(ours) as address, browser.new_context() as context:
        context.set_default_timeout(PATIENCE)
        tab = context.new_page()
        tab.goto(f"{address}/")
        tab.wait_for_function("() => navigator.serviceWorker.controller !== null")
        known = tab.evaluate("() => caches.keys()")
        for name in ("index.html", "offline.js"):
            file = ours / name
            text = file.read_text(encoding="utf-8").replace("<h1>", "<h1>New: ")
            file.write_text(re.sub(r'DIGEST = "\w+"', 'DIGEST = "new"', text), encoding="utf-8")
        tab.reload()
        for _ in range(300):
            now = tab.evaluate("() => caches.keys()")
            if len(now) == 1 and now != known:
                break
            tab.wait_for_timeout(200)
        tab.reload()
        expect(tab.locator("h1")).to_have_text(re.compile("^New: "))


def test_buttons_of_learn_wait_for_their_script(page: Page, served: str):
    held: list[Route] = []
    page.route("**/learn.js", lambda route: held.append(route))
    page.goto(f"{served}/learn/", wait_until="commit")
    skip = page.locator("#screen-count .skip")
    expect(skip).to_be_disabled()
    expect(page.locator("#screen-count button[type=submit]")).to_be_disabled()
    for _ in range(600):
        if held:
            break
        page.wait_for_timeout(100)
    held[0].continue_()
    skip.click()
    expect(page.locator("#screen-count .said")).to_be_visible()
