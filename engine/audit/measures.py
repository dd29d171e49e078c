"""What an audit measures, and how its trainings are shared out over its steps. No torch."""

from dataclasses import dataclass
from typing import Annotated

from engine.core.gauges import Column, Gauge, Info

CHOSEN = "by "
"""What the name of the array begins with that tells the statistic."""
STEPS = 20
"""Shares in which trainings are done."""


@dataclass(frozen=True)
class Attacked(Info):
    """What an attack has shown so far; the same number for every replica."""

    epsilon_attacked: Annotated[
        Column,
        Gauge(
            "Attacked ε, at least",
            "neither",
            help="Lower bound on the privacy loss at 95 % confidence, from the trainings so far.",
        ),
    ]
    mu_attacked: Annotated[
        Column,
        Gauge("Attacked μ, at least", "neither", help="The same for Gaussian noise; 0 for others."),
    ]
    right: Annotated[
        Column, Gauge("Right guesses", "neither", help="Share of guesses that were right.")
    ]
    trainings: Annotated[
        Column, Gauge("Trainings", "neither", help="With the witness, and as many without.")
    ]
