"""What the page of this paper adds to the common page, and what it opens with."""

from engine.papers.mean.spec import UNIT
from pages.ui.paper.finding import Saying
from pages.ui.paper.pays import shared
from pages.ui.paper.view import Layout, Section
from pages.ui.papers.mean import sections

LAYOUT = Layout(
    words=(
        "A private mean cuts large values to a bound and adds noise. A low bound makes the mean "
        "too small, a high bound needs more noise: choose what costs less."
    ),
    says={
        name: Saying(f"is off by {{}} {UNIT}", (f"{UNIT} of error",) * 2, own="Gaussian noise")
        for name in ("expected", "error")
    },
    shows="Histogram",
    gauge="expected",
    sections=(
        Section("Histogram of the column", sections.histogram, wide=True, tab="Histogram"),
        Section("Bias by clipping and noise", sections.parts, wide=True),
        *shared("Histogram"),
    ),
    first=("column", "bound", "records"),
    repeats=10,
    quick=("laplace", "gaussian"),
    sketch=3,
    stops=(("bound",), ("records",)),
)
