"""What an export says of a fitted model is what a colleague finds from the published files."""

import numpy as np
import pytest
from scipy.stats import norm

from datasets.catalog import load
from engine.catalog import paper
from engine.cli.export import scores
from engine.runs.driver import drive
from engine.runs.job import request

HAZARDS = {
    "logit": lambda eta: 1.0 / (1.0 + np.exp(-eta)),
    "cloglog": lambda eta: -np.expm1(-np.exp(eta)),
    "probit": norm.cdf,
}


@pytest.mark.parametrize("link", HAZARDS)
def test_the_log_likelihood_follows_from_the_exported_numbers_alone(link):
    """Every record's intervals one after the other, from coefficients, scale and basis.

    As printed, because then no record is moved to public bounds before it is fitted.
    """
    values = {"intervals": 5, "calibration": "paper"}
    job, data = request("survival", "non_private", "flchain", values), load("flchain")
    kept = {}
    list(drive(job, data, lambda name, arrays: kept.update(arrays) or name))
    reported = paper("survival").model(job.spec(), data.card)
    basis = np.array(reported["basis"])
    knots = basis.shape[1]
    f, x = kept["coefficients"][0], (data.x - kept["centre"][0]) / kept["span"][0] / kept["norm"][0]
    last = np.ceil(5 * data.time / kept["horizon"][0]).clip(1, 5).astype(int)
    eta = basis @ f[:knots] + (x @ f[knots:])[:, None]  # (n, 5)
    hazard = HAZARDS[link](eta)
    total = 0.0
    for row, end in enumerate(last):
        total += np.log1p(-hazard[row, : end - 1]).sum()
        at = hazard[row, end - 1]
        total += np.log(at if data.event[row] else 1.0 - at)
    named = (
        job if link == "logit" else request("survival", "exact", "flchain", values | {"link": link})
    )
    actual = scores(named, kept)
    np.testing.assert_allclose(actual["log_likelihood"], [total], rtol=1e-10)
    np.testing.assert_allclose(actual["risk"], [x @ f[knots:]], rtol=1e-9, atol=1e-12)


def test_a_run_without_coefficients_has_no_such_number():
    assert scores(request("survival", "cox", "flchain"), {}) == {}
    assert scores(request("mean", "laplace", "flchain"), {}) == {}
