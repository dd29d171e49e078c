"""Sums of parts side by side: added in order, few at a time, the same on any number of threads."""

import time

import pytest
import torch

from engine.papers.dbn.pcdbn import filters, maps, moments, sketch
from engine.training import summed as module
from engine.training.summed import summed


@pytest.fixture
def two_threads():
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    yield
    torch.set_num_threads(before)


def test_parts_are_added_in_their_order_whichever_is_done_first(two_threads):
    values = torch.tensor([1e16, 1.0, -1e16, 3.0], dtype=torch.float64)

    def work(place):
        time.sleep(0.02 * (4 - place))
        return values[place], values[place].neg()

    total, minus = summed(range(4), work)
    assert total == 3.0  # in another order 4 or 0
    assert minus == -3.0


def test_few_parts_lie_in_memory_at_once(two_threads):
    drawn, most = [], []

    def parts():
        for place in range(3 * module.BESIDE):
            drawn.append(place)
            yield place

    def work(place):
        most.append(len(drawn) - place)
        return (torch.ones(()),)

    assert summed(parts(), work)[0] == 3 * module.BESIDE
    assert max(most) <= module.BESIDE


def test_without_parts_there_is_no_sum():
    assert summed([], lambda part: (torch.ones(()),)) == ()


def test_moments_are_the_same_to_the_bit_on_any_number_of_threads():
    rng, before = torch.Generator().manual_seed(2), torch.get_num_threads()
    x = torch.rand(700, 1, 28, 28, generator=rng)
    weight = torch.randn(8, 1, 5, 5, generator=rng)
    along = filters.directions(moments.pixels(x, 5), 6)
    found = []
    for count in (1, 2, 4):
        torch.set_num_threads(count)
        second = moments.second(x, lambda part: maps.first(part, weight, 16), maps.WINDOW, 2)
        found.append((second, moments.quartic(x.clone(), 3), *sketch.sums(x, 5, along, (3, 4, 6))))
    torch.set_num_threads(before)
    for other in found[1:]:
        assert all(torch.equal(a, b) for a, b in zip(found[0], other, strict=True))
