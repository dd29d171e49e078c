"""What Compare says of some runs at a budget: in the app, and without a server."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from engine.core.gauges import Gauge
from engine.privacy.guarantee import Guarantee
from pages.ui import words
from pages.ui.charts import curves, measured, proof
from pages.ui.charts.measured import Curve, Level
from pages.ui.compare import answers, candidates
from pages.ui.compare.answers import Best
from pages.ui.compare.candidates import Candidate
from pages.ui.kit import card
from pages.ui.kit.card import ICONS
from pages.ui.kit.chart import Picture, picture
from pages.ui.kit.labels import in_words
from pages.ui.kit.offers import Offer, figure, names
from pages.ui.paper.choice import MAIN
from pages.ui.paper.panels import RAW

USUAL = 1.0
"""The budget that is looked at first, or the offered one that is nearest."""
FIRST = 6
"""Runs that are drawn at first."""
ALL = "All data sets"
PUBLISHED = 4
"""Measures of a data set on the static pages: those that papers show first."""
QUESTION = "Which proved method is best on {} at each ε?"
BEST = (
    "The best method for each privacy budget, counting only what is **proved** to be spent. "
    "Each row holds up to the budget of the next row."
)
NEITHER = "*{}* has no better direction, so no method is best by it."
UNRANKED = (
    "Runs on different data sets cannot be ranked, because some tasks are easier: choose one data "
    "set to see which method is best on it."
)
NONE = "For none of these runs is a finite ε proved."
RELATIONS_DIFFER = (
    "These guarantees use different definitions of neighbouring data. Replacing one record can "
    "count as removing one and adding another, so the same ε promises more where a record is "
    "replaced."
)
APART = "Methods count as different where the intervals of their medians do not overlap."
INTERVAL = "In brackets: the middle 80 % of the repetitions."
Lines = Mapping[str, Curve]


def measures(gauges: Mapping[str, Gauge]) -> Offer:
    """The measures, by what the papers call them; of two with one name, the first keeps it."""
    texts: dict[str, str] = {}
    for name, gauge in gauges.items():
        texts.setdefault(gauge.label, name)
    return Offer("gauge", tuple(texts), tuple(texts.values()), next(iter(texts)))


def budgets(comparable: Sequence[Candidate]) -> Offer:
    """Every budget that one of the runs was trained with."""
    values = tuple(sorted({value for one in comparable for value in one.budgets})) or (USUAL,)
    if len(values) == 1:
        values = (values[0], 2.0 * values[0])  # a slider needs two ends
    nearest = min(values, key=lambda value: abs(value - USUAL))
    return Offer("epsilon", tuple(map(figure, values)), values, figure(nearest))


def data(comparable: Sequence[Candidate]) -> Offer:
    """The data sets, the one with most methods first, and all of them together."""
    keys = candidates.datasets(comparable)
    offer = names("data", keys)
    return Offer("data", (*offer.texts, ALL), (*keys, ""), offer.default)


def caption(gauge: Gauge) -> str:
    """How to read the chart."""
    raw = "" if gauge.released else f" {RAW}"
    return f"{proof.LEGEND} {measured.BANDS} {gauge.help}{raw}"


def cards(chosen: Mapping[str, Candidate], epsilon: float) -> list[Guarantee]:
    """The guarantees of the runs that spend budget."""
    return [one.guarantee(epsilon) for one in chosen.values() if one.spends]


def differ(cards: Iterable[Guarantee]) -> str:
    """That neighbouring data are defined in several ways; empty where they are in one."""
    return RELATIONS_DIFFER if len({card.relation for card in cards}) > 1 else ""


def able(here: Sequence[Candidate], gauge: str, dataset: str) -> dict[str, Candidate]:
    """The runs that have a measure, by name; with the name of their data where none is chosen."""
    kept = [one for one in here if gauge in one.gauges]
    found: dict[str, Candidate] = {}
    for data in dict.fromkeys(one.dataset for one in kept):
        named = candidates.named([one for one in kept if one.dataset == data])
        end = "" if dataset else f", {words.short(data)}"
        found |= {f"{name}{end}": one for name, one in named.items()}
    return found


def unranked(chosen: Mapping[str, Candidate], gauge: Gauge) -> str:
    """Why no method is best among some runs, in one sentence; empty where one may be."""
    if gauge.better == "neither":
        return NEITHER.format(gauge.label)
    tasks = {one.dataset for one in chosen.values() if one.spends}
    return UNRANKED if len(tasks) > 1 else ""


def ranked(chosen: Mapping[str, Candidate], lines: Lines, gauge: Gauge) -> list[Best]:
    """The best proved methods for each budget; none where no method is best."""
    return [] if unranked(chosen, gauge) else answers.frontier(lines, gauge)


def best(chosen: Mapping[str, Candidate], rows: Sequence[Best], gauge: Gauge) -> str:
    """What stands above the table of the best proved methods, or why there is none."""
    return BEST if rows else unranked(chosen, gauge) or NONE


def finding(
    chosen: Mapping[str, Candidate], rows: Sequence[Best], gauge: Gauge, epsilon: float
) -> tuple[str, tuple[str, ...]]:
    """What the page says at a budget, marked where data are simulated, and the best runs."""
    why = unranked(chosen, gauge)
    told, names = (why, ()) if why else answer(rows, epsilon)
    return f"{told}{words.simulated(*(one.simulated for one in chosen.values()))}", names


def answer(rows: Sequence[Best], epsilon: float) -> tuple[str, tuple[str, ...]]:
    """The answer to the page's question at a budget, and the names of the best runs."""
    at = next((i for i, row in reversed(list(enumerate(rows))) if row.epsilon <= epsilon), None)
    if at is None:
        return f"For none of these runs is an ε of at most {figure(epsilon)} proved.", ()
    best = rows[at]
    apart = "" if len(best.names) == 1 else ", and no difference between them is found"
    said = f"At ε = {figure(epsilon)}, {best.named}{apart}.{_reach(rows, at)}"
    return said, best.names


def _reach(rows: Sequence[Best], at: int) -> str:
    """From which budget to which an answer holds, where it is not the only one."""
    if len(rows) == 1:
        return ""
    ends = [words.number(row.epsilon) for row in rows]
    if at == 0:
        until = f" to {ends[2]}" if len(rows) > 2 else " on"
        return f" This holds below ε = {ends[1]}; from there{until}, {rows[1].named}."
    if at == len(rows) - 1:
        since = f"from ε = {ends[-2]} to {ends[-1]}" if at > 1 else "before"
        return f" This holds from ε = {ends[-1]} on; {since}, {rows[-2].named}."
    return (
        f" This holds from ε = {ends[at]} to {ends[at + 1]}; for other ε, see *Best proved* below."
    )


def focused(
    chosen: Mapping[str, Candidate], lines: Lines, best: Sequence[str], *, few: bool = True
) -> dict[str, Curve]:
    """The same lines; of many, the best and the papers' own are in colour, or all."""
    if len(lines) <= MAIN:
        return dict(lines)
    own = sorted(lines, key=lambda name: chosen[name].place)
    main = list(dict.fromkeys([*best, *own]))[:MAIN] if few else list(lines)
    return {name: replace(one, focus=name in main) for name, one in lines.items()}


def drawn(
    chosen: Mapping[str, Candidate], lines: Lines, levels: Sequence[Level], name: str,
    gauge: Gauge, epsilon: float, *, by_proof: bool,
) -> Picture:  # fmt: skip
    """Utility against budget."""
    every = list(lines.values())
    grid = [value for one in chosen.values() for value in one.budgets] + [epsilon]
    bounds = (min(grid), max(grid))
    if bounds[0] == bounds[1]:
        bounds = (bounds[0] / 2.0, bounds[1] * 2.0)
    made = curves.utility(every, levels, gauge, epsilon, name, bounds, by_proof)
    alt, rows = in_words(every, levels, gauge, epsilon), curves.rows(every, levels, gauge.label)
    move = "proof" if by_proof else "claim"
    return picture(made, alt, rows, epsilon, fit=True, move=move)


def guarantees(
    chosen: Mapping[str, Candidate], name: str, gauge: Gauge, epsilon: float
) -> list[dict[str, str]]:
    """Each run's reading and its guarantee in words; three columns fit a phone."""
    return [_row(text, one, name, gauge, epsilon) for text, one in chosen.items()]


def _row(text: str, one: Candidate, name: str, gauge: Gauge, epsilon: float) -> dict[str, str]:
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


def frontier(rows: Sequence[Best], gauge: Gauge) -> list[dict[str, str]]:
    """The best proved method for each budget, in words."""
    return [
        {
            "From ε =": words.number(one.epsilon),
            "Best proved method": one.said,
            gauge.label: words.amount(one.middle, gauge)
            + f" ({words.amount(one.low, gauge)} to {words.amount(one.high, gauge)})",
        }
        for one in rows
    ]
