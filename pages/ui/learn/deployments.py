"""Budgets that organisations have published, each with its source."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Deployment:
    """One published budget.

    Attributes:
        who: Organisation.
        what: What is published or collected.
        epsilon: The budget that is stated.
        protects: For what.
    """

    who: str
    what: str
    epsilon: float
    protects: str


LIST = (
    Deployment("Apple", "Which emoji are popular", 4.0, "one user, for one day"),
    Deployment("Apple", "New words that are typed", 16.0, "one user, for one day"),
    Deployment("Apple", "Hints in searches", 8.0, "one user, for one day"),
    Deployment("Apple", "Which kinds of health data are used", 2.0, "one user, for one day"),
)
SOURCE = (
    "Source: Desfontaines, [A list of real-world uses of differential privacy]"
    "(https://desfontain.es/blog/real-world-differential-privacy.html), which names the "
    "publications of each organisation. Apple's phones add the noise before anything is sent."
)
CENSUS = (
    "The US Census Bureau published the 2020 census with differential privacy and describes its "
    "method in Abowd et al. 2022, [The 2020 Census Disclosure Avoidance System TopDown Algorithm]"
    "(https://doi.org/10.1162/99608f92.529e3cb9)."
)
