"""What the cards say of the private mean. No torch here."""

from dataclasses import replace

from engine.papers.mean import price
from engine.papers.mean.spec import MeanSpec
from engine.privacy.guarantee import Guarantee, not_private
from engine.promise import promise

RELEASED = ("the mean of the clipped column", "a histogram of the clipped column")
PUBLIC = (
    "The number of records, the clipping bound and the edges of the histogram are public. The "
    "bound was chosen without looking at the records."
)
SENSITIVITY = (
    "One record changes the mean by at most B/m, and it moves from one bin of the histogram to "
    "another. Values are rounded to half a millionth of B, so that their sum is a whole number."
)


def laplace_card(spec: MeanSpec, n: int, unit: str) -> Guarantee:
    """The card of the Laplace mechanism."""
    return promise(
        price.laplace_releases(spec, n), price.RELATION, unit, claimed=spec.epsilon,
        mechanism="Laplace noise on the mean of the clipped column and on every count",
        released=RELEASED,
        reasons=(SENSITIVITY, PUBLIC),
        claim="ε-privacy with Laplace noise of scale Δ/ε (Dwork et al. 2006, Proposition 1).",
    )  # fmt: skip


def gaussian_card(spec: MeanSpec, n: int, unit: str) -> Guarantee:
    """The card of the Gaussian mechanism: what its noise costs by the exact curve."""
    printed = spec.calibration == "paper"
    card = promise(
        price.gaussian_releases(spec, n), price.RELATION, unit, delta=spec.delta,
        claimed=None if printed and spec.epsilon >= 1.0 else spec.epsilon,
        mechanism="Gaussian noise on the mean of the clipped column and on every count",
        released=RELEASED,
        reasons=(SENSITIVITY, PUBLIC),
        claim="(ε, δ)-privacy with noise √(2 ln(1.25/δ)) Δ/ε, for ε < 1 (Dwork and Roth 2014, "
        "Theorem A.1).",
    )  # fmt: skip
    if not printed or card.epsilon_proved is None:
        return card
    return replace(card, reasons=(_printed(spec, card.epsilon_proved), *card.reasons))


def _printed(spec: MeanSpec, spent: float) -> str:
    size = "larger than needed" if spent <= spec.epsilon else "too small"
    beyond = " The theorem is stated for ε < 1 only." if spec.epsilon >= 1.0 else ""
    return f"The printed noise is {size}: it spends ε = {spent:.3g}.{beyond}"


def exact_card(spec: MeanSpec, n: int, unit: str) -> Guarantee:
    """The card of the method without noise."""
    return not_private(
        "none", RELEASED, "No noise is added: for comparison only.", price.RELATION, unit
    )
