"""Where this program keeps what is the user's."""

import os
import sys
from pathlib import Path


def home() -> Path:
    """The user's data folder: EXPLORER_HOME, or where this system keeps such things."""
    if chosen := os.environ.get("EXPLORER_HOME"):
        return Path(chosen)
    if sys.platform == "win32":
        base = os.environ.get("LOCALAPPDATA", "~/AppData/Local")
    elif sys.platform == "darwin":
        base = "~/Library/Application Support"
    else:
        base = os.environ.get("XDG_DATA_HOME") or "~/.local/share"
    return Path(base).expanduser() / "epsilon-explorer"
