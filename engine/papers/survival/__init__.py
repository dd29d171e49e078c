"""Differentially private discrete-time survival regression (Nguyen and Hui 2017)."""

from collections.abc import Callable
from functools import partial
from typing import Any

from datasets.base import Card
from engine.method import Entry, Paper
from engine.papers.survival import guarantees
from engine.papers.survival.compared import Compared, GroupedSpec
from engine.papers.survival.described import model
from engine.papers.survival.evaluation.groups import GROUPS
from engine.papers.survival.price import compared, curve, descent, oracle, perturbation, sampler
from engine.papers.survival.spec import Corrected, Curved, Sampled, SurvivalSpec, Utility
from engine.privacy.releases import Release

Releases = Callable[[SurvivalSpec, int], tuple[Release, ...]]

SCALED = ("intervals", "knots", "calibration")
"""Every method's: the calibration also says whose ranges scale the records."""
MODEL = (*SCALED, "regularisation", "solver")
PRIVATE = ("epsilon", *MODEL)
SAMPLED = ("epsilon", *SCALED, "link", "bound", "prior")
STEPS = ("step_scale", "step_decay", "memory", "damping")
LANGEVIN = (*STEPS, "sampler_epochs", "minibatch", "burn_in")
DESCENT = ("epsilon", "delta", *SCALED, "steps", "clip")
PASSES = ("epsilon", "delta", *SCALED, "passes")
GAUSSIAN = ("epsilon", "delta", *MODEL)

SHRUNK = (
    "the penalty shrinks the coefficients, and nothing that is released says by how much, nor how "
    "much they owe to who is in the table"
)
CLIPPED = (
    "clipping pulls the coefficients of long-tailed covariates to zero, at every ε, and nothing "
    "that is released says by how much"
)
DRAWN = "the release is a draw, and nothing that is released says how far draws lie apart"
"""Why a method's coefficients have no intervals."""


def _draws(spec: SurvivalSpec, n: int, device: str) -> int:
    """Draws that are measured together: about a tenth of a second."""
    return 50


def _solutions(spec: SurvivalSpec, n: int, device: str) -> int:
    """Optimisations that run together: about half a second, so that live points arrive."""
    return max(4, min(40, round(20 * 1_600_000 / (n * spec.intervals))))


def _chains(spec: SurvivalSpec, n: int, device: str) -> int:
    """Chains of stochastic gradients that run together: those of one figure, in one thread."""
    return 21


def _corrected(spec: SurvivalSpec, n: int, device: str) -> int:
    """Metropolis-corrected replicas that run together: about three seconds on one core."""
    return max(1, min(64, 40_000_000 // (n * spec.samples)))


def _descents(spec: SurvivalSpec, n: int, device: str) -> int:
    """Gradient descents that run together, so that a record's gradients fit in the cache."""
    return max(4, min(40, 400_000 // n))


def _parameters(spec: SurvivalSpec, data: Card) -> int:
    """Numbers in the answer: the baseline's and one for each covariate."""
    return spec.knots + len(data.features)


def _entry(
    name: str, releases: Releases, uses: tuple[str, ...], **code: Any
) -> Entry[SurvivalSpec]:
    usual = {"info": Utility, "steps": perturbation.one}
    promised = partial(guarantees.card, name, releases)
    return Entry.declared(
        __name__, name, releases=releases, guarantee=promised, uses=uses, **{**usual, **code}
    )


_newton = partial(
    _entry, releases=descent.newton_releases, uses=PASSES, steps=descent.newton_passes,
    chunk=_descents,
)  # fmt: skip
_reference = partial(_entry, releases=perturbation.nothing_private)

PAPER: Paper[GroupedSpec] = Paper.declared(
    __name__,
    spec=GroupedSpec,
    methods=(
        _entry(
            name="out_pert",
            releases=perturbation.output_releases,
            uses=PRIVATE,
            chunk=_draws,
            width=_parameters,
            unsure=SHRUNK,
        ),
        _entry(
            name="obj_pert",
            releases=perturbation.objective_releases,
            uses=PRIVATE,
            chunk=_solutions,
            unsure=SHRUNK,
        ),
        _entry(
            name="psgld",
            info=Sampled,
            steps=sampler.psgld_steps,
            releases=sampler.psgld_releases,
            uses=(*SAMPLED, *LANGEVIN),
            chunk=_chains,
            unsure=DRAWN,
        ),
        _entry(
            name="exact",
            info=Corrected,
            steps=sampler.exact_steps,
            releases=sampler.exact_releases,
            uses=(*SAMPLED, "samples"),
            chunk=_corrected,
            unsure=DRAWN,
        ),
        _entry(
            name="dp_gd",
            steps=descent.gradient_steps,
            releases=descent.gradient_releases,
            uses=DESCENT,
            chunk=_descents,
            unsure=CLIPPED,
        ),
        _newton(name="dp_newton"),
        _newton(name="cox_dp"),
        _entry(
            name="km_dp",
            info=Curved,
            releases=curve.km_releases,
            uses=("epsilon", "delta", "intervals", "calibration"),
            chunk=_draws,
            whole=(2,),  # two counts move by 1
        ),
        _entry(
            name="log_rank",
            info=Compared,
            releases=compared.releases,
            uses=("epsilon", "delta", "intervals", "group"),
            chunk=_draws,
            whole=(2,),  # two counts move by 1
        ),
        _entry(
            name="out_pert_gauss",
            releases=perturbation.output_gaussian_releases,
            uses=GAUSSIAN,
            chunk=_draws,
            unsure=SHRUNK,
        ),
        _entry(
            name="obj_pert_gauss",
            releases=perturbation.objective_gaussian_releases,
            uses=GAUSSIAN,
            chunk=_solutions,
            unsure=SHRUNK,
        ),
        _reference(name="non_private", uses=MODEL),
        _reference(name="unregularised", uses=SCALED),
        _reference(name="cox", uses=SCALED),
        _entry(
            name="oracle",
            releases=oracle.oracle_releases,
            uses=("epsilon", "delta", *SCALED),
            chunk=_draws,
        ),
    ),
    model=model,
    groups=GROUPS,
)
