"""Attacks by an attacker who sees what is published alone, as they ship with the project.

`reference/met.json` holds them: one for the method that each page opens with, computed by `python
-m engine audits PAPER METHOD --sees published --write`. What the attacker does is
`engine.audit.met`'s. No torch here.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from engine.runs.attacks import Attack, Shelf

FILE = "met.json"


@dataclass(frozen=True, kw_only=True)
class Meeting(Attack):
    """One such attack.

    Attributes:
        delta: At which epsilon is stated.
        seconds: How long it took.
        epsilon: At least so much is spent, 95 % confidence: the larger of the next two.
        epsilon_worst: By the worst record.
        statistic: The published numbers that gave it away.
        trainings_worst: Trainings with the worst record, and as many without.
        epsilon_real: By real records.
        right: Share of right guesses about the most exposed real records.
        least: At least so large is its mean, 97.5 % confidence.
        records: How many they are.
        trainings: Trainings that were judged.
        first: What `python -m engine confirm` compares: what the first trainings publish, and what
            the attacker makes of made-up numbers; empty where that was not kept.
    """

    whole = False

    delta: float
    seconds: float
    epsilon: float
    epsilon_worst: float
    statistic: str
    trainings_worst: int
    epsilon_real: float
    right: float
    least: float
    records: int
    trainings: int
    first: Sequence[float] = ()


KEPT = Shelf(FILE, Meeting, lambda row: (row.paper, row.method, row.run))
rows, write, fitting = KEPT.rows, KEPT.write, KEPT.fitting
