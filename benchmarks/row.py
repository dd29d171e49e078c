"""One line of the table that benchmarks print."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Row:
    """A measurement beside what it is compared with.

    Attributes:
        what: What was measured, with its setting.
        ours: Our figure.
        peer: The other's figure in the same unit; None where there is nobody to compare with.
        unit: Unit of both.
        target: What was to be reached, in words; empty where nothing was.
        ok: Whether it was reached; None where nothing was to be.
        note: What a reader must know to judge it.
    """

    what: str
    ours: float
    peer: float | None
    unit: str
    target: str
    ok: bool | None
    note: str
