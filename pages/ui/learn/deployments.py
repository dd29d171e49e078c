"""Budgets that organisations have published, each with the text that states it.

They stand in `deployments.yaml`, in the form of the public registry of deployments.
"""

from dataclasses import dataclass
from pathlib import Path

from engine.yours import deployments
from pages.ui import words

UNKNOWN = deployments.UNKNOWN


@dataclass(frozen=True)
class Row:
    """One published budget as the page shows it.

    Attributes:
        who: Organisation.
        what: What is published or collected.
        epsilon: The budget as its source states it; `UNKNOWN` where the source gives none.
        protects: The unit of privacy: for whom or what, and for how long.
        source: Where budget and unit are stated, with a link.
    """

    who: str
    what: str
    epsilon: str
    protects: str
    source: str


def _row(one: deployments.Deployment) -> Row:
    links = [f"[{words.escaped(title)}]({url})" for title, url in one.sources]
    return Row(one.who, one.what, one.epsilon, one.unit, ", ".join(links))


LIST = tuple(
    map(_row, deployments.read(Path(__file__).with_suffix(".yaml").read_text(encoding="utf-8")))
)
NOTE = (
    "δ is 0 or not stated where none is given. *Unknown*: the source's summary gives no ε, and "
    "public lists give different ones. Apple's phones add the noise before anything is sent. The "
    "method of the census: [Abowd et al. 2022](https://doi.org/10.1162/99608f92.529e3cb9). More "
    "budgets: [the public registry](https://registry.opendp.org/)."
)
