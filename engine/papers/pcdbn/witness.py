"""The worst cases of the deep belief networks: an image of plain white, or of one bright dot."""

import numpy as np

from datasets.base import LabelledTable, Table
from engine.audit.witness import Pair, Witness, left_out, own_seeds
from engine.core.errors import RequestError
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


WORDS = "an image of plain white, or whose place is empty"
MOMENTS = Witness(words=WORDS, pair=white, seeds=own_seeds)
"""For releases of moments; replicas of one seed would share their draws."""
BATCHES = Witness(words=WORDS, pair=white_drawn)
"""For noisy sums of batches."""
