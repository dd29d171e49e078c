"""Lessons that were made here: what their texts may draw on pages that others look at.

Markdown loads pictures and leads to other sites. What somebody has brought does neither: pictures
and links become plain text, but for links within the app.
"""

import re
from dataclasses import replace

from pages.ui.lessons.schema import Lesson, View
from pages.ui.words import unlinked

ACTIVE = re.compile(
    r"\\."  # what is escaped already
    r"|(?<!!)\[[^\[\]\\]*\]\(/(?!/)[A-Za-z0-9_?=&.,%+/-]*\)"  # a link within the app
    r"|\](?=[(:])|<(?=[a-z][a-z0-9+.-]*:)|<(?=[^\s<>]*@)"
    r"|&(?=#|[a-z])",  # a character by its name or number
    re.IGNORECASE | re.DOTALL,
)


def tamed(lesson: Lesson, name: str) -> Lesson:
    """A lesson as pages show it; its questions have answers of their own.

    Args:
        lesson: As its file says.
        name: In the address.
    """
    views = tuple(_view(view, name) for view in lesson.views)
    return replace(lesson, title=words(lesson.title), text=words(lesson.text), views=views)


def _view(view: View, name: str) -> View:
    question = view.question
    if question is not None:
        arms = tuple(map(words, question.arms))
        question = replace(question, within=name, reveal=words(question.reveal), arms=arms)
    return replace(view, text=words(view.text), notes=words(view.notes), question=question)


def words(text: str) -> str:
    r"""A text whose Markdown loads nothing and leads nowhere else.

    >>> print(words("*a* ![](//x/p.png) [b](//x) [c](/mean?mean.bound=5)"))
    *a* ![]\(//x/p.png) [b]\(//x) [c](/mean?mean.bound=5)
    """
    return ACTIVE.sub(_escaped, unlinked(text))


def _escaped(found: re.Match[str]) -> str:
    text = found[0]
    if len(text) > 1:  # a pair, or a link within the app
        return text
    return "]\\" if text == "]" else f"\\{text}"
