"""The attacker who sees what is published and nothing else, and what the other one may add up.

An attacker who sees every release computes a likelihood ratio from their values before noise. One
who sees the published arrays and measures alone has no such values, but may train as often as they
like on both data sets. From trainings of their own they take each number's mean in both worlds and
its variance, and score further trainings by the ratio that independent normal numbers would have.
The bound judges any score, so it holds whatever the numbers' true distribution is; the score is
best where they are independent and normal.
"""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from datasets.base import Table
from engine.audit.bounds import Scores
from engine.audit.neighbours import changed, lonely
from engine.audit.published import Noting
from engine.audit.runner import Collected
from engine.audit.training import Setting, Training
from engine.core.batch import Batch
from engine.core.errors import ExplorerError, RequestError
from engine.core.gauges import gauges, unmeasured
from engine.core.kept import Declared, released
from engine.method import Entry
from engine.privacy.guarantee import Relation
from engine.privacy.recording import recording, replaying

Floats = NDArray[np.float64]
TOGETHER = "all published numbers"
"""The name of the score that takes all arrays and measures together."""
ALONE = ", one record unlike all others"
"""What follows the name of a score on the second pair."""
OWN = 2
"""The attacker trains on one setting for so many that are judged."""
FLOOR = 1e-9
"""Smallest deviation of a number, relative to its size: what does not vary gives itself away."""


class SharedError(ExplorerError):
    """Releases whose likelihoods must not be added up."""


class UnseenError(ExplorerError):
    """Releases that are declared and that an attack never sees made."""


class EndedError(ExplorerError):
    """A run that breaks off on one of two neighbours: that tells of the records."""


@dataclass(frozen=True, eq=False)
class Known:
    """What an attacker has learned from trainings of their own, for each of d numbers.

    Attributes:
        without: Mean without the witness, shape (d,).
        present: Mean with it, shape (d,).
        variance: In both worlds, shape (d,).
    """

    without: Floats
    present: Floats
    variance: Floats

    @classmethod
    def of(cls, without: Floats, present: Floats) -> "Known":
        """From trainings (R, d) of both kinds."""
        means = without.mean(0), present.mean(0)
        spread = 0.5 * (without.var(0) + present.var(0))
        least = FLOOR * (1.0 + np.abs(means[0]) + np.abs(means[1]))
        return cls(*means, np.maximum(spread, least**2))

    def score(self, seen: Floats) -> Floats:
        """The log likelihood ratio of normal numbers (R, d), shape (R,)."""
        apart = (seen - self.without) ** 2 - (seen - self.present) ** 2
        total: Floats = (apart / (2.0 * self.variance)).sum(1)
        return total


def published(setting: Setting, kept: Declared, replicas: int) -> Collected:
    """Scores of trainings by what they publish.

    Args:
        setting: What is attacked.
        kept: What the arrays of its paper are.
        replicas: Trainings of each kind that are scored; as many again over `OWN` are learned from.

    Raises:
        RequestError: The method publishes no number.
    """
    learn = max(2, replicas // OWN)
    own, later = (
        [_arrays(setting, kept, world, count, first) for world in (0, 1)]
        for count, first in ((learn, 0), (replicas, learn))
    )
    names = [name for name in later[0] if all(name in one for one in (*own, *later))]
    if not names:
        raise RequestError(
            f"sees: expected a method that publishes numbers, got {setting.entry.name}"
        )
    scores = {
        name: _scored([one[name] for one in own], [one[name] for one in later]) for name in names
    }
    if len(names) > 1:
        sums = (
            sum(getattr(one, side) for one in scores.values()) for side in ("without", "present")
        )
        scores[TOGETHER] = Scores(*sums)
    return Collected(scores, float("nan"))


def anywhere(
    setting: Setting, kept: Declared, data: Table, relation: Relation, replicas: int
) -> Collected:
    """The same on a second pair too, in which one record alone makes every maximum (`lonely`).

    A bound or a bin that follows the data moves there, whatever the others do to the witness.

    Args:
        setting: What is attacked.
        kept: What the arrays of its paper are.
        data: The records.
        relation: Which two tables are neighbours.
        replicas: Trainings of each kind that are scored, on each pair.

    Raises:
        EndedError: A run breaks off there, which tells of the records.
    """
    found = published(setting, kept, replicas)
    pair = lonely(data, relation, changed(setting.pair))
    if pair is None:
        return found
    try:
        scores = published(replace(setting, pair=pair), kept, replicas).scores
    except Exception as error:
        raise EndedError(
            f"{setting.entry.name}: expected a run to end alike on neighbours, got "
            f"{type(error).__name__} where one record is unlike all others; see `verify`"
        ) from error
    return replace(found, scores={**found.scores, **{f"{n}{ALONE}": s for n, s in scores.items()}})


def _scored(own: Sequence[Floats], later: Sequence[Floats]) -> Scores:
    known = Known.of(own[0], own[1])
    return Scores(known.score(later[0]), known.score(later[1]))


def _arrays(
    setting: Setting, kept: Declared, world: int, count: int, first: int
) -> Mapping[str, Floats]:
    """What `count` trainings publish, by name: (count, d) each."""
    parts: dict[str, list[Floats]] = {}
    table = (setting.pair.without, setting.pair.present)[world]
    for start in range(first, first + count, setting.together):
        size = min(setting.together, first + count - start)
        for name, numbers in seen(setting, kept, table, size, f"{world}/{start}").items():
            parts.setdefault(name, []).append(numbers)
    return {name: np.concatenate(some) for name, some in parts.items()}


def seen(
    setting: Setting, kept: Declared, table: Table, size: int, name: str
) -> Mapping[str, Floats]:
    """What so many trainings on a table publish: arrays and measures, by name, (size, d) each.

    Args:
        setting: The method and its setting.
        kept: What the arrays of its paper are.
        table: The records.
        size: Trainings, which run together.
        name: Names their noise; no two calls of one attack have the same.
    """
    entry, spec = setting.entry, setting.spec
    text = f"published/{entry.name}/{spec.values()}/{name}"
    seed = int.from_bytes(hashlib.sha256(text.encode()).digest()[:7], "big")
    batch = Batch(spec, (spec,) * size, setting.witness.seeds(size))
    told: dict[str, Any] = {}
    if not _measures(entry) and entry.module not in _MEASURING:
        # a measure of raw records may fail on a table that no measure is made for
        try:
            with unmeasured():
                told = _told(entry, Training(setting, batch, table, seed), kept)
        except Exception:
            _MEASURING.add(entry.module)
    told = told or _told(entry, Training(setting, batch, table, seed), kept)
    return {
        name: np.nan_to_num(np.asarray(numbers, np.float64).reshape(size, -1))
        for name, numbers in told.items()
    }


_MEASURING: set[str] = set()
"""Methods whose published arrays need measures."""


def _measures(entry: Entry[Any]) -> list[str]:
    """The measures that a method publishes."""
    return [name for name, gauge in gauges(entry.info).items() if gauge.released]


def _told(entry: Entry[Any], run: Training, kept: Declared) -> dict[str, Any]:
    """The published arrays and measures of trainings to their end."""
    told: dict[str, Any] = {}
    batch, table = run.batch, run.table
    with torch.no_grad():
        run.state = run.method.init(batch, table, run.rng)
        for _ in range(entry.steps(batch.spec, len(table))):
            run.state, info = run.method.step(batch, table, run.state, run.rng)
            if info is not None:
                told |= {name: getattr(info, name) for name in _measures(entry)}
        told |= {
            name: array
            for name, array in run.method.products(batch, table, run.state).items()
            if released(kept, name)
        }
    return told


def drawn(setting: Setting) -> None:
    """Makes sure that a run makes some release where releases are declared.

    Noise that is drawn in another way leaves an attack on releases nothing to score.

    Raises:
        UnseenError: It makes none.
    """
    if not setting.recorded:
        return
    batch = Batch(setting.spec, (setting.spec,), setting.witness.seeds(1))
    run = Training(setting, batch, setting.pair.present, 0)
    with unmeasured(), torch.no_grad():
        for stage in setting.stages:
            with recording() as script:
                run.advance(stage)
            if script.releases:
                return
    raise UnseenError(
        f"{setting.entry.name}: expected noise that engine.privacy.noise.release adds, got a run "
        f"that declares {len(setting.declared)} releases and makes none"
    )


def independent(setting: Setting) -> None:
    """Makes sure that every release of a run draws noise of its own.

    The likelihood of several releases is the product of theirs only if their noise is independent.

    Raises:
        SharedError: Two releases draw the same numbers, or one from a generator of its own.
        UnseenError: As `drawn`.
    """
    if not setting.recorded:
        return
    drawn(setting)
    batch, rng, made = Batch(setting.spec, (setting.spec,), setting.witness.seeds(1)), Noting(), 0
    first = Training(setting, batch, setting.pair.present, 0)
    again = Training(setting, batch, setting.pair.present, 0)
    again.rng = rng
    rng.manual_seed(0)
    with unmeasured(), torch.no_grad():
        for stage in setting.stages:
            with recording() as script:
                first.advance(stage)
            with replaying(script.releases) as seen:
                again.advance(stage)
            made += len(seen.releases)
    if len(rng.began) != made or len(set(rng.began)) != made:
        raise SharedError(
            f"{setting.entry.name}: expected noise of its own for every release, got noise that "
            "two releases share: their likelihoods must not be added up; see `verify`"
        )
