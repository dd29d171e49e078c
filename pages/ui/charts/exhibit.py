"""An exhibit of a paper as its figure."""

import math
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from engine.runs.exhibit import Cell, Exhibit
from pages.ui.charts.agreement import PRINTED, grade, known, spoken, variants
from pages.ui.charts.figure import Figure
from pages.ui.charts.marks import dots, series
from pages.ui.charts.theme import DASHES, MUTED, Style, axis, band, figure, log_axis, style

Place: TypeAlias = float | str
DIRECTION = {"up": " · higher is better", "down": " · lower is better"}
MOST = 8
"""More lines than this are drawn only when they are chosen."""
FEW = 12
"""A logarithmic axis has a tick at each of so many positions."""


@dataclass(frozen=True)
class Line:
    """One line of ours.

    Attributes:
        name: As the legend calls it.
        row: Its row; lines of a row and its printed points belong together.
        place: Of its reading among all: the printed one is first.
        look: Colour and marker of the row, dash of the variant.
        x: Positions from left to right.
        y: Our numbers.
        spread: Their standard deviations; 0 where there is none.
    """

    name: str
    row: str
    place: int
    look: Style
    x: tuple[Place, ...]
    y: tuple[float, ...]
    spread: tuple[float, ...]


def names(exhibit: Exhibit, cells: Sequence[Cell]) -> tuple[str, ...]:
    """The names of all our lines.

    First those of rows in which the paper has points. Where the first few can show every row,
    among them every row in one reading before the first in another.
    """
    printed = {cell.row for cell in cells if known(cell.published) is not None}
    lines = list(_lines(exhibit, cells))
    few = len({line.row for line in lines}) <= MOST
    lines.sort(key=lambda line: (line.row not in printed, line.place * few))
    return tuple(dict.fromkeys(line.name for line in lines))


def plot(
    exhibit: Exhibit, cells: Sequence[Cell], revision: str, only: Collection[str] | None = None
) -> Figure:
    """The paper's figure: our lines with their bands, the printed points as open markers.

    What lies at infinity, a method without privacy, is a level line across the figure; the
    printed number of it stands at the right end.

    Args:
        exhibit: What the figure is.
        cells: Its points.
        revision: Changes when a zoom should be forgotten.
        only: Names of the lines of ours that are drawn; None for all. The paper's points are
            drawn always, and named where no line of theirs is.
    """
    lines = [line for line in _lines(exhibit, cells) if only is None or line.name in only]
    printed = list(_printed(exhibit, cells, {line.row for line in lines}))
    note = [_note()] if any(not points["showlegend"] for points in printed) else []
    return figure(
        [trace for line in lines for trace in _drawn(exhibit, cells, line)] + printed + note,
        height=420 + 14 * len(lines),
        uirevision=revision,
        xaxis=_across(exhibit, cells),
        yaxis=_upward(exhibit, cells),
    )


def _across(exhibit: Exhibit, cells: Sequence[Cell]) -> dict[str, Any]:
    """The horizontal axis; a logarithmic one has a tick at each position if they are few."""
    at = _positions(cells)
    if not exhibit.log[0]:
        return axis(exhibit.axis)
    if len(at) > FEW:
        return log_axis(exhibit.axis, at)
    text = [f"{place:g}" for place in at]
    return axis(exhibit.axis, type="log", tickvals=at, ticktext=text)


def _upward(exhibit: Exhibit, cells: Sequence[Cell]) -> dict[str, Any]:
    """The vertical axis, which says which way is good; shares of 1 are in percent."""
    share = exhibit.whole == 1.0
    title = exhibit.quantity + " [%]" * share + DIRECTION.get(exhibit.better, "")
    if not exhibit.log[1]:
        return axis(title, tickformat=".0%") if share else axis(title)
    return log_axis(title, [n for c in cells for n in (c.ours, c.published) if n is not None])


def _place(column: str) -> Place:
    """The position of a column: a number where it is one."""
    try:
        return float(column)
    except ValueError:
        return column


def _positions(cells: Sequence[Cell]) -> list[float]:
    """The finite numbers among the positions, ascending."""
    places = {_place(cell.column) for cell in cells}
    return sorted(at for at in places if isinstance(at, float) and math.isfinite(at))


def _within(at: Place, ends: Sequence[float]) -> Place:
    """A position; the right end for what lies at infinity."""
    return ends[-1] if ends and at == math.inf else at


def _shown(exhibit: Exhibit, value: float | None) -> float | None:
    """A number that the vertical axis can show."""
    finite = known(value)
    return finite if finite is not None and (finite > 0 or not exhibit.log[1]) else None


def _lines(exhibit: Exhibit, cells: Sequence[Cell]) -> Iterator[Line]:
    """Our lines, row by row; colour and marker tell the row, the dash tells the variant."""
    readings, ends = variants(cells), _positions(cells)
    # what is proved is solid, as on the papers' pages
    solid = sorted(readings, key=lambda name: name == PRINTED or name not in exhibit.proved)
    for position, row in enumerate(dict.fromkeys(cell.row for cell in cells)):
        own = style(position)
        for variant in readings:
            proved = variant in exhibit.proved and variant != PRINTED
            dash = DASHES[0 if proved else solid.index(variant) % len(DASHES)]
            look, place = Style(own.colour, dash, own.marker), readings.index(variant)
            name = f"{row}, {spoken(variant)}" if len(readings) > 1 else row
            points = [
                (_place(c.column), value, known(c.spread) or 0.0)
                for c in cells
                if (c.row, c.variant) == (row, variant)
                and (value := _shown(exhibit, c.ours)) is not None
            ]
            level = [point for point in points if ends and point[0] == math.inf]
            points = [point for point in points if point not in level]
            if all(isinstance(at, float) for at, _, _ in points):
                points.sort(key=lambda point: float(point[0]))
            if points:
                yield Line(name, row, place, look, *zip(*points, strict=True))
            for _, value, _ in level:
                yield Line(name, row, place, look, (ends[0], ends[-1]), (value, value), (0.0, 0.0))


def _drawn(exhibit: Exhibit, cells: Sequence[Cell], line: Line) -> list[dict[str, Any]]:
    """The line, and behind it its band if it has one."""
    look, at = line.look, [place for place in line.x if isinstance(place, float)]
    hover = "<b>%{fullData.name}</b><br>%{x}: %{y:.4g} ± %{customdata:.2g}"
    trace = series(
        line.name, line.x, line.y, look, hover, 6, width=2.2, legendgroup=line.row,
        customdata=line.spread,
    )  # fmt: skip
    if not any(line.spread) or len(at) < len(line.x):
        return [trace]
    floor = _floor(cells) if exhibit.log[1] else -math.inf
    low = [max(floor, value - off) for value, off in zip(line.y, line.spread, strict=True)]
    high = [value + off for value, off in zip(line.y, line.spread, strict=True)]
    return [band(at, low, high, look.colour, line.row), trace]


def _floor(cells: Sequence[Cell]) -> float:
    """Half of the smallest number: where a band ends that would reach below zero."""
    numbers = [n for c in cells for n in (known(c.ours), known(c.published)) if n and n > 0]
    return min(numbers, default=1.0) / 2.0


def _printed(
    exhibit: Exhibit, cells: Sequence[Cell], drawn: Collection[str]
) -> Iterator[dict[str, Any]]:
    """The paper's points of each row; the legend names those of rows without a drawn line."""
    ends = _positions(cells)
    for position, row in enumerate(dict.fromkeys(cell.row for cell in cells)):
        look, here = style(position), [cell for cell in cells if cell.row == row]
        points = [
            (_within(_place(cell.column), ends), value)
            for cell in here
            if (value := _shown(exhibit, cell.published)) is not None
        ]
        if points:
            x, y = zip(*dict.fromkeys(points), strict=True)
            yield dots(
                f"{row}, in the paper", x, y, look.colour, f"{look.marker}-open",
                "<b>%{fullData.name}</b><br>%{x}: %{y:.4g}", ring=2, legendgroup=row,
                showlegend=row not in drawn,
            )  # fmt: skip


def _note() -> dict[str, Any]:
    """One entry of the legend for all the paper's points."""
    return dots("open markers: the paper", [None], [None], MUTED, "circle-open", "", ring=2)


def reading(exhibit: Exhibit, cells: Sequence[Cell]) -> str:
    """The exhibit in one sentence, for those who cannot see it."""
    if not exhibit.graded:
        return f"{exhibit.title}: {exhibit.quantity}. {exhibit.says(cells)}".rstrip()
    graded = [name for cell in cells if (name := grade(exhibit, cell))]
    if not graded:
        return f"{exhibit.title}: {exhibit.quantity}. No computed numbers to compare yet."
    return (
        f"{exhibit.title}: {exhibit.quantity}. Of {len(graded)} comparisons with the paper, "
        f"{graded.count('near')} are within 10 % and {graded.count('fair')} more within 25 %."
    )
