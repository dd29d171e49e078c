"""What attacks on a method have shown: a lower bound on the budget that it really spends."""

import math
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np
import streamlit as st
from numpy.typing import NDArray

from engine.audit.bounds import Scores
from engine.audit.measures import CHOSEN
from engine.audit.tradeoff import curves
from engine.audit.words import IF_AS_DECLARED, outcome, permitted, power
from engine.core.errors import ExplorerError
from engine.privacy.guarantee import Guarantee
from engine.runs import audits
from engine.runs.job import Job, request
from engine.service.client import Run
from pages.ui import words
from pages.ui.charts import attack as charts
from pages.ui.charts.figure import by_row
from pages.ui.jobs import clock, record
from pages.ui.jobs import submit as asking
from pages.ui.jobs.live import BUDGET, HALTED
from pages.ui.jobs.sentences import share
from pages.ui.jobs.submit import look
from pages.ui.kit.access import board, troubles
from pages.ui.kit.access import sentence as sentenced
from pages.ui.kit.chart import Picture, chart, picture, show
from pages.ui.kit.shared import once
from pages.ui.paper import met
from pages.ui.paper.view import Page, View

TITLE = "Attack"
SEES = "This attacker sees everything: every release of a training, step by step."
RULER, OWN_RULER = "attack.ruler", "attack.own"
"""End the key of the chart of what is claimed, proved and attacked, by what ships and by you."""
NOT_YET = "not yet"
NOTHING = "no loss shown"
HALF = " The line is drawn from the half of the trainings that the score was not chosen on."
REGION = 0.95
"""How often the region around the attack's line holds the true one."""
TRAININGS = 1000
"""Trainings with the person, and as many without."""
Arrays = Mapping[str, NDArray[Any]]


@dataclass(frozen=True)
class Mark:
    """A bound that an attack has shown.

    Attributes:
        bound: The budget that is spent at least.
        shipped: Whether the attack came with the app.
        by_curve: Whether it needs the noise to be of the declared kind, or that is not known.
    """

    bound: float
    shipped: bool = False
    by_curve: bool = True

    @property
    def said(self) -> str:
        """The bound in words."""
        return words.at_least(self.bound) if self.bound > 0.0 else NOTHING


def attacked(view: View) -> Mark | None:
    """The budget that an attack has shown the method to spend; None before any attack."""
    return found(view.watched[view.method].job, view.budget)


def found(trained: Job, budget: float) -> Mark | None:
    """The same of any job at a budget."""
    with suppress(ExplorerError):
        wanted = on(trained, budget)
        return None if wanted is None else _mark(wanted, look(wanted))
    return None


def _mark(job: Job, run: Run | None) -> Mark | None:
    """The bound of the user's own attack, or of one that ships for this very setting.

    An own attack that has not come to its end counts once it has shown more than the shipped one.
    """
    bound, row = _bound(run), audits.fitting(job)
    ships = None if row is None else row.epsilon_attacked
    ended = run is not None and run.state == "completed"
    if bound is not None and (ended or ships is None or bound > ships):
        return Mark(bound, by_curve=_by_curve(run))
    if row is None or ships is None:
        return None
    return Mark(ships, shipped=True, by_curve=row.by_curve)


def section(page: Page, view: View) -> None:
    """What an attack on the method that is looked at has shown, and a way to start one."""
    st.subheader(TITLE)
    guarantee = view.guarantee()
    with troubles():
        wanted = job(view)
        if wanted is None:
            st.markdown(nothing(view, guarantee))
            return
        st.caption(SEES)
        ticking = (run := look(wanted)) is not None and run.active
        st.fragment(_body, run_every=clock.pace() if ticking else None)(
            page, view, guarantee, wanted, ticking
        )
        mark = _mark(wanted, look(wanted))
        met.show(wanted, None if mark is None else mark.bound)


def nothing(view: View, guarantee: Guarantee) -> str:
    """Why there is no attack on this method."""
    if guarantee.epsilon_claimed is None and guarantee.epsilon_proved is None:
        return f"Nothing to attack: {view.entry.label} states no finite ε."
    return f"No attack on {view.entry.label} is available."


def job(view: View) -> Job | None:
    """The audit of the method at this setting; None where there is nothing to attack."""
    return on(view.watched[view.method].job, view.budget)


def on(job: Job, budget: float) -> Job | None:
    """The audit of a job's method at a budget; None where there is nothing to attack."""
    if not job.entry().witness:
        return None
    values = {**job.values, BUDGET: budget}

    def made() -> Job:
        seeds = range(TRAININGS)
        return request(job.paper, job.method, job.dataset, values, seeds=seeds, audit=True)

    return once(("attack", job.id, budget), made)


def _bound(run: Run | None) -> float | None:
    """The bound so far; None before there is one."""
    if run is None or not (run.done or run.finished):
        return None
    bound = float(board().results(run).gauges["epsilon_attacked"][0])
    return bound if math.isfinite(bound) else None


def _by_curve(run: Run | None) -> bool:
    """Whether a bound came from the noise's own curve; true as long as that is not known."""
    if run is None or run.state != "completed":
        return True
    arrays = record.arrays(run)
    return "by_curve" not in arrays or bool(arrays["by_curve"][0])


def _body(page: Page, view: View, guarantee: Guarantee, job: Job, ticking: bool) -> None:
    """The attack as it stands now; drawn again and again while it runs."""
    with troubles():
        run = look(job)
        if ticking != (run is not None and run.active):
            st.rerun()  # the clock starts or stops with the work
        _controls(view, job, run)
        mark = _mark(job, run)
        if mark is None:
            return
        st.markdown(told(guarantee, mark))
        key = f"{page.prefix}.{RULER if mark.shipped else OWN_RULER}"
        show(key, ruler(guarantee, mark.bound, view.budget))
        if mark.shipped:
            st.caption(origin(job))
        elif run is not None and run.state == "completed":
            _outcome(page, view, guarantee, record.arrays(run))


def told(guarantee: Guarantee, mark: Mark) -> str:
    """What the bound means beside the card, and on what it rests."""
    rests = f" {IF_AS_DECLARED}" if mark.bound > 0.0 and mark.by_curve else ""
    return f"{comparison(guarantee, mark.bound)}{rests}"


def ruler(guarantee: Guarantee, bound: float, budget: float) -> Picture:
    """What is claimed, proved and attacked on one axis."""
    claimed, proved = guarantee.epsilon_claimed, guarantee.epsilon_proved
    known = {"Claimed": claimed, "Proved": proved, "Attacked, at least": bound}
    rows = [{"": name, "ε": value} for name, value in known.items()]
    figure = charts.ruler(claimed, proved, bound)
    return picture(figure, ruler_text(guarantee, bound), rows, budget)


def origin(job: Job) -> str:
    """How often a shipped attack was right, what a perfect one would show, and that it ships."""
    row = audits.fitting(job)
    assert row is not None  # its bound was shown just now
    may = permitted(row.epsilon_proved is not None, row.allowed, row.exact, row.delta)
    parts = [f"{outcome(2 * row.replicas, row.right, row.judged)}; {may}. Shipped with the app."]
    if could := power(row.epsilon_perfect, row.replicas, None):
        parts.append(could)
    if row.epsilon_first is not None:
        first = words.at_least(row.epsilon_first)
        parts.append(f"A first attack showed ε of {first}, above the proof, and was repeated.")
    if row.outdated:
        parts.append("Computed by an earlier version. Run your own attack to update.")
    return " ".join(parts)


def _controls(view: View, job: Job, run: Run | None) -> None:
    """Starts, stops or repeats the attack, and says how far it is."""
    key = f"{view.paper.slug}.attack"
    if run is None:
        replaced = view.guarantee().relation == "replace_one"
        other = "with another in its place" if replaced else "without it"
        st.markdown(
            f"Your own attack runs the method {TRAININGS:,} times with one extreme record in the "
            f"data and {TRAININGS:,} times {other}, and guesses which is which.{_reason(job)}"
        )
        if st.button("Attack this", icon=":material/swords:", key=f"{key}.start"):
            asking.restart([job], {})
            st.rerun()
    elif run.active:
        st.progress(share(run), "Attack under way…")
        if st.button("Stop", key=f"{key}.stop"):
            asking.stop([job])
            st.rerun()
    elif run.state in HALTED:
        st.markdown(f"The attack did not finish. {sentenced(run.error)}")
        if st.button("Attack again", key=f"{key}.again"):
            asking.restart([job], {})
            st.rerun()


def _reason(job: Job) -> str:
    """Why none ships for this setting, where somebody tried."""
    row = audits.fitting(job)
    return f" No attack ships: {row.reason}" if row is not None and row.reason else ""


def comparison(guarantee: Guarantee, bound: float) -> str:
    """What the bound means beside the card, in one sentence; red where something is broken."""
    if bound == 0.0:
        return "The attack has shown no loss of privacy yet (95\u00a0% confidence)."
    least = f"The attack shows that at least ε = **{words.least(bound)}** is spent"
    if guarantee.epsilon_proved is not None and bound > guarantee.epsilon_proved:
        why = (
            "Chance does this in at most one attack of twenty. If an attack with other settings "
            "does it too, it is an error in the program: please report it with this address."
        )
        if guarantee.status == "proved_under_assumption":
            why = "The proof rests on an assumption of the card, which these two data sets break."
        above = f"above the proved {words.number(guarantee.epsilon_proved)}"
        return f":red[:material/error: {least}, {above}.] {why}"
    if guarantee.epsilon_claimed is not None and bound > guarantee.epsilon_claimed:
        return (
            f":red[:material/warning: {least}, above the claimed "
            f"{words.number(guarantee.epsilon_claimed)}.] "
            "The claim does not hold at these settings."
        )
    return f"{least} (95\u00a0% confidence). It does not contradict the card."


def ruler_text(guarantee: Guarantee, bound: float) -> str:
    """The ruler in one sentence, for screen readers."""
    known = {"claimed": guarantee.epsilon_claimed, "proved": guarantee.epsilon_proved}
    parts = [f"{name} {words.number(value)}" for name, value in known.items() if value is not None]
    parts.append(f"attacked {words.at_least(bound)}")
    return f"Privacy budget ε: {words.listed(parts)}."


def _outcome(page: Page, view: View, guarantee: Guarantee, arrays: Arrays) -> None:
    """The sentences, the two histograms and the trade-off of a finished attack."""
    text = sentence(guarantee, arrays)
    st.markdown(f"{text} {reach(arrays)}".rstrip())
    without, present = (np.asarray(arrays[name], float) for name in ("without", "present"))
    rows = by_row({"Without": without, "With": present})
    key, budget = f"{page.prefix}.attack", view.budget
    chart(f"{key}.scores", charts.histograms(without, present), text, rows, budget)
    lines, half = _tradeoff(arrays)
    made, said = charts.tradeoff(*lines.values()), "Misses of the attack by its false alarms."
    chart(f"{key}.tradeoff", made, said, by_row(lines), budget)
    st.caption(
        f"The score is the {_statistic(arrays)}. A private method keeps the attack's line above "
        f"the dashed one; the dotted line is a blind guess.{HALF if half else ''}"
    )


def _tradeoff(arrays: Arrays) -> tuple[Arrays, bool]:
    """The lines of the trade-off, and whether they are of half of the trainings.

    A score that was chosen as the best of several is drawn by the half that it was not chosen on:
    on the other half its region would hold less often than it says.
    """
    names = ("alarms", "misses", "misses_low", "misses_high", "misses_proved")
    lines = {name: np.asarray(arrays[name][0], float) for name in names}
    if _judged(arrays) >= 2 * len(arrays["present"]):
        return lines, False
    scores = Scores(*(np.asarray(arrays[name], float) for name in ("without", "present")))
    return curves(scores.half(1), REGION, lambda alarms: lines["misses_proved"]), True


def _judged(arrays: Arrays) -> int:
    """The trainings that the score was judged on; 0 where that was not kept."""
    return int(arrays["judged"][0]) if "judged" in arrays else 0


def sentence(guarantee: Guarantee, arrays: Arrays) -> str:
    """How often the attack was right, and how often the proof or the claim lets it be."""
    right, allowed = float(arrays["right"][0]), float(arrays["allowed"][0])
    exact = "exact" in arrays and bool(arrays["exact"][0])
    may = permitted(guarantee.epsilon_proved is not None, allowed, exact, guarantee.delta)
    return f"{outcome(2 * len(arrays['present']), right, _judged(arrays))}; {may}."


def reach(arrays: Arrays) -> str:
    """How far the attack's witness reaches; empty where an earlier version did not keep it."""
    known = float(arrays["reach"][0]) if "reach" in arrays else None
    return power(None, len(arrays["present"]), known)


def _statistic(arrays: Arrays) -> str:
    """The name of the score that was chosen."""
    named = [name.removeprefix(CHOSEN) for name in arrays if name.startswith(CHOSEN)]
    return named[0] if named else "best of several"
