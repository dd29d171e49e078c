"""A table of one's own: a file is shown as it was understood, corrected, kept and chosen."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import streamlit as st

from datasets import own, own_limits
from engine.core.errors import ExplorerError, RequestError
from engine.core.home import home
from engine.method import Paper
from pages.ui.kit import visitors
from pages.ui.kit.access import sentence
from pages.ui.words import plural, short

if TYPE_CHECKING:
    import pandas as pd

    from datasets.own_preview import Preview

MESSAGE = "upload.message"
KEPT = "upload.preview"
USE, COLUMN, HOLDS, LOW, HIGH, FILL, LEVELS = (
    *("Use", "Column", "Holds", "Lowest", "Highest", "Blanks become", "Categories"),
)
SURVIVAL = (
    "One row for each person, with a column for the time and one for the event (1 = it happened, "
    "0 = not yet). If covariates change over time: one row for each period, with columns `id`, "
    "`start`, `stop` and `event`."
)
CLASSES = "One row for each record, with a column that names its class: 2 to 50 classes."
BOUNDS = (
    "**Bounds** come from what you know without looking at the data: bounds read off the records "
    "reveal the most extreme ones. Values beyond them are clipped. Proposed bounds follow from the "
    "names of columns alone."
)
OFF = "Tables of your own are turned off here: the operator can turn them on (EXPLORER_UPLOADS)."
TAKE = "Take missing bounds from the data (the guarantee then holds only under an assumption)"
MORE = "More lines"
MORE_HELP = (
    "One a line, such as `event value: 2`, `person column: id`, `rows per person: 5`, "
    "`image: 28 x 28`, `every column: 0 to 255`, `classes: a, b`, `split seed: 1`."
)


def show(paper: Paper[Any], dataset: str, default: str) -> None:
    """Draws the widget that takes a file, and a button that removes the table that is chosen.

    Args:
        paper: The paper that is to learn from it.
        dataset: What is chosen.
        default: The text of what is chosen once a table is removed.
    """
    slug = paper.slug
    with st.popover("A table of your own", icon=":material/upload_file:", width="stretch"):
        if visitors.uploads():
            _bring(paper)
        else:
            st.markdown(OFF)
        if own.mine(dataset):
            _own_table(slug, dataset, default)


def _bring(paper: Paper[Any]) -> None:
    """Takes a file."""
    slug = paper.slug
    st.markdown(SURVIVAL if paper.own == "survival" else CLASSES)
    limits = f"{own_limits.most(own_limits.ROWS):,} rows and {_megabytes()} MB"
    file = st.file_uploader(
        f"CSV or Parquet, at most {limits}", type=["csv", "txt", "tsv", "parquet"],
        key=f"{slug}.upload", max_upload_size=_megabytes(),
    )  # fmt: skip
    if message := st.session_state.pop(MESSAGE, ""):
        st.error(message, icon=":material/error:")
    if file is not None:
        _form(paper, file)
    st.caption(
        f":material/lock: The table stays on this computer, in {home() / 'tables'}. This "
        "browser can choose it, and so can anybody to whom you send the page's address. Names of "
        "columns, bounds and the number of records are treated as public. Ids appear in no "
        "result."
    )


def _own_table(slug: str, dataset: str, default: str) -> None:
    """What can be done with the chosen table: its owner may remove it."""
    if own.owner(dataset) not in ("", visitors.visitor()):
        st.caption("Somebody else has added this table. Only they can remove it.")
        return
    sure = st.checkbox("Delete the chosen table from this computer", key=f"{slug}.sure")
    st.button(
        "Remove this table", icon=":material/delete:", key=f"{slug}.remove",
        on_click=_remove, args=(slug, dataset, default), disabled=not sure,
        help="Deletes the file. Its runs stay until you delete them on the Runs page.",
    )  # fmt: skip


def _megabytes() -> int:
    return own_limits.most(own_limits.MEGABYTES)


def _form(paper: Paper[Any], file: Any) -> None:
    """What the file seems to hold, to be corrected and kept."""
    try:
        seen = _seen(file)
    except ExplorerError as error:
        st.error(sentence(str(error)), icon=":material/error:")
        return
    slug = paper.slug
    dropped = " The column that counts rows is left out." if seen.dropped else ""
    st.markdown(f"**{plural(seen.rows, 'row')}, {plural(len(seen.columns), 'column')}.**{dropped}")
    roles = _roles(paper, seen)
    st.markdown(BOUNDS)
    edited = st.data_editor(
        _frame(seen, tuple(roles.values())), key=f"{slug}.columns.{file.file_id}",
        hide_index=True, disabled=[COLUMN, HOLDS], width=620, 
        height=min(420, 40 + 35 * len(seen.columns)),
        column_config={
            LEVELS: st.column_config.TextColumn(
                help="Its categories with commas between them, or weekdays, months, sexes."
            ),
            FILL: st.column_config.NumberColumn(help="A public value for missing cells."),
        },
    )  # fmt: skip
    st.checkbox(TAKE, key=f"{slug}.taken")
    st.text_area(MORE, key=f"{slug}.more", help=MORE_HELP, height=68)
    st.button(
        "Add this table", type="primary", key=f"{slug}.add", icon=":material/add:",
        on_click=_take, args=(slug, file, edited, roles),
    )  # fmt: skip


def _seen(file: Any) -> Preview:
    """What a file seems to hold; understood once."""
    from datasets.own_preview import Preview, preview  # takes time to load too

    known, kept = st.session_state.get(KEPT, ("", None))
    if known == file.file_id and isinstance(kept, Preview):
        return kept
    table = preview(file.getvalue(), own.THE_FILE)
    st.session_state[KEPT] = (file.file_id, table)
    return table


def _roles(paper: Paper[Any], seen: Preview) -> dict[str, str]:
    """Which columns are no features, by what a line calls them."""
    slug, names = paper.slug, seen.names
    if paper.own != "survival":
        guess = seen.said.label or next(
            (one for one in ("label", "class", "target", "y", "species") if one in names), names[-1]
        )
        return {"label": _pick(f"{slug}.label", "Class column", names, guess)}
    left, right = st.columns(2)
    with left:
        time = _pick(f"{slug}.time", "Time column", names, seen.time or names[0])
    with right:
        event = _pick(f"{slug}.event", "Event column", names, seen.event or names[-1])
    return {"time": time, "event": event}


def _pick(key: str, label: str, names: tuple[str, ...], guess: str) -> str:
    if st.session_state.get(key) not in names:
        st.session_state[key] = guess
    return str(st.selectbox(label, names, key=key))


def _frame(seen: Preview, roles: tuple[str, ...]) -> pd.DataFrame:
    """The columns as a table that can be edited; bounds of the time stand with the others."""
    import pandas as pd  # takes time to load, and few visitors bring a table

    rows = [
        {
            USE: one.name in roles or one.kind != "Words" or bool(one.levels),
            COLUMN: one.name,
            HOLDS: f"{one.kind}: {one.examples}" + (f" ({one.blanks} blank)" * bool(one.blanks)),
            LOW: one.bounds[0] if one.bounds else (0.0 if one.name == seen.time else None),
            HIGH: one.bounds[1] if one.bounds else _horizon(seen, one.name),
            FILL: one.fill,
            LEVELS: one.levels,
        }
        for one in seen.columns
    ]
    return pd.DataFrame(rows).astype({LOW: float, HIGH: float, FILL: float})


def _horizon(seen: Preview, name: str) -> float | None:
    """The longest time, if it was said above the table."""
    said = seen.said.ranges.get("time")
    return said[1] if said and name == seen.time else None


def lines(edited: pd.DataFrame, roles: dict[str, str], long: bool = False) -> str:
    """What an edited table says, as lines.

    Raises:
        DatasetError: A column has one bound.
    """
    from datasets.own_preview import line

    unused = [row[COLUMN] for row in edited.to_dict("records") if not row[USE]]
    aside = [roles.get("event"), roles.get("label"), *(("id", "start") if long else ())]
    said = [
        line(row[COLUMN], _number(row[LOW]), _number(row[HIGH]), _number(row[FILL]), row[LEVELS])
        for row in edited.to_dict("records")
        if row[USE] and row[COLUMN] not in aside
    ]
    named = [f"{what} column: {column}" for what, column in roles.items()]
    left = [f"leave out: {', '.join(unused)}"] if unused else []
    return "\n".join([*filter(None, said), *named, *left])


def _number(value: Any) -> float | None:
    return None if value is None or math.isnan(value) else float(value)


def _take(slug: str, file: Any, edited: pd.DataFrame, roles: dict[str, str]) -> None:
    """Checks and keeps the file; what is wrong with it is said once."""
    state = st.session_state
    current = state.get(f"{slug}.upload")
    if current is not None and current.file_id != file.file_id:
        return  # pressed while another file was on its way: its columns are shown first
    try:
        taken = "\nbounds: from the data" if state[f"{slug}.taken"] else ""
        long = {"start", "stop"} <= set(edited[COLUMN])
        text = f"{lines(edited, roles, long)}{taken}\n{state[f'{slug}.more'] or ''}"
        if not visitors.uploads():
            raise RequestError(OFF)
        owner = visitors.visitor()
        name = own.keep(file.name, file.getvalue(), text, above=False, owner=owner)
        visitors.meet(name)
    except ExplorerError as error:
        state[MESSAGE] = sentence(str(error))
    else:
        state[f"{slug}.dataset"] = short(name)


def _remove(slug: str, dataset: str, other: str) -> None:
    own.remove(dataset)
    st.session_state[f"{slug}.dataset"] = other
