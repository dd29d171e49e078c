"""The figures ask for runs that exist, and lay out their cells."""

import collections

import numpy as np
import pytest

from engine.papers.dbn.pcdbn import PAPER, course
from engine.papers.dbn.pcdbn.exhibits import EXHIBITS, at
from engine.papers.dbn.pcdbn.spec import PcdbnSpec
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


@pytest.mark.parametrize("replicas", [21, 25])
def test_a_grid_with_proof_is_work_for_two_machines(replicas):
    """The longer of two shares is at most three fifths of a page's curve, and of 7 x 3 replicas."""
    size = PAPER.entry("pcdbn").chunk(PcdbnSpec(), 60_000, "cpu")
    chunks = [min(size, replicas - start) for start in range(0, replicas, size)]
    shares = [0, 0]
    for chunk in chunks:
        shares[shares.index(min(shares))] += chunk
    assert max(shares) <= 0.6 * replicas


@pytest.mark.parametrize("name", ["figure5a", "figure5b", "figure6", "methods"])
def test_three_repetitions_stand_in_one_cell(name):
    """Jobs that differ in their seed alone are averaged, with their spread."""
    figure = next(e for e in EXHIBITS if e.name == name)
    jobs = figure.jobs(True)
    rows = collections.Counter()
    for job in jobs.values():
        rows[job.method, str(job.values), str(job.axes)] += len(job.seeds)
    assert set(rows.values()) == {3}
    cells = figure.cells({key: collect(job, []) for key, job in jobs.items()})
    assert len({(c.row, c.column, c.variant) for c in cells}) == len(cells)
