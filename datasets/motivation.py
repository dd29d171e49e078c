r"""A simulator of a health social network: motivation that persists, spreads and shows.

What it draws is nobody's record. Motivation m (a number per user and time) follows
m_{t+1} = \rho((1 - \iota) I + \iota S) m_t + q w_t with S = D^{-1/2} A D^{-1/2} the friendships'
normalised adjacency matrix and w standard normal. Exercise is e = m + v/g, and the label is 1
where it is above the usual, e > 0. Six more attributes are increasing functions of l m +
\sqrt{1 - l^2} v, each with noise of its own; exercising days are one of e. Messages,
competitions, wellness score and body mass index say nothing of motivation.

Everything that follows m is Gaussian, so what anybody can know of m_{t+1} from all attributes and
labels of all users up to t is a Kalman filter, and S alone decides its gain: the best possible
accuracy is known by construction (`Filter`). A transformed attribute says as much as its normal
number does, since the transformation can be undone.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.polynomial import chebyshev
from numpy.typing import NDArray

from datasets.base import Floats, Integers

EXERCISE_LOAD = 1.5
"""g: exercise shows motivation with noise of deviation 1/g."""
LOADS = {2: 0.75, 3: 0.75, 4: 0.8, 5: 0.6, 28: -0.5, 29: 0.5}
"""Correlation l of an attribute with motivation, by its place among the thirty."""
EXERCISE = 1
"""Place of the exercising days."""
PERSONAL = (26, 27)
"""Places of the wellness score and the body mass index: a level for each user, and little more."""
PRECISION = EXERCISE_LOAD**2 + sum(load**2 / (1.0 - load**2) for load in LOADS.values())
"""h: what the attributes of one time together say of motivation, as one over a variance."""
BURN_IN = 200
"""Time points before the first that is kept."""
MOST_FRIENDS = 30
DEGREE = 16
"""Of the Chebyshev polynomials that functions of S are computed by; errors below 1e-6."""
PROBES = 16
"""Random signs from which the diagonal of a function of a large S is estimated."""
EXACT = 1000
"""Users up to which that diagonal is computed in full."""


@dataclass(frozen=True)
class Society:
    r"""Who befriends whom, and how motivation moves.

    Attributes:
        users: Number of users n.
        friends: Each friendship once, shape (m, 2), the smaller number first.
        persistence: \rho, from 0 to below 1.
        influence: \iota, from 0 to 1: the share that comes from friends.
    """

    users: int
    friends: Integers
    persistence: float
    influence: float

    def spread(self, m: Floats) -> Floats:
        """S m for m of shape (n, k)."""
        left, right = self.friends.T
        degree = np.bincount(self.friends.ravel(), minlength=self.users).clip(1)
        weight = 1.0 / np.sqrt(degree[left] * degree[right])
        shares = np.empty_like(m)
        for k in range(m.shape[1]):
            shares[:, k] = np.bincount(left, weight * m[right, k], self.users)
            shares[:, k] += np.bincount(right, weight * m[left, k], self.users)
        return shares

    def move(self, m: Floats) -> Floats:
        """The part of the next motivation that is known from this one."""
        own = self.persistence * (1.0 - self.influence) * m
        return own + self.persistence * self.influence * self.spread(m)

    def rate(self, eigenvalue: Floats) -> Floats:
        """What an eigenvector of S is multiplied by in one step."""
        return self.persistence * (1.0 - self.influence + self.influence * eigenvalue)

    @property
    def noise(self) -> float:
        """q^2, such that a user without friends has motivation of variance 1."""
        return 1.0 - (self.persistence * (1.0 - self.influence)) ** 2

    def apply(self, function: Callable[[Floats], Floats], m: Floats) -> Floats:
        """f(S) m for a smooth f on [-1, 1], by its Chebyshev polynomial."""
        nodes = chebyshev.chebpts1(DEGREE + 1)
        terms = chebyshev.chebfit(nodes, function(nodes), DEGREE)
        before, now = m, self.spread(m)
        sums: Floats = terms[0] * before + terms[1] * now
        for term in terms[2:]:
            before, now = now, 2.0 * self.spread(now) - before
            sums += term * now
        return sums

    def diagonal(self, function: Callable[[Floats], Floats]) -> Floats:
        """The diagonal of f(S), shape (n,); for many users an estimate from random signs."""
        if self.users <= EXACT:
            return np.diag(self.apply(function, np.eye(self.users)))
        signs = np.random.default_rng(0).choice((-1.0, 1.0), (self.users, PROBES))
        estimate: Floats = (signs * self.apply(function, signs)).mean(axis=1)
        return estimate


@dataclass(frozen=True)
class Filter:
    """The steady Kalman filter: what is known of motivation from all that was seen so far."""

    society: Society

    def ahead(self, eigenvalue: Floats) -> Floats:
        """Variance of motivation given everything before: h P^2 + (1 - a^2 - h q^2) P = q^2."""
        rate, q = self.society.rate(eigenvalue), self.society.noise
        half = (1.0 - rate**2 - PRECISION * q) / 2.0
        return (np.sqrt(half**2 + PRECISION * q) - half) / PRECISION

    def gain(self, eigenvalue: Floats) -> Floats:
        """Weight of what a time shows against what was expected."""
        variance = PRECISION * self.ahead(eigenvalue)
        return variance / (1.0 + variance)

    def chances(self, shown: Floats) -> Floats:
        """Probability of a label 1 given all attributes before its time, shape (n, T).

        Args:
            shown: The attributes' weighted mean, with variance 1/h about motivation, (n, T).
        """
        society = self.society
        spread = np.sqrt(society.diagonal(self.ahead) + EXERCISE_LOAD**-2)
        expected = np.zeros((society.users, 1))
        likely = np.empty_like(shown)
        for t in range(shown.shape[1]):
            likely[:, t] = normal(expected[:, 0] / spread)
            surprise = shown[:, t : t + 1] - expected
            expected = society.move(expected + society.apply(self.gain, surprise))
        return likely

    def accuracy(self) -> float:
        r"""The best possible share of right predictions: 1/2 + arctan(\tau)/\pi, averaged.

        \tau^2 is the variance of what is expected over what stays unknown.
        """
        society = self.society

        def whole(eigenvalue: Floats) -> Floats:
            return society.noise / (1.0 - society.rate(eigenvalue) ** 2)

        unknown = society.diagonal(self.ahead)
        known = (society.diagonal(whole) - unknown).clip(0.0)
        tau = np.sqrt(known / (unknown + EXERCISE_LOAD**-2))
        return float(np.mean(0.5 + np.arctan(tau) / math.pi))


@dataclass(frozen=True, eq=False)
class Drawn:
    """What the simulator gives.

    Attributes:
        x: Attributes as shares of their ranges, shape (n, T, 30), counts as they are.
        y: Labels, shape (n, T).
        chance: Probability of a label 1 given all before, shape (n, T).
    """

    x: NDArray[np.float32]
    y: Integers
    chance: Floats


def friendships(users: int, count: int, seed: int) -> Integers:
    """Friendships among neighbours on a ring, and some across it, at most 30 for each user.

    Everybody has at least one. Shape (count, 2), the smaller number first.
    """
    rng = np.random.default_rng(seed)
    popular = rng.lognormal(0.0, 0.6, users)
    popular /= popular.sum()
    pairs = {(u, (u + 1) % users) for u in range(0, users, 2)}
    pairs = {(min(p), max(p)) for p in pairs}
    degree = np.bincount(np.array(sorted(pairs)).ravel(), minlength=users)
    while len(pairs) < count:
        left = rng.choice(users, 2 * count, p=popular)
        reach = np.ceil(rng.pareto(0.9, 2 * count) * 3.0).clip(1, users - 1).astype(np.int64)
        right = (left + rng.choice((-1, 1), 2 * count) * reach) % users
        for u, v in zip(left.tolist(), right.tolist(), strict=True):
            pair = (min(u, v), max(u, v))
            full = degree[u] >= MOST_FRIENDS or degree[v] >= MOST_FRIENDS
            if u != v and not full and pair not in pairs and len(pairs) < count:
                pairs.add(pair)
                degree[[u, v]] += 1
    return np.array(sorted(pairs), np.int64)


def draw(society: Society, times: int, messages: int, competitions: int, seed: int) -> Drawn:
    """Draws everybody's attributes and labels at so many times, with exact numbers of counts."""
    rng = np.random.default_rng(seed)
    n, root = society.users, math.sqrt(society.noise)
    m, shown = np.zeros((n, 1)), np.empty((n, times))
    x = np.zeros((n, times, 30), np.float32)
    y = np.empty((n, times), np.int64)
    for t in range(-BURN_IN, times):
        m = society.move(m) + root * rng.normal(size=(n, 1))
        if t >= 0:
            exercise = m[:, 0] + rng.normal(size=n) / EXERCISE_LOAD
            y[:, t] = exercise > 0
            x[:, t, EXERCISE] = normal(exercise)
            total = EXERCISE_LOAD**2 * exercise
            for place, load in LOADS.items():
                rest = math.sqrt(1.0 - load**2)
                number = load * m[:, 0] + rest * rng.normal(size=n)
                x[:, t, place] = normal(number)
                total = total + load / rest**2 * number
            shown[:, t] = total / PRECISION
    level = rng.normal(size=(n, 1, 2))
    x[:, :, PERSONAL] = normal(0.98 * level + 0.2 * rng.normal(size=(n, times, 2)))
    social: Floats = np.bincount(society.friends.ravel(), minlength=n).astype(np.float64) + 1.0
    _count(x[:, :, 6:26], messages, social, rng)
    _count(x[:, :, 0:1], competitions, social, rng)
    return Drawn(x, y, Filter(society).chances(shown))


def _count(
    cells: NDArray[np.float32], total: int, weight: Floats, rng: np.random.Generator
) -> None:
    """Scatters so many events over users by weight, and evenly over times and kinds, in place."""
    users, times, kinds = cells.shape
    rows = rng.choice(users, total, p=weight / weight.sum())
    np.add.at(cells, (rows, rng.integers(times, size=total), rng.integers(kinds, size=total)), 1.0)


def normal(z: Floats) -> Floats:
    """The standard normal distribution function, to 1e-7 (Abramowitz and Stegun 7.1.26)."""
    a = np.abs(z) / math.sqrt(2.0)
    t = 1.0 / (1.0 + 0.3275911 * a)
    poly = t * (
        0.254829592 + t * (-0.284496736 + t * (1.421413741 + t * (-1.453152027 + t * 1.061405429)))
    )
    half: Floats = 0.5 * poly * np.exp(-(a**2))
    return np.where(z > 0, 1.0 - half, half)
