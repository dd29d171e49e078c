"""Figures of sanitised posteriors: the bent loss, and what the samplers draw."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from pages.ui.charts.figure import Figure, Floats, by_row
from pages.ui.charts.marks import dots, level, path, text
from pages.ui.charts.theme import BAND, INK, MUTED, SERIES, Style, axis, brief, figure
from pages.ui.words import number

FAR = 3.0
"""The sanitiser is drawn up to so many times its bound."""
POINTS = 61
MOST = 600
"""A density is estimated from at most so many draws."""
EDGES = (0.005, 0.995)
"""Quantiles of the draws between which a density is drawn."""
ROOM = 0.92
"""Height of the tallest density of a row, in rows."""


def sanitised(loss: Floats, bound: float) -> Floats:
    """The loss as v tanh(loss/v): never above v, and nearly the loss where that is small."""
    losses: Floats = bound * np.tanh(loss / bound)
    return losses


def sanitiser(bound: float) -> Figure:
    """The loss of a record against what is left of it."""
    loss = np.linspace(0.0, FAR * bound, POINTS)
    kinds = (
        ("as it is", np.minimum(loss, 1.25 * bound), MUTED, "dash"),
        ("sanitised", sanitised(loss, bound), SERIES[0], "solid"),
    )
    return figure(
        [
            path(name, loss, y, colour, f"<b>{name}</b><br>%{{x:.3g}} counts as %{{y:.3g}}",
                 dash=dash)
            for name, y, colour, dash in kinds
        ],
        height=360,
        xaxis=axis("Loss of one record [nats]", range=[0.0, FAR * bound]),
        yaxis=axis("Loss that is counted [nats]", range=[0.0, 1.2 * bound]),
        shapes=[level(bound)],
        annotations=[text(f"v = {number(bound)}", 0.99, bound, size=13, xref="paper",
                          xanchor="right", yanchor="bottom")],
    )  # fmt: skip


def sanitiser_rows(bound: float) -> list[dict[str, Any]]:
    """The same as a table."""
    loss = np.linspace(0.0, FAR * bound, 13)
    bent = sanitised(loss, bound)
    share = np.divide(bent, loss, out=np.ones_like(loss), where=loss > 0)
    return by_row({"Loss": loss, "Sanitised": bent, "Left out [%]": 100.0 * (1.0 - share)})


@dataclass(frozen=True, eq=False)
class Drawn:
    """The draws of one sampler.

    Attributes:
        label: What it is called.
        style: Its look.
        draws: Shape (m, d).
    """

    label: str
    style: Style
    draws: Floats


@dataclass(frozen=True, eq=False)
class Normal:
    """The Laplace approximation: mode and standard deviation of each parameter, shape (d,)."""

    mode: Floats
    spread: Floats


def thinned(draws: Floats) -> Floats:
    """At most MOST rows of the finite ones, evenly spread."""
    fine = draws[np.isfinite(draws).all(axis=1)]
    if len(fine) <= MOST:
        return fine
    some: Floats = fine[np.linspace(0, len(fine) - 1, MOST).astype(int)]
    return some


def density(values: Floats, x: Floats) -> Floats:
    """A kernel estimate with a normal kernel of Silverman's width, shape of x."""
    step = float(x[1] - x[0]) if len(x) > 1 else 1.0
    width = max(1.06 * float(values.std()) * len(values) ** -0.2, 0.5 * step)
    kernel = np.exp(-0.5 * ((x[:, None] - values) / width) ** 2)
    heights: Floats = kernel.sum(axis=1) / (len(values) * width * np.sqrt(2.0 * np.pi))
    return heights


def normal(x: Floats, mode: float, spread: float) -> Floats:
    """The density of a normal distribution."""
    heights: Floats = np.exp(-0.5 * ((x - mode) / spread) ** 2) / (spread * np.sqrt(2.0 * np.pi))
    return heights


@dataclass(frozen=True, eq=False)
class Ridge:
    """One parameter's densities over a common axis.

    Attributes:
        x: Shape (k,).
        heights: By sampler, shape (k,) each.
        laplace: The approximation's, shape (k,); None where there is none.
    """

    x: Floats
    heights: Mapping[str, Floats]
    laplace: Floats | None

    @property
    def top(self) -> float:
        """The tallest of them."""
        every = [*self.heights.values(), *([] if self.laplace is None else [self.laplace])]
        return max(float(one.max()) for one in every) or 1.0


def ridge(samplers: Sequence[Drawn], laplace: Normal | None, column: int) -> Ridge:
    """The densities of one parameter, where its draws lie."""
    values = {one.label: thinned(one.draws)[:, column] for one in samplers}
    ends = [np.quantile(one, EDGES) for one in values.values()]
    if laplace is not None:
        mode, spread = float(laplace.mode[column]), float(laplace.spread[column])
        ends.append(np.array([mode - 3.0 * spread, mode + 3.0 * spread]))
    low, high = min(float(e[0]) for e in ends), max(float(e[1]) for e in ends)
    pad = 0.05 * (high - low) + 1e-9
    x = np.linspace(low - pad, high + pad, POINTS)
    heights = {name: density(one, x) for name, one in values.items()}
    return Ridge(x, heights, None if laplace is None else normal(x, mode, spread))


def posterior(
    names: Sequence[str],
    samplers: Sequence[Drawn],
    laplace: Normal | None,
    optimum: Floats | None,
) -> Figure:
    """One row for each parameter: what the samplers draw, and the normal approximation.

    Args:
        names: Of the parameters, from top to bottom.
        samplers: The samplers.
        laplace: The approximation; None while there is none.
        optimum: What the raw records give, shape (d,); None while it is not known.
    """
    ridges = [ridge(samplers, laplace, i) for i in range(len(names))]
    traces = [_outline(one, ridges) for one in samplers]
    if laplace is not None:
        x, y = _path(ridges, [one.laplace for one in ridges if one.laplace is not None])
        traces.append(path("Laplace approximation", x, y, INK, dash="solid", width=1.4))
    places = [-float(i) for i in range(len(names))]
    if optimum is not None:
        said = "<b>%{text}</b><br>without privacy %{x:.3g}"
        traces.append(
            dots("optimum f*, without privacy", optimum, places, INK, "diamond", said, size=10,
                 text=list(names))
        )  # fmt: skip
    return figure(
        traces,
        height=150 + 44 * len(names),
        xaxis=axis("Value of the parameter [scale of the model]", showgrid=True),
        yaxis=axis(
            "", tickvals=places, ticktext=list(names), range=[places[-1] - 0.25, 1.05],
            showgrid=True,
        ),
    )  # fmt: skip


def _path(ridges: Sequence[Ridge], heights: Sequence[Floats]) -> tuple[list[Any], list[Any]]:
    """All rows as one line with gaps: positions and heights."""
    x: list[Any] = []
    y: list[Any] = []
    for i, (one, height) in enumerate(zip(ridges, heights, strict=True)):
        ends = one.x[[0, -1]]
        x += [*brief(ends[:1]), *brief(one.x), *brief(ends[1:]), None]
        y += [-float(i), *brief(ROOM * height / one.top - i), -float(i), None]
    return x, y


def _outline(one: Drawn, ridges: Sequence[Ridge]) -> dict[str, Any]:
    """A sampler's densities, each standing on its row."""
    x, y = _path(ridges, [each.heights[one.label] for each in ridges])
    colour = one.style.colour
    pale = f"{colour}{round(255 * BAND):02x}"  # the alpha channel survives the theme's change
    return path(
        one.label, x, y, colour, dash=one.style.dash, width=2, fill="toself", fillcolor=pale
    )


def posterior_rows(
    names: Sequence[str], samplers: Sequence[Drawn], laplace: Normal | None, optimum: Floats | None
) -> list[dict[str, Any]]:
    """The same as a table: medians with the middle four fifths."""
    rows = []
    for i, name in enumerate(names):
        row: dict[str, Any] = {"Parameter": name}
        for one in samplers:
            low, middle, high = np.quantile(thinned(one.draws)[:, i], (0.1, 0.5, 0.9))
            row[one.label] = f"{number(middle)} ({number(low)} to {number(high)})"
        if laplace is not None:
            row["Laplace: mode"] = float(laplace.mode[i])
            row["Laplace: standard deviation"] = float(laplace.spread[i])
        if optimum is not None:
            row["Without privacy"] = float(optimum[i])
        rows.append(row)
    return rows
