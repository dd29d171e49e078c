"""Attacks on training functions: bounds that hold at every moment, faults that are found."""

import itertools
import json
import math
import random
import sys
import time
from importlib.machinery import PathFinder

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binom, norm
from sklearn.covariance import ledoit_wolf
from sklearn.preprocessing import StandardScaler

from benchmarks.functions import FUNCTIONS, example
from benchmarks.yours import attacked
from engine.cli.main import main
from engine.core.errors import RequestError
from engine.yours import claim, evidence, function, guessing, trainings, witnesses
from engine.yours.evidence import Guesses
from engine.yours.function import Attacked, Same, audit_function
from engine.yours.trainings import TrainingError
from tests.engine.conftest import Clock

RUNS, PAIRS = 1_000, 2_000
LONG = 600.0
"""Seconds within which an attack of so few pairs is over on any machine."""


@pytest.fixture(autouse=True)
def parts_double(monkeypatch: pytest.MonkeyPatch) -> None:
    """However long a part takes: the same pairs are scored on any machine."""
    monkeypatch.setattr(trainings, "BRIEF", math.inf)


def crossings(stated, level, hits, alarms):
    """How many of RUNS ideal attacks refute `level` at any of their moments."""
    rng = np.random.default_rng(3)
    count = 0
    for _ in range(RUNS):
        present, absent = rng.uniform(size=PAIRS) < hits, rng.uniform(size=PAIRS) < alarms
        parts = [
            Guesses(a, b).counts[None]
            for a, b in zip(np.split(present, 50), np.split(absent, 50), strict=True)
        ]
        count += evidence.refuted(evidence.so_far(parts), stated, level, 0.95)
    return count


@pytest.mark.parametrize("alarms", [1 / (1 + math.e), 0.02])
@pytest.mark.thorough
def test_a_bound_on_epsilon_holds_whenever_one_stops(alarms):
    """Ideal attacks on randomised response and on a rarer event, at the true ε."""
    stated = claim.Claim(epsilon=1.0)
    assert crossings(stated, 1.0, math.e * alarms, alarms) <= binom.ppf(0.999, RUNS, 0.05)
    assert crossings(stated, 0.3, math.e * alarms, alarms) > RUNS / 2


@pytest.mark.thorough
def test_a_bound_on_mu_holds_whenever_one_stops():
    stated = claim.Claim(mu=1.0)
    hits, alarms = norm.cdf(0.5), norm.cdf(-0.5)
    assert crossings(stated, 1.0, hits, alarms) <= binom.ppf(0.999, RUNS, 0.05)
    assert crossings(stated, 0.8, hits, alarms) > RUNS / 2


@pytest.mark.thorough
def test_a_claim_with_delta_allows_what_delta_allows():
    stated = claim.Claim(epsilon=1.0, delta=0.1)
    assert crossings(stated, 1.0, 0.1, 0.0) <= binom.ppf(0.999, RUNS, 0.05)
    assert crossings(claim.Claim(epsilon=1.0, delta=0.05), 1.0, 0.1, 0.0) > 0.9 * RUNS


def test_the_lines_of_a_gaussian_claim_are_its_curve():
    """δ at ε = 1 of μ = 1, computed by hand: Φ(-1/2) - e Φ(-3/2)."""
    assert claim.gaussian_delta(1.0, 1.0) == pytest.approx(
        norm.cdf(-0.5) - math.e * norm.cdf(-1.5), rel=1e-12
    )


@pytest.mark.parametrize("name", ["laplace_sum", "gaussian_sum", "nothing", "randomised_response"])
@pytest.mark.thorough
def test_right_functions_are_not_blamed(name):
    found = attacked(FUNCTIONS[name], LONG, pairs=500)
    assert not found.broken
    assert found.attacked <= found.claim.level
    assert "Not refuted" in found.sentence


@pytest.mark.thorough
@pytest.mark.parametrize(
    "name",
    [
        "laplace_halved", "count_exact", "histogram_in_part",
        *(pytest.param(name, marks=pytest.mark.slow)
          for name in ("own_maximum", "group_of_rows", "embedding_not_noised", "noise_halved",
                       "bias_not_noised")),
    ],
)  # fmt: skip
def test_faults_are_found(name):
    found = attacked(FUNCTIONS[name], LONG, pairs=2_000)
    assert found.broken
    assert found.claim.level < found.attacked <= found.could_show


@pytest.mark.thorough
def test_a_right_function_shows_most_of_what_it_loses():
    """Laplace noise at ε = 1: the attack comes close to 1 and stays below."""
    found = audit_function(
        FUNCTIONS["laplace_sum"].fit, example(), "epsilon=1", seconds=LONG, pairs=4_000
    )
    assert 0.5 < found.attacked < 1.0


def counted(scale):
    """The sum of a column with Laplace noise, and the number of records, which may be public."""

    def fit(records, rng):
        column = records["x1"].clip(-1, 1)
        return {"sum": column.sum() + rng.laplace(0, scale), "n": len(records)}

    return fit


@pytest.mark.thorough
@pytest.mark.parametrize(("scale", "broken"), [(2.0, False), (0.05, True)])
def test_the_number_of_records_is_public_where_a_place_is_left_empty(scale, broken):
    """A record was added, so that a right function with a public number of records was blamed.

    With a record in another's place, two steps lie between the tables: one empties the place.
    """
    stated = "epsilon=1.01,delta=1e-6,relation=zero_out_one"
    found = audit_function(counted(scale), example(), stated, seconds=LONG, pairs=1_000)
    assert found.broken == broken
    assert found.attacked < 1.0 / scale  # its ε: an empty place moves the sum by 1 at most
    added = audit_function(counted(2.0), example(), "epsilon=1.01", seconds=LONG, pairs=1_000)
    assert added.broken  # there the number of records counts


def test_a_claim_for_empty_places_allows_two_steps():
    r"""By hand: 2ε and δ(1 + e^ε) of ε and δ; 2μ of μ."""
    both = {"relation": "zero_out_one"}
    assert claim.Claim(epsilon=1.0, delta=0.1, **both).lines(1.0) == [
        (2.0, pytest.approx(0.1 * (1.0 + math.e)))
    ]
    assert claim.Claim(mu=0.5, **both).lines(0.5) == claim.Claim(mu=1.0).lines(1.0)


@pytest.mark.parametrize("features", [3, 40, 400])
def test_the_line_is_that_of_the_shrunk_covariance(features):
    """With fewer and with more features than trainings; scikit-learn shrinks the same matrix."""
    rng = np.random.default_rng(1)
    mix = rng.normal(size=(features, features))
    present, absent = (rng.normal(at, 1.0, (30, features)) @ mix for at in (0.1, 0.0))
    scaled = StandardScaler().fit_transform(np.concatenate([present, absent]))
    one, other = scaled[:30], scaled[30:]
    rest = np.concatenate([one - one.mean(axis=0), other - other.mean(axis=0)])
    covariance, _ = ledoit_wolf(rest, assume_centered=True)
    weights = np.linalg.solve(covariance, one.mean(axis=0) - other.mean(axis=0))
    score = guessing._line(present, absent)
    assert score(np.concatenate([present, absent])) == pytest.approx(scaled @ weights)
    constant = np.full((30, 2), 0.1)
    again = guessing._line(np.hstack([present, constant]), np.hstack([absent, constant]))
    assert np.isfinite(again(np.hstack([present, constant]))).all()


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    """The time of an attack: it passes only where a test says so."""
    one = Clock()
    for module in (function, trainings):
        monkeypatch.setattr(module, "time", one)
    return one


def test_trainings_that_take_long_end_in_the_time(clock, monkeypatch):
    """Six pairs of trainings that take .1 s each."""
    monkeypatch.setattr(trainings, "BRIEF", 0.25)
    fit = lambda records, rng: clock.sleep(0.1) or 1.0  # noqa: E731
    audit_function(fit, example(), "mu=1", seconds=1.0, pairs=500)
    assert clock.now < 3.0


@pytest.mark.thorough
@pytest.mark.parametrize(("seconds", "expected"), [(6.0, [127]), (12.0, [127, 255])])
def test_learning_ends_in_the_time(clock, monkeypatch, seconds, expected):
    """It takes .1 s for each ten pairs, and is repeated with twice as many where that ends too."""
    learned, sizes = function.learned, []

    def learning(pilot, stated):
        sizes.append(len(pilot))
        clock.sleep(0.01 * len(pilot))
        return learned(pilot, stated)

    def fit(records, rng):
        clock.sleep(0.0001)
        return rng.normal()

    monkeypatch.setattr(function, "learned", learning)
    audit_function(fit, example(), "mu=1", seconds=seconds, pairs=100)
    assert sizes == expected
    assert clock.now < seconds


@pytest.mark.thorough
def test_learning_from_many_numbers_ends():
    """From 6,000, where the time is short."""

    def wide(records, rng):
        return {f"layer {i}": rng.normal(size=1_000) for i in range(60)}

    began = time.process_time()  # whatever else the machine does
    audit_function(wide, example(), "mu=1", seconds=2.0)
    assert time.process_time() - began < 6.0


@pytest.fixture
def files(tmp_path):
    """A file with functions, and a table."""
    (tmp_path / "fits.py").write_text(
        "import numpy as np\n"
        "def half(records, rng):\n"
        "    print('noise on the output')\n"
        "    x = records['x1'].clip(0, 1)\n"
        "    return {'sum': x.sum() + rng.laplace(0, 0.25)}\n"
        "def broken(records, rng):\n"
        "    raise ValueError('no such column')\n"
        "def words(records, rng):\n"
        "    return {'name': 'x1'}\n"
        "def imaginary(records, rng):\n"
        "    return 1j * rng.laplace(size=3)\n"
        "def forgets(records, rng):\n"
        "    rng.laplace()\n"
        "def undefined(records, rng):\n"
        "    return {'a': np.full(3, np.nan), 'b': np.inf}\n"
        "def leaves(records, rng):\n"
        "    raise SystemExit('no licence')\n"
        "def ends(records, rng):\n"
        "    import os\n"
        "    os._exit(3)\n"
        "def shell(records, rng):\n"
        "    import os, subprocess\n"
        "    os.write(1, b'from C')\n"
        "    subprocess.run(['echo', 'hi'], check=True)\n"
        "    subprocess.run(['cat'], check=True)\n"
        "    return half(records, rng)\n"
        "def fussy(records, rng):\n"
        "    if (records.iloc[-1] == records.max()).all():\n"
        "        raise ValueError('out of bounds')\n"
        "    return records['x1'].clip(0, 1).sum() + rng.laplace()\n"
        "found = {}\n"
        "def remembers(records, rng):\n"
        "    return found.setdefault('sum', records['x1'].sum() + rng.laplace())\n"
    )
    example().to_csv(tmp_path / "table.csv", index=False)
    return tmp_path


@pytest.mark.thorough
def test_a_function_in_a_file_is_attacked_in_processes(files, capsys):
    line = ["audit", f"{files / 'fits.py'}::half", "--claim", "epsilon=1"]
    assert main([*line, "--data", str(files / "table.csv"), "--seconds", "600", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["broken"]
    assert told["sees"] == "published"
    assert told["proved"] is None
    assert told["attacked"] > 1.0


@pytest.mark.thorough
def test_what_a_child_process_writes_or_reads_does_not_mix_with_the_answers(files, capsys):
    line = ["audit", f"{files / 'fits.py'}::shell", "--claim", "epsilon=1", "--json"]
    assert main([*line, "--data", str(files / "table.csv"), "--seconds", "5"]) == 0
    assert json.loads(capsys.readouterr().out)["pairs"] > 0


def test_a_process_that_has_ended_between_two_tasks_is_one_sentence(files):
    worlds, numbers = [(np.zeros((1, 1)), np.zeros((2, 1)))], [np.zeros(1)]
    with trainings.beside(f"{files / 'fits.py'}::half", worlds, numbers, 1) as trainer:
        trainer.processes[0].kill()
        trainer.processes[0].wait()
        with pytest.raises(trainings.ProcessEndedError, match="a process that ended with code -9"):
            list(trainer.pairs(0, 0, 1))


def test_answers_of_a_witness_that_fails_are_not_taken_for_the_next_one(files):
    """Of two processes the first fails: the other's answer is of the same pairs."""
    (files / "some.py").write_text(
        "def fit(records, rng):\n"
        "    if len(records) > 3 and rng.integers(2):\n"
        "        raise ValueError('refused')\n"
        "    return float(len(records))\n"
    )
    worlds = [(np.zeros((5, 1)), np.zeros((6, 1))), (np.zeros((1, 1)), np.zeros((2, 1)))]
    place, numbers = f"{files / 'some.py'}::fit", [np.zeros(1)] * 2
    with trainings.beside(place, worlds, numbers, 2) as trainer:
        with pytest.raises(TrainingError, match="refused"):
            list(trainer.pairs(0, 0, 16))
        told = trainings.Told.joined(list(trainer.pairs(1, 0, 16)))
    assert set(told.present[:, told.names.index("output[0]")]) == {2.0}


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["fits.py::half", "--data", "table.csv"], "claim: expected --claim"),
        (["fits.py::half", "--claim", "epsilon=1"], "data: expected --data"),
        (["fits.py::half", "--claim", "epsilon=1", "--data", "none.csv"], "data: expected a CSV"),
        (["fits.py::half", "--claim", "eps=1", "--data", "table.csv"], "claim: expected fields"),
        (["fits.py::half", "--claim", "epsilon=-1", "--data", "table.csv"], "epsilon above 0"),
        (["fits.py::none", "--claim", "mu=1", "--data", "table.csv"], "expected a function 'none'"),
        (["gone.py::half", "--claim", "mu=1", "--data", "table.csv"], "got no file"),
        (
            ["fits.py::words", "--claim", "mu=1", "--data", "table.csv"],
            "expected arrays of numbers",
        ),
        (["fits.py::ends", "--claim", "mu=1", "--data", "table.csv"], "ended with code 3"),
        *(
            pytest.param(
                [f"fits.py::{name}", "--claim", "mu=1", "--data", "table.csv", *more],
                said,
                marks=pytest.mark.thorough,
            )
            for name, said, *more in (
                ("imaginary", "expected arrays of numbers"),
                ("broken", "no such column"),
                ("forgets", "got None as 'output'"),
                ("undefined", "fit: expected finite numbers, got none", "--seconds", "3"),
                ("leaves", "SystemExit: no licence"),
            )
        ),
    ],
)
def test_wrong_requests_are_one_sentence(files, capsys, monkeypatch, arguments, said):
    monkeypatch.chdir(files)
    assert main(["audit", *arguments]) in (1, 2)
    assert said in capsys.readouterr().err


def test_witnesses_replace_or_join():
    data = example()
    added = witnesses.candidates(data, "add_or_remove_one")[0]
    assert (len(added.without), len(added.present)) == (len(data), len(data) + 1)
    assert added.present.iloc[-1].tolist() == data.max().tolist()
    put = witnesses.candidates(data.to_numpy(), "replace_one")[0]
    assert len(put.present) == len(data)
    assert (put.present[1:] == put.without[1:]).all()
    given = witnesses.candidates(data, "add_or_remove_one", {c: 0.5 for c in data.columns})
    assert given[0].present.iloc[-1].tolist() == [0.5] * 5
    with pytest.raises(RequestError, match="got none for x2"):
        witnesses.candidates(data, "add_or_remove_one", {"x1": 0.5})
    with pytest.raises(RequestError, match="expected a pandas DataFrame"):
        witnesses.candidates([1, 2, 3], "add_or_remove_one")


def test_a_witness_leaves_the_columns_their_types():
    """A column of true and false became one of whole numbers where the witness is in."""
    frame = pd.DataFrame({
        "smoker": [True, False, True], "age": np.array([1, 2, 3], np.int8),
        "mass": np.array([0.1, 0.2, 0.3], np.float32), "sex": pd.Categorical(["a", "b", "a"]),
    })  # fmt: skip
    tried = witnesses.candidates(frame, "add_or_remove_one")
    named = [one.present.dtypes.equals(frame.dtypes) for one in tried]
    assert named[:4] == [True] * 4
    given = {"smoker": True, "age": 2, "mass": 0.7, "sex": "b"}
    for sex in ("b", None):
        (one,) = witnesses.candidates(frame, "replace_one", given | {"sex": sex})
        assert one.present.dtypes.equals(frame.dtypes)
        assert one.numbers[:3].tolist() == [1.0, 2.0, 0.7]
    (one,) = witnesses.candidates(frame, "replace_one", given | {"age": "old"})
    assert one.present.age[0] == "old"
    far = tried[-1].present  # no such number fits into a byte, or into a float of 16 bits
    assert far.age.tolist()[-1] == 2_003
    (far,) = witnesses.candidates(
        frame.astype({"mass": np.float16}), "replace_one", given | {"mass": 1e6}
    )
    assert far.present.mass[0] == 1e6


@pytest.mark.parametrize(
    ("more", "said"),
    [({"processes": -1}, "processes: expected a whole"), ({"pairs": 0}, "pairs: expected a whole")],
)
def test_counts_out_of_range_are_one_sentence(more, said):
    """The one never ended, the other failed without a word."""
    with pytest.raises(RequestError, match=said):
        audit_function(lambda records, rng: 0.0, np.ones((3, 1)), "epsilon=1", **more)


@pytest.mark.parametrize(("attacked", "shown"), [(1.239, "1.23"), (0.29, "0.29")])
def test_what_an_attack_shows_at_least_is_rounded_down(attacked, shown):
    found = Attacked(
        claim=claim.read("epsilon=1"), attacked=attacked, could_show=2.0, broken=True,
        confidence=0.95, pairs=9, learned_from=9, witness="", statistics=(), right=1.0, seconds=1.0,
    )  # fmt: skip
    assert found.sentence.endswith(f"shows at least ε = {shown}.")


def test_a_file_imports_what_lies_beside_it(tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "path", [*sys.path])
    (tmp_path / "beside_the_function.py").write_text("def fit(records, rng):\n    return 0.0\n")
    path = tmp_path / "fits.py"
    path.write_text("from beside_the_function import fit\n")
    for _ in range(3):
        assert trainings.function(f"{path}::fit")(None, None) == 0.0
    assert sys.path.count(str(tmp_path)) == 1


def test_a_file_with_a_dataclass_imports(tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "path", [*sys.path])
    path = tmp_path / "random.py"  # and takes no other module's place
    path.write_text(
        "from __future__ import annotations\nfrom dataclasses import dataclass\n"
        "@dataclass\nclass Fit:\n    a: int = 1\n    def __call__(self, records, rng):\n"
        "        return 0.0\nfit = Fit()\n"
    )
    assert trainings.function(f"{path}::fit").a == 1
    assert sys.modules["random"] is random
    found = PathFinder.find_spec("random", sys.path)
    assert found is not None
    assert found.origin != str(path)
    (tmp_path / "notes.txt").write_text("")
    with pytest.raises(RequestError, match=r"expected FILE.py::FUNCTION, got the file"):
        trainings.function(f"{tmp_path / 'notes.txt'}::fit")


def test_outputs_of_any_shape_become_features():
    parts = trainings.arrays({"b": [1.0, math.nan, 2.0], "a": 3})
    assert list(parts) == ["a", "b"]
    told = trainings.features(parts, np.array([2.0]))
    assert told["undefined numbers of b"] == 1
    assert told["distance to the witness of b"] == 0.0
    assert told["b[2]"] == 2.0
    assert trainings.arrays((np.ones(2), 1.0)).keys() == {"output 0", "output 1"}
    for nothing, name in ((None, "output"), ({"a": 1.0, "b": None}, "b"), ([1.0, None], "output")):
        with pytest.raises(RequestError, match=f"got None as '{name}'"):
            trainings.arrays(nothing)


def test_a_function_that_fails_is_one_sentence():
    with pytest.raises(TrainingError, match="got KeyError: 'age'"):
        audit_function(lambda records, rng: records["age"], example(), "mu=1", seconds=1.0)


def noisy(records, rng):
    return records["x1"].clip(0, 1).sum() + rng.laplace()


def fussy(records, rng):
    """Refuses what is out of bounds."""
    if records.to_numpy().max() > 5.0:
        raise ValueError("out of bounds")
    return noisy(records, rng)


@pytest.mark.thorough
def test_a_record_with_which_a_function_fails_is_named():
    found = audit_function(fussy, example(), "epsilon=1", seconds=LONG, pairs=64)
    assert not found.broken
    assert {one.record for one in found.failed} == {
        "far beyond the largest", "far beyond, the last column smallest",
        "far beyond in every column",
    }  # fmt: skip
    assert found.sentence.endswith(
        ' It failed in 48 of 48 trainings with a record "far beyond the largest" or "far beyond, '
        'the last column smallest" or "far beyond in every column", and in none of 64 without '
        "such a record: failing tells that the record is there."
    )
    told = json.loads(json.dumps(found.json()))["failed"]
    assert told[0] == {"record": "far beyond the largest", "failed": 16, "trainings": 16}


@pytest.mark.thorough
def test_a_function_that_fails_without_the_record_too_tells_of_none():
    calls = itertools.count()

    def warms_up(records, rng):
        if next(calls) < 6:
            raise ValueError("not yet")
        return noisy(records, rng)

    found = audit_function(warms_up, example(), "epsilon=1", seconds=LONG, pairs=16)
    assert found.failed == ()
    assert "failed" not in found.sentence


@pytest.mark.thorough
@pytest.mark.parametrize("size", [1, 500])
def test_a_function_that_remembers_shows_nothing(size):
    kept = {}

    def remembers(records, rng):
        return kept.setdefault("sum", noisy(records, rng) * np.ones(size))

    found = audit_function(remembers, example(), "epsilon=1", seconds=LONG, pairs=64)
    assert found.constant
    assert (found.attacked, found.could_show) == (0.0, 0.0)
    assert found.sentence == (
        "Not refuted: ε = 1 is claimed, but this attack shows nothing: all trainings in one "
        "process gave the same numbers, with the record and without it, so the function may keep "
        "the result of an earlier call. Nothing is proved, since nothing was declared."
    )


@pytest.mark.thorough
def test_large_numbers_that_differ_are_not_the_same():
    found = audit_function(
        lambda records, rng: 1e17 * noisy(records, rng),
        example(),
        "epsilon=1",
        seconds=LONG,
        pairs=32,
    )
    assert not found.constant


@pytest.mark.thorough
@pytest.mark.parametrize("name", ["nothing", "randomised_response", "laplace_sum"])
def test_a_function_that_draws_noise_does_not_remember(name):
    found = audit_function(
        FUNCTIONS[name].fit, example(), FUNCTIONS[name].claim, seconds=LONG, pairs=32
    )
    assert not found.constant
    assert found.could_show > 0.0


def test_one_training_of_each_kind_is_not_enough_to_call_a_function_constant():
    same = Same()
    same.also(trainings.Told(("a",), np.ones((1, 1)), np.ones((1, 1)), 0))
    same.also(trainings.Told(("a",), np.zeros((1, 1)), np.zeros((1, 1)), 1))
    assert not same.shown
    same.also(trainings.Told(("a",), np.ones((2, 1)), np.ones((2, 1)), 0))
    assert same.shown
    same.also(trainings.Told(("a", "b"), np.ones((1, 2)), np.ones((1, 2)), 1))
    assert not same.shown


@pytest.mark.thorough
def test_failing_and_remembering_functions_in_files_are_told_too(files, capsys, monkeypatch):
    monkeypatch.setattr(function, "SEARCH", LONG)  # all witnesses are tried, and little more
    monkeypatch.setattr(function, "PILOT", (16, 16))
    for name, said in (("fussy", "failing tells that"), ("remembers", "shows nothing")):
        line = ["audit", f"{files / 'fits.py'}::{name}", "--claim", "epsilon=1", "--json"]
        assert main([*line, "--data", str(files / "table.csv"), "--seconds", "4"]) == 0
        assert said in json.loads(capsys.readouterr().out)["said"]
