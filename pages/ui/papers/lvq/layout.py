"""What the page of this paper adds to the common page, and what it opens with."""

from pages.ui.paper.finding import Saying, guessing
from pages.ui.paper.pays import shared
from pages.ui.paper.view import PROOF, Layout, Section
from pages.ui.papers.lvq import costs as lvq_costs
from pages.ui.papers.lvq import sections as lvq

LAYOUT = Layout(
    words=(
        "The model keeps a few prototypes per class and assigns each record to the nearest one. A "
        "prototype can end up almost identical to a training record, so noise is added to hide it."
    ),
    says={
        "error": Saying(
            "is wrong on {} of 100 test records",
            ("test record in 100", "test records in 100"),
            100.0,
            lambda data: 1 - guessing(data),
            own="private GLVQ",
        )
    },
    sections=(
        Section("Training curves", lvq.learning),
        Section("Prototypes with and without noise", lvq.prototypes, tab="Pictures"),
        Section("Features that GMLVQ uses", lvq.relevance, tab="Pictures"),
        Section("Records and prototypes on a map", lvq.plane, tab="Pictures"),
        Section("Clipping", lvq_costs.clipping),
        Section("Do prototypes reveal records?", lvq_costs.memory, tab=PROOF),
        Section(
            "Is the printed noise enough?", lvq_costs.printed, side=lvq_costs.presets, tab=PROOF
        ),
        *shared("Pictures"),
    ),
    first=("calibration", "clip", "sample_rate"),
    repeats=5,
    quick=("glvq_dp",),
    sketch=3,
    budgets=(0.1, 0.25, 0.5, 0.75, 1.0, 1.5, 2.5, 4.0, 8.0),
    ask_first=("mnist", "har"),
    last=("gmlvq_bfgs",),
    stops=(("clip",), ("sample_rate",)),
)
