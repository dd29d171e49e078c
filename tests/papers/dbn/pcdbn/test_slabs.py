"""Gradients made of some records at a time are those of the whole batch."""

from functools import partial

import pytest
import torch
from torch.nn import functional

from engine.papers.dbn.pcdbn import crbm, doubled, slabs, top
from engine.training import activations

RECORDS = 150
"""More than two parts of maps, the last of them smaller."""
HOW = activations.expansion("printed", 7)


def generator(seed=0):
    return torch.Generator().manual_seed(seed)


@pytest.mark.parametrize("size", [1, 3, 5, 7, 9])
def test_filters_on_doubled_maps_need_no_doubled_maps(size):
    h = torch.rand(3, 4, 7, 7, generator=generator())
    filters = torch.randn(2, 4, size, size, generator=generator(1))
    wide = h.repeat_interleave(2, 2).repeat_interleave(2, 3)
    wanted = functional.conv2d(wide.double(), filters.double(), padding=size // 2)
    torch.testing.assert_close(doubled.convolved(h, filters).double(), wanted, rtol=0.0, atol=1e-4)


def test_maps_of_an_odd_side_are_doubled_and_cut():
    h, weight = torch.rand(2, 3, 7, 7), torch.randn(3, 1, 5, 5, generator=generator())
    wide = h.repeat_interleave(2, 2).repeat_interleave(2, 3)[:, :, :13, :13]
    back = functional.conv2d(wide, weight.transpose(0, 1).flip(2, 3), padding=2)
    seen = crbm.reconstruction(h, weight, torch.tensor(0.5), 13)
    torch.testing.assert_close(seen, torch.sigmoid(back + 0.5))


def layer():
    rng = generator(2)
    weight = torch.randn(4, 1, 5, 5, generator=rng).double()
    return weight, torch.randn(4, generator=rng).double(), torch.tensor(0.3).double()


@pytest.mark.parametrize("stride", [1, 2])
def test_an_energy_apart_has_the_gradient_of_the_whole(threads, stride, monkeypatch):
    """In double precision, where sums do not depend on their order."""
    exact = partial(torch.Tensor.to, dtype=torch.float64)
    places = doubled._places
    monkeypatch.setattr(doubled, "_places", lambda *where: exact(places(*where)))
    x = torch.rand(400, 1, 12, 12, generator=generator()).double()
    rows = torch.randperm(400, generator=generator(1))[:RECORDS]

    def energy(v, own):
        return crbm.divergence(v, *own, HOW, stride)

    wanted = slabs.slopes(lambda own: energy(x[rows], own), layer())
    actual = slabs.energy_slopes(energy, layer(), lambda part: x[part], rows, apart=True)
    whole = slabs.energy_slopes(energy, layer(), lambda part: x[part], rows, apart=False)
    for a, b, c in zip(actual, wanted, whole, strict=True):
        torch.testing.assert_close(a, b, rtol=1e-9, atol=1e-12)
        assert torch.equal(b, c)
    assert actual[0].abs().max() > 1e-3


def test_what_a_loss_does_not_use_has_no_slope():
    weight, bias, visible = layer()
    slopes = slabs.slopes(lambda own: own[0].square().sum() / 2, (weight, bias, visible))
    torch.testing.assert_close(slopes[0], weight)
    assert not slopes[1].any()
    assert not slopes[2].any()


def above(quadratic):
    """A loss of the responses: through the normalisation, where biases do not count, or plain."""
    y = torch.randint(0, 3, (2 * slabs.ROWS + 70,), generator=generator(3))
    if quadratic is None:
        return lambda a, w, b: (torch.sigmoid(a) @ w + b).square().mean()
    loss = top.Loss(quadratic)
    return lambda a, w, b: loss.value(top.rectified(a), w, b, y)


@pytest.mark.parametrize("quadratic", [True, False, None])
def test_the_upper_layers_have_the_gradient_of_the_whole(threads, quadratic):
    rng = generator()
    x = torch.rand(900, 40, generator=rng).half()
    own = tuple(torch.randn(shape, generator=rng) for shape in ((40, 6), (6,), (6, 3), (3,)))
    rows = torch.randperm(900, generator=rng)[: 2 * slabs.ROWS + 70]
    loss = above(quadratic)
    with torch.enable_grad():
        free = tuple(p.clone().requires_grad_() for p in own)
        value = loss(x[rows].float() @ free[0] + free[1], free[2], free[3])
        wanted = torch.autograd.grad(value, free)
    actual = slabs.upper_slopes(x, rows, own, loss)
    for a, b in zip(actual, wanted, strict=True):
        torch.testing.assert_close(a, b, rtol=1e-4, atol=1e-5)
    assert wanted[0].abs().max() > 1e-3


def test_parts_are_put_together_in_their_order(threads):
    x = torch.arange(RECORDS * 2.0).view(RECORDS, 2)
    assert torch.equal(slabs.stacked(lambda part: part + 1, x), x + 1)
