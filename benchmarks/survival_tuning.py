"""How the constants of private gradient descent were chosen: on simulated records only.

    python -m benchmarks.survival_tuning

Prints, for each candidate, the mean logarithm of the error over simulated tables and budgets.
"""

import itertools

import numpy as np
import torch

from datasets.base import Card, Floats, SurvivalTable
from engine.core.batch import Batch
from engine.papers.survival.evaluation.evaluate import optimum
from engine.papers.survival.mechanisms import descent, gradient, start
from engine.papers.survival.spec import SurvivalSpec

BUDGETS = (0.1, 0.4, 1.6, 6.4)
TABLES = 6


def simulated(seed: int) -> SurvivalTable:
    """Weibull times with proportional hazards: shapes, censoring and covariates vary by seed."""
    rng = np.random.default_rng(seed)
    n, p = int(rng.choice([6000, 10000])), int(rng.choice([3, 5, 8]))
    x = np.stack([_column(rng, n) for _ in range(p)], axis=1)
    z = (x - x.mean(0)) / x.std(0).clip(1e-9)
    beta = rng.normal(size=p) * rng.uniform(0.1, 0.7)
    shape, rate = rng.choice([0.7, 1.0, 1.5, 2.5]), rng.choice([0.1, 0.3, 0.9, 0.95])
    life = (rng.exponential(size=n) * np.exp(-np.clip(z @ beta, -3, 3))) ** (1 / shape)
    window = np.ones(n) if rng.random() < 0.5 else rng.uniform(0.05, 1, n)
    horizon = float(np.quantile(life / window, rate))
    time, event = np.minimum(life, horizon * window), life <= horizon * window
    return SurvivalTable(_card(seed, n, p, int(event.sum())), x, time / time.max(), event)


def _column(rng: np.random.Generator, n: int) -> Floats:
    """A binary, normal, skewed or counted covariate."""
    kind = int(rng.integers(4))
    if kind == 0:
        return (rng.random(n) < rng.uniform(0.02, 0.5)).astype(float)
    if kind == 1:
        return rng.normal(size=n)
    if kind == 2:
        return np.asarray(np.exp(rng.uniform(0.3, 1.0) * rng.normal(size=n)))
    return rng.integers(0, int(rng.integers(2, 12)), n).astype(float)


def _card(seed: int, n: int, p: int, events: int) -> Card:
    return Card(
        name=f"simulated_{seed}", title="", summary="", records=n, record="a person",
        features=tuple(f"x{j}" for j in range(p)), source="", licence="", public="",
        events=events, simulated=True,
    )  # fmt: skip


def score(tables: list[SurvivalTable], spec: SurvivalSpec, seeds: int = 3) -> Floats:
    """Mean relative error, shape (tables, budgets)."""
    return np.array([_errors(table, spec, seeds) for table in tables])


def _errors(table: SurvivalTable, spec: SurvivalSpec, seeds: int) -> Floats:
    batch = Batch.grid(spec, {"epsilon": BUDGETS}, range(seeds))
    rng = torch.Generator().manual_seed(0)
    method, best = gradient.METHOD, optimum(table, spec.intervals, spec.knots)
    state = method.init(batch, table, rng)
    for _ in range(spec.steps):
        state = gradient.stepped(batch, table, state, rng)
    error = (gradient.release(state, spec.steps) - best).norm(dim=1) / best.norm()
    return np.asarray(error.clamp(max=20.0).view(len(BUDGETS), -1).mean(1))


def main() -> None:
    """One line for each candidate."""
    tables = [simulated(seed) for seed in range(TABLES)]
    grid = itertools.product((0.4, 0.6), (32,), (1.0,), (2.0,), (1.25, 1.5, 2.0), (1.0, 3.0))
    for rate, steps, floor, spread, clip, generous in grid:
        gradient.RATE, start.FLOOR, descent.SPREAD_BETA = rate, floor, spread
        gradient.GENEROUS = generous
        printed = SurvivalSpec(intervals=50, clip=clip, steps=steps, calibration="paper")
        scored = score(tables, printed)
        print(
            f"{np.log(scored).mean():.3f} rate {rate:g} steps {steps} floor {floor:g} "
            f"spread {spread:g} clip {clip:g} generous {generous:g}; median by budget",
            np.median(scored, 0).round(3),
            "worst",
            scored.max(0).round(2),
            flush=True,
        )


if __name__ == "__main__":
    with torch.no_grad():
        main()
