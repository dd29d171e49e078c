"""Noise that steps share: its factors, its price by hand, and what it adds."""

import math

import numpy as np
import pytest
import torch

from datasets import catalog
from engine.catalog import paper
from engine.core.batch import Batch
from engine.papers.enadpp import price
from engine.papers.enadpp.spec import EnadppSpec
from engine.papers.enadpp.variants import VARIANTS
from engine.privacy import accounting, toeplitz
from engine.privacy.mechanisms import Gaussian
from engine.privacy.recording import recording
from engine.privacy.releases import cost
from engine.training import steps

FTRL = VARIANTS["dp_ftrl"]


@pytest.mark.parametrize("momentum", [0.0, 0.5, 0.9])
def test_the_factor_is_the_square_root_of_what_descent_adds_up(momentum):
    """The workload of descent with momentum: column sums of powers of it."""
    n = 12
    c = toeplitz.coefficients(n, momentum)
    root = np.array([[c[i - j] if i >= j else 0.0 for j in range(n)] for i in range(n)])
    kept = [[momentum ** (i - j) if i >= j else 0.0 for j in range(n)] for i in range(n)]
    workload = np.tril(np.ones((n, n))) @ np.array(kept)
    np.testing.assert_allclose(root @ root, workload, rtol=1e-12)


@pytest.mark.parametrize(("bands", "momentum"), [(1, 0.0), (4, 0.0), (5, 0.9)])
def test_no_record_moves_all_releases_by_more_than_is_priced(bands, momentum):
    """C applied to any gradients of one record in steps 5 apart: three times one epoch's."""
    c, parts, rng = toeplitz.coefficients(bands, momentum), 5, np.random.default_rng(0)
    worst = 0.0
    for _ in range(200):
        own = np.zeros((15, 3))
        for step in (2, 7, 12):
            g = rng.normal(size=3)
            own[step] = g / np.linalg.norm(g)
        moved = sum(c[j] * np.vstack([np.zeros((j, 3)), own[: 15 - j]]) for j in range(bands))
        worst = max(worst, float(np.linalg.norm(moved)))
    assert bands <= parts
    assert worst <= math.sqrt(3.0) * toeplitz.norm(bands, momentum) * (1.0 + 1e-12)


def test_the_price_by_hand():
    """Ten epochs of ten batches: sqrt(10) times the multiplier 3.7306 of one at (1, 1e-5)."""
    spec = EnadppSpec(epsilon=1.0, delta=1e-5, sample_rate=0.1, epochs=10, bands=4, momentum=0.0)
    added = price.mechanism(FTRL, spec, 1797)
    assert isinstance(added, Gaussian)
    assert added.multiplier == pytest.approx(math.sqrt(10.0) * 3.7306317, rel=1e-3)
    assert added.sensitivity == pytest.approx(
        spec.clip * math.sqrt(1.0 + 0.25 + 0.375**2 + 0.3125**2)
    )
    event = cost(price.releases(FTRL, spec, 1797))
    spent = accounting.epsilon(event, 1e-5, "zero_out_one")
    assert 0.999 < spent <= 1.0
    card = paper("enadpp").entry("dp_ftrl").guarantee(spec, 1797, "a digit")
    assert card.epsilon_proved == pytest.approx(spent, rel=1e-9)
    assert card.status == "proved"


def test_no_more_steps_share_noise_than_an_epoch_has():
    spec = EnadppSpec(sample_rate=0.25, bands=16)
    assert price.bands(FTRL, spec) == 4


def test_gradients_without_noise_are_the_sums():
    """Solving C g = y gives back g: with hardly any noise each step's gradient is its own sum."""
    rng, c = torch.Generator().manual_seed(0), toeplitz.coefficients(4, 0.9)
    past = ()
    for _ in range(9):
        sums = ((torch.randn(2, 3, generator=rng),),)
        noisy = steps.correlated(sums, past, c, [Gaussian(1.0, 1e-12)] * 2, rng)
        torch.testing.assert_close(noisy, sums, rtol=1e-4, atol=1e-4)
        past = ((sums, noisy), *past)[:3]


def test_the_noise_of_a_late_step_has_the_deviation_that_is_shown():
    """Eight steps of 40,000 coordinates: a deviation has a standard error of 0.4 %."""
    rng, c, past = torch.Generator().manual_seed(0), toeplitz.coefficients(4, 0.5), ()
    for _ in range(8):
        sums = ((torch.zeros(1, 40_000),),)
        noisy = steps.correlated(sums, past, c, [Gaussian(2.0, 3.0)], rng)
        past = ((sums, noisy), *past)[:3]
    expected = 6.0 * toeplitz.spread(4, 0.5, 8)
    assert float(past[0][1][0][0].std()) == pytest.approx(expected, rel=0.02)


def test_every_epoch_has_the_same_batches():
    """A record's steps are an epoch apart, which the price counts on."""
    table = catalog.load("digits")
    spec = EnadppSpec(sample_rate=0.25, epochs=3, bands=4)
    method = paper("enadpp").entry("dp_ftrl").load()
    batch, rng = Batch.grid(spec, {}, (0,)), torch.Generator().manual_seed(0)
    state, orders = method.init(batch, table, rng), []
    with recording() as seen:
        for _ in range(12):
            state, _ = method.step(batch, table, state, rng)
            orders.append(state.order.clone())
    assert all(torch.equal(order, orders[0]) for order in orders)
    assert len(seen.releases) == 12
