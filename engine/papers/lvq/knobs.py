"""What may be turned about GLVQ and GMLVQ: one annotation for each field of the spec."""

from typing import Annotated

from engine.core.spec import Choice, Knob

Initialisation = Annotated[
    str,
    Choice(
        label="Initialisation",
        options=("paper", "sensitivity_1", "tight"),
        labels=("Laplace, as printed", "Laplace, sensitivity 1", "Gaussian, clipped"),
        help="Noise on the first prototypes. Laplace as printed: for sums of d features. "
        "Laplace with sensitivity 1: too little noise, nothing is proved. Gaussian: "
        "for records clipped at a public norm.",
        source="Section 3",
    ),
]
Metric = Annotated[
    str,
    Choice(
        label="Start of the metric",
        options=("identity", "covariance"),
        labels=("Identity", "Private covariance"),
        help="Ω starts as the identity, or as the whitening of a privately released "
        "within-class covariance. The covariance needs the Gaussian initialisation. "
        "GLVQ has no metric.",
    ),
]
Scaling = Annotated[
    str,
    Choice(
        label="Scale of the features",
        options=("box", "ball"),
        labels=("Each feature in [-1, 1]", "Each record in the unit ball"),
        help="Features in [-1, 1] and Ω of norm 1, or both multiplied by a public "
        "constant, so that no record is longer than 1 and Ω starts as the identity.",
        source="Section 3",
    ),
]
Share = Annotated[
    float,
    Knob(
        label="Share of the initialisation",
        symbol=r"\varepsilon_1/\varepsilon",
        bounds=(0.01, 0.99),
        range=(0.05, 0.95),
        step=0.05,
        axis=True,
        help="Part of the budget that the first prototypes spend. The training steps spend "
        "the rest.",
        equation=r"\varepsilon_1 + \varepsilon_2 = \varepsilon",
        source="Section 4",
    ),
]
Bound = Annotated[
    float,
    Knob(
        label="Norm bound of the initialisation",
        symbol="B",
        bounds=(1e-3, 1e3),
        range=(0.1, 1.0),
        scale="log",
        axis=True,
        help="Records further from the centre are moved to this distance. Larger needs "
        "more noise. In units of the largest possible norm of a record.",
        equation=r"\lVert x - m\rVert \le B",
    ),
]
Ridge = Annotated[
    float,
    Knob(
        label="Ridge of the metric",
        symbol=r"\kappa",
        bounds=(1e-3, 1e3),
        range=(0.05, 5.0),
        scale="log",
        axis=True,
        help="Added to every eigenvalue of the covariance before it is inverted, as a "
        "multiple of the largest eigenvalue of its noise.",
        equation=r"\Omega_0 = (\hat S_w + \kappa\,s\sqrt{2d}\,I)^{-1/2}",
    ),
]
Split = Annotated[
    float,
    Knob(
        label="Share of the matrix in the clip",
        symbol=r"\rho",
        bounds=(0.0, 0.99),
        range=(0.0, 0.9),
        step=0.05,
        axis=True,
        help="Prototypes and matrix are clipped separately; this is the matrix's share of "
        "the bound. 0 clips them together, as printed. The joint bound is C in both "
        "cases.",
        equation=r"C_W^2 = (1-\rho)\,C^2,\quad C_\Omega^2 = \rho\,C^2",
    ),
]
RateW = Annotated[
    float,
    Knob(
        label="Learning rate of the prototypes",
        symbol=r"\eta_W",
        bounds=(0.0, 1e6),
        range=(1e-3, 10.0),
        scale="log",
        axis=True,
        help="Larger moves the prototypes further in one step.",
        equation=r"W \leftarrow W - \eta_W\,p\,G_W/(qN)",
    ),
]
RateOmega = Annotated[
    float,
    Knob(
        label="Learning rate of the matrix",
        symbol=r"\eta_\Omega",
        bounds=(0.0, 1e6),
        range=(1e-5, 10.0),
        scale="log",
        axis=True,
        help="Larger moves the matrix further in one step. 0 keeps its start.",
        equation=r"\Omega \leftarrow \Omega - \eta_\Omega\,G_\Omega/(qN)",
    ),
]
Prototypes = Annotated[
    int,
    Knob(
        label="Prototypes per class",
        symbol=r"p",
        bounds=(1, 20),
        range=(1, 5),
        step=1,
        help="More prototypes allow curved borders between classes, but each gets fewer "
        "records. With the Gaussian initialisation, several begin as the noisy means of groups "
        "within a class, which costs no more budget.",
        source="Section 3; the paper has one",
    ),
]
Averaging = Annotated[
    float,
    Knob(
        label="Averaged steps",
        symbol=r"\alpha",
        bounds=(0.0, 1.0),
        range=(0.0, 1.0),
        step=0.1,
        help="The model is the mean over this share of the steps, counted from the end. "
        "Averaging removes noise and costs no budget. 0 keeps the last step, as "
        "printed.",
    ),
]
