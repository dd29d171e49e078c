"""Freed memory stays with the process that trains."""

import sys

import pytest
import torch

from engine import memory


def test_asking_twice_is_asking_once():
    assert memory.keep() is memory.keep()


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="glibc is Linux's")
def test_a_freed_block_is_taken_again_without_new_pages():
    if not memory.keep():
        pytest.skip("another C library")
    import resource

    def faults() -> int:
        return resource.getrusage(resource.RUSAGE_SELF).ru_minflt

    counts = []
    for _ in range(5):
        before = faults()
        for _ in range(20):
            torch.ones(2**24)  # 64 MB, 16,384 pages of 4 KB: handed back each time, 327,680 faults
        counts.append(faults() - before)
    assert min(counts) < 30_000


def test_other_systems_are_left_alone(monkeypatch):
    monkeypatch.setattr(memory.sys, "platform", "darwin")
    assert memory.keep.__wrapped__() is False
