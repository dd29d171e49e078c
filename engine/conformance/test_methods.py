"""Every private method of every paper keeps what `checks` promises."""

import zlib
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import torch

from engine.conformance.play import Case
from engine.privacy import accounting


@pytest.fixture(autouse=True, scope="module")
def quick() -> Iterator[None]:
    """Replaces the search for a noise multiplier, which takes seconds, by some number from 1 to 2.

    The number depends on what is searched for. The accountants stay the real ones.
    """

    def some(make: Any, target: float, delta: float, relation: str, **how: Any) -> float:
        text = f"{make(1.0)} {target} {delta} {relation}"
        return 1.0 + zlib.crc32(text.encode()) / 2**32

    threads, patch = torch.get_num_threads(), pytest.MonkeyPatch()
    patch.setattr(accounting, "calibrate", some)
    torch.set_num_threads(1)
    yield
    patch.undo()
    torch.set_num_threads(threads)


def test_a_private_method_keeps_its_promises(made: Case, check: Callable[[Case], None]) -> None:
    """One promise of one method; `conftest` gives all of them."""
    check(made)
