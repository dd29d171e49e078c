"""`ledger`: what the releases from a table of one's own have cost, and the limit of them."""

import argparse

from engine.cli.shared import show_json, show_table
from engine.core.errors import RequestError
from engine.privacy.composing import NAMES
from engine.privacy.guarantee import RELATIONS
from engine.runs import ledger


def show(arguments: argparse.Namespace) -> int:
    """Sets the limit if one is given, and prints the entries, their sum and the limit."""
    if arguments.limit_epsilon is not None:
        limit = ledger.Limit(arguments.limit_epsilon, arguments.limit_delta, arguments.limit_by)
        found = ledger.set_limit(arguments.table, limit)
    elif arguments.limit_delta is not None:
        raise RequestError("limit-delta: expected --limit-epsilon with it, got none")
    else:
        found = ledger.read(arguments.table)
    if arguments.json:
        show_json(found.json())
        return 0
    rows = [
        (one.time, one.paper, one.method, one.epsilon, one.delta, RELATIONS[one.relation])
        for one in found.releases
    ]
    head = ("time", "paper", "method", "ε", "δ", "for")
    show_table(f"Releases from {found.table}", head, rows)
    print(_sentence(found))
    return 0


def _sentence(found: ledger.TableLedger) -> str:
    """The sum and the limit in words."""
    limit, looks = found.limit, ledger.total(found.looks)
    price = ledger.composed(found.releases, limit)
    unit = f", for {RELATIONS[price.relation]}" if price.relation else ""
    said = f"Together at most ε = {price.epsilon:.6g} and δ = {price.delta:.3g}{unit}"
    said += f", by {NAMES[price.how]}" if len(found.releases) > 1 else ""
    others = [f"{price.ways[way]:.6g} by {NAMES[way]}" for way in price.ways if way != price.how]
    said += f" ({', '.join(others)})." if others else "."
    if found.looks:
        said += f" Runs that were looked at would cost ε = {looks.epsilon:.6g} more."
    if limit is None:
        return f"{said} No limit is set."
    most = "" if limit.delta is None else f" and δ = {limit.delta:g}"
    over = " It is reached: nothing more can be released." if found.reached else ""
    spent = "" if found.counted is None else f", by which ε = {found.counted.epsilon:.6g} is spent"
    by = f", by {NAMES[limit.by]}{spent}"
    return f"{said} The limit is ε = {limit.epsilon:g}{most}{by}.{over}"
