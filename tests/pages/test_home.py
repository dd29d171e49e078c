"""The start page: a card for each paper, with a picture and a finding of the runs that ship."""

import tomllib
from pathlib import Path

import pytest

from datasets import catalog as data_catalog
from engine.runs import shipped
from engine.runs.reference import FOLDER
from pages.ui.charts.sketch import COLOURS, sketch
from pages.ui.charts.theme import SERIES
from pages.ui.home import WORDS
from pages.ui.kit import shell
from pages.ui.paper import foot, preview, sketches
from tests.pages.conftest import Open
from tests.pages.drawn import charts, texts
from tests.pages.played import play


@pytest.mark.parametrize("slug", sorted(shell.papers()))
def test_what_the_start_page_says_of_a_paper_is_what_its_page_says(
    slug: str, monkeypatch: pytest.MonkeyPatch
):
    """`python -m pages.ui.paper.sketches` writes the file again."""
    monkeypatch.setattr(shipped, "FOLDER", FOLDER / "defaults")
    assert sketches.read()[slug] == sketches.made(slug)


def test_the_start_page_tells_what_was_found_and_no_formal_claim(visit: Open):
    text = texts([visit("")])
    for slug, one in shell.papers().items():
        assert sketches.read()[slug].found["en"] in text
        assert one.claim not in text
        assert one.citation not in text


def test_a_paper_that_opens_with_simulated_data_says_so_on_its_card(visit: Open):
    text = texts([visit("")])
    opens = [data_catalog.card(one.datasets[0]) for one in shell.papers().values()]
    assert text.count("Simulated data") == sum(card.simulated for card in opens) > 0


def test_three_budgets_are_named_on_the_curve_of_the_start_page(visit: Open, home: Path):
    for job in preview.page().jobs.values():
        play(home, job)
    (chart,) = charts(visit(""))
    named = [one["text"].partition(":")[0] for one in chart["layout"]["annotations"]]
    assert [one for one in named if one in WORDS["stops"].values()] == [*WORDS["stops"].values()]
    marks = chart["data"][-1]
    assert marks["x"] == [float(epsilon) for epsilon in WORDS["stops"]]
    curve = next(one for one in chart["data"] if one.get("name", "").startswith("Output"))
    heights = dict(zip(curve["x"], curve["y"], strict=True))
    assert marks["y"] == [heights[x] for x in marks["x"]]


@pytest.mark.parametrize(
    ("typed", "shown", "told"),
    [
        ("0,5", "0.5", []),
        (" 0.5 ", "0.5", []),
        ("0,7", "0.8", ["ε = 0,7 ist hier nicht trainiert; am nächsten liegt 0,8."]),
        ("20", "1", ["ε: erwartet wird eine Zahl von 0,05 bis 10, nicht 20."]),
        ("*nan*", "1", [r"ε: erwartet wird eine Zahl von 0,05 bis 10, nicht \*nan\*."]),
        ("nan", "1", ["ε: erwartet wird eine Zahl von 0,05 bis 10, nicht nan."]),
        (" ", "1", []),
    ],
)
def test_a_typed_budget_is_read_in_either_writing_or_refused(
    visit: Open, typed: str, shown: str, told: list[str]
):
    test = visit("", lang="de")
    test.text_input(key="home.epsilon.typed").set_value(typed).run()
    assert not test.exception
    assert test.select_slider(key="home.epsilon").value == shown
    assert [one.value for one in test.toast] == told
    assert test.text_input(key="home.epsilon.typed").value == ""


def test_what_is_said_of_a_typed_budget_is_drawn_with_its_field(
    visit: Open, monkeypatch: pytest.MonkeyPatch
):
    """Streamlit warns in the server's log where what a field calls draws by itself."""
    calls, shown, take = list[str](), list[bool](), foot._take

    def taken(*given):
        calls.append("begins")
        take(*given)
        calls.pop()

    monkeypatch.setattr(foot, "_take", taken)
    monkeypatch.setattr(foot.st, "toast", lambda *given, **named: shown.append(bool(calls)))
    test = visit()
    for typed in ("1000", "0.123"):
        test.text_input(key="home.epsilon.typed").set_value(typed).run()
    assert shown == [False, False]


def test_a_sketch_draws_each_line_in_the_colour_of_its_page():
    first, seventh = SERIES[0], SERIES[6]
    drawn = sketch({first: [(0.1, 0.5), (1.0, 0.2)], seventh: [(0.1, 0.3), (1.0, 0.1)]}, 0.08)
    assert drawn.count("<path") == 3
    assert [colour for colour in COLOURS if colour in drawn] == [COLOURS[0], COLOURS[6]]


@pytest.mark.parametrize("text", ["null", "[]", "{", '{"mean": null}', '{"mean": {"found": 1}}'])
def test_the_start_page_needs_no_sketch(
    visit: Open, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, text: str
):
    monkeypatch.setattr(sketches, "FILE", tmp_path / "sketches.json")
    assert sketches.read() == {}
    sketches.FILE.write_text(text)
    assert sketches.read() == {}
    assert not visit("").exception


def test_colours_of_sketches_are_between_those_of_the_two_themes():
    """An image has one colour for both: each part of it lies between those of the charts."""
    settings = tomllib.loads(Path(".streamlit/config.toml").read_text(encoding="utf-8"))
    light, dark = (settings["theme"][name]["chartCategoricalColors"] for name in ("light", "dark"))
    assert len(COLOURS) == len(light)
    for one, *ends in zip(COLOURS, light, dark, strict=True):
        for at in (1, 3, 5):
            part, *rest = (int(colour[at : at + 2], 16) for colour in (one, *ends))
            assert min(rest) <= part <= max(rest)
