"""Utility against privacy: few lines in colour, the others thin and grey, named at their ends."""

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from engine.core.gauges import Gauge
from pages.ui.charts import notes, proof
from pages.ui.charts.figure import Figure
from pages.ui.charts.heights import Heights, heights
from pages.ui.charts.marks import circle, dots, path
from pages.ui.charts.measured import LINE, Curve, Level
from pages.ui.charts.proof import NOWHERE, STATUS, Ground, finite
from pages.ui.charts.theme import INK, MUTED, Style, band, brief, figure
from pages.ui.words import SHARE, number

NAMED = 6
"""So many lines are named at their ends; of more, a legend names them."""
FAILS = "x"
"""The marker where some releases fail and others do not."""
FAINT, FORMER, CLEAR = 0.4, 0.75, 0.9
"""Opacity of lines that are not in focus, of those that show how it was, and of grey ones that have
a name."""
SURE, SINGLE = 0.28, 0.09
"""Opacity of the band of a median and of that of single releases."""
_GREY = Style(MUTED, "solid", "circle")
"""The look of what was there before."""


HEARD = "heard"
"""Marks the line that is played as sound."""


def utility(
    curves: Sequence[Curve], levels: Sequence[Level], gauge: Gauge, chosen: float, revision: str,
    bounds: tuple[float, float], by_proof: bool = False, closer: str = "",
    chance: float | None = None, up: Heights | None = None, measure: str = "",
) -> Figure:  # fmt: skip
    """Utility against budget, with a rule at the chosen one.

    Args:
        curves: One per method that spends budget.
        levels: One per reference.
        gauge: What is measured.
        chosen: The budget under the slider.
        revision: Changes when a zoom should be forgotten.
        bounds: Smallest and largest budget of the slider.
        by_proof: Whether points stand at the budget that is proved, not the one claimed.
        closer: Label of the method that is looked at; it alone has the band of single releases.
        chance: What guessing gets; None where nothing is to be guessed.
        up: The vertical axis; None for the one of the measure itself that fits.
        measure: What `proved` and `bounds` hold in place of budgets, in words; there is no rule.
    """
    ground = Ground(bounds, [p for one in curves for p in one.proved], by_proof, measure)
    up = up or heights(curves, levels, gauge, "", chance)
    shown = ".1%" if gauge.unit == SHARE else ".3g"
    levels = [one for one in levels if not up.log or up.of([one.value])[0] >= up.low]
    ordered = sorted(curves, key=lambda one: one.focus)  # what is in focus lies above
    named = _few(curves, levels)
    traces = [_level(one, ground, up, shown) for one in levels]
    traces += [made for one in ordered for made in _bands(one, ground, up, one.label == closer)]
    lines = [_line(one, ground, up, shown, closer, marks=not named) for one in ordered]
    made = zip(ordered, lines, strict=True)
    traces += lines if named else [part for one, line in made for part in _entered(one, line)]
    at = [one for one in ordered if one.focus and one.at(chosen) is not None]
    rings = [_ring(one, chosen, ground, up, named) for one in at]
    shapes, traces = (rings, traces) if named else ([], traces + rings)
    drawn = any(one.epsilon for one in curves) or bool(levels)
    guess = [] if chance is None or not drawn else up.of([chance])
    ruled = [] if measure else [chosen]
    return figure(
        traces,
        uirevision=revision,
        xaxis=ground.axis(_lost(curves, up)),
        yaxis=up.axis() | ({} if drawn else {"showticklabels": False}),
        shapes=[*map(notes.rule, ruled), *map(notes.guess, guess), *ground.shapes(), *shapes],
        annotations=[
            *(notes.flag(one, bounds, up, above=named) for one in ruled),
            *(notes.guessing(one, up, ground) for one in guess),
            *([] if drawn else [notes.NOTHING]),
            *(_ends(ordered, levels, ground, up) if named else ()),
        ],
    )


def _few(curves: Sequence[Curve], levels: Sequence[Level]) -> bool:
    """Whether the lines in focus are few enough to be named at their ends."""
    return sum(one.focus for one in curves) + sum(one.focus or one.told for one in levels) <= NAMED


def _gone(one: Curve, ground: Ground) -> bool:
    """Whether no point of a curve has a finite budget, so that all stand in the column."""
    return ground.by_proof and bool(one.proved) and not any(map(finite, one.proved))


def _lost(curves: Sequence[Curve], up: Heights) -> str:
    """What the column holds, from its lowest to its highest point."""
    inside = [
        height
        for one in curves if len(one.proved) == len(one.middle)
        for height, proved in zip(up.of(one.middle), one.proved, strict=True) if not finite(proved)
    ]  # fmt: skip
    if not inside:
        return ""
    if not up.share:
        return f"{number(min(inside), 2)}–{number(max(inside), 2)}"  # a range
    low, high = (f"{100 * height:.0f}" for height in (min(inside), max(inside)))
    return f"{low}\u00a0%" if low == high else f"{low}–{high}\u00a0%"  # a range


def _bands(one: Curve, ground: Ground, up: Heights, closer: bool) -> list[dict[str, Any]]:
    """The bands of a curve: of its median, and of single releases where it is looked at.

    Lines out of focus have none. Of few repetitions the band of the median is their whole range,
    and that of single releases, which would lie inside it, is left out. What falls to zero ends in
    the decade below a logarithmic axis, not at its end: the axis keeps its range while lines come
    in, and two pages that show one run hold the same numbers.
    """
    if not one.focus:
        return []
    x, made = ground.places(one.epsilon, one.proved), []
    single = closer and not one.few
    for low, high, opacity, wanted in (
        (one.low, one.high, SINGLE, single), (one.sure_low, one.sure_high, SURE, True),
    ):  # fmt: skip
        there = wanted and len(low) == len(x) and not _gone(one, ground)
        least = 10.0 ** math.floor(math.log10(0.5 * up.low)) if up.log else -math.inf
        down, top = ([max(v, least) for v in up.of(side)] if there else [] for side in (low, high))
        colour = one.style.colour
        made.append(band(x if there else [], down, top, colour, one.label, opacity=opacity))
    return made


def _line(
    one: Curve, ground: Ground, up: Heights, shown: str, closer: str, *, marks: bool
) -> dict[str, Any]:
    """The line of one method; a bar in the column where no point has a finite budget."""
    look = proof.look(one.style, one.status)
    x, y, gone = ground.places(one.epsilon, one.proved), up.of(one.middle), _gone(one, ground)
    proved = [
        f"{number(p)} {ground.measure or 'proved'}" if p is not None and finite(p) else NOWHERE
        for p in one.proved
    ] or [NOWHERE if one.status == "not_private" else "not worked out yet"] * len(one.epsilon)
    hover = (
        f"<b>{one.label}</b>{f', {STATUS[one.status]}' if one.status else ''}<br>"
        "ε: %{customdata[3]:.4~g} claimed, %{customdata[4]}"
        f"<br>median %{{y:{shown}}}"
        f"<br>middle 80 % of releases: %{{customdata[0]:{shown}}} to %{{customdata[1]:{shown}}}"
        "<br>%{customdata[2]} repetitions%{customdata[5]}<extra></extra>"
    )
    lost = [f", {100.0 * share:.0f}\u00a0% of them fail" * (share > 0) for share in one.failed]
    lost = lost or [""] * len(one.epsilon)
    ends = [sorted(pair) for pair in zip(up.of(one.low), up.of(one.high), strict=True)]
    sides = zip(*ends, strict=True) if ends else ((), ())
    low, high = (brief(side) for side in sides)
    colour, least = look.colour if one.focus else MUTED, min(one.count, default=0)
    alone = least < LINE and not gone and one.before is None
    mode = "lines+markers" if one.focus and not gone else "markers" if alone else "lines"
    round_ = "circle-open" if look.marker.endswith("-open") else "circle"
    symbol = look.marker if marks else round_
    symbols = [FAILS if part else symbol for part in one.partly] if any(one.partly) else symbol
    return {
        "type": "scatter", "mode": mode, "name": one.legend, "legendgroup": one.label,
        "showlegend": one.focus or one.before is not None,
        "meta": HEARD * (one.label == closer and one.before is None),
        "x": brief(x), "y": brief(y), "opacity": _opacity(one),
        "customdata": list(zip(low, high, one.count, one.epsilon, proved, lost, strict=True)),
        "hovertemplate": hover,
        "line": {
            "color": colour, "dash": "solid" if gone else look.dash,
            "width": 9 if gone else 2.5 if one.focus and not one.few else 1.2,
        },
        "marker": {
            "symbol": symbols, "size": 8 if marks else 5,
            "color": colour, "line": {"width": 2 if marks else 1.5, "color": colour},
        },
    }  # fmt: skip


def _entered(one: Curve, line: dict[str, Any]) -> tuple[dict[str, Any], ...]:
    """A line and its entry in the legend, which shows the method's own mark.

    Plotly shows the mark of a line's first point there, and a release that fails has another.
    """
    marker = line["marker"]
    if isinstance(marker["symbol"], str) or not line["showlegend"]:
        return (line,)
    own = proof.look(one.style, one.status).marker
    keys = ("type", "mode", "name", "legendgroup", "opacity", "line")
    entry = {key: line[key] for key in keys} | {
        "x": [None], "y": [None], "hoverinfo": "skip", "marker": marker | {"symbol": own},
    }  # fmt: skip
    return line | {"showlegend": False}, entry


def _opacity(one: Curve | Level) -> float:
    return 1.0 if one.focus else FAINT if one.before is None else FORMER


def _level(one: Level, ground: Ground, up: Heights, shown: str) -> dict[str, Any]:
    """A horizontal line across the whole chart."""
    height, width = up.of([one.value]), 1.8 if one.focus else 1.4 if one.told else 1.0
    return path(
        one.legend, brief([ground.low, ground.end]), height * 2, one.style.colour,
        f"<b>{one.legend}</b><br>%{{y:{shown}}}", dash=one.style.dash,
        width=width, showlegend=one.focus, legendgroup=one.label,
        opacity=CLEAR if one.told else _opacity(one),
    )  # fmt: skip


def _ring(one: Curve, chosen: float, ground: Ground, up: Heights, named: bool) -> dict[str, Any]:
    """A ring around the point under the slider.

    Where lines are named it is a shape, so that a move of the slider changes no trace; where a
    legend can hide lines, it is a trace that is hidden with its line.
    """
    position = one.at(chosen)
    assert position is not None
    look, x = proof.look(one.style, one.status), ground.places(one.epsilon, one.proved)
    at = brief([x[position]]), brief(up.of([one.middle[position]]))
    if named:
        return circle(at[0][0], at[1][0], look.colour, size=13, width=2.5)
    return dots(
        "", *at, look.colour, f"{one.style.marker}-open", "", size=15, ring=2.5,
        legendgroup=one.label, showlegend=False, cliponaxis=False,
    )  # fmt: skip


def _ends(
    curves: Sequence[Curve], levels: Sequence[Level], ground: Ground, up: Heights
) -> list[dict[str, Any]]:
    """The names of the lines in focus, each at the end of its line."""
    places: list[tuple[str, Style, float, float]] = []
    for one in curves:
        if (one.focus or _first(one, curves)) and one.epsilon:
            x, y = ground.places(one.epsilon, one.proved), up.of(one.middle)
            last = float(np.median(y)) if _gone(one, ground) else y[-1]
            look = proof.look(one.style, one.status) if one.focus else _GREY
            places.append((one.name, look, x[-1], last))
    lost = [one for one in curves if not one.focus and one.epsilon and _gone(one, ground)]
    if lost and all(one.before is None for one in lost):
        middle = float(np.median([y for one in lost for y in up.of(one.middle)]))
        text = lost[0].name if len(lost) == 1 else f"{len(lost)} others: {NOWHERE}"
        places.append((text, _GREY, ground.column or ground.end, middle))
    told = [one for one in levels if one.focus or one.told]
    for level in told:
        look = replace(level.style, colour=INK) if level.focus else _GREY
        text = level.name if len(told) == 1 else level.name_among
        places.append((text, look, ground.end, up.of([level.value])[0]))
    return [
        notes.end(text, float(np.log10(x)), up.place(y), look.colour) for text, look, x, y in places
    ]


def _first(one: Curve, curves: Sequence[Curve]) -> bool:
    """Whether a curve is the first of those that were there before: one name stands for all."""
    return one.before is not None and one is next(c for c in curves if c.before is not None)


SURE_LOW, SURE_HIGH = "Median at least", "Median at most"
"""Columns of the band that is drawn of a line: the ends of its median's interval."""


def rows(
    curves: Sequence[Curve], levels: Sequence[Level], measure: str = ""
) -> list[dict[str, Any]]:
    """The same numbers as a table, one row per method and budget.

    Args:
        curves: The lines.
        levels: What does not depend on the budget.
        measure: What the numbers are, at the head of their column; budgets are rounded then.
    """
    middle = f"{measure}, median" if measure else "Median"
    table: list[dict[str, Any]] = [
        {
            "Method": one.label, "ε": one.epsilon[i], middle: one.middle[i],
            "10 %": one.low[i], "90 %": one.high[i], "Repetitions": one.count[i],
            **({SURE_LOW: one.sure_low[i], SURE_HIGH: one.sure_high[i]} if one.sure_low else {}),
            **({"Fail": one.failed[i]} if one.failed else {}),
            **({"Proved ε": _rounded(one.proved[i], measure)} if one.proved else {}),
            **({"Status": STATUS[one.status]} if one.status else {}),
        }
        for one in curves
        for i in range(len(one.epsilon))
    ]  # fmt: skip
    return table + [
        {
            "Method": one.label, "ε": None, middle: one.value, "10 %": None, "90 %": None,
            "Repetitions": one.count,
            **(dict(zip((SURE_LOW, SURE_HIGH), one.sure, strict=True)) if one.sure else {}),
            **({"Status": STATUS[one.status]} if one.status else {}),
        }
        for one in levels
    ]  # fmt: skip


def _rounded(proved: float | None, measure: str) -> float | None:
    """A budget as the page says it, where a table is to be read."""
    return float(f"{proved:.4g}") if measure and proved is not None else proved
