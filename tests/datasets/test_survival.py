import gzip
import os
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from datasets import catalog, flchain, second_births, simulate, third_births, wichert
from datasets.base import SurvivalTable, check
from engine.core.errors import DatasetError


def test_flchain_is_the_published_file(published: Path) -> None:
    table = flchain.load()
    lines = gzip.decompress((published / "flchain/flchain.csv.gz").read_bytes()).decode()
    rows = [line.replace('"', "").split(",") for line in lines.splitlines()]
    columns = dict(zip(rows[0], zip(*rows[1:], strict=True), strict=True))
    columns["sex"] = tuple("1" if sex == "M" else "0" for sex in columns["sex"])
    for j, name in enumerate(table.card.features):
        known = np.array([value not in ("", "NA") for value in columns[name]])
        values = np.array([value for value in columns[name] if value not in ("", "NA")], float)
        assert np.array_equal(table.x[known, j], values), name
        assert (~known).sum() == (1_350 if name == "creatinine" else 0)
        assert np.allclose(table.x[~known, j], values.mean())
    assert np.array_equal(table.time, np.array(columns["futime"], float))
    assert np.array_equal(table.event, np.array(columns["death"]) == "1")


def test_third_births_as_published(published: Path) -> None:
    table = third_births.load()
    assert table.x[0].tolist() == [21.9, 424.0, 4.0]
    assert (table.time[0], table.event[0]) == (1_826.0, True)
    assert set(np.unique(table.x[:, 2])) == {1.0, 2.0, 3.0, 4.0}
    assert (table.time == 0).sum() == 2


def test_wichert_as_published(published: Path) -> None:
    table = wichert.load()
    assert table.x[:2].tolist() == [[0.0, 38.0, 114.8], [1.0, 28.0, 85.2]]
    assert table.time[:2].tolist() == [366.0, 81.0]
    assert (table.time.min(), table.time.max()) == (1.0, 2_190.0)


def test_second_births_are_simulated_without_the_file(folder: Path) -> None:
    table = catalog.load("second_births")
    assert isinstance(table, SurvivalTable)
    assert table.card is second_births.CARD
    assert table.card.simulated
    assert "imulated" in table.card.title
    assert (len(table), int(table.event.sum())) == (53_558, 16_341)


def test_the_simulator_repeats_itself_and_looks_like_second_births() -> None:
    x, time, event = simulate.second_births(20_000, 6_000)
    again = simulate.second_births(20_000, 6_000)
    assert all(np.array_equal(a, b) for a, b in zip((x, time, event), again, strict=True))
    other = simulate.second_births(20_000, 6_000, seed=1)
    assert not np.array_equal(time, other[1])
    assert (event.sum(), other[2].sum()) == (6_000, 6_000)
    assert time[event].min() > simulate.FIRST_DAY
    assert time.max() <= simulate.DAYS
    years = np.arange(1, 8)
    at_risk = np.array([(time >= 365.25 * year).sum() for year in years])
    born = np.histogram(time[event], 365.25 * np.arange(1, 9))[0]
    assert 2 <= years[np.argmax(born / at_risk)] <= 3  # highest from two to four years


@pytest.mark.parametrize("events", [1, 100, 499])
def test_the_simulator_gives_exactly_the_events_asked_for(events: int) -> None:
    assert simulate.second_births(1_000, events)[2].sum() == events


def publish(folder: Path, rows: int, line: str = "24.5 {sex} 0 {time} {status}") -> Path:
    """Writes a file in the publisher's layout: one woman in four with a second birth."""
    lines = [
        line.format(sex=1 + i % 2, time=300 + i % 3_000, status=int(i % 4 == 0))
        for i in range(rows)
    ]
    place = folder / "births/second_births.txt"
    place.parent.mkdir(exist_ok=True)
    place.write_bytes("\r\n".join(["  age sex death time status", *lines, ""]).encode())
    return place


def test_the_publishers_second_births_replace_the_simulator(folder: Path) -> None:
    assert catalog.load("second_births").card.simulated
    place = publish(folder, 53_558)
    table = catalog.load("second_births")
    assert isinstance(table, SurvivalTable)
    assert table.card == catalog.card("second_births")
    assert not table.card.simulated
    assert "imulated" not in table.card.title + table.card.summary + table.card.source
    assert table.card.events == 13_390
    assert table.x[:2].tolist() == [[24.5, 1.0, 0.0], [24.5, 0.0, 0.0]]
    assert table.time[:2].tolist() == [300.0, 301.0]
    place.unlink()
    assert catalog.load("second_births").card.simulated


@pytest.mark.parametrize(
    ("rows", "line", "reason"),
    [
        (10, "24.5 {sex} 0 {time} {status}", "expected 53558 records, got 10"),
        (53_558, "24.5 3 0 {time} {status}", "expected sex to be one of"),
        (10, "24.5 {sex} 0 {time}", "expected 5 numbers in a row, got 4"),
        (10, "24.5 {sex} no {time} {status}", "expected a table of numbers"),
        (0, "", "expected rows of numbers, got none"),
    ],
)
def test_a_wrong_second_births_file_is_never_replaced_in_silence(
    folder: Path, rows: int, line: str, reason: str
) -> None:
    publish(folder, rows, line)
    card = catalog.card("second_births")
    assert not card.simulated
    assert card.events is None
    with pytest.raises(DatasetError, match=reason):
        catalog.load("second_births")


def test_a_changed_second_births_file_is_read_again(folder: Path) -> None:
    place = publish(folder, 53_558)
    assert catalog.card("second_births").events == 13_390
    place.write_bytes(place.read_bytes().replace(b" 0\r\n", b" 1\r\n"))
    os.utime(place, ns=(1, 1))
    assert catalog.card("second_births").events == 53_558


@pytest.mark.parametrize(
    ("field", "value", "says"),
    [
        ("x", np.nan, "finite features, got missing or infinite values"),
        ("x", np.inf, "finite features, got missing or infinite values"),
        ("time", np.nan, "durations of at least 0, got others"),
        ("time", -1.0, "durations of at least 0, got others"),
    ],
)
def test_missing_and_impossible_values_are_a_sentence(field: str, value: float, says: str) -> None:
    table = catalog.load("heart")
    wrong = getattr(table, field).copy()
    wrong.flat[5] = value
    with pytest.raises(DatasetError, match=says):
        check(replace(table, **{field: wrong}))
