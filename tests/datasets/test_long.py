"""Long tables: what is built of them, and one sentence for each way to be wrong."""

import numpy as np
import pytest

from datasets import catalog
from datasets.base import Card
from datasets.long import long_table
from engine.core.errors import DatasetError

GOOD = {
    "id": ["b", "b", "a", "c", "c"],
    "start": [4.0, 0.0, 0.0, 0.0, 2.0],
    "stop": [9.0, 4.0, 3.0, 2.0, 5.0],
    "event": [1, 0, 0, 0, 1],
    "dose": [2.0, 1.0, 0.5, 1.0, 1.5],
}


def card(events=2, records=3):
    return Card(
        name="mine",
        title="Mine",
        summary="",
        records=records,
        events=events,
        record="a person",
        features=("dose",),
        source="this test",
        licence="none",
        public="",
    )


def test_rows_are_sorted_into_persons():
    table = long_table(card(), GOOD)
    assert len(table) == 3
    np.testing.assert_array_equal(table.x[:, 0], [1.0, 0.5, 1.0])
    np.testing.assert_array_equal(table.time, [9.0, 3.0, 5.0])
    np.testing.assert_array_equal(table.event, [True, False, True])
    np.testing.assert_array_equal(table.episodes.person, [0, 0, 1, 2, 2])
    np.testing.assert_array_equal(table.episodes.x[:, 0], [1.0, 2.0, 0.5, 1.0, 1.5])


WRONG = {
    "overlap": ({"stop": [9, 6, 3, 2, 5]}, "without overlap, got 0 to 6 and 4 to 9 of id b"),
    "gap": ({"start": [4, 0, 0, 0, 2.5]}, "without gaps, got 0 to 2 and 2.5 to 5 of id c"),
    "early event": ({"event": [1, 1, 0, 0, 1]}, "last row of each id alone, got one at 4"),
    "no id": ({"id": ["b", "b", None, "c", "c"]}, "an id in every row, got none in row 3"),
    "blank id": ({"id": ["b", "b", " ", "c", "c"]}, "an id in every row, got none in row 3"),
    "nan id": ({"id": [1.0, 1.0, float("nan"), 2.0, 2.0]}, "got none in row 3"),
    "late start": ({"start": [4, 0, 1, 0, 2]}, "first row of each id to start at 0, got 1 of id a"),
    "empty row": ({"stop": [9, 4, 0, 2, 5]}, "stop after they start, got 0 to 0 of id a"),
    "missing value": (
        {"dose": [1, 2, float("nan"), 1, 1]},
        "every row of 'dose', got nan in row 3",
    ),
    "no number": (
        {"dose": [1, 2, "much", 1, 1]},
        "column 'dose', row 3: expected a number, got 'much'",
    ),
    "short column": ({"dose": [1, 2]}, "5 values of 'dose', got 2"),
    "odd event": ({"event": [2, 0, 0, 0, 1]}, "events of 0 or 1, got 2"),
    "no rows": ({name: [] for name in GOOD}, "at least one row, got none"),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_malformed_table_is_one_clear_sentence(name):
    change, words = WRONG[name]
    with pytest.raises(DatasetError) as reported:
        long_table(card(), {**GOOD, **change})
    assert words in str(reported.value)
    assert "\n" not in str(reported.value)


def test_a_missing_column_is_named():
    with pytest.raises(DatasetError, match="expected a column 'stop'"):
        long_table(card(), {name: GOOD[name] for name in GOOD if name != "stop"})


def test_another_number_of_persons_or_events_than_the_card_says():
    with pytest.raises(DatasetError, match="expected 4 records, got 3"):
        long_table(card(records=4), GOOD)
    with pytest.raises(DatasetError, match="expected 1 events, got 2"):
        long_table(card(events=1), GOOD)


def test_heart_transplants_are_those_of_the_publication():
    """Crowley and Hu (1977): 103 patients, 69 transplanted, 75 deaths."""
    table = catalog.load("heart")
    assert len(table) == 103
    assert int(table.event.sum()) == 75
    assert len(table.episodes.person) == 172
    assert int((table.episodes.x[:, 3] > 0).sum()) == 69
    assert (table.x[:, 3] <= 1.0).all()
    assert not table.card.simulated
