"""The worst case of a behaviour model: a user of extremes whom many others are friends with."""

from dataclasses import replace
from typing import Any

import numpy as np
import torch
from torch import Tensor

from datasets.base import PanelTable, Table
from engine.audit.witness import Pair, Witness
from engine.core.batch import Batch
from engine.core.errors import RequestError
from engine.papers.yesiwell import answers, encoder, gradient, measure, network, rigorous
from engine.papers.yesiwell.spec import YesiwellSpec
from engine.papers.yesiwell.windows import panel


def sociable(spec: YesiwellSpec, data: Table) -> Pair:
    """The user with the most friends, with every attribute at its upper bound and always active.

    In the other data set the user's windows count in no sum and the user adds nothing to friends'
    terms.

    Raises:
        RequestError: It is no panel, or windows are protected one by one.
    """
    own = panel(data, spec)
    if spec.unit == "window":
        raise RequestError("unit: expected a user to leave out, got windows one by one")
    who = int(np.bincount(own.friends.ravel(), minlength=len(own)).argmax())
    x, y = np.array(own.x), np.array(own.y)
    x[who], y[who] = np.asarray(own.bounds[1], np.float32), 1
    present = replace(own, x=x, y=y, again=None)
    every = replace(present, x=np.broadcast_to(x[who], x.shape), y=np.ones_like(y))
    return Pair(replace(present, left_out=(who,)), present, every)


def familiar(batch: Batch[YesiwellSpec], pair: Pair, state: Any) -> Tensor:
    """The final model's mean log odds that the user is active on later days, shape (R,)."""
    assert isinstance(pair.without, PanelTable)
    (who,) = pair.without.left_out
    scored = _scored(batch, state)
    means = [
        z[sample.test.user == who].mean()
        for z, sample in zip(scored.scores, scored.samples, strict=True)
    ]
    return torch.stack(means).double()


def _scored(batch: Batch[YesiwellSpec], state: Any) -> measure.Scored:
    """The test scores of whatever method's state it is."""
    if isinstance(state, rigorous.State):
        return answers.scored(batch, state)
    if isinstance(state.groups[0], network.Group):
        return network.scored(batch, state)
    method = encoder.METHOD if isinstance(state.groups[0], encoder.Group) else gradient.METHOD
    return method.scored(batch, state)


def rate(spec: YesiwellSpec, n: int) -> float:
    """Where a method draws batches, each user is in one by a coin."""
    return spec.sample_rate


WORDS = (
    "the user with the most friends, with every attribute at its upper bound and active all the "
    "time, or whose place is empty"
)
SOCIABLE = Witness(
    words=WORDS,
    pair=sociable,
    scores={"what the final model says of the user's later days": familiar},
    rate=rate,
)
