"""What clipping takes from the gradients, as a made-up cohort tells."""

import numpy as np
import pytest
import torch

from benchmarks import coverage
from engine.core.batch import Batch
from engine.core.gauges import unmeasured
from engine.papers.survival.mechanisms import newton
from engine.papers.survival.mechanisms.clipping import lost
from engine.papers.survival.mechanisms.descent import clipped_sum, records
from engine.papers.survival.price.sensitivity import basis
from engine.papers.survival.spec import SurvivalSpec

TABLES = 24
"""Simulated; what is found on average is then known to 4 %."""


@pytest.mark.parametrize(
    ("method", "link"), [(newton.METHOD, "logit"), (newton.PROPORTIONAL, "cloglog")]
)
def test_a_cohort_tells_what_clipping_takes_at_the_truth(method, link):
    """As the average over simulated tables, to a third: the cohort's columns are histograms."""
    spec = SurvivalSpec(intervals=coverage.INTERVALS, link=link)
    batch = Batch.grid(spec, {"epsilon": (1e3,)}, seeds=(0,))
    tables = [coverage.simulated(4_000, seed, link) for seed in range(TABLES)]
    rng = torch.Generator().manual_seed(1)
    with torch.no_grad(), unmeasured():
        state = method.init(batch, tables[0], rng)
        for _ in range(spec.passes):
            state, _ = method.step(batch, tables[0], state, rng)
    A = torch.tensor(basis(coverage.INTERVALS, 3))
    # with 1.2 root mean squares, about as at a small budget
    clip = 1.2 * (6.0 / state.cohort.events).sqrt()
    said = lost(state.cohort.resized(), A, state.f, method.law.bend, (state.root, clip))[0]
    found = []
    for table in tables:
        at = records(batch, table, "cpu"), state.f, state.root
        kept, whole = (
            clipped_sum(*at, bound, method.law.gradients)[0] for bound in (clip, 1e9 * clip)
        )
        found.append((whole - kept)[0].numpy())
    mean, error = np.mean(found, 0), np.std(found, 0) / TABLES**0.5
    assert np.abs(mean).max() > 10.0 * error.max()
    np.testing.assert_allclose(said, mean, rtol=0.3, atol=0.1)
