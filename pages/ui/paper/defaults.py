"""What the pages open with: each paper's layout, and the jobs of a first visit."""

import functools
from collections.abc import Mapping
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from engine import catalog
from engine.core.spec import Value
from engine.method import Paper
from engine.runs.job import Job
from pages.ui.jobs.live import BUDGET
from pages.ui.kit.offers import Offer
from pages.ui.paper import choice, declared
from pages.ui.paper.choice import Chosen, Offers
from pages.ui.paper.overlay import overlays
from pages.ui.paper.view import Layout, Page, offers

PAPERS = "pages.ui.papers"


@functools.cache
def layout(slug: str) -> Layout:
    """The layout that `pages/ui/papers/<slug>/layout.toml` declares; the common one without it."""
    name = f"{PAPERS}.{slug}"
    for folder in map(Path, getattr(find_spec(name), "submodule_search_locations", None) or ()):
        if (folder / declared.FILE).exists():
            return declared.layout(name, folder)
    return Layout()


def opening(slug: str) -> dict[str, Job]:
    """The jobs of a paper's page as it opens, by method: what its widgets say before any touch."""
    return addressed(slug, {}).jobs


def wanted(paper: Paper[Any], layout: Layout, offered: Offers, chosen: Chosen) -> dict[str, Job]:
    """The jobs of a page by method, and those that are drawn beside them.

    Raises:
        SpecError: Settings that contradict each other.
    """
    jobs = _plain(paper, layout, offered, chosen)
    first = _first(paper.slug) if layout.opens else {}
    many = tuple(range(choice.MANY))
    return {
        name: replace(job, seeds=many) if first.get(name) == job.id else job
        for name, job in jobs.items()
    }


def _plain(paper: Paper[Any], layout: Layout, offered: Offers, chosen: Chosen) -> dict[str, Job]:
    """The same before some methods are repeated more often."""
    often = layout.often(chosen.dataset)
    there = {field: value for field, value in chosen.values.items() if field in layout.main}
    usual = {**choice.untouched(offered).values, **there}
    budgets = offered.knobs[BUDGET].values
    jobs = choice.jobs(paper, chosen, budgets, layout.by_hand, often, usual)
    return {**jobs, **overlays(paper, jobs, layout.by_hand)}


@functools.cache
def _first(slug: str) -> dict[str, str]:
    """The ids by which the lines of `opens` are known that stand as the page opens."""
    paper, own = catalog.paper(slug), layout(slug)
    offered = offers(paper, own)
    jobs = _plain(paper, own, offered, choice.untouched(offered))
    return {name: job.id for name, job in jobs.items() if name in own.opens}


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
    return Page(slug, paper, own, offered, chosen, wanted(paper, own, offered, chosen))
