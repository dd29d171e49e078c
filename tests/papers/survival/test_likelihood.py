"""The likelihood without a person-period table, against autograd and against that table."""

import functools

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from sklearn.linear_model import LogisticRegression

from engine.papers.survival.likelihood import logit
from engine.papers.survival.likelihood.logit import (
    derivatives,
    log_one_plus,
    losses,
    mean_gradient,
    record_gradients,
)
from engine.papers.survival.likelihood.problem import design, discretise
from engine.papers.survival.likelihood.scale import scaled, unbounded
from engine.papers.survival.likelihood.solvers import minimise
from tests.papers.survival.toys import model, real, records, table

SHAPES = [(30, 2, 2, 3), (30, 2, 7, 3), (25, 1, 20, 5), (40, 3, 41, 20), (1, 2, 9, 4)]
"""Records, covariates, intervals, knots: q below, at and above e; one record."""


def plain(design, f):
    """Each record's loss straight from the definition, shape (n,): differentiable."""
    e = design.knots
    eta = (design.A @ f[:e])[None, :] + (design.x @ f[e:])[:, None]
    s = torch.arange(1, design.intervals + 1)
    ends = design.interval[:, None]
    y = 2.0 * design.event[:, None] - 1.0
    before, there = softplus(eta) * (s < ends), softplus(-y * eta) * (s == ends)
    return (before + there).sum(1)


def softplus(x):
    """log(1 + exp(x)) to the last digit, which torch's own cuts off beyond 20."""
    return torch.logaddexp(x, torch.zeros_like(x))


def mean_loss(design, f):
    return plain(design, f).mean()


@pytest.fixture(params=SHAPES, ids=str)
def case(request):
    n, p, q, e = request.param
    rng = np.random.default_rng(n + q)
    f = torch.tensor(rng.normal(scale=1.5, size=(3, e + p)))
    return model(*records(rng, n, p, q), q, e), f


def test_losses_are_those_of_the_definition(case):
    design, f = case
    expected = torch.stack([plain(design, row) for row in f])
    torch.testing.assert_close(losses(design, f), expected, rtol=1e-12, atol=1e-12)


def test_gradient_and_hessian_are_those_of_autograd(case):
    design, f = case
    actual = derivatives(design, f)
    for row, gradient, hessian in zip(f, actual.gradient, actual.hessian, strict=True):
        mean = functools.partial(mean_loss, design)
        expected = torch.autograd.functional.jacobian(mean, row)
        torch.testing.assert_close(gradient, expected, rtol=1e-10, atol=1e-12)
        curvature = torch.autograd.functional.hessian(mean, row)
        torch.testing.assert_close(hessian, curvature, rtol=1e-10, atol=1e-12)
    torch.testing.assert_close(mean_gradient(design, f), actual.gradient)


def test_record_gradients_are_those_of_autograd(case):
    design, f = case
    v = record_gradients(design, f)
    for row, actual in zip(f, v, strict=True):
        expected = torch.autograd.functional.jacobian(lambda point: plain(design, point), row)
        whole = torch.cat([actual, actual[:, :1] * design.x], dim=1)
        torch.testing.assert_close(whole, expected, rtol=1e-10, atol=1e-12)


def test_the_size_of_a_block_changes_nothing(case, monkeypatch):
    design, f = case
    whole, parts = derivatives(design, f), losses(design, f)
    monkeypatch.setattr(logit, "BLOCK", 16)
    torch.testing.assert_close(derivatives(design, f).hessian, whole.hessian)
    torch.testing.assert_close(derivatives(design, f).gradient, whole.gradient)
    torch.testing.assert_close(losses(design, f), parts)


@pytest.mark.parametrize("size", [60.0, 400.0, 1e5])
def test_far_parameters_neither_overflow_nor_lose_a_digit(size):
    """Where exp(-a) exp(-c) would overflow, and where eight terms' product would."""
    rng = np.random.default_rng(1)
    design = model(*records(rng, 20, 2, 12), 12, 3)
    f = torch.tensor(rng.normal(size=(4, 5))) * size
    expected = torch.stack([plain(design, row) for row in f])
    torch.testing.assert_close(losses(design, f), expected, rtol=1e-12, atol=1e-9)
    h = torch.sigmoid((f[:, :3] @ design.A.T)[:, None] + (f[:, 3:] @ design.x.T)[:, :, None])
    for rows, actual, _ in logit.hazards(design, f):
        inside = torch.arange(1, actual.shape[2] + 1) <= design.interval[rows, None]
        torch.testing.assert_close(
            actual, h[:, rows, : actual.shape[2]] * inside, rtol=1e-9, atol=0
        )
    a, c = f[:, :3] @ design.A.T, f[:, 3:] @ design.x.T
    expected = softplus(a[:, None] + c[:, :, None])
    torch.testing.assert_close(log_one_plus(a, c), expected, rtol=1e-12, atol=1e-12)


def test_the_optimum_is_that_of_the_person_period_table():
    """scikit-learn on the long table that the likelihood never builds."""
    whole = real("flchain")
    some = np.random.default_rng(0).choice(len(whole), 400, replace=False)
    small = table(x=whole.x[some], time=whole.time[some], event=whole.event[some])
    small = table(x=small.x[:, :4], time=small.time, event=small.event)
    fitted = design(small, 12, 3)
    linear = torch.zeros(1, fitted.dimension, dtype=torch.float64)
    ours = minimise(fitted, torch.tensor([1e-3], dtype=torch.float64), linear).f[0].numpy()
    ends = fitted.interval.numpy()
    person = np.repeat(np.arange(400), ends)
    period = np.concatenate([np.arange(end) for end in ends])
    y = (period == ends[person] - 1) & (fitted.event.numpy()[person] > 0)
    rows = np.hstack([fitted.A.numpy()[period], fitted.x.numpy()[person]])
    theirs = LogisticRegression(
        C=1.0 / (1e-3 * 400), fit_intercept=False, solver="newton-cholesky", tol=1e-12
    ).fit(rows, y)
    np.testing.assert_allclose(ours, theirs.coef_[0], atol=1e-7)


def test_scaling_is_the_papers():
    x = [[0.0, 5.0], [4.0, 5.0], [2.0, 5.0]]
    small = unbounded(table(x=x, time=[1.0, 4.0, 0.0], event=[1, 0, 1]))
    actual = scaled(small)
    np.testing.assert_allclose(actual.x, [[-1.0, 0.0], [1.0, 0.0], [0.0, 0.0]])  # constant: 0
    np.testing.assert_allclose(actual.time, [0.25, 1.0, 0.0])
    assert actual.norm == 0.5
    np.testing.assert_allclose(actual.span, [4.0, 1.0])
    assert discretise(actual.time, 2).tolist() == [1, 2, 1]
    assert discretise(np.array([0.0, 0.5, 0.500001, 1.0]), 200).tolist() == [1, 100, 101, 200]
    own = scaled(unbounded(table(50, 3)))
    assert np.linalg.norm(own.x, axis=1).max() == pytest.approx(1.0)


def test_a_design_is_sorted_and_keeps_the_order():
    small = table(40, 2)
    rows = design(small, 10, 3)
    assert (rows.interval.diff() >= 0).all()
    np.testing.assert_array_equal(rows.x.numpy(), scaled(small).x[rows.order.numpy()])
    assert design(small, 10, 3) is rows


@given(longest=st.integers(1, 10_000), share=st.floats(0.0, 1.0), intervals=st.integers(1, 400))
def test_whole_times_fall_into_the_interval_that_whole_numbers_say(longest, share, intervals):
    time = round(share * longest)
    actual = discretise(np.array([time / longest]), intervals)[0]
    assert actual == min(max(-(-intervals * time // longest), 1), intervals)


def test_every_week_of_a_year_in_as_many_intervals_is_its_own():
    weeks = np.arange(1, 53)
    assert discretise(weeks / 52.0, 52).tolist() == weeks.tolist()
