"""What the cards say of private GLVQ and GMLVQ and of their references. No torch here."""

from dataclasses import replace

from engine.papers.lvq import price
from engine.papers.lvq.spec import LvqSpec
from engine.privacy.guarantee import Guarantee
from engine.privacy.releases import cost
from engine.promise import promise, words


def descent_guarantee(spec: LvqSpec, n: int, record: str) -> Guarantee:
    """The card of a private run: what is claimed, what the PLD accountant proves, and why."""
    from engine.privacy import accounting  # takes a second to load

    made, bare = price.releases(False, spec, n), spec.initialisation == "sensitivity_1"
    proved = (
        None if bare else accounting.epsilon(cost(made), spec.delta, price.RELATION, tight=True)
    )
    grouped = price.rounds(spec) > 0
    said = words(
        __package__, "descent", start=(spec.initialisation,),
        groups=("sums_of_groups",) if grouped else "",
        covariance=("second_moments",) if price.whitened(spec) else "",
        multiplier=price.multiplier(spec), steps=price.steps(spec, n), clip=spec.clip,
        grouped=("groups_released",) * grouped, **_reasons(spec, proved),
    )  # fmt: skip
    card = promise(
        made, price.RELATION, record, claimed=spec.epsilon, delta=spec.delta, spent=proved, **said
    )
    # the rule of the paper is a heuristic, but what its noise costs is proved all the same
    return replace(card, status="not_private", delta=spec.delta) if bare else card


def _reasons(spec: LvqSpec, proved: float | None) -> dict[str, object]:
    if spec.initialisation == "sensitivity_1":
        return {"why": ("bare",)}
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


def free_guarantee(spec: LvqSpec, n: int, record: str) -> Guarantee:
    """The card of the references."""
    made, said = price.free(spec, n), words(__package__, "free")
    return promise(made, price.RELATION, record, claimed=None, **said)
