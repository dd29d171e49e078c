"""Layouts as papers declare them: what their sentences need is there, and slips are named."""

import re
import string
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from engine.catalog import catalog
from engine.core.declared import read
from pages.ui.paper import defaults, panels, pays
from pages.ui.paper.said import Named, say
from tests.pages.conftest import ROOT, Open
from tests.pages.drawn import charts

PAPERS = ROOT / "pages/ui/papers"
SLUGS = sorted(path.parent.name for path in PAPERS.glob(f"*/{defaults.FILE}"))
TABLE = {
    "plain": "At {budget:g}: {error:n2} of {share:p1} %.",
    "parts": "One. {MORE} {how} Last.",
    "MORE": "More of {budget:g}.",
    "OTHER": "Other.",
}


def tables(words: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """A table of sentences and those in it."""
    yield words
    for value in words.values():
        if isinstance(value, Mapping):
            yield from tables(value)


def facts(table: Mapping[str, Any]) -> set[str]:
    """What the braces of a table's sentences name."""
    said = [text for text in table.values() if isinstance(text, str)]
    names = {part[1] for text in said for part in string.Formatter().parse(text) if part[1]}
    return {re.split(r"[.\[]", name)[0] for name in names}


def computed(slug: str) -> str:
    """The code that sets the facts of a paper's sentences."""
    shared = [ROOT / f"pages/ui/paper/{name}.py" for name in ("parts", "pays", "swept")]
    return "".join(path.read_text() for path in (*shared, *(PAPERS / slug).glob("*.py")))


def test_all_papers_of_the_project_declare_their_layout():
    assert set(SLUGS) == set(catalog())


@pytest.mark.parametrize("slug", SLUGS)
def test_what_sentences_name_is_computed_and_each_sentence_is_said(slug: str):
    """A fact that nobody computes is seen when its sentence is due, which may be rare."""
    code = computed(slug)
    for section in defaults.layout(slug).sections:
        for table in tables(section.words):
            names = facts(table)
            for name in names:
                assert f'"{name}"' in code, f"{section.title}: nobody computes {name}"
            for name in (one for one in table if one.isupper()):
                assert name in names or f'"{name}"' in code, f"{section.title}: {name} is not said"


@pytest.mark.parametrize("slug", SLUGS)
def test_names_in_the_address_are_those_of_widgets(slug: str):
    """So that a link keeps what these widgets say."""
    sections = read(PAPERS / slug / defaults.FILE).get("sections", ())
    for section in (one for one in sections if isinstance(one.get("free"), list)):
        for name in section["free"]:
            assert f'"{slug}.{name}"' in computed(slug), f"{section['title']}: no widget {name}"


@pytest.mark.parametrize("slug", SLUGS)
def test_charts_of_a_page_have_names_of_their_own(slug: str):
    """Two sections of one name would share their zoom and their table."""
    names = [
        section.name for section in defaults.layout(slug).sections if "key" not in section.words
    ]
    assert sorted(set(names)) == sorted(names)


@pytest.fixture
def bare(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Papers without layouts, as those of four files are."""
    monkeypatch.setattr(defaults, "FILE", "none.toml")
    defaults.layout.cache_clear()
    yield
    defaults.layout.cache_clear()


@pytest.mark.thorough
def test_a_paper_without_a_layout_has_no_empty_tab_and_says_what_it_claims(
    visit: Open, bare: None, monkeypatch: pytest.MonkeyPatch
):
    drawn = []
    monkeypatch.setattr(pays, "line", lambda view: drawn.append("line"))
    monkeypatch.setattr(panels, "failing", lambda view: drawn.append("failing"))
    test = visit("mean")
    assert not test.exception
    assert [tab.label for tab in test.tabs] == ["Cost", "Proof", "Data"]
    assert sorted(drawn) == ["failing", "line"]  # which stand below the curve then
    home = visit()
    assert not home.exception
    said = [one.value for one in home.markdown]
    assert catalog()["mean"].claim in said
    assert "." not in said


def test_facts_are_written_as_their_format_says():
    found = say(TABLE, "plain", {"budget": 1.0, "error": 0.1234, "share": 0.5})
    assert found == "At 1: 0.12 of 50.0 %."
    assert say(TABLE, "caption", {}) == ""


@pytest.mark.parametrize(
    ("more", "how", "said"),
    [
        (True, Named("OTHER"), "One. More of 2. Other. Last."),
        (False, Named(""), "One. Last."),
        (False, Named("MORE"), "One. More of 2. Last."),
        (False, "text", "One. text Last."),
    ],
)
def test_a_sentence_has_parts_that_only_some_runs_need(more: bool, how: object, said: str):
    assert say(TABLE, "parts", {"MORE": more, "how": how, "budget": 2.0}) == said


def test_a_fact_that_is_missing_is_named():
    with pytest.raises(KeyError, match="error"):
        say(TABLE, "plain", {"budget": 1.0})
    with pytest.raises(KeyError, match="NONE"):
        say(TABLE, "parts", {"MORE": False, "how": Named("NONE")})


@pytest.mark.parametrize(
    ("text", "error", "named"),
    [
        ('colour = "red"', TypeError, "colour"),
        ('[says.error]\ntext = "{}"\nchance = "luck"', KeyError, "luck"),
        ('story = "layers:nothing"', ModuleNotFoundError, "layers"),
        ('[[sections]]\ntitle = "A"\ndraw = "sections:nothing"', AttributeError, "nothing"),
        ('[[sections]]\ndraw = "sections:histogram"', TypeError, "title"),
    ],
)
def test_a_slip_in_a_layout_is_named(tmp_path: Path, text: str, error: type, named: str):
    (tmp_path / defaults.FILE).write_text(text)
    with pytest.raises(error, match=named):
        defaults.read("pages.ui.papers.mean", tmp_path)


def page(made: str) -> AppTest:
    """A page of one section, whose function returns what an expression says."""
    return AppTest.from_string(PAGE.format(made=made), default_timeout=120).run()


PAGE = """
from types import SimpleNamespace as Some
import numpy as np
from pages.ui.charts.lines import line
from pages.ui.charts.marks import path
from pages.ui.charts.theme import figure, style
from pages.ui.paper import parts
from pages.ui.paper.parts import Abreast, Chart, Fold, Lines, Note, Table
from pages.ui.paper.series import NotYetError
from pages.ui.paper.view import Section

def chart(part="", **facts):
    drawn = figure([path("a", [1.0], [2.0], "#000000")], height=200)
    return Chart(drawn, [dict(x=1.0)], facts, part)

def late():
    raise NotYetError("Not yet.")

here = Some(label="One", job=Some(id="r1"), run=None)
view = Some(budget=2.0, method="one", entry=Some(label="One"), watched=dict(one=here),
            data=Some(records=9, name="d"), paper=Some(slug="p"))
view.left = view
words = dict(finding="At {{budget:g}}: **{{n}}**.", caption="Read {{n}} so.", fold="More",
             SAID="Said {{n}}.", x="Step", y="Height", own=dict(caption="Own {{n}}.", key="k"))
parts.draw(Section("Title", lambda view: {made}, words), view)
"""


def said(test: AppTest) -> list[str]:
    """The sentences of a page from top to bottom, and "chart" where one stands."""
    assert not test.exception
    found = []
    for one in test.main:
        if one.type in ("markdown", "caption"):
            found.append(str(one.value))
        elif one.type == "bidi_component" and '"figure"' in one.proto.json:
            found.append("chart")
    return found


def test_a_chart_stands_between_its_finding_and_its_caption():
    test = page("chart(n=3)")
    assert said(test) == ["At 2: **3**.", "chart", "Read 3 so."]


def test_several_charts_have_captions_of_their_own_and_share_facts():
    test = page("[chart(n=3), chart('own'), Note('SAID')]")
    words = ["At 2: **3**.", "chart", "chart", "Own 3.", "Said 3.", "Read 3 so."]
    assert said(test) == words


@pytest.mark.parametrize(
    ("made", "words"),
    [
        ("'Nothing here.'", "Nothing here."),
        ("late()", "Not yet."),
        ("None", "Appears as soon as"),
        ("Lines([None])", "Appears as soon as"),
        ("Note('SAID', dict(n=3))", "Said 3."),
    ],
)
def test_where_nothing_is_drawn_a_sentence_says_why_and_no_caption(made: str, words: str):
    test = page(made)
    assert [words in one for one in said(test)] == [True]
    assert not test.caption


def test_lines_have_the_axes_that_are_declared():
    course = "line('a', style(0), np.array([1.0, 2.0]), np.ones((2, 3)))"
    (drawn,) = charts(page(f"Lines([{course}, None], dict(n=1))"))
    axes = [drawn["layout"][axis]["title"]["text"] for axis in ("xaxis", "yaxis")]
    assert axes == ["Step", "Height"]
    assert drawn["layout"]["uirevision"] == "p.<lambda>.chart/r1"


def test_a_fold_stands_below_the_caption_and_is_worked_out_once_it_is_open():
    test = page("[Note('', dict(n=3)), Fold('info', lambda: chart(m=0))]")
    assert [one.label for one in test.expander] == ["More"]
    assert not charts(test)
    assert [one.value for one in test.caption] == ["Read 3 so."]


def test_columns_hold_their_parts():
    test = page("Abreast([Note('SAID', dict(n=3)), [Table([dict(a=1)]), Note('SAID')]])")
    assert [len(one.markdown) for one in test.columns] == [1, 1]
    assert [one.value for one in test.caption] == ["Read 3 so."]
    assert len(test.table) == 1
