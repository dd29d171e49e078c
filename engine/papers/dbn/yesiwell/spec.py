"""Settings and gauges of private behaviour models in a health social network (Phan et al. 2017)."""

from dataclasses import dataclass
from typing import Annotated

from engine.core.errors import SpecError
from engine.core.gauges import Column, Gauge, Info
from engine.core.spec import Choice, Knob, Spec
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
Rate = Annotated[
    float,
    Knob(
        label="Learning rate",
        symbol=r"\eta",
        bounds=(1e-9, 1e3),
        range=(1e-4, 0.1),
        scale="log",
        help="How far one training step of Adam moves the weights.",
        source="Section 4.1.1: 0.001",
    ),
]


@dataclass(frozen=True, kw_only=True)
class YesiwellSpec(Spec):
    """What a user may turn; data and generators are arguments, never fields."""

    epsilon: Epsilon = 1.0
    calibration: Calibration = "rigorous"
    objective: Objective = "bounded"
    unit: Annotated[
        str,
        Choice(
            label="Who is protected",
            options=("user", "user_and_graph", "window"),
            labels=("A user, friendships public", "A user and friendships", "One window of a user"),
            help="What ε is for: all windows of a user with their influence on friends, the same "
            "with the friendships secret too, or a single window, as in the paper.",
        ),
    ] = "user"
    task: Annotated[
        str,
        Choice(
            label="Task",
            options=("prediction", "classification"),
            labels=("Predict the next time", "Classify the present time"),
            help="Whether a user exercises more at the next time, or at the window's last time.",
            source="Sections 4.1.1 and 4.1.2",
        ),
    ] = "prediction"
    history: Annotated[
        int,
        Knob(
            label="Times trained on",
            symbol="M",
            bounds=(2, 100_000),
            range=(6, 272),
            help="Days or weeks of training data; each user gives M − N + 1 windows, and all of "
            "them are protected together where a user is.",
            source="Section 4.1.1",
        ),
    ] = 12
    epochs: Annotated[
        int,
        Knob(
            label="Epochs",
            symbol="E",
            bounds=(1, 10_000),
            range=(1, 600),
            help="Visits of the training windows while the output layer learns; where the noise is "
            "drawn once, they cost no privacy.",
            source="Section 4.1.2",
        ),
    ] = 100
    degree: Annotated[
        int,
        Knob(
            label="Degree of the polynomial",
            symbol="L",
            bounds=(1, 7),
            range=(1, 7),
            grid=PRINTED_DEGREES,
            help="Higher degrees follow the activation more closely; every degree has a proof "
            "here.",
            equation=r"\sigma(X) \approx \textstyle\sum_{l=0}^{L} \alpha_l X^l",
            source="Equation 13",
        ),
    ] = 7
    polynomial: Polynomial = "printed"
    social: Annotated[
        float,
        Knob(
            label="Weight of friends' influence",
            symbol=r"\kappa",
            bounds=(0.0, 0.9),
            range=(0.0, 0.9),
            step=0.05,
            axis=True,
            help="Length that the friends' term may have beside a user's own features. It "
            "multiplies the noise by up to 1 + 2κ: friends' windows change with a user's data.",
        ),
    ] = 0.3
    persistence: Annotated[
        float,
        Knob(
            label="Persistence of motivation",
            symbol=r"\rho",
            bounds=(0.0, 0.99),
            range=(0.5, 0.99),
            step=0.01,
            help="Simulated data only: how much of motivation stays from one time to the next.",
        ),
    ] = 0.98
    influence: Annotated[
        float,
        Knob(
            label="Influence of friends",
            symbol=r"\iota",
            bounds=(0.0, 1.0),
            range=(0.0, 1.0),
            step=0.05,
            help="Simulated data only: the share of motivation that comes from friends.",
        ),
    ] = 0.1
    window: Annotated[
        int,
        Knob(
            label="Window",
            symbol="N",
            bounds=(1, 30),
            range=(2, 8),
            help="Times that the network sees at once; the paper takes 4.",
            source="Section 4.1.1",
        ),
    ] = 4
    bases: Annotated[
        int,
        Knob(
            label="Bases of a layer",
            symbol="K",
            bounds=(1, 64),
            range=(2, 20),
            help="Filters of each of the two layers; the paper takes 10.",
            source="Section 4.1",
        ),
    ] = 10
    pretraining: Annotated[
        int,
        Knob(
            label="Steps of pre-training",
            symbol="E_0",
            bounds=(1, 10_000),
            range=(1, 200),
            help="Training steps of contrastive divergence for each layer.",
        ),
    ] = 30
    pretraining_rate: Rate = 0.01
    learning_rate: Rate = 1e-3
    batch: Annotated[
        int,
        Knob(
            label="Batch",
            symbol="B",
            bounds=(1, 1_000_000),
            range=(50, 2_000),
            scale="log",
            help="Windows of one training step, as many of one class as of the other.",
            source="Section 4.1.2: 111",
        ),
    ] = 111
    dropout: Annotated[
        float,
        Knob(
            label="Dropout",
            symbol="p",
            bounds=(0.0, 0.95),
            range=(0.0, 0.9),
            help="Chance of each feature to be left out of a training step.",
            source="Section 4.1.1: 0.5",
        ),
    ] = 0.5
    lasso: Annotated[
        float,
        Knob(
            label="L1 regularisation",
            symbol=r"\lambda_1",
            bounds=(0.0, 10.0),
            range=(0.0, 0.01),
            help="Larger pulls more weights of the output layer to zero; the paper names no value.",
            source="Section 4.1.1",
        ),
    ] = 1e-4
    most_friends: Annotated[
        int,
        Knob(
            label="Most friends",
            symbol="D",
            bounds=(1, 10_000),
            range=(5, 100),
            help="Public bound on the friends of a user: so many other users' windows change with "
            "one user's data.",
        ),
    ] = 30
    moment_share: Annotated[
        float,
        Knob(
            label="Budget of the filters",
            symbol=r"\tau",
            bounds=(0.001, 0.9),
            range=(0.01, 0.5),
            scale="log",
            axis=True,
            help="Share of the precision 1/σ² for the moments from which the filters come.",
        ),
    ] = 0.05
    matrix_share: Annotated[
        float,
        Knob(
            label="Budget of the matrix",
            symbol=r"\varphi",
            bounds=(0.01, 0.99),
            range=(0.05, 0.95),
            axis=True,
            help="Share of the classifier's precision for Σpp'; Σp(y − ½) gets the rest.",
        ),
    ] = 0.3
    layer_share: Annotated[
        float,
        Knob(
            label="Budget of the lower layers",
            symbol=r"\varepsilon_{1,2}/\varepsilon",
            bounds=(0.01, 0.99),
            range=(0.1, 0.9),
            help="Share of ε for the layers below the output, as printed and in dPAH.",
        ),
    ] = 0.5
    code: Annotated[
        int,
        Knob(
            label="Units of the auto-encoder",
            symbol="m",
            bounds=(1, 200),
            range=(2, 50),
            help="Hidden units of dPAH; the noise grows with their square.",
        ),
    ] = 10
    hidden: Annotated[
        int,
        Knob(
            label="Hidden units of DP-SGD",
            symbol="H",
            bounds=(0, 200),
            range=(0, 50),
            help="0 is logistic regression; more is a network with one hidden layer.",
        ),
    ] = 0
    sample_rate: SampleRate = 0.2
    sgd_epochs: Annotated[
        int,
        Knob(
            label="Epochs of DP-SGD",
            symbol=r"E_{\mathrm{SGD}}",
            bounds=(1, 10_000),
            range=(1, 100),
            help="Expected visits of each record by DP-SGD; every visit spends budget.",
        ),
    ] = 20
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
