"""How far one record moves what is released, on neighbouring panels, and what that costs."""

import math
from dataclasses import replace

import numpy as np
import pytest
import torch
from scipy.stats import norm

from datasets import social, yesiwell
from datasets.base import PanelTable
from engine.core.errors import RequestError, SpecError
from engine.papers.dbn.price import gradient_noise, gradient_releases
from engine.papers.dbn.yesiwell import PAPER, encoder, gradient, methods, price, rigorous, windows
from engine.papers.dbn.yesiwell.spec import YesiwellSpec
from engine.privacy import accounting

SPEC = YesiwellSpec(history=8, social=0.4, most_friends=6, bases=4)
USERS, TIMES = 12, 14


def panel(seed: int = 0) -> PanelTable:
    """Twelve users; the first befriends six others, who have few friends besides."""
    rng = np.random.default_rng(seed)
    x = rng.uniform(social.LOWER, social.UPPER, (USERS, TIMES, 30)).astype(np.float32)
    y = rng.integers(0, 2, (USERS, TIMES))
    pairs = [(0, v) for v in range(1, 7)] + [(v, v + 1) for v in range(7, 11)] + [(6, 11)]
    card = replace(yesiwell.OWN, records=USERS)
    return PanelTable(card, x, y, np.array(pairs), (social.LOWER, social.UPPER))


def sums(table: PanelTable, spec: YesiwellSpec, absent: int | None, extra=None):
    """All that the rigorous network releases, with fixed filters, less what one record adds.

    An absent user's own windows are left out, and the user's summand is missing in each friend's
    term.
    """
    part = windows.sample(table, spec, 0, "cpu").whole
    if absent is not None:
        capped = part.capped - (extra if extra is not None else 0.0)
        part = replace(part, capped=capped).take(part.user != absent)
    shapes = methods.stacked(spec, 30)
    how = methods.PCDBN.plan.activation(spec)
    source = torch.Generator().manual_seed(1)
    first = torch.randn(1, 4, 1, 12, 4, generator=source)
    second = torch.randn(1, 4, 4, 6, 2, generator=source)
    parts, lower = rigorous.slabs(part, shapes[0]), rigorous.Lower(first, shapes[0], how)
    one = rigorous._moments(parts, shapes[0], lambda p: p.v[:, None, None])
    two = rigorous._moments(parts, shapes[1], lower)
    a, b = rigorous._sums(parts, lower, [spec], second, shapes[1], how)
    return one, two, a, b


def summand(table: PanelTable, spec: YesiwellSpec, user: int) -> torch.Tensor:
    """What one user adds to the friends' term of every window: the term without its friendships."""
    keep = (table.friends != user).all(axis=1)
    without = replace(table, friends=table.friends[keep])
    whole = windows.sample(table, spec, 0, "cpu").whole.capped
    return whole - windows.sample(without, spec, 0, "cpu").whole.capped


@pytest.mark.parametrize("user", range(0, USERS, 3))
def test_a_user_moves_each_sum_by_at_most_its_sensitivity(user):
    table, spec = panel(user), SPEC
    extra = summand(table, spec, user)
    friends = set(table.friends[(table.friends == user).any(axis=1)].ravel()) - {user}
    part = windows.sample(table, spec, 0, "cpu").whole
    strangers = [u not in friends and u != user for u in part.user.tolist()]
    near = [u in friends for u in part.user.tolist()]
    assert float(extra[strangers].abs().max()) == 0.0  # nobody but friends' windows change
    assert 0.0 < float(extra[near].abs().max()) <= 1.0 / spec.most_friends + 1e-15
    whole, less = sums(table, spec, None), sums(table, spec, user, extra)
    made = price.moments(spec)
    moved = [float((w - o).norm()) for w, o in zip(whole, less, strict=True)]
    mechanisms = (made.first, made.second, made.matrix, made.vector)
    for distance, mechanism in zip(moved, mechanisms, strict=True):
        assert 0.0 < distance <= mechanism.sensitivity


def aligned(spec: YesiwellSpec, kappa: float):
    """The worst user: every window along one direction, and friends' terms that only it makes."""
    count, most = spec.windows, spec.most_friends
    a = torch.tensor([math.sqrt(1 - kappa**2), kappa], dtype=torch.float64)
    own = count * torch.outer(a, a)
    before = torch.tensor([math.sqrt(1 - kappa**2), kappa], dtype=torch.float64)
    after = before - torch.tensor([0.0, kappa / most], dtype=torch.float64)
    moved = torch.outer(before, before) - torch.outer(after, after)
    return float((own + most * count * moved).norm())


@pytest.mark.parametrize("kappa", [0.0, 0.3, 0.9])
def test_the_bound_with_friends_is_not_loose_and_not_broken(kappa):
    spec = SPEC.replace(social=kappa)
    worst = aligned(spec, kappa)
    assert worst <= price.matrix_sensitivity(spec) * (1 + 1e-9)
    assert worst >= spec.windows * (1 - 1e-9)
    if kappa == 0.9:  # leaving the friends' part out would be a broken mechanism
        assert worst > 1.5 * spec.windows


def test_prices_by_hand():
    spec = YesiwellSpec(history=12, social=0.3)
    assert spec.windows == 9
    assert price.matrix_sensitivity(spec) == pytest.approx(9 * 1.6)
    assert price.vector_sensitivity(spec) == pytest.approx(9 * 1.3 / 2)
    assert price.matrix_sensitivity(spec.replace(unit="window")) == 1.0
    assert price.vector_sensitivity(spec.replace(unit="window")) == 0.5
    assert price.group(spec) == 9 * 31
    assert price.group(spec.replace(unit="window")) == 1
    made = price.moments(spec)
    assert made.matrix.scale == pytest.approx(9 * 1.6 * made.matrix.multiplier)


@pytest.mark.parametrize("unit", ["window", "user", "user_and_graph"])
@pytest.mark.parametrize("epsilon", [0.1, 1.0, 8.0])
def test_the_whole_costs_what_was_asked(unit, epsilon):
    spec = YesiwellSpec(epsilon=epsilon, unit=unit)
    parts = price.moments(spec)
    all_parts = (parts.first, parts.second, parts.matrix, parts.vector)
    s = sum(part.multiplier**-2 for part in all_parts) ** -0.5

    def delta(at):  # Balle and Wang 2018, Theorem 8, with sensitivity one
        return norm.cdf(0.5 / s - at * s) - math.exp(at) * norm.cdf(-0.5 / s - at * s)

    assert delta(epsilon) <= 1e-5 < delta(0.999 * epsilon)
    card = PAPER.entry("pcdbn").guarantee(spec, 254, "a user")
    assert 0.999 * epsilon < card.epsilon_proved <= epsilon
    assert card.status == ("proved" if unit == "user" else "proved_under_assumption")
    assert card.unit == ("one window of a user" if unit == "window" else "a user")


def test_the_auto_encoder_spends_its_budget_purely():
    spec = YesiwellSpec(epsilon=2.0, layer_share=0.25)
    made = price.codes(spec)
    assert made.decoder.scale == pytest.approx(2 * 9 / 0.5)
    assert made.output.scale == pytest.approx(1.5 * 9 / 1.5)
    card = PAPER.entry("dpah").guarantee(spec, 254, "a user")
    assert (card.epsilon_proved, card.delta) == (pytest.approx(2.0), 0.0)


def test_a_window_adds_at_most_its_share_to_the_codes():
    x = torch.randn(500, 120, generator=torch.Generator().manual_seed(0)) * 3
    h = encoder.shorter(encoder.encoded(x, torch.randn(1, 10, 120)))[0]
    x = encoder.shorter(x)
    rows, columns = torch.triu_indices(10, 10)
    square = (h[:, rows] * h[:, columns]).abs().sum(1)
    cross = (h[:, :, None] * x[:, None]).abs().sum((1, 2))
    assert float((square + cross).max()) <= 2.0
    assert float((square + cross).max()) > 1.0


@pytest.mark.parametrize("hidden", [0, 5])
def test_a_users_gradient_is_that_of_autograd_and_is_clipped(hidden):
    torch.manual_seed(0)
    x, y = torch.randn(2, 6, 3, 7), torch.randint(0, 2, (2, 6, 3)).float()
    weight = torch.randn(2, 7 if not hidden else 7 * hidden + hidden)
    kept = torch.ones(2, 6, 3)
    actual = gradient.record_gradients(weight, x, y, kept, hidden)
    for r in range(2):
        for i in range(6):
            free = weight[r : r + 1].clone().requires_grad_()
            z, _ = gradient.scores(free, x[r : r + 1, i], hidden)
            loss = torch.nn.functional.binary_cross_entropy_with_logits(z[0], y[r, i])
            (slope,) = torch.autograd.grad(loss, free)
            torch.testing.assert_close(actual[r, i], slope[0])
    clip = torch.tensor([0.1, 0.01])
    ones = torch.ones(2, 6)
    whole = gradient.clipped(actual, ones, clip)
    for i in range(6):
        less = ones.clone()
        less[:, i] = 0.0
        moved = (whole - gradient.clipped(actual, less, clip)).norm(dim=1)
        assert bool((moved <= clip).all())
    assert bool((actual.norm(dim=2) > clip[:, None]).any())


def test_dp_sgd_draws_the_noise_that_is_priced():
    spec = YesiwellSpec(epsilon=1.0, sgd_epochs=5)
    noise = gradient_noise(spec, 254)
    (release,) = gradient_releases(spec, 254)
    assert release.mechanism == noise
    assert (release.times, release.rate) == (25, 0.2)
    cost = PAPER.entry("dpsgd").cost(spec, 254, 25)
    assert 0.99 < accounting.epsilon(cost, 1e-5, "add_or_remove_one") <= 1.0


def test_more_friends_than_the_bound_are_refused():
    with pytest.raises(RequestError, match=r"expected a bound of at least 6.*got 5"):
        windows.check_friends(panel(), SPEC.replace(most_friends=5))


def test_a_history_that_does_not_fit_is_refused():
    with pytest.raises(SpecError, match=r"history: expected at least as many .* 4, got 3"):
        YesiwellSpec(history=3)
    with pytest.raises(RequestError, match="history: expected at most 12 of the 14 times"):
        windows.sample(panel(), SPEC.replace(history=14), 0, "cpu")
    with pytest.raises(SpecError, match=r"degree: expected one of 1, 2, 3, 5, 7 .* got 4"):
        YesiwellSpec(degree=4)
