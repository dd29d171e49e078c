"""What the screens of Learn draw, in closed form."""

import math
from dataclasses import dataclass
from random import Random

import numpy as np
from numpy.typing import NDArray

from datasets import catalog as data_catalog
from engine.papers.mean import price
from engine.papers.mean.spec import UNIT as UNIT
from engine.papers.mean.spec import MeanSpec
from engine.privacy.mechanisms import Laplace
from engine.runs.job import Job, request

Floats = NDArray[np.float64]
COUNT = 100
"""People in the count without you."""
BOUNDS = (0.5, 1.0, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0, 7.5, 10.0, 15.0, 20.0, 30.0)
"""Clipping bounds of the mean, in mg/dL."""
EACH = 0.1
"""Privacy budget of one of many answers."""
MOST = 100
"""Answers, at most."""
DATA = "flchain"
FEW = 50
"""Records of the mean: few enough that noise and bias are of one size."""
OTHERS, COUNTS = 1.4, 5.0
"""In the game: the mean without the one who is looked for, and what that one's value counts."""
LOST = 60
"""Right guesses out of 100 below which an attacker has lost."""


@dataclass(frozen=True)
class Densities:
    """How likely each noisy count is, without you and with you.

    Attributes:
        x: Noisy counts, shape (k,).
        without: Density if you are not in the data, shape (k,).
        present: Density if you are, shape (k,).
        overlap: The area that both share, between 0 and 1.
    """

    x: Floats
    without: Floats
    present: Floats
    overlap: float


def densities(epsilon: float) -> Densities:
    r"""A count with Laplace noise, with and without one person.

    The two densities with scale b, one apart, share the area exp(-1/(2b)) = exp(-\varepsilon/2):
    the total variation distance of Laplace distributions that are 1 apart is 1 - exp(-1/(2b)).

    >>> round(densities(2.0).overlap, 3)
    0.368
    """
    scale = Laplace(1.0, epsilon).scale
    x = np.linspace(COUNT - 12.0, COUNT + 13.0, 501)
    without, present = (
        np.exp(-np.abs(x - centre) / scale) / (2.0 * scale) for centre in (COUNT, COUNT + 1)
    )
    return Densities(x, without, present, math.exp(-0.5 / scale))


def guesses(overlap: float) -> float:
    """How often the best guess between two equally likely cases is right, from their overlap."""
    return 1.0 - 0.5 * overlap


@dataclass(frozen=True)
class Round:
    """One round of the game.

    Attributes:
        inside: Whether the one who is looked for is in the data.
        published: The noisy mean.
    """

    inside: bool
    published: float

    @property
    def best(self) -> bool:
        """The best guess: the nearer of the two means."""
        return self.published > OTHERS + 0.5 * STEP


STEP = COUNTS / FEW
"""How far one record moves the mean: its sensitivity (`engine.papers.mean.price`)."""


def play(epsilon: float, rng: Random) -> Round:
    r"""Draws a round: a fair coin, and Laplace noise of the scale that \varepsilon asks for.

    It is a game with made-up values and releases nothing of anybody.

    Guarantees:
        None is needed. The noise is that of the mean at its sensitivity B/m, so that the best
        guess is right with probability 1 - exp(-\varepsilon/2)/2 (`densities`).
    """
    inside = rng.random() < 0.5
    sign = rng.choice((-1.0, 1.0))
    noise = sign * rng.expovariate(1.0 / Laplace(STEP, epsilon).scale)
    return Round(inside, OTHERS + STEP * inside + noise)


def clipping() -> Job:
    """The mean paper's run over all clipping bounds, at its default budget, on few records."""
    return request("mean", "laplace", DATA, {"records": FEW}, {"bound": BOUNDS}, range(20))


def deviations() -> list[float]:
    r"""Standard deviation of the noise on the mean: \sqrt 2 times the scale that is priced."""
    records = data_catalog.card(DATA).records
    scales = [_mean(MeanSpec(bound=bound, records=FEW), records).scale for bound in BOUNDS]
    return [math.sqrt(2.0) * scale for scale in scales]


def _mean(spec: MeanSpec, records: int) -> Laplace:
    mechanism = price.laplace_releases(spec, records)[0].mechanism
    assert isinstance(mechanism, Laplace)
    return mechanism


def total(answers: int) -> float:
    """The budget of some answers together: budgets of Laplace noise add up.

    Dwork and Roth (2014), Theorem 3.16.
    """
    return EACH * answers


def average_off(answers: int) -> float:
    r"""Standard deviation of the average of noisy counts of the same people: b \sqrt{2/k}."""
    return Laplace(1.0, EACH).scale * math.sqrt(2.0 / answers)
