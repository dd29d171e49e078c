"""Differential privacy in ten minutes."""

from pages.ui.kit import shell
from pages.ui.learn import page as learn

shell.enter()
learn.show()
