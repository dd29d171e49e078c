"""Learn: closed forms against simulation, one control a screen, ten minutes of reading."""

import json
import math
import re
from datetime import date
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest
from babel.dates import format_date
from streamlit.testing.v1 import AppTest
from streamlit.testing.v1.element_tree import Button

from engine.audit.report import CONFIDENCE
from engine.catalog import paper
from engine.papers.dbn.pcdbn import PcdbnSpec
from engine.papers.mean.price import laplace_releases
from engine.papers.mean.spec import MeanSpec
from engine.runs.reference import FOLDER
from engine.service.client import Client
from engine.yours import registry_list
from pages.ui import words
from pages.ui.jobs.live import Watched
from pages.ui.kit import glossary, labels, shell
from pages.ui.learn import ask, deployments, game, maths, pictures
from pages.ui.learn.declared import MINUTES, QUESTIONS, SCREENS
from pages.ui.messages import spoken
from pages.ui.paper import cast
from pages.ui.paper.overlay import PROVED
from tests.pages.conftest import Open
from tests.pages.drawn import charts, loads_nothing_heavy
from tests.pages.played import play
from tests.yours.test_deployments import ENTRY

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


def answered(test: AppTest, **answers: int) -> AppTest:
    """Answers every screen's question: with the given positions, else as its widget stands."""
    for name in SCREENS:
        form = next(one for one in forms(test) if one[0] == f"learn-ask-{name}")
        widget = widgets(test, f"learn.ask.{name}")
        if name in answers or widget.value is None:
            widget.set_value(answers.get(name, 0))
        form[1].click().run()
    return test


def forms(test: AppTest) -> list[tuple[str, Button]]:
    """The button that sends each form, with the form's name; then the one that skips it."""
    return [(one.form_id, one) for one in test.button if one.form_id]


def widgets(test: AppTest, key: str) -> Any:
    """The slider or the radio of a question."""
    return next(one for one in (*test.select_slider, *test.radio) if one.key == key)


def said(test: AppTest) -> list[str]:
    """All that the page says in Markdown."""
    return [str(one.value) for one in test.markdown]


def test_no_screen_shows_anything_before_it_was_asked(visit: Open, home: Path):
    test = visit("learn")
    assert not test.exception
    assert not test.error
    assert charts(test) == []
    keys = {one.key for one in (*test.select_slider, *test.radio) if one.key}
    assert {f"learn.ask.{name}" for name in SCREENS} <= keys
    assert not any(key.startswith("learn.") and ".ask." not in key for key in keys)


@pytest.mark.thorough
def test_each_screen_has_one_control_and_a_picture_once_it_is_answered(visit: Open, home: Path):
    play(home, maths.clipping())
    test = answered(visit("learn"))
    assert not test.exception
    assert not test.error
    assert len(SCREENS) == len(pictures.DRAWN) == 7
    controls = {one.key for one in (*test.select_slider, *test.selectbox) if one.key}
    assert {one.control.key for one in SCREENS.values()} <= controls
    assert len(charts(test)) == 5  # the dots are an image, the papers a list


@pytest.mark.thorough
@pytest.mark.parametrize("name", [name for name, one in SCREENS.items() if one.ask.slider])
def test_a_prediction_on_a_slider_is_told_its_distance(name: str, home: Path, visit: Open):
    play(home, maths.clipping())
    screen, job = SCREENS[name], maths.clipping()
    told = pictures.asked(screen)
    answer = 0 if name != "attacker" else len(told) - 1
    test = answered(visit("learn"), **{name: answer})
    results = Watched("", job, Client(home, workers=False).run(job.id)).results
    right = pictures.truth(screen, results)
    assert right is not None
    assert right != answer
    wanted = (
        f"You said **{told[answer]}**. It is **{told[right]}**. Distance: {abs(right - answer)}"
    )
    assert sum(wanted in one for one in said(test)) == 1


def test_the_truths_are_what_the_screens_show():
    """Each from its own closed form or the numbers that ship, worked out here once more."""
    chance = {float(text): 1 - 0.5 * math.exp(-float(text) / 2)
              for text in SCREENS["attacker"].ask.options}  # fmt: skip
    lost = max(epsilon for epsilon, right in chance.items() if 100 * right < maths.LOST)
    truths = {name: pictures.asked(one)[at] for name, one in SCREENS.items()
              if (at := pictures.truth(one)) is not None}  # fmt: skip
    kept = json.loads((FOLDER / "sketches.json").read_text(encoding="utf-8"))["survival"]
    assert truths == {
        "attacker": f"{lost:g}",
        "count": str(round(100 * (1 - 0.5 * math.exp(-0.25)))),
        "odds": "One noisy count with ε = 2",
        "answers": "10",
        "attack": "Not believable",
        "papers": str(round(100 - 100 * dict(kept["lines"][cast.OWN[PROVED]])[0.1])),
    }  # clipping's comes of a run


def test_a_proof_under_an_assumption_is_no_ceiling():
    kinds = set()
    for text, row in pictures._attacks().items():
        if row.epsilon_proved is not None and not row.broken:
            screen = SCREENS["attack"]
            told = screen.says("finding", pictures._attack(screen, text, None).facts)
            assert ("The true ε lies between" in told) is not row.assumed
            assert ("If the assumptions behind its proof hold" in told) is row.assumed
            kinds.add(row.assumed)
    assert kinds == {True, False}


@pytest.mark.thorough
def test_a_radio_says_right_or_what_was_right(visit: Open):
    test = answered(visit("learn"), odds=0, attack=0)
    assert any("Right: **One noisy count with ε = 2**" in one for one in said(test))
    assert any("You said **Believable**. The answer is **Not believable**" in one
               for one in said(test))  # fmt: skip


def test_a_radio_without_an_answer_shows_nothing(visit: Open):
    test = visit("learn")
    dict(forms(test)[::2])["learn-ask-odds"].click().run()
    assert [one.value for one in test.warning] == ["Choose an answer first."]
    assert not any("Right:" in one for one in said(test))


@pytest.mark.thorough
def test_answers_stay_in_the_session(visit: Open, home: Path):
    """Another session is asked again, and the store has no row of it."""
    test = answered(visit("learn"))
    assert len(charts(test)) > 0
    assert charts(visit("learn")) == []
    with Client(home, workers=False).store.database.reading() as connection:
        assert connection.execute("SELECT COUNT(*) FROM answers").fetchone()[0] == 0


@pytest.mark.parametrize("address", [{"present": "1"}, {"lesson": "epsilon", "view": "2"}])
def test_a_lesson_and_a_presenter_ask_by_themselves(visit: Open, address: dict[str, str]):
    test = visit("learn", **{"learn.screen": "count", "learn.count": "0.5", **address})
    assert len(charts(test)) == 1


def test_five_questions_before_and_after_give_the_gain(visit: Open):
    test = visit("learn")
    for when, wrong in ((ask.BEFORE, 3), (ask.AFTER, 1)):
        for i, one in enumerate(QUESTIONS):
            at = one.answer - 1 if i >= wrong else one.answer % len(one.options)
            widgets(test, f"learn.ask.{when}.{i}").set_value(at)
        next(b for name, b in forms(test) if name == f"learn-ask-{when}").click().run()
        told = any(one.why in text for one in QUESTIONS for text in said(test))
        assert told == (when == ask.AFTER)  # nothing is given away before the end
    assert any("2 of 5 right before, and **4 of 5** now. Gain: **+2**" in x for x in said(test))
    test.button(key="learn.reset").click().run()
    assert widgets(test, "learn.ask.before.0").value is None


def test_questions_that_were_skipped_have_no_gain(visit: Open):
    test = visit("learn")
    [b for name, b in forms(test) if name == "learn-ask-before"][1].click().run()
    for i, one in enumerate(QUESTIONS):
        widgets(test, f"learn.ask.after.{i}").set_value(one.answer - 1)
    next(b for name, b in forms(test) if name == "learn-ask-after").click().run()
    assert any("You have **5 of 5** right." in one for one in said(test))
    assert not any("Gain" in one for one in said(test))


@pytest.mark.parametrize("text", SCREENS["attacker"].control.options)
def test_the_best_guess_wins_as_often_as_the_game_says(text: str):
    """n rounds have a standard error of at most 0.5/√n; five of them."""
    n, rng = 20_000, Random(5)
    rounds = [maths.play(float(text), rng) for _ in range(n)]
    right = sum(one.best == one.inside for one in rounds) / n
    assert abs(right - (1 - 0.5 * math.exp(-float(text) / 2))) < 5 * 0.5 / math.sqrt(n)


def test_odds_are_written_as_the_language_writes_them():
    at = {"attacker": "10", "count": "10"}
    with spoken("de"):
        said = {name: pictures.DRAWN[name](SCREENS[name], text, None) for name, text in at.items()}
    assert said["attacker"].facts["most"] == "99,7"
    assert said["count"].facts["right"] == "99,7"


@pytest.mark.thorough
def test_the_visitor_wins_then_loses(visit: Open):
    test = answered(visit("learn"))
    assert any("You have not guessed yet." in one for one in said(test))
    test.button(key="learn.game.many").click().run()
    assert any("**You win.**" in one for one in said(test))
    test.select_slider(key="learn.attacker").set_value("0.1").run()
    for _ in range(9):
        test.button(key="learn.game.many").click().run()
    assert any("**You lose:**" in one and "of 900 times" in one for one in said(test))


@pytest.mark.thorough
def test_a_guess_is_judged_by_where_mia_was(visit: Open):
    test = answered(visit("learn"))
    for inside in (True, False):
        where = test.session_state[game.ROUND][1].inside
        test.button(key=f"learn.game.{'yes' if inside else 'no'}").click().run()
        hit, was = "Right" if inside == where else "Wrong", "was" if where else "was not"
        assert f"**{hit}.** Mia {was} in the data." in said(test)
    assert any("of 2 times" in one for one in said(test))


@pytest.mark.thorough
def test_it_is_read_in_ten_minutes(visit: Open, home: Path):
    """Every question and option is read once, the five questions twice, and every picture."""
    play(home, maths.clipping())
    test = visit("learn")
    asked = [text for one in (*test.radio, *test.select_slider)
             for text in (one.label, *(one.options if one in test.radio else ()))]  # fmt: skip
    test = answered(test)
    body = [*test.title, *test.header, *test.markdown, *test.caption]
    terms = set(glossary.TERMS.values())
    texts = [str(one.value) for one in body if str(one.value) not in terms]
    why = [text for one in QUESTIONS for text in (one.text, one.why)]
    whole = [*asked, *texts, *why]
    count = sum(len(re.findall(r"\w+", text)) for text in whole if not text.startswith("<"))
    assert count <= MINUTES * WORDS_A_MINUTE


def test_formulas_wait_for_their_toggle(visit: Open):
    assert not any("\\varepsilon" in str(one.value) for one in visit("learn").markdown)
    shown = visit("learn", **{"learn.formulas": "true"})
    assert any("\\varepsilon" in str(one.value) for one in shown.markdown)


@pytest.mark.thorough
def test_a_slider_changes_its_own_picture(visit: Open):
    test = answered(visit("learn"))
    before = charts(test)
    test.select_slider(key="learn.count").set_value("5").run()
    assert any("At ε = 5" in str(one.value) for one in test.markdown)
    assert charts(test)[1] != before[1]


def test_terms_that_a_text_links_to_exist():
    with pytest.raises(KeyError, match="glossary: expected one of"):
        glossary.link("Spleen")
    anchors = {glossary.anchor(term) for term in glossary.TERMS}
    assert len(anchors) == len(glossary.TERMS)
    for screen in SCREENS.values():
        assert set(re.findall(r"\]\(#([\w-]+)\)", screen.text)) <= anchors


def test_terms_say_what_holds_of_every_method():
    """Shuffled batches cost in full, and not all that is not private is without noise."""
    terms = glossary.TERMS
    assert "drawn independently of the others" in terms["Batch"]
    assert "shuffled order" in terms["Batch"]
    assert f"{100 * CONFIDENCE:.0f} % confidence" in terms["Attacked"]
    spec = PcdbnSpec(calibration="released")
    card = paper("pcdbn").entry("pcdbn").guarantee(spec, 1_797, "an image")
    assert (card.status, "noise" in card.mechanism) == ("not_private", True)
    assert "noise that protects nobody" in terms["Not private"]


def test_every_published_budget_says_who_what_for_whom_and_where_it_is_stated(visit: Open):
    """An unknown ε is said to be unknown; the Census, Apple and others are among them."""
    ours, _ = deployments.shown()
    for one in ours:
        assert all(one.values())
        assert one["ε"] == deployments.UNKNOWN or any(map(str.isdigit, one["ε"]))
        assert re.fullmatch(r"\[[^\]]+\]\(https://\S+\)", one["Source"])
    assert {"Apple", "Google", "US Census Bureau"} <= {one["Organisation"] for one in ours}
    shown = visit("learn").table[0].value
    assert shown.to_dict("records") == ours


def test_budgets_that_were_taken_from_the_registry_stand_in_the_place_of_ours(
    visit: Open, tmp_path: Path
):
    """With the day on which they were taken; their texts become no Markdown and no links."""
    bad = ENTRY.replace("one mother", "'**one** [mother](https://x.org) <b>'").replace(
        "url: 'https://a.org'", "url: 'javascript:alert(1)'"
    )
    (tmp_path / "entry.yaml").write_text(f"{ENTRY}---{bad.replace('A ministry', 'B')}")
    taken, left = registry_list.take(tmp_path / "entry.yaml")
    assert left == []
    test = visit("learn")
    shown = test.table[0].value
    assert list(shown["Organisation"]) == ["A ministry", "B"]
    assert list(shown["ε"]) == ["9.98 (δ = 10⁻⁷)"] * 2
    assert list(shown["Source"]) == ["[A](https://a.org)", "A"]
    one, other = shown["Protects"]
    assert one == "one mother"
    assert "](https://x" not in other
    assert "**" not in other.replace("\\*", "")
    day = format_date(date.fromisoformat(taken.date), format="long", locale="en")
    assert any(f"taken on {day}. The registry states no licence" in c.value for c in test.caption)
    german = visit("learn", lang="de")
    day = format_date(date.fromisoformat(taken.date), format="long", locale="de")
    assert any(f"übernommen am {day}" in one.value for one in german.caption)
    assert list(german.table[0].value["ε"]) == ["9,98 (δ = 10⁻⁷)"] * 2
    registry_list.forget()
    ours, _ = deployments.shown()
    assert visit("learn").table[0].value.to_dict("records") == ours


def test_a_list_has_names_in_the_language_and_the_address_has_english_ones(
    guided: None, visit: Open, home: Path
):
    """An address may hold a German name still, as the app once wrote it."""
    name, stops = "learn.attack", pictures.options(SCREENS["attack"])
    text = "Private gradient descent, as printed (Survival regression)"
    with spoken("de"):
        german = labels.label(text)
    assert german != text != pictures.first(SCREENS["attack"])
    for told in (text, german):
        at = {"learn.screen": "attack", name: told, "lang": "de", "present": "1"}
        test = visit("learn", **at)
        assert test.selectbox(key=name).value == text
        assert german in test.selectbox(key=name).options
    other = next(one for one in stops if one not in (text, pictures.first(SCREENS["attack"])))
    test.selectbox(key=name).select_index(stops.index(other)).run()
    assert test.selectbox(key=name).value == other
    assert test.query_params[name] == other


@pytest.mark.slow
def test_learn_loads_nothing_heavy():
    loads_nothing_heavy("learn")


LINKS = re.compile(r"\]\(/learn#([^)]+)\)")


@pytest.mark.thorough
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


def test_no_budget_gives_certainty():
    assert pictures.DRAWN["count"](SCREENS["count"], "10", None).facts["right"] == "99.7"
    assert pictures.DRAWN["count"](SCREENS["count"], "0.1", None).facts["right"] == "52"
