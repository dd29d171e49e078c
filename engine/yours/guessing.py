"""Tests that tell trainings with the witness from those without, learned from trainings apart.

Whatever is learned here is fixed before the trainings that are scored begin, so learning costs no
confidence. Several tests are kept: the gambler of `engine.yours.evidence` splits the stake.
"""

import warnings
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
SINGLE = 12
"""Coordinates that are tried alone."""
FOLDS = 4
"""Parts in which a learned score is judged on trainings that it was not learned from."""
SEED = 7
"""Of the forests: the same trainings give the same tests."""

Score = Callable[[Floats], Floats]


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
    apart = np.abs(_ranked(present, absent) - 0.5)
    best = np.argsort(-apart, kind="stable")[:SINGLE]
    single: list[tuple[str, Fit]] = [(names[column], _column(int(column))) for column in best]
    return [*single, ("all published numbers, along a line", _line), ("a forest", _forest)]


def _ranked(present: Floats, absent: Floats) -> Floats:
    """The chance that a feature is larger with the witness, shape (p,): ties count half."""
    from scipy.stats import rankdata

    count = len(present)
    ranks = rankdata(np.concatenate([present, absent]), axis=0)[:count]
    return np.asarray((ranks.mean(axis=0) - (count + 1) / 2) / len(absent))


def _column(column: int) -> Fit:
    """One feature, with the sign by which it is larger with the witness."""

    def fit(present: Floats, absent: Floats) -> Score:
        up = _ranked(present[:, [column]], absent[:, [column]])[0] >= 0.5
        return lambda features: features[:, column] * (1.0 if up else -1.0)

    return fit


def _line(present: Floats, absent: Floats) -> Score:
    """Linear discriminant with a shrunk covariance (Ledoit and Wolf 2004)."""
    from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
    from sklearn.preprocessing import StandardScaler

    features, labels = _stacked(present, absent)
    scale = StandardScaler().fit(features)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of constant features
        model = LinearDiscriminantAnalysis(solver="lsqr", shrinkage="auto")
        model.fit(scale.transform(features), labels)
    return lambda rows: np.asarray(model.decision_function(scale.transform(rows)))


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
