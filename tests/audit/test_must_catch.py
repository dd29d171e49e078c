"""What an audit has to catch: errors that were published, or that were once in this program."""

import pytest
import torch

from engine.audit.report import audit
from engine.catalog import catalog
from engine.privacy import noise
from engine.privacy.releases import Batches
from engine.training.records import Records
from tests.audit import small, toys


def attacked(slug, method, replicas, **values):
    """The audit of a method on a small table."""
    paper = catalog()[slug]
    spec = small.spec(paper, **values)
    actual = list(audit(paper.entry(method), spec, small.table(paper), replicas))
    return actual[-1][0]


@pytest.mark.parametrize("calibration", ["paper", "rigorous"])
@pytest.mark.thorough
def test_the_printed_noise_of_enadpp_is_caught(calibration):
    """Read as printed, one step spends |L|/rate times what is claimed: 24/0.02 times here."""
    values = {"calibration": calibration, "noise_reading": "A", "learning_rate": 0.02}
    attack = attacked("enadpp", "enadpp", 60, epsilon=1.0, epochs=2, **values)
    assert attack.epsilon_claimed == 1.0
    assert (attack.epsilon_proved is None) is (calibration == "paper")
    assert attack.above_claim is (calibration == "paper")


@pytest.mark.thorough
def test_the_printed_initialisation_of_lvq_is_caught():
    """Noise for sensitivity 1 on sums that one record moves by the number of features.

    A guess that is right 78 times out of 100, as here, bounds ε by 1 from about 300 trainings on.
    """
    attack = attacked("lvq", "glvq_dp", 400, epsilon=1.0, initialisation="sensitivity_1")
    assert attack.epsilon_claimed == 1.0
    assert attack.above_claim


DESCENT = {"optimiser": "descent", "learning_rate": 0.5, "epochs": 25, "hidden": 4, "filters": 2}
"""Until the biases stand still; few hidden units leave directions without noise."""


@pytest.mark.slow
@pytest.mark.parametrize("repaired", [False, True], ids=["as released", "with proved noise"])
def test_the_published_program_of_pcdbn_is_caught(repaired):
    """Its noise is on constants and features, so biases give away the number of each class."""
    calibration = "rigorous" if repaired else "released"
    attack = attacked("pcdbn", "pcdbn", 80, epsilon=1.0, calibration=calibration, **DESCENT)
    assert attack.epsilon_claimed == 1.0
    assert attack.above_claim is not repaired
    assert repaired or attack.statistic == "biases of the classes against the others' labels"


@pytest.mark.thorough
def test_the_tight_initialisation_is_not(tmp_path):
    attack = attacked("lvq", "glvq_dp", 100, epsilon=1.0)
    assert not attack.broken


def _single(shape, rng):
    """Standard normal draws of single precision, as torch makes them."""
    return torch.randn(shape, generator=rng, dtype=torch.float32).double()


@pytest.mark.parametrize(("precision", "caught"), [("single", True), ("double", False)])
@pytest.mark.thorough
def test_noise_in_single_precision_is_caught_by_its_last_digits(precision, caught, monkeypatch):
    """Ideal Gaussians would hide the witness: mu = .27 at epsilon = 1. The lattice does not."""
    if precision == "single":
        monkeypatch.setattr(noise, "normal", _single)
    data = toys.table(wide=8192)
    *_, (attacks, _) = audit(toys.ENTRY, toys.SumSpec(steps=20), data, 120)
    assert attacks.broken is caught
    assert (attacks.statistic == "last digits of the noise") is caught


def _cut(self, how, replicas, taken, order, rng):
    """Batches of a shuffled order, whatever is priced."""
    return DRAW(self, Batches(1.0, round(1.0 / how.rate)), replicas, taken, order, rng)


DRAW = Records.batch


@pytest.mark.parametrize(
    ("sampling", "shuffles", "caught"),
    [
        pytest.param(
            "poisson", True, True, id="Poisson price on shuffled batches", marks=pytest.mark.slow
        ),
        pytest.param("poisson", False, False, id="coins"),
        pytest.param("shuffled", False, False, id="shuffled at its own price"),
    ],
)
def test_the_poisson_price_on_shuffled_batches_is_caught(sampling, shuffles, caught, monkeypatch):
    """Four batches of one epoch, with so little noise that a record's part shows where it is.

    By coins a record is in no batch at all in (3/4)^4 = 32 % of the runs; shuffled it is always in
    one, so that guesses are right more often than any price of coins admits. At this noise the
    distance of the two worlds is .48 by coins and .64 shuffled; 400 guesses tell it to .08.
    """
    if shuffles:
        monkeypatch.setattr(Records, "batch", _cut)
    found = attacked("enadpp", "psgd", 200, epsilon=20.0, sampling=sampling, learning_rate=0.01)
    assert found.by_curve
    assert found.above_proof is caught
