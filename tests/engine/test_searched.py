"""A search for noise runs once, and what it found is what it would find again."""

import pytest
from dp_accounting import GaussianDpEvent, PoissonSampledDpEvent, SelfComposedDpEvent

from datasets import catalog as data_catalog
from engine.papers.lvq import price
from engine.privacy import accounting, answers
from engine.privacy.answers import UnansweredError, at_once
from engine.privacy.mechanisms import Gaussian
from engine.privacy.releases import Release, cost
from engine.privacy.searched import searched
from pages.ui.paper import defaults

RELATION = "add_or_remove_one"


def steps(count, rate=0.1):
    """From a noise multiplier to so many steps on a sample."""
    return lambda z: SelfComposedDpEvent(PoissonSampledDpEvent(rate, GaussianDpEvent(z)), count)


@pytest.fixture
def asked(monkeypatch):
    """Searches without anything known before; the list of those that ran."""
    monkeypatch.setattr(answers, "answers", {})
    monkeypatch.setattr(answers, "_shipped", dict)
    ran = []

    def search(make, target, delta, relation, *, bracket=(1e-2, 1e6)):
        ran.append((target, bracket))
        return target + delta + len(ran)

    return searched(search), ran


def test_the_same_search_runs_once(asked):
    search, ran = asked
    assert search(steps(5), 1.0, 1e-5, RELATION) == search(steps(5), 1.0, 1e-5, RELATION)
    assert len(ran) == 1
    with at_once():
        search(steps(5), 1.0, 1e-5, RELATION)


@pytest.mark.parametrize(
    "other",
    [
        (steps(6), 1.0, 1e-5, RELATION),
        (steps(5, 0.2), 1.0, 1e-5, RELATION),
        (lambda z: steps(5)(2 * z), 1.0, 1e-5, RELATION),
        (lambda z: steps(5)(z * z), 1.0, 1e-5, RELATION),
        (steps(5), 1.5, 1e-5, RELATION),
        (steps(5), 1.0, 1e-6, RELATION),
        (steps(5), 1.0, 1e-5, "replace_one"),
    ],
)
def test_another_search_is_another_question(asked, other):
    search, ran = asked
    assert search(steps(5), 1.0, 1e-5, RELATION) != search(*other)
    assert len(ran) == 2


def test_another_bracket_is_another_question(asked):
    search, ran = asked
    search(steps(5), 1.0, 1e-5, RELATION)
    search(steps(5), 1.0, 1e-5, RELATION, bracket=(1.0, 2.0))
    assert [bracket for _, bracket in ran] == [(1e-2, 1e6), (1.0, 2.0)]


@pytest.mark.parametrize("rate", [0.1, 1.0])
def test_noise_that_falls_below_all_privacy_at_one_is_told_from_other_noise(asked, rate):
    """At the multipliers 1 and 2 both families are the same event, one without privacy."""
    search, ran = asked

    def falling(last):
        return lambda z: cost([Release(Gaussian(1.0, z * s), rate=rate) for s in (1.0, last)])

    assert falling(1e-7)(2.0) == falling(2e-7)(2.0)
    found = [search(falling(last), 1.0, 1e-5, RELATION) for last in (1e-7, 2e-7, 1e-7)]
    assert found[0] != found[1]
    assert len(ran) == (2 if rate < 1.0 else 3)  # what a formula answers is not kept


def test_noise_without_privacy_at_one_is_told_from_twice_as_much(asked):
    """The events of half the noise at 2 and 4 are those of the other at 1 and 2."""
    search, ran = asked

    def sampled(scale):
        return lambda z: cost([Release(Gaussian(1.0, scale * z), rate=0.1)])

    assert sampled(5e-7)(2.0) == sampled(1e-6)(1.0) != sampled(5e-7)(1.0)
    found = [search(sampled(scale), 1.0, 1e-5, RELATION) for scale in (1e-6, 5e-7, 1e-6)]
    assert found[0] == found[2] != found[1]
    assert len(ran) == 2


def test_noise_without_privacy_at_one_is_told_from_noise_that_grows_faster(asked):
    """At the multipliers 1 and 2 both families are the same event, private from 2 on."""
    search, ran = asked

    def grown(power):
        return lambda z: cost([Release(Gaussian(1.0, 1.2e-6 * (z / 2.0) ** power), rate=0.1)])

    assert [grown(1)(z) == grown(2)(z) for z in (1.0, 2.0, 4.0)] == [True, True, False]
    assert search(grown(1), 1.0, 1e-5, RELATION) != search(grown(2), 1.0, 1e-5, RELATION)
    assert len(ran) == 2


def test_a_family_without_a_private_event_is_searched_for_each_time(asked):
    search, ran = asked
    for _ in range(2):
        search(lambda z: cost([Release(Gaussian(1.0, 0.0 * z))]), 1.0, 1e-5, RELATION)
    assert len(ran) == 2


def test_a_search_is_refused_where_nobody_waits(asked):
    search, ran = asked
    with at_once(), pytest.raises(UnansweredError):
        search(steps(5), 1.0, 1e-5, RELATION)
    assert not ran


def test_what_a_formula_answers_is_not_kept(asked):
    search, ran = asked
    with at_once():
        search(GaussianDpEvent, 1.0, 1e-5, RELATION)
        search(steps(5), 1.0, 0.0, RELATION)
    assert len(ran) == 2
    assert not answers.answers


@pytest.mark.thorough
def test_what_ships_is_what_a_search_finds_today(monkeypatch):
    """The noise that private GLVQ opens with at one budget, to what sums of transforms differ by.

    Fourier transforms round as the processor adds: two machines differ by 6e-12.
    """
    search, asked = accounting.calibrate, []

    def watched(make, *rest, **ways):
        asked.append((make, rest, ways))
        return search(make, *rest, **ways)

    monkeypatch.setattr(accounting, "calibrate", watched)
    price._calibrated.cache_clear()
    job = defaults.opening("lvq")["glvq_dp"]
    with at_once():
        job.entry().promise(job.spec().replace(epsilon=1.0), data_catalog.card(job.dataset))
    (make, rest, ways) = asked[-1]
    shipped = search(make, *rest, **ways)
    accounting._epsilon.cache_clear()
    monkeypatch.setattr(answers, "answers", {})
    monkeypatch.setattr(answers, "_shipped", dict)
    assert search.__wrapped__(make, *rest, **ways) == pytest.approx(shipped, rel=1e-10)
