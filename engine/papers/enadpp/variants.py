"""How the methods differ: one value for each, read by price, cards and training. No torch here."""

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True)
class Variant:
    """One method of training.

    Attributes:
        mechanism: What its card says that it does; empty where that depends on the spec.
        private: Whether gradients are clipped and noise is added.
        ratios: From what of the neurons' relevance their budget ratios follow: their share of
            it, or what they add to its entropy; None for equal noise on all neurons.
        falling: Whether the deviation of the noise falls in stairs.
        modern: Whether it trains as is best practice today: with momentum, bounded units or
            wavelet features, and the mean of its weights as the result.
        correlated: Whether steps share noise (`engine.privacy.toeplitz`).
        claimant: Who claims its budget, and of what, as a heading of its card.
    """

    mechanism: str = ""
    private: bool = True
    ratios: Literal["shares", "gains"] | None = None
    falling: bool = False
    modern: bool = False
    correlated: bool = False
    claimant: str = "The paper claims"

    def whitens(self, representation: str) -> bool:
        """Whether features are whitened by moments that a run releases."""
        return self.modern and representation in ("whitened", "upright")

    def clipping(self, chosen: str) -> str:
        """Its rule for the clipping bound; the published methods have one bound."""
        return chosen if self.modern else "flat"

    def optimiser(self, chosen: str) -> str:
        """How its weights follow the noisy gradient; shared noise is made for momentum."""
        return chosen if self.modern and not self.correlated else "momentum"

    @property
    def moving(self) -> bool:
        """Whether it trains with momentum, which the published methods do not have."""
        return self.modern or not self.private


VARIANTS = {
    "enadpp": Variant(ratios="gains"),
    "adppl": Variant(ratios="shares"),
    "appdl": Variant(
        "Per-record clipping in L2 and Gaussian noise that decays (Zhang et al. 2021)",
        falling=True,
        claimant="Zhang et al. claim, of each step",
    ),
    "psgd": Variant(
        "Per-record clipping in L2 and Gaussian noise (Abadi et al. 2016)",
        claimant="Abadi et al. claim",
    ),
    "non_private": Variant("None: plain stochastic gradient descent", private=False),
    "dpsgd": Variant(
        "Per-record clipping in L2 and Gaussian noise, tuned as is best practice today",
        modern=True,
        claimant="You chose",
    ),
    "dp_ftrl": Variant(
        "Per-record clipping in L2 and Gaussian noise that later steps partly take back",
        modern=True,
        correlated=True,
        claimant="You chose",
    ),
}
"""By the names of the paper's entries."""
