"""Attacks that ship with the project: claimed, proved and attacked ε of every private method.

`reference/audits.json` holds them; `python -m engine audits --write` computes all of them again.
Each is of the setting that its paper's page opens with. It fits a page as long as its setting has
the same name there, and an attack of an earlier version says so, as runs do.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from datasets import catalog as data_catalog
from engine.catalog import catalog
from engine.core.errors import SpecError
from engine.core.spec import knobs
from engine.runs.attacks import Attack, Shelf
from engine.runs.attacks import name as name
from engine.runs.job import Job, request

FILE = "audits.json"
EPSILON, CALIBRATION = "epsilon", "calibration"


@dataclass(frozen=True, kw_only=True)
class Row(Attack):
    """One attack, or why there is none.

    Attributes:
        epsilon_claimed: None where nothing is claimed.
        epsilon_proved: None where nothing is proved.
        epsilon_attacked: Lower bound at 95 % confidence; None where nobody attacked.
        mu_proved: Of Gaussian noise; None for others.
        mu_attacked: The same.
        delta: At which epsilon is stated.
        statistic: The score that was guessed by.
        replicas: Trainings with the witness, and as many without.
        seconds: How long it took.
        broken: Whether the attack is above claim or proof.
        right: Share of right guesses; 0 where nobody attacked.
        allowed: The largest such share that proof or claim allows; None for none.
        exact: Whether that is the trade-off curve's.
        assumed: Whether the proof rests on an assumption of the card.
        by_curve: Whether the bound needs the noise to be of the declared kind; also true where an
            earlier version did not say.
        judged: Trainings that `right` was counted on; 0 where that was not kept.
        attacks: Attacks that were made: 2 where the first was above a proof without assumptions and
            another was made with new noise; 0 where that was not kept.
        epsilon_first: The bound of the first of two attacks; None where there was one.
        epsilon_perfect: What a perfect attack with as many trainings would show in half of all
            cases, by the noise's own curve; None where no curve is known.
        reason: Why nobody attacked; empty where somebody did.
        first: What `python -m engine confirm` compares: scores of the first trainings, and the
            bound that made-up scores come to; empty where that was not kept.
    """

    epsilon_claimed: float | None
    epsilon_proved: float | None
    epsilon_attacked: float | None
    mu_proved: float | None
    mu_attacked: float | None
    delta: float
    statistic: str
    replicas: int
    seconds: float
    broken: bool
    right: float
    allowed: float | None
    exact: bool
    assumed: bool = False
    by_curve: bool = True
    judged: int = 0
    attacks: int = 0
    epsilon_first: float | None = None
    epsilon_perfect: float | None = None
    reason: str = ""
    first: Sequence[float] = ()


def asked(budget: float | None = None) -> Iterator[tuple[Job, str]]:
    """The attack on every private method in each of its calibrations, and the calibration.

    Args:
        budget: Epsilon; None for the one that each paper's settings begin with.
    """
    for paper in catalog().values():
        options: Sequence[str] = getattr(knobs(paper.spec).get(CALIBRATION), "options", ())
        dataset = next(name for name in paper.datasets if data_catalog.card(name).embedded)
        for entry in paper.methods:
            if not entry.witness:
                continue
            for calibration in options if CALIBRATION in entry.uses else ("",):
                values = {**paper.opens()} | ({} if budget is None else {EPSILON: budget})
                if calibration:
                    values[CALIBRATION] = calibration
                try:
                    yield request(paper.slug, entry.name, dataset, values, audit=True), calibration
                except SpecError:
                    continue  # a calibration that the other settings do not admit


def current(rows: Sequence[Row], slug: str | None) -> list[Row]:
    """The rows without those of settings that no page begins with any more.

    Args:
        rows: Attacks.
        slug: Of the paper whose rows are looked at; None for all.
    """
    wanted = {name(job) for job, _ in asked()}
    return [row for row in rows if slug not in (None, row.paper) or row.run in wanted]


def _listed(row: Row) -> int:
    """The place of a row's method in the catalogue; one that has gone comes last."""
    every = [(paper.slug, entry.name) for paper in catalog().values() for entry in paper.methods]
    return [*every, (row.paper, row.method)].index((row.paper, row.method))


KEPT = Shelf(FILE, Row, _listed)
rows, write, fitting = KEPT.rows, KEPT.write, KEPT.fitting
