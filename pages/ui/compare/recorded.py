"""Runs of other libraries on the chart: claimed by the library, proved for what was executed."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from engine.core.gauges import Gauge
from engine.privacy.guarantee import Guarantee
from engine.runs.common import Common, measured
from engine.runs.results import Results
from engine.yours import kept_runs, library_run
from engine.yours.kept_runs import KeptRun
from pages.ui import words
from pages.ui.charts.theme import SERIES
from pages.ui.compare.candidates import Candidate
from pages.ui.jobs.live import BUDGET
from pages.ui.kit import visitors

SAMPLED = {"poisson": "Poisson batches", "shuffled": "shuffled batches", "all": "full batches"}


@dataclass(frozen=True, kw_only=True)
class Recorded(Candidate):
    """A run of another library that is kept here.

    Attributes:
        kept: The run with its prices.
    """

    kept: KeptRun

    @cached_property
    def raw(self) -> Results:
        """The file's numbers as a table."""
        pairs = [(at, row) for at, one in self.kept.run.points.items() for row in one.rows]
        named = {
            name: np.array([row.get(name, math.nan) for _, row in pairs]) for name in self.measures
        }
        return Results(
            run=self.run, step=np.ones(len(pairs), np.int64),
            seeds=np.array([int(row.get(library_run.SEED, 0)) for _, row in pairs]),
            axes={BUDGET: np.array([at for at, _ in pairs])}, gauges=named,
            epsilon=np.array([self.kept.prices[at][0] for at, _ in pairs]),
        )  # fmt: skip

    def guarantee(self, epsilon: float) -> Guarantee:
        """The card of the nearest budget of the file."""
        at = self.near(epsilon)
        return library_run.priced(self.kept.run.points[at].run, *self.kept.prices[at])

    def common(self, epsilon: float, delta: float) -> Common:
        """For the sampling that was executed."""
        run = self.kept.run.points[self.near(epsilon)].run
        return measured(run.releases(), run.neighbours, delta)

    def near(self, epsilon: float) -> float:
        """One of its own budgets."""
        return min(self.budgets, key=lambda at: abs(math.log(at / epsilon)))

    def sentence(self) -> str:
        """What is claimed and proved, and what Poisson's price would be where it was not so."""
        at = self.budgets[-1]
        proved, coins = (words.number(price) for price in self.kept.prices[at])
        run = self.kept.run
        said = f"At the largest budget {_said(run.library)} claims ε = {words.number(at)}"
        if run.sampling != "shuffled":
            return f"{said}; ε = {proved} is proved for {SAMPLED[run.sampling]}."
        return (
            f"{said}. Its batches were shuffled, which costs ε = {proved}. Poisson batches would "
            f"have cost ε = {coins}."
        )


def recorded(kept: KeptRun, others: Mapping[str, Gauge]) -> Recorded:
    """A run of another library as Compare draws it; its data set is written as keys are.

    Args:
        kept: The run with its prices.
        others: What the papers of this app measure; a measure of the same name that is good the
            other way is left out.
    """
    run = kept.run
    library = _said(run.library)
    name = f"{library}, {_said(run.method)}"
    measures = {
        gauge: Gauge(
            words.short(gauge), better, unit=words.SHARE if gauge in library_run.KNOWN else "",
            help=f"As the file of {library} has it.",
        )
        for gauge, better in run.good.items()
        if gauge not in others or others[gauge].better == better
    }  # fmt: skip
    return Recorded(
        run=kept.name, kept=kept, name=name, brief=name,
        settings=SAMPLED[run.sampling],
        origin=(f"library {run.library}", kept.name),
        title="Brought as a file",
        dataset=run.dataset.strip().lower().replace(" ", "_").replace("-", "_"),
        measures=measures,
        budgets=tuple(run.points),
        repetitions=max(len(point.rows) for point in run.points.values()),
        colour=SERIES[-1],
    )  # fmt: skip


def _said(text: str) -> str:
    return text.replace("_", " ")


def listed(others: Mapping[str, Gauge]) -> list[Recorded]:
    """The kept runs that this visitor may see and whose measures can be drawn."""
    found = map(kept_runs.find, kept_runs.names())
    mine = [one for one in found if one is not None and one.owner in ("", visitors.visitor())]
    return [one for kept in mine if (one := recorded(kept, others)).measures]
