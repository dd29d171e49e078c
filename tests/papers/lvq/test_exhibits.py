"""Jobs of the exhibits, and cells that hold what is printed and what ran."""

import math
from dataclasses import replace

import pytest

from engine.papers.lvq.exhibits import TABLE1
from engine.papers.lvq.readings import (
    BUDGETS,
    CURVE,
    FREE,
    MODELS,
    ONE,
    PAPERS,
    READINGS,
    RIGOROUS,
    private,
    settings,
)
from engine.runs.exhibit import exhibits
from engine.runs.results import collect

ALL = exhibits("lvq")
NAMES = ("table1", "figure1", "settings", "perturbation")


def test_every_exhibit_of_the_paper_is_there():
    assert tuple(ALL) == NAMES


@pytest.mark.parametrize("full", [False, True])
@pytest.mark.parametrize("name", NAMES)
def test_cells_wait_for_their_runs(name, full):
    jobs = ALL[name].jobs(full)
    cells = ALL[name].cells({key: collect(job, ()) for key, job in jobs.items()})
    assert cells
    assert all(cell.ours is None or math.isnan(cell.ours) for cell in cells)
    assert {cell.run for cell in cells if cell.run} <= {job.id for job in jobs.values()}


def test_the_table_has_every_printed_number_in_every_reading():
    cells = ALL["table1"].cells({})
    assert len(cells) == len(TABLE1) * len(MODELS) * (len(BUDGETS) * len(READINGS) + 2)
    for model, printed in (one for by_model in TABLE1.values() for one in by_model.items()):
        rows = [c for c in cells if c.published in printed and c.row.endswith(f", {model.upper()}")]
        assert {c.variant for c in rows} == {*READINGS, FREE}


def test_the_printed_deviations_stand_beside_ours():
    """Thirty, one for each printed number, and the same in every reading."""
    cells = ALL["table1"].cells({})
    printed = {(c.row, c.column): c.published_spread for c in cells}
    assert len(printed) == 30
    assert all(len({c.published_spread for c in cells if (c.row, c.column) == at}) == 1
               for at in printed)  # fmt: skip
    assert printed["Segment, GLVQ", "ε = 0.75"] == 0.0779
    assert printed["MNIST, GMLVQ", "SGD"] == 0.0031
    assert printed["Motion, GMLVQ", "BFGS"] == 0.0066


@pytest.mark.parametrize("model", ["glvq", "gmlvq"])
def test_small_tables_share_one_job_between_table_and_figure(model):
    (job,) = private("segment", model, RIGOROUS, True)
    assert (job,) == private("segment", model, RIGOROUS, True, curve=True)
    assert (job.axes["epsilon"], len(job.seeds)) == (CURVE, 25)
    assert set(BUDGETS) < set(CURVE)


def test_a_wide_matrix_has_a_job_for_each_repeat_and_one_cell_for_all():
    parts = private("mnist", "gmlvq", RIGOROUS, True)
    assert [part.seeds for part in parts] == [tuple(range(i, i + 5)) for i in range(0, 25, 5)]
    actual = {}
    for i, part in enumerate(parts):
        empty = collect(part, ())
        error = {**empty.gauges, "error": empty.seeds.astype(float)}
        actual[f"mnist gmlvq rigorous/{i}"] = replace(empty, gauges=error)
    cells = ALL["table1"].cells(actual)
    (first, *_) = [c for c in cells if c.row == "MNIST, GMLVQ" and c.variant == RIGOROUS]
    assert first.ours == pytest.approx(12.0)  # of the numbers 0 to 24
    assert first.spread == pytest.approx(math.sqrt(25 * 26 / 12))


def test_the_study_moves_one_setting_at_a_time():
    """Ten C in one job, ten E and twenty q in one each, for every reading."""
    jobs = ALL["settings"].jobs(True)
    assert len(jobs) == 3 * (1 + 10 + 20)
    proved = [job for job in jobs.values() if job.values["calibration"] == "rigorous"]
    (clip,) = [job for job in proved if "clip" in job.axes]
    assert len(clip.axes["clip"]) == 10
    rates = {job.values["sample_rate"] for job in proved} - {1.0}
    assert len(rates) == 20
    assert (min(rates), max(rates)) == pytest.approx((0.0005, 0.1), rel=1e-5)


@pytest.mark.parametrize("model", ["glvq", "gmlvq"])
@pytest.mark.parametrize("reading", [PAPERS, ONE])
def test_rates_of_the_papers_readings_are_chosen_on_segment_alone(model, reading):
    """And only rates: every other setting is printed."""
    base = {**READINGS[reading], "rate_w": 0.1}
    chosen = settings("segment", model, reading)
    assert {field for field in base if chosen[field] != base[field]} <= {"rate_w"}
    assert chosen["rate_w"] != 0.1
    assert settings("mnist", model, reading) == {**base, "rate_omega": 0.01 / 784}
