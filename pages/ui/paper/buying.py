"""The button that spends on a table of one's own, and the last answer that it has given."""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import streamlit as st

from engine.core.errors import ExplorerError
from engine.core.home import home
from pages.ui import rights
from pages.ui.kit.access import sentence
from pages.ui.messages import tr

FOLDER, MOMENT = "releases", "%Y%m%d-%H%M%S"
"""Where releases are written, and how the moment is written in their names."""


@dataclass(frozen=True)
class Question:
    """Something that may be asked of a table.

    Attributes:
        prefix: Where its answer is kept in the session.
        table: Whose records.
        words: The command that asks.
        label: Of its button.
        ending: Of the name of what is written; empty for a folder.
    """

    prefix: str
    table: str
    words: tuple[str, ...]
    label: str
    ending: str = ""


def ask(question: Question) -> Mapping[str, Any] | None:
    """Draws the button that spends, or why it is missing.

    Returns:
        The last answer of this session; None where there is none.
    """
    kept = f"{question.prefix}.answer.{question.table}"
    if not rights.may("spend on a table", question.table):
        said = tr("Only the visitor who added this table may spend its budget.")
        st.caption(f":material/lock: {said}")
    elif st.button(question.label, key=f"{question.prefix}.ask", icon=":material/savings:"):
        try:
            with st.spinner(tr("Computing the private answer…")):
                words = (*question.words, "--to", _place(question))
                st.session_state[kept] = rights.do("spend on a table", question.table, words)
        except ExplorerError as error:
            st.error(sentence(str(error)), icon=":material/error:")
        else:
            st.rerun()  # what the sidebar says was spent
    found: Mapping[str, Any] | None = st.session_state.get(kept)
    return found


def before(table: str, ending: str) -> list[tuple[datetime, Path]]:
    """The releases of a table whose files have such an ending: when they were made, latest first.

    A person who may not spend on the table is told of none.
    """
    if not rights.may("spend on a table", table):
        return []
    found: list[tuple[datetime, Path]] = []
    for place in (home() / FOLDER).glob(f"{table}-*{ending}"):
        with suppress(ValueError):  # a file that somebody has put there
            at = place.name.removeprefix(f"{table}-").removesuffix(ending)
            found.append((datetime.strptime(at, MOMENT).replace(tzinfo=UTC), place))
    return sorted(found, reverse=True)


def _place(question: Question) -> str:
    """Where a release is written: a new name in this user's folder."""
    folder = home() / FOLDER
    folder.mkdir(mode=0o700, exist_ok=True)
    return str(folder / f"{question.table}-{datetime.now(UTC):{MOMENT}}{question.ending}")
