"""Private convolutional deep belief networks (Phan et al. 2017)."""

from engine.method import Entry, Paper
from engine.papers.dbn.pcdbn import guarantees, price
from engine.papers.dbn.pcdbn.arrays import ARRAYS, RAW
from engine.papers.dbn.pcdbn.described import model
from engine.papers.dbn.pcdbn.spec import Digits, PcdbnSpec
from engine.papers.dbn.price import gradient_releases, gradient_steps, reference_releases
from engine.training.described import CLASSES

STRUCTURE = ("filters", "filter_size")
NETWORK = (
    *STRUCTURE,
    "epochs",
    "pretraining",
    "pretraining_rate",
    "learning_rate",
    "batch",
    "hidden",
    "pooling",
    "optimiser",
)
EXPANSION = ("degree", "polynomial", "activation")
PAPER_NOISE = ("epsilon", *NETWORK, "layer_share", "objective")
RIGOROUS = ("moment_share", "matrix_share", "dimensions", "solver", "delta")
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


PAPER = Paper(
    slug="pcdbn",
    title="Convolutional deep belief network",
    citation="Phan, Wu and Dou (2017), Preserving differential privacy in convolutional deep "
    "belief networks, Machine Learning 106, 1681-1704",
    claim="ε-differential privacy of a deep belief network, for one image, at a price that does "
    "not depend on the number of epochs.",
    relation="zero_out_one",
    spec=PcdbnSpec,
    methods=(
        Entry(
            name="pcdbn",
            label="pCDBN",
            summary="Adds noise once to each layer's polynomial energy; with proof, to the "
            "moments from which this energy is computed.",
            module="engine.papers.dbn.pcdbn.methods:PCDBN",
            info=Digits,
            steps=price.pcdbn_steps,
            releases=price.pcdbn_releases,
            guarantee=guarantees.pcdbn_card,
            witness="engine.papers.dbn.pcdbn.witness:MOMENTS",
            uses=("calibration", *PAPER_NOISE, *EXPANSION, *RIGOROUS),
            chunk=_releases,
        ),
        Entry(
            name="pcdbn_te",
            label="pCDBN, Taylor",
            summary="pCDBN as printed, with the Taylor polynomial of tanh.",
            module="engine.papers.dbn.pcdbn.methods:PCDBN_TE",
            info=Digits,
            steps=price.network_steps,
            releases=price.printed_releases,
            guarantee=guarantees.taylor_card,
            witness="engine.papers.dbn.pcdbn.witness:NETWORKS",
            uses=PAPER_NOISE,
            role="rival",
            chunk=_networks,
        ),
        Entry(
            name="pcdbn_pw",
            label="pCDBN, line",
            summary="pCDBN as printed, with a straight line instead of the logistic function.",
            module="engine.papers.dbn.pcdbn.methods:PCDBN_PW",
            info=Digits,
            steps=price.network_steps,
            releases=price.printed_releases,
            guarantee=guarantees.line_card,
            witness="engine.papers.dbn.pcdbn.witness:NETWORKS",
            uses=PAPER_NOISE,
            role="rival",
            chunk=_networks,
        ),
        Entry(
            name="psgd",
            label="pSGD",
            summary="DP-SGD on the same network: adds noise to clipped gradients in every step.",
            module="engine.papers.dbn.pcdbn.psgd",
            info=Digits,
            steps=gradient_steps,
            releases=gradient_releases,
            guarantee=guarantees.psgd_card,
            witness="engine.papers.dbn.pcdbn.witness:BATCHES",
            uses=(
                "epsilon",
                *STRUCTURE,
                "hidden",
                "pooling",
                "sgd_epochs",
                "sample_rate",
                "clip",
                "gradient_rate",
                "delta",
            ),
            role="rival",
            chunk=_batches,
        ),
        Entry(
            name="tcdbn",
            label="TCDBN",
            summary="The network with a polynomial instead of the activation function, without "
            "noise.",
            module="engine.papers.dbn.pcdbn.methods:TCDBN",
            info=Digits,
            steps=price.network_steps,
            releases=reference_releases,
            guarantee=guarantees.reference_card,
            uses=(*NETWORK, *EXPANSION),
            role="reference",
            chunk=_networks,
        ),
        Entry(
            name="cdbn",
            label="CDBN",
            summary="The network with the true activation function, without noise.",
            module="engine.papers.dbn.pcdbn.methods:CDBN",
            info=Digits,
            steps=price.network_steps,
            releases=reference_releases,
            guarantee=guarantees.reference_card,
            uses=(*NETWORK, "activation"),
            role="reference",
            chunk=_networks,
        ),
    ),
    datasets=("digits", "mnist"),
    gauge="accuracy",
    opening={"epsilon": 2.0},
    exhibits="engine.papers.dbn.pcdbn.exhibits",
    own="images",
    arrays=ARRAYS,
    raw=RAW,
    model=model,
    groups=CLASSES,
    estimates="engine.training.described:estimates",
)
