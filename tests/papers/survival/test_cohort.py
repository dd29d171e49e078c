"""Made-up persons: they look like the histograms, and their curvature is the likelihood's."""

import math

import pytest
import torch

from engine.papers.survival.mechanisms import cohort


def test_persons_have_the_shares_of_the_bins():
    """512 points: a share is off by a few points, .02 is ten of them."""
    shares = torch.tensor([[[0.5, 0.0, 0.3, 0.2], [0.1, 0.2, 0.3, 0.4]]]).double() + 1e-9
    x = cohort.persons(shares, torch.eye(2).double()[None])
    assert x.shape == (1, cohort.PERSONS, 2)
    place = ((x * math.sqrt(2.0) + 1.0) * 2.0).long().clamp(0, 3)
    for j in range(2):
        found = torch.bincount(place[0, :, j], minlength=4) / cohort.PERSONS
        torch.testing.assert_close(found.double(), shares[0, j], atol=0.02, rtol=0.0)


@pytest.mark.parametrize("strength", [-0.8, 0.0, 0.6])
def test_persons_are_correlated_as_told(strength):
    """Uniform columns of a Gaussian copula: 6/pi asin(rho/2)."""
    shares = torch.full((1, 2, 16), 1.0 / 16.0).double()
    told = torch.tensor([[[4.0, 2.0 * strength], [2.0 * strength, 1.0]]]).double()
    x = cohort.persons(shares, told)[0]
    by_hand = 6.0 / math.pi * math.asin(strength / 2.0)
    assert float(torch.corrcoef(x.T)[0, 1]) == pytest.approx(by_hand, abs=0.02)


def test_points_fill_the_cube_evenly():
    points = cohort.even(3)
    assert ((points > 0.0) & (points < 1.0)).all()
    torch.testing.assert_close(points.mean(0), torch.full((3,), 0.5).double(), atol=0.01, rtol=0)
    cells = (points * 4.0).long() @ torch.tensor([16, 4, 1])
    assert int(torch.bincount(cells, minlength=64).min()) >= 4  # 8 in each on average


def test_the_curvature_of_one_person_by_hand():
    """Two intervals, hazards h and k: the second is reached by (1 - h) s."""
    A = torch.tensor([[1.0, 0.0], [1.0, 1.0]]).double()
    x, f = torch.tensor([[[0.5]]]).double(), torch.tensor([[-1.0, 0.4, 2.0]]).double()
    h, k = (1.0 / (1.0 + math.exp(-eta)) for eta in (-1.0 + 1.0, -0.6 + 1.0))
    reached = (1.0 - h) * 0.8
    one = torch.ones(1, 1).double()
    made = cohort.Cohort(x, torch.tensor([[0.8, 0.3]]).double(), 7.0 * one[0], one)
    rows = torch.tensor([[1.0, 0.0, 0.5], [1.0, 1.0, 0.5]]).double()
    weight = torch.tensor([h * (1.0 - h), reached * k * (1.0 - k)]).double()
    by_hand = rows.T @ (weight[:, None] * rows) * 7.0 / (h + reached * k)
    found = cohort.curvature(made, A, f, cohort.logit)
    torch.testing.assert_close(found[0], by_hand)


def test_cohorts_that_are_followed_apart_are_followed_alike(monkeypatch):
    rng = torch.Generator().manual_seed(0)
    x = torch.randn(5, 30, 2, generator=rng, dtype=torch.float64)
    f = torch.randn(5, 4, generator=rng, dtype=torch.float64)
    A = torch.randn(6, 2, generator=rng, dtype=torch.float64)
    stay, size = torch.full((5, 6), 0.9).double(), torch.ones(5, 2).double()
    made = cohort.Cohort(x, stay, torch.arange(1.0, 6.0).double(), size)
    whole = cohort.curvature(made, A, f, cohort.logit)
    monkeypatch.setattr(cohort, "ENTRIES", 1)
    torch.testing.assert_close(cohort.curvature(made, A, f, cohort.logit), whole)


def test_a_cohort_takes_on_the_second_moments_around_its_centre():
    x = torch.tensor([[[1.0, -1.0], [3.0, 1.0]]]).double()
    stay, size = torch.ones(1, 2).double(), torch.tensor([[1.5, 1.0]]).double()
    found = cohort.Cohort(x, stay, stay[:, 0], size).resized()
    torch.testing.assert_close(found.x, torch.tensor([[[0.5, -1.0], [3.5, 1.0]]]).double())


@pytest.mark.parametrize("bend", [cohort.logit, cohort.proportional])
@pytest.mark.parametrize("place", [-6.0, -1.0, 0.5])
def test_what_an_interval_counts_is_the_expected_second_derivative(bend, place):
    h, weight = bend(torch.tensor([place]).double())

    def loss(eta):
        own, _ = bend(eta)
        return -(h * own.log() + (1.0 - h) * torch.log1p(-own)).sum()

    second = torch.autograd.functional.hessian(loss, torch.tensor([place]).double())
    torch.testing.assert_close(weight, second[0])
