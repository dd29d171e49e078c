"""The page of private survival regression."""

from pages.ui import paper, survival
from pages.ui.view import Layout, Section

paper.show(
    "survival",
    Layout(
        sections=(
            Section("What it means for people", survival.people, survival.names),
            Section("Noise beside signal", survival.noise),
            Section("What each covariate does", survival.ratios),
        ),
        more=("knots", "solver", "delta"),
    ),
)
