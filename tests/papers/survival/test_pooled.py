"""Noisy gradients as one line: what private Newton steps from."""

import numpy as np
import pytest
import torch

from engine.papers.survival.mechanisms import pooled

D = 3


def gradients(bend, centre, count, noise=0.0, seed=0, replicas=1):
    """Gradients of a quadratic at random points: points, slopes and variances."""
    rng = torch.Generator().manual_seed(seed)
    points = torch.randn(replicas, count, D, generator=rng, dtype=torch.float64)
    slopes = (points - centre) @ bend
    slopes = slopes + noise * torch.randn(slopes.shape, generator=rng, dtype=torch.float64)
    return points, slopes, torch.full((replicas, count, D), max(noise, 1e-9) ** 2).double()


@pytest.fixture(autouse=True)
def straight(monkeypatch):
    """These gradients are exactly linear."""
    monkeypatch.setattr(pooled, "CURVED", 0.0)


def test_without_noise_the_line_is_found_whatever_the_metric_was():
    bend = torch.tensor([[2.0, 0.3, 0.0], [0.3, 0.4, 0.1], [0.0, 0.1, 1.2]]).double()
    centre = torch.tensor([0.5, -2.0, 1.0]).double()
    line = pooled.fitted(*gradients(bend, centre, 6))
    torch.testing.assert_close(line.bend[0], bend, rtol=1e-6, atol=1e-6)
    at = pooled.crossing(line, torch.zeros(1, D, D).double())
    torch.testing.assert_close(at[0], centre, rtol=1e-6, atol=1e-6)


def test_one_gradient_is_a_newton_step_in_the_metric():
    points, slopes, variance = gradients(torch.eye(D).double(), torch.ones(D).double(), 1)
    line = pooled.fitted(points, slopes, variance)
    torch.testing.assert_close(line.bend[0], torch.eye(D).double())
    at = pooled.crossing(line, torch.zeros(1, D, D).double())
    torch.testing.assert_close(at, points[:, 0] - slopes[:, 0])


def test_what_noise_hides_stays_at_the_start():
    """By hand: M = 1, variance v, prior precision P: -b/(1 + v P)."""
    points, slopes, _ = gradients(torch.eye(D).double(), torch.ones(D).double(), 1)
    line = pooled.fitted(points, slopes, torch.full((1, 1, D), 4.0).double())
    at = pooled.crossing(line, 3.0 * torch.eye(D).double()[None])
    torch.testing.assert_close(at, -line.level / (1.0 + 4.0 * 3.0))


def test_a_wrong_metric_is_learned_only_as_far_as_noise_allows():
    """The prior has deviation 0.3 an entry: much noise leaves M at 1, little finds it."""
    bend = 0.5 * torch.eye(D).double()
    near, far = (
        pooled.fitted(*gradients(bend, torch.zeros(D).double(), 12, noise)).bend[0]
        for noise in (1e-3, 30.0)
    )
    torch.testing.assert_close(near, bend, rtol=0.01, atol=0.01)
    torch.testing.assert_close(far, torch.eye(D).double(), rtol=0.05, atol=0.05)


def test_the_stated_spread_is_that_of_the_crossing():
    """1,500 repetitions of noise, points around the crossing: a deviation is known to 2 %."""
    bend, noise, repeats = torch.diag(torch.tensor([0.8, 1.0, 1.3])).double(), 0.05, 1_500
    half, _, _ = gradients(bend, torch.zeros(D).double(), 5)
    rng = torch.Generator().manual_seed(3)
    points = 0.1 * torch.cat([half, -half], 1).expand(repeats, -1, -1)
    slopes = points @ bend
    slopes = slopes + noise * torch.randn(slopes.shape, generator=rng, dtype=torch.float64)
    line = pooled.fitted(points, slopes, torch.full((repeats, 10, D), noise**2).double())
    nothing = torch.zeros(repeats, D, D).double()
    at = pooled.crossing(line, nothing)
    stated = pooled.spread(line, nothing).norm(dim=2).mean(0)
    np.testing.assert_allclose(at.std(0), stated, rtol=0.1)


def test_the_error_of_noise_counts_the_slope_that_it_hides():
    """1,500 repetitions of noise, points beside the crossing: a deviation is known to 2 %."""
    bend, noise, repeats = torch.eye(D).double(), 0.1, 1_500
    half, _, _ = gradients(bend, torch.zeros(D).double(), 12)
    points = (half + 1.0).expand(repeats, -1, -1)
    rng = torch.Generator().manual_seed(3)
    slopes = points + noise * torch.randn(points.shape, generator=rng, dtype=torch.float64)
    line = pooled.fitted(points, slopes, torch.full((repeats, 12, D), noise**2).double())
    nothing, zero = torch.zeros(repeats, D, D).double(), torch.zeros(repeats, D).double()
    at = pooled.crossing(line, nothing)
    found, _ = pooled.error(line, bend.expand(repeats, -1, -1), nothing, zero, zero)
    np.testing.assert_allclose(at.std(0), found.diagonal(dim1=1, dim2=2).mean(0).sqrt(), rtol=0.15)
    assert (at.std(0) > 1.3 * line.noise.mean(0).sqrt()).all()  # the level's alone is too small


def test_what_is_taken_from_gradients_moves_the_crossing_by_a_newton_step():
    points, slopes, variance = gradients(torch.eye(D).double(), torch.ones(D).double(), 12)
    line, zero = pooled.fitted(points, slopes, variance), torch.zeros(1, D, D).double()
    taken, twice = torch.tensor([[0.1, -0.2, 0.0]]).double(), 2.0 * torch.eye(D).double()[None]
    _, moved = pooled.error(line, 0.5 * twice, zero, torch.ones(1, D).double(), taken)
    torch.testing.assert_close(moved, taken)
    # a slope that is twice the line's, too, by half of what it differs in over the distance
    _, moved = pooled.error(line, twice, zero, torch.ones(1, D).double(), 0.0 * taken)
    torch.testing.assert_close(moved, 0.5 * (1.0 - line.middle[:, 0]))
