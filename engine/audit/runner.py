"""Trains replicas with and without the witness and scores them, chunk by chunk.

In each of the two worlds the method runs as it always does (`engine.audit.training`).
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from engine.audit.bounds import Scores
from engine.audit.tally import Tally
from engine.audit.training import TOGETHER, Setting, batch_of, seed_of, stages_of, trainings
from engine.core.gauges import unmeasured
from engine.training.spread import spread


@dataclass(frozen=True, eq=False)
class Collected:
    """Scores of the trainings so far.

    Attributes:
        scores: By the name of the statistic.
        reach: Largest change of a value before noise that the witness caused, in units of the
            sensitivity that is priced; NaN where no value is recorded.
    """

    scores: Mapping[str, Scores]
    reach: float

    @property
    def trainings(self) -> int:
        """Trainings of each kind."""
        return min((len(s.present) for s in self.scores.values()), default=0)


def attack(
    setting: Setting, replicas: int, together: int = TOGETHER, first: int = 0
) -> Iterator[Collected]:
    """Trains `replicas` with the witness and as many without; all scores after each chunk.

    Args:
        setting: What is attacked.
        replicas: Trainings of each kind.
        together: Those that run together at most.
        first: Number of the first; another one has noise of its own.
    """
    size = min(setting.together, replicas, together)
    parts: dict[str, tuple[list[Tensor], list[Tensor]]] = {}
    reach = float("nan")
    for start in range(first, first + replicas, size):
        count = min(size, first + replicas - start)
        for world, (scores, far) in enumerate(_worlds(setting, count, start)):
            reach = float(np.fmax(reach, far))
            for name, score in scores.items():
                parts.setdefault(name, ([], []))[world].append(score)
        yield Collected({name: _joined(*both) for name, both in parts.items()}, reach)


Scored = tuple[dict[str, Tensor], float]


def _worlds(setting: Setting, count: int, start: int) -> tuple[Scored, Scored]:
    """The trainings without and with the witness, side by side: neither needs the other's."""
    found: dict[int, Scored] = {}

    def trained(world: int) -> None:
        found[world] = train(setting, world, count, start)

    spread(trained, (0, 1))
    return found[0], found[1]


def _joined(without: Sequence[Tensor], present: Sequence[Tensor]) -> Scores:
    """Scores of all chunks; a training that diverged scores 0, which is no sign of the witness."""
    arrays = [
        np.nan_to_num(torch.cat(list(parts)).double().cpu().numpy(), nan=0.0)
        for parts in (without, present)
    ]
    return Scores(arrays[0], arrays[1])


def train(setting: Setting, world: int, count: int, start: int = 0) -> Scored:
    """Scores of `count` trainings without (0) or with (1) the witness, by the statistic's name.

    Args:
        setting: What is attacked.
        world: 1 with the witness.
        count: Replicas.
        start: Number of the first; it names their noise.

    Returns:
        The scores, shape (count,) each, and the witness's largest reach.
    """
    batch = batch_of(setting, count)
    runs = trainings(setting, batch, world, seed_of(setting, start, world))
    tally = Tally(setting, world, count)
    with unmeasured(), torch.no_grad():
        for stage, released, replays in stages_of(setting, runs):
            if replays:
                tally.add(stage, released, replays)
        for name, score in setting.witness.scores.items() if setting.whole else ():
            if (values := score(batch, setting.pair, runs[0].state)) is not None:
                tally.scores[name] = values.double().cpu()
    return tally.scores, tally.reach
