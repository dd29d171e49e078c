"""Differentially private discrete-time survival regression (Nguyen and Hui 2017)."""

from engine.method import Entry, Paper
from engine.papers.survival import price
from engine.papers.survival.spec import SurvivalSpec, Utility

MODEL = ("intervals", "knots", "regularisation", "solver")
PRIVATE = ("epsilon", *MODEL, "calibration")


def _draws(spec: SurvivalSpec, n: int, device: str) -> int:
    """Draws that are measured together: about a tenth of a second."""
    return 50


def _solutions(spec: SurvivalSpec, n: int, device: str) -> int:
    """Optimisations that run together: about half a second, so that live points arrive."""
    return max(4, min(40, round(20 * 1_600_000 / (n * spec.intervals))))


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
            summary="Fits the regularised model, then adds noise to its parameters.",
            module="engine.papers.survival.out_pert",
            info=Utility,
            steps=price.one,
            cost=price.output_cost,
            guarantee=price.output_guarantee,
            uses=PRIVATE,
            chunk=_draws,
        ),
        Entry(
            name="obj_pert",
            label="Objective perturbation",
            summary="Adds a random linear term to the objective, then fits the model to it.",
            module="engine.papers.survival.obj_pert",
            info=Utility,
            steps=price.one,
            cost=price.objective_cost,
            guarantee=price.objective_guarantee,
            uses=PRIVATE,
            chunk=_solutions,
        ),
        Entry(
            name="non_private",
            label="Without privacy",
            summary="Fits the regularised model to the raw records; no noise.",
            module="engine.papers.survival.non_private",
            info=Utility,
            steps=price.one,
            cost=price.unbounded,
            guarantee=price.optimum_guarantee,
            uses=MODEL,
            role="reference",
        ),
        Entry(
            name="cox",
            label="Cox regression",
            summary="Fits the proportional-hazards model to the raw records; no noise.",
            module="engine.papers.survival.cox",
            info=Utility,
            steps=price.one,
            cost=price.unbounded,
            guarantee=price.cox_guarantee,
            uses=("intervals", "knots"),
            role="reference",
        ),
    ),
    datasets=("flchain", "third_births", "wichert", "second_births"),
    gauge="mre",
    exhibits="engine.papers.survival.exhibits",
)
