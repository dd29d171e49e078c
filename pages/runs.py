"""Everything that the store holds: what was asked, what became of it, and what to do with it."""

from pages.ui.jobs import runs_table
from pages.ui.kit import shell
from pages.ui.paper import defaults

shell.enter()
runs_table.show(defaults.link)
