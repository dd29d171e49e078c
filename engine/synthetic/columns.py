"""The columns of a synthetic table, cut into cells that are known without the records. No torch.

A number's range is cut into equal bins over its public bounds. Values that are whole numbers are
counted apart from others in the same bin, so that the counts tell whether a column holds whole
numbers alone; that is a finer partition, and a record is still in one cell. The outcome is one
column: the class, or time and event together. A category that the table keeps as several columns of
0 and 1 is one column here.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from datasets.base import Booleans, Card, Floats, Integers, LabelledTable, SurvivalTable, Table
from engine.core.errors import RequestError

BINS = 32
"""Of a number's range."""
MOST = 100
"""Columns at most, beside the outcome."""
FEW = 100_000
"""So many whole numbers are looked at to see in which bins one can lie."""
Values: TypeAlias = dict[str, Floats]
"""The values of each column of a table, by its name, shape (n,)."""


@dataclass(frozen=True)
class PublicColumn:
    """A column and its cells, in the order: other values by bin, whole numbers by bin.

    Attributes:
        heads: Its names in the table: time and event, the column, or those of a category.
        low: The smallest value of a number.
        high: The largest.
        bins: Bins of a number; 0 of a category.
        levels: Cells of a category, the first of which is none of its names; 0 of a number.
        twice: Whether each bin is there for two events: 0 first.
    """

    heads: tuple[str, ...]
    low: float = 0.0
    high: float = 1.0
    bins: int = 0
    levels: int = 0
    twice: bool = False

    @property
    def title(self) -> str:
        """Its names as one."""
        return " and ".join(self.heads) if self.twice else self.heads[0]

    @property
    def places(self) -> int:
        """Bins, of each event, or levels."""
        return self.levels or self.bins * (1 + self.twice)

    @property
    def cells(self) -> int:
        """Cells that a record can lie in, with whole numbers apart."""
        return self.levels or 2 * self.places

    @property
    def kinds(self) -> tuple[slice, ...]:
        """The cells of values that are no whole numbers, and of whole numbers; or of levels."""
        both = slice(self.places), slice(self.places, 2 * self.places)
        return both[:1] if self.levels else both

    @property
    def edges(self) -> Floats:
        """Where bins begin and end, shape (bins + 1,)."""
        return np.linspace(self.low, self.high, self.bins + 1)

    def binned(self, values: Floats) -> Integers:
        """The bin of each value, which is clipped to the bounds."""
        share = (np.clip(values, self.low, self.high) - self.low) / (self.high - self.low)
        return np.minimum((share * self.bins).astype(np.int64), self.bins - 1)

    def possible(self) -> Booleans:
        """Which cells a record can lie in at all, shape (cells,)."""
        may = np.ones(self.cells, bool)
        first, last = np.ceil(self.low), np.floor(self.high)
        if self.bins and last - first < FEW:
            whole = np.zeros(self.bins, bool)
            whole[self.binned(np.arange(first, last + 1))] = True
            may[self.places :] = np.tile(whole, 1 + self.twice)
        return may

    def placed(self, values: Values) -> Integers:
        """The bin, of its event, or the level of each record, shape (n,)."""
        if self.levels and len(self.heads) == 1:
            return values[self.heads[0]].astype(np.int64)
        if self.levels:
            shown = np.stack([values[head] for head in self.heads], 1)
            return np.asarray(np.where(shown.max(1) > 0.5, 1 + shown.argmax(1), 0), np.int64)
        place = self.binned(values[self.heads[0]])
        happened = values[self.heads[1]] > 0.5 if self.twice else np.zeros(len(place), bool)
        return place + self.bins * happened

    def coded(self, values: Values) -> Integers:
        """The cell of each record, shape (n,)."""
        place = self.placed(values)
        if self.levels:
            return place
        clipped = np.clip(values[self.heads[0]], self.low, self.high)
        return np.where(clipped == np.floor(clipped), place + self.places, place)

    def shares(self, values: Values) -> Floats:
        """The share of records in each bin, of each event, or in each level."""
        counts = np.bincount(self.placed(values), minlength=self.places)
        return np.asarray(counts / max(1, counts.sum()), np.float64)

    def json(self) -> dict[str, object]:
        """What is public of it, as JSON values."""
        ends = {"low": self.low, "high": self.high, "bins": self.bins} if self.bins else {}
        return {"title": self.title, "heads": self.heads, "levels": self.levels, **ends}


@dataclass(frozen=True)
class PublicTable:
    """What is known of a table without its records, and the bounds of its columns.

    Attributes:
        card: Its card.
        columns: The outcome first.
        names: Of the columns of the file, the outcome's first.
        ends: Smallest and largest value of each of them.
    """

    card: Card
    columns: tuple[PublicColumn, ...]
    names: tuple[str, ...]
    ends: tuple[tuple[float, float], ...]


def groups(card: Card) -> tuple[tuple[str, ...], ...]:
    """The names of the covariates, those of one category together.

    A category's names are those whose unit says which value 1 stands for and that end with it.

    Raises:
        RequestError: There are too many, or nobody has said what the outcome is.
    """
    if card.classes is None and card.bounds is None:
        raise RequestError(
            f"dataset: expected a table of classes or a survival table with bounds, got {card.name}"
        )
    names = card.features
    if card.image is not None:
        names = tuple(f"pixel {at}" for at in range(card.image[0] * card.image[1]))
    found: list[list[str]] = []
    before = ""
    for name, unit in zip(names, (*card.units, *[""] * len(names)), strict=False):
        level = unit.removeprefix("1 = ") if unit.startswith("1 = ") else ""
        key = name.removesuffix(f" {level}") if level and name.endswith(f" {level}") else ""
        if key and key == before:
            found[-1].append(name)
        else:
            found.append([name])
        before = key
    if len(found) > MOST:
        raise RequestError(
            f"dataset: expected at most {MOST} columns, got {len(found)} in {card.name}"
        )
    return tuple(map(tuple, found))


def outcome(card: Card) -> tuple[str, ...]:
    """The names of the outcome: `label`, or `time` and `event`, unless a covariate is called so."""
    wanted: tuple[str, ...] = ("label",) if card.classes is not None else ("time", "event")
    while set(wanted) & set(card.features):
        wanted = tuple(f"{name}_" for name in wanted)
    return wanted


def public(card: Card, bounds: Sequence[tuple[float, float]]) -> PublicTable:
    """The columns of a table.

    Args:
        card: Its card.
        bounds: Smallest and largest value of each covariate.
    """
    heads = outcome(card)
    if card.classes is not None:
        columns, ends = [PublicColumn(heads, levels=card.classes)], [(0.0, card.classes - 1.0)]
    else:
        assert card.bounds is not None
        reach = (0.0, card.bounds.horizon)
        columns, ends = [PublicColumn(heads, *reach, BINS, twice=True)], [reach, (0.0, 1.0)]
    at = 0
    for names in groups(card):
        category = len(names) > 1
        columns.append(
            PublicColumn(names, levels=len(names) + 1) if category
            else PublicColumn(names, *bounds[at], BINS)
        )  # fmt: skip
        at += len(names)
    flat = [name for column in columns for name in column.heads]
    return PublicTable(card, tuple(columns), tuple(flat), (*ends, *bounds))


def read(table: Table) -> tuple[PublicTable, Values]:
    """A table's public columns, and its values within their bounds.

    A person who is followed beyond the longest time counts as censored then. A missing value
    becomes what the card says that stands for it. Covariates that vary in time are those at the
    beginning. The test part of a table of classes is left out.

    Raises:
        RequestError: It is of another kind, or has too many columns.
    """
    card = table.card
    groups(card)
    if isinstance(table, SurvivalTable) and card.bounds is not None:
        x, bounds = table.x, card.bounds.covariates
        if table.missing is not None and card.bounds.missing:
            x = np.where(table.missing, card.bounds.missing, x)
        late = table.time > card.bounds.horizon
        time = np.where(late, card.bounds.horizon, table.time)
        first = [time, (table.event & ~late).astype(np.float64)]
    elif isinstance(table, LabelledTable):
        x, wide = table.x.reshape(len(table), -1).astype(np.float64), table.x[0].size
        low, high = (np.broadcast_to(end, wide).astype(float) for end in table.bounds)
        bounds = tuple(zip(low.tolist(), high.tolist(), strict=True))
        first = [table.y.astype(np.float64)]
    else:
        raise RequestError(f"dataset: expected classes or survival times, got {card.name}")
    known = public(card, [(low, high if high > low else low + 1.0) for low, high in bounds])
    ends = zip(x.T, known.ends[len(first) :], strict=True)
    values = (*first, *(np.clip(one, *end) for one, end in ends))
    return known, dict(zip(known.names, values, strict=True))
