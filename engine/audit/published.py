"""Holds all that a run publishes to what it has released, bit by bit.

A method runs on the records. Beside it runs the same method on tables that differ in what is
private (`engine.audit.neighbours`), and every release answers there what it answered on the
records. What is published must then be the same: the state that is left, every array and measure
that is declared as released, how many releases there were. Whatever differs was computed from
records past the noise. Where noise enters an objective, the solution is the release, and it is the
answer that is handed on (`Entry.answer`).

Equal releases say nothing of what belongs to no release at all. So what is declared as released
must also change when other noise is drawn, or be declared public (`Kept.public`). An array that
lies at a bound, such as a p-value of 0, is the same with all noise: it must change with the
releases of other tables, and be the same on the records and on such a table wherever the releases
are. No release may draw where another of the run has drawn, nor where the records say; and on
neighbours the releases must be those that are priced (`engine.audit.replay`).
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field, fields, is_dataclass, replace
from fnmatch import fnmatchcase
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Generator, Tensor

from datasets.base import Table
from engine.audit import replay
from engine.audit.neighbours import Named, changed, first, lonely, others, relation_of
from engine.audit.training import Setting
from engine.audit.witness import Witness, load
from engine.core.batch import Batch
from engine.core.errors import RequestError, SpecError
from engine.core.gauges import gauges, unmeasured
from engine.core.kept import declared
from engine.core.spec import Knob, Spec, knobs
from engine.method import Arrays, Entry, Paper
from engine.privacy.guarantee import Relation
from engine.privacy.mechanisms import Exposed
from engine.privacy.recording import Recorder, recording, replaying
from engine.privacy.releases import BEFORE

Numbers = NDArray[np.generic]
RELEASES = "releases"
"""The name of what a run publishes beside what it computes from it."""
MOST, STEPS = 500, 50
"""Records of a replay, the first ones, and its steps, where the setting admits so few."""
OTHERS = range(1, 9)
"""Seeds of the runs with other noise: a rounded count at ε = 1 is the same in one run of three."""
FIXED = (
    "expected another with other noise or the releases of other tables, or one declared public, "
    "got the same"
)
"""Why an array that never changes is refused."""


@dataclass(frozen=True)
class Verdict:
    """What a replay has shown.

    Attributes:
        published: Names of all that is published.
        differs: Those that do not follow from releases and public knowledge.
        public: Those that are declared public, and are the same whatever is released.
        reasons: By name, why it is in `differs`, in one sentence.
        records: How many of the records were replayed.
        steps: In how many steps.
        empty: Arrays that hold no number of these records, whatever noise is drawn.
        fixed: Of `differs`, arrays that no other noise and no releases of other tables change.
    """

    published: tuple[str, ...]
    differs: tuple[str, ...]
    public: tuple[str, ...]
    reasons: Mapping[str, str]
    records: int
    steps: int
    empty: tuple[str, ...] = ()
    fixed: tuple[str, ...] = ()

    def also(self, published: Sequence[str], reasons: Mapping[str, str]) -> "Verdict":
        """With further names, some of which differ."""
        every = dict.fromkeys((*self.published, *published))
        both = {**reasons, **self.reasons}
        return replace(self, published=tuple(every), differs=tuple(both), reasons=both)


class Noting(Generator):
    """A generator that notes where it stood whenever a replay sets it on: before each release."""

    def __init__(self) -> None:
        super().__init__()
        self.began: list[bytes] = []

    def set_state(self, new_state: Tensor) -> Generator:
        """As torch's, and notes the state that is left."""
        self.began.append(self.get_state().numpy().tobytes())
        return super().set_state(new_state)


@dataclass(frozen=True, eq=False)
class Answered:
    """What a run released at its start or in one step.

    Attributes:
        script: The releases.
        answer: The release of noise inside an objective; None for others.
    """

    script: Recorder
    answer: Tensor | None


@dataclass(eq=False)
class Run:
    """One run of one replica, and what it publishes.

    Attributes:
        entry: The method.
        batch: Its setting.
        table: The records.
        rng: Draws its noise.
        words: What was changed in the table; empty for the records themselves.
        state: What it has reached.
        measured: Measures that are declared as released, as they were last.
        made: Releases so far.
        follows: Whether it has released all that the first run has.
    """

    entry: Entry[Any]
    batch: Batch[Any]
    table: Table
    rng: Generator
    words: str = ""
    state: Any = None
    measured: dict[str, Numbers] = field(default_factory=dict)
    made: int = 0
    follows: bool = True

    @property
    def total(self) -> int:
        """Steps of the whole run."""
        return self.entry.steps(self.batch.spec, len(self.table))

    def advance(self, stage: int) -> None:
        """The start or one step."""
        method = self.entry.load()
        if stage == BEFORE:
            self.state = method.init(self.batch, self.table, self.rng)
            return
        self.state, info = method.step(self.batch, self.table, self.state, self.rng)
        for name, gauge in gauges(self.entry.info).items() if info is not None else ():
            if gauge.released:
                self.measured[name] = np.asarray(getattr(info, name))

    def lead(self) -> "list[Answered]":
        """The whole run; what it released at each stage."""
        stages = []
        for stage in range(BEFORE, self.total):
            with recording() as seen:
                self.advance(stage)
            # of the values before noise only the shapes are asked for, and outputs have them
            seen.releases[:] = [replace(one, values=()) for one in seen.releases]
            answer = getattr(self.state, self.entry.answer, None) if self.entry.answer else None
            stages.append(Answered(seen, None if answer is None else answer.clone()))
        return stages

    def follow(self, stage: int, led: "Answered") -> None:
        """One step with the releases of another run.

        Raises:
            ReplayError: It releases something else.
            RequestError: It releases less.
        """
        script = led.script
        with replaying(script.releases) as seen:
            self.advance(stage)
        self.made += len(seen.releases)
        if len(seen.releases) != len(script.releases) or len(seen.drawn) != len(script.drawn):
            raise RequestError(
                f"expected {len(script.releases) + len(script.drawn)} releases in step "
                f"{stage + 1}, got {len(seen.releases) + len(seen.drawn)}"
            )
        if led.answer is not None:
            self.state = replace(self.state, **{self.entry.answer: led.answer.clone()})

    def products(self) -> Arrays:
        """What it keeps."""
        return self.entry.load().products(self.batch, self.table, self.state)


@dataclass(frozen=True, eq=False)
class Left:
    """What a run leaves.

    Attributes:
        published: All that is published, by name.
        arrays: The arrays among them, by their own names: what a release writes.
        public: Names that are declared public.
    """

    published: Mapping[str, Numbers]
    arrays: Arrays
    public: frozenset[str]

    @classmethod
    def of(cls, run: Run, paper: Paper[Any]) -> "Left":
        """What a run leaves, by the declarations of its paper."""
        arrays, found, public = {}, {}, set()
        for name, array in run.products().items():
            one = declared(paper.arrays, name)
            if one is not None and one.released:
                arrays[name] = found[f"array {name}"] = array
                if one.public:
                    public.add(f"array {name}")
        found |= {f"measure {name}": value for name, value in run.measured.items()}
        states = {f"state {name}": value for name, value in leaves(run.state)}
        for name, value in states.items():
            plain = name.removeprefix("state ")
            if not any(fnmatchcase(plain, raw) for raw in paper.raw):
                found[name] = value
        return cls(found, arrays, frozenset(public))

    def apart(self, other: "Left") -> list[str]:
        """The names of what is not the same bit by bit."""
        one, two = self.published, other.published
        return [
            name for name in dict.fromkeys((*one, *two))
            if name not in one or name not in two or not alike(one[name], two[name])
        ]  # fmt: skip


def alike(one: Numbers, other: Numbers) -> bool:
    """Whether two arrays have one type, one shape and the same bytes."""
    return (
        one.dtype == other.dtype and one.shape == other.shape and one.tobytes() == other.tobytes()
    )


def hollow(array: Numbers) -> bool:
    """Whether an array of floats holds no number."""
    return array.size > 0 and array.dtype.kind == "f" and bool(np.isnan(array).all())


def leaves(value: Any, name: str = "") -> Iterator[tuple[str, Numbers]]:
    """The arrays, numbers and texts in a state, by where they stand; what computes is left out."""
    match value:
        case Tensor():
            yield name or "state", value.detach().cpu().numpy()
        case np.ndarray() | np.generic() | bool() | int() | float() | str():
            yield name or "state", np.asarray(value)
        case Mapping():
            for key, item in value.items():
                yield from leaves(item, _under(name, key))
        case list() | tuple():
            for number, item in enumerate(value):
                yield from leaves(item, _under(name, number))
        case _ if is_dataclass(value) and not isinstance(value, type):
            for one in fields(value):
                yield from leaves(getattr(value, one.name), _under(name, one.name))


def _under(name: str, key: object) -> str:
    return f"{name}.{key}" if name else str(key)


def check(entry: Entry[Any], spec: Spec, n: int) -> None:
    """Makes sure that the method proves something of what it publishes.

    Raises:
        RequestError: It publishes something that no proof covers.
    """
    mechanisms = [release.mechanism for release in entry.releases(spec, n)]
    if not mechanisms or any(isinstance(mechanism, Exposed) for mechanism in mechanisms):
        raise RequestError(
            f"method: expected one whose releases are all priced, got {entry.name}: "
            "it publishes something that no proof covers"
        )


def verify(
    paper: Paper[Any], entry: Entry[Any], spec: Spec, data: Table, seed: int = 0, most: int = MOST
) -> tuple[Verdict, list[Arrays]]:
    """Replays a method to what it publishes, on few records and in few steps (`shorter`).

    Where an array of so few records holds no number, or never changes, all of them are taken.

    Args:
        paper: Says what its methods keep.
        entry: The method.
        spec: One setting.
        data: The records; the first ones are taken.
        seed: Names the noise.
        most: How many of them at most.

    Returns:
        The verdict, and the arrays that would be published of the records and of every other
        table, the records' first.

    Raises:
        RequestError: As `check`.
    """
    every, data = data, first(data, most)
    spec = shorter(entry, spec, len(data))
    check(entry, spec, len(data))
    settings = list(_settings(entry, spec, data))
    leader = _run(entry, spec, data, Generator(), seed)
    followers = [
        _run(entry, spec, table, Noting(), seed, words)
        for words, table in _tables(settings, data, relation_of(entry, spec, data))
    ]
    quiet = not _measures(_run(entry, spec, data, Generator(), seed))
    with torch.no_grad(), unmeasured() if quiet else nullcontext():
        stages = leader.lead()
        reasons, left = _unnamed(leader, stages), Left.of(leader, paper)
        changed, still = _renewed(left, leader, seed, paper)
        empty, still = _split(left, still)
        fixed = _elsewhere(still, left, _pairs(leader, followers, seed), reasons, paper)
        if (empty or fixed) and len(data) < len(every):
            return verify(paper, entry, spec, every, seed, len(every))
        theirs = [_followed(run, stages, reasons, paper) or left for run in followers]
    never = ((name, FIXED) for name in fixed)
    more = (*_apart(left, followers, theirs), *never, *_drawn(followers), *_priced(settings, seed))
    for name, reason in more:
        reasons.setdefault(name, reason)
    fixed = tuple(name for name in fixed if reasons[name] == FIXED)
    names = tuple(dict.fromkeys((RELEASES, *left.published, *reasons)))
    public = tuple(sorted(left.public - set(left.apart(changed))))
    found = Verdict(names, tuple(reasons), public, reasons, len(data), leader.total, empty, fixed)
    return found, [one.arrays for one in (left, *theirs)]


def shorter(entry: Entry[Any], spec: Spec, n: int) -> Spec:
    """A setting of at most `STEPS` steps, or of as few as its numbers admit: such as fewer epochs.

    The code is the same in every step, so a short run that reaches its end shows all of it.
    """
    for name, knob in knobs(type(spec)).items():
        while isinstance(knob, Knob) and name in entry.uses and entry.steps(spec, n) > STEPS:
            value = getattr(spec, name)
            try:
                less = spec.replace(**{name: max(type(value)(knob.bounds[0]), value // 2)})
            except SpecError:
                break
            if entry.steps(less, n) >= entry.steps(spec, n):
                break
            spec = less
    return spec


def _tables(settings: Sequence[Setting], data: Table, relation: Relation) -> list[Named]:
    """The records again, the pairs of neighbours, and tables further away."""
    return [
        ("nothing was changed", data),
        *(("without the worst case", one.pair.without) for one in settings),
        *(("with the worst case", one.pair.present) for one in settings),
        *others(data, relation),
    ]


def _run(
    entry: Entry[Any], spec: Spec, table: Table, rng: Generator, seed: int, words: str = ""
) -> Run:
    """A run of one replica that has not begun."""
    rng.manual_seed(seed)
    return Run(entry, Batch(spec, (spec,), (0,)), table, rng, words)


def _settings(entry: Entry[Any], spec: Spec, data: Table) -> Iterator[Setting]:
    """The method on pairs of neighbours: its witness's, and one record far from all others."""
    place = -1
    if entry.witness:
        yield (own := Setting.of(entry, spec, data))
        place = changed(own.pair)
    pair = lonely(data, relation_of(entry, spec, data), place)
    if pair is not None:
        witness = load(entry) if entry.witness else Witness(words="", pair=lambda *_: pair)
        yield Setting(entry, spec, pair, witness)


def _measures(run: Run) -> bool:
    """Whether a replay has to measure: measures are released, or arrays hold what measuring makes.

    Others do not, since a measure of raw records may fail on a table that no measure is made for.
    """
    if any(gauge.released for gauge in gauges(run.entry.info).values()):
        return True
    try:
        with torch.no_grad(), unmeasured():
            _alone(run)
            run.products()
    except Exception:
        return True
    return False


def _unnamed(leader: Run, stages: Sequence[Answered]) -> dict[str, str]:
    """What is wrong with noise that is added to no value, by name."""
    if leader.entry.answer or not any(stage.script.drawn for stage in stages):
        return {}
    return {
        RELEASES: "expected noise to be added to a value, or `answer` to name the field of the "
        "state that noise inside an objective leads to, got neither"
    }


def _followed(
    run: Run, stages: Sequence[Answered], reasons: dict[str, str], paper: Paper[Any]
) -> Left | None:
    """What a run leaves that follows another; None, and a reason, where it cannot follow.

    One table after another: methods keep what they compute of a few tables only.
    """
    for stage, led in enumerate(stages, BEFORE):
        try:
            run.follow(stage, led)
        except Exception as error:  # a run that ends on other records tells of the records
            run.follows = False
            said = f"{type(error).__name__}: {error}"
            reasons.setdefault(RELEASES, f"step {stage + 1}, {run.words}: {said}")
            return None
    left = Left.of(run, paper)
    run.state = None
    return left


def _alone(run: Run) -> None:
    """A whole run with noise of its own."""
    for stage in range(BEFORE, run.total):
        run.advance(stage)


def _renewed(left: Left, run: Run, seed: int, paper: Paper[Any]) -> tuple[Left, list[str]]:
    """What a run with other noise leaves behind, and the arrays that no other noise changes.

    Whole numbers may be the same by chance, so an array is compared with a further run as long as
    it was the same in all runs before.
    """
    same = {f"array {name}" for name in left.arrays} - left.public
    others = []
    for more in OTHERS:
        again = _run(run.entry, run.batch.spec, run.table, Generator(), seed + more)
        _alone(again)
        others.append(Left.of(again, paper))
        same -= set(left.apart(others[-1]))
        if not same:
            break
    return others[0], sorted(same)


def _split(left: Left, still: Sequence[str]) -> tuple[tuple[str, ...], list[str]]:
    """Of arrays that no other noise changes, those that hold no number, and the others."""
    empty = tuple(name for name in still if hollow(left.published[name]))
    return empty, [name for name in still if name not in empty]


def _pairs(leader: Run, followers: Sequence[Run], seed: int) -> Iterator[tuple[Run, Run]]:
    """For each other table, a run on it with noise of its own, and one on the records to follow."""
    entry, spec, data = leader.entry, leader.batch.spec, leader.table
    for number, run in enumerate(followers[1:], seed + max(OTHERS) + 1):
        if len(run.table) == len(data):
            said = f"the records with the releases of another table: {run.words}"
            yield (
                _run(entry, spec, run.table, Generator(), number, run.words),
                _run(entry, spec, data, Generator(), number, said),
            )


def _elsewhere(
    still: Sequence[str],
    left: Left,
    pairs: Iterable[tuple[Run, Run]],
    reasons: dict[str, str],
    paper: Paper[Any],
) -> tuple[str, ...]:
    """The arrays that never change, of those that no other noise changes.

    A run on another table releases other numbers, and one on the records follows it. An array that
    follows from releases is the same in both, and somewhere another than before. A run that ends
    on the other table is left out: its noise may have led there.

    Args:
        still: Arrays that no other noise changes.
        left: What the first run has left.
        pairs: A run on each other table, and one on the records.
        reasons: Takes, by name, why something does not follow from the releases.
        paper: Says what its methods keep.
    """
    fixed = dict.fromkeys(still)
    for other, own in pairs if still else ():
        try:
            stages = other.lead()
        except Exception:
            continue
        here = _followed(own, stages, reasons, paper)
        if here is None:
            continue
        for name in set(still).intersection(here.apart(Left.of(other, paper))):
            reasons.setdefault(name, f"expected the same as there, got another: {own.words}")
        for name in here.apart(left):
            fixed.pop(name, None)
    return tuple(name for name in fixed if name not in reasons)


def _apart(left: Left, runs: Sequence[Run], theirs: Sequence[Left]) -> Iterator[tuple[str, str]]:
    """What runs on other records leave otherwise."""
    for run, one in zip(runs, theirs, strict=True):
        for name in left.apart(one):
            yield name, f"expected the same as before, got another: {run.words}"


def _drawn(runs: Sequence[Run]) -> Iterator[tuple[str, str]]:
    """Releases that did not draw noise of their own from the run's generator.

    On as many records, the generator stands at each release where it stands on the first table.
    """
    first, *others = runs
    began = _began(first)
    if first.follows and len(began) != first.made:
        yield RELEASES, "expected all noise from the run's generator, got some from another"
    if len(set(began)) != len(began):
        yield RELEASES, "expected noise of its own for each release, got the same noise twice"
    for run in others:
        both = first.follows and run.follows and len(run.table) == len(first.table)
        if both and _began(run) != began:
            yield RELEASES, f"expected the generator to stand as before, got another: {run.words}"


def _began(run: Run) -> list[bytes]:
    """Where the generator of a run that follows another stood before each release."""
    assert isinstance(run.rng, Noting)
    return run.rng.began


def _priced(settings: Sequence[Setting], seed: int) -> Iterator[tuple[str, str]]:
    """Releases that are not as priced on two neighbours."""
    for setting in settings:
        if setting.witness.recorded:
            check = replay.faults
        elif setting.witness.implied is not None:
            check = replay.inside
        else:
            continue  # a draw of the answer itself
        try:
            for sentence in check(setting, seed):
                yield RELEASES, f"on neighbours, {sentence}"
        except Exception as error:  # as in `_followed`
            yield RELEASES, f"on neighbours: {type(error).__name__}: {error}"
