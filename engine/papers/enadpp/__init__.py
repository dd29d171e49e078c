"""Entropy-adaptive differential privacy for SGD (Zhang et al. 2023), and its rivals."""

from collections.abc import Callable
from functools import partial

from engine.method import Entry, Paper
from engine.papers.enadpp import guarantees, price
from engine.papers.enadpp.spec import EnadppSpec, Training
from engine.papers.enadpp.variants import VARIANTS
from engine.training.described import CLASSES, model

SMALL = 10_000
"""Up to so many records the networks are small, and overhead rules on a processor."""

TRAINING = ("sample_rate", "epochs", "learning_rate", "decay", "network")
GAUSSIAN = ("epsilon", "delta", "clip", "sampling", *TRAINING)
CORRELATED = ("epsilon", "delta", "clip", *TRAINING)
MODERN = ("momentum", "representation", "moment_share", "clipping", "clip_quantile")
PLAIN = ("epochs", "decay", "network", "plain_rate", "plain_lot")
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


def _entry(
    name: str, *uses: str, steps: Callable[[EnadppSpec, int], int] = price.steps
) -> Entry[EnadppSpec]:
    return Entry.declared(
        __name__,
        name,
        info=Training,
        steps=steps,
        releases=partial(price.releases, VARIANTS[name]),
        guarantee=partial(guarantees.guarantee, VARIANTS[name]),
        uses=uses,
        chunk=chunk,
    )


PAPER: Paper[EnadppSpec] = Paper.declared(
    __name__,
    spec=EnadppSpec,
    methods=(
        _entry("enadpp", *ADAPTIVE),
        _entry("adppl", *ADAPTIVE),
        _entry("appdl", *GAUSSIAN, "sigma_decay"),
        _entry("psgd", *GAUSSIAN),
        _entry("non_private", *PLAIN, steps=price.plain_steps),
        _entry("dpsgd", *GAUSSIAN, *MODERN, "optimiser"),
        _entry("dp_ftrl", *CORRELATED, *MODERN, "bands"),
    ),
    model=model,
    groups=CLASSES,
    estimates="engine.training.described:estimates",
)
