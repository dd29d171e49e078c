"""Claims of others, priced by hand; and our own evidence, from made-up results."""

import math
from dataclasses import replace

import numpy as np
import pytest

from engine.papers.enadpp import claims, evidence
from engine.privacy import accounting, gaussian
from engine.privacy.mechanisms import Gaussian
from engine.privacy.releases import Release, cost
from tests.papers.enadpp.test_exhibits import made

OPEN = "**Settings not published** in full, so nothing is computed. "
"""How a note begins where no number can be computed."""


@pytest.mark.parametrize("one", claims.SHUFFLED, ids=lambda one: one.row)
def test_shuffled_batches_cost_a_full_release_in_every_epoch(one):
    """The exact curve of one Gaussian release of multiplier sigma / sqrt(epochs)."""
    multiplier = one.multiplier / math.sqrt(one.epochs)
    assert one.proved() == pytest.approx(gaussian.epsilon(multiplier**-2, claims.DELTA), rel=1e-6)
    assert one.proved() > 5.0 * one.claimed


@pytest.mark.parametrize("one", claims.SHUFFLED, ids=lambda one: one.row)
def test_the_published_settings_are_those_of_the_published_budget(one):
    """As Poisson batches they cost a little less than the claim, whose accountant is older."""
    rate = one.batch / one.records
    steps = one.records // one.batch * one.epochs
    sums = Release(Gaussian(1.0, one.multiplier), times=steps, rate=rate)
    priced = accounting.epsilon(cost((sums,)), claims.DELTA, "add_or_remove_one")
    assert 0.8 * one.claimed < priced <= one.claimed
    if one is claims.SHUFFLED[0]:
        tight = accounting.epsilon(cost((sums,)), claims.DELTA, "add_or_remove_one", tight=True)
        said = f"would cost ε = {tight:.2f} ({priced:.2f} by Rényi accounting)"
        assert said in claims.CLAIMS.notes[0].text.replace("\n", " ")


def test_what_has_no_settings_has_no_number():
    cells = claims.CLAIMS.cells({})
    without = [cell for cell in cells if cell.ours is None]
    assert len(without) == len(cells) - len(claims.SHUFFLED)
    known = " ".join(f"{note.row} {note.text}" for note in claims.CLAIMS.notes)
    for cell in without:
        assert any(note.row[:5] in cell.row and OPEN in note.text for note in claims.CLAIMS.notes)
    assert known.count(OPEN) == 3


def test_a_gain_is_paired_and_has_its_interval():
    """Five seeds, gains of 1 to 5 points: 3 and t(.975, 4) = 2.776 times the standard error."""
    jobs = evidence.EVIDENCE.jobs(False)
    base = np.array([0.90, 0.85, 0.80, 0.88, 0.86])
    gains = np.array([0.01, 0.02, 0.03, 0.04, 0.05])
    rows = {evidence.ROWS[0].label: base, evidence.ROWS[1].label: base + gains}
    results = {}
    for name, job in jobs.items():
        share = np.tile(rows.get(name.removesuffix(f", {evidence.ACCURACY}"), base), 3)
        results[name] = replace(made(job), gauges={"accuracy": share})
    cells = {(c.row, c.column, c.variant): c for c in evidence.EVIDENCE.cells(results)}
    column = "Digits, ε = 1"
    first = cells[evidence.ROWS[0].label, column, evidence.ACCURACY]
    assert first.ours == pytest.approx(85.8)
    assert first.spread == pytest.approx(100.0 * base.std(ddof=1))
    gain = cells[evidence.ROWS[1].label, column, evidence.GAIN]
    assert gain.ours == pytest.approx(3.0)
    assert gain.spread == pytest.approx(2.776445 * 1.5811388 / math.sqrt(5.0), rel=1e-4)
    assert (evidence.ROWS[0].label, column, evidence.GAIN) not in cells
    said = evidence.EVIDENCE.says(tuple(cells.values()))
    assert "Digits, ε = 1: of 10 choices, 1 gains and none loses more than chance" in said
    assert "+3.0 ± 2.0 points" in said


def test_mnist_is_trained_on_in_full_size_only():
    quick, full = evidence.EVIDENCE.jobs(False), evidence.EVIDENCE.jobs(True)
    assert {job.dataset for job in quick.values()} == {"digits"}
    jobs = [job for job in full.values() if job.dataset == "mnist"]
    assert len(jobs) == len(evidence.ROWS) - 1  # all but the row of whitened features
    for job in jobs:
        assert job.spec().representation == "whitened"
        assert len(job.seeds) == evidence.SEEDS["mnist"][True]
