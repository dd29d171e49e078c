"""An exhibit of a paper as its table, and as rows of numbers to take away."""

from collections.abc import Sequence
from typing import Any

from engine.runs.exhibit import Cell, Exhibit
from pages.ui.charts.agreement import badge, known, spoken, variants
from pages.ui.words import column, number

NOTHING = "–"
UNBROKEN = "\u00a0"
"""A space at which no line ends: a narrow screen scrolls a table instead of breaking it up."""


def rows(exhibit: Exhibit, cells: Sequence[Cell]) -> list[dict[str, Any]]:
    """Every cell as one row, for a table to sort or to take away."""
    apart = any(cell.published_spread is not None for cell in cells)

    def graded(cell: Cell) -> dict[str, Any]:
        return {"Our error / the paper's": known(exhibit.ratio(cell))} if exhibit.graded else {}

    return [
        {
            "Row": cell.row,
            exhibit.axis or "Column": cell.column,
            "Variant": spoken(cell.variant),
            exhibit.heads[0]: known(cell.published),
            **({f"{exhibit.heads[0]} ±": known(cell.published_spread)} if apart else {}),
            exhibit.heads[1]: known(cell.ours),
            "±" if exhibit.beside else "± (standard deviation)": known(cell.spread),
            **graded(cell),
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
        symbol = f"{exhibit.columns} = ".replace(" ", UNBROKEN) if exhibit.columns else ""
        heads = [f"{symbol}{name}" if symbol else _head(name) for name in columns]
        body = {head: [texts[i] for _, _, texts in lines] for i, head in enumerate(heads)}
        return {"": names, " ": [who for _, who, _ in lines], **body}
    whose = (exhibit.heads[0], *(_ours(exhibit, variant, len(readings)) for variant in readings))
    only = {(row, who): texts[0] for row, who, texts in lines}
    named = tuple(dict.fromkeys(row for row, _, _ in lines))
    beside = {who: [only.get((row, who), "") for row in named] for who in whose}
    return {"": [f"**{row}**" for row in named], **beside}


def _head(name: str) -> str:
    """A column as its head calls it: a word begins with a capital letter, a symbol does not."""
    text = column(name).replace("_", " ")
    return f"{text[:1].upper()}{text[1:]}" if len(text) > 1 and text.isascii() else text


def _lines(
    exhibit: Exhibit, cells: Sequence[Cell], columns: tuple[str, ...]
) -> list[tuple[str, str, list[str]]]:
    """For each row of the paper: its own line, then one for each variant of ours."""
    readings = variants(cells)
    lines = []
    for row in dict.fromkeys(cell.row for cell in cells):
        here = {(c.variant, c.column): c for c in cells if c.row == row}
        printed = {c.column: c for c in here.values() if c.published is not None}
        if printed or not exhibit.beside:
            texts = [_printed(exhibit, printed.get(c)) for c in columns]
            lines.append((row, exhibit.heads[0], texts))
        for variant in readings:
            ours = [here.get((variant, column)) for column in columns]
            if any(ours):
                texts = [_cell(exhibit, cell) if cell else "" for cell in ours]
                lines.append((row, _ours(exhibit, variant, len(readings)), texts))
    return lines


def _ours(exhibit: Exhibit, variant: str, count: int) -> str:
    """What a line of ours is called."""
    if count < 2:
        return exhibit.heads[1]
    name = spoken(variant)
    text = f"{name[:1].upper()}{name[1:]}" if exhibit.beside else f"{exhibit.heads[1]}, {name}"
    return text.replace(" ", UNBROKEN)


def figure(exhibit: Exhibit, value: float | None) -> str:
    """A number as the paper prints it, with a power of ten where that would print zeros alone."""
    if (shown := known(value)) is None:
        return NOTHING
    if exhibit.fades(shown):
        return number(shown, 2)
    return f"{shown:,.{exhibit.digits}f}"


def _printed(exhibit: Exhibit, cell: Cell | None) -> str:
    """The paper's number, and its spread where it prints one."""
    if cell is None:
        return NOTHING
    text = f"{figure(exhibit, cell.published)}{_spread(exhibit, cell.published_spread)}"
    return text.replace(" ", UNBROKEN)


def _spread(exhibit: Exhibit, spread: float | None) -> str:
    """What stands behind a number that has a spread."""
    return "" if (off := known(spread)) is None else f" ± {_short(exhibit, off)}"


def _cell(exhibit: Exhibit, cell: Cell) -> str:
    """Our number, its spread, and how near it is."""
    if known(cell.ours) is None:
        return NOTHING
    spread = _spread(exhibit, cell.spread)
    lines = (f"**{figure(exhibit, cell.ours)}**{spread}", badge(exhibit, cell))
    return "  \n".join(line.replace(" ", UNBROKEN) for line in lines if line)


def _short(exhibit: Exhibit, spread: float) -> str:
    """A spread in two figures, and in no more decimals than its number."""
    return number(spread, 2) if spread >= 10 ** (1 - exhibit.digits) else figure(exhibit, spread)
