"""The guarantee cards of private GLVQ and GMLVQ and of their references. No torch here."""

from dataclasses import replace

from engine.papers.lvq import price
from engine.papers.lvq.spec import LvqSpec
from engine.privacy.guarantee import POISSON, Guarantee, not_private, public_count
from engine.promise import promise

CLAIM = "(ε₁ + ε₂, δ)-privacy with noise 2q √(T log(1/δ)) / ε₂ in each step (Section 3)"
PUBLIC = (
    public_count("the divisor of sums and, with the seed, which records form the training fold"),
    "The number of classes and the bounds of the features are public too. Labels and class sizes "
    "are protected: class counts are released with noise, and a record includes its label.",
)
TUNED = (
    "Not covered: choosing learning rates, bounds and other settings on the same records, and "
    "the cross-validation shown here."
)


def descent_guarantee(spec: LvqSpec, n: int, record: str) -> Guarantee:
    """The card of a private run: what is claimed, what the PLD accountant proves, and why."""
    card = promise(
        price.releases(False, spec, n), price.RELATION, record, claimed=spec.epsilon,
        delta=spec.delta, tight=True,
        mechanism=f"{_start(spec)}; then Gaussian noise of {price.multiplier(spec):.3g} C on "
        f"each of {price.steps(spec, n)} sums of gradients clipped at C = {spec.clip:g}",
        accountant="PLD (dp-accounting), initialisation and steps in one composition",
        sampling=POISSON,
        released=(
            *("prototypes", "relevance matrix", "noisy class counts"),
            *(("noisy counts and sums of groups within classes",) * (price.rounds(spec) > 0)),
        ),
        reasons=(*PUBLIC, TUNED),
        claim=CLAIM,
    )  # fmt: skip
    card = replace(card, reasons=(*_reasons(spec, card.epsilon_proved), *card.reasons))
    if spec.initialisation != "sensitivity_1":
        # the rule of the paper is a heuristic, but what its noise costs is proved all the same
        return card
    return replace(card, status="not_private", delta=spec.delta)


def _start(spec: LvqSpec) -> str:
    if spec.initialisation == "tight":
        covariance = " and, for GMLVQ, second moments" if price.whitened(spec) else ""
        groups = ", sums and counts of groups within classes" if price.rounds(spec) else ""
        return f"Gaussian noise on clipped class sums, counts{groups}{covariance}"
    size = "d" if spec.initialisation == "paper" else "1"
    return f"Laplace noise for sensitivity {size} on class sums, for sensitivity 1 on counts"


def _reasons(spec: LvqSpec, proved: float | None) -> tuple[str, ...]:
    if spec.initialisation == "sensitivity_1":
        return (
            "The class sums get noise for sensitivity 1, but one record changes them by up to d "
            "in L1 norm, so the initialisation proves nothing.",
        )
    if spec.calibration == "rigorous":
        return (
            "The sensitivity of every release is proved, and the steps have the least noise for "
            "which everything together costs at most ε.",
        )
    nominal, spent = (1.0 - spec.share) * spec.epsilon, price.steps_epsilon(spec)
    words = "is too small" if spent > nominal else "is large enough here"
    reasons = [
        f"The printed noise {words}: the steps spend ε = {spent:.3g} instead of {nominal:.3g}. "
        "The printed rule holds only asymptotically.",
    ]
    if proved is not None and proved > spec.epsilon:
        reasons.append(f"The whole run spends ε = {proved:.3g} instead of {spec.epsilon:g}.")
    return tuple(reasons)


def free_guarantee(spec: LvqSpec, n: int, record: str) -> Guarantee:
    """The card of the references."""
    return not_private(
        "none",
        ("prototypes", "relevance matrix"),
        "Trained on the raw records without noise, for comparison only.",
        price.RELATION,
        record,
    )
