"""The cost without kinks: its gradient, how far it lies above the cost, and where it ends."""

import math

import pytest
import torch
from torch import Generator

from datasets import catalog
from engine.papers.lvq.initial import labels
from engine.papers.lvq.model import Model, Sample, cost, pairs, sums
from engine.papers.lvq.quasi_newton import SLOPE, STAGES, solve
from engine.papers.lvq.smooth import soft_cost, whitened
from tests.papers.lvq.conftest import blobs, run

N, D, K = 40, 5, 4
kinds = pytest.mark.parametrize("matrix", [False, True])


def problem(matrix, prototypes=1, seed=0):
    """Random records and parameters of one replica, in double precision."""
    rng = Generator().manual_seed(seed)

    def new(*shape):
        return torch.randn(*shape, generator=rng, dtype=torch.float64)

    x, y = new(1, N, D), torch.arange(N)[None] % K
    sample = Sample(x, x.square().sum(2), y, torch.ones(1, N, dtype=torch.float64))
    omega = new(1, D, D) if matrix else None
    return Model(new(1, K * prototypes, D), labels(K, prototypes), omega), sample


def written_out(w, omega, sample, prototypes, temperature):
    """The mean soft cost, record by record and prototype by prototype."""
    total = 0.0
    for x, y in zip(sample.x[0], sample.y[0], strict=True):
        apart = x - w[0] if omega is None else (x - w[0]) @ omega[0].T
        squared, own = apart.square().sum(1), labels(K, prototypes) == y
        near, others = squared[own].min(), squared[~own]
        total += temperature * torch.logsumexp((near - others) / (near + others) / temperature, 0)
    return total / N


@kinds
@pytest.mark.parametrize("prototypes", [1, 2])
@pytest.mark.parametrize("temperature", [0.3, 0.01])
def test_the_gradient_equals_automatic_differentiation(matrix, prototypes, temperature):
    model, sample = problem(matrix, prototypes)
    w = model.w.clone().requires_grad_()
    omega = None if model.omega is None else model.omega.clone().requires_grad_()
    value = written_out(w, omega, sample, prototypes, temperature)
    value.backward()
    actual = soft_cost(model, sample, temperature)
    assert actual.cost == pytest.approx(float(value.detach()), abs=1e-12)
    torch.testing.assert_close(actual.w, w.grad, rtol=1e-9, atol=1e-12)
    if matrix:
        torch.testing.assert_close(actual.omega, omega.grad, rtol=1e-9, atol=1e-12)


@kinds
@pytest.mark.parametrize("temperature", [1.0, 0.1, 0.001])
def test_the_soft_cost_lies_above_the_cost_by_at_most_its_bound(matrix, temperature):
    """By tau log(j) for j wrong prototypes, here 3."""
    model, sample = problem(matrix)
    above = soft_cost(model, sample, temperature).cost - float(
        cost(pairs(model, sample), sample.present)
    )
    assert -1e-12 <= above <= temperature * math.log(K - 1) + 1e-12


def test_whitened_coordinates_keep_every_distance():
    """The identity there and back, up to a factor, on records that vary in four directions."""
    _, sample = problem(True)
    x = sample.x @ torch.diag(torch.tensor([1.0, 0.1, 3.0, 1.0, 0.0], dtype=torch.float64))
    x = x - x.mean(1, keepdim=True)
    sample = sample._replace(x=x, square=x.square().sum(2))
    coordinates = whitened(x[0])
    assert len(coordinates.spread) == 4
    start = Model(x[:, :K], labels(K, 1), torch.eye(D, dtype=torch.float64)[None])
    inner = coordinates.into(start)
    for one, rows in ((inner, coordinates.records(sample)), (coordinates.back(inner), sample)):
        here, first = pairs(one, rows), pairs(start, sample)
        ratio = here.far / first.far
        torch.testing.assert_close(ratio, ratio[:, :1].expand_as(ratio), rtol=1e-9, atol=0.0)
        torch.testing.assert_close(here.plus, first.plus)


@pytest.mark.thorough
@pytest.mark.parametrize("method", ["glvq_bfgs", "gmlvq_bfgs"])
def test_the_solver_converges_on_the_digits(method):
    _, info, _ = run(method, catalog.load("digits"), range(2))
    assert info.converged.tolist() == [1.0, 1.0]


@pytest.mark.parametrize("matrix", [False, True])
def test_the_minimum_lies_in_kinks_where_the_gradient_does_not_vanish(matrix):
    """Why the cost itself is no criterion: at the soft minimum its gradient is far from zero."""
    table = blobs(400, 4, 5)
    x = torch.from_numpy(table.x - table.x.mean(0))[None]
    y = torch.from_numpy(table.y)[None]
    sample = Sample(x, x.square().sum(2), y, torch.ones_like(y, dtype=torch.float64))
    means = torch.stack([x[0, y[0] == k].mean(0) for k in range(5)])[None]
    omega = torch.eye(4, dtype=torch.float64)[None] if matrix else None
    best = solve(Model(means, labels(5, 1), omega), sample)
    assert best.slope <= SLOPE
    nearest = pairs(best.model, sample)
    slope = sums(best.model, sample, nearest, sample.present, sample.present)
    assert float(slope.w.abs().max()) / 400 > 10 * SLOPE
    above = soft_cost(best.model, sample, STAGES[-1][0]).cost - float(cost(nearest, sample.present))
    assert 0.0 <= above < 1e-3


def test_a_solver_that_is_stopped_says_so():
    table = blobs(400, 4, 5)
    x = torch.from_numpy(table.x - table.x.mean(0))[None]
    y = torch.from_numpy(table.y)[None]
    sample = Sample(x, x.square().sum(2), y, torch.ones_like(y, dtype=torch.float64))
    assert solve(Model(x[:, :5].clone(), labels(5, 1)), sample, iterations=2).slope > SLOPE
