"""The guarantee card of each method, and what the printed noise really spends. No torch here."""

import math
from dataclasses import dataclass, replace

from engine.papers.enadpp import price
from engine.papers.enadpp.spec import EnadppSpec
from engine.papers.enadpp.variants import VARIANTS, Variant
from engine.privacy.guarantee import Guarantee
from engine.privacy.mechanisms import Laplace
from engine.privacy.releases import BEFORE, Batches, Release, cost
from engine.promise import EXACT, promise, words


@dataclass(frozen=True)
class Ledger:
    """What the printed noise spends under one reading, were the ratios public, in nats.

    Attributes:
        reading: A, B or C.
        batch: One batch, replacing a record, as the paper counts.
            An epoch of disjoint batches spends the same: parallel composition.
        epochs: All passes in disjoint batches: the sum over those that a record is in.
        sampled: The whole run in the batches that are drawn here, leaving a record out of every
            sum, at delta = 0: what this program really does.
    """

    reading: str
    batch: float
    epochs: float
    sampled: float


def ledger(spec: EnadppSpec, n: int) -> tuple[Ledger, ...]:
    """One row per reading."""
    rows, parts = [], price.batches(spec.replace(sampling="shuffled")).parts
    for reading in ("A", "B", "C"):
        spent = price.paper_epsilon(spec, n, reading)
        batch = Release(Laplace(1.0, spent), times=price.steps(spec, n), disjoint=parts)
        printed = spec.replace(calibration="paper", noise_reading=reading)
        rows.append(Ledger(reading, spent, spent * batch.met(), _pure(printed, n)))
    return tuple(rows)


def _pure(spec: EnadppSpec, n: int) -> float:
    from engine.privacy.pure import pure

    return pure(price.noise_cost(VARIANTS["enadpp"], spec, n, price.steps(spec, n)))


def guarantee(variant: Variant, spec: EnadppSpec, n: int, unit: str) -> Guarantee:
    """The card of the variant."""
    if not variant.private:
        return _bare(variant, spec, n, unit)
    if price.unaccounted(variant, spec):
        return _printed(variant, spec, n, unit)
    return _proved(variant, spec, n, unit)


def _bare(variant: Variant, spec: EnadppSpec, n: int, unit: str) -> Guarantee:
    made, said = price.releases(variant, spec, n), words(__package__, "bare")
    return promise(made, price.RELATION, unit, claimed=None, **said)


def _proved(variant: Variant, spec: EnadppSpec, n: int, unit: str) -> Guarantee:
    from engine.privacy import accounting, gaussian

    made = price.releases(variant, spec, n)
    event, tight = cost(made), not variant.falling  # exactly, so many stairs would take minutes
    spent = accounting.epsilon(event, spec.delta, price.RELATION, tight=tight)
    exact = gaussian.precision(event) is not None
    drawn = price.batches(spec, variant)
    gap = drawn.parts > 1 and not drawn.kept
    said = words(
        __package__, "proved", spent=spent,
        mechanism=variant.mechanism or ("weighted",),
        norm="L1" if spec.noise == "laplace" else "L2",
        noise=spec.noise.capitalize(),
        ratios="relevance over the layer's largest" if variant.ratios == "shares"
        else "entropy gains of relevance",
        accountant=EXACT if exact else "privacy loss distribution" if tight else "Renyi",
        sampling=_sampling(drawn),
        moments=("moments",) * variant.whitens(spec.representation),
        following=("bounds",) * (variant.clipping(spec.clipping) == "adaptive"),
        arguments=_arguments(variant, spec),
        stairs=price.STAIRS, bands=price.bands(variant, spec),
        gap=("every_order", "as_coins") * gap,
        cheap=poisson_price(variant, spec, n) if gap else spent,
        claimant=variant.claimant,
    )  # fmt: skip
    card = promise(
        made, price.RELATION, unit, claimed=spec.epsilon, delta=spec.delta, spent=spent, **said
    )
    return replace(card, delta=spec.delta)  # Laplace noise is priced at δ too


def _sampling(drawn: Batches) -> tuple[str, ...]:
    """The sentence on how records come into batches; none where all of them are in every one."""
    if drawn.rate < 1.0:
        return ("coins",)
    return ("cyclic" if drawn.kept else "shuffled",) * (drawn.parts > 1)


def poisson_price(variant: Variant, spec: EnadppSpec, n: int, steps: int | None = None) -> float:
    """What the noise of shuffled batches would cost, were batches of their size drawn by coins.

    It is no price of the run: many programs state it for shuffled batches all the same. After so
    many steps, or all. What is released before the first step uses all records and costs the same.
    """
    from engine.privacy import accounting

    made = price.releases(variant, spec, n)
    coins = [
        one if one.first == BEFORE else replace(one, rate=1.0 / one.disjoint, disjoint=1)
        for one in made
    ]
    tight = not variant.falling
    return accounting.epsilon(cost(coins, steps), spec.delta, price.RELATION, tight=tight)


def _arguments(variant: Variant, spec: EnadppSpec) -> tuple[str, ...]:
    """The sentences that prove a variant's price."""
    if variant.falling:
        return "bound", "falling"
    if variant.correlated:
        return *_bounded(variant, spec), "bands", "unsampled", *_features(variant, spec)
    if variant.modern:
        return "bound", *_bounded(variant, spec), *_features(variant, spec)
    return ("bound",) if variant.ratios is None else ("bound", "weights", "simulated")


def _features(variant: Variant, spec: EnadppSpec) -> tuple[str, ...]:
    """What the proof needs of the features that are trained on."""
    fixed = ("fixed",) * (spec.representation != "pixels")
    return (*fixed, *("whitened",) * variant.whitens(spec.representation))


def _bounded(variant: Variant, spec: EnadppSpec) -> tuple[str, ...]:
    """What else the clipping rule and the optimiser need in the proof."""
    rule = variant.clipping(spec.clipping)
    adam = variant.optimiser(spec.optimiser) != "momentum"
    return (*((rule,) * (rule != "flat")), *(("adam",) * adam))


def _printed(variant: Variant, spec: EnadppSpec, n: int, unit: str) -> Guarantee:
    rows = {row.reading: row for row in ledger(spec, n)}
    row = rows[spec.noise_reading]
    said = words(
        __package__, "printed",
        sampling=_sampling(price.batches(spec)),
        size=price.batch_size(spec, n), epsilon=spec.epsilon, least=spec.alpha_min,
        each=", ".join(f"{r.batch:.4g} under {r.reading}" for r in rows.values()),
        reading=row.reading, batch=row.batch, passes=spec.epochs, epochs=row.epochs,
        scaled=("scaled",) * (variant.ratios == "shares"),
        sampled=row.sampled, length=relative_length(variant, spec, n),
    )  # fmt: skip
    made = price.releases(variant, spec, n)
    return promise(made, price.RELATION, unit, claimed=spec.epsilon, **said)


def relative_length(variant: Variant, spec: EnadppSpec, n: int) -> float:
    """Mean L1 length of the noise of the MNIST network per unit of C, at equal ratios."""
    added = price.mechanism(variant, spec, n)
    scale = added.scale if isinstance(added, Laplace) else math.nan
    return 535_818 * scale / (price.batch_size(spec, n) * spec.clip_l1)
