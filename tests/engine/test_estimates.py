"""Intervals hold the truth as often as they say, and say where they cannot."""

import csv
import json
from dataclasses import replace

import numpy as np
import pytest
import torch
from scipy.stats import binom

from benchmarks import coverage
from engine.catalog import paper
from engine.cli.main import main
from engine.cli.readout import TABLE, written
from engine.core.batch import Batch
from engine.core.gauges import unmeasured
from engine.intervals import NOISIEST
from engine.papers.survival.mechanisms import newton
from engine.papers.survival.price.sensitivity import basis
from engine.papers.survival.references import unregularised
from engine.papers.survival.spec import SurvivalSpec
from engine.runs.estimates import estimates


def trained(data, epsilons, method=newton.METHOD, seeds=(0,)):
    spec = SurvivalSpec(intervals=coverage.INTERVALS)
    batch = Batch.grid(spec, {"epsilon": epsilons}, seeds=seeds)
    rng = torch.Generator().manual_seed(7)
    with torch.no_grad(), unmeasured():
        state = method.init(batch, data, rng)
        for _ in range(spec.passes):
            state, _ = method.step(batch, data, state, rng)
        return method.products(batch, data, state)


@pytest.fixture(scope="module")
def data():
    return coverage.simulated(4_000, 1)


def test_sampling_is_the_usual_standard_error_and_noise_what_draws_differ_by(data):
    clear, exact = trained(data, (1e3,)), trained(data, (1.0,), unregularised.METHOD)
    # next to no noise: the error is that of the fit without privacy
    np.testing.assert_allclose(clear["sampling"][0], exact["errors"][0], rtol=0.08)
    # of a column that is 0 or 1, too: a histogram alone makes its error larger by 7 %
    np.testing.assert_allclose(clear["sampling"][0, 3:], exact["errors"][0, 3:], rtol=0.03)
    np.testing.assert_allclose(clear["coefficients"][0], exact["coefficients"][0], atol=0.15)
    whole = np.diagonal(clear["uncertainty"][0])
    np.testing.assert_allclose(np.sqrt(whole), exact["errors"][0], rtol=0.08)
    # the noise of forty draws, whose deviation is known to 11 %
    noisy = trained(data, (3.0,), seeds=range(40))
    apart = noisy["coefficients"].std(0, ddof=1)
    whole = np.diagonal(noisy["uncertainty"], axis1=1, axis2=2)
    said = np.sqrt(np.maximum(whole - noisy["sampling"] ** 2, 0.0)).mean(0)
    assert np.all(apart[3:] / said[3:] < 1.35)
    assert np.all(apart[3:] / said[3:] > 0.65)


def test_noise_passes_through_the_curvature_of_the_released_second_moments(data):
    """Of a column that is k times as wide, noise moves the coefficient by about 1/k^2."""
    batch = Batch.grid(SurvivalSpec(intervals=coverage.INTERVALS), {"epsilon": (3.0,)}, seeds=(0,))
    rng, A = torch.Generator().manual_seed(7), torch.tensor(basis(coverage.INTERVALS, 3))
    with torch.no_grad(), unmeasured():
        state = newton.METHOD.init(batch, data, rng)
        for _ in range(batch.spec.passes):
            state, _ = newton.METHOD.step(batch, data, state, rng)
        sizes = state.cohort.size * torch.tensor([[1.0, 2.0, 1.0]])
        wide = replace(state, cohort=replace(state.cohort, size=sizes))
        found = [newton.error(newton.LOGIT, one, A) for one in (state, wide)]
    noise, other = (one.noise[0, 4, 4] for one in found)
    assert 3.0 < (noise / other).sqrt() < 5.0
    # and sampling moves it by about 1/k
    sampling, less = (one.sampling[0, 4, 4].sqrt() for one in found)
    assert 1.6 < sampling / less < 2.4


def test_an_interval_is_in_the_units_of_the_table_and_none_is_given_where_noise_hides_too_much(
    data,
):
    arrays = trained(data, (0.02, 3.0))
    noisy, clear = (
        estimates(arrays, row, data.card, SurvivalSpec(epsilon=at))
        for row, at in ((0, 0.02), (1, 3.0))
    )
    assert any(one.low is None and "noise hides too much" in one.why for one in noisy)
    for i, one in enumerate(clear):
        assert one.low < one.naive[0] < one.estimate < one.naive[1] < one.high
        width = arrays["span"][1, i] * arrays["norm"][1]
        assert one.estimate == pytest.approx(arrays["coefficients"][1, 3 + i] / width, rel=1e-12)
        error = np.sqrt(arrays["uncertainty"][1, 3 + i, 3 + i]) / width
        assert one.high - one.low == pytest.approx(2 * 1.959964 * error, rel=1e-6)
        assert error / ((one.naive[1] - one.estimate) / 1.959964) <= NOISIEST
    without = {name: array for name, array in arrays.items() if name != "uncertainty"}
    assert all(
        one.low is None and one.why
        for one in estimates(without, 1, data.card, SurvivalSpec(epsilon=3.0))
    )


def test_none_is_given_of_rare_or_crowded_columns_and_of_what_goes_with_them(data):
    arrays = {name: np.array(array) for name, array in trained(data, (8.0,)).items()}
    spec, bounds = SurvivalSpec(epsilon=8.0), data.card.bounds
    assert all(one.low is not None for one in estimates(arrays, 0, data.card, spec))
    wide = replace(bounds, covariates=(*bounds.covariates[:2], (0.0, 50.0)))
    *others, marker = estimates(arrays, 0, replace(data.card, bounds=wide), spec)
    assert "small part of the public range" in marker.why
    assert all(one.low is not None for one in others)
    factor = np.r_[np.ones(4), 4.0, 1.0]
    rare = {**arrays, "sampling": arrays["sampling"] * factor}
    rare["uncertainty"] = arrays["uncertainty"] * np.outer(factor, factor)
    age, sex, marker = estimates(rare, 0, data.card, spec)
    assert "too few records" in sex.why
    assert age.low is not None
    root = np.sqrt(np.diagonal(rare["uncertainty"][0]))
    rare["uncertainty"][0, 5, 4] = rare["uncertainty"][0, 4, 5] = -0.5 * root[4] * root[5]
    _, _, marker = estimates(rare, 0, data.card, spec)
    assert "correlated with" in marker.why


def test_none_is_given_of_calendar_years_nor_of_what_goes_with_them(data):
    """Later records are followed for less time: events tell less of the column than it seems."""
    arrays = {name: np.array(array) for name, array in trained(data, (8.0,)).items()}
    spec, bounds = SurvivalSpec(epsilon=8.0), data.card.bounds
    years = replace(bounds, covariates=((1940.0, 2000.0), *bounds.covariates[1:]))
    card = replace(data.card, bounds=years)
    age, sex, marker = estimates(arrays, 0, card, spec)
    assert "calendar years" in age.why
    assert age.low is None
    assert sex.low is not None
    assert marker.low is not None
    root = np.sqrt(np.diagonal(arrays["uncertainty"][0]))
    arrays["uncertainty"][0, 5, 3] = arrays["uncertainty"][0, 3, 5] = -0.5 * root[3] * root[5]
    assert "correlated with" in estimates(arrays, 0, card, spec)[2].why


@pytest.mark.slow
def test_intervals_hold_the_truth_and_those_that_ignore_the_noise_do_not():
    tables = 100
    found, _ = coverage.covered(4_000, range(tables))
    low, high = binom.ppf([0.0005, 0.9995], tables, 0.95)
    for at in (1.0, 3.0, 8.0):
        given = found[at].given
        assert np.all(found[at].held >= low - (tables - given)), at
        assert np.all(given >= 0.5 * tables), at
    assert np.all(found[8.0].held <= high)
    assert np.all(found[1.0].naive < low)


def test_the_command_prints_them(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("EXPLORER_HOME", str(tmp_path))
    words = ["--dataset", "heart", "--set", "intervals=10", "--set", "epsilon=50", "--json"]
    assert main(["run", "survival", "dp_newton", *words]) == 0
    (row,) = json.loads(capsys.readouterr().out)["replicas"]
    names = paper("survival").model(SurvivalSpec(), coverage.data_catalog.card("heart"))
    assert [one["name"] for one in row["coefficients"]] == names["parameters"][3:]
    for one in row["coefficients"]:
        assert one["level"] == 0.95
        given = one["low"] is not None
        assert one["low"] < one["estimate"] < one["high"] if given else one["why"]
    assert any(one["low"] is not None for one in row["coefficients"])
    assert main(["run", "survival", "out_pert", *words]) == 0
    (row,) = json.loads(capsys.readouterr().out)["replicas"]
    assert all(one["low"] is None and one["why"] for one in row["coefficients"])


def test_a_release_s_table_has_the_ends_of_the_ratio(data, tmp_path):
    arrays = trained(data, (3.0,))
    described = replace(data.card, units=("years", "1 = man", ""))
    spec = SurvivalSpec(intervals=coverage.INTERVALS, epsilon=3.0)
    written(tmp_path, paper("survival"), spec, described, arrays)
    with open(tmp_path / TABLE, encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    for row, one in zip(rows, estimates(arrays, 0, described, spec), strict=True):
        assert float(row["lower"]) == pytest.approx(np.exp(one.low))
        assert float(row["lower"]) < float(row["ratio"]) < float(row["upper"])


@pytest.mark.parametrize(
    ("held", "tables"),
    [(945, 1_000), (936, 2_000), (924, 2_000), (966, 3_000), (974, 2_000), (929, 4_000)],
)
def test_a_share_near_a_bound_is_looked_at_on_more_tables_whichever_side_it_is_on(held, tables):
    def run(seeds: range) -> tuple[coverage.Tallies, coverage.Tallies]:
        assert len(seeds) == 1_000
        near = coverage.Tally(np.array([held]), np.zeros(1), np.array([1_000.0]), 1_000)
        far = coverage.Tally(np.array([950.0]), np.zeros(1), np.array([1_000.0]), 1_000)
        return {1.0: near}, {1.0: far}

    both = coverage.decided(run, 1_000)
    assert [found[1.0].tables for found in both] == [tables, tables]
    assert both[0][1.0].offered == [held / 1_000]


@pytest.mark.thorough
def test_more_tables_are_other_tables():
    first = coverage.averages(1_000, "laplace", range(50))
    more = coverage.averages(1_000, "laplace", range(50, 100))
    assert any(np.any(first[1][at].held != more[1][at].held) for at in coverage.BUDGETS)
