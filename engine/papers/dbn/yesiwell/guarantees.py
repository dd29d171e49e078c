"""The guarantee cards: for each unit of protection what is proved, and what is not."""

from engine.papers.dbn import guarantees
from engine.papers.dbn.guarantees import BOUNDED, DRAWN
from engine.papers.dbn.price import RELATION
from engine.papers.dbn.yesiwell import price
from engine.papers.dbn.yesiwell.spec import YesiwellSpec
from engine.privacy.guarantee import Guarantee
from engine.privacy.releases import Release
from engine.promise import promise

CLAIM = (
    "Section 4: the private convolutional deep belief network is ε-differentially private for one "
    "window."
)
GAUGES = (
    "Accuracy, calibration and the network's colours are computed from raw records: for comparison "
    "only, not part of what is published."
)
COUNT = "The number of users, M, N and the bounds of the attributes are public."
FRIENDS = {
    "window": "Friends' influence ψ is taken as given, though it was computed from other windows.",
    "user": "The friendships are public. A user's labels also reach the windows of at most D "
    "friends through ψ: that part has a bound and is in the price.",
    "user_and_graph": "The friendships are secret too: removing a user removes them. No user is "
    "assumed to have more than D friends, since checking that would read the friendships.",
}


def _unit(spec: YesiwellSpec, unit: str) -> str:
    return f"one window of {unit}" if spec.unit == "window" else unit


def reference_card(spec: YesiwellSpec, n: int, unit: str) -> Guarantee:
    """The card of a method without noise."""
    return guarantees.reference(_unit(spec, unit))


def network_card(spec: YesiwellSpec, n: int, unit: str) -> Guarantee:
    """The card of pCDBN, whatever its polynomial."""
    if spec.calibration != "rigorous":
        return _printed(spec, n, unit, "each layer's polynomial energy")
    made = price.network_releases(spec, n)
    own = price.own_windows(spec)
    reasons = (
        f"Each window adds terms of length at most 1 to every sum; {own} of them go with a record.",
        FRIENDS[spec.unit],
        f"The sum of pp' moves by at most {price.matrix_sensitivity(spec):.4g}, that of p(y − ½) "
        f"by at most {price.vector_sensitivity(spec):.4g}: friends' influence of weight "
        f"{spec.social:g} makes the first {price.matrix_sensitivity(spec) / own:.2g} times as "
        "large.",
        "The moments do not depend on the filter, so one noisy release serves all filters.",
        "Filters and the output layer are computed from what was released: any number of epochs "
        "costs nothing more.",
        COUNT,
        GAUGES,
    )
    return _proved(spec, unit, made, "4 Gaussian releases of sums, each drawn once", reasons)


def code_card(spec: YesiwellSpec, n: int, unit: str) -> Guarantee:
    """The card of dPAH."""
    if spec.calibration != "rigorous":
        return _printed(spec, n, unit, "the auto-encoder's reconstruction error")
    reasons = (
        "Vectors are scaled to L1 norm at most 1, so each window adds terms of at most 2 and 1.5 "
        f"to the two releases; {price.own_windows(spec)} of them go with a record.",
        "Friends' influence is no input, so no other user's windows change.",
        "The code of the decoder's training has public random weights: its coefficients do not "
        "depend on what is learned.",
        COUNT,
        GAUGES,
    )
    made = price.code_releases(spec, n)
    return _proved(spec, unit, made, "2 Laplace releases of sums, each drawn once", reasons)


def rival_card(spec: YesiwellSpec, n: int, unit: str) -> Guarantee:
    """The card of DP-SGD."""
    records = "all windows of a user" if spec.unit != "window" else "one window"
    reasons = (
        f"A record is {records}; its gradient is clipped to C, so a batch's sum moves by at most "
        "C.",
        "Friends' influence is no input, so neither friends' windows nor friendships matter.",
        "Every epoch spends budget: after the last, training has to stop.",
        COUNT,
        GAUGES,
    )
    return guarantees.gradient(spec, n, _unit(spec, unit), reasons)


def _proved(
    spec: YesiwellSpec, unit: str, made: tuple[Release, ...], how: str, reasons: tuple[str, ...]
) -> Guarantee:
    """The card of releases with proof; what secret friendships need is an assumption."""
    return promise(
        made, RELATION, _unit(spec, unit), claimed=spec.epsilon, delta=spec.delta,
        mechanism=how, reasons=reasons, claim=CLAIM,
        assumed=spec.unit != "user" and FRIENDS[spec.unit] in reasons,
    )  # fmt: skip


def _printed(spec: YesiwellSpec, n: int, unit: str, what: str) -> Guarantee:
    """The card of an algorithm as its text has it."""
    reasons = (
        "The paper's ε is for one window. For a user the noise here is multiplied by "
        f"{price.group(spec):,} windows that change with a user's data, friends' included.",
        "The coefficients depend on the weights, and the sensitivity is read from the data.",
        "Of the polynomial's many million coefficients one per order and unit gets noise.",
        BOUNDED if spec.objective == "bounded" else DRAWN,
        GAUGES,
    )
    return promise(
        price.network_releases(spec, n), RELATION, _unit(spec, unit), claimed=spec.epsilon,
        mechanism=f"Laplace noise on coefficients of {what}, drawn once",
        released=("the weights of all layers",), reasons=reasons, claim=CLAIM,
    )  # fmt: skip
