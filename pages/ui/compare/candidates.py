"""Runs that can stand on one chart of utility against privacy budget."""

import dataclasses
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from datasets import catalog as data_catalog
from engine.catalog import catalog
from engine.core import gauges as declared
from engine.core.errors import ExplorerError
from engine.core.gauges import Gauge
from engine.core.spec import knobs
from engine.method import Entry, Paper
from engine.privacy.guarantee import Guarantee
from engine.runs.job import Job
from engine.runs.results import Results
from engine.service.client import Run
from pages.ui import words
from pages.ui.charts import curves
from pages.ui.charts.curves import Curve, Level
from pages.ui.jobs.live import BUDGET
from pages.ui.kit import card
from pages.ui.kit.access import client

PAGES = Path(__file__).parents[2]


@dataclass(frozen=True)
class Contender:
    """A finished run.

    Attributes:
        job: What was asked for.
        paper: Its paper.
        entry: Its method.
    """

    job: Job
    paper: Paper[Any]
    entry: Entry[Any]

    @property
    def label(self) -> str:
        """Method and data set."""
        return f"{self.entry.label}, {words.short(self.job.dataset)}"

    @property
    def text(self) -> str:
        """As lists and the address name it."""
        return f"{self.label} ({self.job.id[:6]})"

    @property
    def spends(self) -> bool:
        """Whether it has points at budgets rather than one level."""
        return BUDGET in self.entry.uses

    @cached_property
    def gauges(self) -> dict[str, Gauge]:
        """What it measures, the paper's own choice first."""
        found = declared.gauges(self.entry.info)
        first = {self.paper.gauge: found[self.paper.gauge]} if self.paper.gauge in found else {}
        return first | found

    @cached_property
    def budgets(self) -> tuple[float, ...]:
        """The budgets that it was trained with; none where it spends none."""
        if not self.spends:
            return ()
        return tuple(float(v) for v in self.job.axes.get(BUDGET, (self.job.values[BUDGET],)))

    @cached_property
    def results(self) -> Results:
        """Its measurements, with the budget as an axis."""
        found = client().table(self.job.id)
        if not self.spends or BUDGET in found.axes:
            return found
        only = np.full(len(found.seeds), self.budgets[0])
        return dataclasses.replace(found, axes={**found.axes, BUDGET: only})

    @property
    def settings(self) -> str:
        """What differs from the paper's defaults."""
        fields, default = knobs(self.paper.spec), self.paper.spec().values()
        fixed = {name: axis[0] for name, axis in self.job.axes.items() if len(axis) == 1}
        values = {**self.job.values, **fixed}
        return ", ".join(
            f"{fields[name].label} {_text(values[name])}"
            for name in self.entry.uses
            if name != BUDGET and values[name] != default[name]
        )

    def median(self, gauge: str, epsilon: float) -> float | None:
        """The median over repetitions at a budget; None where it was not measured."""
        column = self.results.gauges[gauge]
        if self.spends:
            column = column[np.isclose(self.results.axes[BUDGET], epsilon)]
        column = column[np.isfinite(column)]
        return float(np.median(column)) if len(column) else None

    def guarantee(self, epsilon: float) -> Guarantee:
        """Its card at a budget."""
        data, spec = data_catalog.card(self.job.dataset), self.job.spec()
        if self.spends:
            spec = spec.replace(**{BUDGET: epsilon})
        return card.guarantee(self.entry, spec, data.records, data.record)


def _text(value: float | str) -> str:
    return value.replace("_", " ") if isinstance(value, str) else words.number(float(value))


def found(runs: Sequence[Run]) -> list[Contender]:
    """The runs that are over and vary in nothing but budget and seed, in the order given."""
    able = []
    for run in runs:
        wide = [name for name, values in run.job.axes.items() if len(values) > 1]
        if run.state != "completed" or set(wide) - {BUDGET}:
            continue
        try:
            able.append(Contender(run.job, catalog()[run.job.paper], run.job.entry()))
        except (KeyError, ExplorerError):
            continue  # its paper or method is no longer here
    return able if any(one.spends for one in able) else []


def gauges(found: Sequence[Contender]) -> dict[str, Gauge]:
    """What the runs measure: first what a paper shows first, then what most of them share."""
    known = {name: gauge for one in reversed(found) for name, gauge in one.gauges.items()}
    papers = Counter(name for _, name in {(o.job.paper, name) for o in found for name in o.gauges})
    count = Counter(name for one in found for name in one.gauges)
    first = Counter(one.paper.gauge for one in found)
    ranked = sorted(known, key=lambda name: (not first[name], -papers[name], -count[name]))
    return {name: known[name] for name in ranked}


def drawn(chosen: Sequence[Contender], gauge: str) -> tuple[list[Curve], list[Level]]:
    """A curve for each run that spends budget, a level for each that does not."""
    lines, levels, labels = [], [], Counter(one.label for one in chosen)
    for position, one in enumerate(chosen):
        label = one.label if labels[one.label] == 1 else one.text
        if one.spends:
            lines.append(curves.curve(one.results, gauge, label, position))
        elif (level := curves.level(one.results, gauge, label, position)) is not None:
            levels.append(level)
    return lines, levels
