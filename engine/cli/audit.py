"""`audit`: attacks a method and prints claimed, proved and attacked epsilon side by side."""

import argparse
import dataclasses
import math
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from datasets import catalog as data_catalog
from engine.catalog import catalog, paper
from engine.cli import again, functions
from engine.cli.shared import requested, show_json, show_table
from engine.cli.work import progress
from engine.core.errors import ExplorerError, RequestError
from engine.privacy.guarantee import RELATIONS, Guarantee
from engine.runs import audits, changes, met
from engine.runs.job import Job
from engine.service.job_runner import set_threads

if TYPE_CHECKING:
    from engine.audit.report import Audit
    from engine.audit.runner import Collected
    from engine.audit.training import Setting

SEES = ("everything", "published")
"""What an attacker sees."""
SEEN = {"everything": "every release", "published": "what is published alone"}
BIT, BITS = 100, 6
"""Trainings of a shipped attack that run together at most, and in how many such bits the time is
divided: it can stop after each."""
PATIENCE = 4
"""How many times the given seconds an attack goes on that could not show anything yet."""
FEW = (2, 10)
"""Trainings that are timed before, to see how many fit."""
MOST = 1_000_000
"""More trainings than this is taken for a slip of the keyboard."""


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
    from engine.audit.outside import anywhere, independent  # these load torch
    from engine.audit.report import audit, check, perfect, summary
    from engine.audit.training import Setting
    from engine.audit.words import power
    from engine.runs.executor.local import resolve_device

    job = requested(arguments)
    if job.axes:
        raise RequestError(f"sweep: expected one setting to audit, got a sweep of {len(job.axes)}")
    count = replicas(arguments.replicas)
    entry, spec = job.entry(), job.spec()
    check(entry, spec, data_catalog.card(job.dataset).records, count)
    data = data_catalog.load(job.dataset)
    last: Audit | None = None
    setting = Setting.of(entry, spec, data)
    card = entry.guarantee(spec, len(data), data.card.record)
    if arguments.sees == SEES[1]:
        arrays = paper(job.paper).arrays
        last = summary(card, setting, anywhere(setting, arrays, data, card.relation, count))
    else:
        independent(setting)
        with progress(f"audit {job.paper} {job.method} {job.dataset}") as report:
            for now, outcome in audit(entry, spec, data, count, resolve_device("cpu")):
                last = now
                report(outcome.trainings, count)
    assert last is not None  # `check` asks for enough replicas
    _, best = perfect(card, setting, last.replicas) or (None, None)
    if arguments.json:
        head = {"paper": job.paper, "method": job.method, "dataset": job.dataset}
        told = {"values": job.values, "sees": arguments.sees, "epsilon_perfect": best}
        show_json({**head, **told, **last.json()})
    else:
        seen = f"{job.entry().label} on {job.dataset}, the attacker sees {SEEN[arguments.sees]}"
        _show(seen, last, power(best, last.replicas, last.reach))
    return 0


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
    measured: list[audits.Row] = []
    wanted = [
        (job, calibration)
        for job, calibration in audits.asked(budget)
        if slug in (None, job.paper) and method in (None, job.method)
    ]
    if arguments.sees == SEES[1]:
        as_json, keep = arguments.json, arguments.write
        _meetings(_proved(wanted), count, limit, keep=keep, as_json=as_json)
        return 0
    for job, calibration in wanted:
        measured.append(_timed(job, calibration, count, limit))
        if arguments.write:
            audits.KEPT.put(measured[-1])
    if arguments.write and not method and budget is None:
        audits.write(audits.current(audits.rows(), slug))
    if arguments.json:
        show_json({"audits": [dataclasses.asdict(row) for row in measured]})
    else:
        _show_all(measured)
    return 0


def _meetings(
    wanted: Sequence[tuple[Job, str]], worst: int, seconds: float, *, keep: bool, as_json: bool
) -> None:
    """Attacks some settings and prints one line for each.

    Args:
        wanted: The attacks and their calibrations.
        worst: Trainings with the worst record, and as many without.
        seconds: Of each attack on real records, about.
        keep: Whether to keep them in the reference folder.
        as_json: Whether to print them as JSON.
    """
    found = []
    for job, calibration in wanted:
        found.append(_met(job, calibration, worst, seconds))
        if keep:
            met.KEPT.put(found[-1])
    if as_json:
        show_json({"sees": "published", "audits": [dataclasses.asdict(row) for row in found]})
        return
    columns = ("paper", "method", "budget", "at least", "worst record", "real records", "right")
    show_table(
        "Attacks by what is published",
        (*columns, "of how many", "trainings"),
        [
            (
                row.paper, row.method, row.budget, row.epsilon, row.epsilon_worst,
                row.epsilon_real, row.right, row.records, row.trainings,
            )
            for row in found
        ],
    )  # fmt: skip


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
    from engine.audit import report  # these load torch
    from engine.audit.training import Setting

    try:
        data = data_catalog.load(job.dataset)
        checked = report.check(entry, spec, len(data), count)
        setting = Setting.of(entry, spec, data)
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


def _show_all(measured: list[audits.Row]) -> None:
    """One line for each attack."""
    show_table(
        "Attacks",
        (
            *("paper", "method", "calibration", "budget", "claimed", "proved", "attacked"),
            *("perfect", "first attacked", "trainings", "broken"),
        ),
        [
            (
                row.paper, row.method, row.calibration, row.budget, row.epsilon_claimed,
                row.epsilon_proved, row.epsilon_attacked, row.epsilon_perfect, row.epsilon_first,
                row.replicas, row.reason or ("yes" if row.broken else "no"),
            )
            for row in measured
        ],
    )  # fmt: skip


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
        print("The attack is above what the paper claims.")
