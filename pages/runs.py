"""Everything that the store holds: what was asked, what became of it, and what to do with it."""

from pages.ui import shelf, shell

shell.enter()
shelf.show()
