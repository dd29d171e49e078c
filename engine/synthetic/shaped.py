"""From noisy counts to synthetic records. Nothing here sees a record's values but `codes`.

Post-processing of what `engine.synthetic.release` releases: counts become shares that are not
negative and add up (`projected`), bins become groups that are as fine as the noise lets them be,
the pairs of a tree get the margins of their columns (`raked`), and records are drawn along the
tree, from the outcome on.
"""

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np

from datasets.base import Floats, Integers
from engine.synthetic.columns import PublicColumn, Values

Pair: TypeAlias = tuple[int, int]
Counted: TypeAlias = tuple[Integers, int]
"""Noisy counts, and how many of the cells have noise."""
CERTAIN = 3.0
"""A count of so many deviations is taken to be there."""
GROUPS = (2, 16)
"""Groups of bins of a column, at least and at most."""
CLEAR = 2.0
"""Deviations of noise in the mean cell of a pair of columns, at least."""
ROUNDS = 50
"""Of raking."""


def pairs(columns: int) -> tuple[Pair, ...]:
    """All pairs of columns, in the order of their scores."""
    return tuple(itertools.combinations(range(columns), 2))


def projected(noisy: Floats, total: float) -> Floats:
    """The nearest counts that are not negative and add up to a total, in L2 norm.

    The same number is taken off all, and what is below 0 then is 0 (Duchi et al. 2008).

    >>> projected(np.array([5.0, 3.0, -2.0]), 6.0).tolist()
    [4.0, 2.0, 0.0]
    """
    down = np.sort(noisy.ravel())[::-1]
    excess = (np.cumsum(down) - total) / np.arange(1, len(down) + 1)
    level = excess[np.flatnonzero(down > excess)[-1]]
    return np.asarray(np.maximum(noisy - level, 0.0), np.float64)


def raked(counts: Floats, rows: Floats, columns: Floats) -> Floats:
    """Counts of a pair with the given margins: iterative proportional fitting.

    A little of what independence gives stands in every cell, so that no margin is out of reach.
    """
    total = max(rows.sum(), 1e-9)
    fitted = counts + 1e-6 * np.outer(rows, columns) / total
    for _ in range(ROUNDS):
        fitted *= (rows / np.maximum(fitted.sum(1), 1e-12))[:, None]
        fitted *= columns / np.maximum(fitted.sum(0), 1e-12)
    return np.asarray(fitted, np.float64)


def spread(shares: Floats, count: int, rng: np.random.Generator) -> Integers:
    """So many places with these shares, as nearly as whole numbers can, in a random order."""
    wanted = count * shares / shares.sum()
    whole = np.floor(wanted).astype(np.int64)
    if rest := count - int(whole.sum()):
        odd = wanted - whole
        chance = odd / odd.sum() if np.count_nonzero(odd) >= rest else None
        whole[rng.choice(len(odd), rest, replace=False, p=chance)] += 1
    places: Integers = rng.permutation(np.repeat(np.arange(len(shares)), whole))
    return places


@dataclass(eq=False)
class KnownCounts:
    """What noisy counts of columns say, and what is asked next.

    Attributes:
        columns: The outcome first.
        one_way: Noisy counts of the cells of each.
        records: How many there are.
        deviations: Of the noise of the three releases.
        whole: Of each column, whether it seems to hold whole numbers alone.
        fine: Of each column, the share of records in each bin or level.
        group: Of each column, the group of each bin or level.
    """

    columns: Sequence[PublicColumn]
    one_way: Sequence[Integers]
    records: int
    deviations: Sequence[float]
    whole: list[bool] = field(default_factory=list)
    fine: list[Floats] = field(default_factory=list)
    group: list[Integers] = field(default_factory=list)

    def __post_init__(self) -> None:
        most = math.sqrt(self.records / (CLEAR * self.deviations[2]))
        groups = min(max(int(most), GROUPS[0]), GROUPS[1])
        for column, counts in zip(self.columns, self.one_way, strict=True):
            possible = column.possible()
            kinds = [(counts[part], int(possible[part].sum())) for part in column.kinds]
            alone = not column.levels and self._absent(kinds[0], kinds[1])
            self.whole.append(alone)
            may = possible[column.kinds[1]] if alone else np.ones(column.places, bool)
            present = kinds[1:] if alone else kinds
            if len(present) == 2 and self._absent(kinds[1], kinds[0]):
                present = kinds[:1]
            noisy = np.sum([some for some, _ in present], 0)
            shares = np.zeros(column.places)
            shares[may] = projected(noisy[may], self.records) / self.records
            self.fine.append(shares)
            self.group.append(self._grouped(column, shares, groups))

    def _absent(self, kind: Counted, other: Counted) -> bool:
        """Whether a column seems to hold no values of a kind: noise alone is as large."""
        clear = CERTAIN * self.deviations[0] * math.sqrt(kind[1])
        return other[1] > 0 and float(kind[0].sum()) < min(float(other[0].sum()), clear)

    def _grouped(self, column: PublicColumn, shares: Floats, groups: int) -> Integers:
        """Neighbouring bins with about the same share together; levels stay as they are."""
        if column.levels:
            return np.arange(column.levels)
        least = CERTAIN * self.deviations[0] / self.records
        found: list[int] = []
        number = -1
        for part in np.split(shares, 1 + column.twice):
            size = part.sum() / groups
            number, held, left = number + 1, 0.0, part.sum()
            for share in part:
                found.append(number)
                held, left = held + share, left - share
                if held >= max(size, least) and left >= least:
                    number, held = number + 1, 0.0
        return np.array(found)

    def codes(self, values: Values) -> list[Integers]:
        """The group of each record in each column: the one look at values, for counts of pairs."""
        placed = [column.placed(values) for column in self.columns]
        return [group[place] for group, place in zip(self.group, placed, strict=True)]

    def sizes(self, pair: Pair) -> tuple[int, int]:
        """Groups of the two columns."""
        first, second = (int(self.group[at][-1]) + 1 for at in pair)
        return first, second

    def margin(self, at: int) -> Floats:
        """Records in each group of a column."""
        return self.records * np.bincount(self.group[at], self.fine[at]).astype(np.float64)

    def counts(self, codes: Sequence[Integers], pair: Pair) -> Integers:
        """Records in each cell of a pair, without noise."""
        sizes, (first, second) = self.sizes(pair), pair
        flat = np.bincount(codes[first] * sizes[1] + codes[second], minlength=sizes[0] * sizes[1])
        return flat.reshape(sizes)

    def expected(self, pair: Pair) -> Integers:
        """What independent columns would have there, rounded."""
        outer = np.outer(self.margin(pair[0]), self.margin(pair[1])) / self.records
        return np.rint(outer).astype(np.int64)

    def tree(self, known: Sequence[Pair], scores: Integers) -> tuple[Pair, ...]:
        r"""The pairs of the tree of largest sum that begins with the outcome (Chow and Liu 1968).

        From a score goes what chance alone gives: \sqrt{2m/\pi} in a cell where m are expected.
        """
        chance = [float(np.sqrt(2.0 * self.expected(pair) / math.pi).sum()) for pair in known]
        weights = {}
        for (first, second), score, less in zip(known, scores, chance, strict=True):
            weights[first, second] = weights[second, first] = float(score) - less
        found: list[Pair] = []
        inside, outside = [0], list(range(1, len(self.columns)))
        while outside:
            best = max(itertools.product(inside, outside), key=weights.__getitem__)
            found.append(best)
            inside.append(best[1])
            outside.remove(best[1])
        return tuple(found)

    def drawn(
        self, tree: Sequence[Pair], two_way: Sequence[Integers], rng: np.random.Generator
    ) -> Values:
        """Synthetic records: the outcome, then each column given the one before it in the tree."""
        grouped = {0: spread(self.margin(0), self.records, rng)}
        for (given, new), noisy in zip(tree, two_way, strict=True):
            counts = projected(noisy.astype(np.float64), self.records)
            fitted = raked(counts, self.margin(given), self.margin(new))
            place = np.empty(self.records, np.int64)
            for row, shares in enumerate(fitted):
                mine = np.flatnonzero(grouped[given] == row)
                if len(mine):
                    place[mine] = spread(shares, len(mine), rng)
            grouped[new] = place
        values: Values = {}
        for at in range(len(self.columns)):
            values |= self._values(at, grouped[at], rng)
        return values

    def _values(self, at: int, groups: Integers, rng: np.random.Generator) -> Values:
        """Values within groups: a bin by its share, then any value or whole number of the bin."""
        column, place = self.columns[at], np.empty(self.records, np.int64)
        for group in np.unique(groups):
            inside, mine = self.group[at] == group, np.flatnonzero(groups == group)
            shares = np.where(inside, self.fine[at], 0.0)
            place[mine] = spread(shares if shares.sum() > 0.0 else 1.0 * inside, len(mine), rng)
        if column.levels:
            if len(column.heads) == 1:
                return {column.heads[0]: place.astype(np.float64)}
            return {head: 1.0 * (place == i) for i, head in enumerate(column.heads, 1)}
        event, bins = np.divmod(place, column.bins)
        edges = column.edges
        values = rng.uniform(edges[bins], edges[bins + 1])
        if self.whole[at]:
            values = _whole(column, bins, rng)
        named = {column.heads[0]: values}
        return named | {column.heads[1]: event.astype(np.float64)} if column.twice else named


def _whole(column: PublicColumn, bins: Integers, rng: np.random.Generator) -> Floats:
    """A whole number of each record's bin; the next one where the bin holds none."""
    first = np.ceil(column.edges)
    first[-1] = np.floor(column.high) + 1.0
    count = np.maximum(first[bins + 1] - first[bins], 1.0)
    drawn = first[bins] + np.floor(count * rng.random(len(bins)))
    return np.asarray(np.minimum(drawn, first[-1] - 1.0), np.float64)
