"""The attack in the Proof tab: a button, a ruler, a sentence, and what a finished one draws."""

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from engine.audit.words import IF_AS_DECLARED, outcome
from engine.catalog import catalog
from engine.core.gauges import gauges
from engine.runs import audits, met
from engine.runs.events import Advanced, Finished, Measured, Produced, Started
from engine.runs.job import Job, request
from engine.service.claim import take
from engine.service.client import Client
from engine.service.process import here
from engine.service.store import Store
from pages.ui.charts import attack as charts
from pages.ui.charts import rows as row_charts
from pages.ui.charts.theme import BROKEN
from pages.ui.exhibits import attacks
from pages.ui.paper import attack, choice, defaults
from pages.ui.paper.met import EVERYTHING, PUBLISHED
from pages.ui.paper.view import offers
from tests.pages.conftest import Open
from tests.pages.drawn import plots

POINTS = 51


ROW = audits.Row(
    run="", sources="", budget=1.0,
    paper="lvq", method="glvq_dp", dataset="digits", calibration="paper", epsilon_claimed=1.0,
    epsilon_proved=None, epsilon_attacked=2.5, mu_proved=None, mu_attacked=None, delta=1e-5,
    statistic="likelihood ratio", replicas=100, seconds=1.0, broken=True, right=0.61,
    allowed=0.731, exact=False,
)  # fmt: skip
UNDONE = {"epsilon_attacked": None, "replicas": 0, "broken": False, "reason": "Too slow."}


def audit(job: Job) -> Job:
    """The attack on a run of the page, at a budget of 1."""
    values = {**job.values, "epsilon": 1.0}
    seeds = range(attack.TRAININGS)
    return request(job.paper, job.method, job.dataset, values, seeds=seeds, audit=True)


def attacked(home: Path, job: Job, bound: float) -> None:
    """An attack that is over, with a bound that is made up."""
    store, rng, count = Store(home), np.random.default_rng(0), job.replicas()
    store.submit(job, {})
    claim = take(store, here(), job.id)
    assert claim is not None
    rows, alarms = tuple(range(count)), np.linspace(0.0, 1.0, POINTS)
    values = {name: (bound,) * count for name in gauges(job.entry().info)}
    line = np.tile(1.0 - alarms, (count, 1))
    names = ("misses", "misses_low", "misses_high", "misses_proved")
    arrays = {
        "without": rng.normal(0, 1, count),
        "present": rng.normal(1, 1, count),
        "by likelihood ratio": np.ones(count),
        "alarms": np.tile(alarms, (count, 1)),
        **dict.fromkeys(names, line),
        "right": np.full(count, 0.61),
        "reach": np.full(count, 0.0132),
        "allowed": np.full(count, 0.731),
    }
    digest = claim.keep("final-0000", arrays)
    made = [Measured(20, rows, values), Produced(20, "final-0000", digest, rows)]
    claim.append([Started(0, 20, count), *made])
    claim.finish("completed", [Advanced(20, 20, 20), Finished(20, "completed", ())])


def shown(test) -> str:
    return "\n".join(one.value for one in test.markdown)


def in_place(monkeypatch, module, rows) -> None:
    """Lets other attacks stand in the place of those that ship."""
    monkeypatch.setattr(module, "rows", rows)
    monkeypatch.setitem(vars(module.KEPT), "rows", rows)


@pytest.fixture
def proof(visit: Open, monkeypatch: pytest.MonkeyPatch):
    """The Proof tab at a budget of 1, with the method that the page opens on; no attack ships."""
    in_place(monkeypatch, audits, tuple)
    return lambda: visit("survival", **{"survival.tab": "Proof", "survival.epsilon": "1"})


@pytest.mark.thorough
def test_an_attack_is_a_button_and_then_a_job(proof, trained):
    test = proof()
    assert not test.exception
    assert any("sees everything" in caption.value for caption in test.caption)
    test.button(key="survival.attack.start").click().run()
    assert not test.exception
    asked = [run for run in Client(trained, workers=False).runs() if run.job.audit]
    assert [run.job.replicas() for run in asked] == [attack.TRAININGS]
    assert [button.label for button in test.button if button.key == "survival.attack.stop"]


@pytest.mark.thorough
def test_a_finished_attack_says_what_it_showed(proof, trained):
    attacked(trained, audit(defaults.opening("survival")["dp_newton"]), 0.4)
    test = proof()
    assert not test.exception
    text = shown(test)
    assert "at least ε = **0.4** is spent" in text
    assert IF_AS_DECLARED in text
    assert "was right 61 times out of 100; the proof allows 74 (from ε and δ alone)" in text
    assert "released by 1.32 % of the sensitivity: a small bound says little here." in text
    assert "[attacked](/learn#attacked) **at least 0.4**" in text


def test_a_score_that_was_chosen_is_drawn_by_the_trainings_that_did_not_choose_it():
    """Here they are the odd ones, on which the score tells nothing."""
    told = np.tile([5.0, 0.0], 50)
    stored = np.tile(np.linspace(0.0, 1.0, POINTS), (100, 1))
    names = ("alarms", "misses", "misses_low", "misses_high", "misses_proved")
    arrays = {"without": np.zeros(100), "present": told, **dict.fromkeys(names, stored)}
    chosen, half = attack._tradeoff({**arrays, "judged": np.full(100, 100)})
    assert half
    assert chosen["misses"][0] == 1.0
    assert 1.0 - chosen["misses_low"][0] > 0.2  # of fifty trainings of each kind
    whole, half = attack._tradeoff({**arrays, "judged": np.full(100, 200)})
    assert not half
    assert whole["misses"].tolist() == stored[0].tolist()


def test_an_attack_of_more_steps_than_were_announced_is_a_full_bar(monkeypatch):
    """A bar takes no part above 1."""
    drawn: list[float] = []
    monkeypatch.setattr(attack.st, "progress", lambda part, text: drawn.append(part))
    monkeypatch.setattr(attack.st, "button", lambda *asked, **more: False)
    view = SimpleNamespace(paper=SimpleNamespace(slug="survival"))
    job = audit(defaults.opening("survival")["dp_newton"])
    for done in (5, 21):
        attack._controls(view, job, SimpleNamespace(active=True, done=done, total=20))
    assert drawn == [0.25, 1.0]


def test_an_attack_says_what_it_could_show_at_most(monkeypatch):
    """A small bound is no sign of a safe method where the witness, or any attack, is weak."""
    job = audit(defaults.opening("survival")["dp_newton"])
    monkeypatch.setattr(audits, "fitting", lambda job: replace(ROW, epsilon_perfect=0.861))
    most = f"A perfect attack with {2 * ROW.replicas:,} trainings shows ε = 0.86 in half of all"
    assert most in attack.origin(job)
    monkeypatch.setattr(audits, "fitting", lambda job: replace(ROW, epsilon_perfect=None))
    assert "perfect" not in attack.origin(job)
    weak = "this witness changes what is released by 1.32 % of the sensitivity: a small bound says"
    assert weak in attack.reach({"present": np.zeros(20), "reach": np.array([0.0132])})
    assert attack.reach({"present": np.zeros(20), "reach": np.array([np.nan])}) == ""
    assert attack.reach({"present": np.zeros(20)}) == ""  # of an earlier version


def ships(monkeypatch, job: Job, **values) -> None:
    """One attack ships, on this very setting."""
    row = replace(ROW, **{"run": audits.name(job), "epsilon_proved": 1.0, **values})
    in_place(monkeypatch, audits, lambda: (row,))


@pytest.mark.thorough
def test_a_shipped_attack_has_its_mark_until_the_user_attacks(proof, trained, monkeypatch):
    job = audit(defaults.opening("survival")["dp_newton"])
    ships(monkeypatch, job, epsilon_attacked=0.3, exact=True, allowed=0.5532)
    test = proof()
    assert not test.exception
    assert "[attacked](/learn#attacked) **at least 0.3**" in shown(test)
    assert any(
        "which is tighter than ε alone). Shipped with the app." in one.value
        and "the proof allows 56 (by its whole trade-off curve, " in one.value
        and "Computed by an earlier version." in one.value
        for one in test.caption
    )
    assert any(button.label == "Attack this" for button in test.button)
    attacked(trained, job, 0.4)
    assert "[attacked](/learn#attacked) **at least 0.4**" in shown(proof())


@pytest.mark.parametrize(
    ("state", "bound", "ships"),
    [("cancelled", 0.0, True), ("running", 0.2, True), ("running", 0.4, False),
     ("completed", 0.0, False)],
)  # fmt: skip
def test_an_attack_that_has_not_ended_hides_no_larger_bound(monkeypatch, state, bound, ships):
    job = audit(defaults.opening("survival")["dp_newton"])
    monkeypatch.setattr(audits, "fitting", lambda job: replace(ROW, epsilon_attacked=0.3))
    monkeypatch.setattr(attack, "_bound", lambda run: bound)
    monkeypatch.setattr(attack, "_by_curve", lambda run: True)
    mark = attack._mark(job, SimpleNamespace(state=state))
    assert mark == attack.Mark(0.3 if ships else bound, shipped=ships, by_curve=mark.by_curve)


MET = met.Meeting(
    run="", sources="", paper="survival", method="dp_newton", dataset="flchain", calibration="",
    budget=1.0, delta=1e-5, seconds=1.0, epsilon=0.07, epsilon_worst=0.0, statistic="coefficients",
    trainings_worst=200, epsilon_real=0.07, right=0.5272, least=0.52, records=100, trainings=200,
)  # fmt: skip


def test_the_attacker_one_can_meet_stands_beside_the_one_who_sees_everything(proof, monkeypatch):
    job = audit(defaults.opening("survival")["dp_newton"])
    ships(monkeypatch, job, epsilon_attacked=0.3)
    in_place(monkeypatch, met, lambda: (replace(MET, run=audits.name(job)),))
    test = proof()
    assert not test.exception
    assert "100 most exposed records whether it was in the data: 52 of 100" in shown(test)
    (both,) = [one.value for one in test.table if EVERYTHING in one.value.iloc[:, 0].tolist()]
    assert both.iloc[:, 0].tolist() == [EVERYTHING, PUBLISHED]
    assert both.iloc[:, 1].tolist() == ["0.3", "0.07"]
    said = " ".join(one.value for one in test.caption)
    assert "The gap: an attacker who sees every step" in said
    assert "for the worst record nothing shown" in said
    assert "Computed by an earlier version." in said
    worst = replace(MET, run=audits.name(job), epsilon_worst=0.2)
    in_place(monkeypatch, met, lambda: (worst,))
    said = " ".join(one.value for one in proof().caption)
    assert "the worst record 0.2 (by *spline and covariate coefficients" in said
    in_place(monkeypatch, met, tuple)
    assert "most exposed" not in shown(proof())


@pytest.mark.parametrize("slug", sorted(catalog()))
def test_every_page_opens_with_an_attack_by_what_is_published(slug):
    offered = offers(catalog()[slug], defaults.layout(slug))
    chosen, knob = choice.untouched(offered), offered.knobs["epsilon"]
    job = defaults.opening(slug)[chosen.method]
    values = {**job.values, "epsilon": knob.value(knob.default)}
    wanted = request(slug, job.method, job.dataset, values, seeds=range(9), audit=True)
    row = met.fitting(wanted)
    assert row is not None
    assert not row.outdated
    assert 0.4 < row.right < 0.7  # on a private method nobody guesses much better
    assert row.records == 100


@pytest.mark.parametrize("how", ["another setting", "no number"])
@pytest.mark.thorough
def test_a_shipped_attack_on_another_setting_is_not_shown(proof, trained, monkeypatch, how):
    job = audit(defaults.opening("survival")["dp_newton"])
    ships(monkeypatch, job, **({"run": "another"} if how == "another setting" else UNDONE))
    text = shown(proof())
    assert "[attacked](/learn#attacked) **not yet**" in text
    assert ("No attack ships: Too slow." in text) is (how == "no number")


def test_an_attack_above_the_proof_is_our_error(proof, trained):
    attacked(trained, audit(defaults.opening("survival")["dp_newton"]), 2.5)
    text = shown(proof())
    assert "above the proved 1" in text
    assert "error in the program" in text


def test_an_attack_above_a_claim_alone_is_red():
    entry = catalog()["enadpp"].entry("enadpp")
    card = entry.guarantee(catalog()["enadpp"].spec(calibration="paper"), 2000, "a person")
    assert card.epsilon_proved is None
    text = attack.comparison(card, card.epsilon_claimed + 1.0)
    assert ":red[" in text
    assert "The claim does not hold" in text
    assert "error in the program" not in attack.comparison(card, card.epsilon_claimed / 2.0)


def test_the_ruler_has_a_mark_for_each_number_that_is_known():
    assert [trace.name for trace in charts.ruler(1.0, 2.0, 0.0).whole.data] == [
        "Claimed",
        "Proved",
        "Attacked",
    ]
    assert [trace.name for trace in charts.ruler(1.0, None, None).whole.data] == ["Claimed"]
    words = [trace.text[0] for trace in charts.ruler(1.0, 2.0, 0.0).whole.data]
    assert words == ["Claimed 1", "Proved 2", "Attacked: nothing shown"]
    assert charts.ruler(1.0, 2.0, 0.5).whole.data[2].text[0] == "Attacked at least 0.5"
    assert all(trace.cliponaxis is False for trace in charts.ruler(1.0, 2.0, 0.5).whole.data)


@pytest.mark.parametrize(
    ("attacked", "left", "right"), [(0.878, "Attacked", "Claimed"), (1.2, "Claimed", "Attacked")]
)
def test_words_of_marks_that_are_near_do_not_meet(attacked: float, left: str, right: str):
    """Claimed and attacked both have their words above the ruler, so one goes to each side."""
    places = {one.name: one.textposition for one in charts.ruler(1.0, 1.0, attacked).whole.data}
    assert places == {left: "top left", right: "top right", "Proved": "bottom center"}
    far = {one.name: one.textposition for one in charts.ruler(1.0, 1.0, 0.0).whole.data}
    assert set(far.values()) == {"top center", "bottom center"}
    assert charts.ruler(float("inf"), None, 1.0).whole.data[0].textposition == "top center"


def test_reproduce_shows_what_ships(visit: Open, monkeypatch):
    in_place(monkeypatch, audits, lambda: (ROW, replace(ROW, **UNDONE)))
    test = visit("reproduce")
    assert not test.exception
    assert "Of 1 attack, 1 show more than is claimed or proved." in shown(test)
    picture = plots(test)[-1]["figure"]
    assert len(picture["layout"]["yaxis"]["ticktext"]) == 3  # a title and two methods
    kinds = {trace["name"]: trace for trace in picture["data"] if "name" in trace}
    over = kinds["attacked, above claim or proof"]
    assert over["x"] == [2.5]
    assert "attacked" not in kinds  # the other was not attacked
    assert [name for name, one in kinds.items() if one["marker"]["color"] == BROKEN] == [
        "attacked, above claim or proof"
    ]
    lines = [attacks.line(one) for one in (ROW, replace(ROW, **UNDONE))]
    assert [one["Attacked ε, at least"] for one in lines] == ["2.5", "–"]
    assert [one["Noise"] for one in lines] == ["As printed", "As printed"]
    assert [one["Broken"] for one in lines] == ["yes", "Too slow."]


@pytest.mark.parametrize("page", ["runs", "compare", "home"])
@pytest.mark.thorough
def test_an_attack_among_the_runs_breaks_no_page(visit: Open, trained, page):
    attacked(trained, audit(defaults.opening("survival")["dp_newton"]), 0.4)
    test = visit(page)
    assert not test.exception


def test_an_attack_above_a_proof_that_assumes_something_blames_the_assumption():
    paper = catalog()["survival"]
    card = paper.entry("dp_gd").guarantee(paper.spec(calibration="paper"), 2000, "a person")
    assert card.status == "proved_under_assumption"
    text = attack.comparison(card, card.epsilon_proved + 1.0)
    assert "assumption of the card" in text
    assert "error in the program" not in text


def test_a_bound_of_zero_is_no_finding():
    assert attack.Mark(0.0, shipped=True).said == "no loss shown"
    card = catalog()["lvq"].entry("glvq_dp").guarantee(catalog()["lvq"].spec(), 1_797, "an image")
    assert attack.comparison(card, 0.0).startswith("The attack has shown no loss of privacy yet")
    assert "at least ε = **0.5**" in attack.comparison(card, 0.5)


def test_every_bound_of_an_attack_is_rounded_down():
    bound, row = 36.5832, replace(ROW, epsilon_attacked=36.5832)
    card = catalog()["lvq"].entry("glvq_dp").guarantee(catalog()["lvq"].spec(), 1_797, "an image")
    picture = charts.ruler(1.0, 1.0, bound).whole.data[2].text[0]
    figure = row_charts.marks([row_charts.Marks("One", attacked=bound)])
    (drawn,) = (one for one in figure.traces if one["x"])
    dot = drawn["text"][0]
    told = attack.comparison(card, bound), attack.ruler_text(card, bound), picture, dot
    said = attack.Mark(bound).said, attacks.line(row)["Attacked ε, at least"]
    assert [one for one in (*told, *said) if "36.5" not in one] == []


def test_a_share_of_right_guesses_has_its_interval_and_number():
    """128 right of 220: between .5136 and .6478 with 95 % confidence (Clopper and Pearson 1934)."""
    assert "of 100, between 51 and 65" in outcome(220, 128 / 220, 220)
    assert "judged on 110 of them" in outcome(220, 64 / 110, 110)


def test_what_was_drawn_again_is_said():
    again = replace(ROW, attacks=2, epsilon_first=1.2)
    assert "drawn again" in attacks.finding((again,))
    assert "there is no record of whether" in attacks.finding((ROW,))
    assert attacks.finding((replace(ROW, attacks=1),)).endswith("claimed or proved.")
    assert attacks.line(again)["First bound, where drawn again"] == "1.2"
