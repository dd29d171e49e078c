"""Knobs of today's private descent: how gradients are clipped and what weights do with them."""

from typing import Annotated

from engine.core.spec import Choice, Knob

ClippingRule = Annotated[
    str,
    Choice(
        label="Clipping rule",
        options=("flat", "automatic", "adaptive"),
        labels=("At one bound", "Automatic", "Adaptive"),
        help="For DP-SGD today and DP-FTRL. At one bound: longer gradients are cut to C. "
        "Automatic: every gradient gets a length near C, whatever it was. Adaptive: C follows the "
        "gradients; counting the short ones takes 2 % of the budget.",
        source="Abadi et al. 2016; Bu et al. 2023 (AUTO-S); Andrew et al. 2021",
    ),
]
ClipQuantile = Annotated[
    float,
    Knob(
        label="Share of records below the bound",
        symbol="q",
        bounds=(0.01, 0.99),
        range=(0.1, 0.9),
        help="For adaptive clipping: the bound follows the gradients until this share of them is "
        "shorter. A larger share means a larger bound, so less is cut and more noise is added.",
        equation=r"C \leftarrow C\,e^{-0.2(\tilde b - q)}",
        source="Andrew et al. 2021",
    ),
]
Optimiser = Annotated[
    str,
    Choice(
        label="Optimiser of DP-SGD today",
        options=("momentum", "adamw", "adamw_corrected"),
        labels=("Momentum", "AdamW", "AdamW, corrected for noise"),
        help="How the weights follow the noisy gradient. AdamW scales each coordinate by its past; "
        "the correction takes the noise out of that scale. It costs no privacy, and it needs a "
        "smaller learning rate.",
        source="Loshchilov and Hutter 2019; Tang et al. 2023",
    ),
]
MomentShare = Annotated[
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
]
