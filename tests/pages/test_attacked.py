"""What is taken along holds a user's names: none becomes a script, a tag or a formula."""

import csv
import dataclasses
import io
from html.parser import HTMLParser
from pathlib import Path

import pytest

from engine.cli.export import _table
from engine.cli.shared import words_only
from engine.runs import shipped
from engine.runs.job import request
from pages.ui.bundle import collect, report, write
from pages.ui.bundle.collect import Taken
from pages.ui.bundle.filled import filled
from pages.ui.kit import markdown
from tests.pages.test_bundle import SHIPPED

EVIL = (
    "<script>alert(1)</script>", "</script><script>alert(1)</script>", "<!--<script>",
    "<img src=x onerror=alert(1)>", "\" onload=alert(1) x=\"", "PLOTLY VIEWS FINDING FIGURE",
    "</title><svg onload=alert(1)>", "=HYPERLINK(\"http://evil\")", "@SUM(1)", "+1+1", "-1+1",
    "$\\nothing{$",
)  # fmt: skip


class Tags(HTMLParser):
    """The tags of a page, and what in them could run."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.active: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.active += [name for name, _ in attrs if name.startswith("on")]


def attacked(one: Taken, evil: str) -> Taken:
    """The same view with a name of a user's in every text that may hold one."""
    drawn = [
        dataclasses.replace(
            d, title=evil, captions=[evil for _ in d.captions],
            said=[markdown.html(evil) for _ in d.said],
            rows=[{**row, evil: evil, "Method": evil} for row in d.rows],
            base={**d.base, "layout": {**d.base["layout"], "title": {"text": evil}}},
        )
        for d in one.drawn
    ]  # fmt: skip
    changed = {"mechanism": evil, "unit": evil, "reasons": (evil,)}
    cards = {
        name: [dataclasses.replace(card, **changed) for card in cards]
        for name, cards in one.cards.items()
    }
    return dataclasses.replace(
        one, title=evil, link=evil, labels={name: evil for name in one.labels}, drawn=drawn,
        cards=cards, findings=[markdown.html(evil) for _ in one.findings],
    )  # fmt: skip


@pytest.mark.parametrize("evil", EVIL)
@pytest.mark.thorough
def test_no_name_becomes_a_part_of_a_page(evil: str, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(shipped, "FOLDER", SHIPPED)
    monkeypatch.setattr(write, "get_plotlyjs", lambda: "plotly()")
    whole = collect.take("mean")
    assert whole is not None
    bad = attacked(whole, evil)
    plain, made = Tags(write.index([whole])), Tags(write.index([bad]))
    assert made.active == []
    assert set(made.tags) <= set(plain.tags)
    assert made.tags.count("script") == plain.tags.count("script")
    assert write.index([bad]).count("plotly()") == 1
    paper = report.page(bad)  # letters alone: no formula, no link, nothing that runs
    assert paper.startswith(b"%PDF")
    assert not any(mark in paper for mark in (b"/JavaScript", b"/URI", b"/Launch", b"/Annot "))
    for name, text in write.parts_of([bad]):
        if name.endswith(".csv"):
            cells = [cell for row in csv.reader(io.StringIO(text)) for cell in row]
            assert any(evil in cell for cell in cells)
            assert not [one for one in cells if one.startswith(evil) and one[0] in "=+-@"]


def test_numbers_stay_numbers():
    cells = (-1.5, 0, None, "a", "-", "=1")
    assert [words_only(one) for one in cells] == [-1.5, 0, None, "a", "'-", "'=1"]


def test_a_part_is_not_filled_again():
    assert filled("TITLE, TEXT", {"TITLE": "TEXT", "TEXT": "TITLE"}) == "TEXT, TITLE"


def test_an_export_holds_no_formula(tmp_path: Path):
    job = request("mean", "laplace", "flchain", {}, {"epsilon": (0.5,)}, (0,))
    card = {"status": "=1", "epsilon_claimed": 1.0, "epsilon_proved": -1.0, "delta": 0.0}
    row = {"epsilon": 0.5, "seed": 0, "gauges": {"error": -2.0}, "guarantee": card}
    text = _table(tmp_path / "x.csv", job, [row], ["error"]).read_text()
    assert "'=1" in text
    assert ",-2.0," in text
