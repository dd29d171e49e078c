"""What numbers are called, and what a budget is said to mean."""

import dataclasses
import math
import re
from pathlib import Path

import numpy as np
import pytest

from engine.catalog import paper
from pages.ui import words
from pages.ui.kit.card import told
from pages.ui.paper.said import say


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.0, "0"), (1.0, "1"), (0.12345, "0.123"), (1234.5, "1,230"), (981.635, "982"),
        (1e-5, "1·10⁻⁵"), (2.5e7, "2.5·10⁷"), (-0.5, "-0.5"), (math.inf, "∞"), (math.nan, "–"),
    ],
)  # fmt: skip
def test_numbers_are_short(value, text):
    assert words.number(value) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [(36.5832, "36.5"), (5.19932, "5.19"), (0.3, "0.3"), (1999.0, "1,990"), (0.0, "0")],
)
def test_a_lower_bound_is_rounded_down(value, text):
    assert words.least(value) == text
    assert say({"": "{bound:l}"}, "", {"bound": value}) == text


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0.2, "under a second"), (12.4, "12 s"), (120, "2 min"), (7200, "2.0 h")],
)
def test_durations_have_the_unit_that_reads_best(seconds, text):
    assert words.duration(seconds) == text


def test_a_perfectly_private_answer_leaves_the_guess_at_a_coin():
    assert words.best_guess(0.0) == 0.5


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 3.0])
def test_the_best_guess_is_what_randomised_response_allows(epsilon):
    """Randomised response is the worst case: it tells the truth with exp(ε)/(1 + exp(ε))."""
    rng = np.random.default_rng(0)
    draws = 200_000
    truth = rng.random(draws) < 0.5
    honest = rng.random(draws) < math.exp(epsilon) / (1 + math.exp(epsilon))
    right = np.mean(np.where(honest, truth, ~truth) == truth)
    # six standard deviations of a mean of coin tosses
    assert abs(right - words.best_guess(epsilon)) < 6 * 0.5 / math.sqrt(draws)


def test_delta_adds_its_share_and_certainty_is_the_limit():
    assert words.best_guess(1.0, 0.01) == pytest.approx((math.e + 0.01) / (1 + math.e))
    assert words.best_guess(800.0) == 1.0
    assert words.best_guess(0.0, 1.0) == 1.0


def test_certainty_is_never_claimed():
    assert words.out_of_100(words.best_guess(10.0)) == "almost 100"
    assert words.out_of_100(0.731) == "74"  # at most 74: 73.1 is more than 73
    assert words.out_of_100(words.best_guess(0.01)) == "51"  # no coin
    assert words.out_of_100(0.5) == "50"
    assert words.out_of_100(0.55) == "55"


def test_the_sentence_names_the_neighbours():
    replaced = words.odds(1.0, 0.0, "replace_one", "a person")
    removed = words.odds(1.0, 0.0, "add_or_remove_one", "an image")
    assert replaced.startswith("Someone who sees the result and guesses whether a person")
    assert "replaced by another" in replaced
    assert "**74 times out of 100**" in replaced
    assert "left out" in removed
    assert "was counted or left out" in words.odds(1.0, 0.0, "zero_out_one", "an image")


@pytest.mark.parametrize("epsilon", [None, math.inf])
def test_without_a_bound_the_sentence_says_so(epsilon):
    assert words.odds(epsilon, 0.0, "replace_one", "a person").startswith("No privacy guarantee")


def test_keys_become_labels():
    assert words.short("third_births") == "Third births"
    assert words.plural(1, "run") == "1 run"
    assert words.plural(7874, "record") == "7,874 records"


@pytest.mark.parametrize(
    ("names", "text"), [([], ""), (["a"], "a"), (["a", "b"], "a and b"), ("abc", "a, b and c")]
)
def test_names_are_listed_as_in_a_sentence(names, text):
    assert words.listed(names) == text


def test_a_table_that_a_telephone_cuts_off_says_so():
    assert words.sideways(4) == ""
    assert "7 columns" in words.sideways(7)


@pytest.mark.parametrize("epsilon", [0.01, 1.0, 2.0, 8.0])
def test_dots_are_rounded_up_as_the_words_beside_them_are(epsilon):
    chance = words.best_guess(epsilon)
    assert words.filled(chance) >= 100 * chance or words.filled(chance) == 99
    assert words.out_of_100(chance) in (f"{words.filled(chance)}", "almost 100")


def test_sizes_are_written_with_a_sign_for_times():
    assert words.times("Digits (8 x 8) by x, 3 x") == "Digits (8\u00a0×\u00a08) by x, 3 x"


CHANCE = re.compile(
    r"(ε|bound) (may )?fails?\b|fails? with probability|(probability|chance) that (the bound|ε)",
    re.IGNORECASE,
)


@pytest.mark.parametrize("folder", ["engine", "pages"])
def test_no_text_reads_delta_as_the_chance_that_the_bound_fails(folder):
    """δ is added to a bound: from (ε, δ) it does not follow that ε holds in 1 - δ of all cases."""
    root = Path(words.__file__).parents[2] / folder
    files = [file for kind in ("toml", "json") for file in root.rglob(f"*.{kind}")]
    texts = {file: re.sub(r"\\?\s+", " ", file.read_text(encoding="utf-8")) for file in files}
    assert len(texts) > 3
    said = [
        f"{file.name}: {one[0]}" for file, text in texts.items() for one in CHANCE.finditer(text)
    ]
    assert not said


@pytest.mark.parametrize("name", ["psgld", "exact"])
def test_a_card_says_of_an_unknown_delta_what_it_is(name):
    survival = paper("survival")
    card = survival.entry(name).guarantee(survival.spec(), 50, "a person")
    said = " ".join(told(dataclasses.replace(card, epsilon_proved=1.0)))
    assert f"δ is {card.failure}." in said
    assert not CHANCE.search(said)
