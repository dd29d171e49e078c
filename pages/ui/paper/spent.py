"""What a table of one's own has cost so far: its ledger, in the sidebar."""

import streamlit as st

from datasets import own
from engine.core.errors import ExplorerError
from engine.privacy.composing import NAMES
from engine.runs import ledger
from engine.runs.ledger import TableLedger
from pages.ui import rights
from pages.ui.kit.access import sentence
from pages.ui.words import number, plural

HELP = (
    "Every release from this table with its price. Looks are runs on this page. You have the "
    "records anyway, so looks do not count towards the limit. If you publish what you chose by "
    "looking, the choice costs as much as the looks. `choose` makes a choice with one price."
)
REACHED = "The limit is reached: nothing more can be released from this table."
NO_LIMIT = "No limit is set."
WRONG = "spent.message"
ROW, TALL = 35, 213
"""Pixels of a row, and of the table at most."""


def show(slug: str, dataset: str) -> None:
    """Draws the sum and the limit of a table of one's own; nothing for another data set."""
    if not own.mine(dataset):
        return
    try:
        found = ledger.read(dataset)
    except ExplorerError as error:
        st.error(sentence(str(error)), icon=":material/error:")
        return
    with st.container(key=f"{slug}.spent"):
        if found.reached:
            st.error(REACHED, icon=":material/block:")
        st.caption(f":material/receipt_long: {said(found)}", help=HELP)
        with st.popover("Ledger", icon=":material/receipt_long:", width="stretch"):
            _details(slug, found)


def said(found: TableLedger) -> str:
    """The sum, the limit and the looks, in words."""
    price = found.counted or ledger.composed(found.releases)
    looks = ledger.total(found.looks)
    spent = f"{plural(len(found.releases), 'release')}: ε = {number(price.epsilon)}"
    limit = f" of {number(found.limit.epsilon)}" if found.limit else ""
    seen = f" Looks: ε = {number(looks.epsilon)}." if found.looks else ""
    how = "" if price.how == "basic" else f" by {NAMES[price.how]}"
    return f"{spent}{limit} spent{how}.{seen}{'' if found.limit else f' {NO_LIMIT}'}"


def _details(slug: str, found: TableLedger) -> None:
    """Every entry, and a field for the limit where the visitor may set it."""
    _entries(found)
    st.markdown(HELP)
    if not rights.may("limit a table", found.table):
        return
    start = found.limit.epsilon if found.limit else None
    st.number_input(
        "Limit of ε for all releases", 0.001, 1000.0, start, key=f"{slug}.limit", step=0.5,
        help="A release that would exceed it is refused before any noise is drawn.",
    )  # fmt: skip
    st.button("Set the limit", key=f"{slug}.limits", on_click=_limit, args=(slug, found.table))
    if message := st.session_state.pop(WRONG, ""):
        st.error(message, icon=":material/error:")


def _entries(found: TableLedger) -> None:
    """Every release and every look, the newest first."""
    if found.entries:
        st.dataframe(
            [
                {
                    "When": one.time.replace("T", " ").partition("+")[0],
                    "What": "look" if one.look else "release",
                    "Method": f"{one.paper} {one.method}",
                    "Answer": one.said,
                    "ε": one.epsilon,
                    "δ": one.delta,
                }
                for one in reversed(found.entries)
            ],
            hide_index=True, height=min(TALL, ROW * (1 + len(found.entries)) + 3),
        )  # fmt: skip
    else:
        st.markdown("Nothing has been released from this table yet.")


def _limit(slug: str, table: str) -> None:
    value = st.session_state.get(f"{slug}.limit")
    if value is None:
        return
    try:
        rights.do("limit a table", table, float(value))
    except ExplorerError as error:
        st.session_state[WRONG] = sentence(str(error))
