"""All lessons to their end, a phone's way to a question, and a presenter's keys."""

from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

import pytest
from playwright.sync_api import Page, expect

from engine.service import answers
from engine.service.store import Store
from pages.ui import openings
from pages.ui.lessons import contents, library, schema
from pages.ui.lessons.schema import Lesson, Question, View
from pages.ui.site import lesson as one_file
from tests.browser.app import settled, still
from tests.browser.conftest import App
from tests.pages.played import play

pytestmark = pytest.mark.browser

LATER = {"attack": (), "epsilon": pytest.mark.thorough}
"""How long a suite must be to go through a lesson; all others are in the longest."""


@pytest.fixture(scope="module", autouse=True)
def shown(server: tuple[str, Path]) -> None:
    """What the lessons show is in the store already, so that nothing trains meanwhile."""
    known = Store(server[1])
    for job in openings.lessons():
        if not known.these([job.id]):  # asked for and taken at once: a worker would be quicker
            play(server[1], job)


def lesson(name: str) -> Lesson:
    found = contents.find(name).lesson
    assert found is not None
    return found


def button(page: Page, name: str) -> None:
    page.get_by_role("button", name=name).first.click()


def on(page: Page, number: int, count: int) -> None:
    """Waits for a view of a lesson."""
    expect(page.get_by_text(f"· {number} of {count}")).to_be_visible()
    settled(page)


def listens(page: Page, role: str = "present") -> None:
    """Waits until a page of the presenter follows the keys."""
    page.wait_for_function("role => document.body.dataset.keys === role", arg=role)


def answer(page: Page, option: int) -> None:
    page.locator("[data-testid=stRadio] label:has(input[type=radio])").nth(option).click()
    page.get_by_role("button", name="Answer", exact=False).first.click()


def counted(store: Store, question: Question) -> int:
    """All answers to a question."""
    return sum(sum(answers.counts(store.database, key, len(question.options)))
               for key in question.keys)  # fmt: skip


@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=LATER.get(name, pytest.mark.slow)) for name in library.ORDER],
)
def test_a_lesson_goes_to_its_end(app: App, name: str):
    one, page = lesson(name), app.tab(f"lessons?lesson={name}")
    settled(page)
    button(page, "Start")
    store = Store(app.home)
    for number, view in enumerate(one.views, 1):
        on(page, number, len(one.views))
        if view.question is not None:
            before = counted(store, view.question)
            answer(page, max(view.question.answer - 1, 0))
            if view.question.arms:  # explained, and asked once more
                expect(page.get_by_text("the same question again")).to_be_visible()
                answer(page, view.question.answer - 1)
            expect(page.get_by_text("Right.", exact=True)).to_be_visible()
            assert counted(store, view.question) == before + (2 if view.question.arms else 1)
        settled(page)
        assert page.url.split("?")[0].endswith(f"/{view.page}")
        if number < len(one.views):
            button(page, "Next")
    expect(page.get_by_text("End of the lesson")).to_be_visible()
    assert not page.locator("[data-testid=stException]").count()


def test_back_in_a_lesson_keeps_its_session(app: App):
    """A page that is loaded again would ask again what was answered."""
    one, page = lesson("epsilon"), app.tab("lessons?lesson=epsilon")
    settled(page)
    button(page, "Start")
    on(page, 1, len(one.views))
    settled(page)
    page.evaluate("window.kept = true")
    for _ in range(2):
        page.go_back()
        settled(page)
        assert page.evaluate("window.kept === true")


@pytest.mark.thorough
def test_the_keyboard_stays_in_a_lesson(app: App):
    """Buttons that go leave it at the heading or the first line, and the answer is read out."""
    one, page = lesson("clipping"), app.tab("lessons?lesson=clipping")
    settled(page)
    page.get_by_role("button", name="Start").press("Enter")
    on(page, 1, len(one.views))
    expect(page.get_by_role("heading", name=one.title)).to_be_focused()
    page.locator("[data-testid=stRadio] input[type=radio]").nth(2).press("Space")
    page.get_by_role("button", name="Answer", exact=False).first.press("Enter")
    first = page.locator(".st-key-lesson p").first
    expect(page.locator("[aria-live=polite]").get_by_text("Right.", exact=True)).to_be_visible()
    expect(first).to_be_focused()
    page.get_by_role("button", name="Next").press("Enter")
    on(page, 2, len(one.views))
    assert not page.evaluate("document.activeElement === document.body")


def test_a_phone_is_two_taps_from_the_question(app: App):
    page = app.tab("lessons?lesson=clipping", width=390)
    settled(page)
    button(page, "Start")  # the first tap; the second chooses
    answer(page, 2)
    expect(page.get_by_text("Right.", exact=True)).to_be_visible()
    wide = page.evaluate("document.querySelector('[data-testid=stMain]').scrollWidth")
    assert wide <= 390


def test_the_class_sees_its_answers_grow(app: App):
    page = app.tab("learn?learn.screen=clipping&learn.bound=30&lesson=clipping&view=1")
    button(page, "Show without answering")
    page.get_by_text("The class's answers").click()
    question = lesson("clipping").views[0].question
    assert question is not None
    store = Store(app.home)
    total = sum(answers.counts(store.database, question.key, 3))
    expect(page.get_by_text(f"{total} answer")).to_be_visible()
    for _ in range(3):
        answers.add(store.database, question.key, 0, 3)
    expect(page.get_by_text(f"{total + 3} answers so far")).to_be_visible()


def test_keys_move_the_presenter_and_the_slider_stays_live(app: App):
    page = app.tab("mean?lesson=clipping&view=4&present=1")
    for width, height in ((1920, 1080), (1280, 720)):
        page.set_viewport_size({"width": width, "height": height})
        page.reload()
        on(page, 4, 4)
        chart = page.locator(".js-plotly-plot").first
        expect(chart).to_be_visible()
        box = chart.bounding_box()
        assert box is not None
        assert box["y"] + box["height"] <= height
    expect(page.locator("[data-testid=stSidebar]")).to_be_hidden()
    expect(page.get_by_role("tablist").first).to_be_hidden()
    slider = page.get_by_role("slider", name="Privacy budget").first
    slider.focus()
    page.keyboard.press("ArrowRight")
    moved = page.locator("[data-testid=stBottom]").get_by_text("1.25", exact=True)
    expect(moved.first).to_be_visible()  # beside the slider; the marks say it too
    on(page, 4, 4)  # arrows on the slider move the slider
    listens(page)
    page.keyboard.press("PageUp")  # as a clicker does
    on(page, 3, 4)
    listens(page)
    page.locator("h1").first.click()
    page.keyboard.press("ArrowRight")
    on(page, 4, 4)
    listens(page)
    page.keyboard.press("Escape")
    page.wait_for_url(lambda url: "present" not in url)
    expect(page.get_by_role("tablist").first).to_be_visible()


def test_the_notes_follow_and_lead(app: App):
    page = app.tab("learn?learn.screen=clipping&learn.bound=30&lesson=clipping&view=1&present=1")
    expect(
        page.get_by_text("answers so far").or_(page.get_by_text("answer so far"))
    ).to_be_visible()
    settled(page)
    listens(page)
    with page.expect_popup() as opened:
        page.keyboard.press("n")
    notes, one = opened.value, lesson("clipping")
    expect(notes.get_by_text(one.views[0].notes)).to_be_visible()
    page.keyboard.press("PageDown")  # reveals the answer first
    expect(page.get_by_text("The answer is")).to_be_visible()
    page.keyboard.press("PageDown")
    on(page, 2, 4)
    expect(notes.get_by_text(one.views[1].notes)).to_be_visible()
    listens(notes, "notes")
    notes.keyboard.press("PageDown")
    on(page, 3, 4)
    expect(notes.get_by_text(one.views[2].notes)).to_be_visible()


MADE = """title = "Made here"
text = "x"
[[views]]
address = "/mean?mean.bound=2&mean.repeats=5"
text = "y"
"""


@pytest.mark.thorough
def test_the_lesson_page_says_by_itself_that_its_runs_are_trained(app: App):
    path = app.home / "lessons" / "made.toml"
    path.parent.mkdir(exist_ok=True)
    path.write_text(MADE)
    page = app.tab("lessons?lesson=made")
    settled(page)
    button(page, "Train this lesson now")
    for said in ("not trained yet", "still to be trained"):
        expect(page.get_by_text(said)).to_have_count(0)
    assert page.get_by_role("button", name="Start").is_visible()


ASKS = """title = "Made here"
text = "x"
[[views]]
address = "/mean?mean.epsilon=0.5"
text = "y"
lock = ["mean.epsilon"]
[views.question]
text = "q"
options = ["a", "b"]
answer = 1
"""


def test_one_file_shows_a_view_s_chart_with_the_answer_and_moves_nothing_locked(
    app: App, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("EXPLORER_HOME", str(tmp_path))
    one_file.lesson(tmp_path / "lesson.html", library.keep(ASKS))
    page = app.tab("_stcore/health")
    page.goto((tmp_path / "lesson.html").as_uri())
    page.evaluate("dispatchEvent(new Event('beforeprint'))")  # a print leaves the fold closed
    expect(page.locator(".finding")).to_be_hidden()
    assert not page.locator(".main-svg").count()
    page.get_by_text("Answer", exact=True).click()
    expect(page.locator(".finding")).to_contain_text("At ε = 0.5")
    chart, room = (page.locator(one).first.bounding_box() for one in (".main-svg", "section"))
    assert chart is not None
    assert room is not None
    assert chart["width"] == pytest.approx(room["width"], abs=2)
    expect(page.get_by_role("slider")).to_be_disabled()
    expect(page.get_by_role("slider")).to_have_attribute("aria-valuetext", "0.5")


ASKED = """[[views]]
address = "/mean?mean.bound={bound}&mean.repeats=5"
text = "y"
[views.question]
text = "q{bound}"
options = ["a", "b"]
"""


@pytest.mark.thorough
def test_a_view_on_the_page_before_has_its_own_settings_after_its_question(app: App):
    bounds, path = ("0.5", "1", "2"), app.home / "lessons" / "asked.toml"
    path.parent.mkdir(exist_ok=True)
    views = "".join(ASKED.format(bound=one) for one in bounds)
    path.write_text(f'title = "Asked"\ntext = "x"\n{views}')
    page = app.tab("mean?mean.bound=0.5&mean.repeats=5&lesson=asked&view=1")
    for number, bound in enumerate(bounds, 1):
        on(page, number, len(bounds))
        button(page, "Show without answering")
        slider = page.get_by_role("slider", name="Clipping bound").first
        expect(slider).to_have_attribute("aria-valuetext", bound)
        settled(page)
        assert f"mean.bound={bound}&" in f"{page.url}&"
        if number < len(bounds):
            button(page, "Next")


BRIER = "compare.runs.brier"
LINES = [f"{name} (Time intervals 10)" for name in ("Output perturbation", "Private Newton")]
CHOSEN = urlencode({BRIER: LINES}, doseq=True)
NEED = "Which ε do I need?"
ROW = (
    View(address=f"/compare?compare.tab=Best+proved&compare.epsilon=5&{CHOSEN}", text="y"),
    View(address=f"/compare?{urlencode({'compare.tab': NEED, BRIER: LINES[1]})}", text="y"),
    View(address="/compare", text="y"),
    View(address="/learn?learn.screen=odds&learn.odds=10", text="y"),
    View(address="/learn?learn.screen=odds&learn.odds=5", text="y", lock=("learn.odds",)),
    View(address="/learn?learn.screen=odds", text="y", lock=("learn.odds",)),
    View(address="/mean?mean.bound=0.5&mean.repeats=5", text="y"),
    View(address="/mean?mean.bound=2&mean.repeats=5", text="y", lock=("mean.bound",)),
)
SAYS = """() => JSON.stringify([
  ['[data-testid=stMain] [role=tab][aria-selected=true]', one => one.innerText],
  ['[data-testid=stMultiSelect] [data-tag]', one => one.ariaLabel],
  ['[data-testid=stSelectbox] input', one => one.value],
  ['[type=range]', one => [one.ariaLabel, one.ariaValueText, one.disabled]],
].map(([place, told]) => [...document.querySelectorAll(place)].map(told)))"""
"""What the widgets of a page say."""


@pytest.mark.thorough
def test_views_in_a_row_on_one_page_show_their_own_settings(app: App):
    """Going on and back, each shows what its address shows to one who comes from elsewhere."""
    path, count = app.home / "lessons" / "row.toml", len(ROW)
    path.parent.mkdir(exist_ok=True)
    path.write_text(schema.write(Lesson(title="Row", text="x", views=ROW)))
    places = [f"{one.address}{'&' if '?' in one.address else '?'}lesson=row&view={number}"
              for number, one in enumerate(ROW, 1)]  # fmt: skip
    page, fresh = app.tab("_stcore/health"), list[tuple[Any, str]]()

    def asked() -> tuple[str, dict[str, list[str]]]:
        return urlsplit(page.url).path, parse_qs(urlsplit(page.url).query)

    def shows(number: int, first: Any, told: str) -> None:
        on(page, number, count)
        page.wait_for_function(f"told => ({SAYS})() === told", arg=told)
        assert not page.get_by_text("Link value ignored").count()
        assert asked() == first

    for number, place in enumerate(places, 1):
        page.goto(f"{app.address}{place}")
        on(page, number, count)
        expect(page.get_by_role("slider").first).to_be_visible()
        still(page)
        fresh.append((asked(), page.evaluate(SAYS)))
    assert len({told for _, told in fresh}) == count
    page.goto(f"{app.address}{places[0]}")
    for number, found in enumerate(fresh, 1):
        shows(number, *found)
        row = [other for other, one in enumerate(ROW, 1) if one.page == ROW[number - 1].page]
        if number == row[-1]:
            for other in reversed(row[:-1]):
                page.go_back()
                shows(other, *fresh[other - 1])
            for other in row[1:]:
                page.go_forward()
                shows(other, *fresh[other - 1])
        if number < count:
            button(page, "Next")


@pytest.mark.thorough
def test_the_way_back_through_a_lesson_stays_in_it(app: App):
    """What a view locks is put back while its widgets are bound to the address."""
    page = app.tab("mean?mean.bound=0.5&mean.tab=Histogram&lesson=clipping&view=3")
    on(page, 3, 4)
    settled(page)
    button(page, "Next")
    on(page, 4, 4)
    settled(page)
    for _ in range(5):
        page.go_back()
        settled(page)
        assert not page.get_by_text("encountered an error").count()
        if "view=3" in page.url:
            break
    on(page, 3, 4)
    assert "lesson=clipping" in page.url
