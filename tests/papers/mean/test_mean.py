"""The private mean: the noise that arrives, what one record changes, and prices by hand."""

import math
from dataclasses import replace

import numpy as np
import pytest
import torch

from datasets import catalog as data
from engine.audit import statistics
from engine.audit.witness import load
from engine.core.batch import Batch
from engine.core.errors import RequestError
from engine.papers.mean import PAPER, guarantees, method, price
from engine.papers.mean.spec import MeanSpec
from engine.privacy import accounting
from engine.privacy.recording import recording
from tests.papers.survival.toys import flchain_with

N, B = 100, 2.0
SPEC = MeanSpec(bound=B, records=N, epsilon=0.8, share=0.25)
METHODS = {"laplace": method.LAPLACE, "gaussian": method.GAUSSIAN, "exact": method.EXACT}


def table(column):
    """A table of these values of kappa, all else zero."""
    known = data.load("flchain")
    x = np.zeros((len(column), known.x.shape[1]))
    x[:, known.card.features.index("kappa")] = column
    time, event = known.time[: len(x)], known.event[: len(x)]
    return replace(known, x=x, time=time, event=event)


def weight(part):
    """What a release's numbers are worth where its sensitivity is stated."""
    return 1.0 if part.weights[0] is None else part.weights[0]


def answered(name, records, replicas=1, spec=SPEC):
    """The state and the gauges of replicas that differ in their noise."""
    batch, rng = Batch.grid(spec, {}, (0,) * replicas), torch.Generator().manual_seed(0)
    state = METHODS[name].init(batch, records, rng)
    return METHODS[name].step(batch, records, state, rng)


@pytest.mark.parametrize("name", ["laplace", "gaussian"])
def test_the_priced_noise_arrives(name):
    """|x|/b has mean 1 and deviation 1 for Laplace noise, x²/σ² mean 1 and deviation √2 for
    Gaussian: six standard errors of 4,000 means and 80,000 counts."""
    replicas = 4_000
    state, info = answered(name, table(np.full(N, 1.0)), replicas)
    mean, counts = (r.mechanism for r in PAPER.entry(name).releases(SPEC, N))
    drawn = state.mean.numpy() - 1.0, (state.counts[0] - state.counts[1]).numpy()
    power, spread = (1, 1.0) if name == "laplace" else (2, math.sqrt(2.0))
    for noise, mechanism in zip(drawn, (mean, counts), strict=True):
        actual = np.mean(np.abs(noise / mechanism.scale) ** power)
        assert abs(actual - 1.0) < 6 * spread / math.sqrt(noise.size)
    # the gauge states the deviation that the draws have, whose own error is at most 2 in 100
    assert info.deviation[0] == pytest.approx(drawn[0].std(), rel=6 * 0.02)


@pytest.mark.parametrize("name", ["laplace", "gaussian"])
def test_one_record_changes_no_more_than_the_sensitivity_and_the_worst_one_that_much(name):
    """The recorded values before noise, on all pairs of extreme records."""
    rng = np.random.default_rng(0)
    column = rng.gamma(2.0, 1.0, N)
    norm = 1 if name == "laplace" else 2
    largest = [0.0, 0.0]
    for old, new in [(0.0, 50.0), (50.0, 0.0), (0.3, 1.7), (B, B + 1), (0.0, B)]:
        before = []
        for value in (old, new):
            column[0] = value
            with recording() as seen:
                answered(name, table(column))
            before.append(
                [(part.values[0] * weight(part)).numpy().ravel() for part in seen.releases]
            )
        for i, release in enumerate(PAPER.entry(name).releases(SPEC, N)):
            change = np.linalg.norm(before[0][i] - before[1][i], norm)
            assert change <= release.mechanism.sensitivity * (1 + 1e-12)
            largest[i] = max(largest[i], change / release.mechanism.sensitivity)
    assert largest == pytest.approx([1.0, 1.0])


@pytest.mark.parametrize(("old", "new"), [(0.4, 5.0), (0.4, 1e6), (5.0, None), (None, 5.0)])
@pytest.mark.parametrize("name", ["laplace", "gaussian"])
def test_one_person_of_the_published_file_moves_no_more_than_the_sensitivity(
    name, old, new, monkeypatch
):
    """The loader fills missing values with the mean of the others, so 1,351 rows differ."""
    tables = [flchain_with(one, monkeypatch) for one in (old, new)]
    column = tables[0].card.features.index("creatinine")
    fills = [one.x[one.missing[:, column], column] for one in tables]
    edge = 0.5 * (fills[0].min() + min(fills[1].min(), 5.0))  # that of a bin, between both fills
    spec = SPEC.replace(column="creatinine", bound=float(edge * 20 / 8), records=7_874)
    found = []
    for one in tables:
        with recording() as seen:
            answered(name, one, spec=spec)
        found.append(seen.releases)
    reach = [float(statistics.apart(*pair)) for pair in zip(*found, strict=True)]
    assert max(reach) <= 1.0 + 1e-9
    assert max(reach) > 0.0
    assert sum(method.values(spec, tables[0]) != method.values(spec, tables[1])) == 1


def test_a_missing_value_counts_as_the_public_one_and_the_card_says_so():
    known = data.load("flchain")
    column = known.card.features.index("creatinine")
    values = method.values(SPEC.replace(column="creatinine"), known)
    assert set(values[known.missing[:, column]]) == {1.0}
    for name in ("laplace", "gaussian"):
        card = PAPER.entry(name).promise(SPEC, known.card)
        assert any("missing value counts as a public one" in reason for reason in card.reasons)
    nothing = replace(known, card=replace(known.card, bounds=None))
    with pytest.raises(RequestError, match="what stands for a missing value of 'creatinine'"):
        method.values(SPEC.replace(column="creatinine"), nothing)


def test_the_worst_case_of_a_column_with_gaps_is_there_in_both_tables():
    """A record whose value is missing has one in the pair that an audit attacks."""
    known = data.load("flchain")
    column = known.card.features.index("creatinine")
    missing = np.ones_like(known.missing)
    spec = SPEC.replace(column="creatinine", bound=5.0)
    pair = load(PAPER.entry("laplace")).pair(spec, replace(known, missing=missing))
    one, other = (method.values(spec, table) for table in (pair.without, pair.present))
    assert (one != other).sum() == 1
    assert abs(one - other).max() == 5.0
    assert known.card.bounds.covariates[column] == (0.0, 5.0)


def test_prices_by_hand():
    laplace = PAPER.entry("laplace")
    event = laplace.cost(SPEC, N, 1)
    assert accounting.epsilon(event, 0.0, price.RELATION) == pytest.approx(0.8)
    mean, counts = (r.mechanism for r in laplace.releases(SPEC, N))
    assert (mean.scale, counts.scale) == pytest.approx((B / N / 0.6, 2.0 / 0.2))
    # √(2 ln 125,000) = 4.8448, of which the mean has three quarters of the precision
    printed = SPEC.replace(calibration="paper", epsilon=1.0)
    mean, counts = (r.mechanism for r in PAPER.entry("gaussian").releases(printed, N))
    assert mean.scale == pytest.approx(4.8448 / math.sqrt(0.75) * B / N, rel=1e-4)
    assert counts.scale == pytest.approx(4.8448 / math.sqrt(0.25) * math.sqrt(2.0), rel=1e-4)


@pytest.mark.parametrize(("epsilon", "says"), [(0.5, "larger than needed"), (10.0, "too small")])
def test_the_card_tells_what_the_printed_gaussian_noise_spends(epsilon, says):
    spec = MeanSpec(epsilon=epsilon)
    proved = guarantees.gaussian_card(spec, 7_874, "a person").epsilon_proved
    assert epsilon * (1 - 1e-6) <= proved <= epsilon
    printed = guarantees.gaussian_card(spec.replace(calibration="paper"), 7_874, "a person")
    assert says in printed.reasons[0]
    assert (printed.epsilon_proved > epsilon) == (says == "too small")
    assert (printed.epsilon_claimed is None) == (epsilon >= 1)


def test_clipping_costs_bias_and_a_large_bound_noise():
    column = np.full(N, 1.0)
    column[:10] = 5.0
    low, high = (
        answered("laplace", table(column), spec=SPEC.replace(bound=bound))[1]
        for bound in (2.0, 8.0)
    )
    assert low.bias == pytest.approx(0.3)
    assert low.clipped == pytest.approx(0.1)
    assert abs(high.bias[0]) < 1e-6 * 8.0  # values are rounded to parts of the bound
    assert high.clipped[0] == 0.0
    assert high.deviation / low.deviation == pytest.approx(4.0)
    for info in (low, high):
        assert info.expected == pytest.approx(np.hypot(info.bias, info.deviation))


def test_without_noise_the_answer_is_that_of_the_clipped_records():
    column = np.linspace(0.0, 4.0, N)
    state, info = answered("exact", table(column))
    assert state.mean.item() == pytest.approx(np.minimum(column, B).mean())
    assert info.histogram_error[0] == 0.0
    assert state.counts[0].sum() == N
    assert state.counts[0][0, -1] >= (column >= B).sum()


def test_each_repetition_has_records_of_its_own():
    batch, rng = Batch.grid(SPEC, {}, (0, 1, 0)), torch.Generator().manual_seed(0)
    state = method.LAPLACE.init(batch, data.load("flchain"), rng)
    assert state.raw.shape == (3, N)
    assert torch.equal(state.raw[0], state.raw[2])
    assert not torch.equal(state.raw[0], state.raw[1])


def test_other_tables_are_refused_in_one_sentence():
    with pytest.raises(RequestError, match="expected a table with a column 'kappa', got digits"):
        method.values(SPEC, data.load("digits"))
    with pytest.raises(RequestError, match="expected values of at least 0, got -1"):
        method.values(SPEC, table(np.full(N, -1.0)))
