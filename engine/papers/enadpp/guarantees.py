"""The guarantee card of each method, and what the printed noise really spends. No torch here."""

import math
from dataclasses import dataclass, replace

from engine.papers.enadpp import price
from engine.papers.enadpp.spec import EnadppSpec
from engine.papers.enadpp.variants import VARIANTS, Variant
from engine.privacy.guarantee import POISSON, Guarantee, not_private, public_count
from engine.privacy.mechanisms import Laplace
from engine.privacy.releases import BEFORE, cost
from engine.promise import EXACT, promise

SAMPLING = (
    f"{POISSON}. Where persons are compared, this holds for each pair; pairs are disjoint and "
    "drawn again in each step"
)
SHUFFLED = (
    "Shuffled: in each epoch one random order of the records is cut into batches, so that a record "
    "is in one of them"
)
CYCLIC = (
    "None: batches are cut from one order of the records, the same in every epoch; it may be known"
)
TUNED = (
    "The budget covers one training run. Learning rate, clipping bound and other settings were "
    "chosen by looking at the data sets that this app offers. Choosing them on the records that "
    "are trained on costs more, and is not priced."
)
FIXED = "The features are a fixed function of each record."
WHITENED = (
    "Features have length 1 at most, so a record changes the matrix of their second moments by at "
    "most 1 (Frobenius norm). It is released once with Gaussian noise, which is in the price, and "
    "features are whitened by what was released."
)
COUNT = public_count("the expected batch size and which records are tested on")
SHOWN = "Test accuracy and the other curves come from the raw records and are not private."


@dataclass(frozen=True)
class Ledger:
    """What the printed noise spends under one reading, were the ratios public, in nats.

    Attributes:
        reading: A, B or C.
        batch: One batch, replacing a record, as the paper counts.
        epoch: One pass in disjoint batches, replacing a record: parallel composition.
        epochs: All passes in disjoint batches: the sum.
        sampled: The whole run in Poisson batches, adding or removing a record, at delta
            = 0: what this program really does.
    """

    reading: str
    batch: float
    epoch: float
    epochs: float
    sampled: float


def ledger(spec: EnadppSpec, n: int) -> tuple[Ledger, ...]:
    """One row per reading."""
    rows = []
    for reading in ("A", "B", "C"):
        spent = price.paper_epsilon(spec, n, reading)
        printed = spec.replace(calibration="paper", noise_reading=reading)
        sampled = _pure(printed, n)
        rows.append(Ledger(reading, spent, spent, spent * max(1.0, spec.epochs), sampled))
    return tuple(rows)


def _pure(spec: EnadppSpec, n: int) -> float:
    from engine.privacy.pure import pure

    return pure(price.noise_cost(VARIANTS["enadpp"], spec, n, price.steps(spec, n)))


def guarantee(variant: Variant, spec: EnadppSpec, n: int, unit: str) -> Guarantee:
    """The card of the variant."""
    if not variant.private:
        return _bare(variant, unit)
    if price.unaccounted(variant, spec):
        return _printed(variant, spec, n, unit)
    return _proved(variant, spec, n, unit)


def _bare(variant: Variant, unit: str) -> Guarantee:
    return not_private(
        variant.mechanism,
        ("the trained weights",),
        "No clipping and no noise: for comparison only.",
        price.RELATION,
        unit,
    )


def _proved(variant: Variant, spec: EnadppSpec, n: int, unit: str) -> Guarantee:
    from engine.privacy import accounting, gaussian

    made = price.releases(variant, spec, n)
    event, tight = cost(made), not variant.falling  # exactly, so many stairs would take minutes
    spent = accounting.epsilon(event, spec.delta, price.RELATION, tight=tight)
    coins = price.batches(spec, variant).parts == 1
    exact = gaussian.precision(event) is not None
    gap = () if coins or variant.correlated else _gap(variant, spec, n, spent)
    card = promise(
        made, price.RELATION, unit, claimed=spec.epsilon, delta=spec.delta, spent=spent,
        mechanism=variant.mechanism or _weighted(variant, spec),
        accountant=EXACT if exact else "privacy loss distribution" if tight else "Renyi",
        sampling=SAMPLING if coins else CYCLIC if variant.correlated else SHUFFLED,
        released=(
            "the trained weights",
            "the weights after every step",
            *(("second moments of the features",) * variant.whitens(spec.representation)),
            *(("the clipping bounds",) * (variant.clipping(spec.clipping) == "adaptive")),
        ),
        reasons=(*_arguments(variant, spec), *gap, COUNT, TUNED, SHOWN),
        claim="The budget ε is for the whole training.",
        claimant=variant.claimant,
    )  # fmt: skip
    return replace(card, delta=spec.delta)  # Laplace noise is priced at δ too


def poisson_price(variant: Variant, spec: EnadppSpec, n: int, steps: int | None = None) -> float:
    """What the noise of shuffled batches would cost, were its batches drawn by coins.

    It is no price of the run: many programs state it for shuffled batches all the same. After so
    many steps, or all. What is released before the first step uses all records and costs the same.
    """
    from engine.privacy import accounting

    made = price.releases(variant, spec, n)
    coins = [
        one if one.first == BEFORE else replace(one, rate=spec.sample_rate, disjoint=1)
        for one in made
    ]
    tight = not variant.falling
    return accounting.epsilon(cost(coins, steps), spec.delta, price.RELATION, tight=tight)


def _gap(variant: Variant, spec: EnadppSpec, n: int, spent: float) -> tuple[str, ...]:
    return (
        "Each record is in one batch of every epoch and pays for it in full: this holds for every "
        "order of the records, whether the attacker knows it or not.",
        f"Priced as Poisson batches, the same noise would cost ε = "
        f"{poisson_price(variant, spec, n):.3g} instead of {spent:.3g}. That price is often stated "
        "for shuffled batches. It is not proved for them, and attacks have exceeded it (Annamalai "
        "et al. 2024).",
    )


def _weighted(variant: Variant, spec: EnadppSpec) -> str:
    norm = "L1" if spec.noise == "laplace" else "L2"
    return (
        f"Per-record clipping in the {norm} norm weighted by budget ratios "
        f"({'shares' if variant.ratios == 'shares' else 'entropy gains'} of relevance), and "
        f"{spec.noise.capitalize()} noise divided by them"
    )


def _arguments(variant: Variant, spec: EnadppSpec) -> tuple[str, ...]:
    bound = (
        "One record changes the clipped sum by at most C, the divisor is the fixed expected batch "
        "size, and the accountant composes the noise that is drawn."
    )
    if variant.falling:
        return (
            bound,
            f"The noise falls in {price.STAIRS} equal stairs, so that it can be priced. The "
            "published decay is not given in full; the exponential decay is our reading.",
        )
    if variant.correlated:
        b = price.bands(variant, spec)
        return (
            *_bounded(variant, spec),
            f"A record moves {b} successive releases, by at most the norm of the correlation "
            "times C in all. Its steps are at least as far apart, so an epoch costs one Gaussian "
            "release (Choquette-Choo et al. 2023).",
            "Nothing is gained from sampling and nothing is assumed of it. Gradients may depend "
            "on what was released before (Denisov et al. 2022).",
            *_features(variant, spec),
        )
    if variant.modern:
        return (bound, *_bounded(variant, spec), *_features(variant, spec))
    if variant.ratios is None:
        return (bound,)
    return (
        bound,
        "Clipping and noise use the same weights. This is the plain mechanism after the linear "
        "map diag(α), so the proof holds for any positive ratios that are known beforehand.",
        "The ratios are computed from simulated images and from weights that are already private, "
        "so they cost nothing (post-processing).",
    )


def _features(variant: Variant, spec: EnadppSpec) -> tuple[str, ...]:
    """What the proof needs of the features that are trained on."""
    fixed = () if spec.representation == "pixels" else (FIXED,)
    return (*fixed, WHITENED) if variant.whitens(spec.representation) else fixed


def _bounded(variant: Variant, spec: EnadppSpec) -> tuple[str, ...]:
    """What else the clipping rule and the optimiser need in the proof."""
    rules = {
        "automatic": "Each gradient g counts as C g / (|g| + 0.01), which is shorter than C "
        "(Bu et al. 2023).",
        "adaptive": "A step releases the clipped sum and the count of short gradients as one "
        "vector, to which a record adds length C at most. The next bound follows from it "
        "(Andrew et al. 2021).",
    }
    rule = rules.get(variant.clipping(spec.clipping), "")
    adam = variant.optimiser(spec.optimiser) != "momentum"
    text = "AdamW sees noisy gradients only, so it costs nothing (post-processing)."
    return (*((rule,) if rule else ()), *((text,) if adam else ()))


def _printed(variant: Variant, spec: EnadppSpec, n: int, unit: str) -> Guarantee:
    return promise(
        price.releases(variant, spec, n), price.RELATION, unit, claimed=spec.epsilon,
        mechanism="Per-record clipping in L1 and Laplace noise whose scale is divided by each "
        "neuron's budget ratio, as printed",
        sampling=SAMPLING if price.batches(spec).parts == 1 else SHUFFLED,
        released=("the trained weights", "the budget ratios, through the size of the noise"),
        reasons=_complaints(variant, spec, n),
        claim="Each step is ε-private (Section 4.2); the ratios follow the relevance.",
    )  # fmt: skip


def _complaints(variant: Variant, spec: EnadppSpec, n: int) -> tuple[str, ...]:
    rows = {row.reading: row for row in ledger(spec, n)}
    row, number = rows[spec.noise_reading], "{:.4g}".format
    each = ", ".join(f"{number(r.batch)} under {r.reading}" for r in rows.values())
    return (
        f"One batch of {number(price.batch_size(spec, n))} records spends ε = {each} when one "
        f"record is replaced. The paper states {number(spec.epsilon)}.",
        "Reading A has the learning rate in the scale and divides by the batch size once more; B "
        "has the learning rate alone; only C has the scale of the sensitivity.",
        f"Under {spec.noise_reading}, one epoch of disjoint batches spends {number(row.epoch)} and "
        f"all {number(spec.epochs)} epochs {number(row.epochs)}. The batches drawn here "
        f"spend {number(row.sampled)} in all, adding or removing one record. These figures take "
        "the ratios as public.",
        "The stated budget is that of one batch. Disjoint batches of an epoch share it; epochs "
        "add up.",
        "The ratios are computed from the records and used without noise. No price covers what "
        "they reveal, so no ε is proved.",
        f"The smallest ratio would be 0 and its noise infinite; here it is at least "
        f"{number(spec.alpha_min)}, and the output layer has ratio 1.",
        "No ratio exceeds 1, so ratios only add noise compared with equal ratios. EnADPP and "
        "ADPPL rank neurons alike, because the layer's entropy cancels.",
        f"Noise against signal: {_length(variant, spec, n)}.",
        SHOWN,
    )


def _length(variant: Variant, spec: EnadppSpec, n: int) -> str:
    """Mean L1 length of the noise of the MNIST network per unit of C, at equal ratios."""
    added = price.mechanism(variant, spec, n)
    scale = added.scale if isinstance(added, Laplace) else math.nan
    relative = 535_818 * scale / (price.batch_size(spec, n) * spec.clip_l1)
    return (
        f"in the 535,818 weights of the MNIST network the noise on the mean gradient has an L1 "
        f"length of about {relative:.4g} C; the gradient itself has at most C"
    )
