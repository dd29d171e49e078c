"""What the page of this paper adds to the common page, and what it opens with."""

from pages.ui.paper.view import Layout, Section
from pages.ui.papers.enadpp import budgets as enadpp_budgets
from pages.ui.papers.enadpp import pictures as enadpp_pictures
from pages.ui.papers.enadpp import sections as enadpp

LAYOUT = Layout(
    words=(
        "A network learns from examples, to read digits or to tell diagnoses apart. To protect "
        "each example, its pull on the network is cut to a bound and noise is added at every "
        "step. This method adds less noise to the neurons that matter more, and this page "
        "shows what that is worth."
    ),
    sections=(
        Section("As training goes", enadpp.learning),
        Section("What clipping cuts", enadpp.clipping),
        Section("Which neurons get less noise", enadpp.neurons),
        Section("Noise beside signal", enadpp.layers),
        Section(
            "The same relevances, two methods",
            enadpp_pictures.figure1,
            side=enadpp_pictures.drag,
            free=enadpp_pictures.relevances,
            wide=True,
        ),
        Section("Right answers by class", enadpp_pictures.classes),
        Section(
            "What the network looks at",
            enadpp_pictures.looks,
            side=enadpp_pictures.choose_rule,
            free=enadpp_pictures.rules,
        ),
        Section("Budget spent by step", enadpp_budgets.spent),
        Section("What the printed noise really spends", enadpp_budgets.ledger),
    ),
    more=(
        *("sample_rate", "learning_rate", "momentum", "decay", "relevance_rule"),
        *(
            "relevance_every",
            "sigma_decay",
            "representation",
            "plain_rate",
            "plain_lot",
            "delta",
        ),
    ),
    repeats=5,
    budgets=(0.2, 0.4, 1.0, 2.0, 8.0),
    ask_first=("mnist",),
)
