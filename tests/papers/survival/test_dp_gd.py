"""Private gradient descent: what it releases, how noisy, and what that costs."""

import math

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import kstest, norm

from engine.catalog import paper
from engine.core.batch import Batch
from engine.papers.survival.evaluation.evaluate import optimum
from engine.papers.survival.likelihood.problem import design
from engine.papers.survival.mechanisms import descent, gradient, start
from engine.papers.survival.price.descent import EVEN, even
from engine.papers.survival.spec import SurvivalSpec
from engine.privacy import accounting
from engine.privacy.recording import recording
from engine.runs.driver import drive
from engine.runs.events import Finished, Spent
from engine.runs.job import request
from engine.runs.results import collect
from tests.papers.survival.test_methods import DEGENERATE
from tests.papers.survival.toys import model, records, table

ENTRY = paper("survival").entry("dp_gd")


def run(data, values=None, axes=None, seeds=(0, 1)):
    """A short run on a table of any size."""
    values = {"intervals": 10, "steps": 6, **(values or {})}
    job = request("survival", "dp_gd", "flchain", values, axes or {}, seeds)
    kept = {}
    events = list(drive(job, data, lambda name, arrays: kept.update(arrays) or name))
    return job, events, kept


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 6.4])
@pytest.mark.parametrize("steps", [1, 32])
def test_the_releases_spend_the_budget_exactly(epsilon, steps):
    spec = SurvivalSpec(epsilon=epsilon, steps=steps)
    event = ENTRY.cost(spec, 1000, steps)
    assert accounting.epsilon(event, spec.delta, "replace_one") == pytest.approx(epsilon, rel=1e-3)
    actual = even(spec)
    strength = actual.counts.multiplier**-2 + actual.moments.multiplier**-2
    strength += steps * actual.gradients[0].multiplier ** -2
    assert strength == pytest.approx(actual.total**-2)
    card = ENTRY.guarantee(spec, 1000, "a person")
    assert epsilon * (1.0 - 1e-3) < card.epsilon_proved <= epsilon


def test_scales_by_hand():
    actual = even(SurvivalSpec(epsilon=1.0, steps=32))
    sigma = 3.7306317  # Balle and Wang 2018: the multiplier of (1, 1e-5)
    assert actual.counts.scale == pytest.approx(
        math.sqrt(2.0) * sigma / math.sqrt(EVEN.counts), rel=1e-3
    )
    assert actual.moments.scale == pytest.approx(
        math.sqrt(2.0) * sigma / math.sqrt(EVEN.moments), rel=1e-3
    )
    rest = (1.0 - EVEN.counts - EVEN.moments) / 32
    assert actual.gradients[0].scale == pytest.approx(2.0 * sigma / math.sqrt(rest), rel=1e-3)


@settings(max_examples=60)
@given(
    seed=st.integers(0, 10_000),
    size=st.sampled_from([0.3, 3.0, 30.0]),
    clip=st.sampled_from([1e-3, 0.1, 10.0]),
)
def test_a_replaced_record_moves_each_sum_by_at_most_its_sensitivity(seed, size, clip):
    rng = np.random.default_rng(seed)
    x, interval, event = records(rng, 9, 2, 7)
    other = [values.copy() for values in (x, interval, event)]
    other[0][0], other[1][0], other[2][0] = (v[0] for v in records(rng, 3, 2, 7))
    here, there = model(x, interval, event, 7, 3), model(*other, 7, 3)
    f = torch.tensor(rng.normal(size=(2, 5)) * size)
    root = torch.tensor(rng.normal(size=(2, 5, 5)))
    C = torch.full((2,), clip, dtype=torch.float64)
    sums = [descent.clipped_sum(some, f, root, C)[0] for some in (here, there)]
    assert float((sums[0] - sums[1]).norm(dim=1).max()) <= 2.0 * clip * (1.0 + 1e-9)
    moments = here.x.T @ here.x - there.x.T @ there.x
    assert float(moments.norm()) <= math.sqrt(2.0) * (1.0 + 1e-9)


def test_counts_move_by_at_most_their_sensitivity():
    """Without noise and rescaling, a record that changes cells moves two counts by 1."""
    cells = lambda interval, event: np.bincount(  # noqa: E731
        (np.asarray(interval) - 1) * 12 // 24 + 12 * np.asarray(event, int), minlength=24
    )
    here = cells([3, 9, 20], [1, 0, 1])
    there = cells([3, 9, 2], [1, 0, 0])
    assert np.linalg.norm(here - there) == pytest.approx(math.sqrt(2.0))


def test_noise_has_the_scale_that_is_priced():
    """A step with noise less the same step without is normal with the mechanism's scale.

    Kolmogorov-Smirnov over 4,000 independent coordinates; a right scale fails 1 in 1,000.
    """
    data, spec = table(60, 2), SurvivalSpec(intervals=8, steps=4, epsilon=0.8)
    batch = Batch.grid(spec, {}, range(800))
    state = gradient.METHOD.init(batch, data, torch.Generator().manual_seed(0))
    after = gradient.stepped(batch, data, state, torch.Generator().manual_seed(1))
    slope, _ = descent.clipped_sum(design(data, 8, 3), state.f, state.root, state.clip)
    plain = state.f - gradient.RATE * (state.root @ slope[:, :, None])[:, :, 0]
    noise = torch.linalg.solve(state.root, (plain - after.f)[:, :, None])[:, :, 0] / gradient.RATE
    scale = even(SurvivalSpec(epsilon=0.8, steps=4)).gradients[0].scale
    unit = (noise / state.clip[:, None] / scale).flatten()
    assert kstest(unit, norm.cdf).pvalue > 1e-3


@pytest.mark.parametrize("part", ["counts", "moments"])
def test_the_starts_noise_has_the_scale_that_is_priced(part):
    """The noise that is added is the plan's own mechanism's."""
    plans = [even(SurvivalSpec(epsilon=epsilon, steps=8)) for epsilon in (0.5, 2.0)]
    with recording() as seen:
        start.start(design(table(80, 2), 10, 3), plans, torch.Generator().manual_seed(0))
    asked = [mechanism for made in seen.releases for mechanism in made.mechanisms]
    assert all(getattr(one, part) in asked for one in plans)
    assert len(asked) == 4


def test_with_a_large_budget_it_is_the_optimum():
    """Whitened noise has standard deviation 2C/mu/sqrt(0.8), 0.07 here, and the standard errors
    add up to about 0.6, so the noise is about 0.04: a twentieth of the optimum's norm."""
    data = table(3000, 2, seed=2)
    values = {"steps": 80, "epsilon": 1000.0, "clip": 2.0}
    _, _, kept = run(data, values, seeds=(0,))
    best = optimum(data, 10, 3).numpy()
    assert np.linalg.norm(kept["coefficients"][0] - best) < 0.15 * np.linalg.norm(best)


def test_more_budget_means_less_error():
    job, events, kept = run(
        table(3000, 2, seed=2), {"steps": 32}, {"epsilon": (0.1, 10.0)}, range(8)
    )
    results = collect(job, events)
    assert results.mean("mre", epsilon=10.0) < 0.5 * results.mean("mre", epsilon=0.1)
    assert (kept["noise"][:8] > kept["noise"][8:]).all()
    spent = [event for event in events if isinstance(event, Spent)]
    assert np.concatenate([e.epsilon for e in spent]) == pytest.approx(
        [0.1] * 8 + [10.0] * 8, rel=1e-3
    )


@pytest.mark.parametrize("name", DEGENERATE)
def test_degenerate_data_end_in_a_result(name):
    _, events, _ = run(table(40, 2, **DEGENERATE[name]), axes={"epsilon": (0.1, 10.0)})
    assert isinstance(events[-1], Finished)
    assert events[-1].diverged == ()


@pytest.mark.parametrize(("intervals", "knots"), [(2, 3), (2000, 3), (40, 20)])
def test_it_runs_at_the_ends_of_its_knobs(intervals, knots):
    values = {"intervals": intervals, "knots": knots, "steps": 1}
    _, events, kept = run(table(10, 2), values, {"epsilon": (1e-3, 1e3)})
    assert events[-1].diverged == ()
    assert kept["coefficients"].shape == (4, knots + 2)
