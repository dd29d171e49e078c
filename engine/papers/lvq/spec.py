"""Knobs and gauges of differentially private GLVQ and GMLVQ (Brinkrolf et al. 2018)."""

from dataclasses import dataclass
from typing import Annotated

from engine.core.gauges import Column, Gauge, Info
from engine.core.spec import Choice, Knob, Spec, Value
from engine.core.vocabulary import Calibration, ClipNorm, Delta, Epochs, Epsilon, SampleRate

Initialisation = Annotated[
    str,
    Choice(
        label="Initialisation",
        options=("paper", "sensitivity_1", "tight"),
        labels=("Laplace, as printed", "Laplace, sensitivity 1", "Gaussian, clipped"),
        help="Laplace noise for d-dimensional sums as printed; the same noise for sensitivity 1, "
        "which protects nobody; or Gaussian noise for records clipped at a public norm.",
        source="Section 3",
    ),
]
Metric = Annotated[
    str,
    Choice(
        label="Start of the metric",
        options=("identity", "covariance"),
        labels=("Identity", "Private covariance"),
        help="Omega starts as the identity, or whitens a privately released within-class "
        "covariance; the latter needs the tight initialisation. GLVQ has no metric.",
    ),
]
Scaling = Annotated[
    str,
    Choice(
        label="Scale of the features",
        options=("box", "ball"),
        labels=("Each feature in [-1, 1]", "Each record in the unit ball"),
        help="Features in [-1, 1] and Omega of norm 1, or both times a public constant so that "
        "no record is longer than 1 and Omega starts as the identity.",
        source="Section 3",
    ),
]
Share = Annotated[
    float,
    Knob(
        label="Share of the initialisation",
        symbol=r"\varepsilon_1/\varepsilon",
        bounds=(0.01, 0.99),
        range=(0.05, 0.95),
        step=0.05,
        axis=True,
        help="Part of the budget that the first prototypes may spend; the steps get the rest.",
        equation=r"\varepsilon_1 + \varepsilon_2 = \varepsilon",
        source="Section 4",
    ),
]
Bound = Annotated[
    float,
    Knob(
        label="Norm bound of the initialisation",
        symbol="B",
        bounds=(1e-3, 1e3),
        range=(0.1, 1.0),
        scale="log",
        axis=True,
        help="A record further from the centre is pulled in before it is summed; larger needs "
        "more noise. In units of the largest possible norm of a record.",
        equation=r"\lVert x - m\rVert \le B",
    ),
]
Ridge = Annotated[
    float,
    Knob(
        label="Ridge of the metric",
        symbol=r"\kappa",
        bounds=(1e-3, 1e3),
        range=(0.05, 5.0),
        scale="log",
        axis=True,
        help="How much is added to every eigenvalue of the covariance before it is inverted, as "
        "a multiple of the largest eigenvalue of its noise.",
        equation=r"\Omega_0 = (\hat S_w + \kappa\,s\sqrt{2d}\,I)^{-1/2}",
    ),
]
Split = Annotated[
    float,
    Knob(
        label="Share of the matrix in the clip",
        symbol=r"\rho",
        bounds=(0.0, 0.99),
        range=(0.0, 0.9),
        step=0.05,
        axis=True,
        help="Prototypes and matrix are clipped apart, so that neither freezes the other; 0 "
        "clips them together, as printed. The joint bound is C either way.",
        equation=r"C_W^2 = (1-\rho)\,C^2,\quad C_\Omega^2 = \rho\,C^2",
    ),
]
RateW = Annotated[
    float,
    Knob(
        label="Learning rate of the prototypes",
        symbol=r"\eta_W",
        bounds=(0.0, 1e6),
        range=(1e-3, 10.0),
        scale="log",
        axis=True,
        help="How far prototypes move along the mean gradient in one step.",
        equation=r"W \leftarrow W - \eta_W\,G_W/(qN)",
    ),
]
RateOmega = Annotated[
    float,
    Knob(
        label="Learning rate of the matrix",
        symbol=r"\eta_\Omega",
        bounds=(0.0, 1e6),
        range=(1e-5, 10.0),
        scale="log",
        axis=True,
        help="How far the matrix moves along the mean gradient in one step; 0 keeps its start.",
        equation=r"\Omega \leftarrow \Omega - \eta_\Omega\,G_\Omega/(qN)",
    ),
]
Prototypes = Annotated[
    int,
    Knob(
        label="Prototypes per class",
        symbol=r"p",
        bounds=(1, 20),
        range=(1, 5),
        step=1,
        help="More prototypes bend the border between classes, and each gets fewer records.",
        source="Section 3; the paper has one",
    ),
]
Averaging = Annotated[
    float,
    Knob(
        label="Averaged steps",
        symbol=r"\alpha",
        bounds=(0.0, 1.0),
        range=(0.0, 1.0),
        step=0.1,
        help="Part of the steps, at the end, whose mean is the model; averaging removes noise "
        "and costs no budget. 0 keeps the last step, as printed.",
    ),
]


@dataclass(frozen=True, kw_only=True)
class LvqSpec(Spec):
    """What a user may turn; data and generators are arguments, never fields."""

    epsilon: Epsilon = 1.0
    calibration: Calibration = "rigorous"
    initialisation: Initialisation = "tight"
    metric: Metric = "covariance"
    scaling: Scaling = "ball"
    share: Share = 0.7
    bound: Bound = 0.5
    ridge: Ridge = 0.5
    clip: ClipNorm = 1.0
    split: Split = 0.3
    sample_rate: SampleRate = 0.25
    epochs: Epochs = 5.0
    rate_w: RateW = 0.1
    rate_omega: RateOmega = 1.0
    averaging: Averaging = 0.5
    prototypes: Prototypes = 1
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
            help="Share of the held-out fold put into a wrong class.",
        ),
    ]
    cost: Annotated[
        Column,
        Gauge(
            "Mean cost",
            "down",
            unit="from -1 to 1",
            help="Mean of (d+ - d-)/(d+ + d-) over the sample; -1 is perfect, 0 is chance.",
        ),
    ]
    clipped: Annotated[
        Column,
        Gauge(
            "Fraction clipped",
            "neither",
            unit="share",
            help="Share of the sampled records whose prototype gradient exceeds its bound; 0 "
            "means that the noise could be smaller, 1 that only directions are used.",
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
            help="Root mean square length of one step's noise over the norm of the clipped sum.",
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
            "Fraction clipped, matrix",
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
            help="(sum of eigenvalues)² over their squares' sum: the number of directions that "
            "count; 1 means that the metric has collapsed to a line.",
        ),
    ]
    perturbed: Annotated[
        Column,
        Gauge(
            "Test error, matrix perturbed",
            "down",
            unit="share",
            help="Test error after noise of variance 0.025 is added to each element of Omega, "
            "scaled to norm sqrt(d).",
        ),
    ]
