r"""What private Newton steps release, how noisy, and what they cost. No torch, and no data.

Four kinds of Gaussian releases, all of full-batch sums, neighbours replacing one record:

* counts of records by coarse time and outcome: two cells change by 1, so \sqrt2;
* a histogram of each of p columns for each outcome: a record is in one bin of each column, so 2p
  bins change by 1 when it is replaced; \sqrt{2p};
* the sum over all records of v v^T, v the standardised covariates, cut to \|v\|^2 \le B; where they
  vary in time, a person's average. A record adds a semidefinite P of trace at most B; for two such
  tr(PQ) \ge 0, so \|P - Q\|_F^2 = \|P\|_F^2 + \|Q\|_F^2 - 2 tr(PQ) \le 2 B^2: \sqrt2 B;
* T sums of whitened gradients, each record's clipped to length C: sensitivity 2C.

Together they are exactly one Gaussian release: 1/\sigma^2 = \sum_j 1/\sigma_j^2 in units of each
sensitivity (Dong et al. 2022, Corollary 2), although bounds, metric and points depend on what
was released before.
"""

import functools
import math
from dataclasses import dataclass

from engine.papers.survival.price import RELEASED
from engine.papers.survival.price_gradient import gaussian_card
from engine.papers.survival.spec import SurvivalSpec
from engine.privacy.guarantee import Guarantee
from engine.privacy.mechanisms import Gaussian
from engine.privacy.releases import BEFORE, Release

COUNTS, COLUMNS, MOMENTS = 0.12, 0.08, 0.04
"""Shares of the budget 1/sigma^2 for counts, histograms and moments; gradients get the rest."""
GROWTH = 2.0
"""How much more of the budget each pass has for its gradient than the one before."""
LARGEST = 3
"""Passes after which the share grows no further."""


@dataclass(frozen=True)
class Plan:
    """Every release of one replica; bounds C and B are 1 here.

    Attributes:
        counts: Noise of the coarse table of times and outcomes.
        columns: Noise of the histograms, for one column.
        moments: Noise of the second moments of the covariates, for B = 1.
        gradients: Noise of each pass's sum of clipped gradients, for C = 1.
        total: Multiplier of the one Gaussian release that all of it comes to.
    """

    counts: Gaussian
    columns: Gaussian
    moments: Gaussian
    gradients: tuple[Gaussian, ...]
    total: float


def shares(passes: int) -> tuple[float, ...]:
    """How the passes divide the gradients' budget: they add up to 1."""
    weights = [GROWTH ** min(k, LARGEST) for k in range(passes)]
    return tuple(weight / sum(weights) for weight in weights)


@functools.lru_cache(maxsize=4096)
def plan(epsilon: float, delta: float, passes: int) -> Plan:
    r"""The releases that together spend (\epsilon, \delta).

    Args:
        epsilon: Budget, in nats.
        delta: Probability with which the bound may fail.
        passes: T, over all records.
    """
    from dp_accounting import GaussianDpEvent

    from engine.privacy.accounting import calibrate

    total = calibrate(GaussianDpEvent, epsilon, delta, "replace_one")
    rest = 1.0 - COUNTS - COLUMNS - MOMENTS
    root = math.sqrt(2.0)
    return Plan(
        counts=Gaussian(root, total / math.sqrt(COUNTS)),
        columns=Gaussian(root, total / math.sqrt(COLUMNS)),
        moments=Gaussian(root, total / math.sqrt(MOMENTS)),
        gradients=tuple(Gaussian(2.0, total / math.sqrt(rest * s)) for s in shares(passes)),
        total=total,
    )


def planned(spec: SurvivalSpec) -> Plan:
    """The plan of a spec."""
    return plan(spec.epsilon, spec.delta, spec.passes)


def newton_passes(spec: SurvivalSpec, n: int) -> int:
    """T."""
    return spec.passes


def newton_releases(spec: SurvivalSpec, n: int) -> tuple[Release, ...]:
    """Counts, histograms and moments before the first pass, and a gradient in each."""
    whole = planned(spec)
    return (
        Release(whole.counts, first=BEFORE, what="counts by coarse time and outcome"),
        Release(whole.columns, first=BEFORE, what="histogram of each covariate by outcome"),
        Release(whole.moments, first=BEFORE, what="second moments of the covariates"),
        *(
            Release(mechanism, first=k, what=f"sum of clipped gradients over C, pass {k + 1}")
            for k, mechanism in enumerate(whole.gradients)
        ),
    )


def newton_guarantee(spec: SurvivalSpec, n: int, unit: str) -> Guarantee:
    """The card of private Newton."""
    return _card(
        spec, unit,
        "Newton steps over all records: second moments and clipped gradients, Gaussian noise",
        "Beyond the paper: Ganesh et al. (2023), here with the curvature of made-up persons who "
        "are like the noisy counts and moments, gradients clipped in its metric, and what is wrong "
        "with it learned from the noisy gradients.",
    )  # fmt: skip


def cox_guarantee(spec: SurvivalSpec, n: int, unit: str) -> Guarantee:
    """The card of private Cox regression."""
    return _card(
        spec, unit,
        "Cox regression on grouped times: second moments and clipped gradients, Gaussian noise",
        "Beyond the paper. The partial likelihood is no sum over records, so the grouped "
        "proportional-hazards model is fitted instead (Prentice and Gloeckler 1978): its "
        "coefficients are those of Cox's model, and its likelihood is such a sum.",
    )  # fmt: skip


def _card(spec: SurvivalSpec, unit: str, mechanism: str, claim: str) -> Guarantee:
    """What the two cards share."""
    return gaussian_card(
        spec,
        unit,
        mechanism,
        claim,
        planned(spec).total,
        sampling="none: every pass reads every record",
        released=(
            *RELEASED,
            "noisy counts, histograms, second moments and gradients on the way",
        ),
        reasons=(
            "A record's part of the second moments has no negative eigenvalue and trace at "
            "most B, so two parts differ by at most √2 B; two gradients of length C differ by at "
            "most 2C.",
            "Start, made-up persons, metric, clipping bounds and steps are computed from released "
            "values and cost nothing.",
            "Shares of the budget and other constants were chosen by looking at the errors on the "
            "data sets that this app offers.",
        ),
    )
