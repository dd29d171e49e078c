"""What a reference line shows beside the usual: whether the solver came to an end. No torch."""

from dataclasses import dataclass
from typing import Annotated

from engine.core.gauges import Column, Gauge
from engine.papers.lvq.spec import MatrixUtility, Utility

Converged = Annotated[
    Column,
    Gauge(
        "Solver converged",
        "up",
        help="1 where the solver reached a minimum; 0 where it stopped before, so that the line is "
        "the best it found and not the optimum. The cost has kinks where its gradient never "
        "vanishes. The solver smooths them, which raises the cost by at most 0.001 times the "
        "logarithm of the number of wrong prototypes.",
    ),
]


@dataclass(frozen=True)
class Optimum(Utility):
    """GLVQ's optimum."""

    converged: Converged


@dataclass(frozen=True)
class MatrixOptimum(MatrixUtility):
    """GMLVQ's optimum."""

    converged: Converged
