"""What is not what its label says is said, and nothing else is."""

import numpy as np

from engine.runs.results import Results
from pages.ui.jobs.doubts import doubts


def results(**gauges: list[float]) -> Results:
    columns = {name: np.array(values) for name, values in gauges.items()}
    count = len(next(iter(columns.values())))
    zero = np.zeros(count, np.int64)
    return Results("0" * 12, zero, zero, {}, columns, np.zeros(count))


def test_a_solver_that_stopped_early_and_a_chain_that_has_not_mixed_are_named():
    found = doubts(
        [
            ("L-BFGS", results(converged=[1.0, 0.0, np.nan])),
            ("pSGLD", results(r_hat=[1.01, 1.2, 3.0])),
        ]
    )
    assert found[0].startswith("L-BFGS: the solver stopped")
    assert "in 1 of 3" in found[0].replace("\u00a0", " ")
    assert "pSGLD: 2 of 3" in found[1].replace("\u00a0", " ")


def test_what_has_come_to_its_end_is_not_doubted():
    fine = [("a", results(converged=[1.0])), ("b", results(r_hat=[1.05, np.nan])), ("c", None)]
    assert doubts(fine) == []
