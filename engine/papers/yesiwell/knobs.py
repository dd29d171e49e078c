"""What may be turned about behaviour models: one annotation for each field of the spec."""

from typing import Annotated

from engine.core.spec import Choice, Knob

PRINTED_DEGREES = (1, 2, 3, 5, 7)

Unit = Annotated[
    str,
    Choice(
        label="Who is protected",
        options=("user", "user_and_graph", "window"),
        labels=("A user, friendships public", "A user and friendships", "One window of a user"),
        help="What ε is for: all windows of a user with their influence on friends, the same with "
        "the friendships secret too, or a single window, as in the paper.",
    ),
]
Task = Annotated[
    str,
    Choice(
        label="Task",
        options=("prediction", "classification"),
        labels=("Predict the next time", "Classify the present time"),
        help="Whether a user exercises more at the next time, or at the window's last time.",
        source="Sections 4.1.1 and 4.1.2",
    ),
]
History = Annotated[
    int,
    Knob(
        label="Times trained on",
        symbol="M",
        bounds=(2, 100_000),
        range=(6, 272),
        help="Days or weeks of training data; each user gives M − N + 1 windows, and all of them "
        "are protected together where a user is.",
        source="Section 4.1.1",
    ),
]
Window = Annotated[
    int,
    Knob(
        label="Window",
        symbol="N",
        bounds=(1, 30),
        range=(2, 8),
        help="Times that the network sees at once; the paper takes 4.",
        source="Section 4.1.1",
    ),
]
Degree = Annotated[
    int,
    Knob(
        label="Degree of the polynomial",
        symbol="L",
        bounds=(1, 7),
        range=(1, 7),
        grid=PRINTED_DEGREES,
        help="Higher degrees follow the activation more closely; every degree has a proof here.",
        equation=r"\sigma(X) \approx \textstyle\sum_{l=0}^{L} \alpha_l X^l",
        source="Equation 13",
    ),
]
Bases = Annotated[
    int,
    Knob(
        label="Bases of a layer",
        symbol="K",
        bounds=(1, 64),
        range=(2, 20),
        help="Filters of each of the two layers; the paper takes 10.",
        source="Section 4.1",
    ),
]
Epochs = Annotated[
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
]
Pretraining = Annotated[
    int,
    Knob(
        label="Steps of pre-training",
        symbol="E_0",
        bounds=(1, 10_000),
        range=(1, 200),
        help="Training steps of contrastive divergence for each layer.",
    ),
]
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
BatchSize = Annotated[
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
]
Dropout = Annotated[
    float,
    Knob(
        label="Dropout",
        symbol="p",
        bounds=(0.0, 0.95),
        range=(0.0, 0.9),
        help="Chance of each feature to be left out of a training step.",
        source="Section 4.1.1: 0.5",
    ),
]
Lasso = Annotated[
    float,
    Knob(
        label="L1 regularisation",
        symbol=r"\lambda_1",
        bounds=(0.0, 10.0),
        range=(0.0, 0.01),
        help="Larger pulls more weights of the output layer to zero; the paper names no value.",
        source="Section 4.1.1",
    ),
]
Degrees = Annotated[
    int,
    Knob(
        label="Most friends",
        symbol="D",
        bounds=(1, 10_000),
        range=(5, 100),
        help="Public bound on the friends of a user: so many other users' windows change with one "
        "user's data.",
    ),
]
Social = Annotated[
    float,
    Knob(
        label="Weight of friends' influence",
        symbol=r"\kappa",
        bounds=(0.0, 0.9),
        range=(0.0, 0.9),
        step=0.05,
        axis=True,
        help="Length that the friends' term may have beside a user's own features. It multiplies "
        "the noise by up to 1 + 2κ: friends' windows change with a user's data.",
    ),
]
MomentShare = Annotated[
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
]
MatrixShare = Annotated[
    float,
    Knob(
        label="Budget of the matrix",
        symbol=r"\varphi",
        bounds=(0.01, 0.99),
        range=(0.05, 0.95),
        axis=True,
        help="Share of the classifier's precision for Σpp'; Σp(y − ½) gets the rest.",
    ),
]
LayerShare = Annotated[
    float,
    Knob(
        label="Budget of the lower layers",
        symbol=r"\varepsilon_{1,2}/\varepsilon",
        bounds=(0.01, 0.99),
        range=(0.1, 0.9),
        help="Share of ε for the layers below the output, as printed and in dPAH.",
    ),
]
Code = Annotated[
    int,
    Knob(
        label="Units of the auto-encoder",
        symbol="m",
        bounds=(1, 200),
        range=(2, 50),
        help="Hidden units of dPAH; the noise grows with their square.",
    ),
]
RivalUnits = Annotated[
    int,
    Knob(
        label="Hidden units of DP-SGD",
        symbol="H",
        bounds=(0, 200),
        range=(0, 50),
        help="0 is logistic regression; more is a network with one hidden layer.",
    ),
]
RivalEpochs = Annotated[
    int,
    Knob(
        label="Epochs of DP-SGD",
        symbol=r"E_{\mathrm{SGD}}",
        bounds=(1, 10_000),
        range=(1, 100),
        help="Expected visits of each record by DP-SGD; every visit spends budget.",
    ),
]
Persistence = Annotated[
    float,
    Knob(
        label="Persistence of motivation",
        symbol=r"\rho",
        bounds=(0.0, 0.99),
        range=(0.5, 0.99),
        step=0.01,
        help="Simulated data only: how much of motivation stays from one time to the next.",
    ),
]
Influence = Annotated[
    float,
    Knob(
        label="Influence of friends",
        symbol=r"\iota",
        bounds=(0.0, 1.0),
        range=(0.0, 1.0),
        step=0.05,
        help="Simulated data only: the share of motivation that comes from friends.",
    ),
]
