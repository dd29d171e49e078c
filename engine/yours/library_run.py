"""A run of another library: what it claims, and what its sampling as executed proves.

A training script writes a small JSON file in the form of `library-run.schema.json`
(`engine.yours.writers` has writers for Opacus and jax-privacy). The commonest mistake is batches
cut from a shuffled order that are priced as if coins had drawn them; the card then states both
numbers.
"""

import functools
import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

from engine.core.errors import RequestError
from engine.privacy.guarantee import POISSON, Guarantee, Relation
from engine.privacy.mechanisms import Gaussian, Laplace
from engine.privacy.releases import Release, cost
from engine.yours import card_file, forms
from engine.yours.function import Attacked

FORMAT, VERSION = "epsilon-explorer/library-run", 1
SCHEMA = Path(__file__).with_name("library-run.schema.json")
Sampling = Literal["poisson", "shuffled", "all"]
"""By coins; cut from an order that is shuffled in every epoch; every record in every step."""
SAMPLING: dict[Sampling, str] = {
    "poisson": POISSON,
    "shuffled": "Batches are cut from a shuffled order, so a record is in one step of each epoch",
    "all": "",
}
SETTINGS = ("noise_multiplier", "clipping_norm", "rate", "cycle", "steps", "epsilon_claimed")
"""What may differ between the results of a run."""
KNOWN: dict[str, Literal["up", "down"]] = {"accuracy": "up", "error": "down"}
"""Measures, from 0 to 1, whose good end a file need not say."""
SEED = "seed"
COUNTS = ("records", "steps", "cycle")
"""Fields that are whole numbers."""
POINTS = 50
"""Different ε of one run at most: each is priced."""
CLOSE = 0.01
"""Two numbers of ε that differ by a smaller part of them are the same to a reader."""


@dataclass(frozen=True, kw_only=True)
class LibraryRun:
    """What a training script says of itself.

    Attributes:
        library: Name and version.
        records: Number of records.
        noise_multiplier: Scale of the noise of every step's sum over the clipping norm.
        clipping_norm: Bound on each record's part.
        sampling: How records came into batches when it ran.
        rate: Part of the records in a batch, on average; where coins draw from groups that take
            turns, the probability of the coin: part of the group whose turn it is.
        steps: Training steps that were taken.
        epsilon_claimed: What the library says it spent.
        delta: At which δ.
        mechanism: Whose noise is added to every step's sum.
        cycle: Of so many successive steps a record is in one at most; of shuffled batches, if it is
            0, so many as the rate allows.
        relation: Which two data sets are neighbours.
        dataset: Name of the data.
        method: What was trained.
        unit: What one record is.
        measures: Which way each measure of the results is good.
        results: Measured values, one entry for each repetition at each ε.
    """

    library: str
    records: int
    noise_multiplier: float
    clipping_norm: float
    sampling: Sampling
    rate: float
    steps: int
    epsilon_claimed: float
    delta: float
    mechanism: Literal["gaussian", "laplace"] = "gaussian"
    cycle: int = 0
    relation: Relation = "add_or_remove_one"
    dataset: str = "not said"
    method: str = "private training"
    unit: str = "one record"
    measures: tuple[tuple[str, Literal["up", "down"]], ...] = ()
    results: tuple[Mapping[str, float], ...] = ()

    def releases(self, sampling: Sampling | None = None) -> tuple[Release, ...]:
        """What its steps release, as executed or as if another sampling had been executed.

        Guarantees:
            Of a shuffled order cut into 1/q batches a record is in one batch of each epoch, so an
            epoch costs one full release by parallel composition, and gains no amplification. This
            compares a record with an empty place (`neighbours`): with a record more, all others
            would be cut into other batches. Of groups that take turns a record is in one of so many
            steps, by its coin.
        """
        kind = sampling or self.sampling
        noise = (
            Gaussian(self.clipping_norm, self.noise_multiplier)
            if self.mechanism == "gaussian"
            else Laplace(self.clipping_norm, 1.0 / self.noise_multiplier)
        )
        turns = self.cycle if kind == self.sampling else 0
        if kind == "shuffled" and not turns:
            turns = math.floor(1.0 / self.rate + 1e-9)
        return (
            Release(
                noise, times=self.steps, what="sum of clipped gradients",
                rate=self.rate if kind == "poisson" else 1.0, disjoint=max(1, turns),
            ),
        )  # fmt: skip

    @property
    def longest(self) -> int:
        """The longest `cycle` that its batches allow.

        Of a shuffled order cut into batches of a share q there are at most 1/q, rounded up. In
        turns no more groups come than there are records. Without batches there are no turns.
        """
        if self.sampling == "all":
            return 1
        if self.sampling == "poisson":
            return self.records
        return min(self.records, math.ceil((1.0 - 1e-12) / self.rate))

    @property
    def neighbours(self) -> Relation:
        """The relation of what is proved: of shuffled batches that of an empty place."""
        return "zero_out_one" if self.sampling == "shuffled" else self.relation

    def epsilon(self, sampling: Sampling | None = None) -> float:
        """What those releases cost at its δ.

        Raises:
            RequestError: Numbers so far apart that no accountant can add them up.
        """
        from engine.privacy import accounting

        event = cost(self.releases(sampling))
        try:
            return accounting.epsilon(event, self.delta, self.neighbours, tight=True)
        except ArithmeticError:
            raise RequestError(
                f"steps: expected a training that an accountant can price, got {self.steps} steps "
                f"of noise {self.noise_multiplier:g} at rate {self.rate:g}"
            ) from None

    @functools.cached_property
    def points(self) -> dict[float, "AtBudget"]:
        """Its results by the claimed ε, ascending; none without results."""
        rows: dict[float, list[Mapping[str, float]]] = {}
        for row in self.results:
            rows.setdefault(row.get("epsilon_claimed", self.epsilon_claimed), []).append(row)
        return {at: AtBudget(self._at(rows[at][0]), tuple(rows[at])) for at in sorted(rows)}

    def _at(self, row: Mapping[str, Any]) -> "LibraryRun":
        """The training of one result."""
        own = {name: row[name] for name in SETTINGS if name in row}
        return replace(self, results=(), **own)

    def alike(self) -> bool:
        """Whether all results at one ε are of one training."""
        return all(
            self._at(row) == point.run for point in self.points.values() for row in point.rows
        )

    @property
    def good(self) -> dict[str, Literal["up", "down"]]:
        """What its results measure, and which way each measure is good."""
        named = {name for row in self.results for name in row if name not in (*SETTINGS, SEED)}
        said = KNOWN | dict(self.measures)
        return {name: said[name] for name in sorted(named)}


@dataclass(frozen=True)
class AtBudget:
    """The results at one ε.

    Attributes:
        run: Its training, without results.
        rows: The results.
    """

    run: LibraryRun
    rows: tuple[Mapping[str, float], ...]


def card(run: LibraryRun) -> Guarantee:
    """Claimed by the library, proved for the sampling that was executed."""
    return priced(run, run.epsilon(), run.epsilon("poisson"))


def priced(run: LibraryRun, proved: float, poisson: float) -> Guarantee:
    """The card of a run whose prices are known.

    Args:
        run: The run.
        proved: Its ε for the sampling that was executed.
        poisson: Its ε as if coins had drawn the batches.
    """
    reasons = [f"Each step's sum has noise of {run.noise_multiplier:g} times the clipping norm."]
    if run.sampling == "shuffled":
        reasons.append(
            f"Batches were cut from a shuffled order. Priced as if coins had drawn them, the run "
            f"would cost ε = {poisson:.4g}; as executed it costs {proved:.4g}."
            if math.isfinite(proved)
            else "Batches were cut from a shuffled order."
        )
        reasons.append(
            "The number of records counts as public, because with one more all batches would be "
            "cut elsewhere."
        )
    elif run.cycle > 1:
        reasons.append(
            f"The records took turns in {run.cycle} groups. In the steps of its group a record was "
            f"drawn with probability {run.rate:g}."
        )
    if not math.isfinite(proved):
        reasons.append(f"No finite ε is proved of {run.mechanism} noise at δ = {run.delta:g}.")
    elif run.epsilon_claimed < proved * (1 - CLOSE):
        reasons.append(
            f"{run.library} claims ε = {run.epsilon_claimed:.4g}, which is less than is proved."
        )
    reasons.append("The file says what was executed; this program has not seen it run.")
    return Guarantee(
        mechanism=f"{run.mechanism.capitalize()} noise on the sum of clipped gradients",
        status="proved_under_assumption" if math.isfinite(proved) else "heuristic",
        epsilon_claimed=run.epsilon_claimed,
        epsilon_proved=proved if math.isfinite(proved) else None,
        delta=run.delta,
        relation=run.neighbours,
        unit=run.unit,
        accountant="dp-accounting, for the sampling that was executed",
        sampling=SAMPLING[run.sampling],
        released=("the trained parameters",),
        reasons=tuple(reasons),
        claimant=f"{run.library} claims",
    )


def document(run: LibraryRun, attacked: Attacked | None = None) -> forms.Document:
    """The run as a card file, with its results, and what an attack on its function showed."""
    content = {
        "program": run.library, "paper": run.library.split(" ")[0], "method": run.method,
        "dataset": run.dataset, "records": run.records, "rows": 1, "delta_of_a_row": run.delta,
        "settings": {
            "noise_multiplier": run.noise_multiplier, "clipping_norm": run.clipping_norm,
            "sampling": run.sampling, "rate": run.rate, "steps": run.steps,
            **({"cycle": run.cycle} if run.cycle > 1 else {}),
        },
        "results": [dict(row) for row in run.results],
        **({} if attacked is None else {"attacked": attacked.json()}),
    }  # fmt: skip
    return card_file.signed(content, run.releases(), card(run))


def parsed(content: bytes) -> LibraryRun:
    """The run of a text in JSON.

    Raises:
        RequestError: A field that is missing or out of range; names the field.
    """
    told = forms.checked(content, SCHEMA, "run")
    return _made({name: told[name] for name in told if name not in ("format", "version")})


def checked(told: Mapping[str, Any]) -> LibraryRun:
    """A run of its fields; errors as `parsed`."""
    forms.conforms({"format": FORMAT, "version": VERSION, **told}, SCHEMA, "run", RequestError)
    return _made(told)


def _whole(told: Mapping[str, Any]) -> dict[str, Any]:
    """Fields with counts as whole numbers: R writes 300.0, which the schema takes for one."""
    return {name: int(value) if name in COUNTS else value for name, value in told.items()}


def _made(told: Mapping[str, Any]) -> LibraryRun:
    """A run of fields in the form of the schema.

    Raises:
        RequestError: Results that do not fit together.
    """
    measures = tuple(sorted(told.get("measures", {}).items()))
    results = tuple(_whole(row) for row in told.get("results", ()))
    run = LibraryRun(**{**_whole(told), "measures": measures, "results": results})
    try:
        good = run.good
    except KeyError as error:
        name = error.args[0]
        raise RequestError(
            f'measures: expected {{"{name}": "up"}} or "down", whichever is good, got none'
        ) from None
    if len(run.points) > POINTS:
        raise RequestError(f"results: expected at most {POINTS} ε, got {len(run.points)}")
    for one in (run, *(point.run for point in run.points.values())):
        if one.cycle > one.longest:
            raise RequestError(
                f"cycle: expected at most {one.longest} steps with {one.sampling} batches at rate "
                f"{one.rate:g} of {one.records} records, got {one.cycle}"
            )
    if not run.alike():
        raise RequestError(
            f"results: expected the same {', '.join(SETTINGS[:-1])} in all results at one "
            "epsilon_claimed, got several"
        )
    for name in KNOWN.keys() & good.keys():
        if not all(0.0 <= row.get(name, 0.0) <= 1.0 for row in run.results):
            raise RequestError(f"{name}: expected shares from 0 to 1, got one beyond")
    return run
