"""Attacks that ship with the project: claimed, proved and attacked ε of every private method.

`reference/audits.json` holds them; `python -m engine audits --write` computes all of them again.
"""

import functools
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from engine.catalog import catalog
from engine.core.errors import SpecError, StoreError
from engine.core.spec import knobs
from engine.method import Entry, Paper
from engine.runs import naming

FILE = "audits.json"
EPSILON, CALIBRATION = 4.0, "calibration"
"""Budget of the shipped attacks: at smaller ones a few hundred trainings show nothing yet."""


@dataclass(frozen=True, kw_only=True)
class Row:
    """One attack.

    Attributes:
        paper: Slug.
        method: Name within the paper.
        dataset: Name of the data set.
        calibration: As printed ("paper", "released") or proved; empty where there is one only.
        epsilon_claimed: None where nothing is claimed.
        epsilon_proved: None where nothing is proved.
        epsilon_attacked: Lower bound at 95 % confidence.
        mu_proved: Of Gaussian noise; None for others.
        mu_attacked: The same.
        delta: At which epsilon is stated.
        statistic: The score that was guessed by.
        replicas: Trainings with the witness, and as many without.
        seconds: How long it took.
        broken: Whether the attack is above claim or proof.
    """

    paper: str
    method: str
    dataset: str
    calibration: str
    epsilon_claimed: float | None
    epsilon_proved: float | None
    epsilon_attacked: float
    mu_proved: float | None
    mu_attacked: float | None
    delta: float
    statistic: str
    replicas: int
    seconds: float
    broken: bool


def asked() -> Iterator[tuple[Paper[Any], Entry[Any], dict[str, Any]]]:
    """Every private method with a witness in each of its calibrations, and its values."""
    for paper in catalog().values():
        options: Sequence[str] = getattr(knobs(paper.spec).get(CALIBRATION), "options", ())
        for entry in paper.methods:
            if not entry.witness:
                continue
            for calibration in options if CALIBRATION in entry.uses else ("",):
                values: dict[str, Any] = {"epsilon": EPSILON}
                if calibration:
                    values[CALIBRATION] = calibration
                try:
                    paper.spec.parse(values)
                except SpecError:
                    continue  # a calibration that the other defaults do not admit
                yield paper, entry, values


@functools.lru_cache(maxsize=2)
def _read(path: Path, changed: float) -> tuple[Row, ...]:
    try:
        return tuple(Row(**one) for one in json.loads(path.read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError) as error:
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
    lines = json.dumps([_plain(asdict(row)) for row in audits], indent=1, ensure_ascii=False)
    path.write_text(f"{lines}\n", encoding="utf-8")
    return path


def _plain(row: Mapping[str, Any]) -> dict[str, Any]:
    """Numbers to six digits."""
    return {k: float(f"{v:.6g}") if isinstance(v, float) else v for k, v in row.items()}
