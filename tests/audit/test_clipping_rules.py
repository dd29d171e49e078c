"""Clipping rules and AdamW under attack: below what is proved, and above it if broken."""

import pytest

from engine.audit.replay import faults
from engine.audit.report import audit
from engine.audit.training import Setting
from engine.audit.witness import load
from engine.catalog import catalog
from engine.papers.enadpp import clipping
from tests.audit import small

PAPER = catalog()["enadpp"]
RULES = (
    {"clipping": "automatic"},
    {"clipping": "adaptive"},
    {"optimiser": "adamw_corrected"},
)
each = pytest.mark.parametrize("values", RULES, ids=lambda values: "-".join(values.values()))


@pytest.mark.parametrize(
    ("method", "values"),
    [("dpsgd", values) for values in RULES] + [("dp_ftrl", values) for values in RULES[:2]],
)
def test_the_witness_moves_no_release_further_than_it_is_priced_for(method, values):
    spec, witness = small.spec(PAPER, **values), load(PAPER.entry(method))
    made = Setting(PAPER.entry(method), spec, witness.pair(spec, small.table(PAPER)), witness)
    assert list(faults(made)) == []


@each
def test_an_attack_stays_below_what_is_proved(values):
    """150 and 150 trainings at ε = 4: it finds something, and no more than the proof allows."""
    spec = small.spec(PAPER, epsilon=4.0, sample_rate=1.0, **values)
    attack = list(audit(PAPER.entry("dpsgd"), spec, small.table(PAPER), 150))[-1][0]
    assert 0.0 < attack.epsilon_attacked <= attack.epsilon_proved
    assert not attack.broken


def test_an_attack_breaks_a_gradient_that_is_scaled_after_clipping(monkeypatch):
    """Length 8 C with noise for C, at a claimed ε of 1."""
    whole = clipping.automatic_sum

    def scaled(network, parameters, x, y, present, clip, loss):
        return whole(network, parameters, x, y, present, 8.0 * clip, loss)

    monkeypatch.setattr(clipping, "automatic_sum", scaled)
    spec = small.spec(PAPER, epsilon=1.0, sample_rate=1.0, clipping="automatic")
    attack = list(audit(PAPER.entry("dpsgd"), spec, small.table(PAPER), 100))[-1][0]
    assert attack.above_proof
