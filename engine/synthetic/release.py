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

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from datasets.base import Integers, Table
from engine.privacy import exact
from engine.privacy.discrete import Bits
from engine.synthetic import shaped
from engine.synthetic.columns import PublicTable, Values, read
from engine.synthetic.price import SyntheticPlan, gaussian_of
from engine.synthetic.shaped import KnownCounts, Pair


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
        exact.law(gaussian_of(one), move, made.factor)
        for one, move in zip(made.made, made.moves, strict=True)
    ]
    one_way: list[Integers] = []
    for column in known.columns:
        may = column.possible()
        counts = np.bincount(column.coded(values), minlength=column.cells)
        noisy = np.zeros(column.cells, np.int64)  # no record can lie in the other cells
        noisy[may] = _noisy(counts[may], laws[0], bits)
        one_way.append(noisy)
    shape = KnownCounts(known.columns, one_way, made.card.records, made.deviations)
    codes = shape.codes(values)
    pairs = shaped.pairs(len(known.columns))
    apart = [np.abs(shape.counts(codes, pair) - shape.expected(pair)).sum() for pair in pairs]
    scores = _noisy(np.array(apart, np.int64), laws[1], bits)
    tree = shape.tree(pairs, scores)
    two_way = [_noisy(shape.counts(codes, pair), laws[2], bits) for pair in tree]
    drawn = shape.drawn(tree, two_way, np.random.default_rng(bits(128)))
    released = {"columns": one_way, "scores": [scores], "pairs": two_way}
    return Synthetic(known, drawn, released, tree)


def _noisy(counts: Integers, law: Callable[[Bits], int], bits: Bits) -> Integers:
    """Counts with noise on whole numbers."""
    noise = np.array([law(bits) for _ in range(counts.size)], np.int64)
    return counts + noise.reshape(counts.shape)
