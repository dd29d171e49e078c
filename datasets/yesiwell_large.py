"""The simulated health social network at scale: 25,000 users and 38 weeks."""

from dataclasses import replace

from datasets import social, yesiwell
from datasets.base import PanelTable
from datasets.yesiwell_weekly import WEEKS

USERS = 25_000
CARD = replace(
    yesiwell.CARD,
    name="yesiwell_large",
    title="Health social network, 25,000 users (simulated)",
    summary="Simulated: no record is a real person. 25,000 users of a health social network in 38 "
    "weeks, with as many friends, messages and competitions for each as in the small one.",
    records=USERS,
    time_unit="weeks",
    source="A simulator in this app, in the proportions of Phan et al. (2017), Machine Learning "
    "106, 1681-1704",
)


def load() -> PanelTable:
    """Returns 25,000 simulated users in 38 weeks."""
    share = USERS / yesiwell.USERS
    counts = (yesiwell.FRIENDSHIPS, yesiwell.MESSAGES, yesiwell.COMPETITIONS)
    scaled = tuple(round(share * count) for count in counts)
    return social.simulated(
        CARD, WEEKS, (scaled[0], scaled[1], scaled[2]), social.PERSISTENCE, social.INFLUENCE
    )
