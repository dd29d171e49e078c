"""Trainings with and without the witness are pairs: they share all that is drawn."""

import pytest
import torch

from engine.audit.runner import Run, Setting
from engine.audit.witness import load
from engine.catalog import catalog
from engine.core.batch import Batch
from engine.core.gauges import unmeasured
from engine.privacy.recording import recording
from tests.audit import small

REPLICAS, SEED = 4, 3
PRIVATE = [
    (paper, entry) for paper in catalog().values() for entry in paper.methods if entry.witness
]


def worlds(paper, entry):
    """For each stage, what both worlds released and the state of their generators after it."""
    spec, witness = small.spec(paper), load(entry)
    setting = Setting(entry, spec, witness.pair(spec, small.table(paper)), witness)
    batch = Batch(spec, (spec,) * REPLICAS, witness.seeds(REPLICAS))
    tables = (setting.pair.without, setting.pair.present)
    runs = [Run(setting, batch, table, SEED) for table in tables]
    with unmeasured(), torch.no_grad():
        for stage in setting.stages:
            seen = []
            for run in runs:
                with recording() as heard:
                    run.advance(stage)
                seen.append((heard, run.rng.get_state()))
            yield seen


@pytest.mark.parametrize(
    ("paper", "entry"), PRIVATE, ids=[f"{paper.slug}-{entry.name}" for paper, entry in PRIVATE]
)
def test_both_worlds_draw_the_same_numbers(paper, entry):
    """Else a training with the witness could share noise with another pair's.

    Networks as printed, of which nothing is proved, draw all noise first and then shuffle the
    records that are there. The published program adds noise in every step; it is not tested here.
    """
    proved = entry.guarantee(small.spec(paper), 2_000, "a person").epsilon_proved is not None
    for (without, before), (present, after) in worlds(paper, entry):
        assert torch.equal(before, after) or not proved
        assert len(without.releases) == len(present.releases)
        for one, other in zip(without.releases, present.releases, strict=True):
            assert torch.equal(one.generator, other.generator)
        for one, other in zip(without.drawn, present.drawn, strict=True):
            torch.testing.assert_close(standard(*one), standard(*other))


def standard(mechanisms, noise):
    """Noise in units of its scale, which may follow from the data where nothing is proved."""
    return noise / torch.tensor([[one.scale] for one in mechanisms], dtype=noise.dtype)
