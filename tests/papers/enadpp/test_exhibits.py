"""Exhibits: their jobs exist, their cells hold the printed numbers, their figure is the formula."""

import numpy as np
import pytest

from engine import __version__
from engine.papers.enadpp.exhibits import EPSILONS, EXHIBITS, SEEDS, SHEET
from engine.runs import reference
from engine.runs.results import Results

BY_NAME = {exhibit.name: exhibit for exhibit in EXHIBITS}


def made(job):
    """Results in which every accuracy is one half."""
    batch, count = job.batch(), job.replicas()
    return Results(
        run=job.id,
        step=np.ones(count, np.int64),
        seeds=np.array(batch.seeds),
        axes={field: batch.column(field) for field in job.axes},
        gauges={"accuracy": np.full(count, 0.5)},
        epsilon=np.ones(count),
    )


@pytest.mark.parametrize("full", [False, True])
@pytest.mark.parametrize("table", ["table1", "table2"])
def test_tables_have_every_printed_number_and_ours_beside_it(table, full):
    jobs = BY_NAME[table].jobs(full)
    first = {"table1": "mnist" if full else "digits", "table2": "adni"}
    assert {job.dataset for job in jobs.values()} == {first[table]}
    repeats = SEEDS[first[table]][full]
    assert sum(job.replicas() for job in jobs.values()) == 7 * 7 * repeats
    assert {seed for job in jobs.values() for seed in job.seeds} == set(range(repeats))
    cells = BY_NAME[table].cells({name: made(job) for name, job in jobs.items()})
    printed = SHEET.printed[table]
    assert {cell.published for cell in cells} - {None} == {
        v for row in printed.values() for v in row
    }
    spread = 0.0 if repeats > 1 else None
    assert all((cell.ours, cell.spread) == (50.0, spread) for cell in cells)
    assert len(cells) == 7 * len(EPSILONS)


def test_table_3_is_plain_training():
    jobs = BY_NAME["table3"].jobs(False)
    cells = BY_NAME["table3"].cells({name: made(job) for name, job in jobs.items()})
    assert [(cell.published, cell.ours) for cell in cells] == [(97.60, 50.0), (67.57, 50.0)]


def test_figure_1_shows_the_wider_range_of_the_entropy_ratio():
    cells = BY_NAME["figure1"].cells({})
    curve = {n: [c.ours for c in cells if c.row == n] for n in ("ADPPL", "EnADPP")}
    assert all(len(values) == 10 and values == sorted(values) for values in curve.values())
    assert np.ptp(curve["EnADPP"]) > np.ptp(curve["ADPPL"])


@pytest.mark.parametrize("name", BY_NAME)
def test_what_ships_has_the_rows_and_columns_of_the_exhibit(name):
    actual, jobs = reference.load("enadpp", name), BY_NAME[name].jobs(True)
    cells = BY_NAME[name].cells({key: made(job) for key, job in jobs.items()})
    shape = [(cell.row, cell.column, cell.variant, cell.published) for cell in cells]
    assert [(c.row, c.column, c.variant, c.published) for c in actual.cells] == shape
    if name in ("table1", "table2"):
        assert BY_NAME[name].columns == "ε"  # what the page writes before each of them
        assert {c.column for c in actual.cells} == {f"{epsilon:g}" for epsilon in EPSILONS}


def test_the_shipped_table_of_mnist_was_computed_as_it_would_be_now():
    actual = reference.load("enadpp", "table1")
    assert actual.version == __version__
    jobs = BY_NAME["table1"].jobs(True).values()
    assert {cell.run for cell in actual.cells} <= {job.id for job in jobs}
