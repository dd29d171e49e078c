"""A table of one's own on the survival page: added, chosen, trained on, removed."""

from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from datasets import own
from engine.service.client import Client
from tests.datasets.test_own import plain, stretches
from tests.pages.conftest import Open

KIND = "text/csv"


def asked(home: Path) -> set[str]:
    """The data sets of all runs."""
    return {run.job.dataset for run in Client(home, workers=False).runs()}


def add(test: AppTest, name: str, content: bytes) -> AppTest:
    """Puts a file into the widget."""
    return test.file_uploader(key="survival.upload").set_value((name, content, KIND)).run()


@pytest.mark.parametrize(("content", "persons"), [(plain(15), 15), (stretches(12), 12)])
def test_a_good_file_is_chosen_and_asked_for(visit: Open, home: Path, content: bytes, persons: int):
    test = add(visit("survival"), "my study.csv", content)
    assert not test.exception
    assert not test.error
    [name] = own.names()
    assert name in asked(home)
    assert test.selectbox(key="survival.dataset").value.startswith("Own my study ")
    assert any(f"{persons} records" in one.value for one in test.caption)
    again = visit("survival", **{"survival.dataset": test.selectbox(key="survival.dataset").value})
    assert not again.warning
    assert any(f"{persons} records" in one.value for one in again.caption)


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"name,age\n" + b"Ann,40\n" * 12, "File: expected columns time, event, or id, start,"),
        (stretches() + b"\np3,3,9,0,1", "File: expected rows without overlap, got"),
    ],
)
def test_a_bad_file_is_one_sentence_and_changes_nothing(
    visit: Open, home: Path, content: bytes, says: str
):
    test = add(visit("survival"), "bad.csv", content)
    assert not test.exception
    [error] = test.error
    assert error.value.startswith(says)
    assert own.names() == ()
    assert asked(home) == {"flchain"}
    assert test.selectbox(key="survival.dataset").value == "FLchain"


def test_a_table_that_is_removed_leaves_the_list(visit: Open, home: Path):
    test = add(visit("survival"), "study.csv", plain(15))
    assert test.button(key="survival.remove").disabled  # until it is confirmed
    test.checkbox(key="survival.sure").check().run()
    test.button(key="survival.remove").click().run()
    assert not test.exception
    assert own.names() == ()
    assert test.selectbox(key="survival.dataset").value == "FLchain"
    for page in ("runs", "compare"):
        assert not visit(page).exception


def test_papers_of_labelled_records_take_no_survival_table(visit: Open, home: Path):
    own.keep("study.csv", plain(15))
    test = visit("lvq")
    assert not test.get("file_uploader")
    assert not any("study" in text for text in test.selectbox(key="lvq.dataset").options)
