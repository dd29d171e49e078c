"""One training in an audit and its replay on the other data set, with what is attacked.

Beside a training runs a replay on the other data set, which is handed the same noisy outputs, so
that both hold the same state and differ in values before noise alone.
"""

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import torch

from datasets.base import Table
from engine.audit import statistics
from engine.audit.witness import Pair, Witness, check, load
from engine.core.batch import Batch
from engine.core.gauges import unmeasured
from engine.core.spec import Spec
from engine.method import Entry
from engine.privacy.mechanisms import Exposed
from engine.privacy.recording import Recorded, recording, replaying
from engine.privacy.releases import BEFORE, Release, active

TOGETHER = 250
"""Replicas of one world that are trained together at most: the bound climbs while one looks."""
PILOT = 10
"""Trainings from which the witness's usual length is taken; they are not scored."""


@dataclass(frozen=True, eq=False)
class Setting:
    """What is attacked.

    Attributes:
        entry: The method.
        spec: The setting of every replica.
        pair: The two data sets.
        witness: What the paper says about them.
        device: Where replicas train.
    """

    entry: Entry[Any]
    spec: Spec
    pair: Pair
    witness: Witness[Any]
    device: str = "cpu"

    @classmethod
    def of(cls, entry: Entry[Any], spec: Spec, data: Table, device: str = "cpu") -> "Setting":
        """The setting with its witness made and checked.

        Raises:
            RequestError: The method has no witness, or it lies outside public bounds.
        """
        witness = load(entry)
        return cls(entry, spec, check(witness.pair(spec, data), data), witness, device)

    @property
    def together(self) -> int:
        """Replicas of one world that train together."""
        chunk = self.entry.chunk(self.spec, len(self.pair.without), self.device)
        return max(1, min(TOGETHER, chunk))

    @cached_property
    def declared(self) -> tuple[Release, ...]:
        """What the method declares to release on so many records."""
        return self.entry.releases(self.spec, len(self.pair.without))

    @cached_property
    def stages(self) -> range:
        """The start and the steps up to the last release, or all where something leaves unproved.

        What follows from releases alone tells an attacker who saw them nothing more.
        """
        every = range(BEFORE, self.entry.steps(self.spec, len(self.pair.without)))
        exposed = any(isinstance(release.mechanism, Exposed) for release in self.declared)
        if exposed or not self.witness.recorded:
            return every
        last = max((stage for stage in every if active(self.declared, stage)), default=every[-1])
        return range(BEFORE, last + 1)

    @property
    def recorded(self) -> bool:
        """Whether a likelihood ratio of releases is known, which takes a replay."""
        noisy = any(not isinstance(release.mechanism, Exposed) for release in self.declared)
        return self.witness.recorded and noisy

    @property
    def paired(self) -> bool:
        """Whether a training with the witness is judged together with one without.

        Others are judged by the rates of one threshold alone: networks as printed or as released.
        They shuffle the records that are there, so their worlds draw different orders, and noise
        that is drawn after a shuffle would be shared with another pair's.
        """
        return self.recorded or bool(self.witness.ratio)

    @property
    def whole(self) -> bool:
        """Whether trainings reach their final state, so that it can be scored."""
        return self.stages.stop == self.entry.steps(self.spec, len(self.pair.without))

    @cached_property
    def rates(self) -> Mapping[int, float]:
        """The chance of a record to be in the releases of each stage."""
        rates = {}
        for stage in self.stages:
            own = {release.rate for release in active(self.declared, stage)}
            usual = self.witness.rate(self.spec, len(self.pair.without))
            rates[stage] = own.pop() if len(own) == 1 else usual
        return rates

    @cached_property
    def lengths(self) -> Mapping[int, float]:
        """How much the witness usually changes a stage where it is drawn, in sensitivities.

        An attacker does not see whether the witness was drawn, so the score supposes a length. It
        comes from trainings of its own, `PILOT` with the witness, and is the same in both worlds.
        Taken from the trainings that are scored it would differ between the worlds by more than one
        output shows, and would tie the trainings of a chunk together: no bound would hold.
        """
        if self.pair.echo is None or min(self.rates.values()) >= 1.0:
            return {}
        batch = batch_of(self, min(PILOT, self.together))
        runs = trainings(self, batch, 1, seed_of(self, -PILOT, 1))[:2]
        lengths, last = {}, 1.0
        with unmeasured(), torch.no_grad():
            for stage, released, (others,) in stages_of(self, runs):
                both = zip(released, others, strict=True)
                far = torch.cat([torch.zeros(1), *(statistics.apart(a, b) for a, b in both)])
                if bool((far > 0.0).any()):  # else nobody drew it: as long as it was
                    last = float(far[far > 0.0].median())
                lengths[stage] = last
        return lengths


Stage = tuple[int, Sequence[Recorded], list[list[Recorded]]]


def stages_of(setting: Setting, runs: "Sequence[Training]") -> Iterator[Stage]:
    """Trains the first run; each stage, its releases, and those of the other runs' replays."""
    for stage in setting.stages:
        with recording() as seen:
            runs[0].advance(stage)
        yield stage, seen.releases, [_replayed(run, stage, seen) for run in runs[1:]]


def _replayed(run: "Training", stage: int, seen: Any) -> list[Recorded]:
    with replaying(seen.releases) as again:
        run.advance(stage)
    return list(again.releases)


def batch_of(setting: Setting, count: int) -> Batch[Any]:
    """The replicas that train together."""
    return Batch(setting.spec, (setting.spec,) * count, setting.witness.seeds(count))


def trainings(setting: Setting, batch: Batch[Any], world: int, seed: int) -> "list[Training]":
    """The run that counts; the replay on the other data set; the replay on the echo."""
    pair = setting.pair
    tables = [(pair.without, pair.present), (pair.present, pair.without)][world]
    wanted: list[Table] = [tables[0]]
    if setting.recorded:
        wanted.append(tables[1])
        if pair.echo is not None:
            wanted.append(pair.echo)
    return [Training(setting, batch, table, seed) for table in wanted]


class Training:
    """One training of a chunk of replicas on one data set."""

    def __init__(self, setting: Setting, batch: Batch[Any], table: Table, seed: int) -> None:
        self.method, self.batch, self.table = setting.entry.load(), batch, table
        self.rng = torch.Generator(setting.device).manual_seed(seed)
        self.state: Any = None

    def advance(self, stage: int) -> None:
        """The start, for the stage before the first step, or one step."""
        if stage == BEFORE:
            self.state = self.method.init(self.batch, self.table, self.rng)
        else:
            self.state, _ = self.method.step(self.batch, self.table, self.state, self.rng)


def seed_of(setting: Setting, start: int, world: int) -> int:
    """A seed for one chunk, spread by a hash.

    Where trainings are pairs, both worlds have the same: they share all that is drawn and differ by
    the witness alone. Each is distributed as it would be by itself.
    """
    text = f"{setting.entry.name}/{setting.spec.values()}/{len(setting.pair.without)}/{start}"
    own = "" if setting.paired else f"/{world}"
    digest = hashlib.sha256(f"audit/{text}{own}".encode()).digest()
    return int.from_bytes(digest[:7], "big")
