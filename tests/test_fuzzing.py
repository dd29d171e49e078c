"""Made-up input of every kind ends in a result or in one sentence; `make bench` draws 10,000."""

import pytest

from benchmarks.fuzzing import KINDS, tracebacks

NUMBER = {"uploads": 300, "addresses": 150, "arguments": 30, "rows of the store": 60}


@pytest.mark.parametrize("kind", KINDS)
def test_nothing_ends_in_a_traceback(kind: str):
    assert tracebacks(kind, NUMBER[kind]) == []
