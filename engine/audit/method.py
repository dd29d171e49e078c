"""Runs an audit as the loop runs any method: a step trains a share of the replicas and judges."""

from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Generator, Tensor

from datasets.base import Table
from engine.audit import limits
from engine.audit.bounds import Scores, reachable
from engine.audit.measures import CHOSEN, STEPS, Attacked
from engine.audit.report import CONFIDENCE, Audit, so_far, summary
from engine.audit.runner import Collected, train
from engine.audit.tradeoff import curves
from engine.audit.training import Setting
from engine.core.batch import Batch
from engine.method import Arrays, Entry
from engine.privacy.guarantee import Guarantee


@dataclass(frozen=True, eq=False)
class State:
    """What trainings have shown.

    Attributes:
        setting: What is attacked.
        card: Its guarantee.
        scores: By statistic, of trainings without and with the witness.
        reach: Largest change before noise over the sensitivity.
        taken: Steps taken.
    """

    setting: Setting
    card: Guarantee
    scores: dict[str, tuple[tuple[Tensor, ...], tuple[Tensor, ...]]]
    reach: float
    taken: int

    def collected(self) -> Collected:
        """All scores so far."""
        joined = {
            name: Scores(*(_numbers(parts) for parts in both)) for name, both in self.scores.items()
        }
        return Collected(joined, self.reach)


def _numbers(parts: tuple[Tensor, ...]) -> NDArray[np.float64]:
    """One array; a training that diverged scores 0, which is no sign of the witness."""
    joined: NDArray[np.float64] = torch.cat(list(parts)).double().cpu().numpy()
    return np.nan_to_num(joined, nan=0.0)


class AuditMethod:
    """The audit of one method, as a method."""

    def __init__(self, inner: Entry[Any]) -> None:
        self.inner = inner

    def init(self, batch: Batch[Any], data: Table, rng: Generator) -> State:
        """Makes the witness and checks it against the public bounds."""
        setting = Setting.of(self.inner, batch.spec, data, str(rng.device))
        card = self.inner.guarantee(batch.spec, len(data), data.card.record)
        return State(setting, card, {}, float("nan"), 0)

    def step(
        self, batch: Batch[Any], data: Table, state: State, rng: Generator
    ) -> tuple[State, Attacked | None]:
        """Trains a share of the replicas with the witness, and as many without."""
        start, end = (len(batch) * k // STEPS for k in (state.taken, state.taken + 1))
        state = replace(state, taken=state.taken + 1)
        scores, reach = dict(state.scores), state.reach
        for first in range(start, end, state.setting.together):
            count = min(state.setting.together, end - first)
            for world in (0, 1):
                trained, far = train(state.setting, world, count, first)
                reach = float(np.fmax(reach, far))
                for name, score in trained.items():
                    both = scores.get(name, ((), ()))
                    own = (*both[world], score)
                    scores[name] = (own, both[1]) if world == 0 else (both[0], own)
        state = replace(state, scores=scores, reach=reach)
        if end == 0 or reachable(end, state.card.delta, CONFIDENCE) <= 0.0:
            return state, None
        collected = state.collected()
        shown = _info(summary(state.card, state.setting, collected), len(batch))
        if end == len(batch):
            return state, shown
        early = so_far(state.card, state.setting, collected, len(batch))
        return state, None if early is None else _early(shown, early)

    def products(self, batch: Batch[Any], data: Table, state: State) -> Arrays:
        """What the page draws.

        Returns:
            `without` and `present` (R,), the scores of the statistic that was chosen, whose name
            follows `CHOSEN` in an array of ones;
            `alarms`, `misses`, `misses_low`, `misses_high` and `misses_proved` (R, points), the
            trade-off; `reach` (R,); and the numbers of `Audit` in (R,) each, NaN for none.
        """
        collected = state.collected()
        audit = summary(state.card, state.setting, collected)
        chosen = collected.scores[audit.statistic]
        curve = curves(chosen, CONFIDENCE, partial(_misses, state))
        names = (
            "epsilon_attacked",
            "mu_attacked",
            "mu_proved",
            "right",
            "allowed",
            "reach",
            "exact",
            "by_curve",
            "judged",
        )
        numbers = {name: _or_nan(getattr(audit, name)) for name in names}
        return {
            "without": chosen.without,
            "present": chosen.present,
            f"{CHOSEN}{audit.statistic}": np.ones(len(batch)),
            **{name: np.tile(line, (len(batch), 1)) for name, line in curve.items()},
            **{name: np.full(len(batch), number) for name, number in numbers.items()},
        }


def _misses(state: State, alarms: NDArray[np.float64]) -> NDArray[np.float64]:
    """What the card of the attacked method allows."""
    setting = state.setting
    releases = setting.declared
    width = setting.witness.width(setting.spec, setting.pair)
    return limits.fewest_misses(alarms, state.card, releases, width)


def _or_nan(number: float | None) -> float:
    return float("nan") if number is None else number


def _early(shown: Attacked, early: tuple[float, float]) -> Attacked:
    """What is shown while trainings come in: bounds that are valid whenever somebody stops."""
    epsilon, mu = (np.full(len(shown.right), number) for number in early)
    return replace(shown, epsilon_attacked=epsilon, mu_attacked=mu)


def _info(audit: Audit, count: int) -> Attacked:
    numbers = (audit.epsilon_attacked, audit.mu_attacked or 0.0, audit.right, audit.replicas)
    return Attacked(*(np.full(count, float(number)) for number in numbers))
