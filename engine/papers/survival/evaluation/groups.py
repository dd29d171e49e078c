"""How well a fitted model ranks the persons of each group. Nothing here is private."""

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from datasets.base import Card, Floats, SurvivalTable, Table
from engine.method import Arrays, Groups
from engine.papers.survival.likelihood.scale import scaled, survival
from engine.papers.survival.spec import SurvivalSpec

MOST = 400
"""Persons of a group that are compared with each other: a fixed draw where there are more."""
THIRDS = ("youngest third", "middle third", "oldest third")
AGE, YES = "age", "1 ="
"""The column that is cut into thirds, and how the unit of one that is 0 or 1 begins."""


def names(card: Card) -> tuple[str, ...]:
    """The groups: thirds by age, and both values of each column of 0 and 1."""
    return tuple(f"{card.features[i]}: {one}" for i, said in _columns(card) for one in said)


def _columns(card: Card) -> Iterator[tuple[int, tuple[str, ...]]]:
    """The columns that make groups, and what each calls its groups, in their order."""
    for i, feature in enumerate(card.features):
        unit = card.units[i] if card.units else ""
        if feature == AGE:
            yield i, THIRDS
        elif unit.startswith(YES):
            yield i, (unit.removeprefix(YES).strip(), "others")


def members(table: SurvivalTable) -> list[NDArray[np.int64]]:
    """Persons of each group of `names`, at most MOST."""
    found: list[NDArray[np.bool_]] = []
    for i, said in _columns(table.card):
        column = table.x[:, i]
        if said is THIRDS:
            order = np.argsort(np.argsort(column, kind="stable"), kind="stable")
            found += [order * 3 // len(column) == k for k in range(3)]
        else:
            found += [column > 0.5, column <= 0.5]
    rng = np.random.default_rng(0)
    return [np.sort(rng.permutation(np.flatnonzero(one))[:MOST]) for one in found]


def ranked(spec: SurvivalSpec, data: Table, arrays: Arrays, seeds: Sequence[int]) -> Floats | None:
    """The concordance within each group, and how many persons are compared, shape (R, g, 2).

    Args:
        spec: The settings that all replicas share.
        data: The records.
        arrays: What the run kept: `coefficients` (R, d).
        seeds: Of each replica.
    """
    table = survival(data, spec)
    if "coefficients" not in arrays or table.episodes is not None or not names(table.card):
        return None
    records = scaled(table)
    risk = np.asarray(arrays["coefficients"], np.float64)[:, spec.knots :] @ records.x.T
    groups = members(table)
    shares = [
        concordance(records.time[own], records.event[own], risk[:, own])
        if len(own) else np.full(len(risk), np.nan)
        for own in groups
    ]  # fmt: skip
    numbers = np.broadcast_to([len(own) for own in groups], (len(risk), len(groups)))
    return np.stack([np.stack(shares, axis=1), numbers], axis=2)


def concordance(time: Floats, event: Floats, risk: Floats) -> Floats:
    """Share of pairs that are ranked right (Harrell et al. 1982), shape (R,); ties count half.

    A pair is one person with the event and one who is followed for longer.

    Args:
        time: Durations, shape (m,).
        event: 1 for an event, shape (m,).
        risk: Larger where the event is expected earlier, shape (R, m).
    """
    first, later = np.nonzero((event[:, None] > 0) & (time[:, None] < time[None]))
    if not len(first):
        return np.full(len(risk), np.nan)
    found: Floats = np.array([0.5 + 0.5 * np.sign(row[first] - row[later]).mean() for row in risk])
    return np.where(np.isfinite(risk).all(axis=1), found, np.nan)


GROUPS = Groups(
    measure="Concordance",
    cost=("pair in 100", "pairs in 100"),
    names=names,
    made="engine.papers.survival.evaluation.groups:ranked",
    words="Of 100 pairs of persons within a group, how many the model ranks in the right order.",
)
