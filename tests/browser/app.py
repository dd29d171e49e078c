"""The real app on a free port, and a Chromium that talks to nobody else."""

import contextlib
import functools
import http.server
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path

from playwright.sync_api import Browser, Page, sync_playwright

ROOT = Path(__file__).parents[2]
QUIET = (
    "--no-sandbox",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-default-apps",
    "--disable-domain-reliability",
    "--disable-sync",
    "--no-first-run",
    "--no-pings",
    "--metrics-recording-only",
)
QUICKLY_OVER = {"EXPLORER_AHEAD": "off", "EXPLORER_IDLE_SECONDS": "2"}
"""What an app is told that nobody uses but a test: its processes do what is asked for and leave."""
READY = 180.0
"""Seconds that a busy machine may take to start the app."""
PATIENCE = 60_000
"""Milliseconds that a busy machine may take for one step of a page."""


def chromium() -> str | None:
    """The system's browser; None lets Playwright use its own."""
    names = ("chromium", "chromium-browser", "google-chrome")
    return next((path for name in names if (path := shutil.which(name))), None)


@contextlib.contextmanager
def serving(
    home: Path, script: str = "app.py", path: str = "", *, ahead: bool = False
) -> Iterator[str]:
    """Runs the app with its store in `home`; gives its address, and ends it with its worker.

    Args:
        home: Folder of the store.
        script: What is served.
        path: The path under which it is served, with a slash at its end.
        ahead: Whether it does what nobody has asked for yet, as it does for its users: it trains
            neighbours, and its processes wait for the next move. They leave once the store is gone.
            A test waits for what it asks for, and for nothing else.
    """
    port = free_port()
    command = [sys.executable, "-m", "streamlit", "run", script, "--server.port", str(port)]
    environment = {**os.environ, "EXPLORER_HOME": str(home)}
    environment |= {"EXPLORER_AHEAD": "on"} if ahead else QUICKLY_OVER
    with (home / "app.log").open("wb") as log:
        process = subprocess.Popen(command, cwd=ROOT, env=environment, stdout=log, stderr=log)
        try:
            _await(f"http://localhost:{port}/{path}_stcore/health", process)
            yield f"http://localhost:{port}"
        finally:
            process.terminate()
            process.wait(timeout=READY)


class _Quiet(http.server.SimpleHTTPRequestHandler):
    """Serves a folder and says nothing of it."""

    def log_message(self, *what: object) -> None:
        """Nothing."""


@contextlib.contextmanager
def publishing(folder: Path) -> Iterator[str]:
    """Serves the files of a folder, as any web host does; gives its address."""
    handler = functools.partial(_Quiet, directory=str(folder))
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()


def free_port() -> int:
    with socket.socket() as actual:
        actual.bind(("localhost", 0))
        return int(actual.getsockname()[1])


def _await(address: str, process: subprocess.Popen[bytes]) -> None:
    """Returns once the app answers."""
    end = time.monotonic() + READY
    while time.monotonic() < end:
        if process.poll() is not None:
            raise RuntimeError(f"expected an app that stays, it ended with {process.returncode}")
        with contextlib.suppress(OSError), urllib.request.urlopen(address, timeout=2) as answer:
            if answer.status == 200:
                return
        time.sleep(0.05)
    raise TimeoutError(f"expected an app at {address} within {READY:g} s")


@contextlib.contextmanager
def browsing() -> Iterator[Browser]:
    """A headless Chromium."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium(), args=list(QUIET))
        try:
            yield browser
        finally:
            browser.close()


@contextlib.contextmanager
def temporary_home() -> Iterator[Path]:
    """An empty store that is gone afterwards."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        yield Path(folder)


def settled(page: Page, timeout: float = PATIENCE) -> None:
    """Waits until the page is drawn and no script runs."""
    page.locator("[data-testid=stMain] h1").first.wait_for(timeout=timeout)
    page.wait_for_function(
        "() => document.querySelector('[data-testid=stApp]')"
        "?.getAttribute('data-test-script-state') === 'notRunning'",
        timeout=timeout,
    )


BUDGETS = """() => [...document.querySelectorAll('.js-plotly-plot')]
  .filter(plot => plot.layout?.meta).map(plot => plot.layout.meta.budget)"""
STILL = """async () => {
  const moving = () => document.getAnimations().filter(one => one.playState === 'running'
    && one.effect?.getComputedTiming().iterations !== Infinity).length
  const places = () => JSON.stringify([moving(), ...[...document.querySelectorAll(
    '[data-testid=stMainBlockContainer], [data-testid=stBottomBlockContainer], .js-plotly-plot, '
    + '.main-svg, .js-plotly-plot text')]
    .map(one => Object.values(one.getBoundingClientRect().toJSON()).map(Math.round))])
  let [before, same] = ['', 0]
  while (same < 20) {
    await new Promise(requestAnimationFrame)
    const now = places()
    same = now === before && !moving() ? same + 1 : 0
    before = now
  } }"""
"""Returns once nothing on the page has moved in twenty pictures, a third of a second."""


def still(page: Page) -> None:
    """Waits until the page is drawn, and all of it has found its place.

    Twice: on a busy machine a script may begin while one looks whether anything moves.
    """
    for _ in range(2):
        settled(page)
        page.evaluate(STILL)


def trained(page: Page, timeout: float = 240_000) -> None:
    """Waits until nothing is under way on a paper's page."""
    page.get_by_text("computed in").first.wait_for(timeout=timeout)
    settled(page, timeout)


def drawn(page: Page, budget: float, charts: int = 1) -> None:
    """Waits until so many charts are drawn, all for this budget."""
    page.wait_for_function(
        f"([want, count]) => {{ const all = ({BUDGETS})();"
        " return all.length >= count && all.every(one => one === want) }",
        arg=[budget, charts],
    )
