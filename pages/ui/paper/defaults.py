"""What the pages open with: each paper's layout, and the jobs of a first visit.

A layout is declared in `layout.toml`: titles, sentences and lists; Python computes. What is
computed is named as "module:function" within the paper's folder: `draw`, `side` and `free` of a
`[[sections]]`, `story`, and `values` of a section that is `swept` over a setting. `free` may be
the names themselves where all data sets have the same.
"""

import functools
import importlib
from collections.abc import Mapping
from dataclasses import fields, replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from engine import catalog
from engine.core import declared
from engine.core.spec import Value
from engine.method import Paper
from engine.runs.job import Job
from pages.ui.jobs.live import BUDGET
from pages.ui.kit import address
from pages.ui.kit.offers import QUICK, REPEATS, Offer
from pages.ui.paper import choice, pays
from pages.ui.paper.choice import Chosen, Offers
from pages.ui.paper.finding import Saying, guessing
from pages.ui.paper.overlay import overlays
from pages.ui.paper.swept import Swept
from pages.ui.paper.view import Layout, Page, Section, offers

FILE = "layout.toml"
OWN = {one.name for one in fields(Section)}
CHANCES = {
    "the right class": guessing,
    "a wrong class": lambda data: 1.0 - guessing(data),
    "a coin": lambda data: 0.5,
}
"""What guessing gets, by what `chance` says."""
PAPERS = "pages.ui.papers"


def read(package: str, folder: Path) -> Layout:
    """The layout that a folder declares.

    Raises:
        TypeError: A key that no layout has, or a section without a title.
        KeyError: A chance that nobody knows.
        AttributeError, ModuleNotFoundError: A function or its module that is not there.
    """
    table = {name: declared.fixed(value) for name, value in declared.read(folder / FILE).items()}
    says = {name: _saying(how) for name, how in table.pop("says", {}).items()}
    swept = []

    def section(own: Mapping[str, Any]) -> Section:
        own = {name: _found(package, name, value) for name, value in own.items()}
        if "swept" in own:
            one = own.pop("swept")
            swept.append(Swept(**{n: _found(package, n, value) for n, value in one.items()}))
            own["draw"] = swept[-1].section
        words = {name: value for name, value in own.items() if name not in OWN}
        return Section(**{name: own[name] for name in own.keys() - words}, words=words)

    sections = tuple(map(section, table.pop("sections", ())))
    shared = pays.shared(table.get("shows", Layout.shows), table.pop("quotes", True))
    rest = {name: _found(package, name, value) for name, value in table.items()}

    def beside(jobs: Mapping[str, Job]) -> dict[str, Job]:
        return {name: job for one in swept for name, job in one.beside(jobs).items()}

    return Layout(says=says, sections=sections + shared, beside=beside, **rest)


def _saying(table: Mapping[str, Any]) -> Saying:
    """How a gauge is put in words."""
    own = dict(table)
    if "chance" in own:
        own["chance"] = CHANCES[own["chance"]]
    return Saying(**own)


def _found(package: str, name: str, value: Any) -> Any:
    """A function where its name stands, or the names that it would return."""
    if name == "free" and isinstance(value, tuple):
        return lambda dataset: value
    if name not in ("draw", "side", "free", "story", "values"):
        return value
    module, _, function = value.partition(":")
    return getattr(importlib.import_module(f"{package}.{module}"), function)


@functools.cache
def layout(slug: str) -> Layout:
    """The layout that `pages/ui/papers/<slug>/layout.toml` declares; the common one without it."""
    name = f"{PAPERS}.{slug}"
    for folder in map(Path, getattr(find_spec(name), "submodule_search_locations", None) or ()):
        if (folder / FILE).exists():
            return read(name, folder)
    return Layout()


def opening(slug: str) -> dict[str, Job]:
    """The jobs of a paper's page as it opens, by method: what its widgets say before any touch."""
    return addressed(slug, {}).jobs


def link(job: Job) -> str:
    """The address of the page that shows a job."""
    return address.link(job, quick=job.method in layout(job.paper).often(job.dataset))


def wanted(paper: Paper[Any], layout: Layout, offered: Offers, chosen: Chosen) -> dict[str, Job]:
    """The jobs of a page by method, and those that are drawn beside them.

    Raises:
        SpecError: Settings that contradict each other.
    """
    jobs = _plain(paper, layout, offered, chosen)
    first = _first(paper.slug) if layout.opens else {}
    many = tuple(range(QUICK))
    return {
        name: replace(job, seeds=many) if first.get(name) == job.id else job
        for name, job in jobs.items()
    }


def fewer(
    paper: Paper[Any], layout: Layout, offered: Offers, chosen: Chosen, jobs: Mapping[str, Job]
) -> list[dict[str, Job]]:
    """The jobs of a page with fewer repetitions, the most last: what may be there before them.

    None where no more are asked for than the page opens with: then a coarse curve comes first.
    """
    counts = [count for count in REPEATS if layout.repeats <= count < chosen.repeats]
    every = [wanted(paper, layout, offered, replace(chosen, repeats=count)) for count in counts]
    return [
        {name: job for name, job in some.items() if len(job.seeds) < len(jobs[name].seeds)}
        for some in every
    ]


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
