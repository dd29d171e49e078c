"""How long a view waits for its first point and its curves, alone, after others, and among many.

python -m benchmarks queue
python -m benchmarks.queue methods
python -m benchmarks.queue visitors [COUNT]

A real worker and a real store, on as many threads as the machine has; visitors say what they look
at, ask, and look again, as pages do, but draw nothing. Every view is one that nobody has asked for.
"""

import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from benchmarks.row import Row
from engine import catalog
from engine.core.spec import Value
from engine.runs.job import Job
from engine.service import presence, watching
from engine.service.client import Client
from engine.service.watching import Stage, Visitor
from pages.ui.jobs.live import BUDGET
from pages.ui.paper import choice, defaults, stages
from pages.ui.paper.overlay import overlays
from pages.ui.paper.view import Page, offers

BEAT, LOOK = 2.0, 0.1
"""Seconds between two times that a visitor says what it looks at, and between two looks."""
COUNT = 40
LONGEST = 300.0
MOVES: tuple[tuple[str, str, Sequence[Value]], ...] = (
    ("mean", "records", tuple(range(1_001, 1_021))),
    ("survival", "intervals", tuple(range(21, 41))),
    ("lvq", "clip", tuple(round(0.31 + 0.01 * i, 2) for i in range(20))),
    ("pcdbn", "epochs", tuple(range(5, 25))),
)
"""The page, the control and the stops that visitors take in turn."""

Asks = Sequence[tuple[Job, Stage]]


def view(slug: str, values: dict[str, Value]) -> Asks:
    """What a page asks for when a control stands elsewhere, in its order."""
    paper, layout = catalog.paper(slug), defaults.layout(slug)
    offered = offers(paper, layout)
    opened = choice.untouched(offered)
    chosen = replace(opened, values={**opened.values, **values}, budget=opened.budget)
    wanted = choice.jobs(paper, chosen, offered.knobs[BUDGET].values, layout.by_hand)
    wanted |= overlays(paper, wanted, layout.by_hand)
    page = Page(slug, paper, layout, offered, chosen, wanted)
    return stages.shown(page, chosen).asks


@dataclass
class Watch:
    """A visitor with one view, and when its parts were there.

    Attributes:
        name: Of the visitor.
        asks: What the view asks for.
        begun: When, on this process's own clock.
        over: When each run was complete, in seconds since.
    """

    name: str
    asks: Asks
    begun: float = 0.0
    over: dict[str, float] = field(default_factory=dict)

    @property
    def visitor(self) -> Visitor:
        """Whom the store knows."""
        return Visitor(f"page of {self.name}", self.name)

    def begin(self, client: Client) -> None:
        """Says what the view shows, and asks for it, as a page does."""
        self.begun = time.monotonic()
        self.beat(client)
        for job, _ in self.asks:
            client.submit(job, {BUDGET: 1.0}, self.visitor, passing=True)

    def beat(self, client: Client) -> None:
        """Says again what the view shows."""
        shown: dict[str, Stage] = {}
        for job, stage in self.asks:
            shown.setdefault(job.id, stage)
        watching.look_on(client.store, self.visitor, shown)

    def look(self, client: Client) -> None:
        """Notes what has come since the last look."""
        left = [job.id for job, _ in self.asks if job.id not in self.over]
        for row in client.store.these(left) if left else ():
            if row["state"] not in ("queued", "running"):
                self.over[row["id"]] = time.monotonic() - self.begun

    def until(self, most: Stage, methods: int = 1_000) -> float | None:
        """Seconds until all of its first jobs up to a stage were there; None if they are not."""
        some = [job.id for job, stage in self.asks if stage <= most][:methods]
        if not set(some) <= set(self.over):
            return None
        return max((self.over[run] for run in some), default=0.0)

    @property
    def first(self) -> float | None:
        """Seconds until the first point."""
        return self.until(Stage.COARSE, 1)


@contextmanager
def engine() -> Iterator[Client]:
    """A store of its own with a warm worker; the worker ends with it."""
    with tempfile.TemporaryDirectory() as folder:
        client = Client(Path(folder) / "home")
        client.register_app()
        client.ensure_worker()
        while not presence.working(client.store, presence.device()):
            time.sleep(0.1)
        time.sleep(10.0)  # as long as the app has been open
        try:
            yield client
        finally:
            if client._starter._process is not None:
                client._starter._process.terminate()
                client._starter._process.wait()
            client.close()


def follow(client: Client, watches: Sequence[Watch], most: Stage, seconds: float) -> None:
    """Looks on until every view has what it waits for, or time is up."""
    end, beaten = time.monotonic() + seconds, time.monotonic()
    while time.monotonic() < end and any(one.until(most) is None for one in watches):
        time.sleep(LOOK)
        for one in watches:
            one.look(client)
        if time.monotonic() - beaten >= BEAT:
            beaten = time.monotonic()
            for one in watches:
                one.beat(client)


def rows() -> list[Row]:
    """One move alone, the same behind ten views that were left, and forty visitors."""
    with engine() as client:
        alone = move(client, 0)
    with engine() as client:
        for number in range(10):
            slug, knob, stops = MOVES[number % len(MOVES)]
            Watch("ada", view(slug, {knob: stops[number]})).begin(client)
        behind = move(client, 11)
    one = f"{MOVES[1][0]}: one step of {MOVES[1][1]}"
    return [
        Row(f"{one}, first point", alone[0], None, "s", "under 1 s", alone[0] < 1.0, ""),
        Row(f"{one}, proved curves", alone[1], None, "s", "under 5 s", alone[1] < 5.0, ""),
        Row(
            f"{one}, ten views behind, first point", behind[0], alone[0], "s", "under 1.2 s",
            behind[0] < 1.2, "peer: without them",
        ),
        Row(
            f"{one}, ten views behind, proved curves", behind[1], alone[1], "s", "under 6 s",
            behind[1] < 6.0, "peer: without them",
        ),
        *crowd(COUNT),
    ]  # fmt: skip


def move(client: Client, number: int) -> tuple[float, float]:
    """Seconds to the first point and to all proved methods' curves after one move."""
    slug, knob, stops = MOVES[1]
    one = Watch("ada", view(slug, {knob: stops[number]}))
    one.begin(client)
    follow(client, [one], Stage.COARSE, LONGEST)
    return one.first or LONGEST, one.until(Stage.COARSE) or LONGEST


def crowd(count: int) -> list[Row]:
    """Many visitors, each with a view of its own."""
    with engine() as client:
        watches = []
        for number in range(count):
            slug, knob, stops = MOVES[number % len(MOVES)]
            asks = view(slug, {knob: stops[number // len(MOVES)]})
            watches.append(Watch(f"visitor {number}", asks))
        for one in watches:
            one.begin(client)
        follow(client, watches, Stage.COARSE, LONGEST)
    firsts = [one.first or LONGEST for one in watches]
    curves = [one.until(Stage.COARSE) or LONGEST for one in watches]
    note = f"pages: {', '.join(slug for slug, _, _ in MOVES)}; median {np.median(firsts):.1f} s"
    slow, last = float(np.percentile(firsts, 95)), max(firsts)
    what = f"{count} visitors with {count} settings"
    return [
        Row(f"{what}, first point, p95", slow, None, "s", "under 20 s", slow < 20.0, note),
        Row(f"{what}, first point, last", last, None, "s", "under 60 s", last < 60.0, note),
        Row(f"{what}, proved curves, p95", float(np.percentile(curves, 95)), None, "s", "", None,
            f"median {np.median(curves):.1f} s"),
    ]  # fmt: skip


def methods() -> list[tuple[str, str, float]]:
    """Seconds to the coarse curve of every method of every paper, as its page opens."""
    measured = []
    with engine() as client:
        for slug in catalog.catalog():
            for job, stage in view(slug, {}):
                if stage in (Stage.COARSE, Stage.OTHER):
                    one = Watch("ada", [(job, stage)])
                    one.begin(client)
                    follow(client, [one], Stage.FULL, LONGEST)
                    took = client.run(job.id).worked
                    measured.append((slug, job.method, took))
                    waited = one.until(Stage.FULL) or LONGEST
                    print(f"{slug:10} {job.method:20} {waited:7.2f} {took:7.2f}", flush=True)
    return measured


if __name__ == "__main__":
    if sys.argv[1:2] == ["methods"]:
        methods()
    else:
        for row in crowd(int(sys.argv[2]) if sys.argv[2:] else COUNT):
            print(row)
