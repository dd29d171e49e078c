"""The three links, the interpolated losses and the gradients of small batches."""

import numpy as np
import pytest
import torch
from scipy.special import log_ndtr

from engine.papers.survival.likelihood import logit, lookup
from engine.papers.survival.likelihood.links import LINKS
from engine.papers.survival.likelihood.minibatch import (
    REACH,
    _direct,
    pick,
    sanitised_gradient,
    summed,
)
from engine.papers.survival.likelihood.problem import design
from engine.papers.survival.samplers.target import climb, curvature, optimum_of, target
from engine.papers.survival.spec import SurvivalSpec
from tests.papers.survival.toys import model, records, table

EXACT = {
    "logit": (lambda z: np.logaddexp(0, z), lambda z: np.logaddexp(0, -z)),
    "cloglog": (np.exp, lambda z: -np.log(-np.expm1(-np.exp(z)))),
    "probit": (lambda z: -log_ndtr(-z), lambda z: -log_ndtr(z)),
}
each = pytest.mark.parametrize("link", LINKS)


@each
def test_costs_are_those_of_the_definition(link):
    z = np.linspace(-12.0, 3.0, 61)
    survived, happened = EXACT[link]
    eta = torch.tensor(z)
    np.testing.assert_allclose(LINKS[link].survived(eta)[0], survived(z), rtol=1e-9, atol=1e-15)
    np.testing.assert_allclose(LINKS[link].happened(eta)[0], happened(z), rtol=1e-9, atol=1e-15)
    np.testing.assert_allclose(
        LINKS[link].switched(eta)[0], happened(z) - survived(z), rtol=1e-9, atol=1e-9
    )


@each
@pytest.mark.parametrize("part", ["survived", "happened", "switched"])
def test_slopes_are_those_of_autograd(link, part):
    eta = torch.linspace(-20.0, 8.0, 113, dtype=torch.float64, requires_grad=True)
    value, slope = getattr(LINKS[link], part)(eta)
    (expected,) = torch.autograd.grad(value.sum(), eta)
    torch.testing.assert_close(slope, expected, rtol=1e-8, atol=1e-12)


@each
def test_far_predictors_stay_finite(link):
    eta = torch.tensor([-1e6, -800.0, -40.0, 40.0, 800.0, 1e6], dtype=torch.float64)
    for part in (LINKS[link].survived(eta), LINKS[link].happened(eta)):
        assert all(torch.isfinite(values).all() for values in part)
        assert (part[0] >= 0.0).all()


def cases(link, size, seed=0, n=80, q=30):
    """Random records and parameters, and their losses summed the long way."""
    rng = np.random.default_rng(seed)
    x, interval, event = records(rng, n, 3, q)
    actual = model(x, interval, event, q, 3)
    f = torch.tensor(rng.normal(size=(4, 6)) * size)
    a, c = f[:, :3] @ actual.A.T, f[:, 3:] @ actual.x.T
    eta = a[:, None] + c[:, :, None]
    survived, happened = LINKS[link].survived(eta)[0], LINKS[link].happened(eta)[0]
    order = torch.arange(1, q + 1)
    last = order == actual.interval[:, None]
    cost = torch.where(last & (actual.event[:, None] > 0), happened, survived)
    return actual, f, (cost * (order <= actual.interval[:, None])).sum(2)


@each
@pytest.mark.parametrize("size", [0.1, 1.0, 3.0])
def test_interpolated_losses_are_the_losses(link, size):
    """The bound is the module's 1e-5 a loss, times what thirty certain events may cost."""
    actual, f, expected = cases(link, size)
    if link == "cloglog" and size > 1.0:
        f, (_, _, expected) = f / 3.0, cases(link, 1.0)
    got = lookup.losses(actual, f, link)
    torch.testing.assert_close(got, expected, rtol=2e-4, atol=1e-4)


def test_interpolated_logit_losses_are_those_of_the_likelihood():
    data = design(table(300, 3), 40, 3)
    f = torch.tensor(np.random.default_rng(3).normal(size=(50, 6)))
    torch.testing.assert_close(lookup.losses(data, f), logit.losses(data, f), rtol=1e-5, atol=1e-5)


@each
@pytest.mark.parametrize("size", [0.5, 2.0])
def test_gradients_of_small_batches_are_those_of_autograd(link, size):
    actual, f, _ = cases(link, size)
    if link == "cloglog":
        f = f / 2.0
    rows = torch.randint(80, (4, 20), generator=torch.Generator().manual_seed(1))
    bound = torch.tensor([3.0, 10.0, 30.0, 100.0], dtype=torch.float64)
    value, gradient = sanitised_gradient(actual.A, f, pick(actual, rows), bound, link)
    point = f.clone().requires_grad_(True)
    costs = _whole(actual, point, link).gather(1, rows)
    expected = bound * torch.tanh(costs / bound[:, None]).mean(1)
    (slope,) = torch.autograd.grad(expected.sum(), point)
    scale = float(slope.abs().max())  # the module's error is relative to the sums
    torch.testing.assert_close(value, expected.detach(), rtol=2e-3, atol=1e-3)
    torch.testing.assert_close(gradient, slope, rtol=2e-3, atol=2e-3 * scale)


def _whole(actual, f, link):
    """Losses (R, n) the long way, differentiable."""
    q = actual.intervals
    eta = (f[:, :3] @ actual.A.T)[:, None] + (f[:, 3:] @ actual.x.T)[:, :, None]
    order = torch.arange(1, q + 1)
    last = (order == actual.interval[:, None]) & (actual.event[:, None] > 0)
    cost = torch.where(last, LINKS[link].happened(eta)[0], LINKS[link].survived(eta)[0])
    return (cost * (order <= actual.interval[:, None])).sum(2)


def test_chains_far_away_harm_no_other():
    """One at 1e4, where every record is summed directly, and one that is not finite."""
    actual, f, _ = cases("logit", 1.0)
    part = pick(actual, torch.arange(80).expand(4, -1))
    bound = torch.full((4,), 5.0, dtype=torch.float64)
    before = sanitised_gradient(actual.A, f, part, bound, "logit")
    f[1], f[2] = 1e4 * f[1], torch.nan
    value, gradient = sanitised_gradient(actual.A, f, part, bound, "logit")
    assert torch.isfinite(gradient[1]).all()
    assert value[1] <= 5.0
    assert value[2].isnan()
    for row in (0, 3):
        torch.testing.assert_close(value[row], before[0][row])
        torch.testing.assert_close(gradient[row], before[1][row])


@each
@pytest.mark.parametrize("size", [0.7, 3.0])
def test_interpolated_sums_are_the_direct_ones(link, size):
    """Costs, slopes and what the baseline gets back, in single precision; at 3 some are far."""
    actual, f, _ = cases(link, size)
    part, law = pick(actual, torch.arange(80).expand(4, -1)), LINKS[link]
    a, c = (f[:, :3] @ actual.A.T).float() / size, (f[:, 3:] @ actual.x.T).float()
    ours = summed(a, c, part.place, law)
    cost, slope = _direct(a, c.flatten(), part.place.flatten(), law)
    torch.testing.assert_close(ours.cost.flatten(), cost, rtol=1e-3, atol=2e-3)
    torch.testing.assert_close(ours.slope.flatten(), slope.sum(1), rtol=1e-3, atol=5e-3)
    weight = torch.rand(c.shape, generator=torch.Generator().manual_seed(2))
    expected = (weight.flatten()[:, None] * slope).view(4, 80, -1).sum(1)
    torch.testing.assert_close(ours.back(weight), expected, rtol=1e-3, atol=1e-2)
    assert ((c - c.mean(1, keepdim=True)).abs() > REACH).any() == (size > 1.0)


@each
def test_the_mode_is_a_mode(link):
    data = table(200, 2, seed=4)
    spec = SurvivalSpec(intervals=12, link=link, epsilon=2.0)
    aim = target(data, [spec])
    start = optimum_of(data, 12, 3, "logit")[None] * (0.4 if link == "probit" else 1.0)
    f, covariance = climb(aim, start)
    assert float(aim.slope(f[:, None]).norm()) < 1e-2
    torch.testing.assert_close(
        covariance @ curvature(aim, f), torch.eye(5, dtype=torch.float64)[None], atol=1e-6, rtol=0
    )
