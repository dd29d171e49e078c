"""What a card says follows from the releases."""

from dataclasses import replace

import pytest

from datasets import catalog as data_catalog
from engine.catalog import paper
from engine.cli.main import main
from engine.core.errors import RequestError
from engine.privacy.guarantee import POISSON
from engine.privacy.mechanisms import Gaussian, Laplace
from engine.privacy.releases import Release, exposed
from engine.promise import EXACT, RENYI, SUM, promise

LAPLACE = (Release(Laplace(1.0, 0.3), what="a"), Release(Laplace(2.0, 0.4), times=2, what="b"))
GAUSSIAN = (Release(Gaussian(1.0, 4.0), times=4, what="sums"),)
SAMPLED = (Release(Gaussian(1.0, 2.0), times=10, rate=0.1, what="sums"),)


def card(made, **more):
    words = {"claimed": 1.0, "delta": 1e-5, "mechanism": "noise", "reasons": ()}
    return promise(made, "zero_out_one", "a record", **{**words, **more})


def test_pure_noise_adds_up_and_has_no_delta():
    pure = card(LAPLACE)
    assert pure.epsilon_proved == pytest.approx(0.3 + 2 * 0.4)
    assert (pure.delta, pure.status, pure.accountant) == (0.0, "proved", SUM)
    assert pure.released == ("a", "b")


def test_gaussian_noise_is_priced_as_one_release():
    """Four releases of multiplier 4 are one of 2 (Dong, Roth and Su 2022, Corollary 2)."""
    four, one = card(GAUSSIAN), card((Release(Gaussian(1.0, 2.0)),))
    assert four.epsilon_proved == one.epsilon_proved
    assert (four.delta, four.accountant, four.sampling) == (1e-5, EXACT, "")


def test_a_loss_that_no_grid_holds_is_one_sentence(capsys):
    asked = ["price", "lvq", "glvq_dp", "--set", "calibration=paper", "--set", "epsilon=1000"]
    assert main([*asked, "--set", "sample_rate=0.001"]) == 2
    assert "epsilon: expected a loss that an accountant can add up" in capsys.readouterr().err


def test_a_price_that_fails_is_one_sentence_with_the_method_s_name():
    def broken(*_):
        raise ZeroDivisionError("bang")

    entry = replace(paper("mean").entry("laplace"), guarantee=broken)
    with pytest.raises(RequestError, match=r"^laplace: expected a guarantee, got ZeroDivision"):
        entry.promise(paper("mean").spec(), data_catalog.card("flchain"))


def test_coins_are_said_and_make_the_price_smaller():
    drawn, whole = card(SAMPLED), card((Release(Gaussian(1.0, 2.0), times=10),))
    assert (drawn.accountant, drawn.sampling) == (RENYI, POISSON)
    assert drawn.epsilon_proved < whole.epsilon_proved / 2


@pytest.mark.parametrize(("claimed", "status"), [(1.0, "heuristic"), (None, "not_private")])
def test_an_answer_without_noise_proves_nothing(claimed, status):
    bare = card((*LAPLACE, *exposed("raw")), claimed=claimed)
    assert (bare.status, bare.epsilon_proved, bare.delta) == (status, None, 0.0)
    assert bare.epsilon_claimed == claimed


def test_an_assumption_is_part_of_the_status():
    assert card(GAUSSIAN, assumed=True).status == "proved_under_assumption"
    assert card(exposed("raw"), assumed=True).status == "heuristic"
