"""What a first visit asks for, as a list, is what the pages ask for when they are opened."""

import shlex
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from engine.catalog import catalog
from engine.cli.export import command
from engine.cli.main import _parser
from engine.cli.shared import requested
from engine.runs.reference import FOLDER as REFERENCE
from engine.service.client import Client
from pages.ui import openings
from pages.ui.jobs.live import BUDGET
from pages.ui.kit import shell
from pages.ui.paper import defaults, stages
from pages.ui.paper.view import Layout
from tests.pages.conftest import Open
from tests.pages.drawn import charts
from tests.pages.played import ship

pytestmark = pytest.mark.usefixtures("nothing_ahead")
PAGES = ("", *sorted(shell.papers()))


@pytest.fixture
def nothing_ahead(monkeypatch: pytest.MonkeyPatch) -> None:
    """Neighbours of a view are not asked for: only what it shows."""
    monkeypatch.setenv("EXPLORER_AHEAD", "off")


@pytest.mark.parametrize("page", PAGES)
@pytest.mark.thorough
def test_a_page_opens_with_jobs_of_the_list(visit: Open, page: str):
    assert not visit(page).exception
    asked = {run.id for run in Client(workers=False).runs()}
    assert asked
    wanted = openings.everything()
    for run in Client(workers=False).runs():  # a whole run of the list, or the coarse curve of one
        budgets = run.job.axes.get(BUDGET, ())
        parts = {stages.at(one, budgets, len(run.job.seeds)).id for one in wanted.values()}
        assert run.id in wanted or run.id in parts


@pytest.mark.thorough
def test_a_first_visit_draws_what_ships_and_asks_for_nothing(visit: Open, home: Path):
    for job in defaults.opening("survival").values():
        ship(home / "shipped", job)
    test = visit("survival")
    assert not test.exception
    assert "Shipped with the app" in said(test)
    assert "trained yet" not in said(test)
    drawn = [trace for trace in charts(test)[0]["data"] if len(trace.get("customdata", ())) > 1]
    assert len(drawn) == 12  # as printed and the oracle too; the Kaplan-Meier curve ranks nobody
    assert Client(workers=False).runs() == []

    press(test, "Run again").run()
    assert {run.id for run in Client(workers=False).runs()} == {
        job.id for job in defaults.opening("survival").values()
    }
    again = [trace for trace in charts(test)[0]["data"] if len(trace.get("customdata", ())) > 1]
    assert [trace["y"] for trace in again] == [trace["y"] for trace in drawn]  # until they come


def test_what_sections_draw_beside_a_page_ships_too():
    found = openings.beside("pcdbn")
    degrees = {job.values["degree"]: job for job in found.values()}
    assert set(degrees) == {1, 2, 5, 7}
    assert {job.id for job in found.values()} <= set(openings.everything())
    files = {path.stem for path in (REFERENCE / "defaults" / "pcdbn").iterdir()}
    assert {job.id for job in found.values()} <= files
    program = defaults.opening("pcdbn")["pcdbn:released"]  # the authors', which none asks for
    assert program.values["calibration"] == "released"
    assert program.id in files


@pytest.mark.parametrize("slug", sorted(shell.papers()))
def test_a_bare_command_begins_with_the_settings_of_the_page(slug: str):
    parser = _parser("x")[0]
    for job in defaults.opening(slug).values():
        asked = requested(parser.parse_args(["price", job.paper, job.method]))
        free = {"calibration", *job.axes}  # the page draws both calibrations, and whole curves
        for field in set(job.entry().uses) - free:
            assert asked.values[field] == job.values[field], (job.method, field)
        assert asked.dataset == job.dataset
        told = shlex.split(command(job))[5:]
        count = told.index("--seeds")
        again = requested(parser.parse_args(["price", job.paper, *told[:count]]), job.seeds)
        assert again.id == job.id


def said(test: AppTest) -> str:
    """All text of a page."""
    return " ".join(one.value for one in (*test.markdown, *test.caption))


def press(test: AppTest, label: str) -> AppTest:
    """Presses the first button of that label."""
    return next(button for button in test.button if button.label == label).click()


def test_every_paper_with_a_page_is_in_the_list():
    assert {job.paper for job in openings.everything().values()} == set(shell.papers())


def test_a_page_without_a_layout_of_its_own_is_the_common_one():
    assert defaults.layout("nobody") == Layout()
    assert all(entry.name in defaults.opening("lvq") for entry in catalog()["lvq"].methods)


@pytest.mark.parametrize(
    ("slug", "name", "often"),
    [("enadpp", "non_private", 5), ("pcdbn", "cdbn", 5), ("survival", "non_private", 1)],
)
def test_what_trains_by_chance_is_repeated_without_privacy_too(slug: str, name: str, often: int):
    """A cost is a difference of two medians; a fit that no seed changes has one value."""
    assert len(set(defaults.opening(slug)[name].seeds)) == often
