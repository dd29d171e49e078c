"""Knobs and gauges of differentially private GLVQ and GMLVQ (Brinkrolf et al. 2018)."""

from dataclasses import dataclass

from engine.core.gauges import Column, Info
from engine.core.spec import Spec, Value
from engine.core.vocabulary import Calibration, ClipNorm, Delta, Epochs, Epsilon, SampleRate


@dataclass(frozen=True, kw_only=True)
class LvqSpec(Spec):
    """What a user may turn; data and generators are arguments, never fields."""

    epsilon: Epsilon = 1.0
    calibration: Calibration = "rigorous"
    initialisation: str = "tight"
    metric: str = "covariance"
    scaling: str = "ball"
    share: float = 0.7
    bound: float = 0.5
    ridge: float = 0.5
    clip: ClipNorm = 1.0
    split: float = 0.3
    sample_rate: SampleRate = 0.25
    epochs: Epochs = 5.0
    rate_w: float = 0.1
    rate_omega: float = 1.0
    averaging: float = 0.5
    prototypes: int = 1
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

    error: Column
    cost: Column
    clipped: Column
    gradient: Column
    noise: Column
    outside: Column


@dataclass(frozen=True)
class MatrixUtility(Utility):
    """The same, and what the relevance matrix does."""

    clipped_omega: Column
    gradient_omega: Column
    rank: Column
    perturbed: Column
