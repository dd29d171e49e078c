"""The shapes of data sets and of the cards that describe them. No torch here.

A card is known without reading any file: prices and pages are drawn from it.
A loader returns a `SurvivalTable`, a `LabelledTable` or a `PanelTable` and checks it against its
card.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from engine.core.errors import DatasetError

Floats: TypeAlias = NDArray[np.float64]
Integers: TypeAlias = NDArray[np.int64]
Booleans: TypeAlias = NDArray[np.bool_]


@dataclass(frozen=True, kw_only=True)
class Bounds:
    """Which values a survival table may hold, set down without looking at its records.

    Records are clipped to them, and whatever scales the records follows from them, so that no
    record can move a scale.

    Attributes:
        covariates: Smallest and largest value of each covariate, in the units of the card.
        horizon: Longest time, in the card's time unit; who is followed longer counts as censored
            then.
        source: Where they come from, as sentences.
        missing: What stands for a missing value of each covariate; empty where none is missing.
    """

    covariates: tuple[tuple[float, float], ...]
    horizon: float
    source: str
    missing: tuple[float, ...] = ()

    def __post_init__(self) -> None:
        for low, high in self.covariates:
            if not -np.inf < low < high < np.inf:
                raise DatasetError(
                    f"bounds: expected a smallest value below a largest, got {low:g} and {high:g}"
                )
        if not 0.0 < self.horizon < np.inf:
            raise DatasetError(f"bounds: expected a longest time above 0, got {self.horizon:g}")


@dataclass(frozen=True, kw_only=True)
class Card:
    """What is public about a data set.

    Attributes:
        name: Key of the data set: the name of its module.
        title: As a page shows it.
        summary: One sentence: whose records, measured when and where.
        records: Number of records n.
        record: What one record is, in the singular: the unit that privacy protects.
        features: Names of the covariates, or a description such as "28 x 28 pixels".
        units: Unit of each covariate, or what 1 means where it is 0 or 1; empty if none is named.
        time_unit: Unit of the durations of a survival table.
        events: Number of observed events of a survival table; None otherwise.
        classes: Number of classes of a labelled table; None otherwise.
        bounds: Which values a survival table may hold; None otherwise, and where nobody has said.
        image: Height and width when a record is an image; None otherwise.
        source: Who published it: citation and address.
        licence: Terms as the publisher states them.
        public: What is treated as public knowledge in the privacy argument.
        simulated: Whether the values were drawn from a simulator.
        embedded: Whether it loads with no file at hand (shipped inside a library, or simulated).
        rows: Most rows of one person where `record` is a row of a person and persons are to be
            protected; 1 where a record is all of them.
        taken: Whether the bounds were taken from the records instead of public knowledge.
    """

    name: str
    title: str
    summary: str
    records: int
    record: str
    features: tuple[str, ...]
    source: str
    licence: str
    public: str
    units: tuple[str, ...] = ()
    time_unit: str = "days"
    events: int | None = None
    classes: int | None = None
    bounds: Bounds | None = None
    image: tuple[int, int] | None = None
    simulated: bool = False
    embedded: bool = False
    rows: int = 1
    taken: bool = False


@dataclass(frozen=True, eq=False)
class Episodes:
    """Stretches of time in which a person's covariates stay as they are; one person, one record.

    Attributes:
        person: Record that each belongs to, from 0 to n - 1, ascending, shape (m,).
        start: Where it begins, shape (m,): 0, or where the person's episode before it stops.
        stop: Where it ends, later than it begins, shape (m,).
        x: Covariates throughout, shape (m, p).
    """

    person: Integers
    start: Floats
    stop: Floats
    x: Floats


@dataclass(frozen=True, eq=False)
class SurvivalTable:
    """Right-censored durations as published, before any scaling.

    Attributes:
        card: Its description.
        x: Covariates, shape (n, p), in the units of the card; those at the beginning where they
            vary in time.
        time: Durations, shape (n,), non-negative.
        event: True where the event was observed, False where censored, shape (n,).
        episodes: The course of covariates that vary in time; None where none does.
        missing: Which covariates are missing and filled with the mean of the others, as is usual,
            shape (n, p); None where none is.
        alike: Whether few rows differ, so that equal ones may be worked on once, with their number.
            Published tables do not say so.
    """

    card: Card
    x: Floats
    time: Floats
    event: Booleans
    episodes: Episodes | None = field(default=None, repr=False)
    missing: Booleans | None = field(default=None, repr=False)
    alike: bool = False

    def __len__(self) -> int:
        return len(self.time)


@dataclass(frozen=True, eq=False)
class LabelledTable:
    """Features and class labels.

    Attributes:
        card: Its description.
        x: Features, shape (n, d), floating point or uint8 as published; images row by row.
        y: Class of each record, 0 to k-1, shape (n,).
        bounds: Public lower and upper bound of the features: scalars or shape (d,).
        image: Height and width when a record is an image; None otherwise.
        test: The publisher's test part in the same shape; None where there is none.
        groups: Person behind each record, shape (n,), where one person has several records
            and the publisher says who; None otherwise.
        left_out: Rows that count in no sum although their places are kept: how a neighbour looks
            where the number of records is public. Published tables have none.
    """

    card: Card
    x: NDArray[np.generic]
    y: Integers
    bounds: tuple[Floats, Floats]
    image: tuple[int, int] | None = None
    test: "LabelledTable | None" = field(default=None, repr=False)
    groups: Integers | None = field(default=None, repr=False)
    left_out: tuple[int, ...] = ()

    def __len__(self) -> int:
        return len(self.y)


@dataclass(frozen=True, eq=False)
class PanelTable:
    """Attributes and a label of every person at the same points in time, and who befriends whom.

    Attributes:
        card: Its description; `records` counts persons.
        x: Attributes in the units of the card, shape (n, T, d).
        y: Label of each person and time, 0 or 1, shape (n, T).
        friends: Each friendship once, as two different persons, shape (m, 2).
        bounds: Public lower and upper bound of each attribute, shape (d,) each.
        chance: Probability of a label 1 given everything before its time, shape (n, T), where a
            simulator knows it; None otherwise.
        again: Draws the same persons with another persistence and influence; None for persons
            who are not simulated.
        drawn: The persistence and the influence that it was drawn with.
        left_out: Persons who count in no sum: their windows are not trained on and their labels add
            nothing to friends' terms. Their places stay.
    """

    card: Card
    x: NDArray[np.float32]
    y: Integers
    friends: Integers
    bounds: tuple[Floats, Floats]
    chance: Floats | None = field(default=None, repr=False)
    again: "Callable[[float, float], PanelTable] | None" = field(default=None, repr=False)
    drawn: tuple[float, float] = (0.0, 0.0)
    left_out: tuple[int, ...] = ()

    def __len__(self) -> int:
        return len(self.x)


Table: TypeAlias = SurvivalTable | LabelledTable | PanelTable
T = TypeVar("T", SurvivalTable, LabelledTable, PanelTable)


def check(table: T) -> T:
    """Returns `table` if it is what its card describes.

    Raises:
        DatasetError: Another number of records, events or classes than the card says,
            values that are not finite, negative durations or features outside their bounds.
    """
    card = table.card
    if len(table) != card.records or len(table.x) != card.records:
        raise DatasetError(f"{card.name}: expected {card.records} records, got {len(table)}")
    if table.x.dtype.kind == "f" and not np.isfinite(table.x).all():
        raise DatasetError(f"{card.name}: expected finite features, got missing or infinite values")
    if isinstance(table, SurvivalTable):
        _check_survival(table)
    elif isinstance(table, PanelTable):
        _check_panel(table)
    else:
        _check_labelled(table)
    return table


def _check_panel(table: PanelTable) -> None:
    card, shape = table.card, table.x.shape
    if len(shape) != 3 or shape[2] != len(card.features):
        raise DatasetError(f"{card.name}: expected {len(card.features)} attributes, got {shape}")
    if table.y.shape != shape[:2] or not np.isin(table.y, (0, 1)).all():
        raise DatasetError(f"{card.name}: expected a label 0 or 1 for every person and time")
    if (table.x < table.bounds[0]).any() or (table.x > table.bounds[1]).any():
        raise DatasetError(f"{card.name}: expected attributes within their bounds, got others")


def _check_survival(table: SurvivalTable) -> None:
    card, events = table.card, int(table.event.sum())
    if card.events != events:
        raise DatasetError(f"{card.name}: expected {card.events} events, got {events}")
    if not (np.isfinite(table.time).all() and (table.time >= 0).all()):
        raise DatasetError(f"{card.name}: expected durations of at least 0, got others")
    if table.x.shape[1] != len(card.features):
        raise DatasetError(
            f"{card.name}: expected {len(card.features)} covariates, got {table.x.shape[1]}"
        )
    if card.bounds is not None:
        _check_bounds(table, card.bounds)


def _check_bounds(table: SurvivalTable, bounds: Bounds) -> None:
    name, wide = table.card.name, len(table.card.features)
    if len(bounds.covariates) != wide:
        raise DatasetError(
            f"{name}: expected bounds of {wide} covariates, got {len(bounds.covariates)}"
        )
    if table.missing is not None and len(bounds.missing) != wide:
        raise DatasetError(
            f"{name}: expected what stands for a missing value of {wide} covariates, "
            f"got {len(bounds.missing)}"
        )


def _check_labelled(table: LabelledTable) -> None:
    card, classes = table.card, np.unique(table.y)
    if card.classes != len(classes):
        raise DatasetError(f"{card.name}: expected {card.classes} classes, got {len(classes)}")
    lower, upper = table.bounds
    if (table.x.min(axis=0) < lower).any() or (table.x.max(axis=0) > upper).any():
        raise DatasetError(f"{card.name}: expected features within their bounds, got others")
