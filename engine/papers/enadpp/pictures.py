"""Arrays for the charts beside the curves, at the end of a run. All from raw records."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from engine.core.gauges import Column
from engine.papers.enadpp import models
from engine.papers.enadpp.whitening import Whitened
from engine.training import ghost
from engine.training.evaluate import predictions
from engine.training.layers import Norm
from engine.training.network import Network, Parameters
from engine.training.records import Records
from engine.training.relevance import TINY, Rule, relevances
from engine.training.siamese import Siamese

NORMED = 1000
"""Training records whose gradient norms are counted."""
COMPARED = 200
"""Test persons who are compared with an example, where persons are compared."""
EDGES = np.logspace(-3.0, 3.0, 61)
"""Bins of a gradient's norm over C; what lies outside is counted in the first or last."""
RULES: tuple[Rule, ...] = ("z_plus", "epsilon")


@dataclass(frozen=True, eq=False)
class Clipping:
    """How each record's gradient is clipped.

    Attributes:
        bounds: C of each replica, shape (R,).
        norm: In which norm.
        weights: Weights of the coordinates in the norm; None for equal ones.
        trained: The parameters whose gradients are clipped.
        white: How features are whitened before that; None where they are not.
    """

    bounds: Column
    norm: Norm
    weights: ghost.Ratios | None
    trained: Parameters
    white: Whitened | None = None


def pictures(
    network: Network | Siamese,
    parameters: Parameters,
    records: Records,
    clipping: Clipping,
    pixels: tuple[int, int] | None,
) -> dict[str, NDArray[Any]]:
    """Shapes with R in front.

    `test_predictions` (R, M), the predicted class of each test record, unless persons are compared;
    `accuracy_by_class` (R, K); `gradient_norm_counts` (R, 60) in bins of norm over C with
    `gradient_norm_edges` (R, 61); `images` (R, K, d), a test record of each class;
    `relevance_z_plus` and `relevance_epsilon` (R, K, d), its heat maps, all three for
    pixels only; `predicted` (R, K), its class as the network sees it; where persons are
    compared, `compared_z_plus` and `compared_epsilon` (R, d), each feature's share of what
    tells two of them apart.
    """
    classes = int(records.y.max()) + 1
    example = torch.stack([(records.test_y == k).int().argmax() for k in range(classes)])
    shown = records.test_x[example]
    wide = shown.expand(len(clipping.bounds), *shown.shape)
    answers = predictions(network, parameters, records.test_x).argmax(-1)
    counts = _norms(network, records, clipping)
    arrays: dict[str, NDArray[Any]] = {
        "accuracy_by_class": _by_class(answers, records, classes),
        "gradient_norm_counts": counts,
        "gradient_norm_edges": np.tile(EDGES, (len(clipping.bounds), 1)),
        "predicted": network.outputs(parameters, wide).argmax(-1).cpu().numpy(),
    }
    if records.paired:
        return arrays | {f"compared_{rule}": _compared(network, parameters, records, rule)
                        for rule in RULES}  # fmt: skip
    arrays["test_predictions"] = answers.cpu().numpy().astype(np.uint8)
    if pixels is None or wide[0, 0].numel() != pixels[0] * pixels[1]:
        return arrays  # features of an image cannot be drawn as one
    arrays["images"] = wide.flatten(2).cpu().numpy()
    for rule in RULES:
        heat = relevances(network, parameters, wide, rule)[0]
        arrays[f"relevance_{rule}"] = heat.flatten(2).cpu().numpy()
    return arrays


def _compared(
    network: Network | Siamese, parameters: Parameters, records: Records, rule: Rule
) -> NDArray[np.float64]:
    """Mean shares of absolute relevance, both persons' together, shape (R, d)."""
    pairs = records.test_x[:COMPARED, :, :2]
    wide = pairs.expand(len(parameters[0][0]), *pairs.shape)
    size = relevances(network, parameters, wide, rule)[0].double().abs().sum(3)
    share: Tensor = (size / size.sum(2, keepdim=True).clamp(min=TINY)).mean(1)
    return np.asarray(share.cpu(), np.float64)


def _by_class(answers: Tensor, records: Records, classes: int) -> NDArray[np.float64]:
    """Share of right answers (R, M) among the test records of each class, shape (R, K)."""
    right = (answers == records.test_y).double()
    member = torch.nn.functional.one_hot(records.test_y, classes).double()
    share: Tensor = right @ member / member.sum(0).clamp(min=1.0)
    return np.asarray(share.cpu(), np.float64)


def _norms(network: Network | Siamese, records: Records, clipping: Clipping) -> NDArray[np.int64]:
    """How many records' (or pairs') gradient norms over C fall in each bin, shape (R, 60)."""
    x, y = records.take(records.first(NORMED))
    bounds, parameters = clipping.bounds, clipping.trained
    wide, targets = x.expand(len(bounds), *x.shape), y.expand(len(bounds), -1)
    if clipping.white is not None:
        wide = wide @ clipping.white.maps
    values = network.values(parameters, wide)
    _, last = models.loss(network)(values[-1], targets)
    signals = network.signals(parameters, values, last)
    norms = ghost.record_norms(
        network, parameters, values, signals, clipping.norm, clipping.weights
    )
    size = np.nan_to_num(norms.double().cpu().numpy() / bounds[:, None], posinf=np.inf)
    clipped = np.clip(size, EDGES[0], EDGES[-1])
    return np.stack([np.histogram(row, EDGES)[0] for row in clipped]).astype(np.int64)
