"""Whitened features under attack: below what is proved, and caught if a record moves more."""

from dataclasses import replace

import pytest

from engine.audit.replay import faults
from engine.audit.report import audit
from engine.audit.runner import Setting
from engine.audit.witness import load
from engine.catalog import catalog
from engine.papers.enadpp import models
from tests.audit import small
from tests.audit.test_replay import SHAPES, neighbours

PAPER = catalog()["enadpp"]
WAYS = (
    ("dpsgd", {}),
    ("dpsgd", {"sampling": "shuffled"}),
    ("dpsgd", {"clipping": "adaptive", "optimiser": "adamw_corrected"}),
    ("dp_ftrl", {}),
)
each = pytest.mark.parametrize(
    ("method", "values"), WAYS, ids=["flat", "shuffled", "adaptive-adamw", "correlated"]
)


def setting(method, pair=None, **values) -> Setting:
    """A short run on whitened features; the paper's worst pair, or another."""
    spec = small.spec(PAPER, representation="whitened", **values)
    witness = load(PAPER.entry(method))
    own = pair or witness.pair(spec, small.table(PAPER))
    return Setting(PAPER.entry(method), spec, own, witness)


@each
def test_the_witness_moves_no_release_further_than_it_is_priced_for(method, values):
    assert list(faults(setting(method, **values))) == []


@pytest.mark.parametrize("shape", SHAPES)
@each
def test_no_pair_moves_a_release_further_than_it_is_priced_for(method, values, shape):
    row = setting(method).pair.without.left_out[0]
    pair = neighbours(small.table(PAPER), shape, 1, row)
    assert list(faults(setting(method, pair, **values), 1)) == []


@each
def test_an_attack_stays_below_what_is_proved(method, values):
    """100 and 100 trainings at ε = 4."""
    spec = small.spec(PAPER, representation="whitened", sample_rate=1.0, **values)
    attack = list(audit(PAPER.entry(method), spec, small.table(PAPER), 100))[-1][0]
    assert attack.epsilon_attacked <= attack.epsilon_proved
    assert not attack.broken


@each
def test_features_that_are_too_long_are_caught(method, values, monkeypatch):
    """Half as long again, a record moves the moments by 2.25 times what is priced."""
    whole = models.inputs

    def longer(*given):
        made = whole(*given)
        return replace(made, x=1.5 * made.x, test_x=1.5 * made.test_x)

    monkeypatch.setattr(models, "inputs", longer)
    found = list(faults(setting(method, **values)))
    assert len(found) == 1  # steps clip what they get, however long it is
    assert "step 0, release 1" in found[0]
    assert "got 2.25 times it" in found[0]
