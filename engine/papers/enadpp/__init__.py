"""Entropy-adaptive differential privacy for SGD (Zhang et al. 2023), and its rivals."""

from collections.abc import Callable
from functools import partial
from typing import Literal

from engine.core.spec import Value
from engine.method import Entry, Paper
from engine.papers.enadpp import guarantees, price
from engine.papers.enadpp.arrays import ARRAYS, RAW
from engine.papers.enadpp.spec import EnadppSpec, Training
from engine.papers.enadpp.variants import VARIANTS, Variant
from engine.training.described import CLASSES, model

SMALL = 10_000
"""Up to so many records the networks are small, and overhead rules on a processor."""

TRAINING = ("sample_rate", "epochs", "learning_rate", "decay", "network")
SETTINGS: dict[str, dict[str, Value]] = {
    "digits": {"representation": "whitened", "momentum": 0.5},
    "mnist": {"representation": "whitened"},
    "fashion": {"representation": "whitened"},
}
"""Chosen on a held-out part of the records that are trained on, never on test records: of MNIST the
last 10,000 of the training part, of digits a fifth of it. Fashion-MNIST takes those of MNIST."""

GAUSSIAN = ("epsilon", "delta", "clip", "sampling", *TRAINING)
CORRELATED = ("epsilon", "delta", "clip", *TRAINING)
MODERN = ("momentum", "representation", "moment_share", "clipping", "clip_quantile")
ADAPTIVE = (
    *("epsilon", "delta", "calibration", "noise_reading", "noise", "clip", "clip_l1"),
    *("alpha_min", "relevance_rule", "relevance_every", "sampling", *TRAINING),
)


def chunk(spec: EnadppSpec, n: int, device: str) -> int:
    """All replicas at once, but few where a processor's caches or a card's memory rule.

    Measured on two cores against one by one: 64-64-10 takes 0.38 of the time in 21s;
    784-512-256-10 takes 0.91 in pairs, 0.87 in fours, 0.89 in 21s and, since two cores
    share them badly, 1.16 in threes; convolutions take 2.2 in pairs.
    """
    if device != "cpu":
        return 32 if n > SMALL else 256
    if spec.network == "cnn":
        return 1
    return 4 if n > SMALL else 256


def _witness(variant: Variant) -> str:
    if not variant.private:
        return ""
    return f"engine.papers.enadpp.witness:{'CYCLIC' if variant.correlated else 'WHITE'}"


def _entry(
    name: str,
    label: str,
    summary: str,
    uses: tuple[str, ...],
    role: Literal["paper", "rival", "reference", "beyond"] = "rival",
    steps: Callable[[EnadppSpec, int], int] = price.steps,
) -> Entry[EnadppSpec]:
    return Entry(
        name=name,
        label=label,
        summary=summary,
        module=f"engine.papers.enadpp.methods:{name.upper()}",
        info=Training,
        steps=steps,
        releases=partial(price.releases, VARIANTS[name]),
        guarantee=partial(guarantees.guarantee, VARIANTS[name]),
        uses=uses,
        role=role,
        chunk=chunk,
        witness=_witness(VARIANTS[name]),
    )


PAPER = Paper(
    slug="enadpp",
    title="Entropy-adaptive noise for SGD",
    citation="Zhang, Yang, Guo, Yu, Wang, Zhang (2023), Adaptive Differential Privacy Mechanism "
    "Based on Entropy Theory for Preserving Deep Neural Networks, Mathematics 11(2), 330, "
    "https://doi.org/10.3390/math11020330",
    claim="ε-differential privacy of each training step on one batch, for one record replaced.",
    relation="replace_one",
    spec=EnadppSpec,
    methods=(
        _entry(
            "enadpp",
            "EnADPP",
            "Adds Laplace noise to clipped gradients, less for neurons whose "
            "relevance carries more information.",
            ADAPTIVE,
            "paper",
        ),
        _entry(
            "adppl",
            "ADPPL",
            "Adds Laplace noise to clipped gradients, less for neurons with larger relevance.",
            ADAPTIVE,
        ),
        _entry(
            "appdl",
            "APPDL",
            "Adds Gaussian noise to clipped gradients, less from step to step.",
            (*GAUSSIAN, "sigma_decay"),
        ),
        _entry(
            "psgd",
            "pSGD",
            "Adds Gaussian noise to clipped gradients, equally in every step.",
            GAUSSIAN,
        ),
        _entry(
            "non_private",
            "No privacy",
            "Stochastic gradient descent with momentum and small batches, without "
            "noise or clipping.",
            ("epochs", "decay", "network", "plain_rate", "plain_lot"),
            "reference",
            price.plain_steps,
        ),
        _entry(
            "dpsgd",
            "DP-SGD today",
            "Adds Gaussian noise with exact accounting, large batches, momentum and "
            "fixed image features: today's best practice.",
            (*GAUSSIAN, *MODERN, "optimiser"),
            "beyond",
        ),
        _entry(
            "dp_ftrl",
            "DP-FTRL",
            "Adds Gaussian noise that later steps partly take back, with batches cut from one "
            "fixed order: no gain from sampling is needed.",
            (*CORRELATED, *MODERN, "bands"),
            "beyond",
        ),
    ),
    datasets=("digits", "mnist", "fashion", "adni"),
    gauge="accuracy",
    opening={"noise": "gaussian", "alpha_min": 0.8},
    settings=SETTINGS,
    exhibits="engine.papers.enadpp.exhibits",
    own="classes",
    arrays=ARRAYS,
    raw=RAW,
    model=model,
    groups=CLASSES,
    estimates="engine.training.described:estimates",
)
