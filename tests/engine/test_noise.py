"""Noise has the distribution that its mechanism is priced for.

Each test draws n values once, with a fixed seed, and compares them with the exact
distribution by the Kolmogorov-Smirnov test; the level 1e-3 is what a fresh seed
would fail once in a thousand times.
"""

import numpy as np
import pytest
import torch
from scipy import stats

from engine.privacy.mechanisms import GammaSphere, Gaussian, Laplace
from engine.privacy.noise import draw

LEVEL = 1e-3


def generator(seed: int) -> torch.Generator:
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
    noise = draw([mechanism] * 40, 500, generator(1)).flatten().numpy()
    assert stats.kstest(noise, law.cdf).pvalue > LEVEL


def test_gamma_sphere_norm_and_direction():
    d, scale = 6, 3.0 / 0.5
    noise = draw([GammaSphere(3.0, 0.5, d)] * 20_000, d, generator(2)).numpy()
    norms = np.linalg.norm(noise, axis=1)
    assert stats.kstest(norms, stats.gamma(d, scale=scale).cdf).pvalue > LEVEL
    # one coordinate of a uniform direction: (u + 1)/2 is Beta((d - 1)/2, (d - 1)/2)
    for coordinate in range(d):
        u = noise[:, coordinate] / norms
        assert stats.kstest((u + 1) / 2, stats.beta((d - 1) / 2, (d - 1) / 2).cdf).pvalue > LEVEL


@pytest.mark.parametrize("kind", [Gaussian, Laplace], ids=["gaussian", "laplace"])
def test_each_replica_has_its_own_scale(kind):
    mechanisms = [kind(1.0, value) for value in (0.1, 1.0, 10.0)]
    noise = draw(mechanisms, 20_000, generator(3))
    for mechanism, row in zip(mechanisms, noise, strict=True):
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
