"""Knobs and gauges of private convolutional deep belief networks (Phan et al. 2017)."""

from dataclasses import dataclass

from engine.core.gauges import Column, Info
from engine.core.spec import Spec
from engine.core.vocabulary import ClipNorm, Delta, Epsilon, Objective, Polynomial, SampleRate


@dataclass(frozen=True, kw_only=True)
class PcdbnSpec(Spec):
    """What a user may turn; data and generators are arguments, never fields."""

    epsilon: Epsilon = 0.5
    calibration: str = "rigorous"
    degree: int = 3
    polynomial: Polynomial = "printed"
    activation: str = "sigmoid"
    pooling: str = "stride"
    optimiser: str = "adam"
    filters: int = 32
    filter_size: int = 5
    epochs: int = 162
    solver: str = "closed_form"
    moment_share: float = 0.05
    matrix_share: float = 0.7
    dimensions: int = 0
    layer_share: float = 0.67
    objective: Objective = "bounded"
    pretraining: int = 2
    pretraining_rate: float = 0.01
    learning_rate: float = 5e-3
    batch: int = 3600
    hidden: int = 25
    sample_rate: SampleRate = 0.02
    sgd_epochs: int = 18
    clip: ClipNorm = 1.0
    gradient_rate: float = 0.5
    delta: Delta = 1e-5


@dataclass(frozen=True)
class Digits(Info):
    """What a method shows of its classifier."""

    accuracy: Column
    noise_to_signal: Column
