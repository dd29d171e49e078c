"""What the page of this paper adds to the common page, and what it opens with."""

from pages.ui.paper.finding import Saying, guessing
from pages.ui.paper.pays import shared
from pages.ui.paper.view import PROOF, Layout, Section
from pages.ui.papers.pcdbn import formulas as pcdbn_formulas
from pages.ui.papers.pcdbn import sections as pcdbn
from pages.ui.papers.pcdbn import story
from pages.ui.papers.pcdbn.degrees import DEGREES

LAYOUT = Layout(
    words=(
        "A deep belief network learns small filters and reads digits with them. The idea: add "
        "noise once, to the training objective. After that, training longer costs no more privacy."
    ),
    says={
        "accuracy": Saying(
            "is right on {} of 100 test images",
            ("test image in 100", "test images in 100"),
            100.0,
            guessing,
            "Test images read wrongly",
            "pCDBN",
        )
    },
    story=story.story,
    sections=(
        Section("Training curves", pcdbn.learning),
        Section("Budget spent by epoch", pcdbn.spent, tab=PROOF),
        Section("Accuracy by degree of the polynomial", DEGREES.section),
        Section("Three ways to add the noise", pcdbn.calibrations, wide=True, tab=PROOF),
        Section(
            "Polynomials that replace the activation",
            pcdbn_formulas.polynomials,
            side=pcdbn_formulas.try_out,
            free=pcdbn_formulas.names,
        ),
        Section("Error of the polynomial and Lemma 3", pcdbn_formulas.bounds),
        Section("Filters and what they respond to", pcdbn.pictures, wide=True, tab="Pictures"),
        Section(
            "Sensitivity: how much one image changes the objective",
            pcdbn_formulas.sensitivities,
            wide=True,
        ),
        Section("Noise and signal", pcdbn.ratios, wide=True),
        *shared("Pictures"),
    ),
    first=("calibration", "degree", "polynomial"),
    repeats=5,
    last=("psgd",),
    budgets=(0.5, 1.0, 2.0, 4.0, 8.0),
    beside=lambda jobs: {**DEGREES.beside(jobs), **story.beside(jobs)},
    ask_first=("mnist",),
    stops=(("degree",), ("polynomial",)),
)
