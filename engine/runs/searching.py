"""An accuracy-first search: one private method at rising ε, until its result is good enough.

Each level takes some of the noise of the one before away, so that stopping at a level costs about
what that level costs alone, not the sum of all (`engine.privacy.expost`). Whether a result is good
enough is read off the release itself, or asked of the records with noise, which is paid too.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from datasets.base import Card, Table
from engine.catalog import paper
from engine.core.errors import RequestError
from engine.core.spec import Value
from engine.method import Arrays
from engine.privacy import expost, gaussian, refining
from engine.privacy.guarantee import Guarantee
from engine.privacy.mechanisms import Gaussian
from engine.privacy.noise import release as noisy
from engine.privacy.secret import Secret
from engine.runs import estimates
from engine.runs.job import Job, all_used
from engine.runs.release import ReleaseError, checked, release
from engine.runs.selecting import asked, judge, judgeable, overall, summed

SHARE = 0.2
r"""Part of each level's added 1/\sigma^2 that its check gets, where records are asked."""
SURE = 1.645
"""Deviations of a check's noise by which the target must be passed: 95 % on one side."""
MOST = 50
"""Levels at most."""
BY = "ex-post bound of refined Gaussian noise (Whitehouse et al. 2022; Ligett et al. 2017)"
WAYS = {
    "score": "Each record counts from 0 to 1, by how well the model describes it. Their mean is "
    "read with noise at each level, and its lower 95 % limit must reach the target.",
    "width": "The width of the published 95 % interval is read off each release, which costs no "
    "privacy. An interval that ended the search by being narrow holds the truth a little less "
    "often than 95 %.",
}
"""How it is decided whether a result is good enough."""


@dataclass(frozen=True)
class Aim:
    """What is good enough.

    Attributes:
        by: `score`: the mean of what the paper's `judge` gives each record, at least `value`;
            `width`: the interval of the first estimate (`estimates.others`), at most `value` wide.
        value: The target.
    """

    by: Literal["score", "width"]
    value: float


@dataclass(frozen=True)
class Level:
    """One release of a search.

    Attributes:
        job: The request, whose own ε is that of its noise.
        check: Noise of the sum that is asked of the records; None where nothing is.
        epsilon: What the whole search has cost if it stops here, ex post.
        alone: The same noise at ε as one release that was decided on beforehand.
    """

    job: Job
    check: Gaussian | None
    epsilon: float
    alone: float


@dataclass(frozen=True)
class Search:
    """A search that is priced and not made yet.

    Attributes:
        levels: From the most noise to the least.
        aim: When it stops.
        delta: Probability with which the ex-post ε may fail.
        card: Of the search before it is made: it costs at most what its last level does.
    """

    levels: tuple[Level, ...]
    aim: Aim
    delta: float
    card: Guarantee

    def after(self, reached: int) -> Guarantee:
        """The card of a search that has stopped at a level, counted from 0."""
        level, last = self.levels[reached], self.levels[-1]
        more = (
            f"It stopped at level {reached + 1} of {len(self.levels)}. ε = {level.epsilon:.4g} is "
            f"the price ex post: before it began, up to ε = {last.epsilon:.4g} was promised.",
        )
        return replace(self.card, epsilon_proved=level.epsilon, reasons=(*more, *self.card.reasons))


@dataclass(frozen=True)
class Found:
    """What a search has published.

    Attributes:
        reached: The level where it stopped, counted from 0.
        met: Whether the result is good enough there.
        told: What was compared with the target at each level so far; None where there was nothing.
        arrays: What the last level released.
    """

    reached: int
    met: bool
    told: tuple[float | None, ...]
    arrays: Arrays


def plan(
    slug: str, method: str, data: Card, values: dict[str, Value], budgets: Sequence[float], aim: Aim
) -> Search:
    """Prices a search.

    Guarantees:
        `engine.privacy.expost`: a level's releases have the precision of all releases of its
        method so far, and each check adds its own. A check is a sum of numbers from 0 to 1, one
        for each record, of that record and the release alone: one record that is replaced changes
        it by at most 1. How it depends on the release is why the bound allows for sensitivities
        that do.

    Args:
        slug: The paper.
        method: The method.
        data: The data set.
        values: Settings; `delta` is that of the whole search, and ε is none of them.
        budgets: What the search may cost if it stops at each level, ex post, in nats.
        aim: When it stops.

    Raises:
        RequestError: A method whose noise cannot be reduced, or settings that do not fit.
        BudgetError: A budget that is not a positive number.
    """
    publication = paper(slug)
    entry = publication.entry(method)
    _fits(method, data, budgets, aim)
    if aim.by == "score":
        judgeable(slug, [method])
    if not entry.refines:
        able = ", ".join(one.name for one in publication.methods if one.refines) or "none"
        raise RequestError(
            f"method: expected one whose noise can be reduced ({able}), got {method}"
        )
    all_used(slug, [method], values)
    delta = overall(publication, "delta", values, data)
    fails, made, checks, before = delta / len(set(budgets)), list[Level](), 0.0, 0.0
    for budget in sorted(set(budgets)):
        whole = expost.precision(budget, fails)
        share = SHARE if aim.by == "score" else 0.0
        check = Gaussian(1.0, (share * (whole - before)) ** -0.5) if share else None
        checks += 0.0 if check is None else check.multiplier**-2.0
        alone = gaussian.epsilon((1.0 - share) * whole, delta)
        job = asked(slug, method, data, {**values, "epsilon": alone})
        spent = _precision(job, data.records) + checks
        made.append(Level(job, check, expost.epsilon(spent, fails), alone))
        before = whole
    cards = [checked(level.job, data) for level in made]
    return Search(tuple(made), aim, delta, _card(cards[-1], made, aim, delta))


def _fits(method: str, data: Card, budgets: Sequence[float], aim: Aim) -> None:
    """Raises `RequestError` where a search is asked for that cannot be."""
    if not 1 <= len(set(budgets)) <= MOST:
        raise RequestError(f"accuracy-first: expected 1 to {MOST} values of ε, got {len(budgets)}")
    if aim.by == "score" and not 0.0 < aim.value < 1.0:
        raise RequestError(f"target: expected a number between 0 and 1, got {aim.value:g}")
    if aim.by == "width" and not aim.value > 0.0:
        raise RequestError(f"width: expected a positive number, got {aim.value:g}")
    if data.rows > 1:
        raise RequestError(f"dataset: expected one record of each person for {method}, got several")


def _precision(job: Job, records: int) -> float:
    r"""\sum 1/m^2 over what a request releases."""
    entry, spec = job.entry(), job.batch().spec
    found = gaussian.precision(entry.cost(spec, records, entry.steps(spec, records)))
    assert found is not None  # what `refines` says
    return found


def _card(last: Guarantee, levels: Sequence[Level], aim: Aim, delta: float) -> Guarantee:
    """What is promised before the search: the price of its last level."""
    prices = ", ".join(f"{level.epsilon:.4g}" for level in levels)
    return replace(
        last,
        mechanism=f"Accuracy-first search: {last.mechanism}, with the noise reduced step by step",
        epsilon_claimed=None,
        epsilon_proved=levels[-1].epsilon,
        delta=delta,
        accountant=BY,
        released=(*last.released, "every level's release and check up to the last"),
        reasons=(
            f"Stopping at a level costs ε = {prices}, whatever it is that stops the search; that "
            f"fails with probability {delta:g} over all levels together.",
            WAYS[aim.by],
            *last.reasons,
        ),
        claim="",
    )


def search(
    made: Search, data: Table, report: Callable[[int, int], None] = lambda done, total: None
) -> Found:
    """Makes a search with secret noise.

    Args:
        made: Its levels and what they cost.
        data: The records.
        report: Told how many levels are done.

    Raises:
        ReleaseError: The method withheld its result at the last level.
        RefiningError: The method is none whose noise can be reduced.
    """
    ladder, rng, told = refining.Ladder(), Secret(), list[float | None]()
    for reached, level in enumerate(made.levels):
        report(reached, len(made.levels))
        try:
            with refining.refining(ladder):
                arrays = release(level.job, data)
        except ReleaseError:  # withheld, which follows from the noisy releases alone: not enough
            if reached + 1 == len(made.levels):
                raise
            told.append(None)
            continue
        if level.check is None:
            width = _width(level.job, data.card, arrays)
            told.append(width)
            met = width is not None and width <= made.aim.value
        else:
            score = _score(level, data, arrays, rng)
            told.append(score)
            met = score - SURE * level.check.scale / len(data) >= made.aim.value
        if met:
            break
    return Found(reached, met, tuple(told), arrays)


def _score(level: Level, data: Table, arrays: Arrays, rng: Secret) -> float:
    """The mean score of the records, with the noise of the level's check."""
    shares = judge(level.job.paper)(level.job.batch().spec, data, arrays)
    rng.refill()
    total = summed(shares)
    assert level.check is not None
    return float(noisy(total, [level.check], rng)[0, 0]) / len(data)


def _width(job: Job, card: Card, arrays: Arrays) -> float | None:
    """How wide the interval of the first estimate is; None without one."""
    found = estimates.others(job, 0, card, arrays, {})
    if not found or found[0].low is None or found[0].high is None:
        return None
    return found[0].high - found[0].low
