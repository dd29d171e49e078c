r"""Evidence against a claim from guesses, valid at every moment.

Pairs of trainings are guessed one after the other: a is 1 where the training with the witness was
guessed right, b is 1 where the one without it was guessed wrong. Under
(\varepsilon, \delta)-privacy E a \le e^\varepsilon E b + \delta for every guess, and
E(1 - b) \le e^\varepsilon E(1 - a) + \delta (Kairouz, Oh and Viswanath 2015). A gambler who bets
on the opposite has on average no more than 1 at any time, so the claim is refuted as soon as 1/0.05
is passed, whenever one stops looking (Ville 1939; Waudby-Smith and Ramdas 2024). Only the averages
of a and b enter, so the two trainings of a pair may share their randomness.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from engine.yours.claim import Claim

Floats = NDArray[np.float64]
Counts = NDArray[np.int64]
STAKES = np.array([0.003, 0.01, 0.03, 0.1, 0.2, 0.4, 0.7, 0.95])
"""Shares of the largest stake that cannot lose everything; a gambler splits between them."""
LEAST, MOST = 1e-6, 20.0
"""Levels between which a bound is looked for."""
HALVINGS = 24
"""Of that interval."""
SHARES = (1.0, 0.8, 0.6, 0.4, 0.2, 0.1)
"""Of the claimed level, against which tests are compared."""
KINDS = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
"""What a and b of a pair can be."""


@dataclass(frozen=True, eq=False)
class Guesses:
    """The guesses of one test, in the order of the pairs.

    Attributes:
        present: Whether the training with the witness was guessed to have it, shape (T,).
        absent: Whether the one without it was, shape (T,).
    """

    present: NDArray[np.bool_]
    absent: NDArray[np.bool_]

    @property
    def counts(self) -> Counts:
        """How many pairs are of each of KINDS, shape (4,)."""
        kinds = 2 * self.present.astype(np.int64) + self.absent
        return np.bincount(kinds, minlength=len(KINDS))


def wealth(counts: Counts, claim: Claim, level: float) -> Floats:
    """The logarithm of what a gambler against `level` has.

    The stake of 1 is split evenly between tests and bets, each of which is a nonnegative
    supermartingale where the level holds.

    Args:
        counts: Pairs of each of KINDS so far, at each moment and by each test, shape (M, K, 4).
        claim: What is claimed.
        level: The ε or μ to bet against.

    Returns:
        At each moment, shape (M,).
    """
    a, b = KINDS.T
    steps = []
    for epsilon, delta in claim.lines(level):
        grows = math.exp(min(epsilon, 700.0))
        most = 1.0 / (grows + delta)
        bets = [(a - grows * b - delta, most), ((1 - b) - grows * (1 - a) - delta, most)]
        if epsilon > 0.0:  # both at once: how far the two kinds of training can be apart at all
            apart = (grows - 1.0 + 2.0 * delta) / (grows + 1.0)
            bets.append((a - b - apart, 1.0 / (1.0 + apart)))
        steps += [np.log1p(STAKES[:, None] * stake * payoff) for payoff, stake in bets]
    logs = counts @ np.concatenate(steps).T  # (M, K, bets)
    parts = logs.reshape(len(logs), -1)
    return np.asarray(np.logaddexp.reduce(parts, axis=1) - math.log(parts.shape[1]))


def refuted(counts: Counts, claim: Claim, level: float, confidence: float) -> bool:
    """Whether `level` was refuted at any of the moments of `counts`, shape (M, K, 4)."""
    return bool(wealth(counts, claim, level).max() >= math.log(1.0 / (1.0 - confidence)))


def bound(counts: Counts, claim: Claim, confidence: float) -> float:
    """The largest level that is refuted, of ε at the claim's δ or of μ; 0 where none is."""
    low, high = 0.0, MOST
    if not refuted(counts, claim, LEAST, confidence):
        return 0.0
    for _ in range(HALVINGS):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if refuted(counts, claim, middle, confidence) else (low, middle)
    return low


def gain(guesses: Guesses, claim: Claim) -> tuple[float, float]:
    """What a test is chosen by: the level that a gambler gains against, and how fast for each pair.

    Most claims hold, and then nobody gains against them: what is chosen is then the test that gains
    against the largest share of the claim.
    """
    counts = guesses.counts[None, None]
    pairs = max(1, int(counts.sum()))
    for share in SHARES:
        speed = float(wealth(counts, claim, share * claim.level)[0]) / pairs
        if speed > 0.0:
            return share, speed
    return 0.0, speed


def so_far(parts: Sequence[Counts]) -> Counts:
    """Counts of the parts of the trainings, (K, 4) each, as those up to each moment, (M, K, 4)."""
    return np.cumsum(np.stack(parts), axis=0)
