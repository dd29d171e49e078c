"""One line of the benchmark table."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Row:
    """What was measured, against whom, and whether it meets its target.

    Attributes:
        what: What was measured.
        ours: Our figure.
        peer: The figure that it is compared with, on the same machine in the same run.
        unit: Unit of both figures.
        target: What is asked for, in words.
        ok: Whether the target is met; None where there is none.
        note: How it was measured, or what to bear in mind.
    """

    what: str
    ours: float
    peer: float | None
    unit: str
    target: str
    ok: bool | None
    note: str
