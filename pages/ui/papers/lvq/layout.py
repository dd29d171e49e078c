"""What the page of this paper adds to the common page, and what it opens with."""

from pages.ui.paper.view import Layout, Section
from pages.ui.papers.lvq import costs as lvq_costs
from pages.ui.papers.lvq import sections as lvq

LAYOUT = Layout(
    words=(
        "One typical example for each class, and whatever is most like it belongs there. "
        "GLVQ learns such prototypes; GMLVQ also learns which features count. A prototype "
        "can look much like somebody's record: noise keeps it from giving that record away."
    ),
    sections=(
        Section("As training goes", lvq.learning),
        Section("Prototypes, with noise and without", lvq.prototypes),
        Section("What GMLVQ looks at", lvq.relevance),
        Section("The map that GMLVQ sees", lvq.plane),
        Section("What clipping cuts", lvq_costs.clipping),
        Section("Do prototypes give records away?", lvq_costs.memory),
        Section("Is the printed noise enough?", lvq_costs.printed, side=lvq_costs.presets),
    ),
    more=(
        *("metric", "scaling", "bound", "ridge", "split", "averaging", "prototypes"),
        "delta",
    ),
    repeats=5,
    budgets=(0.1, 0.25, 0.5, 0.75, 1.0, 1.5, 2.5, 4.0, 8.0),
    ask_first=("mnist", "har"),
    looks=lvq.LOOKS,
    last=("gmlvq_bfgs",),
)
