"""What a model that was kept predicts of every record. Nothing here is private."""

from collections.abc import Sequence

import numpy as np

from datasets.base import Floats, LabelledTable, Table
from engine.core.errors import RequestError
from engine.method import Arrays
from engine.papers.lvq.folds import fold, joined
from engine.papers.lvq.spec import LvqSpec
from engine.training.described import by_class

BLOCK = 4_096
"""Records that are compared with the prototypes together."""


def scores(spec: LvqSpec, data: Table, arrays: Arrays) -> Arrays:
    """The predicted class of every record, trained on or not, shape (R, n).

    Rows are those of the joined table, the publisher's test part behind the training part. Nothing
    where a metric has been trained that is too wide to be kept.

    Args:
        spec: The settings that all replicas share.
        data: The records.
        arrays: What the run kept.
    """
    if "prototypes" not in arrays or not isinstance(data, LabelledTable):
        return {}
    even = np.ptp(np.asarray(arrays["relevance"], np.float64), axis=1).max() < 1e-9
    if "omega" not in arrays and not even:
        return {}
    x, _ = joined(data)
    lower, upper = (np.broadcast_to(b, x.shape[1:]).astype(np.float64) for b in data.bounds)
    half = (upper - lower) / 2
    unit = np.divide(1.0, half, out=np.zeros_like(half), where=half > 0)
    records = np.clip((np.asarray(x, np.float64) - (upper + lower) / 2) * unit, -1.0, 1.0)
    rows = []
    for r, points in enumerate(np.asarray(arrays["prototypes"], np.float64)):
        # a prototype may lie outside the bounds: it is no record, and is not moved
        w = (points - (upper + lower) / 2) * unit
        omega = np.asarray(arrays["omega"][r], np.float64) if "omega" in arrays else None
        back = w if omega is None else w @ omega.T @ omega
        offset = (back * w).sum(1)
        blocks = [records[i : i + BLOCK] for i in range(0, len(records), BLOCK)]
        nearest = np.concatenate([(offset - 2 * block @ back.T).argmin(1) for block in blocks])
        rows.append(np.asarray(arrays["labels"][r])[nearest])
    return {"predictions": np.stack(rows)}


def judged(spec: LvqSpec, data: Table, arrays: Arrays) -> Floats:
    """Whether the class of each record is found, as 0 or 1, shape (R, n).

    Guarantees:
        It depends on that record, its class and the model alone: the sum over the records changes
        by at most 1 where one is replaced.

    Raises:
        RequestError: The metric that was trained is too wide to be kept.
    """
    found = scores(spec, data, arrays)
    if not found or not isinstance(data, LabelledTable):
        raise RequestError("methods: expected models that can be judged, got a metric not kept")
    right: Floats = (found["predictions"] == joined(data)[1]).astype(np.float64)
    return right


def right(spec: LvqSpec, data: Table, arrays: Arrays, seeds: Sequence[int]) -> Floats | None:
    """How often held-out records of each class are found, and how many there are, (R, k, 2).

    Args:
        spec: The settings that all replicas share.
        data: The records.
        arrays: What the run kept of R replicas.
        seeds: Of each replica: they name its fold.
    """
    found = scores(spec, data, arrays)
    if not found:
        return None
    labels = joined(data)[1]
    rows = []
    for predictions, seed in zip(found["predictions"], seeds, strict=True):
        _, test = fold(data, seed)
        rows.append(by_class(predictions[None, test], labels[test], int(labels.max()) + 1))
    return np.concatenate(rows)
