"""Figure 6 on the page: accuracy by the degree of the polynomial."""

from engine.core.spec import Knob, knobs
from engine.runs.job import Job
from pages.ui.paper.swept import Swept
from pages.ui.papers.pcdbn.sections import EXACT, OWN


def orders(job: Job) -> tuple[int, ...]:
    """The degrees at which a method is compared."""
    degree = knobs(type(job.spec()))["degree"]
    assert isinstance(degree, Knob)
    return tuple(int(order) for order in degree.grid)


DEGREES = Swept(
    key="pcdbn.degrees",
    field="degree",
    methods=(OWN, EXACT),
    values=orders,
    symbol="L",
    title="Degree L",
    column="Degree",
    button="Train these degrees",
    caption="A higher degree follows the activation closer but needs more sums, each with its own "
    "noise. With proof, L = 3 releases all fourth moments; L = 2, 5 and 7 release theirs "
    "along six directions. The paper finds no gain beyond L = 3.",
    ticks=(1, 2, 3, 5, 7),
    alone=True,
)
