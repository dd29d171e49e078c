"""A view as a slide: the numbers of the page in a chart that can be edited, the card as notes."""

import itertools
import re
from pathlib import Path

import numpy as np
import pytest
from pptx import Presentation

from engine.cli.main import main
from engine.runs import shipped
from engine.runs.common import LABELS
from pages.ui.bundle import collect, slide
from pages.ui.paper import defaults, drawing, foot
from pages.ui.paper.choice import PROOF_FIRST
from tests.pages.conftest import ROOT, Open, papers

ADDRESS = "survival?survival.epsilon=0.5"


@pytest.fixture(autouse=True)
def ships(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What ships with the app."""
    monkeypatch.setattr(shipped, "FOLDER", ROOT / "reference" / "defaults")


def written(home: Path, address: str):
    """The only slide of a file that is written and opened again, and its chart."""
    file = home / "s.pptx"
    assert main(["slide", address, "--to", str(file)]) == 0
    (page,) = Presentation(str(file)).slides
    (chart,) = (shape.chart for shape in page.shapes if shape.has_chart)
    return page, chart


@pytest.mark.thorough
def test_its_points_are_those_of_the_page(home: Path):
    _, chart = written(home, ADDRESS)
    view = slide.opened(*slide.parsed(ADDRESS))
    curves, levels = drawing.shown(view)
    up = drawing.heights(view)
    drawn = {one.name: one for one in chart.plots[0].series}
    focus = [one for one in curves.values() if one.focus]
    assert view.by == PROOF_FIRST
    assert len(focus) == 3
    for one in focus:
        series = drawn.pop(one.brief or one.label)
        x = [float(point.text) for point in series._element.findall(".//{*}xVal//{*}v")]
        np.testing.assert_allclose(x, one.proved, rtol=1e-5)
        np.testing.assert_allclose(list(series.values), 100 * np.array(up.of(one.middle)), 1e-5)
    (none,) = (one for one in levels if one.focus)
    (series,) = drawn.values()
    np.testing.assert_allclose(list(series.values), [100 * up.of([none.value])[0]] * 2, 1e-5)


def test_a_measure_of_privacy_that_the_address_asks_for_is_the_axis():
    made = slide.made(*slide.parsed("mean?mean.measure=Best attacker"))
    assert made.budget == LABELS["advantage"]
    assert all(0.0 < place <= 1.0 for line in made.lines for place, _ in line.points)


def test_its_words_are_those_of_the_page(home: Path, visit: Open):
    page, _ = written(home, ADDRESS)
    words = [shape.text_frame.text for shape in page.shapes if shape.has_text_frame]
    said = " ".join(words)
    app = visit("survival", **{"survival.epsilon": "0.5"})
    finding = next(one.value for one in app.markdown if one.value.startswith("At ε = 0.5"))
    assert said == finding.replace("**", "")
    notes = page.notes_slide.notes_text_frame.text
    view = slide.opened(*slide.parsed(ADDRESS))
    assert collect.line(view, view.method)["proved"] in notes
    for reason in view.guarantee().reasons:
        assert reason in notes
    assert view.watched[view.method].job.id in notes
    assert "survival.epsilon=0.5" in notes


def test_the_notes_are_about_the_methods_on_the_slide(home: Path):
    """The private curve ranks no pairs, so it has no line in this chart."""
    asked = "survival?survival.method=Private Kaplan–Meier curve"
    page, chart = written(home, asked)
    notes = page.notes_slide.notes_text_frame.text
    view = slide.opened(*slide.parsed(asked))
    assert view.method == "km_dp"
    drawn = {one.name for one in chart.plots[0].series}
    curves, _ = drawing.shown(view)
    told = [name for name, one in curves.items() if (one.brief or one.label) in drawn]
    assert len(told) >= 2
    for name in told:
        assert collect.told(collect.line(view, name)) in notes
        assert view.watched[name].job.id in notes
    lines = notes.splitlines()
    heads = [collect.told(collect.line(view, name)) for name in told]
    common = {one.removeprefix("All: ") for one in lines if one.startswith("All: ")}
    for name, head in zip(told, heads, strict=True):
        at = lines.index(head) + 1
        own = itertools.takewhile(lambda one: one not in heads and ": " not in one[:6], lines[at:])
        card = view.guarantee(name)
        assert {*card.reasons, *card.limits} <= {*own, *common}
    assert common
    assert collect.told(collect.line(view, "km_dp")) not in notes
    assert view.watched["km_dp"].job.id not in notes


def test_an_axis_of_decades_is_logarithmic_and_what_has_no_place_is_said(home: Path):
    _, chart = written(home, "/mean?mean.epsilon=2")
    assert len(chart._chartSpace.findall(".//{*}logBase")) == 2
    page, chart = written(home, "http://localhost:8501/pcdbn")
    assert len(chart._chartSpace.findall(".//{*}logBase")) == 1
    assert any(
        "as printed: no finite ε is proved." in shape.text_frame.text
        for shape in page.shapes
        if shape.has_text_frame
    )


@pytest.mark.parametrize(
    ("address", "said"),
    [
        ("nobody", "address: expected the page of a paper (enadpp, "),
        ("compare", "address: expected the page of a paper (enadpp, "),
        ("", "address: expected the page of a paper (enadpp, "),
        ("survival?survival.epsilon=77", "survival.epsilon: expected one of 0.05, "),
        ("survival?survival.x=2", "address: expected a setting of survival, got 'survival.x'"),
        ("survival?survival.knots=9", "survival: nothing is trained at these settings: open "),
        ("http://[bad", "address: expected the page of a paper (enadpp, "),
    ],
)
def test_a_wrong_address_is_one_sentence(home: Path, capsys, address: str, said: str):
    assert main(["slide", address, "--to", str(home / "s.pptx")]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert said in line
    assert not (home / "s.pptx").exists()


def test_a_file_that_cannot_be_written_is_one_sentence(home: Path, capsys):
    assert main(["slide", "mean", "--to", str(home / "none" / "s.pptx")]) == 2
    assert "--to: expected a file that can be written" in capsys.readouterr().err


def test_an_address_opens_what_the_page_opens():
    page = defaults.addressed("survival", {})
    assert page.jobs.keys() == defaults.opening("survival").keys()


@pytest.mark.parametrize("slug", papers("mean", "enadpp"))
def test_a_card_in_one_line_and_in_notes_has_the_odds_of_the_ruler(slug: str):
    view = slide.opened(slug, {})
    _, _, odds = foot.marks(view, view.guarantee())
    (times,) = re.findall(r"\*\*(.+? times out of 100)\*\*", odds)
    assert f"<strong>{times}</strong>" in collect.line(view, view.method)["odds"]
    assert f"at most {times}." in slide.made(slug, {}).notes[0]
    taken = collect.take(slug)
    assert taken is not None
    assert times in taken.lines[taken.looked][taken.first]["odds"]
