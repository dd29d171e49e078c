"""Newton and BFGS, and data that have no proper optimum."""

import numpy as np
import pytest
import torch

from engine.papers.survival.likelihood.logit import mean_gradient
from engine.papers.survival.likelihood.problem import design
from engine.papers.survival.likelihood.solvers import constant_hazard, minimise
from engine.papers.survival.price.sensitivity import TOLERANCE
from tests.papers.survival.toys import model, real, records, table


def problem(replicas=6, seed=0, push=1.0):
    rng = np.random.default_rng(seed)
    fitted = model(*records(rng, 80, 3, 15), 15, 4)
    ridge = torch.tensor(10.0 ** rng.uniform(-3, 0, replicas))
    return fitted, ridge, torch.tensor(rng.normal(scale=push, size=(replicas, 7)))


@pytest.mark.parametrize("push", [0.0, 0.1, 30.0])
def test_newton_reaches_its_tolerance(push):
    fitted, ridge, linear = problem(push=push)
    optimum = minimise(fitted, ridge, linear)
    gradient = mean_gradient(fitted, optimum.f) + ridge[:, None] * optimum.f + linear
    assert (gradient.norm(dim=1) <= TOLERANCE).all()
    torch.testing.assert_close(optimum.tau, gradient.norm(dim=1), rtol=0, atol=1e-13)


def test_newton_and_bfgs_agree():
    r"""Both end within \tau of a minimum of curvature at least \rho: their distance is bounded."""
    fitted, ridge, linear = problem(push=0.1)
    newton, bfgs = (minimise(fitted, ridge, linear, s) for s in ("newton", "bfgs"))
    assert (bfgs.tau <= TOLERANCE).all()
    distance = (newton.f - bfgs.f).norm(dim=1)
    assert (distance <= (newton.tau + bfgs.tau) / ridge).all()


def test_replicas_do_not_touch_each_other():
    fitted, ridge, linear = problem()
    together = minimise(fitted, ridge, linear)
    for row in range(len(ridge)):
        alone = minimise(fitted, ridge[row : row + 1], linear[row : row + 1])
        torch.testing.assert_close(alone.f[0], together.f[row], rtol=1e-7, atol=1e-9)
        assert alone.steps[0] == together.steps[row]


def test_newton_needs_a_dozen_steps_on_real_data():
    fitted = design(real("flchain"), 200, 3)
    zero = torch.zeros(1, fitted.dimension, dtype=torch.float64)
    optimum = minimise(fitted, zero[:, 0], zero)
    assert int(optimum.steps) <= 15
    assert float(optimum.tau) <= TOLERANCE


def test_it_starts_at_the_events_over_the_periods():
    fitted = model(*records(np.random.default_rng(0), 50, 2, 10), 10, 3)
    start = constant_hazard(fitted)
    rate = (float(fitted.event.sum()) + 0.5) / (float(fitted.interval.sum()) + 1.0)
    torch.testing.assert_close(
        torch.sigmoid(fitted.A @ start[:3]), torch.full((10,), rate, dtype=torch.float64)
    )
    assert not start[3:].any()


RNG = np.random.default_rng(5)
DEGENERATE = {
    "constant column": table(x=np.c_[RNG.normal(size=60), np.full(60, 3.0)]),
    "all censored": table(60, 2, event=np.zeros(60)),
    "all observed": table(60, 2, event=np.ones(60)),
    "one event": table(60, 2, event=np.eye(1, 60)[0]),
    "times of zero": table(60, 2, time=np.zeros(60)),
    "ten records": table(10, 2),
    "separated": table(x=np.r_[np.zeros((30, 1)), np.ones((30, 1))], event=np.arange(60) >= 30),
}


@pytest.mark.thorough
@pytest.mark.parametrize("name", DEGENERATE)
@pytest.mark.parametrize(("q", "e"), [(2, 3), (20, 3), (20, 20)])
@pytest.mark.parametrize("ridge", [0.0, 1e-2])
def test_degenerate_data_end_in_a_finite_fit(name, q, e, ridge):
    fitted = design(DEGENERATE[name], q, e)
    zero = torch.zeros(1, fitted.dimension, dtype=torch.float64)
    optimum = minimise(fitted, zero[:, 0] + ridge, zero)
    assert torch.isfinite(optimum.f).all()
    if ridge > 0.0:  # without it the optimum may lie at infinity
        assert (optimum.tau <= TOLERANCE).all()
