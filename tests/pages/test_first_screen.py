"""What a paper's page says at first: its finding, its marks, and only words that people use."""

import ast
import json
import re
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

from datasets import catalog as data_catalog
from engine.catalog import catalog
from engine.core.gauges import Gauge
from engine.core.spec import Choice, knobs
from engine.privacy import accounting, answers
from engine.runs import shipped
from engine.runs.events import Measured
from engine.runs.job import request
from engine.runs.reference import FOLDER as REFERENCE
from engine.runs.results import collect
from pages.ui import prices
from pages.ui.charts import curves, measured, notes, proof
from pages.ui.charts.measured import Curve, Level
from pages.ui.charts.theme import SERIES, style
from pages.ui.jobs.live import Watched
from pages.ui.kit import shell
from pages.ui.kit.access import board
from pages.ui.paper import cast, choice, defaults, drawing, panels
from pages.ui.paper.cast import Cast
from pages.ui.paper.finding import Saying, finding
from pages.ui.paper.view import Page, View, offers
from tests.pages.conftest import Open
from tests.pages.drawn import plots, texts, tour

BEATS = "beats training without privacy"
GAUGE = Gauge("Accuracy", "up", unit="share")
SAID = Saying("is right on {} of 100", ("image in 100", "images in 100"), 100.0, lambda data: 0.1)
FORBIDDEN = (
    "whoever", "anew", "hence", "lest", "yardsticks?", "asked for", "full voice", "drowns?",
    "mends", "lots?(?! of)", "speaks?", "unasked", "under-protects", "whose records it",
    "our program", "we", "shall", "upon", "amongst",
)  # fmt: skip
"""Words that the pages avoid."""
ROOT = Path(__file__).parents[2]
SOURCES = [ROOT / "app.py", *(path for place in ("pages", "engine", "datasets")
                              for path in sorted((ROOT / place).rglob("*.py")))]  # fmt: skip


def curve(label: str, middle: float, status: str, proved: float | None) -> Curve:
    """A curve of one point at ε = 1."""
    one = (middle,)
    return Curve(label, style(0), (1.0,), one, one, one, (5,), status=status, proved=(proved,))  # type: ignore[arg-type]


def said(chosen: str = "", **lines: Curve) -> str:
    """The finding of a page about some lines, where 97 of 100 are right without privacy."""
    none = Level("No privacy", style(1), 0.97, 9, status="not_private")
    parts = {"best": None, "own": None, "printed": None, "others": (), **lines}
    return finding(Cast(none=none, **parts), GAUGE, SAID, None, 1.0, chosen)  # type: ignore[arg-type]


def test_the_finding_names_what_privacy_costs_against_the_right_rivals():
    text = said(
        best=curve("DP-SGD", 0.95, "proved", 1.0),
        own=curve("Own", 0.6, "proved", 1.0),
        printed=curve("Own, as printed", 0.9, "heuristic", None),
    )
    assert text == (
        "At ε = 1, privacy costs **2 images in 100** with DP-SGD; the paper's own method costs 37; "
        "as printed it costs 7, and nothing is proved."
    )


def test_the_better_of_two_proved_methods_comes_first():
    text = said(best=curve("DP-SGD", 0.6, "proved", 1.0), own=curve("Own", 0.8, "proved", 1.0))
    assert text == (
        "At ε = 1, privacy costs **17 images in 100** with the paper's own method; DP-SGD costs 37."
    )


def test_the_method_whose_guarantee_stands_below_comes_first():
    """Whatever is printed is told of the paper's own method, whichever comes last."""
    text = said(
        "Own",
        best=curve("DP-SGD", 0.95, "proved", 1.0),
        own=curve("Own", 0.6, "proved", 1.0),
        printed=curve("Own, as printed", 0.9, "heuristic", None),
    )
    assert text == (
        "At ε = 1, privacy costs **37 images in 100** with the paper's own method; DP-SGD costs 2; "
        "the paper's own method as printed costs 7, and nothing is proved."
    )


@pytest.mark.parametrize(
    ("right", "words"),
    [(0.96, "**1 image in 100**"), (0.967, "**less than 1 image in 100**"),
     (0.98, "**0 images in 100**"), (0.953, "**2 images in 100**")],
)  # fmt: skip
def test_a_cost_is_a_count_in_the_unit_of_the_reader(right: float, words: str):
    assert words in said(own=curve("Own", right, "proved", 1.0))


def test_what_is_as_good_as_guessing_is_said_to_be():
    assert "no better than guessing" in said(own=curve("One", 0.15, "proved", 1.0))
    assert "guessing" not in said(own=curve("One", 0.25, "proved", 1.0))


@pytest.mark.parametrize(
    ("failed", "words"),
    [
        (0.4, " Of 5 releases of the paper's own method, 2 are no better than guessing."),
        (0.2, " Of 5 releases of the paper's own method, 1 is no better than guessing."),
        (0.0, ""),
        (1.0, ""),
    ],
)
def test_releases_that_fail_are_counted_where_others_do_not(failed: float, words: str):
    """Under the name that the sentence before it has."""
    own = replace(curve("Own", 0.8, "proved", 1.0), failed=(failed,))
    text = "At ε = 1, privacy costs **17 images in 100** with the paper's own method."
    assert said(own=own) == text + words


def line(budgets: tuple[float, ...], middle: tuple[float, ...]) -> Curve:
    """A proved curve of which every release gets the same."""
    one = Curve("DP-SGD", style(0), budgets, middle, middle, middle, (9,) * len(budgets))
    return replace(one, sure_low=middle, sure_high=middle, status="proved", proved=budgets)


@pytest.mark.parametrize(
    ("budgets", "right", "words"),
    [
        # from a third of the way from 97 to 10 of 100 on
        ((0.1, 0.5, 1.0), (0.3, 0.5, 0.9), "At ε = 0.5 and below, DP-SGD costs 47 or more."),
        # fewer than 57 at ε = 0.1
        ((0.1, 0.5, 1.0), (0.6, 0.4, 0.9), "At ε = 0.5 and below, DP-SGD costs 37 or more."),
        ((0.1, 0.5, 1.0), (0.3, 0.7, 0.9), "At ε = 0.1, DP-SGD costs 67."),
        ((0.1, 0.5, 1.0), (0.8, 0.85, 0.9), ""),
        # a smaller budget that costs less, or as much, is no breakdown
        ((0.1, 0.5, 1.0), (0.4, 0.6, 0.5), ""),
        ((0.1, 0.5, 1.0), (0.4, 0.499, 0.5), ""),
        ((0.1, 0.5, 1.0), (0.4, 0.3, 0.5), "At ε = 0.5 and below, DP-SGD costs 57 or more."),
        # a smaller budget that is better hides nothing, a larger one is not below
        ((0.5, 1.0, 2.0), (0.8, 0.9, 0.5), ""),
        ((0.5, 1.0, 2.0), (0.8, 0.98, 0.98), f"From ε = 1 on, DP-SGD {BEATS}."),
        ((0.5, 1.0, 2.0), (0.8, 0.9, 0.98), f"At ε = 2, DP-SGD {BEATS}."),
        ((0.2, 0.5, 1.0), (0.8, 0.9, 0.98), f"Here DP-SGD {BEATS}."),
        ((0.5, 1.0, 2.0), (0.8, 0.98, 0.9), ""),
    ],
)
def test_the_finding_says_where_a_method_breaks_down_or_beats_no_privacy(
    budgets: tuple[float, ...], right: tuple[float, ...], words: str
):
    begun, _, more = said(best=line(budgets, right)).partition(" with DP-SGD.")
    assert begun.startswith("At ε = 1, privacy costs ")
    assert more.strip() == words


def test_what_beats_no_privacy_within_its_interval_is_not_said_to_beat_it():
    one = replace(line((1.0, 2.0), (0.9, 0.98)), sure_low=(0.9, 0.96))
    assert "beats" not in said(best=one)


def test_what_is_within_the_interval_of_no_privacy_is_not_said_to_beat_it():
    """The level is a median too: 97 of 100, and up to 99 by its repetitions."""
    best = line((1.0, 2.0), (0.9, 0.98))
    cast_ = Cast(best, None, None, (), Level("No privacy", style(1), 0.97, 9, (0.95, 0.99)))
    assert BEATS not in finding(cast_, GAUGE, SAID, None, 1.0)  # type: ignore[arg-type]
    sure = replace(cast_, none=Level("No privacy", style(1), 0.97, 9, (0.95, 0.975)))
    assert BEATS in finding(sure, GAUGE, SAID, None, 1.0)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("counts", "level", "claimed"), [((9, 9), 9, True), ((9, 1), 9, False), ((9, 9), 1, False)]
)
def test_too_few_repetitions_are_not_said_to_beat_no_privacy(
    counts: tuple[int, int], level: int, claimed: bool
):
    """The interval of five values is their range, and that of one has no width."""
    best = replace(line((1.0, 2.0), (0.9, 0.98)), count=counts)
    none = Level("No privacy", style(1), 0.97, level, (0.97, 0.97))
    text = finding(Cast(best, None, None, (), none), GAUGE, SAID, None, 1.0)  # type: ignore[arg-type]
    assert (BEATS in text) is claimed


@pytest.mark.parametrize(("better", "compared"), [("up", True), ("neither", False)])
def test_a_measure_without_a_better_side_is_told_and_not_compared(better: str, compared: bool):
    gauge = Gauge("Share of records clipped", better, unit="share")  # type: ignore[arg-type]
    how = Saying("clips {} of 100", ("point", "points"), 100.0)
    none = Level("No privacy", style(1), 0.0, 9)
    own = replace(line((0.5, 1.0), (0.2, 0.5)), label="Own", count=(9, 9))
    text = finding(Cast(None, own, None, (), none), gauge, how, None, 1.0)  # type: ignore[arg-type]
    assert (BEATS in text, "costs" in text) == (compared, compared)
    assert compared or text == "At ε = 1, the paper's own method **clips 50 of 100**."


def test_a_measure_without_a_better_side_has_no_best_method():
    paper, gauge = catalog()["lvq"], Gauge("Share clipped", "neither", unit="share")
    jobs = {name: request("lvq", name, "digits") for name in ("glvq_dp", "gmlvq_dp")}
    lines = {
        name: replace(line((1.0,), (value,)), label=name)
        for name, value in (("glvq_dp", 0.1), ("gmlvq_dp", 0.9))
    }
    found = {name: cast.cast(paper, jobs, lines, [], gauge, name).best for name in jobs}
    assert found == {"glvq_dp": None, "gmlvq_dp": lines["gmlvq_dp"]}


def test_the_best_method_is_the_best_at_the_budgets_that_all_lines_have():
    """While one trains it has few budgets, and a whole line has more small ones."""
    paper, gauge = catalog()["enadpp"], Gauge("Test error", "down", unit="share")
    jobs = {name: request("enadpp", name, "digits") for name in ("dpsgd", "dp_ftrl")}
    budgets = (0.1, 0.2, 0.4, 0.8, 1.6)
    whole = line(budgets, (0.9, 0.8, 0.7, 0.2, 0.1))
    coarse = line((0.1, 0.8, 1.6), (0.91, 0.21, 0.11))
    point = line((1.6,), (0.11,))
    for other in (coarse, point):  # which have the lower mean
        found = cast.cast(paper, jobs, {"dpsgd": whole, "dp_ftrl": other}, [], gauge, "")
        assert found.best is whole
    better = line((0.1, 0.8, 1.6), (0.89, 0.19, 0.09))
    assert cast.cast(paper, jobs, {"dpsgd": whole, "dp_ftrl": better}, [], gauge, "").best is better
    assert cast.cast(paper, jobs, {"dp_ftrl": point}, [], gauge, "").best is point


def test_a_cost_is_counted_from_the_same_method_without_privacy():
    """Not from another that is better: GMLVQ without privacy is no rival of private GLVQ."""
    paper, gauge = catalog()["lvq"], Gauge("Test error", "down", unit="share")
    jobs = {name: request("lvq", name, "digits") for name in ("glvq_dp", "gmlvq_dp")}
    levels = [
        Level(label, style(0), value)
        for label, value in (("GLVQ, SGD", 0.08), ("GMLVQ, SGD", 0.05), ("GLVQ, BFGS", 0.09))
    ]

    def none(better: str, levels: list[Level]) -> str:
        wrong = {name: 0.1 if name == better else 0.2 for name in jobs}
        lines = {name: replace(line((1.0,), (value,)), label=name) for name, value in wrong.items()}
        found = cast.cast(paper, jobs, lines, levels, gauge, better)
        return found.none.label if found.none else ""

    assert none("glvq_dp", levels) == "GLVQ, SGD"
    assert none("gmlvq_dp", levels) == "GMLVQ, SGD"
    assert none("glvq_dp", levels[1:]) == "GMLVQ, SGD"  # the best one where the twin is missing
    assert none("glvq_dp", []) == ""


def test_each_method_s_cost_is_counted_from_its_own_level():
    """GMLVQ is better without privacy than GLVQ: what privacy costs it is more, not the same."""
    paper, gauge = catalog()["lvq"], Gauge("Test error", "down", unit="share")
    jobs = {name: request("lvq", name, "digits") for name in ("glvq_dp", "gmlvq_dp")}
    levels = [Level("GLVQ, SGD", style(0), 0.08), Level("GMLVQ, SGD", style(1), 0.05)]
    lines = {name: replace(line((1.0,), (0.1,)), label=f"{name}, private") for name in jobs}
    found = cast.cast(paper, jobs, lines, levels, gauge, "gmlvq_dp")
    how = Saying("is wrong on {} of 100", ("record in 100", "records in 100"), 100.0, own="GLVQ")
    told = finding(found, gauge, how, data_catalog.card("digits"), 1.0, "gmlvq_dp, private")
    assert told == (
        "At ε = 1, privacy costs **5 records in 100** with gmlvq_dp; GLVQ costs 2 against GLVQ "
        "without privacy."
    )
    same = [levels[0], replace(levels[1], value=0.08)]  # what is drawn says as much for both
    found = cast.cast(paper, jobs, lines, same, gauge, "gmlvq_dp")
    told = finding(found, gauge, how, data_catalog.card("digits"), 1.0, "gmlvq_dp, private")
    assert told == "At ε = 1, privacy costs **2 records in 100** with gmlvq_dp; GLVQ costs 2."


def test_the_level_that_a_line_ends_at_is_named_beside_the_one_in_ink():
    """GMLVQ's cost is counted from a level of its own: grey, but with its name."""
    paper, gauge = catalog()["lvq"], Gauge("Test error", "down", unit="share")
    jobs = {name: request("lvq", name, "digits") for name in ("glvq_dp", "gmlvq_dp")}
    names = ("GLVQ, SGD", "GMLVQ, SGD", "GLVQ, BFGS")
    levels = [Level(label, style(i), 0.05 + i / 100) for i, label in enumerate(names)]
    lines = {
        "glvq_dp": replace(line((1.0,), (0.1,)), label="GLVQ, private"),
        "gmlvq_dp": replace(line((1.0,), (0.2,)), label="GMLVQ, private"),
    }
    found = cast.cast(paper, jobs, lines, levels, gauge, "glvq_dp")
    _, shown = cast.focused(lines, levels, found, "glvq_dp")
    assert [(one.focus, one.told) for one in shown] == [
        (True, False),
        (False, True),
        (False, False),
    ]
    drawn = curves.utility(list(lines.values()), shown, gauge, 1.0, "", (0.1, 10.0)).layout
    texts = {one["text"] for one in drawn["annotations"] if one.get("name") == notes.END}
    assert {"No privacy: GLVQ, SGD", "No privacy: GMLVQ, SGD"} < texts
    assert not any("BFGS" in one for one in texts)


def test_a_rival_below_the_level_of_no_privacy_is_explained():
    best = replace(line((0.5, 1.0, 2.0), (0.4, 0.9, 0.98)), label="Rival")
    own = replace(line((0.5, 1.0, 2.0), (0.4, 0.85, 0.86)), label="Own")
    none = Level("No privacy", style(1), 0.97, 9)
    gauge = Gauge("Accuracy", "up", unit="share")

    def told(thanks: str) -> str:
        cost = ("digit in 100", "digits in 100")
        how = Saying("is right", cost, 100.0, lambda data: 0.1, own="Own", thanks=thanks)
        found = Cast(best=best, own=own, printed=None, others=(), none=none)
        return finding(found, gauge, how, data_catalog.card("digits"), 1.0, "Own")

    assert told("better inputs").endswith(
        "At ε = 2, Rival beats training without privacy thanks to better inputs."
    )
    assert "costs 57" not in told("better inputs")  # one thing more is enough
    assert told("").endswith("At ε = 0.5, Own costs 57.")  # without a reason, of the own method


@pytest.mark.parametrize("count", [0, 1, 2])
def test_the_grey_bar_of_methods_without_a_proof_has_a_name(count: int):
    lost = [
        replace(line((1.0, 2.0), (0.5, 0.6)), label=f"Other {i}", status="heuristic",
                proved=(None, None), focus=False)
        for i in range(count)
    ]  # fmt: skip
    drawn = curves.utility([line((1.0, 2.0), (0.8, 0.9)), *lost], [], GAUGE, 1.0, "r", (1, 2), True)
    names = [
        one["text"] for one in drawn.to_plotly_json()["layout"]["annotations"]
        if one.get("name") == "end"
    ]  # fmt: skip
    said = {0: [], 1: ["Other 0: no proof"], 2: ["2 others: no proof"]}[count]
    assert names == ["DP-SGD, proved", *said]


def test_a_release_fails_that_is_a_tenth_of_the_way_from_guessing_at_most():
    job = request("survival", "out_pert", "flchain", {}, {"epsilon": (0.1, 1.0)}, range(3))
    rows = {"concordance": (0.5, 0.56, 0.7, 0.54, float("nan"), 0.9)}  # 0.55 is a tenth of the way
    results = collect(job, [Measured(1, tuple(range(6)), rows)])
    budgets = results.axes["epsilon"]
    assert list(budgets) == [0.1, 0.1, 0.1, 1.0, 1.0, 1.0]
    assert measured.failing(results, "concordance", 0.5, 1.0) == pytest.approx((1 / 3, 1 / 2))
    wrong = {"concordance": tuple(1.0 - value for value in rows["concordance"])}
    other = collect(job, [Measured(1, tuple(range(6)), wrong)])
    assert measured.failing(other, "concordance", 0.5, 0.0) == pytest.approx((1 / 3, 1 / 2))


def test_where_some_releases_fail_a_cross_stands_and_the_share_is_told():
    one = replace(curve("Own", 0.8, "proved", 1.0), failed=(0.5,))
    for failed, symbol in (((0.5,), ["x"]), ((0.0,), "circle"), ((1.0,), "circle"), ((), "circle")):
        one = replace(one, failed=failed)
        drawn = curves.utility([one], [], GAUGE, 1.0, "r", (0.1, 10.0), True).to_plotly_json()
        line = next(trace for trace in drawn["data"] if trace.get("name"))
        assert line["marker"]["symbol"] == symbol
        assert ("% of them fail" in line["customdata"][0][-1]) == any(failed)


def shipping(monkeypatch: pytest.MonkeyPatch) -> None:
    """What ships is there."""
    monkeypatch.setattr(shipped, "FOLDER", REFERENCE / "defaults")


@pytest.mark.thorough
def test_the_why_tab_has_the_share_of_releases_that_fail(
    visit: Open, monkeypatch: pytest.MonkeyPatch
):
    shipping(monkeypatch)
    job = defaults.opening("survival")["out_pert"]
    ships = shipped.find(job.id)
    assert ships is not None
    share = measured.failing(collect(job, ships.events()), "concordance", 0.5, 1.0)
    at = list(job.axes["epsilon"]).index(0.1)
    assert 0.1 < share[at] < 0.9
    text = texts([visit("survival", **{"survival.tab": "Why", "survival.epsilon": "0.1"})])
    assert f"Output perturbation, with proof **{100.0 * share[at]:.0f}**" in text


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("slug", "words"),
    [
        (
            "survival",
            r"Private Newton changes the answer for these two people by at most \*\*[\d.]+ points",
        ),
        (
            "pcdbn",
            r"proof leaves \*\*\d+ of 100 digits\*\* right, .* Nothing is proved of the others",
        ),
    ],
)
def test_a_story_stands_beside_the_cost_curve(
    slug: str, words: str, visit: Open, monkeypatch: pytest.MonkeyPatch
):
    shipping(monkeypatch)
    page = visit(slug)
    assert re.search(words, texts([page]))
    assert len(plots(page)) == 2
    told = json.dumps([one["figure"]["layout"].get("annotations") for one in plots(page)])
    assert ("Dotted: no privacy" in told) == (slug == "survival")


def test_where_nothing_is_proved_the_finding_says_so():
    text = said(printed=curve("Own, as printed", 0.9, "heuristic", None))
    assert text == (
        "At ε = 1, privacy costs **7 images in 100** with Own, as printed, and nothing is proved."
    )


def test_nothing_is_found_before_anything_is_measured():
    assert said() == ""


def opened(slug: str) -> View:
    """What a page shows as it opens, from what ships."""
    paper, layout = catalog()[slug], defaults.layout(slug)
    offered = offers(paper, layout)
    page = Page(slug, paper, layout, offered, choice.untouched(offered), defaults.opening(slug))
    watched = {
        name: Watched(page.labels[name], job, board().look([job.id]).get(job.id))
        for name, job in page.jobs.items()
    }
    return page.view(watched, page.chosen)


@pytest.mark.parametrize("slug", sorted(shell.papers()))
def test_a_page_opens_with_at_most_four_lines_in_colour(slug: str, monkeypatch: pytest.MonkeyPatch):
    """The paper's own method twice, the best proved one, no privacy; each in its own colour."""
    monkeypatch.setattr(shipped, "FOLDER", REFERENCE / "defaults")  # what the app opens with
    with answers.at_once():
        view = opened(slug)
        lines, levels = drawing.shown(view)
        found = drawing.cast(view)
    coloured = [one for one in lines.values() if one.focus]
    assert 3 <= len(coloured) + sum(one.focus for one in levels) <= 4
    assert found.own is not None
    assert found.printed is not None
    assert found.none is not None
    assert len({one.style.colour for one in coloured}) == len(coloured)


def test_the_column_without_proof_holds_the_authors_program_that_the_story_tells(monkeypatch):
    """What the sentence beside the curve says of each way stands in the curve, named."""
    monkeypatch.setattr(shipped, "FOLDER", REFERENCE / "defaults")
    with answers.at_once():
        view = opened("pcdbn")
        told = defaults.layout("pcdbn").story(view).said
        lines, _ = drawing.shown(view)
    said = {
        one.name: 100.0 * one.middle[one.at(view.budget)] for one in lines.values() if one.focus
    }
    for way, name in (("the authors' program", "pCDBN, authors' program: no proof"),
                      ("the printed noise", "pCDBN, as printed: no proof")):  # fmt: skip
        assert f"{way} {said[name]:.0f}" in told, (told, said)


def test_a_page_names_its_best_rival_where_its_own_method_is_best(monkeypatch):
    monkeypatch.setattr(shipped, "FOLDER", REFERENCE / "defaults")
    with answers.at_once():
        view = opened("lvq")
        lines, _ = drawing.shown(view)
        told = panels.result(view)
    said = r"privacy costs .* with private GLVQ; GMLVQ costs \d+ against GMLVQ without privacy\."
    assert re.search(said, told), told
    assert any(one.focus and one.label.startswith("GMLVQ, private") for one in lines.values())


def test_a_colour_belongs_to_a_method_for_the_whole_app():
    paper, jobs = catalog()["survival"], defaults.opening("survival")
    part = replace(paper, methods=tuple(one for one in paper.methods if one.name == "dp_gd"))
    assert cast.look(part, jobs["dp_gd"]) == cast.look(paper, jobs["dp_gd"])
    own = [cast.look(paper, jobs[name]).colour for name in ("out_pert", "out_pert:paper")]
    assert own == list(SERIES[:2])


def test_points_stand_where_they_are_proved_or_in_the_column():
    ground = proof.Ground((0.1, 10.0), (0.5, None), by_proof=True)
    there = ground.places((1.0, 2.0), (0.5, None))
    assert there[0] == 0.5
    assert there[1] == ground.column
    assert ground.column is not None
    assert ground.end > ground.column > 10.0
    claimed = proof.Ground((0.1, 10.0), (0.5, None), by_proof=False)
    assert claimed.places((1.0, 2.0), (0.5, None)) == [1.0, 2.0]
    assert (claimed.low, claimed.end) == (ground.low, ground.end)  # nothing but points moves


@pytest.mark.parametrize(
    ("status", "dash", "filled"),
    [("proved", "solid", True), ("proved_under_assumption", "solid", False),
     ("heuristic", "dash", False), ("not_private", "dot", False)],
)  # fmt: skip
def test_a_line_shows_its_status(status: str, dash: str, filled: bool):
    one = curve("One", 0.5, status, 1.0)
    drawn = curves.utility([one], [], GAUGE, 1.0, "r", (0.1, 10.0), True).to_plotly_json()
    line = next(trace for trace in drawn["data"] if trace.get("name"))
    assert line["line"]["dash"] == dash
    assert line["marker"]["symbol"].endswith("-open") != filled
    assert line["name"].startswith("One · ")


@pytest.mark.parametrize("slug", sorted(shell.papers()))
def test_what_a_page_opens_with_needs_no_accountant(slug: str):
    """Every card of the opening comes from the answers that ship; see `pages.ui.prices`."""
    with answers.at_once():
        assert [list(prices.cards(job)) for job in defaults.opening(slug).values()]
        for job in defaults.opening(slug).values():
            prices.shared(job)


@pytest.mark.thorough
def test_an_answer_that_ships_is_the_accountants():
    """One of each kind, asked again: the file would not notice a change of the accountant."""
    job = defaults.opening("pcdbn")["psgd"]
    spec = job.spec().replace(epsilon=8.0)
    before = job.entry().guarantee(spec, 1797, "a record").epsilon_proved
    event = job.entry().cost(spec, 1797, job.entry().steps(spec, 1797))
    key = accounting._Key(event)
    again = accounting._answer(key, spec.delta, "add_or_remove_one", False)
    tight = accounting._answer(key, spec.delta, "add_or_remove_one", True)
    assert before == pytest.approx(again, rel=1e-9) or before == pytest.approx(tight, rel=1e-9)


def spoken(source: str) -> str:
    """Every text of a module that a user may read: all of more than one word but docstrings."""
    tree = ast.parse(source)
    bare = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    texts = [node for node in ast.walk(tree) if isinstance(node, ast.Constant)]
    said = [node.value for node in texts if isinstance(node.value, str) and id(node) not in bare]
    return " | ".join(text for text in said if " " in text).lower()


def forbidden(text: str) -> list[str]:
    """The words in a text that the pages avoid."""
    return [word for word in FORBIDDEN if re.search(rf"\b{word}\b", text)]


def test_no_text_has_a_word_that_pages_avoid():
    """Errors, captions, help and cards too, whether or not a page shows them when it opens."""
    said = {path: forbidden(spoken(path.read_text(encoding="utf-8"))) for path in SOURCES}
    assert {path.relative_to(ROOT).as_posix(): words for path, words in said.items() if words} == {}


def test_a_word_to_avoid_is_seen_in_a_text_and_not_in_a_docstring():
    assert forbidden(spoken('def f():\n    "Whoever asks."\n    return "whoever asks"')) == [
        "whoever"
    ]
    assert not forbidden(spoken('def f():\n    "Whoever asks."\n    return "who asks"'))


def identifiers(slug: str) -> set[str]:
    """Names of the code that must not be read on the page of a paper."""
    paper = catalog()[slug]
    names = {entry.name for entry in paper.methods} | set(knobs(paper.spec))
    for setting in knobs(paper.spec).values():
        if isinstance(setting, Choice):
            names |= set(setting.options)
    shown = " ".join(entry.label.lower() for entry in paper.methods)
    return {name for name in names if "_" in name or name.endswith(("mlp", "cnn"))} - {shown}


@pytest.mark.parametrize("slug", sorted(shell.papers()))
@pytest.mark.thorough
def test_a_page_uses_the_words_of_people(visit: Open, slug: str, home: Path):
    text = texts(pages := tour(visit, slug))
    text += " ".join(one["alt"] for page in pages for one in plots(page))
    for page in pages:
        for kind in (
            page.selectbox,
            page.radio,
            page.select_slider,
            page.segmented_control,
            page.button,
        ):
            text += " ".join(f" {one.label} {getattr(one, 'help', '')} " for one in kind)
    words = text.lower()
    assert not forbidden(words)
    raw = {name for name in identifiers(slug) if re.search(rf"\b{re.escape(name)}\b", words)}
    assert not raw


def test_below_the_chart_stands_what_the_shading_is_and_the_rest_on_request(
    visit: Open, monkeypatch: pytest.MonkeyPatch
):
    shipping(monkeypatch)
    (one,) = (text for text in visit("lvq").caption if "Dark band" in text.value)
    assert "Light band" in one.value
    assert "Ring: what is proved at the slider's ε." in one.value
    assert proof.LEGEND not in one.value
    assert "Solid and filled" in one.help


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("slug", "every", "told"),
    [
        ("pcdbn", False, ("Band: the range of all releases (5 repetitions).",)),
        ("lvq", False, ("Dark band: where the median is", "Light band: a single release")),
        ("survival", True, (measured.BANDS, "Light band: a single release")),
    ],
)
def test_the_caption_tells_the_bands_that_are_drawn(
    slug: str, every: bool, told: tuple[str, ...], monkeypatch
):
    """Some of all lines of survival have few repetitions, so that their bands are ranges."""
    monkeypatch.setattr(shipped, "FOLDER", REFERENCE / "defaults")
    with answers.at_once():
        caption = drawing.bands(replace(opened(slug), every=every))
    assert all(text in caption for text in told)
    assert ("Light band" in caption) == (len(told) > 1)


def test_the_caption_tells_both_bands_of_a_line_of_few_and_of_more_repetitions(
    monkeypatch: pytest.MonkeyPatch,
):
    """While a whole run trains, the slider's budget has ten repetitions and all others one."""
    one = replace(line((1.0, 2.0), (0.9, 0.98)), count=(10, 1))
    monkeypatch.setattr(drawing, "shown", lambda view: ({"dpsgd": one}, []))
    caption = drawing.bands(SimpleNamespace(method="dpsgd", by=""))  # type: ignore[arg-type]
    assert measured.BANDS in caption
    assert "range of all releases (10" not in caption


def test_the_caption_says_how_many_releases_fail_at_a_cross(monkeypatch):
    monkeypatch.setattr(shipped, "FOLDER", REFERENCE / "defaults")
    with answers.at_once():
        view = opened("lvq")
        lines, _ = drawing.shown(view)
        told = drawing.bands(view)
    shares = [
        share for one in lines.values() if one.focus for share in one.failed if 0.1 <= share <= 0.9
    ]
    assert f"Cross: up to {100 * max(shares):.0f}\u00a0% of releases fail there." in told


@pytest.mark.parametrize("slug", list(catalog()))
def test_no_two_methods_of_a_paper_look_alike_and_none_like_a_failing_release(slug: str):
    seen: dict[tuple[str, str], str] = {}
    for job in defaults.opening(slug).values():
        look = cast.look(catalog()[slug], job)
        assert look.marker != curves.FAILS
        if look.colour != cast.MUTED:
            assert seen.setdefault((look.colour, look.marker), job.method) == job.method
