"""Exhibits: their jobs exist, their cells hold the printed numbers, their figure is the formula."""

import numpy as np
import pytest

from datasets import catalog as data_catalog
from engine import __version__
from engine.papers.enadpp import price
from engine.papers.enadpp.exhibits import EPSILONS, EXHIBITS, FIGURE1, SEEDS, SHEET
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


def test_figure_1_shows_the_ratio_that_is_printed_of_adppl():
    """The relevance over the layer's total (Section 6), not over its largest."""
    total = sum(FIGURE1)
    for cells in (BY_NAME["figure1"].cells({}), reference.load("enadpp", "figure1").cells):
        shares = [cell.ours for cell in cells if cell.row == "ADPPL"]
        assert shares == pytest.approx([one / total for one in FIGURE1], rel=1e-5)


@pytest.mark.parametrize("name", ["table1", "table2", "figure1"])
def test_captions_say_what_adppl_is_trained_with(name):
    assert "divided by the largest share of the layer" in BY_NAME[name].caption


@pytest.mark.parametrize("name", ["table1", "table2"])
def test_captions_say_the_smallest_ratio_that_was_trained_with(name):
    jobs = BY_NAME[name].jobs(True).values()
    (least,) = {job.spec().alpha_min for job in jobs if job.method in ("enadpp", "adppl")}
    assert f"No ratio of either is below {least:g}" in BY_NAME[name].caption


@pytest.mark.parametrize(("name", "dataset"), [("table1", "mnist"), ("table2", "adni")])
def test_captions_say_how_much_the_printed_noise_spends(name, dataset):
    """|L|/rate times what is stated, for one batch (`price.paper_epsilon`)."""
    jobs = BY_NAME[name].jobs(True).values()
    job = next(j for j in jobs if j.values["calibration"] == "paper" and j.method == "enadpp")
    spec = job.spec().replace(epsilon=1.0)
    times = price.paper_epsilon(spec, data_catalog.card(dataset).records, "A")
    assert f"{times:,.0f} times" in BY_NAME[name].caption


def test_the_caption_names_the_cell_that_misses_the_printed_number():
    cells = [c for c in reference.load("enadpp", "table1").cells if c.variant == "as printed"]
    below = [(c.row, c.column, f"{c.ours:.1f} against {c.published:.1f} %")
             for c in cells if c.ours < c.published]  # fmt: skip
    assert below == [("EnADPP", "8", "95.7 against 95.9 %")]
    caption = BY_NAME["table1"].caption
    assert f"but for {below[0][0]} at ε = {below[0][1]} ({below[0][2]})" in caption
