"""The start page: a card for each paper, with a picture and a finding of the runs that ship."""

import pytest

from engine.runs import shipped
from engine.runs.reference import FOLDER
from pages.ui.charts.sketch import COLOURS, sketch
from pages.ui.kit import shell
from pages.ui.paper import sketches
from tests.pages.conftest import Open
from tests.pages.drawn import texts


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


def test_a_sketch_draws_each_line_in_the_colour_of_its_part():
    drawn = sketch({"own": [(0.1, 0.5), (1.0, 0.2)], "best": [(0.1, 0.3), (1.0, 0.1)]}, 0.08)
    assert drawn.count("<path") == 3
    assert {part for part, colour in COLOURS.items() if colour in drawn} == {"own", "best", "none"}
