"""A table as arrays and a card as JSON: how tables of one's own are kept, and how tables travel.

Nothing here is pickled. A panel's simulator is a function and does not travel.
"""

import dataclasses
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from datasets.base import Card, Episodes, LabelledTable, PanelTable, SurvivalTable, Table
from engine.core import stored
from engine.core.errors import DatasetError

Arrays = dict[str, NDArray[np.generic]]
COURSE = tuple(one.name for one in dataclasses.fields(Episodes))
TEST = "test_"


def described(card: Card) -> dict[str, Any]:
    """A card as JSON values."""
    return dataclasses.asdict(card)


def card(body: Mapping[str, Any]) -> Card:
    """The card that `described` wrote.

    Raises:
        ValueError: It is damaged or another version's; the field is named.
    """
    return stored.read(Card, body)


def arrays(table: Table) -> Arrays:
    """What a table holds beside its card.

    Raises:
        DatasetError: It is a panel, which a name alone says how to draw.
    """
    if isinstance(table, PanelTable):
        raise DatasetError(f"{table.card.name}: expected records in arrays, got a panel")
    if isinstance(table, SurvivalTable):
        course = table.episodes
        held = {"x": table.x, "time": table.time, "event": table.event, "missing": table.missing}
        paths = {name: getattr(course, name) for name in COURSE} if course else {}
        return {
            **{key: value for key, value in held.items() if value is not None},
            **{f"course_{key}": value for key, value in paths.items()},
        }
    test = arrays(table.test) if table.test is not None else {}
    low, high = (np.asarray(bound, np.float64) for bound in table.bounds)
    parts: Arrays = {"x": table.x, "y": table.y, "low": low, "high": high}
    if table.groups is not None:
        parts["groups"] = table.groups
    if table.left_out:
        parts["left_out"] = np.array(table.left_out, np.int64)
    return {**parts, **{f"{TEST}{key}": value for key, value in test.items()}}


def table(card: Card, held: Mapping[str, NDArray[Any]]) -> SurvivalTable | LabelledTable:
    """The table that `arrays` was given."""
    if "y" not in held:
        paths = {key: held[f"course_{key}"] for key in COURSE if f"course_{key}" in held}
        course = Episodes(**paths) if paths else None
        return SurvivalTable(
            card, held["x"], held["time"], held["event"], course, held.get("missing")
        )
    part = {key.removeprefix(TEST): value for key, value in held.items() if key.startswith(TEST)}
    return LabelledTable(
        card=card,
        x=held["x"],
        y=held["y"],
        bounds=(held["low"], held["high"]),
        image=card.image,
        test=_test(card, part) if part else None,
        groups=held.get("groups"),
        left_out=tuple(held["left_out"].tolist()) if "left_out" in held else (),
    )


def _test(whole: Card, part: Mapping[str, NDArray[Any]]) -> LabelledTable:
    """The test part: the same card with its own number of records."""
    made = table(dataclasses.replace(whole, records=len(part["y"])), part)
    assert isinstance(made, LabelledTable)
    return made
