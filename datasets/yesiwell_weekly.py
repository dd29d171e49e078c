"""The simulated health social network by weeks: 254 users and 38 weeks."""

from dataclasses import replace

from datasets import social, yesiwell
from datasets.base import PanelTable

WEEKS = 38
CARD = replace(
    yesiwell.CARD,
    name="yesiwell_weekly",
    title="Health social network, weekly (simulated)",
    summary="Simulated: no record is a real person. 254 users of a health social network in 38 "
    "weeks, the size of the study's classification task; motivation persists from week to week.",
    time_unit="weeks",
    source="A simulator in this app, with the counts of Phan et al. (2017), Machine Learning 106, "
    "1681-1704",
)


def load() -> PanelTable:
    """Returns 254 simulated users in 38 weeks."""
    counts = (yesiwell.FRIENDSHIPS, yesiwell.MESSAGES, yesiwell.COMPETITIONS)
    return social.simulated(CARD, WEEKS, counts, social.PERSISTENCE, social.INFLUENCE)
