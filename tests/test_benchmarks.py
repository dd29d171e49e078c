"""What the table of benchmarks counts: a target that was not measured is not met."""

import json
import math
from pathlib import Path

import pytest

from benchmarks import __main__ as command
from benchmarks import gpu, lvq
from benchmarks.__main__ import cells, main, measured, summary
from benchmarks.row import Row, Timing, at_most, beside, race, turns

ROOT = Path(__file__).parents[1]


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


def test_rivals_who_time_themselves_take_turns_too():
    seconds = {"a": iter((9.0, 1.0, 3.0, 2.0)), "b": iter((9.0, 4.0, 6.0, 5.0))}
    took = turns({name: lambda name=name: next(seconds[name]) for name in seconds})
    assert took["a"].seconds == (1.0, 3.0, 2.0)
    assert took["b"].median == 5.0


def test_a_benchmark_that_breaks_is_unmet_and_stops_no_other(monkeypatch):
    class Broken:
        def rows(self):
            raise OSError("no such file")

    monkeypatch.setattr(command.importlib, "import_module", lambda name: Broken())
    (row,) = measured("lvq")
    assert (row.what, row.ok, row.note) == ("lvq", False, "OSError: no such file")
    assert summary([row]) == "1 targets: 0 met, 0 missed, 1 not measured (unmet)"


def test_each_comparison_with_an_absent_peer_is_unmet():
    rows = lvq._absent()
    assert len({row.what for row in rows}) == len(rows) == 10
    assert summary(rows) == "10 targets: 0 met, 0 missed, 10 not measured (unmet)"


def test_a_row_with_a_target_has_a_verdict_whatever_was_measured():
    """A time that is no number meets nothing: it compares false."""
    rows = [
        at_most("lost", Timing((math.nan,) * 3), Timing((1.0,) * 3), 1.0),
        at_most("nobody", Timing((1.0,) * 3), Timing((math.nan,) * 3), 1.0),
        at_most("even", Timing((1.0,) * 3), Timing((1.0,) * 3), 1.0),
    ]
    assert [row.ok for row in rows] == [False, False, True]


def test_every_peer_that_is_named_is_installed_by_make_bench():
    texts = "".join(path.read_text(encoding="utf-8") for path in ROOT.glob("requirements*.txt"))
    pinned = {line.split("==")[0].lower() for line in texts.splitlines() if "==" in line}
    peers = {"opacus", "sklvq", "prototorch", "pytorch-lightning", "statsmodels", "scikit-learn"}
    assert peers <= pinned
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    assert "bench: $(VENV)/dev.stamp $(VENV)/browser.stamp $(VENV)/bench.stamp" in makefile
    assert "-r requirements-bench.txt" in makefile


def test_the_card_s_benchmark_says_in_a_sentence_that_there_is_no_card(monkeypatch):
    monkeypatch.setattr(gpu, "resolve_device", lambda device: "cpu")
    with pytest.raises(SystemExit, match="expected a graphics card that torch can use"):
        gpu.main([])


def test_what_was_measured_before_a_benchmark_broke_is_kept_and_told_at_once(monkeypatch, capsys):
    def breaks():
        yield Row("first", 1.0, None, "s", "at most 2 s", True, "")
        yield Row("late", math.inf, math.inf, "s", "at most 2 s", False, "")
        raise OSError("the browser is gone")

    monkeypatch.setattr(lvq, "rows", breaks)
    main(["lvq", "--json"])
    out, err = capsys.readouterr()
    first, late, second = json.loads(out)
    assert (first["what"], first["ok"], first["ran"]) == ("first", True, True)
    assert (second["what"], second["ok"], second["ran"]) == ("lvq", False, False)
    # neither NaN nor infinity is JSON
    assert second["ours"] is late["ours"] is late["peer"] is None
    assert (late["ok"], late["ran"]) == (False, True)
    assert second["note"] == "OSError: the browser is gone"
    assert err.splitlines()[0].startswith("first | 1 | ")


@pytest.mark.thorough
def test_the_card_s_benchmark_writes_its_table_with_the_card_s_name(tmp_path, monkeypatch):
    runs = (("enadpp", "non_private", "digits", {"epochs": 1}), ("survival", "dp_gd", "flchain",
            {"steps": 2}))  # fmt: skip
    monkeypatch.setattr(gpu, "STEPS", 1)
    done = [*gpu.steps("cpu"), *gpu.rows("cpu", runs, (1.0, 2.0), range(2))]
    path = gpu.write("NVIDIA H200 (SXM)", done, tmp_path)
    assert path.name == "gpu-nvidia-h200-sxm.txt"
    text = path.read_text()
    assert "NVIDIA H200 (SXM), torch" in text
    assert "dp_gd on flchain, 4 settings" in text
    assert "a private step of 784-512-256-10, 21 at once" in text
    assert "4 targets" in text
