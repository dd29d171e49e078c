"""Trainings of a function with and without a witness, here or in processes side by side.

What the function gives back becomes numbers that an attacker may look at.
"""

import functools
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self, TextIO

import numpy as np
from numpy.typing import NDArray

from engine.core.errors import ExplorerError, RequestError

if TYPE_CHECKING:
    from pandas import DataFrame

Floats = NDArray[np.float64]
Fit = Callable[[Any, np.random.Generator], Any]
"""What is attacked: from records and a generator to what is published."""
ROOT = Path(__file__).parents[2]
BIT, BRIEF = 1, 0.25
"""Pairs that are trained before they are told, at first; while that takes less than so many
seconds, it becomes twice as many."""
SEED = 20_261_123
"""Of the generators; pair number i has [SEED, i] in both worlds."""
KEPT = 1_500
"""Coordinates of all arrays together that are looked at one by one; of more, evenly spaced ones."""
ENDS = 3
"""Largest and smallest coordinates of each array that are looked at."""
SIZE, UNDEFINED = "size", "undefined numbers"
SUMMARY = (
    SIZE, UNDEFINED, "sum", "norm", "different numbers", "zeros", "whole numbers",
    "distance to the witness", "largest product with the witness",
    *(f"smallest number {i + 1}" for i in range(ENDS)),
    *(f"largest number {ENDS - i}" for i in range(ENDS)),
)  # fmt: skip
"""What is computed from each array as a whole."""


class TrainingError(ExplorerError):
    """A training function that cannot be run."""


class FailedError(TrainingError):
    """A training function that raises.

    Attributes:
        alone: Whether it raises with the witness alone: not without it and with the same noise.
    """

    def __init__(self, said: str, alone: bool) -> None:
        super().__init__(said)
        self.alone = alone


class ProcessEndedError(TrainingError):
    """A training function that ends the process that it runs in."""


@dataclass(frozen=True, eq=False)
class Told:
    """What a number of pairs published, as features.

    Attributes:
        names: What each feature is, length p.
        present: Of trainings with the witness, shape (T, p).
        absent: Of those without it, shape (T, p); a feature that an output lacks is 0.
        process: The number of the process that trained them.
    """

    names: tuple[str, ...]
    present: Floats
    absent: Floats
    process: int = 0

    @classmethod
    def of(
        cls, present: Sequence[Mapping[str, float]], absent: Sequence[Mapping[str, float]]
    ) -> Self:
        """The features of trainings, by name."""
        names = tuple(dict.fromkeys(name for row in (*present, *absent) for name in row))
        one, other = (
            np.array([[row.get(name, 0.0) for name in names] for row in side])
            for side in (present, absent)
        )
        return cls(names, one, other)

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

    def finite(self) -> bool:
        """Whether any training published a finite number."""
        place = {name: i for i, name in enumerate(self.names)}
        both = np.concatenate([self.present, self.absent])
        arrays = [name.removeprefix(f"{SIZE} of ") for name in self.names]
        counted = [(f"{SIZE} of {name}", f"{UNDEFINED} of {name}") for name in arrays]
        return any(
            (both[:, place[size]] > both[:, place[undefined]]).any()
            for size, undefined in counted
            if size in place and undefined in place
        )

    def __len__(self) -> int:
        return len(self.present)


@dataclass(frozen=True, eq=False)
class Here:
    """Trains in this process, one pair after the other.

    Attributes:
        fit: The function.
        worlds: The two tables for each witness, without and with it.
        numbers: Each witness's own numbers.
    """

    fit: Fit
    worlds: Sequence[tuple[Any, Any]]
    numbers: Sequence[Floats]

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
        table = self.worlds[witness][world]
        try:
            output = arrays(self.fit(table.copy(), rng))
        except RequestError:
            raise
        except (Exception, SystemExit) as error:
            kind = type(error).__name__
            raise FailedError(
                f"fit: expected it to return arrays, got {kind}: {error}",
                alone=world == 1 and self._passes(witness, number),
            ) from error
        return features(output, self.numbers[witness])

    def _passes(self, witness: int, number: int) -> bool:
        """Whether a training without a witness ends."""
        try:
            self._published(witness, 0, number)
        except FailedError:
            return False
        return True


@dataclass(frozen=True)
class Beside:
    """Trains in processes side by side, each of which imports the function's file.

    Attributes:
        folder: Where tables and answers lie.
        processes: The processes, which read tasks and write answers.
    """

    folder: Path
    processes: Sequence[subprocess.Popen[str]]

    def pairs(self, witness: int, start: int, count: int) -> Iterator[Told]:
        """As `Here.pairs`; parts come in the order of their numbers.

        Raises:
            ProcessEndedError: A process ended.
            TrainingError: The function failed; what the other processes answered is read.
        """
        size, end = BIT, start + count
        while start < end:
            began, busy = time.monotonic(), list[subprocess.Popen[str]]()
            for process in self.processes[: -(-(end - start) // size)]:
                several = min(size, end - start)
                _ask(process, {"witness": witness, "start": start, "count": several})
                busy.append(process)
                start += several
            answers = [_answer(process) for process in busy]
            parts = [self._told(answer, number) for number, answer in enumerate(answers)]
            size *= 2 if time.monotonic() - began < BRIEF else 1
            yield from parts

    def _told(self, answer: Mapping[str, Any], process: int) -> Told:
        """What a process has trained.

        Raises:
            TrainingError: The function failed.
        """
        if "alone" in answer:
            raise FailedError(answer["error"], answer["alone"])
        if "error" in answer:
            raise TrainingError(answer["error"])
        file = self.folder / answer["file"]
        with np.load(file, allow_pickle=False) as kept:
            told = Told(tuple(kept["names"].tolist()), kept["present"], kept["absent"], process)
        file.unlink()
        return told


def _ask(process: subprocess.Popen[str], task: Mapping[str, int]) -> None:
    """Gives a process a task.

    Raises:
        ProcessEndedError: It has ended.
    """
    assert process.stdin is not None
    try:
        print(json.dumps(task), file=process.stdin, flush=True)
    except BrokenPipeError:
        with suppress(BrokenPipeError):  # else what is left in its buffer fails again at the end
            process.stdin.close()
        raise _ended(process) from None


def _answer(process: subprocess.Popen[str]) -> dict[str, Any]:
    """What a process answers to a task: a file, or what went wrong.

    Raises:
        ProcessEndedError: It has ended.
    """
    assert process.stdout is not None
    line = process.stdout.readline()
    if not line:
        raise _ended(process)
    answer: dict[str, Any] = json.loads(line)
    return answer


def _ended(process: subprocess.Popen[str]) -> ProcessEndedError:
    """What to say of a process that has ended."""
    return ProcessEndedError(
        f"fit: expected it to return arrays, got a process that ended with code {process.wait()}"
    )


Trainer = Here | Beside
"""Trains pairs somewhere."""


@contextmanager
def beside(
    place: str, worlds: Sequence[tuple[Any, Any]], numbers: Sequence[Floats], processes: int
) -> Iterator[Beside]:
    """Starts so many processes for "file.py::function", and ends them; arguments as `Here`."""
    path = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH", "")]))
    environment = os.environ | {"PYTHONPATH": path, "OMP_NUM_THREADS": "1"}
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        for number, pair in enumerate(worlds):
            for world, table in enumerate(pair):
                save(folder / f"{number}-{world}", table)
            np.save(folder / f"{number}-witness.npy", numbers[number])
        line = [sys.executable, "-m", "engine.yours.trainings", place, str(folder)]
        started = []
        for _ in range(processes):
            process = subprocess.Popen(
                line, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment
            )
            stack.enter_context(process)
            stack.callback(process.kill)
            started.append(process)
        yield Beside(folder, started)


def arrays(output: Any) -> dict[str, Floats]:
    """What a training function gave back, by name.

    Args:
        output: A number, an array, a sequence of arrays, or a mapping of names to arrays.

    Raises:
        RequestError: Something that is no number or array of numbers; a function that returns
            nothing returns None.
    """
    match output:
        case Mapping():
            parts = {str(name): value for name, value in output.items()}
        case tuple() | list() if any(np.ndim(_plain(one)) for one in output):
            parts = {f"output {i}": value for i, value in enumerate(output)}
        case _:
            parts = {"output": output}
    found = {}
    for name, value in sorted(parts.items()):
        try:
            part = np.asarray(_plain(value))
            if part.dtype == object and any(one is None for one in part.flat):
                raise RequestError(f"fit: expected arrays of numbers, got None as {name!r}")
            if np.iscomplexobj(part):
                raise TypeError
            found[name] = part.astype(np.float64, copy=False)
        except (TypeError, ValueError):
            raise RequestError(
                f"fit: expected arrays of numbers, got {type(value).__name__} as {name!r}"
            ) from None
    return found


def _plain(value: Any) -> Any:
    """A value without what a library adds to an array, such as torch's graph."""
    detach = getattr(value, "detach", None)
    return detach().cpu().numpy() if detach is not None else value


def features(output: Mapping[str, Floats], witness: Floats) -> dict[str, float]:
    """Numbers of an output that an attacker may tell the two worlds by, by their names.

    Args:
        output: As `arrays` returns it.
        witness: The witness's own numbers, shape (d,).
    """
    found = {"arrays": float(len(output))}
    for name, part in output.items():
        values = _summary(part, witness)
        found |= {f"{what} of {name}": one for what, one in zip(SUMMARY, values, strict=True)}
    room = max(1, KEPT // max(1, len(output)))
    for name, part in output.items():
        flat = np.ravel(part)
        places = np.arange(len(flat))
        if len(flat) > room:
            places = np.linspace(0, len(flat) - 1, room).round().astype(np.int64)
        found |= {f"{name}[{i}]": float(flat[i]) for i in places}
    return found


def _summary(part: Floats, witness: Floats) -> list[float]:
    """What one array is like as a whole."""
    flat = np.ravel(part)
    finite = flat[np.isfinite(flat)]
    if not len(finite):
        return [float(len(flat)), float(len(flat)), *[0.0] * (len(SUMMARY) - 2)]
    ends = np.resize(np.sort(finite), max(len(finite), ENDS))
    far = np.abs(finite[:, None] - witness[None, :]).min() if len(finite) <= KEPT else 0.0
    along = part @ witness if part.shape[-1:] == witness.shape else np.zeros(1)
    return [
        float(len(flat)), float(len(flat) - len(finite)), float(finite.sum()),
        float(np.linalg.norm(finite)), float(len(np.unique(finite))),
        float((finite == 0.0).sum()), float((finite == np.round(finite)).sum()), float(far),
        float(np.abs(along).max()), *ends[:ENDS].tolist(), *ends[-ENDS:].tolist(),
    ]  # fmt: skip


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

    called = f"function_of_{path.stem}"  # no name that another module has
    spec = importlib.util.spec_from_file_location(called, path)
    if spec is None or spec.loader is None:
        raise RequestError(f"function: expected FILE.py::FUNCTION, got the file {file!r}")
    module = importlib.util.module_from_spec(spec)
    sys.modules[called] = module  # where dataclasses look for it
    # behind all others: a file named random.py is not what the trainings' processes import
    if (folder := str(path.parent.absolute())) not in sys.path:
        sys.path.append(folder)
    try:
        spec.loader.exec_module(module)
    except (Exception, SystemExit) as error:
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


def main() -> None:
    """Trains the pairs that lines of the input ask for, until the input ends.

    What the function, its libraries and its child processes print goes nowhere, and nothing is
    there for them to read: the two streams carry tasks and answers.
    """
    tasks, answers = _streams()

    @functools.cache
    def trainer() -> Here:
        place, folder = sys.argv[1], Path(sys.argv[2])
        count = len(list(folder.glob("*-witness.npy")))
        worlds = [(load(folder / f"{i}-0"), load(folder / f"{i}-1")) for i in range(count)]
        numbers = [np.load(folder / f"{i}-witness.npy") for i in range(count)]
        return Here(function(place), worlds, numbers)

    for line in tasks:
        task = json.loads(line)
        answer: dict[str, Any]
        try:
            told = Told.joined(list(trainer().pairs(**task)))
            name = f"told-{os.getpid()}-{task['start']}.npz"
            np.savez(
                Path(sys.argv[2], name), names=np.array(told.names), present=told.present,
                absent=told.absent,
            )  # fmt: skip
            answer = {"file": name}
        except FailedError as error:
            answer = {"error": str(error), "alone": error.alone}
        except ExplorerError as error:
            answer = {"error": str(error)}
        print(json.dumps(answer), file=answers, flush=True)


def _streams() -> tuple[TextIO, TextIO]:
    """The input and the output of this process, which nobody else in it sees any more."""
    own = os.fdopen(os.dup(0), encoding="utf-8"), os.fdopen(os.dup(1), "w", encoding="utf-8")
    nowhere = os.open(os.devnull, os.O_RDWR)
    for number in (0, 1):
        os.dup2(nowhere, number)
    os.close(nowhere)
    return own


if __name__ == "__main__":
    main()
