"""Lessons: the six that come with the app, mistakes in files, questions, answers, own lessons."""

import json
import stat
import threading
from pathlib import Path

import pytest

from engine.core.errors import RequestError
from engine.service import answers
from engine.service.store import Store
from pages.ui.lessons import library, schema, views
from pages.ui.lessons.question import histogram, plain
from pages.ui.lessons.schema import Lesson, Question, View
from tests.pages.conftest import Open
from tests.pages.drawn import loads_nothing_heavy

GOOD = """title = "T"
text = "x"

[[views]]
address = "/mean?mean.bound=5"
text = "y"
"""


def lesson(name: str) -> Lesson:
    found = library.find(name).lesson
    assert found is not None
    return found


def test_six_lessons_come_with_the_app_and_none_has_a_mistake():
    assert len(library.ORDER) == 6
    for name in library.ORDER:
        held = library.find(name)
        assert held.mistakes == ()
        assert held.lesson is not None
        assert any(view.question for view in held.lesson.views[:2])  # a question comes early
        assert all(view.notes for view in held.lesson.views)
    assert len({q.key for n in library.ORDER for v in lesson(n).views if (q := v.question)}) >= 6


@pytest.mark.parametrize("name", library.ORDER)
def test_a_lesson_is_the_same_after_writing(name: str):
    one = lesson(name)
    assert schema.read(schema.write(one)) == (one, [])


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (("title", "name"), "title: expected a text, got nothing."),
        (("/mean?mean.bound=5", "/nowhere"), "views 1, address: expected a page (learn"),
        (("mean.bound=5", "mean.colour=5"), "expected a setting of mean, got 'mean.colour'."),
        (("mean.bound=5", "mean.bound=7"), "mean.bound: expected one of 0.5, 1"),
        (("mean.bound=5", "mean.method=Gone"), "mean.method: expected one of Laplace, Gaussian"),
        (('text = "y"', "text = 3"), "views 1, text: expected a text, got 3."),
        (('text = "y"', 'text = "y"\nhide = ["roof"]'), "views 1, hide: expected one of sidebar"),
        (('text = "y"', 'text = "y"\nlock = ["sidebar"]'), "views 1, lock: expected one of mean."),
        (('text = "y"', f'text = "{"y" * 2001}"'), "expected at most 2,000 characters, got 2,001."),
        (('text = "y"', 'text = "y"\nhide = [1]'), "views 1, hide: expected texts, got 1."),
        (("[[views]]", "[[views"), "The file: expected TOML"),
    ],
)
def test_a_mistake_is_one_sentence(change: tuple[str, str], expected: str):
    made, wrong = schema.read(GOOD.replace(*change, 1))
    assert made is None
    assert any(expected in one for one in wrong), wrong
    assert all(one.endswith(".") for one in wrong)


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ('text = "q"\noptions = ["a"]', "options: expected 2 to 8, got 1."),
        ('text = "q"\noptions = ["a", "a"]', "expected different texts, got one twice."),
        ('text = "q"\noptions = ["a", "b"]\nanswer = 3', "answer: expected 0 to 2, got 3."),
        ('options = ["a", "b"]', "views 1, question, text: expected a text, got nothing."),
    ],
)
def test_a_wrong_question_is_one_sentence(question: str, expected: str):
    wrong = schema.read(f"{GOOD}\n[views.question]\n{question}\n")[1]
    assert len(wrong) == 1
    assert expected in wrong[0]


def test_every_mistake_is_said():
    text = GOOD.replace("mean.bound=5", "mean.bound=7&mean.tab=Roof").replace('"x"', "1")
    assert len(schema.read(text)[1]) == 3


def test_500_answers_at_once_are_all_counted(home: Path):
    """Twenty threads, as many connections as a class has phones at one moment."""
    store = Store(home, 30.0)

    def some() -> None:
        for i in range(25):
            answers.add(store.database, "q", i % 3, 3)

    threads = [threading.Thread(target=some) for _ in range(20)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    assert answers.counts(store.database, "q", 3) == [180, 160, 160]


def test_answers_hold_no_name_and_no_time(home: Path):
    store = Store(home)
    answers.add(store.database, "q", 1, 2)
    with store.database.reading() as connection:
        rows = [tuple(row) for row in connection.execute("SELECT * FROM answers")]
    assert rows == [("q", 1, 1)]


def test_an_answer_that_is_no_option_is_refused(home: Path):
    store = Store(home)
    for option in (-1, 2):
        with pytest.raises(RequestError, match="answer: expected an option from 0 to 1"):
            answers.add(store.database, "q", option, 2)
    assert answers.counts(store.database, "q", 2) == [0, 0]


def test_markup_in_a_question_stays_text():
    question = Question(text="<b>*x*</b>", options=("<a href='x'>y</a>", "[z](http://e.example)"))
    drawn = json.loads(histogram(question, [1, 2]).to_json())
    assert not any("<a" in label for label in drawn["data"][0]["y"])
    assert plain(question.options[1]) == "\\[z\\]\\(http\\://e.example\\)"
    assert "\\<b\\>" in plain(question.text)


def test_a_question_comes_before_its_view(visit: Open):
    test = visit("learn", **{"lesson": "clipping", "view": "1", "learn.screen": "clipping"})
    assert not test.exception
    assert len(test.radio) == 1
    assert not test.select_slider  # the page waits


def test_a_view_locks_and_hides_what_it_says(visit: Open):
    test = visit("mean", **{"lesson": "clipping", "view": "3", "mean.bound": "0.5"})
    assert not test.exception
    locked = {one.label for one in test.select_slider if one.disabled}
    assert locked == {"Clipping bound B [mg/dL]"}


@pytest.mark.parametrize(
    ("address", "expected"),
    [
        ({"lesson": "none"}, "Lesson: expected one of epsilon"),
        ({"lesson": "clipping", "view": "9"}, "View: expected a number from 1 to 4"),
        ({"lesson": "../../x"}, "Lesson: expected one of epsilon"),
    ],
)
def test_a_wrong_link_is_one_sentence_and_the_page_opens(
    visit: Open, address: dict[str, str], expected: str
):
    test = visit("mean", **address)
    assert not test.exception
    assert len(test.warning) == 1
    assert expected in test.warning[0].value
    assert test.select_slider


def test_a_lesson_made_here_is_private_to_this_user_and_can_be_changed(home: Path):
    name = library.add(View(address="/mean?mean.bound=2", text="Look."), title="Mine")
    path = library.folder() / f"{name}.toml"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    library.add(View(address="/learn?learn.screen=odds", text="Then."), name)
    assert [view.page for view in lesson(name).views] == ["mean", "learn"]
    with pytest.raises(RequestError, match="view: views 3, address: expected a page"):
        library.add(View(address="/roof", text="x"), name)
    library.remove(name)
    assert name not in library.names()


@pytest.mark.parametrize("name", ["clipping", "../x", "A b"])
def test_only_lessons_made_here_are_changed(home: Path, name: str):
    with pytest.raises(RequestError):
        library.keep(GOOD, name)
    with pytest.raises(RequestError):
        library.remove(name)


def test_a_file_that_is_too_large_is_refused(home: Path):
    with pytest.raises(RequestError, match="expected at most 200,000 bytes"):
        library.keep("x" * 200_001)


def test_the_view_of_any_page_can_be_added(visit: Open, home: Path):
    test = visit("mean", **{"mean.bound": "2"})
    next(one for one in test.button if one.label == "Add").click().run()
    assert not test.exception
    [made] = [name for name in library.names() if name not in library.ORDER]
    assert lesson(made).views[0].settings == {"mean.bound": "2"}


def test_every_page_of_the_menu_can_be_in_a_lesson():
    assert {"home", "learn", "compare", "reproduce", "runs", "mean"} <= set(views.pages())


def test_a_lesson_with_a_mistake_opens_to_be_put_right(visit: Open, home: Path):
    name = library.keep(GOOD.replace("mean.bound=5", "mean.method=Gone"))
    test = visit("lessons", lesson=name)
    assert not test.exception
    assert "expected one of Laplace, Gaussian, got 'Gone'" in test.error[0].value
    test.text_area[0].set_value(GOOD).run()
    next(one for one in test.button if one.label == "Save").click().run()
    assert not test.error
    assert library.find(name).lesson is not None


def test_presenter_mode_keeps_the_slider(visit: Open):
    test = visit("mean", present="1")
    assert not test.exception
    assert any(one.label.startswith("Privacy budget") for one in test.select_slider)


def test_lessons_load_nothing_heavy():
    loads_nothing_heavy("lessons")


def test_where_uploads_are_off_nobody_makes_a_lesson(visit: Open, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("EXPLORER_UPLOADS", "off")
    assert not any(one.label == "New lesson" for one in visit("lessons").button)
    assert not any(one.label == "Add" for one in visit("mean").button)
    opened = visit("lessons", lesson="clipping")
    assert not any(one.label.startswith("Save") for one in opened.button)
