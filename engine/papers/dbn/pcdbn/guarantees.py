"""What the cards say: what the authors' program, the text and the proof give."""

from dataclasses import replace

from engine.papers.dbn import guarantees, price
from engine.papers.dbn.pcdbn.price import (
    NAMES,
    SKETCH,
    dimensions,
    pcdbn_releases,
    printed_releases,
    releases,
)
from engine.papers.dbn.pcdbn.sensitivity import monomials
from engine.papers.dbn.pcdbn.spec import PcdbnSpec
from engine.privacy.guarantee import Guarantee
from engine.promise import Words, promise, words
from engine.training.polynomials import coefficients

TAYLOR_DEGREE, LINE_DEGREE = 5, 1


def reference_card(spec: PcdbnSpec, n: int, unit: str) -> Guarantee:
    """The card of a method without noise."""
    return guarantees.reference(unit)


def pcdbn_card(spec: PcdbnSpec, n: int, unit: str) -> Guarantee:
    """The card of pCDBN in its calibration."""
    match spec.calibration:
        case "rigorous":
            return _rigorous(spec, n, unit)
        case "paper":
            own = coefficients(spec.polynomial, spec.degree, spec.activation)
            return _printed(spec, n, unit, len(own) - 1)
        case _:  # the published program, whose noise hides no record
            card = _unproved(spec, n, unit, words(__package__, "released"))
            return replace(card, status="not_private")


def taylor_card(spec: PcdbnSpec, n: int, unit: str) -> Guarantee:
    """The card of pCDBN with the Taylor polynomial."""
    return _printed(spec, n, unit, TAYLOR_DEGREE)


def line_card(spec: PcdbnSpec, n: int, unit: str) -> Guarantee:
    """The card of pCDBN with a straight line."""
    return _printed(spec, n, unit, LINE_DEGREE)


def _printed(spec: PcdbnSpec, n: int, unit: str, degree: int) -> Guarantee:
    """The card of the algorithm as the text has it, with a polynomial of this degree."""
    size = spec.filter_size
    said = words(
        __package__, "printed", monomials=monomials(size, degree), degree=degree, size=size,
        objective=(spec.objective,),
    )  # fmt: skip
    return _unproved(spec, n, unit, said)


def _unproved(spec: PcdbnSpec, n: int, unit: str, said: Words) -> Guarantee:
    """The card of noise that proves nothing."""
    made = printed_releases(spec, n)
    return promise(made, price.RELATION, unit, claimed=spec.epsilon, **said)


def _rigorous(spec: PcdbnSpec, n: int, unit: str) -> Guarantee:
    """The card of the provable version."""
    made = releases(spec, n)
    along = f" (those beyond the second along {SKETCH} directions)"
    said = words(
        __package__, "rigorous", count=len(made.moments) + 2,
        orders=" and ".join(("second", *(NAMES[order] for order in made.orders))),
        along=along if made.orders and not made.whole else "",
        dimensions=dimensions(spec, n, 16 * 2 * spec.filters),
    )  # fmt: skip
    return promise(
        pcdbn_releases(spec, n), price.RELATION, unit, claimed=spec.epsilon, delta=spec.delta,
        **said,
    )  # fmt: skip


def psgd_card(spec: PcdbnSpec, n: int, unit: str) -> Guarantee:
    """The card of DP-SGD on the same structure."""
    said = words(__package__, "psgd", multiplier=guarantees.multiplier(spec, n))
    return guarantees.gradient(spec, n, unit, said)
