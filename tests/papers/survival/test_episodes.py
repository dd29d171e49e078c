"""Covariates that vary in time: one person one record, the same bounds, every method."""

import math
import re
from contextlib import suppress

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from lifelines import CoxTimeVaryingFitter
from torch.nn.functional import softplus

import epsilon_explorer
from datasets import catalog, own
from datasets.base import Episodes, SurvivalTable
from engine.catalog import paper
from engine.cli.main import main
from engine.core.errors import DatasetError, RequestError
from engine.papers.survival.evaluation import evaluate
from engine.papers.survival.likelihood import logit, lookup
from engine.papers.survival.likelihood.minibatch import pick, sanitised_gradient
from engine.papers.survival.likelihood.problem import arrange_path, design
from engine.papers.survival.likelihood.scale import scaled, unbounded
from engine.papers.survival.likelihood.solvers import minimise
from engine.papers.survival.mechanisms import descent
from engine.papers.survival.mechanisms.start import share
from engine.papers.survival.price.sensitivity import basis, gradient_bound, output_noise
from engine.papers.survival.samplers.target import Target
from engine.papers.survival.spec import SurvivalSpec
from engine.runs import job
from engine.runs.driver import drive
from engine.runs.events import Finished
from engine.runs.job import request
from engine.runs.results import collect
from pages.ui.kit import card
from tests.papers.survival.toys import ball, table

Q, E, P = 12, 3, 2


def people(rng, n, q=Q):
    """Scaled paths of 1 to 4 episodes, covariates anywhere in the ball: course, t, event."""
    count = rng.integers(1, 5, n)
    person = np.repeat(np.arange(n), count)
    end = rng.uniform(0.05, 1.0, n)
    cuts = [np.r_[0.0, np.sort(rng.uniform(0, e, k - 1))] for e, k in zip(end, count, strict=True)]
    stops = [np.r_[c[1:], e] for c, e in zip(cuts, end, strict=True)]
    course = Episodes(
        person, np.concatenate(cuts), np.concatenate(stops), ball(rng, len(person), P)
    )
    interval = np.clip(np.ceil(q * end), 1, q).astype(np.int64)
    return course, interval, rng.integers(0, 2, n).astype(float)


def replaced(rng, course, interval, event):
    """The same with the first person's whole path replaced."""
    new, t, happened = people(rng, 1)
    keep = course.person > 0
    parts = [
        np.concatenate([getattr(new, field), getattr(course, field)[keep]])
        for field in ("person", "start", "stop", "x")
    ]
    return Episodes(*parts), np.r_[t, interval[1:]], np.r_[happened, event[1:]]


def built(course, interval, event, q=Q):
    return arrange_path(course, interval, event, basis(q, E))


def by_hand(course, interval, event, f, q=Q):
    """Losses (R, n), interval by interval, with the covariates at the beginning of each."""
    A, total = torch.tensor(basis(q, E)), []
    for i in range(len(interval)):
        mine = course.person == i
        loss = 0.0
        for s in range(1, interval[i] + 1):
            held = course.x[mine][np.flatnonzero(course.start[mine] <= (s - 1) / q)[-1]]
            eta = f[:, :E] @ A[s - 1] + f[:, E:] @ torch.tensor(held)
            last = s == interval[i] and event[i] > 0
            loss = loss + softplus(-eta if last else eta, threshold=50.0)
        total.append(loss)
    return torch.stack(total, dim=1)


def test_losses_and_derivatives_are_those_of_the_person_periods():
    rng = np.random.default_rng(1)
    some = people(rng, 30)
    actual, f = built(*some), torch.tensor(rng.normal(size=(3, E + P)), requires_grad=True)
    expected = by_hand(*some, f)
    torch.testing.assert_close(logit.losses(actual, f.detach()), expected.detach())
    torch.testing.assert_close(
        lookup.losses(actual, f.detach()), expected.detach(), rtol=1e-4, atol=1e-4
    )
    (slope,) = torch.autograd.grad(expected.mean(1).sum(), f, retain_graph=True)
    at = logit.derivatives(actual, f.detach())
    torch.testing.assert_close(at.gradient, slope)
    torch.testing.assert_close(logit.mean_gradient(actual, f.detach()), slope)
    bend = torch.autograd.functional.hessian(lambda g: by_hand(*some, g[None]).mean(), f[0])
    torch.testing.assert_close(at.hessian[0], bend)


def test_small_batches_of_persons_have_the_gradient_of_autograd():
    rng = np.random.default_rng(2)
    some = people(rng, 30)
    actual, f = built(*some), torch.tensor(rng.normal(size=(2, E + P)), requires_grad=True)
    rows = torch.randint(30, (2, 25), generator=torch.Generator().manual_seed(0))
    bound = torch.tensor([2.0, 20.0], dtype=torch.float64)
    value, gradient = sanitised_gradient(actual.A, f.detach(), pick(actual, rows), bound, "logit")
    costs = by_hand(*some, f).gather(1, rows)
    expected = bound * torch.tanh(costs / bound[:, None]).mean(1)
    (slope,) = torch.autograd.grad(expected.sum(), f)
    torch.testing.assert_close(value, expected.detach(), rtol=2e-3, atol=1e-3)
    torch.testing.assert_close(gradient, slope, rtol=5e-3, atol=5e-3)


def gradients(actual, f):
    """Each person's gradient, shape (R, n, d)."""
    v = logit.record_gradients(actual, f)
    return actual.by_record(torch.cat([v, v[:, :, :1] * actual.x], dim=2))


@settings(max_examples=40)
@given(seed=st.integers(0, 2**31), size=st.sampled_from([0.3, 3.0, 100.0]))
def test_no_two_paths_differ_by_more_than_the_bound_of_one_record(seed, size):
    rng = np.random.default_rng(seed)
    actual = built(*people(rng, 40))
    each = gradients(actual, torch.tensor(rng.normal(size=(4, E + P)) * size))
    assert float(torch.cdist(each, each).max()) <= gradient_bound(Q, E, "rigorous") * (1 + 1e-12)


@settings(max_examples=40)
@given(seed=st.integers(0, 2**31), size=st.sampled_from([0.3, 3.0, 100.0]))
def test_neighbours_differ_in_one_persons_path(seed, size):
    """Clipped sums by 2C, moments and counts by root 2, log densities by half of epsilon."""
    rng = np.random.default_rng(seed)
    some = people(rng, 8)
    here, there = built(*some), built(*replaced(rng, *some))
    f = torch.tensor(rng.normal(size=(2, E + P)) * size)
    root, one = torch.tensor(rng.normal(size=(2, E + P, E + P))), torch.ones(2, dtype=torch.float64)
    sums = [descent.clipped_sum(m, f, root, 0.7 * one)[0] for m in (here, there)]
    assert float((sums[0] - sums[1]).norm(dim=1).max()) <= 1.4 * (1.0 + 1e-9)
    moments = [m.x.T @ (share(m)[:, None] * m.x) for m in (here, there)]
    assert float((moments[0] - moments[1]).norm()) <= math.sqrt(2.0) * (1.0 + 1e-9)
    counts = [
        torch.bincount(m.ends + Q * (m.happened > 0), minlength=2 * Q + 1) for m in (here, there)
    ]
    assert float((counts[0] - counts[1]).double().norm()) <= math.sqrt(2.0) * (1.0 + 1e-9)
    pair = [
        Target(m, "cloglog", one / 6.0, 3.0 * one, 1e-2).log_density(f[:, None])
        for m in (here, there)
    ]
    assert float((pair[0] - pair[1]).abs().max()) <= 0.5 * (1.0 + 1e-9)  # epsilon/2 = v kappa


@pytest.mark.parametrize("seed", range(5))
def test_the_minimiser_moves_by_at_most_the_sensitivity(seed):
    rng = np.random.default_rng(seed)
    some, weight = people(rng, 20), torch.tensor([1e-2], dtype=torch.float64)
    zero = torch.zeros(1, E + P, dtype=torch.float64)
    here, there = (minimise(built(*both), weight, zero).f for both in (some, replaced(rng, *some)))
    spec = SurvivalSpec(intervals=Q, knots=E, regularisation=1e-2)
    assert 0.0 < float((here - there).norm()) <= output_noise(spec, 20, E + P).sensitivity


def split(data):
    """The same table, each duration cut in two episodes with the same covariates."""
    n, half = len(data), data.time / 2.0
    person = np.repeat(np.arange(n), 2)
    start, stop = np.c_[np.zeros(n), half].ravel(), np.c_[half, data.time].ravel()
    course = Episodes(person, start, stop, data.x[person])
    return SurvivalTable(data.card, data.x, data.time, data.event, course)


def test_covariates_that_do_not_vary_are_as_before():
    plain = table(50, 2)
    cut = split(plain)
    one, two = (evaluate.optimum(data, 10, 3) for data in (plain, cut))
    torch.testing.assert_close(one, two, rtol=1e-7, atol=1e-7)
    np.testing.assert_allclose(
        evaluate.cox(plain).beta, evaluate.cox(cut).beta, rtol=0.02, atol=0.02
    )  # ties are broken another way
    spec, none = SurvivalSpec(intervals=10), np.zeros(1)
    scores = [evaluate.utility(data, spec, one[None], none) for data in (plain, cut)]
    for gauge in ("concordance", "brier"):
        a, b = (getattr(score, gauge)[0] for score in scores)
        assert a == pytest.approx(b, rel=1e-9)
    torch.testing.assert_close(
        logit.losses(design(plain, 10, 3), one[None]).sum(),
        logit.losses(design(cut, 10, 3), one[None]).sum(),
    )


FIXED = ("obj_pert_gauss", "log_rank")
"""They need covariates that are fixed in time and say so (`test_frontier`, `test_compared`)."""
KEEPS = {"cox": ("cox", 4), "km_dp": ("km_private", 21)}
"""What methods without coefficients keep, and how many numbers of it."""


@pytest.mark.thorough
@pytest.mark.parametrize(
    "method", [e.name for e in paper("survival").methods if e.name not in FIXED]
)
def test_every_method_runs_on_real_paths(method):
    values = {"intervals": 20, "samples": 40, "sampler_epochs": 2.0, "minibatch": 20, "steps": 4}
    asked = request("survival", method, "heart", values, {"epsilon": (0.5, 5.0)}, (0, 1))
    kept = {}
    events = list(
        drive(asked, catalog.load("heart"), lambda name, arrays: kept.update(arrays) or name)
    )
    assert isinstance(events[-1], Finished)
    assert events[-1].diverged == ()
    results = collect(asked, events)
    assert all(np.isfinite(column).all() for column in results.gauges.values())
    name, width = KEEPS.get(method, ("coefficients", 7))
    assert kept[name].shape[1] == width
    promised = paper("survival").entry(method).guarantee(SurvivalSpec(), 103, "a patient")
    assert promised.unit == "a patient"


@pytest.mark.parametrize("method", FIXED)
@pytest.mark.parametrize("command", ["price", "card make", "run"])
def test_a_method_that_needs_fixed_covariates_promises_nothing_of_others(command, method, capsys):
    """It was priced as proved, and only a run refused it."""
    asked, data = request("survival", method, "heart"), catalog.load("heart")
    with pytest.raises(RequestError) as refused:
        list(drive(asked, data, lambda name, arrays: name))
    assert main([*command.split(), "survival", method, "--dataset", "heart"]) == 2
    assert capsys.readouterr().err.strip().endswith(str(refused.value))
    with pytest.raises(RequestError, match=re.escape(str(refused.value))):
        epsilon_explorer.price("survival", method, data="heart")
    if command != "run":
        assert main([*command.split(), "survival", method]) == 0


@pytest.mark.thorough
@pytest.mark.parametrize("method", FIXED)
def test_a_card_of_such_a_method_is_not_in_order(method, monkeypatch, capsys, tmp_path):
    path = tmp_path / "card.json"
    with monkeypatch.context() as patch:  # as the version before this one made it
        patch.setattr(job, "varies", lambda name: False)
        assert (
            main(["card", "make", "survival", method, "--dataset", "heart", "--to", str(path)]) == 0
        )
    assert main(["card", "verify", str(path)]) == 1
    said = capsys.readouterr().err
    assert "makes no such card: dataset: expected covariates that are fixed in time" in said


@pytest.mark.parametrize("method", FIXED)
def test_its_card_on_a_page_is_not_proved(method):
    entry, spec = paper("survival").entry(method), paper("survival").spec()
    told = card.guarantee(entry, spec, catalog.card("heart"))
    assert (told.status, told.epsilon_proved) == ("heuristic", None)
    assert told.reasons[0].startswith("Expected covariates that are fixed in time")
    assert card.guarantee(entry, spec, catalog.card("flchain")).status == "proved"


@pytest.mark.thorough
def test_whether_covariates_vary_is_known_without_reading_records(tmp_path, monkeypatch):
    monkeypatch.setenv("EXPLORER_HOME", str(tmp_path))
    long = "# a: 0 to 9\n# time: 0 to 9\nid,start,stop,event,a\n" + "".join(
        f"{i},0,1,0,4\n{i},1,2,{i % 2},5\n" for i in range(60)
    )
    plain = "# a: 0 to 9\n# time: 0 to 9\ntime,event,a\n" + "".join(
        f"2,{i % 2},4\n" for i in range(60)
    )
    ours = [own.keep("some.csv", text.encode()) for text in (long, plain)]
    found = {}
    for name in (*catalog.names(), *ours):
        with suppress(DatasetError):  # the publisher's file is not at hand
            data = catalog.load(name)
            found[name] = getattr(data, "episodes", None) is not None
    assert {name: job.varies(name) for name in found} == found
    assert [found[name] for name in ("heart", "flchain", *ours)] == [True, False, True, False]


def test_the_fit_of_real_paths_is_near_coxs():
    """With eight knots within a quarter of a standard error. Three cannot follow the early deaths,
    and then the transplant, which comes later, takes the credit: one standard error."""
    data = unbounded(catalog.load("heart"))
    beta = evaluate.optimum(data, 200, 8)[8:].numpy()
    ours = evaluate.cox(data)
    records = scaled(data)
    from lifelines.datasets import load_stanford_heart_transplants

    fitted = CoxTimeVaryingFitter().fit(
        load_stanford_heart_transplants(), id_col="id", event_col="event", start_col="start",
        stop_col="stop",
    )  # fmt: skip
    names = list(data.card.features)
    np.testing.assert_allclose(
        ours.beta / records.span / records.norm, fitted.params_[names], rtol=1e-4
    )
    assert (np.abs(beta - ours.beta) < 0.25 * ours.error).all()
