"""The mean of a column and its histogram (Dwork et al. 2006): the smallest complete paper."""

from engine.method import Entry, Paper
from engine.papers.mean import guarantees, price
from engine.papers.mean.arrays import ARRAYS, RAW
from engine.papers.mean.groups import GROUPS
from engine.papers.mean.spec import Estimates, MeanSpec

PRIVATE = ("column", "bound", "records", "epsilon", "share")

PAPER = Paper(
    slug="mean",
    title="Mean and histogram of a column",
    citation="Dwork, McSherry, Nissim and Smith (2006), Calibrating noise to sensitivity in "
    "private data analysis, TCC, https://doi.org/10.1007/11681878_14; for Gaussian noise Dwork "
    "and Roth (2014), The algorithmic foundations of differential privacy, Theorem A.1",
    claim="ε-differential privacy with Laplace noise and (ε, δ)-differential privacy with "
    "Gaussian noise scaled to the sensitivity, for one record replaced.",
    relation=price.RELATION,
    spec=MeanSpec,
    methods=(
        Entry(
            name="laplace",
            label="Laplace",
            summary="Adds Laplace noise to the mean of the clipped column and to every count.",
            module="engine.papers.mean.method:LAPLACE",
            info=Estimates,
            steps=price.one,
            releases=price.laplace_releases,
            guarantee=guarantees.laplace_card,
            witness="engine.papers.mean.witness:ENDS",
            uses=PRIVATE,
            whole=price.LAPLACE_MOVES,
        ),
        Entry(
            name="gaussian",
            label="Gaussian",
            summary="Adds Gaussian noise to the mean of the clipped column and to every count.",
            module="engine.papers.mean.method:GAUSSIAN",
            info=Estimates,
            steps=price.one,
            releases=price.gaussian_releases,
            guarantee=guarantees.gaussian_card,
            witness="engine.papers.mean.witness:ENDS",
            uses=(*PRIVATE, "calibration", "delta"),
            whole=price.GAUSSIAN_MOVES,
        ),
        Entry(
            name="exact",
            label="No privacy, still clipped",
            summary="The mean of the clipped column and its histogram, without noise.",
            module="engine.papers.mean.method:EXACT",
            info=Estimates,
            steps=price.one,
            releases=price.exact_releases,
            guarantee=guarantees.exact_card,
            uses=("column", "bound", "records"),
            role="reference",
        ),
    ),
    datasets=("flchain",),
    gauge="error",
    seeds_split=True,
    arrays=ARRAYS,
    raw=RAW,
    groups=GROUPS,
    estimates="engine.papers.mean.estimates:estimates",
)
