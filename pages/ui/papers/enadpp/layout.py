"""What the page of this paper adds to the common page, and what it opens with."""

from pages.ui.paper.finding import Saying, guessing
from pages.ui.paper.overlay import CALIBRATION, PRINTED
from pages.ui.paper.pays import shared
from pages.ui.paper.view import PROOF, Layout, Section
from pages.ui.papers.enadpp import budgets as enadpp_budgets
from pages.ui.papers.enadpp import pictures as enadpp_pictures
from pages.ui.papers.enadpp import sections as enadpp
from pages.ui.papers.enadpp.beside import beside

LAYOUT = Layout(
    words=(
        "Private training limits how much each example can change the network and adds noise at "
        "every step. EnADPP adds less noise to the neurons that matter most."
    ),
    says={
        "accuracy": Saying(
            "is right on {} of 100 test records",
            ("test record in 100", "test records in 100"),
            100.0,
            guessing,
            "Test records read wrongly",
            "EnADPP",
            "learns from plain inputs",
        )
    },
    sections=(
        Section("Training curves", enadpp.learning),
        Section("Clipping", enadpp.clipping),
        Section("Noise by neuron", enadpp.neurons),
        Section("Noise and signal", enadpp.layers),
        Section(
            "Two ways to spread the noise",
            enadpp_pictures.figure1,
            side=enadpp_pictures.drag,
            free=enadpp_pictures.relevances,
            wide=True,
        ),
        Section("Which choices help, and which claims to doubt", beside, wide=True),
        Section("Accuracy by class", enadpp_pictures.classes, tab="Pictures"),
        Section(
            "Pixels behind the answers",
            enadpp_pictures.looks,
            side=enadpp_pictures.choose_rule,
            free=enadpp_pictures.rules,
            tab="Pictures",
        ),
        Section("Budget spent by training step", enadpp_budgets.spent, tab=PROOF),
        Section("What the printed noise spends", enadpp_budgets.ledger, tab=PROOF),
        *shared("Pictures"),
    ),
    first=("calibration", "clip"),
    needs={"noise": (CALIBRATION, "rigorous"), "noise_reading": (CALIBRATION, PRINTED)},
    repeats=5,
    budgets=(0.2, 0.4, 1.0, 2.0, 8.0),
    ask_first=("mnist", "fashion"),
    stops=(("clip",),),
)
