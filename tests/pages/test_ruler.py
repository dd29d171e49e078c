"""The ruler of the foot: its marks, a broken claim, and one ceiling for a guess."""

import math

import pytest

from datasets import catalog as data_catalog
from engine.privacy.guarantee import Guarantee
from engine.runs import audits
from pages.ui.paper import attack, ceiling, defaults, foot, kinds, ruler
from pages.ui.paper.cast import HELD


def card(method: str, paper: str = "survival", budget: float = 1.0) -> Guarantee:
    job = defaults.opening(paper)[method]
    return job.entry().promise(
        job.spec().replace(epsilon=budget), data_catalog.card(job.dataset)
    )  # fmt: skip


def test_marks_stand_by_how_much_better_than_blind_a_guess_can_be():
    places = [ruler.Mark("proved", epsilon).place for epsilon in (0.0, 1.0, 10.0, math.inf)]
    assert places == pytest.approx([0.0, math.tanh(0.5), math.tanh(5.0), 1.0])


def test_a_claim_that_an_attack_passes_is_red_in_the_drawing_and_in_words():
    guarantee = card("out_pert")
    broken = ruler.marks(guarantee, 1.5)
    assert [one.broken for one in broken] == [True, True, False]
    assert 'class="claimed broken"' in ruler.drawn(broken)
    said = ruler.told("Output", guarantee, broken, "at least 1.5")
    assert ":red[◆\u00a0claimed **1**, broken]" in said
    assert said.startswith("**Output** · ")
    held = ruler.marks(guarantee, 0.9)
    assert not any(one.broken for one in held)
    assert "broken" not in ruler.drawn(held).partition("</style>")[2]
    assert "red" not in ruler.told("Output", guarantee, held, "at least 0.9")


def test_a_proof_that_an_attack_passes_is_red_and_no_ceiling_is_told_without_saying_so():
    job = defaults.opening("survival")["dp_newton"]
    spec = job.spec().replace(epsilon=1.0, calibration="paper")
    guarantee = job.entry().promise(spec, data_catalog.card(job.dataset))
    assert guarantee.status == "proved_under_assumption"
    passed = ruler.marks(guarantee, 36.6)
    assert [(one.kind, one.broken) for one in passed] == [("proved", True), ("attacked", False)]
    assert 'class="proved broken"' in ruler.drawn(passed)
    said = ruler.told("Newton", guarantee, passed, "at least 36.6")
    assert "under an assumption that the attack breaks]" in said
    assert ":red[■" in said
    odds = foot.chances(guarantee, 0.56, beaten=True)
    assert "more often than the **56 times out of 100** that the proof allows" in odds
    held = ruler.marks(guarantee, 0.9)
    assert not any(one.broken for one in held)
    assert "at most **56 times" in foot.chances(guarantee, 0.56)


def test_a_sign_stays_with_its_word_and_a_delta_with_its_budget():
    guarantee = card("dp_newton")
    said = ruler.told("Newton", guarantee, ruler.marks(guarantee, 0.5), "at least 0.5")
    for whole in ("■\u00a0[proved]", "▲\u00a0[attacked]", "(δ\u00a0=\u00a01"):
        assert whole in said


def test_an_unknown_delta_is_said_behind_the_proof_and_makes_no_pure_epsilon():
    exact, pure = card("exact"), card("out_pert")
    said = ruler.told("Sampler", exact, ruler.marks(exact, None), "not yet")
    assert "[proved](/learn#proved) **1 (δ\u00a0is\u00a0unknown)**" in said
    assert kinds.mixed([exact, pure])
    assert not kinds.mixed([pure, pure])


def test_without_a_proof_there_is_no_square_and_the_words_say_so():
    known = ruler.marks(card("psgld"), None)
    assert ruler.SIGNS["proved"] not in ruler.drawn(known).partition("</style>")[2]
    said = ruler.told("Sampler", card("psgld"), known, "not yet")
    assert ":red[**no proof**]" in said
    assert "[attacked](/learn#attacked) **not yet**" in said


@pytest.mark.parametrize("slug", ["enadpp", "survival", "pcdbn", "yesiwell"])
def test_no_ceiling_is_above_what_epsilon_and_delta_allow(slug: str):
    for name, job in defaults.opening(slug).items():
        guarantee = card(name, slug)
        asked = job.entry(), job.spec().replace(epsilon=1.0), data_catalog.card(job.dataset)
        most = ceiling.of(asked, guarantee)
        assert (most is None) == (guarantee.status not in HELD)
        if most is not None and guarantee.epsilon_proved is not None:
            at = guarantee.epsilon_proved
            point = (1.0 + guarantee.delta * math.exp(-at)) / (1.0 + math.exp(-at))
            assert 0.5 < most <= point + 1e-12


@pytest.mark.parametrize("name", ["out_pert", "dp_newton"])
def test_a_ceiling_rises_with_epsilon_and_is_that_of_the_attack(name: str):
    """Whether an attack at a budget ships or not: the bound follows from the method alone."""
    job = defaults.opening("survival")[name]
    entry, data = job.entry(), data_catalog.card(job.dataset)
    budgets = [float(one) for one in job.axes["epsilon"]]
    specs = [job.spec().replace(epsilon=one) for one in budgets]
    found = [ceiling.of((entry, one, data), entry.promise(one, data)) for one in specs]
    assert all(one is not None for one in found)
    assert found == sorted(found)  # type: ignore[type-var]
    row = audits.fitting(attack.on(job, 1.0))
    assert row is not None
    assert found[budgets.index(1.0)] == pytest.approx(row.allowed, abs=1e-6)


def test_the_ceiling_of_a_gaussian_is_that_of_its_whole_curve():
    r"""Of noise with \mu no guess is right more often than \Phi(\mu/2) (Dong, Roth and Su 2022)."""
    from scipy.stats import norm

    from engine.audit.limits import gaussian_mu

    job = defaults.opening("mean")["gaussian"]
    spec, data = job.spec().replace(epsilon=1.0), data_catalog.card(job.dataset)
    mu = gaussian_mu(job.entry().releases(spec, data.records))
    assert mu is not None
    right = ceiling.of((job.entry(), spec, data), card("gaussian", "mean"))
    assert right == pytest.approx(norm.cdf(mu / 2.0), abs=2e-3)
    assert right is not None
    assert right < 0.6 < 1.0 / (1.0 + math.exp(-1.0))
