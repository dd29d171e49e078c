"""How often users are predicted right, by how many friends they have. Nothing here is private."""

from collections.abc import Sequence

import numpy as np

from datasets.base import Card, Floats, Table
from engine.method import Arrays, Groups
from engine.papers.dbn.yesiwell.described import TEST
from engine.papers.dbn.yesiwell.spec import YesiwellSpec

FIFTHS = ("fewest friends", "few friends", "some friends", "many friends", "most friends")


def names(card: Card) -> tuple[str, ...]:
    """Fifths of the users, by their number of friends."""
    return FIFTHS


def right(spec: YesiwellSpec, data: Table, arrays: Arrays, seeds: Sequence[int]) -> Floats | None:
    """The accuracy of each fifth, and how many windows are tested, shape (R, 5, 2).

    Args:
        spec: The settings that all replicas share.
        data: The records.
        arrays: `by_friends` (R, 5, 3).
        seeds: Of each replica.
    """
    if "by_friends" not in arrays:
        return None
    found = np.array(arrays["by_friends"], np.float64)[:, :, 1:]
    found[found[:, :, 1] == 0.0, 0] = np.nan
    return found


GROUPS = Groups(
    measure="Test accuracy",
    cost=("point", "points"),
    names=names,
    made="engine.papers.dbn.yesiwell.groups:right",
    words="The share of windows that are predicted right, of users in fifths by their number of "
    "friends.",
    counted=True,
    each=TEST,
)
