"""Panels of persons who befriend each other: thirty attributes, three files, a simulator.

The attributes are those of the YesiWell study (Phan et al. 2017, Section 4.1), in three groups.
"""

from functools import partial
from pathlib import Path

import numpy as np

from datasets import motivation
from datasets.base import Card, PanelTable, check
from datasets.fetch import local

BEHAVIOURS = (
    "competitions joined",
    "exercising days",
    "goals set",
    "goals achieved",
    "sum of distances",
    "average speed",
)
MESSAGES = (
    "encouragement", "fitness", "follow-up", "competition", "games", "personal", "study protocol",
    "progress report", "technique", "social network", "meetups", "goal", "wellness meter",
    "feedback", "heckling", "explanation", "invitation", "notice", "technical fitness", "physical",
)  # fmt: skip
BIOMARKERS = ("wellness score", "body mass index", "body mass index slope", "wellness score slope")
ATTRIBUTES = (*BEHAVIOURS, *(f"messages: {kind}" for kind in MESSAGES), *BIOMARKERS)
UNITS = (
    "competitions", "days a week", "goals", "goals", "km", "km/h", *("messages",) * 20, "points",
    "kg/m²", "kg/m² a week", "points a week",
)  # fmt: skip
LOWER = np.array([0.0] * 26 + [0.0, 15.0, -1.0, -5.0])
UPPER = np.array([10.0, 7.0, 10.0, 10.0, 50.0, 15.0] + [10.0] * 20 + [100.0, 55.0, 1.0, 5.0])
"""Public bounds of the attributes, set without looking at any record; values are clipped."""
COUNTED = (0, *range(6, 26))
"""Attributes that are numbers of events."""
PERSISTENCE, INFLUENCE = 0.98, 0.1
FILES = ("attributes.csv", "friendships.csv", "labels.csv")


def simulated(
    card: Card, times: int, counts: tuple[int, int, int], persistence: float, influence: float
) -> PanelTable:
    """Draws a panel; equal arguments give equal numbers.

    Args:
        card: Its description, with the number of users.
        times: Points in time.
        counts: Friendships, messages and competitions.
        persistence: How much of motivation stays from one time to the next, from 0 to 0.99.
        influence: The share of it that comes from friends, from 0 to 1.
    """
    seed = 20_101_001
    friends = motivation.friendships(card.records, counts[0], seed)
    society = motivation.Society(card.records, friends, persistence, influence)
    drawn = motivation.draw(society, times, counts[1], counts[2], seed)
    x = drawn.x
    measured = [place for place in range(len(ATTRIBUTES)) if place not in COUNTED]
    low, high = LOWER[measured], UPPER[measured]
    x[:, :, measured] = low + (high - low) * x[:, :, measured]
    np.clip(x, LOWER, UPPER, out=x)  # public bounds, which a rare count may pass
    again = partial(simulated, card, times, counts)
    made = (persistence, influence)
    return check(PanelTable(card, x, drawn.y, friends, (LOWER, UPPER), drawn.chance, again, made))


def folder(name: str) -> Path | None:
    """Where the three files of a data set lie; None unless one of them is at hand."""
    for file in FILES:
        if (file_there := local(f"{name}/{file}")) is not None:
            return file_there.parent
    return None
