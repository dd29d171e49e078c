r"""What a private Kaplan-Meier curve releases and costs. No torch, and no data: only the spec.

One table of counts: records by the interval in which they end and by whether they end with the
event. A record is in one cell, so replacing it moves two cells by 1: L2 sensitivity \sqrt2. The
curve follows from the noisy counts and the public number of records.
"""

from engine.papers.survival.price import COMPARISON, proved
from engine.papers.survival.spec import SurvivalSpec
from engine.privacy.guarantee import Guarantee
from engine.privacy.mechanisms import Gaussian
from engine.privacy.releases import Release, cost

TIMES = (
    "The grid of times follows from the public bound on times, which the data set's card lists. "
    "Who is followed for longer counts as censored there."
)
RANGE = (
    "Assumption: the longest time is public, and every possible record ends before it. As printed, "
    "it is computed from the records, and the noise does not hide that."
)


def counts(spec: SurvivalSpec) -> Gaussian:
    """The noise of every count.

    >>> round(counts(SurvivalSpec(epsilon=1.0)).scale, 2)  # sqrt 2 times 3.73
    5.28
    """
    from engine.privacy.gaussian import multiplier

    return Gaussian(2.0**0.5, multiplier(spec.epsilon, spec.delta))


def km_releases(spec: SurvivalSpec, n: int) -> tuple[Release, ...]:
    """One noisy table."""
    return (Release(counts(spec), what="counts by interval and outcome"),)


def km_guarantee(spec: SurvivalSpec, n: int, unit: str) -> Guarantee:
    """The card of the private curve."""
    from engine.privacy import accounting

    return Guarantee(
        mechanism="Gaussian noise on the counts of events and censored times in each interval",
        status=proved(spec),
        epsilon_claimed=None,
        epsilon_proved=accounting.epsilon(cost(km_releases(spec, n)), spec.delta, "replace_one"),
        delta=spec.delta,
        relation="replace_one",
        unit=unit,
        accountant="exact curve of one Gaussian release (Balle and Wang 2018)",
        released=("the survival curve of everyone, at the ends of the intervals",),
        reasons=(
            "One record is in one cell of the table, so replacing it changes two counts by 1.",
            "The number of records at risk follows from the noisy counts and the public number of "
            "records; the curve is made monotone afterwards, which costs nothing.",
            RANGE if spec.calibration == "paper" else TIMES,
            COMPARISON,
        ),
        claim="Beyond the paper: noise on the counts behind the product-limit estimate.",
    )
