"""Where persons are compared: which connections between brain regions the answer came from."""

import numpy as np

from datasets.connectivity import NETWORKS, PAIRS, REGIONS, WINDOWS
from pages.ui.charts.figure import Floats
from pages.ui.charts.regions import connections, square
from pages.ui.paper.parts import Chart, Note
from pages.ui.paper.series import product
from pages.ui.paper.view import View
from pages.ui.papers.enadpp.sections import EXACT

RULES = {"relevance_z_plus": "compared_z_plus", "relevance_epsilon": "compared_epsilon"}
"""Arrays of a run, by what they are called where records are images."""
FIRST = REGIONS // NETWORKS
"""Regions of the network that the simulator weakens in one of its groups."""


def connected(view: View, rule: str) -> Chart | Note:
    """The share of every pair of regions, with and without privacy."""
    if not view.data.simulated:
        return Note("UNKNOWN")
    private = shares(view, view.method, rule)
    if private is None:
        return Note("NONE")
    exact = shares(view, EXACT, rule) if view.method != EXACT else None
    drawn = [(view.entry.label, private)]
    drawn += [(view.watched[EXACT].label, exact)] if exact is not None else []
    pairs = FIRST * (FIRST - 1) // 2
    facts = {
        "rule": rule,
        "pairs": pairs,
        "held": within(private),
        "WITHOUT": exact is not None,
        "plain": 0.0 if exact is None else within(exact),
        "chance": 100 * pairs / PAIRS,
        "first": FIRST,
    }
    names = [(name, square(values, REGIONS)) for name, values in drawn]
    return Chart(connections(names, FIRST), rows(drawn), facts, "regions")


def shares(view: View, method: str, rule: str) -> Floats | None:
    """Per cent of each pair of regions, shape (pairs,); None where a run has not kept them."""
    measured = product(view, method, RULES[rule])
    if measured is None or measured.shape[1] != WINDOWS * PAIRS:
        return None
    total: Floats = 100.0 * measured.mean(axis=0).reshape(WINDOWS, PAIRS).sum(axis=0)
    return total


def within(values: Floats) -> float:
    """Per cent of the pairs among the first network's regions."""
    first, second = np.triu_indices(REGIONS, 1)
    return float(values[(first < FIRST) & (second < FIRST)].sum())


def rows(drawn: list[tuple[str, Floats]]) -> list[dict[str, float]]:
    """A row for each pair of regions, those with the largest share first."""
    first, second = np.triu_indices(REGIONS, 1)
    order = np.argsort(-drawn[0][1])
    return [
        {"Region": int(first[i]) + 1, "and region": int(second[i]) + 1}
        | {f"{name} [%]": float(values[i]) for name, values in drawn}
        for i in order
    ]
