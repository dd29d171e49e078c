"""Persons compared in pairs: every method runs, and nothing is named that was not drawn."""

import math

import numpy as np
import pytest

from datasets import catalog as data
from engine.papers.enadpp import PAPER, price
from engine.runs.driver import drive
from engine.runs.events import Finished
from engine.runs.job import request
from engine.runs.results import collect
from engine.training.records import episodes, records

NAMES = [entry.name for entry in PAPER.methods]


@pytest.fixture(autouse=True)
def nobody(monkeypatch):
    """The simulator, whatever lies in the folder of data, and quick prices."""
    monkeypatch.delenv("EXPLORER_DATA", raising=False)
    for search in ("_gaussian", "_stairs", "_laplace"):
        monkeypatch.setattr(price, search, lambda *plan: 1.5)


def run(method, values, axes=None, seeds=(0, 1)):
    job = request("enadpp", method, "adni", values, axes or {}, seeds)
    kept = {}
    events = list(drive(job, data.load("adni"), lambda name, arrays: kept.update(arrays) or name))
    return collect(job, events), events, kept


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("calibration", ["paper", "rigorous"])
@pytest.mark.thorough
def test_every_method_trains_on_pairs(name, calibration):
    results, events, kept = run(name, {"epochs": 1, "calibration": calibration})
    assert isinstance(events[-1], Finished)
    assert math.isfinite(results.mean("loss"))
    assert kept["accuracy_by_class"].shape == (2, 2)
    assert kept["gradient_norm_counts"].sum(1).tolist() == [128, 128]
    for rule in ("z_plus", "epsilon"):
        shares = kept[f"compared_{rule}"]
        assert shares.shape == (2, 600)
        assert (shares >= 0).all()
        # a pair whose codes coincide explains nothing, so the mean may lose a few of them
        assert 0.9 < float(shares.sum(1).min()) <= float(shares.sum(1).max()) < 1.0 + 1e-6
    if name in ("enadpp", "adppl"):
        assert kept["alpha_1"].shape == (2, 8)
        assert "alpha_2" not in kept


@pytest.mark.thorough
def test_without_privacy_persons_are_told_apart_as_often_as_published():
    """67.57 % in the paper; the mean of 10 runs of deviation .025 errs by .008: within .03."""
    results, _, _ = run("non_private", {}, seeds=range(10))
    assert results.mean("accuracy") == pytest.approx(0.6757, abs=0.03)


def test_an_episode_asks_about_somebody_who_is_no_example():
    table = data.load("adni")
    plain, asked = records(table, "cpu"), episodes(table, "cpu")
    assert len(asked) == len(plain) == price.trained(319) == 256
    shown, own = asked.test_x.numpy(), 2.0 * plain.test_x.numpy() - 1.0
    assert not (shown[..., :1] == shown[..., 1:]).all(1).any()
    classes = plain.test_y.numpy()
    for row, target in zip(shown[:50], asked.test_y.numpy()[:50], strict=True):
        actual = [int(np.flatnonzero((own == row[:, place]).all(1))[0]) for place in range(3)]
        assert classes[actual].tolist() == [target, 0, 1]


@pytest.mark.parametrize("name", [name for name in PAPER.datasets if data.card(name).embedded])
def test_what_is_priced_is_what_is_drawn(name):
    """Coins are thrown for the records that are trained on, and the batch is counted in those."""
    assert price.trained(data.card(name).records) == len(records(data.load(name), "cpu"))


def test_all_of_mnist_is_trained_on():
    assert price.trained(data.card("mnist").records) == 60_000
