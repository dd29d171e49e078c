"""The paper's Tables 2 and 3, at the size of a test."""

import dataclasses

import numpy as np
import pytest
import torch

from engine.papers.survival import exhibits as tables
from engine.papers.survival.evaluation import evaluate
from engine.papers.survival.likelihood.scale import unbounded
from engine.papers.survival.price.sensitivity import output_noise
from engine.papers.survival.spec import SurvivalSpec
from engine.privacy.noise import gamma_sphere
from engine.runs.driver import drive
from engine.runs.results import collect
from tests.papers.survival.toys import real

CLOSE = {"FL": 0.25, "TB": 0.25, "WT": 0.06}
ALL = {exhibit.name: exhibit for exhibit in tables.EXHIBITS}
COX = {"FL": (0.0, 4.0), "TB": (7.5, 9.5), "WT": (3.4, 3.9)}


@pytest.mark.parametrize("name", CLOSE)
def test_table_2_is_the_papers(name):
    """4,000 draws a cell: the mean norm of Gamma(d) noise has a relative error of at most
    1/sqrt(d 4000) = 0.65 % (d = 6), small beside the quarter that is admitted."""
    data, rng = unbounded(real(tables.DATASETS[name])), torch.Generator().manual_seed(1)
    best = evaluate.optimum(data, 200, 3)
    unit = gamma_sphere((4_000, len(best)), rng)
    for weight, printed in zip(
        tables.REGULARISATIONS, tables.SHEET.printed["table2"][name], strict=True
    ):
        spec = SurvivalSpec(epsilon=6.4, regularisation=weight, calibration="paper")
        fitted = evaluate.fit(data, 200, 3, weight, "newton", "cpu").f
        scale = output_noise(spec, len(data), len(best)).scale
        ours = float(evaluate.relative(fitted + scale * unit, best).mean())
        assert ours == pytest.approx(printed, rel=CLOSE[name]), weight


@pytest.mark.parametrize("name", COX)
@pytest.mark.thorough
def test_table_3_is_the_papers(name):
    data = unbounded(real(tables.DATASETS[name]))
    beta = evaluate.optimum(data, 200, 3)[None, 3:]
    low, high = COX[name]
    percent = 100.0 * evaluate.relative(beta, torch.tensor(evaluate.cox(data).beta))[0]
    assert low <= percent <= high
    if name == "TB":  # Section 6.4 prints these; one common scale of the covariates is unknown
        np.testing.assert_allclose(beta[0] / beta[0, 1], [-0.0144, 1.0, 0.2819], atol=0.001)


def test_the_six_coefficients_are_the_papers_up_to_one_factor():
    """0.840 on all six: Section 6.4 to half a per cent, but for the small coefficient of age, whose
    standard error is many times larger."""
    exhibit = ALL["coefficients"]
    ((name, job),) = exhibit.jobs(True).items()
    kept = {}
    actual = collect(job, drive(job, real(job.dataset), lambda name, arrays: kept.update(arrays)))
    cells = exhibit.cells({name: dataclasses.replace(actual, arrays=lambda: kept)})
    assert len(cells) == 12
    factors = {(c.row, c.column): c.ours / c.published for c in cells if c.variant == "as printed"}
    for row in tables.SHEET.printed["coefficients"]:
        assert 1.0 / factors[row, "spacing"] == pytest.approx(0.840, abs=0.003)
        assert 1.0 / factors[row, "sibs"] == pytest.approx(0.840, abs=0.003)
    scaled = [c for c in cells if c.variant == "with one factor"]
    for cell in scaled:
        assert cell.ours == pytest.approx(cell.published, abs=0.004), cell


@pytest.mark.thorough
def test_cells_come_from_the_jobs():
    table2, table3 = ALL["table2"], ALL["table3"]
    jobs = {k: j for k, j in table2.jobs(False).items() if k.startswith("FL")}
    assert set(jobs) == {"FL, as printed", "FL, rigorous"}
    data = real("flchain")
    results = {k: collect(j, drive(j, data, lambda name, _: name)) for k, j in jobs.items()}
    cells = [cell for cell in table2.cells(results) if cell.row == "FL"]
    assert len(cells) == 12
    assert [c.column for c in cells[:6]] == ["1e-5", "1e-4", "1e-3", "1e-2", "1e-1", "1"]
    assert cells[0].published == 981.635
    assert all(0.5 < cell.ratio < 1.5 for cell in cells)
    assert {cell.variant for cell in cells} == {"as printed", "rigorous"}
    jobs = {"FL": table3.jobs(True)["FL"]}
    results = {k: collect(j, drive(j, data, lambda name, _: name)) for k, j in jobs.items()}
    cell, *others = table3.cells(results)
    assert all(one.ours is None for one in others)
    assert cell.ours == pytest.approx(3.17, abs=0.01)


def test_simulated_rows_say_so():
    assert tables.label("SB") in ("SB", "SB (simulated)")
    assert tables.label("FL") == "FL"


def test_full_size_asks_for_more_draws():
    for exhibit in (ALL[name] for name in ("table2", "table3", "coefficients")):
        quick, full = exhibit.jobs(False), exhibit.jobs(True)
        assert quick.keys() == full.keys()
        assert all(full[name].replicas() >= quick[name].replicas() for name in full)
