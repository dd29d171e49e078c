"""Audits of a small method: below the truth when it is right, above the card when it is wrong."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import norm

from engine.audit import limits
from engine.audit.bounds import error_bound, mu_of_errors
from engine.audit.report import audit
from engine.audit.tally import LIKELIHOOD
from engine.core.errors import RequestError
from tests.audit.toys import ENTRY, SumSpec, table

DATA = table()


def attacked(replicas=1000, entry=ENTRY, **values):
    """The audit after the last training."""
    return [actual for actual, _ in audit(entry, SumSpec(**values), DATA, replicas)][-1]


def test_a_right_gaussian_is_attacked_up_to_its_mu():
    attack = attacked(epsilon=4.0)
    assert not attack.broken
    # mu = .96: shares of rights of .675 by an unsure guess, known to .02
    assert 0.75 * attack.mu_proved < attack.mu_attacked <= attack.mu_proved
    assert 0.0 < attack.epsilon_attacked <= attack.epsilon_proved
    assert attack.reach == pytest.approx(1.0, abs=1e-6)


def test_a_right_laplace_is_attacked_below_its_epsilon():
    attack = attacked(epsilon=1.0, kind="laplace", replicas=2000)
    assert not attack.broken
    assert attack.mu_proved is None
    assert attack.mu_attacked is None
    assert attack.epsilon_attacked <= 1.0


@pytest.mark.parametrize("fault", ["half", "scaled", "twice"])
def test_a_broken_method_is_caught(fault):
    attack = attacked(epsilon=4.0, fault=fault)
    assert attack.above_proof
    assert attack.broken
    assert attack.json()["broken"] is True


def test_scaling_after_clipping_shows_before_any_noise():
    assert attacked(replicas=50, fault="scaled").reach == pytest.approx(2.0, abs=1e-6)


def test_steps_add_up():
    """Shares of rights of 1,000 pairs have a deviation of .0065 at mu = .925, which is .037 of mu.
    The guess by a coin costs .03 of mu, the bet 2.5 deviations; three more are admitted: .75."""
    alone, together = attacked(epsilon=4.0), attacked(epsilon=4.0, steps=4)
    assert together.mu_proved == pytest.approx(alone.mu_proved, rel=1e-3)
    assert 0.75 * together.mu_proved < together.mu_attacked <= together.mu_proved


def test_the_same_audit_twice_finds_the_same():
    assert attacked(replicas=100) == attacked(replicas=100)


def test_the_bound_climbs_with_the_trainings():
    actual = [one for one, _ in audit(ENTRY, SumSpec(epsilon=1.0), DATA, 1000)]
    assert [one.replicas for one in actual] == sorted({one.replicas for one in actual})
    assert len(actual) >= 4
    assert actual[-1].mu_attacked > actual[0].mu_attacked


def test_the_sentence_says_what_was_right_and_what_is_allowed():
    actual = replace(attacked(replicas=100), right=0.61, allowed=0.731, replicas=500, exact=False)
    assert actual.sentence == (
        "An attack with 1,000 trainings, judged on 200 of them, was right 61 times out of 100, "
        "between 53 and 68; the proof allows 74 (from ε and δ alone). "
        "The ε that it shows holds only if the noise is of the declared kind."
    )
    assert replace(actual, allowed=0.5532, exact=True).sentence.endswith(
        "the proof allows 56 (by its whole trade-off curve, which is tighter than ε alone). "
        "The ε that it shows holds only if the noise is of the declared kind."
    )


@pytest.mark.parametrize(
    ("values", "replicas", "says"),
    [
        ({"fault": "bare"}, 100, "nothing to audit, no finite ε"),
        ({}, 5, "replicas: expected at least 12"),
    ],
)
def test_what_cannot_be_audited_is_one_sentence(values, replicas, says):
    with pytest.raises(RequestError, match=says):
        attacked(replicas, **values)


def test_no_delta_with_gaussian_noise_is_refused():
    def pure(spec, n, record):
        return replace(ENTRY.guarantee(spec, n, record), delta=0.0)

    with pytest.raises(RequestError, match="delta: expected above 0"):
        attacked(entry=replace(ENTRY, guarantee=pure))


def test_a_witness_outside_the_public_bounds_is_refused():
    with pytest.raises(RequestError, match="within the public bounds of toy, got 9"):
        attacked(entry=replace(ENTRY, witness="tests.audit.toys:OUTSIDE"))


def test_a_method_that_names_no_witness_is_refused():
    with pytest.raises(RequestError, match="expected one with a witness"):
        attacked(entry=replace(ENTRY, witness=""))


def test_a_training_and_its_pair_differ_by_the_witness_alone():
    """A log ratio of Gaussian noise is mu z - mu^2/2 without it and mu z + mu^2/2 with it."""
    *_, (attack, collected) = audit(ENTRY, SumSpec(epsilon=4.0), DATA, 300)
    scores = collected.scores[LIKELIHOOD]
    apart = scores.present - scores.without
    np.testing.assert_allclose(apart, attack.mu_proved**2, rtol=1e-6)
    assert len(np.unique(scores.without)) == 300


def test_the_bound_on_mu_is_from_unsure_guesses():
    """The coin near 0 is chosen from the declared noise alone."""
    *_, (attack, collected) = audit(ENTRY, SumSpec(), DATA, 300)
    apart = 2.0 * norm.cdf(attack.mu_proved / 2.0) - 1.0
    wrong = error_bound(collected.scores[LIKELIHOOD], limits.BY_CURVE, limits.unsure(apart))
    assert attack.mu_attacked == pytest.approx(mu_of_errors(wrong), rel=1e-6)
    assert wrong != error_bound(collected.scores[LIKELIHOOD], limits.BY_CURVE)


def test_scores_are_those_of_every_training():
    *_, (attacks, collected) = audit(ENTRY, SumSpec(), DATA, 300)
    assert collected.trainings == 300
    assert all(np.isfinite(s.present).all() for s in collected.scores.values())
    assert attacks.replicas == 300
