"""Attacks a training function that nobody has declared: claimed against attacked, nothing proved.

First witnesses are tried, then tests are learned, each on trainings of their own; then new
trainings are guessed one pair after the other, and the claim is refuted as soon as the evidence
allows it (`engine.yours.evidence`). The bound holds whenever one stops.
"""

import math
import os
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from engine.core.errors import RequestError
from engine.yours import evidence
from engine.yours.claim import Claim, read
from engine.yours.evidence import KINDS, Counts
from engine.yours.guessing import Test, learned, tame
from engine.yours.trainings import (
    FailedError,
    Fit,
    Floats,
    Here,
    ProcessEndedError,
    Told,
    Trainer,
    TrainingError,
    beside,
    function,
)
from engine.yours.witnesses import Candidate, candidates

CONFIDENCE = 0.95
SEARCH, LEARN = 0.2, 0.25
"""Shares of the time for finding a witness and for learning tests."""
TRIED, PILOT, FEWEST = 16, (64, 512), 4
"""Pairs for each witness that is tried; from which tests are learned, at least and at most; and at
least where the time is short."""
SURE = 0.05
"""A test that gains so much for each pair needs no further learning."""
MOST = 200_000
"""More pairs than this are not trained."""
CONSTANT = (
    "but this attack shows nothing: all trainings in one process gave the same numbers, with the "
    "record and without it, so the function may keep the result of an earlier call"
)
"""What to say of a function whose numbers neither records nor noise change."""


@dataclass(frozen=True)
class Refused:
    """A record with which a function failed.

    Attributes:
        record: What it is, in words.
        failed: Trainings with it that failed.
        trainings: All trainings with it.
    """

    record: str
    failed: int
    trainings: int


@dataclass
class Same:
    """Whether each process gives the same numbers in all trainings.

    Attributes:
        first: By process, the features' names and their values in its first training.
        alike: Whether all trainings so far have those of their process.
        repeated: Whether any process has trained more than one pair.
    """

    first: dict[int, tuple[tuple[str, ...], Floats]] = field(default_factory=dict)
    alike: bool = True
    repeated: bool = False

    def also(self, told: Told) -> None:
        """Looks at the trainings of one process."""
        self.repeated |= told.process in self.first or len(told) > 1
        names, row = self.first.setdefault(told.process, (told.names, told.present[0]))
        both = np.concatenate([told.present, told.absent])
        same = names == told.names and all(np.array_equal(one, row, equal_nan=True) for one in both)
        self.alike &= same

    @property
    def shown(self) -> bool:
        """Whether they do, and enough was trained to say so: one pair shares its noise."""
        return self.alike and self.repeated


@dataclass(frozen=True, kw_only=True)
class Attacked:
    """What the attack on a training function showed so far.

    Attributes:
        claim: What is claimed.
        attacked: The largest ε at the claim's δ, or μ, that is refuted; 0 where none is.
        could_show: What a perfect attack with as many pairs would show; 0 where `constant`.
        broken: Whether the claim is refuted.
        confidence: Probability with which all bounds hold, at every moment.
        pairs: Pairs of trainings that were guessed.
        learned_from: Pairs of trainings before them, which are not scored.
        witness: The record that was added or put in another's place.
        statistics: The scores that were guessed by, the best first.
        right: Share of right guesses of the best one.
        seconds: How long it took.
        constant: Whether all trainings in one process gave the same numbers.
        failed: Records with which the function failed, while it never failed without them.
        without: Trainings without these.
    """

    claim: Claim
    attacked: float
    could_show: float
    broken: bool
    confidence: float
    pairs: int
    learned_from: int
    witness: str
    statistics: tuple[str, ...]
    right: float
    seconds: float
    constant: bool = False
    failed: tuple[Refused, ...] = ()
    without: int = 0

    @property
    def sentence(self) -> str:
        """What it came to, and with which records the function failed."""
        what, sees = self.claim.symbol, "an attacker who sees what is published"
        stated = f"{what} = {self.claim.level:g} is claimed"
        least = math.floor(100 * self.attacked + 1e-9) / 100
        shows = f"and {sees} shows at least {what} = {least:.2f}"
        if self.broken:
            return f"Broken: {stated}, {shows}.{self._blames}"
        perfect = (
            f" (a perfect attack with {self.pairs} pairs of trainings could show "
            f"{self.could_show:.2f})"
        )
        said = CONSTANT if self.constant else f"{shows}{perfect}"
        proved = "Nothing is proved, since nothing was declared."
        return f"Not refuted: {stated}, {said}. {proved}{self._blames}"

    @property
    def _blames(self) -> str:
        """What failing tells, as a sentence after another; empty where it tells nothing."""
        if not self.failed:
            return ""
        failed, count = (sum(getattr(o, n) for o in self.failed) for n in ("failed", "trainings"))
        records = " or ".join(f'"{one.record}"' for one in self.failed)
        tells = ": failing tells that the record is there" if 2 * failed >= count else ""
        return (
            f" It failed in {failed:,} of {count:,} trainings with a record {records}, and in none "
            f"of {self.without:,} without such a record{tells}."
        )

    def json(self) -> dict[str, Any]:
        """As JSON values."""
        claim = vars(self.claim)
        own = {name: value for name, value in vars(self).items() if name != "claim"}
        own["failed"] = [vars(one) for one in self.failed]
        return {"claim": claim, **own, "sees": "published", "proved": None, "said": self.sentence}


Report = Callable[[Attacked], None]


def audit_function(
    fit: Fit | str,
    data: Any,
    claim: Claim | str,
    *,
    witness: Any = None,
    seconds: float = 60.0,
    pairs: int = MOST,
    processes: int = 0,
    report: Report = lambda so_far: None,
) -> Attacked:
    """Attacks a training function and says what the attack shows.

    Args:
        fit: The function `fit(records, rng) -> arrays`, or "file.py::function". It takes its
            randomness from `rng`, a numpy Generator.
        data: Records, one row each, as a pandas DataFrame or a numeric array.
        claim: As "epsilon=1,delta=1e-5", "mu=0.5", with ",relation=replace_one" where a record is
            replaced instead of added, or ",relation=zero_out_one" where its place is left empty and
            the number of records is public.
        witness: The record to attack with; None to look for one.
        seconds: Time for all of it; it ends earlier once the claim is refuted, and later where
            about six pairs of trainings take longer.
        pairs: Pairs of trainings that are scored at most.
        processes: Side by side, for a function in a file; 0 for one on each core.
        report: Called with what is known so far.

    Raises:
        RequestError: An argument that does not fit.
        TrainingError: The function fails.
    """
    stated = read(claim) if isinstance(claim, str) else claim
    if not 0.0 < seconds < math.inf:
        raise RequestError(f"seconds: expected a time above 0, got {seconds!r}")
    for name, count, least in (("pairs", pairs, 1), ("processes", processes, 0)):
        if count < least:
            raise RequestError(f"{name}: expected a whole number from {least} on, got {count!r}")
    tried = candidates(data, stated.relation, witness)
    last: Attacked | None = None
    with _trainer(fit, tried, processes) as trainer:
        for last in _attack(trainer, tried, stated, seconds, pairs):
            report(last)
    assert last is not None  # the first part is always scored
    return last


def _trainer(
    fit: Fit | str, tried: list[Candidate], processes: int
) -> AbstractContextManager[Trainer]:
    worlds = [(one.without, one.present) for one in tried]
    numbers = [one.numbers for one in tried]
    if not isinstance(fit, str):
        return nullcontext(Here(fit, worlds, numbers))
    function(fit)  # a file that does not import is said at once
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else 2
    return beside(fit, worlds, numbers, processes or cores)


def _attack(
    trainer: Trainer, tried: list[Candidate], claim: Claim, seconds: float, most: int
) -> Iterator[Attacked]:
    """What is known after each part of the trainings that are scored."""
    began = time.monotonic()
    chosen, number, failed = _found(trainer, tried, began + SEARCH * seconds)
    until, without, same = began + (SEARCH + LEARN) * seconds, number, Same()
    pilot, tests = _learned(trainer, chosen, number, claim, until, same)
    number += len(pilot)
    if not pilot.finite():
        raise TrainingError(f"fit: expected finite numbers, got none in {number} pairs")
    parts: list[Counts] = []
    for part in trainer.pairs(chosen, number, most):
        alike = part.by(pilot.names)
        parts.append(np.stack([test.guesses(alike).counts for test in tests]))
        same.also(part)
        counts = evidence.so_far(parts)
        broken = evidence.refuted(counts, claim, claim.level, CONFIDENCE)
        pairs = int(counts[-1, 0].sum())
        yield Attacked(
            claim=claim, attacked=evidence.bound(counts, claim, CONFIDENCE), broken=broken,
            could_show=0.0 if same.shown else _perfect(pairs, claim), confidence=CONFIDENCE,
            pairs=pairs, constant=same.shown, failed=failed, without=without,
            learned_from=number, witness=tried[chosen].name,
            statistics=tuple(test.name for test in tests), right=_right(counts[-1, 0]),
            seconds=time.monotonic() - began,
        )  # fmt: skip
        if broken or time.monotonic() - began > seconds:
            return


def _found(
    trainer: Trainer, tried: list[Candidate], until: float
) -> tuple[int, int, tuple[Refused, ...]]:
    """The witness that is told best, the number of the next pair, and where the function failed.

    All witnesses have the table without them in common. Where the function fails without one too,
    it fails by chance, and that tells of no record.
    """
    if len(tried) == 1:
        return 0, 0, ()
    gains: dict[int, float] = {}
    failed, chance = list[Refused](), False
    number, problem = 0, TrainingError("fit: expected it to return arrays")
    for one in range(len(tried)):
        if gains and time.monotonic() > until:
            break
        try:
            told = _tried(trainer, one, number, until)
        except ProcessEndedError:
            raise
        except TrainingError as error:  # a record beyond the bounds may be refused
            problem = error
            if isinstance(error, FailedError):
                bad, count, also = _failing(trainer, one, number, until)
                failed.append(Refused(tried[one].name, bad, count))
                chance |= also or not error.alone
            continue
        number += len(told)
        gains[one] = _apart(told)
    if not gains:
        raise problem
    best = max(gains, key=gains.__getitem__)
    return best, number, () if chance else tuple(failed)


def _failing(trainer: Trainer, one: int, number: int, until: float) -> tuple[int, int, bool]:
    """Of trainings with a witness how many fail, all of them, and whether one without it fails."""
    failed, count, chance = 0, 0, False
    while count < TRIED and (not count or time.monotonic() < until):
        try:
            list(trainer.pairs(one, number + count, 1))
        except FailedError as error:
            failed += 1
            chance |= not error.alone
        count += 1
    return failed, count, chance


def _tried(trainer: Trainer, one: int, number: int, until: float) -> Told:
    """Trainings with a witness that is tried, fewer where the time is short."""
    parts: list[Told] = []
    for part in trainer.pairs(one, number, TRIED):
        parts.append(part)
        if time.monotonic() > until:
            break
    return Told.joined(parts)


def _apart(told: Told) -> float:
    """How far apart the worlds are: the largest difference of a feature's means in deviations."""
    present, absent = tame(told.present), tame(told.absent)
    spread = np.sqrt(0.5 * (present.var(axis=0) + absent.var(axis=0)))
    gap = np.abs(present.mean(axis=0) - absent.mean(axis=0))
    scale = np.maximum(np.abs(absent).max(axis=0), 1e-300)
    far = np.where(gap > 1e-9 * scale, gap / np.maximum(spread, 1e-12 * scale), 0.0)
    return float(far.max(initial=0.0))


def _learned(
    trainer: Trainer, chosen: int, number: int, claim: Claim, until: float, same: Same
) -> tuple[Told, list[Test]]:
    """Tests, and the trainings that they were learned from.

    They are learned again from twice as many while that ends in time: it takes twice as long.
    """
    parts: list[Told] = []
    least, most = PILOT
    due = least
    for part in trainer.pairs(chosen, number, most):
        parts.append(part)
        same.also(part)
        count, began = sum(map(len, parts)), time.monotonic()
        late = began > until and count >= FEWEST
        if count < due and not late:
            continue
        pilot, due = Told.joined(parts), 2 * count
        tests = learned(pilot, claim)
        sure = tests and evidence.gain(tests[0].guesses(pilot), claim) > (1.0, SURE)
        now = time.monotonic()
        if sure or late or count >= most or now + 2.0 * (now - began) > until:
            break
    return pilot, tests or [Test("nothing differs", lambda rows: np.zeros(len(rows)), 1.0)]


def _right(counts: Counts) -> float:
    """The share of right guesses: of two in each pair."""
    right = counts @ (KINDS[:, 0] + 1.0 - KINDS[:, 1])
    return float(right / (2.0 * counts.sum()))


def _perfect(pairs: int, claim: Claim) -> float:
    """What an attack that is always right would show with so many pairs."""
    always = np.array([[[0, 0, pairs, 0]]])
    return evidence.bound(always, claim, CONFIDENCE)
