"""Two apps and a browser for all tests of a process: one store has runs, the other is empty."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserContext, Error, Page

from pages.ui.paper import defaults
from tests.browser.app import browsing, serving, temporary_home
from tests.pages.played import play

ASIDE = ("_stcore/health", "_stcore/host-config", "Download Button source error", "/media/")
"""What Streamlit's browser side asks for in vain: its server below an inner page's address, which
it tries first, and files of the drawing before, which a quick second drawing has replaced."""
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
        tab: Opens a page of it in a context of its own.
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
def app(server: tuple[str, Path], browser: Browser) -> Iterator[App]:
    with opened(*server, browser) as one:
        yield one


@pytest.fixture
def first_visit(empty: tuple[str, Path], browser: Browser) -> Iterator[App]:
    with opened(*empty, browser) as one:
        yield one


@contextmanager
def opened(address: str, home: Path, browser: Browser) -> Iterator[App]:
    """An app with its tabs, which are closed at the end; no page may have had an error."""
    errors: list[str] = []
    contexts: list[BrowserContext] = []

    def tab(path: str = "", scheme: str = "light", width: int = 1440) -> Page:
        context = browser.new_context(
            viewport={"width": width, "height": 1000},
            color_scheme="dark" if scheme == "dark" else "light",
        )
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(60_000)
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.on("console", lambda one: _note(one.type, one.text, one.location, errors))
        page.goto(f"{address}/{path}")
        return page

    yield App(address, home, errors, tab)
    broken = [page.evaluate(BROKEN) for context in contexts for page in context.pages]
    for context in contexts:
        context.close()
    assert errors == []
    assert not any(broken), broken


def _note(kind: str, text: str, location: object, errors: list[str]) -> None:
    """Keeps an error of the page, but for what Streamlit asks for in vain."""
    said = f"{text} {location}"
    if kind == "error" and not any(part in said for part in ASIDE):
        errors.append(said)
