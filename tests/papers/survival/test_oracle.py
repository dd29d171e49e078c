"""The oracle: a line to compare private methods with."""

import math

import numpy as np
import pytest
import torch

from engine.catalog import paper
from engine.core.batch import Batch
from engine.papers.survival.evaluation.evaluate import optimum
from engine.papers.survival.likelihood.logit import derivatives
from engine.papers.survival.likelihood.problem import design
from engine.papers.survival.price.oracle import single
from engine.papers.survival.references import oracle
from engine.papers.survival.spec import SurvivalSpec
from engine.privacy import accounting
from engine.runs.job import request
from tests.papers.survival.test_frontier import risky

ENTRY = paper("survival").entry("oracle")
SPEC = SurvivalSpec(intervals=10)


def test_it_promises_nothing_and_says_why():
    card = ENTRY.guarantee(SPEC, 100, "a person")
    assert card.status == "not_private"
    assert card.epsilon_proved is None
    assert "raw records" in card.reasons[0]
    assert math.isinf(accounting.epsilon(ENTRY.cost(SPEC, 100, 1), 1e-5, "replace_one"))


def test_it_is_compared_at_each_budget():
    job = request("survival", "oracle", "flchain", {}, {"epsilon": (0.1, 1.0)}, range(3))
    assert job.replicas() == 6
    assert job.axes["epsilon"] == (0.1, 1.0)


def test_its_noise_is_that_of_one_release_by_hand():
    """2 C, what replacing a record may change, times the multiplier of (1, 1e-5), 3.7306."""
    assert single(SPEC).scale == pytest.approx(2.0 * 3.7306317, rel=1e-5)


def test_without_clipping_it_is_one_newton_step_from_the_optimum():
    """The last bound clips nobody: the optimum itself, and noise times the inverse Hessian.

    It is the longest gradient itself, so a small move clips that one record of 3,000.
    """
    data = risky()
    told, best = oracle.known(data, 10, 3), optimum(data, 10, 3)
    torch.testing.assert_close(told.f[-1], best, rtol=1e-5, atol=1e-5)
    model = design(data, 10, 3)
    hessian = derivatives(model, best[None]).hessian[0] * model.records
    root = oracle.whitening(hessian[None])[0]
    torch.testing.assert_close(told.inverse[-1], root, rtol=1e-3, atol=1e-3)


@pytest.mark.thorough
def test_its_errors_have_the_spread_that_it_states_and_the_mean_that_chose_the_bound():
    """1,000 draws: a mean error is known to 3 %, a deviation to 2.3 %; more than four of those."""
    data, best = risky(), optimum(risky(), 10, 3)
    batch, rng = Batch.grid(SPEC, {}, range(1_000)), torch.Generator().manual_seed(5)
    state = oracle.METHOD.init(batch, data, rng)
    after, info = oracle.METHOD.step(batch, data, state, rng)
    stated = oracle.METHOD.products(batch, data, after)["noise"][0]
    np.testing.assert_allclose(after.f.std(0), stated, rtol=0.12)
    told = oracle.known(data, 10, 3)
    assert info.mre.mean() == pytest.approx(
        oracle.chosen(told, best, single(SPEC).scale)[1], rel=0.1
    )


def test_a_larger_budget_clips_fewer_and_errs_less():
    data = risky()
    told, best = oracle.known(data, 10, 3), optimum(data, 10, 3)
    ends = [oracle.chosen(told, best, single(SPEC.replace(epsilon=e)).scale) for e in (0.1, 1, 10)]
    assert [bound for bound, _ in ends] == sorted(bound for bound, _ in ends)
    assert [error for _, error in ends] == sorted((error for _, error in ends), reverse=True)
