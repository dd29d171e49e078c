"""What the page of this paper adds to the common page, and what it opens with."""

from pages.ui.paper.view import Layout, Section
from pages.ui.papers.survival import costs as survival_costs
from pages.ui.papers.survival import sampler as survival_sampler
from pages.ui.papers.survival import sections as survival

LAYOUT = Layout(
    words=(
        "How long until it happens? A survival model says, from what is known of a person, how "
        "likely the event is to have stayed away so far. Noise in its parameters keeps anyone "
        "from telling whose records it was fitted to."
    ),
    sections=(
        Section("What it means for people", survival.people, survival.describe, survival.names),
        Section("Noise beside signal", survival.noise),
        Section("What each covariate does", survival.ratios, wide=True),
        Section(
            "Before anything trains",
            survival_costs.before,
            side=survival_costs.try_out,
            free=survival_costs.free,
            wide=True,
        ),
        Section("What the sanitiser bends", survival_sampler.sanitiser),
        Section("As the chain goes", survival_sampler.trace),
        Section("What the samplers draw", survival_sampler.posterior, wide=True),
    ),
    more=(
        *("link", "solver", "delta", "steps", "clip", "samples"),
        *("burn_in", "sampler_epochs", "minibatch", "step_scale"),
    ),
    by_hand=("psgld", "exact"),
)
