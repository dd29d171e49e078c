r"""Randomised response: a class answers so that nobody learns much from any one answer.

Each answer is replaced by a random one before it is counted. What a class thinks follows from many
answers; what one person thinks does not.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from random import Random
from statistics import NormalDist

from engine.core.errors import RequestError


@dataclass(frozen=True)
class Interval:
    """An estimate with its interval.

    Attributes:
        middle: The estimate.
        low: Lower end.
        high: Upper end.
    """

    middle: float
    low: float
    high: float


@dataclass(frozen=True)
class RandomisedResponse:
    r"""Tells the truth with some probability, else any other option (Warner 1965).

    Attributes:
        options: How many may be answered, k.
        epsilon: What one answer costs its giver.

    Guarantees:
        An option is reported with probability p = e^\varepsilon/(e^\varepsilon + k - 1) where it is
        the truth and q = 1/(e^\varepsilon + k - 1) where it is not. Replacing the truth by any
        other changes the probability of a report by the factor p/q = e^\varepsilon at most, so an
        answer is \varepsilon-private for its giver without a trusted counter (Kairouz, Oh and
        Viswanath 2016, Section 3). Two answers of one person cost the sum.

    Raises:
        RequestError: Fewer than two options, or no positive, finite budget.
    """

    options: int
    epsilon: float

    def __post_init__(self) -> None:
        if self.options < 2 or not 0.0 < self.epsilon < math.inf:
            raise RequestError(
                f"answer: expected 2 options and a positive ε, got {self.options}, {self.epsilon}"
            )

    @property
    def honest(self) -> float:
        """The probability p of reporting the truth."""
        return 1.0 / (1.0 + (self.options - 1) * math.exp(-self.epsilon))

    @property
    def lucky(self) -> float:
        """The probability q of reporting a certain other option."""
        return (1.0 - self.honest) / (self.options - 1)

    def report(self, truth: int, rng: Random) -> int:
        """What is counted in the place of an answer, which is a position from 0."""
        if rng.random() < self.honest:
            return truth
        other = rng.randrange(self.options - 1)
        return other + (other >= truth)

    def share(self, times: Sequence[int], option: int, confidence: float = 0.95) -> Interval:
        r"""The share of people whose true answer is an option, from counted reports.

        Wilson's interval of the share of reports, undone: \pi = (m - q)/(p - q). It may reach below
        0 and above 1; the ends are cut there.

        Raises:
            RequestError: Nobody has answered.
        """
        n, z = sum(times), NormalDist().inv_cdf(0.5 + confidence / 2)
        if not n:
            raise RequestError("answers: expected one at least, got none")
        m = times[option] / n
        centre = (m + z * z / (2 * n)) / (1 + z * z / n)
        half = z * math.sqrt(m * (1 - m) / n + z * z / (4 * n * n)) / (1 + z * z / n)
        middle, low, high = (
            min(1.0, max(0.0, self._true(one))) for one in (m, centre - half, centre + half)
        )
        return Interval(middle, low, high)

    def gap(
        self, one: Sequence[int], other: Sequence[int], option: int, confidence: float = 0.95
    ) -> Interval:
        r"""How much more often the other group's true answer is an option: a difference of shares.

        The interval is that of two shares with a success and a failure added to each (Agresti and
        Caffo 2000), divided by p - q; its ends are cut at -1 and 1.
        """
        z = NormalDist().inv_cdf(0.5 + confidence / 2)
        shares, spread = [], 0.0
        for times in (one, other):
            n = sum(times) + 2
            shares.append((times[option] + 1) / n)
            spread += shares[-1] * (1 - shares[-1]) / n
        steep = self.honest - self.lucky
        middle, half = (shares[1] - shares[0]) / steep, z * math.sqrt(spread) / steep
        low, high = (max(-1.0, min(1.0, end)) for end in (middle - half, middle + half))
        return Interval(max(-1.0, min(1.0, middle)), low, high)

    def _true(self, reported: float) -> float:
        return (reported - self.lucky) / (self.honest - self.lucky)
