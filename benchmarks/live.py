"""Seconds from a key press on a slider to what the page draws, in a real browser on an empty store.

python -m benchmarks live [--json]
"""

import os
import statistics
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import partial
from pathlib import Path

from playwright.sync_api import Browser, Page

from benchmarks.row import Row, race
from datasets import catalog as data_catalog
from engine.catalog import catalog
from engine.runs.driver import drive
from engine.runs.job import Job
from engine.service.client import Client
from pages.ui import words
from pages.ui.kit import card, shell
from pages.ui.paper import defaults, overlay, stages, total, view
from pages.ui.paper.cast import HELD
from pages.ui.paper.view import offers
from tests.browser.app import browsing, serving, settled, temporary_home
from tests.browser.moves import Sample, Times, move, reached, samples, until

TURNS = 5
"""Moves of each control; the median counts, and the range is shown."""
LONGEST, LINES = 60.0, 20.0
"""Seconds after which a whole page, and its coarse curves, are not waited for any longer."""
RUNS = 10_000
"""Runs that a store may hold here."""
QUIET = 2.0
"""Seconds without a sign of training after which a view is taken to be whole."""
POINTS = 5
"""Budgets of a coarse curve."""
BEHIND = 10
"""Views that are opened, moved and left."""
QUICK = 5
"""Moves in quick succession."""
WARM = 10.0
"""Seconds for which the app has been open before the first move."""


class Kind(StrEnum):
    """What may be expected of a move: whether its curves ship, or its data set is large."""

    SHIPS = "shipped stop"
    OTHER = "any other control"
    LARGE = "large data set"


@dataclass(frozen=True)
class Control:
    """A slider of a page.

    Attributes:
        page: The paper's page, with the settings that are not its defaults.
        label: Of the slider.
        key: The key that moves it.
        chosen: Label of the method that is looked at, as its line has it.
        kind: What may be expected of a move.
        steps: How often the key is pressed. Curves after one step ship; those after two train.
    """

    page: str
    label: str
    key: str
    chosen: str
    kind: Kind
    steps: int = 1


PROTOTYPES, ENTROPY = "GLVQ, private, with proof", "EnADPP, with proof"
BELIEF = "pCDBN, with proof"
KNOTS = Control("survival", "Knots", "ArrowRight", "Private Newton", Kind.OTHER)
CONTROLS = (
    Control("mean", "Clipping bound B", "ArrowRight", "Laplace", Kind.SHIPS),
    Control("survival", "Time intervals q", "ArrowRight", "Private Newton", Kind.SHIPS),
    Control("lvq", "Clipping bound C", "ArrowRight", PROTOTYPES, Kind.SHIPS),
    Control("enadpp", "Clipping bound C", "ArrowRight", ENTROPY, Kind.SHIPS),
    Control("pcdbn", "Degree of the polynomial L", "ArrowRight", BELIEF, Kind.SHIPS),
    Control("yesiwell", "Degree of the polynomial L", "ArrowLeft", BELIEF, Kind.SHIPS),
    *(
        replace(control, steps=steps)
        for control in (
            KNOTS,
            Control("lvq", "Epochs", "ArrowRight", PROTOTYPES, Kind.OTHER),
            Control("enadpp", "Epochs", "ArrowRight", ENTROPY, Kind.OTHER),
            Control("pcdbn", "Filters of the first layer K", "ArrowLeft", BELIEF, Kind.OTHER),
            Control("yesiwell", "Epochs E", "ArrowLeft", BELIEF, Kind.OTHER),
        )
        for steps in (1, 2)
    ),
    Control("lvq?lvq.dataset=mnist", "Clipping bound C", "ArrowRight", PROTOTYPES, Kind.LARGE),
    Control(
        "pcdbn?pcdbn.dataset=mnist", "Degree of the polynomial L", "ArrowRight", BELIEF, Kind.LARGE
    ),
    Control("enadpp?enadpp.dataset=mnist", "Clipping bound C", "ArrowRight", ENTROPY, Kind.LARGE),
)
TARGETS: dict[Kind, dict[str, float]] = {
    Kind.SHIPS: {"point": 0.4, "coarse": 0.4, "proved": 0.4, "whole": 30.0},
    Kind.OTHER: {"point": 1.0, "coarse": 2.0, "proved": 5.0, "whole": 45.0},
    Kind.LARGE: {"point": 3.0, "coarse": 10.0},
}
"""Seconds within which each is to be there. On a large data set a button asks for all others."""
SOON = 2.0
"""Seconds to a coarse curve above which a method is slow."""
WORDS = {
    "point": "chosen method's point", "coarse": "its coarse curve",
    "proved": "coarse curves of all proved methods", "whole": "whole page",
}  # fmt: skip


def rows() -> Iterator[Row]:
    """Moves every control; then with views left behind, and quickly; then looks at what is kept."""
    with temporary_home() as home, serving(home, ahead=True) as address, browsing() as browser:
        time.sleep(WARM)
        for control in CONTROLS:
            yield from _control(browser, address, control, home)
        yield from _beside(browser, address, KNOTS, home)
        yield from _kept(home)
    for slug in shell.papers():
        yield from _coarse(slug)


def _control(browser: Browser, address: str, control: Control, home: Path) -> Iterator[Row]:
    """The rows of one control: some moves from the page's defaults, each on an empty store."""
    times, page = [], opened(browser, address, control.page)
    large = control.kind == Kind.LARGE
    if large:  # what such a data set is turned into is kept from the first time on
        _moved(page, control, control.steps, whole=True)
    for turn in range(TURNS):
        if turn or large:
            page.context.close()
            _emptied(home)
            page = opened(browser, address, control.page)
        last = turn == TURNS - 1
        times.append(_moved(page, control, control.steps, whole=large or last))
    page.context.close()
    for name, most in TARGETS[control.kind].items():
        took = [getattr(one, name) for one in times[-1 if name == "whole" else 0 :]]
        middle = statistics.median(took)
        steps = words.plural(control.steps, "step")
        what = f"{control.page}, {steps} of {control.label}: {WORDS[name]}"
        note = f"{control.kind}; {min(took):.2g} to {max(took):.2g} s in {len(took)} moves"
        if name == "proved":
            note += f"; those without a proof too: {statistics.median(t.all for t in times):.2g} s"
        yield Row(what, middle, None, "s", f"at most {most:g} s", middle <= most, note)


def _emptied(home: Path) -> None:
    """Removes all that has been trained, once nothing trains any more."""
    client = Client(home, workers=False)
    while active := [run for run in client.runs(RUNS) if run.active]:
        for run in active:
            client.cancel(run.id)
        time.sleep(0.2)
    for run in client.runs(RUNS):
        client.delete(run.id)
    client.close()


def _moved(page: Page, control: Control, moves: int, *, whole: bool = False) -> Times:
    """When the page showed what after one move; waits for all of it, or for every coarse curve."""
    slug = control.page.partition("?")[0]
    layout, methods = defaults.layout(slug), catalog()[slug].methods
    apart = {one.label for one in methods if one.name in layout.by_hand}
    typed = move(page, control.label, control.key, moves)
    end = time.monotonic() + (LONGEST if whole else LINES)
    until(page, "() => window.samples.some(one => one.told)", 3.0)
    seen: list[Sample] = []
    while time.monotonic() < end:
        seen += samples(page, len(seen))  # all of them each time would take a core for themselves
        late = [one for one in seen if one.at > seen[-1].at - QUIET]
        moved = seen[-1].revision != seen[0].revision
        if moved and not any(one.told if whole else one.ghosts() - apart for one in late):
            break
        page.wait_for_timeout(200)
    return reached(seen, control.chosen, POINTS, apart, _proved(slug), typed)


def _proved(slug: str) -> set[str]:
    """Labels of the methods that have a proof at a page's defaults."""
    paper, jobs, first = catalog()[slug], defaults.opening(slug), _first(slug)
    twice = overlay.both(jobs)
    return {
        overlay.label(paper, job, twice)
        for job in jobs.values()
        if card.guarantee(*view.asked(job, first, data_catalog.card(job.dataset))).status in HELD
    }


def _first(slug: str) -> float:
    """The budget that a paper's page opens with."""
    budget = offers(catalog()[slug], defaults.layout(slug)).knobs["epsilon"]
    return float(budget.value(budget.default))


def opened(browser: Browser, address: str, path: str) -> Page:
    """A page in a window of its own, once its chart is there."""
    page = browser.new_context(viewport={"width": 1440, "height": 900}).new_page()
    page.set_default_timeout(120_000)
    page.goto(f"{address}/{path}")
    settled(page)
    page.wait_for_function("() => document.querySelector('.js-plotly-plot')?.data?.length > 1")
    return page


def _beside(browser: Browser, address: str, control: Control, home: Path) -> Iterator[Row]:
    """A move's coarse curve beside that of a single one, in turn, each on an empty store."""
    alone, behind, quick = list[float](), list[float](), list[float]()
    for _ in range(TURNS):
        _emptied(home)
        alone.append(_alone(browser, address, control, 1))
        _emptied(home)
        _leave(browser, address)
        behind.append(_alone(browser, address, control, 1))
        _emptied(home)
        quick.append(_alone(browser, address, control, QUICK))
    most, middle = 1.2, statistics.median(alone)
    for what, took in (
        ("with ten abandoned views behind", behind), ("five quick moves, the last one", quick)
    ):  # fmt: skip
        yield Row(
            f"{control.page}, {control.label}: its coarse curve, {what}", statistics.median(took),
            middle, "s", f"at most {most:g} times a single move",
            statistics.median(took) <= most * middle,
            f"{min(took):.2g} to {max(took):.2g} s, a single one {min(alone):.2g} to "
            f"{max(alone):.2g} s, in {TURNS} moves",
        )  # fmt: skip


def _leave(browser: Browser, address: str) -> None:
    """Opens views, moves them and closes them."""
    single = [control for control in CONTROLS if control.steps == 1]
    for number in range(BEHIND):
        control = single[number % len(single)]
        page = opened(browser, address, f"{control.page}?{control.page}.repeats=10")
        move(page, control.label, control.key, 1 + number // len(single))
        page.wait_for_timeout(500)
        page.context.close()


def _alone(browser: Browser, address: str, control: Control, moves: int) -> float:
    """Seconds to the coarse curve in a window of its own, from a view whose curves are there."""
    page = opened(browser, address, f"{control.page}?{control.page}.intervals=20")
    until(page, "() => !document.querySelector('[role=progressbar]')", LONGEST)
    took = _moved(page, control, moves)
    page.context.close()
    return took.coarse


def _kept(home: Path) -> Iterator[Row]:
    """What all these moves have left on the disk, and what the processes hold."""
    disk = sum(path.stat().st_size for path in home.rglob("*") if path.is_file()) / 1e6
    yield Row("disk after all moves", disk, None, "MB", "under 500 MB", disk < 500, "store and log")
    held = sum(map(memory, processes(home)))
    note = "app, worker and accountant together"
    yield Row("memory after all moves", held, None, "MB", "under 3000 MB", held < 3000, note)


def _coarse(slug: str) -> Iterator[Row]:
    """Seconds to each method's coarse curve at its page's defaults, alone in a process."""
    layout, first = defaults.layout(slug), _first(slug)
    sketches = {
        name: stages.coarse(job, first, 1)
        for name, job in defaults.opening(slug).items()
        if name not in layout.by_hand
    }
    took = race({name: partial(_trained, job) for name, job in sketches.items()})
    for name, job in sketches.items():
        said = (total.seconds(job) or 0.0) >= total.SLOW
        note = f"{min(took[name].seconds):.2g} to {max(took[name].seconds):.2g} s"
        note += "; the page says beforehand that it is slow" * said
        middle, what = took[name].median, f"{slug}, {name}: coarse curve, alone"
        met = middle <= SOON or said
        yield Row(what, middle, None, "s", f"at most {SOON:g} s, or said beforehand", met, note)


def _trained(job: Job) -> None:
    """Trains a job in this process and keeps nothing."""
    for _ in drive(job, data_catalog.load(job.dataset), lambda name, arrays: ""):
        pass


def processes(home: Path) -> list[int]:
    """The processes that work on a store."""
    mark, found = f"EXPLORER_HOME={home}".encode(), []
    for place in Path("/proc").iterdir():
        if place.name.isdigit() and int(place.name) != os.getpid():
            try:
                environment = (place / "environ").read_bytes().split(b"\0")
            except OSError:
                continue
            if mark in environment:
                found.append(int(place.name))
    return found


def memory(process: int) -> float:
    """Memory of a process in MB; what several processes share is divided among them."""
    try:
        lines = Path(f"/proc/{process}/smaps_rollup").read_text().splitlines()
    except OSError:
        return 0.0
    return next((float(one.split()[1]) / 1024 for one in lines if one.startswith("Pss:")), 0.0)
