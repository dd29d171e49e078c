"""Every private method of every paper keeps what `checks` promises."""

from collections.abc import Callable, Iterator

import pytest
import torch

from engine.conformance.play import Case, some_multiplier


@pytest.fixture(autouse=True, scope="module")
def quick() -> Iterator[None]:
    """No search for noise, and one thread, which small products are quickest on."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    with some_multiplier():
        yield
    torch.set_num_threads(threads)


def test_a_private_method_keeps_its_promises(made: Case, check: Callable[[Case], None]) -> None:
    """One promise of one method; `conftest` gives all of them."""
    check(made)
