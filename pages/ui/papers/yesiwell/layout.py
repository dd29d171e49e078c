"""What the page of this paper adds to the common page, and what it opens with."""

from pages.ui.paper.finding import Saying, guessing
from pages.ui.paper.pays import shared
from pages.ui.paper.view import DATA, PROOF, Layout, Section
from pages.ui.papers.yesiwell import network, sections
from pages.ui.papers.yesiwell.amounts import AMOUNTS

LAYOUT = Layout(
    words=(
        "In a health social network, motivation spreads among friends. A model predicts who will "
        "exercise more next. One user has many windows of days and changes friends' windows too, "
        "so protecting a user takes more noise than protecting one window. All data are simulated "
        "unless you supply files of your own."
    ),
    says={
        "accuracy": Saying(
            "is right about {} of 100 users",
            ("user in 100", "users in 100"),
            100.0,
            guessing,
            "Users predicted wrongly",
            "pCDBN",
        )
    },
    shows="Network",
    sections=(
        Section(
            "Friendships and predictions",
            network.friendships,
            free=network.names,
            wide=True,
            tab="Network",
            picks=True,
        ),
        Section("Accuracy by epoch, with power fits", sections.learning),
        Section("Accuracy by number of training times M", AMOUNTS.section),
        Section("Are the predicted chances right?", sections.calibration),
        Section("Who is predicted worse?", sections.by_friends),
        Section("Paired t-tests", sections.tests, wide=True),
        Section("What one record changes", sections.units, wide=True, tab=PROOF),
        Section("The best possible accuracy", sections.ceiling, wide=True, tab=DATA),
        *shared("Network", quotes=False),
    ),
    first=("calibration", "degree"),
    repeats=5,
    budgets=(0.1, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0),
    beside=AMOUNTS.beside,
    ask_first=("yesiwell_large",),
    stops=(("degree",),),
)
