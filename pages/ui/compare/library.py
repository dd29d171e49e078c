"""Brings a run of another library to the chart, and removes one."""

from collections.abc import Sequence

import streamlit as st

from engine.core.errors import ExplorerError, RequestError
from engine.yours import forms, kept_runs
from pages.ui import rights, words
from pages.ui.compare import PREFIX
from pages.ui.compare.recorded import Recorded, recorded
from pages.ui.kit import visitors
from pages.ui.kit.access import sentence

TITLE = "Runs of other libraries"
TEXT = (
    "Compare a training that Opacus, jax-privacy or another library has done. The training script "
    "writes a small JSON file, in a few lines: `ee.opacus_run` and `ee.jax_privacy_run` of this "
    "program's Python interface say what goes in. The chart then shows what the library claims and "
    "what is proved for the batches as they were made."
)
OFF = "Files of your own are turned off here: the operator can turn them on (EXPLORER_UPLOADS)."
FILE, WRONG = "library.file", "library.wrong"


def show(brought: Sequence[Recorded]) -> None:
    """Draws what this visitor sees of it, with a button to remove each, and takes a file."""
    wrong = st.session_state.pop(WRONG, "")
    with st.expander(TITLE, icon=":material/upload_file:", expanded=bool(wrong or brought)):
        st.markdown(TEXT)
        if visitors.uploads():
            st.file_uploader(
                "A run as a JSON file", ["json"], key=FILE, on_change=_bring,
                max_upload_size=1, help="At most 1 MB. It stays on this computer.",
            )  # fmt: skip
        else:
            st.markdown(OFF)
        if wrong:
            st.error(wrong, icon=":material/error:")
        for one in brought:
            _kept(one)


def _kept(one: Recorded) -> None:
    """One run: what it claims, what is proved, and a button that removes it."""
    with st.container(border=True):
        st.markdown(f"**{one.label}** on {words.short(one.dataset)}  \n{one.sentence()}")
        if rights.may("remove a library's run", one.run):
            st.button(
                "Remove", icon=":material/delete:", key=f"library.remove.{one.run}",
                on_click=_remove, args=(one.run,), help="Deletes the file from this computer.",
            )  # fmt: skip


def _bring() -> None:
    """Keeps the chosen file, and shows its data set."""
    file = st.session_state.get(FILE)
    if file is None:
        return
    try:
        if not visitors.uploads():
            raise RequestError(OFF)
        content = file.getvalue()[: forms.MOST + 1]
        kept = kept_runs.keep(content, visitors.visitor())
    except ExplorerError as error:
        st.session_state[WRONG] = sentence(str(error))
        return
    shown = recorded(kept, {})
    st.session_state[f"{PREFIX}.data"] = words.short(shown.dataset)
    if shown.gauges:
        st.session_state[f"{PREFIX}.gauge"] = next(iter(shown.gauges.values())).label
    for key in [str(key) for key in st.session_state if str(key).startswith(f"{PREFIX}.runs.")]:
        del st.session_state[key]  # the runs that are drawn at first, with the new one


def _remove(name: str) -> None:
    try:
        rights.do("remove a library's run", name)
    except ExplorerError as error:
        st.session_state[WRONG] = sentence(str(error))
