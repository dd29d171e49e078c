"""The page on deep belief networks, on runs whose numbers are made up."""

from functools import partial
from pathlib import Path

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from engine.catalog import catalog
from engine.papers.dbn.pcdbn.sensitivity import Layer, lemma2
from engine.runs.events import Advanced, Finished, Measured, Produced, Started
from engine.runs.job import Job
from engine.service.claim import take
from engine.service.client import Client
from engine.service.process import here
from engine.training import polynomials as poly
from pages.ui.charts.size import against
from pages.ui.jobs import live
from pages.ui.paper import defaults, stages
from pages.ui.paper.swept import Swept
from pages.ui.papers.pcdbn import figures
from pages.ui.papers.pcdbn.formulas import _largest_coefficient, _largest_numerator
from pages.ui.words import number
from tests.pages import played
from tests.pages.conftest import Open
from tests.pages.drawn import charts, plots, texts

FEW = 6
"""Filters whose maps are kept: fewer than stand in a row of filters."""


def said(test: AppTest) -> str:
    kinds = (test.title, test.header, test.subheader, test.markdown, test.caption)
    return "\n".join(str(one.value) for kind in kinds for one in kind)


def titles(test: AppTest) -> set[str]:
    """Titles of the vertical axes; pictures have none."""
    return {one["layout"]["yaxis"].get("title", {}).get("text", "") for one in charts(test)}


def finish(home: Path, job: Job) -> None:
    """A run of three measurements and the arrays that its method leaves."""
    claim = take(Client(home, workers=False).store, here(), job.id)
    assert claim is not None
    rows = range(job.replicas())
    claim.append([Started(0, 200, len(rows))])
    rng = np.random.default_rng(3)
    for step in (10, 100, 200):
        values = {
            name: tuple(float(v) for v in rng.uniform(0.2, 0.9, len(rows)))
            for name in ("accuracy", "noise_to_signal")
        }
        claim.append([Measured(step, tuple(rows), values)])
    arrays = {
        "filters": rng.normal(size=(len(rows), 16, 5, 5)),
        "maps": rng.uniform(size=(len(rows), 3, FEW, 4, 4)),
        "noise_matrix": rng.uniform(0.5, 3.0, len(rows)),
        "noise_patches": rng.uniform(0.01, 0.1, len(rows)),
    }
    digest = claim.keep("final-0000", arrays)
    claim.append([Produced(200, "final-0000", digest, tuple(rows))])
    claim.finish("completed", [Advanced(200, 1, 1), Finished(200, "completed", ())])


@pytest.fixture
def visited(visit: Open, home: Path) -> Open:
    """Opens the page on finished runs."""

    def opened(**address: str) -> AppTest:
        where = {f"pcdbn.{field}": text for field, text in address.items()}
        test = visit("pcdbn", **where)
        for run in Client(home, workers=False).runs():
            if run.state == "queued":
                finish(home, run.job)
        return test.run()

    return opened


def test_what_needs_no_training_is_drawn_on_an_empty_store(visit: Open):
    test = visit("pcdbn", **{"pcdbn.tab": "Why"})
    assert not test.exception
    assert not test.error
    assert "Appears as soon as" in said(test)
    assert {"Height", "Largest error of one unit", "Sensitivity Δ"} <= titles(test)


def test_every_section_draws_with_words(visited: Open):
    tests = [visited(tab=tab) for tab in defaults.layout("pcdbn").tabs]
    assert "Appears as soon as" not in texts(tests)
    actual = set().union(*map(titles, tests))
    assert {"Test accuracy [%]", "Spent privacy budget ε", "Height"} <= actual
    assert all(one["alt"] for test in tests for one in plots(test))
    assert sum(len(charts(test)) for test in tests) == 15  # one is the ruler of a shipped attack


def test_formulas_follow_the_sidebar_and_start_no_run(visited: Open, home: Path):
    test = visited(tab="Why")
    before = len(Client(home, workers=False).runs())
    test.selectbox(key="pcdbn.try_f").set_value("softsign").run()
    assert not test.exception
    assert "For the softsign function" in said(test)
    assert "At L = 3 the Chebyshev polynomial" in said(test)
    assert len(Client(home, workers=False).runs()) == before
    test.select_slider(key="pcdbn.degree").set_value("5").run()
    assert not test.exception
    assert "At L = 5 the Chebyshev polynomial" in said(test)
    assert "With L = 5 and filters of 5 × 5 pixels" in said(test)


@pytest.mark.parametrize(
    ("calibration", "status"),
    [("released", "no finite budget can be proved"), ("paper", "no finite budget"),
     ("rigorous", "spends its budget before the first")],
)  # fmt: skip
def test_each_calibration_says_what_it_proves(visited: Open, calibration: str, status: str):
    test = visited(calibration=calibration, tab="Proof")
    assert not test.exception
    assert not test.error
    words = said(test)
    assert status in words
    assert all(
        name in words for name in ("**Authors' program**", "**As printed**", "**With proof**")
    )
    assert "(chosen):" in words


@pytest.mark.parametrize("method", ["pSGD", "pCDBN, line", "pCDBN, Taylor"])
def test_another_method_leaves_pcdbn_as_it_was_chosen(visited: Open, method: str):
    test = visited(calibration="released", method=method, tab="Proof")
    assert not test.exception
    assert "no finite budget can be proved, so it has no line" in said(test)
    cards = next(one.value for one in test.table if "Proved ε" in one.value.columns)
    mine = cards.loc[cards["Method"] == "pCDBN, authors' program", "Status"].item()
    assert "Not private" in mine


@pytest.mark.parametrize("degree", ["1", "2", "3", "5", "7"])
@pytest.mark.thorough
def test_every_degree_of_the_slider_can_be_trained_with_proof(visited: Open, degree: str):
    test = visited(calibration="rigorous", degree=degree)
    assert not test.exception
    assert not test.error
    assert test.select_slider(key="pcdbn.degree").value == degree


def degree_chart(test: AppTest) -> list[dict]:
    """The chart by degree, if it is drawn."""
    actual = [(c, c["layout"]["xaxis"].get("title", {}).get("text")) for c in charts(test)]
    return [
        c for c, title in actual
        if title == "Degree L" and c["layout"]["yaxis"]["title"]["text"].startswith("Test")
    ]  # fmt: skip


def test_the_page_opens_where_a_first_look_says_something(visited: Open):
    assert visited().select_slider(key="pcdbn.epsilon").value == "2"


@pytest.mark.thorough
def test_degrees_are_trained_by_a_button_and_drawn_beside_the_chosen_one(
    visited: Open, home: Path, monkeypatch
):
    monkeypatch.setenv("EXPLORER_AHEAD", "off")
    test = visited(tab="Why")
    [chart] = degree_chart(test)
    assert [t["x"] for t in chart["data"] if "name" in t] == [[3.0], [3.0]]
    assert "Not trained yet: L = 1, 2, 5, 7." in said(test)
    test.button(key="pcdbn.degrees.train").click().run()
    queued = [run.job for run in Client(home, workers=False).runs() if run.state == "queued"]
    asked = [job for job in queued if job.values["degree"] != 3]  # the page's own
    assert {(job.method, job.values["degree"]) for job in asked} == {
        (method, degree) for method in ("pcdbn", "tcdbn") for degree in (1, 2, 5, 7)
    }
    for job in asked:
        finish(home, job)
    test.run()
    assert not test.exception
    [chart] = degree_chart(test)
    assert [t["x"] for t in chart["data"] if "name" in t] == [[1, 2, 3, 5, 7], [1, 2, 3, 5, 7]]
    assert "Not trained yet" not in said(test)
    # the runs are those that the page would ask for with that degree
    other = visited(degree="1")
    again = [run.job for run in Client(home, workers=False).runs() if run.state == "queued"]
    own = {"pcdbn", "tcdbn"}
    assert not [job for job in again if job.values["degree"] == 1 and job.method in own]
    assert charts(other)


def test_while_a_whole_run_trains_whole_runs_are_asked_for_and_what_is_over_is_drawn(
    home: Path, monkeypatch: pytest.MonkeyPatch
):
    """The page's own degree is drawn from its coarse curve, others not before they are over."""
    page, missing = defaults.addressed("pcdbn", {}), {}
    (degrees,) = (
        one for section in page.layout.sections
        if isinstance(one := getattr(section.draw, "__self__", None), Swept)
    )  # fmt: skip
    own = {name: page.jobs[name] for name in degrees.methods}
    early = {name: (stages.coarse(job, page.first, 1),) for name, job in own.items()}
    for name, job in own.items():
        played.begin(home, job)
        Client(home, workers=False).store.submit(early[name][0], {})
        finish(home, early[name][0])
    half = page.beside["pcdbn/1"]
    played.begin(home, half).append([played._measured(half, range(half.replicas()))])
    view = page.view(live.watch(own, page.labels, early), page.chosen).left
    monkeypatch.setattr(Swept, "_ask", lambda self, view, jobs: missing.update(jobs))
    drawn, ask = degrees.section(view)
    ask.draw()
    assert {job.id for job in missing.values()} == {
        job.id for name, job in page.beside.items() if name != "pcdbn/1"
    }
    assert [line.x.tolist() for line in drawn.drawn] == [[3.0], [3.0]]


def test_a_higher_degree_is_called_closer_only_where_it_is(visited: Open):
    """The printed polynomial of degree 5 is further from the sigmoid than that of degree 3."""
    degrees = (1, 2, 3, 5, 7)
    chebyshev, printed = (
        [poly.error(kind(degree), "sigmoid") for degree in degrees]
        for kind in (partial(poly.chebyshev, "sigmoid"), poly.printed)
    )
    assert all(np.diff(chebyshev) <= 1e-12)
    assert printed[3] > printed[2]
    words = said(visited(tab="Why"))
    assert "A higher degree follows the activation more closely" not in words
    assert "printed ones may follow it less closely" in words


def test_the_published_program_has_every_degree(visited: Open):
    assert "Not trained yet: L = 1, 2, 5, 7." in said(visited(calibration="released", tab="Why"))


def test_descent_is_drawn_by_epoch_and_psgd_stops(visited: Open):
    test = visited(solver="descent", sgd_epochs="3", tab="Why")
    assert not test.exception
    shown = charts(test)
    course = next(
        one for one in shown
        if one["layout"]["yaxis"].get("title", {}).get("text") == "Test accuracy [%]"
    )  # fmt: skip
    assert any(trace.get("name") == "budget spent" for trace in course["data"])


def test_small_pictures_are_tiled_in_rows():
    made = figures.mosaic(np.ones((9, 5, 5)), signed=True)
    whole = np.array(made.whole.data[0].z, dtype=np.float64)
    assert whole.shape == (2 * 6 - 1, 8 * 6 - 1)
    assert np.nansum(whole) == 9 * 25


def test_maps_of_few_filters_stand_with_an_image_in_each_row():
    made = figures.mosaic(np.ones((12, 4, 4)), signed=False, across=4)
    assert np.shape(made.whole.data[0].z) == (3 * 5 - 1, 4 * 5 - 1)


@pytest.mark.thorough
def test_the_page_draws_the_maps_of_an_image_in_a_row(visited: Open):
    shown = [np.shape(one["data"][0].get("z", ())) for one in charts(visited(tab="Pictures"))]
    assert (3 * 5 - 1, FEW * 5 - 1) in shown


def test_zeros_are_left_out_of_a_logarithmic_chart():
    made = against([1, 2], {"a": [0.0, 1.0]}, ("x", "y"), 1)
    assert made.whole.data[0].y == (None, 1.0)


def test_the_numerators_of_the_printed_polynomial():
    """(-5X^7 + 21X^5 - 35X^3 + 35X + 16) / 32."""
    assert _largest_numerator(Layer(degree=7)) == 35.0
    assert _largest_numerator(Layer(degree=3)) == 3.0


def test_the_largest_coefficient_of_the_printed_objective():
    """24 x 24 positions, and the orders' largest number: 35/32 at L = 7, 3/4 at L = 3."""
    assert _largest_coefficient(Layer(degree=7)) == 576 * 35 / 32
    assert _largest_coefficient(Layer(degree=3)) == 576 * 3 / 4


def test_sensitivity_of_the_default_layer_by_hand():
    """2 N_H^2 sum|alpha| (1 + 25) + 28^2 with N_H = 24 and sum|alpha| = 112/32."""
    assert lemma2(Layer()) == pytest.approx(2 * 576 * 3.5 * 26 + 784)


def test_the_table_of_sensitivities_is_of_what_one_layer_gets(visited: Open):
    """Of the 1,797 digits 1,438 are trained on, and of ε = 2 a layer gets 2 · 0.67 / 2."""
    test = visited(tab="Why", epsilon="2")
    (table,) = (one.value for one in test.table if "Noise on the average" in one.value)
    rows = table.set_index("Reading")["Noise on the average"]
    assert rows["Lemma 2"] == number(2**0.5 * 1312 / (0.67 * 1438)) == "1.93"
    assert "a convolution layer gets 0.67, with 1,438 training records of 8 × 8" in said(test)
    ratio = table.set_index("Reading")["Signal over noise"]["Lemma 2"]
    assert ratio == number(16 * 0.75 / (2**0.5 * 1312 / (0.67 * 1438)))


@pytest.mark.thorough
@pytest.mark.parametrize(("activation", "there"), [("Logistic", False), ("Rectifier", True)])
def test_sensitivities_say_whose_polynomial_they_are_of(visit: Open, activation: str, there: bool):
    """Training as printed takes the polynomial of the chosen activation."""
    test = visit("pcdbn", **{"pcdbn.tab": "Why", "pcdbn.activation": activation})
    assert ("those of the logistic function's polynomial" in said(test)) == there


def test_the_paper_is_in_the_catalogue():
    assert "pcdbn" in catalog()
