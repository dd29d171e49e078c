"""One hundred dots: a chance as a count, the way people picture it best."""

ROWS, COLUMNS = 5, 20
PITCH, SIZE = 15, 10.5
SURE, ADDED, REST = "#7c8f93", "#149a94", "#9aa9ac"
"""Chosen to be told apart on white and on near-black alike."""


def dots(count: int, baseline: int = 50) -> str:
    """An SVG picture of `count` dots out of 100, the rest pale.

    Args:
        count: How many are drawn in full.
        baseline: How many of these would be so anyway; they are grey.
    """
    width, height = COLUMNS * PITCH, ROWS * PITCH
    parts = (
        _dots(0, min(count, baseline), SURE, 1.0)
        + _dots(baseline, count, ADDED, 1.0)
        + _dots(count, ROWS * COLUMNS, REST, 0.28)
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
        f'width="{width}" height="{height}" stroke-linecap="round" stroke-width="{SIZE}">'
        f"{parts}</svg>"
    )


def _dots(first: int, last: int, colour: str, opacity: float) -> str:
    """Dots side by side as one path: strokes of no length with round ends, column by column."""
    steps = "".join(
        f"M{(i // ROWS + 0.5) * PITCH:g} {(i % ROWS + 0.5) * PITCH:g}h0" for i in range(first, last)
    )
    return f'<path d="{steps}" stroke="{colour}" stroke-opacity="{opacity:g}"/>' if steps else ""
