"""The figures ask for runs that exist, and lay out their cells."""

import numpy as np
import pytest

from engine.papers.pcdbn import course
from engine.papers.pcdbn.exhibits import EXHIBITS
from engine.papers.pcdbn.figures import at
from engine.runs.results import collect


@pytest.mark.parametrize("exhibit", EXHIBITS, ids=lambda e: e.name)
@pytest.mark.parametrize("full", [False, True])
def test_jobs_are_distinct_and_of_one_size(exhibit, full):
    jobs = exhibit.jobs(full)
    assert len({job.id for job in jobs.values()}) == len(jobs)
    assert {job.dataset for job in jobs.values()} == {"mnist" if full else "digits"}


@pytest.mark.parametrize("exhibit", EXHIBITS, ids=lambda e: e.name)
def test_cells_without_results_have_no_numbers_of_ours(exhibit):
    jobs = exhibit.jobs(False)
    cells = exhibit.cells({key: collect(job, []) for key, job in jobs.items()})
    assert len(cells) >= len(jobs)
    assert all(cell.ours is None and cell.spread is None for cell in cells)
    assert len({(c.row, c.column, c.variant) for c in cells}) == len(cells)


def test_the_published_points_stand_at_their_epochs():
    cells = {
        e.name: e.cells({k: collect(j, []) for k, j in e.jobs(False).items()}) for e in EXHIBITS
    }
    points = {(c.row, c.column, c.variant): c.published for c in cells["figure5b"] if c.published}
    assert points == {
        ("pCDBN", "162", "rigorous"): 0.9171,
        ("pCDBN", "162", "as released"): 0.9171,
        ("pCDBN", "162", "as printed"): 0.9171,
        ("pSGD", "18", "rigorous"): 0.8875,
    }


def test_one_training_gives_a_whole_curve():
    """Accuracies stand at their epochs, and epochs that were not measured have none."""
    kept = course.none(2)
    for epochs, accuracy in ((1, (0.1, 0.2)), (9, (0.3, np.nan)), (18, (0.5, 0.6))):
        kept = course.later(kept, epochs, np.array(accuracy))
    learning = course.array(kept)
    assert learning.shape == (2, 3, 2)
    np.testing.assert_array_equal(at(learning, 9), [0.3, np.nan])
    np.testing.assert_array_equal(at(learning, 18), [0.5, 0.6])
    assert np.isnan(at(learning, 54)).all()
