"""Closed-form gradients, norms and clipped sums against automatic differentiation."""

import pytest
import torch
from torch import Generator

from datasets import catalog as data_catalog
from engine.papers.lvq import descent
from engine.papers.lvq.folds import fold
from engine.papers.lvq.initial import labels
from engine.papers.lvq.model import Model, Sample, factors, norms, pairs, right, sums

R, N, D, K = 3, 11, 5, 4
KINDS = ("glvq", "gmlvq", "whitened")


def problem(kind, prototypes=1, seed=0):
    """Random records and parameters of R replicas, in float64."""
    rng = Generator().manual_seed(seed)

    def new(*shape):
        return torch.randn(*shape, generator=rng, dtype=torch.float64)

    x, y = new(R, N, D), torch.randint(0, K, (R, N), generator=rng)
    w = new(R, K * prototypes, D)
    omega = None if kind == "glvq" else new(R, D, D)
    basis = None
    if kind == "whitened":
        half = new(R, D, D)
        basis = half @ half.mT + torch.eye(D, dtype=torch.float64)
    inner = x if basis is None else x @ basis.mT
    present = torch.ones(R, N, dtype=torch.float64)
    present[0, -2:] = 0.0
    sample = Sample(x, inner.square().sum(2), y, present)
    return Model(w, labels(K, prototypes), omega, basis), sample


def mu(model, x, y, r):
    """The cost of one record of replica r, written as the paper writes it."""
    inner = x if model.basis is None else model.basis[r] @ x
    apart = inner - model.w[r]
    apart = apart if model.omega is None else apart @ model.omega[r].T
    squared = apart.square().sum(1)
    own = model.labels == y
    near, far = squared[own].min(), squared[~own].min()
    return (near - far) / (near + far)


def gradients(model, sample):
    """Per-record gradients by automatic differentiation: lists [r][i] of (w, omega)."""
    actual = []
    for r in range(R):
        row = []
        for i in range(N):
            w = model.w.clone().requires_grad_()
            omega = None if model.omega is None else model.omega.clone().requires_grad_()
            one = Model(w, model.labels, omega, model.basis)
            mu(one, sample.x[r, i], sample.y[r, i], r).backward()
            row.append((w.grad[r], None if omega is None else omega.grad[r]))
        actual.append(row)
    return actual


@pytest.mark.parametrize("prototypes", [1, 3])
@pytest.mark.parametrize("kind", KINDS)
def test_weighted_sums_equal_automatic_differentiation(kind, prototypes):
    model, sample = problem(kind, prototypes)
    rng = Generator().manual_seed(1)
    first = torch.rand(R, N, generator=rng, dtype=torch.float64) * sample.present
    second = torch.rand(R, N, generator=rng, dtype=torch.float64) * sample.present
    ours = sums(model, sample, pairs(model, sample), first, second)
    expected = gradients(model, sample)
    for r in range(R):
        w = sum(first[r, i] * expected[r][i][0] for i in range(N))
        torch.testing.assert_close(ours.w[r], w, rtol=1e-6, atol=1e-9)
        if model.omega is not None:
            omega = sum(second[r, i] * expected[r][i][1] for i in range(N))
            torch.testing.assert_close(ours.omega[r], omega, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("prototypes", [1, 3])
@pytest.mark.parametrize("kind", KINDS)
def test_norms_equal_automatic_differentiation(kind, prototypes):
    model, sample = problem(kind, prototypes)
    ours = norms(model, sample, pairs(model, sample))
    expected = gradients(model, sample)
    w = torch.tensor([[float(g[0].norm()) for g in row] for row in expected])
    torch.testing.assert_close(ours.w.float(), w, rtol=1e-5, atol=1e-7)
    if model.omega is not None:
        omega = torch.tensor([[float(g[1].norm()) for g in row] for row in expected])
        torch.testing.assert_close(ours.omega.float(), omega, rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize("split", [0.0, 0.3, 0.9])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(5))
def test_one_record_moves_the_clipped_sums_by_at_most_the_bound(kind, split, seed):
    """Neighbours differ in one record's presence: the change of both blocks is at most C."""
    model, sample = problem(kind, seed=seed)
    actual = pairs(model, sample)
    clip = torch.full((R, 1), 0.05, dtype=torch.float64)
    rho = torch.full((R, 1), split, dtype=torch.float64)
    first, second = factors(norms(model, sample, actual), clip, rho)

    def summed(present):
        weight = None if second is None else second * present
        return sums(model, sample, actual, first * present, weight)

    every = torch.ones(R, N, dtype=torch.float64)
    for i in range(N):
        fewer = every.clone()
        fewer[:, i] = 0.0
        a, b = summed(every), summed(fewer)
        change = (a.w - b.w).square().sum((1, 2))
        if model.omega is not None:
            change = change + (a.omega - b.omega).square().sum((1, 2))
        assert (change.sqrt() <= 0.05 * (1 + 1e-9)).all()
        if kind == "glvq":  # random gradients are far longer than C, so the bound is met
            assert (change.sqrt() >= 0.05 * (1 - 1e-9)).all()


@pytest.mark.parametrize("gap", [1e-1, 1e-3, 1e-4, 1e-5])
@pytest.mark.parametrize("kind", KINDS)
def test_rounding_lets_no_record_escape_the_bound(kind, gap):
    """A record between two prototypes that nearly coincide: distances vanish in float32.

    Records have norm 1, so inner products are rounded at about 6e-8, far above gap² at 1e-4.
    """
    rng = Generator().manual_seed(0)
    count, d = 50, 64

    def new(*shape):
        return torch.randn(*shape, generator=rng)

    centre = torch.nn.functional.normalize(new(count, 1, d), dim=2)
    w = centre + gap * new(count, 2, d) / d**0.5
    x = centre + gap * torch.rand(count, 1, 1, generator=rng) * new(count, 1, d) / d**0.5
    omega = None if kind == "glvq" else torch.eye(d) + 0.3 * new(count, d, d) / d**0.5
    basis = None
    if kind == "whitened":
        turn = torch.linalg.qr(new(d, d)).Q
        whitener = (turn * torch.logspace(-1, 1, d)) @ turn.T
        basis = (whitener * (d**0.5 / whitener.norm())).repeat(count, 1, 1)
        w = w @ basis
    inner = x if basis is None else x @ basis
    one = torch.ones(count, 1)
    sample = Sample(x, inner.square().sum(2), torch.zeros(count, 1, dtype=torch.long), one)
    model = Model(w, labels(2, 1), omega, basis)
    actual = pairs(model, sample)
    first, second = factors(norms(model, sample, actual), one, 0.3 * one)
    moved = sums(model, sample, actual, first, second)
    size = moved.w.square().sum((1, 2))
    size = size if moved.omega is None else size + moved.omega.square().sum((1, 2))
    assert float(size.sqrt().max()) <= 1.0 + 1e-3


def test_padding_adds_nothing():
    model, sample = problem("gmlvq")
    other = sample._replace(x=torch.where(sample.present[..., None] > 0, sample.x, 99.0))
    other = other._replace(square=other.x.square().sum(2))
    a = sums(model, sample, pairs(model, sample), sample.present, sample.present)
    b = sums(model, other, pairs(model, other), other.present, other.present)
    torch.testing.assert_close(a.w, b.w)
    torch.testing.assert_close(a.omega, b.omega)


def test_a_record_on_a_prototype_gives_finite_gradients():
    model, sample = problem("gmlvq")
    on = sample._replace(x=model.w[:, sample.y[0]])
    on = on._replace(square=on.x.square().sum(2), y=sample.y[:1].expand(R, N))
    actual = pairs(model, on)
    parts = (*sums(model, on, actual, on.present, on.present), *norms(model, on, actual))
    assert all(part.isfinite().all() for part in parts)


@pytest.mark.parametrize("replicas", [1, 2, 3, 7, 75])
@pytest.mark.parametrize("whitened", [False, True])
def test_norms_by_groups_are_those_of_all_together_in_little_memory(
    replicas: int, whitened: bool, monkeypatch: pytest.MonkeyPatch
):
    """To the last bit, since shipped numbers rest on them; a group holds a million numbers."""
    rng = torch.Generator().manual_seed(3)
    n, d = 1_400, 64
    x = torch.randn(n + 10, d, generator=rng)
    rows = torch.randint(0, n + 10, (replicas, n), generator=rng)
    centre = torch.randn(replicas, d, generator=rng)
    basis = torch.randn(replicas, d, d, generator=rng) if whitened else None
    expected = descent.right(x[rows] - centre[:, None], basis).square().sum(2)
    sizes = []

    def noting(block: torch.Tensor, turn: torch.Tensor | None) -> torch.Tensor:
        sizes.append(block.numel())
        return right(block, turn)

    monkeypatch.setattr(descent, "right", noting)
    assert torch.equal(descent.squares(x, rows, centre, basis), expected)
    assert sum(sizes) == replicas * n * d
    assert max(sizes) < 2 * descent.TOGETHER


def test_folds_of_two_hundred_repetitions_are_cut_once():
    """Every look at the error asks for all of them again: that took a third of the training."""
    table = data_catalog.load("digits")
    fold.cache_clear()
    for _ in range(2):
        for seed in range(200):
            fold(table, seed)
    assert fold.cache_info().misses == 200
