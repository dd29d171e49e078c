"""Knobs and gauges of entropy-adaptive noise for SGD (Zhang et al. 2023)."""

from dataclasses import dataclass
from typing import Annotated

from engine.core.gauges import Column, Gauge, Info
from engine.core.spec import Choice, Knob, Spec
from engine.core.vocabulary import Calibration, ClipNorm, Delta, Epochs, Epsilon, SampleRate


@dataclass(frozen=True, kw_only=True)
class EnadppSpec(Spec):
    """What a user may turn; data and generators are arguments, never fields."""

    epsilon: Epsilon = 1.0
    calibration: Calibration = "rigorous"
    noise_reading: Annotated[
        str,
        Choice(
            label="Reading of the printed noise",
            options=("A", "B", "C"),
            labels=("A: inside the average", "B: outside the average", "C: for the mean"),
            help="Where the printed noise is added. A: inside the average, as printed. B: "
            "outside it. C: scaled to the sensitivity of the mean. Used when the "
            "calibration is as printed.",
            symbol=r"\Delta\omega_t",
            source="Algorithm 1, line 14",
        ),
    ] = "A"
    noise: Annotated[
        str,
        Choice(
            label="Noise",
            options=("laplace", "gaussian"),
            labels=("Laplace", "Gaussian"),
            help="Laplace noise with clipping in L1 norm, as in the paper, or Gaussian noise "
            "with clipping in L2 norm. Used when the calibration is with proof.",
        ),
    ] = "laplace"
    clip: ClipNorm = 1.0
    clip_l1: Annotated[
        float,
        Knob(
            label="Clipping bound in L1",
            symbol="C",
            bounds=(1e-6, 1e9),
            range=(1.0, 3000.0),
            scale="log",
            axis=True,
            help="For methods with Laplace noise: each record's gradient is clipped to C in L1 "
            "norm. A small C loses information; a large C needs more noise.",
            equation=r"\hat g_i = g_i \cdot \min(1, C/\lVert g_i\rVert_1)",
            source="Algorithm 1, lines 11 to 13",
        ),
    ] = 30.0
    alpha_min: Annotated[
        float,
        Knob(
            label="Smallest budget ratio",
            symbol=r"\alpha_{\min}",
            bounds=(1e-6, 1.0),
            range=(0.01, 1.0),
            scale="log",
            axis=True,
            help="The least informative neuron would have ratio 0 and infinite noise; no ratio "
            "is below this. At 1 all neurons get the same noise.",
            equation=r"\alpha_q \leftarrow \max(\alpha_q, \alpha_{\min})",
        ),
    ] = 0.05
    relevance_rule: Annotated[
        str,
        Choice(
            label="Relevance rule",
            options=("z_plus", "epsilon"),
            labels=("Positive contributions", "All, with a stabiliser"),
            help="How relevance is passed from layer to layer: along positive contributions "
            "only, or along all contributions with a stabiliser (then its absolute value "
            "is used).",
            source="Bach et al. 2015; Montavon et al. 2017",
        ),
    ] = "z_plus"
    relevance_every: Annotated[
        int,
        Knob(
            label="Steps between relevances",
            symbol=r"T_R",
            bounds=(0, 1_000_000),
            range=(0, 1000),
            help="The budget ratios are computed again after so many steps. 0 means once an epoch.",
            source="Algorithm 1, lines 1 to 7",
        ),
    ] = 0
    sigma_decay: Annotated[
        float,
        Knob(
            label="Noise decay per step",
            symbol=r"\rho",
            bounds=(0.5, 1.0),
            range=(0.99, 1.0),
            help="Smaller moves noise from late to early steps. The total budget stays the same.",
            equation=r"\sigma_t = \sigma_0\,\rho^t",
            source="Zhang et al., WACV 2021",
        ),
    ] = 0.998
    sample_rate: SampleRate = 0.1
    sampling: Annotated[
        str,
        Choice(
            label="Batches",
            options=("poisson", "shuffled"),
            labels=("By coins (Poisson)", "Cut from a shuffled order"),
            help="By coins, nobody knows which steps a record is in, and that lowers the price. "
            "Shuffled batches are what most programs use: each record is in one batch of every "
            "epoch, and no lower price is proved.",
            source="Annamalai et al. 2024, arXiv 2411.10614",
        ),
    ] = "poisson"
    epochs: Epochs = 20.0
    learning_rate: Annotated[
        float,
        Knob(
            label="Learning rate",
            symbol=r"\gamma",
            bounds=(1e-9, 1e6),
            range=(1e-3, 10.0),
            scale="log",
            axis=True,
            help="Larger moves further along the noisy gradient in one step.",
            equation=r"\omega \leftarrow \omega - \gamma(\lambda\omega + \tilde g)",
            source="Algorithm 2",
        ),
    ] = 0.5
    decay: Annotated[
        float,
        Knob(
            label="Weight decay",
            symbol=r"\lambda",
            bounds=(0.0, 10.0),
            range=(0.0, 0.01),
            help="Larger shrinks the weights more in every step. It costs no privacy.",
            equation=r"\omega \leftarrow \omega - \gamma(\lambda\omega + \tilde g)",
            source="Algorithm 2",
        ),
    ] = 1e-4
    momentum: Annotated[
        float,
        Knob(
            label="Momentum",
            symbol="m",
            bounds=(0.0, 0.999),
            range=(0.0, 0.99),
            help="Share of the last step's direction that DP-SGD today keeps. It costs no privacy.",
            equation=r"v \leftarrow m v + \tilde g",
        ),
    ] = 0.9
    plain_rate: Annotated[
        float,
        Knob(
            label="Learning rate without privacy",
            symbol=r"\gamma_0",
            bounds=(1e-9, 1e6),
            range=(1e-3, 1.0),
            scale="log",
            axis=True,
            help="Learning rate of the training without privacy, which clips nothing and has "
            "momentum 0.9.",
            equation=r"v \leftarrow 0.9\,v + g,\quad \omega \leftarrow \omega - \gamma_0 v",
        ),
    ] = 0.05
    plain_lot: Annotated[
        int,
        Knob(
            label="Batch size without privacy",
            symbol=r"|L_0|",
            bounds=(1, 1_000_000),
            range=(16, 1024),
            scale="log",
            help="Expected batch size of the training without privacy. Smaller batches learn "
            "in fewer epochs.",
        ),
    ] = 100
    network: Annotated[
        str,
        Choice(
            label="Network",
            options=("mlp", "cnn"),
            labels=("Linear layers", "Convolutions"),
            help="Linear layers (784-512-256-10 on MNIST), or two convolutions and then linear "
            "layers.",
            source="Section 5",
        ),
    ] = "mlp"
    representation: Annotated[
        str,
        Choice(
            label="Inputs of DP-SGD today",
            options=("scattering", "wavelets", "pixels", "whitened"),
            labels=("Scattering features", "Wavelet features", "Pixels", "Whitened features"),
            help="Fixed features, which use no data, under one linear layer: scattering of second "
            "order, or wavelets (its first order, which images of less than 16 pixels a side "
            "always get). Whitened features are scaled to vary equally in all directions, by "
            "their second moments, which part of the budget pays for. Pixels go through the "
            "network with tanh units.",
            source="Tramer and Boneh 2021; Papernot et al. 2021; Mehta et al. 2022",
        ),
    ] = "scattering"
    moment_share: Annotated[
        float,
        Knob(
            label="Budget for whitening",
            symbol=r"\beta",
            bounds=(0.001, 0.9),
            range=(0.01, 0.5),
            scale="log",
            axis=True,
            help="For whitened features: share of the privacy budget that pays for their second "
            "moments. A larger share whitens more precisely and leaves more noise in every step.",
            equation=r"\sigma_A = \sigma_1(\varepsilon, \delta) / \sqrt{\beta}",
            source="Mehta et al. 2022",
        ),
    ] = 0.1
    bands: Annotated[
        int,
        Knob(
            label="Steps that share noise",
            symbol="b",
            bounds=(1, 256),
            range=(1, 64),
            grid=(1, 2, 4, 8, 16, 32, 64),
            help="For correlated noise: a step takes back part of the noise of so many steps "
            "before it. 1 draws fresh noise in every step. No more than the steps of an epoch "
            "count.",
            equation=r"\tilde g = g + C^{-1} z",
            source="Kalinin and Lampert 2024",
        ),
    ] = 16
    clipping: Annotated[
        str,
        Choice(
            label="Clipping rule",
            options=("flat", "automatic", "adaptive"),
            labels=("At one bound", "Automatic", "Adaptive"),
            help="For DP-SGD today and DP-FTRL. At one bound: longer gradients are cut to C. "
            "Automatic: every gradient gets a length near C, whatever it was. Adaptive: C follows "
            "the gradients; counting the short ones takes 2 % of the budget.",
            source="Abadi et al. 2016; Bu et al. 2023 (AUTO-S); Andrew et al. 2021",
        ),
    ] = "flat"
    clip_quantile: Annotated[
        float,
        Knob(
            label="Share of records below the bound",
            symbol="q",
            bounds=(0.01, 0.99),
            range=(0.1, 0.9),
            help="For adaptive clipping: the bound follows the gradients until this share of them "
            "is shorter. A larger share means a larger bound, so less is cut and more noise is "
            "added.",
            equation=r"C \leftarrow C\,e^{-0.2(\tilde b - q)}",
            source="Andrew et al. 2021",
        ),
    ] = 0.5
    optimiser: Annotated[
        str,
        Choice(
            label="Optimiser of DP-SGD today",
            options=("momentum", "adamw", "adamw_corrected"),
            labels=("Momentum", "AdamW", "AdamW, corrected for noise"),
            help="How the weights follow the noisy gradient. AdamW scales each coordinate by its "
            "past; the correction takes the noise out of that scale. It costs no privacy, and it "
            "needs a smaller learning rate.",
            source="Loshchilov and Hutter 2019; Tang et al. 2023",
        ),
    ] = "momentum"
    delta: Delta = 1e-5


@dataclass(frozen=True)
class Training(Info):
    """What a training run shows as it goes."""

    accuracy: Annotated[
        Column,
        Gauge(
            "Test accuracy",
            "up",
            unit="share",
            help="Share of the test records that are classified correctly.",
        ),
    ]
    loss: Annotated[
        Column,
        Gauge(
            "Test loss",
            "down",
            unit="nats",
            scale="log",
            help="Mean cross-entropy over the test records.",
        ),
    ]
    fraction_clipped: Annotated[
        Column,
        Gauge(
            "Share of records clipped",
            "neither",
            unit="share",
            help="Share of the batch's records whose gradient was longer than C.",
        ),
    ]
    noise_to_signal: Annotated[
        Column,
        Gauge(
            "Noise to signal",
            "down",
            unit="times",
            scale="log",
            help="Root mean square length of the noise, divided by the length of the "
            "batch's clipped sum.",
        ),
    ]
