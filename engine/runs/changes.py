"""When the code behind a paper's numbers was last changed, so that older runs can be told.

A run is named by what was asked for and by the engine's version, not by every line of code: after
an update within a version the store still answers with what was computed before it.
"""

import functools
from pathlib import Path

ENGINE = Path(__file__).parents[1]
SHARED = (
    "core/batch.py",
    "runs/driver.py",
    "privacy/mechanisms.py",
    "privacy/noise.py",
    "privacy/releases.py",
    "training",
)
"""What every method's numbers come from."""
ASIDE = ("__init__.py", "exhibits.py")
"""What lists and shows numbers and computes none."""


@functools.cache
def changed(paper: str) -> float:
    """Unix time of the last change in what computes a paper's numbers.

    That is when its files were last written on this machine; 0 if there are none.
    """
    own = [file for file in (ENGINE / "papers" / paper).glob("*.py") if file.name not in ASIDE]
    return written(*own, *(ENGINE / name for name in SHARED)) if own else 0.0


def written(*places: Path) -> float:
    """Unix time at which the newest source was written, of these files and in these folders."""
    files = (
        file for place in places for file in (place.rglob("*.py") if place.is_dir() else [place])
    )
    return max(file.stat().st_mtime for file in files)
