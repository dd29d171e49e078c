"""Memory and disk after an hour in which sliders of all papers are moved, in a real browser.

python -m benchmarks hour [--json]
"""

import random
import statistics
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from playwright.sync_api import Browser, Page

from benchmarks.live import LINES, memory, opened, processes
from benchmarks.row import Row
from pages.ui.kit import shell
from tests.browser.app import browsing, serving, temporary_home
from tests.browser.moves import MORE

MINUTES = 60.0
"""How long the sliders are moved."""
PAUSE = 4.0
"""Seconds between two moves, so that some runs finish and some are left in the middle."""
STAY = 10
"""Moves on a page until it is left for another one."""
SEED = 7
"""Of the order of the sliders and the keys."""
EVERY = 60.0
"""Seconds between two looks at memory and disk."""
MEMORY, DISK, LOG = 3000.0, 1500.0, 20.0
"""MB that the processes may hold, the store may take (its limits for runs that were asked for in
passing and ahead are 1,200 together), and its write-ahead log."""
SLIDERS = '[data-testid="stSlider"] input[type="range"], [data-testid="stSlider"] [role="slider"]'
ERRORS = '[data-testid="stException"]'


@dataclass(frozen=True)
class Look:
    """What the processes and the store hold at one moment, in MB.

    Attributes:
        at: Seconds since the first move.
        memory: Of all processes that work on the store; what they share counts once.
        disk: Of every file of the store.
        log: Of the database's write-ahead log alone.
    """

    at: float
    memory: float
    disk: float
    log: float


def rows() -> Iterator[Row]:
    """Moves sliders of every paper in turn, and looks at memory and disk each minute."""
    with temporary_home() as home, serving(home, ahead=True) as address, browsing() as browser:
        moves, errors, looks = _moved(browser, address, home)
    hour = f"{moves} moves in {looks[-1].at / 60:.0f} minutes, {PAUSE:g} s apart"
    for what, most, whose in (
        ("memory", MEMORY, "app, workers and accountant together"),
        ("disk", DISK, "store and log"),
        ("log", LOG, "the database's write-ahead log"),
    ):
        held = [getattr(one, what) for one in looks]
        middle, highest = statistics.median(held[len(held) // 2 :]), max(held)
        note = f"{whose}; {hour}; at the end {held[-1]:.0f}, median of the last half {middle:.0f}"
        target, met = f"at most {most:g} MB", highest <= most
        yield Row(f"{what}, the most in an hour of moves", highest, None, "MB", target, met, note)
    note = f"{hour}; {errors[0]}" if errors else hour
    yield Row("errors on a page", len(errors), None, "", "none", not errors, note)


def _moved(browser: Browser, address: str, home: Path) -> tuple[int, list[str], list[Look]]:
    """How many moves were made, the errors that stood on a page, and what was held."""
    dice, slugs = random.Random(SEED), list(shell.papers())
    moves, errors = 0, list[str]()
    begun = time.monotonic()
    looks = [_look(home, 0.0)]
    while time.monotonic() - begun < 60 * MINUTES:
        page = opened(browser, address, slugs[moves // STAY % len(slugs)])
        page.locator("summary", has_text=MORE).first.click()
        for _ in range(STAY):
            _press(page, dice)
            moves += 1
            page.wait_for_timeout(1000 * PAUSE)
            errors += [f"{page.url}: {one}" for one in page.locator(ERRORS).all_inner_texts()]
            if (now := time.monotonic() - begun) - looks[-1].at >= EVERY:
                looks.append(_look(home, now))
        page.context.close()
    return moves, errors, looks


def _press(page: Page, dice: random.Random) -> None:
    """Moves a slider by one to three steps to one side."""
    sliders = page.locator(SLIDERS)
    slider = sliders.nth(dice.randrange(sliders.count()))
    slider.focus(timeout=1000 * LINES)
    for _ in range(dice.randint(1, 3)):
        page.keyboard.press(dice.choice(("ArrowLeft", "ArrowRight")))


def _look(home: Path, at: float) -> Look:
    """What is held now; a file that goes in between counts nothing."""
    sizes: dict[Path, int] = {}
    for path in home.rglob("*"):
        try:
            sizes[path] = path.stat().st_size if path.is_file() else 0
        except OSError:
            continue
    log = sum(size for path, size in sizes.items() if path.name.endswith("-wal"))
    held = sum(map(memory, processes(home)))
    return Look(at, held, sum(sizes.values()) / 1e6, log / 1e6)
