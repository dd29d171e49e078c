"""What visitors bring stays theirs, and no name in it becomes more than words."""

import re
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from datasets import own, own_names
from engine.core.errors import DatasetError
from engine.runs.job import request
from pages.ui.kit import visitors
from pages.ui.kit.access import sentence
from pages.ui.words import JOINER, escaped, short
from tests.pages.conftest import Open
from tests.pages.played import play

EVIL = (
    "![](http://evil.example/x.png)", "[click](http://evil.example)", "<img src=//evil.example>",
    ":red[x] :material/bolt:", "$x^2$", "http://evil.example", "www.evil.example", "`code`",
    "**bold**", "__bold__", "~~gone~~", "# head", "a|b", "<script>", "\u202eabc",
)  # fmt: skip
ACTIVE = re.compile(r"[\[\]<>*`$~|#\u202e]|://|:\S|www\.|(^|\s)_|_(\s|$)", re.IGNORECASE)
"""What makes Markdown, HTML, formulas, icons or links."""


def table(names: tuple[str, ...] = ("age",), owner: str = "") -> str:
    """Keeps a small table whose covariates have these names."""
    head = ",".join(f'"{name}"' for name in names)
    rows = "\n".join(f"{i + 1},{i % 2}" + f",{40 + i}" * len(names) for i in range(12))
    lines = "time: 0 to 60\nbounds: from the data"
    content = f"time,event,{head}\n{rows}\n".encode()
    return own.keep("mine.csv", content, lines, owner=owner)


def every_text(test: AppTest) -> str:
    """All that a page hands to the browser as Markdown."""
    kinds = ("markdown", "caption", "error", "warning", "title", "header", "subheader", "info")
    return "\n".join(str(one.value) for kind in kinds for one in test.get(kind))


@pytest.mark.parametrize("name", EVIL)
def test_a_name_of_a_users_becomes_plain_words(name: str):
    assert not ACTIVE.search(own_names.plain(name))
    assert not ACTIVE.search(own_names.plain(f"dose {name} x"))


def test_usual_names_stay_as_they_are_and_equal_ones_are_told_apart():
    usual = ("age_at_entry", "dose (mg/l)", "größe", "systolic b.p.", "50% mark", "x-ray")
    assert own_names.names(usual) == usual
    assert own_names.names(("a*", "a", "*a")) == ("a", "a 2", "a 3")


@pytest.mark.parametrize("name", EVIL)
def test_what_an_error_repeats_stays_word_for_word(name: str):
    said = re.sub(r"\\.", "", sentence(f"file: column {name!r}: expected a number"))
    assert not ACTIVE.search(said.partition("Column")[2].replace(": expected", ""))


def test_escaping_keeps_every_character():
    for name in EVIL:
        assert re.sub(r"\\(?=[^\w\s]|_)", "", escaped(name)).replace(JOINER, "") == name
    assert escaped("steps: expected 1 to 1_000 (EXPLORER_HOME)") == (
        "steps: expected 1 to 1_000 (EXPLORER_HOME)"
    )


def test_a_page_shows_names_of_columns_as_words(visit: Open, home: Path):
    name = table(tuple(f"{one} {i}" for i, one in enumerate(EVIL)))
    test = visit("survival", **{"survival.dataset": short(name), "survival.tab": "Data"})
    assert not test.exception
    text = every_text(test)
    assert "evil.example" in text  # the words are there
    assert "http://evil" not in text
    assert "](" not in re.sub(r"\]\((https://doi|/learn#)", "", text)
    assert "<img" not in text


def test_a_table_is_its_owners_until_a_link_names_it(visit: Open, home: Path):
    theirs = table(owner="somebody else")
    everyones = table()
    test = visit("survival")
    assert short(theirs) not in test.radio(key="survival.dataset").options
    assert short(everyones) in test.radio(key="survival.dataset").options
    linked = visit("survival", **{"survival.dataset": short(theirs)})
    assert not linked.exception
    assert linked.radio(key="survival.dataset").value == short(theirs)
    assert "Somebody else has added this table" in every_text(linked)


def test_runs_on_a_table_are_listed_for_those_who_know_it(visit: Open, home: Path):
    name = table(owner="somebody else")
    play(home, request("survival", "cox", name))
    called = f"on {own.card(name).title}"  # its file, which no address holds
    assert called not in every_text(visit("runs"))
    assert short(name) not in every_text(visit("runs"))
    linked = visit("survival", **{"survival.dataset": short(name)})
    linked.switch_page("pages/runs.py").run()
    assert called in every_text(linked)


def test_a_name_holds_a_key_that_nobody_guesses(home: Path):
    keys = {table().rpartition("_")[2] for _ in range(8)}
    assert len(keys) == 8
    assert all(re.fullmatch(r"[0-9a-f]{16}", key) for key in keys)


def test_a_table_that_somebody_removes_leaves_one_sentence(visit: Open, home: Path):
    name = table()
    test = visit("survival", **{"survival.dataset": short(name)})
    assert test.radio(key="survival.dataset").value == short(name)
    own.remove(name)
    test.run()
    assert not test.exception
    assert test.title
    said = [one.value for one in test.warning if short(name) in one.value]
    assert len(said) == 1


def test_uploads_can_be_turned_off(visit: Open, monkeypatch: pytest.MonkeyPatch):
    assert visit("survival").get("file_uploader")
    monkeypatch.setenv(visitors.UPLOADS, "off")
    test = visit("survival")
    assert not test.get("file_uploader")
    assert "turned off here" in every_text(test)


def test_one_table_too_many_is_one_sentence(home: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv(own.MOST_TABLES, "1")
    table()
    with pytest.raises(DatasetError, match="expected at most 1 tables on this machine"):
        table()
