"""What the page of this paper adds to the common page, and what it opens with."""

from pages.ui.paper.finding import Saying
from pages.ui.paper.pays import shared
from pages.ui.paper.view import Layout, Section
from pages.ui.papers.survival import compared as survival_compared
from pages.ui.papers.survival import costs as survival_costs
from pages.ui.papers.survival import people as survival_people
from pages.ui.papers.survival import sampler as survival_sampler
from pages.ui.papers.survival import sections as survival

LAYOUT = Layout(
    words=(
        "A survival model estimates how long until an event happens, given what is known about a "
        "person. Noise in its parameters hides whether any one person was in the data."
    ),
    says={
        "concordance": Saying(
            "ranks {} of 100 pairs right",
            ("pair in 100", "pairs in 100"),
            100.0,
            lambda data: 0.5,
            "Pairs ranked wrongly",
            "the paper's output noise",
        ),
        "mre": Saying("is off by {} times the size of the answer"),
    },
    story=survival.story,
    sections=(
        Section(
            "What it means for people",
            survival.people,
            survival_people.describe,
            survival_people.names,
            wide=True,
            tab="People",
        ),
        Section("Noise and signal", survival.noise),
        Section("What each covariate does", survival.ratios, wide=True, tab="People"),
        Section("Do two groups differ?", survival_compared.compared, wide=True, tab="People"),
        Section(
            "Cost before training",
            survival_costs.before,
            side=survival_costs.try_out,
            free=survival_costs.free,
            wide=True,
        ),
        Section("What the sanitiser changes", survival_sampler.sanitiser),
        Section("Progress of the chain", survival_sampler.trace),
        Section("Draws of the samplers", survival_sampler.posterior, wide=True),
        *shared("People", quotes=False),
    ),
    shows="People",
    gauge="concordance",
    method="dp_newton",
    sketch=3,
    first=("calibration", "intervals", "regularisation"),
    by_hand=("psgld", "exact", "out_pert_gauss", "obj_pert_gauss"),
    quick=("out_pert", "km_dp", "log_rank", "out_pert_gauss"),
    opens=("obj_pert", "obj_pert_gauss", "dp_gd", "dp_newton", "cox_dp"),
    stops=(("intervals",), ("regularisation",)),
)
