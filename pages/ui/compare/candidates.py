"""Runs that can stand on one chart of utility against privacy budget."""

import dataclasses
import functools
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from datasets import catalog as data_catalog
from datasets import own
from engine.catalog import catalog
from engine.core import gauges as declared
from engine.core.errors import ExplorerError
from engine.core.gauges import Column, Gauge
from engine.core.spec import Choice, Setting, Value, knobs
from engine.method import Entry, Paper
from engine.privacy.guarantee import Guarantee
from engine.runs.job import Job
from engine.runs.results import Results
from engine.service.client import Run
from pages.ui import words
from pages.ui.charts import measured
from pages.ui.charts.measured import Curve, Level
from pages.ui.charts.theme import SERIES, Style, style
from pages.ui.jobs.live import BUDGET
from pages.ui.kit import card
from pages.ui.kit.access import client
from pages.ui.paper import cast

PAGES = Path(__file__).parents[2]
SHARE = "share_right"
"""Name of the measure that accuracies and errors of one task have in common."""
SHARES = {"accuracy": "", "error": "wrong:"}
"""Gauges that are shares of right answers, or of wrong ones."""
RIGHT = Gauge(
    "Share of right answers",
    "up",
    unit=words.SHARE,
    help="Test accuracy, or one minus the test error where a paper reports that.",
)


@dataclass(frozen=True)
class Candidate:
    """A finished run.

    Attributes:
        run: Its id.
        job: What was asked for.
        paper: Its paper.
        entry: Its method.
        ships: Whether it ships with the app.
    """

    run: str
    job: Job
    paper: Paper[Any]
    entry: Entry[Any]
    ships: bool = False

    @property
    def label(self) -> str:
        """Method and what differs from the paper's defaults."""
        return f"{self.entry.label} ({self.settings})" if self.settings else self.entry.label

    @property
    def spends(self) -> bool:
        """Whether it has points at budgets rather than one level."""
        return BUDGET in self.entry.uses

    @cached_property
    def gauges(self) -> dict[str, Gauge]:
        """What it measures, the paper's own choice first, and the share of right answers."""
        known, own = declared.gauges(self.entry.info), self.paper.gauge
        # an "error" in mg/dL must not stand on the axis of another paper's test error
        measures = {n: g for n, g in known.items() if n not in SHARES or g.unit == words.SHARE}
        first = {own: measures[own]} if own in measures else {}
        share = {SHARE: RIGHT} if self.share else {}
        return share | first | measures

    @cached_property
    def share(self) -> str:
        """The gauge that is a share of right or wrong answers; empty for none."""
        known = declared.gauges(self.entry.info)
        shares = (name for name in SHARES if name in known and known[name].unit == words.SHARE)
        return next(shares, "")

    @cached_property
    def budgets(self) -> tuple[float, ...]:
        """The budgets that it was trained with; none where it spends none."""
        if not self.spends:
            return ()
        return tuple(float(v) for v in self.job.axes.get(BUDGET, (self.job.values[BUDGET],)))

    @property
    def results(self) -> Results:
        """Its measurements, with the budget as an axis and the share of right answers."""
        return _complete(client().table(self.run), self.share, self.budgets)

    @cached_property
    def settings(self) -> str:
        """What differs from the paper's defaults, in words."""
        fields, default = knobs(self.paper.spec), self.paper.spec().values()
        fixed = {name: axis[0] for name, axis in self.job.axes.items() if len(axis) == 1}
        values = {**self.job.values, **fixed}
        return ", ".join(
            f"{fields[name].label} {_text(fields[name], values[name])}"
            for name in self.entry.uses
            if name != BUDGET and values.get(name, default[name]) != default[name]
        )

    def asked(self, gauge: str) -> str:
        """A measure as the command line names it for this run."""
        return f"{SHARES[self.share]}{self.share}" if gauge == SHARE else gauge

    def values(self, gauge: str, epsilon: float) -> Column:
        """The finite values over repetitions at a budget; none where it was not measured."""
        column = self.results.gauges[gauge]
        if self.spends:
            column = column[np.isclose(self.results.axes[BUDGET], epsilon)]
        return np.asarray(column[np.isfinite(column)], np.float64)

    def proved(self, epsilon: float) -> float | None:
        """What is proved to be spent at a claimed budget; None without a finite one.

        It was worked out when the run was computed, and is stored with it.
        """
        spent = self.results.epsilon[np.isclose(self.results.axes[BUDGET], epsilon)]
        return float(spent.max()) if len(spent) and np.isfinite(spent).all() else None

    def guarantee(self, epsilon: float) -> Guarantee:
        """Its card at a budget."""
        data, spec = data_catalog.card(self.job.dataset), self.job.spec()
        if self.spends:
            spec = spec.replace(**{BUDGET: epsilon})
        return card.guarantee(self.entry, spec, data)


def _text(setting: Setting, value: Value) -> str:
    """A setting's value as a page says it."""
    return setting.text(value) if isinstance(setting, Choice) else words.number(float(value))


@functools.lru_cache(maxsize=256)
def _complete(results: Results, share: str, budgets: tuple[float, ...]) -> Results:
    """Results with what they lack; the same object for the same results."""
    if budgets and BUDGET not in results.axes:
        only = np.full(len(results.seeds), budgets[0])
        results = dataclasses.replace(results, axes={**results.axes, BUDGET: only})
    if share:
        column = results.gauges[share]
        right = 1.0 - column if SHARES[share] else column
        results = dataclasses.replace(results, gauges={**results.gauges, SHARE: right})
    return results


def listed(runs: Sequence[Run]) -> list[Candidate]:
    """The runs that are over and vary in nothing but budget and seed, in the order given."""
    able = []
    for run in runs:
        wide = [name for name, values in run.job.axes.items() if len(values) > 1]
        if run.state != "completed" or set(wide) - {BUDGET}:
            continue
        try:
            paper = catalog()[run.job.paper]
            able.append(Candidate(run.id, run.job, paper, run.job.entry(), bool(run.shipped)))
        except (KeyError, ExplorerError):
            continue  # its paper or method is no longer here
    return able if any(one.spends for one in able) else []


def datasets(candidates: Sequence[Candidate]) -> tuple[str, ...]:
    """The data sets of the runs: first those on which most methods ran, own tables last."""
    methods = {(one.job.dataset, one.job.paper, one.job.method) for one in candidates if one.spends}
    count = Counter(dataset for dataset, _, _ in methods)
    names = dict.fromkeys(one.job.dataset for one in candidates if count[one.job.dataset])
    return tuple(sorted(names, key=lambda name: (own.mine(name), -count[name])))


def gauges(candidates: Sequence[Candidate]) -> dict[str, Gauge]:
    """What the runs measure: first what a paper shows first, then what most of them share."""
    known = {name: gauge for one in reversed(candidates) for name, gauge in one.gauges.items()}
    papers = Counter(
        name for _, name in {(o.job.paper, name) for o in candidates for name in o.gauges}
    )
    count = Counter(name for one in candidates for name in one.gauges)
    first = Counter(one.paper.gauge for one in candidates)
    ranked = sorted(
        known, key=lambda name: (name != SHARE, not first[name], -papers[name], -count[name])
    )
    return {name: known[name] for name in ranked}


def named(candidates: Sequence[Candidate]) -> dict[str, Candidate]:
    """The runs by names of which no two are equal: by method, settings, paper, size and day."""
    names: dict[str, Candidate] = {}
    for one in candidates:
        for name in _names(one):
            if name not in names:
                names[name] = one
                break
    return names


def shortened(chosen: Mapping[str, Candidate]) -> dict[str, Candidate]:
    """The same runs, without their settings where the name alone tells them apart."""
    bare = {name: name.replace(f" ({one.settings})", "", 1) for name, one in chosen.items()}
    count = Counter(bare.values())
    return {bare[n] if count[bare[n]] == 1 else n: one for n, one in chosen.items()}


def _names(one: Candidate) -> list[str]:
    """Names of a run, from the shortest to the one that no other has."""
    seeds, budgets = len(one.job.seeds), len(one.budgets)
    size = f"{words.plural(seeds, 'repetition')}, {words.plural(budgets, 'budget')}"
    paper = one.paper.title.partition(" (")[0]
    short = [one.label, f"{one.label}, {paper}", f"{one.label}, {paper}, {size}"]
    return [*short, f"{short[-1]}, run {one.run}"]


def first(able: Mapping[str, Candidate], gauge: str, most: int) -> list[str]:
    """The runs to begin with, in turn from each paper: its best proved one, its own, the others.

    Each method has one run.

    Args:
        able: The runs, by name.
        gauge: Name of the measure.
        most: How many.
    """
    papers: dict[str, list[str]] = {}
    for name, one in able.items():
        if not own.mine(one.job.dataset):
            papers.setdefault(one.job.paper, []).append(name)
    turns: list[tuple[int, str]] = []
    for names in papers.values():
        names.sort(key=lambda name: _merit(able[name], gauge))
        names = list({able[name].job.method: name for name in reversed(names)}.values())[::-1]
        own_method = min(names, key=lambda name: _place(able[name]))
        ranked = dict.fromkeys([names[0], own_method, *names])
        turns += list(enumerate(ranked))
    return [name for _, name in sorted(turns, key=lambda turn: turn[0])[:most]]


def _place(one: Candidate) -> int:
    """Where a method stands in its paper's list."""
    return [entry.name for entry in one.paper.methods].index(one.job.method)


def _merit(one: Candidate, gauge: str) -> tuple[bool, float]:
    """What sorts proved runs before others, and among equals the better ones first."""
    proved = one.spends and any(one.proved(at) is not None for at in one.budgets)
    values = one.results.gauges[gauge]
    values = values[np.isfinite(values)]
    middle = float(np.median(values)) if len(values) else np.inf
    return not proved, middle if one.gauges[gauge].better == "down" else -middle


def looks(chosen: Sequence[Candidate]) -> list[Style]:
    """A look for each run: its method's own colour, as on the page of its paper.

    Another method with the same colour takes the next free one; a further run of the same
    method keeps the colour and has another marker and dash.
    """
    colours: dict[tuple[str, str], str] = {}
    styles = []
    for turn, one in enumerate(chosen):
        key = (one.job.paper, one.job.method)
        if key not in colours:
            own = cast.look(one.paper, one.job).colour
            free = [colour for colour in (own, *SERIES) if colour not in colours.values()]
            colours[key] = free[0] if free else own
        styles.append(Style(colours[key], style(turn).dash, style(turn).marker))
    return styles


def drawn(
    chosen: Mapping[str, Candidate], gauge: str, epsilon: float
) -> tuple[dict[str, Curve], list[Level]]:
    """A curve for each run that spends budget, by name, and a level for each that does not.

    Args:
        chosen: The runs, by name.
        gauge: Name of the measure.
        epsilon: The budget at which the status of a run is looked up.
    """
    lines: dict[str, Curve] = {}
    levels: list[Level] = []
    pairs = zip(chosen.items(), looks(list(chosen.values())), strict=True)
    for position, ((name, one), look) in enumerate(pairs):
        if one.spends:
            curve = measured.curve(one.results, gauge, name, position)
            lines[name] = dataclasses.replace(
                curve,
                style=look,
                status=one.guarantee(epsilon).status,
                proved=tuple(one.proved(at) for at in curve.epsilon),
            )
        elif (level := measured.level(one.results, gauge, name, position)) is not None:
            levels.append(dataclasses.replace(level, status="not_private"))
    return lines, levels
