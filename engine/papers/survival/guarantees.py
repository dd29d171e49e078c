"""What the cards say: which sentences of `paper.toml`, with which numbers. No torch, no data."""

import math
from collections.abc import Callable, Mapping

from engine.core import declared
from engine.papers.survival.price import descent, oracle, perturbation, sampler
from engine.papers.survival.price.sensitivity import (
    FINISH,
    TOLERANCE,
    gradient_bound,
    objective_noise,
    output_noise,
    printed_determinant,
    squares,
)
from engine.papers.survival.spec import SurvivalSpec
from engine.privacy.guarantee import Guarantee, Relation
from engine.privacy.releases import Release
from engine.promise import promise, words

RELATION: Relation = "replace_one"
CLAIMED = ("out_pert", "obj_pert", "psgld", "exact")
"""Methods whose ε the paper claims."""
GENERAL = str(declared.kind(__package__, "sentences")["general"])
"""What objective perturbation gains from knowing survival models; `benchmarks.survival`."""
Facts = Mapping[str, object]


def card(
    name: str,
    releases: Callable[[SurvivalSpec, int], tuple[Release, ...]],
    spec: SurvivalSpec,
    n: int,
    unit: str,
) -> Guarantee:
    """The card of a method, by its name and its releases."""
    printed, facts = _printed(spec), FACTS.get(name, _none)(spec, n)
    said = words(
        __package__, name, delta=spec.delta, scaling=("ranges" if printed else "bounds",), **facts
    )
    return promise(
        releases(spec, n), RELATION, unit, claimed=spec.epsilon if name in CLAIMED else None,
        delta=spec.delta, assumed=printed or name == "exact", spent=_spent(name, spec, n), **said,
    )  # fmt: skip


def _spent(name: str, spec: SurvivalSpec, n: int) -> float | None:
    """ε of the releases in closed form; None where the accountant is asked."""
    from engine.privacy import gaussian  # loads scipy

    if name == "obj_pert":
        return sum(objective_noise(spec, n, perturbation.ANY).parts)
    if name not in ("dp_gd", "dp_newton", "cox_dp"):
        return None
    plan = descent.even(spec) if name == "dp_gd" else descent.growing(spec)
    return gaussian.epsilon(plan.total**-2, spec.delta)


def _printed(spec: SurvivalSpec) -> bool:
    """Whether the scale of the records is the data's own, which a proof must assume public."""
    return spec.calibration == "paper"


def _none(spec: SurvivalSpec, n: int) -> Facts:
    return {}


def _output(spec: SurvivalSpec, n: int) -> Facts:
    """What was tightened, or what the printed noise proves."""
    printed = gradient_bound(spec.intervals, spec.knots, "paper")
    tight = gradient_bound(spec.intervals, spec.knots, "rigorous")
    return {
        "tolerance": TOLERANCE,
        "printed": printed,
        "tight": tight,
        "saved": 100 * (1 - tight / printed),
        "proved": output_noise(spec, n, perturbation.ANY).epsilon,
        "bound": ("larger" if _printed(spec) else "tightened",),
    }


def _objective(spec: SurvivalSpec, n: int) -> Facts:
    """The slip in the paper's proof and what stands in spite of it."""
    if not _printed(spec):
        return {"why": ("determinant", "finish", "declared_split"), "finish_share": FINISH}
    q, e, plan = spec.intervals, spec.knots, objective_noise(spec, n, perturbation.ANY)
    largest = float(squares(q, e).max()) + 1.0
    return {
        "why": ("makes_up", "spends", "reaches", "declared"),
        "largest": largest,
        "room": ("below" if largest <= 4.0 else "above",),
        "ratio": plan.noise.ratio,
        "counted": printed_determinant(q, e, n * (spec.regularisation + plan.extra)),
        "spent": sum(plan.parts),
    }


def _langevin(spec: SurvivalSpec, n: int) -> Facts:
    """What Algorithm 4 as printed targets, or what was corrected, and where its chain is too short.

    The square of the density is the mechanism at twice the temperature, so 2ε bounds an exact draw
    of it; of a finite chain nothing is proved either way.
    """
    total = sampler.chain_steps(spec, n)
    left_out = sampler.burned(spec, total)
    return {
        "minibatch": spec.minibatch,
        "improper": () if spec.prior else sampler.IMPROPER,
        "drift": ("square", "scale") if _printed(spec) else ("half", "neglected"),
        "twice": 2.0 * spec.epsilon,
        "short": () if left_out == spec.burn_in else ("too_short",),
        "burn_in": spec.burn_in,
        "left_out": left_out,
        "total": total,
    }


def _exact(spec: SurvivalSpec, n: int) -> Facts:
    """What an exact draw assumes; without a prior there is nothing to draw from."""
    proper = bool(spec.prior)
    return {
        "accountant": ("one_release",) if proper else "",
        "unknown": ("eta" if proper else "nothing",),
        "factor": 1.0 + math.exp(min(spec.epsilon, 700.0)),
        "assumption": ("exact_draw",) if proper else sampler.IMPROPER,
        "v": sampler.loss_bound(spec, n),
    }


FACTS: dict[str, Callable[[SurvivalSpec, int], Facts]] = {
    "out_pert": _output,
    "obj_pert": _objective,
    "psgld": _langevin,
    "exact": _exact,
    "obj_pert_gauss": lambda spec, n: {"freedom": spec.knots + 1},
    "oracle": lambda spec, n: {"raw": oracle.WHY},
    "km_dp": lambda spec, n: {"times": ("time_ranges" if _printed(spec) else "time_bounds",)},
}
"""What the cards' sentences ask for, by method."""
