"""Folds: what nobody has opened is not sent, and what an address says is."""

import pytest

from pages.ui.kit import fold
from pages.ui.papers.pcdbn import formulas
from tests.pages.conftest import Open

HIDDEN = "survival.clip"


@pytest.fixture
def shut(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody opens a fold."""
    monkeypatch.setattr(fold, "wanted", lambda opened: False)


def keys(test) -> set[str | None]:
    return {one.key for one in (*test.sidebar.select_slider, *test.sidebar.number_input)}


def test_a_first_visit_makes_no_widget_within_a_fold(shut, trained, visit: Open):
    there = keys(visit("survival"))
    assert {"survival.intervals", "survival.regularisation"} <= there
    assert HIDDEN not in there
    assert not any(key and key.startswith("survival.flchain.") for key in there)


@pytest.mark.parametrize(
    ("slug", "hidden"),
    [
        ("survival", "survival.try_q"),
        ("enadpp", "enadpp.feature1"),
        ("pcdbn", formulas.FUNCTION),
    ],
)
def test_what_is_tried_is_made_once_its_fold_is_opened(
    trained, visit: Open, monkeypatch: pytest.MonkeyPatch, slug: str, hidden: str
):
    for opened in (True, False):
        monkeypatch.setattr(fold, "wanted", lambda _, opened=opened: opened)
        test = visit(slug)
        made = {one.key for one in (*test.sidebar.selectbox, *test.sidebar.slider)}
        assert (hidden in made | keys(test)) == opened


def test_a_setting_that_the_address_names_has_its_widget(shut, trained, visit: Open):
    test = visit("survival", **{HIDDEN: "2"})
    assert test.sidebar.select_slider(key=HIDDEN).value == "2"
    assert test.run().sidebar.select_slider(key=HIDDEN).value == "2"


def test_a_person_that_the_address_describes_has_their_fields(shut, trained, visit: Open):
    test = visit("survival", **{"survival.flchain.a.age": "60"})
    assert test.sidebar.number_input(key="survival.flchain.a.age").value == 60.0
