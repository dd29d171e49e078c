"""Where lessons lie: those that come with the app, and those that were made here."""

import re
import secrets
import time
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path

from engine.core import disk, files
from engine.core.errors import RequestError, StoreError
from engine.core.home import home, private_folder
from pages.ui.lessons import rights
from pages.ui.lessons.rights import Editor

SHIPPED = Path(__file__).parent / "ship"
ORDER = ("epsilon", "clipping", "intervals", "epochs", "attack", "prototypes", "explanations")
"""The lessons that come with the app, from the first to the last."""
WHAT = "A lesson leads through views of this app, with a question before each answer is shown."
NAME = re.compile(r"[a-z0-9][a-z0-9-]{0,40}")
LARGEST = 200_000
"""Bytes of a file."""
MOST = 200
"""Lessons that are kept here."""
ABANDONED = 3600.0
"""Seconds after which what a killed process has left is removed."""
ANYBODY = Editor()


def folder() -> Path:
    """The folder of the lessons that were made here."""
    return home() / "lessons"


def names() -> Mapping[str, Path]:
    """Every lesson's file by its name: first those that come with the app."""
    shipped = {name: SHIPPED / f"{name}.toml" for name in ORDER}
    made = {path.stem: path for path in disk.found(folder(), "*.toml")}
    return {**shipped, **{name: path for name, path in made.items() if name not in shipped}}


def path_of(name: str) -> Path:
    """The file of a lesson that was made here."""
    return folder() / f"{name}.toml"


def keep(text: str, name: str = "", editor: Editor = ANYBODY) -> str:
    """Keeps a lesson's file, whatever it holds, so that work on it is not lost.

    Args:
        text: The file.
        name: Under which it is kept already; empty for a new name, which is drawn.
        editor: Who asks; the owner of a lesson that has none.

    Returns:
        Its name.

    Raises:
        RequestError: A name that is not one of a lesson made here, a lesson of somebody else, too
            large a file, too many, or one that was deleted meanwhile.
        StoreError: The file cannot be written.
    """
    try:
        content = text.encode()
    except UnicodeEncodeError:
        raise RequestError("lesson: expected a text, got half of a character") from None
    if len(content) > LARGEST:
        raise RequestError(f"lesson: expected at most {LARGEST:,} bytes, got {len(content):,}")
    tidy()
    if not name:
        if len(disk.found(folder(), "*.toml")) >= MOST:
            raise RequestError(f"lessons: expected at most {MOST}, delete one first")
        name = f"own-{secrets.token_hex(4)}"
    elif not NAME.fullmatch(name) or name in ORDER:
        raise RequestError(f"lesson: expected the name of a lesson made here, got {name!r}")
    elif not path_of(name).exists():
        raise RequestError(
            "lesson: expected one that still exists, this one was deleted; save a copy"
        )
    path = path_of(name)
    rights.check(path, editor)
    try:
        private_folder(folder())
        rights.begin(path, editor)
        files.write(path, content)
    except OSError as error:
        raise StoreError(f"{path}: expected a file that can be written, {error.strerror}") from None
    return name


def latest(some: Iterable[str]) -> list[str]:
    """Names of lessons that were made here, the one that was saved last first."""

    def saved(name: str) -> float:
        with suppress(OSError):
            return path_of(name).stat().st_mtime
        return 0.0

    return sorted(some, key=saved, reverse=True)


def tidy() -> None:
    """Removes what killed processes have left: halves of files, and owners without a lesson."""
    parts, noted = (disk.found(folder(), end) for end in (f".*{files.PART}", f"*{rights.NOTE}"))
    lost = [note for note in noted if not path_of(note.name.removesuffix(rights.NOTE)).exists()]
    for path in (*parts, *lost):
        with suppress(OSError):
            if time.time() - path.stat().st_mtime > ABANDONED:
                path.unlink()


def read(content: bytes) -> str:
    """The text of a file that somebody brings.

    Raises:
        RequestError: It is too large, or no text.
    """
    if len(content) > LARGEST:
        raise RequestError(f"lesson: expected at most {LARGEST:,} bytes, got {len(content):,}")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise RequestError("lesson: expected a text file in UTF-8, got something else") from None


def remove(name: str, editor: Editor = ANYBODY) -> None:
    """Deletes a lesson that was made here; one that is gone stays gone.

    Raises:
        RequestError: It comes with the app, or is somebody else's.
        StoreError: The file cannot be deleted.
    """
    if name in ORDER or not NAME.fullmatch(name):
        raise RequestError(f"lesson: expected a lesson made here, got {name!r}")
    rights.check(path_of(name), editor)
    try:
        path_of(name).unlink(missing_ok=True)
        rights.end(path_of(name))
    except OSError as error:
        raise StoreError(
            f"{path_of(name)}: expected a file that can be deleted, {error.strerror}"
        ) from None
