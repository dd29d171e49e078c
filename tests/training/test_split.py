"""Price and training ask one rule which records are trained on."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.model_selection import KFold

from datasets import catalog
from datasets.base import LabelledTable
from engine.catalog import paper
from engine.core.errors import RequestError
from engine.papers.enadpp import price
from engine.papers.enadpp.spec import EnadppSpec
from engine.papers.lvq.folds import FOLDS, SWAPPED, fold
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
    kept = records(table(n, test), "cpu")
    assert len(kept) == split.trained(n) == len(split.train_rows(n))
    assert len(kept.test_y) == n - len(kept) + test
    spec = EnadppSpec(sample_rate=0.1)
    assert price.batch_size(spec, n) == pytest.approx(0.1 * len(kept))


@pytest.mark.parametrize("n", [1, 4, 5, 999, 10_000, 10_001])
def test_every_row_is_either_trained_on_or_held_out(n):
    both = np.concatenate([split.train_rows(n), split.held_out_rows(n)])
    assert sorted(both) == list(range(n))


def test_a_large_table_without_a_test_part_is_refused():
    with pytest.raises(RequestError, match="expected a test part of digits"):
        records(table(10_001, 0), "cpu")


@pytest.mark.parametrize("name", ["enadpp", "pcdbn"])
def test_an_export_tells_the_rows_that_are_tested_on(name):
    publication, data = paper(name), catalog.load("digits")
    reported = publication.model(publication.spec(), data.card)["tested_rows"]
    shown = data.x[reported].reshape(len(reported), -1) / 16.0
    used = records(data, "cpu").test_x.numpy()
    assert sorted(map(tuple, used)) == sorted(map(tuple, shown.astype(np.float32)))


def test_an_export_tells_the_folds_of_a_seed():
    data = catalog.load("digits")
    reported = paper("lvq").model(paper("lvq").spec(), data.card)["split"]
    assert "KFold(5, shuffle=True, random_state=s // 5)" in reported
    parts = list(KFold(5, shuffle=True, random_state=7 // 5).split(np.zeros(len(data))))
    for ours, theirs in zip(fold(data, 7), parts[7 % 5], strict=True):
        np.testing.assert_array_equal(ours, theirs)
    assert FOLDS * SWAPPED == 70_000
