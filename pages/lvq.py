"""The page of private relevance learning."""

from pages.ui.paper import page as paper

paper.show("lvq")
