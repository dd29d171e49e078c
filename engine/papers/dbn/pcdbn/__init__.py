"""Private convolutional deep belief networks (Phan et al. 2017)."""

from collections.abc import Callable
from functools import partial
from typing import Any

from datasets.base import Card
from engine.core import declared
from engine.method import Entry, Paper
from engine.papers.dbn.pcdbn import guarantees, price
from engine.papers.dbn.pcdbn.spec import Digits, PcdbnSpec
from engine.papers.dbn.price import gradient_releases, gradient_steps, reference_releases
from engine.training import described

STRUCTURE = ("filters", "filter_size")
NETWORK = (
    *(*STRUCTURE, "epochs", "pretraining", "pretraining_rate", "learning_rate", "batch"),
    *("hidden", "pooling", "optimiser"),
)
EXPANSION = ("degree", "polynomial", "activation")
PAPER_NOISE = ("epsilon", *NETWORK, "layer_share", "objective")
RIGOROUS = ("moment_share", "matrix_share", "dimensions", "solver", "delta")
DESCENT = ("sgd_epochs", "sample_rate", "clip", "gradient_rate", "delta")
TOGETHER = 11
"""Replicas with proof in one chunk: a page's curve of 25 and a grid of 21 are tasks for two
workers. Replicas of other budgets share no pass over the data, so nothing is computed twice."""
LARGE = 10_000
"""Records from which one replica's features fill a good part of the memory."""


def _networks(spec: PcdbnSpec, n: int, device: str) -> int:
    """Replicas in one chunk: features of one replica are 3,136 numbers per record."""
    return 1 if n >= LARGE else 4


def _releases(spec: PcdbnSpec, n: int, device: str) -> int:
    """Replicas that differ in the classifier's share alone share passes; networks share none."""
    return _networks(spec, n, device) if spec.calibration != "rigorous" else TOGETHER


def _batches(spec: PcdbnSpec, n: int, device: str) -> int:
    """Replicas of pSGD in one chunk: convolutions of one replica fill the processor."""
    return 1 if n >= LARGE else 8


def _model(spec: PcdbnSpec, card: Card) -> dict[str, Any]:
    """The split, what the numbers of each layer stand for, and how a class is predicted."""
    said = declared.kind(__name__, "model")
    return {**described.model(spec, card), "activation": spec.activation, **said}


_entry: Callable[..., Entry[PcdbnSpec]] = partial(Entry.declared, __name__, info=Digits)
_printed = partial(
    _entry, steps=price.network_steps, releases=price.printed_releases, uses=PAPER_NOISE,
    chunk=_networks,
)  # fmt: skip
_reference = partial(_printed, releases=reference_releases, guarantee=guarantees.reference_card)

PAPER: Paper[PcdbnSpec] = Paper.declared(
    __name__,
    spec=PcdbnSpec,
    methods=(
        _entry(
            name="pcdbn",
            steps=price.pcdbn_steps,
            releases=price.pcdbn_releases,
            guarantee=guarantees.pcdbn_card,
            uses=("calibration", *PAPER_NOISE, *EXPANSION, *RIGOROUS),
            chunk=_releases,
        ),
        _printed(name="pcdbn_te", guarantee=guarantees.taylor_card),
        _printed(name="pcdbn_pw", guarantee=guarantees.line_card),
        _entry(
            name="psgd",
            steps=gradient_steps,
            releases=gradient_releases,
            guarantee=guarantees.psgd_card,
            uses=("epsilon", *STRUCTURE, "hidden", "pooling", *DESCENT),
            chunk=_batches,
        ),
        _reference(name="tcdbn", uses=(*NETWORK, *EXPANSION)),
        _reference(name="cdbn", uses=(*NETWORK, "activation")),
    ),
    model=_model,
    groups=described.CLASSES,
    estimates="engine.training.described:estimates",
)
