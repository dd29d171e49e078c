"""Small survival tables whose every number is known, and the real ones where their files are."""

import os
from dataclasses import replace

import numpy as np
import pytest

from datasets import catalog, flchain
from datasets.base import Bounds, Card, SurvivalTable
from engine.papers.survival.likelihood.problem import arrange
from engine.papers.survival.price.sensitivity import basis

LARGEST, LONGEST = 3.0, 200.0
"""Bounds of a toy table; some of its records lie beyond them."""


def table(n=60, p=2, seed=0, *, x=None, time=None, event=None):
    """A table of n simulated records, of which any part may be given."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, p)) if x is None else np.asarray(x, float)
    time = np.ceil(rng.exponential(50.0, len(x))) if time is None else np.asarray(time, float)
    event = rng.random(len(x)) < 0.6 if event is None else np.asarray(event, bool)
    card = Card(
        name="toy",
        title="Toy",
        summary="Simulated.",
        records=len(x),
        record="a draw",
        features=tuple(f"x{j}" for j in range(x.shape[1])),
        source="this test",
        licence="none",
        public="everything",
        events=int(event.sum()),
        simulated=True,
        embedded=True,
        bounds=Bounds(
            covariates=tuple((-LARGEST, LARGEST) for _ in range(x.shape[1])),
            horizon=LONGEST,
            source="this test",
        ),
    )
    return SurvivalTable(card, x, time, event)


def ball(rng, n, p):
    """Points in the unit ball, every third on its surface, shape (n, p)."""
    x = rng.normal(size=(n, p))
    x /= np.linalg.norm(x, axis=1, keepdims=True)
    radius = rng.random(n) ** (1.0 / p)
    radius[::3] = 1.0
    return x * radius[:, None]


def records(rng, n, p, q):
    """Arbitrary records of the scaled space: covariates, intervals and events."""
    return ball(rng, n, p), rng.integers(1, q + 1, n), rng.integers(0, 2, n).astype(float)


def model(x, interval, event, q, e):
    """The design of scaled records."""
    return arrange(x, interval, event, basis(q, e))


def real(name):
    """A real table; skips the test, with the reason, where its file is not at hand."""
    if not catalog.card(name).embedded and not os.environ.get("EXPLORER_DATA"):
        pytest.skip(f"EXPLORER_DATA names no folder with the publisher's file of {name}")
    return catalog.load(name)


def flchain_with(creatinine, monkeypatch, count=None):
    """What the loader makes of FLchain's file in which one person's creatinine is another.

    Args:
        creatinine: Of the first person whose value is known; None for one that is missing.
        monkeypatch: What puts the published file back.
        count: The file's first records of those with and without a value, in equal parts; None
            for all records.
    """
    from sksurv import datasets

    with monkeypatch.context() as patch:
        frame, outcome = datasets.load_flchain()
        frame = frame.copy()
        known = np.flatnonzero(frame["creatinine"].notna())
        gone = np.flatnonzero(frame["creatinine"].isna())
        frame.loc[frame.index[known[0]], "creatinine"] = (
            np.nan if creatinine is None else creatinine
        )
        if count is not None:
            rows = np.sort(np.concatenate([known[: count // 2], gone[: count // 2]]))
            frame, outcome = frame.iloc[rows], outcome[rows]
            card = replace(flchain.CARD, records=count, events=int(outcome["death"].sum()))
            patch.setattr(flchain, "CARD", card)
        patch.setattr(datasets, "load_flchain", lambda: (frame, outcome))
        return flchain.load()
