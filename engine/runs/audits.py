"""Attacks that ship with the project: claimed, proved and attacked ε of every private method.

`reference/audits.json` holds them; `python -m engine audits --write` computes all of them again.
Each is of the setting that its paper's page opens with. It fits a page as long as its setting has
the same name there, and an attack of an earlier version says so, as runs do.
"""

import functools
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from datasets import catalog as data_catalog
from engine.catalog import catalog
from engine.core import stored
from engine.core.errors import SpecError, StoreError
from engine.core.spec import knobs
from engine.runs import changes, naming
from engine.runs.job import Job, request

FILE = "audits.json"
EPSILON, CALIBRATION = "epsilon", "calibration"


@dataclass(frozen=True, kw_only=True)
class Row:
    """One attack, or why there is none.

    Attributes:
        run: Names the setting: what `name` says of it.
        sources: Digest of the sources that trained (`engine.runs.changes`).
        budget: Epsilon that the setting asks for.
        paper: Slug.
        method: Name within the paper.
        dataset: Name of the data set.
        calibration: As printed ("paper", "released") or proved; empty where there is one only.
        epsilon_claimed: None where nothing is claimed.
        epsilon_proved: None where nothing is proved.
        epsilon_attacked: Lower bound at 95 % confidence; None where nobody attacked.
        mu_proved: Of Gaussian noise; None for others.
        mu_attacked: The same.
        delta: At which epsilon is stated.
        statistic: The score that was guessed by.
        replicas: Trainings with the witness, and as many without.
        seconds: How long it took.
        broken: Whether the attack is above claim or proof.
        right: Share of right guesses; 0 where nobody attacked.
        allowed: The largest such share that proof or claim allows; None for none.
        exact: Whether that is the trade-off curve's.
        assumed: Whether the proof rests on an assumption of the card.
        by_curve: Whether the bound needs the noise to be of the declared kind; also true where an
            earlier version did not say.
        judged: Trainings that `right` was counted on; 0 where that was not kept.
        attacks: Attacks that were made: 2 where the first was above a proof without assumptions and
            another was made with new noise; 0 where that was not kept.
        epsilon_first: The bound of the first of two attacks; None where there was one.
        epsilon_perfect: What a perfect attack with as many trainings would show in half of all
            cases, by the noise's own curve; None where no curve is known.
        reason: Why nobody attacked; empty where somebody did.
        first: What `python -m engine confirm` compares: scores of the first trainings, and the
            bound that made-up scores come to; empty where that was not kept.
    """

    run: str
    sources: str
    budget: float
    paper: str
    method: str
    dataset: str
    calibration: str
    epsilon_claimed: float | None
    epsilon_proved: float | None
    epsilon_attacked: float | None
    mu_proved: float | None
    mu_attacked: float | None
    delta: float
    statistic: str
    replicas: int
    seconds: float
    broken: bool
    right: float
    allowed: float | None
    exact: bool
    assumed: bool = False
    by_curve: bool = True
    judged: int = 0
    attacks: int = 0
    epsilon_first: float | None = None
    epsilon_perfect: float | None = None
    reason: str = ""
    first: Sequence[float] = ()

    @property
    def outdated(self) -> bool:
        """Whether another version of the program trained than today's."""
        return self.sources != sources(self.paper, self.method, self.dataset)


def sources(slug: str, method: str, dataset: str) -> str:
    """The digest of today's sources of an attack."""
    return changes.sources(request(slug, method, dataset, audit=True))


def name(job: Job) -> str:
    """What names the setting of an attack, however many trainings it has."""
    return replace(job, seeds=(0,), stored="").id


def fitting(job: Job) -> Row | None:
    """The shipped attack on exactly this setting; None where none ships.

    Raises:
        StoreError: The file is damaged.
    """
    wanted = name(job)
    return next((row for row in rows() if row.run == wanted), None)


def asked(budget: float | None = None) -> Iterator[tuple[Job, str]]:
    """The attack on every private method in each of its calibrations, and the calibration.

    Args:
        budget: Epsilon; None for the one that each paper's settings begin with.
    """
    for paper in catalog().values():
        options: Sequence[str] = getattr(knobs(paper.spec).get(CALIBRATION), "options", ())
        dataset = next(name for name in paper.datasets if data_catalog.card(name).embedded)
        for entry in paper.methods:
            if not entry.witness:
                continue
            for calibration in options if CALIBRATION in entry.uses else ("",):
                values = {**paper.opens()} | ({} if budget is None else {EPSILON: budget})
                if calibration:
                    values[CALIBRATION] = calibration
                try:
                    yield request(paper.slug, entry.name, dataset, values, audit=True), calibration
                except SpecError:
                    continue  # a calibration that the other settings do not admit


def current(rows: Sequence[Row], slug: str | None = None) -> list[Row]:
    """The rows without those of settings that no page begins with any more.

    Args:
        rows: Attacks.
        slug: Of the paper whose rows are looked at; None for all.
    """
    wanted = {name(job) for job, _ in asked()}
    return [row for row in rows if slug not in (None, row.paper) or row.run in wanted]


@functools.lru_cache(maxsize=2)
def _read(path: Path, changed: float) -> tuple[Row, ...]:
    try:
        return stored.read(tuple[Row, ...], stored.parsed(path.read_bytes()))
    except (OSError, ValueError) as error:
        raise StoreError(f"{path}: expected the shipped attacks, got {error}") from error


def rows() -> tuple[Row, ...]:
    """The shipped attacks, in the order of the catalogue; none where the file is missing.

    Raises:
        StoreError: The file is damaged.
    """
    path = naming.FOLDER / FILE
    return _read(path, path.stat().st_mtime) if path.exists() else ()


def write(audits: Sequence[Row]) -> Path:
    """Keeps the attacks in the project's reference folder, in place of the earlier ones."""
    path = naming.FOLDER / FILE
    listed = [(paper.slug, entry.name) for paper in catalog().values() for entry in paper.methods]
    place = {name: i for i, name in enumerate(listed)}
    last = len(listed)
    ordered = sorted(audits, key=lambda row: place.get((row.paper, row.method), last))
    lines = json.dumps([plain(asdict(row)) for row in ordered], indent=1, ensure_ascii=False)
    path.write_text(f"{lines}\n", encoding="utf-8")
    return path


def plain(row: Mapping[str, Any]) -> dict[str, Any]:
    """Numbers to six digits."""
    return {k: float(f"{v:.6g}") if isinstance(v, float) else v for k, v in row.items()}
