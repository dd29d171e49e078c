"""What is published follows from releases alone, or `verify` and `run --release` refuse it."""

import json
from dataclasses import replace

import numpy as np
import pytest
import torch

from datasets import catalog as data
from datasets import own
from datasets.base import Bounds, LabelledTable, SurvivalTable
from engine import catalog
from engine.audit import neighbours
from engine.audit.published import MOST, STEPS, alike, leaves, shorter, verify
from engine.cli.main import main
from engine.cli.verify import verified
from engine.core.errors import RequestError
from engine.papers.survival.mechanisms import compared as log_rank
from engine.papers.survival.price.compared import significance
from engine.runs import ledger
from engine.runs.job import request
from tests.audit import planted, small


def asked(slug: str, capsys, *more: str):
    """The exit code of `verify` and what it prints."""
    code = main(["verify", slug, "laplace", "--dataset", "flchain", "--json", *more])
    shown = capsys.readouterr()
    return code, json.loads(shown.out), shown.err


NAMES = {
    "a histogram without noise": "array histogram",
    "half of a histogram without noise": "array histogram",
    "the exact mean in the final state": "state mean",
    "one seed for two releases": "releases",
    "a bound of at most the data's maximum": "releases",
    "edges from the data": "array edges",
    "an exact count": "array above",
    "a threshold from the data": "array histogram",
    "stopping early by the data": "releases",
    "noise before clipping": "releases",
    "an array of another run": "array histogram",
    "a name from the data": "array bins",
    "a length from the data": "array histogram",
    "an order from the data": "array order",
    "digits of the data": "measure mean",
    "the sign of a zero": "array histogram",
    "a measure of the records": "measure bias",
    "an error that tells of a record": "releases",
    "noise of the records' own scale": "releases",
    "noise that is no release": "releases",
    "noise seeded by the records": "releases",
}
"""What is named, by fault."""


@pytest.mark.parametrize("fault", planted.FAULTS)
@pytest.mark.thorough
def test_a_planted_mutant_is_refused_and_named(fault, outside, capsys):
    code, found, said = asked(outside(fault), capsys)
    assert code == 1
    assert any(name.startswith(NAMES[fault]) for name in found["differs"])
    assert set(found["differs"]) <= set(found["published"])
    assert all(f"{name}: " in said for name in found["differs"])


def test_a_sound_copy_is_not_refused(outside, capsys):
    code, found, said = asked(outside(), capsys)
    assert (code, found["differs"], said) == (0, [], "")
    assert found["public"] == ["array edges"]
    assert {"array histogram", "measure mean", "state mean", "releases"} <= set(found["published"])
    assert {f"file {name}" for name in ("release.npz", "card.json", "README.md")} <= set(
        found["published"]
    )


@pytest.mark.parametrize("fault", ["", "edges from the data"])
def test_a_release_that_differs_writes_nothing(fault, outside, capsys, tmp_path):
    folder = tmp_path / "out"
    asked = ["run", outside(fault), "laplace", "--release", "--to", str(folder)]
    assert main(asked) == (1 if fault else 0)
    assert folder.exists() is not bool(fault)
    assert not list(tmp_path.glob(".*.release"))
    said = capsys.readouterr().err
    assert bool(fault) is ("nothing is written, since array edges" in said)


@pytest.mark.parametrize(("records", "epsilon"), [(60, 1.0), (1_500, 0.5), (1_500, 0.1)])
def test_a_test_that_noise_hides_is_refused_and_no_other_one(
    records, epsilon, monkeypatch, tmp_path, capsys
):
    """At ε = 0.5, 870 records are enough, and the first 500 of 1,500 are too few."""
    monkeypatch.setenv("EXPLORER_HOME", str(tmp_path))
    rows = "".join(f"{i % 99 + 1},{i % 2},{i % 50}\n" for i in range(records))
    stated = "[columns.time]\nhigh = 100\n[columns.age]\nlow = 0\nhigh = 50\n"
    name = own.keep("a.csv", f"time,event,age\n{rows}".encode(), stated)
    settings = {"group": 1, "intervals": 50, "epsilon": epsilon}
    said = [f"--set={key}={value}" for key, value in settings.items()]
    asked = ["run", "survival", "log_rank", "--dataset", name, *said, "--release"]
    hidden = epsilon == 0.1 or records == 60
    assert main([*asked, "--to", str(tmp_path / "out")]) == int(hidden)
    assert (tmp_path / "out").exists() is not hidden
    wanted = (
        "release: expected numbers in array log_rank and array p_value, got none, since the noise "
        f"is too large for {records:,} records: take more records or a larger epsilon\n"
    )
    assert (capsys.readouterr().err == wanted) is hidden


def compared(epsilon=1.0, records=20_000):
    """The log-rank test, a setting, and two groups of which one lives ten times as long."""
    paper = catalog.catalog()["survival"]
    place = np.arange(records)
    later = place % 2
    bounds = Bounds(covariates=((0.0, 1.0), (0.0, 50.0)), horizon=100.0, source="")
    card = replace(small.people().card, records=records, events=records, bounds=bounds,
                   features=("group", "age"), units=())  # fmt: skip
    x = np.stack([later, place % 50], 1).astype(float)
    time = np.where(later, 1.0 + place % 99, 1.0 + place % 9).astype(float)
    table = SurvivalTable(card, x, time, np.ones(records, bool))
    return paper, paper.entry("log_rank"), paper.spec(epsilon=epsilon, group=1, intervals=50), table


def raw_score(batch, table):
    """The statistic and the p-value of the records without noise."""
    exact = log_rank.counted(log_rank._bounded(table, batch.spec), batch.spec.intervals, 0)
    return significance(exact[None].numpy(), 0.0, len(table))


def from_records(made, raw, seen):
    """The p-value of the records themselves."""
    return {"p_value": raw[1]}


def where_noise_lets(made, raw, seen):
    """The p-value of the records, unless that of the noisy counts is 0."""
    return {"p_value": np.where(made["p_value"] > 0.0, raw[1], made["p_value"])}


def from_the_first_run(made, raw, seen):
    """The p-value of whatever was run first."""
    return {"p_value": seen.setdefault("p", raw[1])}


def score_of_the_first_run(made, raw, seen):
    """The statistic of whatever was run first, without noise."""
    return {"log_rank": seen.setdefault("z", raw[0])}


@pytest.mark.parametrize(
    ("leak", "name", "fixed"),
    [
        (None, "", ()),
        (from_records, "array p_value", ()),
        (where_noise_lets, "array p_value", ()),
        (from_the_first_run, "array p_value", ("array p_value",)),
        (score_of_the_first_run, "array log_rank", ("array log_rank",)),
    ],
)
def test_a_p_value_of_0_may_be_released_and_one_of_raw_counts_may_not(
    leak, name, fixed, monkeypatch
):
    """All noise leaves the p-value of a very large difference at 0; other releases move it."""
    paper, entry, spec, table = compared()
    kept, seen = log_rank.PrivateLogRank.products, {}

    def products(self, batch, data, state):
        made = kept(self, batch, data, state)
        return made | (leak(made, raw_score(batch, data), seen) if leak else {})

    monkeypatch.setattr(log_rank.PrivateLogRank, "products", products)
    found, arrays = verify(paper, entry, spec, table)
    assert leak is from_the_first_run or arrays[0]["p_value"].tolist() == [0.0]
    assert found.records == len(table)
    assert found.differs == ((name,) if name else ())
    assert found.fixed == fixed


def two_groups(records):
    """The text of the table of `compared`."""
    _, _, _, table = compared(records=records)
    rows = (f"{t:g},1,{g:g},{a:g}" for t, (g, a) in zip(table.time, table.x, strict=True))
    return "\n".join(["time,event,group,age", *rows]).encode()


STATED = """[columns.time]
high = 100
[columns.group]
low = 0
high = 1
[columns.age]
low = 0
high = 50
"""


@pytest.mark.thorough
def test_a_very_large_difference_is_released(monkeypatch, tmp_path):
    monkeypatch.setenv("EXPLORER_HOME", str(tmp_path))
    name = own.keep("a.csv", two_groups(20_000), STATED)
    said = ["--set=group=1", "--set=intervals=50", "--set=epsilon=1"]
    asked = ["run", "survival", "log_rank", "--dataset", name, *said, "--release"]
    assert main([*asked, "--to", str(tmp_path / "out")]) == 0
    with np.load(tmp_path / "out" / "release.npz") as made:
        assert made["p_value"].item() == 0.0


@pytest.mark.thorough
@pytest.mark.parametrize(("records", "code"), [(3_000, 1), (10_000, 0)])
def test_a_band_that_noise_cannot_move_is_refused_in_a_true_sentence(
    records, code, monkeypatch, tmp_path, capsys
):
    """At ε = 0.001 the band of 3,000 records is 0 to 1 from all releases, of 10,000 not."""
    monkeypatch.setenv("EXPLORER_HOME", str(tmp_path))
    name = own.keep("a.csv", two_groups(records), STATED)
    asked = ["run", "survival", "km_dp", "--dataset", name, "--set=epsilon=0.001", "--release"]
    assert main([*asked, "--to", str(tmp_path / "out")]) == code
    said = capsys.readouterr().err
    assert ledger.read(name).releases == () or not code
    if code:
        assert said == (
            "release: expected array km_high and array km_low to change with what is released, got "
            "the same from any noise and other records: take more records or a larger epsilon\n"
        )


def test_what_no_proof_covers_is_not_verified(capsys):
    assert main(["verify", "mean", "exact"]) == 2
    assert "expected one whose releases are all priced" in capsys.readouterr().err
    assert main(["verify", "mean", "laplace", "--sweep", "epsilon=1,2"]) == 2


@pytest.mark.thorough
def test_a_method_is_verified_as_it_is_priced(capsys):
    """With the class means of public bounds its card on this data set is proved."""
    words = ["lvq", "glvq_dp", "--set", "initialisation=sensitivity_1", "--set", "epochs=1"]
    main(["verify", *words])
    assert "expected one whose releases are all priced" not in capsys.readouterr().err


def test_a_verdict_is_a_table(capsys):
    assert main(["verify", "mean", "gaussian"]) == 0
    shown = capsys.readouterr().out
    assert "array edges" in shown
    assert "public" in shown


@pytest.mark.thorough
def test_noise_inside_an_objective_needs_a_name_for_its_answer():
    paper = catalog.catalog()["survival"]
    entry = paper.entry("obj_pert")
    right, _ = verify(paper, entry, small.spec(paper), small.people())
    assert right.differs == ()
    wrong, _ = verify(paper, replace(entry, answer=""), small.spec(paper), small.people())
    assert "releases" in wrong.differs


def test_a_state_that_nobody_declares_is_not_raw():
    paper = catalog.catalog()["mean"]
    bare = replace(paper, raw=())
    found, _ = verify(bare, bare.entry("laplace"), bare.spec(), small.people())
    assert set(found.differs) == {"state raw", "state counts.1"}


@pytest.mark.thorough
@pytest.mark.parametrize("name", ["dp_ftrl"])
def test_whitened_records_are_raw_and_what_whitens_them_is_not(name):
    paper = catalog.catalog()["enadpp"]
    spec = small.spec(paper, representation="whitened")
    found, _ = verify(paper, paper.entry(name), spec, small.digits())
    assert found.differs == ()
    assert "state white.maps" in found.published


@pytest.mark.slow
@pytest.mark.parametrize(
    ("slug", "name"),
    [(p.slug, e.name) for p in catalog.catalog().values() for e in p.methods if e.witness],
)
def test_every_method_passes_at_the_settings_that_its_page_opens_with(slug, name):
    """`run --release` without `--set` asks for these, so none may be refused."""
    paper = catalog.paper(slug)
    dataset = next(name for name in paper.datasets if data.card(name).embedded)
    job = request(slug, name, dataset, paper.begins(name, dataset))
    try:
        found = verified(job, data.load(dataset))
    except RequestError as error:
        assert "expected one whose releases are all priced" in str(error)
        return
    assert found.differs == ()


def test_a_long_run_is_shortened_by_what_makes_it_long():
    paper = catalog.catalog()["enadpp"]
    entry, spec = paper.entry("dpsgd"), paper.spec(epochs=30)
    actual = shorter(entry, spec, MOST)
    assert entry.steps(spec, MOST) > STEPS >= entry.steps(actual, MOST)
    changed = {name for name, value in actual.values().items() if value != spec.values()[name]}
    assert changed == {"epochs"}


@pytest.mark.thorough
@pytest.mark.parametrize("table", [small.digits, small.people, small.users])
@pytest.mark.parametrize("relation", ["replace_one", "zero_out_one", "add_or_remove_one"])
def test_other_tables_keep_to_public_bounds_and_change_what_is_private(table, relation):
    own = table()
    for words, other in neighbours.others(own, relation):
        low, high = neighbours.limits(own)
        assert (other.x >= low).all(), words
        assert (other.x <= high).all(), words
        gone = 1 if words == "the last record is gone" else 0
        assert len(other) == len(own) - gone
        differ = [
            name
            for name in ("x", "y", "time", "event", "missing", "left_out")
            if not np.array_equal(getattr(own, name, None), getattr(other, name, None))
        ]
        assert differ, words
    said = [words for words, _ in neighbours.others(own, relation)]
    assert len(set(said)) == len(said)
    if isinstance(own, SurvivalTable):
        assert {"nobody has the event", "half of all records without values"} <= set(said)
    if isinstance(own, LabelledTable):
        assert "a class without records" in said
    assert ("the last record is gone" in said) is (relation == "add_or_remove_one")


@pytest.mark.parametrize("relation", ["replace_one", "zero_out_one", "add_or_remove_one"])
def test_a_lonely_record_is_the_maximum(relation):
    pair = neighbours.lonely(small.digits(), relation, 3)
    place = 3 if relation != "add_or_remove_one" else -1
    assert (pair.present.x[place] == small.digits().bounds[1]).all()
    assert (pair.present.x.sum(1) > 0).sum() == 1


def test_persons_with_episodes_are_cut_together():
    cut = neighbours.first(data.load("heart"), 20)
    assert (len(cut), cut.card.records, cut.card.events) == (20, 20, int(cut.event.sum()))
    assert cut.episodes.person.max() == 19
    assert neighbours.lonely(cut, "replace_one") is None


def test_bits_are_compared():
    one = np.array([0.0, np.nan])
    assert alike(one, one.copy())
    assert not alike(one, np.array([-0.0, np.nan]))
    assert not alike(one, one.astype(np.float32))
    assert not alike(one, one[None])


def test_a_state_is_looked_through():
    state = {"a": (torch.zeros(2), [1, "x"]), "b": None, "c": len}
    assert [name for name, _ in leaves(state)] == ["a.0", "a.1.0", "a.1.1"]
