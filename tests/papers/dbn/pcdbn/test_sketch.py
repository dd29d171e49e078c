"""Moments along a few directions: against brute force, what one record moves, and their forms."""

import math

import pytest
import torch
from torch.fx.experimental import _config as fx_config

from engine.papers.dbn.pcdbn import filters, moments, sketch
from tests.papers.dbn.pcdbn.test_moments import SIZE, every_patch, records

ORDERS = (3, 4, 5, 6, 8)


def directions(count=3):
    return filters.directions(moments.pixels(records(9, seed=4), SIZE), count)


@pytest.mark.parametrize("order", ORDERS)
def test_by_brute_force_and_with_the_tensors_norm(order):
    x, q = records(2), directions(2)
    stride = max(1, (8 - SIZE + 1) // moments.GRID)
    wanted = torch.zeros((2,) * order, dtype=torch.float64)
    for image in x:
        v = list(every_patch(image, SIZE, stride))
        total = sum(float(p @ p) ** (order / 2) for p in v)
        for p in v:
            power = torch.ones((), dtype=torch.float64)
            for _ in range(order):
                power = torch.tensordot(power, q @ p, 0)
            wanted += power / total
    (found,) = sketch.sums(x, SIZE, q, (order,))
    assert len(found) == math.comb(2 + order - 1, order)
    places, weights = sketch.monomials(2, order)
    picked = torch.stack([wanted[tuple(row)] for row in places.tolist()])
    torch.testing.assert_close(found, picked * weights, rtol=3e-4, atol=1e-6)
    assert float(found.norm()) == pytest.approx(float(wanted.norm()), rel=3e-4)


@pytest.mark.parametrize("seed", range(5))
def test_one_record_moves_every_order_by_at_most_one(seed):
    x, q = records(5, seed=seed) * 10.0 ** (seed - 2), directions()
    pairs = zip(sketch.sums(x, SIZE, q, ORDERS), sketch.sums(x[1:], SIZE, q, ORDERS), strict=True)
    for one, other in pairs:
        assert 0.01 < float((one - other).norm()) <= 1.0


@pytest.mark.parametrize("order", ORDERS)
def test_the_largest_record_attains_the_bound(order):
    flat = torch.full((1, SIZE**2), 1.0 / SIZE, dtype=torch.float64)  # along all patches of white
    (found,) = sketch.sums(torch.ones(1, 1, 8, 8), SIZE, flat, (order,))
    assert 1.0 - 1e-3 < float(found.norm()) <= 1.0


@pytest.mark.parametrize("order", ORDERS)
def test_a_form_and_its_gradient(order):
    rng, q = torch.Generator().manual_seed(order), directions()
    count = len(sketch.monomials(3, order)[0])
    form = sketch.Sketch(order, q, torch.randn(count, generator=rng, dtype=torch.float64))
    u = torch.randn(4, SIZE**2, generator=rng, dtype=torch.float64).requires_grad_()
    places, weights = sketch.monomials(3, order)
    wanted = (form.values * weights * (u @ q.T)[:, places].prod(2)).sum(1)
    torch.testing.assert_close(form.value(u[0].detach()), wanted[0].detach())
    (slopes,) = torch.autograd.grad(wanted.sum(), u)
    torch.testing.assert_close(form.slopes(u.detach()), slopes)


def test_everything_stays_on_the_device_of_the_images(monkeypatch):
    """Shown without a GPU: the meta device refuses most operands of another device."""
    monkeypatch.setattr(fx_config, "meta_nonzero_assume_all_nonzero", True)
    x, q = records(2).to("meta"), directions().to("meta")
    u = torch.zeros(4, SIZE**2, dtype=torch.float64, device="meta")
    for order, values in zip(ORDERS, sketch.sums(x, SIZE, q, ORDERS), strict=True):
        form = sketch.Sketch(order, q, values)
        assert form.value(u[0]).device == form.slopes(u).device == u.device
    count = SIZE**2 * (SIZE**2 + 1) // 2
    form = filters.Quartic(torch.zeros(count, count, dtype=torch.float64, device="meta"))
    assert form.value(u[0]).device == form.slopes(u).device == u.device
