"""A lesson as a text file: what may stand in it, and one sentence for each mistake.

title = "Why clipping hurts"
text = "What the lesson shows, in a sentence or two."

[[views]]
address = "/mean?mean.bound=1"          # as the address bar shows it
text = "What to look at."
notes = "What the speaker says."        # optional, as is everything below
hide = ["sidebar"]
lock = ["mean.bound"]

[views.question]
text = "Which bound is best?"
options = ["1", "5", "30"]
answer = 2                              # counted from 1; 0 where none is right
reveal = "What is seen once it is answered."
"""

import hashlib
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any
from urllib.parse import parse_qs, urlsplit

import tomli_w

from engine.core.declared import fixed
from pages.ui.kit.root import below
from pages.ui.lessons import views
from pages.ui.words import plural

LONGEST = 2_000
"""Characters of a text."""
MOST = 40
"""Views of a lesson."""
OPTIONS = (2, 8)
"""Fewest and most options of a question."""
BUDGETS = (0.5, 10.0)
"""Smallest and largest budget of a question that splits a class."""
LESSON = {"title": str, "text": str, "views": list}
VIEW = {"address": str, "text": str, "notes": str, "hide": list, "lock": list, "question": dict}
QUESTION = {
    "text": str,
    "options": list,
    "answer": int,
    "reveal": str,
    "arms": list,
    "epsilon": float,
}
KNOWN = {*VIEW, *QUESTION}
KINDS = {str: "a text", list: "a list", int: "a whole number", float: "a number", dict: "a table"}
HEAD = "[[views]]"
SHORT = 80
"""Characters of a value that a sentence repeats."""


@dataclass(frozen=True, kw_only=True)
class Question:
    """What is asked before a view is shown.

    Attributes:
        text: The question.
        options: What may be answered.
        answer: The position of the right option, from 1; 0 where none is right.
        reveal: What is said once it is answered.
        arms: Two explanations that split a class at random; empty for none. The question is then
            asked before and after.
        epsilon: What both randomised answers together cost the one who gives them.
        within: The lesson whose answers are counted apart; empty for one that comes with the app.
            No file says it.
    """

    text: str
    options: tuple[str, ...]
    answer: int = 0
    reveal: str = ""
    arms: tuple[str, ...] = ()
    epsilon: float = 2.0
    within: str = ""

    @property
    def key(self) -> str:
        """Names the question in the store; a question that is changed starts without answers."""
        parts = "\0".join((*filter(None, [self.within]), self.text, *self.options))
        return hashlib.sha256(parts.encode()).hexdigest()[:16]

    def counted(self, arm: int, when: str) -> str:
        """Names the answers of one explanation, from 0, "before" or "after" it."""
        parts = "\0".join((self.key, *self.arms, f"{self.epsilon:g}", str(arm), when))
        return hashlib.sha256(parts.encode()).hexdigest()[:16]

    @property
    def keys(self) -> tuple[str, ...]:
        """All names under which its answers are counted."""
        split = (self.counted(arm, when) for arm in range(2) for when in ("before", "after"))
        return (self.key, *split) if self.arms else (self.key,)


@dataclass(frozen=True, kw_only=True)
class View:
    """One state of one page.

    Attributes:
        address: The page's path and its settings.
        text: What is said above the page.
        notes: What only the speaker sees.
        hide: Parts and settings that are not shown.
        lock: Settings that cannot be changed.
        question: What is asked first; None for nothing.
    """

    address: str
    text: str
    notes: str = ""
    hide: tuple[str, ...] = ()
    lock: tuple[str, ...] = ()
    question: Question | None = None

    @property
    def page(self) -> str:
        """Name of the page; an address may begin with the sub-path under which the app lies."""
        path = urlsplit(self.address).path.strip("/")
        return (path if path in views.pages() else below(path)) or "home"

    @property
    def query(self) -> dict[str, list[str]]:
        """What the address sets, by key: all that a name which is repeated says."""
        return parse_qs(urlsplit(self.address).query)

    @property
    def settings(self) -> dict[str, str]:
        """What the address sets, by key; of a name that is repeated, what it says last."""
        return {key: texts[-1] for key, texts in self.query.items()}


@dataclass(frozen=True, kw_only=True)
class Lesson:
    """A list of views.

    Attributes:
        title: Its name.
        text: What it shows.
        views: In order.
    """

    title: str
    text: str
    views: tuple[View, ...]


def position(text: str) -> int:
    """The number of a view in an address; 0 for what is none or longer than any."""
    return int(text) if text.isdecimal() and len(text) <= len(str(MOST)) else 0


def read(text: str) -> tuple[Lesson | None, list[str]]:
    """The lesson in a file, or None and what is wrong with it, one sentence for each mistake."""
    try:
        raw = _parsed(text)
    except ValueError:
        return None, _unreadable(text)
    wrong = _shape("", raw, LESSON, ("title", "text", "views"))
    listed = raw.get("views")
    if isinstance(listed, list):
        if not 0 < len(listed) <= MOST:
            wrong.append(f"views: expected 1 to {MOST}, got {len(listed)}.")
        for number, one in enumerate(listed, 1):
            wrong += _view(f"views {number}", one)
    if wrong:
        return None, wrong
    made = tuple(_made(one) for one in raw["views"])
    return Lesson(title=raw["title"], text=raw["text"], views=made), []


def _parsed(text: str) -> dict[str, Any]:
    """A text as TOML; whatever is wrong with it, nested too deeply or too long, is a ValueError."""
    try:
        return tomllib.loads(text)
    except RecursionError:
        raise ValueError("lists in lists too deep to read") from None


def _unreadable(text: str) -> list[str]:
    """Why a text is no TOML: the first mistake of each view, with its line, or of the whole."""
    wrong, lines = [], text.splitlines()
    heads = [number for number, line in enumerate(lines) if line.strip().startswith(HEAD)]
    for begin, end in pairwise((0, *heads, len(lines))):
        try:
            _parsed("\n" * begin + "\n".join(lines[begin:end]) + "\n")
        except ValueError as error:
            wrong.append(f"The file: expected TOML, got: {error}.")
    try:
        _parsed(text)
    except ValueError as error:
        return wrong or [f"The file: expected TOML, got: {error}."]
    return wrong


def write(lesson: Lesson) -> str:
    """The file of a lesson; `read` gives the same lesson back."""
    return tomli_w.dumps(
        {
            "title": lesson.title,
            "text": lesson.text,
            "views": [_plain(vars(view)) for view in lesson.views],
        },
        multiline_strings=True,
    )


def _plain(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Fields as TOML has them, without those that are empty."""
    plain: dict[str, Any] = {}
    for name, value in fields.items():
        if isinstance(value, Question):
            plain[name] = _plain(vars(value))
        elif value and name in KNOWN:
            plain[name] = list(value) if isinstance(value, tuple) else value
        if name == "epsilon" and not fields["arms"]:
            del plain[name]
    return plain


def _made(raw: Mapping[str, Any]) -> View:
    """A view that has been checked."""
    own = fixed(raw)
    asked = own.pop("question", None)
    return View(**own, question=Question(**asked) if asked else None)


def _shape(
    where: str, raw: Mapping[str, Any], kinds: Mapping[str, type], needed: Sequence[str]
) -> list[str]:
    """Fields that are missing, unknown, of another kind, or too long."""
    at = f"{where}, " if where else ""
    wrong = [f"{at}{name}: expected {KINDS[kinds[name]]}, got nothing." for name in needed
             if name not in raw]  # fmt: skip
    for name, value in raw.items():
        if name not in kinds:
            shown = name if name.isidentifier() else got(name)
            wrong.append(f"{at}{shown}: expected one of {', '.join(kinds)}.")
        elif type(value) is not kinds[name] and (kinds[name], type(value)) != (float, int):
            wrong.append(f"{at}{name}: expected {KINDS[kinds[name]]}, got {got(value)}.")
        elif isinstance(value, str) and len(value) > LONGEST:
            wrong.append(
                f"{at}{name}: expected at most {plural(LONGEST, 'character')}, got {len(value):,}."
            )
        elif isinstance(value, list) and name != "views":
            wrong += [f"{at}{name}: expected texts, got {got(one)}." for one in value
                      if not isinstance(one, str)]  # fmt: skip
    return wrong


def got(value: Any) -> str:
    """A value as a sentence repeats it: on one line, and not at any length."""
    try:
        text = repr(value)
    except ValueError:  # Python writes no number of thousands of digits
        return "a number of thousands of digits"
    return text if len(text) <= SHORT else f"{text[:SHORT]}…"


def _view(where: str, raw: Any) -> list[str]:
    """Everything that is wrong with one view."""
    if not isinstance(raw, dict):
        return [f"{where}: expected a table, got {got(raw)}."]
    wrong = _shape(where, raw, VIEW, ("address", "text"))
    question = raw.get("question")
    if isinstance(question, dict):
        wrong += _question(f"{where}, question", question)
    if isinstance(raw.get("address"), str):
        wrong += _address(where, raw)
    return wrong


def _address(where: str, raw: Mapping[str, Any]) -> list[str]:
    """What is wrong with a view's address, and with the settings that it hides or locks."""
    view = View(address=raw["address"], text="")
    try:
        wrong = [f"{where}, address: {one}" for one in views.wrong(view.page, view.settings)]
    except ValueError:
        return [
            f"{where}, address: expected a page and its settings, such as /mean?mean.bound=1, "
            f"got {got(view.address)}."
        ]
    for name, known in (("hide", views.PARTS), ("lock", ())):
        listed = raw.get(name)
        for one in listed if isinstance(listed, list) else ():
            if isinstance(one, str) and one not in known and not views.setting(view.page, one):
                settings = ", ".join(sorted(views.settings(view.page))) or "no settings"
                parts = ", ".join((*known, settings))
                wrong.append(f"{where}, {name}: expected one of {parts}, got {got(one)}.")
    return wrong


def _question(where: str, raw: Mapping[str, Any]) -> list[str]:
    """Everything that is wrong with one question."""
    wrong = _shape(where, raw, QUESTION, ("text", "options"))
    options, answer = raw.get("options"), raw.get("answer", 0)
    if not isinstance(options, list):
        return wrong
    low, high = OPTIONS
    if not low <= len(options) <= high:
        wrong.append(f"{where}, options: expected {low} to {high}, got {len(options)}.")
    if any(one in options[:place] for place, one in enumerate(options)):
        wrong.append(f"{where}, options: expected different texts, got one twice.")
    if type(answer) is int and not 0 <= answer <= len(options):
        wrong.append(f"{where}, answer: expected 0 to {len(options)}, got {got(answer)}.")
    return wrong + _split(where, raw)


def _split(where: str, raw: Mapping[str, Any]) -> list[str]:
    """What is wrong with a question's two explanations and their budget."""
    arms, epsilon, wrong = raw.get("arms"), raw.get("epsilon", BUDGETS[0]), list[str]()
    if isinstance(arms, list):
        if len(arms) != 2 or arms[0] == arms[1]:
            wrong.append(f"{where}, arms: expected two different texts, got {got(arms)}.")
        if not raw.get("answer"):
            wrong.append(f"{where}, answer: expected the right option beside arms, got none.")
    if type(epsilon) in (int, float) and not BUDGETS[0] <= epsilon <= BUDGETS[1]:
        low, high = BUDGETS
        wrong.append(f"{where}, epsilon: expected {low:g} to {high:g}, got {got(epsilon)}.")
    return wrong
