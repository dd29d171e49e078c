r"""Private descent and private Newton against an oracle that no method of their family can know.

The oracle is told the optimum and the exact curvature there. It makes one Gaussian release of the
sum of the whitened, clipped gradients, of the whole budget \mu, where that clipped objective is
smallest, and chooses the clipping bound in hindsight. Its error is the clipping's bias and that
release's noise alone: no start, no metric and no way to the optimum is paid for.

    python -m benchmarks survival_oracle
"""

from typing import Any

import numpy as np
import torch
from torch import Tensor

from benchmarks.row import Row
from datasets import catalog
from datasets.base import SurvivalTable
from engine.core.batch import Batch
from engine.core.errors import DatasetError
from engine.method import Method
from engine.papers.survival import dp_gd, dp_newton
from engine.papers.survival.evaluate import optimum
from engine.papers.survival.exhibits import DATASETS
from engine.papers.survival.likelihood import derivatives, record_gradients
from engine.papers.survival.problem import Design, design
from engine.papers.survival.scale import survival
from engine.papers.survival.spec import SurvivalSpec
from engine.privacy.gaussian import multiplier

BUDGETS = (0.1, 0.2, 0.4, 0.8, 1.6, 3.2, 6.4)
SPEC = SurvivalSpec(intervals=10)
SEEDS, DRAWS = 20, 500
GOAL = 1.25
SHARES = (0.5, 0.8, 0.9, 0.95, 0.98, 0.99, 0.995, 0.998, 0.999, 1.0)
"""Shares of the records that the oracle's clipping bounds leave as they are."""
DESCENTS, NUDGE = 80, 1e-4
METHODS: dict[str, tuple[Method[SurvivalSpec, Any], int]] = {
    "private descent": (dp_gd.METHOD, SPEC.steps),
    "private Newton": (dp_newton.METHOD, SPEC.passes),
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
        best = oracle(data)
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


def oracle(data: SurvivalTable) -> np.ndarray:
    """The oracle's mean relative error at each budget, shape (B,)."""
    model, best = design(data, SPEC.intervals, SPEC.knots), optimum(data, 10, SPEC.knots)
    stiff = derivatives(model, best[None]).hessian * model.records
    root = dp_newton.whitening(stiff)
    v = record_gradients(model, best[None])
    sizes = (model.by_record(torch.cat([v, v[:, :, :1] * model.x], 2))[0] @ root[0]).norm(dim=1)
    clips = torch.quantile(sizes, sizes.new_tensor(SHARES))
    f, inverse = _clipped_optimum(model, best, root[0], clips)
    z = torch.randn(DRAWS, len(best), generator=torch.Generator().manual_seed(0)).double()
    return np.array([_least(f - best, inverse, clips, z, b) / float(best.norm()) for b in BUDGETS])


def _least(bias: Tensor, inverse: Tensor, clips: Tensor, z: Tensor, budget: float) -> float:
    """The mean error of the best of all clipping bounds."""
    scale = 2.0 * clips * multiplier(budget, SPEC.delta)
    noise = torch.einsum("rij,mj->rmi", inverse, z) * scale[:, None, None]
    return float((bias[:, None] + noise).norm(dim=2).mean(1).min())


def _clipped_optimum(
    model: Design, best: Tensor, root: Tensor, clips: Tensor
) -> tuple[Tensor, Tensor]:
    """Where clipped sums vanish, (R, d), and what a change of the sum does there, (R, d, d)."""
    f, roots = best.expand(len(clips), -1).clone(), root.expand(len(clips), -1, -1)
    for _ in range(DESCENTS):
        f = f - 0.7 * (roots @ dp_gd.clipped_sum(model, f, roots, clips)[0][:, :, None])[:, :, 0]
    columns: list[Tensor] = [
        (
            dp_gd.clipped_sum(model, f + NUDGE * root[:, j], roots, clips)[0]
            - dp_gd.clipped_sum(model, f - NUDGE * root[:, j], roots, clips)[0]
        )
        / (2.0 * NUDGE)
        for j in range(len(best))
    ]
    return f, root @ torch.linalg.inv(torch.stack(columns, 2))


if __name__ == "__main__":
    with torch.no_grad():
        for row in rows():
            print(row)
