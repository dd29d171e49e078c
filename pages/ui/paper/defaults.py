"""What the pages open with: each paper's layout, and the jobs of a first visit."""

import importlib
from collections.abc import Mapping
from importlib.util import find_spec

from engine import catalog
from engine.core.spec import Value
from engine.runs.job import Job
from pages.ui.jobs.live import BUDGET
from pages.ui.kit.offers import Offer
from pages.ui.paper import choice
from pages.ui.paper.overlay import overlays
from pages.ui.paper.view import Layout, Page, offers

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


def addressed(slug: str, settings: Mapping[str, str]) -> Page:
    """A paper's page as an address opens it.

    Args:
        slug: Key of the paper.
        settings: What the address sets, by name; the rest is as the page opens.

    Raises:
        SpecError: Settings that contradict each other.
    """
    paper, own = catalog.paper(slug), layout(slug)

    def say(offer: Offer) -> Value:
        text = settings.get(f"{slug}.{offer.field}", offer.default)
        return offer.value(offer.read(text)[0])

    dataset = str(say(offers(paper, own).dataset))
    offered = offers(paper, own, dataset)
    chosen = choice.said(offered, say)
    budgets = offered.knobs[BUDGET].values
    wanted = choice.jobs(paper, chosen, budgets, own.by_hand, own.often(chosen.dataset))
    wanted |= overlays(paper, wanted, own.by_hand)
    return Page(slug, paper, own, offered, chosen, wanted)
