r"""The symbols that more than one paper uses, each defined once.

| name            | symbol        | meaning                                         |
|-----------------|---------------|-------------------------------------------------|
| Epsilon         | \varepsilon   | privacy budget of everything that is released   |
| Delta           | \delta        | probability with which the bound may fail       |
| ClipNorm        | C             | largest norm of one record's contribution       |
| SampleRate      | q             | chance of each record to be in one step         |
| Regularisation  | \Lambda       | weight of the ridge penalty                     |
| Epochs          | E             | expected visits of each record                  |
| StepSize        | \eta          | length of one step along the gradient           |
| Calibration     |               | noise as the paper prints it, or as can be proved |
| Objective       |               | noisy quadratic, bounded or as it was drawn      |
| Polynomial      |               | which polynomial that is                        |
"""

from typing import Annotated

from engine.core.spec import Choice, Knob

EPSILONS = (
    0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.6, 0.8, 1.0,
    1.25, 1.6, 2.0, 2.5, 3.2, 4.0, 5.0, 6.4, 8.0, 10.0,
)  # fmt: skip
"""The grid that a curve is trained on: the papers' own points, and some between."""

Epsilon = Annotated[
    float,
    Knob(
        label="Privacy budget",
        symbol=r"\varepsilon",
        bounds=(1e-3, 1e3),
        range=(0.05, 10.0),
        scale="log",
        grid=EPSILONS,
        axis=True,
        help="Larger means less noise and less privacy.",
        equation=r"\Pr[M(D)\in S] \le e^{\varepsilon}\,\Pr[M(D')\in S] + \delta",
        source="Dwork et al. 2006",
    ),
]
Delta = Annotated[
    float,
    Knob(
        label="Failure probability",
        symbol=r"\delta",
        bounds=(1e-12, 1e-2),
        range=(1e-8, 1e-3),
        scale="log",
        grid=(1e-8, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3),
        help="Chance that the privacy bound does not hold. Keep it well below 1/n; methods "
        "with pure ε-privacy ignore it.",
        equation=r"\Pr[M(D)\in S] \le e^{\varepsilon}\,\Pr[M(D')\in S] + \delta",
        source="Dwork et al. 2006",
    ),
]
ClipNorm = Annotated[
    float,
    Knob(
        label="Clipping bound",
        symbol="C",
        bounds=(1e-6, 1e6),
        range=(0.01, 10.0),
        scale="log",
        axis=True,
        help="Each record's gradient is clipped to C. A small C loses information; a large "
        "C needs more noise.",
        equation=r"\bar g_i = g_i \cdot \min(1, C/\lVert g_i\rVert)",
        source="Abadi et al. 2016, Algorithm 1",
    ),
]
SampleRate = Annotated[
    float,
    Knob(
        label="Sampling rate",
        symbol="q",
        bounds=(1e-6, 1.0),
        range=(0.0005, 1.0),
        scale="log",
        help="Probability that a record is in a step. Larger needs more noise but uses "
        "more records per step.",
        equation=r"L = qN",
        source="Abadi et al. 2016, Algorithm 1",
    ),
]
Regularisation = Annotated[
    float,
    Knob(
        label="Regularisation",
        symbol=r"\Lambda",
        bounds=(1e-9, 1e3),
        range=(1e-5, 1.0),
        scale="log",
        grid=(1e-5, 3e-5, 1e-4, 3e-4, 1e-3, 3e-3, 1e-2, 3e-2, 1e-1, 3e-1, 1.0),
        axis=True,
        help="Larger shrinks the parameters towards zero and needs less noise.",
        equation=r"J(f) = \tfrac1n\sum_i \ell(f; d_i) + \tfrac{\Lambda}{2}\lVert f\rVert^2",
    ),
]
Epochs = Annotated[
    float,
    Knob(
        label="Epochs",
        symbol="E",
        bounds=(1e-3, 1e5),
        range=(1, 200),
        grid=(1, 2, 5, 10, 15, 20, 30, 40, 50, 60, 80, 100, 125, 150, 175, 200),
        help="How often each record is used on average. Every use spends budget.",
        equation=r"T = E/q",
    ),
]
StepSize = Annotated[
    float,
    Knob(
        label="Learning rate",
        symbol=r"\eta",
        bounds=(1e-9, 1e6),
        range=(1e-3, 10.0),
        scale="log",
        help="Larger moves further in one step.",
    ),
]
Calibration = Annotated[
    str,
    Choice(
        label="Calibration",
        options=("paper", "rigorous"),
        labels=("As printed", "With proof"),
        help="As printed: the noise that the paper states. With proof: the noise for which "
        "ε is proved.",
    ),
]
Objective = Annotated[
    str,
    Choice(
        label="Noisy objective",
        options=("bounded", "drawn"),
        labels=("Bounded", "As drawn"),
        help="As printed only. Bounded: the noisy quadratic is regularised and trimmed until it "
        "has a minimum, which costs no budget. As drawn: it may fall without end, and training "
        "may diverge.",
        source="Zhang et al. 2012, Section 6",
    ),
]
Polynomial = Annotated[
    str,
    Choice(
        label="Polynomial",
        options=("printed", "chebyshev"),
        labels=("As printed", "Chebyshev"),
        help="The polynomials printed in the paper (smooth steps from 0 to 1), or the "
        "Chebyshev expansion of the logistic function.",
        source="Section 3.1, equation 13",
    ),
]
