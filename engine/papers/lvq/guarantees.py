"""The guarantee cards of private GLVQ and GMLVQ and of their references. No torch here."""

from engine.papers.lvq import price
from engine.papers.lvq.spec import LvqSpec
from engine.privacy.guarantee import Guarantee
from engine.privacy.releases import cost

CLAIM = "epsilon_1 + epsilon_2 with the noise 2q sqrt(T log(1/delta))/epsilon_2 (Section 3)"
SAMPLING = "each record is in a step with chance q, independently; qN with public N divides"
ASSUMED = (
    "Assumed: which records form the training fold is public. Folds keep the shares of the "
    "classes, so they depend on everyone's labels; the proof is for the records of a given fold."
)
PUBLIC = (
    "Public are the number of records n, which divides sums and stays when a record is left out "
    "of them, the number of classes and the bounds of the features. Labels and class sizes are "
    "not: counts are released with noise, and a record is protected together with its label."
)
TUNED = (
    "Learning rates, bounds and other settings are chosen by whoever runs it, and "
    "cross-validation is the experimenter's: neither is part of the release."
)


def descent_guarantee(spec: LvqSpec, n: int, record: str) -> Guarantee:
    """The card of a private run: what is claimed, what the PLD accountant proves, and why."""
    from engine.privacy.accounting import epsilon

    broken = spec.initialisation == "sensitivity_1"
    total = cost(price.releases(False, spec, n))
    proved = None if broken else epsilon(total, spec.delta, price.RELATION, tight=True)
    return Guarantee(
        mechanism=f"{_start(spec)}; then Gaussian noise of {price.multiplier(spec):.3g} C on "
        f"each of {price.steps(spec, n)} sums of gradients clipped at C = {spec.clip:g}",
        # the rule of the paper is a heuristic, but what its noise costs is proved all the same
        status="not_private" if broken else "proved_under_assumption",
        epsilon_claimed=spec.epsilon,
        epsilon_proved=proved,
        delta=spec.delta,
        relation=price.RELATION,
        unit=record,
        accountant="PLD (dp-accounting), initialisation and steps in one composition",
        sampling=SAMPLING,
        released=("prototypes", "relevance matrix", "noisy class counts"),
        reasons=(*_reasons(spec, proved), *(() if broken else (ASSUMED,)), PUBLIC, TUNED),
        claim=CLAIM,
    )


def _start(spec: LvqSpec) -> str:
    if spec.initialisation == "tight":
        covariance = " and, for GMLVQ, second moments" if price.whitened(spec) else ""
        return f"Gaussian noise on clipped class sums, counts{covariance}"
    size = "d" if spec.initialisation == "paper" else "1"
    return f"Laplace noise for sensitivity {size} on class sums, for sensitivity 1 on counts"


def _reasons(spec: LvqSpec, proved: float | None) -> tuple[str, ...]:
    if spec.initialisation == "sensitivity_1":
        return (
            "The class sums get noise for sensitivity 1, but one record changes them by up to d "
            "in L1 norm: the initialisation protects nobody.",
        )
    if spec.calibration == "rigorous":
        return (
            "Every release has a sensitivity that is proved, and the noise of the steps is the "
            "least with which the accountant finds at most epsilon for everything together.",
        )
    nominal, found = (1.0 - spec.share) * spec.epsilon, price.steps_epsilon(spec)
    words = "under-protects" if found > nominal else "is private enough here"
    reasons = [
        f"The printed noise is an asymptotic rule; at these settings it {words}: the steps cost "
        f"{found:.3g} by the PLD accountant, where {nominal:.3g} was asked for.",
    ]
    if proved is not None and proved > spec.epsilon:
        reasons.append(f"It under-protects as a whole: {proved:.3g} instead of {spec.epsilon:g}.")
    return tuple(reasons)


def free_guarantee(spec: LvqSpec, n: int, record: str) -> Guarantee:
    """The card of the references."""
    return Guarantee(
        mechanism="none",
        status="not_private",
        epsilon_claimed=None,
        epsilon_proved=None,
        delta=0.0,
        relation=price.RELATION,
        unit=record,
        released=("prototypes", "relevance matrix"),
        reasons=("A reference line without privacy: it is computed from the records themselves.",),
    )
