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
    ours = steps("gmlvq_sgd", table, spec, range(1), 100)
    theirs = _sklvq(table)
    done = [
        Row(
            "GMLVQ, one epoch of MNIST, sklvq",
            ours,
            theirs,
            "s",
            "10 times",
            theirs >= 10 * ours,
            "sklvq asks scikit-learn for a method that is now a function: supplied here",
        )
    ]
    if importlib.util.find_spec("prototorch") is None:
        done.append(
            Row("GMLVQ, one epoch of MNIST, prototorch", ours, None, "s", "10 times", None,
                "prototorch is not installed")
        )  # fmt: skip
    return done


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
        for method in ("glvq_dp", "gmlvq_dp"):
            table, spec = catalog.load(name), LvqSpec()
            size = paper("lvq").entry(method).chunk(spec, len(table), "cpu")
            together = sum(
                steps(method, table, spec, range(i, min(i + size, folds)), count)
                for i in range(0, folds, size)
            )
            alone = sum(steps(method, table, spec, range(i, i + 1), count) for i in range(folds))
            done.append(
                Row(
                    f"{folds} folds of {name}, {method}",
                    together,
                    alone,
                    "s",
                    f"at most {target:g} of one by one",
                    together <= (target if size > 1 else 1.05) * alone,
                    f"{min(size, folds)} folds step together",
                )
            )
    return done


if __name__ == "__main__":
    from benchmarks.__main__ import main

    main(["lvq"])
