"""A private choice: several methods are tried on private records, and the best is published.

A try draws a candidate at random, runs it with secret noise and scores it with secret noise. How
many tries there are is drawn too, and nobody learns it: only the best try is given, with one card
for the whole (`engine.privacy.selection`).
"""

import dataclasses
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pkgutil import resolve_name
from random import SystemRandom
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from datasets.base import Card, Table
from engine.catalog import paper
from engine.core.errors import RequestError
from engine.core.gauges import gauges
from engine.core.spec import Value
from engine.method import Arrays, Paper
from engine.privacy import gaussian, selection
from engine.privacy.guarantee import Guarantee
from engine.privacy.mechanisms import Gaussian
from engine.privacy.noise import release as noisy
from engine.privacy.releases import Release
from engine.privacy.releases import cost as price
from engine.privacy.secret import Secret
from engine.privacy.selection import Event
from engine.runs.job import Job, all_used, request
from engine.runs.release import checked, release

SHARE = 0.2
r"""1/\sigma^2 of a try's score, over that of one release of the method's budget; it is paid too."""
DELTA = 1e-5
"""δ where a paper has no such knob."""
USUAL, MOST = 8.0, 1000.0
"""The least tries on average where nobody says, and the most: of eight, none is made in .0003."""


@dataclass(frozen=True)
class Alternative:
    """What one try may run: a request of one setting, whose ε is that of a try.

    Attributes:
        job: The request.
        score: Noise of the sum that says how good the result is.
    """

    job: Job
    score: Gaussian

    def event(self, records: int) -> Event:
        """What a try costs, its score included."""
        made = self.job.entry().releases(self.job.batch().spec, records)
        return price((*made, Release(self.score, what="score")))


@dataclass(frozen=True)
class Selection:
    """A choice that is priced and not made yet.

    Attributes:
        candidates: What may be tried.
        tries: How often, on average.
        card: Of the whole choice.
        curve: Its Rényi curve, at the orders of `selection.ORDERED`.
    """

    candidates: tuple[Alternative, ...]
    tries: selection.Tries
    card: Guarantee
    curve: tuple[float, ...]


@dataclass(frozen=True)
class Selected:
    """What was published.

    Attributes:
        job: The request whose method and settings won; None where nothing was tried.
        arrays: What its run released.
    """

    job: Job | None
    arrays: Arrays


def plan(
    slug: str,
    methods: Sequence[str],
    data: Card,
    values: dict[str, Value],
    grid: Sequence[dict[str, Value]],
    mean: float | None = None,
) -> Selection:
    """Prices a choice among methods, each at every place of a grid.

    Args:
        slug: The paper.
        methods: Names of the methods.
        data: The data set.
        values: Settings of all; `epsilon` and `delta` are those of the whole choice.
        grid: Settings to choose from, whatever a method does not use left out.
        mean: Tries on average; if None, twice as many as there are candidates, at least `USUAL`.

    Raises:
        RequestError: A method that is unknown, not proved or without ε, a paper whose results
            cannot be judged, or too many tries.
        BudgetError: ε is too small for a choice.
    """
    publication = paper(slug)
    judgeable(slug, methods)
    fields = dict.fromkeys(field for place in (values, *grid) for field in place)
    all_used(slug, methods, [field for field in fields if field not in ("epsilon", "delta")])
    target = overall(publication, "epsilon", values, data)
    delta = overall(publication, "delta", values, data)
    settings = [(name, place) for name in dict.fromkeys(methods) for place in grid or ({},)]

    def at(budget: float) -> tuple[Alternative, ...]:
        whole = {**values, "epsilon": budget}
        jobs = [asked(slug, name, data, {**whole, **place}) for name, place in settings]
        unlike = {job.id: job for job in jobs}.values()
        return tuple(Alternative(job, _score(budget, delta)) for job in unlike)

    first = at(target)
    card = _checked(first, data)
    tries = selection.Tries(max(USUAL, 2.0 * len(first)) if mean is None else mean)
    if not 1.0 <= tries.mean <= MOST:
        raise RequestError(f"tries: expected a number from 1 to {MOST:g}, got {tries.mean:g}")

    def events(budget: float) -> list[Event]:
        return [one.event(data.records) for one in at(budget)]

    budget = selection.calibrate(events, tries, target, delta, card.relation)
    spent = selection.cost(events(budget), tries, delta, card.relation)
    curve = tuple(selection.curve(events(budget), tries, card.relation).tolist())
    return Selection(at(budget), tries, _card(card, at(budget), tries, (spent, delta)), curve)


def overall(publication: Paper[Any], field: str, values: Mapping[str, Value], data: Card) -> float:
    """ε or δ of a whole choice or search, whether or not a method uses it.

    Raises:
        SpecError: It is set to no number, or to one outside of the knob's bounds.
    """
    if field in values:
        return float(publication.spec.read(field, values[field]))
    return float(publication.opens(data.name).get(field, DELTA))


def judgeable(slug: str, methods: Sequence[str]) -> None:
    """Raises `RequestError` where a paper's `judge` cannot tell how good a method's result is.

    It reads what the methods with the paper's main measure release.
    """
    publication = paper(slug)
    if not publication.judge:
        raise RequestError(f"paper: expected one whose results can be judged, got {slug}")
    for name in methods:
        if publication.gauge not in gauges(publication.entry(name).info):
            raise RequestError(f"methods: expected results that can be judged, got {name}")


def _checked(candidates: Sequence[Alternative], data: Card) -> Guarantee:
    """The card of the first candidate, once all are known to be fit for a choice."""
    if not candidates:
        raise RequestError("methods: expected at least one, got none")
    cards = [checked(one.job, data) for one in candidates]
    for one, card in zip(candidates, cards, strict=True):
        if "epsilon" not in one.job.entry().uses:
            raise RequestError(f"methods: expected methods with an ε, got {one.job.method}")
        if (card.relation, card.unit) != (cards[0].relation, cards[0].unit):
            raise RequestError("methods: expected methods that protect alike, got two units")
    if data.rows > 1:
        raise RequestError("dataset: expected one record of each person, got several")
    return cards[0]


def _card(
    first: Guarantee,
    candidates: Sequence[Alternative],
    tries: selection.Tries,
    spent: tuple[float, float],
) -> Guarantee:
    """The card of the whole choice, which costs ε and δ as `spent` says."""
    labels = ", ".join(dict.fromkeys(one.job.entry().label for one in candidates))
    budget, score = float(vars(candidates[0].job.batch().spec)["epsilon"]), candidates[0].score
    return replace(
        first,
        mechanism=f"Private selection among {len(candidates)} candidates: {labels}",
        epsilon_claimed=None,
        epsilon_proved=spent[0],
        delta=spent[1],
        accountant="private selection with a Poisson number of tries (Papernot and Steinke 2022)",
        sampling="",
        released=("which candidate is the best", *first.released),
        reasons=_reasons(tries, budget, len(candidates), score),
        claim="",
    )


def asked(slug: str, method: str, data: Card, values: dict[str, Value]) -> Job:
    """The request of a candidate, without what its method does not use."""
    publication = paper(slug)
    uses = publication.entry(method).uses
    begins = publication.begins(method, data.name)
    opening = {field: begins[field] for field in publication.opening if field in uses}
    used = {field: value for field, value in values.items() if field in uses}
    return request(slug, method, data.name, {**opening, **used}, {}, (0,))


def _score(budget: float, delta: float) -> Gaussian:
    """Noise of a sum that one record moves by at most 1."""
    return Gaussian(1.0, gaussian.multiplier(budget, delta) / math.sqrt(SHARE))


def _reasons(tries: selection.Tries, budget: float, count: int, score: Gaussian) -> tuple[str, ...]:
    return (
        f"Each try draws one of {count} candidates at random, runs it at ε = {budget:.4g} and "
        f"scores it with Gaussian noise of standard deviation {score.scale:.3g}, in records.",
        f"The number of tries is Poisson with mean {tries.mean:g} and stays secret; with a chance "
        f"of {tries.none():.2g} nothing is tried, and nothing is published.",
        "Only the best try is published. The runs that lost, their scores and their number are "
        "thrown away. How long the choice takes depends on the number of tries, so nobody who is "
        "not trusted with the records should time it.",
    )


def choose(
    made: Selection, data: Table, report: Callable[[int, int], None] = lambda done, total: None
) -> Selected:
    """Makes a choice with secret noise.

    Args:
        made: What may be tried, and what it costs.
        data: The records.
        report: Told how much is done, as if as many tries were made as on average.

    Raises:
        ReleaseError: A method withheld its result.
    """
    scores, rng = judge(made.candidates[0].job.paper), Secret()
    coins = SystemRandom()
    best, kept = -math.inf, Selected(None, {})
    count = _poisson(made.tries.mean, coins)
    for tried in range(count):
        report(min(tried, int(made.tries.mean)), int(made.tries.mean) + 1)
        one = coins.choice(made.candidates)
        arrays = release(one.job, data)
        sums = summed(scores(one.job.batch().spec, data, arrays))
        rng.refill()
        score = float(noisy(sums, [one.score], rng)[0, 0])
        if score > best:
            best, kept = score, Selected(one.job, arrays)
    return kept


def judge(slug: str) -> Callable[..., Any]:
    """The function by which a paper judges released arrays (`Paper.judge`)."""
    found: Callable[..., Any] = resolve_name(paper(slug).judge)
    return found


def summed(shares: NDArray[np.float64]) -> Tensor:
    """The sum of the records' shares, each from 0 to 1, shape (R, n), as a column of shape (R, 1).

    Shares are rounded to multiples of 2^-32, so that double precision adds up two million of them
    without rounding: otherwise one record could move a sum by more than 1 in its last bits.
    """
    return torch.from_numpy(np.rint(shares * 2.0**32) / 2.0**32).sum(1, keepdim=True)


def _poisson(mean: float, coins: SystemRandom) -> int:
    """A Poisson number: exponential times until `mean` has passed (Knuth 1969, Section 3.4.1)."""
    passed, count = coins.expovariate(1.0), 0
    while passed < mean:
        passed, count = passed + coins.expovariate(1.0), count + 1
    return count


def settings(job: Job) -> dict[str, Any]:
    """The settings of a request that its method uses."""
    spec = dataclasses.asdict(job.batch().spec)
    return {field: spec[field] for field in job.entry().uses}
