"""Knobs and gauges of differentially private GLVQ and GMLVQ (Brinkrolf et al. 2018)."""

from dataclasses import dataclass
from typing import Annotated

from engine.core.gauges import Column, Gauge, Info
from engine.core.spec import Choice, Knob, Spec, Value
from engine.core.vocabulary import Calibration, ClipNorm, Delta, Epochs, Epsilon, SampleRate


@dataclass(frozen=True, kw_only=True)
class LvqSpec(Spec):
    """What a user may turn; data and generators are arguments, never fields."""

    epsilon: Epsilon = 1.0
    calibration: Calibration = "rigorous"
    initialisation: Annotated[
        str,
        Choice(
            label="Initialisation",
            options=("paper", "sensitivity_1", "tight"),
            labels=("Laplace, as printed", "Laplace, sensitivity 1", "Gaussian, clipped"),
            help="Noise on the first prototypes. Laplace as printed: for sums of d features. "
            "Laplace with sensitivity 1: too little noise, nothing is proved. Gaussian: "
            "for records clipped at a public norm.",
            source="Section 3",
        ),
    ] = "tight"
    metric: Annotated[
        str,
        Choice(
            label="Start of the metric",
            options=("identity", "covariance"),
            labels=("Identity", "Private covariance"),
            help="Ω starts as the identity, or as the whitening of a privately released "
            "within-class covariance. The covariance needs the Gaussian initialisation. "
            "GLVQ has no metric.",
        ),
    ] = "covariance"
    scaling: Annotated[
        str,
        Choice(
            label="Scale of the features",
            options=("box", "ball"),
            labels=("Each feature in [-1, 1]", "Each record in the unit ball"),
            help="Features in [-1, 1] and Ω of norm 1, or both multiplied by a public "
            "constant, so that no record is longer than 1 and Ω starts as the identity.",
            source="Section 3",
        ),
    ] = "ball"
    share: Annotated[
        float,
        Knob(
            label="Share of the initialisation",
            symbol=r"\varepsilon_1/\varepsilon",
            bounds=(0.01, 0.99),
            range=(0.05, 0.95),
            step=0.05,
            axis=True,
            help="Part of the budget that the first prototypes spend. The training steps spend "
            "the rest.",
            equation=r"\varepsilon_1 + \varepsilon_2 = \varepsilon",
            source="Section 4",
        ),
    ] = 0.7
    bound: Annotated[
        float,
        Knob(
            label="Norm bound of the initialisation",
            symbol="B",
            bounds=(1e-3, 1e3),
            range=(0.1, 1.0),
            scale="log",
            axis=True,
            help="Records further from the centre are moved to this distance. Larger needs "
            "more noise. In units of the largest possible norm of a record.",
            equation=r"\lVert x - m\rVert \le B",
        ),
    ] = 0.5
    ridge: Annotated[
        float,
        Knob(
            label="Ridge of the metric",
            symbol=r"\kappa",
            bounds=(1e-3, 1e3),
            range=(0.05, 5.0),
            scale="log",
            axis=True,
            help="Added to every eigenvalue of the covariance before it is inverted, as a "
            "multiple of the largest eigenvalue of its noise.",
            equation=r"\Omega_0 = (\hat S_w + \kappa\,s\sqrt{2d}\,I)^{-1/2}",
        ),
    ] = 0.5
    clip: ClipNorm = 1.0
    split: Annotated[
        float,
        Knob(
            label="Share of the matrix in the clip",
            symbol=r"\rho",
            bounds=(0.0, 0.99),
            range=(0.0, 0.9),
            step=0.05,
            axis=True,
            help="Prototypes and matrix are clipped separately; this is the matrix's share of "
            "the bound. 0 clips them together, as printed. The joint bound is C in both "
            "cases.",
            equation=r"C_W^2 = (1-\rho)\,C^2,\quad C_\Omega^2 = \rho\,C^2",
        ),
    ] = 0.3
    sample_rate: SampleRate = 0.25
    epochs: Epochs = 5.0
    rate_w: Annotated[
        float,
        Knob(
            label="Learning rate of the prototypes",
            symbol=r"\eta_W",
            bounds=(0.0, 1e6),
            range=(1e-3, 10.0),
            scale="log",
            axis=True,
            help="Larger moves the prototypes further in one step.",
            equation=r"W \leftarrow W - \eta_W\,p\,G_W/(qN)",
        ),
    ] = 0.1
    rate_omega: Annotated[
        float,
        Knob(
            label="Learning rate of the matrix",
            symbol=r"\eta_\Omega",
            bounds=(0.0, 1e6),
            range=(1e-5, 10.0),
            scale="log",
            axis=True,
            help="Larger moves the matrix further in one step. 0 keeps its start.",
            equation=r"\Omega \leftarrow \Omega - \eta_\Omega\,G_\Omega/(qN)",
        ),
    ] = 1.0
    averaging: Annotated[
        float,
        Knob(
            label="Averaged steps",
            symbol=r"\alpha",
            bounds=(0.0, 1.0),
            range=(0.0, 1.0),
            step=0.1,
            help="The model is the mean over this share of the steps, counted from the end. "
            "Averaging removes noise and costs no budget. 0 keeps the last step, as "
            "printed.",
        ),
    ] = 0.5
    prototypes: Annotated[
        int,
        Knob(
            label="Prototypes per class",
            symbol=r"p",
            bounds=(1, 20),
            range=(1, 5),
            step=1,
            help="More prototypes allow curved borders between classes, but each gets fewer "
            "records. With the Gaussian initialisation, several begin as the noisy means of groups "
            "within a class, which costs no more budget.",
            source="Section 3; the paper has one",
        ),
    ] = 1
    delta: Delta = 1e-5


PRINTED: dict[str, Value] = {
    "calibration": "paper",
    "initialisation": "paper",
    "metric": "identity",
    "scaling": "box",
    "share": 0.2,
    "clip": 0.5,
    "split": 0.0,
    "sample_rate": 0.01,
    "epochs": 50.0,
    "averaging": 0.0,
}
"""The settings of Section 4, where they differ from ours; learning rates are not printed there."""


@dataclass(frozen=True)
class Utility(Info):
    """How well the prototypes classify, and what clipping does to the gradients."""

    error: Annotated[
        Column,
        Gauge(
            "Test error",
            "down",
            unit="share",
            help="Share of the held-out fold that is classified wrongly.",
        ),
    ]
    cost: Annotated[
        Column,
        Gauge(
            "Mean cost",
            "down",
            unit="from -1 to 1",
            help="Mean of (d⁺ − d⁻)/(d⁺ + d⁻) over the sampled records. −1 is perfect, 0 "
            "is chance.",
        ),
    ]
    clipped: Annotated[
        Column,
        Gauge(
            "Share of records clipped",
            "neither",
            unit="share",
            help="Share of the sampled records whose prototype gradient exceeds its bound. "
            "At 0 the bound could be lower and need less noise; at 1 only directions "
            "are used.",
        ),
    ]
    gradient: Annotated[
        Column,
        Gauge(
            "Gradient of the prototypes",
            "neither",
            unit="norm",
            scale="log",
            help="Median norm over the sampled records, before clipping.",
        ),
    ]
    noise: Annotated[
        Column,
        Gauge(
            "Noise to signal",
            "down",
            unit="times",
            scale="log",
            help="Root mean square length of one step's noise, divided by the norm of the "
            "clipped sum.",
        ),
    ]
    outside: Annotated[
        Column,
        Gauge(
            "Outside the public bounds",
            "down",
            unit="share",
            help="Share of the feature values that were clipped to the public bounds.",
        ),
    ]


@dataclass(frozen=True)
class MatrixUtility(Utility):
    """The same, and what the relevance matrix does."""

    clipped_omega: Annotated[
        Column,
        Gauge(
            "Share of records clipped, matrix",
            "neither",
            unit="share",
            help="Share of the sampled records whose matrix gradient exceeds its bound.",
        ),
    ]
    gradient_omega: Annotated[
        Column,
        Gauge(
            "Gradient of the matrix",
            "neither",
            unit="norm",
            scale="log",
            help="Median norm over the sampled records, before clipping.",
        ),
    ]
    rank: Annotated[
        Column,
        Gauge(
            "Effective rank of the metric",
            "neither",
            unit="dimensions",
            released=True,
            help="Number of directions that count: the squared sum of the eigenvalues, "
            "divided by the sum of their squares. At 1 the metric has collapsed to a "
            "line.",
        ),
    ]
    perturbed: Annotated[
        Column,
        Gauge(
            "Test error, matrix perturbed",
            "down",
            unit="share",
            help="Test error after noise of variance 0.025 is added to each element of Ω, "
            "which is first scaled to norm √d.",
        ),
    ]
