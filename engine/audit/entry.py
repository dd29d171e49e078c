"""An audit as a method of its own: it runs, is stored and is shown like any other. No torch.

Its replicas are trainings: replica r is one with the witness and one without. Its steps train a
share of them each, and every step measures what the attack has shown so far.
"""

import dataclasses
from dataclasses import dataclass
from typing import Any, cast

from engine.audit.measures import STEPS, Attacked
from engine.method import Entry, Method


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
