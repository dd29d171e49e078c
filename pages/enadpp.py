"""The page of entropy-adaptive noise for SGD."""

from pages.ui.paper import page as paper

paper.show("enadpp")
