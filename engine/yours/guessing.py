"""Tests that tell trainings with the witness from those without, learned from trainings apart.

Whatever is learned here is fixed before the trainings that are scored begin, so learning costs no
confidence. Several tests are kept: the gambler of `engine.yours.evidence` splits the stake.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from engine.yours.claim import Claim
from engine.yours.evidence import Guesses, gain
from engine.yours.trainings import Told

Floats = NDArray[np.float64]
TESTS = 3
"""Tests that are kept."""
SINGLE = 6
"""Features that are tried alone: so many that differ on the whole, and so many in few trainings."""
FOLDS = 4
"""Parts in which a learned score is judged on trainings that it was not learned from."""
RIDGE, CONSTANT = 1e-9, 1e-12
"""Least variance of a feature within each world, as a share of all of it; least deviation, as a
share of its size."""
SEED = 7
"""Of the forests: the same trainings give the same tests."""

Score = Callable[[Floats], Floats]
Apart = Callable[[Floats, Floats], Floats]
"""How far each feature's values lie apart, from features (T, p) of both worlds to (p,)."""


@dataclass(frozen=True, eq=False)
class Test:
    """One guess: the witness was there if the score is above the threshold.

    Attributes:
        name: What the score is, in words.
        score: From features (T, p) to scores (T,).
        threshold: Above it the witness is guessed.
    """

    name: str
    score: Score
    threshold: float

    def guesses(self, told: Told) -> Guesses:
        """The guesses of pairs of trainings, with the features that it was learned from."""
        return Guesses(
            self.score(tame(told.present)) > self.threshold,
            self.score(tame(told.absent)) > self.threshold,
        )


def tame(features: Floats) -> Floats:
    """Features without what is not finite."""
    return np.nan_to_num(features, nan=-1e9, posinf=1e12, neginf=-1e12).clip(-1e12, 1e12)


def learned(told: Told, claim: Claim) -> list[Test]:
    """The tests that gain fastest against a claim, best first.

    Args:
        told: Pairs of trainings to learn from.
        claim: What is to be refuted.
    """
    found: list[tuple[tuple[float, float], Test]] = []
    present, absent = tame(told.present), tame(told.absent)
    for name, fit in _scores(told.names, present, absent):
        judged = _judged(fit, present, absent)
        threshold, gains = _threshold(*judged, claim)
        if np.isfinite(threshold):
            found.append((gains, Test(name, fit(present, absent), threshold)))
    found.sort(key=lambda one: one[0], reverse=True)
    return [test for _, test in found[:TESTS]]


Fit = Callable[[Floats, Floats], Score]


def _scores(names: tuple[str, ...], present: Floats, absent: Floats) -> list[tuple[str, Fit]]:
    """Ways to a score: one feature alone, all of them along a line, and a forest."""
    single = {
        names[column]: _column(column, apart)
        for apart in (_rarely, _mostly)
        for column in _best(apart, present, absent)
    }
    return [*single.items(), ("all published numbers, along a line", _line), ("a forest", _forest)]


def _best(apart: Apart, present: Floats, absent: Floats) -> list[int]:
    """The features that differ most, of those that order the trainings alike only one."""
    from scipy.stats import rankdata

    ranks = rankdata(np.concatenate([present, absent]), axis=0)
    places: dict[bytes, int] = {}
    for column in np.argsort(-np.abs(apart(present, absent)), kind="stable").tolist():
        up, down = ranks[:, column], len(ranks) + 1.0 - ranks[:, column]
        places.setdefault(min(up.tobytes(), down.tobytes()), column)
        if len(places) == SINGLE:
            break
    return list(places.values())


def _mostly(present: Floats, absent: Floats) -> Floats:
    """How much likelier than a coin each feature is larger with the witness, shape (p,)."""
    from scipy.stats import rankdata

    count = len(present)
    ranks = rankdata(np.concatenate([present, absent]), axis=0)[:count]
    return np.asarray((ranks.mean(axis=0) - (count + 1) / 2) / len(absent) - 0.5)


def _rarely(present: Floats, absent: Floats) -> Floats:
    """How much more often a feature lies at one end in one world than in the other, shape (p,).

    In deviations of the rarer count, so that what happens in one training of fifty, and never in
    the other world, counts as much as what often happens in both. Above 0 where the feature is
    larger with the witness.
    """
    both = np.concatenate([present, absent])
    order = np.argsort(both, axis=0, kind="stable")
    ordered = np.take_along_axis(both, order, axis=0)
    ends = np.append(ordered[1:] > ordered[:-1], np.ones((1, both.shape[1]), bool), axis=0)
    mine = np.cumsum(order < len(present), axis=0) / len(present)
    other = np.cumsum(order >= len(present), axis=0) / len(absent)

    def more(often: Floats, seldom: Floats) -> Floats:
        far = (often - seldom) / np.sqrt(seldom + 1.0 / len(present))
        return np.asarray(np.where(ends, far, 0.0).max(axis=0))

    up = np.maximum(more(1.0 - mine, 1.0 - other), more(other, mine))
    down = np.maximum(more(mine, other), more(1.0 - other, 1.0 - mine))
    return np.asarray(np.where(up >= down, up, -down))


def _column(column: int, apart: Apart) -> Fit:
    """One feature, with the sign by which it is larger with the witness."""

    def fit(present: Floats, absent: Floats) -> Score:
        sign = 1.0 if apart(present[:, [column]], absent[:, [column]])[0] >= 0.0 else -1.0
        return lambda features: features[:, column] * sign

    return fit


def _line(present: Floats, absent: Floats) -> Score:
    """Linear discriminant with a shrunk covariance (Ledoit and Wolf 2004).

    Solved among the trainings, of which there are at most some hundred, and not among the features,
    of which there may be thousands.
    """
    features, _ = _stacked(present, absent)
    middle, spread = features.mean(axis=0), features.std(axis=0)
    spread = np.where(spread > CONSTANT * np.abs(features).max(axis=0), spread, 1.0)
    one, other = ((side - middle) / spread for side in (present, absent))
    apart = one.mean(axis=0) - other.mean(axis=0)
    rest = np.concatenate([one - one.mean(axis=0), other - other.mean(axis=0)])
    inner = rest @ rest.T
    shrinkage, mean = _shrinkage(inner, features.shape[1])
    ridge, share = max(shrinkage * mean, RIDGE), (1.0 - shrinkage) / len(rest)
    # the inverse of ridge + share * rest.T @ rest by that of a matrix of the trainings (Woodbury)
    solved = np.linalg.solve(np.eye(len(rest)) * ridge + share * inner, share * (rest @ apart))
    weights = (apart - rest.T @ solved) / ridge / spread
    return lambda rows: np.asarray((rows - middle) @ weights)


def _shrinkage(inner: Floats, features: int) -> tuple[float, float]:
    """How far a covariance is drawn to a multiple of the identity, and which multiple.

    Args:
        inner: Products of the n rows with each other, shape (n, n).
        features: How many numbers a row has.
    """
    count = len(inner)
    mean = float(np.trace(inner)) / count / features
    size = float((inner**2).sum()) / count**2
    far = size - features * mean**2
    noise = (float((np.diag(inner) ** 2).sum()) - count * size) / count**2
    return (min(noise, far) / far if far > 0.0 else 1.0), mean


def _forest(present: Floats, absent: Floats) -> Score:
    """A forest of randomised trees, which finds equal values and steps."""
    from sklearn.ensemble import ExtraTreesClassifier

    features, labels = _stacked(present, absent)
    model = ExtraTreesClassifier(60, min_samples_leaf=5, random_state=SEED)
    model.fit(features, labels)
    return lambda rows: np.asarray(model.predict_proba(rows)[:, 1])


def _stacked(present: Floats, absent: Floats) -> tuple[Floats, NDArray[np.int64]]:
    labels = np.repeat(np.array([1, 0]), [len(present), len(absent)])
    return np.concatenate([present, absent]), labels


def _judged(fit: Fit, present: Floats, absent: Floats) -> tuple[Floats, Floats]:
    """Scores of every training by a score that was learned without its fold."""
    fold = np.arange(len(present)) % FOLDS
    scores = np.zeros(len(present)), np.zeros(len(absent))
    for one in range(FOLDS):
        out = fold == one
        score = fit(present[~out], absent[~out])
        scores[0][out], scores[1][out] = score(present[out]), score(absent[out])
    return scores


def _threshold(present: Floats, absent: Floats, claim: Claim) -> tuple[float, tuple[float, float]]:
    """The threshold that gains most against a claim, and what it gains; infinite where none is."""
    every = np.unique(np.concatenate([present, absent]))
    if len(every) < 2:
        return np.inf, (0.0, 0.0)
    between = (every[1:] + every[:-1]) / 2
    places = np.linspace(0, len(between) - 1, min(40, len(between))).round().astype(np.int64)
    cuts = between[places].tolist()
    return max(
        ((cut, gain(Guesses(present > cut, absent > cut), claim)) for cut in cuts),
        key=lambda one: one[1],
    )
