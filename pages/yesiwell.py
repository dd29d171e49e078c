"""The page of behaviour models in a health social network."""

from pages.ui.paper import page as paper

paper.show("yesiwell")
