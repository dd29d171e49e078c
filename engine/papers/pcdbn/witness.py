"""The worst cases of the deep belief networks: an image of plain white, or of one bright dot."""

import numpy as np
import torch
from torch import Tensor

from datasets.base import LabelledTable, Table
from engine.audit.witness import Pair, Witness, left_out, own_seeds
from engine.core.batch import Batch
from engine.core.errors import RequestError
from engine.papers.pcdbn import network
from engine.papers.pcdbn.images import images
from engine.papers.pcdbn.spec import PcdbnSpec
from engine.training.records import train_rows


def white(spec: PcdbnSpec, data: Table) -> Pair:
    """The last training image in plain white."""
    return _pair(data, echo=False)


def white_drawn(spec: PcdbnSpec, data: Table) -> Pair:
    """The same, for methods that draw batches."""
    return _pair(data, echo=True)


def _pair(data: Table, *, echo: bool) -> Pair:
    if not isinstance(data, LabelledTable):
        raise RequestError(f"dataset: expected labelled images, got {data.card.name}")
    high = np.broadcast_to(data.bounds[1], data.x.shape[1:])
    return left_out(data, int(train_rows(data)[-1]), high, echo=echo)


def fit(batch: Batch[PcdbnSpec], pair: Pair, state: object) -> Tensor | None:
    """How well the final networks know the image: minus the loss of its class, shape (R,).

    None for the proved version, whose releases say more.
    """
    if not isinstance(state, network.State):
        return None
    pictures = images(pair.present, batch.spec, str(state.upper[0].device))
    place = pictures.count - 1  # the witness is the last that is trained on
    z = network.outputs(pictures.x[place : place + 1], state)
    return torch.log_softmax(z, -1)[:, 0, int(pictures.y[place])]


WORDS = "an image of plain white, or whose place is empty"
KNOWN = {"loss of the final model on the record": fit}
MOMENTS = Witness(words=WORDS, pair=white, scores=KNOWN, seeds=own_seeds)
"""For releases of moments; replicas of one seed would share their draws."""
NETWORKS = Witness(words=WORDS, pair=white, scores=KNOWN, recorded=False, seeds=own_seeds)
"""For the text's noise, which is on no sum over records."""
BATCHES = Witness(words=WORDS, pair=white_drawn)
"""For noisy sums of batches."""
