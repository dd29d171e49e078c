"""The worst case of a behaviour model: a user of extremes whom many others are friends with."""

import math
from dataclasses import replace
from typing import Any

import numpy as np
import torch
from torch import Tensor

from datasets.base import PanelTable, Table
from engine.audit.witness import DRAWN, Pair, Witness
from engine.core.batch import Batch
from engine.core.errors import RequestError
from engine.papers.dbn.yesiwell import answers, gradient, measure, output, rigorous
from engine.papers.dbn.yesiwell.spec import YesiwellSpec
from engine.papers.dbn.yesiwell.windows import panel


def sociable(spec: YesiwellSpec, data: Table) -> Pair:
    """The user with the most friends, with every attribute at its upper bound and always active.

    In the other data set the user's windows count in no sum and the user adds nothing to friends'
    terms. Who is no friend of the user's is left out of both, since nothing of theirs depends on
    the user.

    Raises:
        RequestError: It is no panel, or windows are protected one by one.
    """
    own = panel(data, spec)
    who = _most_friends(own, spec)
    ends = own.friends[(own.friends == who).any(axis=1)]
    return _pair(own, who, {who, *ends.ravel().tolist()}, spec.sample_rate)


def alone(spec: YesiwellSpec, data: Table) -> Pair:
    """The same user, and nobody else where noise is proved: for methods that look at no friends.

    Raises:
        RequestError: It is no panel, or windows are protected one by one.
    """
    if spec.calibration != "rigorous":
        return sociable(spec, data)
    own = panel(data, spec)
    who = _most_friends(own, spec)
    return _pair(own, who, {who}, spec.sample_rate)


def _most_friends(own: PanelTable, spec: YesiwellSpec) -> int:
    if spec.unit == "window":
        raise RequestError("unit: expected a user to leave out, got windows one by one")
    return int(np.bincount(own.friends.ravel()).argmax())


def _pair(own: PanelTable, who: int, kept: set[int], rate: float) -> Pair:
    """The user who is left out or not, among those who are kept; and the user in many places."""
    x, y = np.array(own.x), np.array(own.y)
    x[who], y[who] = np.asarray(own.bounds[1], np.float32), 1
    gone = tuple(sorted(set(range(len(own))) - kept))
    present = replace(own, x=x, y=y, again=None, left_out=gone)
    some = tuple(range(math.ceil(DRAWN / rate), len(own)))
    wide = np.broadcast_to(x[who], x.shape)
    every = replace(present, x=wide, y=np.ones_like(y), left_out=some)
    return Pair(replace(present, left_out=(*gone, who)), present, every)


def familiar(batch: Batch[YesiwellSpec], pair: Pair, state: Any) -> Tensor:
    """The final model's mean log odds that the user is active on later days, shape (R,)."""
    assert isinstance(pair.without, PanelTable)
    assert isinstance(pair.present, PanelTable)
    (who,) = set(pair.without.left_out) - set(pair.present.left_out)
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
    if isinstance(state.groups[0], output.Headed):
        return output.scored(state.groups)
    return gradient.METHOD.scored(batch, state)


def rate(spec: YesiwellSpec, n: int) -> float:
    """Where a method draws batches, each user is in one by a coin."""
    return spec.sample_rate


WORDS = (
    "the user with the most friends, with every attribute at its upper bound and active all the "
    "time, or whose place is empty; so are those of all who are no friends, which the attacker may "
    "choose"
)
SOCIABLE = Witness(
    words=WORDS,
    pair=sociable,
    scores={"what the final model says of the user's later days": familiar},
    rate=rate,
)
ALONE = Witness(
    words="a user with every attribute at its upper bound and active all the time, or whose place "
    "is empty; all other places are empty too, which the attacker may choose",
    pair=alone,
    scores={"what the final model says of the user's later days": familiar},
    rate=rate,
)
"""For methods that look at one user at a time."""
