"""Runs of other libraries: priced as they ran, refused where they are wrong, kept and removed."""

import ast
import dataclasses
import enum
import json
import math
from importlib.util import find_spec
from pathlib import Path
from types import SimpleNamespace

import pytest
from dp_accounting import (
    GaussianDpEvent,
    NeighboringRelation,
    PoissonSampledDpEvent,
    SelfComposedDpEvent,
)
from dp_accounting.pld import PLDAccountant

from engine.cli.main import main
from engine.core.errors import RequestError
from engine.yours import forms, kept_runs, library_run, writers

RUN = {
    "library": "Some Library 1.0", "records": 60_000, "noise_multiplier": 1.1, "steps": 1_200,
    "clipping_norm": 1.0, "sampling": "poisson", "rate": 0.01, "epsilon_claimed": 1.4,
    "delta": 1e-5,
}  # fmt: skip
CURVE = {
    **RUN, "dataset": "mnist", "sampling": "shuffled",
    "results": [
        {"epsilon_claimed": at, "noise_multiplier": noise, "seed": seed, "accuracy": 0.9 + at / 100}
        for at, noise in ((1.0, 1.4), (2.0, 1.0)) for seed in range(3)
    ],
}  # fmt: skip


@pytest.fixture
def home(tmp_path, monkeypatch):
    """A folder of one's own."""
    monkeypatch.setenv("EXPLORER_HOME", str(tmp_path / "home"))
    return tmp_path


def written(told):
    return json.dumps({"format": library_run.FORMAT, "version": 1, **told}).encode()


@pytest.mark.parametrize(
    ("noise", "rate", "steps"),
    [(1.1, 0.01, 1_200), (0.7, 0.005, 500), (2.0, 0.1, 300), (1.0, 0.02, 50), (4.0, 0.5, 200)],
)
@pytest.mark.thorough
def test_a_recorded_run_costs_what_the_accountant_says(noise, rate, steps):
    told = {**RUN, "noise_multiplier": noise, "rate": rate, "steps": steps}
    event = SelfComposedDpEvent(PoissonSampledDpEvent(rate, GaussianDpEvent(noise)), steps)
    expected = PLDAccountant(value_discretization_interval=1e-3).compose(event).get_epsilon(1e-5)
    assert library_run.checked(told).epsilon() == pytest.approx(expected, rel=0.01)


@pytest.mark.thorough
def test_shuffled_batches_are_priced_as_they_ran():
    """An epoch of shuffled batches is one release: 12 epochs at noise 1.1, by hand μ = √12/1.1."""
    run = library_run.checked({**RUN, "sampling": "shuffled"})
    card = library_run.card(run)
    (release,) = run.releases()
    assert release.met() == 12
    assert card.epsilon_proved > 5 * run.epsilon("poisson")
    assert f"{run.epsilon('poisson'):.4g}" in " ".join(card.reasons)
    assert "less than is proved" in " ".join(card.reasons)
    assert card.relation == "zero_out_one"  # with a record more, other batches change too
    assert library_run.card(library_run.checked(RUN)).relation == "add_or_remove_one"
    assert library_run.document(run)["mu"] == pytest.approx(math.sqrt(12) / 1.1)


@pytest.mark.parametrize("sampling", ["poisson", "shuffled"])
def test_where_nothing_is_proved_no_claim_is_said_to_be_less(sampling):
    """Gaussian noise has no finite ε at δ = 0."""
    card = library_run.card(library_run.checked({**RUN, "delta": 0.0, "sampling": sampling}))
    assert (card.epsilon_proved, card.status) == (None, "heuristic")
    said = " ".join(card.reasons)
    assert "No finite ε is proved of gaussian noise at δ = 0." in said
    assert "inf" not in said.replace("finite", "")
    assert "less than is proved" not in said


def test_a_last_batch_that_is_smaller_counts_as_a_batch():
    """60 records in batches of 7 are 9 batches: 9 steps are one epoch, where the rate alone
    would have counted a part of a second one."""
    told = {**RUN, "records": 60, "sampling": "shuffled", "rate": 7 / 60, "steps": 9}
    assert library_run.checked(told).releases()[0].met() == 2
    assert library_run.checked({**told, "cycle": 9}).releases()[0].met() == 1


def test_groups_that_take_turns_meet_their_own_steps_alone():
    """Three groups of which each draws its records by coins in every third of 300 steps."""
    run = library_run.checked({**RUN, "rate": 0.1, "cycle": 3, "steps": 300})
    event = SelfComposedDpEvent(PoissonSampledDpEvent(0.1, GaussianDpEvent(1.1)), 100)
    expected = PLDAccountant(value_discretization_interval=1e-3).compose(event).get_epsilon(1e-5)
    assert run.epsilon() == pytest.approx(expected, rel=0.01)


@pytest.mark.parametrize(
    ("told", "most"),
    [
        ({"sampling": "shuffled"}, 100),
        ({"sampling": "shuffled", "records": 60, "rate": 7 / 60}, 9),
        ({"sampling": "shuffled", "records": 10**9, "rate": 1 / 999_999_999}, 999_999_999),
        ({"sampling": "all"}, 1),
        ({"rate": 0.1, "records": 30}, 30),
    ],
)
def test_a_cycle_that_is_longer_than_the_batches_allow_is_refused(told, most):
    """Each record would be in fewer steps than it was: 1 % of them come again after 100 batches."""
    assert library_run.checked({**RUN, **told, "cycle": most}).cycle == most
    row = {"epsilon_claimed": 1.0, "cycle": most + 1, "accuracy": 0.5}
    for more in ({"cycle": most + 1}, {"results": [row]}):
        with pytest.raises(RequestError, match=f"cycle: expected at most {most} steps"):
            library_run.checked({**RUN, **told, **more})


@pytest.mark.thorough
def test_the_rate_of_groups_that_take_turns_is_said_to_be_that_of_the_group():
    """Ten groups, of which a tenth is drawn in its turn: 1 % of all records are in a batch."""
    told = {**RUN, "rate": 0.1, "cycle": 10}
    document = library_run.document(library_run.checked(told))
    said = " ".join(document["guarantee"]["reasons"])
    assert "took turns in 10 groups" in said
    assert "drawn with probability 0.1" in said
    assert document["settings"]["cycle"] == 10
    assert "cycle" not in library_run.document(library_run.checked(RUN))["settings"]
    schema = json.loads(library_run.SCHEMA.read_text())["properties"]
    assert "drawn when the turn of its group comes" in schema["rate"]["description"]


@pytest.mark.thorough
def test_a_file_of_a_run_becomes_a_card(tmp_path, capsys):
    file, card = tmp_path / "run.json", tmp_path / "card.json"
    file.write_bytes(written(RUN))
    assert main(["card", "library", str(file), "--to", str(card)]) == 0
    assert main(["card", "verify", str(card), "--json"]) == 0
    assert json.loads(capsys.readouterr().out.splitlines()[-1])["right"]


@pytest.mark.parametrize(("scale", "broken"), [(0.2, True), (5.0, False)])
@pytest.mark.thorough
def test_the_function_of_a_run_is_attacked_too(scale, broken, tmp_path):
    """A clipped sum with Laplace noise of scale .2 is private with ε = 5, and 1.4 is claimed."""
    file, card, data = (tmp_path / name for name in ("run.json", "card.json", "data.csv"))
    (tmp_path / "my.py").write_text(
        f"def fit(records, rng):\n    return records.x.clip(0, 1).sum() + rng.laplace(0, {scale})\n"
    )
    data.write_text("x\n" + "0\n1\n" * 20)
    file.write_bytes(written(RUN))
    line = ["card", "library", str(file), "--to", str(card), "--data", str(data)]
    seconds = "600" if broken else "4"  # it ends once the claim is refuted
    assert main([*line, "--function", f"{tmp_path / 'my.py'}::fit", "--seconds", seconds]) == 0
    told = json.loads(card.read_text())["attacked"]
    assert told["broken"] == broken
    assert told["claim"]["epsilon"] == 1.4
    assert main(["card", "verify", str(card)]) == 0
    card.write_text(card.read_text().replace(f'"broken": {json.dumps(broken)}', '"broken": 1'))
    assert main(["card", "verify", str(card)]) == 1


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("rate", 2.0), ("steps", 1.5), ("records", None), ("noise_multiplier", "1"),
        ("sampling", "some"), ("library", ""), ("results", 3), ("colour", "red"), ("delta", True),
        ("noise_multiplier", 1e-9), ("dataset", "<b>x</b>"), ("library", "www.x.org 1"),
        ("library", "a\nb"), ("unit", "[x](http://x.org)"), ("dataset", ":material/lock:"),
        ("library", "$x$"), ("results/0", [1]), ("results/0/accuracy", "1"),
    ],
)  # fmt: skip
def test_a_wrong_field_is_named(field, value):
    name, *way = field.split("/")
    for part in reversed(way):
        value = [value] if part == "0" else {part: value}
    with pytest.raises(RequestError, match=f"{field}: expected"):
        library_run.checked({**RUN, name: value[0] if way == ["0"] else value})


def test_counts_may_be_written_as_r_does():
    """300.0 passed the schema and ended in a traceback."""
    told = {**RUN, "steps": 300.0, "records": 60_000.0, "cycle": 3.0}
    run = library_run.checked(told)
    assert run == library_run.checked({**RUN, "steps": 300, "cycle": 3})
    assert isinstance(run.releases()[0].times, int)
    row = {"accuracy": 0.9, "steps": 300.0, "cycle": 3.0}
    (point,) = library_run.checked({**RUN, "cycle": 3, "results": [row]}).points.values()
    assert [type(one) for one in (point.run.steps, point.run.cycle)] == [int, int]


def test_results_must_fit_together():
    row = {"epsilon_claimed": 1.0, "accuracy": 0.5}
    for results, said in (
        ([{**row, "loss": 1.0}], 'expected {"loss": "up"} or "down"'),
        ([{**row, "noise_multiplier": 1.0}, row], "expected the same noise_multiplier"),
        ([{**row, "accuracy": 50.0}], "accuracy: expected shares from 0 to 1"),
        ([{**row, "epsilon_claimed": 1.0 + i} for i in range(51)], "expected at most 50 ε"),
    ):
        with pytest.raises(RequestError, match=said):
            library_run.checked({**RUN, "results": results})
    good = library_run.checked(
        {**RUN, "results": [{**row, "loss": 1.0}], "measures": {"loss": "down"}}
    ).good
    assert good == {"accuracy": "up", "loss": "down"}


@pytest.mark.parametrize(
    "content",
    [
        b"", b"[]", b"null", b"[" * 100_000, b'{"format": NaN}', b"\xff\xfe{\x00}\x00",
        b"x" * (forms.MOST + 1), b'{"a": ' + b"9" * 5_000 + b"}",
        b"\x80\x04\x95\x0b\x00\x00\x00\x00\x00\x00\x00\x8c\x05posix\x94.",
    ],
)  # fmt: skip
def test_what_is_no_run_is_one_sentence_and_is_not_kept(content, home):
    with pytest.raises(RequestError, match="expected"):
        kept_runs.keep(content)
    assert kept_runs.names() == ()


@pytest.mark.thorough
def test_a_run_is_kept_once_priced_and_removed(home, capsys):
    file = home / "run.json"
    file.write_bytes(written(CURVE))
    assert main(["card", "library", str(file), "--keep"]) == 0
    assert main(["card", "library", str(file), "--keep"]) == 0
    (name,) = kept_runs.names()
    assert capsys.readouterr().out.split() == [name, name]
    kept = kept_runs.find(name)
    run = library_run.checked(CURVE)
    for at, noise in ((1.0, 1.4), (2.0, 1.0)):
        proved, coins = kept.prices[at]
        assert proved == run.points[at].run.epsilon()
        assert coins == run.points[at].run.epsilon("poisson")
        assert run.points[at].run.noise_multiplier == noise
        assert proved > 5 * coins
    assert main(["card", "list", "--json"]) == 0
    (told,) = json.loads(capsys.readouterr().out)["runs"]
    assert (told["name"], told["claimed_low"], told["claimed_high"]) == (name, 1.0, 2.0)
    assert main(["card", "remove", name]) == 0
    assert kept_runs.names() == ()
    assert main(["card", "remove", name]) != 0
    assert main(["card", "remove", "../store"]) != 0


@pytest.mark.thorough
def test_the_list_of_runs_tells_methods_apart(home, capsys):
    for method in ("a narrow network", "a wide network"):
        result = {"epsilon_claimed": 1.4, "accuracy": 0.9}
        kept_runs.keep(written({**RUN, "method": method, "results": [result]}))
    assert main(["card", "list", "--json"]) == 0
    runs = json.loads(capsys.readouterr().out)["runs"]
    assert {run["method"] for run in runs} == {"a narrow network", "a wide network"}
    assert {run["data"] for run in runs} == {"not said"}
    assert main(["card", "list"]) == 0
    assert "a wide network" in capsys.readouterr().out


@pytest.mark.thorough
def test_a_damaged_kept_run_hides_nothing(home, capsys):
    first = kept_runs.keep(written(CURVE)).name
    second = kept_runs.keep(written({**CURVE, "dataset": "digits"})).name
    (kept_runs.folder() / f"{first}.json").write_text("{")
    assert kept_runs.find(first) is None
    assert kept_runs.find(second) is not None
    assert main(["card", "list"]) == 0
    assert f"{first}: expected a kept run, got a damaged one" in capsys.readouterr().err


def test_numbers_that_take_too_long_are_refused(home, monkeypatch):
    monkeypatch.setattr(kept_runs, "SECONDS", 0.01)
    with pytest.raises(RequestError, match="expected numbers that are priced within"):
        kept_runs.keep(written(CURVE))
    assert kept_runs.names() == ()


# jax-privacy


def sources(module):
    """The source of a module of jax-privacy 2, which needs JAX to be imported."""
    found = find_spec("jax_privacy")
    if found is None:
        pytest.skip("jax-privacy is not installed: pip install --no-deps jax-privacy==2.0.0")
    (folder,) = found.submodule_search_locations
    return ast.parse(Path(folder, module).read_text(encoding="utf-8"))


def fields(tree, name):
    """The annotated fields and the methods of a class."""
    (found,) = [n for n in ast.walk(tree) if isinstance(n, ast.ClassDef) and n.name == name]
    named = [n.target.id for n in found.body if isinstance(n, ast.AnnAssign)]
    return {*named, *(n.name for n in found.body if isinstance(n, ast.FunctionDef))}


def test_the_recorded_structure_is_that_of_jax_privacy():
    """What the writer reads, and the tests below imitate, is there in version 2."""
    plan = sources("experimental/execution_plan.py")
    read = {"strategy", "l2_clip_norm", "iterations", "truncated_batch_size", "accountant", "plan"}
    assert read <= fields(plan, "BandMFExecutionPlanConfig")
    assert {"dp_event", "batch_selection_strategy"} <= fields(plan, "DPExecutionPlan")
    batches = sources("batch_selection.py")
    cyclic = {"sampling_prob", "truncated_batch_size", "cycle_length", "partition_type"}
    assert cyclic <= fields(batches, "CyclicPoissonSampling")
    assert "cycle_length" in fields(batches, "BallsInBinsSampling")


class PartitionType(enum.Enum):
    """As jax-privacy 2 declares it."""

    INDEPENDENT = enum.auto()
    EQUAL_SPLIT = enum.auto()


@dataclasses.dataclass(frozen=True)
class CyclicPoissonSampling:
    """As jax-privacy 2 declares it."""

    sampling_prob: float
    iterations: int
    truncated_batch_size: int | None = None
    cycle_length: int = 1
    partition_type: PartitionType = PartitionType.EQUAL_SPLIT


@dataclasses.dataclass(frozen=True)
class BallsInBinsSampling:
    """As jax-privacy 2 declares it."""

    iterations: int
    cycle_length: int


@dataclasses.dataclass(frozen=True)
class FixedBatchSampling:
    """As jax-privacy 2 declares it."""

    batch_size: int
    iterations: int


def config(bands=1, truncated=None, relation="REPLACE_SPECIAL"):
    """A configuration with its plan, as jax-privacy 2 makes it of noise 1.1, rate .1 and 300 steps:
    the event is that of its `amplified_bandmf_event`."""
    event = PoissonSampledDpEvent(0.1, GaussianDpEvent(1.1))
    return SimpleNamespace(
        strategy=[1.0] * bands, l2_clip_norm=0.5, iterations=300, truncated_batch_size=truncated,
        accountant=SimpleNamespace(neighboring_relation=NeighboringRelation[relation]),
        plan=SimpleNamespace(
            dp_event=SelfComposedDpEvent(event, math.ceil(300 / bands)),
            batch_selection_strategy=CyclicPoissonSampling(0.1, 300, truncated, bands),
        ),
    )  # fmt: skip


@pytest.mark.parametrize("bands", [1, 3])
@pytest.mark.thorough
def test_a_run_of_jax_privacy_is_told_as_it_was_executed(bands):
    """Coins as planned: what is claimed is proved, within the grid of the accountant."""
    told = writers.jax_privacy_run(config(bands), 60_000, 1e-5, dataset="mnist")
    run = library_run.parsed(json.dumps(told).encode())
    assert (run.sampling, run.rate, run.cycle, run.steps) == ("poisson", 0.1, bands, 300)
    assert (run.noise_multiplier, run.clipping_norm) == (1.1, 0.5)
    assert run.relation == "zero_out_one"
    assert run.library.startswith("jax-privacy")
    assert run.epsilon() == pytest.approx(run.epsilon_claimed, rel=0.01)


@pytest.mark.thorough
def test_batches_of_jax_privacy_that_were_not_those_of_the_plan_cost_more():
    bins = BallsInBinsSampling(300, 10)
    told = writers.jax_privacy_run(config(), 60_000, 1e-5, batches=bins)
    run = library_run.checked({n: v for n, v in told.items() if n not in ("format", "version")})
    assert run.releases()[0].met() == 30
    assert run.epsilon() > 2 * run.epsilon_claimed
    same = writers.jax_privacy_run(config(), 60_000, 1e-5, batches="shuffled", rate=0.1)
    assert same["cycle"] == 10


@pytest.mark.thorough
@pytest.mark.parametrize("cycle", [1, 3])
@pytest.mark.parametrize("split", PartitionType)
def test_a_record_more_permutes_groups_of_equal_size(split, cycle):
    """Then only a record whose place is left empty is compared."""
    drawn = CyclicPoissonSampling(0.1, 300, None, cycle, split)
    told = writers.jax_privacy_run(
        config(relation="ADD_OR_REMOVE_ONE"), 60_000, 1e-5, batches=drawn
    )
    equal = split is PartitionType.EQUAL_SPLIT and cycle > 1
    assert told["relation"] == ("zero_out_one" if equal else "add_or_remove_one")


@pytest.mark.parametrize(
    ("made", "more", "said"),
    [
        (config(truncated=5), {}, "batches that are not truncated"),
        (config(relation="REPLACE_ONE"), {}, "expected neighbours of"),
        (config(), {"batches": FixedBatchSampling(6, 300)}, "got FixedBatchSampling"),
        (config(3), {"batches": BallsInBinsSampling(300, 10)}, "expected a cycle of 3"),
        (config(), {"batches": "shuffled"}, "with a rate"),
        (config(2), {"batches": "shuffled", "rate": 0.1}, "in one of 2 successive steps at most"),
        (config(), {"dataset": "<b>"}, "dataset: expected"),
    ],
)
@pytest.mark.thorough
def test_what_is_not_priced_is_refused(made, more, said):
    with pytest.raises(RequestError, match=said):
        writers.jax_privacy_run(made, 60_000, 1e-5, **more)
