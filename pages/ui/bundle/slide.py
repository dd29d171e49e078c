"""One slide of PowerPoint: the finding as its title, the chart to edit, the guarantee as notes."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from urllib.parse import parse_qsl, urlsplit

from engine import __version__
from engine.core.errors import RequestError
from pages.ui import words
from pages.ui.bundle import collect
from pages.ui.bundle.colours import palette
from pages.ui.charts.heights import Heights
from pages.ui.charts.measured import Curve, Level
from pages.ui.charts.proof import finite
from pages.ui.kit import shell
from pages.ui.kit.markdown import plain
from pages.ui.lessons import views
from pages.ui.paper import drawing, panels
from pages.ui.paper.choice import PROOF_FIRST
from pages.ui.paper.defaults import addressed, link
from pages.ui.paper.view import View

NOTHING = (
    "{}: nothing is trained at these settings: open the address in the app and let it train, then "
    "write the slide again"
)
DECADE = 10.0
"""A logarithmic axis of less has one tick: such a range is drawn on a linear one from zero."""


@dataclass(frozen=True)
class Line:
    """A line of the chart.

    Attributes:
        name: Of the method.
        points: Budget and height of each point.
        colour: As #rrggbb.
        dashed: Whether it is a level without privacy.
    """

    name: str
    points: tuple[tuple[float, float], ...]
    colour: str
    dashed: bool = False


@dataclass(frozen=True)
class Slide:
    """What a slide holds.

    Attributes:
        title: The finding in a sentence.
        axis: What is measured, and the unit.
        budget: What the horizontal axis is.
        lines: The lines in focus.
        below: What else is to be known, such as a line that has no place on the axis; may be empty.
        log: Whether the vertical axis is logarithmic.
        ends: The vertical axis' ends.
        share: Whether heights are shares, drawn in per cent.
        notes: The guarantee, the settings and the source, one sentence for each.
    """

    title: str
    axis: str
    budget: str
    lines: tuple[Line, ...]
    below: str
    log: bool
    ends: tuple[float, float]
    share: bool
    notes: tuple[str, ...]


def parsed(text: str) -> tuple[str, dict[str, str]]:
    """The paper's page and the settings that an address names.

    Args:
        text: As the address bar shows it, with or without the host.

    Raises:
        RequestError: No page of a paper, or settings that are not its own.
    """
    try:
        parts = urlsplit(text)
    except ValueError:  # an address that is none
        parts = urlsplit("")
    page, settings = parts.path.strip("/").rpartition("/")[2], dict(parse_qsl(parts.query))
    if page not in shell.papers():
        raise RequestError(
            f"address: expected the page of a paper ({', '.join(shell.papers())}), got {text!r}"
        )
    if faults := views.wrong(page, settings):
        raise RequestError(f"address: {' '.join(faults)}".rstrip("."))
    return page, settings


def opened(slug: str, settings: Mapping[str, str]) -> View:
    """A paper's view as an address opens it, with the runs that are there.

    Raises:
        RequestError: The run of the method that is looked at is not there.
    """
    collect.quiet()
    page = addressed(slug, settings)
    _, watched = collect.runs(page)
    if page.chosen.method not in watched:
        raise RequestError(NOTHING.format(slug))
    return page.view(watched, page.chosen)


def made(slug: str, settings: Mapping[str, str]) -> Slide:
    """What the slide of a view holds.

    Raises:
        RequestError: Nothing of it was measured.
    """
    view = opened(slug, settings)
    curves, levels = drawing.shown(view)
    up, at = drawing.heights(view), panels.placed(view)
    curves = curves if at is None else at.lines
    if not any(one.epsilon for one in curves.values()):
        raise RequestError(NOTHING.format(slug))
    by_proof = at is not None or view.by == PROOF_FIRST
    lines, lost = _lines([one for one in curves.values() if one.focus], by_proof, up)
    budgets = [place for line in lines for place, _ in line.points] or [view.budget]
    reach = min(budgets), max(budgets)
    log = up.log and up.high / up.low >= DECADE
    title, dot, rest = plain(panels.result(view)).partition(". ")
    return Slide(
        title=f"{title}{dot.strip()}",
        axis=up.title.replace("<br>", " "),
        budget=at.label if at else f"{'Proved' if by_proof else 'Claimed'} privacy budget ε",
        lines=(*lines, *(_level(one, reach, up) for one in levels if one.focus)),
        below=" ".join(filter(None, (rest, *lost))),
        log=log,
        ends=(up.low if log or not up.log else 0.0, up.high),
        share=up.share,
        notes=_notes(view, settings, _told_of(view, curves, levels)),
    )


def _lines(curves: Sequence[Curve], by_proof: bool, up: Heights) -> tuple[list[Line], list[str]]:
    """The lines that have budgets, and a sentence for each without a finite one."""
    colours, lines, lost = palette("light"), [], []
    for one in curves:
        placed = by_proof and len(one.proved) == len(one.epsilon)
        at = one.proved if placed else one.epsilon
        pairs = zip(at, up.of(one.middle), strict=True)
        points = tuple((float(e), y) for e, y in pairs if e is not None and finite(e))
        if points:
            colour = colours[one.style.colour.lstrip("#").lstrip("0")]
            lines.append(Line(one.brief or one.label, points, colour))
        elif one.epsilon:
            lost.append(f"{one.brief or one.label}: no finite ε is proved.")
    return lines, lost


def _level(one: Level, reach: tuple[float, float], up: Heights) -> Line:
    """A method without privacy: the same at every budget."""
    (height,) = up.of([one.value])
    return Line(one.brief or one.label, tuple((at, height) for at in reach), "#5f6b6f", dashed=True)


def _told_of(view: View, curves: Mapping[str, Curve], levels: Sequence[Level]) -> tuple[str, ...]:
    """The method that is looked at; where it has no such measure, those of the lines in focus."""
    label = view.watched[view.method].label
    if view.method in curves or any(one.label == label for one in levels):
        return (view.method,)
    focus = (name for name, one in curves.items() if one.focus and one.epsilon)
    return tuple(name for name in focus if name in view.watched) or (view.method,)


def _notes(view: View, settings: Mapping[str, str], methods: Sequence[str]) -> tuple[str, ...]:
    """The guarantees of methods, what they assume, and where the numbers come from."""
    query = "&".join(f"{name}={value}" for name, value in settings.items())
    cards = [view.guarantee(name) for name in methods]
    under = [(*card.reasons, *card.limits) for card in cards]
    common = [one for one in under[0] if len(under) > 1 and all(one in some for some in under)]
    said = []
    for name, some in zip(methods, under, strict=True):
        said += [
            collect.told(collect.line(view, name)),
            *(one for one in some if one not in common),
        ]
    said += [f"All: {one}" for one in common]
    runs = [view.watched[name].job for name in methods]
    return (
        *said,
        f"Data: {words.times(view.data.title)}{', simulated' if view.data.simulated else ''}.",
        f"Epsilon Explorer {__version__}, address {link(view.watched[view.method].job)}"
        f"{f', opened with {query}' if query else ''}, "
        f"run{'s' * (len(runs) > 1)} {', '.join(job.id for job in runs)}.",
    )


def ends(low: float, high: float) -> tuple[float, float]:
    """Round ends of a logarithmic axis, whose ticks are its lower end times powers of ten.

    >>> ends(0.04, 9.0)
    (0.02, 10.0)
    """
    steps = [
        float(f"{step}e{power}")
        for power in range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
        for step in (1, 2, 5)
    ]
    return max(one for one in steps if one <= low), min(one for one in steps if one >= high)


def rounded(value: float) -> float:
    """A height with the digits that a chart can show."""
    return float(f"{value:.6g}")
