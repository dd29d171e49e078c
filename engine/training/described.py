"""How a labelled table is split, in words and rows, and what the tested rows tell. No torch."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from datasets.base import Card, Floats, LabelledTable, Table
from engine.core.spec import Spec
from engine.intervals import Estimate, accuracy
from engine.method import Arrays, Entry, Groups
from engine.training.split import held_out_rows


def model(spec: Spec, card: Card) -> dict[str, Any]:
    """The split that every repetition shares.

    Args:
        spec: The settings, none of which changes the split.
        card: The data set's, whose number of records decides alone.
    """
    return {
        "split": "Rows count from 0 in the order of the published file. `tested_rows` are held out "
        "and all other rows are trained on. A publisher's test part is tested on too. Where there "
        "are `test_predictions`, they are those of the publisher's test part and behind it of "
        "`tested_rows`, in this order.",
        "tested_rows": held_out_rows(card.records).tolist(),
    }


def estimates(
    entry: Entry[Any], spec: Any, card: Card, arrays: Arrays, gauges: Mapping[str, float]
) -> tuple[Estimate, ...]:
    """How often the published model is right on new records, from those that it is tested on.

    They are not trained on, so noise is not in the count: the person who publishes the model knows
    how often it is right on them, and who was tested is all that is left to chance.

    Args:
        entry: The method.
        spec: Its settings.
        card: The data set's.
        arrays: `test_predictions`, one for each tested record.
        gauges: Of them `accuracy`.
    """
    if "test_predictions" not in arrays:
        return ()
    return (accuracy(gauges["accuracy"], arrays["test_predictions"].shape[-1]),)


def classes(card: Card) -> tuple[str, ...]:
    """What the classes are called."""
    return tuple(f"class {k}" for k in range(card.classes or 0))


def right(spec: Any, data: Table, arrays: Arrays, seeds: Any) -> Floats | None:
    """How often the tested records of each class are found, and how many there are, (R, k, 2).

    Args:
        spec: The settings.
        data: The records.
        arrays: `test_predictions` (R, m), as `model` says of which records.
        seeds: Of each replica.
    """
    if "test_predictions" not in arrays or not isinstance(data, LabelledTable):
        return None
    beside = () if data.test is None else data.test.y
    labels = np.concatenate([beside, data.y[held_out_rows(len(data.y))]]).astype(np.int64)
    return by_class(arrays["test_predictions"], labels, data.card.classes or 0)


def by_class(predictions: Any, labels: Any, count: int) -> Floats:
    """How often records of each class are found, and how many there are, shape (R, k, 2).

    Args:
        predictions: Predicted classes, shape (R, m).
        labels: True classes, shape (m,).
        count: k.
    """
    found = np.asarray(predictions) == labels
    each = [labels == k for k in range(count)]
    shares = [found[:, own].mean(1) if own.any() else np.full(len(found), np.nan) for own in each]
    numbers = np.broadcast_to([int(own.sum()) for own in each], (len(found), count))
    return np.stack([np.stack(shares, axis=1), numbers], axis=2)


CLASSES = Groups(
    measure="Test accuracy",
    cost=("point", "points"),
    names=classes,
    made="engine.training.described:right",
    words="The share of each class's test records that are classified correctly.",
    counted=True,
)
"""Of classifiers that keep what they predict of the tested records."""
