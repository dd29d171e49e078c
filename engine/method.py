"""The one interface of the engine: a method is `init` and `step`, priced by its `releases`.

A method keeps nothing between calls. What it needs is an argument, what it
learns is in the state, what it wants to show is in the info. Its entry in a
paper is torch-free, so that a page can list, price and explain a method without
loading it; `Entry.load` imports the module that runs it.
"""

import importlib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Generic, Literal, Protocol, Self, TypeVar, cast, get_args

from datasets.base import Card, Table
from engine.core import declared, kept
from engine.core.batch import Batch
from engine.core.errors import BudgetError, ExplorerError, RequestError
from engine.core.gauges import Info
from engine.core.kept import Declared
from engine.core.spec import Knob, Spec, Value, knobs
from engine.privacy.answers import UnansweredError
from engine.privacy.guarantee import STATUSES, Guarantee, Relation, assuming, for_persons
from engine.privacy.releases import Release
from engine.privacy.releases import cost as composed

if TYPE_CHECKING:
    import numpy as np
    from dp_accounting import DpEvent
    from numpy.typing import NDArray
    from torch import Generator

S = TypeVar("S", bound=Spec)
T = TypeVar("T")

Releases = Callable[[S, int], tuple[Release, ...]]
Promise = Callable[[S, int, str], Guarantee]
Role = Literal["paper", "rival", "reference", "beyond"]
ROLES: tuple[Role, ...] = get_args(Role)
RELATIONS: tuple[Relation, ...] = get_args(Relation)
Arrays = Mapping[str, "NDArray[np.generic]"]
TAKEN = (
    "The bounds were taken from the records, or chosen with them in view, and the proof takes them "
    "as public. No ε covers what they show of the smallest and the largest values."
)


class Method(Protocol[S, T]):
    """An algorithm of a paper, or a baseline that the paper compares with.

    The generator carries the device: tensors are made where it lives.
    """

    def init(self, batch: Batch[S], data: Table, rng: "Generator") -> T:
        """The state of R replicas before the first step; tensors are (R, ...)."""

    def step(
        self, batch: Batch[S], data: Table, state: T, rng: "Generator"
    ) -> tuple[T, Info | None]:
        """The next state and what was measured, if this step measures. Consumes `state`."""

    def products(self, batch: Batch[S], data: Table, state: T) -> Arrays:
        """Arrays to keep when the run ends, each with R as its leading axis."""


@dataclass(frozen=True, kw_only=True)
class Entry(Generic[S]):
    """A method as its paper lists it.

    Attributes:
        name: Key within the paper; unique, lower case with underscores.
        label: As a page shows it.
        summary: One sentence: what it does and where its noise enters.
        module: Dotted name of the module whose METHOD runs it; where a module holds several
            methods, with a colon and the method's name there: "engine.papers.lvq.descent:GLVQ".
        info: The class of what `step` reports.
        steps: How many steps a spec asks for on n records; 1 for a closed form.
        releases: Every release of a whole run on n records, for a spec: mechanism, how often,
            on which sample. Reads no data. `init` and `step` draw from the same mechanisms.
        guarantee: The card for a spec, a number of records n and the record's name.
        uses: The fields that change its result; other fields do not name its runs.
        fixed: Fields that it sets whatever the spec says, as its jobs and exports show them.
        role: Whether it is the paper's own, a rival it compares with, a non-private
            reference line, or ours beyond the paper.
        chunk: Replicas that step together, from (spec, n, device); measured, not guessed.
        resumes: Whether a stopped run goes on where it was (`engine.runs.checkpoint.Resumable`).
        brief: Its label in a legend, where there is little room; empty for the label itself.
        twin: The reference that is the same without privacy, which its cost is counted from; empty
            for the best reference of its paper.
        witness: Dotted name of its worst case, "module:NAME" (`engine.audit.witness`), which an
            audit attacks it with; empty without privacy.
        answer: Field of the state that is the release, where noise enters an objective or the
            answer itself is drawn; empty where noise is added to values.
        whole: Where all its releases are of whole numbers: how far one record moves each of them,
            in turn, as a whole number, in L1 norm where noise is Laplace and squared in L2 norm
            where it is Gaussian (`engine.privacy.exact`). None otherwise.
        refines: Whether it releases values that depend neither on ε nor on earlier releases, with
            Gaussian noise on all records: then a search can begin with much noise and reduce it
            (`engine.privacy.refining`).
        width: From a spec and a data set, how many numbers a release has, where a bound through the
            curve of its noise needs them; 0 elsewhere.
        unsure: Why its coefficients have no intervals; empty where they have, or have none.
        needs_fixed: What a request is told where covariates vary in time and its proof or its
            answer needs them fixed, as a run says it; empty where they may vary.
        sized: Where a price depends on the number of features: from a data set's card, the
            `releases` and the `guarantee` there, which prove more than those without it.
    """

    name: str
    label: str
    summary: str
    module: str
    info: type[Info]
    steps: Callable[[S, int], int]
    releases: Releases[S]
    guarantee: Promise[S]
    uses: tuple[str, ...]
    fixed: tuple[tuple[str, Value], ...] = ()
    role: Role = "paper"
    chunk: Callable[[S, int, str], int] = field(default=lambda spec, n, device: 2**30)
    resumes: bool = False
    brief: str = ""
    twin: str = ""
    witness: str = ""
    answer: str = ""
    whole: tuple[int, ...] | None = None
    refines: bool = False
    width: Callable[[S, Card], int] = lambda spec, data: 0
    unsure: str = ""
    needs_fixed: str = ""
    sized: Callable[[Card], tuple[Releases[S], Promise[S]]] | None = None

    @classmethod
    def declared(cls, package: str, name: str, **code: Any) -> Self:
        """The entry whose words stand in the table `[methods.NAME]` of a package's `paper.toml`.

        Args:
            package: The paper's; modules are named from there.
            name: Of the method.
            code: The other attributes: functions and classes, and what they make of fields.
        """
        table = declared.values(declared.kind(package, "methods"), name)
        _place(table, package, ("module", "witness"))
        fixed = tuple(table.pop("fixed", {}).items())
        return cls(name=name, fixed=fixed, **(table | code))

    def on(self, data: Card) -> "Entry[S]":
        """The method as it is priced on a data set, whose number of features is known."""
        if self.sized is None:
            return self
        releases, guarantee = self.sized(data)
        return replace(self, releases=releases, guarantee=guarantee, sized=None)

    def cost(self, spec: S, n: int, steps: int) -> "DpEvent":
        """Everything that so many steps on n records release, as an accountant's event."""
        return composed(self.releases(spec, n), steps)

    def promise(self, spec: S, data: Card) -> Guarantee:
        """The card for a spec on a data set, by its public bounds and the rows that a person has.

        Raises:
            BudgetError: So large a loss that no accountant's grid holds it.
            RequestError: A status that no card has, or code of the method that fails.
        """
        try:
            row = self.on(data).guarantee(spec, data.records, data.record)
            card = for_persons(row, data.rows)
        except OverflowError:
            raise BudgetError(
                "epsilon: expected a loss that an accountant can add up, got settings with so "
                f"little noise that it cannot ({self.label})"
            ) from None
        except (ExplorerError, UnansweredError, TimeoutError, MemoryError, OSError):
            raise
        except Exception as error:  # anything: the code of a paper is anybody's
            said = f"{type(error).__name__}: {error}".rstrip(": ")
            raise RequestError(f"{self.name}: expected a guarantee, got {said}") from error
        if card.status not in STATUSES:
            raise RequestError(
                f"status: expected one of {', '.join(STATUSES)}, got {card.status!r} ({self.label})"
            )
        return assuming(card, TAKEN) if data.taken else card

    def load(self) -> Method[S, Any]:
        """Imports the module that runs this method; the first call loads torch."""
        module, _, name = self.module.partition(":")
        return cast(Method[S, Any], getattr(importlib.import_module(module), name or "METHOD"))


@dataclass(frozen=True, kw_only=True)
class Groups:
    """Whose results a paper compares: who pays for privacy.

    Attributes:
        measure: What is measured of each group.
        cost: What a group loses, one and several of it: "point" and "points".
        scale: What a measured value is multiplied with, to be in that unit.
        better: Which way is good.
        names: What the groups are called, from the data set's card.
        made: Dotted name of the function, "module:name", that says from (spec, data, arrays, seeds)
            the measure of each group and its number of records, shape (R, g, 2), or None where
            arrays do not tell (`engine.runs.groups`).
        words: How the records are split and what is measured, in a sentence.
        counted: Whether the measure is the share of a group's records that are right.
        each: How many of these records are of one person at most, and so hang together.
    """

    measure: str
    cost: tuple[str, str]
    names: Callable[[Card], tuple[str, ...]]
    made: str
    words: str
    scale: float = 100.0
    better: Literal["up", "down"] = "up"
    counted: bool = False
    each: int = 1


@dataclass(frozen=True, kw_only=True)
class Paper(Generic[S]):
    """A publication: what it says, what it takes and what it compares.

    Attributes:
        slug: Name of the package; goes in the address bar.
        title: As a page shows it.
        citation: Authors, year and identifier.
        claim: The theorem in one line, with its unit of privacy.
        relation: Which two data sets the theorem calls neighbours.
        spec: The class of the parameters.
        methods: The paper's own methods first, then its rivals and references.
        datasets: Names of modules in `datasets`, the default first.
        gauge: The gauge that the utility curve shows first.
        exhibits: Dotted name of the module whose EXHIBITS are the paper's tables and
            figures; empty while there is none.
        own: Which tables of the user's own it takes: "survival", "classes", "images" (of
            classes); empty for none.
        seeds_split: Whether a seed names the records that are used or tested on, so that only runs
            of the same seeds can be compared.
        seeds_start: Whether a training without noise follows from its seed too, which draws its
            start or the order of the records: then it is repeated like any other.
        opening: Settings that its page and a bare command open with, where the defaults do not show
            it at its best.
        settings: By data set, the values that stand for its spec's defaults there, on the page and
            in every request that does not say otherwise. They are chosen on public data, or on a
            part of the records that are trained on, never on those that are tested on.
        arrays: What its methods' `products` keep, by name.
        raw: What of its methods' states is computed from raw records: names of fields, with dots
            for what lies within and stars for any part. All else has to follow from releases
            (`engine.audit.published`).
        model: What the numbers of a fitted model mean, for a spec and a data set: names of
            parameters, what they multiply, which records are tested on. For exports.
        scores: Dotted name of the function, "module:name", that says from (spec, data, arrays) how
            well what a run kept describes the raw records. For exports; empty for none.
        judge: Dotted name of the function that says from (spec, data, arrays) how well released
            arrays describe each record, from 0 to 1, shape (R, n): of that record and the arrays
            alone. A private choice among methods sums it; empty where there is none.
        estimates: Dotted name of the function that says from (entry, spec, data, arrays, gauges)
            of one replica what else than coefficients a person would quote of it, with intervals
            (`engine.intervals`). No torch there; empty where there is nothing.
        groups: Whose results are compared; None where records have no groups.
    """

    slug: str
    title: str
    citation: str
    claim: str
    relation: Relation
    spec: type[S]
    methods: tuple[Entry[S], ...]
    datasets: tuple[str, ...]
    gauge: str
    exhibits: str = ""
    own: Literal["", "survival", "classes", "images"] = ""
    seeds_split: bool = False
    seeds_start: bool = False
    opening: Mapping[str, Value] = field(default_factory=dict)
    settings: Mapping[str, Mapping[str, Value]] = field(default_factory=dict)
    arrays: Declared = field(default_factory=dict)
    raw: tuple[str, ...] = ()
    model: Callable[[S, Card], Mapping[str, Any]] = lambda spec, card: {}
    scores: str = ""
    judge: str = ""
    estimates: str = ""
    groups: Groups | None = None

    @classmethod
    def declared(cls, package: str, **code: Any) -> Self:
        """The paper of the tables `[paper]` and `[arrays]` of a package's `paper.toml`.

        Args:
            package: Its package; modules are named from there.
            code: The other attributes: its spec, its methods, and what `model` computes.
        """
        table = declared.values({"paper": declared.kind(package, "paper")}, "paper")
        arrays = kept.arrays(declared.kind(package, "arrays"), table.pop("undrawn", ()))
        _place(table, package, ("exhibits", "scores", "judge", "estimates"))
        model = dict(declared.kind(package, "model"))
        table |= {"arrays": arrays, "model": lambda spec, card: model}
        return cls(**(table | code))

    def on(self, data: Card) -> Self:
        """The paper on a data set: a knob that is the number of a feature stays among them.

        Where there are fewer features than its default, the last one stands for that.
        """
        usual = self.usual(data.name)
        most = {
            name: int(max(knob.bounds[0], len(data.features)))
            for name, knob in knobs(self.spec).items() if isinstance(knob, Knob) and knob.feature
        }  # fmt: skip
        moved = {name: last for name, last in most.items() if float(usual[name]) > last}
        own = {**self.settings.get(data.name, {}), **moved}
        return replace(self, settings={**self.settings, data.name: own}) if moved else self

    def usual(self, dataset: str) -> dict[str, Value]:
        """The value of every setting on a data set, where a request does not say."""
        return {**self.spec().values(), **self.settings.get(dataset, {})}

    def opens(self, dataset: str = "") -> dict[str, Value]:
        """The value of every setting when its page is opened, or turned to another data set."""
        return {**self.usual(dataset or self.datasets[0]), **self.opening}

    def begins(self, method: str, dataset: str) -> dict[str, Value]:
        """The values of a method's run where nobody moves a setting, on a page or in a command.

        Those of `opens` for the fields that the method uses; a request leaves the others as usual.
        """
        entry = next((entry for entry in self.methods if entry.name == method), None)
        uses, fixed = ((), ()) if entry is None else (entry.uses, entry.fixed)
        moved = {field: value for field, value in self.opening.items() if field in uses}
        return {**self.usual(dataset), **moved, **dict(fixed)}

    def takes(self, data: Card) -> bool:
        """Whether a table of the user's own is of its kind."""
        if self.own == "survival":
            return data.classes is None
        return (
            self.own != ""
            and data.classes is not None
            and (self.own == "classes" or data.image is not None)
        )

    def entry(self, name: str) -> Entry[S]:
        """The method of that name.

        Raises:
            RequestError: There is none.
        """
        for entry in self.methods:
            if entry.name == name:
                return entry
        names = ", ".join(entry.name for entry in self.methods)
        raise RequestError(f"method: expected one of {names}, got {name!r}")


def _place(table: dict[str, Any], package: str, keys: Iterable[str]) -> None:
    """Makes names of modules within a package whole, where a table has them."""
    for key in keys:
        if key in table:
            table[key] = f"{package}.{table[key]}"
