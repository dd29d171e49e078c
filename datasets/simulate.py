"""Simulators for data that cannot be shipped. What they draw is nobody's record."""

import numpy as np

from datasets.base import Booleans, Floats

DAYS = 3_650  # length of the observation window
FIRST_DAY = 290  # no second birth before
SCALE = 400.0  # days; the hazard peaks at FIRST_DAY + 2 SCALE, three years after the first birth
LEVEL = 0.65 / 365.25  # hazard a day, before the shape u² exp(-u), whose maximum is 0.54
EFFECTS = (-0.03, 0.0, 0.9)  # log hazard ratios: a year of age, a boy, loss of the first child


def second_births(
    records: int, events: int, seed: int = 20_080_101
) -> tuple[Floats, Floats, Booleans]:
    """Draws times to a second birth with exactly `events` of them observed.

    The hazard of day t is h(t|x) = 1 - exp(-λ(t) exp(xβ)): zero for nine months, highest three
    years after the first birth, and three women in four have a second child within ten years.
    Women are censored early, as the published event count demands: at DAYS·U^a with U uniform
    and the exponent a chosen so that the count is exact.

    Args:
        records: Number of women n.
        events: Observed second births, fewer than about three quarters of `records`.
        seed: Of the generator; the same seed gives the same table.

    Returns:
        Covariates age, sex (1 = boy) and death of the first child, shape (n, 3); days to birth
        or censoring, shape (n,); and which of them are births, shape (n,).
    """
    rng = np.random.default_rng(seed)
    age = np.round(16.0 + rng.gamma(5.0, 1.7, records).clip(0.0, 28.0), 1)
    sex = (rng.random(records) < 0.514).astype(np.float64)
    death = (rng.random(records) < 0.005).astype(np.float64)
    x: Floats = np.stack([age, sex, death], axis=1)
    birth = _birth_days(x, rng)
    follow_up = rng.uniform(1e-6, 1.0, records)
    # A birth is seen while birth <= DAYS·U^a, that is, while a <= log(birth/DAYS) / log U.
    ratio = np.where(birth <= DAYS, np.log(birth / DAYS) / np.log(follow_up), -np.inf)
    event = np.zeros(records, np.bool_)
    largest = np.argsort(-ratio, kind="stable")
    event[largest[:events]] = True
    exponent = ratio[largest[events - 1 : events + 1]].mean()
    censored = np.floor(DAYS * follow_up**exponent)
    return x, np.where(event, birth, censored), event


def _birth_days(x: Floats, rng: np.random.Generator) -> Floats:
    """Draws the day of the second birth by inversion, DAYS + 1 where it falls later."""
    u = np.maximum(np.arange(1, DAYS + 1) - FIRST_DAY, 0) / SCALE
    cumulative = np.cumsum(LEVEL * u**2 * np.exp(-u))
    centred = x - np.array([24.5, 0.0, 0.0])
    threshold = rng.exponential(size=len(x)) / np.exp(centred @ np.array(EFFECTS))
    days: Floats = np.searchsorted(cumulative, threshold).astype(np.float64) + 1.0
    return days
