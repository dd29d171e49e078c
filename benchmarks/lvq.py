"""GMLVQ against sklvq and prototorch, and 25 folds in one batch against one by one."""

import importlib.util
import logging
import math
import time
import warnings
from collections.abc import Callable
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Generator

from benchmarks import peers
from benchmarks.row import TURNS, Row, Timing, at_most, turns
from datasets import catalog
from datasets.base import LabelledTable, Table
from engine.catalog import paper
from engine.core.batch import Batch
from engine.papers.lvq.folds import fold, joined, records
from engine.papers.lvq.spec import LvqSpec
from engine.runs import memory

SAMPLE = 140
"""Records in a step of the epoch on MNIST: the paper's q of 14,000."""
KINDS = ("loss and backward alone", "as its users run it, by Lightning")
"""What of prototorch is timed, in the order of `Peer`."""


def rows() -> list[Row]:
    """Every comparison; some minutes on two cores."""
    memory.keep()  # as in every process that trains
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
    table, there = catalog.load("mnist"), importlib.util.find_spec("prototorch") is not None
    ours, floor = _ours(table, range(1)), _best(_floor)
    note = "it asks scikit-learn for a method that is now a function: supplied here"
    once = Timing(tuple(_sklvq(table) for _ in range(TURNS)))
    done = [at_most("GMLVQ, one epoch of MNIST: sklvq", ours, once, 0.1, note)]
    if not there:
        return [*done, *_absent()]
    peer = _prototorch(table)
    bound = peer.plain.median / floor.median
    done += _both(
        "MNIST", ours, peer, f"the two products that nobody can leave out allow {bound:.2g} times"
    )
    for side in (14, 7):
        small = pooled(table, side)
        peer, what = _prototorch(small), f"MNIST in {side}x{side} means"
        done += _both(what, _ours(small, range(1)), peer, "")
        many = Peer(peer.plain * 25, peer.trained * 25)
        done += _both(f"{what}, 25 folds", _ours(small, range(25)), many, "25 times its one fold")
    return done


def _absent() -> list[Row]:
    """A row for each comparison with prototorch where it is not installed."""
    places = ["MNIST"]
    for side in (14, 7):
        places += [f"MNIST in {side}x{side} means", f"MNIST in {side}x{side} means, 25 folds"]
    why = "prototorch is not installed: make bench installs it"
    return [Row.missing(_against(what, name), "at most 1 times the peer", why)
            for what in places for name in KINDS]  # fmt: skip


def _against(what: str, name: str) -> str:
    return f"GMLVQ, one epoch of {what}: prototorch, {name}"


class Peer(NamedTuple):
    """Seconds of an epoch of prototorch: its loss and backward alone, and by its trainer."""

    plain: Timing
    trained: Timing


def _ours(table: Table, folds: range) -> Timing:
    """Seconds of 100 steps, together an epoch, on some folds in one batch."""
    spec = LvqSpec(sample_rate=0.01, epochs=50.0, averaging=0.0)
    return _best(lambda: [steps("gmlvq_sgd", table, spec, folds, 100) for _ in range(TURNS)])


def _best(measure: Callable[[], list[float]]) -> Timing:
    """On one thread or on all, whichever is quicker: small products are on one."""
    every, timings = torch.get_num_threads(), []
    for count in {1, every}:
        torch.set_num_threads(count)
        timings.append(Timing(tuple(measure())))
    torch.set_num_threads(every)
    return min(timings, key=lambda timing: timing.median)


def _both(what: str, ours: Timing, peer: Peer, note: str) -> list[Row]:
    """Against prototorch without a trainer, and as its users run it."""
    return [
        at_most(_against(what, name), ours, theirs, 1.0, note)
        for name, theirs in zip(KINDS, peer, strict=True)
    ]


def pooled(table: Table, side: int) -> Table:
    """MNIST with each picture as the means of side x side equal squares."""
    assert isinstance(table, LabelledTable)
    width = 28 // side
    squares = table.x.reshape(-1, side, width, side, width).astype(np.float32)
    test = None if table.test is None else pooled(table.test, side)
    assert test is None or isinstance(test, LabelledTable)
    return replace(table, x=squares.mean((2, 4)).reshape(len(table.x), -1), test=test)


def _floor() -> list[float]:
    """Seconds of an epoch's records through Omega, and of their outer products."""
    x, omega, seconds = torch.randn(SAMPLE, 784), torch.eye(784), []
    for _ in range(TURNS):
        begin = time.perf_counter()
        for _ in range(100):
            z = x @ omega.mT
            z.mT @ x
        seconds.append(time.perf_counter() - begin)
    return seconds


def _prototorch(table: Table) -> Peer:
    """Seconds of an epoch of prototorch's GMLVQ on fold 0, by plain descent."""
    initial, models = peers.prototorch("core.initializers"), peers.prototorch("models")
    d = joined(table)[0].shape[1]
    all_records, train = records(table, 1 / math.sqrt(d), "cpu"), fold(table, 0)[0]
    data = torch.utils.data.TensorDataset(all_records.x[train], all_records.y[train])
    shape = {"input_dim": d, "latent_dim": d, "distribution": (10, 1), "lr": 1e-3}

    def build() -> Any:
        start = initial.SMCI(data)
        return models.GMLVQ(shape, optimizer=torch.optim.SGD, prototypes_initializer=start)

    plain = _best(lambda: _plain(build(), *data.tensors))
    return Peer(plain, _best(lambda: _trained(build(), data)))


def _plain(model: Any, x: torch.Tensor, y: torch.Tensor) -> list[float]:
    """Its own loss, torch's backward and a step of descent, with nothing around them."""
    descent, seconds = model.configure_optimizers(), []
    for _ in range(TURNS):
        begin = time.perf_counter()
        for rows in torch.split(torch.randperm(len(x)), SAMPLE):
            _, loss = model.shared_step((x[rows], y[rows]), 0)
            descent.zero_grad()
            loss.backward()
            descent.step()
        seconds.append(time.perf_counter() - begin)
    return seconds


def _trained(model: Any, data: Any) -> list[float]:
    """Lightning's trainer without log, bar or checkpoint; seconds of each epoch."""
    lightning: Any = importlib.import_module("pytorch_lightning")
    clock: list[float] = []

    def note(*_: Any) -> None:
        clock.append(time.perf_counter())

    logging.getLogger("pytorch_lightning").setLevel(logging.ERROR)
    seen = lightning.callbacks.LambdaCallback(on_train_epoch_start=note, on_train_epoch_end=note)
    silent = dict.fromkeys(("logger", "enable_checkpointing", "enable_progress_bar",
                            "enable_model_summary"), False)  # fmt: skip
    trainer = lightning.Trainer(max_epochs=TURNS, accelerator="cpu", callbacks=[seen], **silent)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        trainer.fit(model, torch.utils.data.DataLoader(data, batch_size=SAMPLE, shuffle=True))
    return [end - begin for begin, end in zip(clock[::2], clock[1::2], strict=True)]


def _sklvq(table: Table) -> float:
    """Seconds of sklvq's epoch over a tenth of the fold, times ten."""
    from sklearn.utils.validation import validate_data
    from sklvq import GMLVQ
    from sklvq.models._base import LVQBaseClass

    def validate(self: Any, x: Any, y: Any, force_all_finite: Any) -> Any:
        return validate_data(self, x, y, ensure_all_finite=force_all_finite)

    if "_validate_data" not in dir(LVQBaseClass):
        LVQBaseClass._validate_data = validate
    all_records, train = records(table, 1 / math.sqrt(784), "cpu"), fold(table, 0)[0][: 10 * SAMPLE]
    settings = {"max_runs": 1, "batch_size": SAMPLE, "step_size": 0.001}
    model = GMLVQ(activation_type="identity", solver_params=settings, random_state=0)
    x, y = all_records.x[train].double().numpy(), all_records.y[train].numpy()
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
            other = 1 if size > 1 else folds  # what the driver does, against what it does not
            took = turns({"ours": _work(method, table, spec, folds, size, count),
                          "other": _work(method, table, spec, folds, other, count)})  # fmt: skip
            limit = target if size > 1 else 1.05  # a choice between equals is no loss
            against = "one by one" if size > 1 else "all in one step"
            what = f"{folds} folds of {name}, {method}"
            note = f"{size} folds step together; peer: {against}"
            done.append(at_most(what, took["ours"], took["other"], limit, note))
    return done


def _work(
    method: str, table: Table, spec: LvqSpec, folds: int, size: int, count: int
) -> Callable[[], float]:
    """Says the seconds that so many steps of each fold take, `size` folds at a time."""
    groups = [range(i, min(i + size, folds)) for i in range(0, folds, size)]
    return lambda: sum(steps(method, table, spec, group, count) for group in groups)


if __name__ == "__main__":
    from benchmarks.__main__ import main

    main(["lvq"])
