r"""Private descent and private Newton against the oracle that the page draws as a line.

    python -m benchmarks survival_oracle

The goal, 1.25 times the oracle at every budget, is missed. What was tried for private Newton, each
with the largest ratio of seven budgets on FL, TB and WT at q = 10 (8 to 20 repetitions, so about
a fifth is chance):

| change | FL | TB | WT |
|---|---|---|---|
| six passes, moments of the events, average of the ends | 3.7 | 2.0 | 1.5 |
| the baseline's curvature raised by 1e-5 instead of 1e-3 an event | 3.7 | 2.6 | 1.6 |
| and all gradients read as one line, eight passes | 1.9 | 2.0 | 1.6 |
| the same with moments of all records | 2.5 | 2.2 | 1.9 |
| and far gradients counted less, more budget for counts and columns | 1.8 | 1.8 | 2.1 |
| the same with six passes | 2.1 | 1.8 | 2.1 |
| the same with ten passes | 1.8 | 1.7 | 1.8 |
| the metric that was learned used for clipping too | 2.3 | 1.9 | 2.1 |
| clipping bounds 1.3 times as long | 1.8 | 1.9 | 1.5 |
| clipping bounds 0.6 times as long | 2.5 | 2.7 | - |
| a prior twice as wide | 2.2 | 1.6 | - |
| ten passes, clipping bounds by what events count in the curvature | 1.7 | 1.5 | 1.4 |
| the same with the curvature of a made-up cohort (30 repetitions, as below) | 1.4 | 1.6 | 1.4 |
| half of it the start's (kept) | 1.5 | 1.5 | 1.4 |
| and clipping in the metric S^{-.55} instead of S^{-1/2}, .7 of it the cohort's | 1.6 | 1.7 | 1.3 |
| and clipping in the metric S^{-.53} | 1.5 | 1.4 | 1.3 |
| and less budget for counts, columns and moments (.16 instead of .24) | 1.6 | 1.5 | 1.3 |

With the exact curvature from the first pass on, the ratio is at most 1.1 on FL: what is lost there
is the metric's error. The last three rows are within chance of the one that is kept.

The start was chosen on six simulated tables: moments of all records 2.2 times the oracle in the
geometric mean, of the events 2.5.
"""

from typing import Any

import numpy as np
import torch

from benchmarks.row import Row
from datasets import catalog
from datasets.base import SurvivalTable
from engine.core.batch import Batch
from engine.core.errors import DatasetError
from engine.method import Method
from engine.papers.survival.evaluation.evaluate import optimum
from engine.papers.survival.exhibits import DATASETS
from engine.papers.survival.likelihood.scale import survival
from engine.papers.survival.mechanisms import gradient, newton
from engine.papers.survival.price.oracle import single
from engine.papers.survival.references import oracle
from engine.papers.survival.spec import SurvivalSpec

BUDGETS = (0.1, 0.2, 0.4, 0.8, 1.6, 3.2, 6.4)
SPEC = SurvivalSpec(intervals=10)
SEEDS = 20
GOAL = 1.25
METHODS: dict[str, tuple[Method[SurvivalSpec, Any], int]] = {
    "private descent": (gradient.METHOD, SPEC.steps),
    "private Newton": (newton.METHOD, SPEC.passes),
}


def rows() -> list[Row]:
    """A row for each method and data set: the largest ratio over the budgets."""
    lines: list[Row] = []
    for name in ("FL", "TB", "WT"):
        try:
            data = survival(catalog.load(DATASETS[name]), SPEC)
        except DatasetError as error:
            lines.append(Row.missing(f"Error over the oracle's, {name}", f"<= {GOAL}", str(error)))
            continue
        best = oracle_errors(data)
        lines += [_row(label, name, errors(*one, data) / best) for label, one in METHODS.items()]
    return lines


def _row(label: str, name: str, ratio: np.ndarray) -> Row:
    each = ", ".join(f"{r:.2f} at {b:g}" for b, r in zip(BUDGETS, ratio, strict=True))
    return Row(
        f"Error of {label} over the oracle's, {name}, q = 10: largest of seven budgets",
        float(ratio.max()),
        None,
        "times",
        f"<= {GOAL}",
        bool(ratio.max() <= GOAL),
        f"means over {SEEDS} repetitions: {each}",
    )


def errors(method: Method[SurvivalSpec, Any], steps: int, data: SurvivalTable) -> np.ndarray:
    """Mean relative error of a method at each budget, shape (B,)."""
    batch = Batch.grid(SPEC, {"epsilon": BUDGETS}, range(SEEDS))
    rng, best = torch.Generator().manual_seed(0), optimum(data, SPEC.intervals, SPEC.knots)
    state = method.init(batch, data, rng)
    for _ in range(steps):
        state, _ = method.step(batch, data, state, rng)
    f = torch.from_numpy(np.asarray(method.products(batch, data, state)["coefficients"]))
    apart = (f - best).norm(dim=1) / best.norm()
    return np.asarray(apart.view(len(BUDGETS), -1).mean(1))


def oracle_errors(data: SurvivalTable) -> np.ndarray:
    """The oracle's mean relative error at each budget, shape (B,)."""
    told, best = oracle.known(data, SPEC.intervals, SPEC.knots), optimum(data, 10, SPEC.knots)
    scales = [single(SPEC.replace(epsilon=budget)).scale for budget in BUDGETS]
    return np.array([oracle.chosen(told, best, scale)[1] for scale in scales])


if __name__ == "__main__":
    with torch.no_grad():
        for row in rows():
            print(row)
