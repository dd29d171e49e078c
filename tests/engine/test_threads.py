"""The same run on one thread, on two and on four gives the same numbers to the last bit."""

import functools
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import torch

from engine.catalog import catalog
from engine.training.steady import steady

ROOT = Path(__file__).parents[2]
LEFT_OUT = ("MKL_CBWR", "EXPLORER_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS")
"""Variables of other tests, of those with a cluster too, that would decide what is tested here."""


@functools.cache
def told(paper: str, threads: int) -> dict[str, dict[str, str]]:
    """What a fresh process measures and keeps on so many threads, one run after the other."""
    inherited = {name: text for name, text in os.environ.items() if name not in LEFT_OUT}
    done = subprocess.run(
        [sys.executable, "-m", "tests.engine.threaded", paper, str(threads)],
        cwd=ROOT, env=inherited | {"OMP_NUM_THREADS": str(threads)},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


@pytest.mark.slow
@pytest.mark.parametrize("threads", [2, 4])
@pytest.mark.parametrize("paper", catalog())
def test_the_number_of_threads_changes_no_bit(paper, threads):
    one, many = told(paper, 1), told(paper, threads)
    assert set(one) >= {entry.name for entry in catalog()[paper].methods}
    assert [
        f"{name}: {key}" for name in one for key in one[name] if one[name][key] != many[name][key]
    ] == []


@pytest.fixture
def threads():
    """Sets a number of threads, and afterwards the former one."""
    before = torch.get_num_threads()
    yield torch.set_num_threads
    torch.set_num_threads(before)


def logistic(x):
    return torch.sigmoid(x)


def sum_of_all(x):
    return x.sum()


def vectors(x):
    return torch.linalg.eigh(x @ x.T)[1]


@pytest.mark.parametrize("act", [logistic, sum_of_all, vectors])
def test_what_is_divided_among_threads_gives_one_answer_where_it_is_steady(threads, act):
    """100,000 numbers are more than three shares, whose ends are computed by other code.

    The answer is that of one thread, and without the decorator it is another on some number.
    """
    x = torch.randn(300, 333, generator=torch.Generator().manual_seed(0))
    threads(1)
    one = act(x)
    plain = []
    for count in (2, 3, 4):
        threads(count)
        plain.append(torch.equal(act(x), one))
        assert torch.equal(steady(act)(x), one)
        assert torch.get_num_threads() == count
    assert not all(plain)
