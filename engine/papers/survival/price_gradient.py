r"""What private gradient descent releases, how noisy, and what it costs. No torch, and no data.

Three kinds of Gaussian releases, all of full-batch sums, neighbours replacing one record:

* counts of records by coarse time and outcome: one record is in one cell, so two cells change by
  1 and the L2 sensitivity is \sqrt2;
* the second moments \sum_i x_i x_i^T: \|x_i\| \le 1, so \|x x^T - y y^T\|_F \le \sqrt2. Where
  covariates vary in time, x x^T is a person's average over time: P and Q are semidefinite of
  trace at most 1, so \|P - Q\|_F^2 = \|P\|_F^2 + \|Q\|_F^2 - 2 tr(PQ) \le 2 as well;
* T sums of whitened gradients, each record's clipped to length C: sensitivity 2C.

Together they are exactly one Gaussian release: 1/\sigma^2 = \sum_j 1/\sigma_j^2 in units of each
sensitivity (Dong et al. 2022, Corollary 2), although C and the points at which gradients are
taken depend on what was released before.
"""

import functools
import math
from dataclasses import dataclass

from engine.papers.survival.price import COMPARISON, RELEASED, proved, scaling
from engine.papers.survival.spec import SurvivalSpec
from engine.privacy.guarantee import Guarantee
from engine.privacy.mechanisms import Gaussian
from engine.privacy.releases import BEFORE, Release

COUNTS, MOMENTS = 0.1, 0.1
"""Shares of the budget 1/sigma^2 for counts and second moments; gradients get the rest."""


@dataclass(frozen=True)
class Plan:
    """Every release of one replica; the gradients' sensitivity is in units of the clip C.

    Attributes:
        counts: Noise of the coarse table of times and outcomes.
        moments: Noise of the second moments of the covariates.
        gradient: Noise of one sum of clipped gradients, for C = 1.
        total: Multiplier of the one Gaussian release that all of it comes to.
    """

    counts: Gaussian
    moments: Gaussian
    gradient: Gaussian
    total: float


@functools.lru_cache(maxsize=4096)
def plan(epsilon: float, delta: float, steps: int) -> Plan:
    r"""The releases that together spend (\epsilon, \delta).

    Args:
        epsilon: Budget, in nats.
        delta: Probability with which the bound may fail.
        steps: T, gradients in all.
    """
    from dp_accounting import GaussianDpEvent

    from engine.privacy.accounting import calibrate

    total = calibrate(GaussianDpEvent, epsilon, delta, "replace_one")
    each = (1.0 - COUNTS - MOMENTS) / steps
    return Plan(
        counts=Gaussian(math.sqrt(2.0), total / math.sqrt(COUNTS)),
        moments=Gaussian(math.sqrt(2.0), total / math.sqrt(MOMENTS)),
        gradient=Gaussian(2.0, total / math.sqrt(each)),
        total=total,
    )


def planned(spec: SurvivalSpec) -> Plan:
    """The plan of a spec."""
    return plan(spec.epsilon, spec.delta, spec.steps)


def gradient_steps(spec: SurvivalSpec, n: int) -> int:
    """T."""
    return spec.steps


def gradient_releases(spec: SurvivalSpec, n: int) -> tuple[Release, ...]:
    """Counts and moments before the first step, and a gradient in each; for a clip of 1."""
    all_of_it = planned(spec)
    return (
        Release(all_of_it.counts, first=BEFORE, what="counts by coarse time and outcome"),
        Release(all_of_it.moments, first=BEFORE, what="second moments of the covariates"),
        Release(all_of_it.gradient, times=spec.steps, what="sum of clipped gradients over C"),
    )


def gradient_guarantee(spec: SurvivalSpec, n: int, unit: str) -> Guarantee:
    """The card of private gradient descent."""
    return gaussian_card(
        spec,
        unit,
        "Full-batch gradient descent, each record's gradient clipped, Gaussian noise",
        "Beyond the paper, which has no gradient descent.",
        planned(spec).total,
        sampling="none: every step reads every record",
        released=(*RELEASED, "noisy counts, second moments and gradients on the way"),
        reasons=(
            "Start, whitening, clipping bound and the average of the later steps are computed from "
            "released values and cost nothing.",
            "Step size, shares of the budget and prior were chosen on simulated records only.",
        ),
    )


def gaussian_card(
    spec: SurvivalSpec,
    unit: str,
    mechanism: str,
    claim: str,
    total: float,
    *,
    sampling: str,
    released: tuple[str, ...],
    reasons: tuple[str, ...],
) -> Guarantee:
    """The card of Gaussian releases of all records.

    Args:
        spec: The setting.
        unit: What one record is.
        mechanism: What is released with noise.
        claim: What the paper says of it.
        total: Noise multiplier of one release that costs as much as all together.
        sampling: Which records a step reads.
        released: What is published.
        reasons: What the proof rests on beside what all such cards say.
    """
    from engine.privacy import gaussian

    return Guarantee(
        mechanism=mechanism,
        status=proved(spec),
        epsilon_claimed=None,
        epsilon_proved=gaussian.epsilon(total**-2, spec.delta),
        delta=spec.delta,
        relation="replace_one",
        unit=unit,
        accountant="Gaussian composition in closed form (Dong et al. 2022; Balle and Wang 2018)",
        sampling=sampling,
        released=released,
        reasons=(
            "This is (ε, δ)-privacy, which is weaker than the pure ε of the published methods: the "
            f"bound may fail with probability at most δ = {spec.delta:g}.",
            *reasons,
            scaling(spec),
            COMPARISON,
        ),
        claim=claim,
    )
