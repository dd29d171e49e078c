"""Sums against brute force, what one record can do to them, and the noise they get."""

import numpy as np
import pytest
import torch
from torch.nn import functional

from engine.papers.dbn.pcdbn import filters, maps, moments, price, whitening
from engine.papers.dbn.pcdbn.spec import PcdbnSpec
from engine.privacy.mechanisms import Gaussian
from engine.training import least_squares

SIZE = 3


def records(count=6, side=8, seed=0):
    x = torch.rand(count, 1, side, side, generator=torch.Generator().manual_seed(seed))
    return torch.where(x < 0.5, 0.0, x)


def every_patch(image, size, stride=1):
    side = image.shape[-1]
    for i in range(0, side - size + 1, stride):
        for j in range(0, side - size + 1, stride):
            yield image[0, i : i + size, j : j + size].flatten().double()


def test_second_moments_by_brute_force():
    x = records()
    wanted = torch.zeros(SIZE**2, SIZE**2, dtype=torch.float64)
    for image in x:
        v = list(every_patch(image, SIZE))
        total = sum(float(p @ p) for p in v)
        wanted += sum(torch.outer(p, p) for p in v) / total
    torch.testing.assert_close(moments.pixels(x, SIZE), wanted, rtol=1e-5, atol=1e-6)


def test_both_ways_to_sum_agree():
    v = torch.randn(5, 12, 7, generator=torch.Generator().manual_seed(1))
    wanted = sum(p @ p.T for p in v.double())
    torch.testing.assert_close(moments.gram(v), wanted, rtol=1e-5, atol=1e-5)
    tall = v.transpose(1, 2)
    wanted = sum(p @ p.T for p in tall.double())
    torch.testing.assert_close(moments.gram(tall), wanted, rtol=1e-5, atol=1e-5)


def test_fourth_moments_by_brute_force():
    x = records(3)
    rows, columns, weight = least_squares.upper(SIZE**2, x.device)
    actual = moments.quartic(x, SIZE) / torch.outer(weight, weight).double()
    stride = max(1, (8 - SIZE + 1) // moments.GRID)
    wanted = torch.zeros((SIZE**2,) * 4, dtype=torch.float64)
    for image in x:
        v = list(every_patch(image, SIZE, stride))
        total = sum(float(p @ p) ** 2 for p in v)
        wanted += sum(torch.einsum("a,b,c,d->abcd", p, p, p, p) for p in v) / total
    picked = wanted[rows, columns][:, rows, columns]
    torch.testing.assert_close(actual, picked, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("seed", range(5))
def test_one_record_moves_each_moment_by_at_most_one(seed):
    x = records(5, seed=seed) * 10.0 ** (seed - 2)
    for of in (moments.pixels, moments.quartic):
        change = of(x, SIZE) - of(x[1:].clone(), SIZE)
        assert 0.1 < float(change.norm()) <= 1.0


def test_the_darkest_and_the_flattest_record():
    x = records(2)
    x[0] = 0.0
    assert torch.equal(moments.pixels(x, SIZE), moments.pixels(x[1:].clone(), SIZE))
    x = records(2, seed=9)
    x[0] = 1.0  # all patches equal: the bound is attained
    change = moments.pixels(x, SIZE) - moments.pixels(x[1:].clone(), SIZE)
    assert float(change.norm()) == pytest.approx(1.0, abs=1e-5)


def test_noise_on_a_symmetric_matrix():
    rng, s, d, draws = torch.Generator().manual_seed(0), 3.0, 4, 4000
    zero = torch.zeros(d, d, dtype=torch.float64)
    noise = torch.stack([least_squares.released(zero, Gaussian(1.0, s), rng) for _ in range(draws)])
    assert torch.equal(noise, noise.mT)
    variance = noise.var(0)
    # a variance over m draws has relative deviation sqrt(2/m) = 0.022; five of them
    diagonal = torch.eye(d, dtype=torch.bool)
    assert torch.allclose(variance[diagonal], torch.tensor(9.0, dtype=torch.float64), rtol=0.11)
    assert torch.allclose(variance[~diagonal], torch.tensor(4.5, dtype=torch.float64), rtol=0.11)


def test_one_record_moves_the_classifier_sums_by_at_most_one():
    p = least_squares.shortened(torch.randn(7, 5, generator=torch.Generator().manual_seed(0)))
    y = torch.tensor([0, 1, 2, 0, 1, 2, 2])
    a, b = least_squares.sums(p, y, 3)
    torch.testing.assert_close(a, sum(torch.outer(r, r) for r in p.double()), rtol=1e-5, atol=1e-6)
    a1, b1 = least_squares.sums(p[1:], y[1:], 3)
    assert float((a - a1).norm()) == pytest.approx(1.0, abs=1e-5)
    assert float((b - b1).norm()) == pytest.approx(1.0, abs=1e-5)


def test_one_record_moves_the_whitening_sums_by_at_most_one():
    h = least_squares.shortened(torch.rand(9, 6, 4, generator=torch.Generator().manual_seed(0)))
    change = h.sum(0) - h[1:].sum(0)
    assert float(change.norm()) <= 1.0
    whitening.centre(h, h.mean(0))
    for one, other in zip(whitening._moments(h), whitening._moments(h[1:]), strict=True):
        assert 0.1 < float((one - other).norm()) <= 1.0


def test_without_noise_filters_are_eigenvectors():
    x = records(20)
    total = moments.pixels(x, SIZE)
    values, _ = torch.linalg.eigh(total)
    actual = filters.directions(total, 4)
    torch.testing.assert_close(actual @ actual.T, torch.eye(4, dtype=torch.float64))
    torch.testing.assert_close(torch.diag(actual @ total @ actual.T), values.flip(0)[:4])
    assert len(filters.directions(total, 99)) == SIZE**2


def test_the_quartic_is_climbed():
    x = records(40)
    m2, m4 = moments.pixels(x, SIZE), moments.quartic(x, SIZE)
    form = filters.Quartic(m4)
    start, actual = filters.directions(m2, 3), filters.climbed(m2, 0.75, [(-0.25, form)], 3)
    first = start[0]
    two = m2 / (first @ m2 @ first)

    def value(u):
        return float(0.75 * (u @ two @ u) - 0.25 * form.value(u) / form.value(first))

    torch.testing.assert_close(actual @ actual.T, torch.eye(3, dtype=torch.float64))
    assert value(actual[0]) > value(start[0]) + 1e-5


def test_the_slopes_of_a_quartic_are_its_gradients():
    """Also where noise has taken the moments' full symmetry."""
    rng, d = torch.Generator().manual_seed(1), 6 * 7 // 2
    half = torch.randn(d, d, generator=rng, dtype=torch.float64)
    form = filters.Quartic(half + half.T)
    u = torch.randn(4, 6, generator=rng, dtype=torch.float64).requires_grad_()
    (wanted,) = torch.autograd.grad(sum(form.value(row) for row in u), u)
    torch.testing.assert_close(form.slopes(u.detach()), wanted)


def test_a_climb_turns_no_filter_round():
    """Where there is nothing to climb, filters keep their signs, on which odd moments depend."""
    m2 = moments.pixels(records(20), SIZE)
    start = filters.directions(m2, 4)
    torch.testing.assert_close(filters.climbed(m2, 1.0, [], 4), start)


def test_shrinkage_undoes_noise():
    rng, d = torch.Generator().manual_seed(0), 200
    truth = torch.diag(torch.linspace(0, 100, d, dtype=torch.float64))
    noisy = least_squares.released(truth, Gaussian(1.0, 2.0), rng)
    values, vectors = torch.linalg.eigh(noisy)
    raw = (vectors @ torch.diag(values) @ vectors.T - truth).norm()
    better = (vectors @ torch.diag(least_squares.shrunk(values, 2.0)) @ vectors.T - truth).norm()
    assert better < raw


def test_descent_reaches_the_minimiser():
    rng = torch.Generator().manual_seed(0)
    actual = least_squares.Quadratic(
        torch.linalg.qr(torch.randn(6, 6, generator=rng, dtype=torch.float64))[0],
        torch.linspace(1, 3, 6, dtype=torch.float64),
        torch.randn(6, 2, generator=rng, dtype=torch.float64),
    )
    torch.testing.assert_close(
        least_squares.weights(actual, 400), least_squares.weights(actual, None)
    )
    a = actual.vectors @ torch.diag(actual.values) @ actual.vectors.T
    b = actual.vectors @ actual.target
    w = torch.zeros(6, 2, dtype=torch.float64)
    for _ in range(5):
        w = w - (a @ w - b) / 3.0
    torch.testing.assert_close(least_squares.weights(actual, 5), w)


def rectified(responses, count, pool):
    both = torch.cat([responses.clamp(min=0), (-responses).clamp(min=0)], 1)
    return functional.avg_pool2d(both, pool)[:, :count]


@pytest.mark.parametrize(("side", "count"), [(28, 32), (13, 3), (9, 6), (8, 1)])
def test_features_are_those_of_plain_convolutions(side, count):
    x, rng = records(70, side), torch.Generator().manual_seed(0)
    lower = torch.randn(-(-count // 2), 1, 5, 5, generator=rng)
    upper = torch.randn(count, count, 3, 3, generator=rng)
    cells, pad, pool = maps.grid(side)
    low = rectified(functional.conv2d(x, lower, padding=2), count, 2)
    torch.testing.assert_close(maps.first(x, lower, count), low, rtol=1e-4, atol=1e-5)
    high = rectified(functional.conv2d(low, upper, padding=pad), 2 * count, pool)
    wanted = least_squares.shortened(high[:, :, :cells, :cells].flatten(2).sqrt())
    actual = maps.features(x, (lower, upper), (count, 2 * count))
    torch.testing.assert_close(actual, wanted, rtol=1e-3, atol=1e-4)


def layer(part):
    rng = torch.Generator().manual_seed(3)
    return maps.first(part, torch.randn(2, 1, 3, 3, generator=rng), 3)


@pytest.mark.parametrize("side", [20, 22, 24])
def test_moments_of_the_first_layers_maps_by_brute_force(side):
    x, wanted = records(4, side), torch.zeros(27, 27, dtype=torch.float64)
    half, places = side // 2, (side // 2) // 3
    start = (half - 3 * places) // 2
    for image in layer(x).double():
        v = [
            image[:, i : i + 3, j : j + 3].flatten()
            for i in range(start, start + 3 * places, 3)
            for j in range(start, start + 3 * places, 3)
        ]
        wanted += sum(torch.outer(p, p) for p in v) / sum(float(p @ p) for p in v)
    actual = moments.second(x, layer, 3, 3)
    torch.testing.assert_close(actual, wanted, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("scale", [1e-3, 1.0, 1e3])
def test_one_record_moves_the_maps_moments_by_at_most_one(scale):
    x = records(5, 20) * scale
    change = moments.second(x, layer, 3, 3) - moments.second(x[1:], layer, 3, 3)
    assert 0.1 < float(change.norm()) <= 1.0


@pytest.mark.parametrize("rows", [3, 70, 200, 301])
def test_blocks_make_the_whole_square(rows):
    wide = torch.randn(rows, 50, generator=torch.Generator().manual_seed(0))
    actual = least_squares.squared(wide)
    torch.testing.assert_close(actual, wide.double() @ wide.double().T, rtol=1e-4, atol=1e-4)
    assert torch.equal(actual, actual.T)


def test_features_do_not_look_at_other_records():
    x, rng = records(10, side=12), torch.Generator().manual_seed(0)
    weights = torch.randn(2, 1, 3, 3, generator=rng), torch.randn(4, 4, 3, 3, generator=rng)
    together = maps.features(x, weights, (4, 8))
    alone = torch.cat([maps.features(x[i : i + 1], weights, (4, 8)) for i in range(10)])
    torch.testing.assert_close(together, alone, rtol=1e-4, atol=1e-5)
    norms = together.flatten(1).double().norm(dim=1)
    assert 1.0 - 2e-6 < float(norms.max()) <= 1.0


@pytest.mark.parametrize("gone", [0, 7, 299])
def test_features_are_the_same_to_the_last_bit_without_another_record(gone):
    """Rounding of the others' features would add up: the sums are of 60,000 of them."""
    x, rng = records(300, side=12), torch.Generator().manual_seed(0)
    weights = torch.randn(2, 1, 3, 3, generator=rng), torch.randn(4, 4, 3, 3, generator=rng)
    rest = [place for place in range(300) if place != gone]
    whole, less = (maps.features(some, weights, (4, 8)) for some in (x, x[rest]))
    assert torch.equal(whole[rest], less)
    how = whitening.whitening(whole.clone(), 300, price.releases(PcdbnSpec(), 300), rng)
    whole, less = (
        whitening.whitened(whitening.centre(some, how.mean), how, 20) for some in (whole, less)
    )
    assert torch.equal(whole[rest], less)


@pytest.mark.parametrize("alike", [True, False])
def test_one_of_60_000_records_moves_the_sums_by_at_most_one(alike):
    """Rounding of a sum grows with its rows. In single precision the change here is 1.00027."""
    rng = torch.Generator().manual_seed(0)
    p = torch.rand(1 if alike else 60_000, 160, generator=rng).expand(60_000, -1).clone()
    y = torch.arange(60_000) % 3
    whole, less = (
        least_squares.sums(part, kinds, 3)
        for part, kinds in ((least_squares.shortened(p), y), (p[1:], y[1:]))
    )
    for one, other in zip(whole, less, strict=True):
        assert 1.0 - 3e-6 < float((one - other).norm()) <= 1.0


@pytest.mark.parametrize(("size", "positions"), [(160, 1), (9, 16)])
def test_one_of_60_000_records_moves_the_second_moments_by_at_most_one(size, positions):
    """Patches that are all alike change the sum most; both ways of adding up."""
    rng = torch.Generator().manual_seed(0)
    one = torch.rand(1, size, 1, generator=rng).expand(60_000, size, positions).clone()
    columns = moments.scaled(one, 2)
    moved = moments.gram(columns) - moments.gram(columns[1:])
    assert 1.0 - 3e-6 < float(moved.norm()) <= 1.0


def test_the_number_of_features_follows_the_noise():
    spec = PcdbnSpec()
    actual = [price.dimensions(spec.replace(epsilon=e), 60_000, 1024) for e in (0.1, 0.5, 1.0)]
    assert actual == sorted(actual)
    assert price.dimensions(spec.replace(dimensions=77), 60_000, 1024) == 77
    assert np.all(np.array(actual) <= 600)
