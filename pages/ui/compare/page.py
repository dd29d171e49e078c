"""The Compare page: runs of any papers on one task, on one chart of utility and privacy."""

import math
from collections.abc import Callable, Mapping
from dataclasses import replace

import streamlit as st

from datasets import own
from engine.core.gauges import Gauge
from pages.ui import words
from pages.ui.charts import curves, measured, proof
from pages.ui.charts.measured import Curve, Level
from pages.ui.compare import answers, asked, candidates, difference, library, recorded
from pages.ui.compare.candidates import Candidate
from pages.ui.jobs.runs_table import MOST
from pages.ui.kit import address, card, shell, visitors
from pages.ui.kit.access import client, troubles
from pages.ui.kit.card import ICONS
from pages.ui.kit.chart import chart
from pages.ui.kit.offers import Offer, figure, names
from pages.ui.paper import foot, kinds
from pages.ui.paper.choice import BY, FEW_LINES, PROOF_FIRST
from pages.ui.paper.page import BY_HELP
from pages.ui.paper.panels import RAW

PAGE, PREFIX = "pages/compare.py", "compare"
INTRODUCTION = (
    "One line for each method, of the runs that ship with the app and of your own finished runs."
)
EMPTY = "There is nothing to compare yet. Open a paper and train a method first."
FIRST, AT_MOST = 6, 10
"""Runs that are drawn at first, and at most."""
BROAD = 220
"""Pixels of a list below the chart."""
MAIN = 4
"""So many lines are in colour at first; the others are grey."""
MAIN_HELP = (
    "Main lines: four lines in colour, first those that the answer names; the others are thin and "
    "grey. All lines: every run in its colour."
)
USUAL = 1.0
"""The budget that is looked at first, or the offered one that is nearest."""
ALL = "All data sets"
RELATIONS_DIFFER = (
    "These guarantees use different definitions of neighbouring data. Replacing one record can "
    "count as removing one and adding another, so the same ε promises more where a record is "
    "replaced."
)
DATA_DIFFER = (
    "These runs use different data sets: compare the shapes of the curves, not their heights."
)
INTERVAL = "In brackets: the middle 80 % of the repetitions."
FREE = "The app treats these data as public, so the answer is exact and costs no privacy."
TABS = ("Guarantees", "Best proved", "Which ε do I need?", "Can two be told apart?")


def show() -> None:
    """Draws the page."""
    st.title("Compare", anchor=False)
    st.html(foot.STYLE + foot.BELOW_LOGO)
    with troubles():
        trained = candidates.listed([r for r in client().at_hand(MOST) if visitors.sees(r.job)])
        brought = recorded.listed(candidates.gauges(trained))
        if trained or brought:
            _draw([*trained, *brought])
        else:
            _empty()
    with troubles():
        library.show(PREFIX, brought)


def _empty() -> None:
    """What to do while there is nothing."""
    st.info(EMPTY, icon=":material/lightbulb:")
    for slug, paper in shell.papers().items():
        st.page_link(shell.script(slug), label=paper.title, icon=":material/arrow_forward:")


def _draw(comparable: list[Candidate]) -> None:
    """The question, its answer, the slider and the chart; below them what they depend on."""
    answer, moved, figure = st.container(), st.container(), st.container()
    data = _data(comparable)
    gauges = candidates.gauges(comparable)
    budgets = _budgets(comparable)
    free = [*(f"runs.{name}" for name in gauges), "by", "measure"]
    address.settle(PAGE, PREFIX, [data, _measures(gauges), budgets], free)
    at = moved.select_slider(
        "Privacy budget ε", budgets.texts, budgets.default, key=f"{PREFIX}.epsilon",
        bind="query-params",
    )  # fmt: skip
    row = st.container(horizontal=True, vertical_alignment="top")
    places = [row.container(width=BROAD) for _ in range(5)]
    dataset = str(data.value(_choose("Data set", data, places[0])))
    here = [one for one in comparable if dataset in ("", one.dataset)]
    measure = _measures({n: g for n, g in gauges.items() if any(n in o.gauges for o in here)})
    name = str(measure.value(_choose("Measured by", measure, places[1])))
    by, how = _scales(*places[2:4])
    runs = candidates.shortened(_runs(here, name, dataset))
    if not runs:
        st.info("Choose at least one run.", icon=":material/lightbulb:")
        return
    epsilon = float(budgets.value(str(at)))
    lines, levels = candidates.drawn(runs, name, epsilon)
    with answer:
        best = _answer(runs, lines, gauges[name], data.texts[data.values.index(dataset)], epsilon)
    with places[4]:
        lines = _focused(runs, lines, best)
    with figure:
        _chart(runs, lines, levels, name, gauges[name], epsilon, by, how)
    kinds.note([one.guarantee(epsilon) for one in runs.values() if one.spends], how)
    if how == kinds.BUDGET:
        st.caption(f"{proof.LEGEND} {gauges[name].help} {'' if gauges[name].released else RAW}")
    _tabs(runs, lines, name, gauges[name], epsilon)


def _answer(
    chosen: dict[str, Candidate], lines: dict[str, Curve], gauge: Gauge, data: str, epsilon: float
) -> tuple[str, ...]:
    """The question of the page, and what the chosen runs answer at a budget; names the best."""
    st.subheader(f"Which proved method is best on {data} at each ε?", anchor=False)
    rows = answers.frontier(chosen, lines, gauge)
    at = next((row for row in reversed(rows) if row.epsilon <= epsilon), None)
    if at is None:
        st.markdown(f"For none of these runs a finite ε of at most {figure(epsilon)} is proved.")
        return ()
    others = " At some other budgets the answer differs: see *Best proved*."
    st.markdown(f"At ε = {figure(epsilon)}: {at.said}.{others if len(rows) > 1 else ''}")
    return at.names


def _focused(
    chosen: dict[str, Candidate], lines: dict[str, Curve], best: tuple[str, ...]
) -> dict[str, Curve]:
    """The same lines, the best and the papers' own in colour, unless all are asked for."""
    if len(lines) <= MAIN:
        return lines
    texts = (FEW_LINES, f"All {len(lines)} lines")
    shown = st.segmented_control(
        "Lines", texts, default=FEW_LINES, required=True, help=MAIN_HELP, key=f"{PREFIX}.lines",
    )  # fmt: skip
    own = sorted(lines, key=lambda name: chosen[name].place)
    main = list(dict.fromkeys([*best, *own]))[:MAIN] if shown == FEW_LINES else lines
    return {name: replace(one, focus=name in main) for name, one in lines.items()}


def _data(comparable: list[Candidate]) -> Offer:
    """The data sets, the one with most methods first, and all of them together."""
    keys = candidates.datasets(comparable)
    offer = names("data", keys)
    return Offer("data", (*offer.texts, ALL), (*keys, ""), offer.default)


def _measures(gauges: Mapping[str, Gauge]) -> Offer:
    """The measures, by what the papers call them; of two with one name, the first keeps it."""
    texts: dict[str, str] = {}
    for name, gauge in gauges.items():
        texts.setdefault(gauge.label, name)
    return Offer("gauge", tuple(texts), tuple(texts.values()), next(iter(texts)))


def _choose(title: str, offer: Offer, place: st.delta_generator.DeltaGenerator) -> str:
    """One of the offered texts."""
    key = f"{PREFIX}.{offer.field}"
    if st.session_state.get(key) not in (None, *offer.texts):
        del st.session_state[key]  # what was chosen is not measured on these data
    return str(place.selectbox(title, offer.texts, key=key, bind="query-params"))


def _budgets(comparable: list[Candidate]) -> Offer:
    """Every budget that one of the runs was trained with."""
    values = tuple(sorted({value for one in comparable for value in one.budgets})) or (USUAL,)
    if len(values) == 1:
        values = (values[0], 2.0 * values[0])  # a slider needs two ends
    nearest = min(values, key=lambda value: abs(value - USUAL))
    return Offer("epsilon", tuple(map(figure, values)), values, figure(nearest))


def _runs(here: list[Candidate], gauge: str, dataset: str) -> dict[str, Candidate]:
    """The runs to draw; first the latest of each method."""
    kept = [one for one in here if gauge in one.gauges]
    able: dict[str, Candidate] = {}
    for data in dict.fromkeys(one.dataset for one in kept):
        named = candidates.named([one for one in kept if one.dataset == data])
        end = "" if dataset else f", {words.short(data)}"
        able |= {f"{name}{end}": one for name, one in named.items()}
    texts = st.multiselect(
        "Runs", list(able), candidates.first(able, gauge, FIRST), key=f"{PREFIX}.runs.{gauge}",
        max_selections=AT_MOST, bind="query-params", help=INTRODUCTION,
    )  # fmt: skip
    return {text: able[text] for text in texts}


def _scales(
    left: st.delta_generator.DeltaGenerator, right: st.delta_generator.DeltaGenerator
) -> tuple[str, str]:
    """How the horizontal axis is to be read: whose ε, and as which measure of privacy."""
    by = left.segmented_control(
        "Show ε as", BY, default=PROOF_FIRST, required=True, help=BY_HELP, key=f"{PREFIX}.by",
        bind="query-params",
    )  # fmt: skip
    how = right.selectbox(
        kinds.TITLE, kinds.OFFERED, key=f"{PREFIX}.measure", help=kinds.HELP,
        bind="query-params",
    )  # fmt: skip
    return str(by), str(how)


def _chart(
    chosen: dict[str, Candidate], lines: dict[str, Curve], levels: list[Level], name: str,
    gauge: Gauge, epsilon: float, by: str, how: str,
) -> None:  # fmt: skip
    """The chart, on the scale that is asked for."""
    if how != kinds.BUDGET:
        _by_measure(chosen, lines, levels, name, gauge, epsilon, how)
        return
    every, by_proof = list(lines.values()), by == PROOF_FIRST
    grid = [value for one in chosen.values() for value in one.budgets] + [epsilon]
    bounds = (min(grid), max(grid))
    if bounds[0] == bounds[1]:
        bounds = (bounds[0] / 2.0, bounds[1] * 2.0)
    drawn = curves.utility(every, levels, gauge, epsilon, name, bounds, by_proof)
    alt = curves.reading(every, gauge, epsilon)
    move = "proof" if by_proof else "claim"
    rows = curves.rows(every, levels)
    chart(f"{PREFIX}.chart", drawn, alt, rows, epsilon, fit=True, move=move)


def _by_measure(
    chosen: dict[str, Candidate], lines: dict[str, Curve], levels: list[Level], name: str,
    gauge: Gauge, epsilon: float, how: str,
) -> None:  # fmt: skip
    """The chart with points placed by a measure that all guarantees have."""
    with st.spinner("Working out the measures…", show_time=True):
        at = kinds.placed(chosen, lines, how)
    drawn = curves.utility(
        list(at.lines.values()), levels, gauge, epsilon, f"{name}.{how}", at.bounds, True,
        measure=at.label,
    )  # fmt: skip
    chart(f"{PREFIX}.kinds", drawn, at.reading(epsilon), at.rows(gauge), epsilon, fit=True)
    st.caption(at.caption(epsilon))


def _tabs(
    chosen: dict[str, Candidate], lines: dict[str, Curve], name: str, gauge: Gauge, epsilon: float
) -> None:
    """What the chart answers."""
    tabs = st.tabs(TABS, on_change="rerun", key=f"{PREFIX}.tab")
    draws: tuple[Callable[[], None], ...] = (
        lambda: _guarantees(chosen, name, gauge, epsilon),
        lambda: _best(chosen, lines, gauge),
        lambda: _needed(chosen, lines, gauge, epsilon),
        lambda: difference.show(PREFIX, chosen, name, gauge, epsilon),
    )
    for tab, draw in zip(tabs, draws, strict=True):
        if tab.open:
            with tab, troubles():
                draw()


def _guarantees(chosen: dict[str, Candidate], name: str, gauge: Gauge, epsilon: float) -> None:
    """Each run's reading and guarantee at one budget, and what must not be read into them."""
    st.table(
        [_row(text, one, name, gauge, epsilon) for text, one in chosen.items()], hide_index=True,
        border="horizontal", alt="The runs with their readings and guarantees.",
    )  # fmt: skip
    st.caption(INTERVAL)
    private = [one.guarantee(epsilon) for one in chosen.values() if one.spends]
    if len({card.relation for card in private}) > 1:
        st.warning(RELATIONS_DIFFER, icon=":material/group:")
    if len({one.dataset for one in chosen.values()}) > 1:
        st.caption(DATA_DIFFER)
    if any(one.simulated for one in chosen.values()):
        st.badge("Some of these data are simulated", icon=":material/casino:", color="violet")


def _row(text: str, one: Candidate, name: str, gauge: Gauge, epsilon: float) -> dict[str, str]:
    """One run: its reading, and its guarantee in words; three columns fit a phone."""
    guarantee = one.guarantee(epsilon)
    verb = "Meant to protect" if guarantee.epsilon_proved is None else "Protects"
    protects = "" if guarantee.status == "not_private" else f"  \n{verb} {guarantee.unit}"
    near = one.near(epsilon)
    at = "" if math.isclose(near, epsilon) else f"at ε = {figure(near)}, "
    return {
        "Run": f"**{text}**  \n{one.title}{one.note}",
        "Median": _reading(one, name, gauge, epsilon),
        "Guarantee": f"{ICONS[guarantee.status]} {at}{card.line(guarantee)}{protects}",
    }


def _reading(one: Candidate, name: str, gauge: Gauge, epsilon: float) -> str:
    """The median with the interval of four fifths of the repetitions."""
    values = one.values(name, epsilon)
    if not len(values):
        return "not measured at this ε"
    middle, low, high = (words.amount(v, gauge) for v in measured.spread(values))
    return middle if len(values) == 1 else f"{middle} ({low} to {high})"


def _best(chosen: dict[str, Candidate], lines: dict[str, Curve], gauge: Gauge) -> None:
    """The best proved method: read off the runs, or asked of private records."""
    _frontier(chosen, lines, gauge)
    for table in _private(chosen):
        asked.best(f"{PREFIX}.best.{table}", table, chosen.values())


def _frontier(chosen: dict[str, Candidate], lines: dict[str, Curve], gauge: Gauge) -> None:
    """The best proved method for each budget."""
    best = answers.frontier(chosen, lines, gauge)
    if not best:
        st.markdown("For none of these runs is a finite ε proved.")
        return
    st.markdown(
        "The best method for each privacy budget, counting only what is **proved** to be spent. "
        "Each row holds up to the budget of the next row."
    )
    st.table(
        [
            {
                "From ε =": words.number(one.epsilon),
                "Best proved method": one.said,
                gauge.label: words.amount(one.middle, gauge)
                + f" ({words.amount(one.low, gauge)} to {words.amount(one.high, gauge)})",
            }
            for one in best
        ],
        hide_index=True, border="horizontal", alt="The best proved method for each budget.",
    )  # fmt: skip
    st.caption(
        f"{INTERVAL} Methods are told apart where the intervals of their medians do not meet."
    )


def _private(chosen: dict[str, Candidate]) -> list[str]:
    """The tables of one's own that runs are on: what is read off them has a price."""
    return sorted({one.dataset for one in chosen.values() if own.mine(one.dataset)})


def _needed(
    chosen: dict[str, Candidate], lines: dict[str, Curve], gauge: Gauge, epsilon: float
) -> None:
    """Which budget a wanted value needs: read off public records, or asked of private ones."""
    public = {name: one for name, one in lines.items() if not own.mine(chosen[name].dataset)}
    if public:
        free = all(isinstance(chosen[name], candidates.Trained) for name in public)
        _read(public, gauge, epsilon, free)
    for table in _private(chosen):
        asked.need(f"{PREFIX}.need.{table}", table, chosen.values())


def _read(lines: dict[str, Curve], gauge: Gauge, epsilon: float, free: bool) -> None:
    """Which budget a wanted value needs, for each method; whether that is known to be free."""
    share = gauge.unit == words.SHARE
    scale, unit = (100.0, " in %") if share else (1.0, "")
    at = [one.middle[i] for one in lines.values() if (i := one.at(epsilon)) is not None]
    start = round(scale * max(at, default=0.0), 1 if share else 3)
    wanted = st.number_input(f"{gauge.label} that I need{unit}", value=start, key=f"{PREFIX}.need")
    needed = {
        name: answers.need(one, wanted / scale, up=gauge.better != "down")
        for name, one in lines.items()
    }
    st.table(
        {
            "Run": [f"**{name}**" for name in needed],
            "Privacy budget": [one.sentence() if one else "not measured"
                               for one in needed.values()],
        },
        hide_index=True, border="horizontal", alt="The budget that each method needs.",
    )  # fmt: skip
    st.caption(
        "Each range begins at the budget that one repetition in ten needs and ends at the one that "
        "nine in ten need. Between measured budgets the line is straight; beyond them there is no "
        "answer."
    )
    if free:
        st.caption(FREE)
