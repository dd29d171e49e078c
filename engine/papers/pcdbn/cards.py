"""The guarantee cards: what the published program, the text and the proof really give."""

from engine.papers.pcdbn.price import gradient_noise, psgd_releases
from engine.papers.pcdbn.releases import RELATION, dimensions, releases
from engine.papers.pcdbn.sensitivity import monomials
from engine.papers.pcdbn.spec import PcdbnSpec
from engine.privacy.guarantee import Guarantee
from engine.privacy.releases import cost

TAYLOR_DEGREE, LINE_DEGREE = 5, 1
CLAIM = "Section 4: the private convolutional deep belief network is ε-differentially private."
COUNT = (
    "The number of records is public: it sets the noise floor, the number of features and which "
    "records are tested on. Given it, a neighbour is the same table with one record left out of "
    "every sum."
)
GAUGES = (
    "Accuracy, noise to signal and the feature maps are computed from raw records: yardsticks for "
    "the experimenter, not part of the release."
)
CONSTANTS = (
    "Constants such as the pooling and the split were chosen once, looking at MNIST; the guarantee "
    "is for a run with given constants, not for that choice."
)


def reference_card(spec: PcdbnSpec, n: int, unit: str) -> Guarantee:
    """The card of a method without noise."""
    return Guarantee(
        mechanism="None: the network is trained on raw records",
        status="not_private",
        epsilon_claimed=None,
        epsilon_proved=None,
        delta=0.0,
        relation=RELATION,
        unit=unit,
        released=("nothing: a reference line",),
        reasons=("No noise is added, so no finite ε bounds what the result reveals.",),
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
    return Guarantee(
        mechanism="Laplace noise on the coefficients of each layer's polynomial energy, drawn once",
        status="heuristic",
        epsilon_claimed=spec.epsilon,
        epsilon_proved=None,
        delta=0.0,
        relation=RELATION,
        unit=unit,
        released=("the filters of both layers", "the fully connected and the softmax layer"),
        reasons=(
            "The sensitivity is the largest over the data at hand; it would have to hold for every "
            "possible record.",
            "The normalisation Z depends on the filters and on the record, so the energy is not a "
            "polynomial in the filters and has no coefficients to perturb.",
            "Lemma 2 takes the largest group in place of the sum of all: a record changes the "
            "coefficients of every group, each with noise of its own.",
            f"Of the {monomials(size, degree):,} coefficients of a group at L = {degree} and "
            f"{size} x {size} filters one per order is perturbed; the rest of the gradient, and "
            "the whole of the fully connected layer's, is that of the raw records.",
            GAUGES,
        ),
        claim=CLAIM,
    )


def _released(spec: PcdbnSpec, n: int, unit: str) -> Guarantee:
    """The card of the published program."""
    return Guarantee(
        mechanism="Laplace noise on the constants of the polynomial, and on the features of a step",
        status="not_private",
        epsilon_claimed=spec.epsilon,
        epsilon_proved=None,
        delta=0.0,
        relation=RELATION,
        unit=unit,
        released=("the filters of both layers", "the fully connected and the softmax layer"),
        reasons=(
            "The perturbed coefficients are constants of the activation, not functions of the "
            "data: given this noise the filters are a function of the raw records.",
            "Both layers and the output layer use the whole ε each; it is not divided.",
            "The output layer's noise is drawn anew at every one of many steps, and is not "
            "composed.",
            "The weights of the fully connected layer get no noise at all.",
            "Sensitivities are computed from each batch, and batch normalisation mixes records.",
            GAUGES,
        ),
        claim=CLAIM,
    )


def _rigorous(spec: PcdbnSpec, n: int, unit: str) -> Guarantee:
    """The card of the provable version."""
    from engine.privacy import accounting

    made = releases(spec, n)
    d = dimensions(spec, n, 16 * 2 * spec.filters)
    order = "second and fourth moments" if made.quartic else "second moments"
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
            f"{order} of the image patches, shared by all filters",
            "second moments of the first layer's patches",
            "the mean and the moments between channels and positions of the features",
            f"Σpp' of at most {d} features and Σpy', from which Σp(y−½)' follows",
        ),
        reasons=(
            "Each record is scaled so that its term of every sum has norm at most 1, whatever its "
            "pixels: that is the sensitivity.",
            "The moments do not depend on the filter, so one noisy release serves every group, "
            "and Lemma 2's largest group in place of the sum becomes true.",
            "Filters, whitening and the classifier are computed from releases: any number of "
            "filters and epochs costs nothing more.",
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
        sampling="each record is in a lot by a coin of its own",
        released=("the weights after every step",),
        reasons=(
            "Each record's gradient is clipped to C, so a lot's sum has sensitivity C.",
            "Every epoch spends budget: after the last, training has to stop.",
            GAUGES,
        ),
        claim="Abadi et al. 2016, Theorem 1.",
    )
