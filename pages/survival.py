"""The page of private survival regression."""

from pages.ui.paper import page as paper

paper.show("survival")
