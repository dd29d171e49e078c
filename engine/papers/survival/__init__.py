"""Differentially private discrete-time survival regression (Nguyen and Hui 2017)."""

from engine.method import Entry, Paper
from engine.papers.survival import (
    cards,
    price,
    price_gauss,
    price_gradient,
    price_km,
    price_newton,
    price_oracle,
    price_sampler,
)
from engine.papers.survival.arrays import ARRAYS
from engine.papers.survival.described import model
from engine.papers.survival.spec import Corrected, Curved, Sampled, SurvivalSpec, Utility

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


PAPER = Paper(
    slug="survival",
    title="Survival regression",
    citation="Nguyen and Hui (2017), Differentially Private Regression for Discrete-Time "
    "Survival Analysis, CIKM 2017, arXiv 1708.07436",
    claim="ε-differential privacy of a fitted survival model, for one person's record replaced.",
    relation="replace_one",
    spec=SurvivalSpec,
    methods=(
        Entry(
            name="out_pert",
            label="Output perturbation",
            brief="Output pert.",
            summary="Fits the regularised model, then adds noise to its parameters.",
            module="engine.papers.survival.out_pert",
            info=Utility,
            steps=price.one,
            releases=price.output_releases,
            guarantee=price.output_guarantee,
            witness="engine.papers.survival.witness:OUTPUT",
            uses=PRIVATE,
            chunk=_draws,
        ),
        Entry(
            name="obj_pert",
            label="Objective perturbation",
            brief="Objective pert.",
            summary="Adds a random linear term to the objective, then fits the model to it.",
            module="engine.papers.survival.obj_pert",
            info=Utility,
            steps=price.one,
            releases=price.objective_releases,
            guarantee=price.objective_guarantee,
            witness="engine.papers.survival.witness:OBJECTIVE",
            uses=PRIVATE,
            chunk=_solutions,
        ),
        Entry(
            name="psgld",
            label="Sanitised posterior, pSGLD",
            brief="Sampler, pSGLD",
            summary="Draws parameters from a flattened posterior with bounded losses, by "
            "stochastic-gradient Langevin steps.",
            module="engine.papers.survival.psgld",
            info=Sampled,
            steps=price_sampler.psgld_steps,
            releases=price_sampler.psgld_releases,
            guarantee=cards.psgld_guarantee,
            witness="engine.papers.survival.witness:SAMPLER",
            uses=(*SAMPLED, *LANGEVIN),
            chunk=_chains,
            resumes=True,
        ),
        Entry(
            name="exact",
            label="Sanitised posterior, corrected",
            brief="Sampler, exact",
            summary="Draws parameters from the same posterior by Metropolis-corrected chains "
            "over all records.",
            module="engine.papers.survival.exact",
            info=Corrected,
            steps=price_sampler.exact_steps,
            releases=cards.exact_releases,
            guarantee=cards.exact_guarantee,
            witness="engine.papers.survival.witness:SAMPLER",
            uses=(*SAMPLED, "samples"),
            chunk=_corrected,
            resumes=True,
        ),
        Entry(
            name="dp_gd",
            label="Private gradient descent",
            brief="Descent, private",
            summary="Clips each record's whitened gradient and adds Gaussian noise to each sum.",
            module="engine.papers.survival.dp_gd",
            info=Utility,
            steps=price_gradient.gradient_steps,
            releases=price_gradient.gradient_releases,
            guarantee=price_gradient.gradient_guarantee,
            witness="engine.papers.survival.witness:DESCENT",
            uses=DESCENT,
            role="beyond",
            chunk=_descents,
        ),
        Entry(
            name="dp_newton",
            label="Private Newton",
            brief="Newton, private",
            summary="Releases second moments with noise, then takes a few Newton steps. Each "
            "uses all clipped gradients with noise so far.",
            module="engine.papers.survival.dp_newton",
            info=Utility,
            steps=price_newton.newton_passes,
            releases=price_newton.newton_releases,
            guarantee=cards.newton_guarantee,
            witness="engine.papers.survival.witness:DESCENT",
            uses=PASSES,
            role="beyond",
            chunk=_descents,
        ),
        Entry(
            name="cox_dp",
            label="Private Cox regression",
            brief="Cox, private",
            summary="Fits the proportional-hazards model on grouped times by private Newton "
            "steps: its coefficients are those of Cox regression.",
            module="engine.papers.survival.dp_newton:PROPORTIONAL",
            info=Utility,
            steps=price_newton.newton_passes,
            releases=price_newton.newton_releases,
            guarantee=cards.cox_guarantee,
            witness="engine.papers.survival.witness:DESCENT",
            uses=PASSES,
            fixed=(("link", "cloglog"),),
            role="beyond",
            chunk=_descents,
        ),
        Entry(
            name="km_dp",
            label="Private Kaplan–Meier curve",
            brief="Kaplan–Meier, private",
            summary="Adds Gaussian noise to the counts of events and censored times in each "
            "interval. It uses no covariates.",
            module="engine.papers.survival.km_dp",
            info=Curved,
            steps=price.one,
            releases=price_km.km_releases,
            guarantee=price_km.km_guarantee,
            witness="engine.papers.survival.witness:CURVE",
            uses=("epsilon", "delta", "intervals", "calibration"),
            role="beyond",
            chunk=_draws,
        ),
        Entry(
            name="out_pert_gauss",
            label="Output perturbation, Gaussian",
            brief="Output pert., (ε, δ)",
            summary="Fits the regularised model, then adds Gaussian noise to its parameters.",
            module="engine.papers.survival.out_pert:GAUSSIAN",
            info=Utility,
            steps=price.one,
            releases=price_gauss.output_releases,
            guarantee=price_gauss.output_guarantee,
            witness="engine.papers.survival.witness:OUTPUT",
            uses=GAUSSIAN,
            role="beyond",
            chunk=_draws,
        ),
        Entry(
            name="obj_pert_gauss",
            label="Objective perturbation, Gaussian",
            brief="Objective pert., (ε, δ)",
            summary="Adds a Gaussian linear term to the objective, then fits the model to it.",
            module="engine.papers.survival.obj_pert:GAUSSIAN",
            info=Utility,
            steps=price.one,
            releases=price_gauss.objective_releases,
            guarantee=price_gauss.objective_guarantee,
            witness="engine.papers.survival.witness:GAUSSIAN_OBJECTIVE",
            uses=GAUSSIAN,
            role="beyond",
            chunk=_solutions,
        ),
        Entry(
            name="non_private",
            label="Without privacy",
            brief="No privacy",
            summary="Fits the regularised model to the raw records, without noise.",
            module="engine.papers.survival.non_private",
            info=Utility,
            steps=price.one,
            releases=price.nothing_private,
            guarantee=price.optimum_guarantee,
            uses=MODEL,
            role="reference",
        ),
        Entry(
            name="unregularised",
            label="Without privacy or regularisation",
            brief="No privacy, Λ = 0",
            summary="Fits the model to the raw records without a penalty, which is what private "
            "gradient descent would find without noise.",
            module="engine.papers.survival.unregularised",
            info=Utility,
            steps=price.one,
            releases=price.nothing_private,
            guarantee=price.optimum_guarantee,
            uses=SCALED,
            role="reference",
        ),
        Entry(
            name="cox",
            label="Cox regression",
            brief="Cox",
            summary="Fits the proportional-hazards model to the raw records, without noise.",
            module="engine.papers.survival.cox",
            info=Utility,
            steps=price.one,
            releases=price.nothing_private,
            guarantee=price.cox_guarantee,
            uses=SCALED,
            role="reference",
        ),
        Entry(
            name="oracle",
            label="Oracle, for comparison only",
            brief="Oracle",
            summary="Knows the optimum and makes one Gaussian release of gradients there, whitened "
            "by the exact curvature.",
            module="engine.papers.survival.oracle",
            info=Utility,
            steps=price.one,
            releases=price_oracle.oracle_releases,
            guarantee=price_oracle.oracle_guarantee,
            uses=("epsilon", "delta", *SCALED),
            role="reference",
            chunk=_draws,
        ),
    ),
    datasets=("flchain", "third_births", "wichert", "second_births", "heart"),
    gauge="mre",
    exhibits="engine.papers.survival.figures",
    own="survival",
    opening={"intervals": 10},
    arrays=ARRAYS,
    model=model,
    scores="engine.papers.survival.fitted:scores",
)
