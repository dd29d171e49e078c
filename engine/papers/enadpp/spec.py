"""Knobs and gauges of entropy-adaptive noise for SGD (Zhang et al. 2023)."""

from dataclasses import dataclass

from engine.core.gauges import Column, Info
from engine.core.spec import Spec
from engine.core.vocabulary import Calibration, ClipNorm, Delta, Epochs, Epsilon, SampleRate


@dataclass(frozen=True, kw_only=True)
class EnadppSpec(Spec):
    """What a user may turn; data and generators are arguments, never fields."""

    epsilon: Epsilon = 1.0
    calibration: Calibration = "rigorous"
    noise_reading: str = "A"
    noise: str = "laplace"
    clip: ClipNorm = 1.0
    clip_l1: float = 30.0
    alpha_min: float = 0.05
    relevance_rule: str = "z_plus"
    relevance_every: int = 0
    sigma_decay: float = 0.998
    sample_rate: SampleRate = 0.1
    sampling: str = "poisson"
    epochs: Epochs = 20.0
    learning_rate: float = 0.5
    decay: float = 1e-4
    momentum: float = 0.9
    plain_rate: float = 0.05
    plain_lot: int = 100
    network: str = "mlp"
    representation: str = "scattering"
    moment_share: float = 0.1
    bands: int = 16
    clipping: str = "flat"
    clip_quantile: float = 0.5
    optimiser: str = "momentum"
    delta: Delta = 1e-5


@dataclass(frozen=True)
class Training(Info):
    """What a training run shows as it goes."""

    accuracy: Column
    loss: Column
    fraction_clipped: Column
    noise_to_signal: Column
