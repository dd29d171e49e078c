"""Trainings of a function with and without a witness, here or in processes side by side."""

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from engine.core.errors import ExplorerError, RequestError
from engine.yours import outputs

if TYPE_CHECKING:
    from pandas import DataFrame

Floats = NDArray[np.float64]
Fit = Callable[[Any, np.random.Generator], Any]
"""What is attacked: from records and a generator to what is published."""
ROOT = Path(__file__).parents[2]
BIT, BRIEF = 8, 0.25
"""Pairs that are trained before they are told, at first; while that takes less than so many
seconds, it becomes twice as many."""
SEED = 20_261_123
"""Of the generators; pair number i has [SEED, i] in both worlds."""


class TrainingError(ExplorerError):
    """A training function that cannot be run."""


@dataclass(frozen=True, eq=False)
class Told:
    """What a number of pairs published, as features.

    Attributes:
        names: What each feature is, length p.
        present: Of trainings with the witness, shape (T, p).
        absent: Of those without it, shape (T, p); a feature that an output lacks is 0.
    """

    names: tuple[str, ...]
    present: Floats
    absent: Floats

    @classmethod
    def of(
        cls, present: Sequence[Mapping[str, float]], absent: Sequence[Mapping[str, float]]
    ) -> Self:
        """The features of trainings, by name."""
        names = tuple(dict.fromkeys(name for row in (*present, *absent) for name in row))
        sides = (
            np.array([[row.get(name, 0.0) for name in names] for row in side])
            for side in (present, absent)
        )
        return cls(names, *sides)

    @classmethod
    def joined(cls, parts: "Sequence[Told]") -> Self:
        """Pairs of several parts, one after the other; their features may differ."""
        names = tuple(dict.fromkeys(name for part in parts for name in part.names))
        alike = [part.by(names) for part in parts]
        return cls(
            names,
            np.concatenate([part.present for part in alike]),
            np.concatenate([part.absent for part in alike]),
        )

    def by(self, names: tuple[str, ...]) -> Self:
        """The same with these features, in this order."""
        if names == self.names:
            return self
        place = {name: i for i, name in enumerate(self.names)}
        columns = np.array([place.get(name, -1) for name in names])

        def ordered(side: Floats) -> Floats:
            wide = np.concatenate([side, np.zeros((len(side), 1))], axis=1)
            return wide[:, columns]

        return type(self)(names, ordered(self.present), ordered(self.absent))

    def __len__(self) -> int:
        return len(self.present)


class Here:
    """Trains in this process, one pair after the other.

    Args:
        fit: The function.
        worlds: The two tables for each witness, without and with it.
        numbers: Each witness's own numbers.
    """

    def __init__(
        self, fit: Fit, worlds: Sequence[tuple[Any, Any]], numbers: Sequence[Floats]
    ) -> None:
        self._fit, self._worlds, self._numbers = fit, worlds, numbers

    def pairs(self, witness: int, start: int, count: int) -> Iterator[Told]:
        """Trains pairs number `start` and on with a witness; yields a part as it is done."""
        size, end = BIT, start + count
        while start < end:
            began, several = time.monotonic(), range(start, min(start + size, end))
            yield Told.of(
                [self._published(witness, 1, number) for number in several],
                [self._published(witness, 0, number) for number in several],
            )
            start += len(several)
            size *= 2 if time.monotonic() - began < BRIEF else 1

    def _published(self, witness: int, world: int, number: int) -> dict[str, float]:
        """The features of one training."""
        rng = np.random.default_rng([SEED, number])
        table = self._worlds[witness][world]
        try:
            output = outputs.arrays(self._fit(table.copy(), rng))
        except RequestError:
            raise
        except Exception as error:
            kind = type(error).__name__
            raise TrainingError(
                f"fit: expected it to return arrays, got {kind}: {error}"
            ) from error
        return outputs.features(output, self._numbers[witness])


class Beside:
    """Trains in processes side by side, each of which imports the function's file.

    Args:
        place: The file and the function, as "file.py::function".
        worlds: As `Here`.
        numbers: As `Here`.
        processes: How many.
    """

    def __init__(
        self, place: str, worlds: Sequence[tuple[Any, Any]], numbers: Sequence[Floats],
        processes: int,
    ) -> None:  # fmt: skip
        self._place, self._worlds, self._numbers = place, worlds, numbers
        self._count = processes
        self._stack = ExitStack()
        self._all: list[subprocess.Popen[str]] = []

    def __enter__(self) -> Self:
        folder = Path(self._stack.enter_context(tempfile.TemporaryDirectory()))
        for number, worlds in enumerate(self._worlds):
            for world, table in enumerate(worlds):
                save(folder / f"{number}-{world}", table)
            np.save(folder / f"{number}-witness.npy", self._numbers[number])
        line = [sys.executable, "-m", "engine.yours.trainings", self._place, str(folder)]
        path = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH", "")]))
        environment = os.environ | {"PYTHONPATH": path, "OMP_NUM_THREADS": "1"}
        self._folder = folder
        for _ in range(self._count):
            process = subprocess.Popen(
                line, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment
            )
            self._stack.enter_context(process)
            self._stack.callback(process.kill)
            self._all.append(process)
        return self

    def __exit__(self, *told: object) -> None:
        self._stack.close()

    def pairs(self, witness: int, start: int, count: int) -> Iterator[Told]:
        """As `Here.pairs`; parts come in the order of their numbers."""
        size, end = BIT, start + count
        while start < end:
            began, busy = time.monotonic(), list[subprocess.Popen[str]]()
            for process in self._all[: -(-(end - start) // size)]:
                several = min(size, end - start)
                _write(process, {"witness": witness, "start": start, "count": several})
                busy.append(process)
                start += several
            parts = [self._told(process) for process in busy]
            size *= 2 if time.monotonic() - began < BRIEF else 1
            yield from parts

    def _told(self, process: subprocess.Popen[str]) -> Told:
        """What a process has trained."""
        file = self._folder / _answer(process)["file"]
        with np.load(file, allow_pickle=False) as kept:
            told = Told(tuple(kept["names"].tolist()), kept["present"], kept["absent"])
        file.unlink()
        return told


Trainer = Here | Beside
"""Trains pairs somewhere."""


def _write(process: subprocess.Popen[str], task: dict[str, int]) -> None:
    assert process.stdin is not None
    process.stdin.write(json.dumps(task) + "\n")
    process.stdin.flush()


def _answer(process: subprocess.Popen[str]) -> dict[str, str]:
    """What a process says of its task.

    Raises:
        TrainingError: The function failed, or the process ended.
    """
    assert process.stdout is not None
    line = process.stdout.readline()
    if not line:
        raise TrainingError(
            f"fit: expected a process that trains, it ended with code {process.wait()}"
        )
    answer: dict[str, str] = json.loads(line)
    if "error" in answer:
        raise TrainingError(answer["error"])
    return answer


def function(place: str) -> Fit:
    """The function that "file.py::function" names; its file is imported.

    Raises:
        RequestError: There is no such file or function, or its file does not import.
    """
    file, _, name = place.partition("::")
    path = Path(file)
    if not path.is_file():
        raise RequestError(f"function: expected FILE.py::FUNCTION, got no file {file!r}")
    import importlib.util

    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.path.insert(0, str(path.parent.absolute()))
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        kind = type(error).__name__
        raise RequestError(f"{file}: expected a file that imports, got {kind}: {error}") from error
    found = getattr(module, name, None)
    if not callable(found):
        got = "none of that name" if found is None else type(found).__name__
        raise RequestError(f"{file}: expected a function {name!r}, got {got}")
    fit: Fit = found
    return fit


def save(path: Path, table: "DataFrame | Floats") -> None:
    """Writes a table beside others, without pickling."""
    if isinstance(table, np.ndarray):
        np.save(path.with_suffix(".npy"), table, allow_pickle=False)
    else:
        table.to_parquet(path.with_suffix(".parquet"))


def load(path: Path) -> Any:
    """The table that `save` wrote."""
    if path.with_suffix(".npy").exists():
        return np.load(path.with_suffix(".npy"), allow_pickle=False)
    import pandas as pd

    return pd.read_parquet(path.with_suffix(".parquet"))


@contextmanager
def _silent() -> Iterator[Any]:
    """What the function prints is thrown away; yields what answers go to."""
    with open(os.devnull, "w") as nowhere, redirect_stdout(nowhere):
        yield sys.__stdout__


def main() -> None:
    """Trains the pairs that lines of the input ask for, until the input ends."""
    place, folder = sys.argv[1], Path(sys.argv[2])
    with _silent() as answers:
        try:
            fit = function(place)
            count = len(list(folder.glob("*-witness.npy")))
            worlds = [(load(folder / f"{i}-0"), load(folder / f"{i}-1")) for i in range(count)]
            numbers = [np.load(folder / f"{i}-witness.npy") for i in range(count)]
            trainer, problem = Here(fit, worlds, numbers), ""
        except ExplorerError as error:
            problem = str(error)
        for line in sys.stdin:
            task, answer = json.loads(line), {"error": problem}
            if not problem:
                try:
                    told = Told.joined(
                        list(trainer.pairs(task["witness"], task["start"], task["count"]))
                    )
                    name = f"told-{os.getpid()}-{task['start']}.npz"
                    np.savez(
                        folder / name, names=np.array(told.names), present=told.present,
                        absent=told.absent,
                    )  # fmt: skip
                    answer = {"file": name}
                except ExplorerError as error:
                    answer = {"error": str(error)}
            print(json.dumps(answer), file=answers, flush=True)


if __name__ == "__main__":
    main()
