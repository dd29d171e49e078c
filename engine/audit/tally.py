"""Adds up what releases and their replays say of the witness."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import torch
from torch import Tensor

from engine.audit import statistics
from engine.audit.training import Setting
from engine.privacy.recording import Recorded

LIKELIHOOD = "likelihood ratio of the releases"
DIGITS = "last digits of the noise"
READ = 2**17
"""Numbers of a training whose last digits are looked at: noise in single precision has 256 rare
pairs among them, and more would take longer than the noise itself."""


@dataclass(eq=False)
class Tally:
    """Adds up what the releases say.

    Attributes:
        setting: What is attacked.
        world: 1 where the run that counts has the witness.
        count: Replicas R.
        scores: By the statistic's name, shape (R,) each.
        reach: Largest change by the witness so far, over its sensitivity.
        read: Numbers of a training whose last digits were looked at so far.
    """

    setting: Setting
    world: int
    count: int
    scores: dict[str, Tensor] = field(default_factory=dict)
    reach: float = float("nan")
    read: int = 0

    def add(
        self, stage: int, released: Sequence[Recorded], replays: Sequence[Sequence[Recorded]]
    ) -> None:
        """The releases of one stage, and the same of the replays."""
        rate = self.setting.rates[stage]
        singles = [i for i, one in enumerate(released) if len(one.mechanisms) == 1]
        for number, whole in enumerate(released):
            one, other = (
                statistics.joined(whole),
                statistics.joined(replays[0][number], heard=False),
            )
            without, present = (other, one) if self.world else (one, other)
            self.reach = float(np.fmax(self.reach, float(statistics.apart(one, other).max())))
            added = statistics.gain(without, present)
            if rate < 1.0 and len(replays) > 1:
                heard = statistics.joined(replays[1][number], heard=False)
                added = statistics.echo(heard, self.setting.lengths[stage])
            base = tuple(value.double() for value in without.values)
            ratio = statistics.likelihood(one, base, added, rate)
            place = self._place(number, singles)
            self._note(LIKELIHOOD, ratio, place)
            if self.read < READ:
                self.read += base[0].shape[1]
                self._note(DIGITS, statistics.lattice(one, base, present.values), place)

    def _place(self, number: int, singles: Sequence[int]) -> slice:
        """Whose release it is: all replicas', or, where each makes its own in turn, one's."""
        if self.count == 1 or number not in singles:
            return slice(None)
        row = singles.index(number) * self.count // len(singles)
        return slice(row, row + 1)

    def _note(self, name: str, score: Tensor, place: slice) -> None:
        kept = self.scores.setdefault(name, torch.zeros(self.count, dtype=torch.float64))
        kept[place] += score.double().cpu()
