"""Training functions with faults that an attack must find, and without, which it must not blame."""

import os

import numpy as np

from benchmarks.functions import FUNCTIONS, Named, example
from benchmarks.row import Row
from engine.yours.function import MOST, Attacked, audit_function

SECONDS = float(os.environ.get("YOURS_SECONDS", "60"))
"""For each attack at most; five minutes are allowed."""
FOUND = 18
"""Faults that must be found at least."""


def attacked(named: Named, seconds: float = SECONDS, pairs: int = MOST) -> Attacked:
    """The attack on one function."""
    data = example()
    witness = None
    if named.people:
        witness = example().iloc[:4].assign(**{column: 1.0 for column in data.columns})
    return audit_function(
        named.fit, data, named.claim, witness=witness, seconds=seconds, pairs=pairs
    )


def rows() -> list[Row]:
    """Faults found, right functions blamed, and how long a finding takes."""
    outcomes = {name: attacked(named) for name, named in FUNCTIONS.items()}
    wrong = [name for name, named in FUNCTIONS.items() if not named.holds]
    right = [name for name, named in FUNCTIONS.items() if named.holds]
    found = [name for name in wrong if outcomes[name].broken]
    blamed = [name for name in right if outcomes[name].broken]
    missed = ", ".join(name for name in wrong if name not in found) or "none"
    took = [outcomes[name].seconds for name in found]
    closest = max(right, key=lambda name: outcomes[name].attacked)
    best = outcomes[closest]
    return [
        Row(
            f"faults found, of {len(wrong)}", len(found), None, "functions", f"at least {FOUND}",
            len(found) >= FOUND, f"missed: {missed}",
        ),
        Row(
            f"right functions blamed, of {len(right)}", len(blamed), None, "functions", "none",
            not blamed,
            f"closest: {closest}, {best.claim.symbol} at least {best.attacked:.2f} of "
            f"{best.claim.level:g}",
        ),
        Row(
            "a fault is found within", float(np.median(took)), None, "s", "at most 300",
            max(took) <= 300.0, f"median; longest {max(took):.1f} s",
        ),
    ]  # fmt: skip
