"""Price and training ask one rule which records are trained on."""

from dataclasses import replace

import numpy as np
import pytest

from datasets import catalog
from datasets.base import LabelledTable
from engine.core.errors import RequestError
from engine.papers.enadpp import price
from engine.papers.enadpp.spec import EnadppSpec
from engine.training import split
from engine.training.records import records


def table(n: int, test: int) -> LabelledTable:
    """Random pictures of the digits' size, with a publisher's test part of so many."""
    digits, rng = catalog.load("digits"), np.random.default_rng(0)

    def part(count: int) -> LabelledTable:
        x = rng.integers(0, 17, (count, *digits.x.shape[1:])).astype(digits.x.dtype)
        return replace(digits, x=x, y=np.arange(count) % 10, test=None)

    return replace(part(n), test=part(test) if test else None)


@pytest.mark.parametrize(("n", "test"), [(500, 0), (500, 70), (7_291, 2_007), (10_001, 30)])
def test_a_batch_is_divided_by_the_records_that_are_trained_on(n, test):
    found = records(table(n, test), "cpu")
    assert len(found) == split.trained(n) == len(split.train_rows(n))
    assert len(found.test_y) == n - len(found) + test
    spec = EnadppSpec(sample_rate=0.1)
    assert price.batch_size(spec, n) == pytest.approx(0.1 * len(found))


@pytest.mark.parametrize("n", [1, 4, 5, 999, 10_000, 10_001])
def test_every_row_is_either_trained_on_or_held_out(n):
    both = np.concatenate([split.train_rows(n), split.held_out_rows(n)])
    assert sorted(both) == list(range(n))


def test_a_large_table_without_a_test_part_is_refused():
    with pytest.raises(RequestError, match="expected a test part of digits"):
        records(table(10_001, 0), "cpu")
