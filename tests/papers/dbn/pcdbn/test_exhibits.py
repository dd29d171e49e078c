"""The figures ask for runs that exist, and lay out their cells."""

import collections

import numpy as np
import pytest

from engine.papers.dbn.pcdbn import PAPER, course
from engine.papers.dbn.pcdbn.exhibits import EXHIBITS, at
from engine.papers.dbn.pcdbn.sensitivity import monomials
from engine.papers.dbn.pcdbn.spec import PcdbnSpec
from engine.runs import reference
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


@pytest.mark.parametrize("name", ["figure5a", "figure5b", "figure6", "methods", "time"])
def test_captions_say_that_fewer_coefficients_get_noise_than_in_the_text(name):
    (caption,) = [one.caption for one in EXHIBITS if one.name == name]
    orders = 7 + 1
    assert "As printed is our reading" in caption
    noisy = f"{orders} of the {monomials(5, 7):,} coefficients of each filter of the first layer"
    assert noisy in caption
    assert "and 8 of far more in the second" in caption
    assert "The second layer has the first layer's sensitivity, although Lemma 2 of its own" in (
        caption
    )


def test_the_caption_of_figure_5a_quotes_what_ships_and_what_the_text_finds():
    (figure,) = [one for one in EXHIBITS if one.name == "figure5a"]
    shipped = reference.load("pcdbn", "figure5a").cells
    at = {(c.row, c.variant, c.column): c.ours for c in shipped}
    printed = at["pCDBN", "as printed", "0.5"]
    assert f"{100 * printed:.1f} % as printed at ε = 0.5 does not show" in figure.caption
    assert at["pCDBN", "rigorous", "0.5"] > printed > at["pSGD", "rigorous", "0.5"]
    assert at["pSGD", "rigorous", "0.5"] > at["pCDBN", "as released", "0.5"]
    assert [c.column for c in shipped if c.row == "pSGD"] == ["0.5"]
    assert "pCDBN above pSGD for ε up to 1, and both alike beyond" in figure.caption


def test_what_the_text_says_of_another_data_set_is_not_said_of_this_one():
    """Sections 4.1.1 and 4.1.2 are on YesiWell; Section 4.2, on MNIST, has no such method."""
    (caption,) = [one.caption for one in EXHIBITS if one.name == "methods"]
    assert "The text says of YesiWell, not of MNIST, that TCDBN is less than 1 %" in caption
    assert "as the text says" not in caption


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
