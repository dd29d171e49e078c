"""`audit`: attacks a method and prints claimed, proved and attacked epsilon side by side."""

import argparse
from typing import TYPE_CHECKING, Any

from datasets import catalog as data_catalog
from engine.audit.report import Audit, audit, check
from engine.cli.running import progress
from engine.cli.shared import add_json, add_request, requested, show_json, show_table
from engine.core.errors import RequestError
from engine.privacy.guarantee import RELATIONS
from engine.runs.driver import resolve_device

if TYPE_CHECKING:
    from engine.cli.shared import Commands

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


def run_audit(arguments: argparse.Namespace) -> int:
    """Attacks the method that the arguments name and prints what was found.

    Raises:
        RequestError: There is nothing to audit, or the request names no single setting.
    """
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


def replicas(text: str) -> int:
    """A number of trainings.

    Raises:
        RequestError: Anything else.
    """
    if not text.isdecimal() or not 0 < int(text) <= MOST:
        raise RequestError(f"replicas: expected a number from 1 to {MOST}, got {text!r}")
    return int(text)


def _show(title: str, outcome: Audit) -> None:
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
    if outcome.above_proof:
        print("The attack is above what is proved: this program has an error.")
    elif outcome.above_claim:
        print("The attack is above what the paper claims.")
