"""What the cards of both studies say alike."""

from engine.papers.dbn.price import RELATION, Descending, gradient_noise, gradient_releases
from engine.privacy.guarantee import Guarantee, not_private
from engine.promise import promise

BOUNDED = (
    "The output layer's noisy quadratic is regularised and trimmed until it has a minimum, as in "
    "Zhang et al. (2012), whom the text cites; that costs no budget."
)
DRAWN = (
    "The output layer's noisy quadratic is used as it was drawn: it falls without end in some "
    "directions, so training may diverge."
)


def reference(unit: str) -> Guarantee:
    """The card of a method without noise."""
    return not_private(
        "None: the network is trained on the raw records",
        ("the trained weights",),
        "No noise is added: for comparison only.",
        RELATION,
        unit,
    )


def gradient(
    spec: Descending,
    n: int,
    unit: str,
    reasons: tuple[str, ...],
    released: str = "sum of clipped gradients",
) -> Guarantee:
    """The card of DP-SGD."""
    return promise(
        gradient_releases(spec, n), RELATION, unit, claimed=spec.epsilon, delta=spec.delta,
        mechanism=f"Gaussian noise of multiplier {gradient_noise(spec, n).multiplier:.3g} on sums "
        "of clipped gradients",
        released=(released,),
        reasons=reasons,
        claim="Abadi et al. 2016, Theorem 1.",
        claimant="Abadi et al. claim",
    )  # fmt: skip
