"""One thread for every test: the tables are small, and the cores may be shared."""

from collections.abc import Iterator

import pytest

from engine.training.threads import single_thread


@pytest.fixture(autouse=True)
def _alone() -> Iterator[None]:
    with single_thread():
        yield
