"""Who may do what takes something away: one table of all such actions, by which every page goes.

A visitor may undo what is theirs. Where the app serves this machine alone, they may also undo what
nobody owns, and any run. The command line may do everything; it never comes here.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import streamlit as st

from datasets import own
from engine.core.errors import RequestError
from engine.runs import ledger
from engine.runs.job import Job
from engine.service import answers, watching
from engine.yours import kept_runs
from pages.ui.kit import command, visitors
from pages.ui.kit.access import client
from pages.ui.lessons import library
from pages.ui.lessons import rights as lessons
from pages.ui.lessons.rights import Editor

KEY = "key"
"""The name in the address of the key that lets somebody change a lesson."""
KEPT = "rights.key"
"""Under which a session remembers that key."""
SPENDING = 600.0
"""Seconds that a release may take."""


@dataclass(frozen=True)
class Action:
    """Something that takes away what somebody has made.

    Attributes:
        who: Who may do it, in a sentence about what is refused.
        may: Whether the visitor who asks may do it to the thing of that name.
        do: Does it.
    """

    who: str
    may: Callable[[str], bool]
    do: Callable[..., Any]


def may(action: str, name: str) -> bool:
    """Whether the visitor who asks may do something to the thing of that name."""
    return ACTIONS[action].may(name)


def do(action: str, name: str, *more: Any) -> Any:
    """Does something to the thing of that name.

    Raises:
        RequestError: The visitor who asks may not.
    """
    check(action, [name])
    return ACTIONS[action].do(name, *more)


def check(action: str, names: Iterable[str]) -> None:
    """Stops a visitor who may not do something to all things of those names.

    Raises:
        RequestError: The visitor who asks may not do it to one of them.
    """
    if not all(may(action, name) for name in names):
        raise RequestError(f"{ACTIONS[action].who}, got somebody else, so nothing was changed")


def editor() -> Editor:
    """The visitor who asks, as lessons know them."""
    return Editor(visitors.visitor(), st.query_params.get(KEY, ""), visitors.alone())


def reads(lesson: str) -> bool:
    """Whether the visitor who asks may read the answers and the speaker's notes of a lesson.

    Where visitors bring nothing of their own, as in a class, that is the lesson's owner, people
    with its key, and the person at the machine that serves it.

    Args:
        lesson: Name of a lesson that is there.
    """
    return visitors.uploads() or visitors.alone() or visitors.beside() or _named(lesson)


def _named(lesson: str) -> bool:
    """Whether a lesson's note names the visitor or their key; a lesson without one has no owner."""
    if lesson in library.ORDER:
        return False
    path = library.path_of(lesson)
    return bool(lessons.key(path)) and lessons.may(path, replace(editor(), key=key()))


def key() -> str:
    """The key that an address of this session has held last; a lesson's views do not hold it."""
    if asked := st.query_params.get(KEY):
        st.session_state[KEPT] = asked
    kept: str = st.session_state.get(KEPT, "")
    return kept


def _own_run(run: str) -> bool:
    """Whether a run may be stopped, repeated or deleted; what is not in the store is nobody's."""
    if visitors.alone():
        return True
    return watching.owner(client().store, run) in (None, visitors.visitor())


def _own_table(table: str) -> bool:
    owner = own.owner(table)
    return owner == visitors.visitor() or (visitors.alone() and not owner)


def _own_library(name: str) -> bool:
    owner = kept_runs.owner(name)
    return owner == visitors.visitor() or (visitors.alone() and not owner)


def _own_lesson(name: str) -> bool:
    return visitors.uploads() and _owned(name)


def _owned(name: str) -> bool:
    return name not in library.ORDER and lessons.may(library.path_of(name), editor())


def _class(name: str) -> bool:
    """Whether a class's answers may be cleared; a lesson that comes with the app has no owner."""
    owned = visitors.alone() if name in library.ORDER else _owned(name)
    return visitors.uploads() and owned


def _stop(run: str) -> None:
    watching.may_stop(client().store, run, visitors.here())
    client().cancel(run)
    watching.claim(client().store, run, visitors.here(), passing=False)  # it is not asked for again


def _again(run: str, job: Job, focus: Mapping[str, float] | None = None) -> None:
    client().again(job, focus, visitors.here())


def _limit(table: str, epsilon: float) -> None:
    before = ledger.read(table).limit
    limit = before or ledger.Limit(epsilon)
    ledger.set_limit(table, replace(limit, epsilon=epsilon))


def _spend(table: str, words: Sequence[str]) -> dict[str, Any]:
    return command.answer(words, SPENDING)


def _edit(name: str, text: str) -> str:
    return library.keep(text, name, editor())


def _drop(name: str) -> None:
    library.remove(name, editor())


def _clear(name: str, keys: Iterable[str]) -> None:
    answers.clear(client().store.database, list(keys))


RUN = "run: expected the visitor who started it"
LESSON = "lesson: expected its owner or its editing link"
ACTIONS = {
    "stop a run": Action(RUN, _own_run, _stop),
    "run it again": Action(RUN, _own_run, _again),
    "delete a run": Action(RUN, _own_run, lambda run: client().delete(run)),
    "remove a table": Action("table: expected the visitor who added it", _own_table, own.remove),
    "remove a library's run": Action(
        "run: expected the visitor who brought it", _own_library, kept_runs.remove
    ),
    "limit a table": Action("table: expected the visitor who added it", _own_table, _limit),
    "spend on a table": Action("table: expected the visitor who added it", _own_table, _spend),
    "edit a lesson": Action(LESSON, _own_lesson, _edit),
    "delete a lesson": Action(LESSON, _own_lesson, _drop),
    "clear the answers": Action(LESSON, _class, _clear),
}
"""Every action of the pages that takes something away. Only the command line tidies files."""
