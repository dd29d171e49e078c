"""Tables of one's own: good files are kept and found again, others are one sentence."""

import numpy as np
import pytest

from datasets import catalog, own
from datasets.heart import load as heart
from engine.core.errors import DatasetError, RequestError
from engine.runs.driver import drive
from engine.runs.job import request


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch):
    monkeypatch.setenv("EXPLORER_HOME", str(tmp_path))
    return tmp_path


BOUNDED = "# age: 18 to 100\n# time: 0 to 60\n"


def plain(
    rows: int = 12, mark: str = ",", head: str = "time,event,age", above: str = BOUNDED
) -> bytes:
    lines = [head, *(f"{i + 1},{i % 2},{40 + i}" for i in range(rows))]
    return above.encode() + "\n".join(line.replace(",", mark) for line in lines).encode()


def stretches(persons: int = 12) -> bytes:
    lines = ["# treated: 0 to 1", "# time: 0 to 60", "ID,start,stop,event,treated"]
    for i in range(persons):
        lines += [f"p{i},0,{i + 1},0,0", f"p{i},{i + 1},{2 * i + 3},{i % 2},1"]
    return "\n".join(lines).encode()


HEART = "age: -48 to 22\nyear: 0 to 6.5\nsurgery: 0 to 1\ntransplant: 0 to 1\ntime: 0 to 2374"


def test_a_table_of_one_s_own_runs_with_proof_on_its_bounds():
    name = own.keep("a.csv", plain())
    job = request("survival", "out_pert", name, {"intervals": 4})
    kept = {}
    list(drive(job, catalog.load(name), lambda key, arrays: kept.update(arrays) or key))
    assert kept["centre"].tolist() == [[59.0]]
    assert kept["horizon"].tolist() == [60.0]


def test_bounds_are_typed_or_stand_above_the_table():
    above = catalog.load(own.keep("a.csv", plain()))
    typed = catalog.load(own.keep("a.csv", plain(above=""), "Age: 18 to 1e2\n\n# time: 0 to 60.0"))
    assert above.card.bounds == typed.card.bounds
    assert above.card.bounds.covariates == ((18.0, 100.0),)
    assert above.card.bounds.horizon == 60.0
    noted = own.keep("a.csv", plain(above=f"# exported by a registry\n{BOUNDED}"), "# all stated")
    assert catalog.load(noted).card.bounds == typed.card.bounds
    known = heart().card.bounds
    rows = "".join(f"{i},0,1,1,1,1,1,1\n" for i in range(10))
    text = f"id,start,stop,event,age,year,surgery,transplant\n{rows}"
    reported = catalog.load(own.keep("long.csv", text.encode(), HEART))
    assert reported.card.bounds.covariates == known.covariates
    assert reported.card.bounds.horizon == known.horizon


@pytest.mark.parametrize(
    ("above", "says"),
    [
        ("", "expected bounds of time, got none: state them in the settings, or take them from"),
        ("# time: 0 to 60\n# mass: 0 to 1\n", "expected columns among time, event, age, got mass"),
        (BOUNDED + "# age: 0 to 1\n", "expected one line of bounds of age, got two"),
        (
            "# age: 18-100\n# time 0 to 60\n",
            "such as age: 18 to 100, got 'age: 18-100'; expected a line such as age: 18 to 100, "
            "got 'time 0 to 60'",
        ),
        ("# age: 100 to 18\n# time: 0 to 60\n", "expected bounds of age from a number to a larger"),
        ("# age: 18 to 100\n# time: 1 to 60\n", "expected bounds of time from 0 to a number above"),
        ("# age: nan to 100\n# time: 0 to 60\n", "expected a line such as age: 18 to 100"),
    ],
)
def test_bounds_that_are_missing_or_wrong_are_one_sentence(above, says):
    with pytest.raises(DatasetError, match=r"^file: ") as raised:
        own.keep("bad.csv", plain(above=above))
    assert says in str(raised.value)
    assert own.names() == ()


def test_two_lines_of_every_column_are_refused():
    """The last one counted."""
    with pytest.raises(DatasetError, match="expected one line of bounds of every column, got two"):
        own.propose(plain(above="# every column: 0 to 1\n# every column: 0 to 255\n"))


@pytest.mark.parametrize("mark", [",", ";", "\t"])
def test_a_row_for_each_person(mark):
    name = own.keep("My study (2).csv", plain(mark=mark))
    assert name.startswith("own_my_study_2_")
    assert own.names() == (name,)
    table = catalog.load(name)
    assert (table.card, len(table), table.card.events) == (catalog.card(name), 12, 6)
    assert table.card.features == ("age",)
    np.testing.assert_array_equal(table.time, np.arange(1.0, 13.0))
    np.testing.assert_array_equal(table.x[:, 0], np.arange(40.0, 52.0))
    assert table.episodes is None


def test_a_row_for_each_stretch_of_time():
    table = catalog.load(own.keep("long.csv", b"\xef\xbb\xbf" + stretches()))
    assert (len(table), table.card.records, table.card.events) == (12, 12, 6)
    assert table.card.features == ("treated",)
    assert table.episodes is not None
    assert len(table.episodes.person) == 24
    np.testing.assert_array_equal(table.time, 2 * np.arange(12.0) + 3)


def test_a_table_is_what_the_same_table_is_within_the_app():
    """Stanford's heart transplants, written to a file and read back."""
    known = heart()
    course = known.episodes
    last = np.append(np.flatnonzero(np.diff(course.person)), len(course.person) - 1)
    ends = np.zeros(len(course.person), int)
    ends[last] = known.event
    lines = [",".join(("id", "start", "stop", "event", *known.card.features))]
    for i, person in enumerate(course.person):
        stretch = (course.start[i], course.stop[i], ends[i], *course.x[i])
        lines.append(",".join(map(repr, [int(person), *(float(v) for v in stretch)])))
    table = catalog.load(own.keep("heart.csv", "\n".join(lines).encode(), HEART))
    np.testing.assert_array_equal(table.x, known.x)
    np.testing.assert_array_equal(table.episodes.x, course.x)
    np.testing.assert_array_equal(table.event, known.event)


def test_every_file_is_another_data_set_and_another_run():
    """Its name is no fingerprint: the same file twice has two."""
    first, second = own.keep("a.csv", plain()), own.keep("a.csv", plain())
    assert first != second
    jobs = {request("survival", "out_pert", name).id for name in (first, second)}
    assert len(jobs) == 2
    with pytest.raises(RequestError, match="dataset: expected a table of classes for lvq"):
        request("lvq", "glvq_dp", first)


def test_a_table_that_was_removed_is_gone():
    name = own.keep("a.csv", plain())
    own.remove(name)
    assert own.names() == ()
    with pytest.raises(RequestError, match="expected a table of your own on this machine"):
        catalog.card(name)


@pytest.mark.parametrize(
    "name", ["own_../../etc/passwd", "own_", "own_x_1234567g", "own_x/12345678"]
)
def test_a_name_never_leads_out_of_the_folder(name):
    assert not own.mine(name)
    with pytest.raises(RequestError):
        catalog.card(name)


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"\xff\xfe\x00bin\x00", "expected text or a Parquet file"),
        (b"", "expected a line of column names"),
        (b"time,event,age", "expected a line of column names"),
        (plain(head="x,event,age"), "expected columns of time, got x, event, age: give the role"),
        (plain(head="time,event,time"), "expected columns with names of their own"),
        (b"time,event\n" + b"1,0\n" * 12, "expected 1 to 100 covariates, got 0"),
        (plain(4), "expected at least 5 persons, got 4"),
        (plain() + b"\n1,0", "expected 3 values in every row, got 2 in row 13"),
        (
            plain() + b"\n1,0,old",
            "column 'age', row 13: expected a number, got 'old': give it categories, or leave",
        ),
        (plain() + b"\n1,2,40", "expected events of 0 or 1 in event, got 0, 1, 2: say which"),
        (plain() + b"\n-1,1,40", "expected durations of at least 0"),
        (plain() + b"\nnan,1,40", "expected a number in every row of 'time'"),
        (stretches() + b"\np3,3,9,0,1", "expected rows without overlap"),
        (stretches() + b"\np3,99,100,0,1", "expected rows without gaps"),
        (stretches() + b"\nq,1,2,0,1", "expected the first row of each id to start at 0, got 1"),
        (stretches() + b"\n,0,2,0,1", "expected an id in every row, got none in row 25"),
    ],
)
def test_a_file_that_is_no_table_is_one_sentence(content, says):
    with pytest.raises(DatasetError) as raised:
        own.keep("bad.csv", content)
    assert says in str(raised.value)
    assert str(raised.value).startswith("file: ")
    assert "\n" not in str(raised.value)
    assert own.names() == ()
