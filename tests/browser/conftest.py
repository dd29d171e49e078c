"""Two apps and a browser for all tests of a process: one store has runs, the other is empty.

Tests share what a browser has loaded and nothing else: each begins without cookies.
"""

from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserContext, Error, Page, expect

from pages.ui.paper import defaults
from tests.browser.app import PATIENCE, browsing, serving, temporary_home
from tests.pages.played import play

expect.set_options(timeout=PATIENCE)

ASIDE = ("_stcore/health", "_stcore/host-config", "Download Button source error", "/media/")
"""What Streamlit's browser side asks for in vain: its server below an inner page's address, which
it tries first, and files of the drawing before, which a quick second drawing has replaced."""
HEIGHT = 1000
"""Of a window, in pixels, where a test says nothing else."""
BROKEN = """() => [...document.images].filter(one => one.complete && !one.naturalWidth)
  .map(one => one.src)"""
"""The pictures that a page shows without having them."""


@dataclass
class App:
    """The running app and a way to open it.

    Attributes:
        address: Where it runs.
        home: Its store.
        errors: What the browser complained about.
        tab: Opens a page of it; `alone` opens it in a browser that has seen nothing yet.
    """

    address: str
    home: Path
    errors: list[str]
    tab: Callable[..., Page]


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    try:
        with browsing() as one:
            yield one
    except Error as error:
        if "Executable doesn't exist" in str(error):
            pytest.skip("no Chromium: install chromium, or `playwright install chromium`")
        raise


@pytest.fixture(scope="session")
def known(browser: Browser) -> Iterator[BrowserContext]:
    """A browser's window that keeps the files that it has loaded, from test to test."""
    with closing(browser.new_context(viewport={"width": 1440, "height": HEIGHT})) as one:
        yield one


@pytest.fixture(scope="session")
def server() -> Iterator[tuple[str, Path]]:
    """The app whose store holds the first runs of survival already."""
    with temporary_home() as home:
        for job in defaults.opening("survival").values():
            play(home, job)
        with serving(home) as address:
            yield address, home


@pytest.fixture(scope="session")
def empty() -> Iterator[tuple[str, Path]]:
    """The app as a first visitor finds it."""
    with temporary_home() as home, serving(home) as address:
        yield address, home


@pytest.fixture
def app(server: tuple[str, Path], known: BrowserContext) -> Iterator[App]:
    with opened(*server, known) as one:
        yield one


@pytest.fixture
def first_visit(empty: tuple[str, Path], known: BrowserContext) -> Iterator[App]:
    with opened(*empty, known) as one:
        yield one


@contextmanager
def opened(address: str, home: Path, known: BrowserContext) -> Iterator[App]:
    """An app with its tabs; no page may have had an error.

    A tab that stays open costs a third of a new one, so a test's first tab is that of the test
    before, as if its visitor had gone and another had come.
    """
    errors: list[str] = []
    free, others = [*known.pages], list[BrowserContext]()
    note = {
        "pageerror": lambda error: errors.append(str(error)),
        "console": lambda one: _note(one.type, one.text, one.location, errors),
    }

    def tab(
        path: str = "",
        scheme: str = "light",
        width: int = 1440,
        height: int = HEIGHT,
        *,
        alone: bool = False,
    ) -> Page:
        if alone:
            others.append(known.browser.new_context())
            page = others[-1].new_page()
        else:
            page = free.pop() if free else known.new_page()
        page.set_viewport_size({"width": width, "height": height})
        page.emulate_media(
            color_scheme="dark" if scheme == "dark" else "light", reduced_motion="no-preference"
        )
        page.set_default_timeout(PATIENCE)
        for event, heard in note.items():
            page.on(event, heard)
        page.goto(f"{address}/{path}")
        return page

    yield App(address, home, errors, tab)
    broken = [page.evaluate(BROKEN) for one in (known, *others) for page in one.pages]
    for number, page in enumerate(known.pages):
        for event, heard in note.items():
            page.remove_listener(event, heard)
        page.evaluate("() => { sessionStorage.clear(); localStorage.clear() }")
        if number:
            page.close()
        else:  # whatever the app draws for it ends, and its process stays
            page.goto(f"{address}/_stcore/health")
    for context in others:
        context.close()
    known.clear_cookies()
    assert errors == []
    assert not any(broken), broken


def _note(kind: str, text: str, location: object, errors: list[str]) -> None:
    """Keeps an error of the page, but for what Streamlit asks for in vain."""
    said = f"{text} {location}"
    if kind == "error" and not any(part in said for part in ASIDE):
        errors.append(said)
