"""The app's mark: the answers from two neighbouring data sets, as two bells that overlap."""

import functools
import math

GREEN, BLUE = "#149a94", "#3a7fc4"
WIDTH, HEIGHT = 46, 30


def icon() -> str:
    """The mark alone, as SVG."""
    return _svg(WIDTH, HEIGHT, _bells())


def logo() -> str:
    """The mark with the name, in a tone that reads on light and dark."""
    name = (
        f'<text x="56" y="22" font-family="Georgia, \'Source Serif 4\', serif" font-size="19" '
        f'font-weight="600" fill="{GREEN}">Epsilon Explorer</text>'
    )
    return _svg(212, HEIGHT, _bells() + name)


def _svg(width: int, height: int, inside: str) -> str:
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
        f'width="{width}" height="{height}">{inside}</svg>'
    )


@functools.cache
def _bells() -> str:
    return _bell(17.0, GREEN) + _bell(28.0, BLUE)


def _bell(middle: float, colour: str) -> str:
    """One bell curve, filled lightly."""
    places = [i * 0.5 for i in range(2 * WIDTH + 1)]
    points = " ".join(
        f"{x:g},{HEIGHT - 2 - 24 * math.exp(-(((x - middle) / 7.5) ** 2)):.2f}" for x in places
    )
    return (
        f'<polygon points="0,{HEIGHT - 2} {points} {WIDTH},{HEIGHT - 2}" fill="{colour}" '
        f'fill-opacity="0.28" stroke="{colour}" stroke-width="1.6"/>'
    )
