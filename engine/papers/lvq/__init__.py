"""Differentially private relevance learning (Brinkrolf, Berger and Hammer 2018)."""

from dataclasses import replace
from functools import partial

from engine.method import Entry, Paper
from engine.papers.lvq.guarantees import descent_guarantee, free_guarantee, sized
from engine.papers.lvq.optimum import MatrixOptimum, Optimum
from engine.papers.lvq.price import free, releases, steps
from engine.papers.lvq.spec import LvqSpec, MatrixUtility, Utility
from engine.training.described import CLASSES

SHARED = ("scaling", "prototypes")
DESCENT = (*SHARED, "sample_rate", "epochs", "rate_w", "averaging")
PRIVATE = (
    *DESCENT,
    "epsilon",
    "calibration",
    "initialisation",
    "share",
    "bound",
    "clip",
    "delta",
)
MATRIX = ("rate_omega", "metric")
PRIVATE_MATRIX = (*MATRIX, "ridge", "split")
PUBLIC_MATRIX = (*MATRIX, "initialisation")
"""Without privacy, which kind of initialisation only says whether there is a covariance."""
LARGE = 14_000
"""From this many records on the cache sets the speed, and few replicas step together."""


def _once(spec: LvqSpec, n: int) -> int:
    return 1


def _chunk_vector(spec: LvqSpec, n: int, device: str) -> int:
    """Measured on two cores: gathering records takes longest, so few large samples at a time."""
    expected = n * spec.sample_rate
    return 64 if device != "cpu" else max(1, min(75, round(60_000 / max(expected, 1.0))))


def _chunk_matrix(spec: LvqSpec, n: int, device: str) -> int:
    """Measured on two cores: one replica's products with a wide Omega fill the cores."""
    return 16 if device != "cpu" else (1 if n >= LARGE else 25)


def _one(spec: LvqSpec, n: int, device: str) -> int:
    """Solved one by one in any case; chunks of one let the error appear as it is found."""
    return 1


def _entry(name: str) -> Entry[LvqSpec]:
    matrix, kind = name.startswith("gmlvq"), name.split("_")[1]
    infos = (Optimum, MatrixOptimum) if kind == "bfgs" else (Utility, MatrixUtility)
    uses = {
        "dp": PRIVATE + (PRIVATE_MATRIX if matrix else ()),
        "sgd": DESCENT + (PUBLIC_MATRIX if matrix else ()),
        "bfgs": SHARED,
    }[kind]
    return Entry.declared(
        __name__,
        name,
        info=infos[matrix],
        steps=_once if kind == "bfgs" else steps,
        releases=partial(releases, matrix) if kind == "dp" else free,
        guarantee=partial(descent_guarantee if kind == "dp" else free_guarantee, matrix),
        sized=partial(sized, matrix) if kind == "dp" else None,
        uses=uses,
        chunk=_one if kind == "bfgs" else (_chunk_matrix if matrix else _chunk_vector),
    )


PAPER: Paper[LvqSpec] = Paper.declared(
    __name__,
    spec=LvqSpec,
    methods=tuple(
        _entry(f"{model}_{kind}") for kind in ("dp", "sgd", "bfgs") for model in ("glvq", "gmlvq")
    ),
    groups=replace(CLASSES, made="engine.papers.lvq.predicted:right"),
)
