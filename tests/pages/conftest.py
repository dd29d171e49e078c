"""Pages run in this process, on a store that is filled beforehand; no worker is started."""

import shutil
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest
import streamlit as st
from streamlit.runtime.pages_manager import PagesManager
from streamlit.testing.v1 import AppTest, app_test

from engine import catalog
from engine.runs import shipped
from engine.runs.job import Job
from engine.service import pricing
from engine.service.client import Client
from pages.ui.jobs import clock
from pages.ui.jobs.live import BUDGET
from pages.ui.kit import fold, shared, shell
from pages.ui.paper import defaults, sidebar, stages, total, view
from tests.pages.played import play

ROOT = Path(__file__).parents[2]
Open = Callable[..., AppTest]


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty store, and nothing that ships."""
    monkeypatch.setenv("EXPLORER_HOME", str(tmp_path))
    monkeypatch.setattr(shipped, "FOLDER", tmp_path / "shipped")
    monkeypatch.setattr(Client, "ensure_worker", lambda self: None)
    monkeypatch.setattr(pricing, "start", lambda store: False)
    # no server runs a part of a page that is asked for from outside of its script
    monkeypatch.setattr(clock.FOLLOWER, "add", lambda one: None)
    # Streamlit's tests keep of a page what its last run has sent: here each run sends all of it
    monkeypatch.setattr(sidebar, "redraw", lambda *given: None)
    monkeypatch.setattr(fold, "wanted", lambda opened: True)  # a test moves what is in folds too
    # what another test has trained tells nothing of how long a run takes here
    monkeypatch.setattr(total, "_RATIOS", {})
    monkeypatch.setattr(total, "_LEARNT", set())
    st.cache_resource.clear()
    shared.SHARED.clear()
    return tmp_path


def papers(*quick: str) -> list[object]:
    """All papers' pages; those that are not named are left to the thorough tests."""
    return [
        slug if slug in quick else pytest.param(slug, marks=pytest.mark.thorough)
        for slug in shell.papers()
    ]


def with_coarse(slug: str, jobs: Iterable[Job]) -> set[str]:
    """The ids of some jobs of a paper, and of what goes before them.

    That is the coarse curve of each, and the chosen method's point.
    """
    layout, every = defaults.layout(slug), list(jobs)
    offered = view.offers(catalog.paper(slug), layout)
    first = offered.knobs[BUDGET].value(offered.knobs[BUDGET].default)
    looked = offered.method.value(offered.method.default)
    own = next(job for job in every if job.method == looked)
    early = [stages.quickest(job, first, layout.sketch) for job in every]
    return {job.id for job in (*every, *early, stages.at(own, (first,), 1))}


@pytest.fixture(scope="session")
def played(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store in which the survival page's first runs are over, to be copied."""
    folder = tmp_path_factory.mktemp("played")
    for job in defaults.opening("survival").values():
        play(folder, job)
    return folder


@pytest.fixture
def trained(home: Path, played: Path) -> Path:
    """A store in which the survival page's first runs are over."""
    shutil.copytree(played, home, dirs_exist_ok=True)
    return home


@pytest.fixture
def visit() -> Open:
    """Opens a page of the app, with an address if one is given."""

    def opened(page: str = "", **address: str) -> AppTest:
        test = AppTest.from_file(str(ROOT / "app.py"), default_timeout=120)
        if page:
            test.switch_page(f"pages/{page}.py")
        for key, text in address.items():
            test.query_params[key] = text
        return test.run()

    return opened


@pytest.fixture
def guided(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every run goes through the entry script, as in a browser, so that a lesson's buttons work.

    By itself, Streamlit's test of an app draws a page alone from its second run on.
    """

    class Navigated(PagesManager):
        def __init__(self, *given: Any, **named: Any) -> None:
            super().__init__(*given, **named)
            PagesManager.uses_pages_directory = False

    monkeypatch.setattr(app_test, "PagesManager", Navigated)
