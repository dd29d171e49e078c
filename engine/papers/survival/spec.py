"""Knobs and gauges of private discrete-time survival regression (Nguyen and Hui 2017)."""

from dataclasses import dataclass
from typing import Annotated

from engine.core.gauges import Column, Gauge, Info
from engine.core.spec import Choice, Knob, Spec
from engine.core.vocabulary import Calibration, Delta, Epsilon, Regularisation
from engine.papers.survival.knobs import (
    Bound,
    BurnIn,
    ClipFactor,
    Damping,
    GradientSteps,
    Link,
    Memory,
    Minibatch,
    NewtonPasses,
    PriorPrecision,
    SamplerEpochs,
    Samples,
    StepDecay,
    StepScale,
)

Intervals = Annotated[
    int,
    Knob(
        label="Time intervals",
        symbol="q",
        bounds=(2, 2000),
        range=(5, 400),
        grid=(5, 10, 20, 50, 100, 200, 400),
        help="More intervals describe time more finely and need more noise: the "
        "sensitivity grows about linearly.",
        equation=r"t_i = \mathrm{clip}(\lceil q\,T_i/T_{\max}\rceil, 1, q)",
        source="Section 3",
    ),
]
Knots = Annotated[
    int,
    Knob(
        label="Spline knots",
        symbol="e",
        bounds=(3, 20),
        range=(3, 10),
        step=1,
        help="More knots let the baseline hazard change shape more often.",
        equation=r"d_j(t) = \frac{(t-k_j)_+^3 - (t-k_e)_+^3}{k_e - k_j}",
        source="Section 3.1",
    ),
]
Solver = Annotated[
    str,
    Choice(
        label="Optimiser",
        options=("newton", "bfgs"),
        labels=("Newton", "BFGS"),
        help="Newton's method with damping, for all settings at once, or BFGS as in the "
        "paper, one by one.",
        source="Section 6",
    ),
]


@dataclass(frozen=True, kw_only=True)
class SurvivalSpec(Spec):
    """What a user may turn; data and generators are arguments, never fields."""

    epsilon: Epsilon = 1.0
    intervals: Intervals = 200
    knots: Knots = 3
    regularisation: Regularisation = 1e-2
    calibration: Calibration = "rigorous"
    solver: Solver = "newton"
    delta: Delta = 1e-5
    link: Link = "logit"
    bound: Bound = 0.0
    step_scale: StepScale = 1e-4
    sampler_epochs: SamplerEpochs = 3.0
    minibatch: Minibatch = 200
    burn_in: BurnIn = 10_000
    samples: Samples = 1000
    steps: GradientSteps = 32
    clip: ClipFactor = 1.25
    passes: NewtonPasses = 10
    prior: PriorPrecision = 1e-2
    step_decay: StepDecay = 0.51
    memory: Memory = 0.99
    damping: Damping = 1e-5


Brier = Annotated[
    Column,
    Gauge(
        "Integrated Brier score",
        "down",
        unit="squared error",
        help="Squared error of the predicted survival, weighted for censoring and averaged "
        "over time; 0.25 is the score of always predicting one half. "
        "On all records, or on a fixed sample of a large table: see its sampling error.",
        may_be_undefined=True,
    ),
]
BrierError = Annotated[
    Column,
    Gauge(
        "Sampling error of the Brier score",
        "down",
        unit="squared error",
        help="Standard error of the Brier score where it is taken on a sample of the records. "
        "0 where all are scored.",
        may_be_undefined=True,
    ),
]


@dataclass(frozen=True)
class Utility(Info):
    """How far the private parameters are from the optimum, and what they are worth."""

    mre: Annotated[
        Column,
        Gauge(
            "Mean relative error",
            "down",
            unit="times the optimum",
            scale="log",
            help="Distance of all parameters f from the optimum f* without regularisation, "
            "divided by the norm of f*. At 1 the result is no better than all zeros.",
        ),
    ]
    mre_beta: Annotated[
        Column,
        Gauge(
            "Relative error of the coefficients",
            "down",
            unit="times the optimum",
            scale="log",
            help="The relative error of the covariate coefficients alone, without the baseline.",
        ),
    ]
    concordance: Annotated[
        Column,
        Gauge(
            "Concordance index",
            "up",
            unit="share",
            help="Share of comparable pairs that the risk score orders correctly. 0.5 is "
            "chance. On a fixed sample of at most 1,000 records.",
        ),
    ]
    brier: Brier
    brier_error: BrierError
    cox_error: Annotated[
        Column,
        Gauge(
            "Relative error against Cox",
            "down",
            unit="times Cox's",
            scale="log",
            help="Distance of the coefficients from those of Cox regression, divided by "
            "their norm.",
        ),
    ]
    noise_to_signal: Annotated[
        Column,
        Gauge(
            "Noise to signal",
            "down",
            unit="times",
            scale="log",
            help="Root mean square length of the noise, divided by the norm of what it is "
            "added to: the regularised optimum, or the gradient of the objective at "
            "zero.",
        ),
    ]


@dataclass(frozen=True)
class Sampled(Utility):
    """What a sampler shows besides: the errors are averages over its draws (Equation 9)."""

    r_hat: Annotated[
        Column,
        Gauge(
            "Split R̂",
            "down",
            help="Rank-normalised, for the worst parameter (ArviZ). Above 1.01 the chains, "
            "or halves of a chain, have not reached the same distribution.",
        ),
    ]
    ess: Annotated[
        Column,
        Gauge(
            "Effective sample size",
            "up",
            unit="draws",
            scale="log",
            help="Number of independent draws that would estimate equally well, for the "
            "worst parameter (ArviZ, bulk).",
        ),
    ]


@dataclass(frozen=True)
class Corrected(Sampled):
    """What Metropolis-corrected chains show besides."""

    acceptance: Annotated[
        Column,
        Gauge(
            "Acceptance rate",
            "neither",
            unit="share",
            help="Share of the independent proposals that the Metropolis test accepts. 1 "
            "if the proposal equals the target.",
        ),
    ]
    apart: Annotated[
        Column,
        Gauge(
            "Estimated distance from the target",
            "down",
            unit="total variation",
            scale="log",
            help="Estimate of η, how far the released draw's distribution is from the one that "
            "the proof is about: (1 − 1/w)^m after m draws, where w is the largest ratio of "
            "target to proposal that was seen. The chance that ε fails is (1 + e^ε)·η. It is an "
            "estimate on these records, not a bound.",
        ),
    ]


@dataclass(frozen=True)
class Curved(Info):
    """What a private survival curve of everyone is worth."""

    brier: Brier
    brier_error: BrierError
    gap: Annotated[
        Column,
        Gauge(
            "Distance from Kaplan–Meier",
            "down",
            unit="share",
            help="Largest distance between the private curve and that of the raw records, over "
            "the ends of the intervals.",
        ),
    ]
