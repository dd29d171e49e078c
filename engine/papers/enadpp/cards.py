"""The guarantee card of each method, and what the printed noise really spends. No torch here."""

import math
from dataclasses import dataclass

from engine.papers.enadpp import price
from engine.papers.enadpp.spec import EnadppSpec
from engine.papers.enadpp.variants import VARIANTS, Variant
from engine.privacy.guarantee import Guarantee
from engine.privacy.mechanisms import Laplace

SAMPLING = (
    "Poisson: in every step each record takes part by its own coin of probability q; where persons "
    "are compared, each of the disjoint pairs that they are matched to, blindly and afresh, does"
)
TUNED = (
    "The budget covers the training run; learning rate, clipping bound and the like were chosen "
    "on public benchmark data, and a choice made on the records themselves would cost more."
)
COUNT = (
    "The number of records is public: it sets the expected lot and which records are tested on. "
    "Given it, a neighbour is the same table with one record left out of every sum, its place kept."
)
SHOWN = "Test accuracy and the other curves come from raw records and are no part of the release."


@dataclass(frozen=True)
class Ledger:
    """What the printed noise spends under one reading, were the ratios public, in nats.

    Attributes:
        reading: A, B or C.
        lot: One lot, replacing a record, as the paper counts.
        epoch: One pass in disjoint lots, replacing a record: parallel composition.
        epochs: All passes in disjoint lots: the sum.
        sampled: The whole run in Poisson lots, adding or removing a record, at delta
            = 0: what this program really does.
    """

    reading: str
    lot: float
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
        return _bare(unit)
    if price.unaccounted(variant, spec):
        return _printed(variant, spec, n, unit)
    return _proved(variant, spec, n, unit)


def _bare(unit: str) -> Guarantee:
    return Guarantee(
        mechanism="None: plain stochastic gradient descent",
        status="not_private",
        epsilon_claimed=None,
        epsilon_proved=None,
        delta=0.0,
        relation=price.RELATION,
        unit=unit,
        released=("the trained weights",),
        reasons=("No noise is added and nothing is clipped: a reference line.",),
    )


def _proved(variant: Variant, spec: EnadppSpec, n: int, unit: str) -> Guarantee:
    from engine.privacy import accounting
    from engine.privacy.releases import cost

    event = cost(price.releases(variant, spec, n))
    pure = isinstance(price.mechanism(variant, spec, n), Laplace)
    tight = not variant.falling and (pure or spec.epsilon <= price.LOOSE)
    spent = accounting.epsilon(event, spec.delta, price.RELATION, tight=tight)
    return Guarantee(
        mechanism=variant.mechanism or _weighted(variant, spec),
        status="proved",
        epsilon_claimed=spec.epsilon,
        epsilon_proved=spent,
        delta=spec.delta,
        relation=price.RELATION,
        unit=unit,
        accountant="privacy loss distribution" if tight else "Renyi",
        sampling=SAMPLING,
        released=("the trained weights", "the weights after every step"),
        reasons=(*_arguments(variant, spec), COUNT, TUNED, SHOWN),
        claim="The slider's budget is that of the whole training.",
    )


def _weighted(variant: Variant, spec: EnadppSpec) -> str:
    norm = "L1" if spec.noise == "laplace" else "L2"
    return (
        f"Per-record clipping in the {norm} norm weighted by budget ratios "
        f"({'shares' if variant.ratios == 'shares' else 'entropy gains'} of relevance), and "
        f"{spec.noise} noise divided by them"
    )


def _arguments(variant: Variant, spec: EnadppSpec) -> tuple[str, ...]:
    bound = (
        "One record moves the clipped sum by at most C, the divisor is the fixed expected lot, "
        "and the accountant composes the noise that is really drawn."
    )
    if variant.falling:
        return (
            bound,
            f"The deviation falls by stairs, {price.STAIRS} in a run, so that it can be priced; "
            "the published decay and clipping rules could not be found in full, so the "
            "exponential decay is our reading.",
        )
    if variant.modern and spec.representation == "wavelets":
        return (bound, "The wavelet features are a fixed function of one record: no data chose it.")
    if variant.ratios is None:
        return (bound,)
    return (
        bound,
        "Clipping and noise are weighted alike, which is the plain mechanism after the linear map "
        "diag(alpha): it holds for any positive ratios that are known beforehand. Weighting the "
        "noise alone, as printed, could only add noise to equal ratios.",
        "The ratios come from the relevances of simulated images through weights that are "
        "private already: post-processing, at no cost.",
    )


def _printed(variant: Variant, spec: EnadppSpec, n: int, unit: str) -> Guarantee:
    return Guarantee(
        mechanism="Per-record clipping in L1 and Laplace noise whose scale is divided by each "
        "neuron's budget ratio, as printed",
        status="heuristic",
        epsilon_claimed=spec.epsilon,
        epsilon_proved=None,
        delta=0.0,
        relation=price.RELATION,
        unit=unit,
        sampling=SAMPLING,
        released=("the trained weights", "the budget ratios, through the size of the noise"),
        reasons=_complaints(variant, spec, n),
        claim="Each step is epsilon-private (Section 4.2); the ratio follows the relevance.",
    )


def _complaints(variant: Variant, spec: EnadppSpec, n: int) -> tuple[str, ...]:
    rows = {row.reading: row for row in ledger(spec, n)}
    row, number = rows[spec.noise_reading], "{:.4g}".format
    lots = ", ".join(f"{number(r.lot)} under {r.reading}" for r in rows.values())
    return (
        f"One lot of {number(price.lot(spec, n))} records really spends epsilon = {lots}, "
        f"replacing one record; the paper states {number(spec.epsilon)}.",
        "The printed noise has the learning rate in its scale and is divided by the lot once more "
        "(A), or has the learning rate alone (B); only C has the scale of the sensitivity.",
        f"Under {spec.noise_reading}, one epoch of disjoint lots spends {number(row.epoch)}, all "
        f"{number(spec.epochs)} epochs {number(row.epochs)}; the Poisson lots drawn here "
        f"{number(row.sampled)} in all, adding or removing one record. All this with the ratios "
        "taken as public.",
        "The stated budget is that of one lot; disjoint lots of an epoch compose in parallel, "
        "epochs add up.",
        "The ratios, their entropy and their extremes are computed from the records and used in "
        "the clear: what that reveals is in no price, so no epsilon is proved.",
        f"The smallest ratio would be zero, hence infinite noise; it is floored at "
        f"{number(spec.alpha_min)}, and the output layer has ratio 1.",
        "No ratio exceeds one, so ratios can only add noise to equal ratios at the same budget; "
        "as the layer's entropy cancels, EnADPP and ADPPL rank neurons alike.",
        f"Noise in every coordinate against one clipped vector: {_length(variant, spec, n)}.",
        SHOWN,
    )


def _length(variant: Variant, spec: EnadppSpec, n: int) -> str:
    """Mean L1 length of the noise of the MNIST network per unit of C, at equal ratios."""
    added = price.mechanism(variant, spec, n)
    scale = added.scale if isinstance(added, Laplace) else math.nan
    relative = 535_818 * scale / (price.lot(spec, n) * spec.clip_l1)
    return (
        f"in the 535,818 weights of the MNIST network its L1 length is about {relative:.4g} C on "
        "the mean gradient, whose own is at most C"
    )
