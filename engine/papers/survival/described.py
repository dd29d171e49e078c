"""What the numbers of a fitted survival model mean, for use elsewhere. No torch."""

from typing import Any

from datasets.base import Card
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
        "meaning": "In interval t (1 to q, of equal length, up to `horizon`), the chance of the "
        "event, for who has not had it yet, is on the scale of the link basis[t - 1] · baseline + "
        "x · coefficients, where x = (covariates - centre) / span / norm. With proof, times and "
        "covariates beyond the public bounds are moved to them first.",
        "split": "All records are fitted. Concordance uses a fixed sample of at most 1,000 of "
        "the same records, the Brier score all of them or a larger sample.",
    }
