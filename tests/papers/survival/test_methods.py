"""The four methods: their noise, their prices, their scores, and what they leave behind."""

import math
from dataclasses import replace

import numpy as np
import pytest
import torch
from lifelines import KaplanMeierFitter
from scipy.stats import gamma, kstest
from sksurv.linear_model import CoxPHSurvivalAnalysis
from sksurv.metrics import concordance_index_censored, integrated_brier_score
from sksurv.util import Surv

from datasets import catalog
from engine.catalog import paper
from engine.core.batch import Batch
from engine.core.gauges import gauges
from engine.papers.survival.evaluation import evaluate, scored
from engine.papers.survival.likelihood.logit import mean_gradient
from engine.papers.survival.likelihood.problem import design
from engine.papers.survival.likelihood.scale import scaled, survival, unbounded
from engine.papers.survival.mechanisms import objective, output
from engine.papers.survival.price.perturbation import ANY
from engine.papers.survival.price.sensitivity import objective_noise, output_noise
from engine.papers.survival.references import cox
from engine.papers.survival.spec import SurvivalSpec, Utility
from engine.privacy import accounting
from engine.runs.driver import drive
from engine.runs.events import Finished, Measured, Produced, Spent
from engine.runs.job import request
from engine.runs.results import collect
from tests.papers.survival.toys import real, table

METHODS = ("out_pert", "obj_pert", "non_private", "unregularised", "cox")
DRAWS = 2_000


def one_step(module, data, spec, seeds=range(DRAWS)):
    """A batch of draws at one setting, the state before and after, and the gauges."""
    batch = Batch.grid(spec, {}, seeds)
    rng = torch.Generator().manual_seed(20_170)
    before = module.METHOD.init(batch, data, rng)
    after, info = module.METHOD.step(batch, data, before, rng)
    return batch, before, after, info


def isotropic(noise):
    r"""Whether directions are uniform: \|mean of R unit vectors\|^2 has mean 1/R.

    By Markov's inequality it exceeds 20/R with a chance below 1/20 (about chi-square with d
    degrees over dR, so in truth far below).
    """
    unit = noise / noise.norm(dim=1, keepdim=True)
    return float(unit.mean(0).square().sum()) < 20.0 / len(noise)


@pytest.mark.parametrize("calibration", ["paper", "rigorous"])
def test_output_noise_has_the_scale_that_is_priced(calibration):
    """Kolmogorov-Smirnov against Gamma(d, scale) at a fixed seed; a right scale fails 1 in 1,000,
    a scale 10 % off moves the distribution by 0.12 at d = 5, five times what is admitted."""
    data, spec = table(50, 2), SurvivalSpec(intervals=5, epsilon=0.7, calibration=calibration)
    _, before, after, _ = one_step(output, data, spec)
    noise = after.f - before.f
    expected = output_noise(spec, 50, 5)
    assert kstest(noise.norm(dim=1), gamma(5, scale=expected.scale).cdf).pvalue > 1e-3
    assert isotropic(noise)


@pytest.mark.parametrize("calibration", ["paper", "rigorous"])
@pytest.mark.parametrize("ridge", [1e-4, 1.0])
def test_objective_noise_has_the_scale_that_is_priced(calibration, ridge):
    r"""The linear term is what the gradient at the release leaves over, with and without \Delta."""
    data = table(50, 2)
    spec = SurvivalSpec(intervals=5, regularisation=ridge, calibration=calibration, epsilon=0.7)
    _, _, after, _ = one_step(objective, data, spec)
    plan = objective_noise(spec, 50, 5)
    assert (plan.extra > 0.0) == (ridge < 1.0)
    weight = ridge + plan.extra
    b = -50 * (mean_gradient(design(data, 5, 3), after.f) + weight * after.f)
    assert kstest(b.norm(dim=1), gamma(5, scale=plan.noise.scale).cdf).pvalue > 1e-3
    assert isotropic(b)
    assert (plan.finish is None) == (calibration == "paper")


def test_the_last_step_of_rigorous_objective_perturbation_is_hidden():
    r"""The distance to the minimiser is at most \tau over the curvature; neighbours: twice that."""
    spec = SurvivalSpec(intervals=5, regularisation=1e-2)
    finish = objective_noise(spec, 50, 5).finish
    weight = 1e-2 + objective_noise(spec, 50, 5).extra
    assert finish.sensitivity == pytest.approx(2e-10 / weight)
    assert finish.epsilon == pytest.approx(1e-3)


@pytest.mark.parametrize("method", ["out_pert", "obj_pert"])
def test_prices_by_hand(method):
    entry = paper("survival").entry(method)
    spec = SurvivalSpec(epsilon=1.25, regularisation=1e-2)
    for calibration, proved in (("rigorous", 1.25), ("paper", None)):
        spec = spec.replace(calibration=calibration)
        card = entry.guarantee(spec, 7874, "a person")
        spent = accounting.epsilon(entry.cost(spec, 7874, 1), 0.0, "replace_one")
        assert card.epsilon_proved == pytest.approx(spent, rel=1e-12)
        assert card.epsilon_claimed == 1.25
        assert card.delta == 0.0
        printed = calibration == "paper"
        assert card.status == ("proved_under_assumption" if printed else "proved")
        assert card.relation == "replace_one"
        assert any(
            (reason.startswith("Assumption: column means")) == printed for reason in card.reasons
        )
        assert spent <= 1.25 * (1 + 1e-12)
        if proved:
            assert spent == pytest.approx(proved, rel=1e-12)
    if method == "out_pert":
        assert spent == pytest.approx(1.25 * 400.0128 / 469.7853, rel=1e-5)


def test_references_are_not_private():
    for method in ("non_private", "unregularised", "cox"):
        card = paper("survival").entry(method).guarantee(SurvivalSpec(), 100, "a person")
        assert card.status == "not_private"
        assert card.epsilon_proved is None


@pytest.mark.parametrize("knots", [3, 4, 5, 20])
def test_the_printed_card_says_whether_the_slip_matters(knots):
    spec = SurvivalSpec(knots=knots, calibration="paper")
    card = paper("survival").entry("obj_pert").guarantee(spec, 7874, "a person")
    assert any(("at most 4" if knots <= 4 else "above 4") in reason for reason in card.reasons)


@pytest.mark.thorough
@pytest.mark.parametrize("calibration", ["rigorous", "paper"])
@pytest.mark.parametrize("name", ["out_pert", "obj_pert", "obj_pert_gauss"])
def test_a_card_says_what_is_declared_for_one_coefficient(name, calibration):
    """With proof objective perturbation splits its budget by the number of coefficients."""
    spec = SurvivalSpec(calibration=calibration)
    card = paper("survival").entry(name).guarantee(spec, 7874, "a person")
    one, many = (objective_noise(spec, 7874, d) for d in (ANY, 11))
    moved = (one.extra, one.noise.ratio) != pytest.approx((many.extra, many.noise.ratio))
    assert moved == (calibration == "rigorous")
    split = moved and name == "obj_pert"
    assert sum(one.parts) == pytest.approx(sum(many.parts))
    said = " ".join(card.reasons)
    assert ("stated for one coefficient, with the same total price" in said) != split
    assert ("Only their total price holds for every number of coefficients" in said) == split
    assert ("on det(I + A₀⁻¹H′) is the smaller of ∏ₛ(1 + λₛ)" in said) == split


def test_concordance_and_brier_are_those_of_scikit_survival():
    data = unbounded(table(300, 2, seed=4))
    sample, records = scored.evaluation(data), scaled(data)
    f = torch.tensor(np.random.default_rng(0).normal(size=(3, 5)))
    f[2, 3:] = 0.0  # everything tied
    risk = f[:, 3:] @ sample.x.T
    actual = evaluate.concordance(sample, risk)
    curves = evaluate.survival_at(f, 3, 10, sample)
    scores, errors = evaluate.brier(sample, curves)
    assert (errors == 0.0).all()  # all records are scored
    outcome = Surv.from_arrays(data.event, records.time)
    for row in range(3):
        expected = concordance_index_censored(data.event, records.time, risk[row].numpy())[0]
        assert actual[row] == pytest.approx(expected, abs=1e-12)
        expected = integrated_brier_score(outcome, outcome, curves[row].numpy(), sample.times)
        assert scores[row] == pytest.approx(expected, rel=1e-10)


def test_survival_at_the_end_of_an_interval_is_the_product():
    data, q = table(30, 2), 19
    sample = scored.evaluation(data)
    ends = np.arange(1, q + 1) / q
    on_ends = scored.Evaluation(
        sample.x, sample.time, sample.event, 30, ends, sample.case, sample.control
    )
    f = torch.tensor(np.random.default_rng(1).normal(size=(1, 5)))
    curve = evaluate.survival_at(f, 3, q, on_ends)[0]
    A = design(data, q, 3).A
    h = torch.sigmoid((sample.x @ f[0, 3:])[:, None] + A @ f[0, :3])
    torch.testing.assert_close(curve, (1.0 - h).cumprod(1))


def test_pairs_are_of_a_thousand_records_and_the_brier_score_of_all_where_that_is_quick():
    data = real("flchain")
    sample = scored.evaluation(data)
    assert len(sample.x) == 1_000
    assert sample.pairs.shape == (len(sample.rows), 1_000)
    assert [len(scored.scored(data, q).time) for q in (10, 50, 1_000)] == [7_874, 5_000, 1_000]


@pytest.mark.thorough
def test_the_brier_score_of_a_sample_says_its_standard_error(monkeypatch):
    """Over 300 samples of 60 of 200 records: the errors' root mean square is the spread.

    The spread of 300 nearly normal values is off by a relative 1/sqrt(600) = 4 %: four times that.
    """
    data = unbounded(table(200, 2, seed=6))
    f = torch.tensor(np.random.default_rng(3).normal(size=(1, 5)))
    default, scores, errors = np.random.default_rng, [], []
    for seed in range(300):
        monkeypatch.setattr(np.random, "default_rng", lambda _, seed=seed: default(seed))
        scored.evaluation.cache_clear()
        sample = scored.evaluation(data, 60)
        score, error = evaluate.brier(sample, evaluate.survival_at(f, 3, 10, sample))
        scores.append(float(score[0]))
        errors.append(float(error[0]))
    scored.evaluation.cache_clear()
    spread = np.std(scores, ddof=1)
    assert math.sqrt(np.mean(np.square(errors))) == pytest.approx(spread, rel=0.16)
    monkeypatch.undo()
    everyone = scored.evaluation(data, 200)
    truth, none = evaluate.brier(everyone, evaluate.survival_at(f, 3, 10, everyone))
    assert none[0] == 0.0
    assert np.mean(scores) == pytest.approx(truth[0], abs=4 * spread / math.sqrt(300))


def test_cox_agrees_with_another_library():
    data = unbounded(table(200, 3, seed=2))
    records = scaled(data)
    other = CoxPHSurvivalAnalysis(ties="efron", tol=1e-12).fit(
        records.x, Surv.from_arrays(data.event, records.time)
    )
    np.testing.assert_allclose(evaluate.cox(data).beta, other.coef_, rtol=1e-4, atol=1e-5)
    sample = scored.evaluation(data, 20)
    ours = cox.survival_of(data, sample)
    theirs = other.predict_survival_function(sample.x.numpy())
    inside = sample.times < records.time.max()
    wanted = [curve(sample.times[inside]) for curve in theirs]
    np.testing.assert_allclose(ours[:, inside], wanted, atol=2e-3)


@pytest.mark.parametrize("name", [pytest.param("wichert", marks=pytest.mark.thorough), "heart"])
def test_coxs_survival_does_not_depend_on_where_the_covariates_are_centred(name):
    """Printed, they lie about their mean, and with proof about the middle of public bounds."""
    own = catalog.load(name)
    found = {}
    for calibration in ("paper", "rigorous"):
        data = survival(own, SurvivalSpec(calibration=calibration))
        sample = scored.evaluation(data, 20)
        middle = replace(sample, times=np.array([np.median(sample.time)]))
        found[calibration] = (cox.survival_of(data, middle), scaled(data).x.mean(0))
    (printed, about), (proved, shifted) = found["paper"], found["rigorous"]
    assert np.abs(about - shifted).max() > 0.05
    np.testing.assert_allclose(printed, proved, atol=2e-3)


def run(method, data, monkeypatch, values=None, axes=None, seeds=(0, 1)):
    """A whole run on a table of any size."""
    job = request("survival", method, "flchain", values or {}, axes or {}, seeds)
    kept = {}

    def keep(name, arrays):
        kept.update(arrays)
        return name

    events = list(drive(job, data, keep))
    return job, events, kept


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(("intervals", "knots"), [(2, 3), (2000, 3), (40, 20)])
@pytest.mark.thorough
def test_every_method_runs_at_the_ends_of_its_knobs(method, intervals, knots, monkeypatch):
    data = table(80, 2)
    values = {"intervals": intervals, "knots": knots}
    axes = {"regularisation": (1e-9, 1e3)} if method != "cox" else {}
    if method.endswith("pert"):
        axes["epsilon"] = (1e-3, 1e3)
    job, events, kept = run(method, data, monkeypatch, values, axes)
    results = collect(job, events)
    flat = np.zeros(job.replicas(), bool)
    if method == "obj_pert":  # so flat that the optimiser may give up: it must say so
        flat = (results.axes["regularisation"] < 1e-8) & (results.axes["epsilon"] > 1e2)
    assert set(events[-1].diverged) <= set(np.flatnonzero(flat))
    for name in gauges(Utility):
        assert np.isfinite(results.gauges[name][~flat]).all(), name
    assert (results.gauges["concordance"][~flat] <= 1.0).all()
    assert any(isinstance(event, Produced) for event in events)
    assert all(len(array) == job.replicas() for array in kept.values())


@pytest.mark.parametrize("method", ["out_pert", "obj_pert"])
@pytest.mark.parametrize("solver", ["newton", "bfgs"])
def test_a_run_spends_what_it_says(method, solver, monkeypatch):
    values = {"intervals": 6, "solver": solver}
    axes = {"epsilon": (0.5, 2.0), "regularisation": (1e-2, 1.0)}
    job, events, kept = run(method, table(80, 2), monkeypatch, values, axes)
    spent = [event for event in events if isinstance(event, Spent)]
    assert [p for event in spent for p in event.epsilon] == pytest.approx(
        list(job.batch().column("epsilon"))
    )
    assert kept["coefficients"].shape == kept["noise"].shape == (8, 5)
    assert (kept["tau"] <= 1e-10).all()


def test_more_budget_and_more_regularisation_mean_less_noise(monkeypatch):
    axes = {"epsilon": (0.1, 1.0, 10.0), "regularisation": (1e-2, 1.0)}
    for method in ("out_pert", "obj_pert"):
        *_, kept = run(method, table(80, 2), monkeypatch, {"intervals": 6}, axes, seeds=(0,))
        noise = kept["noise"].mean(1).reshape(3, 2)
        assert (np.diff(noise, axis=0) < 0).all()
        assert (np.diff(noise, axis=1) < 0).all()


def test_the_noise_that_is_kept_is_the_noise_that_is_drawn():
    r"""The spread of 600 draws in each coefficient, whose standard error is a few percent.

    E b_j^4 / (E b_j^2)^2 is at most 3 (d+2)(d+3)/(d(d+1)) < 6 for d = 5, so the sample's standard
    deviation has a relative error of at most sqrt(5/4/600) = 4.6 %; four of them are admitted,
    and for objective perturbation the error of the first order, small at this regularisation.
    """
    data = table(100, 2)
    for module, spec in (
        (output, SurvivalSpec(intervals=5)),
        (objective, SurvivalSpec(intervals=5, regularisation=1.0, epsilon=20.0)),
    ):
        batch, _, after, _ = one_step(module, data, spec, range(600))
        kept = module.METHOD.products(batch, data, after)
        np.testing.assert_allclose(after.f.std(0), kept["noise"].mean(0), rtol=0.18)


def test_a_replica_that_fails_is_not_released_and_harms_no_other(monkeypatch):
    data, minimise = table(80, 2), objective.minimise

    def stumbles(*arguments, **named):
        optimum = minimise(*arguments, **named)
        optimum.tau[1] = 1e-3
        return optimum

    values, axes = {"intervals": 6}, {"epsilon": (0.5, 2.0)}
    _, fine, sane = run("obj_pert", data, monkeypatch, values, axes)
    monkeypatch.setattr(objective, "minimise", stumbles)
    _, events, kept = run("obj_pert", data, monkeypatch, values, axes)
    assert events[-1].diverged == (1,)
    assert np.isnan(kept["coefficients"][1]).all()
    measured, before = (next(e for e in es if isinstance(e, Measured)) for es in (events, fine))
    others = [0, 2, 3]
    np.testing.assert_array_equal(kept["coefficients"][others], sane["coefficients"][others])
    for name in ("mre", "brier", "concordance"):
        assert measured.values[name][1] is None
        # Vectors that hold a NaN take another path through exp, which rounds the last bit apart.
        assert [measured.values[name][r] for r in (0, 2, 3)] == pytest.approx(
            [before.values[name][r] for r in (0, 2, 3)], rel=1e-13
        )


def test_a_fit_that_misses_its_tolerance_is_not_released(monkeypatch):
    data = table(80, 2, seed=9)
    monkeypatch.setattr(output, "TOLERANCE", 0.0)
    _, events, kept = run("out_pert", data, monkeypatch, {"intervals": 6})
    assert np.isnan(kept["coefficients"]).all()
    assert events[-1].diverged == (0, 1)


def test_the_reference_keeps_what_a_page_draws(monkeypatch):
    data = table(200, 2)
    axes = {"regularisation": (1e-9, 1e-1)}
    *_, kept = run("non_private", data, monkeypatch, {"intervals": 10}, axes, seeds=(0,))
    shapes = {name: array.shape for name, array in kept.items()}
    assert shapes["coefficients"] == shapes["optimum"] == shapes["errors"] == (2, 5)
    assert shapes["centre"] == shapes["span"] == shapes["cox"] == shapes["cox_errors"] == (2, 2)
    assert shapes["norm"] == shapes["horizon"] == (2,)
    np.testing.assert_allclose(kept["coefficients"][0], kept["optimum"][0], rtol=1e-5)
    fitted = KaplanMeierFitter().fit(data.time, data.event)
    np.testing.assert_allclose(
        kept["km_survival"][0], fitted.predict(kept["km_time"][0]).to_numpy()
    )


def test_the_unregularised_reference_is_the_optimum_that_descent_leads_to(monkeypatch):
    data = table(200, 2)
    *_, kept = run("unregularised", data, monkeypatch, {"intervals": 10}, seeds=(0,))
    np.testing.assert_array_equal(kept["coefficients"], kept["optimum"])
    *_, near = run("dp_gd", data, monkeypatch, {"intervals": 10, "epsilon": 1e3}, seeds=(0,))
    *_, penalised = run("non_private", data, monkeypatch, {"intervals": 10}, seeds=(0,))
    far, close = (
        np.linalg.norm(one["coefficients"] - near["coefficients"]) for one in (penalised, kept)
    )
    assert close < far


def test_standard_errors_are_those_of_the_information():
    """One interval split only by the baseline: the error of a log-odds is 1/sqrt(n h (1 - h)).

    With q = 2 and three knots the optimum is not unique, so its fitted log-odds are compared.
    """
    data = table(x=np.zeros((100, 1)), time=np.ones(100), event=np.arange(100) < 30)
    job = request("survival", "non_private", "flchain", {"intervals": 2})
    kept = {}
    list(drive(job, data, lambda name, arrays: kept.update(arrays) or name))
    assert np.isfinite(kept["errors"]).all()
    assert kept["errors"][0, 3] == 0.0  # a constant column says nothing


DEGENERATE = {
    "constant column": {"x": np.c_[np.random.default_rng(5).normal(size=40), np.full(40, 3.0)]},
    "all censored": {"event": np.zeros(40)},
    "all observed": {"event": np.ones(40)},
    "one event": {"event": np.eye(1, 40)[0]},
    "times of zero": {"time": np.zeros(40)},
    "separated": {"x": np.arange(40)[:, None] >= 20.0, "event": np.arange(40) >= 20},
    "separated in time": {"x": np.arange(40.0)[:, None], "time": 40.0 - np.arange(40)},
}


@pytest.mark.thorough
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("name", DEGENERATE)
def test_degenerate_data_end_in_a_result(method, name, monkeypatch):
    job, events, _ = run(method, table(40, 2, **DEGENERATE[name]), monkeypatch, {"intervals": 10})
    results = collect(job, events)
    scored = name != "times of zero"  # no time before the last: nothing to be predicted
    assert isinstance(events[-1], Finished)
    assert events[-1].diverged == ()
    assert np.isfinite(results.gauges["brier"]).all() == scored
    for name, values in results.gauges.items():
        assert np.isfinite(values).all() or gauges(job.entry().info)[name].may_be_undefined


@pytest.mark.parametrize("method", METHODS)
def test_ten_records_end_in_a_result(method, monkeypatch):
    _, events, _ = run(method, table(10, 2), monkeypatch, {"intervals": 10})
    assert events[-1].diverged == ()
