"""Finished runs of several papers and methods on one chart."""

from pages.ui import compare, shell

shell.enter()
compare.show()
