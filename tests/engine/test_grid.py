"""An exhibit as a grid of points: each job once, each cell from its own jobs."""

import numpy as np
import pytest

from engine.runs.exhibit import Exhibit, Point, over, spread_of
from engine.runs.job import request
from engine.runs.results import collect


def job(epsilon, seed):
    values = {"records": 100, "epsilon": epsilon}
    return request("mean", "laplace", "flchain", values, seeds=(seed,))


def points(full):
    error = over("error")
    first = [
        Point("mean", f"{e:g}", "", 0.1 if e == 1.0 else None, (job(e, 0), job(e, 1)), error)
        for e in ((0.5, 1.0, 2.0) if full else (0.5, 1.0))
    ]
    return [*first, Point("again", "1", "", None, (job(1.0, 1), job(1.0, 0)), error, named=1)]


GRID = Exhibit(name="grid", title="", caption="", quantity="", better="", points=points)


def results(full, error=None):
    """The error of a run is its seed."""
    made = {name: collect(one, []) for name, one in GRID.jobs(full).items()}
    for one in made.values():
        one.gauges["error"][:] = one.seeds if error is None else error
    return made


@pytest.mark.parametrize(("full", "count"), [(True, 6), (False, 4)])
def test_each_job_stands_once_by_a_name_of_its_own(full, count):
    jobs = GRID.jobs(full)
    assert len({one.id for one in jobs.values()}) == len(jobs) == count
    assert [name for name, one in jobs.items() if one.id == job(0.5, 0).id] == ["mean, 0.5"]
    assert [name for name, one in jobs.items() if one.id == job(0.5, 1).id] == ["mean, 0.5 (2)"]
    assert "again" not in " ".join(jobs), "a job is named by the first point that is named by it"


@pytest.mark.parametrize("full", [True, False])
def test_cells_are_read_from_their_own_jobs(full):
    """Errors 0 and 1 have mean 1/2 and standard deviation sqrt(1/2)."""
    cells = GRID.cells(results(full))
    assert [cell.column for cell in cells] == ["0.5", "1", *(["2"] if full else []), "1"]
    assert [cell.published for cell in cells[:2]] == [None, 0.1]
    assert all(cell.ours == 0.5 for cell in cells)
    assert cells[0].spread == pytest.approx(0.5**0.5)
    assert cells[0].run == job(0.5, 0).id
    assert cells[-1].run == job(1.0, 0).id


def test_what_has_no_number_is_empty():
    cells = GRID.cells(results(False, np.nan))
    assert all(cell.ours is None and cell.spread is None for cell in cells)
    mean, spread = spread_of([np.array([np.nan]), np.array([2.0])])
    assert mean == 2.0
    assert np.isnan(spread)
