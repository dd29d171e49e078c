"""Differentially private discrete-time survival regression (Nguyen and Hui 2017)."""

from engine.method import Entry, Paper
from engine.papers.survival import guarantees
from engine.papers.survival.arrays import ARRAYS, RAW
from engine.papers.survival.compared import Compared, GroupedSpec
from engine.papers.survival.described import model
from engine.papers.survival.evaluation.groups import GROUPS
from engine.papers.survival.price import compared, curve, descent, oracle, perturbation, sampler
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


PAPER = Paper(
    slug="survival",
    title="Survival regression",
    citation="Nguyen and Hui (2017), Differentially Private Regression for Discrete-Time "
    "Survival Analysis, CIKM 2017, arXiv 1708.07436",
    claim="ε-differential privacy of a fitted survival model, for one person's record replaced.",
    relation="replace_one",
    spec=GroupedSpec,
    methods=(
        Entry(
            name="out_pert",
            label="Output perturbation",
            brief="Output noise",
            summary="Fits the regularised model, then adds noise to its parameters.",
            module="engine.papers.survival.mechanisms.output",
            info=Utility,
            steps=perturbation.one,
            releases=perturbation.output_releases,
            guarantee=guarantees.output_guarantee,
            witness="engine.papers.survival.witness:OUTPUT",
            uses=PRIVATE,
            chunk=_draws,
            unsure=SHRUNK,
        ),
        Entry(
            name="obj_pert",
            label="Objective perturbation",
            brief="Objective noise",
            summary="Adds a random linear term to the objective, then fits the model to it.",
            module="engine.papers.survival.mechanisms.objective",
            info=Utility,
            steps=perturbation.one,
            releases=perturbation.objective_releases,
            guarantee=guarantees.objective_guarantee,
            witness="engine.papers.survival.witness:OBJECTIVE",
            answer="f",
            uses=PRIVATE,
            chunk=_solutions,
            unsure=SHRUNK,
        ),
        Entry(
            name="psgld",
            label="Sanitised posterior, pSGLD",
            summary="Draws parameters from a flattened posterior with bounded losses, by "
            "stochastic-gradient Langevin steps.",
            module="engine.papers.survival.samplers.langevin",
            info=Sampled,
            steps=sampler.psgld_steps,
            releases=sampler.psgld_releases,
            guarantee=guarantees.psgld_guarantee,
            witness="engine.papers.survival.witness:SAMPLER",
            uses=(*SAMPLED, *LANGEVIN),
            chunk=_chains,
            resumes=True,
            unsure=DRAWN,
        ),
        Entry(
            name="exact",
            label="Sanitised posterior, corrected",
            summary="Draws parameters from the same posterior by Metropolis-corrected chains "
            "over all records.",
            module="engine.papers.survival.samplers.corrected",
            info=Corrected,
            steps=sampler.exact_steps,
            releases=sampler.exact_releases,
            guarantee=guarantees.exact_guarantee,
            witness="engine.papers.survival.witness:SAMPLER",
            answer="draws",
            uses=(*SAMPLED, "samples"),
            chunk=_corrected,
            resumes=True,
            unsure=DRAWN,
        ),
        Entry(
            name="dp_gd",
            label="Private gradient descent",
            brief="Descent, private",
            summary="Clips each record's whitened gradient and adds Gaussian noise to each sum.",
            module="engine.papers.survival.mechanisms.gradient",
            info=Utility,
            steps=descent.gradient_steps,
            releases=descent.gradient_releases,
            guarantee=guarantees.gradient_guarantee,
            witness="engine.papers.survival.witness:DESCENT",
            uses=DESCENT,
            role="beyond",
            chunk=_descents,
            unsure=CLIPPED,
        ),
        Entry(
            name="dp_newton",
            label="Private Newton",
            brief="Newton, private",
            summary="Releases second moments with noise, then takes a few Newton steps. Each "
            "uses all clipped gradients with noise so far.",
            module="engine.papers.survival.mechanisms.newton",
            info=Utility,
            steps=descent.newton_passes,
            releases=descent.newton_releases,
            guarantee=guarantees.newton_guarantee,
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
            module="engine.papers.survival.mechanisms.newton:PROPORTIONAL",
            info=Utility,
            steps=descent.newton_passes,
            releases=descent.newton_releases,
            guarantee=guarantees.private_cox_guarantee,
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
            module="engine.papers.survival.mechanisms.curve",
            info=Curved,
            steps=perturbation.one,
            releases=curve.km_releases,
            guarantee=guarantees.km_guarantee,
            witness="engine.papers.survival.witness:CURVE",
            uses=("epsilon", "delta", "intervals", "calibration"),
            role="beyond",
            chunk=_draws,
            whole=(2,),  # two counts move by 1
        ),
        Entry(
            name="log_rank",
            label="Private log-rank test",
            brief="Log-rank, private",
            summary="Adds Gaussian noise to the counts of events and censored times of two groups "
            "and tests whether their survival differs.",
            module="engine.papers.survival.mechanisms.compared",
            info=Compared,
            steps=perturbation.one,
            releases=compared.releases,
            guarantee=guarantees.log_rank_guarantee,
            witness="engine.papers.survival.witness:CURVE",
            uses=("epsilon", "delta", "intervals", "group"),
            role="beyond",
            chunk=_draws,
            whole=(2,),  # two counts move by 1
        ),
        Entry(
            name="out_pert_gauss",
            label="Output perturbation, Gaussian",
            brief="Output noise, Gaussian",
            summary="Fits the regularised model, then adds Gaussian noise to its parameters.",
            module="engine.papers.survival.mechanisms.output:GAUSSIAN",
            info=Utility,
            steps=perturbation.one,
            releases=perturbation.output_gaussian_releases,
            guarantee=guarantees.output_gaussian_guarantee,
            witness="engine.papers.survival.witness:OUTPUT",
            uses=GAUSSIAN,
            role="beyond",
            chunk=_draws,
            unsure=SHRUNK,
        ),
        Entry(
            name="obj_pert_gauss",
            label="Objective perturbation, Gaussian",
            brief="Objective noise, Gaussian",
            summary="Adds a Gaussian linear term to the objective, then fits the model to it.",
            module="engine.papers.survival.mechanisms.objective:GAUSSIAN",
            info=Utility,
            steps=perturbation.one,
            releases=perturbation.objective_gaussian_releases,
            guarantee=guarantees.objective_gaussian_guarantee,
            witness="engine.papers.survival.witness:GAUSSIAN_OBJECTIVE",
            answer="f",
            uses=GAUSSIAN,
            role="beyond",
            chunk=_solutions,
            unsure=SHRUNK,
        ),
        Entry(
            name="non_private",
            label="Without privacy",
            brief="No privacy",
            summary="Fits the regularised model to the raw records, without noise.",
            module="engine.papers.survival.references.fitted",
            info=Utility,
            steps=perturbation.one,
            releases=perturbation.nothing_private,
            guarantee=guarantees.optimum_guarantee,
            uses=MODEL,
            role="reference",
        ),
        Entry(
            name="unregularised",
            label="Without privacy or regularisation",
            brief="No privacy, no shrinkage",
            summary="Fits the model to the raw records without a penalty, which is what private "
            "gradient descent would find without noise.",
            module="engine.papers.survival.references.unregularised",
            info=Utility,
            steps=perturbation.one,
            releases=perturbation.nothing_private,
            guarantee=guarantees.optimum_guarantee,
            uses=SCALED,
            role="reference",
        ),
        Entry(
            name="cox",
            label="Cox regression",
            brief="Cox",
            summary="Fits the proportional-hazards model to the raw records, without noise.",
            module="engine.papers.survival.references.cox",
            info=Utility,
            steps=perturbation.one,
            releases=perturbation.nothing_private,
            guarantee=guarantees.cox_guarantee,
            uses=SCALED,
            role="reference",
        ),
        Entry(
            name="oracle",
            label="Oracle, for comparison only",
            brief="Oracle",
            summary="Knows the optimum and makes one Gaussian release of gradients there, whitened "
            "by the exact curvature.",
            module="engine.papers.survival.references.oracle",
            info=Utility,
            steps=perturbation.one,
            releases=oracle.oracle_releases,
            guarantee=guarantees.oracle_guarantee,
            uses=("epsilon", "delta", *SCALED),
            role="reference",
            chunk=_draws,
        ),
    ),
    datasets=("flchain", "third_births", "wichert", "second_births", "heart"),
    gauge="mre",
    exhibits="engine.papers.survival.exhibits",
    own="survival",
    opening={"intervals": 10},
    arrays=ARRAYS,
    raw=RAW,
    model=model,
    scores="engine.papers.survival.evaluation.export:scores",
    judge="engine.papers.survival.evaluation.export:judged",
    groups=GROUPS,
    estimates="engine.papers.survival.evaluation.estimates:estimates",
)
