"""Whole steps and whole runs: the noise that arrives, bad input, and what runs leave behind."""

import math
from dataclasses import replace

import numpy as np
import pytest
import torch

from datasets import catalog as data
from engine.catalog import paper
from engine.core.batch import Batch
from engine.core.errors import BudgetError
from engine.core.spec import knobs
from engine.papers.enadpp import PAPER, price, trainer
from engine.papers.enadpp.spec import EnadppSpec
from engine.papers.enadpp.variants import VARIANTS
from engine.privacy.recording import recording, replaying
from engine.runs.driver import drive
from engine.runs.events import Finished
from engine.runs.job import request
from engine.runs.results import collect
from engine.service.claim import take
from engine.service.client import Client
from engine.service.job_runner import perform
from engine.service.process import here
from engine.training.split import train_rows

NAMES = [entry.name for entry in PAPER.methods]
SHORT = {"sample_rate": 0.1, "epochs": 0.5}


def run(method, values, axes=None, seeds=(0,)):
    job = request("enadpp", method, "digits", {**SHORT, **values}, axes or {}, seeds)
    kept = {}
    table = data.load("digits")
    events = list(drive(job, table, lambda name, arrays: kept.update(arrays) or name))
    return collect(job, events), events, kept


@pytest.fixture
def quick(monkeypatch):
    """A multiplier in place of minutes of accounting, where only the scale is in question."""
    for search in ("_gaussian", "_stairs", "_laplace"):
        monkeypatch.setattr(price, search, lambda *plan: 1.5)


def displaced(name, spec):
    """How an empty batch moves fresh weights, and the ratios in force."""
    batch, table = Batch.grid(spec, {}, (0, 1)), data.load("digits")
    rng = torch.Generator().manual_seed(0)
    with torch.no_grad():
        state = trainer.init(VARIANTS[name], batch, table, rng)
        before = state.parameters[0][0].clone()
        state, _ = trainer.step(VARIANTS[name], batch, table, state, rng)
    return (state.parameters[0][0] - before).double(), state.ratios


@pytest.mark.parametrize("reading", ["A", "B", "C"])
def test_the_printed_noise_arrives_divided_by_the_ratio(reading):
    """64 weights enter each of 64 neurons in 2 replicas: the mean of 8192 |x|/b errs by .011."""
    spec = EnadppSpec(
        calibration="paper", noise_reading=reading, sample_rate=1e-6, epochs=1e-3, decay=0.0,
        learning_rate=0.1, epsilon=0.2, clip_l1=30.0,
    )  # fmt: skip
    moved, ratios = displaced("enadpp", spec)
    batch, n = 1e-6 * 1438, 1797  # 359 of the digits are held out
    factor = {"A": 0.1 / batch, "B": 0.1, "C": 1.0}[reading]
    mean_scale = 2 * factor * 30.0 / (batch * 0.2)
    assert price.batch_size(spec, n) == pytest.approx(batch)
    unit = moved.abs() * ratios[0].double()[..., None] / (0.1 * mean_scale)
    assert float(unit.mean()) == pytest.approx(1.0, abs=5 * 0.011)


@pytest.mark.parametrize("name", ["psgd", "appdl", "enadpp"])
def test_the_noise_that_arrives_is_the_noise_that_is_priced(name, quick):
    """8192 normal draws: the deviation has a relative error of .0078."""
    spec = EnadppSpec(
        noise="gaussian", sample_rate=1e-3, epochs=2e-3, decay=0.0, learning_rate=1.0, epsilon=0.05
    )
    quiet = spec.replace(clip=1e-6)
    moved, ratios = displaced(name, quiet)
    weight = torch.ones(2, 64) if ratios is None else ratios[0]
    scale = price.mechanism(VARIANTS[name], quiet, 1797).scale / price.batch_size(quiet, 1797)
    unit = moved * weight.double()[..., None] / scale
    # a record, if one is drawn, moves the sum by C: far less than noise in 64 coordinates
    assert float(unit.std()) == pytest.approx(1.0, abs=0.06)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.thorough
def test_extreme_settings_are_results(name, quick):
    extremes = (
        {"sample_rate": 1.0, "epochs": 1}, {"clip": 1e-6, "clip_l1": 1e-6},
        {"clip": 1e6, "clip_l1": 1e9}, {"sample_rate": 1e-4, "epochs": 1e-3, "epsilon": 0.05},
    )  # fmt: skip
    for values in extremes:
        _, events, _ = run(name, values)
        assert isinstance(events[-1], Finished)


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("name", "noise"), [("psgd", "gaussian"), ("enadpp", "laplace"), ("enadpp", "gaussian")]
)
def test_the_smallest_budget_is_a_result(name, noise):
    """As the accountant has it, unlike above; a batch's noise is hundreds of times its signal."""
    least = knobs(EnadppSpec)["epsilon"].bounds[0]
    results, events, _ = run(name, {"epsilon": least, "noise": noise})
    assert isinstance(events[-1], Finished)
    assert results.mean("noise_to_signal") > 100
    assert results.epsilon[0] == pytest.approx(least, rel=0.05)


@pytest.mark.thorough
def test_a_diverging_replica_leaves_the_others_alone():
    results, events, _ = run("psgd", {}, {"learning_rate": (0.1, 1e6)}, seeds=(0, 1))
    alone, _, _ = run("psgd", {}, {"learning_rate": (0.1, 0.2)}, seeds=(0, 1))
    assert np.isfinite(results.values("loss", learning_rate=0.1)).all()
    assert results.mean("accuracy", learning_rate=0.1) == pytest.approx(
        alone.mean("accuracy", learning_rate=0.1), abs=0.3
    )
    assert events[-1].outcome == "completed"


def test_a_budget_that_no_noise_meets_is_refused():
    """0.9 to the power of 36,000 is zero: no first deviation meets any budget."""
    with pytest.raises(BudgetError, match="expected a budget that some noise meets"):
        run("appdl", {"sigma_decay": 0.9, "sample_rate": 1e-3, "epochs": 40}, seeds=(0,))


@pytest.mark.thorough
@pytest.mark.parametrize("name", ["psgd", "dpsgd", "enadpp"])
def test_the_smallest_budget_trains_with_finite_noise(name):
    results, _, _ = run(name, {"epsilon": 1e-3}, seeds=(0,))
    assert np.isfinite(results.values("loss")).all()


def test_without_clipping_a_huge_learning_rate_is_marked_diverged_and_harms_nobody(monkeypatch):
    """The other replica draws and computes what it does beside one that stays sane."""
    monkeypatch.setattr("engine.runs.driver._seed", lambda job, number: 5)
    actual, events, _ = run("non_private", {"epochs": 2}, {"plain_rate": (0.05, 1e6)})
    sane, quiet, _ = run("non_private", {"epochs": 2}, {"plain_rate": (0.05, 0.06)})
    assert (events[-1].diverged, quiet[-1].diverged) == ((1,), ())
    for gauge in ("accuracy", "loss"):
        at = {"plain_rate": 0.05}
        np.testing.assert_array_equal(actual.values(gauge, **at), sane.values(gauge, **at))


def test_without_privacy_digits_are_learnt():
    """359 test digits: five standard errors below .95 are .89."""
    results, _, _ = run("non_private", {"epochs": 20})
    assert results.mean("accuracy") > 0.89


@pytest.mark.thorough
def test_noise_destroys_what_it_should():
    """At epsilon 0.001 ten classes are guessed: .1 with 5 standard errors of .016 and some skew."""
    results, _, _ = run("psgd", {"epochs": 6}, {"epsilon": (0.001, 1000.0)}, seeds=(0, 1))
    assert not results.mean("accuracy", epsilon=0.001) > 0.3
    assert results.mean("accuracy", epsilon=1000.0) > 0.5


@pytest.mark.parametrize("name", ["enadpp", "dpsgd", "psgd"])
@pytest.mark.thorough
def test_what_a_run_leaves_behind(name):
    _, _, kept = run(name, {"representation": "pixels"}, {"epsilon": (1.0, 2.0)}, seeds=(0, 1))
    shapes = {key: value.shape for key, value in kept.items()}
    assert shapes["accuracy_by_class"] == (4, 10)
    assert shapes["gradient_norm_counts"] == (4, 60)
    assert shapes["relevance_z_plus"] == shapes["images"] == (4, 10, 64)
    assert shapes["noise_to_signal_layers"][::2] == (4, 3)
    assert kept["gradient_norm_counts"].sum(1).tolist() == [1000] * 4
    if name == "enadpp":
        assert (shapes["alpha_1"], shapes["alpha_2"]) == ((4, 64), (4, 32))
        assert kept["alpha_1"].min() == pytest.approx(0.05)
        assert kept["alpha_1"].max() == 1.0


def test_the_predictions_that_a_run_keeps_are_those_that_are_scored():
    """By the order that an export tells: which rows, then each one's predicted class."""
    results, _, kept = run("non_private", {"epochs": 5})
    table = data.load("digits")
    rows = paper("enadpp").model(EnadppSpec(), table.card)["tested_rows"]
    right = kept["test_predictions"] == table.y[rows]
    assert right.mean(1) == pytest.approx(results.gauges["accuracy"])
    assert right.mean() > 0.5


def test_rigorous_ratios_ignore_the_records():
    """Two tables, one network: the ratios are the same, since their inputs are simulated."""
    batch, rng = Batch.grid(EnadppSpec(), {}, (0,)), torch.Generator().manual_seed(0)
    table = data.load("digits")
    other = type(table)(table.card, table.x[::-1] * 0.5, table.y, table.bounds, table.image)
    with torch.no_grad():
        state = trainer.init(VARIANTS["enadpp"], batch, table, rng)
        actual = [
            trainer.budget_ratios(VARIANTS["enadpp"], batch, t, state, *_network(batch, t), rng)
            for t in (table, other)
        ]
    torch.testing.assert_close(actual[0][0], actual[1][0])


def _network(batch, table):
    return (trainer.models.network(VARIANTS["enadpp"], batch.spec, table, 64),)


@pytest.mark.thorough
def test_small_convolutions_train():
    results, _, kept = run("enadpp", {"network": "cnn", "noise": "gaussian"}, seeds=(0, 1))
    assert math.isfinite(results.mean("loss"))
    assert kept["alpha_1"].shape[1] == 8


def filled(kind):
    """What the allocators raise, in earnest where there is such a device."""
    if kind == "cuda":
        if torch.cuda.is_available():
            torch.empty(2**50, device="cuda")
        raise torch.cuda.OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 GiB.")
    if kind == "processor":
        torch.empty(2**58)
    raise MemoryError


@pytest.mark.parametrize("kind", ["cuda", "processor", "python"])
def test_a_full_device_is_one_sentence_and_the_next_run_is_whole(kind, monkeypatch, tmp_path):
    monkeypatch.setenv("EXPLORER_HOME", str(tmp_path))
    client = Client(workers=False)
    job = request("enadpp", "non_private", "digits", {"epochs": 1})
    with monkeypatch.context() as broken:
        broken.setattr(trainer, "step", lambda *_: filled(kind))
        client.submit(job)
        assert perform(take(client.store, here(), job.id)) == "failed"
    assert client.run(job.id).error == (
        "Memory ran out: run fewer replicas at once or a smaller model"
    )
    client.submit(job)
    assert perform(take(client.store, here(), job.id)) == "completed"


@pytest.mark.parametrize("name", ["psgd", "enadpp"])
def test_shuffled_batches_are_drawn_as_they_are_priced(name):
    """A record that is left out moves one sum in each epoch, and is paid for as often."""
    spec = EnadppSpec(sampling="shuffled", sample_rate=0.25, epochs=3, noise="gaussian")
    entry, table = PAPER.entry(name), data.load("digits")
    alone = replace(table, left_out=(int(train_rows(len(table))[3]),))

    def sums(own, watching):
        batch, rng = Batch(spec, (spec,), (0,)), torch.Generator().manual_seed(1)
        with watching as seen, torch.no_grad():
            state = entry.load().init(batch, own, rng)
            for _ in range(12):
                state, _ = entry.load().step(batch, own, state, rng)
        return seen.releases

    first = sums(table, recording())
    second = sums(alone, replaying(first))
    moved = [
        not all(map(torch.equal, x.values, y.values)) for x, y in zip(first, second, strict=True)
    ]
    assert [sum(moved[epoch : epoch + 4]) for epoch in (0, 4, 8)] == [1, 1, 1]
    assert sum(release.met() for release in entry.releases(spec, len(table))) == 3
