"""Today's private descent with its defaults, beside the best published figures and our own methods.

Accuracies on MNIST are means over five seeds on the publisher's test part, which no setting was
chosen on. On digits and Segment the rows of the table are put in ten orders, each of which has
another fifth for testing. Run `python -m benchmarks.frontier`; with features in the user's folder
it takes some minutes.
"""

import math
import time
from dataclasses import replace

import numpy as np
import torch

from benchmarks.row import Row
from datasets import catalog
from datasets.base import LabelledTable
from engine.core.errors import DatasetError
from engine.papers.enadpp.models import inputs
from engine.papers.enadpp.spec import EnadppSpec
from engine.papers.enadpp.variants import VARIANTS
from engine.privacy.gaussian import multiplier
from engine.privacy.mechanisms import Gaussian
from engine.runs.driver import drive
from engine.runs.job import request
from engine.runs.results import Results, collect
from engine.training import least_squares

SEEDS = 5
GOALS = {
    "mnist": {0.5: 0.986, 1.0: 0.989, 2.0: 0.99, 3.0: 0.991},
    "fashion": {1.0: 0.865, 2.0: 0.883, 3.0: 0.897},
}
"""Accuracy to be reached, by data set and budget."""
PUBLISHED = {"mnist": {1.0: 0.978, 2.0: 0.985, 3.0: 0.987}, "fashion": {}}
"""Tramer and Boneh (2021) and later work at delta 1e-5; many shuffle and price Poisson batches."""
BESIDE, ORDERS = (0.25, 0.5, 1.0, 2.0, 4.0, 8.0), 10
"""Budgets at which methods of ours are compared, and orders of the rows."""
SMALL = (0.05, 0.1, 0.2, 0.5)
"""Budgets below 1, at which one release is tried in place of many steps."""
DELTA = 1e-5
NO_BUDGET = 1000.0
"""A budget at which noise hardly matters."""
CEILING = 0.99
GRID = (0.2, 0.5, 1.0, 2.0, 3.0, 4.0, 8.0)
LONGEST = 120.0
"""Seconds that seven budgets and three seeds may take on two cores, features at hand."""


def trained(dataset: str, budgets: tuple[float, ...], seeds: int) -> Results:
    """One run of the defaults over budgets and seeds."""
    job = request("enadpp", "dpsgd", dataset, {}, {"epsilon": budgets}, range(seeds))
    return collect(job, drive(job, catalog.load(dataset), lambda name, arrays: name))


def accuracies(dataset: str) -> list[Row]:
    """The defaults at each budget with a goal, and at one without noise to speak of."""
    goals, title = GOALS[dataset], catalog.card(dataset).title
    try:
        catalog.load(dataset)
    except DatasetError as error:
        what = f"dpsgd on {title}, defaults, epsilon"
        return [
            Row.missing(f"{what} {e:g}", f"at least {g:g}", str(error)) for e, g in goals.items()
        ]
    results, rows = trained(dataset, (*goals, NO_BUDGET), SEEDS), []
    for epsilon, goal in {**goals, **({NO_BUDGET: CEILING} if dataset == "mnist" else {})}.items():
        share = results.mean("accuracy", epsilon=epsilon)
        spread = results.spread("accuracy", epsilon=epsilon)
        rows.append(
            Row(
                f"dpsgd on {title}, defaults, epsilon {epsilon:g}",
                share,
                PUBLISHED[dataset].get(epsilon),
                "accuracy",
                f"at least {goal:g}",
                share >= goal,
                f"{SEEDS} seeds, deviation {spread:.2g}; delta 1e-5, one record added or removed",
            )
        )
    return rows


def beside(dataset: str) -> list[Row]:
    """The descent beside the better of the two methods with prototypes, on the same rows.

    All protect one record that is added or removed.
    """
    what, goal = f"dpsgd on {dataset}, defaults, error at epsilon", "at most the peer"
    try:
        table = catalog.load(dataset)
    except DatasetError as error:
        return [Row.missing(f"{what} {e:g}", goal, str(error)) for e in BESIDE]
    assert isinstance(table, LabelledTable)
    orders = [np.random.default_rng(seed).permutation(len(table)) for seed in range(ORDERS)]
    tables = [replace(table, x=table.x[order], y=table.y[order]) for order in orders]
    errors = {
        method: np.array([_errors(paper, method, one) for one in tables])
        for paper, method in (("enadpp", "dpsgd"), ("lvq", "glvq_dp"), ("lvq", "gmlvq_dp"))
    }
    ours, rows = errors.pop("dpsgd").mean(0), []
    for i, epsilon in enumerate(BESIDE):
        best = min(errors, key=lambda method: float(errors[method][:, i].mean()))
        peer = float(errors[best][:, i].mean())
        note = f"{ORDERS} orders of the rows; the peer is {best}, as private"
        own, named = float(ours[i]), f"{what} {epsilon:g}"
        rows.append(Row(named, own, peer, "share", goal, own <= peer, note))
    return rows


def _errors(paper: str, method: str, table: LabelledTable) -> list[float]:
    """Test error at each budget."""
    job = request(paper, method, table.card.name, {}, {"epsilon": BESIDE}, range(SEEDS))
    results = collect(job, drive(job, table, lambda name, arrays: name))
    if paper == "lvq":
        return [results.mean("error", epsilon=epsilon) for epsilon in BESIDE]
    return [1.0 - results.mean("accuracy", epsilon=epsilon) for epsilon in BESIDE]


def seconds() -> list[Row]:
    """How long a page's whole curve on MNIST takes."""
    what, target = "dpsgd on MNIST, 7 budgets x 3 seeds", f"at most {LONGEST:g} s"
    try:
        trained("mnist", (1.0,), 1)  # computes features where there are none
    except DatasetError as error:
        return [Row.missing(what, target, str(error))]
    began = time.perf_counter()
    trained("mnist", GRID, 3)
    took = time.perf_counter() - began
    return [Row(what, took, LONGEST, "s", target, took <= LONGEST, "defaults, features at hand")]


def head() -> list[Row]:
    r"""One release of moments and a ridge regression, on the same features, beside the descent.

    This is how the deep belief network's rigorous calibration trains its last layer. A record of
    length 1 moves the second moments by 1 and the sums by class by 1, so noise multipliers
    s \sqrt 2 for each cost what s does for one release, and s follows from the exact curve.
    """
    what = "One release of moments and ridge regression on MNIST, epsilon"
    try:
        table = catalog.load("mnist")
    except DatasetError as error:
        return [Row.missing(f"{what} {e:g}", "", str(error)) for e in SMALL]
    assert isinstance(table, LabelledTable)
    descent = trained("mnist", SMALL, SEEDS)
    data = inputs(VARIANTS["dpsgd"], EnadppSpec(representation="upright"), table, "cpu")
    a, b = least_squares.sums(data.x, data.y, len(np.unique(table.y)))
    rows = []
    for epsilon in SMALL:
        noise = Gaussian(1.0, math.sqrt(2.0) * multiplier(epsilon, DELTA))
        shares = []
        for seed in range(SEEDS):
            rng = torch.Generator().manual_seed(seed)
            solved = least_squares.quadratic(a, b, noise, noise, rng)
            chosen = (data.test_x.double() @ least_squares.weights(solved, None)).argmax(1)
            shares.append(float((chosen == data.test_y).double().mean()))
        rows.append(
            Row(
                f"{what} {epsilon:g}",
                float(np.mean(shares)),
                descent.mean("accuracy", epsilon=epsilon),
                "accuracy",
                "",
                None,
                f"{SEEDS} seeds, deviation {np.std(shares, ddof=1):.2g}; the peer is dpsgd with "
                f"its defaults, deviation {descent.spread('accuracy', epsilon=epsilon):.2g}",
            )
        )
    return rows


def rows() -> list[Row]:
    """Every figure; some minutes."""
    own = (*beside("digits"), *beside("segment"))
    return [*accuracies("mnist"), *accuracies("fashion"), *own, *head(), *seconds()]


if __name__ == "__main__":
    for row in rows():
        print(row, flush=True)
