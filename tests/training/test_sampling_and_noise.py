"""Lots are Poisson, noise has the scale that is priced, a step does what it says."""

import math

import pytest
import torch

from engine.privacy.mechanisms import Gaussian, Laplace
from engine.training.ghost import clipped_sum
from engine.training.network import mlp
from engine.training.sampling import aside, coins, orders, part, poisson, sent
from engine.training.steps import (
    Descent,
    add_noise,
    average,
    descend,
    lengths,
    noise_lengths,
)
from tests import elsewhere


def generator(seed=0):
    return torch.Generator().manual_seed(seed)


def test_lots_have_the_binomial_size_and_no_record_twice():
    """10,000 batches of Binomial(50, 0.3): the mean within 5 standard errors, 5 sqrt(10.5/10^4)."""
    index, present = poisson(10_000, 50, 0.3, generator())
    sizes = present.sum(1)
    assert abs(float(sizes.mean()) - 15.0) < 5 * math.sqrt(50 * 0.3 * 0.7 / 10_000)
    assert abs(float(sizes.var()) - 10.5) < 5 * 10.5 * math.sqrt(2 / 10_000)
    for row in range(20):
        drawn = index[row][present[row] > 0].tolist()
        assert len(set(drawn)) == len(drawn)


def test_replicas_draw_lots_of_their_own():
    index, present = poisson(2, 1000, 0.5, generator())
    batches = [set(index[r][present[r] > 0].tolist()) for r in range(2)]
    # shared records of two independent halves: 250 expected, deviation 13.7
    assert 150 < len(batches[0] & batches[1]) < 350


def test_rate_one_draws_everything_and_a_tiny_rate_draws_nothing():
    index, present = poisson(3, 40, 1.0, generator())
    assert index.tolist() == [list(range(40))] * 3
    assert present.min() == 1
    index, present = poisson(3, 40, 1e-9, generator())
    assert present.shape == (3, 1)
    assert present.sum() == 0


def test_an_empty_lot_gives_a_sum_of_zero():
    network = mlp(4, 3, 2)
    parameters = network.init([0, 1], torch.device("cpu"))
    index, present = poisson(2, 10, 1e-9, generator())
    x, y = torch.rand(10, 4)[index], torch.zeros(10, dtype=torch.int64)[index]
    total = clipped_sum(network, parameters, x, y, present, torch.ones(2))
    assert all(float(part.abs().max()) == 0.0 for own in total.sums for part in own)


def test_noise_has_the_deviation_of_its_mechanism():
    """200,000 draws: the sample deviation has a relative error of 1/sqrt(2n) = 0.0016."""
    scales = (0.5, 2.0)
    ratios = [torch.tensor([[1.0, 0.1], [0.5, 1.0]])]
    for kind, unit in ((Gaussian, 1.0), (Laplace, math.sqrt(2.0))):
        mechanisms = [kind(scale, 1.0) for scale in scales]
        sums = ((torch.zeros(2, 2, 200_000), torch.zeros(2, 2)),)
        add_noise(sums, mechanisms, generator(), ratios)
        wanted = unit * torch.tensor(scales)[:, None] / ratios[0]
        torch.testing.assert_close(sums[0][0].std(2), wanted, rtol=0.02, atol=0)
        theory = noise_lengths(sums, mechanisms, ratios)
        torch.testing.assert_close(lengths(sums), theory, rtol=0.02, atol=0)


def test_a_step_divides_by_the_expected_lot_and_decays_the_weights():
    weights, sums = ((torch.ones(2, 1, 1),),), ((torch.full((2, 1, 1), 6.0),),)
    how = Descent(torch.tensor([0.1, 1.0]), divisor=3.0, decay=0.5)
    descend(weights, None, sums, how)
    # w - rate (decay w + sum / divisor) = 1 - 0.1 (0.5 + 2) and 1 - (0.5 + 2)
    torch.testing.assert_close(weights[0][0].flatten(), torch.tensor([0.75, -1.5]))


def test_momentum_keeps_a_share_of_the_last_direction():
    weights, velocity = ((torch.zeros(1, 1, 1),),), ((torch.zeros(1, 1, 1),),)
    how = Descent(torch.ones(1), divisor=1.0, momentum=0.5)
    for _ in range(3):
        descend(weights, velocity, ((torch.ones(1, 1, 1),),), how)
    # directions 1, 1.5 and 1.75
    torch.testing.assert_close(weights[0][0].flatten(), torch.tensor([-4.25]))


def test_the_mean_weighs_late_weights_most():
    """Weights 1, 2, 3, 4 with shares 1/20 (1, 3, 6, 10): t-th step in proportion t (t + 1) / 2."""
    mean = ((torch.zeros(1, 1, 1),),)
    for taken, value in enumerate((1.0, 2.0, 3.0, 4.0)):
        average(mean, ((torch.full((1, 1, 1), value),),), taken)
    wanted = (1 * 1 + 3 * 2 + 6 * 3 + 10 * 4) / 20
    torch.testing.assert_close(mean[0][0].flatten(), torch.tensor([wanted]))


@pytest.mark.parametrize("rate", [1e-6, 3e-5, 0.01, 1 / 3, 1.0])
def test_coins_never_fall_more_often_than_is_priced(rate, monkeypatch):
    """Every number that may be drawn, near the rate: those below it are at most rate * 2^24."""
    edge = round(rate * 2**24)
    near = torch.arange(max(0, edge - 3), min(2**24, edge + 3), dtype=torch.float64) / 2**24
    monkeypatch.setattr(torch, "rand", lambda *shape, **how: near.float())
    true = coins((len(near),), rate, torch.Generator())
    assert max(0, edge - 3) + int(true.sum()) <= rate * 2**24
    assert max(0, edge - 3) + int(true.sum()) > rate * 2**24 - 1


@pytest.mark.parametrize(("records", "parts"), [(50, 4), (7, 7), (3, 5)])
def test_the_batches_of_an_order_hold_every_record_once(records, parts):
    order = orders(2, records, generator())
    assert order.sort(1).values.tolist() == [list(range(records))] * 2
    assert order[0].tolist() != order[1].tolist()
    cut = [part(order, number, parts) for number in range(parts)]
    for row in range(2):
        drawn = [index[row][present[row] > 0].tolist() for index, present in cut]
        assert sorted(place for own in drawn for place in own) == list(range(records))
        assert max(map(len, drawn)) - min(map(len, drawn)) <= 1


@pytest.mark.parametrize(("records", "rate"), [(50, 0.3), (1000, 0.01)])
def test_a_card_s_batches_are_those_of_coins(records, rate, monkeypatch):
    """Drawn on the processor, by gaps: 20,000 batches, sizes and chances within 5 deviations."""
    with elsewhere.device(monkeypatch) as there:
        rng = torch.Generator(there).manual_seed(0)
        index, present = poisson(20_000, records, rate, rng)
        assert str(index.device) == str(present.device) == there
        index, present = index.cpu(), present.cpu()
    sizes, variance = present.sum(1), records * rate * (1 - rate)
    assert abs(float(sizes.mean()) - records * rate) < 5 * math.sqrt(variance / 20_000)
    # a binomial's fourth moment is (3 + (1 - 6 q (1 - q)) / v) v^2
    kurtosis = 3 + (1 - 6 * rate * (1 - rate)) / variance
    spread = variance * math.sqrt((kurtosis - 1) / 20_000)
    assert abs(float(sizes.var()) - variance) < 5 * spread
    counts = torch.zeros(records).index_add_(0, index[present > 0], torch.ones(int(present.sum())))
    assert (counts / 20_000 - rate).abs().max() < 5 * math.sqrt(rate * (1 - rate) / 20_000)
    for row in range(20):
        drawn = index[row][present[row] > 0].tolist()
        assert drawn == sorted(set(drawn))


def test_a_card_s_batches_are_padded_as_here(monkeypatch):
    with elsewhere.device(monkeypatch) as there:
        rng = torch.Generator(there).manual_seed(0)
        index, present = (part.cpu() for part in poisson(3, 40, 1.0, rng))
        assert index.tolist() == [list(range(40))] * 3
        assert present.min() == 1
        index, present = (part.cpu() for part in poisson(3, 40, 1e-9, rng))
        assert index.tolist() == present.tolist() == [[0]] * 3


def test_a_card_s_generator_gives_other_coins_each_time_and_the_same_again(monkeypatch):
    with elsewhere.device(monkeypatch) as there:

        def batches():
            rng = torch.Generator(there).manual_seed(7)
            return [poisson(2, 1000, 0.5, rng)[0].tolist() for _ in range(3)]

        first = batches()
        assert first[0] != first[1] != first[2]
        assert batches() == first
    rng = generator()
    assert aside(rng) is rng


def test_what_is_sent_to_a_card_is_pinned_and_not_waited_for(monkeypatch):
    seen = []
    monkeypatch.setattr(torch.Tensor, "pin_memory", lambda part: seen.append("pinned") or part)
    monkeypatch.setattr(
        torch.Tensor, "to", lambda part, device, **how: seen.append((str(device), how)) or part
    )
    part = torch.ones(3)
    assert sent(part, torch.device("cuda")) is part
    assert seen == ["pinned", ("cuda", {"non_blocking": True})]
    sent(part, torch.device("cpu"))
    assert seen.count("pinned") == 1
