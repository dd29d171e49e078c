"""Parts of a pass side by side: same numbers, same errors, the same threads after."""

import threading

import pytest
import torch

from engine.papers.dbn.pcdbn import maps
from engine.training.spread import spread


def test_every_part_is_done_without_gradients_and_the_threads_are_restored(threads):
    done, grads = set(), []

    def work(part):
        done.add(part)
        grads.append(torch.is_grad_enabled())

    with torch.enable_grad():
        spread(work, range(50))
        assert torch.is_grad_enabled()
    assert done == set(range(50))
    assert not any(grads)
    assert torch.get_num_threads() == threads


def test_parts_run_at_the_same_time():
    """Two parts that wait for each other end only where both are under way."""
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    meeting = threading.Barrier(2, timeout=30)
    spread(lambda part: meeting.wait(), range(2))
    torch.set_num_threads(before)
    assert not meeting.broken


def test_an_error_in_a_part_is_raised_and_the_threads_are_restored(threads):
    def work(part):
        if part == 7:
            raise ValueError("part 7")

    with pytest.raises(ValueError, match="part 7"):
        spread(work, range(20))
    assert torch.get_num_threads() == threads


def test_features_are_the_same_to_the_bit_on_any_number_of_threads():
    rng = torch.Generator().manual_seed(1)
    x = torch.rand(200, 1, 28, 28, generator=rng)
    weights = torch.randn(4, 1, 5, 5, generator=rng), torch.randn(6, 8, 3, 3, generator=rng)
    actual, before = [], torch.get_num_threads()
    for count in (1, 2, 4):
        torch.set_num_threads(count)
        actual.append(maps.features(x, weights, (8, 12)))
    torch.set_num_threads(before)
    assert torch.equal(actual[0], actual[1])
    assert torch.equal(actual[0], actual[2])
