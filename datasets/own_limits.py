"""How large a table of one's own may be. No library is loaded here: every page says it."""

import os

ROWS, MEGABYTES = "EXPLORER_TABLE_ROWS", "EXPLORER_TABLE_MB"
"""Settings of the most rows and the most megabytes of a table."""


def most(setting: str) -> int:
    """The most rows or megabytes of a table, by default or as the environment says."""
    usual = {ROWS: 1_000_000, MEGABYTES: 200}[setting]
    text = os.environ.get(setting, "")
    return int(text) if text.isdecimal() and int(text) else usual
