"""Private Newton, Cox, Kaplan-Meier, and perturbations with Gaussian noise."""

import math

import numpy as np
import pytest
import torch
from scipy.stats import chi, kstest, norm

from engine.catalog import paper
from engine.core.batch import Batch
from engine.core.errors import RequestError
from engine.papers.survival.evaluation.evaluate import optimum
from engine.papers.survival.likelihood import grouped
from engine.papers.survival.likelihood.logit import mean_gradient, record_gradients
from engine.papers.survival.likelihood.lookup import losses
from engine.papers.survival.likelihood.problem import design
from engine.papers.survival.mechanisms import curve, newton, objective, output
from engine.papers.survival.price import curve as curve_price
from engine.papers.survival.price import perturbation
from engine.papers.survival.price.descent import growing
from engine.papers.survival.price.sensitivity import determinant, gradient_bound
from engine.papers.survival.spec import SurvivalSpec
from engine.privacy import accounting
from engine.privacy.objective import ObjectiveDp, excess, objective_multiplier
from tests.papers.survival.toys import model, records, table

PAPER = paper("survival")
SIGMA = 3.7306317
"""Noise multiplier of (1, 1e-5), Balle and Wang 2018."""


def toy(seed, n=12, p=2, q=7, e=3):
    """A design and two parameter vectors."""
    rng = np.random.default_rng(seed)
    made = model(*records(rng, n, p, q), q, e)
    return made, torch.tensor(rng.normal(size=(2, e + p)))


@pytest.mark.parametrize("name", ["km_dp", "out_pert_gauss", "dp_newton", "cox_dp"])
@pytest.mark.parametrize("epsilon", [0.1, 1.0, 6.4])
def test_the_card_states_what_was_asked(name, epsilon):
    entry, spec = PAPER.entry(name), SurvivalSpec(epsilon=epsilon)
    event = entry.cost(spec, 1000, entry.steps(spec, 1000))
    assert accounting.epsilon(event, spec.delta, "replace_one") == pytest.approx(epsilon, rel=1e-3)
    card = entry.guarantee(spec, 1000, "a person")
    assert epsilon * (1.0 - 1e-3) < card.epsilon_proved <= epsilon * (1.0 + 1e-9)
    assert card.status == "proved"


def test_scales_by_hand():
    spec = SurvivalSpec(epsilon=1.0, regularisation=1e-2)
    assert curve_price.counts(spec).scale == pytest.approx(math.sqrt(2.0) * SIGMA, rel=1e-5)
    output = perturbation.output_gaussian(spec, 7874, 11)
    moved = (400.0128 + 2e-10 * 7874) / 78.74
    assert output.scale == pytest.approx(moved * SIGMA, rel=1e-5)
    plan = growing(SurvivalSpec(epsilon=1.0, passes=6))
    weights = [1, 2, 4, 8, 8, 8]
    for weight, gradient in zip(weights, plan.gradients, strict=True):
        share = (1.0 - 0.12 - 0.08 - 0.04) * weight / sum(weights)
        assert gradient.scale == pytest.approx(2.0 * SIGMA / math.sqrt(share), rel=1e-3)
    assert plan.moments.scale == pytest.approx(math.sqrt(2.0 / 0.04) * SIGMA, rel=1e-3)


def test_noise_in_an_objective_of_one_direction_by_hand():
    r"""k = 1, r = 0: L = |Z|/m + 1/(2m^2), so \delta = 2 \int_c^\infty (1 - e^{-(x-c)/m}) \phi(x)
    = 2 (\Phi(-c) - e^{\varepsilon - 1/(2m^2) + 1/(2m^2)} \Phi(-c - 1/m)), c = m\varepsilon - 1/2m.
    """
    m, epsilon = 4.0, 0.9
    c = m * epsilon - 0.5 / m
    by_hand = 2.0 * (norm.cdf(-c) - math.exp(epsilon) * norm.cdf(-c - 1.0 / m))
    assert excess(ObjectiveDp(m, 1, 0.0), epsilon) == pytest.approx(by_hand, rel=1e-6)


@pytest.mark.parametrize(("freedom", "ratio"), [(1, 0.0), (4, 0.3), (12, 0.05)])
@pytest.mark.thorough
def test_the_price_of_noise_in_an_objective_is_that_of_draws(freedom, ratio):
    """A mean over 400,000 draws of chi: five standard errors."""
    epsilon, event = 1.2, ObjectiveDp(4.0, freedom, ratio)
    draws = chi(freedom).rvs(400_000, random_state=1)
    lost = ratio + draws / 4.0 + 0.5 / 16.0
    excesses = np.maximum(0.0, -np.expm1(epsilon - lost))
    error = 5.0 * excesses.std() / math.sqrt(len(draws))
    assert excess(event, epsilon) == pytest.approx(excesses.mean(), abs=error)
    m = objective_multiplier(epsilon, 1e-5, freedom, ratio)
    spent = accounting.epsilon(ObjectiveDp(m, freedom, ratio), 1e-5, "replace_one")
    assert epsilon * (1.0 - 1e-4) < spent <= epsilon


def test_objective_perturbation_by_hand():
    spec = SurvivalSpec(epsilon=1.0, regularisation=1e-2)
    plan = perturbation.objective_gaussian(spec, 7874, 11)
    strength = 7874 * (1e-2 + plan.extra)
    assert plan.noise.ratio == pytest.approx(determinant(200, 3, strength, None))
    assert plan.noise.ratio <= 0.5
    assert plan.noise.freedom == 4
    assert plan.noise.sensitivity == gradient_bound(200, 3, "rigorous")
    card = PAPER.entry("obj_pert_gauss").guarantee(spec, 7874, "a person")
    assert 0.999 < card.epsilon_proved <= 1.0


def test_two_records_change_the_gradient_in_few_dimensions():
    """e + 1 of e + p, wherever it is taken: the rank of gradients at forty points."""
    rng = np.random.default_rng(3)
    pair = model(*records(rng, 2, 6, 9), 9, 3)
    v = record_gradients(pair, torch.tensor(rng.normal(size=(40, 9)) * 3.0))
    gradients = torch.cat([v, v[:, :, :1] * pair.x], 2)
    assert int(torch.linalg.matrix_rank(gradients[:, 0] - gradients[:, 1], rtol=1e-9)) == 4


@pytest.mark.parametrize("ridge", [1e-4, 1.0])
@pytest.mark.thorough
def test_the_linear_term_follows_the_normal_distribution_that_is_priced(ridge):
    """The linear term is what the gradient at the release leaves over; 5,000 coordinates."""
    data, spec = table(50, 2), SurvivalSpec(intervals=5, regularisation=ridge, epsilon=0.7)
    batch = Batch.grid(spec, {}, range(1_000))
    rng = torch.Generator().manual_seed(4)
    state, _ = objective.GAUSSIAN.step(batch, data, objective.GAUSSIAN.init(batch, data, rng), rng)
    plan = perturbation.objective_gaussian(spec, 50, 5)
    weight = ridge + plan.extra
    b = -50 * (mean_gradient(design(data, 5, 3), state.f) + weight * state.f)
    assert kstest((b / plan.noise.scale).flatten(), norm.cdf).pvalue > 1e-3


def test_noise_in_an_objective_needs_fixed_covariates():
    from datasets import catalog

    batch = Batch.grid(SurvivalSpec(intervals=5), {}, (0,))
    with pytest.raises(RequestError, match="fixed in time"):
        objective.GAUSSIAN.init(batch, catalog.load("heart"), torch.Generator())


@pytest.mark.parametrize("seed", range(4))
def test_the_grouped_model_is_differentiated_rightly(seed):
    """Each record's gradient, by automatic differences."""
    some, f = toy(seed)

    def loss(point):
        eta = (point[:3] @ some.A.T)[None] + (some.x @ point[3:])[:, None]
        inside = torch.arange(7)[None] < some.interval[:, None]
        last = eta[torch.arange(some.rows), some.interval - 1]
        rate = last.exp()
        gone = -torch.log(-torch.expm1(-rate)) - rate
        return (eta.exp() * inside).sum(1) + some.event * gone

    v = grouped.gradients(some, f)
    own = torch.cat([v, v[:, :, :1] * some.x], 2)
    for row, point in enumerate(f):
        exact = torch.autograd.functional.jacobian(loss, point)
        torch.testing.assert_close(own[row], exact)
    torch.testing.assert_close(losses(some, f, "cloglog"), torch.stack([loss(g) for g in f]),
                               rtol=1e-3, atol=1e-3)  # fmt: skip


def risky():
    """3,000 persons whose covariates matter: hazard ratios of e^1 and e^-0.6 a deviation."""
    rng = np.random.default_rng(7)
    x = rng.normal(size=(3000, 2)).clip(-2.9, 2.9)
    time = np.ceil(50.0 * rng.exponential(size=3000) * np.exp(-x @ (1.0, -0.6)))
    return table(x=x, time=time.clip(1.0, 200.0), event=time <= 200.0)


def finish(method, data, spec, seeds):
    """The last state of a run."""
    batch, rng = Batch.grid(spec, {}, seeds), torch.Generator().manual_seed(0)
    state = method.init(batch, data, rng)
    for _ in range(spec.passes):
        state, info = method.step(batch, data, state, rng)
    return state, info


def test_with_a_large_budget_newton_is_at_the_optimum():
    """At epsilon = 1,000 the multiplier is 1/43 and C = 1.1, so whitened noise has deviation
    2C/43/sqrt(.6) = .07 a direction and moves the coefficients by about a hundredth each. Hazards
    near one half make the information larger than the curvature, and steps short: twenty passes.
    """
    data, spec = risky(), SurvivalSpec(intervals=10, epsilon=1000.0, passes=20)
    state, info = finish(newton.METHOD, data, spec, (0,))
    best = optimum(data, 10, 3)
    assert float((state.f[0] - best).norm() / best.norm()) < 0.05
    assert float(state.clipped[0]) == 0.0
    assert info.mre[0] < 0.05


def test_with_a_large_budget_the_private_cox_coefficients_are_coxs():
    """Grouping into 20 intervals moves them by about a hundredth; the noise, as above, by more,
    and most in the three baseline parameters, which lean on each other.
    """
    data, spec = risky(), SurvivalSpec(intervals=20, epsilon=1000.0, passes=20)
    _, info = finish(newton.PROPORTIONAL, data, spec, (0,))
    assert info.mre[0] < 0.1
    assert info.cox_error[0] < 0.1


def test_a_private_curve_is_kaplan_meiers_without_noise():
    data, q = table(400, 2, seed=5), 20
    exact = torch.tensor(curve.counted(data, q))
    left, died = exact[:-1].view(2, q).tolist()
    alive, by_hand = 400.0, [1.0]
    for s in range(q):  # who leaves within an interval is at risk for half of it
        by_hand.append(by_hand[-1] * (1.0 - died[s] / (alive - 0.5 * left[s])))
        alive -= left[s] + died[s]
    assert alive == exact[-1]
    np.testing.assert_allclose(curve.product_limit(exact[None], 400)[0], by_hand, atol=1e-12)


@pytest.mark.parametrize("epsilon", [0.05, 1.0])
def test_a_private_curve_falls_from_one_and_stays_a_share(epsilon):
    data, spec = table(400, 2, seed=5), SurvivalSpec(intervals=20, epsilon=epsilon)
    batch, rng = Batch.grid(spec, {}, range(20)), torch.Generator().manual_seed(0)
    method = PAPER.entry("km_dp").load()
    state, info = method.step(batch, data, method.init(batch, data, rng), rng)
    assert (state.curve.diff(dim=1) <= 0).all()
    assert (state.curve >= 0).all()
    assert (state.curve[:, 0] == 1.0).all()
    assert ((info.gap >= 0) & (info.gap <= 1)).all()


def test_gaussian_output_noise_has_the_scale_that_is_priced():
    data, spec = table(50, 2), SurvivalSpec(intervals=5, epsilon=0.7)
    batch, rng = Batch.grid(spec, {}, range(1_000)), torch.Generator().manual_seed(1)
    before = output.GAUSSIAN.init(batch, data, rng)
    after, _ = output.GAUSSIAN.step(batch, data, before, rng)
    unit = (after.f - before.f) / perturbation.output_gaussian(spec, 50, 5).scale
    assert kstest(unit.flatten(), norm.cdf).pvalue > 1e-3


def test_a_private_cox_job_says_its_link():
    from engine.runs.job import request

    assert request("survival", "cox_dp", "flchain").values["link"] == "cloglog"
    assert request("survival", "dp_newton", "flchain", {"link": "probit"}).values["link"] == "logit"
