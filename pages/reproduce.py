"""The papers' tables and figures beside what the same settings give here."""

from pages.ui.exhibits import page as reproduce
from pages.ui.kit import shell

shell.enter()
reproduce.show()
