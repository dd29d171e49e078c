"""Differentially private relevance learning (Brinkrolf, Berger and Hammer 2018)."""

from dataclasses import replace
from functools import partial

from engine.method import Entry, Paper
from engine.papers.lvq.arrays import ARRAYS, RAW
from engine.papers.lvq.described import model
from engine.papers.lvq.guarantees import descent_guarantee, free_guarantee
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
OPTIMUM = "Finds the optimum on all training records by L-BFGS, without privacy."
LARGE = 14_000
"""From this many records on, caches rule and few replicas step together."""


def _once(spec: LvqSpec, n: int) -> int:
    return 1


def _chunk_vector(spec: LvqSpec, n: int, device: str) -> int:
    """Measured on two cores: gathering records rules, so few large samples at a time."""
    expected = n * spec.sample_rate
    return 64 if device != "cpu" else max(1, min(75, round(60_000 / max(expected, 1.0))))


def _chunk_matrix(spec: LvqSpec, n: int, device: str) -> int:
    """Measured on two cores: one replica's products with a wide Omega fill the cores."""
    return 16 if device != "cpu" else (1 if n >= LARGE else 25)


def _one(spec: LvqSpec, n: int, device: str) -> int:
    """Solved one by one in any case; chunks of one let the error appear as it is found."""
    return 1


def _entry(name: str, label: str, summary: str) -> Entry[LvqSpec]:
    matrix, kind = name.startswith("gmlvq"), name.split("_")[1]
    infos = (Optimum, MatrixOptimum) if kind == "bfgs" else (Utility, MatrixUtility)
    module = "quasi_newton" if kind == "bfgs" else "descent"
    uses = {
        "dp": PRIVATE + (PRIVATE_MATRIX if matrix else ()),
        "sgd": DESCENT + (PUBLIC_MATRIX if matrix else ()),
        "bfgs": SHARED,
    }[kind]
    return Entry(
        name=name,
        label=label,
        summary=summary,
        module=f"engine.papers.lvq.{module}:{name.upper()}",
        info=infos[matrix],
        steps=_once if kind == "bfgs" else steps,
        releases=partial(releases, matrix) if kind == "dp" else free,
        guarantee=descent_guarantee if kind == "dp" else free_guarantee,
        uses=uses,
        role="paper" if kind == "dp" else "reference",
        witness="engine.papers.lvq.witness:CORNER" if kind == "dp" else "",
        chunk=_one if kind == "bfgs" else (_chunk_matrix if matrix else _chunk_vector),
    )


PAPER = Paper(
    slug="lvq",
    title="Private relevance learning (GLVQ and GMLVQ)",
    citation="Brinkrolf, Berger and Hammer (2018), Differential private relevance learning, "
    "ESANN, ISBN 978-287587047-6",
    claim="(ε, δ)-differential privacy of prototypes and relevance matrix together, for one "
    "record added or removed.",
    relation="add_or_remove_one",
    spec=LvqSpec,
    methods=(
        _entry(
            "glvq_dp",
            "GLVQ, private",
            "Starts the prototypes at noisy class means and moves them along clipped, "
            "noisy gradients.",
        ),
        _entry(
            "gmlvq_dp",
            "GMLVQ, private",
            "Like private GLVQ, and also learns a relevance matrix.",
        ),
        _entry(
            "glvq_sgd",
            "GLVQ, SGD",
            "The same start and steps as private GLVQ, without clipping or noise.",
        ),
        _entry(
            "gmlvq_sgd",
            "GMLVQ, SGD",
            "The same start and steps as private GMLVQ, without clipping or noise. Clipped steps "
            "can be better where the unclipped ones are too long.",
        ),
        _entry("glvq_bfgs", "GLVQ, BFGS", OPTIMUM),
        _entry("gmlvq_bfgs", "GMLVQ, BFGS", OPTIMUM),
    ),
    datasets=("digits", "mnist", "segment", "har"),
    gauge="error",
    seeds_split=True,
    exhibits="engine.papers.lvq.exhibits",
    own="classes",
    arrays=ARRAYS,
    raw=RAW,
    model=model,
    scores="engine.papers.lvq.predicted:scores",
    judge="engine.papers.lvq.predicted:judged",
    groups=replace(CLASSES, made="engine.papers.lvq.predicted:right"),
    estimates="engine.papers.lvq.described:estimates",
)
