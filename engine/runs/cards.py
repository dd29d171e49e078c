"""What a graphics card needs that the processor does not: exact products, chunks that fit, pinning.

None of it changes a number on the processor. How many settings step together changes the draws of a
run (`engine.runs.driver`), so a run on a card belongs to that card's memory.
"""

import dataclasses
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from datasets.base import Table
from engine.core.errors import RequestError
from engine.method import Entry
from engine.runs.job import Job
from engine.training import weights

SHARE = 0.8
"""Part of what is free on a card that a chunk may take: memory is handed out in blocks."""
PINNED = 1_000_000
"""Bytes from which an array is worth pinning."""
CACHE, ROOM = weights.SLAB, 2**26
"""Most numbers of record gradients that lie in memory at once on a processor, and on a card: a
quarter of a gigabyte for each array of them. In pieces that fit a cache a card mostly waits."""
Array = NDArray[np.generic]


class CudaMemory:
    """The memory of a card of CUDA's."""

    def __init__(self, device: str) -> None:
        self._device = device

    def free(self) -> int:
        """Bytes that nobody holds."""
        torch.cuda.empty_cache()
        return int(torch.cuda.mem_get_info(self._device)[0])

    def peak(self, work: Callable[[], object]) -> int:
        """Most bytes that `work` holds at once."""
        torch.cuda.synchronize(self._device)
        torch.cuda.reset_peak_memory_stats(self._device)
        before = torch.cuda.memory_allocated(self._device)
        work()
        torch.cuda.synchronize(self._device)
        return int(torch.cuda.max_memory_allocated(self._device)) - before


def prepare(device: str) -> None:
    """Makes products on a card exact to single precision, as every bound on a norm takes them.

    A card also works out the norms of more records at once than a processor does.

    cuDNN rounds the factors of a convolution to ten bits unless it is told not to. A clipped record
    would then be longer than the bound that its noise is made for.

    Raises:
        RequestError: Mixed precision is switched on.
    """
    if torch.is_autocast_enabled(torch.device(device).type) or (
        torch.get_float32_matmul_precision() != "highest"
    ):
        raise RequestError(
            "precision: expected single precision throughout, got mixed precision: clipped norms "
            "must be exact for the guarantee to hold, so switch autocast and TF32 off"
        )
    torch.backends.cudnn.allow_tf32 = False
    torch.backends.cuda.matmul.allow_tf32 = False
    weights.SLAB = ROOM if torch.device(device).type == "cuda" else CACHE


def fitting(free: int, one: int, two: int) -> int:
    """How many replicas step together where memory is what limits them.

    A power of two, so that a few megabytes more or less change no run.

    Args:
        free: Bytes that are free.
        one: Most bytes that one replica holds, with what all share.
        two: The same of two.

    >>> fitting(free=10_000, one=1_000, two=1_500)
    8
    """
    each = max(1, two - one)
    count = int((SHARE * free - (one - each)) / each)
    return 1 << max(0, count.bit_length() - 1) if count > 1 else 1


def measured(job: Job, data: Table, device: str, memory: CudaMemory) -> int:
    """How many replicas of a job fit, from what one and what two of them hold in one step."""
    batch, method = job.batch(), job.entry().load()
    if len(batch) < 2:
        return 1

    def first(count: int) -> object:
        """The first step of so many replicas."""
        part, rng = batch.take(range(count)), torch.Generator(device).manual_seed(0)
        with torch.no_grad():
            return method.step(part, data, method.init(part, data, rng), rng)

    free = memory.free()
    try:
        return fitting(free, *(memory.peak(partial(first, count)) for count in (1, 2)))
    except torch.OutOfMemoryError:
        return 1


@dataclass(frozen=True, kw_only=True)
class OnCard(Job):
    """A job whose chunks are as large as a card's memory allows; named as without.

    Attributes:
        together: Replicas that step together.
    """

    together: int = dataclasses.field(default=1, compare=False)

    def entry(self) -> Entry[Any]:
        """The method, with chunks of that size."""
        return replace(super().entry(), chunk=lambda spec, n, device: self.together)


def fitted(job: Job, data: Table, device: str, memory: CudaMemory | None = None) -> Job:
    """The job with chunks that fit a card; the job itself on the processor.

    A method whose stopped runs go on keeps its own chunks, since their states belong to them.
    """
    if torch.device(device).type == "cpu" or job.entry().resumes:
        return job
    count = measured(job, data, device, memory or CudaMemory(device))
    fields = {one.name: getattr(job, one.name) for one in dataclasses.fields(job)}
    return OnCard(**fields, together=count)


def pinned(data: Table, device: str) -> Table:
    """The records in memory from which a card reads by itself; as they are on the processor."""
    if torch.device(device).type != "cuda":
        return data
    moved: dict[str, Any] = {
        one.name: _pin(value)
        for one in dataclasses.fields(data)
        if isinstance(value := getattr(data, one.name), np.ndarray) and value.nbytes >= PINNED
    }
    return replace(data, **moved)


def _pin(array: Array) -> Array:
    """A copy in memory that the system never moves."""
    copied: Array = torch.from_numpy(np.ascontiguousarray(array)).pin_memory().numpy()
    return copied
