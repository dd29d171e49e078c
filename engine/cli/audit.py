"""`audit`: attacks a method and prints claimed, proved and attacked epsilon side by side."""

import argparse
import dataclasses
import sys
import time
from typing import TYPE_CHECKING, Any

from datasets import catalog as data_catalog
from engine.catalog import paper
from engine.cli.running import progress
from engine.cli.shared import add_json, add_request, requested, show_json, show_table
from engine.core.errors import ExplorerError, RequestError
from engine.method import Entry, Paper
from engine.privacy.guarantee import RELATIONS
from engine.runs import audits

if TYPE_CHECKING:
    from engine.audit.report import Audit
    from engine.cli.shared import Commands

BIT = 20
"""Trainings of a shipped attack that run together: it can stop after each such bit."""
MOST = 1_000_000
"""More trainings than this is taken for a slip of the keyboard."""


def add(commands: "Commands") -> None:
    """Adds the command."""
    parser = commands.add_parser("audit", help="attack a method: claimed, proved and attacked ε")
    add_request(parser)
    parser.add_argument(
        "--replicas", default="1000", metavar="N", help="trainings with and without; 1000"
    )
    add_json(parser)
    parser.set_defaults(command=run_audit)
    every = commands.add_parser("audits", help="attack every private method of a paper, or of all")
    every.add_argument("paper", nargs="?", metavar="PAPER", help="slug of the paper; all")
    every.add_argument("method", nargs="?", metavar="METHOD", help="name of the method; all")
    every.add_argument(
        "--seconds", default="60", metavar="N", help="stop each attack after about so long; 60"
    )
    every.add_argument("--replicas", default="1000", metavar="N", help="trainings at most; 1000")
    every.add_argument(
        "--write", action="store_true", help="keep the attacks in the reference folder"
    )
    add_json(every)
    every.set_defaults(command=run_audits)


def run_audit(arguments: argparse.Namespace) -> int:
    """Attacks the method that the arguments name and prints what was found.

    Raises:
        RequestError: There is nothing to audit, or the request names no single setting.
    """
    from engine.audit.report import audit, check  # these load torch
    from engine.runs.devices import resolve_device

    job = requested(arguments)
    if job.axes:
        raise RequestError(f"sweep: expected one setting to audit, got a sweep of {len(job.axes)}")
    count = replicas(arguments.replicas)
    entry, spec = job.entry(), job.spec()
    check(entry, spec, data_catalog.card(job.dataset).records, count)
    data = data_catalog.load(job.dataset)
    last: Audit | None = None
    with progress(f"audit {job.paper} {job.method} {job.dataset}") as report:
        for now, outcome in audit(entry, spec, data, count, resolve_device("cpu")):
            last = now
            report(outcome.trainings, count)
    assert last is not None  # `check` asks for enough replicas
    if arguments.json:
        head = {"paper": job.paper, "method": job.method, "dataset": job.dataset}
        show_json({**head, "values": job.values, **last.json()})
    else:
        _show(f"{job.entry().label} on {job.dataset}", last)
    return 0


def run_audits(arguments: argparse.Namespace) -> int:
    """Attacks every private method in each of its calibrations and prints one table.

    Raises:
        RequestError: A number that is none, or a paper that does not exist.
    """
    count, limit = replicas(arguments.replicas), replicas(arguments.seconds)
    slug, name = arguments.paper, arguments.method
    if slug and name:
        paper(slug).entry(name)  # a method that does not exist is a wrong request
    elif slug:
        paper(slug)
    measured: list[audits.Row] = []
    for one, entry, values in audits.asked():
        if (slug and one.slug != slug) or (name and entry.name != name):
            continue
        try:
            measured.append(_timed(one, entry, values, count, limit))
        except ExplorerError as error:
            print(f"{one.slug} {entry.name}: {error}", file=sys.stderr, flush=True)
    if arguments.write:
        new = {(row.paper, row.method) for row in measured}
        kept = [row for row in audits.rows() if (row.paper, row.method) not in new]
        audits.write([*kept, *measured])
    if arguments.json:
        show_json({"audits": [dataclasses.asdict(row) for row in measured]})
    else:
        _show_all(measured)
    return 0


def _timed(
    one: Paper[Any], entry: Entry[Any], values: dict[str, Any], count: int, limit: int
) -> audits.Row:
    """One attack; it ends after the trainings asked for, or once it took so many seconds."""
    from engine.audit.report import audit  # this loads torch

    name = next(name for name in one.datasets if data_catalog.card(name).embedded)
    spec, data = one.spec.parse(values), data_catalog.load(name)
    started = time.monotonic()
    last: Audit | None = None
    for now, _ in audit(entry, spec, data, count, together=BIT):
        last = now
        if time.monotonic() - started > limit:
            break
    assert last is not None  # `audit` refuses too few replicas
    fields = {f.name for f in dataclasses.fields(audits.Row)}
    shown = {name: value for name, value in last.json().items() if name in fields}
    return audits.Row(
        **shown,
        paper=one.slug,
        method=entry.name,
        dataset=name,
        calibration=str(values.get(audits.CALIBRATION, "")),
        seconds=time.monotonic() - started,
    )


def _show_all(measured: list[audits.Row]) -> None:
    """One line for each attack."""
    show_table(
        "Attacks",
        ("paper", "method", "calibration", "claimed", "proved", "attacked", "trainings", "broken"),
        [
            (
                row.paper,
                row.method,
                row.calibration,
                row.epsilon_claimed,
                row.epsilon_proved,
                row.epsilon_attacked,
                row.replicas,
                "yes" if row.broken else "no",
            )
            for row in measured
        ],
    )


def replicas(text: str) -> int:
    """A number of trainings.

    Raises:
        RequestError: Anything else.
    """
    if not text.isdecimal() or not 0 < int(text) <= MOST:
        raise RequestError(f"replicas: expected a number from 1 to {MOST}, got {text!r}")
    return int(text)


def _show(title: str, outcome: "Audit") -> None:
    """The three numbers and where they come from."""
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
    if outcome.above_proof and outcome.assumed:
        print("The attack is above what is proved: the card's assumption does not hold here.")
    elif outcome.above_proof:
        print("The attack is above what is proved: this program has an error.")
    elif outcome.above_claim:
        print("The attack is above what the paper claims.")
