"""GMLVQ against sklvq and prototorch, and 25 folds in one batch against one by one."""

import importlib.util
import math
import time
from typing import Any

import torch
from torch import Generator

from benchmarks.row import Row
from datasets import catalog
from datasets.base import Table
from engine.batch import Batch
from engine.catalog import paper
from engine.papers.lvq.folds import fold, records
from engine.papers.lvq.spec import LvqSpec

SAMPLE = 140
"""Records in a step of the epoch on MNIST: the paper's q of 14,000."""


def rows() -> list[Row]:
    """Every comparison; some minutes on two cores."""
    return [*_epoch(), *_batched()]


def steps(method: str, table: Table, spec: LvqSpec, seeds: range, count: int) -> float:
    """Seconds that `count` steps take on these folds, measured from the second on."""
    batch = Batch.grid(spec, {}, tuple(seeds))
    run = paper("lvq").entry(method).load()
    rng = Generator().manual_seed(0)
    with torch.no_grad():
        state: Any = run.init(batch, table, rng)
        state, _ = run.step(batch, table, state, rng)
        begin = time.perf_counter()
        for _ in range(count):
            state, _ = run.step(batch, table, state, rng)
    return time.perf_counter() - begin


def _epoch() -> list[Row]:
    """One pass of GMLVQ over a fold of MNIST, in steps of 140 records, without privacy."""
    table = catalog.load("mnist")
    spec = LvqSpec(sample_rate=0.01, epochs=50.0, averaging=0.0)
    ours = min(steps("gmlvq_sgd", table, spec, range(1), 100) for _ in range(3))
    there = importlib.util.find_spec("prototorch") is not None
    floor = f"the two matrix products that nobody can leave out take {_floor():.2g} s"
    return [
        _against(
            "sklvq", ours, _sklvq(table), "it asks scikit-learn for a method that is now a "
            "function: supplied here",
        ),
        _against(
            "prototorch", ours, _prototorch(table) if there else None,
            floor if there else f"not installed; {floor}",
        ),
    ]  # fmt: skip


def _floor() -> float:
    """Seconds of an epoch's records through Omega, and of their outer products."""
    x, omega, best = torch.randn(SAMPLE, 784), torch.eye(784), math.inf
    for _ in range(3):
        begin = time.perf_counter()
        for _ in range(100):
            z = x @ omega.mT
            z.mT @ x
        best = min(best, time.perf_counter() - begin)
    return best


def _against(name: str, ours: float, theirs: float | None, note: str) -> Row:
    met = None if theirs is None else theirs >= 10 * ours
    return Row(f"GMLVQ, one epoch of MNIST, {name}", ours, theirs, "s", "10 times", met, note)


def _prototorch(table: Table) -> float:
    """Seconds of prototorch's epoch: its own loss and plain descent, no trainer around it."""
    initial: Any = importlib.import_module("prototorch.core.initializers")
    models: Any = importlib.import_module("prototorch.models")
    found, train = records(table, 1 / math.sqrt(784), "cpu"), fold(table, 0)[0]
    x, y = found.x[train], found.y[train]
    shape = {"input_dim": 784, "latent_dim": 784, "distribution": (10, 1), "lr": 1e-3}
    model = models.GMLVQ(
        shape,
        optimizer=torch.optim.SGD,
        prototypes_initializer=initial.SMCI(torch.utils.data.TensorDataset(x, y)),
    )
    descent, best = model.configure_optimizers(), math.inf
    for _ in range(3):
        begin = time.perf_counter()
        for rows in torch.split(torch.randperm(len(x)), SAMPLE):
            _, loss = model.shared_step((x[rows], y[rows]), 0)
            descent.zero_grad()
            loss.backward()
            descent.step()
        best = min(best, time.perf_counter() - begin)
    return best


def _sklvq(table: Table) -> float:
    """Seconds of sklvq's epoch over a tenth of the fold, times ten."""
    from sklearn.utils.validation import validate_data
    from sklvq import GMLVQ
    from sklvq.models._base import LVQBaseClass

    def validate(self: Any, x: Any, y: Any, force_all_finite: Any) -> Any:
        return validate_data(self, x, y, ensure_all_finite=force_all_finite)

    if "_validate_data" not in dir(LVQBaseClass):
        LVQBaseClass._validate_data = validate
    found, train = records(table, 1 / math.sqrt(784), "cpu"), fold(table, 0)[0][: 10 * SAMPLE]
    settings = {"max_runs": 1, "batch_size": SAMPLE, "step_size": 0.001}
    model = GMLVQ(activation_type="identity", solver_params=settings, random_state=0)
    x, y = found.x[train].double().numpy(), found.y[train].numpy()
    begin = time.perf_counter()
    model.fit(x, y)
    return 10 * (time.perf_counter() - begin)


def _batched() -> list[Row]:
    """Folds together, in the chunks that the driver takes, against one after another."""
    done = []
    for name, target, count, folds in (
        ("segment", 0.5, 10, 25),
        ("digits", 0.5, 10, 25),
        ("mnist", 1.0, 3, 4),
    ):
        table, spec = catalog.load(name), LvqSpec()
        for method in ("glvq_dp", "gmlvq_dp"):
            size = min(folds, paper("lvq").entry(method).chunk(spec, len(table), "cpu"))
            together, alone = math.inf, math.inf
            for _ in range(2):  # in turns, and the better of each: others use the machine too
                together = min(together, _folds(method, table, spec, folds, size, count))
                alone = min(alone, _folds(method, table, spec, folds, 1, count))
            done.append(
                Row(
                    f"{folds} folds of {name}, {method}",
                    together,
                    alone,
                    "s",
                    f"at most {target:g} of one by one",
                    together <= (target if size > 1 else 1.05) * alone,
                    f"{size} folds step together"
                    if size > 1
                    else "one fold at a time is fastest, so both are the same steps",
                )
            )
    return done


def _folds(method: str, table: Table, spec: LvqSpec, folds: int, size: int, count: int) -> float:
    """Seconds that `count` steps of each fold take, `size` folds at a time."""
    return sum(
        steps(method, table, spec, range(i, min(i + size, folds)), count)
        for i in range(0, folds, size)
    )


if __name__ == "__main__":
    from benchmarks.__main__ import main

    main(["lvq"])
