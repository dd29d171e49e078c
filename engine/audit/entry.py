"""An audit as a method of its own: it runs, is stored and is shown like any other. No torch.

Its replicas are trainings: replica r is one with the witness and one without. Its steps train a
share of them each, and every step measures what the attack has shown so far.
"""

import dataclasses
from dataclasses import dataclass
from typing import Annotated, Any, cast

from engine.core.gauges import Column, Gauge, Info
from engine.method import Entry, Method

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


@dataclass(frozen=True, kw_only=True)
class AuditEntry(Entry[Any]):
    """The audit of a method.

    Attributes:
        inner: The method that is attacked.
    """

    inner: Entry[Any]

    def load(self) -> Method[Any, Any]:
        """The audit as a method; the first call loads torch."""
        from engine.audit.method import AuditMethod

        return cast(Method[Any, Any], AuditMethod(self.inner))


def audited(entry: Entry[Any]) -> Entry[Any]:
    """The audit of a method as an entry: same price, same card, other measurements."""
    fields = {f.name: getattr(entry, f.name) for f in dataclasses.fields(Entry)}
    return AuditEntry(
        **{
            **fields,
            "label": f"Attack on {entry.label}",
            "info": Attacked,
            "steps": lambda spec, n: STEPS,
            "chunk": lambda spec, n, device: 2**30,
            "resumes": False,
        },
        inner=entry,
    )
