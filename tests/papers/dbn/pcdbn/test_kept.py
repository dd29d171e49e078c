"""What a run keeps is enough to repeat its predictions, and its predictions give its accuracy."""

import numpy as np
import pytest
import torch

from datasets import catalog
from engine.catalog import paper
from engine.core.kept import declared, released
from engine.papers.dbn.pcdbn import PAPER, maps
from engine.papers.dbn.pcdbn.images import images
from engine.papers.dbn.pcdbn.spec import PcdbnSpec
from engine.runs.driver import drive
from engine.runs.events import Produced
from engine.runs.job import request
from engine.training.least_squares import shortened
from tests.papers.dbn.pcdbn.test_methods import run

SMALL = PcdbnSpec(filters=4, epochs=3, pretraining=1, sgd_epochs=2, epsilon=8.0)
WAYS = [("pcdbn", calibration) for calibration in ("rigorous", "paper", "released")] + [
    (name, "rigorous") for name in ("pcdbn_te", "psgd", "cdbn")
]


@pytest.fixture(scope="module")
def digits():
    return catalog.load("digits")


@pytest.mark.parametrize(("name", "calibration"), WAYS)
@pytest.mark.thorough
def test_the_accuracy_is_that_of_the_predictions(digits, name, calibration):
    """An export says which rows are tested on, and in which order."""
    spec = SMALL.replace(calibration=calibration)
    _, info, kept = run(name, digits, spec, seeds=(0, 1))
    rows = paper("pcdbn").model(spec, digits.card)["tested_rows"]
    right = (kept["test_predictions"] == np.asarray(digits.y)[rows]).mean(1)
    np.testing.assert_allclose(right, info.accuracy, atol=1e-9)
    assert not released(PAPER.arrays, "test_predictions")


@pytest.mark.parametrize("solver", ["closed_form", "descent"])
def test_the_released_arrays_alone_give_the_predictions(digits, solver):
    """What `model` says of an export, done with what is released and the test images."""
    spec = SMALL.replace(solver=solver)
    _, _, kept = run("pcdbn", digits, spec, {"epsilon": (2.0, 8.0)})
    public = {n: torch.tensor(a) for n, a in kept.items() if released(PAPER.arrays, n)}
    pictures = images(digits, spec, "cpu")
    for row, told in enumerate(kept["test_predictions"]):
        own = {name: part[row] for name, part in public.items()}
        layers = own["weights_1"], own["weights_2"]
        counts = layers[1].shape[1], len(own["whitening_mean"])
        states = maps.features(pictures.test_x, layers, counts)
        centred = shortened(states - own["whitening_mean"])
        turned = own["whitening_channels"].T @ centred @ own["whitening_positions"]
        order = own["whitening_order"].long()
        white = turned.flatten(1)[:, order] * own["whitening_scale"]
        used = int(own["dimensions"])
        scores = shortened(white[:, :used].clone()) @ own["weights_3"][:used]
        assert scores.argmax(1).tolist() == told.tolist()


@pytest.mark.parametrize(("name", "calibration"), WAYS)
def test_everything_that_is_kept_is_declared(digits, name, calibration):
    _, _, kept = run(name, digits, SMALL.replace(calibration=calibration))
    assert [array for array in kept if declared(PAPER.arrays, array) is None] == []


def test_chunks_of_a_grid_are_put_together(digits):
    """Replicas of other budgets have classifiers of other sizes, in chunks of their own."""
    spec = SMALL.replace(degree=1)
    values = {name: value for name, value in vars(spec).items() if name != "epsilon"}
    job = request("pcdbn", "pcdbn", "digits", values, {"epsilon": (0.1, 8.0)}, range(8))
    kept: dict[str, dict[str, np.ndarray]] = {}
    events = list(drive(job, digits, lambda name, arrays: kept.update({name: arrays}) or name))
    made = [one for one in events if isinstance(one, Produced)]
    assert len(made) > 1
    parts = [(kept[one.name], one.replicas) for one in made]
    assert len({tuple(int(d) for d in np.unique(a["dimensions"])) for a, _ in parts}) > 1
    shapes = [{name: array.shape[1:] for name, array in arrays.items()} for arrays, _ in parts]
    assert all(one == shapes[0] for one in shapes)
