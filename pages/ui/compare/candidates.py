"""Runs that can stand on one chart of utility against privacy budget."""

import dataclasses
import functools
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
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
from engine.runs.common import Common
from engine.runs.job import Job
from engine.runs.results import Results
from engine.service.client import Run
from pages.ui import words
from pages.ui.charts import measured
from pages.ui.charts.measured import Curve, Level
from pages.ui.charts.theme import INK, SERIES, Style, style
from pages.ui.jobs.live import BUDGET
from pages.ui.kit import card
from pages.ui.kit.access import client
from pages.ui.paper import cast, kinds

MANY = 50
"""Repetitions from which a run stands before one of the same kind that has fewer."""
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


@dataclass(frozen=True, kw_only=True)
class Candidate(ABC):
    """Something that can stand on the chart: results at budgets, and what is proved of each.

    Attributes:
        run: Its id.
        name: What it is called, without its settings.
        brief: The same where there is little room.
        settings: What tells it from others of its name, in words.
        origin: The paper or library, and the method: runs that share both have one colour.
        title: The paper or library in words.
        note: What is said beside its title.
        dataset: Key of its data set.
        measures: What it measures, what is shown first of it first.
        budgets: The budgets that it was trained with; none where it is one level instead.
        repetitions: How many repetitions it has.
        colour: The colour of its line where no other line has it.
        place: Where its method stands in its paper's list.
        simulated: Whether its data are simulated.
    """

    run: str
    name: str
    brief: str
    settings: str
    origin: tuple[str, str]
    title: str
    note: str = ""
    dataset: str
    measures: dict[str, Gauge]
    budgets: tuple[float, ...]
    repetitions: int
    colour: str
    place: int = 0
    simulated: bool = False

    @property
    @abstractmethod
    def raw(self) -> Results:
        """Its measurements."""

    @abstractmethod
    def guarantee(self, epsilon: float) -> Guarantee:
        """Its card at a budget."""

    @abstractmethod
    def common(self, epsilon: float, delta: float) -> Common:
        """Its guarantee for one row, in measures that all have.

        Raises:
            ExplorerError: The accountant knows none.
        """

    @property
    def rows(self) -> int:
        """Rows of one record at most."""
        return 1

    @property
    def moved(self) -> bool:
        """Whether a setting is another than the one that its page opens with."""
        return False

    def near(self, epsilon: float) -> float:
        """The budget at which it has a card, nearest to a given one."""
        return epsilon

    @property
    def spends(self) -> bool:
        """Whether it has points at budgets rather than one level."""
        return bool(self.budgets)

    @property
    def label(self) -> str:
        """Its name and what tells it from others."""
        return f"{self.name} ({self.settings})" if self.settings else self.name

    @cached_property
    def share(self) -> str:
        """The measure that is a share of right or wrong answers; empty for none."""
        known = self.measures
        shares = (name for name in SHARES if name in known and known[name].unit == words.SHARE)
        return next(shares, "")

    @cached_property
    def gauges(self) -> dict[str, Gauge]:
        """What it measures, its own choice first, and the share of right answers."""
        known = {self._axis(name, gauge): gauge for name, gauge in self.measures.items()}
        return ({SHARE: RIGHT} if self.share else {}) | known

    def _axis(self, name: str, gauge: Gauge) -> str:
        """A measure's name on the page: an error in mg/dL is not another paper's test error."""
        alone = name in SHARES and gauge.unit != words.SHARE
        return f"{self.origin[0]}_{name}" if alone else name

    @property
    def results(self) -> Results:
        """Its measurements, by the names of the page, with the budget as an axis."""
        names = tuple((self._axis(name, one), name) for name, one in self.measures.items())
        return _complete(self.raw, self.share, self.budgets, names)

    def asked(self, gauge: str) -> str:
        """A measure as the command line names it for this run."""
        if gauge == SHARE:
            return f"{SHARES[self.share]}{self.share}"
        return next(name for name, one in self.measures.items() if self._axis(name, one) == gauge)

    def values(self, gauge: str, epsilon: float) -> Column:
        """The finite values over repetitions at a budget; none where it was not measured."""
        column = self.results.gauges[gauge]
        if self.spends:
            column = column[np.isclose(self.results.axes[BUDGET], epsilon)]
        return np.asarray(column[np.isfinite(column)], np.float64)

    def proved(self, epsilon: float) -> float | None:
        """What is proved to be spent at a claimed budget; None without a finite one.

        It was worked out when the run was computed or brought, and is stored with it.
        """
        spent = self.results.epsilon[np.isclose(self.results.axes[BUDGET], epsilon)]
        return float(spent.max()) if len(spent) and np.isfinite(spent).all() else None


@dataclass(frozen=True, kw_only=True)
class Trained(Candidate):
    """A finished run of this app.

    Attributes:
        job: What was asked for.
        paper: Its paper.
        entry: Its method.
        ships: Whether it ships with the app.
    """

    job: Job
    paper: Paper[Any]
    entry: Entry[Any]
    ships: bool

    @property
    def moved(self) -> bool:
        """Whether a setting is another than the one that its page opens with."""
        begins = self.paper.begins(self.entry.name, self.dataset)
        return any(value != begins[name] for name, value in fixed(self.job, self.entry).items())

    @property
    def rows(self) -> int:
        """As the data set says."""
        return kinds.Asked(self.job).rows

    @property
    def raw(self) -> Results:
        """As the store has them."""
        return client().table(self.run)

    def guarantee(self, epsilon: float) -> Guarantee:
        """Its card at a budget."""
        data, spec = data_catalog.card(self.job.dataset), self.job.spec()
        if self.spends:
            spec = spec.replace(**{BUDGET: epsilon})
        return card.guarantee(self.entry, spec, data)

    def common(self, epsilon: float, delta: float) -> Common:
        """By today's accountant."""
        return kinds.Asked(self.job).common(epsilon, delta)


def trained(run: str, job: Job, ships: bool = False) -> Trained:
    """A finished run of this app, by its id.

    Raises:
        KeyError: Its paper is no longer here.
        ExplorerError: Its method is no longer here.
    """
    paper, entry = catalog()[job.paper], job.entry()
    known = declared.gauges(entry.info)
    spent = job.axes.get(BUDGET, (job.values[BUDGET],)) if BUDGET in entry.uses else ()
    return Trained(
        run=run, job=job, paper=paper, entry=entry, ships=ships,
        name=entry.label,
        brief=entry.brief or entry.label,
        settings=_settings(job, paper, entry),
        origin=(job.paper, job.method),
        title=paper.title,
        note="; ships with the app" if ships else "",
        dataset=job.dataset,
        measures={name: known[name] for name in (paper.gauge, *known) if name in known},
        budgets=tuple(map(float, spent)),
        repetitions=len(job.seeds),
        colour=cast.look(paper, job).colour,
        place=[one.name for one in paper.methods].index(job.method),
        simulated=job.simulated,
    )  # fmt: skip


def _settings(job: Job, paper: Paper[Any], entry: Entry[Any]) -> str:
    """What differs from the paper's defaults, in words."""
    fields, default = knobs(paper.spec), paper.spec().values()
    return ", ".join(
        f"{fields[name].label} {_text(fields[name], value)}"
        for name, value in fixed(job, entry).items()
        if value != default[name]
    )


def fixed(job: Job, entry: Entry[Any]) -> dict[str, Value]:
    """What a job sets for its method besides the budget, also as an axis of one value."""
    values = {**job.values, **{n: axis[0] for n, axis in job.axes.items() if len(axis) == 1}}
    return {name: values[name] for name in entry.uses if name != BUDGET and name in values}


def _text(setting: Setting, value: Value) -> str:
    """A setting's value as a page says it."""
    return setting.text(value) if isinstance(setting, Choice) else words.number(float(value))


@functools.lru_cache(maxsize=256)
def _complete(
    results: Results, share: str, budgets: tuple[float, ...], names: tuple[tuple[str, str], ...]
) -> Results:
    """Results with what they lack; the same object for the same results."""
    named = {axis: results.gauges[name] for axis, name in names}
    if budgets and BUDGET not in results.axes:
        only = np.full(len(results.seeds), budgets[0])
        results = dataclasses.replace(results, axes={**results.axes, BUDGET: only})
    if share:
        column = results.gauges[share]
        right = 1.0 - column if SHARES[share] else column
        named[SHARE] = right
    return dataclasses.replace(results, gauges={**results.gauges, **named})


def listed(runs: Sequence[Run]) -> list[Trained]:
    """The runs that are over and vary in nothing but budget and seed, in the order given."""
    able = []
    for run in runs:
        wide = [name for name, values in run.job.axes.items() if len(values) > 1]
        if run.state != "completed" or set(wide) - {BUDGET}:
            continue
        try:
            able.append(trained(run.id, run.job, bool(run.shipped)))
        except (KeyError, ExplorerError):
            continue  # its paper or method is no longer here
    return able if any(one.spends for one in able) else []


def datasets(candidates: Sequence[Candidate]) -> tuple[str, ...]:
    """The data sets of the runs: first those on which most methods ran, own tables last."""
    methods = {(one.dataset, one.origin) for one in candidates if one.spends}
    count = Counter(dataset for dataset, _ in methods)
    names = dict.fromkeys(one.dataset for one in candidates if count[one.dataset])
    return tuple(sorted(names, key=lambda name: (own.mine(name), -count[name])))


def gauges(candidates: Sequence[Candidate]) -> dict[str, Gauge]:
    """What the runs measure: first what a paper shows first, then what most of them share."""
    known = {name: gauge for one in reversed(candidates) for name, gauge in one.gauges.items()}
    papers = Counter(
        name for _, name in {(o.origin[0], name) for o in candidates for name in o.gauges}
    )
    count = Counter(name for one in candidates for name in one.gauges)
    first = Counter(next((n for n in one.gauges if n != SHARE), "") for one in candidates)
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
    """The same runs, named as the charts of their papers do where that tells them apart.

    Settings, size and paper are left out where the rest tells a run from the others.
    """
    names = {name: name for name in chosen}
    for long, short in (
        (lambda one: f" ({one.settings})", lambda one: ""),
        (lambda one: f", {_size(one)}", lambda one: ""),
        (lambda one: f", {_paper(one)}", lambda one: ""),
        (lambda one: one.name, lambda one: one.brief),
    ):
        cut = {n: text.replace(long(chosen[n]), short(chosen[n]), 1) for n, text in names.items()}
        count = Counter(cut.values())
        names = {n: cut[n] if count[cut[n]] == 1 else text for n, text in names.items()}
    return {names[name]: one for name, one in chosen.items()}


def _paper(one: Candidate) -> str:
    return one.title.partition(" (")[0]


def _size(one: Candidate) -> str:
    repeated = words.plural(one.repetitions, "repetition")
    return f"{repeated}, {words.plural(len(one.budgets), 'budget')}"


def _names(one: Candidate) -> list[str]:
    """Names of a run, from the shortest to the one that no other has."""
    named = f"{one.label}, {_paper(one)}"
    short = [one.label, named, f"{named}, {_size(one)}"]
    return [*short, f"{short[-1]}, run {one.run}"]


def first(able: Mapping[str, Candidate], gauge: str, most: int) -> list[str]:
    """The runs to begin with, in turn from each paper: its best proved one, its own, no privacy.

    The others follow. Each method has one run, and what somebody has brought comes first.

    Args:
        able: The runs, by name.
        gauge: Name of the measure.
        most: How many.
    """
    papers: dict[str, list[str]] = {}
    for name, one in sorted(able.items(), key=lambda pair: isinstance(pair[1], Trained)):
        if not own.mine(one.dataset):
            papers.setdefault(one.origin[0], []).append(name)
    turns: list[tuple[int, str]] = []
    for names in papers.values():
        names.sort(key=lambda name: _merit(able[name], gauge))
        best: dict[tuple[str, str], str] = {}
        for name in names:
            best.setdefault(able[name].origin, name)
        names = list(best.values())
        own_method = min(names, key=lambda name: able[name].place)
        plain = [name for name in names if not able[name].spends]
        ranked = dict.fromkeys([names[0], own_method, *plain[:1], *names])
        turns += list(enumerate(ranked))
    return [name for _, name in sorted(turns, key=lambda turn: turn[0])[:most]]


def _merit(one: Candidate, gauge: str) -> tuple[int, int, bool, float]:
    """What sorts the better ones first among runs whose proof is as good.

    A proof that holds without an assumption goes before one that needs it, since an attack may
    break the assumption; any proof goes before none, and many repetitions before few. Without
    privacy the settings with which a page opens go first: others may be those of another task.
    """
    known = [at for at in one.budgets if one.proved(at) is not None]
    status = one.guarantee(one.near(known[len(known) // 2])).status if known else ""
    rank = 0 if status == "proved" else 1 if known else 2
    values = one.results.gauges[gauge]
    values = values[np.isfinite(values)]
    middle = float(np.median(values)) if len(values) else np.inf
    worse = middle if one.gauges[gauge].better == "down" else -middle
    return rank, -min(one.repetitions, MANY), not one.spends and one.moved, worse


def looks(chosen: Sequence[Candidate]) -> list[Style]:
    """A look for each run: its method's own colour, as on the page of its paper.

    Another method with the same colour takes the next free one; a further run of the same
    method keeps the colour and has another marker and dash. A level without privacy takes none.
    """
    colours: dict[tuple[str, str], str] = {}
    styles = []
    for turn, one in enumerate(chosen):
        if one.spends and one.origin not in colours:
            colour = one.colour
            free = [other for other in (colour, *SERIES) if other not in colours.values()]
            colours[one.origin] = free[0] if free else colour
        colour = colours.get(one.origin, one.colour)
        styles.append(Style(colour, style(turn).dash, style(turn).marker))
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
        elif (level := measured.level(one.results, gauge, name, len(levels))) is not None:
            plain = level.style if levels else dataclasses.replace(level.style, colour=INK)
            levels.append(dataclasses.replace(level, style=plain, status="not_private"))
    return lines, levels
