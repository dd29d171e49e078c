"""Where this program keeps what is the user's."""

import os
import sys
from pathlib import Path

from engine.core.errors import StoreError

STORE = "store.sqlite"
"""The file of all runs, in the user's data folder."""


def home() -> Path:
    """The user's data folder: EXPLORER_HOME, or where this system keeps such things."""
    if chosen := os.environ.get("EXPLORER_HOME"):
        return Path(os.path.expanduser(chosen))  # as typed where nobody has that name
    if sys.platform == "win32":
        base = os.environ.get("LOCALAPPDATA", "~/AppData/Local")
    elif sys.platform == "darwin":
        base = "~/Library/Application Support"
    else:
        base = os.environ.get("XDG_DATA_HOME") or "~/.local/share"
    return Path(base).expanduser() / "epsilon-explorer"


def private_folder(folder: Path) -> Path:
    """Makes a folder, and those above it that are missing, for this user alone.

    Raises:
        OSError: It cannot be made, or something else has its name.
        StoreError: This is root, and the folder is in another user's data folder: what root makes
            there shuts that user out.
    """
    for place in (folder, *folder.parents):
        _owned(place / STORE)
    for part in (*reversed(folder.parents), folder):
        if not part.is_dir():
            part.mkdir(mode=0o700, exist_ok=True)
    return folder


def _owned(store: Path) -> None:
    """Refuses root where the store is another user's."""
    if sys.platform == "win32" or os.geteuid() != 0 or not store.exists():
        return
    if owner := store.stat().st_uid:
        raise StoreError(
            f"EXPLORER_HOME: expected user {owner}, who owns {store}, got root: run this as that "
            "user (docs/class.md shows how)"
        )


def private_opener(path: str, flags: int) -> int:
    """For `open(..., opener=private_opener)`: a file that is made is this user's alone."""
    return os.open(path, flags, 0o600)
