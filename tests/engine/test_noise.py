"""Noise has the distribution that its mechanism is priced for.

Each test draws n values once, with a fixed seed, and compares them with the exact
distribution by the Kolmogorov-Smirnov test; the level 1e-3 is what a fresh seed
would fail once in a thousand times.
"""

import math

import numpy as np
import pytest
import torch
from scipy import stats

from engine.privacy import noise
from engine.privacy.mechanisms import GammaSphere, Gaussian, Laplace
from engine.privacy.noise import draw
from engine.privacy.recording import recording

LEVEL = 1e-3


def generator(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


@pytest.mark.parametrize(
    ("mechanism", "law"),
    [
        (Gaussian(2.0, 1.5), stats.norm(scale=3.0)),
        (Laplace(2.0, 0.5), stats.laplace(scale=4.0)),
    ],
    ids=["gaussian", "laplace"],
)
def test_scale_and_shape(mechanism, law):
    drawn = draw([mechanism] * 40, 500, generator(1)).flatten().numpy()
    assert stats.kstest(drawn, law.cdf).pvalue > LEVEL


def test_gamma_sphere_norm_and_direction():
    d, scale = 6, 3.0 / 0.5
    drawn = draw([GammaSphere(3.0, 0.5, d)] * 20_000, d, generator(2)).numpy()
    norms = np.linalg.norm(drawn, axis=1)
    assert stats.kstest(norms, stats.gamma(d, scale=scale).cdf).pvalue > LEVEL
    # one coordinate of a uniform direction: (u + 1)/2 is Beta((d - 1)/2, (d - 1)/2)
    for coordinate in range(d):
        u = drawn[:, coordinate] / norms
        assert stats.kstest((u + 1) / 2, stats.beta((d - 1) / 2, (d - 1) / 2).cdf).pvalue > LEVEL


@pytest.mark.parametrize("kind", [Gaussian, Laplace], ids=["gaussian", "laplace"])
def test_each_replica_has_its_own_scale(kind):
    mechanisms = [kind(1.0, value) for value in (0.1, 1.0, 10.0)]
    drawn = draw(mechanisms, 20_000, generator(3))
    for mechanism, row in zip(mechanisms, drawn, strict=True):
        # the mean of |x|/scale is known, and its standard error is below 1/sqrt(n)
        expected = {Gaussian: (2 / np.pi) ** 0.5, Laplace: 1.0}[kind]
        assert row.abs().mean().item() / mechanism.scale == pytest.approx(expected, abs=0.03)


def test_the_same_seed_draws_the_same_noise():
    mechanisms = [Laplace(1.0, 1.0)] * 3
    first, again = (draw(mechanisms, 7, generator(4)) for _ in range(2))
    assert torch.equal(first, again)


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 4.0])
@pytest.mark.parametrize("kind", ["laplace", "gamma sphere"])
def test_neighbouring_outputs_are_within_the_budget(kind, epsilon):
    """The log density ratio at any output, for values a sensitivity apart, is at most epsilon."""
    rng = np.random.default_rng(5)
    sensitivity, d = 2.5, 4
    shift = rng.normal(size=(1_000, d))
    order = 1 if kind == "laplace" else 2
    shift *= sensitivity / np.linalg.norm(shift, ord=order, axis=1, keepdims=True)
    make = Laplace if kind == "laplace" else lambda s, e: GammaSphere(s, e, d)
    scale = make(sensitivity, epsilon).scale
    output = rng.normal(scale=5 * scale, size=(1_000, d))
    loss = np.linalg.norm(output - shift, order, axis=1) - np.linalg.norm(output, order, axis=1)
    assert (np.abs(loss) / scale <= epsilon * (1 + 1e-12)).all()
    assert np.abs(loss).max() / scale > 0.5 * epsilon  # and the bound is not idle


def test_mixed_kinds_are_refused():
    with pytest.raises(TypeError):
        draw([Laplace(1.0, 1.0), Gaussian(1.0, 1.0)], 3, generator(0))


# Finite precision: what an observer of released sums can see of how the noise was drawn.


def lattice(draws: np.ndarray, apart: int, bits: int) -> np.ndarray:
    """How far pairs of draws lie from the lattice of a radius of so many bits, in [0, 1/2].

    Box and Muller's pairs z_i, z_j share a radius: exp(-(z_i^2 + z_j^2)/2) is uniform on (0, 1),
    hence a multiple of 2^-bits where it was made from so many bits. Only long pairs are kept,
    with z_i^2 + z_j^2 > 10, where rounding z to 24 bits blurs 2^24 exp(.) by less than 0.1.
    For an ideal Gaussian exp(.) is uniform, and so is its distance from a lattice that fine.
    """
    pairs = draws[: len(draws) // (2 * apart) * 2 * apart].reshape(-1, 2, apart).astype(np.float64)
    squares = (pairs**2).sum(1).ravel()
    place = 2.0**bits * np.exp(-squares[squares > 10.0] / 2.0)
    return np.abs(place - np.round(place))


def off_lattice(draws: np.ndarray, apart: int, bits: int) -> float:
    """The level at which the distances could be those of ideal draws."""
    actual = lattice(draws, apart, bits)
    return float(stats.kstest(actual, stats.uniform(0.0, 0.5).cdf).pvalue)


COUNT = 2**20
LAYOUTS = [(8, 24), (8, 32), (2**14, 24), (2**14, 32)]
"""Pairs as torch lays them out and as `noise.normal` does; bits of a processor and of a card."""


@pytest.mark.parametrize(("apart", "bits"), LAYOUTS)
def test_released_noise_lies_on_no_lattice(apart, bits):
    """About 2^19 e^-5 = 3,500 pairs are long enough; rounded sums of single precision."""
    sums = torch.zeros(1, COUNT)
    noise.release_in_place((sums,), [Gaussian(1.0, 1.0)], generator(6))
    assert sums.dtype == torch.float32
    assert off_lattice(sums[0].numpy(), apart, bits) > LEVEL


def test_a_draw_of_single_precision_lies_on_the_lattice():
    """What the test above must catch: torch's own draws in float32."""
    seen = torch.randn(COUNT, generator=generator(6)).numpy()
    assert off_lattice(seen, 8, 24) < 1e-9
    assert lattice(seen, 8, 24).max() < 0.25


def test_the_tail_goes_on_beyond_single_precision(monkeypatch):
    """Given u > 1 - 2^-24, half the squared radius is 24 log 2 plus a standard exponential.

    Such a u is one of 16.8 million, so it is handed in: in single precision it does not exist, and
    no draw passes sqrt(48 log 2) = 5.768 deviations.
    """
    chance = torch.rand(1, 20_000, generator=generator(7), dtype=torch.float64)

    def rare(shape, rng):
        u = chance[:, : shape[1]].clone()
        half = shape[1] // 2
        u[:, :half] = 1.0 - (1.0 - u[:, :half]) * 2.0**-24
        return u

    monkeypatch.setattr(noise, "uniform", rare)
    z = noise.normal((1, 20_000), generator(7))[0].view(2, -1)
    beyond = z.square().sum(0) / 2.0 - 24.0 * math.log(2.0)
    # u is rounded to 53 bits, so the distances are multiples of 2^-29 at the start of the tail
    assert stats.kstest(beyond.numpy(), stats.expon.cdf).pvalue > LEVEL
    assert float(z.abs().max()) > math.sqrt(48.0 * math.log(2.0))


def test_uniform_numbers_have_53_bits():
    """An odd multiple of 2^-53 has chance 1/2; single precision has 24 bits and none."""
    own = noise.uniform((1, 10_000), generator(8))[0] * 2.0**53
    assert torch.equal(own, own.round())
    odd = float((own % 2.0).mean())
    assert abs(odd - 0.5) < 5 * 0.5 / math.sqrt(10_000)
    single = torch.rand(10_000, generator=generator(8)).double() * 2.0**24
    assert torch.equal(single, single.round())


def test_the_ends_of_the_uniform_numbers_make_finite_noise(monkeypatch):
    """0 and 1 - 2^-53: no infinity, and tails of 8.57 deviations and 36.7 scales."""
    ends = torch.tensor([[0.0, 1.0 - 2.0**-53, 0.0, 0.0]], dtype=torch.float64)
    monkeypatch.setattr(noise, "uniform", lambda shape, rng: ends.clone())
    assert noise.normal((1, 4), generator(0)).abs().max() == pytest.approx(8.5717, abs=1e-4)
    tails = noise.laplace((1, 4), generator(0)).abs()
    assert torch.isfinite(tails).all()
    monkeypatch.setattr(noise, "uniform", lambda shape, rng: torch.full(shape, 0.5).double())
    assert noise.laplace((1, 4), generator(0)).max() == pytest.approx(53 * math.log(2.0))


def test_the_sum_is_rounded_once():
    """Value and noise are added in double precision: the result is the nearest single number."""
    value = torch.rand(3, 1_000, generator=generator(9)) * 100.0
    mechanisms = [Laplace(1.0, 0.5)] * 3
    alone = draw(mechanisms, 1_000, generator(10))
    assert torch.equal(
        noise.release(value, mechanisms, generator(10)), (value.double() + alone).float()
    )


@pytest.mark.parametrize("kind", [Gaussian, Laplace], ids=["gaussian", "laplace"])
@pytest.mark.parametrize(("replicas", "size"), [(3, 5), (2, 70_001), (7, 9_000)])
def test_how_many_rows_are_drawn_together_changes_no_number(kind, replicas, size, monkeypatch):
    """A graphics card draws many rows at once, a processor as many as its caches hold."""
    mechanisms = [kind(1.0, 1.0 + r) for r in range(replicas)]
    actual = []
    for most in (noise.SLAB, 2**22):
        monkeypatch.setattr(noise, "_rows", lambda columns, rng, most=most: max(1, most // columns))
        actual.append(noise.release(torch.zeros(replicas, size), mechanisms, generator(11)))
    assert torch.equal(*actual)


def test_weights_divide_the_noise_and_parts_share_one_release():
    """1/w of the scale: means of |x| over 20,000 draws have a relative error below 0.01."""
    parts = [torch.zeros(2, 20_000), torch.zeros(2, 2, 20_000)]
    weights = [None, torch.tensor([0.5, 4.0]).view(1, 2, 1)]
    mechanisms = [Laplace(1.0, 1.0), Laplace(1.0, 0.1)]
    with recording() as seen:
        noise.release_in_place(parts, mechanisms, generator(12), weights)
    assert parts[0].abs().mean(1).tolist() == pytest.approx([1.0, 10.0], rel=0.05)
    assert parts[1].abs().mean(2).flatten().tolist() == pytest.approx([2, 0.25, 20, 2.5], rel=0.05)
    (only,) = seen.releases
    assert [float(part.abs().max()) for part in only.values] == [0.0, 0.0]
    assert all(map(torch.equal, only.outputs, parts))


def test_noise_goes_where_a_view_lies():
    """A value that is no contiguous block gets the same noise as one that is."""
    tall = torch.zeros(4, 3)
    mechanisms = [Gaussian(1.0, 1.0)] * 3
    noise.release_in_place((tall.T,), mechanisms, generator(13))
    assert torch.equal(tall.T, noise.release(torch.zeros(3, 4), mechanisms, generator(13)))


@pytest.mark.skipif(not torch.cuda.is_available(), reason="no graphics card with CUDA here")
@pytest.mark.parametrize(("apart", "bits"), LAYOUTS)
def test_released_noise_of_a_graphics_card_lies_on_no_lattice(apart, bits):
    sums = torch.zeros(1, COUNT, device="cuda")
    noise.release_in_place((sums,), [Gaussian(1.0, 1.0)], torch.Generator("cuda").manual_seed(6))
    assert off_lattice(sums[0].cpu().numpy(), apart, bits) > LEVEL


def test_laplace_draws_have_the_laplace_tails():
    """P(|x| > t) = exp(-t); 10^6 draws, five standard errors of a proportion."""
    draws = noise.laplace((1, 1_000_000), generator())[0]
    for at in (0.5, 1.0, 3.0, 6.0):
        chance = math.exp(-at)
        actual = float((draws.abs() > at).double().mean())
        assert abs(actual - chance) < 5 * math.sqrt(chance * (1 - chance) / 1e6)
    assert abs(float((draws > 0).double().mean()) - 0.5) < 5 * 0.5 / 1e3
