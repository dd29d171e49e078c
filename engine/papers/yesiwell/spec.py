"""Settings and gauges of private behaviour models in a health social network (Phan et al. 2017)."""

from dataclasses import dataclass
from typing import Annotated

from engine.core.errors import SpecError
from engine.core.gauges import Column, Gauge, Info
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
from engine.papers.yesiwell.knobs import (
    PRINTED_DEGREES,
    Bases,
    BatchSize,
    Code,
    Degree,
    Degrees,
    Dropout,
    Epochs,
    History,
    Influence,
    Lasso,
    LayerShare,
    MatrixShare,
    MomentShare,
    Persistence,
    Pretraining,
    Rate,
    RivalEpochs,
    RivalUnits,
    Social,
    Task,
    Unit,
    Window,
)


@dataclass(frozen=True, kw_only=True)
class YesiwellSpec(Spec):
    """What a user may turn; data and generators are arguments, never fields."""

    epsilon: Epsilon = 1.0
    calibration: Calibration = "rigorous"
    objective: Objective = "bounded"
    unit: Unit = "user"
    task: Task = "prediction"
    history: History = 12
    epochs: Epochs = 100
    degree: Degree = 7
    polynomial: Polynomial = "printed"
    social: Social = 0.3
    persistence: Persistence = 0.98
    influence: Influence = 0.1
    window: Window = 4
    bases: Bases = 10
    pretraining: Pretraining = 30
    pretraining_rate: Rate = 0.01
    learning_rate: Rate = 1e-3
    batch: BatchSize = 111
    dropout: Dropout = 0.5
    lasso: Lasso = 1e-4
    most_friends: Degrees = 30
    moment_share: MomentShare = 0.05
    matrix_share: MatrixShare = 0.3
    layer_share: LayerShare = 0.5
    code: Code = 10
    hidden: RivalUnits = 0
    sample_rate: SampleRate = 0.2
    sgd_epochs: RivalEpochs = 20
    clip: ClipNorm = 0.3
    gradient_rate: Rate = 2.0
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

    accuracy: Annotated[
        Column,
        Gauge(
            "Test accuracy",
            "up",
            unit="share",
            help="Share of the test windows that are predicted correctly.",
        ),
    ]
    best_possible: Annotated[
        Column,
        Gauge(
            "Best possible accuracy",
            "neither",
            help="Accuracy of the best possible predictor of the simulated data; 1 for files of "
            "your own, where nobody knows it.",
        ),
    ]
    majority: Annotated[
        Column,
        Gauge(
            "Majority vote",
            "neither",
            help="Accuracy of always giving the most frequent answer in training.",
        ),
    ]
    calibration_error: Annotated[
        Column,
        Gauge(
            "Calibration error",
            "down",
            help="Mean distance between a predicted probability and how often it came true, in "
            "ten groups of test windows.",
        ),
    ]
    few_friends: Annotated[
        Column,
        Gauge(
            "Accuracy, few friends",
            "up",
            help="Test accuracy among the third of users with the fewest friends.",
        ),
    ]
    many_friends: Annotated[
        Column,
        Gauge(
            "Accuracy, many friends",
            "up",
            help="Test accuracy among the third of users with the most friends.",
        ),
    ]
    noise_to_signal: Annotated[
        Column,
        Gauge(
            "Noise to signal",
            "down",
            scale="log",
            help="Root mean square length of the output layer's noise over the length of what it "
            "is added to; 0 where a method adds none.",
        ),
    ]
