"""Human behaviour in a health social network (Phan et al. 2017, Section 4.1)."""

from dataclasses import replace
from functools import partial

from engine.method import Entry, Paper
from engine.papers.dbn.price import gradient_releases, gradient_steps, reference_releases
from engine.papers.dbn.yesiwell import guarantees, price
from engine.papers.dbn.yesiwell.arrays import ARRAYS, RAW
from engine.papers.dbn.yesiwell.described import model
from engine.papers.dbn.yesiwell.groups import GROUPS
from engine.papers.dbn.yesiwell.spec import Behaviour, YesiwellSpec

DATA = ("task", "history", "window", "persistence", "influence")
OUTPUT = ("epochs", "batch", "dropout", "lasso")
LAYERS = ("bases", "pretraining", "pretraining_rate")
EXPANSION = ("degree", "polynomial")
PRIVATE = ("epsilon", "calibration", "objective", "unit", "delta", "layer_share", "most_friends")
PURE = tuple(field for field in PRIVATE if field != "delta")
RELEASED = ("social", "moment_share", "matrix_share")
NETWORK = (*DATA, *OUTPUT, *LAYERS)
METHODS = "engine.papers.dbn.yesiwell.methods"
WITNESS = "engine.papers.dbn.yesiwell.witness:SOCIABLE"
ALONE = "engine.papers.dbn.yesiwell.witness:ALONE"


def _private(
    name: str, label: str, summary: str, extra: tuple[str, ...] = ()
) -> Entry[YesiwellSpec]:
    """PCDBN with some activation."""
    return Entry(
        name=name,
        label=label,
        summary=summary,
        module=f"{METHODS}:{name.upper()}",
        info=Behaviour,
        steps=price.network_steps,
        releases=price.network_releases,
        guarantee=guarantees.network_card,
        uses=(*PRIVATE, *RELEASED, *NETWORK, *extra),
        role="paper" if name == "pcdbn" else "rival",
        witness=WITNESS,
    )


def _reference(
    name: str, label: str, summary: str, uses: tuple[str, ...], layers: int = 2
) -> Entry[YesiwellSpec]:
    """A network without noise."""
    return replace(
        _private(name, label, summary),
        steps=partial(price.reference_steps, layers=layers),
        releases=reference_releases,
        guarantee=guarantees.reference_card,
        uses=uses,
        role="reference",
        witness="",
    )


PAPER = Paper(
    slug="yesiwell",
    title="Behaviour in a health social network",
    citation="Phan, Wu and Dou (2017), Preserving differential privacy in convolutional deep "
    "belief networks, Machine Learning 106, 1681-1704, Section 4.1",
    claim="ε-differential privacy of a behaviour model, for one window of a user's days, at a "
    "price that does not depend on the number of epochs.",
    relation="zero_out_one",
    spec=YesiwellSpec,
    methods=(
        _private(
            "pcdbn",
            "pCDBN",
            "Two convolutions with friends' influence; noise once, on the polynomial energy or, "
            "with proof, on the moments that it is made of.",
            EXPANSION,
        ),
        _private(
            "pcdbn_te", "pCDBN, Taylor", "pCDBN with the Taylor polynomial of tanh as activation."
        ),
        _private("pcdbn_pw", "pCDBN, line", "pCDBN with a straight line as activation."),
        Entry(
            name="dpah",
            label="dPAH",
            summary="A private auto-encoder: noise once, on its quadratic reconstruction error.",
            module="engine.papers.dbn.yesiwell.encoder",
            info=Behaviour,
            steps=partial(price.network_steps, layers=1),
            releases=price.code_releases,
            guarantee=guarantees.code_card,
            uses=(*PURE, *DATA, *OUTPUT, "pretraining", "code"),
            role="rival",
            witness=ALONE,
        ),
        Entry(
            name="dpsgd",
            label="DP-SGD",
            summary="Logistic regression, or a small network, on a user's own window: noise on "
            "clipped gradients at every step.",
            module="engine.papers.dbn.yesiwell.gradient",
            info=Behaviour,
            steps=gradient_steps,
            releases=gradient_releases,
            guarantee=guarantees.rival_card,
            uses=(
                *("epsilon", "unit", "delta"),
                *DATA,
                *("hidden", "sample_rate", "sgd_epochs", "clip", "gradient_rate"),
            ),
            role="beyond",
            witness=ALONE,
        ),
        _reference(
            "tcdbn",
            "TCDBN",
            "The polynomial in place of the logistic function, without noise.",
            (*NETWORK, *EXPANSION),
        ),
        _reference(
            "cdbn",
            "CDBN",
            "The convolutional deep belief network with the logistic function, without noise.",
            (*NETWORK, "learning_rate"),
        ),
        _reference(
            "sctrbm",
            "SctRBM",
            "A restricted Boltzmann machine of the present time, conditional on the times before "
            "and on friends, without noise.",
            (*DATA, *OUTPUT, "pretraining", "pretraining_rate", "learning_rate"),
            layers=1,
        ),
    ),
    datasets=("yesiwell", "yesiwell_weekly", "yesiwell_large"),
    gauge="accuracy",
    seeds_split=True,
    exhibits="engine.papers.dbn.yesiwell.exhibits",
    arrays=ARRAYS,
    raw=RAW,
    model=model,
    groups=GROUPS,
)
