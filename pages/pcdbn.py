"""The page of the private convolutional deep belief network."""

from pages.ui.paper import page as paper

paper.show("pcdbn")
