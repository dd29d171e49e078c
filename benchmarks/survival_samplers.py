"""The samplers and private gradient descent: speed, mixing and error.

python -m benchmarks.survival_samplers
"""

import math
import time
from collections.abc import Callable

import torch
from torch import Tensor
from torch.nn.functional import softplus

from benchmarks.row import Row
from datasets import catalog
from engine.core.batch import Batch
from engine.core.errors import DatasetError
from engine.papers.survival.exhibits import BUDGETS
from engine.papers.survival.likelihood.problem import Design
from engine.papers.survival.likelihood.scale import survival
from engine.papers.survival.price.sampler import exact_steps, loss_bound, sanitised
from engine.papers.survival.samplers import corrected, langevin
from engine.papers.survival.spec import SurvivalSpec
from engine.runs.driver import drive
from engine.runs.exhibit import exhibits
from engine.runs.results import Results, collect
from engine.training.threads import single_thread

STEPS = 200
REAL = ("FL", "TB", "WT")
PUBLISHED = ("out_pert", "obj_pert", "exact")


def rows() -> list[Row]:
    """Mixing, chain steps and Figure 5."""
    return [*map(mixing, (0.1, 1.0, 6.4)), chains(), *figure5()]


def mixing(epsilon: float) -> Row:
    """One run of the corrected sampler on FL."""
    spec = SurvivalSpec(epsilon=epsilon, samples=2000)
    table = survival(catalog.load("flchain"), spec)
    batch, rng = Batch.grid(spec, {}, (0,)), torch.Generator().manual_seed(0)
    begun = time.perf_counter()
    state = corrected.METHOD.init(batch, table, rng)
    for _ in range(exact_steps(spec, len(table))):
        state, info = corrected.METHOD.step(batch, table, state, rng)
    seconds = time.perf_counter() - begun
    assert info is not None  # the last step measures
    r_hat, ess = float(info.r_hat[0]), float(info.ess[0])
    return Row(
        f"corrected sampler, FL, ε = {epsilon:g}",
        seconds,
        None,
        "s",
        "R-hat < 1.01 and ESS > 400 in 30 s",
        r_hat < 1.01 and ess > 400.0 and seconds < 30.0,
        f"R-hat {r_hat:.4f}, ESS {ess:.0f}, acceptance {float(info.acceptance[0]):.2f}; "
        "the worst coefficient's",
    )


def chains() -> Row:
    """Chain steps a second: 21 chains together against a plain loop over one with autograd."""
    spec = SurvivalSpec(burn_in=0)
    table = survival(catalog.load("flchain"), spec)
    batch = Batch.grid(spec, {"epsilon": (0.4, 1.6, 6.4)}, range(7))
    rng = torch.Generator().manual_seed(0)
    state = langevin.METHOD.init(batch, table, rng)
    state = langevin.advance(state, spec, STEPS, 10 * STEPS, rng)
    ours = _rate(lambda: langevin.advance(state, spec, 2 * STEPS, 10 * STEPS, rng)) * len(batch)
    design = state.aim.design
    with single_thread():  # the faster way for both
        peer = _rate(lambda: _plain(design, spec, len(table), STEPS))
    return Row(
        "pSGLD, FL, 21 chains",
        ours,
        peer,
        "chain steps/s of CPU",
        "10 times a plain PyTorch loop over one chain",
        ours >= 10.0 * peer,
        f"{ours / peer:.1f} times",
    )


def _rate(work: Callable[[], object]) -> float:
    """Steps a second of a core's own time, the best of five: both sides use one thread."""
    best = math.inf
    for _ in range(5):
        begun = time.process_time()
        work()
        best = min(best, time.process_time() - begun)
    return STEPS / best


def _plain(design: Design, spec: SurvivalSpec, n: int, steps: int) -> Tensor:
    """Algorithm 4 as one would write it: the person-period losses of 200 records, autograd."""
    rng, v, heat = (
        torch.Generator().manual_seed(0), loss_bound(spec, n), sanitised(spec, n).temperature,
    )  # fmt: skip
    f = torch.tensor([-3.0] + [0.0] * (design.dimension - 1), dtype=torch.float64)
    V, order = torch.zeros_like(f), torch.arange(1, design.intervals + 1)
    for t in range(1, steps + 1):
        rows = torch.randint(n, (spec.minibatch,), generator=rng)
        x, end, event = design.x[rows], design.interval[rows], design.event[rows]
        point = f.clone().requires_grad_(True)
        eta = (design.A @ point[: design.knots]) + (x @ point[design.knots :])[:, None]
        cost = (softplus(eta) * (order <= end[:, None])).sum(1)
        loss = cost - event * eta.gather(1, end[:, None] - 1)[:, 0]
        (slope,) = torch.autograd.grad((v * torch.tanh(loss / v)).mean(), point)
        gradient = 1e-2 * f / n + heat * slope
        noise = torch.randn(len(f), generator=rng, dtype=f.dtype)
        f, V = langevin.move(f, V, gradient, noise, t, n, spec)
    return f


def figure5() -> list[Row]:
    """The real data sets of Figure 5 at full size: the time, and who has the least error."""
    jobs = {k: j for k, j in exhibits("survival")["figure5"].jobs(True).items() if k[:2] in REAL}
    results: dict[str, Results] = {}
    begun, worked = time.perf_counter(), time.process_time()
    for name, job in jobs.items():
        try:
            data = catalog.load(job.dataset)
        except DatasetError as error:
            return [Row.missing("Figure 5", "as in its paper", str(error))]
        results[name] = collect(job, drive(job, data, lambda name, arrays: name))
    seconds = time.perf_counter() - begun
    head = Row(
        "Figure 5, three data sets, full size", seconds, None, "s", "below 90 s on two cores",
        seconds < 90.0, f"{sum(job.replicas() for job in jobs.values())} fits in "
        f"{time.process_time() - worked:.0f} s of one core's time",
    )  # fmt: skip
    return [head, *(private(name, results) for name in REAL)]


def private(name: str, results: dict[str, Results]) -> Row:
    """Private gradient descent against the best published method, at its worst budget."""
    ratios, reported = {}, []
    for budget in BUDGETS:
        ours = results[f"{name}/dp_gd"].mean("mre", epsilon=budget)
        others = {m: results[f"{name}/{m}"].mean("mre", epsilon=budget) for m in PUBLISHED}
        best = min(others, key=lambda method: others[method])
        ratios[budget] = ours / others[best]
        reported.append(f"ε {budget:g}: {ours:.3f} to {others[best]:.3f} ({best})")
    worst = max(ratios, key=lambda budget: ratios[budget])
    return Row(
        f"error of private descent over the best published method's, {name}",
        ratios[worst],
        1.0,
        "times, at the worst of seven budgets",
        "below 1",
        ratios[worst] < 1.0,
        f"worst at ε = {worst:g}; " + ", ".join(reported),
    )


if __name__ == "__main__":
    for row in rows():
        print(row, flush=True)
