"""Attacks by an attacker who sees what is published alone, as they ship with the project.

`reference/met.json` holds them: one for the method that each page opens with, computed by `python
-m engine audits PAPER METHOD --sees published --write`. What the attacker does is
`engine.audit.met`'s. No torch here.
"""

import functools
import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from engine.core import stored
from engine.core.errors import StoreError
from engine.runs import audits, changes, naming
from engine.runs.job import Job, request

FILE = "met.json"


@dataclass(frozen=True, kw_only=True)
class Meeting:
    """One such attack.

    Attributes:
        run: Names the setting, as `audits.name` does.
        sources: Digest of the sources of the method that was attacked.
        paper: Slug.
        method: Name within the paper.
        dataset: Name of the data set.
        calibration: As `audits.Row` has it.
        budget: Epsilon that the setting asks for.
        delta: At which epsilon is stated.
        seconds: How long it took.
        epsilon: At least so much is spent, 95 % confidence: the larger of the next two.
        epsilon_worst: By the worst record.
        statistic: The published numbers that gave it away.
        trainings_worst: Trainings with the worst record, and as many without.
        epsilon_real: By real records.
        right: Share of right guesses about the most exposed real records.
        least: At least so large is its mean, 97.5 % confidence.
        records: How many they are.
        trainings: Trainings that were judged.
        first: What `python -m engine confirm` compares: what the first trainings publish, and what
            the attacker makes of made-up numbers; empty where that was not kept.
    """

    run: str
    sources: str
    paper: str
    method: str
    dataset: str
    calibration: str
    budget: float
    delta: float
    seconds: float
    epsilon: float
    epsilon_worst: float
    statistic: str
    trainings_worst: int
    epsilon_real: float
    right: float
    least: float
    records: int
    trainings: int
    first: Sequence[float] = ()

    @property
    def outdated(self) -> bool:
        """Whether another version of the program trained than today's."""
        return self.sources != sources(self.paper, self.method, self.dataset)


def sources(slug: str, method: str, dataset: str) -> str:
    """The digest of today's sources of a method."""
    return changes.sources(request(slug, method, dataset))


def fitting(job: Job) -> Meeting | None:
    """The shipped attack on exactly this setting; None where none ships.

    Raises:
        StoreError: The file is damaged.
    """
    wanted = audits.name(job)
    return next((row for row in rows() if row.run == wanted), None)


def rows() -> tuple[Meeting, ...]:
    """The shipped attacks; none where the file is missing.

    Raises:
        StoreError: The file is damaged.
    """
    path = naming.FOLDER / FILE
    return _read(path, path.stat().st_mtime) if path.exists() else ()


@functools.lru_cache(maxsize=2)
def _read(path: Path, changed: float) -> tuple[Meeting, ...]:
    try:
        return stored.read(tuple[Meeting, ...], stored.parsed(path.read_bytes()))
    except (OSError, ValueError) as error:
        raise StoreError(f"{path}: expected the shipped attacks, got {error}") from error


def write(attacks: Sequence[Meeting]) -> Path:
    """Keeps the attacks in the project's reference folder, in place of the earlier ones."""
    path = naming.FOLDER / FILE
    ordered = sorted(attacks, key=lambda row: (row.paper, row.method, row.run))
    lines = json.dumps([audits.plain(asdict(row)) for row in ordered], indent=1)
    path.write_text(f"{lines}\n", encoding="utf-8")
    return path
