"""Noise and price: sensitivities, scales, hand-computed budgets and what the card says."""

import math

import numpy as np
import pytest
import torch
from scipy.stats import norm
from torch import Generator

from datasets import catalog
from engine.catalog import paper
from engine.core.batch import Batch
from engine.papers.lvq import guarantees, initial, price
from engine.papers.lvq.descent import Descent
from engine.papers.lvq.model import Sums
from engine.papers.lvq.spec import PRINTED, LvqSpec
from engine.privacy.accounting import epsilon
from engine.privacy.recording import recording
from engine.privacy.releases import cost
from engine.runs.driver import drive
from engine.runs.events import Spent
from engine.runs.job import request
from engine.training.least_squares import released
from engine.yours import card_file
from pages.ui.kit.card import less, told
from tests.papers.lvq.conftest import blobs

metrics = pytest.mark.parametrize("metric", ["identity", "covariance"])


def moved(method, **values):
    """The card of a setting."""
    return guarantees.descent_guarantee(method == "gmlvq_dp", LvqSpec(**values), 1_848, "a region")


def test_the_printed_noise_is_the_papers():
    """sigma = 2 * 0.01 * sqrt(5000 * log(1e5)) / 0.6 = 7.9975 by hand."""
    spec = LvqSpec(**{**PRINTED, "epsilon": 0.75})
    assert price.steps(spec, 0) == 5_000
    by_hand = 2 * 0.01 * math.sqrt(5_000 * 11.512925464970229) / 0.6
    assert price.multiplier(spec) == pytest.approx(by_hand, rel=1e-12)
    assert by_hand == pytest.approx(7.9975, abs=1e-4)


@pytest.mark.parametrize(("budget", "actual"), [(0.75, 0.300), (1.5, 0.650), (2.5, 1.179)])
def test_the_printed_noise_is_twice_as_private_as_claimed(budget, actual):
    """Table of PLD values in the region that the paper reports."""
    spec = LvqSpec(**{**PRINTED, "epsilon": budget})
    assert price.steps_epsilon(spec) == pytest.approx(actual, abs=2e-3)


@pytest.mark.parametrize(
    ("rate", "budget", "nominal", "least"), [(0.0005, 2.5, 2.0, 4.7), (0.01, 8.0, 6.4, 8.0)]
)
def test_the_card_says_where_the_printed_noise_under_protects(rate, budget, nominal, least):
    values = {**PRINTED, "epsilon": budget, "sample_rate": rate}
    card = moved("glvq_dp", **values)
    assert card.status == "proved"
    assert "too small" in card.reasons[0]
    assert card.epsilon_proved > budget
    assert price.steps_epsilon(LvqSpec(**values)) > least > nominal


def test_the_card_says_what_is_public_and_what_is_not():
    reasons = " ".join(moved("gmlvq_dp").reasons)
    for words in (
        "The number of records is public",
        "The number of classes and the bounds of the features are public too",
        "Labels and class sizes are protected",
        "Not covered: choosing learning rates, bounds and other settings on the same records",
        "which records form the training fold",
    ):
        assert words in reasons
    assert "Assumption" not in reasons


def test_statuses_are_honest():
    assert moved("glvq_dp").status == "proved"
    assert moved("glvq_dp").epsilon_proved <= 1.0
    broken = moved("glvq_dp", **{**PRINTED, "initialisation": "sensitivity_1"})
    assert (broken.status, broken.epsilon_proved) == ("heuristic", None)  # of no known width
    private = moved("glvq_dp", **PRINTED)
    assert private.status == "proved"
    assert "large enough" in private.reasons[0]
    assert guarantees.free_guarantee(False, LvqSpec(), 9, "x").status == "not_private"


NARROW = {**PRINTED, "initialisation": "sensitivity_1"}


@pytest.mark.parametrize("method", ["glvq_dp", "gmlvq_dp"])
@pytest.mark.parametrize(("dataset", "d"), [("segment", 18), ("digits", 64), ("mnist", 784)])
def test_noise_for_sensitivity_1_proves_the_epsilon_that_it_spends(method, dataset, d):
    """Pure parts add up: a count by 1 and a sum by d, each at epsilon_1/2, and then the steps."""
    spec = LvqSpec(**{**NARROW, "epsilon": 0.75})
    card = paper("lvq").entry(method).promise(spec, catalog.card(dataset))
    status = "proved_under_assumption" if dataset == "segment" else "proved"  # its bounds
    assert (card.status, card.epsilon_claimed, card.delta) == (status, 0.75, 1e-5)
    pure = (d + 1) * 0.2 * 0.75 / 2
    assert 0.95 * pure < card.epsilon_proved < pure + 0.3003
    said = " ".join(card.reasons)
    assert f"spend ε = {d * 0.075:.3g} instead of 0.075" in said
    assert f"The whole run spends ε = {card.epsilon_proved:.3g} instead of 0.75." in said
    assert "nothing" not in said
    assert "instead of 0.75" in less(card)
    assert not any("exactly who was" in text for text in told(card))


@pytest.mark.parametrize("scaling", ["box", "ball"])
def test_noise_for_sensitivity_1_is_drawn_as_it_is_priced(scaling):
    """One record in a corner changes its class sum by as much as is priced, in L1 norm."""
    spec, d = LvqSpec(**{**NARROW, "scaling": scaling}), 6
    counts, sums = (one.mechanism for one in guarantees.narrow(spec, d))
    drawn = price.start_noise(spec, False, d)
    assert counts == drawn.counts
    assert sums.scale == pytest.approx(drawn.sums.scale, rel=1e-12)
    x = torch.full((20, d), price.scale(spec, d), dtype=torch.float64)
    y = torch.arange(20) % 3
    change = initial.totals(x, y, 3)[1] - initial.totals(x[1:], y[1:], 3)[1]
    assert float(change.abs().sum()) == pytest.approx(sums.sensitivity)


@pytest.mark.parametrize("dataset", ["digits", "mnist", "segment"])
def test_a_price_knows_the_width_of_the_records(dataset):
    table = catalog.load(dataset)
    assert guarantees.width(table.card) == math.prod(table.x.shape[1:])


def test_an_attack_and_each_step_know_the_width_of_the_records():
    asked = {**NARROW, "sample_rate": 1.0, "epochs": 2.0}
    job = request("lvq", "glvq_dp", "digits", asked)
    spent = [e.epsilon[0] for e in drive(job, catalog.load("digits"), lambda name, arrays: name)
             if isinstance(e, Spent)]  # fmt: skip
    card = job.entry().promise(job.batch().spec, catalog.card("digits"))
    assert spent == sorted(spent)
    assert all(0.0 < one < math.inf for one in spent)
    assert card.epsilon_proved == spent[-1]
    attack = request("lvq", "glvq_dp", "digits", asked, audit=True).entry()
    assert attack.inner.releases(job.batch().spec, 1_797) == job.entry().releases(
        job.batch().spec, 1_797
    )


def test_a_card_of_sensitivity_1_is_in_order_and_can_be_checked():
    job = request("lvq", "glvq_dp", "digits", {**NARROW, "rate_w": 0.06})
    document = card_file.of_job(job)
    assert document["guarantee"]["status"] == "proved"
    assert card_file.verify(document) == []


@pytest.mark.parametrize("initialisation", ["tight", "paper"])
def test_everything_together_costs_at_most_epsilon(initialisation):
    spec = LvqSpec(initialisation=initialisation)
    total = cost(price.releases(False, spec, 0))
    spent = epsilon(total, spec.delta, price.RELATION, tight=True)
    assert 0.99 <= spent <= 1.0


def test_full_steps_cost_what_gaussians_cost_by_hand():
    """T full steps and a start are one Gaussian: mu² = 1/sigma_0² + T/sigma² (Dong et al. 2022)."""
    spec = LvqSpec(epsilon=1.0, sample_rate=1.0, epochs=20.0)
    mu = math.sqrt(price.first_multiplier(spec) ** -2 + 20 * price.multiplier(spec) ** -2)
    delta = norm.cdf(mu / 2 - 1 / mu) - math.e * norm.cdf(-mu / 2 - 1 / mu)
    assert delta == pytest.approx(1e-5, rel=0.02)


@pytest.mark.parametrize("share", [0.2, 0.7])
def test_the_start_alone_costs_its_share_by_hand(share):
    """delta(eps) = Phi(mu/2 - eps/mu) - e^eps Phi(-mu/2 - eps/mu) (Balle and Wang 2018)."""
    spec = LvqSpec(epsilon=2.0, share=share)
    mu, part = 1.0 / price.first_multiplier(spec), 2.0 * share
    delta = norm.cdf(mu / 2 - part / mu) - math.exp(part) * norm.cdf(-mu / 2 - part / mu)
    assert delta == pytest.approx(1e-5, rel=1e-4)


@metrics
def test_the_parts_of_the_start_compose_to_one_gaussian(metric):
    spec = LvqSpec(metric=metric)
    made = price.start_noise(spec, True, 18)
    squares = sum(m.multiplier**-2 for m in made if m is not None)
    assert squares == pytest.approx(price.first_multiplier(spec) ** -2)


@metrics
def test_the_start_costs_what_one_prototype_costs(metric):
    """Squares of signal over noise add up: 1 + ROUNDS times those of a part are that part's."""
    spec = LvqSpec(metric=metric, prototypes=3)
    squares = sum(one.mechanism.multiplier**-2 for one in price.start(spec, metric == "covariance"))
    assert squares == pytest.approx(price.first_multiplier(spec) ** -2)
    alone = price.start_noise(spec.replace(prototypes=1), True, 64)
    made = price.start_noise(spec, True, 64)
    assert made.sums.scale == pytest.approx(math.sqrt(1 + price.ROUNDS) * alone.sums.scale)
    assert made.centre == alone.centre


def test_a_step_has_the_noise_that_it_has_with_one_prototype():
    """The same by the accountant: more Gaussians of the same sum of squares are one Gaussian."""
    one, five = LvqSpec(prototypes=1), LvqSpec(prototypes=5)
    assert price.multiplier(five) == pytest.approx(price.multiplier(one), rel=1e-3)
    card = guarantees.descent_guarantee(False, five, 1_848, "a region")
    assert 0.99 <= card.epsilon_proved <= 1.0
    assert "groups" in card.mechanism


def test_as_printed_no_groups_are_released():
    spec = LvqSpec(prototypes=3, initialisation="paper")
    assert price.rounds(spec) == 0
    assert len(price.start(spec, False)) == 2


def test_paper_scales_are_the_papers():
    """2/eps_1 for counts and 2d/eps_1 for sums of features in [-1, 1] (Section 3)."""
    spec = LvqSpec(**{**PRINTED, "epsilon": 0.75})
    made = price.start_noise(spec, False, 784)
    assert made.counts.scale == pytest.approx(2 / 0.15)
    assert made.sums.scale == pytest.approx(2 * 784 / 0.15)  # 10,453
    one = price.start_noise(spec.replace(initialisation="sensitivity_1"), False, 784)
    assert one.sums.scale == pytest.approx(2 / 0.15)


@pytest.mark.parametrize("scaling", ["box", "ball"])
@pytest.mark.parametrize("seed", range(5))
def test_one_record_changes_the_releases_by_at_most_their_sensitivity(scaling, seed):
    """Without noise, on neighbours whose extra record lies in a corner of the cube."""
    spec, d = LvqSpec(scaling=scaling), 6
    made, side = price.start_noise(spec, True, d), price.scale(spec, d)
    rng = np.random.default_rng(seed)
    x = torch.from_numpy(side * np.sign(rng.standard_normal((20, d))))
    y = torch.from_numpy(rng.integers(0, 3, 20))
    centre = torch.from_numpy(side * rng.uniform(-0.5, 0.5, d))
    z = initial.clipped(x - centre, made.sums.sensitivity)

    def parts(keep):
        counts, sums = initial.totals(z[keep], y[keep], 3)
        return {"centre": x[keep].sum(0), "counts": counts, "sums": sums,
                "moment": z[keep].mT @ z[keep]}  # fmt: skip

    everyone, fewer = parts(slice(0, 20)), parts(slice(0, 19))
    total = 0.0
    for name, mechanism in made._asdict().items():
        change = float((everyone[name] - fewer[name]).norm())
        assert change <= mechanism.sensitivity * (1 + 1e-9)
        total += (change / mechanism.scale) ** 2 if name != "centre" else 0.0
    assert total <= price.first_multiplier(spec) ** -2


def test_symmetric_noise_has_the_scale_of_orthonormal_coordinates():
    """Chi-squared: a variance estimated from n draws is within 5 sqrt(2/n) of the truth."""
    mechanism = price.start_noise(LvqSpec(), True, 40).moment
    rng = Generator().manual_seed(0)
    zero = torch.zeros(40, 40, dtype=torch.float64)
    noise = torch.stack([released(zero, mechanism, rng) for _ in range(20)])
    assert torch.equal(noise, noise.mT)
    diagonal = noise.diagonal(dim1=1, dim2=2) / mechanism.scale
    above = noise[:, *torch.triu_indices(40, 40, 1)] / mechanism.scale
    assert float(diagonal.square().mean()) == pytest.approx(1.0, abs=5 * math.sqrt(2 / 800))
    assert float(above.square().mean()) == pytest.approx(0.5, abs=2.5 * math.sqrt(2 / 15_600))


@pytest.mark.parametrize("matrix", [False, True])
def test_a_step_adds_the_noise_that_is_priced(matrix, monkeypatch):
    """With gradients at zero and a rate of one, a step is minus the noise over qN."""
    from engine.papers.lvq import descent

    def nothing(model, sample, actual, *weights):
        omega = None if model.omega is None else torch.zeros_like(model.omega)
        return Sums(torch.zeros_like(model.w), omega)

    monkeypatch.setattr(descent, "sums", nothing)
    table, spec = (
        blobs(d=20),
        LvqSpec(sample_rate=1.0, epochs=20.0, rate_w=1.0, rate_omega=0.0, averaging=0.0, clip=0.7),
    )
    batch = Batch.grid(spec, {"epsilon": (1.0, 0.5)}, (0,))
    rng = Generator().manual_seed(3)
    method = Descent(matrix=matrix, private=True)
    state = method.init(batch, table, rng)
    noise = []
    for _ in range(20):
        before = state.model.w
        state, _ = method.step(batch, table, state, rng)
        noise.append((before - state.model.w) * spec.sample_rate * state.sizes[:, None, None])
    for r, own in enumerate(batch.specs):
        drawn = torch.stack(noise)[:, r].double() / (0.7 * price.multiplier(own))
        assert float(drawn.square().mean()) == pytest.approx(
            1.0, abs=5 * math.sqrt(2 / drawn.numel()) + 1e-3
        )


def test_both_blocks_of_a_step_get_the_same_noise():
    """Sensitivity C is that of both blocks as one vector, so each coordinate gets sigma C."""
    from engine.papers.lvq.descent import _add
    from engine.privacy.mechanisms import Gaussian

    noises = (Gaussian(0.7, 2.0), Gaussian(0.7, 5.0))
    zero = Sums(torch.zeros(2, 50, 100), torch.zeros(2, 100, 100))
    noisy = _add(zero, noises, Generator().manual_seed(0))
    for r, mechanism in enumerate(noises):
        for block in (noisy.w[r], noisy.omega[r]):
            actual = float((block.double() / mechanism.scale).square().mean())
            assert actual == pytest.approx(1.0, abs=5 * math.sqrt(2 / block.numel()))


@pytest.mark.parametrize(
    ("values", "names"),
    [
        ({}, ["centre", "counts", "sums", "moment"]),
        ({"metric": "identity"}, ["centre", "counts", "sums"]),
        (PRINTED, ["counts", "sums"]),
    ],
)
def test_the_start_draws_its_noise_from_what_is_priced(values, names):
    spec = LvqSpec(**values)

    x, y = torch.rand(30, 4) / 2, torch.arange(30) % 3
    with recording() as seen:
        initial.private(x, y, 3, spec, True, Generator().manual_seed(0))
    made = price.start_noise(spec, True, 4)
    drawn = [mechanism for one in seen.releases for mechanism in one.mechanisms]
    assert drawn == [getattr(made, name) for name in names]


def test_poisson_samples_each_record_with_the_rate():
    """Binomial: the mean size over T steps is within five standard errors of qN."""
    from engine.papers.lvq.descent import draw_sample, gather

    table, spec = blobs(), LvqSpec(sample_rate=0.2)
    batch, rng = Batch.grid(spec, {}, (0, 1)), Generator().manual_seed(5)
    method = Descent(matrix=False, private=True)
    state, actual = method.init(batch, table, rng), gather(batch, table, rng)
    sizes = torch.stack([draw_sample(actual, state, 0.2, rng).present.sum(1) for _ in range(300)])
    error = math.sqrt(160 * 0.2 * 0.8 / 600)
    assert float(sizes.mean()) == pytest.approx(32.0, abs=5 * error)
    assert sizes.float().std() == pytest.approx(math.sqrt(160 * 0.16), rel=0.15)


@pytest.mark.parametrize("rate", [0.02, 0.3, 0.95])
def test_samples_are_independent_trials(rate):
    """Shares of records, of pairs and of sizes lie within five deviations of independent coins."""
    from engine.training.sampling import places

    draws, n = 20_000, 12
    sizes = torch.full((draws,), n)
    sizes[::2] = n - 2
    actual = places(n, sizes, rate, Generator().manual_seed(0))
    there = actual < sizes[:, None]
    assert (actual[:, 1:] > actual[:, :-1]).all()
    drawn = torch.zeros(draws, n, dtype=torch.float64)
    rows, columns = there.nonzero(as_tuple=True)
    drawn[rows, actual[rows, columns]] = 1.0
    assert not drawn[::2, n - 2 :].any()
    whole = drawn[1::2]
    pairs = (whole.mT @ whole) / len(whole)
    expected = torch.full((n, n), rate * rate, dtype=torch.float64).fill_diagonal_(rate)
    deviation = (expected * (1 - expected) / len(whole)).sqrt()
    assert ((pairs - expected).abs() <= 5 * deviation).all()
    spread = float(whole.sum(1).var())
    exact = n * rate * (1 - rate)
    fourth = exact * (1 + (3 * n - 6) * rate * (1 - rate))  # of a binomial variable
    assert abs(spread - exact) <= 5 * ((fourth - exact**2) / len(whole)) ** 0.5


@pytest.mark.parametrize("metric", ["identity", "covariance"])
def test_the_card_names_groups_where_they_are_released(metric):
    """Sums and counts have groups; second moments are those of all records."""
    card = moved("gmlvq_dp", metric=metric, prototypes=3)
    assert "noisy counts and sums of groups within classes" in card.released
    moments = ", and second moments" if metric == "covariance" else ""
    words = f"class sums and counts, sums and counts of groups within classes{moments}; then"
    assert words in card.mechanism
    vector = moved("glvq_dp", metric=metric, prototypes=3)
    assert ("relevance matrix" in card.released, "relevance matrix" in vector.released) == (1, 0)
    assert "moments" not in vector.mechanism
    alone = moved("gmlvq_dp", metric=metric)
    assert "groups" not in " ".join((alone.mechanism, *alone.released))


@pytest.mark.parametrize("entry", paper("lvq").methods, ids=lambda entry: entry.name)
def test_the_card_of_a_method_names_a_matrix_where_it_has_one(entry):
    """Before a data set is chosen and on one, whose number of features is known."""
    spec = LvqSpec()
    cards = (entry.guarantee(spec, 1_848, "a region"), entry.promise(spec, catalog.card("segment")))
    for card in cards:
        assert "prototypes" in card.released
        assert ("relevance matrix" in card.released) == entry.name.startswith("gmlvq")
