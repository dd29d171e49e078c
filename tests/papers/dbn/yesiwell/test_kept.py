"""The predictions that a run keeps are those of its accuracy, and are not released."""

import numpy as np
import pytest
import torch

from datasets import catalog
from engine.core.batch import Batch
from engine.core.kept import declared, released
from engine.papers.dbn.yesiwell import PAPER
from engine.papers.dbn.yesiwell.exhibits import EPSILONS
from engine.papers.dbn.yesiwell.measure import NONE, percent
from engine.papers.dbn.yesiwell.spec import YesiwellSpec
from engine.papers.dbn.yesiwell.windows import sample
from engine.runs import shipped
from engine.runs.job import request

SMALL = YesiwellSpec(epochs=2, pretraining=1, sgd_epochs=2, bases=4, code=3)


@pytest.mark.parametrize("task", ["prediction", "classification"])
@pytest.mark.parametrize("name", ["pcdbn", "pcdbn/paper", "cdbn", "sctrbm", "dpah", "dpsgd"])
@pytest.mark.thorough
def test_the_accuracy_is_that_of_the_predictions(name, task):
    method, _, calibration = name.partition("/")
    table, entry = catalog.load("yesiwell_weekly"), PAPER.entry(method)
    spec = SMALL.replace(task=task, calibration=calibration or "rigorous")
    batch, trained = Batch.grid(spec, {}, (0, 1, 2)), entry.load()
    with torch.no_grad():
        rng = torch.Generator().manual_seed(0)
        state, info = trained.init(batch, table, rng), None
        for _ in range(entry.steps(spec, len(table))):
            state, told = trained.step(batch, table, state, rng)
            info = told or info
        kept = trained.products(batch, table, state)
    assert [array for array in kept if declared(PAPER.arrays, array) is None] == []
    assert not released(PAPER.arrays, "test_predictions")
    for seed, predicted in enumerate(kept["test_predictions"]):
        y = sample(table, spec, seed, "cpu").test.y.numpy()
        assert (predicted[len(y) :] == NONE).all()
        assert np.mean(predicted[: len(y)] == y) == pytest.approx(info.accuracy[seed])


def test_chances_in_whole_per_cent_stay_on_their_side_of_one_half():
    """What is drawn as a right prediction is one: 0.501 says 1, and 0.5 says 0."""
    chance = np.array([0.0, 0.004, 0.499, 0.5, 0.501, 0.506, 0.996, 1.0, np.nan])
    assert percent(chance).tolist() == [0, 0, 50, 50, 51, 51, 100, 100, NONE]


def test_the_network_of_a_first_visit_fits_into_what_ships():
    """Chances of 254 users on 28 days at seven budgets, hardly compressible, and the rest."""
    rng = np.random.default_rng(0)
    course = percent(rng.beta(2, 2, (7, 28, 254)))
    job = request("yesiwell", "pcdbn", "yesiwell", {}, {"epsilon": EPSILONS}, (0,))
    arrays = {
        "course": course,
        "test_predictions": (course > 50).reshape(7, -1).astype(np.uint8),
        "best": np.repeat(course[:1], 7, 0),
        "came": np.repeat((course[:1] > 40).astype(np.uint8), 7, 0),
        "filters": rng.normal(size=(7, 10, 1, 12, 4)).astype(np.float32),
        "filters_second": rng.normal(size=(7, 10, 10, 6, 2)).astype(np.float32),
        "places": np.repeat(rng.normal(size=(1, 254, 2)), 7, 0),
        "links": np.repeat(rng.integers(0, 254, (1, 1383, 2)), 7, 0),
    }
    _, kept = shipped.fitting(arrays, job)
    assert set(kept) == set(arrays)
