"""What is not what its label says is said, and nothing else is."""

import numpy as np
import pytest

from datasets.catalog import load
from engine.runs.doubts import doubts
from engine.runs.driver import drive
from engine.runs.events import Measured
from engine.runs.job import request
from engine.runs.results import Results, collect

ANY = request("lvq", "glvq_bfgs", "digits")


def results(**gauges: list[float]) -> Results:
    columns = {name: np.array(values) for name, values in gauges.items()}
    count = len(next(iter(columns.values())))
    zero = np.zeros(count, np.int64)
    return Results("0" * 12, zero, zero, {}, columns, np.zeros(count))


def measured(gauge: str, *rows: list[float | None]) -> list[Measured]:
    """How a measure went, a list for each replica."""
    steps = zip(*rows, strict=True)
    places = tuple(range(len(rows)))
    return [Measured(at, places, {gauge: column}) for at, column in enumerate(steps, 1)]


def test_a_solver_that_stopped_early_and_a_chain_that_has_not_mixed_are_named():
    (short,) = doubts("L-BFGS", ANY, results(converged=[1.0, 0.0, np.nan]), ())
    (apart,) = doubts("pSGLD", ANY, results(r_hat=[1.01, 1.2, 3.0]), ())
    assert short.startswith("L-BFGS: the solver stopped")
    assert "in 1 of 3 repetitions" in short
    assert apart.startswith("pSGLD: not converged: ignore this line")
    assert "2 of 3 chains" in apart


@pytest.mark.parametrize("gauge", ["accuracy", "error"])
def test_a_measure_that_stays_at_guessing_is_a_collapse(gauge):
    flat, moving = [0.179] * 10, [0.1 + 0.01 * i for i in range(10)]
    rows = [[v if gauge == "accuracy" else 1.0 - v for v in row] for row in (flat, moving)]
    (text,) = doubts("A", ANY, results(converged=[1.0, 1.0]), measured(gauge, *rows))
    assert text.startswith("A: the test accuracy of 1 of 2 settings stays at guessing (17.9 %)")


def test_what_has_come_to_its_end_is_not_doubted():
    for fine in (results(converged=[1.0]), results(r_hat=[1.05, np.nan]), None):
        assert doubts("a", ANY, fine, ()) == []
    good, few, lost = [0.93] * 10, [0.1] * 8, [None] * 10
    for row in (good, few, lost):
        assert doubts("a", ANY, results(converged=[1.0]), measured("accuracy", row)) == []


@pytest.mark.parametrize(("rate", "dead"), [(0.1, True), (0.01, False)])
@pytest.mark.thorough
def test_a_network_that_collapses_says_so(rate, dead):
    values = {"pretraining_rate": rate, "epochs": 20}
    job = request("pcdbn", "tcdbn", "digits", values)
    events = list(drive(job, load("digits"), lambda name, arrays: name))
    texts = doubts("TCDBN", job, collect(job, events), events)
    assert ["one class for every record" in text for text in texts] == [True] * dead
