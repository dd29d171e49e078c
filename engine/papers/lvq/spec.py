"""Knobs and gauges of differentially private GLVQ and GMLVQ (Brinkrolf et al. 2018)."""

from dataclasses import dataclass
from typing import Annotated

from engine.core.gauges import Column, Gauge, Info
from engine.core.spec import Spec, Value
from engine.core.vocabulary import Calibration, ClipNorm, Delta, Epochs, Epsilon, SampleRate
from engine.papers.lvq.knobs import (
    Averaging,
    Bound,
    Initialisation,
    Metric,
    Prototypes,
    RateOmega,
    RateW,
    Ridge,
    Scaling,
    Share,
    Split,
)


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
