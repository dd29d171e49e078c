"""What the page of this paper adds to the common page, and what it opens with."""

from pages.ui.paper.view import Layout, Section
from pages.ui.papers.pcdbn import degrees as pcdbn_degrees
from pages.ui.papers.pcdbn import formulas as pcdbn_formulas
from pages.ui.papers.pcdbn import sections as pcdbn

LAYOUT = Layout(
    words=(
        "A network learns small filters, such as strokes and edges, and reads digits by them. "
        "Most private training adds noise at every step, so that learning longer costs more "
        "privacy. The idea here: put the noise once into the formula that is learned from, and "
        "then learn for as long as one likes."
    ),
    sections=(
        Section("As training goes", pcdbn.learning),
        Section("Budget spent by epoch", pcdbn.spent),
        Section("By degree of the polynomial", pcdbn_degrees.degrees),
        Section("Three ways to add the noise", pcdbn.calibrations, wide=True),
        Section(
            "Polynomials in place of the activation",
            pcdbn_formulas.polynomials,
            side=pcdbn_formulas.try_out,
            free=pcdbn_formulas.names,
        ),
        Section("How far off, and what Lemma 3 says", pcdbn_formulas.bounds),
        Section("What the filters look for", pcdbn.pictures, wide=True),
        Section("How far one image can move the formula", pcdbn_formulas.sensitivities, wide=True),
        Section("Noise beside signal", pcdbn.ratios, wide=True),
    ),
    more=(
        *("moment_share", "matrix_share", "dimensions", "layer_share", "pretraining"),
        *("pretraining_rate", "learning_rate", "batch", "hidden", "sample_rate"),
        *("sgd_epochs", "clip", "gradient_rate", "delta"),
    ),
    repeats=5,
    budgets=(0.5, 1.0, 2.0, 4.0, 8.0),
    budget=2.0,
    beside=pcdbn_degrees.beside,
    ask_first=("mnist",),
)
