"""What the table of benchmarks counts: a target that was not measured is not met."""

import math

from benchmarks.__main__ import cells, summary
from benchmarks.row import Row, Timing, at_most, beside, race


def test_what_was_not_measured_counts_as_unmet():
    rows = [
        at_most("quick", Timing((1.0, 1.0, 1.0)), Timing((3.0, 2.0, 4.0)), 0.5),
        at_most("slow", Timing((2.0, 2.0, 9.0)), Timing((1.0, 1.0, 1.0)), 1.0),
        Row.missing("absent", "faster", "not installed"),
        beside("seen", Timing((1.0,)), Timing((1.0,))),
        Row.missing("no target", "", "no file"),
    ]
    assert [row.ok for row in rows] == [True, False, False, None, None]
    assert summary(rows) == "3 targets: 1 met, 1 missed, 1 not measured (unmet)"
    assert cells(rows[2])[1] == "not measured"


def test_medians_count_and_the_range_of_the_ratio_is_said():
    row = at_most("x", Timing((1.0, 2.0, 4.0)), Timing((2.0, 8.0, 4.0)), 1.0, "note")
    assert (row.ours, row.peer) == (2.0, 4.0)
    assert row.note == "note; peer / ours 1 to 4 in 3 turns"


def test_rivals_take_turns_after_one_to_warm_up():
    reported: list[str] = []
    took = race({"a": lambda: reported.append("a"), "b": lambda: reported.append("b")}, turns=2)
    assert reported == ["a", "b", "a", "b", "a", "b"]
    assert all(len(timing.seconds) == 2 for timing in took.values())


def test_timings_add_up_turn_by_turn():
    both = Timing((1.0, 2.0, 3.0)) * 2.0 + Timing((1.0, 1.0, 1.0))
    assert both.seconds == (3.0, 5.0, 7.0)
    assert both.median == 5.0
    assert not math.isnan(both.median)
