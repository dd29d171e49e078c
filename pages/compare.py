"""Finished runs of several papers and methods on one chart."""

from pages.ui.compare import page as compare
from pages.ui.kit import shell

shell.enter()
compare.show()
