r"""What two samples of an attacker's score prove about the privacy that was lost.

An attacker sees one output and guesses whether the witness was in the data. Over many trainings
with and without the witness, the rates of right and wrong guesses bound \varepsilon from below:
under (\varepsilon, \delta)-privacy every test has TPR \le e^\varepsilon FPR + \delta and
TNR \le e^\varepsilon FNR + \delta (Kairouz, Oh and Viswanath 2015). Rates are known up to
Clopper-Pearson intervals; the threshold is chosen on one half of the trainings and judged on the
other, so that choosing it costs no confidence (Jagielski, Ullman and Oprea 2020). Where the sign of
a score is the best guess, its errors are bounded from all trainings by a bet on the mean of pairs.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

CANDIDATES = 200
"""Thresholds that are tried on the first half."""
RISKED = 0.9
"""The most that one bet on a mean may lose, as a share: after losing all, nothing can be won."""
HALVINGS = 40
"""Of the interval in which a bound on a mean is looked for."""


@dataclass(frozen=True, eq=False)
class Scores:
    """An attacker's score of every training; the larger, the more it looks like the witness.

    Attributes:
        without: Scores of trainings without the witness, shape (R,).
        present: Scores of trainings with it, shape (R,); where trainings are pairs, number r shares
            its noise with number r of `without`.
    """

    without: Floats
    present: Floats

    def half(self, number: int) -> "Scores":
        """Every second score, from `number`; 0 to choose on and 1 to judge on."""
        return Scores(self.without[number::2], self.present[number::2])

    def flipped(self) -> "Scores":
        """The score with its sign turned."""
        return Scores(-self.without, -self.present)


@dataclass(frozen=True)
class Judged:
    """One test, judged on trainings that it was not chosen on.

    Attributes:
        epsilon: Lower bound on epsilon at the given delta, in nats; at least 0.
        statistic: Name of the score.
        threshold: Scores above it count as "the witness was there".
        hits: Share of trainings with the witness that were guessed right.
        alarms: Share of trainings without it that were guessed wrong.
        trainings: Trainings of each kind that it was judged on.
    """

    epsilon: float
    statistic: str
    threshold: float
    hits: float
    alarms: float
    trainings: int

    @property
    def right(self) -> float:
        """Share of right guesses where both kinds are equally likely."""
        return 0.5 * (self.hits + 1.0 - self.alarms)


def interval(count: Integers | int, trials: int, miss: float) -> tuple[Floats, Floats]:
    """Clopper-Pearson limits of shares, each wrong with probability at most `miss`.

    Example:
        >>> [round(float(limit), 3) for limit in interval(0, 100, 0.05)]
        [0.0, 0.03]
    """
    from scipy.special import betaincinv

    count = np.asarray(count, np.float64)
    missed = np.maximum(trials - count, 0.0)
    low = np.where(count > 0, betaincinv(np.maximum(count, 1), missed + 1, miss), 0.0)
    high = np.where(missed > 0, betaincinv(count + 1, np.maximum(missed, 1), 1 - miss), 1.0)
    return low, high


def epsilon_of_rates(hits: Floats | float, alarms: Floats | float, delta: float) -> Floats:
    r"""The \varepsilon that hit rates of at least `hits` and at most so many alarms need.

    Both directions of error: ln((TPR - \delta)/FPR) and ln((TNR - \delta)/FNR); at least 0.
    """
    bound = np.zeros(np.broadcast_shapes(np.shape(hits), np.shape(alarms)))
    hits, alarms = np.asarray(hits), np.asarray(alarms)
    for right, wrong in ((hits, alarms), (1.0 - alarms, 1.0 - hits)):
        with np.errstate(divide="ignore", invalid="ignore"):
            gain = np.log(np.maximum(right - delta, 0.0) / wrong)
        bound = np.fmax(bound, np.where(wrong > 0.0, gain, 0.0))
    return bound


def reachable(trainings: int, delta: float, confidence: float) -> float:
    """The largest epsilon that the rates of so many trainings can show, never being wrong."""
    judged = trainings // 2
    if judged < 1:
        return 0.0
    low, _ = interval(judged, judged, (1.0 - confidence) / 2.0)
    return float(epsilon_of_rates(low, 1.0 - low, delta))


def needed(epsilon: float, delta: float, confidence: float) -> int:
    """The fewest trainings of each kind whose rates could show `epsilon`."""
    low, high = 2, 4
    while reachable(high, delta, confidence) < epsilon:
        if high > 1 << 40:
            return high
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (
            (low, middle) if reachable(middle, delta, confidence) >= epsilon else (middle, high)
        )
    return high


def epsilon_bound(scores: Mapping[str, Scores], delta: float, confidence: float = 0.95) -> Judged:
    """A lower bound on epsilon from the best of several scores and their thresholds.

    Score, direction and threshold are chosen on one half of the trainings. On the other half two
    Clopper-Pearson limits, of hits and of alarms, hold together with probability `confidence`.

    Args:
        scores: By name; at least one, with at least two trainings of each kind.
        delta: At which delta epsilon is bounded.
        confidence: Probability with which the bound is at most the true epsilon.
    """
    miss = (1.0 - confidence) / 2.0
    best, choice = -1.0, ("", 1.0, 0.0)
    for name, both in scores.items():
        for sign, some in ((1.0, both), (-1.0, both.flipped())):
            gain, threshold = _choose(some.half(0), delta, miss)
            if gain > best:
                best, choice = gain, (name, sign, threshold)
    name, sign, threshold = choice
    kept = (scores[name] if sign > 0 else scores[name].flipped()).half(1)
    return _judge(name, kept, threshold, delta, miss)


def _choose(half: Scores, delta: float, miss: float) -> tuple[float, float]:
    """The best bound on this half and its threshold, among quantiles of both kinds together."""
    together = np.sort(np.concatenate([half.without, half.present]))
    cuts = np.unique(together[np.linspace(0, len(together) - 1, CANDIDATES).astype(int)])
    gains = epsilon_of_rates(*_limits(half, cuts, miss), delta)
    best = int(gains.argmax())
    return float(gains[best]), float(cuts[best])


def _judge(name: str, half: Scores, threshold: float, delta: float, miss: float) -> Judged:
    hits, alarms = _counts(half, np.array([threshold]))
    return Judged(
        float(epsilon_of_rates(*_limits(half, np.array([threshold]), miss), delta)[0]),
        name,
        threshold,
        int(hits[0]) / len(half.present),
        int(alarms[0]) / len(half.without),
        len(half.present),
    )


def _counts(scores: Scores, cuts: Floats) -> tuple[Integers, Integers]:
    """Scores above each threshold, with the witness and without."""
    hits, alarms = (
        len(some) - np.searchsorted(np.sort(some), cuts, side="right")
        for some in (scores.present, scores.without)
    )
    return hits, alarms


def _limits(scores: Scores, cuts: Floats, miss: float) -> tuple[Floats, Floats]:
    """At least so many hits and at most so many alarms at each threshold."""
    hits, alarms = _counts(scores, cuts)
    low, _ = interval(hits, len(scores.present), miss)
    _, high = interval(alarms, len(scores.without), miss)
    return low, high


def error_bound(scores: Scores, confidence: float = 0.95, unsure: float = 0.0) -> float:
    r"""An upper bound on the mean of the two error rates of the guess "with it, if above 0".

    The threshold of a log likelihood ratio is fixed before anything is seen, so all trainings
    count. Scores r of both kinds are a pair: they share their noise and whatever else is drawn.
    Each score by itself is distributed as if its training were alone, and pairs are independent of
    each other, so the share of right guesses in a pair, 0, 1/2 or 1, is one draw of a variable with
    mean 1 - w, for the mean error rate w. What both share cancels: where the witness says little,
    few pairs differ from 1/2, and w is known far better than from as many independent guesses
    (common random numbers).

    Near 0 the guess may be left to a coin that says "with it" with a probability that rises from 0
    to 1 over [-`unsure`, `unsure`]. Such a guess errs a little more often, but its mean over the
    coin is known, so that it varies much less.

    Args:
        scores: Log likelihood ratios, or nearly; score r of both kinds from the same noise.
        confidence: Probability with which the bound is at least w.
        unsure: 0 for no coin.
    """
    return 1.0 - mean_bound(right_guesses(scores, unsure), 1.0 - confidence)


def right_guesses(scores: Scores, unsure: float) -> Floats:
    """The share of right guesses in each pair, shape (R,); `unsure` as in `error_bound`."""
    apart = _guess(scores.present, unsure) - _guess(scores.without, unsure)
    right: Floats = 0.5 + 0.5 * apart
    return right


def _guess(scores: Floats, unsure: float) -> Floats:
    """The probability of the guess "with it"."""
    if unsure <= 0.0:
        return (scores > 0.0).astype(np.float64)
    return 0.5 + 0.5 * np.clip(scores, -unsure, unsure) / unsure


def mean_bound(values: Floats, miss: float) -> float:
    r"""A lower bound on the means of independent numbers in [0, 1], wrong with chance `miss`.

    At least one of the numbers has a mean above the bound; pairs of trainings all have the same.

    A gambler who bets a share \lambda_t on each number being above m wins \prod_t (1 + \lambda_t
    (x_t - m)). If no mean is above m this is expected to be at most 1, so it exceeds 1/miss with
    probability `miss` at most; the bound is the smallest m that it does not refute. Stakes follow
    the variance of the numbers seen before (Waudby-Smith and Ramdas 2024, section 4), so that
    numbers that vary little are known well.
    """
    least, stakes = math.log(1.0 / miss), best_stakes(values, miss)
    low, high = 0.0, float(values.mean())
    for _ in range(HALVINGS):
        middle = 0.5 * (low + high)
        refuted = winnings(values, stakes, middle) >= least
        low, high = (middle, high) if refuted else (low, middle)
    return low


def mean_bound_so_far(values: Floats, miss: float, planned: int) -> float:
    r"""As `mean_bound`, but valid at every moment: somebody may look after each number, and stop.

    The chance that any of the bounds is above the mean is `miss` at most. What a gambler has is a
    martingale at the true mean, as long as stakes follow from the numbers before and from
    `planned`, how many are to come. It ever exceeds 1/miss with probability `miss` at most (Ville
    1939), so the bound is the smallest m that it has not refuted at any time so far. After the last
    number that is no less than `mean_bound`.

    Args:
        values: The numbers so far.
        miss: The risk.
        planned: How many there will be, fixed beforehand; fewer may come.
    """
    least, stakes = math.log(1.0 / miss), best_stakes(values, miss, planned)
    low, high = 0.0, 1.0
    for _ in range(HALVINGS):
        middle = 0.5 * (low + high)
        own = np.minimum(stakes, RISKED / middle)
        refuted = np.cumsum(np.log1p(own * (values - middle))).max() >= least
        low, high = (middle, high) if refuted else (low, middle)
    return low


def best_stakes(values: Floats, miss: float, planned: int = 0) -> Floats:
    """The share to bet on each number, from those before it; for so many, or those there are."""
    count, seen = planned or len(values), np.arange(1, len(values) + 1)
    mean = (0.5 + np.cumsum(values)) / (seen + 1)
    variance = (0.25 + np.cumsum((values - mean) ** 2)) / (seen + 1)
    before = np.concatenate([[0.25], variance[:-1]])
    stakes: Floats = np.sqrt(2.0 * math.log(1.0 / miss) / (count * before))
    return stakes


def winnings(values: Floats, stakes: Floats, mean: float) -> float:
    """The logarithm of what a gambler has who began with 1 and bet on numbers above `mean`."""
    own = np.minimum(stakes, RISKED / max(mean, 1e-12))
    return float(np.log1p(own * (values - mean)).sum())


def epsilon_of_errors(wrong: float, delta: float) -> float:
    r"""The \varepsilon that a mean of the two error rates of at most `wrong` needs; at least 0.

    The sum of TPR \le e^\varepsilon FPR + \delta and TNR \le e^\varepsilon FNR + \delta is
    1 - w \le e^\varepsilon w + \delta for the mean error rate w.
    """
    return max(0.0, math.log(max(1.0 - wrong - delta, 1e-300) / max(wrong, 1e-300)))


def mu_bound(scores: Scores, confidence: float = 0.95, unsure: float = 0.0) -> float:
    r"""A lower bound on \mu, if the output is that of a \mu-Gaussian mechanism or worse.

    Under \mu-Gaussian privacy the two error rates of any test have a mean of at least
    \Phi(-\mu/2) (Dong, Roth and Su 2022; as an audit, Nasr et al. 2023).
    """
    return mu_of_errors(error_bound(scores, confidence, unsure))


def mu_of_errors(wrong: float) -> float:
    r"""The \mu that a mean of the two error rates of at most `wrong` needs; at least 0."""
    from scipy.special import ndtri

    return max(0.0, -2.0 * float(ndtri(wrong)))


def judged_at_zero(scores: Scores) -> Judged:
    """The rates of the guess "with it, if above 0", of all trainings; it bounds nothing itself."""
    hits, alarms = float((scores.present > 0.0).mean()), float((scores.without > 0.0).mean())
    return Judged(0.0, "", 0.0, hits, alarms, len(scores.present))
