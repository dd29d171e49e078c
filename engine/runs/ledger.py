"""What the releases from a table of one's own have cost, kept beside it, and the owner's limit.

A release is entered before its noise is drawn. A process that is killed in between leaves the
entry, so that no spent budget is forgotten; at worst one that was not spent is counted.

A run that is looked at, on a page or by `run`, is entered too when its price is known. The person
who looks has the records anyway, so looks are summed apart and no limit stops them. But what is
chosen by looks costs as much as they do, unless it is chosen by `engine.runs.selecting`.
"""

import dataclasses
import hashlib
import json
import math
import secrets
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from datasets import catalog, own, own_store
from engine.catalog import paper
from engine.core import files, stored
from engine.core.errors import BudgetError, RequestError, StoreError
from engine.core.home import private_folder, private_opener
from engine.privacy.composing import NAMES, WAYS, PricedPart, Way, order, together
from engine.privacy.guarantee import Guarantee, Relation
from engine.runs.events import Spent
from engine.runs.job import Job

ENDING, LOCK = ".ledger", ".lock"
"""Endings of a ledger, and of the file that one process at a time holds to change it."""
CHECK, EARLIER = "check", {"table", "entries", "limit"}
"""The field of the checksum, and the fields of a ledger of an earlier version, which has none."""
LEAST = 1e-3
"""No setting asks for less ε: with less left, nothing more can be released."""
LARGEST = 700.0
"""The largest ε of which exp(ε) is a number."""
LEAST_PRIVATE = 1e12
"""What stands in a curve where an order proves nothing."""


@dataclass(frozen=True)
class LedgerEntry:
    """One release, or one run that was looked at.

    Attributes:
        epsilon: What is proved of it, in nats.
        delta: The additive term of (ε, δ)-privacy.
        relation: Which data sets are neighbours.
        paper: Slug of the paper.
        method: Name of the method within the paper.
        time: When it was entered, in UTC (ISO 8601).
        look: The run that was looked at; empty for a release.
        said: What was answered, in words; empty for most.
        curve: Its Rényi curve (`engine.privacy.composing.PricedPart`); empty where it is unknown.
        precision: 1/s^2 of Gaussian releases alone; 0 for others.
        fixed: Whether the price was known before the release; what a search costs is not.
        key: Drawn for this entry, so that a search lowers its own and no other that began in the
            same second.
    """

    epsilon: float
    delta: float
    relation: Relation
    paper: str
    method: str
    time: str
    look: str = ""
    said: str = ""
    curve: tuple[float, ...] = ()
    precision: float = 0.0
    fixed: bool = True
    key: str = ""


@dataclass(frozen=True)
class Price:
    """An ε, a δ and the relation for which they hold.

    Attributes:
        epsilon: In nats.
        delta: The additive term of (ε, δ)-privacy.
        relation: Which data sets are neighbours; None of nothing.
        how: By which way of adding up.
        ways: ε by each way that says something, at that δ or a smaller one.
    """

    epsilon: float
    delta: float
    relation: Relation | None
    how: Way = "basic"
    ways: Mapping[Way, float] = field(default_factory=dict)


@dataclass(frozen=True)
class Limit:
    """What all releases together may cost.

    Attributes:
        epsilon: In nats.
        delta: The additive term of (ε, δ)-privacy; None leaves it open.
        by: How they are added up (`engine.privacy.composing`). It is said beforehand, since the
            best of several ways would not hold where prices depend on earlier results.
    """

    epsilon: float
    delta: float | None = None
    by: Way = "basic"


@dataclass(frozen=True)
class TableLedger:
    """The releases from one table, oldest first, and the owner's limit."""

    table: str
    entries: tuple[LedgerEntry, ...] = ()
    limit: Limit | None = None

    @property
    def releases(self) -> tuple[LedgerEntry, ...]:
        """What was published."""
        return tuple(entry for entry in self.entries if not entry.look)

    @property
    def looks(self) -> tuple[LedgerEntry, ...]:
        """What was only looked at."""
        return tuple(entry for entry in self.entries if entry.look)

    @property
    def reached(self) -> bool:
        """Whether nothing more can be released, not even at the least ε."""
        if self.limit is None:
            return False
        relation = total(self.releases).relation or "replace_one"
        curves = [(), _pure(LEAST)] if self.limit.by == "accountant" else [()]
        least = (LedgerEntry(LEAST, 0.0, relation, "", "", "", curve=curve) for curve in curves)
        more = (dataclasses.replace(self, entries=(*self.entries, one)) for one in least)
        return all(_exceeds(_counted(one, self.limit), self.limit) for one in more)

    @property
    def counted(self) -> Price | None:
        """What counts under the limit: the sum by the way that it names; None without a limit."""
        return None if self.limit is None else _counted(self, self.limit)

    def json(self) -> dict[str, Any]:
        """The ledger as JSON values, with the sums of its releases and of its looks."""
        looks, whole = total(self.looks), composed(self.releases, self.limit)
        sums = {**_plain(whole), "how": whole.how, "ways": dict(whole.ways)}
        entries = [
            {
                name: value
                for name, value in dataclasses.asdict(one).items()
                if name not in ("curve", "key")
            }
            for one in self.entries
        ]
        return {
            **dataclasses.asdict(self),
            "entries": entries,
            "sum": {**sums, "looks": _plain(looks), "reached": self.reached},
        }


def _plain(price: Price) -> dict[str, Any]:
    return {name: getattr(price, name) for name in ("epsilon", "delta", "relation")}


def composed(entries: Sequence[LedgerEntry], limit: Limit | None = None) -> Price:
    """What some releases cost together, by the way of adding up that gives the smallest ε.

    It holds where the prices were fixed beforehand. Under a limit they may depend on earlier
    results: then what counts is the way that the limit names.

    Guarantees:
        Each way is `engine.privacy.composing`'s, at the sum of the releases' δ, or the limit's
        where that is larger. Releases with different relations are added up as in `total`.

    Args:
        entries: The releases.
        limit: The owner's, of which δ counts here.
    """
    basic, parts = total(entries), _parts(entries)
    delta = max(basic.delta, (limit.delta if limit else None) or 0.0)
    if len(entries) < 2 or not 0.0 < delta < 1.0:
        return dataclasses.replace(basic, ways={"basic": basic.epsilon})
    found = {way: together(parts, delta, way) for way in WAYS}
    ways = {way: epsilon for way, epsilon in found.items() if math.isfinite(epsilon)}
    how = min(ways, key=lambda way: ways[way])
    lost = basic.delta if how == "basic" else delta
    return Price(ways[how], lost, basic.relation, how, ways)


def _parts(entries: Sequence[LedgerEntry]) -> list[PricedPart]:
    """The prices of entries for one relation; a curve holds for its own alone."""
    if len({entry.relation for entry in entries}) > 1:
        return [PricedPart(*_replacing(one), fixed=one.fixed) for one in entries]
    return [
        PricedPart(one.epsilon, one.delta, one.curve, one.precision, one.fixed) for one in entries
    ]


def _counted(ledger: TableLedger, limit: Limit) -> Price:
    """What all releases cost by the way of adding up that the limit names.

    Guarantees:
        Prices may depend on earlier results only where nothing of the filter does (Whitehouse et
        al. 2023; Feldman and Zrnic 2021). So the limit's δ is split beforehand: one half is for the
        sum of the releases' own δ, the other for adding up. Both halves grow where the first is
        too small, so that δ is above the limit then.
    """
    price = total(ledger.releases)
    if limit.by == "basic" or not price.epsilon:
        return price
    delta = limit.delta or 0.0
    parts, half = _parts(ledger.releases), 0.5 * delta
    known = limit.by == "accountant"  # a curve holds without the release's own δ
    lost = math.fsum(part.delta for part in parts if not (known and part.curve))
    rest = [dataclasses.replace(part, delta=0.0) for part in parts]
    if limit.by == "advanced" and not all(part.fixed for part in rest):
        epsilon = _mixed(rest, half, limit.epsilon)
    else:
        epsilon = together(rest, half, limit.by, order(limit.epsilon, delta) if known else None)
    return Price(epsilon, min(1.0, 2.0 * max(half, lost)), price.relation, limit.by)


def _mixed(parts: Sequence[PricedPart], delta: float, limit: float) -> float:
    r"""ε of fixed prices and of prices found ex post, by advanced composition under a limit.

    Guarantees:
        The bound of advanced composition is the smallest of
        \tfrac{\lambda}{2}\sum\varepsilon_i^2 + \ln(1/\delta)/(\lambda - 1) over \lambda. Which
        one it is follows from the sum, and what the ex-post prices leave for the sum is known only
        as they come. So the one is taken at which fixed prices alone reach the limit, as in
        `composing.order`: at one \lambda the bound holds whenever the releases stop (Whitehouse et
        al. 2023), and the worst of the ex-post prices may be added. Without them it reaches the
        limit at the same sum as the smallest bound.
    """
    apart = math.fsum(part.epsilon for part in parts if not part.fixed)
    squares = math.fsum(part.epsilon**2 for part in parts if part.fixed)
    if not squares:
        return apart
    log = math.log(1.0 / delta)
    more = math.sqrt(log) / (math.sqrt(log + limit) - math.sqrt(log))
    return apart + 0.5 * (1.0 + more) * squares + log / more


def _exceeds(price: Price, limit: Limit) -> bool:
    """Whether a price is above a limit, or bounds nothing."""
    most = 1.0 if limit.delta is None else limit.delta
    return price.epsilon > limit.epsilon or price.delta > most or price.delta >= 1.0


def _pure(epsilon: float) -> tuple[float, ...]:
    """The Rényi curve of a release that is ε-private with δ = 0."""
    from engine.privacy.pure import PureDp  # takes a second to load
    from engine.privacy.selection import rdp

    return tuple(rdp(PureDp(epsilon), "replace_one").tolist())


def total(entries: Sequence[LedgerEntry]) -> Price:
    """What some releases cost together.

    Guarantees:
        Releases that are each (ε, δ)-private for the same relation are together private with the
        sums of ε and of δ, also if a later one was chosen after an earlier one was seen (Dwork and
        Roth 2014, Theorem B.1). Under different relations all are priced for replacing one record,
        which is two steps of leaving out or adding one: (2ε, δ(1 + exp(ε))) (Vadhan 2017,
        Lemma 2.2).
    """
    relations = {entry.relation for entry in entries}
    mixed = len(relations) > 1
    relation: Relation | None = "replace_one" if mixed else next(iter(relations), None)
    pairs = [_replacing(one) if mixed else (one.epsilon, one.delta) for one in entries]
    epsilon = math.fsum(pair[0] for pair in pairs)
    return Price(epsilon, min(1.0, math.fsum(pair[1] for pair in pairs)), relation)


def _replacing(entry: LedgerEntry) -> tuple[float, float]:
    if entry.relation == "replace_one":
        return entry.epsilon, entry.delta
    return 2.0 * entry.epsilon, entry.delta * (1.0 + math.exp(min(entry.epsilon, LARGEST)))


def read(table: str) -> TableLedger:
    """The ledger of a table, also after the table is gone.

    Raises:
        RequestError: It is no table of one's own, or there is neither a table nor a ledger.
        StoreError: The ledger is damaged.
    """
    where = _place(table)
    try:
        return _understood(table, stored.parsed(where.read_bytes()))
    except FileNotFoundError:
        if table in own.names():
            return TableLedger(table)
        raise RequestError(
            f"table: expected a table that is kept here, or was, got {table!r}"
        ) from None
    except (OSError, ValueError, TypeError, KeyError) as error:
        raise StoreError(
            f"{where}: expected the ledger of {table}, got a file that cannot be read: "
            "what was spent is not known, so nothing more is released from this table"
        ) from error


def _place(table: str) -> Path:
    if not own.mine(table):
        raise RequestError(f"table: expected a table of your own, got {table!r}")
    return (own_store.folder() / table).with_suffix(ENDING)


def _understood(table: str, body: Any) -> TableLedger:
    """A ledger from JSON.

    Raises:
        ValueError, TypeError, KeyError: It is none.
    """
    values = {name: value for name, value in dict(body).items() if name != CHECK}
    if dict(body).keys() != EARLIER and body[CHECK] != _digest(values):
        raise ValueError("a checksum that does not fit")
    ledger = stored.read(TableLedger, values)
    prices = [(entry.epsilon, entry.delta) for entry in ledger.entries]
    prices += [(ledger.limit.epsilon, ledger.limit.delta or 0.0)] if ledger.limit else []
    if not all(epsilon >= 0.0 and 0.0 <= delta <= 1.0 for epsilon, delta in prices):
        raise ValueError("no price")
    if ledger.table != table:
        raise ValueError("another table")
    return ledger


def priced(job: Job, card: Guarantee) -> tuple[tuple[float, ...], float]:
    """The Rényi curve of a release that is made once, and its precision, as an entry has them.

    Empty and 0 where nothing is known, and where a person has several rows or noise is drawn on
    whole numbers: then the card is not that of the releases' event alone.
    """
    if not own.mine(job.dataset) or card.exact or catalog.card(job.dataset).rows > 1:
        return (), 0.0
    from engine.privacy import gaussian, selection  # takes a second to load

    entry, spec, records = job.entry(), job.batch().spec, catalog.card(job.dataset).records
    event = entry.cost(spec, records, entry.steps(spec, records))
    try:
        curve = selection.rdp(event, card.relation)
    except BudgetError:
        return (), 0.0
    finite = tuple(min(float(at), LEAST_PRIVATE) for at in curve)
    return finite, gaussian.precision(event) or 0.0


def enter(table: str, paper: str, method: str, card: Guarantee, **more: Any) -> LedgerEntry | None:
    """Enters a release from a table of one's own, before its noise is drawn; no other is entered.

    Args:
        table: Whose ledger.
        paper: Slug of the paper, or what the ledger says in its place.
        method: Name of the method.
        card: Its card, which is proved.
        more: What else is known of it (`LedgerEntry`).

    Returns:
        The entry; None where there is no ledger.

    Raises:
        RequestError: It would pass the limit; then nothing is entered.
        StoreError: The ledger is damaged or cannot be written; then nothing may be drawn.
    """
    if not own.mine(table):
        return None
    assert card.epsilon_proved is not None
    now = datetime.now(UTC).isoformat(timespec="seconds")
    price = (card.epsilon_proved, card.delta, card.relation)
    new = LedgerEntry(*price, paper, method, now, **more, key=secrets.token_hex(8))
    with _alone(table):
        ledger = read(table)
        ledger = dataclasses.replace(ledger, entries=(*ledger.entries, new))
        _check(ledger)
        _write(ledger)
    return new


def settle(table: str, entry: LedgerEntry, epsilon: float, said: str) -> None:
    """Lowers an entry to what a search has cost, ex post, once it has stopped (`searching`).

    What it may cost at most was entered before it began, so a search that is killed counts for
    that. An entry that is settled already stays as it is.

    Args:
        table: Whose ledger.
        entry: As `enter` returned it.
        epsilon: What it has cost, at most what was entered.
        said: What it answered, in words.

    Raises:
        StoreError: The ledger is damaged or cannot be written; then the entry stays.
    """
    assert epsilon <= entry.epsilon
    with _alone(table):
        ledger = read(table)
        if entry in ledger.entries:
            entries = list(ledger.entries)
            entries[entries.index(entry)] = dataclasses.replace(entry, epsilon=epsilon, said=said)
            _write(dataclasses.replace(ledger, entries=tuple(entries)))


def look(job: Job, spent: Spent) -> None:
    """Enters what some replicas of a run would cost, if it is of a table of one's own.

    A run draws the same noise whenever it is run again, so its replicas are entered once.

    Args:
        job: The run.
        spent: What they cost; those of which nothing is proved are left out.

    Raises:
        StoreError: The ledger is damaged or cannot be written.
    """
    pairs = zip(spent.epsilon, spent.delta, strict=True)
    priced = [(e, d) for e, d in pairs if e is not None and math.isfinite(e)]
    if not own.mine(job.dataset) or job.audit or not priced:
        return
    name = f"{job.id}/{spent.replicas[0]}"
    now = datetime.now(UTC).isoformat(timespec="seconds")
    epsilon, delta = math.fsum(e for e, _ in priced), min(1.0, math.fsum(d for _, d in priced))
    relation = paper(job.paper).relation
    with _alone(job.dataset):
        ledger = read(job.dataset)
        if all(entry.look != name for entry in ledger.looks):
            new = LedgerEntry(epsilon, delta, relation, job.paper, job.method, now, name)
            _write(dataclasses.replace(ledger, entries=(*ledger.entries, new)))


def _check(ledger: TableLedger) -> None:
    """Stops a release that would pass the limit."""
    limit = ledger.limit
    if limit is None:
        return
    price = _counted(ledger, limit)
    if _exceeds(price, limit):
        asked = "" if limit.delta is None else f" and δ {limit.delta:g}"
        raise RequestError(
            f"release: expected all releases from {ledger.table} to cost at most ε "
            f"{limit.epsilon:g}{asked}, got ε {price.epsilon:.6g} and δ {price.delta:.3g} with "
            f"this one, counted by {NAMES[limit.by]} as the limit says: nothing was drawn"
        )


def set_limit(table: str, limit: Limit) -> TableLedger:
    """Sets what all releases from a table may cost; what is spent already stays.

    Raises:
        RequestError: ε is not positive and finite, δ is not in [0, 1), or there is no such table.
        StoreError: The ledger is damaged or cannot be written.
    """
    if not 0.0 < limit.epsilon < math.inf:
        raise RequestError(f"limit-epsilon: expected a positive number, got {limit.epsilon:g}")
    if limit.delta is not None and not 0.0 <= limit.delta < 1.0:
        raise RequestError(f"limit-delta: expected a number from 0 to below 1, got {limit.delta:g}")
    if limit.by != "basic" and not limit.delta:
        raise RequestError(f"limit-by: expected --limit-delta above 0 with {limit.by}, got none")
    read(table)  # before a file is made for a table that there is not
    with _alone(table):
        ledger = dataclasses.replace(read(table), limit=limit)
        _write(ledger)
    return ledger


def _write(ledger: TableLedger) -> None:
    body = json.loads(json.dumps(dataclasses.asdict(ledger)))
    text = json.dumps({**body, CHECK: _digest(body)}, indent=1)
    files.write(_place(ledger.table), text.encode())


def _digest(body: dict[str, Any]) -> str:
    """A checksum of a ledger's values: a changed digit is another price."""
    return hashlib.sha256(json.dumps(body, sort_keys=True).encode()).hexdigest()


@contextmanager
def _alone(table: str) -> Iterator[None]:
    """Waits until no other process changes a ledger; the lock ends with the process."""
    try:
        private_folder(own_store.folder())
        with open(_place(table).with_suffix(LOCK), "wb", opener=private_opener) as file:
            try:
                import fcntl

                fcntl.flock(file, fcntl.LOCK_EX)
            except ImportError:  # Windows has another kind of lock
                pass
            yield
    except OSError as error:
        said = error.strerror or str(error)
        raise StoreError(f"ledger of {table}: expected a file to write, got: {said}") from None
