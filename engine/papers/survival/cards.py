"""Cards that say more than the price modules, whose words name the shipped numbers' sources.

No torch, and no data: only n and the spec.
"""

from dataclasses import replace

from engine.papers.survival import price_newton, price_sampler
from engine.papers.survival.spec import SurvivalSpec
from engine.privacy.guarantee import Guarantee
from engine.privacy.releases import Release, exposed

IMPROPER = (
    "The prior has precision 0. The bounded losses add up to less than n·v everywhere, so the "
    "target density does not vanish far out and its integral is infinite. It is not a "
    "distribution: nothing can be drawn from it, and nothing is proved."
)
CHOSEN = "ε does not cover this choice."


def exact_releases(spec: SurvivalSpec, n: int) -> tuple[Release, ...]:
    """One draw of the exponential mechanism; without a prior there is none to draw from."""
    return price_sampler.exact_releases(spec, n) if spec.prior else exposed(IMPROPER)


def exact_guarantee(spec: SurvivalSpec, n: int, unit: str) -> Guarantee:
    r"""The card of Algorithm 3, sampled by Metropolis-corrected chains.

    Guarantees:
        The exponential mechanism needs a density with a finite integral (McSherry and Talwar 2007).
        At precision 0 the log density is above -\kappa n v on all of R^d, so its integral is
        infinite and the theorem says nothing.
    """
    card = price_sampler.exact_guarantee(spec, n, unit)
    if spec.prior:
        return card
    return replace(
        card,
        status="heuristic",
        epsilon_proved=None,
        accountant="",
        failure="unknown: nothing is proved without a prior",
        reasons=(IMPROPER, *card.reasons[1:]),
    )


def psgld_guarantee(spec: SurvivalSpec, n: int, unit: str) -> Guarantee:
    """The card of Algorithm 4, which has no target without a prior."""
    card = price_sampler.psgld_guarantee(spec, n, unit)
    return card if spec.prior else replace(card, reasons=(IMPROPER, *card.reasons))


def newton_guarantee(spec: SurvivalSpec, n: int, unit: str) -> Guarantee:
    """The card of private Newton."""
    return _tuned(price_newton.newton_guarantee(spec, n, unit))


def cox_guarantee(spec: SurvivalSpec, n: int, unit: str) -> Guarantee:
    """The card of private Cox regression."""
    return _tuned(price_newton.cox_guarantee(spec, n, unit))


def _tuned(card: Guarantee) -> Guarantee:
    """The card with what constants that were chosen on the offered data sets leave out."""
    reasons = (
        f"{reason} {CHOSEN}" if reason.startswith("Shares of the budget") else reason
        for reason in card.reasons
    )
    return replace(card, reasons=tuple(reasons))
