"""Knobs and gauges of private discrete-time survival regression (Nguyen and Hui 2017)."""

from dataclasses import dataclass
from typing import Annotated

from engine.core.gauges import Column, Gauge, Info
from engine.core.spec import Choice, Knob, Spec
from engine.core.vocabulary import Calibration, Delta, Epsilon, Regularisation


@dataclass(frozen=True, kw_only=True)
class SurvivalSpec(Spec):
    """What a user may turn; data and generators are arguments, never fields."""

    epsilon: Epsilon = 1.0
    intervals: Annotated[
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
    ] = 200
    knots: Annotated[
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
    ] = 3
    regularisation: Regularisation = 1e-2
    calibration: Calibration = "rigorous"
    solver: Annotated[
        str,
        Choice(
            label="Optimiser",
            options=("newton", "bfgs"),
            labels=("Newton", "BFGS"),
            help="Newton's method with damping, for all settings at once, or BFGS as in the "
            "paper, one by one.",
            source="Section 6",
        ),
    ] = "newton"
    delta: Delta = 1e-5
    link: Annotated[
        str,
        Choice(
            label="Link",
            options=("logit", "cloglog", "probit"),
            labels=("Logit", "Complementary log-log", "Probit"),
            help="How the hazard follows from the linear predictor. Only the samplers take all "
            "three: the other methods need a bounded gradient, which the logit link has.",
            symbol="g",
            source="Section 3.1, Figure 1",
        ),
    ] = "logit"
    bound: Annotated[
        float,
        Knob(
            label="Largest loss of one record",
            symbol="v",
            bounds=(0.0, 1e4),
            range=(0.0, 60.0),
            step=1.0,
            help="One record's loss stays below this bound. A larger bound distorts "
            "less but scales every record down further. 0 means 2 log n, as in the paper.",
            equation=r"C_v(x) = v \tanh(x/v)",
            source="Section 5, Section 6.2",
        ),
    ] = 0.0
    step_scale: Annotated[
        float,
        Knob(
            label="Step scale",
            symbol="s",
            bounds=(1e-12, 1e3),
            range=(1e-7, 1.0),
            scale="log",
            help="Factor on the step sizes. The paper has none, which is 1; its first step "
            "then goes far beyond the solution.",
            equation=r"\epsilon_t = s\,t^{-\tau}",
            source="Algorithm 4, line 3",
        ),
    ] = 1e-4
    sampler_epochs: Annotated[
        float,
        Knob(
            label="Epochs of the sampler",
            symbol="E",
            bounds=(1e-3, 1e4),
            range=(0.1, 250.0),
            scale="log",
            grid=(0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0, 250.0),
            help="One epoch is n steps of the chain. More epochs bring it closer to its target.",
            equation=r"T = E\,n",
            source="Section 6.2",
        ),
    ] = 3.0
    minibatch: Annotated[
        int,
        Knob(
            label="Records in a step",
            symbol="k",
            bounds=(1, 100_000),
            range=(10, 1000),
            grid=(10, 20, 50, 100, 200, 500, 1000),
            help="More records give a more exact gradient and slower steps.",
            source="Section 6.2",
        ),
    ] = 200
    burn_in: Annotated[
        int,
        Knob(
            label="Burn-in steps",
            symbol="t_0",
            bounds=(0, 10_000_000),
            range=(0, 50_000),
            step=1000,
            help="Steps that are left out of the averages, at most half of all.",
            source="Section 6.2",
        ),
    ] = 10_000
    samples: Annotated[
        int,
        Knob(
            label="Draws of a chain",
            symbol="m",
            bounds=(8, 100_000),
            range=(50, 2000),
            step=50,
            help="Draws of each of four chains, after the proposal has been fitted.",
        ),
    ] = 1000
    steps: Annotated[
        int,
        Knob(
            label="Gradient steps",
            symbol="T",
            bounds=(1, 1000),
            range=(4, 100),
            step=4,
            help="More steps come closer to the optimum but share the same budget.",
            equation=r"\mu^2 = \sum_t 1/\sigma_t^2",
        ),
    ] = 32
    clip: Annotated[
        float,
        Knob(
            label="Clipping bound",
            symbol="c",
            bounds=(0.1, 1000.0),
            range=(1.0, 15.0),
            step=0.25,
            help="Bound on one record's whitened gradient, in units of its root mean square "
            "over 3,000 events. Larger clips fewer records and adds more noise.",
            equation=r"C = c\sqrt{(1 + 3/\sigma)\,d/\tilde N}\,(\tilde N/3000)^{1/4}",
        ),
    ] = 1.25
    passes: Annotated[
        int,
        Knob(
            label="Newton passes",
            symbol="T",
            bounds=(1, 20),
            range=(2, 10),
            step=1,
            help="Passes over all records. More come closer to the optimum but share the same "
            "budget.",
            equation=r"\mu^2 = \sum_t 1/\sigma_t^2",
            source="Ganesh et al. 2023",
        ),
    ] = 10
    prior: Annotated[
        float,
        Knob(
            label="Precision of the prior",
            symbol=r"\sigma\epsilon/2v",
            bounds=(0.0, 1e6),
            range=(1e-4, 1.0),
            scale="log",
            grid=(1e-4, 1e-3, 1e-2, 1e-1, 1.0),
            help="Larger draws the parameters towards zero. The paper's σ = 0.01·2v/ε gives the "
            "prior precision 0.01, whatever v and ε are.",
            equation=r"U(f) = -\tfrac{\sigma}{2}\lVert f\rVert^2 - \sum_i C_v(\ell(f; d_i))",
            source="Section 6.2",
        ),
    ] = 1e-2
    step_decay: Annotated[
        float,
        Knob(
            label="Decay of the steps",
            symbol=r"\tau",
            bounds=(0.0, 1.0),
            range=(0.3, 1.0),
            grid=(0.3, 0.4, 0.51, 0.6, 0.75, 0.9, 1.0),
            help="Larger makes later steps shorter.",
            equation=r"\epsilon_t = s\,t^{-\tau}",
            source="Section 6.2",
        ),
    ] = 0.51
    memory: Annotated[
        float,
        Knob(
            label="Memory of the squared gradients",
            symbol=r"\mu",
            bounds=(0.0, 0.999999),
            range=(0.9, 0.999),
            grid=(0.9, 0.95, 0.98, 0.99, 0.995, 0.999),
            help="Larger averages the squared gradients over more steps, so that step lengths "
            "change more slowly.",
            equation=r"V_t = \mu V_{t-1} + (1-\mu)\,\bar g_t^2",
            source="Section 6.2",
        ),
    ] = 0.99
    damping: Annotated[
        float,
        Knob(
            label="Damping",
            symbol=r"\lambda",
            bounds=(1e-12, 1e3),
            range=(1e-8, 1e-2),
            scale="log",
            grid=(1e-8, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2),
            help="Larger shortens the steps where gradients are small.",
            equation=r"G_t = 1/(\lambda + \sqrt{V_t})",
            source="Algorithm 4, Section 6.2",
        ),
    ] = 1e-5


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
