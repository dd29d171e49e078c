"""A table of one's own: a file is checked, kept on this machine and chosen."""

import streamlit as st

from datasets import own
from engine.core.errors import ExplorerError
from engine.core.home import home
from pages.ui.kit.access import sentence
from pages.ui.words import short

MESSAGE = "upload.message"
HOW = (
    f"**Limits**: comma-separated values, at most 1 MB and {own.MOST:,} rows, at least "
    f"{own.FEWEST} people, 1 to {own.WIDEST} covariates, numbers only. Write "
    "categories as columns of 0 and 1."
    "\n\n"
    "- One row for each person: columns `time`, `event` (1 = it happened, 0 = not yet) and one "
    "for each covariate.\n"
    "- Or, if covariates change over time, one row for each period: columns `id`, `start`, `stop`, "
    "`event` and one for each covariate. All rows of an id are one person. The first period starts "
    "at 0, and only the last can end with the event.\n\n"
    "Type the bounds of each covariate and of `time` first. Take them from what you know without "
    "looking at the data: bounds read off the records would reveal the most extreme ones. Values "
    "beyond the bounds are clipped."
)


def show(slug: str, dataset: str, default: str) -> None:
    """Draws the widget that takes a file, and a button that removes the table that is chosen.

    Args:
        slug: Key of the paper.
        dataset: What is chosen.
        default: The text of what is chosen once a table is removed.
    """
    with st.popover("A table of your own", icon=":material/upload_file:", width="stretch"):
        st.markdown(HOW)
        st.text_area(
            "Bounds, one line for each column", key=f"{slug}.bounds",
            placeholder="age: 18 to 100\ntreated: 0 to 1\ntime: 0 to 3650",
            help="The same lines may stand at the top of the file instead, each after a #.",
        )  # fmt: skip
        st.file_uploader(
            "Survival table", type=["csv", "txt", "tsv"], key=f"{slug}.upload",
            on_change=_take, args=(slug,), label_visibility="collapsed",
        )  # fmt: skip
        if message := st.session_state.pop(MESSAGE, ""):
            st.error(message, icon=":material/error:")
        st.caption(
            f":material/lock: The table stays on this computer, in {home() / 'tables'}. Everyone "
            "who opens this app can choose it. Names of columns, bounds and the number of people "
            "are treated as public. Ids are part of no result."
        )
        if own.mine(dataset):
            sure = st.checkbox("Delete the chosen table from this computer", key=f"{slug}.sure")
            st.button(
                "Remove this table", icon=":material/delete:", key=f"{slug}.remove",
                on_click=_remove, args=(slug, dataset, default), disabled=not sure,
                help="Deletes the file. Its runs stay until you delete them on the Runs page.",
            )  # fmt: skip


def _take(slug: str) -> None:
    """Checks and keeps the file; what is wrong with it is said once."""
    file = st.session_state[f"{slug}.upload"]
    if file is None:
        return
    try:
        name = own.keep(file.name, file.getvalue(), st.session_state[f"{slug}.bounds"] or "")
    except ExplorerError as error:
        st.session_state[MESSAGE] = sentence(str(error))
    else:
        st.session_state[f"{slug}.dataset"] = short(name)


def _remove(slug: str, dataset: str, other: str) -> None:
    own.remove(dataset)
    st.session_state[f"{slug}.dataset"] = other
