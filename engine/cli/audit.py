"""`audit`: attacks a method and prints claimed, proved and attacked epsilon side by side."""

import argparse
import dataclasses
import math
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from datasets import catalog as data_catalog
from engine.catalog import catalog, paper
from engine.cli import again, functions
from engine.cli.shared import requested, show_json, show_table
from engine.cli.work import failing, progress
from engine.core.errors import ExplorerError, RequestError
from engine.privacy.guarantee import RELATIONS, Guarantee
from engine.runs import audits, changes, met
from engine.runs.attacks import Shelf
from engine.runs.job import Job
from engine.service.job_runner import set_threads

if TYPE_CHECKING:
    from engine.audit.report import Audit
    from engine.audit.runner import Collected
    from engine.audit.training import Setting

SEEN = {"everything": "every release", "published": "what is published alone"}
"""What an attacker sees."""
BIT, BITS = 100, 6
"""Trainings of a shipped attack that run together at most, and in how many such bits the time is
divided: it can stop after each."""
PATIENCE = 4
"""How many times the given seconds an attack goes on that could not show anything yet."""
FEW = (2, 10)
"""Trainings that are timed before, to see how many fit."""
MOST = 1_000_000
"""More trainings than this is taken for a slip of the keyboard."""
MET = {
    "paper": "paper", "method": "method", "budget": "budget", "at least": "epsilon",
    "worst record": "epsilon_worst", "real records": "epsilon_real", "right": "right",
    "of how many": "records", "trainings": "trainings",
}  # fmt: skip
ATTACKS = {
    "paper": "paper", "method": "method", "calibration": "calibration", "budget": "budget",
    "claimed": "epsilon_claimed", "proved": "epsilon_proved", "attacked": "epsilon_attacked",
    "perfect": "epsilon_perfect", "first attacked": "epsilon_first", "trainings": "replicas",
    "broken": "broken",
}  # fmt: skip
"""Columns of both tables, and the fields of attacks that stand in them."""


def run_audit(arguments: argparse.Namespace) -> int:
    """Attacks the method that the arguments name and prints what was found.

    Raises:
        RequestError: There is nothing to audit, or the request names no single setting.
    """
    if functions.SIGN in arguments.paper:
        return functions.audit_function(arguments)
    if arguments.method is None:
        raise RequestError("method: expected PAPER METHOD or FILE.py::FUNCTION, got no method")
    set_threads()
    from engine.audit.words import power  # loads torch

    job = requested(arguments)
    if job.axes:
        raise RequestError(f"sweep: expected one setting to audit, got a sweep of {len(job.axes)}")
    count = replicas(arguments.replicas)
    title = f"audit {job.paper} {job.method} {job.dataset}"
    with failing(f"{title}:"), progress(title) as report:
        last, best = _audited(job, count, arguments.sees, report)
    if arguments.json:
        head = {"paper": job.paper, "method": job.method, "dataset": job.dataset}
        told = {"values": job.values, "sees": arguments.sees, "epsilon_perfect": best}
        show_json({**head, **told, **last.json()})
    else:
        seen = f"{job.entry().label} on {job.dataset}, the attacker sees {SEEN[arguments.sees]}"
        _show(seen, last, power(best, last.replicas, last.reach))
    return 0


def _audited(
    job: Job, count: int, sees: str, report: Callable[[int, int], None]
) -> "tuple[Audit, float | None]":
    """What an attack shows, and what a perfect one could show; None where nobody can tell.

    Args:
        job: What is attacked.
        count: Trainings of each kind.
        sees: What the attacker sees, one of `SEEN`.
        report: Told how many trainings are done.

    Raises:
        RequestError: There is nothing to audit, or too few trainings.
    """
    from engine.audit.outside import anywhere, independent  # these load torch
    from engine.audit.report import audit, check, perfect, summary
    from engine.audit.training import Setting
    from engine.runs.executor.local import resolve_device

    described, spec = data_catalog.card(job.dataset), job.spec()
    entry = job.entry()
    check(entry, spec, described.records, count)
    data = data_catalog.load(job.dataset)
    last: Audit | None = None
    setting = Setting.of(entry, spec, data)
    card = entry.guarantee(spec, len(data), data.card.record)
    if sees == "published":
        arrays = paper(job.paper).arrays
        last = summary(card, setting, anywhere(setting, arrays, data, card.relation, count))
    else:
        independent(setting)
        for now, outcome in audit(entry, spec, data, count, resolve_device("cpu")):
            last = now
            report(outcome.trainings, count)
    assert last is not None  # `check` asks for enough replicas
    _, best = perfect(card, setting, last.replicas) or (None, None)
    return last, best


def run_audits(arguments: argparse.Namespace) -> int:
    """Attacks every private method in each of its calibrations and prints one table.

    Raises:
        RequestError: A number that is none, or a paper that does not exist.
    """
    set_threads()
    count, limit = replicas(arguments.replicas), replicas(arguments.seconds)
    slug, method = arguments.paper, arguments.method
    budget = _budget(arguments.epsilon)
    if slug and method:
        paper(slug).entry(method)  # a method that does not exist is a wrong request
    elif slug:
        paper(slug)
    published = arguments.sees == "published"
    attack: Callable[..., Any] = _timed
    shelf: Shelf[Any] = audits.KEPT
    columns = ATTACKS
    wanted = [
        (job, calibration)
        for job, calibration in audits.asked(budget)
        if slug in (None, job.paper) and method in (None, job.method)
    ]
    if published:
        attack, shelf, columns, wanted = _met, met.KEPT, MET, _proved(wanted)
    measured = []
    for job, calibration in wanted:
        with failing(f"audit {job.paper} {job.method} {job.dataset}:"):
            measured.append(attack(job, calibration, count, limit))
        if arguments.write:
            shelf.put(measured[-1])
    if arguments.write and not published and not method and budget is None:
        audits.write(audits.current(audits.rows(), slug))
    if arguments.json:
        head = {"sees": "published"} if published else {}
        show_json({**head, "audits": [dataclasses.asdict(row) for row in measured]})
    else:
        title = "Attacks by what is published" if published else "Attacks"
        rows = [[_cell(row, field) for field in columns.values()] for row in measured]
        show_table(title, list(columns), rows)
    return 0


def _cell(row: audits.Row | met.Meeting, field: str) -> object:
    """A field of an attack as a table shows it."""
    if isinstance(row, audits.Row) and field == "broken":
        return row.reason or ("yes" if row.broken else "no")
    return getattr(row, field)


def _met(job: Job, calibration: str, worst: int, seconds: float) -> met.Meeting:
    """One attack; what is loaded and calibrated is not counted."""
    from engine.audit.met import meet  # these load torch
    from engine.audit.report import check
    from engine.audit.training import Setting

    one, spec, data = paper(job.paper), job.spec(), data_catalog.load(job.dataset)
    entry, began = one.entry(job.method), time.monotonic()
    card = check(entry, spec, len(data), worst)
    setting = Setting.of(entry, spec, data)
    shown = meet(setting, data, one.arrays, worst=worst, delta=card.delta, seconds=seconds)
    return met.Meeting(
        run=audits.name(job),
        sources=changes.sources(dataclasses.replace(job, audit=False)),
        paper=job.paper,
        method=job.method,
        dataset=job.dataset,
        calibration=calibration,
        budget=float(job.values[audits.EPSILON]),
        delta=card.delta,
        seconds=time.monotonic() - began,
        first=again.first_published(setting, data, one.arrays, card.delta),
        **dataclasses.asdict(shown),
    )


def _proved(wanted: list[tuple[Job, str]]) -> list[tuple[Job, str]]:
    """Those whose noise is calibrated as their paper's page opens with."""
    opens = {one.slug: one.opens().get(audits.CALIBRATION, "") for one in catalog().values()}
    return [(job, how) for job, how in wanted if how in ("", opens[job.paper])]


def _budget(text: str) -> float | None:
    """An epsilon; None where none is given.

    Raises:
        RequestError: It is no number above 0.
    """
    try:
        budget = float(text or "1")
    except ValueError:
        budget = 0.0
    if not 0.0 < budget < math.inf:
        raise RequestError(f"epsilon: expected a number above 0, got {text!r}")
    return budget if text else None


def _timed(job: Job, calibration: str, count: int, limit: int) -> audits.Row:
    """One attack; it ends after the trainings asked for, or once it took so many seconds."""
    card = data_catalog.card(job.dataset)
    entry, spec = paper(job.paper).entry(job.method), job.spec()  # of what is attacked
    promised = entry.guarantee(spec, card.records, card.record)
    row = audits.Row(
        run=audits.name(job), sources=changes.sources(job),
        budget=float(job.values[audits.EPSILON]),
        paper=job.paper, method=job.method, dataset=job.dataset, calibration=calibration,
        epsilon_claimed=promised.epsilon_claimed, epsilon_proved=promised.epsilon_proved,
        epsilon_attacked=None, mu_proved=None, mu_attacked=None, delta=promised.delta,
        statistic="", replicas=0, seconds=0.0, broken=False, right=0.0, allowed=None, exact=False,
    )  # fmt: skip
    started = time.monotonic()
    from engine.audit import outside, report  # these load torch
    from engine.audit.training import Setting

    try:
        data = data_catalog.load(job.dataset)
        checked = report.check(entry, spec, len(data), count)
        setting = Setting.of(entry, spec, data)
        outside.drawn(setting)
        found, first = _found(checked, setting, count, limit)
    except ExplorerError as error:
        return dataclasses.replace(row, reason=str(error))
    seconds = time.monotonic() - started
    if isinstance(found, str):
        return dataclasses.replace(row, reason=found, seconds=seconds)
    fields = {f.name for f in dataclasses.fields(audits.Row)}
    shown = {name: value for name, value in found.json().items() if name in fields}
    attacks = 1 if first is None else 2
    _, best = report.perfect(checked, setting, found.replicas) or (None, None)
    return dataclasses.replace(
        row, **shown, seconds=seconds, attacks=attacks, epsilon_first=first, epsilon_perfect=best,
        first=again.first_scores(setting, promised),
    )  # fmt: skip


def _found(
    card: Guarantee, setting: "Setting", count: int, limit: int
) -> "tuple[Audit | str, float | None]":
    """What the attack showed in the time, or why it says nothing; and the first bound of two.

    A bound with 95 % confidence is too large in up to one attack of twenty. So after one that is
    above a proof without assumptions another is made with new noise. The first bound is kept and
    shown beside it, since only unwelcome bounds are drawn again.
    """
    from engine.audit import report  # loads torch
    from engine.audit.bounds import needed, reachable

    size, each = _together(setting, limit)
    earlier: Audit | None = None
    for begin in (0, count):
        collected = _attacked(setting, count, size, begin, limit, card.delta)
        if reachable(collected.trainings, card.delta, report.CONFIDENCE) <= 0.0:
            if earlier is not None:
                return earlier, None  # the second had no time: the first stands
            stated = min(e for e in (card.epsilon_claimed, card.epsilon_proved) if e is not None)
            least = needed(stated, card.delta, report.CONFIDENCE)
            return (
                f"A training takes {each:.1f} s on this machine, and an attack needs at least "
                f"{2 * least:,} trainings to show ε = {stated:.3g}.",
                None,
            )
        found = report.summary(card, setting, collected)
        if earlier is not None or found.assumed or not found.above_proof:
            break
        earlier = found
    return found, None if earlier is None else earlier.epsilon_attacked


def _attacked(
    setting: "Setting", count: int, size: int, first: int, limit: int, delta: float
) -> "Collected":
    """The trainings that fit into the time; more while they cannot say anything (`PATIENCE`)."""
    from engine.audit import report, runner
    from engine.audit.bounds import reachable

    began = time.monotonic()
    collected = runner.Collected({}, math.nan)
    for so_far in runner.attack(setting, count, size, first):
        collected = so_far
        says = reachable(collected.trainings, delta, report.CONFIDENCE) > 0.0
        if time.monotonic() - began > limit * (1 if says else PATIENCE):
            break
    return collected


def _together(setting: "Setting", limit: float) -> tuple[int, float]:
    """Trainings to run together, so that a bit takes its share of the time, and seconds of one."""
    from engine.audit.runner import train

    train(setting, 0, 1)  # what is loaded and calibrated once does not count
    seconds = {}
    for count in FEW:
        began = time.monotonic()
        train(setting, 0, count)
        seconds[count] = time.monotonic() - began
        if seconds[count] > limit / (2 * BITS):
            return count, seconds[count] / count
    few, more = FEW
    slope = max((seconds[more] - seconds[few]) / (more - few), 1e-6)
    room = limit / (2 * BITS) - seconds[more]
    size = min(BIT, more + int(room / slope))
    return size, (seconds[more] + (size - more) * slope) / size


def replicas(text: str) -> int:
    """A number of trainings.

    Raises:
        RequestError: Anything else.
    """
    if not text.isdecimal() or not 0 < int(text) <= MOST:
        raise RequestError(f"replicas: expected a number from 1 to {MOST}, got {text!r}")
    return int(text)


def _show(title: str, outcome: "Audit", power: str) -> None:
    """The three numbers, where they come from, and what the attack could show at most."""
    rows: list[tuple[str, Any]] = [
        ("ε claimed", outcome.epsilon_claimed),
        ("ε proved", outcome.epsilon_proved),
        ("ε attacked, at least", outcome.epsilon_attacked),
        ("μ proved", outcome.mu_proved),
        ("μ attacked, at least", outcome.mu_attacked),
        ("δ", outcome.delta),
        ("confidence", outcome.confidence),
        ("neighbours", RELATIONS[outcome.relation]),
        ("record", outcome.unit),
        ("witness", outcome.witness),
        ("statistic", outcome.statistic),
        ("trainings with and without", outcome.replicas),
    ]
    show_table(title, ("", ""), rows)
    print(outcome.sentence)
    print(power)
    if outcome.above_proof and outcome.assumed:
        print("The attack is above what is proved: the card's assumption does not hold here.")
    elif outcome.above_proof:
        print("The attack is above what is proved: this program has an error.")
    elif outcome.above_claim:
        print("The attack is above what is claimed.")
