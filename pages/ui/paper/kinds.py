"""Guarantees of different kinds on one axis: a switch from ε to a measure that all of them have."""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Protocol

from datasets import catalog as data_catalog
from engine.core.errors import ExplorerError
from engine.core.gauges import Gauge
from engine.privacy.guarantee import Guarantee
from engine.runs.common import LABELS, Common, common
from engine.runs.job import Job
from pages.ui import words
from pages.ui.charts.measured import Curve
from pages.ui.jobs.live import BUDGET as FIELD
from pages.ui.kit.card import chance
from pages.ui.kit.offers import Offer

BUDGET = "ε of the card"
DELTA = 1e-5
"""At which ε of all guarantees is compared."""
NAMES = {"μ": "mu", "Best attacker": "advantage", "ε at δ = 10⁻⁵": "epsilon"}
"""What is offered beside the card's ε, and the measure that it is."""
OFFERED = (BUDGET, *NAMES)
MEASURES = Offer("measure", OFFERED, OFFERED, BUDGET)
TITLE = "Measure of privacy"
HELP = (
    "A pure ε holds at every δ, so it is not the ε of an (ε, δ) guarantee. All guarantees have "
    "these measures: μ of Gaussian noise that is at most as private, the advantage of the best "
    "attacker (hit rate minus false-alarm rate), and ε at the same δ. A larger value means weaker "
    "privacy."
)
SHARED = (
    "Two kinds of guarantee share this axis: a pure ε holds at every δ, the others only at their "
    "own δ."
)
KINDS = f"{SHARED} Switch *{TITLE}* to compare them on one scale."
ROWS = "Tables with several rows per person are left out: these measures are for one row."


def mixed(cards: Iterable[Guarantee]) -> bool:
    """Whether some of the cards prove a pure ε and others an ε at a δ."""
    return len({bool(chance(card)) for card in cards if card.epsilon_proved is not None}) > 1


def note(cards: Iterable[Guarantee], how: str) -> str:
    """That pure and other guarantees share the axis, where they do."""
    return f" {KINDS}" if how == BUDGET and mixed(cards) else ""


class Source(Protocol):
    """What a curve was measured of."""

    @property
    def rows(self) -> int:
        """Rows of one record at most."""

    def common(self, epsilon: float, delta: float) -> Common:
        """Its guarantee at a budget, in measures that all have."""


@dataclass(frozen=True)
class Asked:
    """A job of this app, as a source.

    Attributes:
        job: The job.
    """

    job: Job

    @property
    def rows(self) -> int:
        """As the data set says."""
        return data_catalog.card(self.job.dataset).rows

    def common(self, epsilon: float, delta: float) -> Common:
        """By today's accountant.

        Raises:
            ExplorerError: The accountant knows none.
        """
        spec = self.job.spec().replace(**{FIELD: epsilon})
        return common(self.job.entry(), spec, data_catalog.card(self.job.dataset), delta)


@dataclass(frozen=True)
class Placed:
    """Curves on an axis that all kinds of guarantee share.

    Attributes:
        lines: The curves by name, `proved` in the measure; None where nothing finite is proved.
        label: The measure, in words.
        left_out: Whether there are curves on tables with several rows a person.
    """

    lines: dict[str, Curve]
    label: str
    left_out: bool

    @property
    def bounds(self) -> tuple[float, float]:
        """The ends of the axis."""
        known = [p for one in self.lines.values() for p in one.proved if p is not None]
        low, high = min(known, default=0.1), max(known, default=10.0)
        return (low, high) if low < high else (low / 2.0, high * 2.0)

    def rows(self, gauge: Gauge) -> list[dict[str, Any]]:
        """The numbers of the chart."""
        return [
            {"Run": one.label, "Claimed ε": at, self.label: place, gauge.label: middle}
            for one in self.lines.values()
            for at, place, middle in zip(one.epsilon, one.proved, one.middle, strict=True)
        ]

    def reading(self, epsilon: float) -> str:
        """Where the curves in focus stand at a claimed budget, in one sentence."""
        said = [
            f"{one.label} {words.number(spent)}"
            for one in self.lines.values()
            if one.focus and (i := one.at(epsilon)) is not None
            and (spent := one.proved[i]) is not None
        ]  # fmt: skip
        if not said:
            return f"{self.label}: nothing is proved at ε = {words.number(epsilon)}."
        return f"{self.label} of the points at ε = {words.number(epsilon)}: {words.listed(said)}."

    def caption(self, epsilon: float) -> str:
        """The same, and what is left out."""
        return f"{self.reading(epsilon)}{f' {ROWS}' if self.left_out else ''}"


def placed(sources: Mapping[str, Source], lines: Mapping[str, Curve], how: str) -> Placed:
    """Curves with their points placed by a measure.

    Args:
        sources: What each curve was measured of, by name.
        lines: The curves, by name.
        how: One of `NAMES`.
    """
    measure = NAMES[how]
    kept = {
        name: replace(one, proved=tuple(place(sources[name], at, measure) for at in one.epsilon))
        for name, one in lines.items()
        if sources[name].rows == 1
    }
    return Placed(kept, LABELS[measure], len(kept) < len(lines))


def place(one: Source, epsilon: float, measure: str) -> float | None:
    """Where a curve stands at a claimed budget.

    None where nothing finite is proved, or where the accountant knows no measure.
    """
    try:
        found = one.common(epsilon, DELTA)
    except ExplorerError:
        return None
    value = float(getattr(found, measure))
    return value if math.isfinite(found.mu) and 0.0 < value < math.inf else None
