"""What a run keeps: prototypes, the metric's directions, a projection and the nearest records.

| name         | shape     | what                                                             |
|--------------|-----------|------------------------------------------------------------------|
| prototypes   | (R, p, d) | in the units of the data set; released                           |
| labels       | (R, p)    | class of each prototype; released                                |
| relevance    | (R, d)    | diagonal of Lambda, which has trace 1; released                   |
| omega        | (R, d, d) | whose square is Lambda; none for GLVQ; released                  |
| eigenvalues  | (R, m)    | of Lambda, largest first, m at most 20; released                  |
| eigenvectors | (R, 3, d) | of the three largest (fewer if d < 3); released                   |
| points       | (R, s, 2) | held-out records on the two leading directions; from raw records |
| classes      | (R, s)    | their classes; from raw records                                  |
| anchors      | (R, p, 2) | prototypes in the same plane; released                           |
| nearest      | (R, p)    | row of the nearest training record of the prototype's class      |
| distance     | (R, p)    | how far it is, in norms of the scaled features; from raw records |
| typical      | (R, p)    | median distance of the class's training records; from raw records|
| members      | (R, p)    | training records of the class; from raw records                  |
| histogram    | (R, 2, b) | records by gradient norm, prototypes then matrix; raw records    |
| edges        | (R, b+1)  | edges of its bins                                                |

`relevance`, `eigenvalues` and `eigenvectors` are those of the identity for GLVQ, whose plane is
spanned by the leading directions of its prototypes. Rows of `nearest` count in the joined table,
the publisher's test part behind the training part. Each nearest prototype in the plane of
`anchors` decides a region there: the regions of the flattened metric, not of the whole one.
"""

import math

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from datasets.base import LabelledTable, Table
from engine.core.batch import Batch
from engine.method import Arrays
from engine.papers.lvq import measure, price
from engine.papers.lvq.folds import Records, fold, records
from engine.papers.lvq.model import Model, Sample, norms, pairs, right
from engine.papers.lvq.spec import LvqSpec
from engine.training.layer_arrays import layer_arrays
from engine.training.steady import steady

POINTS = 300
VALUES = 20
VECTORS = 3
SAMPLED = 2_000
EDGES = np.logspace(-3, 3, 61)


def arrays(batch: Batch[LvqSpec], data: Table, model: Model, centre: Tensor) -> Arrays:
    """The arrays of the table above.

    Args:
        batch: The settings of R replicas.
        data: The records.
        model: What is released.
        centre: Subtracted from every record, shape (R, d).
    """
    d = centre.shape[1]
    all_records = records(data, price.scale(batch.spec, d), str(centre.device))
    shifted = measure.unwhitened(model)
    directions = _directions(model, shifted)
    parts = [_replica(all_records, data, model, shifted, centre, directions, batch.seeds, r)
             for r in range(len(batch))]  # fmt: skip
    stacked = {name: np.stack([part[name] for part in parts]) for name in parts[0]}
    labels = np.tile(model.labels.cpu().numpy().astype(np.int32), (len(batch), 1))
    return {
        "prototypes": original(data, (shifted + centre[:, None]) / all_records.scale),
        "labels": labels,
        "relevance": _float(directions[0]),
        "eigenvalues": _float(directions[1][:, :VALUES]),
        "eigenvectors": _float(directions[2][:, :VECTORS]),
        "edges": np.tile(EDGES.astype(np.float32), (len(batch), 1)),
        **stacked,
        **_omega(model),
    }


def _omega(model: Model) -> dict[str, NDArray[np.generic]]:
    """The metric of the released model on records as they are; nothing where it is too large."""
    omega = measure.whole(model)
    arrays = {} if omega is None else layer_arrays([[omega]])
    return {"omega": arrays["weights_1"]} if arrays else {}


def original(data: Table, scaled: Tensor) -> NDArray[np.float32]:
    """From [-1, 1] back to the units of the data set."""
    assert isinstance(data, LabelledTable)
    lower, upper = (np.broadcast_to(b, data.x.shape[1:]) for b in data.bounds)
    values = (upper + lower) / 2 + scaled.double().cpu().numpy() * (upper - lower) / 2
    return values.astype(np.float32)


@steady
def _directions(model: Model, shifted: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Diagonal of Lambda (R, d), its eigenvalues (R, d) and eigenvectors (R, d, d) as rows.

    For GLVQ the rows are the prototypes' leading directions, since the identity has none. A
    replica that diverged gets NaN.
    """
    count, _, d = shifted.shape
    omega = measure.whole(model)
    if omega is None:
        even = shifted.new_full((count, d), 1.0 / d)
        spread = (shifted - shifted.mean(1, keepdim=True)).nan_to_num(0.0, 0.0, 0.0)
        rows = torch.linalg.svd(spread, full_matrices=False).Vh
        wanted = min(d, VECTORS)
        short = max(0, wanted - rows.shape[1])
        return even, even, torch.cat([rows[:, :wanted], rows.new_zeros(count, short, d)], 1)
    omega = omega / torch.linalg.matrix_norm(omega, keepdim=True)
    sane = omega.isfinite().all(2).all(1)[:, None, None]
    tame = omega.where(sane, torch.zeros_like(omega)).double()
    # of Lambda, in float64: a singular value decomposition of Omega near the identity may fail
    values, vectors = torch.linalg.eigh(tame.mT @ tame)
    rows = vectors.mT.flip(1).to(omega.dtype)
    return omega.square().sum(1), values.flip(1).clamp(min=0).to(omega.dtype), rows


def _replica(
    all_records: Records,
    data: Table,
    model: Model,
    shifted: Tensor,
    centre: Tensor,
    directions: tuple[Tensor, Tensor, Tensor],
    seeds: tuple[int, ...],
    r: int,
) -> dict[str, NDArray[np.generic]]:
    """What one replica keeps beside its parameters."""
    train, test = (torch.from_numpy(rows).to(centre.device) for rows in fold(data, seeds[r]))
    chosen = test[torch.linspace(0, len(test) - 1, min(POINTS, len(test))).long()]
    plane = directions[2][r, :2]
    if model.omega is not None:
        plane = plane * directions[1][r, : len(plane), None].sqrt()
    points = _flat((all_records.x[chosen] - centre[r]) @ plane.mT)
    return {
        "points": points,
        "classes": all_records.y[chosen].cpu().numpy().astype(np.int32),
        "anchors": _flat(shifted[r] @ plane.mT),
        **_memory(all_records, train, model, shifted[r] + centre[r]),
        "histogram": _histogram(all_records, train, model, centre, r),
    }


def _flat(points: Tensor) -> NDArray[np.float32]:
    """Two columns, the second zero where d = 1."""
    wide = torch.nn.functional.pad(points, (0, 2 - points.shape[1]))
    return _float(wide)


def _memory(
    all_records: Records, train: Tensor, model: Model, points: Tensor
) -> dict[str, NDArray[np.generic]]:
    """Nearest training record of its class for each prototype, and the class's own spread."""
    apart = torch.cdist(points, all_records.x)[:, train]
    own = all_records.y[train] == model.labels[:, None]
    near, place = apart.masked_fill(~own, torch.inf).min(1)
    typical = apart.masked_fill(~own, torch.nan).nanmedian(1).values
    return {
        "nearest": train[place].cpu().numpy().astype(np.int32),
        "distance": _float(near / (all_records.scale * math.sqrt(points.shape[1]))),
        "typical": _float(typical / (all_records.scale * math.sqrt(points.shape[1]))),
        "members": own.sum(1).cpu().numpy().astype(np.int32),
    }


def _histogram(
    all_records: Records, train: Tensor, model: Model, centre: Tensor, r: int
) -> NDArray[np.int32]:
    """Training records by the norm of their gradient, shape (2, b); the ends are open."""
    chosen = train[torch.linspace(0, len(train) - 1, min(SAMPLED, len(train))).long()]
    one = Model(
        model.w[r : r + 1],
        model.labels,
        None if model.omega is None else model.omega[r : r + 1],
        None if model.basis is None else model.basis[r : r + 1],
    )
    x = (all_records.x[chosen] - centre[r])[None]
    square = right(x, one.basis).square().sum(2)
    sample = Sample(x, square, all_records.y[chosen][None], torch.ones_like(square))
    sizes = norms(one, sample, pairs(one, sample))
    rows = [_bins(sizes.w), _bins(sizes.omega)]
    return np.stack(rows)


def _bins(sizes: Tensor | None) -> NDArray[np.int32]:
    if sizes is None:
        return np.zeros(len(EDGES) - 1, np.int32)
    values = np.nan_to_num(sizes[0].double().cpu().numpy(), nan=EDGES[-1])
    return np.histogram(values.clip(EDGES[0], EDGES[-1]), EDGES)[0].astype(np.int32)


def _float(values: Tensor) -> NDArray[np.float32]:
    return values.float().cpu().numpy()
