"""What the pages open with: each paper's layout, and the jobs of a first visit."""

import importlib
from importlib.util import find_spec

from engine import catalog
from engine.runs.job import Job
from pages.ui.jobs.live import BUDGET
from pages.ui.paper import choice
from pages.ui.paper.overlay import overlays
from pages.ui.paper.view import Layout, offers

PAPERS = "pages.ui.papers"


def layout(slug: str) -> Layout:
    """The LAYOUT in `pages/ui/papers/<slug>/layout.py`; the common one where there is none."""
    if find_spec(f"{PAPERS}.{slug}") and find_spec(f"{PAPERS}.{slug}.layout"):
        declared: Layout = importlib.import_module(f"{PAPERS}.{slug}.layout").LAYOUT
        return declared
    return Layout()


def opening(slug: str) -> dict[str, Job]:
    """The jobs of a paper's page as it opens, by method: what its widgets say before any touch."""
    paper, own = catalog.paper(slug), layout(slug)
    offered = offers(paper, own)
    wanted = choice.jobs(
        paper, choice.untouched(offered), offered.knobs[BUDGET].values, own.by_hand, own.quick
    )
    return {**wanted, **overlays(paper, wanted, own.by_hand)}
