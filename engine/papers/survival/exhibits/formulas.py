"""Table 1 and Figures 1 and 2 of Nguyen and Hui (2017): what needs no run."""

import math
from collections.abc import Callable, Mapping
from statistics import NormalDist

import numpy as np

from datasets import catalog
from engine.papers.survival.exhibits.tables import DATASETS, label
from engine.runs.exhibit import Cell, Exhibit
from engine.runs.job import Job
from engine.runs.results import Results

TABLE1 = {
    "FL": (7874, 2169, 8),
    "TB": (16116, 1761, 3),
    "WT": (21685, 18615, 3),
    "SB": (53558, 16341, 3),
}
LINKS: dict[str, Callable[[float], float]] = {
    "logit": lambda x: math.log(x / (1.0 - x)),
    "cloglog": lambda x: math.log(-math.log1p(-x)),
    "probit": NormalDist().inv_cdf,
}
"""The links g of Section 3.1, as functions of a hazard rate."""
EDGE = 4.0
"""The vertical axis of Figure 1 ends at plus and minus this."""


def _none(full: bool) -> dict[str, Job]:
    """A formula needs no run."""
    return {}


def _table1(results: Mapping[str, Results]) -> tuple[Cell, ...]:
    """Sizes from the cards of the data sets."""
    cells = []
    for name, printed in TABLE1.items():
        card = catalog.card(DATASETS[name])
        ours = (card.records, card.events or 0, len(card.features))
        for column, theirs, mine in zip(
            ("size", "uncensored", "explanatory variables"), printed, ours, strict=True
        ):
            cells.append(Cell(label(name), column, "", float(theirs), float(mine), None, ""))
    return tuple(cells)


def _figure1(results: Mapping[str, Results]) -> tuple[Cell, ...]:
    """Each link by hazard rate, as far as the paper's axis goes."""
    return tuple(
        Cell(name, f"{x:.3g}", "", None, value, None, "")
        for name, link in LINKS.items()
        for x in np.linspace(0.01, 0.99, 99)
        if abs(value := link(float(x))) <= EDGE
    )


def _figure2(results: Mapping[str, Results]) -> tuple[Cell, ...]:
    """The sanitiser at v = 20 and the identity."""
    curves: dict[str, Callable[[float], float]] = {
        "y = C₂₀(x)": lambda x: 20.0 * math.tanh(x / 20.0),
        "y = x": lambda x: x,
    }
    return tuple(
        Cell(name, f"{x:g}", "", None, curve(float(x)), None, "")
        for name, curve in curves.items()
        for x in range(0, 41)
    )


TABLE = (
    Exhibit(
        name="table1",
        title="Table 1",
        caption="Sizes of the data sets. SB is simulated unless the publisher's file is at hand; "
        "its number of events is then drawn to the paper's figure.",
        quantity="Records, events and covariates",
        better="",
        jobs=_none,
        cells=_table1,
        digits=0,
    ),
)
FORMULAS = (
    Exhibit(
        name="figure1",
        title="Figure 1",
        caption="The three links on the paper's axes: hazard rate from 0 to 1, link from −4 to 4. "
        "Logit and complementary log-log are nearly the same at small hazards.",
        quantity="Link g(x)",
        better="",
        jobs=_none,
        cells=_figure1,
        axis="Hazard rate x",
    ),
    Exhibit(
        name="figure2",
        title="Figure 2",
        caption="The sanitiser with largest value 20 and the identity.",
        quantity="Sanitised loss",
        better="",
        jobs=_none,
        cells=_figure2,
        axis="Loss",
    ),
)
