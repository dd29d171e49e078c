"""Figures that only survival regression has: curves for people, noise beside signal."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pages.ui.charts.figure import Figure, Floats
from pages.ui.charts.marks import among, joined, path
from pages.ui.charts.notes import end
from pages.ui.charts.theme import (
    INK,
    MUTED,
    PER_CENT,
    SERIES,
    Style,
    axis,
    band,
    brief,
    even,
    figure,
    log_axis,
    marked,
    style,
)
from pages.ui.paper.said import Named

POINTS = 60
"""A curve is drawn through at most this many points."""


@dataclass(frozen=True)
class Ends:
    """What a band's ends are.

    Attributes:
        said: What lies between them, as a curve says it when it is pointed at.
        heads: What their columns are called in the table.
    """

    said: str
    heads: tuple[str, str]


DRAWS = Ends("middle 80\u00a0% of the draws", ("10 %", "90 %"))
EVERY = Ends("all draws", ("lowest", "highest"))
INTERVAL = Ends("95\u00a0% interval", ("95 % interval from", "95 % interval to"))


@dataclass(frozen=True, eq=False)
class Person:
    """One person's survival, as the private parameters and as the raw records have it.

    Attributes:
        label: Who it is.
        middle: Median over the draws, or the curve of one release, shape (k,).
        low: Where its band begins, shape (k,).
        high: Where its band ends, shape (k,).
        ends: What the band's ends are.
        exact: The same without noise, shape (k,); None while there is none.
    """

    label: str
    middle: Floats
    low: Floats
    high: Floats
    ends: Ends
    exact: Floats | None


def thin(length: int) -> NDArray[np.int64]:
    """Positions of at most POINTS points of a curve, both ends included."""
    return np.unique(np.linspace(0, length - 1, min(length, POINTS)).round().astype(np.int64))


def survival(
    time: Floats,
    people: Sequence[Person],
    reference: tuple[Floats, Floats] | None,
    unit: str,
    surviving: str,
) -> Figure:
    """Survival curves with bands over the draws, against Kaplan-Meier's steps.

    Args:
        time: When the curves are taken, shape (k,).
        people: One curve each.
        reference: Times and values of the Kaplan-Meier curve of all records.
        unit: Unit of time.
        surviving: Who is counted, such as "Still alive".
    """
    traces = [trace for i, person in enumerate(people) for trace in _person(time, person, i)]
    if people and people[0].exact is not None:
        traces.append(path("without privacy", [None], [None], MUTED, dash="dot", width=2))
    if reference is not None:
        traces.append(_steps(*reference))
    return figure(
        traces,
        xaxis=axis(f"Time [{unit}]", range=[0.0, float(time[-1])], tickformat=","),
        yaxis=axis(f"{surviving} [%]", range=[-0.02, 1.02], tickformat=".0%"),
    )


def two(time: Floats, people: Sequence[Person], look: Style, unit: str, surviving: str) -> Figure:
    """A few people's curves in a method's colour over the exact ones, named at their ends.

    Args:
        time: When the curves are taken, shape (k,).
        people: One curve each, with the exact one.
        look: The method's look on the cost curve.
        unit: Unit of time.
        surviving: Who is counted, such as "Still alive".
    """
    x, traces = brief(time), [part for one in people for part in _person(time, one, 0)]
    for part in traces:
        exact = part["line"].get("dash") == "dot"
        part["line"] |= {"color": INK} if exact else {"color": look.colour, "dash": "solid"}
        if part["mode"] == "none":
            part["fillcolor"] = look.colour
    ends = [end(one.label, x[-1], float(one.middle[-1]), look.colour) for one in people]
    lowest = min(people, key=lambda one: float(one.middle[-1]))
    if lowest.exact is not None:
        ends.append(end("Dotted: no privacy", x[-1], float(lowest.exact[-1]), INK))
    return figure(
        traces,
        uirevision=f"two/{unit}/{time[-1]:g}",
        xaxis=axis(f"Time [{unit}]", range=[0.0, x[-1]], **marked(even(0.0, x[-1]))),
        yaxis=axis(f"{surviving} [%]", range=[0.0, 1.02], **marked(even(0.0, 1.0), *PER_CENT)),
        annotations=ends,
    )


def _person(time: Floats, person: Person, position: int) -> list[dict[str, Any]]:
    """Band, median and exact curve of one person."""
    look, x, name = style(position), brief(time), person.label
    low, high = brief(person.low), brief(person.high)
    said = (
        "<b>%{fullData.name}</b><br>%{x:,.0f}: %{y:.1%}<br>"
        f"{person.ends.said}: "
        "%{customdata[0]:.1%} to %{customdata[1]:.1%}"
    )
    parts = [
        band(x, low, high, look.colour, name),
        path(name, x, person.middle, look.colour, said, dash=look.dash, legendgroup=name,
             customdata=list(zip(low, high, strict=True))),
    ]  # fmt: skip
    if person.exact is not None:
        said = f"<b>{name}, without privacy</b><br>%{{x:,.0f}}: %{{y:.1%}}"
        one = path(name, x, person.exact, look.colour, said, dash="dot", width=1.6)
        parts.append({**one, "name": None, "legendgroup": name, "showlegend": False})
    return parts


def _steps(time: Floats, value: Floats) -> dict[str, Any]:
    """The Kaplan-Meier curve."""
    kept, name = thin(len(time)), "everyone (Kaplan–Meier)"
    said = "<b>Everyone, no model</b><br>%{x:,.0f}: %{y:.1%}"
    return path(name, time[kept], value[kept], INK, said, width=1.4, shape="hv")


def survival_rows(time: Floats, people: Sequence[Person], unit: str) -> list[dict[str, Any]]:
    """The curves as a table, at ten times."""
    rows = []
    for i in np.unique(np.linspace(0, len(time) - 1, 11).round().astype(int)):
        row: dict[str, Any] = {f"Time [{unit}]": float(time[i])}
        for person in people:
            row[person.label] = round(float(person.middle[i]), 4)
            for head, at in zip(person.ends.heads, (person.low, person.high), strict=True):
                row[f"{person.label}, {head}"] = round(float(at[i]), 4)
        rows.append(row)
    return rows


def noise(names: Sequence[str], size: Floats, spread: Floats) -> Figure:
    """The noise in each coefficient beside the coefficient itself.

    Args:
        names: Names of the coefficients.
        size: Magnitude of each without noise, shape (p,).
        spread: Standard deviation of the noise in each, shape (p,).
    """
    known = np.maximum(size, spread.min() * 1e-3 if len(spread) else 1e-9)
    pairs = zip(known.tolist(), spread.tolist(), strict=True)
    places = joined((name, name) for name in names)
    bars = path("", joined(pairs), places, MUTED, width=1.5, opacity=0.6, showlegend=False)
    return figure(
        [
            {**bars, "name": None},
            among("the coefficient, without noise", known, names, SERIES[0], "circle"),
            among("the noise added to it", spread, names, SERIES[1], "diamond-open"),
        ],
        height=130 + 38 * len(names),
        xaxis=log_axis("Size [scale of the model]", [*known, *spread], showgrid=True),
        yaxis=axis("", autorange="reversed", showgrid=False),
    )


def noise_rows(names: Sequence[str], size: Floats, spread: Floats) -> list[dict[str, Any]]:
    """The same as a table."""
    return [
        {
            "Covariate": name, "Coefficient without noise": float(one), "Noise": float(other),
            "Noise / coefficient": float(other / one) if one else None,
        }
        for name, one, other in zip(names, size, spread, strict=True)
    ]  # fmt: skip


def noise_facts(names: Sequence[str], size: Floats, spread: Floats) -> dict[str, object]:
    """What the noise does to the coefficients: how many are smaller, and which is clearest."""
    larger, count = int((spread >= size).sum()), len(names)
    ratio = spread / np.maximum(size, 1e-300)
    best = int(np.argmin(ratio))
    which = "ALL" if larger == count else "SOME" if larger else "NONE"
    return {
        "which": Named(which), "larger": larger, "count": count, "clearest": names[best],
        "ratio": ratio[best],
    }  # fmt: skip
