"""What the widgets of a paper's page offer, and what they say, read once as one value."""

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

from datasets import catalog as data_catalog
from datasets import own
from engine.core.errors import ExplorerError
from engine.core.gauges import Gauge, gauges
from engine.core.spec import Value
from engine.method import Entry, Paper
from engine.runs.job import Job, request
from pages.ui.jobs.live import BUDGET
from pages.ui.kit import address, visitors
from pages.ui.kit.offers import OFTEN, QUICK, Offer
from pages.ui.paper import kinds

PROOF_FIRST = "By proof"
BY = (PROOF_FIRST, "By claim")
"""Where a point of the curve stands: at the budget that is proved, or at the one claimed."""
FEW_LINES, ALL = "Main lines", "All methods"
LINES = (FEW_LINES, ALL)
"""Which lines of the curve are in colour."""
MAIN = 4
"""So many lines are in colour at first; the others are grey."""
FEW = 3
"""Repetitions of what takes minutes."""


@dataclass(frozen=True)
class Offers:
    """Everything that the page's widgets offer, by what they set."""

    dataset: Offer
    knobs: dict[str, Offer]
    repeats: Offer
    gauge: Offer
    method: Offer
    tab: Offer
    by: Offer
    lines: Offer
    measure: Offer

    @property
    def all(self) -> tuple[Offer, ...]:
        """Every offer, for the address."""
        return (
            *(self.dataset, *self.knobs.values(), self.repeats, self.gauge, self.method),
            *(self.tab, self.by, self.lines, self.measure),
        )


@dataclass(frozen=True)
class Chosen:
    """Everything that the widgets of a page say, apart from the tab that is open.

    Attributes:
        dataset: Name of the data set.
        values: Every knob but the budget.
        repeats: Repetitions of each setting.
        budget: The budget under the slider.
        method: Name of the method that the user looks at closely.
        gauge: Name of the gauge on the utility curve.
        by: Where the points of the curve stand, one of BY.
        lines: Which lines of the curve are in colour, one of LINES.
        measure: The measure of privacy that points stand by, one of `kinds.OFFERED`.
    """

    dataset: str
    values: Mapping[str, Value]
    repeats: int
    budget: float
    method: str
    gauge: str
    by: str
    lines: str = FEW_LINES
    measure: str = kinds.BUDGET

    def moved(self, values: Mapping[str, Value]) -> "Chosen":
        """The same with other values of some knobs."""
        return replace(self, values={**self.values, **values})

    @property
    def focus(self) -> dict[str, float]:
        """The budget under the slider as jobs are asked for: its replicas go first."""
        return {BUDGET: self.budget}


def read(prefix: str, offers: Offers) -> Chosen:
    """What the widgets say, or will say once they are drawn: from the session or the address."""
    return said(offers, lambda offer: address.value(prefix, offer))


def untouched(offers: Offers) -> Chosen:
    """What the widgets say while nobody has touched them."""
    return said(offers, lambda offer: offer.value(offer.default))


def said(offers: Offers, say: Callable[[Offer], Value]) -> Chosen:
    """What the widgets say, one by one."""
    values = {field: say(offer) for field, offer in offers.knobs.items()}
    budget = float(values.pop(BUDGET))
    names = ("dataset", "method", "gauge", "by", "lines", "measure")
    texts = {name: str(say(getattr(offers, name))) for name in names}
    return Chosen(values=values, repeats=int(say(offers.repeats)), budget=budget, **texts)


def tables(paper: Paper[Any]) -> tuple[str, ...]:
    """The tables of this session that a paper takes; one that cannot be read is left out."""
    kept: list[str] = []
    for name in own.names() if paper.own else ():
        if not visitors.knows(name):
            continue
        with suppress(ExplorerError):
            if paper.takes(own.card(name)):
                kept.append(name)
    return tuple(kept)


def one_step(offers: Offers, chosen: Chosen, fields: Iterable[str]) -> Iterator[Chosen]:
    """What the widgets say after one step of each of these knobs, to each side."""
    for field in fields:
        for value in offers.knobs[field].neighbours(chosen.values[field]):
            yield chosen.moved({field: value})


def measures(paper: Paper[Any]) -> dict[str, Gauge]:
    """The gauges that all methods share which have the paper's own."""
    kinds = [known for entry in paper.methods if paper.gauge in (known := gauges(entry.info))]
    return {name: gauge for name, gauge in kinds[0].items() if all(name in kind for kind in kinds)}


def jobs(
    paper: Paper[Any], chosen: Chosen, budgets: tuple[Value, ...], slow: tuple[str, ...] = (),
    quick: tuple[str, ...] = (), usual: Mapping[str, Value] | None = None,
) -> dict[str, Job]:  # fmt: skip
    """One job per method: the whole grid of budgets, as often as asked.

    Args:
        paper: The paper.
        chosen: What the page's widgets say.
        budgets: The grid.
        slow: Methods that are repeated FEW times at most.
        quick: Methods that are repeated OFTEN times as often, and QUICK times at least: their
            repetitions cost little.
        usual: Every knob as the page opens, but for those whose stops ship. With more steps than
            by these a quick method is repeated less often, so that a page is whole as soon.

    Raises:
        SpecError: Settings that contradict each other.
    """

    def seeds(entry: Entry[Any]) -> range:
        seeded = paper.seeds_split or paper.seeds_start
        if entry.role == "reference" and BUDGET not in entry.uses and not seeded:
            return range(1)
        if entry.name in quick:
            most = max(QUICK, OFTEN * chosen.repeats)
            part = 1.0 if usual is None else _part(asked(entry, usual), asked(entry, chosen.values))
            return range(max(chosen.repeats, math.ceil(most * part)))
        return range(min(chosen.repeats, FEW) if entry.name in slow else chosen.repeats)

    def asked(entry: Entry[Any], values: Mapping[str, Value], seeds: range = range(1)) -> Job:
        return request(paper.slug, entry.name, chosen.dataset, values, {BUDGET: budgets}, seeds)

    return {entry.name: asked(entry, chosen.values, seeds(entry)) for entry in paper.methods}


def _part(usual: Job, now: Job) -> float:
    """How many steps a run usually has, over those that it has now; 1 at most."""
    records = data_catalog.card(now.dataset).records
    before, after = (one.entry().steps(one.spec(), records) for one in (usual, now))
    return min(1.0, before / max(after, 1))
