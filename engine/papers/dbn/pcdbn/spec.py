"""Knobs and gauges of private convolutional deep belief networks (Phan et al. 2017)."""

from dataclasses import dataclass
from typing import Annotated

from engine.core.gauges import Column, Gauge, Info
from engine.core.spec import Choice, Knob, Spec
from engine.core.vocabulary import ClipNorm, Delta, Epsilon, Objective, Polynomial, SampleRate


@dataclass(frozen=True, kw_only=True)
class PcdbnSpec(Spec):
    """What a user may turn; data and generators are arguments, never fields."""

    epsilon: Epsilon = 0.5
    calibration: Annotated[
        str,
        Choice(
            label="Calibration",
            options=("rigorous", "paper", "released"),
            labels=("With proof", "As printed", "Authors' program"),
            help="With proof: the noise for which ε is proved. As printed: the noise of the "
            "paper's text. Authors' program: the noise that their published program adds.",
        ),
    ] = "rigorous"
    degree: Annotated[
        int,
        Knob(
            label="Degree of the polynomial",
            symbol="L",
            bounds=(1, 7),
            range=(1, 7),
            grid=(1, 2, 3, 5, 7),
            help="Higher degrees follow the activation more closely and need moments of higher "
            "order. With proof, from L = 2 on, those beyond the fourth, and odd ones, are "
            "released along the six strongest directions of the second moments.",
            equation=r"\sigma(X) \approx \textstyle\sum_{l=0}^{L} \alpha_l X^l",
            source="Equation 13",
        ),
    ] = 3
    polynomial: Polynomial = "printed"
    activation: Annotated[
        str,
        Choice(
            label="Activation",
            options=(
                "sigmoid", "tanh", "arctan", "softsign", "sinusoid", "sinc", "gaussian", "relu",
            ),
            labels=(
                "Logistic", "Tanh", "Arctan", "Softsign", "Sine", "Sinc", "Gaussian", "Rectifier",
            ),
            help="How a hidden unit's state follows from its response. The paper prints "
            "polynomials for the logistic function only; the others use their Chebyshev "
            "expansion. The authors' program has the logistic function whatever you choose.",
            source="Section 3.1",
        ),
    ] = "sigmoid"  # fmt: skip
    pooling: Annotated[
        str,
        Choice(
            label="Pooling",
            options=("stride", "max"),
            labels=("Every second position", "Max-pooling"),
            help="How the networks halve their maps after each layer. Every second position: as "
            "the authors' program does. Max-pooling: the largest of each square of four, as the "
            "text says; it takes four times as long. The authors' program and the version with "
            "proof keep their own.",
            source="Section 5.2",
        ),
    ] = "stride"
    optimiser: Annotated[
        str,
        Choice(
            label="Optimiser",
            options=("adam", "descent"),
            labels=("Adam", "Gradient descent"),
            help="How the networks learn. Adam: as the authors' program does. Gradient descent: as "
            "the text says; it needs larger learning rates.",
            source="Section 3.4",
        ),
    ] = "adam"
    filters: Annotated[
        int,
        Knob(
            label="Filters of the first layer",
            symbol="K",
            bounds=(1, 128),
            range=(2, 64),
            step=2,
            help="Filters of the first layer. The second layer has twice as many.",
            equation=r"E(v, h) = -\textstyle\sum_{k=1}^{K} h^k \bullet (\tilde W^k * v) - \dots",
            source="Equation 7",
        ),
    ] = 32
    filter_size: Annotated[
        int,
        Knob(
            label="Filter size",
            symbol="N_W",
            bounds=(1, 15),
            range=(3, 9),
            step=2,
            help="Width and height in pixels: an odd number, at most the image's.",
            source="Section 3",
        ),
    ] = 5
    epochs: Annotated[
        int,
        Knob(
            label="Epochs",
            symbol="E",
            bounds=(1, 10_000),
            range=(1, 600),
            help="Passes over the data while the upper layers learn. Where the noise is drawn "
            "once, more passes cost no budget.",
            source="Section 5",
        ),
    ] = 162
    solver: Annotated[
        str,
        Choice(
            label="Solution",
            options=("closed_form", "descent"),
            labels=("Closed form", "Gradient descent"),
            help="Solve the released quadratic in one step, or by gradient descent over any "
            "number of epochs. Both cost the same budget.",
        ),
    ] = "closed_form"
    moment_share: Annotated[
        float,
        Knob(
            label="Budget of the moments",
            symbol=r"\tau",
            bounds=(0.001, 0.9),
            range=(0.01, 0.5),
            scale="log",
            axis=True,
            help="Share of the precision 1/σ² that filters, centring and whitening get. The "
            "classifier gets the rest.",
            equation=r"\tfrac1{\sigma^2} = \tfrac{\tau}{\sigma^2} + \tfrac{1-\tau}{\sigma^2}",
        ),
    ] = 0.05
    matrix_share: Annotated[
        float,
        Knob(
            label="Budget of the matrix",
            symbol=r"\varphi",
            bounds=(0.01, 0.99),
            range=(0.1, 0.95),
            axis=True,
            help="Share of the classifier's precision that Σpp′ gets. Σpy′ gets the rest.",
            equation=r"A = \textstyle\sum_t p_t p_t^\top,\quad b = \sum_t p_t y_t^\top",
        ),
    ] = 0.7
    dimensions: Annotated[
        int,
        Knob(
            label="Features of the classifier",
            symbol="d",
            bounds=(0, 2000),
            range=(0, 600),
            help="More features describe an image better and bring more noise. 0 chooses the "
            "number at which the noise of A reaches a fixed share of its mean eigenvalue.",
        ),
    ] = 0
    layer_share: Annotated[
        float,
        Knob(
            label="Budget of the convolution layers",
            symbol=r"\varepsilon_{1,2}/\varepsilon",
            bounds=(0.01, 0.99),
            range=(0.1, 0.9),
            help="Share of the budget that both convolution layers get, half each. The softmax "
            "layer gets the rest.",
            equation=r"\varepsilon = \varepsilon_1 + \varepsilon_2 + \varepsilon_{\mathrm{out}}",
        ),
    ] = 0.67
    objective: Objective = "bounded"
    pretraining: Annotated[
        int,
        Knob(
            label="Epochs of pre-training",
            symbol="E_0",
            bounds=(1, 1_000),
            range=(1, 50),
            help="Passes over the data for each convolution layer, before the upper layers learn.",
        ),
    ] = 2
    pretraining_rate: Annotated[
        float,
        Knob(
            label="Learning rate of pre-training",
            symbol=r"\eta_0",
            bounds=(1e-9, 1e3),
            range=(1e-4, 0.1),
            scale="log",
            help="Larger moves the filters further in one step of Adam.",
        ),
    ] = 0.01
    learning_rate: Annotated[
        float,
        Knob(
            label="Learning rate",
            symbol=r"\eta",
            bounds=(1e-9, 1e3),
            range=(1e-5, 0.1),
            scale="log",
            help="Larger moves the upper layers further in one step of Adam.",
        ),
    ] = 5e-3
    batch: Annotated[
        int,
        Knob(
            label="Batch",
            symbol="B",
            bounds=(1, 1_000_000),
            range=(100, 10_000),
            scale="log",
            help="Records in one step. A smaller data set is one batch.",
        ),
    ] = 3600
    hidden: Annotated[
        int,
        Knob(
            label="Hidden units",
            symbol="m",
            bounds=(1, 4096),
            range=(5, 1024),
            scale="log",
            help="Units of the fully connected layer: 25 in the authors' program, 1,024 in the "
            "text.",
            source="Section 5.2",
        ),
    ] = 25
    sample_rate: SampleRate = 0.02
    sgd_epochs: Annotated[
        int,
        Knob(
            label="Epochs of pSGD",
            symbol=r"E_{\mathrm{SGD}}",
            bounds=(1, 1_000),
            range=(1, 100),
            help="How often pSGD uses each record on average. More epochs need more noise in "
            "each step.",
            source="Section 5.2: 18 at ε = 0.5",
        ),
    ] = 18
    clip: ClipNorm = 1.0
    gradient_rate: Annotated[
        float,
        Knob(
            label="Learning rate of pSGD",
            symbol=r"\eta_{\mathrm{SGD}}",
            bounds=(1e-9, 1e6),
            range=(0.01, 10.0),
            scale="log",
            help="Larger moves further along the noisy gradient in one step.",
        ),
    ] = 0.5
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
