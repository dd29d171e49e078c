"""Files of attacks that ship with the project: a row for each setting, in the reference folder."""

import functools
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, ClassVar, Generic, TypeVar

from engine.core import stored
from engine.core.errors import StoreError
from engine.runs import changes, naming
from engine.runs.job import Job, request


@dataclass(frozen=True, kw_only=True)
class Attack:
    """One attack on one setting of a method.

    Attributes:
        run: Names the setting: what `name` says of it.
        sources: Digest of the sources that its numbers come from (`engine.runs.changes`).
        budget: Epsilon that the setting asks for.
        paper: Slug.
        method: Name within the paper.
        dataset: Name of the data set.
        calibration: As printed ("paper", "released") or proved; empty where there is one only.
    """

    whole: ClassVar[bool] = True
    """Whether the attack's own sources count, beside those of the method."""

    run: str
    sources: str
    budget: float
    paper: str
    method: str
    dataset: str
    calibration: str

    @property
    def today(self) -> str:
        """The digest of today's sources."""
        return changes.sources(request(self.paper, self.method, self.dataset, audit=self.whole))

    @property
    def outdated(self) -> bool:
        """Whether another version of the program trained than today's."""
        return self.sources != self.today


R = TypeVar("R", bound=Attack)


def name(job: Job) -> str:
    """What names the setting of an attack, however many trainings it has."""
    return replace(job, seeds=(0,), stored="").id


@dataclass(frozen=True)
class Shelf(Generic[R]):
    """A file of attacks.

    Attributes:
        file: Its name.
        kind: What its rows are.
        order: What they are sorted by.
    """

    file: str
    kind: type[R]
    order: Callable[[R], Any]

    def rows(self) -> tuple[R, ...]:
        """The attacks that ship; none where the file is missing.

        Raises:
            StoreError: The file is damaged.
        """
        path = naming.FOLDER / self.file
        if not path.exists():
            return ()
        kind: Any = self.kind  # a class is hashable, whatever it is of
        rows: tuple[R, ...] = _read(path, path.stat().st_mtime, kind)
        return rows

    def fitting(self, job: Job) -> R | None:
        """The attack that ships on exactly a job's setting; None where there is none.

        Raises:
            StoreError: The file is damaged.
        """
        wanted = name(job)
        return next((row for row in self.rows() if row.run == wanted), None)

    def put(self, row: R) -> None:
        """Keeps an attack, in place of an earlier one on its setting."""
        self.write([*(one for one in self.rows() if one.run != row.run), row])

    def write(self, rows: Sequence[R]) -> Path:
        """Keeps these attacks, in place of all earlier ones."""
        path = naming.FOLDER / self.file
        told = [plain(asdict(row)) for row in sorted(rows, key=self.order)]
        text = json.dumps(told, indent=1, ensure_ascii=False)
        path.write_text(f"{text}\n", encoding="utf-8")
        return path


@functools.lru_cache(maxsize=4)
def _read(path: Path, changed: float, kind: Any) -> Any:
    """The rows of a file as it was last changed."""
    try:
        return stored.read(tuple[kind, ...], stored.parsed(path.read_bytes()))
    except (OSError, ValueError) as error:
        raise StoreError(f"{path}: expected the shipped attacks, got {error}") from error


def plain(row: Mapping[str, Any]) -> dict[str, Any]:
    """Numbers to six digits."""
    return {k: float(f"{v:.6g}") if isinstance(v, float) else v for k, v in row.items()}
