"""The papers' tables and figures beside what the same settings give here."""

from pages.ui import reproduce, shell

shell.enter()
reproduce.show()
