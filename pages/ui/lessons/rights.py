"""Who may change a lesson that was made here: its owner, and people with the key of its link."""

import hmac
import json
import secrets
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from engine.core import files
from engine.core.errors import RequestError, StoreError

NOTE = ".owner.json"
"""What follows a lesson's name in the name of the note of its owner."""

REFUSED = (
    "lesson: expected its owner or its editing link, got neither, so nothing was changed; "
    "save a copy of your own instead"
)


@dataclass(frozen=True)
class Editor:
    """Somebody who asks to change a lesson.

    Attributes:
        visitor: What their browser is called here; empty on the command line.
        key: The key in their link; empty for none.
        alone: Whether the app serves their machine alone: a note that cannot be read then stops
            them as little as it would in a file manager.
    """

    visitor: str = ""
    key: str = ""
    alone: bool = False


def begin(lesson: Path, editor: Editor) -> None:
    """Notes a lesson's owner beside its file, and draws its key, unless it has one.

    It comes before the file, so that no lesson is left without. One without an owner, such as a
    file that was copied into the folder, is everybody's until somebody saves it.

    Raises:
        StoreError: The note cannot be written.
    """
    if not editor.visitor or _beside(lesson).exists():
        return
    noted = {"owner": editor.visitor, "key": secrets.token_urlsafe(12)}
    path = _beside(lesson)
    try:
        files.write(path, json.dumps(noted).encode())
    except OSError as error:
        raise StoreError(f"{path}: expected a file that can be written, {error.strerror}") from None


def may(lesson: Path, editor: Editor) -> bool:
    """Whether somebody may change a lesson; no visitor may where its note cannot be read."""
    try:
        owner, key = _noted(lesson)
    except FileNotFoundError:
        return True
    except (OSError, ValueError):
        return editor.alone
    named = hmac.compare_digest(owner, editor.visitor.encode())
    return named or hmac.compare_digest(key, editor.key.encode("utf-8", "replace"))


def _noted(lesson: Path) -> tuple[bytes, bytes]:
    """The owner and the key in a lesson's note.

    Raises:
        OSError: There is none, or it cannot be read.
        ValueError: It is damaged.
    """
    try:
        noted = json.loads(_beside(lesson).read_text(encoding="utf-8"))
        owner, drawn = noted["owner"], noted["key"]
    except (KeyError, TypeError, RecursionError):
        raise ValueError("expected an owner and a key") from None
    if not (isinstance(owner, str) and isinstance(drawn, str) and owner and drawn):
        raise ValueError("expected an owner and a key")
    return owner.encode(), drawn.encode()


def check(lesson: Path, editor: Editor) -> None:
    """Stops those who may not change a lesson.

    Raises:
        RequestError: They are neither its owner nor have they its key.
    """
    if not may(lesson, editor):
        raise RequestError(REFUSED)


def key(lesson: Path) -> str:
    """The key of a lesson's link; empty where it has no owner."""
    with suppress(OSError, ValueError):
        return _noted(lesson)[1].decode()
    return ""


def end(lesson: Path) -> None:
    """Forgets the owner of a lesson that is deleted."""
    _beside(lesson).unlink(missing_ok=True)


def _beside(lesson: Path) -> Path:
    return lesson.with_suffix(NOTE)
