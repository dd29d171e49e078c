"""Human behaviour in a health social network (Phan et al. 2017, Section 4.1)."""

from collections.abc import Callable
from functools import partial

from engine.method import Entry, Paper
from engine.papers.dbn.price import gradient_releases, gradient_steps, reference_releases
from engine.papers.dbn.yesiwell import guarantees, price
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
PLAIN = ("pretraining", "pretraining_rate", "learning_rate")
DESCENT = ("hidden", "sample_rate", "sgd_epochs", "clip", "gradient_rate")

_entry: Callable[..., Entry[YesiwellSpec]] = partial(Entry.declared, __name__, info=Behaviour)
_network = partial(
    _entry, steps=price.network_steps, releases=price.network_releases,
    guarantee=guarantees.network_card, uses=(*PRIVATE, *RELEASED, *NETWORK),
)  # fmt: skip
_reference = partial(
    _entry, steps=price.reference_steps, releases=reference_releases,
    guarantee=guarantees.reference_card,
)  # fmt: skip

PAPER: Paper[YesiwellSpec] = Paper.declared(
    __name__,
    spec=YesiwellSpec,
    methods=(
        _network(name="pcdbn", uses=(*PRIVATE, *RELEASED, *NETWORK, *EXPANSION)),
        _network(name="pcdbn_te"),
        _network(name="pcdbn_pw"),
        _entry(
            name="dpah",
            steps=partial(price.network_steps, layers=1),
            releases=price.code_releases,
            guarantee=guarantees.code_card,
            uses=(*PURE, *DATA, *OUTPUT, "pretraining", "code"),
        ),
        _entry(
            name="dpsgd",
            steps=gradient_steps,
            releases=gradient_releases,
            guarantee=guarantees.rival_card,
            uses=("epsilon", "unit", "delta", *DATA, *DESCENT),
        ),
        _reference(name="tcdbn", uses=(*NETWORK, *EXPANSION)),
        _reference(name="cdbn", uses=(*NETWORK, "learning_rate")),
        _reference(
            name="sctrbm",
            steps=partial(price.reference_steps, layers=1),
            uses=(*DATA, *OUTPUT, *PLAIN),
        ),
    ),
    model=model,
    groups=GROUPS,
)
