"""`confirm`: whether today's code gives the numbers that ship.

After a change of code that changes no number, what ships is of an earlier version by its digest
of sources. This command computes the cheapest part of each item again, compares it to the last
digit, and marks the item as of today's sources only then.
"""

import argparse
import math
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

from datasets import catalog as data_catalog
from engine.catalog import catalog, paper
from engine.cli import again
from engine.cli.shared import show_json, show_table
from engine.core.errors import ExplorerError, RequestError
from engine.privacy.guarantee import Guarantee
from engine.runs import audits, met, reference, shipped
from engine.runs.attacks import R, Shelf
from engine.runs.changes import sources
from engine.runs.exhibit import exhibits
from engine.runs.job import Job

if TYPE_CHECKING:
    from engine.audit.training import Setting

SAME, WRITTEN, DIFFERS, UNKNOWN, STALE = (
    "of today", "confirmed", "differs", "not compared", "of an earlier version",
)  # fmt: skip
KINDS = ("runs", "exhibits", "audits", "met")
Check = Callable[[float], str]
"""Compares an item until a time of `time.monotonic`, and says what was compared."""


@dataclass(frozen=True)
class Item:
    """Something that ships with the sources that computed it.

    Attributes:
        kind: One of `KINDS`.
        slug: Of the paper.
        name: Of the item within its kind.
        methods: The paper's methods that it comes from.
        today: Whether today's sources computed it.
        check: Computes part of it again.
        mark: Writes today's digest.
    """

    kind: str
    slug: str
    name: str
    methods: frozenset[str]
    today: bool
    check: Check
    mark: Callable[[], object]


def confirm(arguments: argparse.Namespace) -> int:
    """Compares what ships with today's code; 1 where something differs or was not compared."""
    if not 0.0 < arguments.seconds < math.inf:
        raise RequestError(f"seconds: expected a number above 0, got {arguments.seconds}")
    if arguments.paper:
        paper(arguments.paper)
    found = []
    for item in _items(arguments):
        if arguments.item not in (None, item.name, *item.methods):
            continue
        outcome, words = _outcome(item, arguments)
        found.append((item, outcome, words))
        if not arguments.json:
            print(f"{item.kind} {item.slug} {item.name}: {outcome} {words}".rstrip(), flush=True)
    if arguments.json:
        keys = ("kind", "paper", "name", "outcome", "words")
        rows = [(i.kind, i.slug, i.name, outcome, words) for i, outcome, words in found]
        show_json({"items": [dict(zip(keys, row, strict=True)) for row in rows]})
    else:
        counts = Counter(outcome for _, outcome, _ in found)
        show_table("What ships", ("outcome", "items"), counts.items())
    return int(any(outcome in (DIFFERS, UNKNOWN, STALE) for _, outcome, _ in found))


def _outcome(item: Item, arguments: argparse.Namespace) -> tuple[str, str]:
    """What became of an item, in a word, and the reason."""
    if item.today and not arguments.force:
        return SAME, ""
    if arguments.dry_run:
        return (SAME if item.today else STALE), ""
    began = time.monotonic()
    try:
        words = item.check(began + arguments.seconds)
    except again.DifferenceError as error:
        return DIFFERS, str(error)
    except ExplorerError as error:
        return UNKNOWN, str(error)
    if not item.today:
        item.mark()
    return WRITTEN, f"({words}, {time.monotonic() - began:.1f} s)"


def _items(arguments: argparse.Namespace) -> Iterator[Item]:
    """What is asked for of all that ships."""
    slugs = [arguments.paper] if arguments.paper else list(catalog())
    kinds = [arguments.only] if arguments.only else KINDS
    if "runs" in kinds:
        ships = [ship for ship in shipped.index(shipped.FOLDER).values() if ship.job.paper in slugs]
        yield from (_run(ship.job.id, ship) for ship in ships if ship.held is None)
        yield from _moves(ships)
    for slug in slugs if "exhibits" in kinds else ():
        for name in exhibits(slug):
            if (exhibit := _exhibit(slug, name)) is not None:
                yield exhibit
    yield from _attacks("audits", audits.KEPT, _check_attack, slugs) if "audits" in kinds else ()
    yield from _attacks("met", met.KEPT, _check_meeting, slugs) if "met" in kinds else ()


def _run(run: str, ship: shipped.Shipped) -> Item:
    job, digest = ship.job, sources(ship.job)
    return Item(
        "runs", job.paper, run, frozenset({job.method}), ship.origin.sources == digest,
        lambda until: again.check_run(ship, until), lambda: shipped.mark([ship], {run: digest}),
    )  # fmt: skip


def _moves(ships: list[shipped.Shipped]) -> Iterator[Item]:
    """The coarse curves of each method: that of the quickest stands for all."""
    by_method: dict[tuple[str, str], list[shipped.Shipped]] = {}
    for ship in ships:
        if ship.held is not None:
            by_method.setdefault((ship.job.paper, ship.job.method), []).append(ship)
    for (slug, method), some in by_method.items():
        one = min(some, key=lambda ship: ship.origin.seconds)
        digests = {ship.job.id: sources(ship.job) for ship in some}
        yield Item(
            "runs", slug, f"{one.job.id} for {len(some)} coarse curves", frozenset({method}),
            all(ship.origin.sources == digests[ship.job.id] for ship in some),
            partial(again.check_run, one), partial(shipped.mark, some, digests),
        )  # fmt: skip


def _exhibit(slug: str, name: str) -> Item | None:
    """An exhibit that ships and has something to run."""
    exhibit, kept = exhibits(slug)[name], reference.load(slug, name)
    jobs = exhibit.jobs(True)
    if kept is None or not jobs:
        return None
    digest = sources(*jobs.values())
    return Item(
        "exhibits", slug, name, frozenset(job.method for job in jobs.values()),
        kept.sources == digest,
        lambda until: again.check_exhibit(exhibit, kept, until),
        lambda: reference.mark(slug, name, digest),
    )  # fmt: skip


def _attacks(kind: str, shelf: Shelf[R], check: Callable[[R], str], slugs: list[str]) -> list[Item]:
    """The attacks of a file."""

    def item(row: R) -> Item:
        return Item(
            kind, row.paper, row.run, frozenset({row.method}), not row.outdated,
            lambda until: check(row), lambda: shelf.put(replace(row, sources=row.today)),
        )  # fmt: skip

    return [item(row) for row in shelf.rows() if row.paper in slugs]


def _check_attack(row: audits.Row) -> str:
    """Computes the card and the first trainings of an attack again.

    Raises:
        DifferenceError: The setting has gone, or one of the numbers is another.
        UncheckedError: The row has no numbers to compare with.
    """
    job = asked(row)
    card = guarantee(job)
    promised = tuple(_rounded(v) for v in (card.epsilon_claimed, card.epsilon_proved, card.delta))
    shown = (row.epsilon_claimed, row.epsilon_proved, row.delta)
    if promised != shown:
        raise again.DifferenceError(f"expected ε claimed, ε proved and δ {shown}, got {promised}")
    if row.reason:
        return "the card; nobody attacked"
    scores = _same(row, again.first_scores(setting(job), card))
    return f"the card and {scores} scores"


def _check_meeting(row: met.Meeting) -> str:
    """Computes again what the first trainings of an attack on the published model publish.

    Raises:
        DifferenceError: The setting has gone, or one of the numbers is another.
        UncheckedError: The row has no numbers to compare with.
    """
    job = asked(row)
    card, arrays = guarantee(job), paper(job.paper).arrays
    if row.delta != _rounded(card.delta):
        raise again.DifferenceError(f"expected δ {row.delta}, got {card.delta}")
    data = data_catalog.load(job.dataset)
    return f"{_same(row, again.first_published(setting(job), data, arrays, card.delta))} numbers"


def asked(row: audits.Row | met.Meeting) -> Job:
    """The job of a shipped attack.

    Raises:
        DifferenceError: Its setting has gone.
    """
    job = next((job for job, _ in audits.asked(row.budget) if audits.name(job) == row.run), None)
    if job is None:
        raise again.DifferenceError(f"expected a setting named {row.run}, got none today")
    return job


def _same(row: audits.Row | met.Meeting, numbers: list[float]) -> int:
    """How many numbers were compared with those kept with an attack; all are the same."""
    if not row.first:
        raise again.UncheckedError("no numbers were kept with it: compute it with `--write`")
    if numbers != list(row.first):
        raise again.DifferenceError(f"expected {list(row.first)}, got {numbers}")
    return len(numbers)


def _rounded(value: float | None) -> float | None:
    """A number as the file of attacks holds it."""
    return None if value is None else float(f"{value:.6g}")


def guarantee(job: Job) -> Guarantee:
    """The card of the method that a job attacks."""
    card = data_catalog.card(job.dataset)
    return paper(job.paper).entry(job.method).guarantee(job.spec(), card.records, card.record)


def setting(job: Job) -> "Setting":
    """What a job attacks."""
    from engine.audit.training import Setting
    from engine.service.job_runner import set_threads

    set_threads()
    entry = paper(job.paper).entry(job.method)
    return Setting.of(entry, job.spec(), data_catalog.load(job.dataset))
