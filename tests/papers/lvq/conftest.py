"""Small tables and runs that the tests of private relevance learning share."""

import math
import os
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import Generator

from datasets import catalog
from datasets.base import Card, LabelledTable
from engine.catalog import paper
from engine.core.batch import Batch
from engine.papers.lvq.spec import LvqSpec

torch.set_num_threads(1)  # small tensors: more threads only wait for each other
DATA = os.environ.get("EXPLORER_DATA", "")


def make(x, y, bounds=(-1.0, 1.0)) -> LabelledTable:
    """A table of these records."""
    card = Card(
        name="toy", title="Toy", summary="", records=len(y), record="a point",
        features=(f"{x.shape[1]} numbers",), source="", licence="", public="",
        classes=len(np.unique(y)),
    )  # fmt: skip
    limits = tuple(np.full(x.shape[1], float(b)) for b in bounds)
    return LabelledTable(card, np.asarray(x, float), np.asarray(y, np.int64), limits)


def blobs(n=200, d=4, classes=3, seed=0) -> LabelledTable:
    """Overlapping clouds inside the cube."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % classes
    centres = rng.uniform(-0.6, 0.6, (classes, d))
    return make(np.clip(centres[y] + 0.25 * rng.standard_normal((n, d)), -1, 1), y)


def run(method, table, seeds=(0,), axes=None, **values):
    """State, last info and products after all steps of a method on a table."""
    entry = paper("lvq").entry(method)
    batch = Batch.grid(LvqSpec(**values), axes or {}, seeds)
    rng = Generator().manual_seed(7)
    with torch.no_grad():
        state, info = entry.load().init(batch, table, rng), None
        for _ in range(entry.steps(batch.spec, len(table))):
            state, reported = entry.load().step(batch, table, state, rng)
            info = reported or info
        return state, info, entry.load().products(batch, table, state)


@pytest.fixture
def toy():
    return blobs()


@pytest.fixture(scope="session")
def segment() -> LabelledTable:
    """The regions of the publisher's files."""
    if not (Path(DATA) / "segment").is_dir() or not DATA:
        pytest.skip("segment: set EXPLORER_DATA to the folder that holds segment/")
    return catalog.load("segment")


def finite(columns) -> bool:
    """Whether every gauge of every replica is a number."""
    return all(np.isfinite(column).all() for column in vars(columns).values())


def close(a, b, tolerance) -> bool:
    """Whether two numbers agree relatively."""
    return math.isclose(a, b, rel_tol=tolerance)
