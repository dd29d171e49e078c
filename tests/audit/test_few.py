"""Attacks on a few records in n places: the same releases, the same faults found, less work."""

from dataclasses import replace

import pytest
import torch

from engine.audit import witness as named
from engine.audit.replay import faults
from engine.audit.runner import train
from engine.audit.training import Setting
from engine.catalog import catalog
from engine.core.batch import Batch
from engine.core.gauges import unmeasured
from engine.papers.lvq.model import factors
from engine.papers.survival.likelihood.problem import design
from engine.privacy.recording import recording, replaying
from engine.training import ghost
from engine.training.records import records
from engine.training.sampling import poisson
from tests.audit import small

ALONE = [("enadpp", "psgd"), ("enadpp", "dpsgd"), ("pcdbn", "psgd"),
         ("yesiwell", "dpsgd")]  # fmt: skip
ALIKE = ["out_pert", "obj_pert", "dp_gd", "dp_newton", "cox_dp", "km_dp"]


def setting(slug: str, method: str, **values) -> Setting:
    paper = catalog()[slug]
    entry, spec = paper.entry(method), small.spec(paper, **values)
    witness = named.load(entry)
    return Setting(entry, spec, witness.pair(spec, small.table(paper)), witness)


@pytest.mark.parametrize(("slug", "method"), ALONE)
def test_the_pair_has_all_places_and_one_record(slug, method):
    own = setting(slug, method)
    n = len(small.table(catalog()[slug]))
    assert len(own.pair.without) == len(own.pair.present) == n
    empty = set(own.pair.present.left_out) | {small.changed(own.pair)}
    assert set(own.pair.without.left_out) == empty
    assert len(empty) == n


def _rescaled(*args, **kwargs):
    """Every gradient is twice as long after it was clipped."""
    found = CLIPPED(*args, **kwargs)
    sums = tuple(tuple(2.0 * part for part in own) for own in found.sums)
    return ghost.Clipped(sums, found.norms, found.losses)


CLIPPED = ghost.clipped_sum


@pytest.mark.parametrize("method", [pytest.param("psgd", marks=pytest.mark.thorough), "dpsgd"])
def test_a_gradient_scaled_after_clipping_is_caught_on_one_record(method, monkeypatch):
    monkeypatch.setattr(ghost, "clipped_sum", _rescaled)
    found = list(faults(setting("enadpp", method, epsilon=4.0)))
    assert any("within the sensitivity, got" in one for one in found)


def test_a_factor_after_clipping_is_caught_in_relevance_learning(monkeypatch):
    clipped = factors
    monkeypatch.setattr(
        "engine.papers.lvq.descent.factors",
        lambda *args: (2.0 * clipped(*args)[0], clipped(*args)[1]),
    )
    found = list(faults(setting("lvq", "glvq_dp", clip=0.1)))
    assert any("within the sensitivity, got" in one for one in found)


def test_places_left_out_are_taken_out_and_nothing_else_changes():
    whole = records(small.digits(), "cpu")
    some = tuple(range(0, len(whole), 3))
    few, rng = replace(whole, left_out=some), torch.Generator
    index, present = whole.draw(7, 0.3, rng().manual_seed(1))
    kept, there = few.draw(7, 0.3, rng().manual_seed(1))
    assert torch.equal(index, poisson(7, len(whole), 0.3, rng().manual_seed(1))[0])
    for row in range(7):
        drawn = index[row][present[row] > 0].tolist()
        assert kept[row][there[row] > 0].tolist() == [i for i in drawn if i not in some]
    assert kept.shape[1] < index.shape[1]


def test_with_nobody_left_the_batch_is_padding():
    whole = records(small.digits(), "cpu")
    none = replace(whole, left_out=tuple(range(len(whole))))
    index, present = none.draw(3, 0.5, torch.Generator().manual_seed(0))
    assert index.shape == (3, 1)
    assert not present.any()


@pytest.mark.parametrize("method", ALIKE)
def test_equal_persons_worked_on_once_release_what_all_of_them_do(method):
    """Up to rounding; noise inside an objective is the same, and so is its answer."""
    own = setting("survival", method)
    entry, spec = own.entry, own.spec
    batch, tables = Batch(spec, (spec,), (0,)), (replace(own.pair.present, alike=False),)
    assert own.pair.present.alike
    states, released = [], []
    for table in (own.pair.present, *tables):
        run, rng = entry.load(), torch.Generator().manual_seed(3)
        seen = recording() if not released else replaying(released[0])
        with unmeasured(), torch.no_grad(), seen as kept:
            state = run.init(batch, table, rng)
            for _ in range(entry.steps(spec, len(table))):
                state, _ = run.step(batch, table, state, rng)
        released.append(kept.releases)
        states.append(state)
    for one, other in zip(*released, strict=True):
        for a, b in zip(one.values, other.values, strict=True):
            torch.testing.assert_close(a, b, rtol=1e-9, atol=1e-9)
    if method == "obj_pert":
        torch.testing.assert_close(states[0].f, states[1].f, rtol=1e-7, atol=1e-9)


def test_a_published_table_keeps_every_row():
    assert design(small.people(), 10, 3).copies is None


def test_few_of_the_persons_differ():
    present = setting("survival", "dp_gd").pair.present
    model = design(present, 10, 3)
    assert model.records == len(present)
    assert model.rows < len(present) / 2


@pytest.mark.parametrize(("slug", "method"), [("pcdbn", "pcdbn"), ("yesiwell", "pcdbn")])
def test_trainings_stop_after_the_last_release(slug, method):
    own = setting(slug, method, calibration="rigorous")
    assert own.stages == range(-1, 0)
    assert not own.whole
    scores, reach = train(own, 1, 2)
    assert set(scores) == {"likelihood ratio of the releases", "last digits of the noise"}
    assert 0.5 < reach <= 1.0 + 1e-5


def test_where_something_leaves_unproved_the_final_state_is_scored():
    own = setting("yesiwell", "dpah", calibration="paper", epochs=2)
    assert own.whole
    scores, _ = train(own, 1, 2)
    assert set(scores) == {"what the final model says of the user's later days"}
