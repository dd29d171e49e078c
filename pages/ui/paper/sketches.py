"""What the start page says of each paper: `python -m pages.ui.paper.sketches` works it out.

The finding and the few lines of each page as it opens come from the runs that ship. They are kept
in a small file, since the start page would else read all of them.
"""

import json
import os
import tempfile
from dataclasses import asdict, dataclass

from engine import catalog
from engine.core import stored
from engine.privacy import answers
from engine.runs import audits
from engine.runs.reference import FOLDER
from pages.ui import messages
from pages.ui.jobs.live import Watched
from pages.ui.kit import shell
from pages.ui.kit.access import board
from pages.ui.paper import cast, defaults, drawing, panels
from pages.ui.paper.overlay import PROVED
from pages.ui.paper.said import say
from pages.ui.paper.view import View

FILE = FOLDER / "sketches.json"
BROKEN = (
    "The printed noise is too small: an attack finds **ε = {shown:n2}** where {claimed:n} is "
    "claimed."
)


@dataclass(frozen=True)
class Sketch:
    """What the start page says of a paper.

    Attributes:
        found: A sentence, by language.
        lines: Budgets with errors, by the stand-in for a line's colour on its page.
        none: The error without privacy.
    """

    found: dict[str, str]
    lines: dict[str, list[list[float]]]
    none: float | None

    @property
    def own(self) -> list[list[float]]:
        """The line of the paper's own method with proof."""
        return self.lines[cast.OWN[PROVED]]


def read() -> dict[str, Sketch]:
    """The kept sketches by paper; none where the file is not there or damaged."""
    try:
        return stored.read(dict[str, Sketch], json.loads(FILE.read_text(encoding="utf-8")))
    except (OSError, ValueError):
        return {}


def made(slug: str) -> Sketch:
    """The sketch of a paper, from the runs that ship."""
    view = opening(slug)
    found, up = drawing.cast(view), drawing.heights(view)
    parts = [one for one in (found.own, found.best, found.printed) if one is not None]
    lines = {
        one.style.colour: [
            [x, float(f"{y:.4g}")] for x, y in zip(one.epsilon, up.of(one.middle), strict=True)
        ]
        for one in parts
    }  # fmt: skip
    none = None if found.none is None else float(f"{up.of([found.none.value])[0]:.4g}")
    said = {}
    for code in messages.languages():
        with messages.spoken(code):
            said[code] = broken(slug) or panels.result(view)
    return Sketch(said, lines, none)


def opening(slug: str) -> View:
    """The page of a paper as it opens."""
    page = defaults.addressed(slug, {})
    runs = board().look(job.id for job in page.jobs.values())
    with answers.at_once():
        watched = {
            name: Watched(page.labels[name], job, runs.get(job.id))
            for name, job in page.jobs.items()
        }
        return page.view(watched, page.chosen)


def broken(slug: str) -> str:
    """That an attack passes the claim of the paper's own method as printed, where one does."""
    own = cast.lead(catalog.paper(slug)).name
    for row in audits.rows():
        claimed, shown = row.epsilon_claimed, row.epsilon_attacked
        if (row.paper, row.method) == (slug, own) and row.broken and claimed and shown:
            return say({"": BROKEN}, "", {"shown": shown, "claimed": claimed})
    return ""


def main() -> None:
    """Works out all sketches and writes them."""
    with tempfile.TemporaryDirectory() as home:
        os.environ["EXPLORER_HOME"] = home  # only what ships
        kept = {slug: asdict(made(slug)) for slug in shell.papers()}
    FILE.write_text(json.dumps(kept, separators=(",", ":")) + "\n", encoding="utf-8")
    print(*(f"{slug}: {one['found']['en']}" for slug, one in kept.items()), sep="\n")


if __name__ == "__main__":
    main()
