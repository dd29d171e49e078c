"""One hundred dots: a chance as a count, the way people picture it best."""

ROWS, COLUMNS = 5, 20
PITCH, RADIUS = 15, 5.2
FULL, EXTRA, EMPTY = "#7c8f93", "#149a94", "#9aa9ac"
"""Chosen to be told apart on white and on near-black alike."""


def dots(count: int, baseline: int = 50) -> str:
    """An SVG picture of `count` filled dots out of 100.

    Args:
        count: How many are filled.
        baseline: How many of these would be filled anyway; they are drawn in grey.
    """
    parts = [_dot(i, count, baseline) for i in range(ROWS * COLUMNS)]
    width, height = COLUMNS * PITCH, ROWS * PITCH
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
        f'width="{width}" height="{height}">{"".join(parts)}</svg>'
    )


def _dot(i: int, count: int, baseline: int) -> str:
    """The i-th dot, filled column by column so that the picture grows to the right."""
    column, row = divmod(i, ROWS)
    x, y = (column + 0.5) * PITCH, (row + 0.5) * PITCH
    if i < min(count, baseline):
        look = f'fill="{FULL}"'
    elif i < count:
        look = f'fill="{EXTRA}"'
    else:
        look = f'fill="none" stroke="{EMPTY}" stroke-opacity="0.7" stroke-width="1.2"'
    return f'<circle cx="{x:g}" cy="{y:g}" r="{RADIUS}" {look}/>'
