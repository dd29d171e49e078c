"""What the files of lessons hold: each is read once it is asked for, and may have mistakes."""

from dataclasses import dataclass

from engine.core.errors import RequestError
from pages.ui import words
from pages.ui.lessons import foreign, library, schema
from pages.ui.lessons.rights import Editor
from pages.ui.lessons.schema import Lesson, View


@dataclass(frozen=True)
class Held:
    """One file.

    Attributes:
        name: In the address.
        text: What it holds.
        own: Whether it was made here, and can be changed.
        lesson: What pages show of it; None where that is wrong.
        mistakes: What is wrong with it, one sentence each.
    """

    name: str
    text: str
    own: bool
    lesson: Lesson | None
    mistakes: tuple[str, ...]

    @property
    def title(self) -> str:
        """Its title, or its name where that cannot be read."""
        return self.name if self.lesson is None else self.lesson.title


def find(name: str) -> Held:
    """The lesson of that name; one that cannot be read says why, so that it can be deleted.

    Raises:
        RequestError: There is none.
    """
    known = library.names()
    if name not in known:
        raise RequestError(f"lesson: expected one of {', '.join(known)}, got {name!r}")
    path = known[name]
    own = path.parent != library.SHIPPED
    try:
        content = path.read_bytes()
        text = content.decode("utf-8")
    except OSError as error:
        return Held(name, "", own, None, (f"The file: expected one to read, {error.strerror}.",))
    except UnicodeDecodeError:
        wrong = "The file: expected a text in UTF-8, got something else."
        return Held(name, content.decode("utf-8", "replace"), own, None, (wrong,))
    lesson, mistakes = schema.read(text)
    if own and lesson is not None:
        lesson = foreign.tamed(lesson, name)
    return Held(name, text, own, lesson, tuple(mistakes))


def add(view: View, name: str = "", title: str = "", editor: Editor = library.ANYBODY) -> str:
    """Adds a view at the end of a lesson, or begins a new one with it.

    Returns:
        The lesson's name.

    Raises:
        RequestError: The lesson cannot be read or is somebody else's, or the view is not one.
    """
    if name:
        held = find(name)
        before = schema.read(held.text)[0]
        if before is None or not held.own:
            raise RequestError(
                f"lesson: expected a lesson made here without mistakes, got {name!r}"
            )
        made = Lesson(title=before.title, text=before.text, views=(*before.views, view))
    else:
        made = Lesson(title=title or "A new lesson", text="", views=(view,))
    text = schema.write(made)
    mistakes = schema.read(text)[1]
    if mistakes:
        raise RequestError(f"view: {mistakes[0]}")
    return library.keep(text, name, editor)


def size(lesson: Lesson) -> str:
    """How many views and questions it has."""
    asked = sum(view.question is not None for view in lesson.views)
    return f"{words.plural(len(lesson.views), 'view')}, {words.plural(asked, 'question')}"
