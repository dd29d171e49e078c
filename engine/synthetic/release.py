r"""What a synthetic table asks of the records: counts with Gaussian noise on whole numbers.

Three releases, each of which may depend on those before it (McKenna, Miklau and Sheldon 2021,
"Winning the NIST contest", MST; the pairs' score is that of Zhang et al. 2017, "PrivBayes",
Section 4.3, without its division by 2n):

1. how many records lie in each cell of each of d columns;
2. how far each pair of columns is from independence: the sum of |counts - expected| over the cells
   of the pair, where what is expected follows from the first release;
3. how many records lie in each cell of each of the d - 1 pairs of a tree, which follows from the
   second.

Guarantees:
    One record is replaced, and the number of records n is public. In one table of counts it leaves
    a cell and enters another, so the table moves by at most \sqrt2 in L2 norm, and k tables
    together by at most \sqrt{2k}. A pair's score moves by at most 2, by the triangle inequality,
    and p = d(d-1)/2 scores together by at most 2\sqrt p. All values are whole numbers: the
    expected counts are rounded. So the releases are Gaussian with sensitivities \sqrt{2d},
    2\sqrt p and \sqrt{2(d-1)}, and cost together what one Gaussian release with the sum of their
    1/s^2 does (`engine.privacy.releases`). Noise is drawn on whole numbers, with deviations that
    are larger by `factor`, so that the bound for whole numbers (`engine.privacy.discrete`) gives
    the same \varepsilon. All else follows from what is released: it costs nothing.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from datasets.base import Card, Integers, Table
from engine.core.errors import BudgetError, RequestError
from engine.privacy import exact, gaussian
from engine.privacy.discrete import Bits
from engine.privacy.guarantee import Guarantee, for_persons
from engine.privacy.mechanisms import Gaussian
from engine.privacy.releases import Release
from engine.promise import promise
from engine.runs.release import CONCENTRATED
from engine.synthetic import shaped
from engine.synthetic.columns import PublicTable, Values, groups, read
from engine.synthetic.shaped import KnownCounts, Pair

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
        factor: What deviations are multiplied by, for noise on whole numbers.
        guarantee: The card of the synthetic table.
    """

    card: Card
    made: tuple[Release, ...]
    moves: tuple[int, ...]
    factor: float
    guarantee: Guarantee

    @property
    def deviations(self) -> tuple[float, ...]:
        """Standard deviation of the noise of each release, in records."""
        return tuple(self.factor * _gaussian(one).scale for one in self.made)


def _gaussian(one: Release) -> Gaussian:
    assert isinstance(one.mechanism, Gaussian)
    return one.mechanism


def plan(card: Card, epsilon: float, delta: float) -> SyntheticPlan:
    """Prices a synthetic table.

    Args:
        card: Of the data set.
        epsilon: What all releases cost together, for one record replaced.
        delta: Probability with which that may fail.

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
    assert promised.epsilon_proved is not None
    factor = exact.factor(made, promised.epsilon_proved, delta)
    whole = replace(promised, secret=True, exact=True)
    if card.rows > 1:
        whole = for_persons(replace(whole, epsilon_claimed=None), card.rows)
    if whole.epsilon_proved is None:
        raise BudgetError(f"delta: expected less of it, since a person has {card.rows} rows")
    return SyntheticPlan(card, made, moves, factor, whole)


@dataclass(frozen=True, eq=False)
class Synthetic:
    """A synthetic table, and what it follows from.

    Attributes:
        table: The public columns.
        values: The values of each column of the file, shape (n,).
        released: The noisy counts of each column, the scores of the pairs, and the noisy counts of
            each pair of the tree.
        tree: Each pair: the column that is drawn first, and the one that is drawn given it.
    """

    table: PublicTable
    values: Values
    released: Mapping[str, Sequence[Integers]]
    tree: tuple[Pair, ...]


def make(made: SyntheticPlan, data: Table, bits: Bits) -> Synthetic:
    """Draws a synthetic table.

    Args:
        made: Its price.
        data: The records.
        bits: Where noise comes from: `random.SystemRandom().getrandbits` for a release.

    Returns:
        As many records as there are.
    """
    known, values = read(data)
    laws = [
        exact.law(_gaussian(one), move, made.factor)
        for one, move in zip(made.made, made.moves, strict=True)
    ]
    one_way: list[Integers] = []
    for column in known.columns:
        may = column.possible()
        counts = np.bincount(column.coded(values), minlength=column.cells)
        counts[may] = _noisy(counts[may], laws[0], bits)
        one_way.append(counts)
    shape = KnownCounts(known.columns, one_way, made.card.records, made.deviations)
    codes = shape.codes(values)
    pairs = shaped.pairs(len(known.columns))
    apart = np.array([_score(shape, codes, pair) for pair in pairs], np.int64)
    scores = _noisy(apart, laws[1], bits)
    tree = shape.tree(pairs, scores)
    two_way = [_noisy(shape.counts(codes, pair), laws[2], bits) for pair in tree]
    drawn = shape.drawn(tree, two_way, np.random.default_rng(bits(128)))
    released = {"columns": one_way, "scores": [scores], "pairs": two_way}
    return Synthetic(known, drawn, released, tree)


def _noisy(counts: Integers, law: Callable[[Bits], int], bits: Bits) -> Integers:
    """Counts with noise on whole numbers."""
    noise = np.array([law(bits) for _ in range(counts.size)], np.int64)
    return counts + noise.reshape(counts.shape)


def _score(shape: KnownCounts, codes: Sequence[Integers], pair: Pair) -> int:
    """How far two columns are from independence, in records."""
    return int(np.abs(shape.counts(codes, pair) - shape.expected(pair)).sum())


def largest_error(known: PublicTable, one: Values, other: Values) -> tuple[float, str]:
    """The largest total variation between the columns of two tables, and that column's name."""
    return max(
        (float(0.5 * np.abs(column.shares(one) - column.shares(other)).sum()), column.title)
        for column in known.columns
    )
