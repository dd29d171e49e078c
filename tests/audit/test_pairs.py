"""Trainings with and without the witness are pairs: they share all that is drawn."""

from dataclasses import replace

import pytest
import torch

from engine.audit.training import Setting, Training, seed_of
from engine.audit.witness import load
from engine.catalog import catalog
from engine.core.batch import Batch
from engine.core.gauges import unmeasured
from engine.privacy.recording import recording
from tests.audit import small

REPLICAS, SEED = 4, 3


def made(paper, entry, **changed):
    """A setting on a small table."""
    spec, witness = replace(small.spec(paper), **changed), load(entry)
    return Setting(entry, spec, witness.pair(spec, small.table(paper)), witness)


PRIVATE = [
    (paper, entry) for paper in catalog().values() for entry in paper.methods if entry.witness
]


def worlds(setting):
    """For each stage, what both worlds released and the state of their generators after it."""
    spec = setting.spec
    batch = Batch(spec, (spec,) * REPLICAS, setting.witness.seeds(REPLICAS))
    tables = (setting.pair.without, setting.pair.present)
    runs = [Training(setting, batch, table, SEED) for table in tables]
    with unmeasured(), torch.no_grad():
        for stage in setting.stages:
            seen = []
            for run in runs:
                with recording() as heard:
                    run.advance(stage)
                seen.append((heard, run.rng.get_state()))
            yield seen


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("paper", "entry"), PRIVATE, ids=[f"{paper.slug}-{entry.name}" for paper, entry in PRIVATE]
)
def test_both_worlds_draw_the_same_numbers(paper, entry):
    """Else a training with the witness could share noise with another pair's."""
    setting = made(paper, entry)
    if not setting.paired:
        pytest.skip("judged by the rates of one threshold alone")
    for (without, before), (present, after) in worlds(setting):
        assert torch.equal(before, after)
        assert len(without.releases) == len(present.releases)
        for one, other in zip(without.releases, present.releases, strict=True):
            assert torch.equal(one.generator, other.generator)
        for one, other in zip(without.drawn, present.drawn, strict=True):
            torch.testing.assert_close(standard(*one), standard(*other))


def standard(mechanisms, noise):
    """Noise in units of its scale, which may follow from the data where nothing is proved."""
    return noise / torch.tensor([[one.scale] for one in mechanisms], dtype=noise.dtype)


@pytest.mark.parametrize(
    ("slug", "method", "calibration", "paired"),
    [
        ("survival", "dp_newton", "rigorous", True),
        ("survival", "obj_pert", "rigorous", True),
        ("pcdbn", "pcdbn", "rigorous", True),
        ("pcdbn", "pcdbn", "paper", False),
        ("pcdbn", "pcdbn", "released", False),
        ("yesiwell", "pcdbn_te", "paper", False),
    ],
)
def test_worlds_that_shuffle_differently_have_seeds_of_their_own(slug, method, calibration, paired):
    """Noise that is drawn after a shuffle would be another pair's."""
    paper = catalog()[slug]
    setting = made(paper, paper.entry(method), calibration=calibration)
    assert setting.paired == paired
    assert (seed_of(setting, 0, 0) == seed_of(setting, 0, 1)) == paired
    assert seed_of(setting, 0, 1) != seed_of(setting, 250, 1)
