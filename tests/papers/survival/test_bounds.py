"""Scales that no record moves: neighbours are scaled alike, and stay within the sensitivity."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from datasets import catalog
from datasets.base import Bounds
from engine.catalog import paper
from engine.core.errors import DatasetError, RequestError
from engine.papers.survival.evaluation import evaluate
from engine.papers.survival.likelihood.logit import mean_gradient
from engine.papers.survival.likelihood.problem import design
from engine.papers.survival.likelihood.scale import scaled, survival, unbounded
from engine.papers.survival.mechanisms.descent import clipped_sum
from engine.papers.survival.price.descent import even
from engine.papers.survival.price.sensitivity import gradient_bound, output_noise
from engine.papers.survival.spec import SurvivalSpec
from tests.papers.survival.toys import LARGEST, LONGEST, real, table

NAMES = paper("survival").datasets
FACTORS = (1.0, 1e6)
"""A record in the corner of the bounds, and one far beyond them."""


def neighbours(factor, event, seed=0):
    """A table, and the same with one record replaced by the most extreme one."""
    data = table(60, 3, seed=seed)
    x, time, happened = data.x.copy(), data.time.copy(), data.event.copy()
    x[7], time[7], happened[7] = factor * LARGEST, factor * LONGEST, event
    card = replace(data.card, events=int(happened.sum()))
    return data, replace(data, card=card, x=x, time=time, event=happened)


def released_scale(records):
    return (records.centre.tolist(), records.span.tolist(), records.norm, records.horizon)


@pytest.mark.parametrize("name", NAMES)
def test_every_data_set_declares_bounds_and_keeps_them(name):
    data = real(name)
    bounds = data.card.bounds
    assert len(bounds.source) > 40
    records = scaled(data)
    rows = records.x if records.episodes is None else records.episodes.x
    assert np.linalg.norm(rows, axis=1).max() <= 1.0
    assert 0.0 <= records.time.min() <= records.time.max() <= 1.0
    assert records.horizon == bounds.horizon
    low, high = np.array(bounds.covariates).T
    np.testing.assert_array_equal(records.centre, (low + high) / 2)
    np.testing.assert_array_equal(records.span, high - low)


@pytest.mark.parametrize("name", NAMES)
def test_bounds_clip_few_values(name):
    """Common knowledge that is wrong would clip many: at most 3 % of a column is beyond."""
    data = real(name)
    rows = data.x if data.episodes is None else data.episodes.x
    low, high = np.array(data.card.bounds.covariates).T
    assert ((rows < low) | (rows > high)).mean(axis=0).max() <= 0.03
    assert (data.time > data.card.bounds.horizon).mean() <= 0.03


@pytest.mark.parametrize("factor", FACTORS)
@pytest.mark.parametrize("event", [True, False])
def test_one_record_moves_no_scale_and_no_other_record(factor, event):
    data, other = (scaled(one) for one in neighbours(factor, event))
    assert released_scale(data) == released_scale(other)
    rest = np.arange(60) != 7
    for field in ("x", "time", "event"):
        np.testing.assert_array_equal(getattr(data, field)[rest], getattr(other, field)[rest])
    assert np.linalg.norm(other.x[7]) <= 1.0
    assert other.time[7] == 1.0
    assert other.event[7] == (event and factor == 1.0)  # beyond the horizon nothing is seen


@pytest.mark.parametrize("factor", FACTORS)
def test_own_ranges_are_moved_as_the_printed_card_says(factor):
    data, other = (scaled(unbounded(one)) for one in neighbours(factor, True))
    assert released_scale(data) != released_scale(other)
    assert (data.centre != other.centre).all()
    printed = SurvivalSpec(calibration="paper")
    for name in ("out_pert", "obj_pert", "exact", "dp_gd"):
        card = paper("survival").entry(name).guarantee(printed, 60, "a person")
        assert card.status == "proved_under_assumption"
        assert any("one extreme record changes them" in reason for reason in card.reasons)


@pytest.mark.parametrize("factor", FACTORS)
@pytest.mark.parametrize("event", [True, False])
@pytest.mark.parametrize("seed", range(3))
def test_releases_of_neighbours_stay_within_the_sensitivity(factor, event, seed):
    q, e, weight = 12, 3, 1e-2
    spec = SurvivalSpec(intervals=q, knots=e, regularisation=weight)
    pair = [survival(one, spec) for one in neighbours(factor, event, seed)]
    fits = [evaluate.fit(one, q, e, weight, "newton", "cpu").f[0] for one in pair]
    assert float((fits[0] - fits[1]).norm()) <= output_noise(spec, 60, 6).sensitivity
    models = [design(one, q, e) for one in pair]
    points = 3.0 * torch.randn(40, 6, generator=torch.Generator().manual_seed(seed)).double()
    slopes = [60.0 * mean_gradient(model, points) for model in models]
    moved = float((slopes[0] - slopes[1]).norm(dim=1).max())
    assert moved <= gradient_bound(q, e, "rigorous") * (1 + 1e-12)


@pytest.mark.parametrize("factor", FACTORS)
def test_descents_releases_of_neighbours_stay_within_the_sensitivity(factor):
    spec = SurvivalSpec(intervals=12, steps=4)
    plan = even(spec)
    models = [design(survival(one, spec), 12, 3) for one in neighbours(factor, True)]
    counts = [
        torch.bincount(12 * m.happened.long() + m.ends - 1, minlength=24).double() for m in models
    ]
    assert 0.0 < float((counts[0] - counts[1]).norm()) <= plan.counts.sensitivity
    moments = [(m.x.T @ m.x) for m in models]
    assert 0.0 < float((moments[0] - moments[1]).norm()) <= plan.moments.sensitivity
    root, clip = torch.eye(6).double()[None], torch.tensor([0.3]).double()
    zero = torch.zeros(1, 6).double()
    sums = [clipped_sum(model, zero, root, clip)[0] for model in models]
    apart = float((sums[0] - sums[1]).norm())
    assert 0.0 < apart <= 0.3 * plan.gradients[0].sensitivity * (1 + 1e-12)


def test_with_bounds_the_perturbations_and_the_descent_are_proved():
    for name in ("out_pert", "obj_pert", "dp_gd"):
        card = paper("survival").entry(name).guarantee(SurvivalSpec(), 7874, "a person")
        assert card.status == "proved"
        assert not any("treated as public" in reason for reason in card.reasons)


def test_a_table_without_bounds_is_refused_where_a_proof_needs_them():
    data = unbounded(table(20, 2))
    with pytest.raises(RequestError, match="expected bounds of every column of toy, got none"):
        survival(data, SurvivalSpec())
    assert survival(data, SurvivalSpec(calibration="paper")) is data


def test_what_is_missing_counts_as_what_the_card_says():
    data = catalog.load("flchain")
    column = data.card.features.index("creatinine")
    gone = data.missing[:, column]
    records = scaled(data)
    put = records.x[gone, column] * records.norm * records.span[column] + records.centre[column]
    np.testing.assert_allclose(put, 1.0)
    assert np.unique(data.x[gone, column]).size == 1  # as printed: the mean of the others
    assert data.x[gone, column][0] != 1.0


@pytest.mark.parametrize(
    ("covariates", "horizon", "says"),
    [
        (((1.0, 1.0),), 10.0, "a smallest value below a largest, got 1 and 1"),
        (((0.0, np.inf),), 10.0, "a smallest value below a largest, got 0 and inf"),
        (((0.0, np.nan),), 10.0, "a smallest value below a largest, got 0 and nan"),
        (((0.0, 1.0),), 0.0, "a longest time above 0, got 0"),
    ],
)
def test_impossible_bounds_are_a_sentence(covariates, horizon, says):
    with pytest.raises(DatasetError, match=says):
        Bounds(covariates=covariates, horizon=horizon, source="")
