"""Learn: closed forms against simulation, one control a screen, ten minutes of reading."""

import math
import re
from pathlib import Path

import numpy as np
import pytest

from engine.papers.mean.price import laplace_releases
from engine.papers.mean.spec import MeanSpec
from pages.ui import words
from pages.ui.kit import glossary, shell
from pages.ui.learn import deployments, maths
from pages.ui.learn.page import MINUTES
from pages.ui.learn.screens import SCREENS
from tests.pages.conftest import Open
from tests.pages.drawn import charts, loads_nothing_heavy
from tests.pages.played import play

WORDS_A_MINUTE = 200
"""Adults read non-fiction at about 240 words a minute (Brysbaert 2019); texts that teach slower."""


@pytest.mark.parametrize("epsilon", [0.1, 0.5, 2.0, 10.0])
def test_the_best_guess_from_one_count_is_right_as_often_as_said(epsilon: float):
    """n guesses have a standard error of at most 0.5/√n; five of them."""
    n, rng = 100_000, np.random.default_rng(3)
    present = rng.random(n) < 0.5
    seen = maths.COUNT + present + rng.laplace(0.0, 1.0 / epsilon, n)
    right = ((seen > maths.COUNT + 0.5) == present).mean()
    said = maths.guesses(maths.densities(epsilon).overlap)
    assert abs(right - said) < 5 * 0.5 / math.sqrt(n)
    assert said <= words.best_guess(epsilon)  # what ε promises of every result


def test_both_densities_have_area_one_where_the_picture_holds_their_tails():
    """Beyond 12 of the centre lies exp(-12 ε)/2 on each side, nothing at ε = 5."""
    densities = maths.densities(5.0)
    step = densities.x[1] - densities.x[0]
    for density in (densities.without, densities.present):
        assert abs(density.sum() * step - 1.0) < 0.01
    assert (
        abs(np.minimum(densities.without, densities.present).sum() * step - densities.overlap)
        < 0.01
    )


def test_the_noise_on_the_picture_is_the_noise_that_is_priced():
    for bound, deviation in zip(maths.BOUNDS, maths.deviations(), strict=True):
        mechanism = laplace_releases(MeanSpec(bound=bound, records=maths.FEW), 7874)[0].mechanism
        assert deviation == pytest.approx(math.sqrt(2.0) * mechanism.scale)


def test_the_average_of_answers_is_off_by_what_is_said():
    """Deviation of a mean of 50 Laplace numbers, from 4,000 of them: relative error 1/√8000."""
    rng = np.random.default_rng(4)
    means = rng.laplace(0.0, 1.0 / maths.EACH, (4_000, 50)).mean(1)
    assert abs(means.std() / maths.average_off(50) - 1.0) < 5 / math.sqrt(8_000)


def test_each_screen_has_one_control_and_a_picture(visit: Open, home: Path):
    play(home, maths.clipping())
    test = visit("learn")
    assert not test.exception
    assert not test.error
    assert len(SCREENS) == 6
    controls = [one for one in (*test.select_slider, *test.selectbox) if "learn." in one.key]
    assert len(controls) == 6
    assert len(charts(test)) == 4  # the dots are an image, the papers a list


def test_it_is_read_in_ten_minutes(visit: Open):
    test = visit("learn")
    body = [*test.title, *test.header, *test.markdown, *test.caption]
    terms = set(glossary.TERMS.values())
    texts = [str(one.value) for one in body if str(one.value) not in terms]
    count = sum(len(re.findall(r"\w+", text)) for text in texts if not text.startswith("<"))
    assert count <= MINUTES * WORDS_A_MINUTE


def test_formulas_wait_for_their_toggle(visit: Open):
    assert not any("\\varepsilon" in str(one.value) for one in visit("learn").markdown)
    shown = visit("learn", **{"learn.formulas": "true"})
    assert any("\\varepsilon" in str(one.value) for one in shown.markdown)


def test_a_slider_changes_its_own_picture(visit: Open):
    test = visit("learn")
    before = charts(test)
    test.select_slider(key="learn.count").set_value("5").run()
    assert any("At ε = 5" in str(one.value) for one in test.markdown)
    assert charts(test)[0] != before[0]


def test_terms_that_a_text_links_to_exist():
    with pytest.raises(KeyError, match="glossary: expected one of"):
        glossary.link("Spleen")
    anchors = {glossary.anchor(term) for term in glossary.TERMS}
    assert len(anchors) == len(glossary.TERMS)
    for screen in SCREENS:
        assert set(re.findall(r"\]\(#([\w-]+)\)", screen.text)) <= anchors


def test_every_published_budget_says_who_what_for_whom_and_where_it_is_stated(visit: Open):
    """An unknown ε is said to be unknown; the Census, Apple and others are among them."""
    for one in deployments.LIST:
        assert all((one.who, one.what, one.protects))
        assert one.epsilon == deployments.UNKNOWN or any(map(str.isdigit, one.epsilon))
        assert re.fullmatch(r"\[[^\]]+\]\(https://\S+\)", one.source)
    assert {"Apple", "Google", "US Census Bureau"} <= {one.who for one in deployments.LIST}
    shown = visit("learn").table[0].value
    assert list(shown["Source"]) == [one.source for one in deployments.LIST]
    assert list(shown["ε"]) == [one.epsilon for one in deployments.LIST]


@pytest.mark.slow
def test_learn_loads_nothing_heavy():
    loads_nothing_heavy("learn")


LINKS = re.compile(r"\]\(/learn#([^)]+)\)")


@pytest.mark.parametrize("slug", list(shell.papers()))
def test_terms_lead_to_the_glossary_where_they_first_appear(visit: Open, slug: str):
    """The line of marks, the help of every knob that uses a term, and the card of the method."""
    test = visit(slug, **{f"{slug}.tab": "Proof"})
    assert not test.exception
    anchors = {glossary.anchor(term) for term in glossary.TERMS}
    settings = [one.help for one in (*test.select_slider, *test.selectbox, *test.segmented_control)]
    texts = [str(one.value) for one in (*test.markdown, *test.caption)] + settings
    led = {name for text in texts for name in LINKS.findall(text)}
    assert led <= anchors
    assert {"claimed", "proved", "attacked", "noise", "record", "neighbours"} <= led
    for text in settings:
        assert glossary.linked(text) == text  # each term in it is a link already
    assert any(LINKS.search(str(one.value)) for one in test.table)


def test_a_term_is_linked_once_and_only_in_words():
    said = glossary.linked(
        "A `record`, $noise$, [noise](/x), a Record and records. Privacy budgets"
    )
    assert said == (
        "A `record`, $noise$, [noise](/x), a [Record](/learn#record) and records. "
        "[Privacy budgets](/learn#privacy-budget)"
    )
    assert glossary.linked(said) == said


def test_every_way_to_mention_a_term_belongs_to_one():
    assert set(glossary.MENTIONS) <= set(glossary.TERMS)
    for term in glossary.TERMS:
        assert glossary.anchor(term) in glossary.linked(f"a {term.lower()} b")
