"""What the numbers of a fitted survival model mean, for use elsewhere. No torch."""

from typing import Any

from datasets.base import Card
from engine.core import declared
from engine.papers.survival.price.sensitivity import basis
from engine.papers.survival.spec import SurvivalSpec


def model(spec: SurvivalSpec, card: Card) -> dict[str, Any]:
    """The names of the coefficients in their order, and the basis of the baseline.

    Args:
        spec: The settings.
        card: The data set's, whose columns are named.
    """
    return {
        "parameters": [*(f"baseline {k}" for k in range(1, spec.knots + 1)), *card.features],
        "basis": basis(spec.intervals, spec.knots).tolist(),
        "link": spec.link,
        **declared.kind(__package__, "model"),
    }
