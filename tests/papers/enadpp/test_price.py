"""Prices by hand: the readings of the printed noise, amplification, composition, calibration."""

import math

import pytest

from engine.core import declared
from engine.core.errors import BudgetError, SpecError
from engine.core.kept import released
from engine.papers.enadpp import PAPER, guarantees, price
from engine.papers.enadpp.spec import EnadppSpec
from engine.papers.enadpp.variants import VARIANTS
from engine.privacy import accounting, gaussian
from engine.privacy.mechanisms import Gaussian, Laplace
from engine.privacy.releases import Release, cost
from engine.training.split import trained

N = 40_000
PRINTED = EnadppSpec(
    epsilon=0.2, calibration="paper", sample_rate=0.01, learning_rate=0.1, clip_l1=300.0, epochs=10
)
SAID = declared.kind("engine.papers.enadpp", "sentences")


def test_what_one_lot_of_400_really_spends():
    """epsilon |L| / gamma = 0.2 * 400 / 0.1 = 800, epsilon / gamma = 2, epsilon = 0.2."""
    spent = {row.reading: row.batch for row in guarantees.ledger(PRINTED, N)}
    assert spent == pytest.approx({"A": 800.0, "B": 2.0, "C": 0.2})


@pytest.mark.parametrize(
    ("method", "values", "size"),
    [
        ("psgd", {"sampling": "shuffled"}, N),  # 1/0.7 rounds to one batch, of every record
        ("dp_ftrl", {}, N),
        ("psgd", {"sampling": "shuffled", "sample_rate": 0.4}, N / 2),
        ("psgd", {}, 0.7 * N),
    ],
)
def test_a_sum_is_divided_by_the_records_that_its_batch_expects(method, values, size):
    spec = EnadppSpec(**{"sample_rate": 0.7, **values})
    found = price.batch_size(spec, N, VARIANTS[method])
    assert found == pytest.approx(trained(N) * size / N, rel=1e-4)


def test_the_printed_scales():
    """On the mean: 2 gamma C / (L^2 eps) = 60/32000, 2 gamma C / (L eps) = 60/80, 2 C / (L eps)."""
    for reading, mean in (("A", 60 / 32_000), ("B", 60 / 80), ("C", 600 / 80)):
        added = price.mechanism(VARIANTS["enadpp"], PRINTED.replace(noise_reading=reading), N)
        assert isinstance(added, Laplace)
        assert added.scale / price.batch_size(PRINTED, N) == pytest.approx(mean)
        assert added.sensitivity == 300.0


def test_the_sampled_price_of_the_printed_noise():
    """C: each step is 0.1-private when adding a record; 1000 steps of log(1 + .01 (e^.1 - 1))."""
    row = guarantees.ledger(PRINTED, N)[2]
    assert row.sampled == pytest.approx(1000 * math.log1p(0.01 * math.expm1(0.1)))
    assert (row.batch, row.epochs) == pytest.approx((0.2, 2.0))


def test_half_an_epoch_more_is_a_further_batch_for_half_of_the_records():
    """1.5 epochs of ten batches: five of them hold a record a second time."""
    row = guarantees.ledger(PRINTED.replace(sample_rate=0.1, epochs=1.5), N)[2]
    assert row.epochs == pytest.approx(2 * 0.2)


def test_the_length_of_the_noise_against_the_clipping_bound():
    """C at epsilon 0.2 and a batch of 600: 535,818 * 2 C / (600 * 0.2) = 8,930 C."""
    spec = PRINTED.replace(noise_reading="C")
    assert f"{guarantees.relative_length(VARIANTS['enadpp'], spec, 60_000):.4g}" == "8930"


def test_the_card_of_the_printed_method_proves_nothing_and_carries_the_numbers():
    card = guarantees.guarantee(VARIANTS["enadpp"], PRINTED, N, "an image")
    assert (card.status, card.epsilon_proved) == ("heuristic", None)
    text = " ".join(card.reasons)
    assert "800 under A, 2 under B, 0.2 under C" in text
    assert "used without noise" in text
    assert (
        accounting.epsilon(PAPER.entry("enadpp").cost(PRINTED, N, 1), 1e-5, price.RELATION)
        == math.inf
    )


@pytest.mark.parametrize("name", ["psgd", "dpsgd", "enadpp", "adppl"])
@pytest.mark.parametrize("noise", ["laplace", "gaussian"])
def test_rigorous_methods_spend_what_the_slider_says(name, noise):
    """The calibration stops on the private side, within a thousandth or so of the budget."""
    spec = EnadppSpec(epsilon=1.0, noise=noise, sample_rate=0.1, epochs=5)
    card = guarantees.guarantee(VARIANTS[name], spec, 1_797, "an image")
    assert card.status == "proved"
    assert 0.99 < card.epsilon_proved <= 1.0


def test_the_decaying_noise_spends_what_the_slider_says():
    spec = EnadppSpec(epsilon=1.0, sample_rate=0.1, epochs=5, sigma_decay=0.99)
    card = guarantees.guarantee(VARIANTS["appdl"], spec, 1_797, "an image")
    assert 0.99 < card.epsilon_proved <= 1.0
    first, last = (price.mechanism(VARIANTS["appdl"], spec, 1_797, step) for step in (0, 49))
    assert last.scale / first.scale == pytest.approx(0.99**45)


def test_noise_that_decays_to_nothing_is_refused():
    """0.9 to the power of 36,000 is zero: no first deviation meets any budget."""
    spec = EnadppSpec(epsilon=1.0, sample_rate=1e-3, epochs=40, sigma_decay=0.9)
    for ask in (price.releases, lambda *plan: guarantees.guarantee(*plan, "an image")):
        with pytest.raises(BudgetError, match="expected a budget that some noise meets"):
            ask(VARIANTS["appdl"], spec, 1_797)


@pytest.mark.parametrize("name", ["enadpp", "adppl", "appdl", "psgd", "dpsgd"])
@pytest.mark.parametrize("epsilon", [0.001, 1000.0])
@pytest.mark.thorough
def test_every_budget_has_finite_noise(name, epsilon):
    spec = EnadppSpec(epsilon=epsilon)
    assert 0.0 < price.mechanism(VARIANTS[name], spec, 1_797).scale < math.inf
    card = guarantees.guarantee(VARIANTS[name], spec, 1_797, "an image")
    assert 0.5 * epsilon < card.epsilon_proved <= epsilon


def test_without_decay_all_stairs_have_one_height(monkeypatch):
    monkeypatch.setattr(price, "_stairs", lambda *plan: 1.5)
    spec = EnadppSpec(epsilon=1.0, sample_rate=0.1, epochs=5, sigma_decay=1.0)
    parts = price.noise_cost(VARIANTS["appdl"], spec, 1_797, 50).events
    assert sum(part.count for part in parts) == 50
    assert len({part.event.event.noise_multiplier for part in parts}) == 1


def test_a_published_figure_of_the_accountant():
    """q = .01, sigma = 4, T = 10,000, delta = 1e-5: .947 by privacy loss distributions."""
    event = cost((Release(Gaussian(1.0, 4.0), times=10_000, rate=0.01),))
    actual = accounting.epsilon(event, 1e-5, price.RELATION, tight=True)
    assert actual == pytest.approx(0.947, abs=0.003)


def test_noise_without_bound_costs_nothing():
    event = cost((Release(Gaussian(1.0, math.inf), times=100, rate=0.01),))
    assert accounting.epsilon(event, 1e-5, price.RELATION) == 0.0


def test_no_method_claims_privacy_without_noise():
    card = guarantees.guarantee(VARIANTS["non_private"], EnadppSpec(), N, "an image")
    assert (card.status, card.epsilon_proved) == ("not_private", None)


def test_the_budget_of_a_run_at_full_sampling():
    spec = EnadppSpec(epsilon=1.0, sample_rate=1.0, epochs=3)
    assert price.steps(spec, 100) == 3
    assert guarantees.guarantee(VARIANTS["psgd"], spec, 100, "an image").epsilon_proved <= 1.0


def test_a_reading_that_does_not_exist_names_its_field():
    with pytest.raises(SpecError) as caught:
        EnadppSpec(noise_reading="D")
    assert caught.value.field == "noise_reading"


def test_every_method_is_listed_once():
    assert [entry.name for entry in PAPER.methods] == [
        "enadpp", "adppl", "appdl", "psgd", "non_private", "dpsgd", "dp_ftrl",
    ]  # fmt: skip


def test_shuffled_batches_pay_once_an_epoch_and_in_full():
    """20 epochs are 20 releases of all records, sigma^2 = 20 sigma_1^2; coins gain from chance."""
    own = {s: EnadppSpec(epsilon=1.0, sampling=s) for s in ("shuffled", "poisson")}
    noise = {s: price.mechanism(VARIANTS["psgd"], spec, 1_797) for s, spec in own.items()}
    once = gaussian.multiplier(1.0, 1e-5)
    assert noise["shuffled"].multiplier == pytest.approx(math.sqrt(20.0) * once, rel=1e-3)
    assert noise["poisson"].multiplier < 0.5 * noise["shuffled"].multiplier


@pytest.mark.parametrize(
    ("times", "first", "met"), [(20, 0, 2), (21, 0, 3), (1, 9, 1), (2, 9, 2), (10, 5, 2), (0, 3, 0)]
)
def test_how_many_disjoint_batches_a_record_is_in_at_most(times, first, met):
    """Of ten to an epoch: as many as the uses touch epochs."""
    assert Release(Gaussian(1.0, 1.0), times=times, first=first, disjoint=10).met() == met


@pytest.mark.parametrize("name", ["enadpp", "appdl", "psgd"])
def test_the_card_of_shuffled_batches_shows_the_gap(name):
    spec = EnadppSpec(epsilon=1.0, sampling="shuffled")
    card = guarantees.guarantee(VARIANTS[name], spec, 1_797, "an image")
    cheap = guarantees.poisson_price(VARIANTS[name], spec, 1_797)
    assert cheap < 0.5 < card.epsilon_proved <= 1.0
    assert "Shuffled" in card.sampling
    assert any(f"ε = {cheap:.3g} instead of" in reason for reason in card.reasons)


def test_the_gap_is_to_coins_that_draw_batches_of_the_same_size():
    """At q = 0.4 an epoch is cut into two batches, so each has half of the records."""
    spec = EnadppSpec(epsilon=1.0, sampling="shuffled", sample_rate=0.4)
    (made,) = price.releases(VARIANTS["psgd"], spec, N)
    drawn = Release(made.mechanism, times=made.times, rate=0.5)
    cheap = accounting.epsilon(cost((drawn,)), spec.delta, price.RELATION, tight=True)
    assert guarantees.poisson_price(VARIANTS["psgd"], spec, N) == pytest.approx(cheap)


@pytest.mark.parametrize("name", ["psgd", "dp_ftrl", "enadpp"])
def test_no_coins_are_said_where_every_step_holds_all_records(name):
    """1/0.7 is one batch to an epoch, rounded: nothing is drawn, and nothing is gained."""
    spec = EnadppSpec(sample_rate=0.7, sampling="shuffled", calibration="paper")
    card = guarantees.guarantee(VARIANTS[name], spec, N, "an image")
    assert card.sampling == ""
    assert not any("Priced as Poisson" in reason for reason in card.reasons)


@pytest.mark.parametrize("sampling", ["shuffled", "poisson"])
def test_correlated_noise_says_that_one_order_is_kept_and_gains_nothing_from_coins(sampling):
    """DP-FTRL cuts its batches from one order, whatever the sampling of the others is."""
    spec = EnadppSpec(epsilon=1.0, sampling=sampling)
    card = guarantees.guarantee(VARIANTS["dp_ftrl"], spec, 1_797, "an image")
    assert card.sampling.startswith("None: batches are cut from one order of the records")
    assert not any("Priced as Poisson" in reason for reason in card.reasons)


def test_what_is_released_before_the_first_step_gains_nothing_from_coins():
    """The moments take all records: their price, and that of whole batches drawn by coins."""
    spec = EnadppSpec(epsilon=1.0, representation="whitened", sampling="shuffled")
    moments, steps = price.releases(VARIANTS["dpsgd"], spec, 1_797)
    drawn = Release(steps.mechanism, times=steps.times, rate=spec.sample_rate)
    cheap = accounting.epsilon(cost((moments, drawn)), 1e-5, price.RELATION, tight=True)
    assert cheap == pytest.approx(0.405, abs=0.001)
    assert guarantees.poisson_price(VARIANTS["dpsgd"], spec, 1_797) == pytest.approx(cheap)
    before = accounting.epsilon(cost((moments,)), 1e-5, price.RELATION)
    assert guarantees.poisson_price(VARIANTS["dpsgd"], spec, 1_797, 0) == pytest.approx(before)
    card = guarantees.guarantee(VARIANTS["dpsgd"], spec, 1_797, "an image")
    assert any(f"ε = {cheap:.3g} instead of" in reason for reason in card.reasons)


@pytest.mark.parametrize("name", ["dpsgd", "dp_ftrl"])
def test_the_card_says_what_whitened_features_and_a_moving_bound_release(name):
    spec = EnadppSpec(epsilon=1.0, representation="whitened", clipping="adaptive")
    card = guarantees.guarantee(VARIANTS[name], spec, 1_797, "an image")
    assert SAID["fixed"] in card.reasons
    assert SAID["whitened"] in card.reasons
    assert "the clipping bounds" in card.released
    pixels = guarantees.guarantee(VARIANTS[name], spec.replace(representation="pixels"), 1_797, "x")
    assert SAID["fixed"] not in pixels.reasons
    flat = guarantees.guarantee(VARIANTS[name], spec.replace(clipping="flat"), 1_797, "an image")
    assert "the clipping bounds" not in flat.released


@pytest.mark.parametrize("name", ["alpha_1", "clipping_bound"])
def test_ratios_that_may_come_from_records_are_not_declared_as_released(name):
    """As printed, budget ratios are computed from records without noise."""
    assert released(PAPER.arrays, name) is (name == "clipping_bound")


def test_the_card_says_where_the_printed_ratios_are_not_the_printed_ones():
    """The smallest ratio is ours, and so is ADPPL's division by the largest share."""
    spec = EnadppSpec(calibration="paper", alpha_min=0.8)
    for name, shares in (("enadpp", False), ("adppl", True)):
        said = " ".join(PAPER.entry(name).guarantee(spec, 1_797, "an image").reasons)
        assert "none is below 0.8, which is our choice" in said
        assert "get less noise than printed" in said
        assert ("divided by the largest share of the layer" in said) is shares
