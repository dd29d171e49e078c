"""Jobs of the exhibits, and cells that hold what is printed and what ran."""

import math

import pytest

from engine.exhibit import exhibits
from engine.papers.lvq.published import BUDGETS, CURVE, PUBLISHED
from engine.papers.lvq.readings import FREE, READINGS, RIGOROUS, private
from engine.results import collect

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
    assert len(cells) == len(PUBLISHED) * (len(BUDGETS) * len(READINGS) + 2)
    for (_, model), printed in PUBLISHED.items():
        rows = [c for c in cells if c.published in printed and c.row.endswith(f", {model.upper()}")]
        assert {c.variant for c in rows} == {*READINGS, FREE}


@pytest.mark.parametrize("model", ["glvq", "gmlvq"])
def test_small_tables_share_one_job_between_table_and_figure(model):
    job = private("segment", model, RIGOROUS, True)
    assert job == private("segment", model, RIGOROUS, True, curve=True)
    assert (job.axes["epsilon"], len(job.seeds)) == (CURVE, 25)
    assert set(BUDGETS) < set(CURVE)


def test_the_study_moves_one_setting_at_a_time():
    """Ten C in one job, ten E and fifteen of twenty q in one each, for both readings that train."""
    jobs = ALL["settings"].jobs(True)
    assert len(jobs) == 2 * (1 + 10 + 15)
    assert len(jobs["rigorous|clip"].axes["clip"]) == 10
    rates = [float(n.split("|")[2]) for n in jobs if n.startswith("rigorous|sample_rate")]
    assert (min(rates), max(rates)) == pytest.approx((0.0005 * 200 ** (5 / 19), 0.1), rel=1e-5)
