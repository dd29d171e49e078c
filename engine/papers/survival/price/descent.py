r"""What noisy descent over all records releases, and how noisy. No torch, and no data.

Gaussian releases, all of full-batch sums, neighbours replacing one record:

* counts of records by coarse time and outcome: one record is in one cell, so two cells change by
  1 and the L2 sensitivity is \sqrt2;
* where there are histograms, one of each of p columns for each outcome: a record is in one bin of
  each column, so 2p bins change by 1 when it is replaced; \sqrt{2p};
* the sum over all records of v v^T, v the covariates, cut to \|v\|^2 \le B; where they vary in
  time, a person's average. A record adds a semidefinite P of trace at most B; for two such
  tr(PQ) \ge 0, so \|P - Q\|_F^2 = \|P\|_F^2 + \|Q\|_F^2 - 2 tr(PQ) \le 2 B^2: \sqrt2 B. As they
  are scaled, B = 1;
* T sums of whitened gradients, each record's clipped to length C: sensitivity 2C.

Together they are exactly one Gaussian release: 1/\sigma^2 = \sum_j 1/\sigma_j^2 in units of each
sensitivity (Dong et al. 2022, Corollary 2), although bounds, metric and points depend on what
was released before.
"""

import functools
import math
from dataclasses import dataclass

from engine.papers.survival.spec import SurvivalSpec
from engine.privacy.mechanisms import Gaussian
from engine.privacy.releases import BEFORE, Release


@dataclass(frozen=True)
class Split:
    """How the budget 1/sigma^2 is divided; gradients get what the others leave.

    Attributes:
        counts: Share of the coarse table of times and outcomes.
        moments: Share of the second moments of the covariates.
        columns: Share of the histograms; 0 for none.
        growth: How much more each gradient has than the one before, for the first few.
    """

    counts: float
    moments: float
    columns: float = 0.0
    growth: float = 1.0

    def gradients(self, steps: int) -> tuple[float, ...]:
        """The share of each gradient."""
        rest = 1.0 - self.counts - self.columns - self.moments
        if self.growth == 1.0:
            return (rest / steps,) * steps
        return tuple(rest * share for share in shares(steps, self.growth))


LARGEST = 3
"""Passes after which the share grows no further."""
EVEN = Split(counts=0.1, moments=0.1)
"""Of private gradient descent."""
GROWING = Split(counts=0.12, moments=0.04, columns=0.08, growth=2.0)
"""Of private Newton steps."""


def shares(passes: int, growth: float) -> tuple[float, ...]:
    """How the passes divide the gradients' budget: they add up to 1."""
    weights = [growth ** min(k, LARGEST) for k in range(passes)]
    return tuple(weight / sum(weights) for weight in weights)


@dataclass(frozen=True)
class Plan:
    """Every release of one replica; bounds C and B are 1 here.

    Attributes:
        counts: Noise of the coarse table of times and outcomes.
        moments: Noise of the second moments of the covariates.
        gradients: Noise of each step's sum of clipped gradients.
        total: Multiplier of the one Gaussian release that all of it comes to.
        columns: Noise of the histograms, for one column; None for none.
    """

    counts: Gaussian
    moments: Gaussian
    gradients: tuple[Gaussian, ...]
    total: float
    columns: Gaussian | None = None


@functools.lru_cache(maxsize=4096)
def plan(split: Split, epsilon: float, delta: float, steps: int) -> Plan:
    r"""The releases that together spend (\epsilon, \delta).

    Args:
        split: How they divide the budget.
        epsilon: Budget, in nats.
        delta: The additive term of (ε, δ)-privacy.
        steps: T, gradients in all.
    """
    from dp_accounting import GaussianDpEvent

    from engine.privacy.accounting import calibrate

    total, root = calibrate(GaussianDpEvent, epsilon, delta, "replace_one"), math.sqrt(2.0)
    return Plan(
        counts=Gaussian(root, total / math.sqrt(split.counts)),
        moments=Gaussian(root, total / math.sqrt(split.moments)),
        gradients=tuple(Gaussian(2.0, total / math.sqrt(s)) for s in split.gradients(steps)),
        total=total,
        columns=Gaussian(root, total / math.sqrt(split.columns)) if split.columns else None,
    )


def even(spec: SurvivalSpec) -> Plan:
    """The plan of private gradient descent."""
    return plan(EVEN, spec.epsilon, spec.delta, spec.steps)


def growing(spec: SurvivalSpec) -> Plan:
    """The plan of private Newton steps."""
    return plan(GROWING, spec.epsilon, spec.delta, spec.passes)


def gradient_steps(spec: SurvivalSpec, n: int) -> int:
    """T."""
    return spec.steps


def newton_passes(spec: SurvivalSpec, n: int) -> int:
    """T."""
    return spec.passes


def gradient_releases(spec: SurvivalSpec, n: int) -> tuple[Release, ...]:
    """Counts and moments before the first step, and a gradient in each; for a clip of 1."""
    whole = even(spec)
    sums = "sum of clipped gradients over C"
    return (*_start(whole), Release(whole.gradients[0], times=spec.steps, what=sums))


def newton_releases(spec: SurvivalSpec, n: int) -> tuple[Release, ...]:
    """Counts, histograms and moments before the first pass, and a gradient in each."""
    whole = growing(spec)
    sums = (
        Release(mechanism, first=k, what=f"sum of clipped gradients over C, pass {k + 1}")
        for k, mechanism in enumerate(whole.gradients)
    )
    return (*_start(whole), *sums)


def _start(whole: Plan) -> tuple[Release, ...]:
    """What is released before the first step."""
    named = (
        ("counts by coarse time and outcome", whole.counts),
        ("histogram of each covariate by outcome", whole.columns),
        ("second moments of the covariates", whole.moments),
    )
    return tuple(Release(part, first=BEFORE, what=what) for what, part in named if part)
