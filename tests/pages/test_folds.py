"""Folds: what nobody has opened is not sent, and what an address says is."""

import pytest

from pages.ui.kit import fold
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


def test_a_setting_that_the_address_names_has_its_widget(shut, trained, visit: Open):
    test = visit("survival", **{HIDDEN: "2"})
    assert test.sidebar.select_slider(key=HIDDEN).value == "2"
    assert test.run().sidebar.select_slider(key=HIDDEN).value == "2"


def test_a_person_that_the_address_describes_has_their_fields(shut, trained, visit: Open):
    test = visit("survival", **{"survival.flchain.a.age": "60"})
    assert test.sidebar.number_input(key="survival.flchain.a.age").value == 60.0
