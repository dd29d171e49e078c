"""What the page of this paper adds to the common page, and what it opens with."""

from pages.ui.paper.view import Layout

LAYOUT = Layout(
    words=(
        "A private mean cuts large values to a bound and adds noise. A low bound makes the mean "
        "too small, a high bound needs more noise: choose what costs less."
    ),
    more=("share", "delta"),
    repeats=20,
)
