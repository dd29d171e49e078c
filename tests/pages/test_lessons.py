"""Lessons: those that come with the app, mistakes in files, questions, answers, own lessons."""

import html
import json
import os
import re
import stat
import threading
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random

import pytest
import streamlit as st
from markdown_it import MarkdownIt
from streamlit.runtime.context import ContextProxy
from streamlit.runtime.fragment import MemoryFragmentStorage
from streamlit.testing.v1 import AppTest

from engine import catalog
from engine.core.errors import RequestError, StoreError
from engine.core.vocabulary import Epsilon
from engine.papers import lvq
from engine.service import answers
from engine.service.client import Client
from engine.service.store import Store
from pages.ui import rights as actions
from pages.ui import words
from pages.ui.jobs import clock
from pages.ui.kit import visitors
from pages.ui.lessons import contents, experiment, foreign, library, rights, schema, train, views
from pages.ui.lessons.question import histogram, plain
from pages.ui.lessons.rights import Editor
from pages.ui.lessons.schema import Lesson, Question, View
from tests.pages.conftest import Open
from tests.pages.drawn import charts, loads_nothing_heavy
from tests.pages.played import play

SGD, MEAN = "Entropy-adaptive noise for SGD", "Mean and histogram of a column"
SURVIVAL = "Survival regression"
GOOD = """title = "T"
text = "x"

[[views]]
address = "/mean?mean.bound=5"
text = "y"
"""


def lesson(name: str) -> Lesson:
    found = contents.find(name).lesson
    assert found is not None
    return found


def test_seven_lessons_come_with_the_app_and_none_has_a_mistake():
    assert len(library.ORDER) == 7
    for name in library.ORDER:
        held = contents.find(name)
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


@pytest.mark.parametrize(
    ("base", "address", "page"),
    [
        ("lab", "/lab/mean?mean.bound=1", "mean"), ("lab", "/mean?mean.bound=1", "mean"),
        ("lab", "/lab/?home.epsilon=1", "home"), ("lab", "/lab?home.epsilon=1", "home"),
        ("mean", "/mean?mean.bound=1", "mean"), ("mean", "/mean/mean?mean.bound=1", "mean"),
        ("a/b", "/a/b/mean?mean.bound=1", "mean"), ("", "/mean?mean.bound=1", "mean"),
    ],
)  # fmt: skip
def test_an_address_from_the_address_bar_may_hold_the_sub_path(
    monkeypatch: pytest.MonkeyPatch, base: str, address: str, page: str
):
    usual = st.get_option
    monkeypatch.setattr(
        st, "get_option", lambda key: base if key == "server.baseUrlPath" else usual(key)
    )
    made, wrong = schema.read(GOOD.replace("/mean?mean.bound=5", address))
    assert wrong == []
    assert made is not None
    assert made.views[0].page == page
    assert schema.read(GOOD.replace("/mean?mean.bound=5", "/lab2/mean"))[1]


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


def asked() -> None:
    """A page with the question that splits a class, and with its results once it is answered."""
    from pages.ui.lessons import contents, experiment, question

    view = contents.find("explanations").lesson.views[0]
    if question.given(view.question) is None:
        experiment.ask(view.question)
    else:
        experiment.answered(view.question)


def experiment_question() -> Question:
    """The shipped question that splits a class."""
    question = lesson("explanations").views[0].question
    assert question is not None
    return question


@pytest.mark.thorough
def test_a_class_is_split_asked_twice_and_counted_by_randomised_response(home: Path):
    """Twelve visitors who all answer right: arms differ, and no key of the plain count is used."""
    question, arms = experiment_question(), set()
    for _ in range(12):
        test = AppTest.from_function(asked, default_timeout=120).run()
        assert not test.exception
        assert any("costs you ε = 2, and 4 together" in one.value for one in test.caption)
        for explained in (False, True):  # the explanation comes after the first answer
            arm = test.session_state[f"{experiment.ARM}.{question.key}"]
            assert [one.value for one in test.info] == [question.arms[arm]] * explained
            test.radio[0].set_value(question.answer - 1)
            test.button[0].click().run()
        arms.add(arm)
        assert not test.exception
        assert not test.radio
        assert len(charts(test)) == 1
    counts = experiment.told(question)
    assert arms == {0, 1}  # 12 coins agree once in 2,048 tries
    for when in (experiment.BEFORE, experiment.AFTER):
        assert sum(sum(counts[arm, when]) for arm in (0, 1)) == 12
    assert answers.counts(Store(home).database, question.key, 3) == [0, 0, 0]


def test_the_lecturer_sees_both_distributions_with_an_interval(home: Path):
    """100 and 100 answers, of which 20 and 80 in 100 are right: planted, and found."""
    question, store = experiment_question(), Store(home)
    how, rng = experiment.mechanism(question), Random(8)
    for arm, share in ((0, 0.2), (1, 0.8)):
        for when, right in ((experiment.BEFORE, 0.2), (experiment.AFTER, share)):
            for person in range(100):
                truth = question.answer - 1 if person < 100 * right else 0
                key = question.counted(arm, when)
                answers.add(store.database, key, how.report(truth, rng), 3)
    counts = experiment.told(question)
    said = experiment.finding(counts, how, question.answer - 1)
    gap = how.gap(counts[0, "after"], counts[1, "after"], question.answer - 1)
    assert gap.low <= 0.6 <= gap.high
    assert "The difference is more than chance." in said
    people = round(100 * gap.middle)
    assert f"After explanation B, {people} more people in 100 are right than after A" in said
    turned = {(1 - arm, when): times for (arm, when), times in counts.items()}
    fewer = experiment.finding(turned, how, question.answer - 1)
    assert f"After explanation B, {people} fewer people in 100 are right than after A" in fewer
    figure = json.loads(
        experiment.drawn({at: how.share(times, 1) for at, times in counts.items()}).to_json()
    )
    assert [one["x"] for one in figure["data"]] == [["before", "after"]] * 2
    before = how.gap(counts[0, "before"], counts[1, "before"], 1)
    assert before.low <= 0.0 <= before.high


def test_answers_of_an_experiment_are_cleared_with_the_others():
    question = experiment_question()
    assert len({*question.keys}) == 5
    assert {question.counted(a, w) for a in (0, 1) for w in ("before", "after")} < {*question.keys}


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ('answer = 1\narms = ["x"]', "arms: expected two different texts, got ['x']."),
        ('answer = 1\narms = ["x", "x"]', "arms: expected two different texts"),
        ('arms = ["x", "y"]', "answer: expected the right option beside arms, got none."),
        ('answer = 1\narms = ["x", "y"]\nepsilon = 50', "epsilon: expected 0.5 to 10, got 50."),
        ('answer = 1\narms = ["x", "y"]\nepsilon = "2"', "epsilon: expected a number, got '2'."),
    ],
)
def test_a_wrong_experiment_is_one_sentence(question: str, expected: str):
    text = f'{GOOD}\n[views.question]\ntext = "q"\noptions = ["a", "b"]\n{question}\n'
    wrong = schema.read(text)[1]
    assert len(wrong) == 1
    assert expected in wrong[0]


def test_markup_in_a_question_stays_text():
    question = Question(text="<b>*x*</b>", options=("<a href='x'>y</a>", "[z](http://e.example)"))
    drawn = json.loads(histogram(question, [1, 2]).to_json())
    assert not any("<a" in label for label in drawn["data"][0]["y"])
    assert plain(question.options[1]) == f"\\[z\\]\\(http\\:{words.JOINER}//e.example\\)"
    assert "\\<b\\>" in plain(question.text)


def test_options_that_are_numbers_are_names_and_no_scale():
    question = Question(text="?", options=("50", "99"))
    drawn = json.loads(histogram(question, [1, 2]).to_json())
    assert drawn["layout"]["yaxis"]["type"] == "category"


def made(*addresses: str) -> str:
    """The name of a lesson of views without questions."""
    some = tuple(View(address=one, text="y") for one in addresses)
    return library.keep(schema.write(Lesson(title="T", text="x", views=some)))


def at(visit: Open, name: str, number: int) -> AppTest:
    """A view of a lesson for one who comes from elsewhere."""
    view = lesson(name).views[number - 1]
    test = visit(view.page, lesson=name, view=str(number), **view.query)
    assert not test.exception
    return test


def press(test: AppTest, label: str) -> None:
    next(one for one in test.button if one.label == label).click().run()
    assert not test.exception
    assert not test.warning


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("page", "key", "texts"),
    [
        ("compare?", "compare.tab", ("Best proved", "Which ε do I need?")),
        *(
            pytest.param(*one, marks=pytest.mark.thorough)
            for one in (
                ("learn?learn.screen=odds&", "learn.odds", ("10", "5")),
                ("survival?", "survival.people", ("3", "1")),
                ("home?", "home.epsilon", ("5", "2")),
                ("learn?learn.screen=papers&", "learn.paper", (MEAN, SURVIVAL)),
                ("reproduce?", "reproduce.paper", (SGD, SURVIVAL)),
                ("survival?", "survival.try_q", ("5", "20")),
                ("survival?", "survival.flchain.a.age", ("60", "80")),
                ("survival?", "survival.epsilon", ("5", "2")),
                ("enadpp?", "enadpp.feature1", ("0.2", "0.4")),
                ("pcdbn?", "pcdbn.try_f", ("tanh", "arctan")),
            )
        ),
    ],
)
def test_a_view_on_the_page_before_shows_what_its_address_shows_elsewhere(
    guided: None, visit: Open, trained: Path, page: str, key: str, texts: tuple[str, str]
):
    name = made(*(f"/{page}{key}={text}" for text in texts), f"/{page}")
    fresh = [at(visit, name, number).session_state[key] for number in (1, 2, 3)]
    assert len(set(fresh)) == 3
    test = at(visit, name, 1)
    for number, value in enumerate(fresh, 1):
        assert test.session_state[key] == value
        assert (key in test.query_params) == (number < 3)
        assert f"{key}.told" not in test.session_state
        if number < 3:  # what was said of a setting, and what code has set, are not kept
            test.session_state[f"{key}.told"] = test.session_state[key] = fresh[0]
            press(test, "Next")


def test_all_that_a_repeated_name_says_is_added_and_shown(guided: None, visit: Open, trained: Path):
    key = "compare.runs.brier"
    two = [f"{name} (Time intervals 10)" for name in ("Output perturbation", "Private Newton")]
    test = visit("compare", **{key: two})
    press(test, "Add")
    [name] = [name for name in library.names() if name not in library.ORDER]
    view = lesson(name).views[0]
    assert view.query == {key: two}
    test = at(visit, made(view.address, "/compare?compare.tab=Guarantees"), 2)
    assert test.session_state[key] != two
    press(test, "Back")
    assert test.session_state[key] == two


def test_a_question_comes_before_its_view(visit: Open):
    test = visit("learn", **{"lesson": "clipping", "view": "1", "learn.screen": "clipping"})
    assert not test.exception
    assert len(test.radio) == 1
    assert not test.select_slider  # the page waits


def test_no_part_of_the_page_before_is_drawn_into_a_question(
    visit: Open, monkeypatch: pytest.MonkeyPatch
):
    """Such a part has no place there; the browser then showed an error for good."""
    left, made = list[tuple[str, ...]](), MemoryFragmentStorage.__init__

    def used(storage: MemoryFragmentStorage) -> None:
        made(storage)
        storage.register("before", lambda: None)

    monkeypatch.setattr(MemoryFragmentStorage, "__init__", used)
    monkeypatch.setattr(clock, "leave", lambda *part: left.append(part))
    test = visit("learn", **{"lesson": "clipping", "view": "1", "learn.screen": "clipping"})
    assert not test.select_slider  # the page waits
    assert not test._fragment_storage.contains("before")
    assert () in left


def test_a_view_locks_and_hides_what_it_says(visit: Open):
    test = visit("mean", **{"lesson": "clipping", "view": "3", "mean.bound": "0.5"})
    assert not test.exception
    locked = {one.label for one in test.select_slider if one.disabled}
    assert locked == {"Clipping bound B [mg/dL]"}


@pytest.mark.parametrize(
    ("lock", "address", "said"),
    [
        ("bound", {"mean.bound": "2"}, "expected 1, which the lesson locks, got 2"),
        ("bound", {"mean.bound": "b"}, "expected 1, which the lesson locks, got b"),
        ("bound", {"mean.bound": "1"}, ""),
        ("bound", {}, ""),
        ("epsilon", {"mean.epsilon": "5"}, "expected 1, which the lesson locks, got 5"),
        ("method", {"mean.method": "Gaussian"}, "expected Laplace, which the lesson locks, got G"),
    ],
)
def test_a_locked_setting_does_not_yield_to_the_address(
    visit: Open, home: Path, lock: str, address: dict[str, str], said: str
):
    text = GOOD.replace("mean.bound=5", "mean.bound=1")  # which the page does not open with
    name = library.keep(text.replace('text = "y"', f'text = "y"\nlock = ["mean.{lock}"]'))
    free = {} if lock == "bound" else {"mean.bound": "1"}
    test = visit("mean", lesson=name, view="1", **free, **address)
    assert not test.exception
    told = [one.value for one in test.warning if "Link value" in one.value]
    assert len(told) == bool(said)
    assert all(one.startswith(f"Link value ignored: mean.{lock}: {said}") for one in told)
    shown = {one.key: one.value for one in test.select_slider}
    assert (shown["mean.bound"], shown["mean.epsilon"]) == ("1", "1")
    assert test.menu_button(key="mean.method.menu").label == "Method: Laplace"
    runs = Client(home, workers=False).runs()
    assert {one.job.values["bound"] for one in runs if "bound" in one.job.values} == {1.0}


def test_what_a_view_does_not_lock_follows_the_address(visit: Open, home: Path):
    name = library.keep(GOOD.replace('text = "y"', 'text = "y"\nlock = ["mean.bound"]'))
    test = visit("mean", lesson=name, view="1", **{"mean.epsilon": "2"})
    assert not test.warning
    assert {one.key: one.value for one in test.select_slider}["mean.epsilon"] == "2"


def test_a_view_locks_the_method(visit: Open):
    method = {"survival.method": "Private gradient descent"}
    locked = visit("survival", **{"lesson": "attack", "view": "2", **method})
    free = visit("survival", **method)
    for test, held in ((locked, True), (free, False)):
        assert not test.exception
        button = test.menu_button(key="survival.method.menu")
        assert (button.label, button.disabled) == ("Method: Private gradient descent", held)


@pytest.mark.parametrize(
    ("address", "expected"),
    [
        ({"lesson": "none"}, "Lesson: expected one of epsilon"),
        ({"lesson": "clipping", "view": "9"}, "View: expected a number from 1 to 4"),
        ({"lesson": "clipping", "view": "1" * 5_000}, "View: expected a number from 1 to 4"),
        ({"lesson": "clipping", "view": "0000000019"}, "View: expected a number from 1 to 4"),
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
    name = contents.add(View(address="/mean?mean.bound=2", text="Look."), title="Mine")
    path = library.folder() / f"{name}.toml"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    contents.add(View(address="/learn?learn.screen=odds", text="Then."), name)
    assert [view.page for view in lesson(name).views] == ["mean", "learn"]
    with pytest.raises(RequestError, match="view: views 3, address: expected a page"):
        contents.add(View(address="/roof", text="x"), name)
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
    with pytest.raises(RequestError, match="expected at most 200,000 bytes, got 200,001"):
        library.read(b"x" * 200_001)


ANN, BEN = Editor("ann"), Editor("ben")


def test_a_lesson_is_changed_by_its_owner_alone_or_with_its_key(home: Path):
    name = library.keep(GOOD, editor=ANN)
    path = library.path_of(name)
    note = path.with_suffix(".owner.json")
    assert stat.S_IMODE(note.stat().st_mode) == 0o600
    view, told = View(address="/mean", text="x"), "expected its owner or its editing link"
    for other in (BEN, Editor(), Editor("ben", "guess"), Editor("", "")):
        for change in (
            lambda who=other: library.keep("x", name, who),
            lambda who=other: contents.add(view, name, editor=who),
            lambda who=other: library.remove(name, who),
        ):
            with pytest.raises(RequestError, match=told):
                change()
    assert path.read_text() == GOOD
    library.keep(f"{GOOD}# ann", name, ANN)
    library.keep(f"{GOOD}# ben", name, Editor("ben", rights.key(path)))
    assert path.read_text().endswith("# ben")
    library.remove(name, ANN)
    assert not note.exists()


def test_the_key_of_a_lesson_is_drawn_and_its_file_does_not_hold_it(home: Path):
    names = [library.keep(GOOD, editor=ANN) for _ in range(20)]
    keys = {rights.key(library.path_of(name)) for name in names}
    assert len(keys) == 20
    assert all(len(key) == 16 for key in keys)  # 12 drawn bytes
    assert contents.find(names[0]).text == GOOD


def test_nobody_changes_a_lesson_whose_owner_cannot_be_read(home: Path):
    name = library.keep(GOOD, editor=ANN)
    library.path_of(name).with_suffix(".owner.json").write_text("{")
    assert not rights.may(library.path_of(name), ANN)
    assert rights.key(library.path_of(name)) == ""


def test_a_lesson_has_its_owner_before_its_file(home: Path, monkeypatch: pytest.MonkeyPatch):
    def full(lesson: Path, editor: Editor) -> None:
        raise StoreError("full")

    with monkeypatch.context() as broken:
        broken.setattr(rights, "begin", full)
        with pytest.raises(StoreError):
            library.keep(GOOD, editor=ANN)
    assert not list(library.folder().glob("*.toml"))  # none that is everybody's
    copied = library.path_of("copied")
    copied.write_text(GOOD)
    library.keep(GOOD, "copied", ANN)
    assert not rights.may(copied, BEN)


def test_a_lesson_that_is_gone_is_not_saved_as_everybodys(home: Path):
    name = library.keep(GOOD, editor=ANN)
    library.remove(name, ANN)
    with pytest.raises(RequestError, match="expected one that still exists, this one was deleted"):
        library.keep(GOOD, name, BEN)
    assert name not in library.names()


ASKS = f"""{GOOD}
[views.question]
text = "q"
options = ["a", "b"]
reveal = "![](https://x.example/r.png)"
"""


def test_each_lesson_made_here_has_answers_of_its_own(home: Path):
    one, two = library.keep(ASKS, editor=ANN), library.keep(ASKS, editor=BEN)
    keys = {q.key for name in (one, two) for view in lesson(name).views if (q := view.question)}
    assert len(keys) == 2
    contents.add(View(address="/mean", text="x"), one, editor=ANN)
    assert "within" not in contents.find(one).text


@pytest.mark.parametrize(
    ("hosts", "may"), [("localhost", True), ("localhost,explorer.example.org", False)]
)
def test_shipped_answers_are_forgotten_only_where_the_app_serves_one_machine(
    visit: Open, home: Path, monkeypatch: pytest.MonkeyPatch, hosts: str, may: bool
):
    monkeypatch.setattr("streamlit.get_option", lambda name: hosts.split(","))
    assert ("Clear" in labels(visit("lessons", lesson="clipping"))) is may
    monkeypatch.setenv("EXPLORER_UPLOADS", "off")
    assert "Clear" not in labels(visit("lessons", lesson="clipping"))


@pytest.mark.parametrize(
    ("who", "uploads", "alone", "may"),
    [(ANN, True, False, True), (BEN, True, True, False), (ANN, False, True, False)],
)
def test_answers_to_a_lesson_are_forgotten_by_its_owner(
    home: Path, monkeypatch: pytest.MonkeyPatch, who: Editor, uploads: bool, alone: bool, may: bool
):
    name = library.keep(ASKS, editor=ANN)
    monkeypatch.setattr(actions, "editor", lambda: who)
    monkeypatch.setattr(visitors, "uploads", lambda: uploads)
    monkeypatch.setattr(visitors, "alone", lambda: alone)
    assert actions.may("clear the answers", name) is may


ACTIVE = "![](https://x.example/p.png)"


def linked(drawn: str) -> list[str]:
    """What pages make links of once all marks are read: Streamlit's rules (mdast-util-gfm)."""
    text = html.unescape(re.sub("<[^>]*>", "", drawn))
    return re.findall(r"https?://|www(?=\.)|[-.\w+]+@[-\w]+(?:\.[-\w]+)+", text, re.IGNORECASE)


@pytest.mark.parametrize("text", ["http://x.example", "see www.x.example.", "mail a.b@x.example"])
def test_what_somebody_brings_is_shown_without_links(text: str):
    assert linked(MarkdownIt().render(text))
    for shown in (words.escaped(text), plain(text)):
        drawn = MarkdownIt().render(shown)
        assert "<a" not in drawn
        assert linked(drawn) == []
        assert html.unescape(drawn).replace(words.JOINER, "") == f"<p>{text}</p>\n"


@pytest.mark.parametrize("text", [
    ACTIVE, "![a][b]\n\n[b]: https://x.example/p.png", "[a](//x.example)", "<https://x.example>",
    "https://x.example", "www.x.example", "![x](/p.png)", "\\\\![](https://x.example)",
    "[![](https://x.example/p.png)](/mean)", "`\\`![](https://x.example)", "[a](/&#47;x.example)",
    "http\\://x.example", "http:\\/\\/x.example", "http&#58;//x.example", "HTTP&colon;//x.example",
    "WWW\\.x.example", "www&period;x.example", "a@x.example", "<a@x.example>", "a&commat;x.example",
])  # fmt: skip
def test_the_text_of_a_lesson_made_here_loads_nothing(text: str):
    drawn = MarkdownIt().render(foreign.words(text))
    assert "<img" not in drawn
    assert "<a" not in drawn.replace('<a href="/mean">', "")
    assert linked(drawn.replace('<a href="/mean">', "")) == []
    assert "<a" in MarkdownIt().render(foreign.words("[a](/mean)"))


def test_no_page_draws_the_pictures_of_a_lesson_made_here(visit: Open, home: Path):
    text = ASKS.replace('"T"', f'"{ACTIVE}"').replace('"x"', f'"{ACTIVE}"')
    name = library.keep(text.replace('"y"', f'"{ACTIVE}"').replace('"q"', f'"{ACTIVE}"'))
    wrong = library.keep(f"title = ['{ACTIVE}']")
    for test in (
        visit("lessons"), visit("lessons", lesson=name), visit("lessons", lesson=wrong),
        visit("lessons", lesson=name, notes="1"), visit("mean", lesson=name, view="1"),
    ):  # fmt: skip
        assert not test.exception
        drawn = [*test.markdown, *test.title, *test.subheader, *test.caption, *test.error]
        assert not [one.value for one in drawn if ACTIVE in str(one.value)]
    assert contents.find(name).text.count(ACTIVE) == 4  # the file stays as it was written


def labels(test: AppTest) -> set[str]:
    return {one.label for one in test.button}


def test_others_may_copy_a_lesson_and_the_link_with_its_key_edits_it(visit: Open, home: Path):
    name = library.keep(GOOD, editor=ANN)
    other = visit("lessons", lesson=name)
    assert not other.exception
    assert "Save as a lesson of your own" in labels(other)
    assert not {"Save", "Delete", "Clear"} & labels(other)
    key = rights.key(library.path_of(name))
    assert not any(key in str(one.value) for one in other.markdown)
    invited = visit("lessons", lesson=name, key=key)
    assert {"Save", "Delete"} <= labels(invited)
    next(one for one in invited.button if one.label == "Delete").click().run()
    assert name not in library.names()


def test_a_file_is_brought_as_a_lesson_of_ones_own(visit: Open, home: Path):
    test = visit("lessons")
    test.file_uploader(key="lessons.file").set_value(("a.toml", GOOD.encode(), "text/plain")).run()
    assert not test.exception
    [made] = [name for name in library.names() if name not in library.ORDER]
    assert test.title[0].value == "T"
    assert {"Save", "Delete"} <= labels(test)
    assert contents.find(made).text == GOOD


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (b"\xff\xfe\x00", "expected a text file in UTF-8"),
        (GOOD.replace("/mean?mean.bound=5", "/nowhere").encode(), "expected a page (learn"),
        (GOOD.replace("mean.bound=5", "mean.method=Gone").encode(), "got 'Gone'"),
        (b"<b>x</b>", "The file: expected TOML"),
    ],
)
def test_a_wrong_file_is_one_sentence(visit: Open, home: Path, content: bytes, expected: str):
    test = visit("lessons")
    test.file_uploader(key="lessons.file").set_value(("a.toml", content, "text/plain")).run()
    assert not test.exception
    assert len(test.error) == 1
    assert expected in test.error[0].value


def test_the_view_of_any_page_can_be_added(visit: Open, home: Path):
    test = visit("mean", **{"mean.bound": "2"})
    press(test, "Add")
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
    assert contents.find(name).lesson is not None


def test_what_was_added_meanwhile_is_not_saved_over(visit: Open, home: Path):
    name = library.keep(GOOD)
    test = visit("lessons", lesson=name)

    def save(text: str) -> None:
        test.text_area[0].set_value(text).run()
        next(one for one in test.button if one.label == "Save").click().run()

    first, second, third = (f"{GOOD}\n# {note}\n" for note in ("first", "second", "third"))
    save(first)
    save(second)
    assert not test.error
    library.path_of(name).write_text(third)  # another window adds a view
    save(f"{second}# more\n")
    assert "changed meanwhile" in test.error[0].value
    assert test.text_area[0].value == f"{second}# more\n"
    assert contents.find(name).text == third
    test = visit("lessons", lesson=name)
    assert test.text_area[0].value == third
    save(f"{third}# more\n")
    assert not test.error
    assert contents.find(name).text == f"{third}# more\n"


@pytest.fixture
def mistaken(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """The slug of a paper one of whose defaults is out of bounds."""

    @dataclass(frozen=True, kw_only=True)
    class Mistaken(lvq.PAPER.spec):  # type: ignore[name-defined, misc]
        epsilon: Epsilon = -1.0

    monkeypatch.setattr(lvq, "PAPER", replace(lvq.PAPER, spec=Mistaken))
    catalog._catalog.cache_clear()
    yield "lvq"
    monkeypatch.undo()
    catalog._catalog.cache_clear()


@pytest.mark.thorough
@pytest.mark.parametrize("page", ["home", "mean", "lessons", "runs"])
def test_a_kept_view_of_a_mistaken_paper_breaks_no_page(
    visit: Open, home: Path, mistaken: str, page: str
):
    name = library.keep(GOOD.replace("/mean?mean.bound=5", f"/{mistaken}"))
    test = visit(page)
    assert not test.exception
    assert not test.error
    said = "views 1, address: expected a page (learn, home, compare, reproduce, runs, enadpp"
    assert contents.find(name).mistakes[0].startswith(said)


def test_presenter_mode_keeps_the_slider(visit: Open):
    test = visit("mean", present="1")
    assert not test.exception
    assert any(one.label.startswith("Privacy budget") for one in test.select_slider)


@pytest.mark.slow
def test_lessons_load_nothing_heavy():
    loads_nothing_heavy("lessons")


def test_where_uploads_are_off_nobody_makes_a_lesson(visit: Open, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("EXPLORER_UPLOADS", "off")
    assert not any(one.label == "New lesson" for one in visit("lessons").button)
    assert not any(one.label == "Add" for one in visit("mean").button)
    opened = visit("lessons", lesson="clipping")
    assert not any(one.label.startswith("Save") for one in opened.button)


NOTED = f"""{GOOD}notes = "Say this."
[views.question]
text = "q"
options = ["a", "b"]
answer = 2
"""


def readable(visit: Open, name: str, **more: str) -> set[str]:
    """What of a lesson's answers a visitor finds: its file, its notes, and a way to them."""
    opened = visit("lessons", lesson=name, **more)
    notes = visit("lessons", lesson=name, notes="1", **more)
    for test in (opened, notes):
        assert not test.exception
        assert not test.error
    said = "\n".join(str(one.value) for one in notes.markdown)
    assert ("Say this." in said) == ("The answer: b." in said)
    assert ("Say this." in said) != any("expected the lesson's owner" in one.value
                                        for one in notes.warning)  # fmt: skip
    found = {"file"} if opened.get("download_button") else set()
    return found | ({"notes"} if "Say this." in said else set())


def test_in_a_class_only_the_lecturer_reads_the_answers(
    visit: Open, home: Path, monkeypatch: pytest.MonkeyPatch
):
    name, everybodys = library.keep(NOTED, editor=ANN), library.keep(NOTED)
    assert readable(visit, name) == {"file", "notes"}  # where lessons are made, all see their files
    monkeypatch.setenv("EXPLORER_UPLOADS", "off")
    monkeypatch.setattr(visitors, "alone", lambda: False)
    assert readable(visit, name) == set()
    assert readable(visit, everybodys) == set()
    assert readable(visit, name, key="guess") == set()
    assert not visit("lessons", lesson="clipping").get("download_button")
    drawn = rights.key(library.path_of(name))
    assert readable(visit, name, key=drawn) == {"file", "notes"}
    assert readable(visit, everybodys, key=drawn) == set()
    with monkeypatch.context() as owner:
        owner.setattr(visitors, "visitor", lambda: ANN.visitor)
        assert readable(visit, name) == {"file", "notes"}
    monkeypatch.setattr(visitors, "beside", lambda: True)
    assert readable(visit, everybodys) == {"file", "notes"}


@pytest.mark.parametrize(
    ("server", "browser", "named", "beside"),
    [
        ("192.168.1.20", "192.168.1.20", "192.168.1.20:8501", True),
        ("192.168.1.20", "192.168.1.21", "192.168.1.20:8501", False),
        ("192.168.1.20", "192.168.1.20", "explorer.example.org", False),  # a proxy beside the app
        ("fd00::1", "fd00::1", "[fd00::1]:8501", True),
        ("127.0.0.1", None, "127.0.0.1", False),
        ("", None, "", False),
        (None, None, "", False),
    ],
)
def test_a_browser_on_the_machine_that_serves_a_room_has_its_address(
    monkeypatch: pytest.MonkeyPatch,
    server: str | None, browser: str | None, named: str, beside: bool,
):  # fmt: skip
    monkeypatch.setattr(st, "get_option", lambda key: server)
    monkeypatch.setattr(ContextProxy, "ip_address", browser)
    monkeypatch.setattr(ContextProxy, "headers", {"Host": named})
    assert visitors.beside() is beside


def presented() -> None:
    """A page that a presenter opens from the lesson's page: its address holds no key."""
    import streamlit as st

    from pages.ui import rights
    from pages.ui.lessons import notes

    name = st.query_params["lesson"]
    rights.reads(name)
    st.query_params.clear()
    st.text(notes.address(name, 1))


def addressed() -> None:
    import streamlit as st

    from pages.ui.kit import source

    st.text(source.address())


def test_the_address_below_a_chart_s_numbers_says_a_repeated_name_as_often():
    test = AppTest.from_function(addressed, default_timeout=120)
    test.query_params |= {"compare.runs.brier": ["Laplace", "A b"], "compare.epsilon": "5"}
    said = "/?compare.runs.brier=Laplace&compare.runs.brier=A+b&compare.epsilon=5"
    assert test.run().text[0].value == said


@pytest.mark.parametrize("view", ["9" * 5_000, "x", "0"])
def test_notes_of_no_view_are_those_of_the_first(visit: Open, home: Path, view: str):
    test = visit("lessons", lesson=library.keep(NOTED), notes="1", view=view)
    assert not test.exception
    assert "## Say this." in [one.value for one in test.markdown]


def test_the_presenter_s_way_to_the_notes_holds_the_key(
    home: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("EXPLORER_UPLOADS", "off")
    monkeypatch.setattr(visitors, "alone", lambda: False)
    name = library.keep(NOTED, editor=ANN)
    drawn = rights.key(library.path_of(name))
    whole = f"/lessons?lesson={name}&notes=1&view=1&key={drawn}"
    for key, expected in (drawn, whole), ("guess", ""), ("", ""):
        test = AppTest.from_function(presented, default_timeout=120)
        test.query_params["lesson"] = name
        test.query_params["key"] = key
        assert not test.run().exception
        assert test.text[0].value == expected


DAMAGED = {
    "an address that is none": GOOD.replace("/mean?mean.bound=5", "http://[bad").encode(),
    "no text": b"\xff\xfe\x00\x80",
    "too deep": b"title = " + b"[" * 50_000,
    "a number of thousands of digits": f"{GOOD}[views.question]\nanswer = {'9' * 5_000}".encode(),
    "the same in another base": f"{GOOD}[views.question]\nanswer = 0x{'f' * 9_000}".encode(),
    "no view": GOOD.replace("[[views]]", "[views]").encode(),
    "options that are lists": f"{GOOD}[views.question]\noptions = [[1], [1]]".encode(),
    "nothing": b"",
}


@pytest.mark.parametrize("kind", DAMAGED)
@pytest.mark.thorough
def test_one_damaged_lesson_is_a_sentence_beside_the_others_and_can_be_deleted(
    visit: Open, home: Path, kind: str
):
    whole = library.keep(GOOD)
    damaged = library.path_of("damaged")
    damaged.write_bytes(DAMAGED[kind])
    listed = visit("lessons")
    assert not listed.exception
    assert {"T", "damaged"} <= {one.value for one in listed.subheader}
    assert any(str(one.value).startswith(":material/error: ") for one in listed.markdown)
    opened = visit("lessons", lesson="damaged")
    assert not opened.exception
    assert opened.error
    assert all(len(one.value) < 500 and "\n" not in one.value for one in opened.error)
    for test in (
        visit("mean", lesson="damaged", view="1"), visit("lessons", lesson="damaged", notes="1")
    ):  # fmt: skip
        assert not test.exception
        assert len(test.warning) == 1
    next(one for one in opened.button if one.label == "Delete").click().run()
    assert "damaged" not in library.names()
    assert contents.find(whole).lesson is not None


def test_a_damaged_note_of_an_owner_stops_visitors_and_not_this_machine(home: Path):
    name = library.keep(GOOD, editor=ANN)
    note = library.path_of(name).with_suffix(".owner.json")
    surrogate = '{"owner": "\\ud800", "key": ""}'
    for content in ("{", "null", "[]", '{"owner": null, "key": 1}', surrogate, "[" * 50_000):
        note.write_text(content)
        assert not rights.may(library.path_of(name), ANN)
        assert rights.may(library.path_of(name), Editor("ann", alone=True))
        assert rights.key(library.path_of(name)) == ""
    library.remove(name, Editor(alone=True))
    assert not note.exists()


def test_a_lesson_stays_as_it_was_until_the_new_text_is_whole(
    home: Path, monkeypatch: pytest.MonkeyPatch
):
    name = library.keep(GOOD, editor=ANN)

    def fails(*_: object) -> None:
        raise OSError(28, "No space left on device")

    for step in ("fsync", "replace"):
        with monkeypatch.context() as broken:
            broken.setattr(os, step, fails)
            with pytest.raises(StoreError, match="No space left"):
                library.keep("half", name, ANN)
        assert contents.find(name).text == GOOD
        assert sorted(path.suffix for path in library.folder().iterdir()) == [".json", ".toml"]


def test_what_killed_processes_left_is_removed_when_a_lesson_is_saved(home: Path):
    name = library.keep(GOOD, editor=ANN)
    left = [library.folder() / ".own.toml.x.part", library.folder() / "own-gone.owner.json"]
    young = library.folder() / ".own.toml.y.part"
    for path in (*left, young):
        path.write_text("x")
    for path in left:
        os.utime(path, (0, 0))
    library.keep(GOOD, name, ANN)
    assert not any(path.exists() for path in left)
    assert young.exists()
    assert not rights.may(library.path_of(name), BEN)


def test_every_mistake_of_a_view_is_said_and_every_view_that_is_no_toml():
    two = "[[views]]\naddress = '/roof'\ntext = 1\nhide = [2]\ncolour = 'red'\n"
    told = "\n".join(schema.read(GOOD + two)[1])
    for part in ("expected a page", "text: expected a text, got 1", "hide: expected texts, got 2",
                 "colour: expected one of"):  # fmt: skip
        assert part in told
    torn = (
        GOOD.replace('title = "T"', "title = T") + "[[views]]\ntext = \n" + GOOD[GOOD.index("[[") :]
    )
    wrong = schema.read(torn)[1]
    assert len(wrong) == 2
    assert "line 1," in wrong[0]
    assert "line 8," in wrong[1]


def test_a_view_goes_into_the_lesson_that_was_saved_last(visit: Open, home: Path):
    first, last = library.keep(GOOD), library.keep(GOOD.replace('"T"', '"Last"'))
    os.utime(library.path_of(first), (1, 1))
    next(one for one in visit("mean").button if one.label == "Add").click().run()
    assert len(lesson(last).views) == 2
    assert len(lesson(first).views) == 1


def test_lessons_of_equal_titles_are_told_apart_in_the_list(visit: Open, home: Path):
    twice = [library.keep(GOOD) for _ in range(2)]
    new = library.keep(GOOD.replace('"T"', '"A new lesson"'))
    library.keep(GOOD.replace('"T"', '"Once"'))
    labels = visit("mean").selectbox(key="collect.into").options
    named = {*(f"T ({name})" for name in twice), f"A new lesson ({new})"}
    assert {*labels} == named | {"Once", "A new lesson"}


@pytest.mark.thorough
def test_a_lesson_is_trained_before_the_class_sees_it(
    visit: Open, home: Path, monkeypatch: pytest.MonkeyPatch
):
    """What is trained by the button is what its view asks for, and then nothing is said."""
    monkeypatch.setenv("EXPLORER_AHEAD", "off")
    name = library.keep(GOOD)
    test = visit("lessons", lesson=name)
    assert "begins to train in front of the class" in test.warning[0].value
    next(one for one in test.button if one.label == "Train this lesson now").click().run()
    assert not test.warning
    asked = {run.id for run in Client(home, workers=False).runs()}
    for job in train.missing(lesson(name)):
        play(home, job)
    test.run()
    assert not [one.value for one in test.info if "still to train" in one.value]
    made = lesson(name).views[0]
    visit(made.page, **made.settings)
    assert {run.id for run in Client(home, workers=False).runs()} == asked
