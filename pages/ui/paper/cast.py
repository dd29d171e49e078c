"""Which lines of a page are in colour at first, and the colour of each method. No Streamlit.

Every page opens with at most four lines in colour: the paper's own method as printed, the same with
proof, the best proved method of the page, and no privacy. All others are thin and grey until they
are chosen. A method's colour follows from its paper and its name alone, so that it is the same on
every page: the paper's own method has the first, the same as printed the second.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from engine import catalog
from engine.core.gauges import Gauge
from engine.method import Entry, Paper
from engine.runs.job import Job
from pages.ui.charts.measured import Curve, Level
from pages.ui.charts.proof import finite
from pages.ui.charts.theme import INK, MUTED, SERIES, Style, reference_style, style
from pages.ui.paper.overlay import CALIBRATION, PRINTED, PROVED, SIGN

HELD = ("proved", "proved_under_assumption")
"""What a guarantee is known to hold by, the better first."""
OWN = {PROVED: SERIES[0], PRINTED: SERIES[1]}
"""Colours of the paper's own method, by its noise; any other way is not private, and grey."""


def lead(paper: Paper[Any]) -> Entry[Any]:
    """The paper's own method: its first that can be run as printed and with proof."""
    own = [entry for entry in paper.methods if entry.role == "paper"] or list(paper.methods)
    return next((entry for entry in own if CALIBRATION in entry.uses), own[0])


def look(paper: Paper[Any], job: Job) -> Style:
    """How a method looks wherever it is drawn."""
    paper = catalog.catalog().get(paper.slug, paper)  # whole, where a page shows a part of it
    names = [entry.name for entry in paper.methods]
    own, place = lead(paper).name, names.index(job.method)
    rest = SERIES[len(OWN) :]
    marker = style(place + place // len(rest))  # colours that come again have other markers
    if job.method == own:
        return replace(marker, colour=OWN.get(_way(paper, job), MUTED))
    names.remove(own)
    return replace(marker, colour=rest[names.index(job.method) % len(rest)])


def printed(paper: Paper[Any], job: Job) -> bool:
    """Whether a job has the noise that its paper prints."""
    return _way(paper, job) == PRINTED


def _way(paper: Paper[Any], job: Job) -> str:
    """How a job's noise is scaled; what has no choice has noise with proof."""
    uses = paper.entry(job.method).uses
    return str(job.values.get(CALIBRATION, PROVED)) if CALIBRATION in uses else PROVED


NAMED = "2px,4px"
"""Dots of a grey level that has a name: denser than those of others, looser than those in ink."""


@dataclass(frozen=True)
class Cast:
    """The lines that a page is about.

    Attributes:
        best: The best proved method today; where that is the paper's own and its printed noise is
            proved too, the best proved rival.
        own: The paper's own method with proof.
        printed: The same as printed.
        others: The same in every further way, such as the noise of the authors' program.
        none: The level without privacy that is drawn: the twin of the line that is named first,
            else the best one.
        twins: The level of each line's own method without privacy, by the line's label, where it
            has one and that is measured. Its costs are counted from there, else from `none`.
    """

    best: Curve | None
    own: Curve | None
    printed: Curve | None
    others: tuple[Curve, ...]
    none: Level | None
    twins: Mapping[str, Level] = field(default_factory=dict)

    @property
    def labels(self) -> set[str]:
        """The labels of these lines."""
        every = (self.best, self.own, self.printed, *self.others, self.none)
        return {one.label for one in every if one}


def cast(
    paper: Paper[Any], jobs: Mapping[str, Job], drawn: Mapping[str, Curve],
    levels: Sequence[Level], gauge: Gauge, chosen: str,
) -> Cast:  # fmt: skip
    """The lines that a page is about.

    Args:
        paper: The paper.
        jobs: The page's jobs, by name.
        drawn: Their curves.
        levels: Methods without privacy.
        gauge: What is measured.
        chosen: Name of the method that is looked at: it is taken as the best one where the
            intervals of the two medians overlap at most budgets, and where the measure has no
            better side.
    """
    sign = 1.0 if gauge.better == "down" else -1.0
    first = lead(paper).name
    own = {
        _way(paper, jobs[name]): one for name, one in drawn.items() if jobs[name].method == first
    }
    able = {
        name: one for name, one in drawn.items()
        if SIGN not in name and not printed(paper, jobs[name]) and one.epsilon
        and paper.entry(jobs[name].method).role != "reference" and any(map(finite, one.proved))
    }  # fmt: skip
    status = next((s for s in HELD if any(one.status == s for one in able.values())), None)
    among = (chosen,) if gauge.better == "neither" else able
    held = {name: one for name, one in able.items() if one.status == status and name in among}
    means = _means(held, sign)
    best = min(means, key=means.__getitem__, default="")
    best = chosen if chosen in means and _alike(held[chosen], held[best]) else best
    method = jobs[best].method if best else first
    top = held.get(best)
    if method == first:
        alone = PRINTED not in own or all(map(finite, own[PRINTED].proved))
        rivals = [name for name in means if jobs[name].method != first] if alone else []
        top = held.get(min(rivals, key=means.__getitem__, default=""))
    return Cast(
        best=top,
        own=own.pop(PROVED, None),
        printed=own.pop(PRINTED, None),
        others=tuple(own.values()),
        none=_twin(paper, levels, method)
        or min(levels, key=lambda one: sign * one.value, default=None),
        twins={
            one.label: level for name, one in drawn.items()
            if (level := _twin(paper, levels, jobs[name].method)) is not None
        },
    )  # fmt: skip


def _twin(paper: Paper[Any], levels: Sequence[Level], method: str) -> Level | None:
    """The level of a method's twin without privacy; None where none is measured."""
    twin = paper.entry(method).twin
    label = paper.entry(twin).label if twin else ""
    return next((one for one in levels if one.label == label), None)


def _means(held: Mapping[str, Curve], sign: float) -> dict[str, float]:
    """The mean of each curve over the budgets that all have; less is better.

    While some train, they have few budgets: over its own ones a whole curve would be another mean.
    One that has a single point so far is left out, unless no other has more.
    """
    held = {name: one for name, one in held.items() if len(one.epsilon) > 1} or held
    shared = set[float]().union(*(one.epsilon for one in held.values()))
    shared = shared.intersection(*(one.epsilon for one in held.values())) or shared
    return {
        name: sign * float(np.mean([
            value for budget, value in zip(one.epsilon, one.middle, strict=True) if budget in shared
        ]))
        for name, one in held.items()
    }  # fmt: skip


def _alike(one: Curve, other: Curve) -> bool:
    """Whether the intervals of two medians overlap at most of the budgets."""
    at = [(i, j) for i, budget in enumerate(one.epsilon) if (j := other.at(budget)) is not None]
    overlap = [
        one.sure_low[i] <= other.sure_high[j] and other.sure_low[j] <= one.sure_high[i]
        for i, j in at
    ]
    return bool(overlap) and float(np.mean(overlap)) >= 0.5


def focused(
    drawn: Mapping[str, Curve], levels: Sequence[Level], among: Cast, chosen: str
) -> tuple[dict[str, Curve], list[Level]]:
    """The same lines, with only the cast and the chosen method in focus.

    Where a line in focus has a level of its own without privacy, that is named too.
    """
    labels = among.labels | ({drawn[chosen].label} if chosen in drawn else set())
    curves = {name: replace(one, focus=one.label in labels) for name, one in drawn.items()}
    twins = [among.twins.get(one.label) for one in curves.values() if one.focus]
    return curves, [_shown(one, among, twins) for one in levels]


def _shown(one: Level, among: Cast, twins: Sequence[Level | None]) -> Level:
    """The level that is counted from is ink; one that a line in focus has for itself is named."""
    if one is among.none:
        return replace(one, focus=True, style=replace(reference_style(0), colour=INK))
    if any(one is twin for twin in twins):
        return replace(one, focus=False, told=True, style=replace(one.style, dash=NAMED))
    return replace(one, focus=False)
