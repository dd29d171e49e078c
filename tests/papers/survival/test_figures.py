"""Table 1 and the figures: cells from formulas, from gauges and from arrays."""

import dataclasses
import math
import re

import numpy as np
import pytest

from engine.catalog import paper
from engine.papers.survival import exhibits as figures
from engine.papers.survival.spec import SurvivalSpec
from engine.runs import reference
from engine.runs.exhibit import exhibits
from engine.runs.results import collect

ALL = exhibits("survival")


def test_every_table_and_figure_of_the_paper_is_there():
    assert list(ALL) == [
        "table1", "table2", "table3", "coefficients",
        "figure1", "figure2", "figure3", "figure4", "figure5",
    ]  # fmt: skip


def test_table_1_is_the_papers():
    cells = ALL["table1"].cells({})
    assert len(cells) == 12
    assert all(cell.ours == cell.published for cell in cells)


def test_links_and_sanitiser_by_hand():
    at = {(c.row, c.column): c.ours for c in ALL["figure1"].cells({})}
    assert at["logit", "0.5"] == pytest.approx(0.0, abs=1e-12)
    assert at["probit", "0.5"] == pytest.approx(0.0, abs=1e-12)
    assert at["cloglog", "0.5"] == pytest.approx(math.log(math.log(2.0)))
    assert at["logit", "0.9"] == pytest.approx(math.log(9.0))
    assert all(abs(value) <= 4.0 for value in at.values())
    assert min(float(x) for _, x in at) < 0.03
    assert max(float(x) for _, x in at) > 0.97
    bent = {c.column: c.ours for c in ALL["figure2"].cells({}) if c.row.startswith("y = C")}
    assert bent["20"] == pytest.approx(20.0 * math.tanh(1.0))


@pytest.mark.parametrize("name", ["figure3", "figure4", "figure5"])
def test_cells_wait_for_their_runs(name):
    for full in (False, True):
        jobs = ALL[name].jobs(full)
        cells = ALL[name].cells({key: collect(job, ()) for key, job in jobs.items()})
        assert cells
        assert all(c.ours is None or math.isnan(c.ours) for c in cells)
        assert {c.run for c in cells} <= {job.id for job in jobs.values()}


def test_a_density_integrates_to_one_and_has_the_draws_mean():
    """Silverman's kernel on 4,000 normal draws; the axis holds all but 1e-4 of them."""
    draws = np.random.default_rng(0).normal(1.0, 2.0, size=(1, 4000, 5))
    mode, spread = np.full((1, 5), 1.0), np.full((1, 5), 2.0)
    job = ALL["figure3"].jobs(False)["β(1), exact"]
    arrays = {"draws": draws, "mode": mode, "laplace": spread}
    actual = dataclasses.replace(collect(job, ()), arrays=lambda: arrays)
    cells = [c for c in ALL["figure3"].cells({"exact": actual}) if c.row.startswith("β(1)")]
    for row in ("β(1), exact", "β(1), Laplace"):
        x, y = np.array([(float(c.column), c.ours) for c in cells if c.row == row]).T
        assert np.trapezoid(y, x) == pytest.approx(1.0, abs=0.02)
        assert np.trapezoid(x * y, x) == pytest.approx(1.0, abs=0.2)


def test_a_course_is_the_mean_over_chains():
    jobs = ALL["figure4"].jobs(False)
    (job,) = [job for name, job in jobs.items() if "heuristic" in name]
    rows = 6
    trace = np.arange(rows)[:, None] + np.array([0.0, 0.5])
    arrays = {"trace": trace, "epochs": np.tile([0.5, 1.0], (rows, 1))}
    actual = dataclasses.replace(collect(job, ()), arrays=lambda: arrays)
    cells = [c for c in ALL["figure4"].cells({"mended": actual}) if c.variant == "heuristic"]
    assert [c.ours for c in cells] == [0.5, 1.0, 2.5, 3.0, 4.5, 5.0]
    assert [c.column for c in cells[:2]] == ["0.5", "1"]


def test_the_caption_of_figure_5_says_how_far_its_chains_are_from_the_papers():
    """As printed they are as long as its burn-in of 10,000 steps; Figure 4 has its 250 epochs."""
    caption = ALL["figure5"].caption
    short, long = (
        [
            cell.ours
            for cell in reference.load("survival", name).cells
            if (cell.row, cell.variant, cell.column) in places
        ]
        for name, places in (
            ("figure5", [("FL, sanitised posterior, pSGLD", "as printed", f"{budget:g}")
                         for budget in figures.THREE]),
            ("figure4", [(f"ε = {budget:g}", "as printed", f"{figures.EPOCHS:g}")
                         for budget in figures.THREE]),
        )
    )  # fmt: skip
    assert "{:.0f}, {:.0f} and {:.0f} at ε = 0.4, 1.6 and 6.4".format(*short) in caption
    assert "250 epochs give {:.1f}, {:.1f} and {:.1f} (Figure 4)".format(*long) in caption
    assert all(far > 3 * near for far, near in zip(short, long, strict=True))
    assert "10,000 steps" in caption


def test_the_caption_of_table_2_rounds_as_its_card_does():
    """At the table's grid; the card says it of the grid that is chosen."""
    spec = SurvivalSpec(intervals=200, knots=figures.KNOTS)
    reasons = " ".join(paper("survival").entry("out_pert").guarantee(spec, 7874, "").reasons)
    (saved,) = re.findall(r"([\d.]+) % less noise", reasons)
    assert f"needs {saved} % less noise" in ALL["table2"].caption


def test_the_full_size_of_figure_5_is_that_of_the_paper():
    jobs = ALL["figure5"].jobs(True)
    assert len(jobs) == 16 + 8 + 6  # with proof; perturbations as printed; pSGLD in both
    assert sum(job.values["calibration"] == "paper" for job in jobs.values()) == 8 + 3
    for name, job in jobs.items():
        repeats = 3 if job.method == "psgld" else 5 if name.startswith("SB") else 20
        assert job.replicas() == 7 * repeats
        assert ("as printed" in name) == (job.values["calibration"] == "paper")
    assert figures.BUDGETS[0] == 0.1
    assert figures.BUDGETS[-1] == 6.4


@pytest.mark.parametrize(
    ("name", "worse"),
    [("FL", ("out_pert", "obj_pert")), ("TB", ("out_pert", "obj_pert", "exact")),
     ("WT", ("out_pert", "obj_pert", "exact"))],
)  # fmt: skip
def test_in_the_figure_that_ships_private_descent_is_below_others(name, worse):
    """On FL it is above the posterior, as the caption says: it stops along one covariate."""
    shipped = reference.load("survival", "figure5")
    curves = {}
    for cell in shipped.cells:
        if cell.variant != "as printed":
            curves.setdefault(cell.row, {})[cell.column] = cell.ours
    ours = curves[f"{name}, {figures.METHODS['dp_gd']}"]
    for method in worse:
        others = curves[f"{name}, {figures.METHODS[method]}"]
        assert len(others) == len(figures.BUDGETS)
        assert all(ours[budget] < others[budget] for budget in others)
