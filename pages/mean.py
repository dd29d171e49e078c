"""The page of the private mean."""

from pages.ui.paper import page as paper

paper.show("mean")
