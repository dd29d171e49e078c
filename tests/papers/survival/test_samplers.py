"""The sanitised posterior: its price, its density, and the two samplers of it."""

import dataclasses
import math

import numpy as np
import pytest
import torch
from hypothesis import example, given, settings
from hypothesis import strategies as st

from engine.catalog import paper
from engine.core.batch import Batch
from engine.core.gauges import gauges
from engine.papers.survival.likelihood import logit
from engine.papers.survival.price.sampler import (
    chain_steps,
    exact_steps,
    loss_bound,
    psgld_steps,
    sanitised,
)
from engine.papers.survival.samplers import corrected, langevin
from engine.papers.survival.samplers.diagnostics import WORST, mixing
from engine.papers.survival.samplers.proposal import proposals
from engine.papers.survival.samplers.target import Target, target
from engine.papers.survival.spec import SurvivalSpec
from engine.privacy import accounting
from engine.runs.driver import drive
from engine.runs.events import Finished, Measured
from engine.runs.job import request
from engine.runs.results import collect
from tests.papers.survival.test_methods import DEGENERATE
from tests.papers.survival.toys import model, records, table

SAMPLERS = ("psgld", "exact")
SHORT = {"intervals": 10, "samples": 40, "sampler_epochs": 2.0, "burn_in": 20, "minibatch": 20}


def run(method, data, values=None, axes=None, seeds=(0, 1)):
    """A short run on a table of any size."""
    job = request("survival", method, "flchain", {**SHORT, **(values or {})}, axes or {}, seeds)
    kept = {}
    events = list(drive(job, data, lambda name, arrays: kept.update(arrays) or name))
    return job, events, kept


def test_prices_by_hand():
    spec = SurvivalSpec(epsilon=1.7)
    assert (
        accounting.epsilon(paper("survival").entry("exact").cost(spec, 50, 3), 0, "replace_one")
        == 1.7
    )
    cost = paper("survival").entry("psgld").cost(spec, 50, 3)
    assert math.isinf(accounting.epsilon(cost, 0.0, "replace_one"))
    assert loss_bound(spec, 7874) == pytest.approx(2.0 * math.log(7874))
    assert loss_bound(spec.replace(bound=20.0), 7874) == 20.0
    assert sanitised(spec.replace(bound=20.0), 7874).temperature == pytest.approx(1.7 / 40.0)
    assert (chain_steps(spec.replace(sampler_epochs=250.0), 7874)) == 1_968_500
    assert psgld_steps(spec, 7874) == 100
    assert exact_steps(spec, 7874) == 10


def test_the_cards_say_what_a_chain_does_not_guarantee():
    printed = (
        paper("survival")
        .entry("psgld")
        .guarantee(SurvivalSpec(epsilon=3.0, calibration="paper"), 50, "a person")
    )
    assert printed.status == "heuristic"
    assert any("2ε = 6" in reason for reason in printed.reasons)
    card = paper("survival").entry("exact").guarantee(SurvivalSpec(), 50, "a person")
    assert any("(1 + e^ε)·η" in reason for reason in card.reasons)
    assert any("m·ε" in reason for reason in card.reasons)


@pytest.mark.parametrize("name", ["exact", "psgld"])
@pytest.mark.parametrize("calibration", ["paper", "rigorous"])
def test_nothing_is_proved_without_a_prior(name, calibration):
    """The bounded losses leave the density above exp(-kappa n v) on all of R^d: no integral."""
    entry = paper("survival").entry(name)
    spec = SurvivalSpec(prior=0.0, calibration=calibration)
    card = entry.guarantee(spec, 50, "a person")
    assert card.status == "heuristic"
    assert card.epsilon_proved is None
    assert "precision 0" in card.reasons[0]
    assert not any(reason.startswith("Assumption: the draw") for reason in card.reasons)
    assert math.isinf(accounting.epsilon(entry.cost(spec, 50, 1), 0.0, "replace_one"))


def test_constants_that_were_tuned_on_the_offered_data_are_said_to_be_unpriced():
    for name in ("dp_newton", "cox_dp"):
        card = paper("survival").entry(name).guarantee(SurvivalSpec(), 50, "a person")
        [tuned] = [one for one in card.reasons if "chosen by looking" in one]
        assert tuned.endswith("ε does not cover this choice.")


def test_the_density_is_that_of_algorithm_3():
    data, spec = table(70, 2), SurvivalSpec(intervals=9, epsilon=1.3, bound=6.0)
    aim = target(data, [spec])
    f = torch.tensor(np.random.default_rng(0).normal(size=(1, 20, 5)))
    cost = logit.losses(aim.design, f[0])
    sigma = 1e-2 * 2.0 * 6.0 / 1.3
    U = -0.5 * sigma * f[0].square().sum(1) - (6.0 * torch.tanh(cost / 6.0)).sum(1)
    torch.testing.assert_close(aim.log_density(f)[0], 1.3 / 12.0 * U, rtol=1e-6, atol=1e-6)


@settings(max_examples=60)
@example(seed=89, size=3.0, epsilon=1.0, bound=1.0, link="cloglog")  # a cubic that dips below 0
@given(
    seed=st.integers(0, 10_000),
    size=st.sampled_from([0.3, 3.0, 100.0]),
    epsilon=st.floats(0.01, 20.0),
    bound=st.floats(0.5, 50.0),
    link=st.sampled_from(["logit", "cloglog", "probit"]),
)
def test_neighbours_change_the_log_density_by_at_most_half_epsilon(
    seed, size, epsilon, bound, link
):
    """The other half pays for the normalising constant (Theorem 5.1)."""
    rng = np.random.default_rng(seed)
    x, interval, event = records(rng, 12, 2, 8)
    other = [values.copy() for values in (x, interval, event)]
    other[0][0], other[1][0], other[2][0] = (v[0] for v in records(rng, 3, 2, 8))
    f = torch.tensor(rng.normal(size=(1, 9, 5)) * size)
    heat = torch.full((1,), epsilon / (2.0 * bound), dtype=torch.float64)
    limit = torch.full((1,), bound, dtype=torch.float64)
    here, there = (
        Target(model(*some, 8, 3), link, heat, limit, 1e-2).log_density(f)
        for some in ((x, interval, event), other)
    )
    assert float((here - there).abs().max()) <= epsilon / 2.0 * (1.0 + 1e-9) + 1e-9


@pytest.mark.thorough
def test_corrected_chains_reach_the_target():
    """Means and standard deviations against importance sampling with 60,000 draws.

    The standard error of a mean is sd/sqrt(ESS): at most 0.02 sd for the importance sample and
    0.04 sd for the chains (ESS above 800), so 0.2 sd is more than four of both.
    """
    data, spec = table(60, 1, seed=3), SurvivalSpec(intervals=6, epsilon=4.0, samples=600)
    batch, rng = Batch.grid(spec, {}, (0,)), torch.Generator().manual_seed(1)
    with torch.no_grad():
        state = corrected.METHOD.init(batch, data, rng)
        for _ in range(exact_steps(spec, 60)):
            state, info = corrected.METHOD.step(batch, data, state, rng)
        known = proposals(data, [spec], "cpu")
        f = known.proposal.draw(60_000, rng)
        aim = target(data, [spec])
        weight = torch.softmax(aim.log_density(f) - known.proposal.log_density(f), dim=1)[0]
    assert 1.0 / float(weight.square().sum()) > 5_000
    mean = weight @ f[0]
    spread = (weight @ (f[0] - mean).square()).sqrt()
    draws = state.draws.flatten(1, 2)[0]
    assert float(((draws.mean(0) - mean) / spread).abs().max()) < 0.2
    assert float((draws.std(0) / spread - 1.0).abs().max()) < 0.2
    assert info.ess[0] > 800
    assert info.r_hat[0] < 1.02
    assert 0.2 < info.acceptance[0] <= 1.0


@pytest.mark.parametrize("local", [2, 10**9])
def test_chains_stay_where_a_proposal_is_refused(local, monkeypatch):
    monkeypatch.setattr(corrected, "LOCAL", local)
    data, spec = table(60, 1, seed=3), SurvivalSpec(intervals=6, samples=64)
    batch, rng = Batch.grid(spec, {"epsilon": (0.5, 5.0)}, (0, 1)), torch.Generator().manual_seed(1)
    state = corrected.METHOD.init(batch, data, rng)
    after = corrected.advance(state, 64, rng)
    path = torch.cat([state.place[:, :, None], after.draws], dim=2)
    moved = (path[:, :, 1:] != path[:, :, :-1]).any(3)
    assert (moved.sum((1, 2)) >= after.accepted).all()
    assert torch.equal(moved.sum((1, 2)).double(), after.accepted) == (local > 64)
    ratio = state.aim.log_density(after.place) - state.proposal.log_density(after.place)
    torch.testing.assert_close(ratio, after.weight)


@pytest.mark.parametrize(("calibration", "share"), [("paper", 1.0), ("rigorous", 0.5)])
def test_a_step_of_algorithm_4_by_hand(calibration, share):
    spec = SurvivalSpec(calibration=calibration, step_scale=0.5)
    f, V = torch.tensor([[1.0, -2.0]]), torch.tensor([[0.04, 0.0]])
    gradient, noise = torch.tensor([[0.1, 0.2]]), torch.tensor([[1.0, -1.0]])
    V_next = 0.99 * V + 0.01 * gradient**2
    mended = V_next / (1 - 0.99**3) if calibration == "rigorous" else V_next
    G = 1 / (1e-5 + mended.sqrt())
    size = 0.5 * 3**-0.51
    expected = f - share * size * 50 * G * gradient + (size * G).sqrt() * noise
    actual, squares = langevin.move(f, V, gradient, noise, 3, 50, spec)
    torch.testing.assert_close(actual, expected)
    torch.testing.assert_close(squares, V_next)


def test_the_printed_first_step_leaves_the_data_behind():
    r"""V = 0.01 g^2 makes G = 10/|g|, so the first move is 10 n in every coordinate."""
    data = table(300, 2, seed=1)
    spec = SurvivalSpec(calibration="paper", step_scale=1.0, intervals=10, sampler_epochs=1.0)
    batch, rng = Batch.grid(spec, {}, (0,)), torch.Generator().manual_seed(0)
    state = langevin.METHOD.init(batch, data, rng)
    assert (state.f == 0.0).all()
    after = langevin.advance(state, spec, 1, 300, rng)
    away = after.f.abs() / (10 * 300)
    assert (away[:, :3] > 0.8).all()
    assert (away < 1.2).all()


def test_chains_do_not_touch_each_other_and_count_their_steps():
    data, spec = table(100, 2), SurvivalSpec(**SHORT)
    batch = Batch.grid(spec, {"epsilon": (0.5, 5.0)}, (0, 1, 2))
    state = langevin.METHOD.init(batch, data, torch.Generator().manual_seed(0))
    total = chain_steps(spec, 100)
    for turn in (30, 110, total):
        state = langevin.advance(state, spec, turn, total, torch.Generator().manual_seed(turn))
    assert state.time == total == 200
    assert state.draws.shape == (6, 180, 5)
    assert torch.isfinite(state.draws).all()


@pytest.mark.thorough
def test_the_mended_chain_finds_the_neighbourhood_of_the_optimum():
    """At the same budget its mean error is within a factor of two of the corrected chains'."""
    data = table(300, 1, seed=6)
    values = {"sampler_epochs": 4.0, "step_scale": 1e-3, "burn_in": 600, "samples": 200}
    values |= {"epsilon": 20.0, "minibatch": 50}
    (job, events, _), (other, measured, _) = (
        run(method, data, values, seeds=range(3)) for method in SAMPLERS
    )
    ours, theirs = collect(job, events).mean("mre"), collect(other, measured).mean("mre")
    assert 0.5 < ours / theirs < 2.0


def test_mixing_knows_good_chains_from_bad():
    rng = np.random.default_rng(0)
    draws = rng.normal(size=(3, 4, 200, 2))
    draws[1, 0] += 5.0
    draws[2, :, :, 1] = np.nan
    r_hat, ess = mixing(draws)
    assert (r_hat[0] < 1.02).all()
    assert (ess[0] > 400).all()
    assert (r_hat[1] > 1.5).all()
    assert np.isnan(r_hat[2, 1])
    assert np.isfinite(r_hat[2, 0])
    assert (mixing(np.zeros((1, 4, 50, 1)))[0] == WORST).all()
    alone = mixing(rng.normal(size=(1, 1, 200, 1)))
    assert alone[0] < 1.05


@pytest.mark.parametrize("method", SAMPLERS)
@pytest.mark.parametrize("name", DEGENERATE)
@pytest.mark.thorough
def test_degenerate_data_end_in_a_result(method, name):
    _, events, _ = run(method, table(40, 2, **DEGENERATE[name]))
    assert isinstance(events[-1], Finished)
    assert events[-1].diverged == ()


@pytest.mark.thorough
@pytest.mark.parametrize("method", SAMPLERS)
@pytest.mark.parametrize("link", ["logit", "cloglog", "probit"])
def test_ten_records_end_in_a_result_under_any_link(method, link):
    job, events, kept = run(method, table(10, 2), {"link": link}, {"epsilon": (0.1, 10.0)})
    assert events[-1].diverged == ()
    assert kept["coefficients"].shape == kept["noise"].shape == (4, 5)
    assert kept["draws"].shape[::2] == (4, 5)
    measured = [event for event in events if isinstance(event, Measured)]
    assert measured[-1].values.keys() == gauges(job.entry().info).keys()


def test_a_chain_keeps_its_course():
    _, _, kept = run("psgld", table(60, 2))
    assert kept["trace"].shape == kept["epochs"].shape == (2, 100)
    assert kept["epochs"][0, -1] == pytest.approx(2.0)
    assert np.isfinite(kept["trace"]).all()


def test_the_prior_has_the_papers_precision():
    r"""\epsilon/(2v) times \sigma = 10^{-2} 2v/\epsilon, or what the knob says."""
    assert SurvivalSpec().prior == pytest.approx(1e-2)
    data, f = table(40, 1), torch.ones(1, 1, 4, dtype=torch.float64)
    low, high = (
        float(target(data, [SurvivalSpec(intervals=6, prior=p)]).log_density(f)) for p in (0.0, 3.0)
    )
    assert low - high == pytest.approx(0.5 * 3.0 * 4.0)


@pytest.mark.parametrize("values", [{"step_decay": 0.8}, {"memory": 0.9}, {"damping": 1e-2}])
def test_a_knob_of_algorithm_4_acts_where_the_paper_has_it(values):
    spec = SurvivalSpec(calibration="paper", step_scale=0.5, **values)
    f, V = torch.tensor([[1.0, -2.0]]), torch.tensor([[0.04, 0.0]])
    gradient, noise = torch.tensor([[0.1, 0.2]]), torch.tensor([[1.0, -1.0]])
    V_next = spec.memory * V + (1 - spec.memory) * gradient**2
    G = 1 / (spec.damping + V_next.sqrt())
    size = 0.5 * 3**-spec.step_decay
    expected = f - size * 50 * G * gradient + (size * G).sqrt() * noise
    torch.testing.assert_close(langevin.move(f, V, gradient, noise, 3, 50, spec)[0], expected)


def test_the_estimated_distance_is_what_an_independence_sampler_leaves():
    """Five states: the matrix of the chain has 1 - 1/w as its second eigenvalue, and from the
    worst state its distance in total variation after m steps is at most (1 - 1/w)^m."""
    target_, proposal = np.array([0.4, 0.3, 0.15, 0.1, 0.05]), np.array([0.1, 0.2, 0.3, 0.2, 0.2])
    ratio = target_ / proposal
    moves = proposal * np.minimum(1.0, ratio / ratio[:, None])
    np.fill_diagonal(moves, 0.0)
    np.fill_diagonal(moves, 1.0 - moves.sum(1))
    rate = 1.0 - 1.0 / ratio.max()
    assert np.sort(np.linalg.eigvals(moves).real)[-2] == pytest.approx(rate)
    after = np.linalg.matrix_power(moves, 7)
    assert 0.5 * np.abs(after - target_).sum(1).max() <= rate**7 + 1e-12
    log_ratio = torch.tensor(np.log(ratio))  # proposals in exact proportion: the mean ratio is 1
    seen = log_ratio.repeat_interleave(torch.tensor((proposal * 280).round().astype(int)))
    some = exact_state(draws=torch.zeros(1, 4, 70, 1))
    some = dataclasses.replace(some, largest=seen.max()[None], total=seen.logsumexp(0)[None])
    assert float(corrected.distance(some)) == pytest.approx(max(rate**70, corrected.SMALLEST))


def exact_state(**values):
    """A state of the corrected chains, of which only some parts are looked at."""
    names = [field.name for field in dataclasses.fields(corrected.State)]
    return corrected.State(**{name: values.get(name) for name in names[:10]})


@pytest.mark.thorough
def test_a_longer_chain_is_estimated_to_be_nearer():
    ends = {}
    for samples in (8, 40, 200):
        _, _, kept = run("exact", table(60, 1, seed=3), {"samples": samples, "epsilon": 4.0})
        ends[samples] = kept["apart"]
    assert (ends[8] > ends[40]).all()
    assert (ends[40] > ends[200]).all()
    assert (ends[200] < 0.2).all()


def test_the_cards_say_that_the_failure_probability_is_unknown():
    for name in SAMPLERS:
        card = paper("survival").entry(name).guarantee(SurvivalSpec(), 50, "a person")
        assert card.failure.startswith("unknown")
