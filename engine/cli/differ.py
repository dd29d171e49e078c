"""`differ`: whether two runs can be told apart by their repetitions."""

import argparse
import dataclasses

from engine.cli.shared import show_json, show_table
from engine.core.errors import RequestError
from engine.core.spec import Value
from engine.runs.difference import by_seed, difference, pairs
from engine.service.client import Client

WRONG = "wrong:"
"""Before the name of a gauge that is a share of wrong answers, to compare shares of right ones."""


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
