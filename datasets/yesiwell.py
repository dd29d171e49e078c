"""YesiWell, a health social network: three files of your own, else a simulator.

The study's records are not public. A user who has them, or records like them, puts three files into
the folder yesiwell of the data folder:

| file              | columns                                              |
|-------------------|------------------------------------------------------|
| `attributes.csv`  | user, time, and the thirty of `datasets.social`      |
| `friendships.csv` | user, friend; each friendship once                   |
| `labels.csv`      | user, time, label: 1 where the user exercises more   |
"""

from dataclasses import replace

from datasets import social
from datasets.base import Card, PanelTable
from engine.core.errors import DatasetError

USERS, DAYS = 254, 300
FRIENDSHIPS, MESSAGES, COMPETITIONS = 1_383, 2_766, 11_458
"""Counts of the study (Phan et al. 2017, Section 4.1)."""
CARD = Card(
    name="yesiwell",
    title="Health social network, daily (simulated)",
    summary="Simulated: no record is a real person. 254 users of a health social network on 300 "
    "days, with the attributes and counts of the YesiWell study; motivation persists, spreads "
    "among friends and shows in what users do.",
    records=USERS,
    record="a user",
    features=social.ATTRIBUTES,
    units=social.UNITS,
    time_unit="days",
    classes=2,
    source="A simulator in this app, with the counts of Phan et al. (2017), Machine Learning 106, "
    "1681-1704; three files of your own replace it once yesiwell/attributes.csv, friendships.csv "
    "and labels.csv lie in the folder named by EXPLORER_DATA",
    licence="As this app; no data of the YesiWell study are contained",
    public="The number of users, the times and the bounds of the attributes; each card says "
    "whether the friendships are public too",
    simulated=True,
    embedded=True,
)
OWN = replace(
    CARD,
    title="Health social network (your files)",
    summary="Users of a health social network, from three files of your own.",
    source="The three files in the folder yesiwell of EXPLORER_DATA",
    licence="Yours",
    simulated=False,
    embedded=False,
)


def card() -> Card:
    """Returns the card of what `load` would give now: the files at hand or the simulator."""
    if social.folder(CARD.name) is None:
        return CARD
    from datasets.social_files import read  # pandas takes time to load, and a card must not

    try:
        return read(CARD.name, OWN).card
    except DatasetError:
        return OWN


def load() -> PanelTable:
    """Returns users by times, 254 by 300 where simulated; its card says whether they are.

    Raises:
        DatasetError: The files are there but not as expected.
    """
    if social.folder(CARD.name) is not None:
        from datasets.social_files import read

        return read(CARD.name, OWN)
    counts = (FRIENDSHIPS, MESSAGES, COMPETITIONS)
    return social.simulated(CARD, DAYS, counts, social.PERSISTENCE, social.INFLUENCE)
