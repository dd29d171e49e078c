"""The guarantee cards: what the authors' program, the text and the proof give."""

from dataclasses import replace

from engine.papers.dbn import guarantees, price
from engine.papers.dbn.guarantees import BOUNDED, DRAWN
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
from engine.privacy.guarantee import Guarantee, public_count
from engine.promise import promise

TAYLOR_DEGREE, LINE_DEGREE = 5, 1
CLAIM = "Section 4: the private convolutional deep belief network is ε-differentially private."
COUNT_OF_DESCENT = public_count("the expected batch size and which records are tested on")
COUNT = public_count("the least noise, the number of features and which records are tested on")
GAUGES = (
    "Accuracy, noise to signal and the feature maps are computed from the raw records and are not "
    "private."
)
CONSTANTS = (
    "Constants such as the pooling were chosen once, on MNIST. The guarantee covers a run with "
    "given constants, not that choice."
)


def reference_card(spec: PcdbnSpec, n: int, unit: str) -> Guarantee:
    """The card of a method without noise."""
    return guarantees.reference(unit)


def pcdbn_card(spec: PcdbnSpec, n: int, unit: str) -> Guarantee:
    """The card of pCDBN in its calibration."""
    match spec.calibration:
        case "rigorous":
            return _rigorous(spec, n, unit)
        case "paper":
            return _paper(spec, n, unit, spec.degree)
        case _:
            return _released(spec, n, unit)


def taylor_card(spec: PcdbnSpec, n: int, unit: str) -> Guarantee:
    """The card of pCDBN with the Taylor polynomial."""
    return _paper(spec, n, unit, TAYLOR_DEGREE)


def line_card(spec: PcdbnSpec, n: int, unit: str) -> Guarantee:
    """The card of pCDBN with a straight line."""
    return _paper(spec, n, unit, LINE_DEGREE)


def _paper(spec: PcdbnSpec, n: int, unit: str, degree: int) -> Guarantee:
    """The card of the algorithm as the text has it, with a polynomial of this degree."""
    size = spec.filter_size
    reasons = (
        "The sensitivity is the largest over the records at hand; a proof needs the largest "
        "over all possible records.",
        "The normalisation Z depends on the filters and on the record, so the energy is not a "
        "polynomial in the filters and has no coefficients to perturb.",
        "Lemma 2 takes the largest group instead of the sum over groups, but one record "
        "changes the coefficients of every group.",
        f"Each group has {monomials(size, degree):,} coefficients at L = {degree} and "
        f"{size} x {size} filters, and only one per order gets noise. The rest of the "
        "gradient, and all of the fully connected layer's, comes from the raw records.",
        BOUNDED if spec.objective == "bounded" else DRAWN,
        GAUGES,
    )
    noise = "Laplace noise on the coefficients of each layer's polynomial energy, drawn once"
    return _unproved(noise, spec, n, unit, reasons)


def _released(spec: PcdbnSpec, n: int, unit: str) -> Guarantee:
    """The card of the published program, whose noise hides no record."""
    reasons = (
        "The noise is on constants of the activation, not on functions of the data: given "
        "this noise, the filters are computed from the raw records.",
        "Both layers and the output layer use the whole ε each, without dividing it.",
        "The output layer draws new noise in every step, but the program counts one step.",
        "The weights of the fully connected layer get no noise at all.",
        "Sensitivities are computed from each batch, and batch normalisation mixes records.",
        GAUGES,
    )
    noise = "Laplace noise on the constants of the polynomial, and on the features of a step"
    return replace(_unproved(noise, spec, n, unit, reasons), status="not_private")


def _unproved(
    mechanism: str, spec: PcdbnSpec, n: int, unit: str, reasons: tuple[str, ...]
) -> Guarantee:
    """The card of noise that proves nothing: the claim, and why it does not hold."""
    layers = ("the filters of both layers", "the fully connected and the softmax layer")
    return promise(
        printed_releases(spec, n), price.RELATION, unit, claimed=spec.epsilon,
        mechanism=mechanism, released=layers, reasons=reasons, claim=CLAIM,
    )  # fmt: skip


def _rigorous(spec: PcdbnSpec, n: int, unit: str) -> Guarantee:
    """The card of the provable version."""
    made = releases(spec, n)
    d = dimensions(spec, n, 16 * 2 * spec.filters)
    along = "" if made.whole else f" (those beyond the second along {SKETCH} directions)"
    order = " and ".join(("second", *(NAMES[order] for order in made.orders))) + " moments"
    return promise(
        pcdbn_releases(spec, n), price.RELATION, unit, claimed=spec.epsilon, delta=spec.delta,
        mechanism=f"{len(made.moments) + 2} Gaussian releases of sums, each drawn once",
        released=(
            f"{order} of the image patches{along if made.orders else ''}, shared by all filters",
            "second moments of the first layer's patches",
            "the mean and the moments between channels and positions of the features",
            f"Σpp' of at most {d} features and Σpy', from which Σp(y−½)' follows",
        ),
        reasons=(
            "Each record is scaled so that its term in every sum has norm at most 1. That is the "
            "sensitivity.",
            "The moments do not depend on the filters, so one noisy release serves all groups.",
            "Filters, whitening and classifier are computed from these releases, so more filters "
            "and epochs cost nothing.",
            COUNT,
            CONSTANTS,
            GAUGES,
        ),
        claim=CLAIM,
    )  # fmt: skip


def psgd_card(spec: PcdbnSpec, n: int, unit: str) -> Guarantee:
    """The card of DP-SGD on the same structure."""
    reasons = (
        "Each record's gradient is clipped to C, so a step's sum has sensitivity C.",
        "Every epoch spends budget, so training stops when the budget is used up.",
        COUNT_OF_DESCENT,
        GAUGES,
    )
    return guarantees.gradient(spec, n, unit, reasons, "the weights after every step")
