"""The forms that public tables come in: each is read as it is, or refused in one sentence."""

import importlib
import io
import json
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from pyarrow import parquet

from datasets import catalog, own, own_columns, own_limits, own_reader, own_table
from engine.cli.main import main
from engine.core.errors import DatasetError, RequestError
from engine.papers.survival.likelihood.scale import scaled
from engine.training import split
from engine.training.records import records

ROWS = 24


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch):
    monkeypatch.setenv("EXPLORER_HOME", str(tmp_path))


def text(head: str, row: str, rows: int = ROWS) -> bytes:
    """A file whose every row is `row` with its number for {i} and 0 or 1 for {b}."""
    return "\n".join([head, *(row.format(i=i, b=i % 2) for i in range(rows))]).encode()


def kept(content: bytes, lines: str, label: str = ""):
    return catalog.load(own.keep("a.csv", content, lines, label))


AGE = "age: 0 to 100\n"
TIME = "time: 0 to 50\n"
TIMED = 'kind = "survival"\n[columns.time]\nhigh = 50\n'


@pytest.mark.parametrize(
    ("head", "row", "lines"),
    [
        ("duration,status,age", "{i},{b},{i}", "duration: 0 to 50"),
        ("T,E,age", "{i},{b},{i}", "t: 0 to 50"),
        ("survival_in_days,Status,age", "{i}.0,{b},{i}", TIME),
        (",time,event,age", "{i},{i},{b},{i}", TIME),
        ('"","time","event","age"', '"{i}",{i},{b},{i}', TIME),
        ("time,event,age", '"row {i}",{i},{b},{i}', TIME),
        ("rownames,time,event,age", "{i},{i},{b},{i}", TIME),
        ("time;event;age", "{i},0;{b};{i}", TIME),
        ("sep=;\ntime;event;age", "{i};{b};{i}", TIME),
        ("time\tevent\tage", "{i},5\t{b}\t{i}", TIME + "decimal comma: yes"),
        ("time|event|age", "{i}|{b}|{i}", TIME),
        ("time event age", "{i} {b} {i}", TIME),
        ("patient_id,time,event,age", "{i},{i},{b},{i}", TIME),
        ("los,died,age", "{i},{b},{i}", TIME + "time column: los"),
        ("time,cens,age", "{i},{b},{i}", TIME + "event column: cens"),
        ("id,time,event,age", "p{i},{i},{b},{i}", TIME),
        ("time,event,age,name", "{i},{b},{i},Ann", TIME + "leave out: name"),
        ("time,event,age,name", "{i},{b},{i},Ann", TIME + "name: leave out"),
    ],
)
def test_usual_forms_are_read_as_they_are(head: str, row: str, lines: str):
    table = kept(text(head, row), AGE + lines)
    assert table.card.features == ("age",)
    np.testing.assert_array_equal(np.floor(table.time), np.arange(ROWS))
    np.testing.assert_array_equal(table.event, np.arange(ROWS) % 2 > 0)
    np.testing.assert_array_equal(table.x[:, 0], np.arange(ROWS))


@pytest.mark.parametrize("block", [5, 40, 1 << 20])
@pytest.mark.parametrize(
    "row", ["{i},{b},{i}", '"{i}",{b},{i}', '{i},{b},"{i}, {i}"', "é{i},{b}, {i} \r"]
)
@pytest.mark.parametrize("end", ["", "3,1\n", ",,\n4,0,5,6", '"a\nb",1,"2, 3"\n', " , ,\n\n4,0,5"])
def test_wide_texts_give_what_blocks_give(end: str, row: str, block: int, monkeypatch):
    """They are read by lines: the same cells, and the same sentence on an uneven row.

    Where quotes hold a mark or the end of a line, rows are read one by one from that block on.
    """
    content = text("time,event,age", row) + b"\n" + end.encode()
    monkeypatch.setattr(own_reader, "LINES", block)
    told = []
    for read in (own_reader._csv, own_reader._by_lines):
        file = io.BytesIO(content)
        file.seek(len("time,event,age\n"))
        try:
            table = pa.Table.from_batches(read(file, "a.csv", 3, ["2", "0"], ","))
            told.append(table.to_pydict())
        except DatasetError as error:
            told.append(str(error))
    assert told[0] == told[1]


@pytest.mark.thorough
def test_a_quote_that_is_never_closed_is_told():
    content = b'time,event,age\n1,0,"' + b"2,3,4\n" * 2_000_000
    with (
        own_reader.opened(io.BytesIO(content), "a.csv") as source,
        pytest.raises(DatasetError, match="got a row of more than 4 MB, or a quote that is never"),
    ):
        own_columns.summarised(source)


@pytest.mark.thorough
def test_a_text_of_thousands_of_columns_is_read_and_words_have_a_limit():
    names = ",".join(f"g{i}" for i in range(2_000))
    numbers = text(f"label,{names}", "{b}" + ",{i}.5" * 2_000)
    with own_reader.opened(io.BytesIO(numbers), "a.csv") as source:
        columns = own_columns.summarised(source)
    assert {one.kind for one in columns.values()} == {"number"}
    assert (columns["g1999"].low, columns["g1999"].high) == (0.5, ROWS - 0.5)
    words = text(f"label,{names}", "{b}" + ",w{i}" * 2_000)
    with (
        own_reader.opened(io.BytesIO(words), "b.csv") as source,
        pytest.raises(DatasetError, match=r"b.csv: expected at most 1,000 columns of words, got"),
    ):
        own_columns.summarised(source, name="b.csv")


def test_true_and_false_are_one_and_zero_with_known_bounds():
    rows = "\n".join(f"{i},{i % 2 == 1},{'yes' if i % 3 else 'no'}" for i in range(ROWS))
    table = kept(f"time,event,smoker\n{rows}".encode(), TIME)
    assert table.card.bounds.covariates == ((0.0, 1.0),)
    np.testing.assert_array_equal(table.event, np.arange(ROWS) % 2 > 0)
    np.testing.assert_array_equal(table.x[:, 0], np.arange(ROWS) % 3 > 0)


def test_latin_letters_of_windows_are_read():
    content = "time,event,größe\n".encode("latin-1") + b"1,1,170\n" * ROWS
    assert kept(content, "größe: 100 to 220\n" + TIME).card.features == ("größe",)


def test_a_value_other_than_one_may_be_the_event():
    content = text("time,status,age", "{i},2,{i}") + b"\n1,0,1\n1,1,1"
    assert kept(content, AGE + TIME + "event value: 2").event.sum() == ROWS
    with pytest.raises(
        DatasetError, match=r"events of 0 or 1 in status, got 0, 1, 2: .*value = \"2\""
    ):
        own.keep("a.csv", content, AGE + TIME)


def test_blanks_of_a_covariate_are_filled_by_a_public_value():
    rows = [f"{i},{i % 2},{'NA' if i == 3 else i}" for i in range(ROWS)]
    content = "\n".join(["time,event,age", *rows]).encode()
    assert kept(content, AGE + TIME).x[3, 0] == 50.0  # the middle of its bounds
    missing = content.replace(b"5,1,5", b"?,1,5")
    with pytest.raises(DatasetError, match="expected a number in every row of 'time', got none in"):
        own.keep("a.csv", missing, AGE + TIME)
    assert kept(content, "age: 0 to 100, blanks 40\n" + TIME).x[3, 0] == 40.0


def test_categories_are_columns_of_their_own_in_the_order_typed():
    rows = [f"{i},{i % 2},{('Late', 'early', 'unknown')[i % 3]}" for i in range(ROWS)]
    table = kept("\n".join(["time,event,stage", *rows]).encode(),
                 "stage: categories early, middle, late\n" + TIME)  # fmt: skip
    assert table.card.features == ("stage middle", "stage late")
    assert table.card.bounds.covariates == ((0.0, 1.0), (0.0, 1.0))
    assert not table.x[:, 0].any()
    np.testing.assert_array_equal(table.x[:, 1], np.arange(ROWS) % 3 == 0)


def test_signs_and_figures_tell_categories_apart():
    """Of ages below and above a bound, and of scores below and above 0."""
    rows = [
        f"{i},{i % 2},{('<65', '65', '>65', '>=80')[i % 4]},{(0, -1, 1)[i % 3]}"
        for i in range(ROWS)
    ]
    columns = {"age": ["65", "<65", ">65", ">=80"], "score": ["0", "-1", "1"]}
    stated = [f"{key}.categories = {words}" for key, words in columns.items()]
    lines = "\n".join(["[columns]", "time.high = 50", *stated])
    card = kept("\n".join(["time,event,age,score", *rows]).encode(), lines).card
    pairs = list(zip(card.features, card.units, strict=True))
    assert pairs == [
        ("age under 65", "1 = under 65"), ("age over 65", "1 = over 65"),
        ("age from 80", "1 = from 80"), ("score -1", "1 = -1"), ("score 1", "1 = 1"),
    ]  # fmt: skip


@pytest.mark.parametrize("key", ["arm", "what was given at the first visit"])
def test_a_feature_ends_with_what_its_1_means(key):
    """Also where two categories are the same words to a page, and where they are long."""
    words = ("none", "a|b", "a*b", "given twice a day by mouth and once a day by infusion, weekly")
    rows = [f'{i},{i % 2},"{words[i % 4]}"' for i in range(ROWS)]
    levels = f"[columns.'{key}']\ncategories = {list(words)}\n[columns.time]\nhigh = 50\n"
    card = kept("\n".join([f"time,event,{key}", *rows]).encode(), levels).card
    assert len(set(card.units)) == len(card.features) == 3
    for name, unit in zip(card.features, card.units, strict=True):
        assert name == f"{key} {unit.removeprefix('1 = ')}"


def test_a_public_list_names_levels():
    content = text("time,event,day", "{i},{b},Tuesday")
    table = kept(content, "day: categories weekdays\n" + TIME)
    assert table.card.features == tuple(
        f"day {day}" for day in ("tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
    )


def test_bounds_from_the_data_are_a_choice_that_every_card_states():
    from engine.catalog import paper

    content = text("time,event,mass", "{i},{b},{i}")
    public, taken = kept(content, "mass: 0 to 90\n" + TIME), kept(content, "bounds: from the data")
    assert taken.card.bounds.covariates == ((0.0, ROWS - 1.0),)
    entry = paper("survival").entry("out_pert")
    spec = paper("survival").spec()
    assert entry.promise(spec, public.card).status == "proved"
    card = entry.promise(spec, taken.card)
    assert card.status == "proved_under_assumption"
    assert card.reasons[0].startswith("The bounds were taken from the records")


def test_of_many_columns_a_sentence_names_some_and_counts_the_others():
    """Names that were cut off seemed to have bounds that somebody had given."""
    names = [f"v{k}" for k in range(300)]
    rows = [",".join([str(i % 7 + k) for k in range(300)] + ["ab"[i % 2]]) for i in range(ROWS)]
    content = "\n".join([",".join([*names, "y"]), *rows]).encode()
    with pytest.raises(DatasetError) as raised:
        own.keep("a.csv", content, "", "y")
    assert "expected bounds of v0, v1, " in str(raised.value)
    assert re.search(r", v\d+ and 2\d\d more; the classes of y, got none", str(raised.value))
    assert len(str(raised.value)) < 500
    public = catalog.load(own.keep("a.csv", content, "", "y", accept=True)).card.public
    shown = re.search(r"taken from the data for (.*) and (\d+) more; given or known", public)
    assert shown is not None
    assert len(shown[1].split(", ")) + int(shown[2]) == 301  # the classes too
    assert shown[1].startswith("v0, v1, ")


def parquet_file(**columns) -> bytes:
    sink = io.BytesIO()
    parquet.write_table(pa.table(columns), sink)
    return sink.getvalue()


@pytest.mark.thorough
def test_parquet_is_read_with_its_types():
    frame = pd.DataFrame(
        {"time": np.arange(ROWS, dtype=np.int32), "event": np.arange(ROWS) % 2 > 0,
         "sex": pd.Categorical(["male", "female"] * (ROWS // 2)), "age": 40.5}
    )  # fmt: skip
    sink = io.BytesIO()
    frame.set_index(np.arange(ROWS)).to_parquet(sink)
    table = kept(sink.getvalue(), "sex: categories sexes\n" + AGE + TIME)
    assert table.card.features == ("sex male", "age")
    np.testing.assert_array_equal(table.x, [[1.0, 40.5], [0.0, 40.5]] * (ROWS // 2))


@pytest.mark.parametrize(
    ("content", "lines", "says"),
    [
        (parquet_file(time=[[1.0]] * 20), "", "covariates, got 0: left out are time (it cannot be"),
        (parquet_file(a=[{"at": 1.0}] * 20), "", "left out are a (it cannot be read)"),
        (
            parquet_file(a=[pd.Timestamp(2026, 1, 1)] * 20),
            "",
            "left out are a (it holds one value)",
        ),
        (b"PAR1 and no more", "", "expected a Parquet file, got a damaged one"),
        (parquet_file(time=[1.0] * 3), "", "expected columns of event, got time: give the role"),
        (text("time,event,age", "1,0,1"), "", "left out are age (it holds one value)"),
        (
            text("id,time,event,age", "7,1,{b},{i}"),
            TIME,
            "expected one row for each id, or columns",
        ),
        (text("time,event,name", "{i},{b},name {i}", 300), "", "name (it holds many different wor"),
        (text("left,right,age", "1,2,{i}"), "", "interval-censored tables are not taken"),
        (text("time,event,age", "1,0,1"), "stage: categories a", "expected 2 to 100 different"),
        (text("time,event,age", "1,0,1"), "age: categories x, y\n" + TIME, "got none of them"),
        (
            text("time,event,age", "1,0,1"),
            "image: large",
            "image: expected two whole numbers such as [28, 28], got 'large'",
        ),
        (
            text("time,event,age", "1,0,1"),
            "bounds: mine",
            "expected a line such as age: 18 to 100, got 'bounds: mine'",
        ),
        (
            text("time,event,age", "1,0,inf"),
            AGE + TIME,
            "age: expected finite numbers, got an infinite one in row 1",
        ),
        (text("time,event,age", "1,0,1"), "time column: when", "expected the time column among"),
    ],
)
@pytest.mark.thorough
def test_what_is_no_table_is_one_sentence(content: bytes, lines: str, says: str):
    with pytest.raises(DatasetError) as raised:
        own.keep("a.csv", content, lines)
    assert says in str(raised.value)
    assert "\n" not in str(raised.value)
    assert own.names() == ()


@pytest.mark.thorough
def test_a_table_above_the_settings_is_refused(monkeypatch):
    monkeypatch.setenv(own_limits.ROWS, "20")
    with pytest.raises(DatasetError, match="expected at most 20 rows, got 24"):
        own.keep("a.csv", text("time,event,age", "1,0,1"), AGE + TIME)
    monkeypatch.setenv(own_limits.ROWS, "20k")
    with pytest.raises(RequestError, match="ROWS: expected a positive whole number, got '20k'"):
        own.keep("a.csv", text("time,event,age", "1,0,1"), AGE + TIME)
    monkeypatch.delenv(own_limits.ROWS)
    monkeypatch.setenv(own_limits.MEGABYTES, "1")
    with pytest.raises(DatasetError, match="expected at most 1 MB, got 2 MB"):
        own.keep("a.csv", b"time,event,age\n" + b"1,0,1\n" * 300_000, AGE + TIME)


@pytest.mark.slow
def test_a_million_different_categories_are_one_sentence():
    """In seconds, whether they are to be a covariate or the classes."""
    lines = "\n".join([f"{i % 50},{i % 2},city {i}" for i in range(1_000_000)])
    content = f"time,event,city\n{lines}".encode()
    with pytest.raises(DatasetError, match=r"got 0: left out are city \(it holds many different"):
        own.keep("a.csv", content, "time: 0 to 50")
    with pytest.raises(DatasetError, match="in column 'city', got many different values"):
        own.keep("a.csv", content, "time: 0 to 50\nevent: 0 to 1", "city")


def species(rows: int = ROWS) -> bytes:
    kinds = ("Setosa", "virginica", "versicolor")
    lines = [f"{i % 7}.5,{i % 5},{kinds[i % 3]},p{i // 4}" for i in range(rows)]
    return "\n".join(["length,width,species,plant", *lines]).encode()


CLASSES = "\nclasses: setosa, versicolor, virginica"
FLOWER = f"length: 0 to 6\nwidth: 0 to 5\nleave out: plant{CLASSES}"


def test_a_label_column_makes_a_table_of_classes():
    table = kept(species(), FLOWER, "Species")
    assert table.card.classes == 3
    assert table.y[:3].tolist() == [0, 2, 1]  # by the alphabet
    assert table.x[:, 0].max() == 6.0  # clipped to its bound
    order = "\nclasses: virginica, setosa, versicolor"
    typed = kept(species(), FLOWER.replace(CLASSES, order), "species")
    assert typed.y[:3].tolist() == [1, 0, 2]
    assert not table.card.taken
    assert not typed.card.taken


def test_classes_that_nobody_states_are_read_off_the_records(monkeypatch):
    """One record of a rare class would change how many classes a model has."""
    open_ = FLOWER.replace(CLASSES, "")
    with pytest.raises(DatasetError, match="expected the classes of species, got none: state them"):
        own.keep("a.csv", species(), open_, "species")
    rare = species() + b"\n1.5,1,rare,p9"
    for content, classes in ((species(), 3), (rare, 4)):
        card = catalog.card(own.keep("a.csv", content, open_, "species", accept=True))
        assert (card.classes, card.taken) == (classes, True)
        assert "which are those that occur in the file" in card.public
    head = own.own_store.head(own.own_store.place(card.name))
    before = replace(head, card=replace(head.card, taken=False))  # as it was kept once
    with monkeypatch.context() as once:
        once.setattr(own.own_store, "head", lambda place: before)
        assert own.card(card.name).taken
    with pytest.raises(DatasetError, match="expected the classes setosa, versicolor, virginica in"):
        own.keep("a.csv", rare, FLOWER, "species")
    lines = "length: 0 to 6\nlabel column: b"
    for both in ("0,1", "no,yes", "false,true"):  # everybody expects these
        zero, one = both.split(",")
        content = "\n".join(["length,b", *(f"1,{one if i % 2 else zero}" for i in range(ROWS))])
        assert not catalog.card(own.keep("a.csv", content.encode(), lines)).taken


def test_a_proposal_without_its_mark_is_what_its_owner_states():
    found = own.propose(species(), FLOWER.replace(CLASSES, ""), "species")
    assert list(found["asked"]) == ["the classes of species"]
    assert found["columns"]["species"]["categories"] == ("setosa", "versicolor", "virginica")
    given = catalog.card(own.keep("a.csv", species(), found["toml"]))
    stated = catalog.card(own.keep("a.csv", species(), found["toml"].replace('from = "data"', "")))
    assert (given.taken, stated.taken) == (True, False)


def test_numbers_are_classes_in_their_order():
    content = text("a,b,label", "{i},1,{i}0").replace(b",1,", b",1,")
    lines = f"every column: 0 to 255\nclasses: {', '.join(str(10 * i) for i in range(ROWS))}"
    assert kept(content, lines, "label").y.tolist() == list(range(ROWS))


@pytest.mark.parametrize(
    ("content", "lines", "says"),
    [
        (text("a,y", "{i},{i}.5"), "a: 0 to 9", "got measurements with decimals"),
        (text("a,y", "{i},{i}", 60), "a: 0 to 9", "classes in column 'y', got 60 different values"),
        (text("a,y", "{i},1"), "a: 0 to 9", "expected 2 to 50 classes in column 'y', got 1"),
        (text("a,b", "{i},1"), "a: 0 to 9", "expected the label column among a, b, got y"),
        (text("a,y", "{i},{b}", 5), "a: 0 to 9", "expected at least 20 rows, got 5"),
        (text("a,y", "{i},{b}"), "", "expected bounds of a, got none: state them in the settings"),
        (text("a,y", "{i},{b}"), "a: 0 to 9\nimage: 2 x 2", "expected 2 x 2 = 4 columns of pixels"),
        (text("a,y", "{i},{b}"), "a: 0 to 9\nclasses: 1, 2", "expected the classes 1, 2"),
        (text("a,y", "{i},"), "a: 0 to 9", "expected a class in every row of 'y', got none"),
    ],
)
def test_what_has_no_classes_is_one_sentence(content: bytes, lines: str, says: str):
    with pytest.raises(DatasetError) as raised:
        own.keep("a.csv", content, lines, "y")
    assert says in str(raised.value)
    assert "\n" not in str(raised.value)


def between(low: float, high: float) -> tuple[bytes, str]:
    """A file whose values are both bounds in turn, and the settings that say so."""
    content = "\n".join(["a,y", *(f"{(low, high)[i % 2]!r},{i // 2 % 2}" for i in range(60))])
    column = f'[columns.a]\nrole = "number"\nlow = {low!r}\nhigh = {high!r}\n'
    return content.encode(), f'kind = "classes"\nclasses = ["0", "1"]\n{column}'


@pytest.mark.parametrize(
    ("low", "high"),
    [(0.0, 1e39), (-3e38, 3e38), (0.0, 2e37), (-1e40, 0.0), (1e8, 1e8 + 1.0), (1e16, 1e16 + 2.0),
     (0.0, 1e-46), (0.0, 1e-39), (1.0, 1.0 + 1e-9)],
)  # fmt: skip
def test_bounds_that_single_precision_does_not_hold_are_refused(low, high, monkeypatch):
    """A record at such a bound became no number, and so did what was released of all records."""
    content, lines = between(low, high)
    with pytest.raises(DatasetError, match="expected bounds of a that differ in single precision"):
        own.keep("a.csv", content, lines, "y")
    assert own.names() == ()
    with monkeypatch.context() as patch:  # a table that an earlier version kept
        patch.setattr(own_table, "fine", lambda *_: np.array(True))
        name = own.keep("a.csv", content, lines, "y")
    with pytest.raises(DatasetError, match="expected bounds that records can be scaled by"):
        catalog.load(name)


@pytest.mark.parametrize(
    ("low", "high"), [(0.0, 1e37), (-1e37, 1e37), (1e8, 1e8 + 800.0), (0.0, 1e-37), (0.0, 1e-3)]
)
def test_other_bounds_are_scaled_to_both_ends(low, high):
    content, lines = between(low, high)
    found = records(kept(content, lines, "y"), "cpu").x
    assert sorted(set(found.flatten().tolist())) == [0.0, 1.0]


@pytest.mark.parametrize(("low", "high"), [(1e8, 1e8 + 8.0), (1.7e9, 1.7e9 + 3_600.0)])
def test_a_column_whose_values_single_precision_merges_is_left_out_or_refused(
    low, high, monkeypatch
):
    """Of an hour in seconds since 1970 it tells 28 values apart."""
    content, lines = between(low, high)
    with pytest.raises(DatasetError, match=r"of a that .* give the column as a difference from a"):
        own.keep("a.csv", content, lines, "y")
    left = own.propose(content, 'kind = "classes"', "y")["columns"]["a"]
    assert (left["role"], left["origin"]) == ("left out", "data")
    assert left["why"].endswith("give them as differences from a start")
    with monkeypatch.context() as patch:  # a table that an earlier version kept still loads
        patch.setattr(own_table, "fine", lambda *_: np.array(True))
        name = own.keep("a.csv", content, lines, "y")
    assert catalog.load(name).bounds[0] == [low]


def test_a_column_that_somebody_wants_or_that_can_be_scaled_is_not_left_out():
    content, _ = between(1e8, 1e8 + 8.0)
    stated = 'kind = "classes"\n[columns.a]\nrole = "number"\n'
    assert own.propose(content, stated, "y")["columns"]["a"]["role"] == "number"
    content, _ = between(-3e38, 3e38)  # too large, and not too close
    assert own.propose(content, 'kind = "classes"', "y")["columns"]["a"]["role"] == "number"
    rows = [f"{i % 9},{i // 2 % 2},{1e8 + i % 2 * 8.0!r}" for i in range(60)]
    content = "\n".join(["time,event,a", *rows]).encode()
    assert own.propose(content, 'kind = "survival"')["columns"]["a"]["role"] == "number"


@pytest.mark.parametrize(
    ("low", "high", "taken"),
    [(1e16, 1e16 + 2.0, False), (1e8 + 0.1, 1e8 + 0.3, False), (0.0, 5e-324, False),
     (2021.0, 2022.0, True), (1e8, 1e8 + 1.0, True), (0.1, 0.3, True), (-9e299, 9e299, True)],
)  # fmt: skip
def test_no_row_of_a_survival_table_is_longer_than_one(low, high, taken, monkeypatch):
    """The middle of bounds that are close for their size was rounded to one of them."""
    rows = [f"{i % 9},{i // 2 % 2},{(low, high)[i % 2]!r}" for i in range(60)]
    content = "\n".join(["time,event,a", *rows]).encode()
    column = f'[columns.a]\nrole = "number"\nlow = {low!r}\nhigh = {high!r}\n'
    lines = f'kind = "survival"\n[columns.time]\nrole = "time"\nhigh = 9\n{column}'
    if not taken:
        with pytest.raises(DatasetError, match="expected bounds of a further apart for numbers of"):
            own.keep("a.csv", content, lines)
        monkeypatch.setattr(own_table, "centred", lambda *_: np.array(True))
        name = own.keep("a.csv", content, lines)
        with pytest.raises(DatasetError, match="expected bounds that records can be scaled by"):
            catalog.load(name)
        return
    assert np.linalg.norm(scaled(kept(content, lines)).x, axis=1).max() <= 1.0


def test_rows_of_a_person_are_capped_and_weaken_the_bound():
    from engine.catalog import paper

    lines = f"length: 0 to 6\nwidth: 0 to 5\nperson column: plant\nrows per person: 3{CLASSES}"
    table = kept(species(), lines, "species")
    assert len(table) == ROWS * 3 // 4  # three of each person's four rows
    assert table.card.rows == 3
    entry, spec = paper("lvq").entry("glvq_dp"), paper("lvq").spec(epsilon=1.0)
    row = entry.guarantee(spec, len(table), "a row")
    person = entry.promise(spec, table.card)
    assert person.unit == "a person with at most 3 rows"
    assert person.epsilon_proved == pytest.approx(3 * row.epsilon_proved)
    grown = np.exp(row.epsilon_proved)
    assert person.delta == pytest.approx(row.delta * (1 + grown + grown**2))


@pytest.mark.thorough
def test_large_tables_are_split_by_a_public_seed_and_by_whole_persons():
    assert own_table.PUBLISHED == split.PUBLISHED
    rows = own_table.PUBLISHED + 4
    lines = (
        "length: 0 to 6\nwidth: 0 to 5\nperson column: plant\nrows per person: 4\n"
        f"split seed: 5{CLASSES}"
    )
    table = kept(species(rows), lines, "species")
    persons = rows // 4
    assert len(table.test) == 4 * (persons // 5)
    assert len(table) == table.card.records == rows - len(table.test)
    assert len(np.unique(table.groups)) == persons - persons // 5
    other = kept(species(rows), lines.replace("seed: 5", "seed: 6"), "species")
    assert not np.array_equal(np.unique(other.groups), np.unique(table.groups))


def test_what_is_proposed_can_be_given_back_and_makes_the_same_table():
    found = own.propose(species(), FLOWER, "species")
    first, again = (kept(species(), lines, "species") for lines in (FLOWER, found["toml"]))
    np.testing.assert_array_equal(again.x, first.x)
    np.testing.assert_array_equal(again.y, first.y)
    assert again.card == replace(first.card, name=again.card.name)


SURVIVAL = {
    "canadian_senators", "dd", "dfcv", "g3", "gbsg2", "kidney_transplant", "larynx", "leukemia",
    "lung", "lupus", "lymph_node", "lymphoma", "multicenter_aids_cohort_study",
    "psychiatric_patients", "regression_dataset", "rossi", "stanford_heart_transplants",
    "static_test", "waltons",
}  # fmt: skip
"""lifelines' right-censored tables."""
OTHERS = {
    "c_botulinum_lag_phase": "interval-censored tables are not taken",
    "diabetes": "interval-censored tables are not taken",
    "mice": "interval-censored tables are not taken",
    "holly_molly_polly": "at least 5 persons, got 3",
    "panel_test": "expected one row for each id",
    "recur": "expected",
}
"""Its other tables, and what is said of them; those that nothing tells from right-censored ones
(`lcd`, `nh4`) are taken as such."""


def published(name: str) -> bytes:
    """One of lifelines' tables as its reader would write it."""
    frame = getattr(importlib.import_module("lifelines.datasets"), f"load_{name}")()
    return frame.to_csv(index=frame.index.name is not None).encode()


@pytest.mark.parametrize(
    "name",
    [
        name if name == "rossi" else pytest.param(name, marks=pytest.mark.thorough)
        for name in sorted(SURVIVAL)
    ],
)
def test_every_right_censored_table_is_accepted_in_one_call(name: str, tmp_path, capsys):
    file = tmp_path / f"{name}.csv"
    file.write_bytes(published(name))
    assert main(["table", "add", str(file), "--accept"]) == 0
    kept, told = capsys.readouterr()
    assert "hold only under that assumption, and it cannot be released" in told
    table = catalog.load(kept.strip())
    assert table.card.events == table.event.sum() > 0
    assert np.isfinite(table.x).all()


def test_blanks_of_a_category_are_one_of_those_that_are_stated():
    rows = text("time,event,stage", "{i},{b},{b}").decode()
    rows = rows.replace(",0\n", ",I\n").replace(",1\n", ",II\n") + "\n9,1,"
    table = kept(rows.encode(), TIME + "stage: categories I, II, III, blanks II")
    assert table.card.features == ("stage ii", "stage iii")
    assert table.x[-1].tolist() == [1.0, 0.0]


def test_all_that_is_wrong_and_all_that_is_missing_is_one_sentence():
    content = text("time,event,age,height", "{i},{b},{i},{i}")
    with pytest.raises(DatasetError) as raised:
        own.keep("a.csv", content, "weight: 0 to 9\n" + TIME)
    assert str(raised.value) == (
        "file: expected columns among time, event, age, height, got weight; expected bounds of "
        "height, got none: state them in the settings, or take them from the data with --accept"
    )


def test_an_infinite_value_of_a_table_of_classes_is_read_without_a_warning():
    rows = text("label,age", "c{b},{i}").decode() + "\nc1,inf"
    said = f"age: expected finite numbers, got an infinite one in row {ROWS + 1}"
    with pytest.raises(DatasetError, match=said):  # a warning would be another error
        kept(rows.encode(), AGE)


def test_lines_of_the_guide_are_read():
    guide = (Path(__file__).parents[2] / "docs" / "tables.md").read_text(encoding="utf-8")
    lines = guide.partition("may be said in lines")[2].split("\n\n")[1]
    words = ("early", "middle", "late")
    rows = [f"{i * 50},{('dead', 'alive')[i % 2]},{18 + i},{words[i % 3]},Ann" for i in range(ROWS)]
    table = kept("\n".join(["days,status,age,stage,name", *rows]).encode(), lines)
    assert table.card.features == ("age", "stage middle", "stage late")
    assert not table.card.taken
    assert table.card.events == ROWS / 2


@pytest.mark.parametrize("long", [False, True])
def test_events_after_the_stated_longest_time_do_not_count(long: bool):
    """People who are followed longer are censored there: the card counts as the methods do."""
    head, rows = "time,event,age", [f"{i + 2},{i % 2},{i}" for i in range(24)]
    if long:
        head = f"id,start,{head}"
        first = [f"p{i},0,{i + 1},0,{i}" for i in range(24)]
        rows = [*first, *(f"p{i},{i + 1},{row}" for i, row in enumerate(rows))]
    toml = "[columns.time]\nhigh = 9\n[columns.age]\nlow = 0\nhigh = 100\n"
    table = catalog.load(own.keep("a.csv", lived(head, rows), toml))
    assert table.card.events == scaled(table).event.sum() == 4  # at 3, 5, 7 and 9


@pytest.mark.parametrize("name", OTHERS)
def test_other_tables_say_in_one_sentence_why_they_are_not_taken(name: str):
    with pytest.raises(DatasetError, match=OTHERS[name]) as raised:
        own.keep(f"{name}.csv", published(name), accept=True)
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize(
    ("name", "time", "event", "left"),
    [
        ("rossi", "week", "arrest", ()),
        ("lung", "time", "status", ()),
        ("gbsg2", "time", "cens", ()),
        ("kidney_transplant", "time", "death", ()),
        ("waltons", "t", "e", ()),
        ("psychiatric_patients", "t", "c", ()),
        ("multicenter_aids_cohort_study", "t", "d", ()),
        (
            "lymph_node", "survtime", "censdead",
            ("id", "diagdateb", "recdate", "deathdate", "rectime", "censrec"),
        ),
    ],
)  # fmt: skip
def test_roles_are_guessed_from_usual_names(name: str, time: str, event: str, left: tuple):
    columns = own.propose(published(name))["columns"]
    roles = {one["role"]: key for key, one in columns.items()}
    assert (roles["time"], roles["event"]) == (time, event)
    assert {key for key, one in columns.items() if one["role"] in ("left out", "person")} >= set(
        left
    )


def lived(head: str, rows: list[str]) -> bytes:
    return "\n".join([head, *rows]).encode()


def stated(content: bytes, toml: str) -> str:
    """What keeping a table answers: why it is not taken, or nothing."""
    try:
        own.keep("a.csv", content, toml)
    except DatasetError as error:
        return str(error)
    return ""


BASE = "[columns.time]\nhigh = 60\n[columns.age]\nlow = 0\nhigh = 100\n"


@pytest.mark.parametrize(
    ("values", "said", "events"),
    [
        (("-1", "1"), "", 8),
        (("censored", "dead"), "", 8),
        (("\u03b6\u03c9\u03bd", "\u0398\u0391\u039d\u0391\u03a4\u039f\u03a3"),
         'value = "\u0398\u0391\u039d\u0391\u03a4\u039f\u03a3"', 8),
    ],
)  # fmt: skip
def test_the_value_of_an_event_is_the_one_that_happened(values, said, events):
    rows = [f"{i + 1},{values[i % 3 == 0]},{i}" for i in range(24)]
    toml = f'{BASE}[columns.event]\nrole = "event"\n{said}\n'
    table = catalog.load(own.keep("a.csv", lived("time,event,age", rows), toml))
    assert int(table.event.sum()) == events


def test_words_that_do_not_occur_and_dates_are_no_events_and_no_times():
    rows = [f"{i + 1},{('no', 'dead')[i % 2]},{i},2021-01-{i + 1:02d}" for i in range(24)]
    content = lived("time,event,age,day", rows)
    wrong = f'{BASE}[columns.event]\nvalue = "deceasd"\n'
    assert "event.value: expected one of dead, no, got 'deceasd'" in stated(content, wrong)
    dates = f'{BASE}[columns.day]\nrole = "number"\n'
    assert "column 'day', row 1: expected a number, got '2021-01-01'" in stated(content, dates)
    moved = lived("age,event,x,time", rows)
    assert "column 'time', row 1: expected a number, got '2021-01-01'" in stated(moved, BASE)


def test_what_is_none_of_the_categories_is_told():
    rows = [f"{i + 1},{i % 2},{i},{('I', 'II', '', 'IV')[i % 4]}" for i in range(24)]
    content = lived("time,event,age,stage", rows)
    seen = own.propose(content, BASE)["columns"]["stage"]
    assert seen["why"] == "blanks count as the baseline i"
    typed = own.propose(content, f'{BASE}[columns.stage]\ncategories = ["ii", "i"]\n')
    why = typed["columns"]["stage"]["why"]
    assert why == "blanks and other values (iv) count as the baseline ii"


@pytest.mark.thorough
def test_a_mistyped_category_is_told_when_the_table_is_added(tmp_path, capsys):
    """By the command, in JSON, and to a notebook; the table is added."""
    rows = [f"{i + 1},{i % 2},{i},{('early', 'middle', 'late')[i % 3]}" for i in range(24)]
    file, typed = tmp_path / "a.csv", tmp_path / "a.toml"
    file.write_bytes(lived("time,event,age,stage", rows))
    words = ["early", "middel", "late"]
    typed.write_text(f"{BASE}[columns.stage]\ncategories = {words}\n")
    said = "stage: other values (middle) count as the baseline early; no row holds middel"
    asked = ["table", "add", str(file), "--settings", str(typed)]
    assert main(asked) == 0
    out, error = capsys.readouterr()
    assert out.split() == list(own.names())
    assert error == f"{said}\n"
    assert main([*asked, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["notes"] == [said]
    columns = {"time": {"high": 50}, "age": {"low": 0, "high": 90}, "stage": {"categories": words}}
    with pytest.warns(UserWarning, match=re.escape(f"data: {said}")):
        own.keep_frame(pd.read_csv(file), columns, accept=False)
    right = typed.read_text().replace("middel", "middle")
    assert own.add("a.csv", file.read_bytes(), right).notes == ()


@pytest.mark.parametrize("fill", ["2", '"2"', '"9"', '"none"'])
def test_a_blank_becomes_one_of_the_categories(fill: str):
    """A number, and what is none of them, counted as the baseline without a note."""
    rows = "\n".join(f"{i + 1},{i % 2},{(1, 2, 3, '', 1, 2, 3, 'NA')[i % 8]}" for i in range(ROWS))
    stated = f'{TIMED}[columns.stage]\nrole = "categories"\ncategories = [1, 2, 3]\nfill = {fill}'
    content = f"time,event,stage\n{rows}".encode()
    if "9" in fill:
        with pytest.raises(DatasetError, match=r"stage\.fill: expected one of 1, 2, 3, got '9'"):
            own.keep("a.csv", content, stated)
        return
    none = "none" in fill  # what stands for a blank is a blank again
    assert kept(content, stated).x.sum(0).tolist() == [ROWS / (4 if none else 2), ROWS / 4]
    why = own.propose(content, stated)["columns"]["stage"]["why"]
    assert why == ("blanks count as the baseline 1" if none else "")


@pytest.mark.parametrize(
    "kind",
    ["text", *(pytest.param(f"float{one}", marks=pytest.mark.thorough) for one in (16, 32, 64))],
)
@pytest.mark.parametrize("stated", ["", "categories = [0, 0.1, 0.3333333333333333]\n"])
def test_fractions_are_categories_of_their_own(kind: str, stated: str):
    """Their names had 15 digits, so that a third was none of them and counted as the baseline."""
    dose = np.array([0.0, 0.1, 1 / 3])[np.arange(ROWS) % 3]
    frame = pd.DataFrame({"time": range(ROWS), "event": np.arange(ROWS) % 2, "dose": dose})
    if kind == "text":
        content = frame.to_csv(index=False).encode()
    else:
        file = io.BytesIO()
        frame.astype({"dose": kind}).to_parquet(file)
        content = file.getvalue()
    if kind == "float32":
        stated = stated.replace("0.3333333333333333", "0.33333334")
    if kind == "float16":
        stated = stated and "categories = [0, 0.0999755859375, 0.333251953125]\n"
    said = f'{TIMED}[columns.dose]\nrole = "categories"\n{stated}'
    table = catalog.load(own.keep("a.csv", content, said, accept=True))
    assert table.x.sum(0).tolist() == [ROWS / 3, ROWS / 3]


def test_persons_whose_ids_differ_in_capitals_are_told_apart():
    rows = "\n".join(f"{'aA'[i % 2]}{'bB'[i // 2 % 2]}{i // 4},{i % 2},{i % 7}" for i in range(80))
    said = 'kind = "classes"\n[columns.id]\nrole = "person"\n[columns.x]\nlow = 0\nhigh = 9'
    assert kept(f"id,y,x\n{rows}".encode(), said, "y").card.records == 80


@pytest.mark.thorough
def test_a_category_that_no_cell_uses_does_not_count_as_seen():
    """A dictionary of Parquet holds it, as that of any filtered frame does."""
    words = pd.Categorical(["a", "b"] * ROWS, categories=["a", "b", "c"])
    file = io.BytesIO()
    pd.DataFrame({"y": words, "x": range(2 * ROWS)}).to_parquet(file)
    said = 'classes = ["a", "b"]\n[columns.x]\nlow = 0\nhigh = 90'
    assert kept(file.getvalue(), said, "y").card.classes == 2


def test_a_stated_category_is_no_blank():
    """Such as no treatment; what is blank beside it becomes what stands for blanks."""
    rows = [f"{i + 1},{i % 2},{i},{('none', 'drug', '')[i % 3]}" for i in range(24)]
    content = lived("time,event,age,arm", rows)
    toml = f'{BASE}[columns.arm]\ncategories = ["placebo", "none", "drug"]\nfill = "drug"\n'
    added = own.add("a.csv", content, toml)
    assert added.notes == ("arm: no row holds placebo",)
    table = catalog.load(added.name)
    assert table.card.features == ("age", "arm none", "arm drug")
    assert table.x[:3, 1:].tolist() == [[1.0, 0.0], [0.0, 1.0], [0.0, 1.0]]


def test_blanks_beside_a_category_that_is_a_word_for_blanks_are_told():
    rows = [f"{i + 1},{i % 2},{i},{('none', 'drug', '')[i % 3]}" for i in range(24)]
    toml = f'{BASE}[columns.arm]\ncategories = ["drug", "none"]\n'
    (note,) = own.add("a.csv", lived("time,event,age,arm", rows), toml).notes
    assert note == "arm: any blanks other than none count as the baseline drug"


def test_what_is_left_out_or_clipped_is_told_when_the_table_is_added():
    rows = [f"{i + 1},{i % 2},{i * 9},name {i},2" for i in range(24)]
    content = lived("time,event,age,who,b", rows)
    added = own.add("a.csv", content, f'{BASE}[columns.b]\nrole = "left out"\n')
    assert added.notes == (
        "age: values beyond the bounds are clipped",
        "who: it is left out, since it holds 24 different words",
    )


def test_an_unclear_event_is_told():
    rows = [f"{i + 1},{i % 2},{i}" for i in range(24)]
    found = own.propose(lived("time,censored,age", rows), BASE)["columns"]["censored"]
    assert found["why"] == "1 or true is taken as the event, not as censoring"
    said = [f"{i + 1},{('event', 'censored')[i % 2]},{i}" for i in range(24)]
    found = own.propose(lived("time,censored,age", said), BASE)["columns"]["censored"]
    assert (found["value"], found["why"]) == ("event", "")


def test_only_a_column_that_counts_rows_is_left_out():
    rows = [f"{i * i % 7},{i + 1},{i % 2},{i}" for i in range(24)]
    toml = f"{BASE}[columns.index]\nlow = 0\nhigh = 6\n"
    table = catalog.load(own.keep("a.csv", lived("index,time,event,age", rows), toml))
    assert table.card.features == ("index", "age")
    counted = [f"{i},{i + 1},{i % 2},{i}" for i in range(24)]
    table = catalog.load(own.keep("a.csv", lived("index,time,event,age", counted), BASE))
    assert table.card.features == ("age",)


@pytest.mark.thorough
def test_ids_above_the_whole_numbers_of_a_float_stay_apart():
    frame = pd.DataFrame({"id": [2**60 + i for i in range(24)], "time": range(1, 25),
                          "event": [i % 2 for i in range(24)], "age": range(24)})  # fmt: skip
    file = io.BytesIO()
    frame.to_parquet(file, index=False)
    assert len(catalog.load(own.keep("a.parquet", file.getvalue(), BASE))) == 24


def test_commas_that_can_only_group_thousands_do():
    rows = [f'{i + 1};{i % 2};{i};"3,625,{i:03d}"' for i in range(24)]
    toml = f"{BASE}[columns.income]\nlow = 0\nhigh = 1e7\n"
    content = lived("time;event;age;income", rows)
    with pytest.raises(DatasetError, match="expected what a comma means in income"):
        own.keep("a.csv", content, toml)
    assert catalog.card(own.keep("a.csv", content, toml, accept=True)).taken
    table = catalog.load(own.keep("a.csv", content, f'decimal = "."\n{toml}'))
    assert table.x[3, 1] == 3_625_003
    assert not table.card.taken


def test_a_cell_in_quotes_may_go_on_in_the_next_line():
    """The lines then hold other numbers of blanks and commas than the line of names."""
    rows = [f'{i + 1},{i % 2},{i},"seen once\nand well, {"again" * (i % 3)}"' for i in range(24)]
    toml = f'{BASE}["columns"."a note of some words"]\nrole = "left out"\n'
    table = catalog.load(
        own.keep("a.csv", lived("time,event,age,a note of some words", rows), toml)
    )
    assert table.card.features == ("age",)
    np.testing.assert_array_equal(np.sort(table.time), np.arange(1.0, 25.0))


@pytest.mark.thorough
@pytest.mark.parametrize("role", ["label", "person", "time"])
def test_a_column_that_cannot_be_read_and_has_a_role_is_refused(role: str):
    """It was left out: a release then protected a row where persons were asked for."""
    held = {
        "person": [f"p{i // 5}".encode() for i in range(ROWS)],
        "label": [(b"a", b"b")[i % 2] for i in range(ROWS)],
        "time": pd.to_timedelta(range(ROWS), "D"),
    }
    more = {"event" if role == "time" else "y": np.arange(ROWS) % 2}
    file = io.BytesIO()
    pd.DataFrame({"who": held[role], **more, "age": range(ROWS)}).to_parquet(file)
    said = f"rows_per_person = 5\n[columns.who]\nrole = '{role}'\n[columns.age]\nlow = 0\nhigh = 90"
    with pytest.raises(DatasetError, match=f"expected the {role} column 'who' to hold numbers, te"):
        own.add("a.parquet", file.getvalue(), said, accept=True)


@pytest.mark.thorough
def test_a_column_that_cannot_be_read_may_be_left_out():
    file = io.BytesIO()
    more = {"y": np.arange(ROWS) % 2, "age": range(ROWS)}
    pd.DataFrame({"who": [b"p"] * ROWS, **more}).to_parquet(file)
    said = "[columns.who]\nrole = 'left out'\n[columns.age]\nlow = 0\nhigh = 90"
    assert kept(file.getvalue(), said).card.features == ("age",)


@pytest.mark.thorough
def test_a_time_that_cannot_be_read_gives_its_role_to_no_other_column():
    """What is said of a column named time is meant for another one only where there is none."""
    file, days = io.BytesIO(), pd.to_timedelta(range(ROWS), "D")
    more = {"weeks": range(ROWS), "event": np.arange(ROWS) % 2, "age": range(ROWS)}
    pd.DataFrame({"time": days, **more}).to_parquet(file)
    said = "[columns.time]\nrole = 'time'\nhigh = 50\n[columns.age]\nlow = 0\nhigh = 90"
    with pytest.raises(DatasetError, match="expected the time column 'time' to hold numbers"):
        own.add("a.parquet", file.getvalue(), said, accept=True)


@pytest.mark.parametrize("role", ["label", "event", "time"])
def test_two_columns_of_one_role_are_refused(role: str):
    rows = [f"{i + 1},{i % 2},{i % 2},{i}" for i in range(24)]
    toml = "".join(f'[columns.{key}]\nrole = "{role}"\n' for key in "ab")
    with pytest.raises(DatasetError, match=f"expected one {role} column, got a and b"):
        own.keep("a.csv", "\n".join(["a,b,event,x", *rows]).encode(), toml, accept=True)


def test_a_table_that_was_kept_before_counts_as_read_off_the_records(monkeypatch):
    """Its card does not say how its cells were read."""
    rows = [f"{i + 1},{i % 2},{i}" for i in range(24)]
    card = catalog.card(own.keep("a.csv", lived("time,event,age", rows), BASE))
    assert not card.taken
    head = own.own_store.head(own.own_store.place(card.name))
    said = "Given with the table by the person who added it, or known to everybody"
    for before in (
        replace(card, bounds=replace(card.bounds, source=said)),
        replace(card, public=f"the bounds: {said.lower()}; values beyond them are clipped"),
    ):
        kept = replace(head, card=before)
        monkeypatch.setattr(own.own_store, "head", lambda place, kept=kept: kept)
        assert own.card(card.name).taken


@pytest.mark.parametrize("blank", ["", "NA", " ", "?"])
@pytest.mark.parametrize("kind", ["classes", "survival"])
def test_a_person_in_every_row_or_no_table(blank: str, kind: str):
    """Rows without one counted as rows of one person, of whom few are kept."""
    rows = [f"{i + 1},{i % 2},{i},{blank if i % 2 else f'p{i}'}" for i in range(40)]
    content = "\n".join(["time,y,age,plant", *rows]).encode()
    toml = (
        f'kind = "{kind}"\n[columns.plant]\nrole = "person"\n[columns.age]\nlow = 0\nhigh = 100\n'
    )
    toml += (
        '[columns.time]\nlow = 0\nhigh = 50\n' if kind == "classes"
        else '[columns.time]\nhigh = 50\n[columns.y]\nrole = "event"\nvalue = "1"\n'
    )  # fmt: skip
    said = "plant: expected an id in every row, got none in row 2"
    assert said in own.propose(content, toml)["problems"]
    with pytest.raises(DatasetError, match=said):
        own.keep("a.csv", content, toml)


@pytest.mark.thorough
@pytest.mark.parametrize(("kind", "least"), [("float64", 2.0**60), ("float32", 2.0**25)])
def test_ids_that_a_float_does_not_tell_apart_are_refused(kind: str, least: float):
    """One missing id makes numbers of all others in a frame, which then merge."""
    frame = pd.DataFrame({"id": [least + i for i in range(24)], "time": range(1, 25),
                          "event": [i % 2 for i in range(24)], "age": range(24)})  # fmt: skip
    frame["id"] = frame["id"].astype(kind)
    file = io.BytesIO()
    frame.to_parquet(file, index=False)
    with pytest.raises(
        DatasetError, match="id: expected ids that are text or whole numbers, got a fl"
    ):
        own.keep("a.parquet", file.getvalue(), BASE)


def test_a_start_needs_persons():
    """Rows from a start on are parts of somebody's time; it ended in "got none" of all rows."""
    rows = [f"{i},{i + 1},{i % 2},{i}" for i in range(40)]
    content = lived("begin,time,event,age", rows)
    toml = f'{BASE}[columns.begin]\nrole = "start"\n'
    said = "expected a column of persons beside the start column 'begin', got none"
    assert any(one.startswith(said) for one in own.propose(content, toml)["problems"])
    assert said in stated(content, toml)


def test_a_start_without_persons_is_told_to_count_as_a_covariate():
    """It was learned from as any other column, without a word."""
    rows = [f"{i % 90},{i},{i + 1},{i % 2}" for i in range(40)]
    content = lived("age,start,stop,event", rows)
    said = "start: it counts as a covariate; as a start time it needs a column of persons"
    added = own.add("a.csv", content, "stop: 0 to 50\nage: 0 to 100\nstart: 0 to 50")
    assert added.notes == (said,)
    narrow = own.add("a.csv", content, "stop: 0 to 50\nage: 0 to 100\nstart: 0 to 9")
    clipped = said.replace("start:", "start: values beyond the bounds are clipped;")
    assert narrow.notes == (clipped,)
    rows = [f"p{i},{row}" for i, row in enumerate(rows)]
    content = lived("id,age,start,stop,event", rows)
    assert own.propose(content, "")["columns"]["start"]["role"] == "start"


@pytest.mark.parametrize(
    ("never", "got"), [("0", "0"), ("-1", "-1"), ("no", "no"), ("alive", "alive"), ("0.0", "0")]
)
def test_a_table_without_an_event_is_refused(never: str, got: str):
    content = lived("time,event,age", [f"{i + 1},{never},{i}" for i in range(24)])
    said = f"expected at least one event in event, got {got} in every row"
    assert said in own.propose(content, BASE)["problems"]
    assert said in stated(content, BASE)


def test_a_table_whose_events_all_come_after_the_longest_time_is_refused():
    content = lived("time,event,age", [f"{i + 1},{int(i > 9)},{i}" for i in range(24)])
    said = "expected at least one event up to the longest time 10, got none"
    assert said in stated(content, BASE.replace("60", "10"))
    assert not stated(content, BASE.replace("60", "11"))


@pytest.mark.parametrize(
    ("values", "example"),
    [
        (("alive", "died", "lost"), "died"),
        (("red", "green", "blue"), "VALUE"),
        (("alive", "relapse", "dead"), "relapse"),
    ],
)
def test_the_example_of_an_event_is_a_word_that_means_one(values: tuple[str, ...], example: str):
    """Where such a value is there; elsewhere it is none of them."""
    content = lived("time,status,age", [f"{i + 1},{values[i % 3]},{i}" for i in range(24)])
    [problem] = own.propose(content, BASE)["problems"]
    assert problem.endswith(f'say which value means that it happened (value = "{example}")')
