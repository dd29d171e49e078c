"""An export says what the model predicts of every record, from the files that it holds alone."""

import math
from dataclasses import replace

import numpy as np
import pytest

from datasets import catalog, own_store
from engine.catalog import paper
from engine.cli.export import scores
from engine.intervals import accuracy
from engine.papers.lvq.described import estimates
from engine.papers.lvq.folds import fold, joined
from engine.papers.lvq.spec import LvqSpec
from engine.runs.driver import drive
from engine.runs.job import request
from engine.runs.results import collect
from tests.papers.lvq.conftest import make


@pytest.mark.parametrize("method", ["glvq_sgd", "gmlvq_dp", "gmlvq_bfgs"])
@pytest.mark.thorough
def test_the_predictions_of_an_export_are_those_that_are_scored(method):
    """The share of wrong ones among each fold's test rows is the error that was measured.

    One record of 360 may be a tie that single precision breaks the other way.
    """
    job, data = (
        request("lvq", method, "digits", {"epochs": 2}, {}, range(3)),
        catalog.load("digits"),
    )
    kept = {}
    events = list(drive(job, data, lambda name, arrays: kept.setdefault(name, arrays) and name))
    errors = collect(job, events).gauges["error"]
    _, y = joined(data)
    row = 0
    for arrays in kept.values():
        for guesses in scores(job, arrays)["predictions"]:
            test = fold(data, row)[1]
            wrong = float((guesses[test] != y[test]).mean())
            assert math.isclose(wrong, errors[row], abs_tol=1.5 / len(test))
            row += 1
    assert row == 3


def test_a_metric_that_is_too_wide_to_be_kept_predicts_nothing():
    job, data = request("lvq", "gmlvq_sgd", "digits", {"epochs": 2}), catalog.load("digits")
    kept = {}
    list(drive(job, data, lambda name, arrays: kept.update(arrays) or name))
    assert scores(job, kept)
    del kept["omega"]
    assert scores(job, kept) == {}


@pytest.mark.parametrize(
    "sizes", [(10_000, 0), (16_000, 4_000), (52_000, 13_000), (57_600, 14_400)]
)
def test_an_interval_counts_all_rows_that_are_tested(sizes, tmp_path, monkeypatch):
    """A large table of one's own has a test part beside it, which is in the folds too."""
    monkeypatch.setenv("EXPLORER_HOME", str(tmp_path))
    table, beside = (make(np.zeros((n, 1)), np.arange(n) % 2) for n in sizes)
    card = replace(table.card, name="own_0123456789abcdef")
    table = replace(table, card=card, test=beside if len(beside) else None)
    own_store.written(card.name, table, "", own_store.Words())
    own_store.settle(card.name)
    found = estimates(paper("lvq").entry("glvq_dp"), LvqSpec(), card, {}, {"error": 0.1})
    assert found == (accuracy(0.9, len(fold(table, 0)[1])),)
