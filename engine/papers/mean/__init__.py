"""The mean of a column and its histogram (Dwork et al. 2006): the smallest complete paper."""

from collections.abc import Callable
from functools import partial

from engine.method import Entry, Paper
from engine.papers.mean import guarantees, price
from engine.papers.mean.groups import GROUPS
from engine.papers.mean.spec import Estimates, MeanSpec

PUBLIC = ("column", "bound", "records")
PRIVATE = (*PUBLIC, "epsilon", "share")

_entry: Callable[..., Entry[MeanSpec]] = partial(
    Entry.declared, __name__, info=Estimates, steps=price.one
)

PAPER: Paper[MeanSpec] = Paper.declared(
    __name__,
    spec=MeanSpec,
    methods=(
        _entry(
            name="laplace",
            releases=price.laplace_releases,
            guarantee=guarantees.laplace_card,
            uses=PRIVATE,
            whole=price.LAPLACE_MOVES,
        ),
        _entry(
            name="gaussian",
            releases=price.gaussian_releases,
            guarantee=guarantees.gaussian_card,
            uses=(*PRIVATE, "calibration", "delta"),
            whole=price.GAUSSIAN_MOVES,
        ),
        _entry(
            name="exact",
            releases=price.exact_releases,
            guarantee=guarantees.exact_card,
            uses=PUBLIC,
        ),
    ),
    groups=GROUPS,
)
