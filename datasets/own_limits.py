"""How large a table of one's own may be. No library is loaded here: every page says it."""

from engine.core import settings

ROWS, MEGABYTES = "EXPLORER_TABLE_ROWS", "EXPLORER_TABLE_MB"
"""Settings of the most rows and the most megabytes of a table."""


def most(setting: str) -> int:
    """The most rows or megabytes of a table, by default or as the environment says.

    Raises:
        RequestError: The environment says something else than a positive whole number.
    """
    return settings.whole(setting, {ROWS: 1_000_000, MEGABYTES: 200}[setting])
