"""What a graphics card needs, shown without one."""

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
import pytest
import torch

from datasets import catalog as data_catalog
from engine.core.errors import RequestError
from engine.papers.enadpp import price
from engine.runs import cards
from engine.runs.driver import drive
from engine.runs.events import Measured
from engine.runs.job import request
from engine.service.claim import take
from engine.service.client import Client
from engine.service.job_runner import perform
from engine.service.process import here
from engine.training import weights
from tests import elsewhere

MB = 1_000_000


@dataclass
class Small:
    """A card on which each setting takes so much, beside what all share."""

    left: int
    shared: int = 100 * MB
    each: int = 50 * MB
    asked: list[int] = field(default_factory=list)

    def free(self) -> int:
        return self.left

    def peak(self, work: Callable[[], object]) -> int:
        work()
        self.asked.append(len(self.asked) + 1)
        return self.shared + self.asked[-1] * self.each


@pytest.fixture(autouse=True)
def quick(monkeypatch):
    monkeypatch.setattr(price, "_gaussian", lambda *plan: 1.5)


@pytest.fixture
def precise():
    """Puts back what decides how exact products are."""
    before = torch.backends.cudnn.allow_tf32
    yield
    torch.set_float32_matmul_precision("highest")
    torch.backends.cudnn.allow_tf32 = before


def curve():
    return request(
        "enadpp", "dpsgd", "digits", {"epochs": 1, "sample_rate": 0.2}, {"epsilon": (1, 9)},
        range(4),
    )  # fmt: skip


@pytest.mark.parametrize(
    ("free", "one", "two", "count"),
    [
        (1_000 * MB, 150 * MB, 200 * MB, 8),  # 14 would fit
        (10_000 * MB, 150 * MB, 200 * MB, 128),
        (10_030 * MB, 150 * MB, 200 * MB, 128),  # a little more changes nothing
        (200 * MB, 150 * MB, 200 * MB, 1),
        (0, 150 * MB, 200 * MB, 1),  # it is tried, and says itself that memory ran out
        (1_000 * MB, 150 * MB, 150 * MB, 2**29),  # a replica that takes nothing
    ],
)
def test_as_many_replicas_step_together_as_fit(free: int, one: int, two: int, count: int):
    assert cards.fitting(free, one, two) == count


@pytest.mark.thorough
def test_chunks_on_a_card_come_from_its_memory(monkeypatch):
    job, data = curve(), data_catalog.load("digits")
    with elsewhere.device(monkeypatch) as there:
        fitted = cards.fitted(job, data, there, Small(left=400 * MB))
        assert fitted.id == job.id
        assert fitted.entry().chunk(fitted.spec(), len(data), there) == 4
        events = list(drive(fitted, data, lambda name, arrays: name, device=there))
    together = {len(event.replicas) for event in events if isinstance(event, Measured)}
    assert together == {4}
    assert cards.fitted(job, data, "cpu") is job


def test_a_step_that_does_not_fit_twice_goes_one_by_one(monkeypatch):
    class Full(Small):
        def peak(self, work):
            raise torch.OutOfMemoryError("CUDA out of memory.")

    with elsewhere.device(monkeypatch) as there:
        fitted = cards.fitted(curve(), data_catalog.load("digits"), there, Full(left=MB))
        assert fitted.entry().chunk(fitted.spec(), 1_797, there) == 1


def test_a_method_whose_runs_go_on_keeps_its_chunks(monkeypatch):
    job = request("survival", "psgld", "flchain", {}, {"epsilon": (0.5, 1.0)}, (0, 1))
    with elsewhere.device(monkeypatch) as there:
        assert cards.fitted(job, data_catalog.load("flchain"), there, Small(left=MB)) is job


def test_large_arrays_are_pinned_for_a_card_alone(monkeypatch):
    data, seen = data_catalog.load("flchain"), []

    def pin(array):
        seen.append(array.nbytes)
        return array.copy()

    monkeypatch.setattr(cards, "_pin", pin)
    assert cards.pinned(data, "cpu") is data
    wide = data_catalog.load("digits")
    large = cards.replace(wide, x=np.tile(wide.x, (2, 1)), y=np.tile(wide.y, 2))
    moved = cards.pinned(large, "cuda")
    assert seen == [large.x.nbytes]
    np.testing.assert_array_equal(moved.x, large.x)
    assert moved.y is large.y


@pytest.mark.parametrize("how", ["high", "medium"])
def test_mixed_precision_is_refused_where_norms_must_be_exact(how, precise, tmp_path):
    client, job = Client(tmp_path, workers=False), request("enadpp", "dpsgd", "digits")
    client.submit(job)
    torch.set_float32_matmul_precision(how)
    assert perform(take(client.store, here(), job.id)) == "failed"
    assert client.run(job.id).error.startswith("precision: expected single precision throughout")


def test_autocast_is_refused():
    with (
        torch.autocast("cpu", dtype=torch.bfloat16),
        pytest.raises(RequestError, match="got mixed precision: clipped norms must be exact"),
    ):
        cards.prepare("cpu")


def test_convolutions_on_a_card_are_exact(precise):
    torch.backends.cudnn.allow_tf32 = True  # as torch begins
    cards.prepare("cpu")
    assert not torch.backends.cudnn.allow_tf32
    assert not torch.backends.cuda.matmul.allow_tf32


def test_a_card_takes_the_norms_of_more_records_at_once_to_the_same_numbers(monkeypatch, precise):
    layer, rng = weights.Convolution(2, 3, 3, padding=1), torch.Generator().manual_seed(0)
    x = torch.randn(2, 50, 2, 8, 8, generator=rng)
    signal = torch.randn(2, 50, 3, 8, 8, generator=rng)
    monkeypatch.setattr(weights, "SLAB", 2**10)
    few = layer.norms("l2", x, signal)
    for device, most in (("cuda", cards.ROOM), ("cpu", cards.CACHE)):  # and back again
        cards.prepare(device)
        assert most == weights.SLAB
        torch.testing.assert_close(layer.norms("l2", x, signal), few)
    assert cards.CACHE < cards.ROOM
