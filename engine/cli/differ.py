"""`differ`: whether two runs can be told apart by their repetitions."""

import argparse
import dataclasses
from typing import TYPE_CHECKING

from engine.cli.shared import add_json, show_json, show_table
from engine.core.errors import RequestError
from engine.core.spec import Value
from engine.runs.difference import by_seed, difference, pairs
from engine.service.client import Client

if TYPE_CHECKING:
    from engine.cli.shared import Commands

WRONG = "wrong:"
"""Before the name of a gauge that is a share of wrong answers, to compare shares of right ones."""


def add(commands: "Commands") -> None:
    """Adds the command."""
    parser = commands.add_parser("differ", help="whether two runs can be told apart")
    parser.add_argument("first", metavar="RUN", help="id of a run")
    parser.add_argument("second", metavar="RUN", help="id of the other run")
    parser.add_argument(
        "--gauge", required=True, metavar="NAME[,NAME]",
        help="what is compared, for each run if it differs; wrong:NAME compares one minus it",
    )  # fmt: skip
    parser.add_argument("--at", metavar="EPSILON", type=float, help="the privacy budget")
    add_json(parser)
    parser.set_defaults(command=differ)


def differ(arguments: argparse.Namespace) -> int:
    """Prints the difference between two runs at one privacy budget."""
    client = Client(workers=False)
    runs = [client.run(run) for run in (arguments.first, arguments.second)]
    names = (arguments.gauge.split(",") * 2)[:2]
    at: dict[str, Value] = {} if arguments.at is None else {"epsilon": arguments.at}
    values = []
    for run, name in zip(runs, names, strict=True):
        table = client.table(run.id)
        if "epsilon" in run.job.axes and not at:
            raise RequestError("at: expected a privacy budget, because the run has several")
        by_repetition = by_seed(run.job, table, name.removeprefix(WRONG), at)
        values.append(
            {s: 1.0 - v if name.startswith(WRONG) else v for s, v in by_repetition.items()}
        )
    paired = pairs(runs[0].job, runs[1].job)
    result = dataclasses.asdict(difference(values[0], values[1], paired=paired))
    if arguments.json:
        show_json(result)
    else:
        show_table("First run minus second run", ("", ""), list(result.items()))
    return 0
