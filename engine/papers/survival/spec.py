"""Knobs and gauges of private discrete-time survival regression (Nguyen and Hui 2017)."""

from dataclasses import dataclass

from engine.core.gauges import Column, Info
from engine.core.spec import Spec
from engine.core.vocabulary import Calibration, Delta, Epsilon, Regularisation


@dataclass(frozen=True, kw_only=True)
class SurvivalSpec(Spec):
    """What a user may turn; data and generators are arguments, never fields."""

    epsilon: Epsilon = 1.0
    intervals: int = 200
    knots: int = 3
    regularisation: Regularisation = 1e-2
    calibration: Calibration = "rigorous"
    solver: str = "newton"
    delta: Delta = 1e-5
    link: str = "logit"
    bound: float = 0.0
    step_scale: float = 1e-4
    sampler_epochs: float = 3.0
    minibatch: int = 200
    burn_in: int = 10_000
    samples: int = 1000
    steps: int = 32
    clip: float = 1.25
    passes: int = 10
    prior: float = 1e-2
    step_decay: float = 0.51
    memory: float = 0.99
    damping: float = 1e-5


@dataclass(frozen=True)
class Utility(Info):
    """How far the private parameters are from the optimum, and what they are worth."""

    mre: Column
    mre_beta: Column
    concordance: Column
    brier: Column
    brier_error: Column
    cox_error: Column
    noise_to_signal: Column


@dataclass(frozen=True)
class Sampled(Utility):
    """What a sampler shows besides: the errors are averages over its draws (Equation 9)."""

    r_hat: Column
    ess: Column


@dataclass(frozen=True)
class Corrected(Sampled):
    """What Metropolis-corrected chains show besides."""

    acceptance: Column
    apart: Column


@dataclass(frozen=True)
class Curved(Info):
    """What a private survival curve of everyone is worth."""

    brier: Column
    brier_error: Column
    gap: Column
