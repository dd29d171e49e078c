r"""Worst cases of the survival methods: two persons whom a private fit must not tell apart.

Everybody but one has average covariates and the event at once, so the baseline is high: with
hazards near 1 the gradient of a person who survives is near the largest there is, and there is
little curvature but the regularisation's. The witness survives to the horizon with every covariate
at its upper bound; in the other data set with every covariate at its lower bound.
"""

from dataclasses import replace
from functools import lru_cache

import numpy as np
from torch import Tensor

from datasets.base import SurvivalTable, Table
from engine.audit.witness import Pair, Witness, survival_limits
from engine.core.batch import Batch
from engine.core.errors import RequestError
from engine.papers.survival.spec import SurvivalSpec

WORDS = (
    "a person who survives to the horizon with every covariate at its upper bound, or at its lower "
    "bound in the other data set; everybody else has middling covariates and the event at once"
)


def mirrored(spec: SurvivalSpec, data: Table) -> Pair:
    """The pair at the size and the bounds of a table.

    Raises:
        RequestError: The table holds no durations.
    """
    if not isinstance(data, SurvivalTable):
        raise RequestError(f"dataset: expected durations, got the labels of {data.card.name}")
    return _mirrored(data)


@lru_cache(maxsize=4)
def _mirrored(data: SurvivalTable) -> Pair:
    low, high = survival_limits(data)
    horizon = float(data.time.max())
    n = len(data)
    x, time = np.repeat(0.5 * (low + high)[None], n, 0), np.full(n, 1e-3 * horizon)
    event = np.ones(n, bool)
    time[0], event[0] = horizon, False
    card = replace(data.card, events=n - 1)
    tables = []
    for extreme in (low, high):
        own = x.copy()
        own[0] = extreme
        tables.append(SurvivalTable(card, own, time, event))
    return Pair(tables[0], tables[1])


def slope(batch: Batch[SurvivalSpec], pair: Pair, state: object) -> Tensor:
    """How far the released coefficients lie towards the witness, shape (R,)."""
    released: Tensor = state.f  # type: ignore[attr-defined]  # every state of this paper has f
    return -released[:, batch.spec.knots :].sum(1)


OUTPUT = Witness(words=WORDS, pair=mirrored, scores={"sum of the coefficients": slope})
"""For methods that add noise to their answer."""
DESCENT = Witness(words=WORDS, pair=mirrored, scores={"sum of the coefficients": slope})
