"""A table of one's own on the survival page: added, chosen, trained on, removed."""

from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from datasets import own
from datasets.own_preview import preview
from engine.service.client import Client
from pages.ui.paper import upload
from tests.datasets.test_own import plain, stretches
from tests.pages.conftest import Open

KIND = "text/csv"


def asked(home: Path) -> set[str]:
    """The data sets of all runs."""
    return {run.job.dataset for run in Client(home, workers=False).runs()}


def add(test: AppTest, name: str, content: bytes) -> AppTest:
    """Puts a file into the widget and accepts what is proposed."""
    test.file_uploader(key="survival.upload").set_value((name, content, KIND)).run()
    return test.button(key="survival.add").click().run()


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
        (
            b"name,age\n" + b"Ann,40\n" * 12,
            "File: expected events of 0 or 1, got 40",
        ),
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


def test_a_file_that_has_been_replaced_is_not_added(visit: Open):
    """The button was drawn for the first file; it is pressed when the second has just arrived."""
    test = visit("survival")
    file = test.file_uploader(key="survival.upload")
    file.set_value(("first.csv", plain(15), KIND)).run()
    test.file_uploader(key="survival.upload").set_value(("second.csv", stretches(12), KIND))
    test.button(key="survival.add").click().run()
    assert not test.exception
    assert not own.names()
    assert any(one.value.startswith("**24 rows, 5 columns.**") for one in test.markdown)
    test.button(key="survival.add").click().run()
    [name] = own.names()
    assert name.startswith("own_second_")


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


def flowers() -> bytes:
    rows = (f"{40 + i % 9},{i % 3},{('red', 'blue')[i % 2]}" for i in range(40))
    return "\n".join(["# age: 30 to 60", "# width: 0 to 3", "age,width,species", *rows]).encode()


def test_papers_of_labelled_records_take_tables_of_classes_alone(visit: Open, home: Path):
    own.keep("study.csv", plain(15))
    test = visit("lvq")
    assert not any("study" in text for text in test.selectbox(key="lvq.dataset").options)
    test.file_uploader(key="lvq.upload").set_value(("flowers.csv", flowers(), KIND)).run()
    assert test.selectbox(key="lvq.label").value == "species"
    test.button(key="lvq.add").click().run()
    assert not test.exception
    assert not test.error
    assert test.selectbox(key="lvq.dataset").value.startswith("Own flowers ")
    assert any("40 records" in one.value for one in test.caption)
    assert asked(home) & set(own.names())


def test_an_edited_preview_becomes_lines():
    seen = preview(b"time,event,age,name\n1,0,40,Ann\n", "file")
    table = upload._frame(seen, ("time", "event"))
    assert table[upload.USE].tolist() == [True, True, True, False]
    table.loc[0, upload.HIGH] = 60.0
    assert upload.lines(table, {"time": "time", "event": "event"}).splitlines() == [
        "time: 0 to 60", "age: 0 to 120", "time column: time", "event column: event",
        "leave out: name",
    ]  # fmt: skip


def test_bounds_are_proposed_by_name_and_never_by_value():
    one, other = (preview(b"age,x1\n%d,3\n" % age, "file").columns for age in (5, 500))
    assert one[0].bounds == other[0].bounds == (0.0, 120.0)
    assert one[1].bounds is other[1].bounds is None
