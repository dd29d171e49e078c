"""What to write into a file after training with another library, read from the library's objects.

Neither library is imported: a training script passes what it has trained with.

    told = opacus_run(engine, optimizer, loader, delta=1e-5)
    told = jax_privacy_run(config, records=60_000, delta=1e-5)
    Path("run.json").write_text(json.dumps(told))

Further fields, such as `dataset` and `results`, are given as arguments and named as in the schema.
"""

from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from engine.core.errors import RequestError
from engine.privacy.guarantee import Relation
from engine.yours.library_run import FORMAT, VERSION, checked

RELATIONS: dict[str, Relation] = {
    "ADD_OR_REMOVE_ONE": "add_or_remove_one",
    "REPLACE_SPECIAL": "zero_out_one",
}
"""Neighbouring relations of jax-privacy, by the names of dp-accounting."""


def opacus_run(
    engine: Any, optimizer: Any, loader: Any, delta: float, **more: Any
) -> dict[str, Any]:
    """What to write after training with Opacus 1.6, as executed.

    Args:
        engine: Its PrivacyEngine.
        optimizer: The private optimizer.
        loader: The loader that batches came from.
        delta: At which the ε is claimed.
        more: Further fields, such as `results`.

    Raises:
        RequestError: The noise changed while it trained, a record may have come more than once in
            an epoch, or a field that does not fit.
    """
    history = engine.accountant.history
    if len({noise for noise, _, _ in history}) != 1:
        raise RequestError(
            f"noise_multiplier: expected one for all steps, got {len(history)} in the accountant"
        )
    records = len(loader.dataset)
    poisson = "UniformWithReplacement" in type(getattr(loader, "batch_sampler", None)).__name__
    fields = {
        "records": records, "noise_multiplier": float(history[0][0]),
        "clipping_norm": float(optimizer.max_grad_norm),
        "rate": float(loader.sample_rate if poisson else _once(loader, records)),
        "sampling": "poisson" if poisson else "shuffled", "cycle": 1 if poisson else len(loader),
        "steps": int(sum(count for _, _, count in history)),
        "epsilon_claimed": float(engine.get_epsilon(delta)), "delta": delta,
    }  # fmt: skip
    return _written("Opacus", fields, more)


def _once(loader: Any, records: int) -> float:
    """The share of a batch in all records, of a loader that gives each once in an epoch at most.

    Raises:
        RequestError: It may give one more often, or nothing is known of how it draws.
    """
    inner = type(loader.batch_sampler).__name__
    sampler: Any = getattr(loader.batch_sampler, "sampler", None)
    order, count = type(sampler).__name__, getattr(sampler, "num_samples", records)
    shuffled = order == "RandomSampler" and not sampler.replacement and count <= records
    if inner != "BatchSampler" or not (shuffled or order == "SequentialSampler"):
        got = order if inner == "BatchSampler" else inner
        raise RequestError(
            "loader: expected batches of Opacus' Poisson sampling, or of a DataLoader with each "
            f"record once in an epoch (shuffle=True), got those of {got}"
        )
    size: int = loader.batch_sampler.batch_size
    return min(1.0, size / records)


def jax_privacy_run(
    config: Any, records: int, delta: float, *, batches: Any = None, steps: int | None = None,
    **more: Any,
) -> dict[str, Any]:  # fmt: skip
    """What to write after training with jax-privacy 2, as executed.

    Args:
        config: Its BandMFExecutionPlanConfig.
        records: Number of records.
        delta: At which the ε is claimed.
        batches: The strategy that batches came from, or "shuffled" where a loader cut them from a
            shuffled order; that of the plan if None.
        steps: Training steps that were taken; all that the plan allows if None.
        more: Further fields, such as `results`; of shuffled batches also `rate`.

    Raises:
        RequestError: A plan, or a way to batches, that is not priced here.
    """
    from dp_accounting.pld import PLDAccountant

    plan = config.plan
    accountant = config.accountant.neighboring_relation
    if accountant.name not in RELATIONS or config.truncated_batch_size is not None:
        raise RequestError(
            f"config: expected neighbours of {' or '.join(RELATIONS)} and batches that are not "
            f"truncated, got {accountant.name} and {config.truncated_batch_size}"
        )
    noise = next(_noises(plan.dp_event), None)
    if noise is None:
        raise RequestError("config: expected a plan with Gaussian noise, got none")
    bands, claim = len(config.strategy), PLDAccountant(accountant).compose(plan.dp_event)
    fields = {
        "records": records, "noise_multiplier": noise,
        "clipping_norm": float(config.l2_clip_norm), "relation": RELATIONS[accountant.name],
        "steps": config.iterations if steps is None else steps,
        "epsilon_claimed": float(claim.get_epsilon(delta)), "delta": delta,
        **_batches(plan.batch_selection_strategy if batches is None else batches, bands, more),
    }  # fmt: skip
    return _written("jax-privacy", fields, more)


def _batches(strategy: Any, bands: int, more: dict[str, Any]) -> dict[str, Any]:
    """How batches were made, from a strategy of jax-privacy 2.

    Guarantees:
        Noise that is correlated over `bands` steps is priced as independent noise if a record is
        in one of so many successive steps at most (Choquette-Choo et al. 2023, arXiv 2306.08153),
        so cycles that are shorter are refused. So is an order that is shuffled in every epoch: a
        record may be in the last step of one epoch and in the first of the next. Of groups of
        equal size, one record more changes who is in which, so an empty place is compared.
    """
    name = "shuffled" if strategy == "shuffled" else type(strategy).__name__
    cycle = int(getattr(strategy, "cycle_length", 0))
    if name == "CyclicPoissonSampling" and strategy.truncated_batch_size is None:
        made = {"sampling": "poisson", "rate": float(strategy.sampling_prob), "cycle": cycle}
        if cycle > 1 and getattr(strategy.partition_type, "name", "") != "INDEPENDENT":
            made["relation"] = "zero_out_one"
    elif name == "BallsInBinsSampling":
        made = {"sampling": "shuffled", "rate": 1.0 / cycle, "cycle": cycle}
    elif name == "shuffled" and bands > 1:
        raise RequestError(
            f"batches: expected each record in one of {bands} successive steps at most, as the "
            "noise is correlated over them, got batches that are shuffled in every epoch"
        )
    elif name == "shuffled" and "rate" in more:
        cycle = max(1, int(1.0 / more["rate"] + 1e-9))
        made = {"sampling": "shuffled", "cycle": cycle}
    else:
        raise RequestError(
            "batches: expected CyclicPoissonSampling or BallsInBinsSampling without truncation, "
            f'or "shuffled" with a rate, got {name}'
        )
    if cycle % bands and bands > 1:
        raise RequestError(f"batches: expected a cycle of {bands} steps, got {cycle}")
    return made


def _noises(event: Any) -> Iterator[float]:
    """The noise multipliers of the Gaussian events within an event of dp-accounting."""
    if hasattr(event, "noise_multiplier"):
        yield float(event.noise_multiplier)
    for inner in (*getattr(event, "events", ()), *filter(None, [getattr(event, "event", None)])):
        yield from _noises(inner)


def _written(library: str, fields: dict[str, Any], more: dict[str, Any]) -> dict[str, Any]:
    """The whole document, checked."""
    try:
        named = f"{library} {version(library.lower())}"
    except PackageNotFoundError:
        named = library
    told = {"library": named, **fields, **more}
    checked(told)
    return {"format": FORMAT, "version": VERSION, **told}
