"""A run of another library as a card: what it claims, and what its sampling as executed proves.

A training script writes a small JSON file (`opacus_run` writes it from Opacus' objects). The
commonest mistake is batches cut from a shuffled order that are priced as if coins had drawn them;
the card then states both numbers.
"""

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, get_args

from engine.core.errors import RequestError
from engine.privacy.guarantee import POISSON, Guarantee
from engine.privacy.mechanisms import Gaussian, Laplace
from engine.privacy.releases import Release, cost
from engine.yours import card_file

FORMAT, VERSION = "epsilon-explorer/library-run", 1
Sampling = Literal["poisson", "shuffled", "all"]
"""By coins; cut from an order that is shuffled in every epoch; every record in every step."""
SAMPLING: dict[Sampling, str] = {
    "poisson": POISSON,
    "shuffled": "Batches are cut from a shuffled order, so a record is in one step of each epoch",
    "all": "",
}


@dataclass(frozen=True, kw_only=True)
class LibraryRun:
    """What a training script says of itself.

    Attributes:
        library: Name and version.
        records: Number of records.
        mechanism: Whose noise is added to every step's sum.
        noise_multiplier: Its scale over the clipping norm.
        clipping_norm: Bound on each record's part.
        sampling: How records came into batches when it ran.
        rate: Part of the records in a batch, on average.
        steps: Training steps that were taken.
        epsilon_claimed: What the library says it spent.
        delta: At which δ.
        unit: What one record is.
        results: Measured values, by epsilon, if there are any.
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
    unit: str = "one record"
    results: tuple[Mapping[str, float], ...] = ()

    def releases(self, sampling: Sampling | None = None) -> tuple[Release, ...]:
        """What its steps release, as executed or as if another sampling had been executed.

        Guarantees:
            Of a shuffled order cut into 1/q batches a record is in one batch of each epoch, so an
            epoch costs one full release by parallel composition, and gains no amplification.
        """
        kind = sampling or self.sampling
        noise = (
            Gaussian(self.clipping_norm, self.noise_multiplier)
            if self.mechanism == "gaussian"
            else Laplace(self.clipping_norm, 1.0 / self.noise_multiplier)
        )
        return (
            Release(
                noise, times=self.steps, what="sum of clipped gradients",
                rate=self.rate if kind == "poisson" else 1.0,
                disjoint=max(1, math.floor(1.0 / self.rate + 1e-9)) if kind == "shuffled" else 1,
            ),
        )  # fmt: skip

    def epsilon(self, sampling: Sampling | None = None) -> float:
        """What those releases cost at its δ, for one record added or removed."""
        from engine.privacy import accounting

        event = cost(self.releases(sampling))
        return accounting.epsilon(event, self.delta, "add_or_remove_one", tight=True)


def card(run: LibraryRun) -> Guarantee:
    """Claimed by the library, proved for the sampling that was executed."""
    proved = run.epsilon()
    reasons = [f"Each step's sum has noise of {run.noise_multiplier:g} times the clipping norm."]
    if run.sampling == "shuffled":
        reasons.append(
            f"Batches were cut from a shuffled order. Priced as if coins had drawn them, the run "
            f"would cost ε = {run.epsilon('poisson'):.4g}; as executed it costs {proved:.4g}."
        )
    if run.epsilon_claimed < proved * (1 - 0.01):
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
        relation="add_or_remove_one",
        unit=run.unit,
        accountant="dp-accounting, for the sampling that was executed",
        sampling=SAMPLING[run.sampling],
        released=("the trained parameters",),
        reasons=tuple(reasons),
        claimant=f"{run.library} claims",
    )


def document(run: LibraryRun) -> card_file.Document:
    """The run as a card file, with its results."""
    content = {
        "program": run.library, "paper": run.library.split(" ")[0], "method": "private training",
        "dataset": "not said", "records": run.records, "rows": 1, "delta_of_a_row": run.delta,
        "settings": {
            "noise_multiplier": run.noise_multiplier, "clipping_norm": run.clipping_norm,
            "sampling": run.sampling, "rate": run.rate, "steps": run.steps,
        },
        "results": [dict(row) for row in run.results],
    }  # fmt: skip
    return card_file.signed(content, run.releases(), card(run))


def read(path: Path) -> LibraryRun:
    """The run that a file tells of.

    Raises:
        RequestError: No such file, or a field that is missing or out of range; names the field.
    """
    try:
        told = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise RequestError(f"run: expected a JSON file, got {error}") from None
    if not isinstance(told, dict) or (told.get("format"), told.get("version")) != (FORMAT, VERSION):
        raise RequestError(f"format: expected {FORMAT} of version {VERSION}")
    return checked({name: told[name] for name in told if name not in ("format", "version")})


def checked(told: Mapping[str, Any]) -> LibraryRun:
    """A run with its fields checked.

    Raises:
        RequestError: A field that is missing, unknown or out of range.
    """
    known = LibraryRun.__dataclass_fields__
    for name in told:
        if name not in known:
            raise RequestError(f"{name}: expected a field of {', '.join(known)}, got {name!r}")
    for name, (low, high) in RANGES.items():
        value = told.get(name)
        whole = name in ("records", "steps")
        right = isinstance(value, int if whole else int | float) and not isinstance(value, bool)
        if not right or not low <= float(value) <= high:  # type: ignore[arg-type]
            what = "a whole number" if whole else "a number"
            raise RequestError(f"{name}: expected {what} from {low:g} to {high:g}, got {value!r}")
    for name, words in (("sampling", get_args(Sampling)), ("mechanism", ("gaussian", "laplace"))):
        if told.get(name, words[0]) not in words or (name == "sampling" and name not in told):
            raise RequestError(
                f"{name}: expected one of {', '.join(words)}, got {told.get(name)!r}"
            )
    if not isinstance(told.get("library"), str) or not told["library"].strip():
        raise RequestError(f"library: expected its name and version, got {told.get('library')!r}")
    results = told.get("results", ())
    if not isinstance(results, Sequence) or not all(isinstance(row, Mapping) for row in results):
        raise RequestError("results: expected a list of measured values by name")
    return LibraryRun(**{**told, "results": tuple(results)})


RANGES = {
    "records": (1, 1e12), "noise_multiplier": (1e-6, 1e9), "clipping_norm": (1e-12, 1e12),
    "rate": (1e-12, 1.0), "steps": (1, 1e9), "epsilon_claimed": (0.0, 1e9), "delta": (0.0, 0.5),
}  # fmt: skip
"""What each number may be."""


def opacus_run(
    engine: Any, optimizer: Any, loader: Any, delta: float, **more: Any
) -> dict[str, Any]:
    """What to write into a file after training with Opacus 1.6, as executed.

    Args:
        engine: Its PrivacyEngine.
        optimizer: The private optimizer.
        loader: The loader that batches came from.
        delta: At which the ε is claimed.
        more: Further fields, such as `results`.
    """
    import opacus

    sampler = type(getattr(loader, "batch_sampler", None)).__name__
    history = engine.accountant.history
    records = len(loader.dataset)
    poisson = "UniformWithReplacement" in sampler
    rate = loader.sample_rate if poisson else loader.batch_size / records
    return {
        "format": FORMAT, "version": VERSION, "library": f"Opacus {opacus.__version__}",
        "records": records, "noise_multiplier": float(optimizer.noise_multiplier),
        "clipping_norm": float(optimizer.max_grad_norm), "rate": float(rate),
        "sampling": "poisson" if poisson else "shuffled",
        "steps": int(sum(count for _, _, count in history)),
        "epsilon_claimed": float(engine.get_epsilon(delta)), "delta": delta, **more,
    }  # fmt: skip
