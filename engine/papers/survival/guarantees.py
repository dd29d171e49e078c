"""What the cards say: words beside what follows from the releases. No torch, and no data."""

import math

from engine.papers.survival.price import compared, curve, descent, oracle, perturbation, sampler
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
from engine.privacy.guarantee import Guarantee, Relation, not_private
from engine.privacy.releases import Release
from engine.promise import promise

RELATION: Relation = "replace_one"
BOUNDS = (
    "Centre and scale of every column and the longest time follow from public bounds, which the "
    "data set's card lists. Values beyond them are clipped, so no record changes the scaling."
)
RANGES = (
    "Assumption: column means and ranges, the largest row norm and the longest time are public, "
    "and every possible record lies within them. As printed, they are computed from the records: "
    "one extreme record changes them, and the noise does not hide that."
)
TIMES = (
    "The grid of times follows from the public bound on times, which the data set's card lists. "
    "Who is followed for longer counts as censored there."
)
RANGE = (
    "Assumption: the longest time is public, and every possible record ends before it. As printed, "
    "it is computed from the records, and the noise does not hide that."
)
COMPARISON = (
    "The error against f* and every other measure are computed from the raw data, for comparison "
    "only. They are not published."
)
GENERAL = (
    "It barely beats a general library. Objective perturbation of logistic regression, as IBM's "
    "diffprivlib 0.6 has it, on the table with a row for each person and interval, at ε/q for a "
    "row, has a mean relative error of 0.82; this method with proof has 0.75 (FL, q = 10, Λ = "
    "0.01, ε = 1, means of 20 repetitions; 4.02 against 3.59 at q = 200)."
)
"""What objective perturbation gains from knowing survival models; `benchmarks.survival`."""
LENGTHS = (
    "The length of Gaussian noise grows with the square root of the number of parameters, that of "
    "the paper's pure-ε noise with the number itself, so Gaussian noise is shorter only where "
    "there are many columns. It is shown so that all methods can be compared at one δ."
)
ONE_DRAW = (
    "ε pays for one draw: the error is averaged over the draws of a chain, as in the paper, but "
    "releasing m of them costs m·ε."
)
SLIP = (
    "The paper's proof has a slip: it bounds the only eigenvalue of ¼xxᵀ by ¼‖x‖ instead of "
    "¼‖x‖², and it takes a product of symmetric matrices as symmetric."
)
RELEASED = ("the spline coefficients α", "the covariate coefficients β")
DRAW = "Theorem 5.1: Algorithm 3 is ε-differentially private."
COMPOSED = "Gaussian composition in closed form (Dong et al. 2022; Balle and Wang 2018)"
BALLE = "exact curve of one Gaussian release (Balle and Wang 2018)"


def _printed(spec: SurvivalSpec) -> bool:
    """Whether the scale of the records is the data's own, which a proof must assume public."""
    return spec.calibration == "paper"


def _scaling(spec: SurvivalSpec) -> str:
    """What the card says of the scale of the records."""
    return RANGES if _printed(spec) else BOUNDS


def optimum_guarantee(spec: SurvivalSpec, n: int, unit: str) -> Guarantee:
    """The card of the non-private fit."""
    return _fitted("the discrete-time model", unit)


def cox_guarantee(spec: SurvivalSpec, n: int, unit: str) -> Guarantee:
    """The card of Cox regression."""
    return _fitted("Cox regression", unit)


def _fitted(name: str, unit: str) -> Guarantee:
    how = f"None: {name} is fitted to the raw records"
    why = "No noise is added: for comparison only."
    return not_private(how, ("the fitted coefficients",), why, RELATION, unit)


def oracle_guarantee(spec: SurvivalSpec, n: int, unit: str) -> Guarantee:
    """The card of the oracle."""
    how = "Gaussian noise on one sum of clipped gradients, at the exact optimum"
    return not_private(how, RELEASED, oracle.WHY, RELATION, unit)


def output_guarantee(spec: SurvivalSpec, n: int, unit: str) -> Guarantee:
    """The card of output perturbation."""
    return promise(
        perturbation.output_releases(spec, n), RELATION, unit, claimed=spec.epsilon,
        mechanism="Extended output perturbation: Gamma-length noise on the minimiser",
        accountant="pure ε, one release",
        released=RELEASED,
        reasons=(_scaling(spec), *_output_reasons(spec, n), COMPARISON),
        claim="Theorem 4.1: Algorithm 1 is ε-differentially private.",
        assumed=_printed(spec),
    )  # fmt: skip


def _output_reasons(spec: SurvivalSpec, n: int) -> tuple[str, ...]:
    """What was tightened, or what the printed noise proves."""
    printed = gradient_bound(spec.intervals, spec.knots, "paper")
    tight = gradient_bound(spec.intervals, spec.knots, "rigorous")
    stop = (
        f"The optimiser stops at ‖∇J‖ ≤ τ = {TOLERANCE:g}, within τ/Λ of the minimiser, so 2τ/Λ is "
        "added to the sensitivity. J is smooth and strongly convex, so Newton's method reaches "
        "this in real arithmetic. A fit that does not reach it is not released."
    )
    if not _printed(spec):
        return (
            f"Lemma 4.2 is tightened from t = {printed:.1f} to t* = {tight:.1f}: "
            f"{100 * (1 - tight / printed):.1f} % less noise for the same ε.",
            stop,
        )
    proved = output_noise(spec, n, perturbation.ANY).epsilon
    return (
        f"The printed bound t = {printed:.1f} is larger than needed: t* = {tight:.1f} is enough, "
        f"so this noise spends only ε = {proved:.3g}.",
        stop,
    )


def objective_guarantee(spec: SurvivalSpec, n: int, unit: str) -> Guarantee:
    """The card of objective perturbation."""
    return promise(
        perturbation.objective_releases(spec, n), RELATION, unit, claimed=spec.epsilon,
        mechanism="Extended objective perturbation: Gamma-length noise in the objective",
        accountant="pure ε: noise density plus ratio of Jacobian determinants",
        released=RELEASED,
        reasons=(_scaling(spec), *_objective_reasons(spec, n), GENERAL, COMPARISON),
        claim="Theorem 4.4: Algorithm 2 is ε-differentially private.",
        assumed=_printed(spec),
        spent=sum(objective_noise(spec, n, perturbation.ANY).parts),
    )  # fmt: skip


def _objective_reasons(spec: SurvivalSpec, n: int) -> tuple[str, ...]:
    """The slip in the paper's proof and what stands in spite of it."""
    if not _printed(spec):
        return (
            f"{SLIP} The bound used here is det(I + A₀⁻¹H′) ≤ (1 + trace/(d·n(Λ+Δ)))^d.",
            f"The optimiser stops within τ/(Λ+Δ) of the minimiser. Noise for that sensitivity is "
            f"added and costs {FINISH:g} of ε. A solution further away is not released.",
        )
    largest = float(squares(spec.intervals, spec.knots).max()) + 1.0
    plan = objective_noise(spec, n, perturbation.ANY)
    printed = printed_determinant(
        spec.intervals, spec.knots, n * (spec.regularisation + plan.extra)
    )
    room = (
        "at most 4" if largest <= 4.0 else "above 4, so not every printed factor is an upper bound"
    )
    return (
        f"{SLIP} Its factor 2 makes up for this: the largest ‖A_s‖² + 1 is {largest:.4f}, {room}. "
        f"The determinants cost {plan.noise.ratio:.3g} of ε; the paper counts {printed:.3g}.",
        f"With t* instead of the printed t, this noise spends only ε = {sum(plan.parts):.3g}.",
        "The optimiser is assumed to reach the minimiser exactly, as in the paper.",
    )


def output_gaussian_guarantee(spec: SurvivalSpec, n: int, unit: str) -> Guarantee:
    """The card of output perturbation with Gaussian noise."""
    return _gaussian(
        spec, perturbation.output_gaussian_releases(spec, n), unit,
        "Output perturbation: Gaussian noise on the minimiser",
        BALLE,
        "The sensitivity is the published method's with proof: 2τ/Λ is added because the optimiser "
        "stops at ‖∇J‖ ≤ τ. A fit that does not reach it is not released.",
        "Beyond the paper, which adds Gamma-length noise.",
    )  # fmt: skip


def objective_gaussian_guarantee(spec: SurvivalSpec, n: int, unit: str) -> Guarantee:
    """The card of objective perturbation with Gaussian noise."""
    k = spec.knots + 1
    return _gaussian(
        spec, perturbation.objective_gaussian_releases(spec, n), unit,
        "Objective perturbation: a Gaussian linear term in the objective",
        "ratio of densities, chi distribution; ratio of Jacobian determinants",
        f"Two records change the gradient in {k} dimensions at most, so the bound has {k} degrees "
        "of freedom instead of all of them. It holds for covariates that are fixed in time.",
        "Beyond the paper: Kifer et al. (2012); Redberg et al. (2023) for models with one "
        "direction; Iyengar et al. (2019) for optimisers that stop early.",
    )  # fmt: skip


def _gaussian(
    spec: SurvivalSpec, made: tuple[Release, ...], unit: str, mechanism: str, accountant: str,
    why: str, claim: str,
) -> Guarantee:  # fmt: skip
    """What the cards of both perturbations with Gaussian noise share."""
    plain = (
        "This is (ε, δ)-privacy, weaker than the pure ε of the published method: the bound may "
        f"fail with probability at most δ = {spec.delta:g}."
    )
    return promise(
        made, RELATION, unit, claimed=None, delta=spec.delta,
        mechanism=mechanism,
        accountant=accountant,
        released=RELEASED,
        reasons=(plain, why, LENGTHS, _scaling(spec), COMPARISON),
        claim=claim,
        assumed=_printed(spec),
    )  # fmt: skip


def km_guarantee(spec: SurvivalSpec, n: int, unit: str) -> Guarantee:
    """The card of the private curve."""
    return promise(
        curve.km_releases(spec, n), RELATION, unit, claimed=None, delta=spec.delta,
        mechanism="Gaussian noise on the counts of events and censored times in each interval",
        accountant=BALLE,
        released=("the survival curve of everyone, at the ends of the intervals",),
        reasons=(
            "One record is in one cell of the table, so replacing it changes two counts by 1.",
            "The number of records at risk follows from the noisy counts and the public number of "
            "records; the curve is made monotone afterwards, which costs nothing.",
            RANGE if _printed(spec) else TIMES,
            COMPARISON,
        ),
        claim="Beyond the paper: noise on the counts behind the product-limit estimate.",
        assumed=_printed(spec),
    )  # fmt: skip


def log_rank_guarantee(spec: SurvivalSpec, n: int, unit: str) -> Guarantee:
    """The card of the private comparison of two groups."""
    return promise(
        compared.releases(spec, n), RELATION, unit, claimed=None, delta=spec.delta,
        mechanism="Gaussian noise on the counts of events and censored times in each group and "
        "interval",
        accountant=BALLE,
        released=("the survival of two groups, counted by interval", "a log-rank test of them"),
        reasons=(
            "One record is in one cell of the table, so replacing it changes two counts by 1: its "
            "group follows from its own covariate and the middle of the public bounds.",
            "The test follows from the noisy counts. Its standard error counts the noise too.",
            TIMES,
            COMPARISON,
        ),
        claim="Beyond the paper: noise on the counts behind the log-rank test.",
    )  # fmt: skip


def gradient_guarantee(spec: SurvivalSpec, n: int, unit: str) -> Guarantee:
    """The card of private gradient descent."""
    return _descent(
        spec, descent.gradient_releases(spec, n), descent.even(spec), unit,
        "Full-batch gradient descent, each record's gradient clipped, Gaussian noise",
        "Beyond the paper, which has no gradient descent.",
        "none: every step reads every record",
        "noisy counts, second moments and gradients on the way",
        "Start, whitening, clipping bound and the average of the later steps are computed from "
        "released values and cost nothing.",
        "Step size, shares of the budget and prior were chosen on simulated records only.",
    )  # fmt: skip


def newton_guarantee(spec: SurvivalSpec, n: int, unit: str) -> Guarantee:
    """The card of private Newton."""
    return _newton(
        spec, n, unit,
        "Newton steps over all records: second moments and clipped gradients, Gaussian noise",
        "Beyond the paper: Ganesh et al. (2023), here with the curvature of made-up persons who "
        "are like the noisy counts and moments, gradients clipped in its metric, and what is wrong "
        "with it learned from the noisy gradients.",
    )  # fmt: skip


def private_cox_guarantee(spec: SurvivalSpec, n: int, unit: str) -> Guarantee:
    """The card of private Cox regression."""
    return _newton(
        spec, n, unit,
        "Cox regression on grouped times: second moments and clipped gradients, Gaussian noise",
        "Beyond the paper. The partial likelihood is no sum over records, so the grouped "
        "proportional-hazards model is fitted instead (Prentice and Gloeckler 1978): its "
        "coefficients are those of Cox's model, and its likelihood is such a sum.",
    )  # fmt: skip


def _newton(spec: SurvivalSpec, n: int, unit: str, mechanism: str, claim: str) -> Guarantee:
    """What the cards of both likelihoods share."""
    return _descent(
        spec, descent.newton_releases(spec, n), descent.growing(spec), unit, mechanism, claim,
        "none: every pass reads every record",
        "noisy counts, histograms, second moments and gradients on the way",
        "A record's part of the second moments has no negative eigenvalue and trace at "
        "most B, so two parts differ by at most √2 B; two gradients of length C differ by at "
        "most 2C.",
        "Start, made-up persons, metric, clipping bounds and steps are computed from released "
        "values and cost nothing.",
        "Shares of the budget and other constants were chosen by looking at the errors on the "
        "data sets that this app offers. ε does not cover this choice.",
    )  # fmt: skip


def _descent(
    spec: SurvivalSpec, made: tuple[Release, ...], plan: descent.Plan, unit: str, mechanism: str,
    claim: str, sampling: str, on_the_way: str, *reasons: str,
) -> Guarantee:  # fmt: skip
    """The card of Gaussian releases of all records."""
    from engine.privacy import gaussian  # loads scipy

    weaker = (
        "This is (ε, δ)-privacy, which is weaker than the pure ε of the published methods: the "
        f"bound may fail with probability at most δ = {spec.delta:g}."
    )
    return promise(
        made, RELATION, unit, claimed=None, delta=spec.delta,
        mechanism=mechanism,
        accountant=COMPOSED,
        sampling=sampling,
        released=(*RELEASED, on_the_way),
        reasons=(weaker, *reasons, _scaling(spec), COMPARISON),
        claim=claim,
        assumed=_printed(spec),
        spent=gaussian.epsilon(plan.total**-2, spec.delta),
    )  # fmt: skip


def psgld_guarantee(spec: SurvivalSpec, n: int, unit: str) -> Guarantee:
    """The card of Algorithm 4, which has no target without a prior."""
    return promise(
        sampler.psgld_releases(spec, n), RELATION, unit, claimed=spec.epsilon,
        mechanism="Sanitised exponential mechanism, sampled by stochastic-gradient Langevin steps",
        failure="unknown: nothing is proved of a finite chain",
        sampling=f"{spec.minibatch} records a step, drawn with replacement",
        released=RELEASED,
        reasons=(
            *(() if spec.prior else (sampler.IMPROPER,)),
            "Theorem 5.1 needs an exact draw. No bound is known on how far a finite chain of "
            "stochastic gradients is from one.",
            *_drift(spec),
            *_short(spec, n),
            ONE_DRAW,
            _scaling(spec),
            COMPARISON,
        ),
        claim=DRAW,
    )  # fmt: skip


def _drift(spec: SurvivalSpec) -> tuple[str, ...]:
    """What Algorithm 4 as printed targets, or what was mended.

    The square of the density is the mechanism at twice the temperature, so 2ε bounds an exact draw
    of it; of a finite chain nothing is proved either way.
    """
    if _printed(spec):
        return (
            "The printed drift ε_t·G·n·ḡ with noise N(0, ε_t·G) samples the square of the density: "
            f"for an exact draw from that, the proof gives 2ε = {2.0 * spec.epsilon:g}, not ε.",
            "The printed step size t^−0.51 has no scale. At scale 1 the first step is about 10·n "
            "in every coordinate, and the chain does not return.",
        )
    return (
        "Half the printed drift is used, which samples the density itself (Li et al. 2016), with a "
        "bias-corrected V, a start at (−3, 0, …) and a step scale, which the paper does not give.",
        "As in the paper, the preconditioner's dependence on f is neglected, so a bias remains.",
    )


def _short(spec: SurvivalSpec, n: int) -> tuple[str, ...]:
    """Says where the chain is too short for the burn-in that was asked for."""
    total = sampler.chain_steps(spec, n)
    left_out = sampler.burned(spec, total)
    if left_out == spec.burn_in:
        return ()
    return (
        f"The burn-in of {spec.burn_in:,} steps is longer than half of the chain: only the first "
        f"{left_out:,} of its {total:,} steps are left out. Draw for more epochs.",
    )


def exact_guarantee(spec: SurvivalSpec, n: int, unit: str) -> Guarantee:
    """The card of Algorithm 3, sampled by Metropolis-corrected chains."""
    exact = (
        "Assumption: the draw has exactly the target's distribution. If a finite chain is "
        "within total variation η of it on every data set, the release is "
        "(ε, (1 + e^ε)·η)-private. η is unknown. R̂ near 1, a large effective sample size and a "
        "small estimated distance from the target make a small η plausible but do not prove "
        "it: they are computed on one data set, and the proof needs every one."
    )
    factor = 1.0 + math.exp(min(spec.epsilon, 700.0))
    unknown = f"(1 + e^ε)·η = {factor:.3g}·η, where η is how far the chain is from its target"
    return promise(
        sampler.exact_releases(spec, n), RELATION, unit, claimed=spec.epsilon,
        mechanism="Sanitised exponential mechanism, sampled by Metropolis-corrected chains",
        accountant="pure ε, one draw of the exponential mechanism" if spec.prior else "",
        failure=f"unknown: {unknown if spec.prior else 'nothing is proved without a prior'}",
        released=RELEASED,
        reasons=(
            exact if spec.prior else sampler.IMPROPER,
            ONE_DRAW,
            f"v = {sampler.loss_bound(spec, n):.4g} bounds the loss of a record. The number of "
            "records is public: replacing a record does not change it.",
            _scaling(spec),
            COMPARISON,
        ),
        claim=DRAW,
        assumed=True,
    )  # fmt: skip
