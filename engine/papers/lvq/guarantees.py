"""What the cards say of private GLVQ and GMLVQ and of their references. No torch here."""

import math
from dataclasses import replace
from functools import partial

from datasets.base import Card
from engine.method import Promise, Releases
from engine.papers.lvq import price
from engine.papers.lvq.spec import LvqSpec
from engine.privacy.guarantee import Guarantee
from engine.privacy.mechanisms import Laplace
from engine.privacy.releases import BEFORE, Release, cost
from engine.promise import promise, words

WIDTHS = {"har": 561}
"""Features of a table whose card does not list them."""


def width(data: Card) -> int:
    """The number of features d of a data set's records."""
    return WIDTHS.get(data.name) or (math.prod(data.image) if data.image else len(data.features))


def narrow(spec: LvqSpec, d: int) -> tuple[Release, ...]:
    r"""What the initialisation of sensitivity 1 releases of d features.

    Guarantees:
        Its noise on the class sums is Laplace noise of scale 2s/\epsilon_1 (`price.start_noise`),
        and one record changes one sum by at most ds in L1 norm, so the sums spend d \epsilon_1/2.
        The counts spend \epsilon_1/2 as printed.
    """
    made = price.start_noise(spec, False, d)
    assert isinstance(made.sums, Laplace)
    sums = Laplace(d * made.sums.sensitivity, d * made.sums.epsilon)
    return (
        Release(made.counts, first=BEFORE, what=price.STARTS["counts"]),
        Release(sums, first=BEFORE, what=price.STARTS["sums"]),
    )


def releases(matrix: bool, spec: LvqSpec, n: int, d: int | None = None) -> tuple[Release, ...]:
    """Those of `price.releases`; with d, noise for sensitivity 1 has a price too."""
    if d is None or spec.initialisation != "sensitivity_1":
        return price.releases(matrix, spec, n)
    return (*narrow(spec, d), price.descent(spec, price.step_noise(spec)))


def descent_guarantee(
    matrix: bool, spec: LvqSpec, n: int, record: str, d: int | None = None
) -> Guarantee:
    """The card of a private run: what is claimed, what the PLD accountant proves, and why.

    GLVQ has no matrix to release, and needs no second moments; both cost the same. Without the
    number of features d, nothing is proved of the initialisation of sensitivity 1.
    """
    from engine.privacy import accounting  # takes a second to load

    made = releases(False, spec, n, d)
    unpriced = spec.initialisation == "sensitivity_1" and d is None
    proved = (
        None if unpriced else accounting.epsilon(cost(made), spec.delta, price.RELATION, tight=True)
    )
    grouped = price.rounds(spec) > 0
    said = words(
        __package__, "descent", start=(spec.initialisation,),
        groups=("sums_of_groups",) if grouped else "",
        covariance=("second_moments",) if matrix and price.whitened(spec) else "",
        metric=("metric_released",) * matrix,
        multiplier=price.multiplier(spec), steps=price.steps(spec, n), clip=spec.clip,
        grouped=("groups_released",) * grouped, **_reasons(spec, proved, d),
    )  # fmt: skip
    card = promise(
        made, price.RELATION, record, claimed=spec.epsilon, delta=spec.delta, spent=proved, **said
    )
    # the rule of the paper is a heuristic, but what its noise costs is proved all the same
    return replace(card, delta=spec.delta) if unpriced else card


def sized(matrix: bool, data: Card) -> tuple[Releases[LvqSpec], Promise[LvqSpec]]:
    """The releases and the card of a private run where the number of features is known."""
    d = width(data)
    return partial(releases, matrix, d=d), partial(descent_guarantee, matrix, d=d)


def _reasons(spec: LvqSpec, proved: float | None, d: int | None) -> dict[str, object]:
    if spec.initialisation == "sensitivity_1":
        half = spec.share * spec.epsilon / 2.0
        known = {"features": d, "sums": (d or 0) * half, "half": half}
        why = ("bare",) if d is None else ("narrow", "whole")
        return {**known, "why": why, "proved": proved, "epsilon": spec.epsilon}
    if spec.calibration == "rigorous":
        return {"why": ("least",)}
    nominal, spent = (1.0 - spec.share) * spec.epsilon, price.steps_epsilon(spec)
    beyond = proved is not None and proved > spec.epsilon
    return {
        "why": ("printed", *(("whole",) * beyond)),
        "verdict": "is too small" if spent > nominal else "is large enough here",
        "spent": spent,
        "nominal": nominal,
        "proved": proved,
        "epsilon": spec.epsilon,
    }


def free_guarantee(matrix: bool, spec: LvqSpec, n: int, record: str) -> Guarantee:
    """The card of the references."""
    metric = ("metric_released",) * matrix
    made, said = price.free(spec, n), words(__package__, "free", metric=metric)
    return promise(made, price.RELATION, record, claimed=None, **said)
