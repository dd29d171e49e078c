"""Jobs of the exhibits, and cells that hold what is printed and what ran."""

import math
from dataclasses import replace

import pytest

from datasets import catalog as data_catalog
from engine.catalog import paper
from engine.papers.lvq.exhibits import TABLE1
from engine.papers.lvq.readings import (
    BUDGETS,
    CURVE,
    EARLY,
    FREE,
    MODELS,
    ONE,
    PAPERS,
    READINGS,
    RIGOROUS,
    private,
    settings,
)
from engine.papers.lvq.spec import LvqSpec
from engine.runs import reference
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


def whole(name):
    """The cells of an exhibit at full size, of which nothing has run."""
    jobs = ALL[name].jobs(True)
    return ALL[name].cells({key: collect(job, ()) for key, job in jobs.items()})


def test_motion_stands_in_every_exhibit_though_its_files_are_missing():
    """A row with what is printed, and no number of ours; as printed alone, ± included."""
    figure = [c for c in whole("figure1") if c.row.startswith("Motion")]
    assert {(c.row, c.published) for c in figure if c.published is not None} == {
        (f"Motion, {model.upper()}", value)
        for model in MODELS
        for value in TABLE1["har"][model][:4]
    }
    (rise,) = [c for c in whole("perturbation") if (c.row, c.column) == ("Motion", "rise")]
    assert (rise.published, rise.published_spread, rise.ours) == (0.0234, 0.0085, None)
    after = {c.row: c.published for c in whole("perturbation") if c.column == "after"}
    assert after == {"MNIST": 0.1761, "Motion": None, "Segment": None}  # as the text says


@pytest.mark.parametrize("name", NAMES)
def test_what_ships_has_the_rows_and_columns_of_the_exhibit(name):
    shape = [(c.row, c.column, c.variant, c.published, c.run) for c in whole(name)]
    kept = reference.load("lvq", name).cells
    assert [(c.row, c.column, c.variant, c.published, c.run) for c in kept] == shape


def test_the_perturbation_is_shown_at_the_printed_error_too():
    """The optimum has a smaller error than the paper's; training that stops early has its own."""
    kept = reference.load("lvq", "perturbation").cells
    ours = {(c.variant, c.column): c.ours for c in kept if c.row == "MNIST"}
    assert ours[FREE, "before"] < 0.9 * 0.1484
    assert ours[EARLY, "before"] == pytest.approx(0.1484, rel=0.05)
    assert ours[EARLY, "rise"] == pytest.approx(
        ours[EARLY, "after"] - ours[EARLY, "before"], abs=2e-6
    )


def test_the_caption_says_what_noise_for_sensitivity_1_proves():
    for dataset in ("mnist", "segment"):
        for budget in BUDGETS:
            spec = LvqSpec(**{**READINGS[ONE], "epsilon": budget})
            card = paper("lvq").entry("glvq_dp").promise(spec, data_catalog.card(dataset))
            assert f"{card.epsilon_proved:.3g}" in ALL["table1"].caption
    assert "not private" not in ALL["table1"].caption


def test_the_caption_says_that_another_matrix_is_disturbed():
    """The text disturbs the relevance matrix, Λ = ΩᵀΩ; ours is Ω."""
    caption = ALL["perturbation"].caption
    assert "The paper adds it to the relevance matrix, Λ = ΩᵀΩ" in caption
