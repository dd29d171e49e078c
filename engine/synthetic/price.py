"""What a synthetic table costs, known before it is made. No torch.

The releases and their sensitivities are derived in `engine.synthetic.release`.
"""

import math
from dataclasses import dataclass, replace
from functools import cached_property

from datasets.base import Card
from engine.core.errors import BudgetError, RequestError
from engine.privacy import gaussian
from engine.privacy.guarantee import Guarantee, for_persons
from engine.privacy.mechanisms import Gaussian
from engine.privacy.releases import Release
from engine.promise import CONCENTRATED, promise
from engine.synthetic.columns import groups

SHARES = (0.35, 0.15, 0.5)
r"""Of the sum of 1/s^2: counts of columns, scores of pairs, counts of pairs."""
WHAT = (
    "counts of each column", "how far each pair of columns is from independence",
    "counts of the pairs of a tree",
)  # fmt: skip
LARGEST = 100.0
"""ε at most."""
REASONS = (
    "Every cell is known without the records: equal parts of the public bounds, the categories and "
    "the classes. The number of records is public, and the synthetic table has as many.",
    "A record counts in one cell of each column and of each pair, so replacing it moves each table "
    "of counts by at most √2 and each score of a pair by at most 2. All noise is Gaussian on whole "
    "numbers and is priced as one release.",
    "The synthetic records follow from the noisy counts alone: they may be published, and whatever "
    "is computed from them costs nothing more.",
)


@dataclass(frozen=True)
class SyntheticPlan:
    """A synthetic table that is priced and not made yet.

    Attributes:
        card: Of the data set.
        made: The three releases.
        moves: How far a record moves each of them, squared in L2 norm.
        promised: What a record is promised.
        guarantee: The card of the synthetic table: what a person is promised.
    """

    card: Card
    made: tuple[Release, ...]
    moves: tuple[int, ...]
    promised: Guarantee
    guarantee: Guarantee

    @cached_property
    def factor(self) -> float:
        """What deviations are multiplied by, for noise on whole numbers."""
        from engine.privacy import exact

        assert self.promised.epsilon_proved is not None
        return exact.factor(self.made, self.promised.epsilon_proved, self.promised.delta)

    @property
    def deviations(self) -> tuple[float, ...]:
        """Standard deviation of the noise of each release, in records."""
        return tuple(self.factor * gaussian_of(one).scale for one in self.made)


def gaussian_of(one: Release) -> Gaussian:
    """The mechanism of a release of a synthetic table."""
    assert isinstance(one.mechanism, Gaussian)
    return one.mechanism


def plan(card: Card, epsilon: float, delta: float) -> SyntheticPlan:
    """Prices a synthetic table.

    Args:
        card: Of the data set.
        epsilon: What all releases cost together, for one record replaced.
        delta: The additive term of (ε, δ)-privacy.

    Raises:
        RequestError: A budget that is none, a data set that is no table of classes or survival
            times with at most so many columns, or bounds that were taken from the records.
        BudgetError: With so many rows of a person nothing is proved.
    """
    if not 0.0 < epsilon <= LARGEST:
        raise RequestError(f"epsilon: expected a number above 0 and up to 100, got {epsilon:g}")
    if not 0.0 < delta < 0.1:
        raise RequestError(f"delta: expected a number above 0 and below 0.1, got {delta:g}")
    if card.taken:
        raise RequestError(
            f"dataset: expected bounds that are known without the records, got {card.name}, where "
            "some were taken from the data: state them in the settings and add the table again"
        )
    columns = 1 + len(groups(card))
    moves = (2 * columns, 2 * columns * (columns - 1), 2 * (columns - 1))
    usual = gaussian.multiplier(epsilon, delta)
    made = tuple(
        Release(Gaussian(math.sqrt(move), usual / math.sqrt(share)), what=what)
        for move, share, what in zip(moves, SHARES, WHAT, strict=True)
    )
    promised = promise(
        made, "replace_one", card.record, claimed=epsilon, delta=delta, claimant="You request",
        accountant=CONCENTRATED, reasons=REASONS,
        mechanism=f"Gaussian noise on whole numbers: counts of {columns} columns and of the pairs "
        "of a tree",
    )  # fmt: skip
    whole = replace(promised, secret=True, exact=True)
    if card.rows > 1:
        whole = for_persons(replace(whole, epsilon_claimed=None), card.rows)
    if whole.epsilon_proved is None:
        raise BudgetError(f"delta: expected less of it, since a person has {card.rows} rows")
    return SyntheticPlan(card, made, moves, promised, whole)
