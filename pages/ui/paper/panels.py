"""The parts that every paper's page has: utility curve, readings, guarantees."""

import math
from collections.abc import Iterable, Sequence

import numpy as np
import streamlit as st

from engine.core.errors import RequestError
from engine.core.kept import Declared, released
from pages.ui import words
from pages.ui.charts import curves, lines, measured, notes
from pages.ui.charts.dots import dots
from pages.ui.charts.figure import Figure
from pages.ui.charts.lines import Line
from pages.ui.charts.measured import Curve
from pages.ui.charts.proof import LEGEND
from pages.ui.jobs.live import BUDGET
from pages.ui.kit import card, glossary
from pages.ui.kit.access import troubles
from pages.ui.kit.chart import Picture, chart, picture
from pages.ui.kit.labels import in_words
from pages.ui.kit.late import DESK
from pages.ui.kit.shared import once
from pages.ui.messages import tr
from pages.ui.paper import attack, ceiling, drawing, finding, former, kinds, whole
from pages.ui.paper.choice import PROOF_FIRST, measures
from pages.ui.paper.drawing import drawn
from pages.ui.paper.view import Page, View

CHOOSE = "Methods marked *not private* are for comparison only."
TERMS = ("Claimed", "Proved", "Attacked", "Record", "Neighbours", "Failure probability δ")
"""What the cards speak of, with its place in the glossary."""
RAW = ":material/visibility_lock: Computed from the raw data, for comparison only. Not private."
READINGS = "Every measure at this budget"
CURVE = "utility"
"""Ends the key of the cost curve."""
FAILING = "Releases that fail"
WHY_FAILING = (
    "A release fails if it is no better than guessing. The cost curve has a cross where one in ten "
    "or more fails: the median there hides that some releases work and others do not."
)
PAUSE = 1.0
"""Seconds between two looks whether the accountant has answered."""


def raw_note(arrays: Declared, names: Iterable[str], without_noise: bool = False) -> str:
    """The mark of a chart that draws some of a run's arrays; empty where all are released.

    Args:
        arrays: What the paper declares.
        names: The arrays that are drawn.
        without_noise: Whether those of a method without noise are drawn beside them.
    """
    raw = without_noise or not all(released(arrays, name) for name in names)
    return f" {RAW}" if raw else ""


def meaning(view: View) -> None:
    """What the chosen budget means, in a sentence and its picture."""
    said, count = odds(view)
    st.markdown(said)
    if count is not None:
        st.image(dots(count), width="stretch", alt=filling(count))


def odds(view: View) -> tuple[str, int | None]:
    """What the chosen budget means, and how many dots it fills; None where it limits no guess."""
    guarantee = view.guarantee()
    chance = ceiling.share(view)
    if chance is None:
        return words.odds(None, 0.0, guarantee.relation, guarantee.unit), None
    epsilon, delta = guarantee.epsilon_proved, guarantee.delta
    said = words.odds(epsilon, delta, guarantee.relation, guarantee.unit, chance)
    return said, words.filled(chance)


def filling(count: int) -> str:
    """The picture of so many dots, in words."""
    return tr("{dots} of 100 dots are filled, 50 of them in grey.").format(dots=count)


def work_out(view: View, budgets: Sequence[float]) -> None:
    """Asks for the cards that the curve still lacks; the page is drawn again when they are there.

    The method that is looked at comes first, and so does the budget under the slider. A method that
    nobody has trained has no curve: only its card is worked out, once nothing trains. A method
    whose price fails is named.
    """
    busy = any(one.active for one in view.watched.values())

    def drawn(name: str) -> bool:
        return any(part.run is not None for part in view.watched[name].every)

    names = sorted(view.watched, key=lambda name: (name != view.method, not drawn(name)))
    lacking = [
        view.asked(name, epsilon)
        for name in names
        for epsilon in sorted(budgets, key=lambda one: one != view.budget)
        if view.spends(name)
        and (drawn(name) or (epsilon == view.budget and not busy))
        and view.known(name, epsilon) is None
        and view.refused(name, epsilon) is None
    ]
    _tell_refused(view, names, budgets)
    if lacking and (asked := DESK.ask(lacking)):
        st.fragment(_working, run_every=PAUSE)(view, asked)


def _tell_refused(view: View, names: Sequence[str], budgets: Sequence[float]) -> None:
    """Says why methods have no guarantee, once for each."""
    for name in names:
        if view.spends(name):
            found = ((at, view.refused(name, at)) for at in budgets)
            at, error = next((one for one in found if one[1] is not None), (0.0, None))
            if error is not None:
                with troubles():
                    raise RequestError(f"{error} (at ε = {at:g})") from error


def _working(view: View, asked: set[str]) -> None:
    """Says how many cards are still to come; draws the page again for its own, and at the end."""
    lacked = view.known(view.method, view.budget) is None
    left = asked & DESK.look()
    if not left or (lacked and view.known(view.method, view.budget) is not None):
        st.rerun()
    st.caption(f":material/rule: Working out what is proved: {len(left)} points to go.")


def result(view: View) -> str:
    """The page's finding at the chosen budget, once every line that it compares is there."""
    if said := former.training(view):
        return said

    def made() -> str:
        said = drawing.told(view), view.measured, view.how, view.data, view.budget
        return finding.finding(*said, view.watched[view.method].label)

    return once(("result", view.gauge, view.method, view.budget, view.signature), made)


def marked(view: View) -> str:
    """The finding, with a mark where nobody's data are behind it."""
    return f"{result(view)}{words.simulated(view.data.simulated)}"


def curve(page: Page, view: View, *, fit: bool) -> Picture:
    """The utility curve as a picture.

    Args:
        page: The page.
        view: What it shows.
        fit: Whether its height follows what the window has left.
    """
    by_proof = view.by == PROOF_FIRST
    revision = f"{view.gauge}/{view.watched[view.method].job.id}"
    move = "proof" if by_proof else "claim"
    at = placed(view)

    def made() -> Picture:
        gauge, chance = view.measured, view.how.guessed(view.data)
        by_method, levels = drawing.shown(view)
        lines = list((by_method if at is None else at.lines).values())
        grid = [float(value) for value in page.offers.knobs[BUDGET].values]
        bounds = (min(grid), max(grid)) if at is None else at.bounds
        up = view.up or drawing.heights(view)
        figure = curves.utility(
            lines, levels, gauge, view.budget, revision, bounds, by_proof or at is not None,
            by_method[view.method].label if view.method in by_method else "",
            chance, up, at.label if at else "",
        )  # fmt: skip
        for name, named in page.layout.landmarks.items():
            if name in by_method:
                notes.mark(figure, by_method[name], named, up, by_proof)
        if at is not None:
            said, rows = at.reading(view.budget), at.rows(gauge)
            return picture(figure, said, rows, view.budget, fit=fit, move=at.label)
        now = [one for one in lines if one.before is None]
        still = [one for one in levels if one.before is None]
        said = in_words(now, still, gauge, view.budget, view.how.errors)
        rows = curves.rows(now, still, gauge.label)
        return picture(figure, said, rows, view.budget, fit=fit, move=move)

    former = tuple((name, one.job.id, len(one.results.seeds)) for name, one in view.former.items())
    shown = view.method, view.budget, view.every, view.up, view.measure, view.signature
    return once(("utility", page.prefix, revision, *shown, fit, move, former), made)


def placed(view: View) -> kinds.Placed | None:
    """The lines of the curve placed by the chosen measure; None for the budget itself."""
    if view.measure == kinds.BUDGET:
        return None

    def made() -> kinds.Placed:
        lines = {name: one for name, one in drawing.shown(view)[0].items() if one.before is None}
        asked = {name: kinds.Asked(view.watched[name].job) for name in lines}
        return kinds.placed(asked, lines, view.measure)

    signature = view.measure, view.gauge, view.method, view.every, view.signature
    with st.spinner("Working out the measures…", show_time=True):
        return once(("placed", *signature), made)


def caption(view: View) -> None:
    """What the shading is; on request, how axis and lines are to be read."""
    note = kinds.note(view.proved, view.measure)
    st.caption(f"{_shading(view)}{note}".strip(), help=glossary.linked(_key(view)))


def reading(view: View) -> str:
    """How to read the chart: its axis, its lines and its bands."""
    return f"{_key(view)} {_shading(view)}"


def _key(view: View) -> str:
    """What is measured, and what the lines' looks mean."""
    return f"{view.measured.help} {drawing.axis(view)}{LEGEND}"


def _shading(view: View) -> str:
    """The bands, and what the points are computed from."""
    at = placed(view)
    placing = "" if at is None else f" {at.caption(view.budget)}"
    return f"{drawing.bands(view)}{placing}{'' if view.measured.released else f' {RAW}'}"


def readings(view: View) -> None:
    """Every gauge of the method that is looked at, beside the same without privacy."""
    table = every(view)
    st.table(table, border="horizontal")
    st.caption(f"{RAW}{words.sideways(len(table))}")
    st.markdown(glossary.linked(meanings(view)))


def every(view: View) -> dict[str, list[str]]:
    """The columns of that table."""
    names = list(measures(view.paper).items())
    taken = [drawn(view, name) for name, _ in names]
    table = {
        "Measured": [gauge.label for _, gauge in names],
        f"{view.entry.label}, ε = {view.budget:g}": [
            words.amount(measured.medians(lines, view.budget).get(view.method, math.nan), gauge)
            for (lines, _), (_, gauge) in zip(taken, names, strict=True)
        ],
    }
    for name in dict.fromkeys(level.label for _, levels in taken for level in levels):
        values = [{one.label: one.value for one in levels} for _, levels in taken]
        table[name] = [
            words.amount(value.get(name, math.nan), gauge)
            for value, (_, gauge) in zip(values, names, strict=True)
        ]
    return table


def meanings(view: View) -> str:
    """What each gauge is, as a list."""
    known = measures(view.paper).values()
    return "\n".join(f"- **{gauge.label}**: {gauge.help}" for gauge in known)


def guarantees(page: Page, view: View) -> None:
    """The whole card of the method that is looked at, what attacks show, and all methods' marks."""
    left, right = st.columns([5, 6], gap="large")
    with left:
        guarantee = view.guarantee()
        most = ceiling.share(view)
        card.show(view.watched[view.method].label, guarantee, most)
        whole.fold(page, view)
    with right:
        meaning(view)
        attack.section(page, view)
    names = list(view.watched)
    cards = [view.guarantee(name) for name in names]
    labels = [view.watched[name].label for name in names]
    st.subheader("Every method at this budget")
    st.table(card.lines(labels, cards), border="horizontal")
    st.caption(f"{CHOOSE} Terms: {words.listed([glossary.link(term) for term in TERMS])}.")
    others = st.expander(
        "Every method's card", icon=":material/badge:", on_change="rerun",
        key=f"{view.paper.slug}.cards",
    )  # fmt: skip
    if others.open:
        with others:
            for name, label, one in zip(names, labels, cards, strict=True):
                if name != view.method:
                    card.show(label, one, ceiling.share(view, name))


def failing(view: View) -> None:
    """The share by privacy budget, for the lines in colour of which a part fails somewhere."""
    curves, _ = drawing.shown(view)
    some = [one for one in curves.values() if one.focus and one.before is None and any(one.partly)]
    if not some:
        return
    st.subheader(FAILING, anchor=False)
    said = _failed(some, view.budget)
    st.markdown(said)
    drawn = [_share(one) for one in some]
    chart(f"{view.paper.slug}.failing", _figure(drawn), said, lines.rows(drawn, "ε"), view.budget)
    st.caption(WHY_FAILING)


def _failed(some: Sequence[Curve], budget: float) -> str:
    """How many releases of each fail at the budget."""
    at = [(one.label, one.failed[i]) for one in some if (i := one.at(budget)) is not None]
    counts = [f"{label} **{100.0 * share:.0f}**" for label, share in at]
    return f"At ε = {budget:g}, releases out of 100 that fail: {words.listed(counts)}."


def _share(one: Curve) -> Line:
    share = 100.0 * np.array(one.failed)
    return Line(one.label, one.style, np.array(one.epsilon), share, share, share)


def _figure(drawn: Sequence[Line]) -> Figure:
    titles = "", f"{FAILING} [%]"
    made = lines.lines(drawn, titles, across="budgets", range=[-2.0, 102.0])
    made.layout["uirevision"] = "failing"
    return made
