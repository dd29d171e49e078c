"""Made-up input of every kind ends in a result or in one sentence; `make bench` draws 10,000."""

import pytest

from benchmarks.fuzzing import KINDS, tracebacks

NUMBER = {
    "uploads": 300, "addresses": 150, "requests": 600, "arguments": 30, "rows of the store": 60,
    "files of the store": 60,
}  # fmt: skip
MANY = {"requests": 17_000, "addresses": 3_000, "rows of the store": 400, "files of the store": 400}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.thorough
def test_nothing_ends_in_a_traceback(kind: str):
    assert tracebacks(kind, NUMBER[kind]) == []


@pytest.mark.slow
@pytest.mark.parametrize("kind", MANY)
def test_many_inputs_end_in_no_traceback(kind: str):
    assert tracebacks(kind, MANY[kind], seed=35) == []
