"""The private log-rank test: its table, its level and its power."""

import dataclasses

import numpy as np
import pytest
import torch
from scipy.stats import binom, norm

from benchmarks import coverage
from datasets import catalog
from datasets.base import Bounds, SurvivalTable
from engine.core.batch import Batch
from engine.core.errors import RequestError
from engine.papers.survival import PAPER
from engine.papers.survival.compared import GroupedSpec
from engine.papers.survival.mechanisms.compared import METHOD, counted
from engine.papers.survival.price.compared import log_rank, power, significance
from engine.papers.survival.price.curve import counts


def stepped(data, **values):
    spec = GroupedSpec(intervals=10, **values)
    rng = torch.Generator().manual_seed(0)
    batch = Batch.grid(spec, {"epsilon": (0.5, 1e3)}, seeds=(0,))
    state, info = METHOD.step(batch, data, METHOD.init(batch, data, rng), rng)
    return METHOD.products(batch, data, state), info


def test_with_next_to_no_noise_it_is_the_usual_test():
    from lifelines.statistics import logrank_test

    data = coverage.simulated(3_000, 2, within=True)
    men = data.x[:, 1] > 0.5
    usual = logrank_test(data.time[men], data.time[~men], data.event[men], data.event[~men])
    spec = GroupedSpec(intervals=200, epsilon=1e3, group=2)
    batch, rng = Batch.grid(spec, {}, seeds=(0,)), torch.Generator().manual_seed(0)
    _, info = METHOD.step(batch, data, METHOD.init(batch, data, rng), rng)
    # the variance has (1 - d/r) for (r - d)/(r - 1)
    assert info.statistic[0] ** 2 == pytest.approx(usual.test_statistic, rel=0.01)
    assert info.p_value[0] == pytest.approx(usual.p_value, rel=0.05, abs=1e-6)


def test_the_table_counts_each_record_once_and_a_replaced_one_moves_two_cells():
    data = catalog.load("flchain")
    table = counted(data, 10, 1)
    men = data.x[:, 1] > 0.5
    assert table.sum() == len(data)
    assert table[1].sum() == men.sum()
    assert table[0, 10:20].sum() == (data.event & ~men).sum()
    x, time = data.x.copy(), data.time.copy()
    x[0, 1], time[0] = 1.0 - x[0, 1], 1.0
    other = dataclasses.replace(data, x=x, time=time, event=~data.event | (np.arange(len(x)) > 0))
    other = dataclasses.replace(other, event=np.r_[~data.event[:1], data.event[1:]])
    moved = counted(other, 10, 1) - table
    assert sorted(moved[moved != 0].tolist()) == [-1.0, 1.0]
    assert moved.norm() == pytest.approx(counts(GroupedSpec()).sensitivity)


@pytest.mark.parametrize("epsilon", [0.5, 3.0])
def test_groups_that_do_not_differ_are_said_to_differ_in_five_of_a_hundred_tables(epsilon):
    tries, rng, q = 4_000, np.random.default_rng(4), 10
    cells = np.ones((2, 2, q)) * np.array([0.3, 0.7])[:, None, None] * np.array([0.3, 0.2])[:, None]
    cells = np.concatenate([cells.reshape(2, -1), [[0.9], [2.1]]], axis=1)
    tables = rng.multinomial(1_500, cells.ravel() / cells.sum(), tries).reshape(tries, 2, -1)
    noise = counts(GroupedSpec(epsilon=epsilon)).scale
    noisy = tables + noise * rng.standard_normal(tables.shape)
    _, p = significance(noisy, noise, 1_500)
    least, most = binom.ppf([5e-4, 1 - 5e-4], tries, 0.05)
    assert least <= (p < 0.05).sum() <= most
    if epsilon < 1.0:
        _, naive = significance(noisy, 0.0, 1_500)  # as if there were no noise
        assert (naive < 0.05).sum() > most


@pytest.mark.parametrize(("share", "faster"), [(0.5, 1.0), (0.3, 3.0), (0.5, 5.0)])
def test_groups_whose_members_leave_at_different_rates_are_not_said_to_differ(share, faster):
    """With everybody at risk to the end of the interval in which they leave, a group that leaves
    five times as fast seems to live longer in a fifth of these tables."""
    tries, n, horizon = 1_000, 2_000, 1.0
    rng, card, tables = np.random.default_rng(8), coverage.card(2_000), []
    bounds = Bounds(covariates=((0.0, 1.0),), horizon=horizon, source=())
    card = dataclasses.replace(card, bounds=bounds, features=("group",))
    for _ in range(tries):
        second = rng.random(n) < share
        event = rng.exponential(1.0 / 1.2, n)
        leaves = np.minimum(rng.exponential(2.0, n) / np.where(second, faster, 1.0), horizon)
        x, time = second[:, None].astype(float), np.minimum(event, leaves)
        tables.append(counted(SurvivalTable(card, x, time, event <= leaves), 10, 0).numpy())
    _, p = significance(np.array(tables), 0.0, n)
    least, most = binom.ppf([5e-4, 1 - 5e-4], tries, 0.05)
    assert least <= (p < 0.05).sum() <= most


def test_a_p_value_far_out_is_small_and_not_nought():
    table = np.zeros((1, 2, 21))
    table[0, 0, 10], table[0, 1, 20] = 500.0, 500.0
    score, p = significance(table, 0.0, 1_000)
    assert abs(score[0]) > 20.0
    assert p[0] == pytest.approx(2.0 * norm.sf(abs(score[0])))
    assert 0.0 < p[0] < 1e-80


def test_the_variance_of_the_noise_is_that_of_draws():
    rng, q = np.random.default_rng(6), 10
    table = rng.integers(40, 90, (1, 2, 2 * q + 1)).astype(float)
    apart, variance = log_rank(table, 2.0)
    alone = log_rank(table, 0.0)[1]
    draws = log_rank(table + 2.0 * rng.standard_normal((20_000, 2, 2 * q + 1)), 0.0)[0]
    assert draws.mean() == pytest.approx(apart[0], abs=0.3)
    assert draws.var() == pytest.approx(variance[0] - alone[0], rel=0.06)


def test_planned_power_is_what_tables_show():
    spec = GroupedSpec(epsilon=1.0, intervals=coverage.INTERVALS)
    shown = coverage.groups(1_000, coverage.RATIO, 0.5, 1.0, 0)[1]
    planned = power(spec, 1_000, round(1_000 * coverage._events()), coverage.RATIO)
    assert planned == pytest.approx(shown, abs=0.03)
    assert power(spec, 1_000, 400, 1.0) == pytest.approx(0.05)
    assert np.isnan(power(spec.replace(epsilon=0.1), 300, 100, 2.0))


def test_there_is_no_test_where_noise_hides_it_and_none_without_such_a_group():
    arrays, info = stepped(coverage.simulated(100, 0))
    assert np.isnan(info.p_value[0])
    assert np.isfinite(info.p_value[1])
    assert arrays["log_rank_counts"].shape == (2, 2, 21)
    with pytest.raises(RequestError, match="group: expected the number of a covariate, 1 to 3"):
        stepped(coverage.simulated(100, 0), group=4)
    with pytest.raises(RequestError, match="fixed in time"):
        stepped(catalog.load("heart"))


def test_every_cell_has_the_noise_that_is_priced():
    data, spec = coverage.simulated(500, 3), GroupedSpec(epsilon=1.0, intervals=10)
    batch, rng = Batch.grid(spec, {}, seeds=range(50)), torch.Generator().manual_seed(1)
    state, _ = METHOD.step(batch, data, METHOD.init(batch, data, rng), rng)
    noise = (state.noisy - counted(data, 10, 1)).flatten()  # 2,100 draws
    assert noise.std() == pytest.approx(counts(spec).scale, rel=4 / np.sqrt(2 * len(noise)))
    assert abs(noise.mean()) < 4 * counts(spec).scale / np.sqrt(len(noise))


def test_its_price_is_that_of_one_gaussian_release():
    spec = GroupedSpec(epsilon=2.0)
    card = PAPER.entry("log_rank").guarantee(spec, 1_000, "a person")
    assert card.epsilon_proved == pytest.approx(2.0, rel=1e-6)
    assert card.relation == "replace_one"
