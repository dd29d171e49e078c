"""The worst cases of the deep belief networks: an image of plain white, or of one faint dot."""

from dataclasses import replace

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from datasets.base import LabelledTable, Table
from engine.audit.witness import Pair, Witness, alone, left_out, own_seeds
from engine.core.batch import Batch
from engine.core.errors import RequestError
from engine.papers.dbn.pcdbn import network
from engine.papers.dbn.pcdbn.images import images
from engine.papers.dbn.pcdbn.spec import PcdbnSpec
from engine.training.records import train_rows

OTHERS = 64
"""Training images that stay where a final network is scored: their labels tell what it counts."""
FAINT = 1e-8
"""Brightness of a dot: patches with a squared norm below `moments.TINY` count for nothing."""


def dark(spec: PcdbnSpec, data: Table) -> Pair:
    """The last training image black but for one faint dot; nobody else is there.

    Where pixels are whole numbers, as MNIST's are, the image is plain white, and filters move.

    Three of eight releases do not change: the moments that make the filters. They are 1 % of mu.
    Filters climb on noise alone here, and in a third of the trainings a bright image sends them to
    other places than no image does; then both trainings of a pair say little about each other. A
    faint dot leaves the filters alike, and its features are scaled to length 1 as any others. At
    epsilon = 1 the log likelihood ratios of a pair have correlation .99 with it, .86 with white.
    """
    if spec.calibration != "rigorous":
        return among(spec, data)
    table = _labelled(data)
    return alone(table, train_rows(table), _faintest(table))


def among(spec: PcdbnSpec, data: Table) -> Pair:
    """The last training image in plain white among a few others, for networks as printed."""
    table = _labelled(data)
    rows = train_rows(table)
    pair = left_out(table, int(rows[-1]), _brightest(table))
    gone = {int(row) for row in rows[: max(0, len(rows) - OTHERS)]}
    assert isinstance(pair.without, LabelledTable)
    assert isinstance(pair.present, LabelledTable)
    empty = tuple(sorted(gone | {int(rows[-1])}))
    present = replace(pair.present, left_out=tuple(sorted(gone)))
    return Pair(replace(present, left_out=empty), present)


def white_drawn(spec: PcdbnSpec, data: Table) -> Pair:
    """The same, for methods that draw batches."""
    table = _labelled(data)
    return alone(table, train_rows(table), _brightest(table), rate=spec.sample_rate)


def _labelled(data: Table) -> LabelledTable:
    if not isinstance(data, LabelledTable):
        raise RequestError(f"dataset: expected labelled images, got {data.card.name}")
    return data


def _brightest(data: LabelledTable) -> NDArray[np.generic]:
    return np.broadcast_to(np.asarray(data.bounds[1]), data.x.shape[1:])


def _faintest(data: LabelledTable) -> NDArray[np.generic]:
    """A faint dot in the first corner; white where pixels are whole numbers."""
    bright = _brightest(data)
    if not np.issubdtype(data.x.dtype, np.floating):
        return bright
    return np.where(np.arange(bright.size) == 0, np.multiply(FAINT, bright), 0.0)


def fit(batch: Batch[PcdbnSpec], pair: Pair, state: object) -> Tensor | None:
    """How well the final networks know the image: minus the loss of its class, shape (R,).

    None for the proved version, whose releases say more.
    """
    if not isinstance(state, network.State):
        return None
    pictures = images(pair.present, batch.spec, str(state.upper[0].device))
    place = len(pictures.x) - 1  # the witness is the last that is trained on
    z = network.outputs(pictures.x[place : place + 1], state)
    return torch.log_softmax(z, -1)[:, 0, int(pictures.y[place])]


def counted(batch: Batch[PcdbnSpec], pair: Pair, state: object) -> Tensor | None:
    r"""How much the biases of the published program know of the image's class, shape (R,).

    Its softmax layer minimises a quadratic, and no noise is added to the biases' gradients. Where
    they vanish, class k's mean output over all records is 4 n_k/n - 2, with n_k records of the
    class: one more image of a class raises its mean by about 4/n. The noise of a step moves the
    means too, but along the rows of the softmax layer's weights only, which are released. So the
    attacker leaves those directions out. None where they are all there are.
    """
    spec = batch.spec
    if not isinstance(state, network.State) or spec.calibration != "released":
        return None
    pictures = images(pair.present, spec, str(state.upper[0].device))
    if spec.hidden >= pictures.classes - 1:
        return None
    others = len(pictures.x) - 1
    means = network.outputs(pictures.x[:others], state).double().mean(1)
    counts = torch.bincount(pictures.y[:others], minlength=pictures.classes).to(means)
    rest = means - (4.0 * counts / others - 2.0)
    noisy = torch.linalg.qr(state.upper[2].double().transpose(1, 2)).Q
    own = torch.zeros_like(means)
    own[:, int(pictures.y[others])] = 1.0
    free = own - (noisy @ (noisy.transpose(1, 2) @ own[:, :, None]))[:, :, 0]
    share: Tensor = (rest * free).sum(1) / free.square().sum(1)
    return share


DARK = (
    "an image black but for one faint dot, or whose place is empty; so are all other places, which "
    "the attacker may choose"
)
WORDS = (
    "an image of plain white, or whose place is empty; so are all other places, or all but 64, "
    "which the attacker may choose"
)
KNOWN = {
    "loss of the final model on the record": fit,
    "biases of the classes against the others' labels": counted,
}
MOMENTS = Witness(words=DARK, pair=dark, scores=KNOWN, seeds=own_seeds)
"""For releases of moments; replicas of one seed would share their draws."""
NETWORKS = Witness(words=WORDS, pair=among, scores=KNOWN, recorded=False, seeds=own_seeds)
"""For the text's noise, which is on no sum over records."""
BATCHES = Witness(words=WORDS, pair=white_drawn)
"""For noisy sums of batches."""
