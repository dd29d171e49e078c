"""The guarantee cards: what the authors' program, the text and the proof give."""

from engine.papers.pcdbn.price import gradient_noise, psgd_releases
from engine.papers.pcdbn.releases import NAMES, RELATION, SKETCH, dimensions, releases
from engine.papers.pcdbn.sensitivity import monomials
from engine.papers.pcdbn.spec import PcdbnSpec
from engine.privacy.guarantee import POISSON, Guarantee, Status, not_private, public_count
from engine.privacy.releases import cost

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

BOUNDED = (
    "The softmax layer's noisy quadratic is regularised and trimmed until it has a minimum, as in "
    "Zhang et al. (2012), whom the text cites; that costs no budget."
)
DRAWN = (
    "The softmax layer's noisy quadratic is used as it was drawn: it falls without end in some "
    "directions, so training may diverge."
)


def reference_card(spec: PcdbnSpec, n: int, unit: str) -> Guarantee:
    """The card of a method without noise."""
    return not_private(
        "None: the network is trained on the raw records",
        ("the trained weights",),
        "No noise is added: for comparison only.",
        RELATION,
        unit,
    )


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
    return _unproved(
        "Laplace noise on the coefficients of each layer's polynomial energy, drawn once",
        "heuristic",
        spec,
        unit,
        (
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
        ),
    )


def _released(spec: PcdbnSpec, n: int, unit: str) -> Guarantee:
    """The card of the published program."""
    return _unproved(
        "Laplace noise on the constants of the polynomial, and on the features of a step",
        "not_private",
        spec,
        unit,
        (
            "The noise is on constants of the activation, not on functions of the data: given "
            "this noise, the filters are computed from the raw records.",
            "Both layers and the output layer use the whole ε each, without dividing it.",
            "The output layer draws new noise in every step, but the program counts one step.",
            "The weights of the fully connected layer get no noise at all.",
            "Sensitivities are computed from each batch, and batch normalisation mixes records.",
            GAUGES,
        ),
    )


def _unproved(
    mechanism: str, status: Status, spec: PcdbnSpec, unit: str, reasons: tuple[str, ...]
) -> Guarantee:
    """The card of noise that proves nothing: the claim, and why it does not hold."""
    return Guarantee(
        mechanism=mechanism,
        status=status,
        epsilon_claimed=spec.epsilon,
        epsilon_proved=None,
        delta=0.0,
        relation=RELATION,
        unit=unit,
        released=("the filters of both layers", "the fully connected and the softmax layer"),
        reasons=reasons,
        claim=CLAIM,
    )


def _rigorous(spec: PcdbnSpec, n: int, unit: str) -> Guarantee:
    """The card of the provable version."""
    from engine.privacy import accounting

    made = releases(spec, n)
    d = dimensions(spec, n, 16 * 2 * spec.filters)
    along = "" if made.whole else f" (those beyond the second along {SKETCH} directions)"
    order = " and ".join(("second", *(NAMES[order] for order in made.orders))) + " moments"
    return Guarantee(
        mechanism=f"{len(made.moments) + 2} Gaussian releases of sums, each drawn once",
        status="proved",
        epsilon_claimed=spec.epsilon,
        epsilon_proved=accounting.epsilon(cost(made.listed), spec.delta, RELATION),
        delta=spec.delta,
        relation=RELATION,
        unit=unit,
        accountant="exact curve of composed Gaussian releases (Balle and Wang 2018)",
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
    )


def psgd_card(spec: PcdbnSpec, n: int, unit: str) -> Guarantee:
    """The card of DP-SGD on the same structure."""
    from engine.privacy import accounting

    event = cost(psgd_releases(spec, n))
    return Guarantee(
        mechanism=f"Gaussian noise of multiplier {gradient_noise(spec, n).multiplier:.3g} on sums "
        "of clipped gradients",
        status="proved",
        epsilon_claimed=spec.epsilon,
        epsilon_proved=accounting.epsilon(event, spec.delta, RELATION),
        delta=spec.delta,
        relation=RELATION,
        unit=unit,
        accountant="Rényi differential privacy of the sampled Gaussian",
        sampling=POISSON,
        released=("the weights after every step",),
        reasons=(
            "Each record's gradient is clipped to C, so a step's sum has sensitivity C.",
            "Every epoch spends budget, so training stops when the budget is used up.",
            COUNT_OF_DESCENT,
            GAUGES,
        ),
        claim="Abadi et al. 2016, Theorem 1.",
        claimant="Abadi et al. claim",
    )
