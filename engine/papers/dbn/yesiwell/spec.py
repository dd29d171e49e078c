"""Settings and gauges of private behaviour models in a health social network (Phan et al. 2017)."""

from dataclasses import dataclass

from engine.core.errors import SpecError
from engine.core.gauges import Column, Info
from engine.core.spec import Spec
from engine.core.vocabulary import (
    Calibration,
    ClipNorm,
    Delta,
    Epsilon,
    Objective,
    Polynomial,
    SampleRate,
)

PRINTED_DEGREES = (1, 2, 3, 5, 7)


@dataclass(frozen=True, kw_only=True)
class YesiwellSpec(Spec):
    """What a user may turn; data and generators are arguments, never fields."""

    epsilon: Epsilon = 1.0
    calibration: Calibration = "rigorous"
    objective: Objective = "bounded"
    unit: str = "user"
    task: str = "prediction"
    history: int = 12
    epochs: int = 100
    degree: int = 7
    polynomial: Polynomial = "printed"
    social: float = 0.3
    persistence: float = 0.98
    influence: float = 0.1
    window: int = 4
    bases: int = 10
    pretraining: int = 30
    pretraining_rate: float = 0.01
    learning_rate: float = 1e-3
    batch: int = 111
    dropout: float = 0.5
    lasso: float = 1e-4
    most_friends: int = 30
    moment_share: float = 0.05
    matrix_share: float = 0.3
    layer_share: float = 0.5
    code: int = 10
    hidden: int = 0
    sample_rate: SampleRate = 0.2
    sgd_epochs: int = 20
    clip: ClipNorm = 0.3
    gradient_rate: float = 2.0
    delta: Delta = 1e-5

    def check(self) -> None:
        """Windows must fit into the history, and printed polynomials have few degrees.

        Raises:
            SpecError: They do not.
        """
        if self.history < self.window:
            raise SpecError(
                "history",
                f"expected at least as many times as a window has, {self.window}, "
                f"got {self.history}",
            )
        if self.polynomial == "printed" and self.degree not in PRINTED_DEGREES:
            raise SpecError(
                "degree",
                f"expected one of {', '.join(map(str, PRINTED_DEGREES))} where printed, "
                f"got {self.degree}",
            )

    @property
    def windows(self) -> int:
        """Training windows of each user, M − N + 1."""
        return self.history - self.window + 1


@dataclass(frozen=True)
class Behaviour(Info):
    """What a method shows of its predictions."""

    accuracy: Column
    best_possible: Column
    majority: Column
    calibration_error: Column
    few_friends: Column
    many_friends: Column
    noise_to_signal: Column
