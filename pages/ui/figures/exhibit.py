"""An exhibit of a paper as rows of numbers, as the paper's table, or as its figure."""

from collections.abc import Iterator, Sequence
from typing import Any

import plotly.graph_objects as go

from engine.exhibit import Cell, Exhibit
from pages.ui.figures.theme import DASHES, MUTED, Style, axis, band, figure, log_axis, style
from pages.ui.verdict import grade, known, mark, variants
from pages.ui.words import number

DIRECTION = {"up": " · higher is better", "down": " · lower is better"}
FEW = 12
"""A logarithmic axis has a tick at each of so many positions."""
NOTHING = "–"
UNBROKEN = "\u00a0"
"""A space at which no line ends: a narrow screen scrolls a table instead of breaking it up."""


def rows(exhibit: Exhibit, cells: Sequence[Cell]) -> list[dict[str, Any]]:
    """Every cell as one row, for a table to sort or to take away."""
    return [
        {
            "Row": cell.row,
            exhibit.axis or "Column": cell.column,
            "Variant": cell.variant,
            "Paper": known(cell.published),
            "Ours": known(cell.ours),
            "± (standard deviation)": known(cell.spread),
            "Ours / paper": known(cell.ratio),
            "Run": cell.run,
        }
        for cell in cells
    ]


def table(exhibit: Exhibit, cells: Sequence[Cell]) -> dict[str, list[str]]:
    """The paper's table as Markdown, column by column, with ours below or beside theirs."""
    columns = tuple(dict.fromkeys(cell.column for cell in cells))
    readings = variants(cells)
    lines = _lines(exhibit, cells, columns)
    if len(columns) > 1:
        first = {row: i for i, (row, _, _) in reversed(list(enumerate(lines)))}
        names = [f"**{row}**" * (first[row] == i) for i, (row, _, _) in enumerate(lines)]
        body = {head: [texts[i] for _, _, texts in lines] for i, head in enumerate(columns)}
        return {"": names, " ": [who for _, who, _ in lines], **body}
    whose = ("Paper", *(_ours(variant, len(readings)) for variant in readings))
    only = {(row, who): texts[0] for row, who, texts in lines}
    named = tuple(dict.fromkeys(row for row, _, _ in lines))
    beside = {who: [only.get((row, who), "") for row in named] for who in whose}
    return {"": [f"**{row}**" for row in named], **beside}


def _lines(
    exhibit: Exhibit, cells: Sequence[Cell], columns: tuple[str, ...]
) -> list[tuple[str, str, list[str]]]:
    """For each row of the paper: its own line, then one for each variant of ours."""
    readings = variants(cells)
    lines = []
    for row in dict.fromkeys(cell.row for cell in cells):
        here = {(c.variant, c.column): c for c in cells if c.row == row}
        printed = {c.column: c.published for c in here.values() if c.published is not None}
        lines.append((row, "Paper", [_figure(exhibit, printed.get(c)) for c in columns]))
        for variant in readings:
            ours = [here.get((variant, column)) for column in columns]
            if any(ours):
                texts = [_cell(exhibit, cell) if cell else "" for cell in ours]
                lines.append((row, _ours(variant, len(readings)), texts))
    return lines


def _ours(variant: str, count: int) -> str:
    """What a line of ours is called."""
    return f"Ours, {variant}".replace(" ", UNBROKEN) if count > 1 else "Ours"


def _figure(exhibit: Exhibit, value: float | None) -> str:
    """A number as the paper prints it."""
    found = known(value)
    return NOTHING if found is None else f"{found:,.{exhibit.digits}f}"


def _cell(exhibit: Exhibit, cell: Cell) -> str:
    """Our number, its spread, and how near it is."""
    if known(cell.ours) is None:
        return NOTHING
    spread = f" ± {_short(exhibit, off)}" if (off := known(cell.spread)) is not None else ""
    lines = (f"**{_figure(exhibit, cell.ours)}**{spread}", mark(cell))
    return "  \n".join(line.replace(" ", UNBROKEN) for line in lines if line)


def _short(exhibit: Exhibit, spread: float) -> str:
    """A spread in two figures, and in no more decimals than its number."""
    return number(spread, 2) if spread >= 10 ** (1 - exhibit.digits) else _figure(exhibit, spread)


def plot(exhibit: Exhibit, cells: Sequence[Cell], revision: str) -> go.Figure:
    """The paper's figure: our lines with their bands, the printed points as open markers.

    Args:
        exhibit: What the figure is.
        cells: Its points; colour and marker tell the rows, the dash tells the variant.
        revision: Changes when a zoom should be forgotten.
    """
    traces = [
        trace for series in _series(exhibit, cells) for trace in _drawn(exhibit, cells, *series)
    ]
    printed = list(_printed(exhibit, cells))
    note = [_note()] if any(not points["showlegend"] for points in printed) else []
    return figure(
        [*traces, *printed, *note],
        height=480,
        uirevision=revision,
        xaxis=_across(exhibit, cells),
        yaxis=_upward(exhibit, cells),
    )


def _across(exhibit: Exhibit, cells: Sequence[Cell]) -> dict[str, Any]:
    """The horizontal axis; a logarithmic one has a tick at each position if they are few."""
    at = sorted({place for cell in cells if isinstance(place := _place(cell.column), float)})
    if not exhibit.log[0]:
        return axis(exhibit.axis)
    if len(at) > FEW:
        return log_axis(exhibit.axis, at)
    text = [f"{place:g}" for place in at]
    return axis(exhibit.axis, type="log", tickvals=at, ticktext=text)


def _upward(exhibit: Exhibit, cells: Sequence[Cell]) -> dict[str, Any]:
    """The vertical axis, which says which way is good."""
    title = exhibit.quantity + DIRECTION.get(exhibit.better, "")
    if not exhibit.log[1]:
        return axis(title)
    return log_axis(title, [n for c in cells for n in (c.ours, c.published) if n is not None])


def _place(column: str) -> float | str:
    """The position of a column: a number where it is one."""
    try:
        return float(column)
    except ValueError:
        return column


def _series(
    exhibit: Exhibit, cells: Sequence[Cell]
) -> Iterator[tuple[str, Style, bool, list[Cell]]]:
    """Our lines: row, look, whether the variant must be told, and points from left to right."""
    readings = variants(cells)
    for position, row in enumerate(dict.fromkeys(cell.row for cell in cells)):
        look = style(position)
        for turn, variant in enumerate(readings):
            points = [c for c in cells if (c.row, c.variant) == (row, variant)]
            points = [
                c
                for c in points
                if (value := known(c.ours)) is not None and (value > 0 or not exhibit.log[1])
            ]
            if all(isinstance(_place(c.column), float) for c in points):
                points.sort(key=lambda c: float(c.column))
            if points:
                dashed = Style(look.colour, DASHES[turn % len(DASHES)], look.marker)
                yield row, dashed, len(readings) > 1, points


def _drawn(
    exhibit: Exhibit, cells: Sequence[Cell], row: str, look: Style, told: bool, points: list[Cell]
) -> list[dict[str, Any]]:
    """The band and the line of one row and variant."""
    name = f"{row}, {points[0].variant}" if told else row
    x, y = [_place(c.column) for c in points], [float(c.ours or 0.0) for c in points]
    spread = [known(c.spread) or 0.0 for c in points]
    line = {
        "type": "scatter", "mode": "lines+markers", "name": name, "legendgroup": row,
        "x": x, "y": y, "customdata": spread,
        "hovertemplate": "<b>%{fullData.name}</b><br>%{x}: %{y:.4g} ± %{customdata:.2g}"
        "<extra></extra>",
        "line": {"color": look.colour, "dash": look.dash, "width": 2.2},
        "marker": {"symbol": look.marker, "size": 6, "color": look.colour},
    }  # fmt: skip
    if not any(spread) or not all(isinstance(at, float) for at in x):
        return [line]
    floor = _floor(cells) if exhibit.log[1] else float("-inf")
    low = [max(floor, value - off) for value, off in zip(y, spread, strict=True)]
    high = [value + off for value, off in zip(y, spread, strict=True)]
    return [band([float(at) for at in x], low, high, look.colour, row), line]


def _floor(cells: Sequence[Cell]) -> float:
    """Half of the smallest number: where a band ends that would reach below zero."""
    numbers = [n for c in cells for n in (known(c.ours), known(c.published)) if n and n > 0]
    return min(numbers, default=1.0) / 2.0


def _printed(exhibit: Exhibit, cells: Sequence[Cell]) -> Iterator[dict[str, Any]]:
    """The paper's points of each row."""
    for position, row in enumerate(dict.fromkeys(cell.row for cell in cells)):
        look, here = style(position), [cell for cell in cells if cell.row == row]
        points = {
            _place(cell.column): value
            for cell in here
            if (value := known(cell.published)) is not None and (value > 0 or not exhibit.log[1])
        }
        if points:
            yield {
                "type": "scatter", "mode": "markers", "name": f"{row}, in the paper",
                "legendgroup": row,
                "showlegend": all(known(cell.ours) is None for cell in here),
                "x": list(points), "y": list(points.values()),
                "hovertemplate": "<b>%{fullData.name}</b><br>%{x}: %{y:.4g}<extra></extra>",
                "marker": {
                    "symbol": f"{look.marker}-open", "size": 12, "color": look.colour,
                    "line": {"width": 2, "color": look.colour},
                },
            }  # fmt: skip


def _note() -> dict[str, Any]:
    """One entry of the legend for all the paper's points."""
    return {
        "type": "scatter", "mode": "markers", "name": "open markers: the paper", "x": [None],
        "y": [None], "hoverinfo": "skip",
        "marker": {
            "symbol": "circle-open", "size": 12, "color": MUTED,
            "line": {"width": 2, "color": MUTED},
        },
    }  # fmt: skip


def reading(exhibit: Exhibit, cells: Sequence[Cell]) -> str:
    """The exhibit in one sentence, for those who cannot see it."""
    graded = [name for cell in cells if (name := grade(cell))]
    if not graded:
        return f"{exhibit.title}: {exhibit.quantity}. Nothing of ours to compare yet."
    return (
        f"{exhibit.title}: {exhibit.quantity}. Of {len(graded)} comparisons with the paper, "
        f"{graded.count('near')} are within 10 % and {graded.count('fair')} more within 25 %."
    )
