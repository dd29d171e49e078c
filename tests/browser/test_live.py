"""Every slider is live: after a move the chart is never blank, and what trains is said in sight."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import BrowserContext

from tests.browser.app import serving, settled, temporary_home
from tests.browser.conftest import App, opened
from tests.browser.moves import Sample, move, samples, until

pytestmark = pytest.mark.browser

CONTROLS = [
    ("mean", "Clipping bound", "ArrowRight", "Laplace"),
    ("survival", "Time intervals", "ArrowRight", "Private Newton"),
    ("lvq", "Clipping", "ArrowRight", "GLVQ"),
    ("enadpp", "Clipping", "ArrowRight", "EnADPP"),
    ("pcdbn", "Degree", "ArrowRight", "pCDBN"),
    ("yesiwell", "Degree", "ArrowLeft", "pCDBN"),
]
SOON = 1.0
"""Seconds for which a bar may be away while a ghost is drawn: the browser loads it at first use."""
BACK = 60.0
"""Seconds until the lines are back on a machine that does something else too."""


@pytest.fixture(scope="module")
def untouched() -> Iterator[tuple[str, Path]]:
    """The app on a store of its own, in which runs are trained."""
    with temporary_home() as home, serving(home) as address:
        yield address, home


@pytest.fixture
def app(untouched: tuple[str, Path], known: BrowserContext) -> Iterator[App]:
    with opened(*untouched, known) as one:
        yield one


@pytest.mark.parametrize(
    ("path", "control", "key", "chosen"),
    [
        pytest.param(*one, marks=pytest.mark.slow) if one[0] in ("enadpp", "yesiwell") else one
        for one in CONTROLS
    ],
)
def test_a_move_never_blanks_the_chart_and_says_what_trains(
    app: App, path: str, control: str, key: str, chosen: str
):
    page = app.tab(path, height=900)
    settled(page)
    page.wait_for_function("() => document.querySelector('.js-plotly-plot')?.data?.length > 1")
    move(page, control, key)
    until(page, "() => window.samples.some(one => one.revision !== window.samples[0].revision)", 20)
    page.wait_for_timeout(1500)
    seen = samples(page)
    assert {one.revision for one in seen} != {seen[0].revision}
    for one in seen:  # a ghost, or the new line, of the method that is looked at
        assert any(label.startswith(chosen) for label, _, _ in one.lines), one
    assert unsaid(seen) <= SOON


def unsaid(seen: list[Sample]) -> float:
    """The longest time for which ghosts were drawn and nothing in sight said that lines train."""
    longest, since = 0.0, None
    for one in seen:
        if one.ghosts() and not one.told:
            since = one.at if since is None else since
            longest = max(longest, one.at - since)
        else:
            since = None
    return longest
