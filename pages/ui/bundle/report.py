"""One page for those who decide: the result, the curve, the guarantee and what it assumes."""

import json
import shutil
from datetime import UTC, datetime
from html import escape
from pathlib import Path

from plotly.offline import get_plotlyjs
from plotly.utils import PlotlyJSONEncoder

from engine import __version__
from engine.core import files, room
from engine.core.errors import ExplorerError, RequestError
from engine.privacy.guarantee import Guarantee
from pages.ui import words
from pages.ui.bundle import collect
from pages.ui.bundle.collect import NOTHING, Taken
from pages.ui.bundle.colours import palette
from pages.ui.bundle.filled import filled, within_script
from pages.ui.kit import shell

TEMPLATE = Path(__file__).with_name("report.html")
BROWSERS = ("chromium", "chromium-browser", "google-chrome")
MISSING = (
    "report: expected a browser that prints: install Chromium, and Playwright with "
    "`pip install playwright`"
)


def report(slug: str, path: Path) -> None:
    """Writes the one-page report of a paper's default view.

    Args:
        slug: Key of the paper.
        path: The PDF file.

    Raises:
        RequestError: A paper without a page or without runs.
        ExplorerError: There is no browser, or the file cannot be written.
    """
    known = list(shell.papers())
    if slug not in known:
        raise RequestError(f"paper: expected one of {', '.join(known)}, got {slug!r}")
    taken = collect.take(slug)
    if taken is None:
        raise RequestError(f"{slug}: {NOTHING}")
    _print(page(taken), path)


def page(taken: Taken) -> str:
    """The report as a page that a browser prints."""
    drawn, at = taken.drawn[0], taken.first
    figure = drawn.whole(at)
    text = json.dumps(figure, cls=PlotlyJSONEncoder)
    for number, colour in palette("light").items():
        text = text.replace(f"#{number.zfill(6)}", colour)
    name = taken.looked
    card = taken.cards[name][at]
    parts = {
        "TITLE": escape(f"{taken.title}: what privacy costs"),
        "FINDING": taken.findings[at],
        "CAPTION": escape(drawn.caption),
        "GUARANTEE": _guarantee(taken.labels[name], card),
        "ASSUMES": "".join(f"<li>{escape(one)}</li>" for one in (*card.reasons, *card.limits)),
        "SOURCE": escape(_source(taken)),
        "FIGURE": within_script(text),
        "PLOTLY": get_plotlyjs(),
    }
    return filled(TEMPLATE.read_text(encoding="utf-8"), parts)


def _guarantee(label: str, card: Guarantee) -> str:
    """The guarantee of one method in words."""
    line = collect.guarantee(label, card)
    said = f"{line['status']}: claimed ε {line['claimed']}, proved ε {line['proved']}."
    return f"<p><strong>{escape(label)}.</strong> {escape(said)} {line['odds']}</p>"


def _source(taken: Taken) -> str:
    """Date, version, address and runs."""
    runs = words.listed([job.id for job in taken.jobs.values()])
    return (
        f"{datetime.now(UTC):%-d %b %Y}, Epsilon Explorer {__version__}, address {taken.link}, "
        f"runs {runs}."
    )


def _print(text: str, path: Path) -> None:
    """Has a headless browser print a page.

    Raises:
        ExplorerError: There is no browser, it may not take what it needs, or the file cannot be
            written.
    """
    room.check(room.BROWSER)
    try:
        from playwright.sync_api import Error, sync_playwright
    except ImportError:
        raise ExplorerError(MISSING) from None
    program = next((place for name in BROWSERS if (place := shutil.which(name))), None)
    try:
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
            try:
                sheet = browser.new_context(offline=True).new_page()
                sheet.set_content(text)
                sheet.locator("body[data-drawn=yes]").wait_for()
                files.give(path, sheet.pdf(format="A4", print_background=True))
            finally:
                browser.close()
    except Error as error:
        if "Executable doesn't exist" in str(error):
            raise ExplorerError(MISSING) from None
        said = error.message.partition("\n")[0]
        raise ExplorerError(f"report: expected a page, the browser says: {said}") from None
    except OSError as error:
        raise ExplorerError(
            f"--to: expected a file that can be written, {error.strerror}"
        ) from None
