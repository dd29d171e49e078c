"""Knobs and gauges of private convolutional deep belief networks (Phan et al. 2017)."""

from dataclasses import dataclass
from typing import Annotated

from engine.core.gauges import Column, Gauge, Info
from engine.core.spec import Spec
from engine.core.vocabulary import ClipNorm, Delta, Epsilon, Objective, Polynomial, SampleRate
from engine.papers.pcdbn.knobs import (
    Batch,
    Calibration,
    Degree,
    Dimensions,
    Epochs,
    Filters,
    FilterSize,
    Function,
    GradientEpochs,
    GradientRate,
    Hidden,
    LayerShare,
    LearningRate,
    MatrixShare,
    MomentShare,
    Optimiser,
    Pooling,
    Pretraining,
    PretrainingRate,
    Solver,
)


@dataclass(frozen=True, kw_only=True)
class PcdbnSpec(Spec):
    """What a user may turn; data and generators are arguments, never fields."""

    epsilon: Epsilon = 0.5
    calibration: Calibration = "rigorous"
    degree: Degree = 3
    polynomial: Polynomial = "printed"
    activation: Function = "sigmoid"
    pooling: Pooling = "stride"
    optimiser: Optimiser = "adam"
    filters: Filters = 32
    filter_size: FilterSize = 5
    epochs: Epochs = 162
    solver: Solver = "closed_form"
    moment_share: MomentShare = 0.05
    matrix_share: MatrixShare = 0.7
    dimensions: Dimensions = 0
    layer_share: LayerShare = 0.67
    objective: Objective = "bounded"
    pretraining: Pretraining = 2
    pretraining_rate: PretrainingRate = 0.01
    learning_rate: LearningRate = 5e-3
    batch: Batch = 3600
    hidden: Hidden = 25
    sample_rate: SampleRate = 0.02
    sgd_epochs: GradientEpochs = 18
    clip: ClipNorm = 1.0
    gradient_rate: GradientRate = 0.5
    delta: Delta = 1e-5


@dataclass(frozen=True)
class Digits(Info):
    """What a method shows of its classifier."""

    accuracy: Annotated[
        Column,
        Gauge(
            "Test accuracy",
            "up",
            unit="share",
            help="Share of the test images that are classified correctly.",
        ),
    ]
    noise_to_signal: Annotated[
        Column,
        Gauge(
            "Noise to signal",
            "down",
            unit="times",
            scale="log",
            help="Root mean square length of all noise, divided by the length of what it "
            "is added to. 0 where a method adds none.",
        ),
    ]
