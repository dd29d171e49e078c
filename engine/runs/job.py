"""A run as a value: what to do, small enough to send to another machine.

Two jobs that ask for the same numbers have the same id, so a run that exists is
read, not repeated. Fields that a method does not use are left at their defaults:
moving the privacy slider does not name a new run of a method that adds no noise.
Nor does a field name a run while it stands at what it stood for when the first
runs were named (`engine.runs.naming`): a knob that is added renames none.
"""

import dataclasses
import functools
import hashlib
import json
import math
import sys
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from numbers import Integral
from typing import Any, Self

from datasets import catalog as data_catalog
from datasets import own
from datasets.base import Card, SurvivalTable
from engine import __version__
from engine.audit.entry import audited
from engine.catalog import catalog, paper
from engine.core import stored as reading
from engine.core.batch import Batch
from engine.core.errors import DatasetError, RequestError, SpecError
from engine.core.spec import Spec, Value, knobs
from engine.method import Entry, Paper
from engine.runs import naming

Axes = tuple[tuple[str, tuple[Value, ...]], ...]
"""Axes as a text holds them: in order."""
MOST_REPLICAS = 100_000
"""More settings than this in one job is taken for a slip of the keyboard."""
MOST_STEPS = 1_000_000
"""More training steps than this take days, and an accountant minutes to price."""


@dataclass(frozen=True, kw_only=True)
class Job:
    """Names, numbers and nothing that cannot be written as JSON. Made by `request`.

    Attributes:
        paper: Slug of the paper.
        method: Name of the method within the paper.
        dataset: Name of the data set.
        values: What all replicas share, by field.
        axes: The replica axes, by field, in the order of the grid.
        seeds: The seeds of the repetitions.
        simulated: Whether the data set of that name was a simulator's when this was asked.
        audit: Whether the method is attacked instead of measured; a seed is a pair of trainings.
        version: The engine that the numbers come from; no part of the id.
        stored: The id under which an earlier version stored it; empty for today's.
    """

    paper: str
    method: str
    dataset: str
    values: dict[str, Value]
    axes: dict[str, tuple[Value, ...]]
    seeds: tuple[int, ...]
    simulated: bool = False
    audit: bool = False
    version: str = __version__
    stored: str = dataclasses.field(default="", compare=False)

    @functools.cached_property
    def id(self) -> str:
        """Twelve hexadecimal digits that name the run of this job."""
        return self.stored or hashlib.sha256(_json(self.identity()).encode()).hexdigest()[:12]

    def identity(self) -> dict[str, Any]:
        """What the id is a hash of; the order of axes is part of it."""
        return {
            "paper": self.paper,
            "method": self.method,
            "dataset": self.dataset,
            "values": self._said(),
            "axes": list(self.axes.items()),
            "seeds": self.seeds,
            "simulated": self.simulated,
            **({"audit": True} if self.audit else {}),
        }

    def _said(self) -> dict[str, Value]:
        """The values that name the run; all of them where its paper or its method is gone."""
        publication = catalog().get(self.paper)
        uses = {e.name: e.uses for e in publication.methods} if publication else {}
        if publication is None or self.method not in uses:
            return self.values
        left_out = naming.left_out(publication)
        return {
            name: value
            for name, value in self.values.items()
            if name in uses[self.method] and name not in self.axes and value != left_out[name]
        }

    def text(self) -> str:
        """The job as JSON, with every value; what `read` reads."""
        return self._text

    @functools.cached_property
    def _text(self) -> str:
        """Written once: a page needs it to submit a job, to find its row and to compare it."""
        body = {
            one.name: getattr(self, one.name) for one in dataclasses.fields(self) if one.compare
        }
        return _json({**body, "axes": list(self.axes.items())})

    @classmethod
    def read(cls, text: str, stored: str = "") -> Self:
        """The job that `text` was written from, today or by an earlier version.

        A field that has come since stands at what its absence meant; one that has gone is
        dropped.

        Args:
            text: What `text` returned.
            stored: The id of its row in a store; kept where today's code names it otherwise.

        Raises:
            ValueError: The text is damaged; the field is named, with what was expected.
        """
        body = reading.read(dict[str, Any], reading.parsed(text))
        axes = reading.read(dict[str, Axes], {"axes": body.get("axes")})["axes"]
        job = reading.read(cls, {**body, "axes": dict(axes)})
        if not job.seeds or not all(job.axes.values()):
            raise ValueError("seeds, axes: expected at least one value of each, got none")
        if publication := catalog().get(job.paper):
            fields = naming.left_out(publication)
            if gone := [axis for axis in job.axes if axis not in fields]:
                raise ValueError(
                    f"axes: expected knobs of {job.paper}, got {reading.shown(gone[0])}"
                )
            values = {f: job.values.get(f, value) for f, value in fields.items()}
            job = replace(job, values=values)
        return job if stored == job.id else replace(job, stored=stored)

    def renamed(self) -> Self:
        """The same job under the id that today's code gives it."""
        return replace(self, stored="", version=__version__)

    def entry(self) -> Entry[Any]:
        """The method that this job runs, as it is priced on its data set, or the audit of it."""
        entry = paper(self.paper).entry(self.method)
        if entry.sized is not None:
            with suppress(DatasetError, RequestError):  # a table that was removed
                entry = entry.on(data_catalog.card(self.dataset))
        return audited(entry) if self.audit else entry

    def spec(self) -> Spec:
        """What all replicas share."""
        return self._spec

    @functools.cached_property
    def _spec(self) -> Spec:
        """Read once: pages ask for it at every move of a slider."""
        spec: Spec = paper(self.paper).spec.parse(self.values)
        return spec

    def batch(self) -> Batch[Any]:
        """The settings of all replicas, in the order of their rows."""
        return Batch.grid(self.spec(), self.axes, self.seeds)

    def replicas(self) -> int:
        """How many settings the job trains."""
        return len(self.seeds) * math.prod(map(len, self.axes.values()))


def _json(body: Any) -> str:
    return json.dumps(body, sort_keys=True, separators=(",", ":"))


def request(
    paper_slug: str,
    method: str,
    dataset: str,
    values: Mapping[str, Any] | None = None,
    axes: Mapping[str, Sequence[Any]] | None = None,
    seeds: Sequence[int] = (0,),
    *,
    audit: bool = False,
) -> Job:
    """The job that a user asks for, checked and in canonical form.

    >>> curve = request("mean", "laplace", "flchain", {"records": 100}, {"epsilon": (0.1, 1, 10)})
    >>> curve.replicas()
    3

    Args:
        paper_slug: Slug of the paper.
        method: Name of the method.
        dataset: Name of the data set.
        values: Fields that differ from their defaults on the data set, as numbers or texts.
        axes: Fields that vary inside the run; repeated values are dropped.
        seeds: Seeds of the repetitions.
        audit: Whether to attack the method; seeds then count trainings.

    Raises:
        RequestError: A name that does not exist, or axes, seeds or steps that cannot be run.
        SpecError: A value that its knob does not admit.
    """
    _names(paper=paper_slug, method=method, dataset=dataset)
    publication = paper(paper_slug)
    entry = publication.entry(method)
    card = _data(publication, dataset)
    axes = dict(axes or {})
    values = _values(publication.on(card), dataset, values or {}, axes)
    swept = _axes(publication, axes, values)
    shared = publication.spec.parse(values).values()
    usual = {**publication.usual(dataset), **dict(entry.fixed)}
    job = Job(
        paper=paper_slug,
        method=method,
        dataset=dataset,
        values={f: v if f in entry.uses else usual[f] for f, v in shared.items()},
        axes={f: v for f, v in swept.items() if f in entry.uses},
        seeds=_seeds(seeds),
        simulated=card.simulated,
        audit=audit,
    )
    _within_reach(job, card.records)
    return job


def all_used(paper_slug: str, methods: Sequence[str], fields: Iterable[str]) -> None:
    """Raises `RequestError` where a field that is set is used by no method: it changes nothing."""
    known = dict.fromkeys(use for name in methods for use in paper(paper_slug).entry(name).uses)
    for field in fields:
        if field not in known:
            raise RequestError(
                f"{field}: expected a knob that {' or '.join(methods)} uses "
                f"({', '.join(known) or 'none'}), got {field!r}"
            )


def sound(job: Job) -> Job:
    """The job, if its method may promise something about its data set.

    Raises:
        RequestError: Covariates vary in time, and the method needs them fixed.
    """
    if said := refusal(job.entry(), job.dataset):
        raise RequestError(said)
    return job


def refusal(entry: Entry[Any], dataset: str) -> str:
    """Why a method promises nothing about a data set, as its run says it; empty where it does."""
    return entry.needs_fixed if entry.needs_fixed and varies(dataset) else ""


def varies(dataset: str) -> bool:
    """Whether covariates of a data set vary in time. Reads no records but of installed packages.

    The file of an own table tells it by the names of its arrays. A module here has such covariates
    if it reads the long format.
    """
    if own.mine(dataset):
        return own.varies(dataset)
    module = sys.modules.get(f"datasets.{dataset}")
    return "long_table" in vars(module) if module else _has_episodes(dataset)


@functools.cache
def _has_episodes(dataset: str) -> bool:
    """The same of a data set that another package brings; one that cannot be read has none."""
    with suppress(DatasetError):
        data = data_catalog.load(dataset)
        return isinstance(data, SurvivalTable) and data.episodes is not None
    return False


def _names(**names: object) -> None:
    """Refuses what is no text where a name stands."""
    for field, name in names.items():
        if not isinstance(name, str):
            raise RequestError(f"{field}: expected a name, got {reading.shown(name)}")


def _values(
    publication: Paper[Any], dataset: str, values: Mapping[str, Any], axes: Mapping[str, Any]
) -> dict[str, Any]:
    """The values that a request says, and those that the paper sets for the data set."""
    moved = publication.settings.get(dataset, {})
    return {**{field: value for field, value in moved.items() if field not in axes}, **values}


def _data(publication: Paper[Any], dataset: str) -> Card:
    """The card of a data set that the paper takes: one of its own, or a user's of its kind."""
    if dataset not in publication.datasets and not (publication.own and own.mine(dataset)):
        raise RequestError(
            f"dataset: expected one of {', '.join(publication.datasets)}, got {dataset!r}"
        )
    card = data_catalog.card(dataset)
    if own.mine(dataset) and not publication.takes(card):
        kinds = {
            "survival": "times and events",
            "classes": "classes",
            "images": "images and classes",
        }
        raise RequestError(
            f"dataset: expected a table of {kinds[publication.own]} for {publication.slug}, "
            f"got {dataset!r}"
        )
    return card


def _within_reach(job: Job, n: int) -> None:
    """Refuses too many replicas, and millions of training steps; names the field to blame."""
    if not 0 < job.replicas() <= MOST_REPLICAS:
        raise RequestError(f"expected 1 to {MOST_REPLICAS} replicas, got {job.replicas()}")
    _agree(job.spec(), tuple(job.axes.items()))
    entry, spec = job.entry(), job.spec()
    count = entry.steps(spec, n)
    if count <= MOST_STEPS:
        return
    usual, values = type(spec)().values(), spec.values()
    fewer = {}
    for field in entry.uses:
        with suppress(SpecError):  # a default may contradict another field
            fewer[field] = entry.steps(type(spec).parse({**values, field: usual[field]}), n)
    cause = min(fewer, key=fewer.__getitem__)
    raise RequestError(
        f"{cause}: expected a value that means at most {MOST_STEPS:,} training steps with the "
        f"other settings, got {values[cause]:g}, which means {count:,}"
    )


@functools.lru_cache(maxsize=1024)
def _agree(spec: Spec, axes: Axes) -> None:
    """Finds contradicting fields of any single replica before anything runs."""
    Batch.grid(spec, dict(axes), (0,))


def _axes(
    publication: Paper[Any], axes: Mapping[str, Sequence[Any]], values: dict[str, Any]
) -> dict[str, tuple[Value, ...]]:
    """The axes with their values read; the shared value becomes the first of each."""
    swept: dict[str, tuple[Value, ...]] = {}
    for field, texts in axes.items():
        read = tuple(dict.fromkeys(publication.spec.read(field, text) for text in texts))
        if not knobs(publication.spec)[field].axis:
            can = ", ".join(f for f, knob in knobs(publication.spec).items() if knob.axis)
            raise RequestError(f"{field}: expected an axis to sweep ({can}), got {field!r}")
        if field in values and values[field] not in (read or (None,)):
            raise RequestError(f"{field}: expected a value or a sweep, got both")
        if not read:
            raise RequestError(f"{field}: expected at least one value to sweep, got none")
        swept[field] = read
        values[field] = read[0]
    return swept


def _seeds(seeds: Sequence[int]) -> tuple[int, ...]:
    """Distinct seeds, each within the range of a generator."""
    if isinstance(seeds, str) or not isinstance(seeds, Iterable):
        raise RequestError(f"seeds: expected whole numbers, got {reading.shown(seeds)}")
    for seed in seeds:
        whole = isinstance(seed, Integral) and not isinstance(seed, bool)
        if not whole or not 0 <= seed < 2**31:
            raise RequestError(
                f"seeds: expected whole numbers from 0 to 2147483647, got {reading.shown(seed)}"
            )
    return tuple(dict.fromkeys(map(int, seeds)))
