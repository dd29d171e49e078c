"""A table of one's own: a file is shown as it was understood, corrected, kept and chosen."""

from __future__ import annotations

import math
import tomllib
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import streamlit as st

from datasets import own, own_limits, own_lines, own_proposal
from engine.core.errors import DatasetError, ExplorerError, RequestError
from engine.core.home import home
from engine.method import Paper
from pages.ui import rights
from pages.ui.kit import visitors
from pages.ui.kit.access import sentence
from pages.ui.words import plural, short

if TYPE_CHECKING:
    import pandas as pd


MESSAGE, NOTES = "upload.message", "upload.notes"
KEPT = "upload.proposal"
COLUMN, ROLE, FROM, LOW, HIGH, FILL, LEVELS, HOLDS = (
    *("Column", "Role", "From", "Lowest", "Highest", "Blanks become", "Categories", "Holds"),
)
ROLES = {
    "survival": ("number", "categories", "time", "event", "start", "person", "left out"),
    "classes": ("number", "categories", "label", "person", "left out"),
}
SURVIVAL = (
    "One row for each person, with a column for the time and one for the event (1 = it happened, "
    "0 = not yet). If covariates change over time: one row for each period, with columns `id`, "
    "`start`, `stop` and `event`."
)
ORIGINS = ("stated", "standard", "data")
"""Where a bound comes from, as `datasets.own_proposal` says it."""
CLASSES = "One row for each record, with a column that names its class: 2 to 50 classes."
BOUNDS = (
    "**Bounds and categories** come from what you know without looking at the data: those read "
    "off the records reveal the most extreme and the rarest ones. *Standard* ones follow from the "
    "names of columns. *Data* ones were read off the records. What you change is *stated*, "
    "and so is what you say you know: choose *stated* beside it. "
    "Values beyond the bounds are clipped."
)
OFF = "Tables of your own are turned off here: the operator can turn them on (EXPLORER_UPLOADS)."
TAKE = "Take what is marked “data” from the data (guarantees then hold only under an assumption)"
MORE = "More settings"
MORE_HELP = (
    "One a line, such as `rows_per_person = 5`, `image = [28, 28]`, "
    "`every = {low = 0, high = 255}`, "
    '`classes = ["a", "b"]`, `record = "a visit"`, `seed = 1`. A file of settings can be pasted '
    "whole. What it says of a column counts before the table above."
)


def show(paper: Paper[Any], dataset: str, default: str) -> None:
    """Draws the widget that takes a file, and a button that removes the table that is chosen.

    Args:
        paper: The paper that is to learn from it.
        dataset: What is chosen.
        default: The text of what is chosen once a table is removed.
    """
    st.markdown(":material/upload_file: **A table of your own**")
    if visitors.uploads():
        _bring(paper)
    else:
        st.markdown(OFF)
    if own.mine(dataset):
        _own_table(paper.slug, dataset, default)


def _bring(paper: Paper[Any]) -> None:
    """Takes a file."""
    slug = paper.slug
    st.markdown(SURVIVAL if paper.own == "survival" else CLASSES)
    limits = f"{own_limits.most(own_limits.ROWS):,} rows and {_megabytes()} MB"
    file = st.file_uploader(
        f"CSV or Parquet, at most {limits}", type=["csv", "txt", "tsv", "parquet"],
        key=f"{slug}.upload", max_upload_size=_megabytes(),
    )  # fmt: skip
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
    if not rights.may("remove a table", dataset):
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
    slug = paper.slug
    try:
        seen = _seen(file, _kind(paper))
    except ExplorerError as error:
        st.error(sentence(str(error)), icon=":material/error:")
        return
    columns = seen["columns"]
    dropped = " The column that counts rows is left out." if seen["dropped"] else ""
    count = f"{plural(seen['rows'], 'row')}, {plural(len(columns), 'column')}"
    st.markdown(f"**{count}.**{dropped}")
    if message := st.session_state.pop(MESSAGE, ""):
        st.error(message, icon=":material/error:")
    elif notes := st.session_state.pop(NOTES, ""):
        st.warning(notes)
    elif seen["problems"]:
        st.warning(sentence(_here(f"{own.THE_FILE}: {'; '.join(seen['problems'])}")))
    st.markdown(BOUNDS)
    edited = st.data_editor(
        frame(columns), key=f"{slug}.columns.{file.file_id}",
        hide_index=True, disabled=[COLUMN, HOLDS], width=760,
        height=min(420, 40 + 35 * len(columns)),
        column_config={
            ROLE: st.column_config.SelectboxColumn(options=ROLES[_kind(paper)], required=True),
            FROM: st.column_config.SelectboxColumn(options=ORIGINS, required=True),
            LEVELS: st.column_config.TextColumn(
                help="Categories or classes with commas between them, in quotes where one holds a "
                "comma, or weekdays, months, sexes. "
                "Of the event: the value that means that it happened."
            ),
            FILL: st.column_config.TextColumn(help="A public value for missing cells."),
        },
    )  # fmt: skip
    taken, more = _keys(slug, file)
    st.checkbox(TAKE, key=taken)
    st.text_area(MORE, key=more, help=MORE_HELP, height=68)
    st.button(
        "Add this table", type="primary", key=f"{slug}.add", icon=":material/add:",
        on_click=_take, args=(paper, file, edited, seen),
    )  # fmt: skip


def _keys(slug: str, file: Any) -> tuple[str, str]:
    """Of the box and of the text below the table: what is said of one file counts for no other."""
    return f"{slug}.taken.{file.file_id}", f"{slug}.more.{file.file_id}"


def _kind(paper: Paper[Any]) -> str:
    """The kind of table that a paper takes."""
    return "survival" if paper.own == "survival" else "classes"


def _seen(file: Any, kind: str) -> dict[str, Any]:
    """What is proposed for a file; asked once."""
    known, kept = st.session_state.get(KEPT, ("", None))
    if known == (file.file_id, kind) and kept is not None:
        return dict(kept)
    table = own.propose(file.getvalue(), f'kind = "{kind}"')
    st.session_state[KEPT] = ((file.file_id, kind), table)
    return table


def frame(columns: Mapping[str, Mapping[str, Any]]) -> pd.DataFrame:
    """What is proposed for each column, as a table that can be edited."""
    import pandas as pd  # takes time to load, and few visitors bring a table

    rows = [
        {
            COLUMN: key,
            ROLE: one["role"],
            FROM: one["origin"],
            LOW: None if one["role"] == "time" else one["low"],
            HIGH: one["high"],
            FILL: "" if one["fill"] is None else _text(one["fill"]),
            LEVELS: one["value"] if one["role"] == "event" else own_lines.joined(one["categories"]),
            HOLDS: one["holds"] + (f" ({one['why']})" if one["why"] else ""),
        }
        for key, one in columns.items()
    ]
    return pd.DataFrame(rows).astype({LOW: float, HIGH: float})


def _text(value: Any) -> str:
    return f"{value:.10g}" if isinstance(value, float) else str(value)


def settings(edited: pd.DataFrame, columns: Mapping[str, Mapping[str, Any]], accept: bool) -> str:
    """What an edited table says, as TOML; what is marked as data is said where it is accepted."""
    import tomli_w

    before = frame(columns).to_dict("records")
    said: dict[str, dict[str, Any]] = {}
    for row, was in zip(edited.to_dict("records"), before, strict=True):
        same = all(_same(row[key], was[key]) for key in was)
        origin = row[FROM] if same or row[FROM] != was[FROM] else "stated"
        if origin != "data" or accept:
            said[row[COLUMN]] = {**_said(row), "from": origin}
    return tomli_w.dumps({"columns": said})


def together(kind: str, shown: str, more: str, seen: str = "") -> str:
    """What the whole form says, as TOML.

    Args:
        kind: The kind of table that the page takes.
        shown: What its table says, as `settings` writes it.
        more: What is typed below it, such as a proposal; it counts where both say something.
        seen: The proposal in TOML: what the file's first lines say of the table as a whole.

    Raises:
        DatasetError: What is typed is no TOML, or for another kind of table.
    """
    import tomli_w

    typed = tomllib.loads(seen) | {"columns": {}} | own_proposal.typed(own.THE_FILE, more)
    if (other := typed.setdefault("kind", kind)) != kind:
        raise DatasetError(
            f"{own.THE_FILE}: kind: expected {kind!r} in the settings, as this page takes it, got "
            f"{str(other)[:40]!r}"
        )
    below, columns = typed.get("columns", {}), tomllib.loads(shown)["columns"]
    if own_proposal.tables(below):
        for name, one in below.items():
            key = name.strip().lower()
            columns[key] = _joined(columns.get(key, {}), one)
        typed["columns"] = columns
    return tomli_w.dumps(typed)


def _joined(shown: Mapping[str, Any], typed: Mapping[str, Any]) -> dict[str, Any]:
    """What is said of one column; what is left of values from the data stays marked as such."""
    if not shown or typed.get("role", shown["role"]) != shown["role"]:
        return dict(typed)
    left = shown.keys() - typed.keys() - {"role", "from"}
    origin = shown["from"] if left else "stated"
    return {**shown, "from": origin, **typed}


def _said(row: Mapping[str, Any]) -> dict[str, Any]:
    """What one row says."""
    role, levels = row[ROLE], str(row[LEVELS] or "").strip()
    one: dict[str, Any] = {"role": role}
    if role in ("number", "time"):
        pairs = ((name, row[key]) for name, key in (("low", LOW), ("high", HIGH)))
        one |= {name: float(value) for name, value in pairs if not _same(value, None)}
    if role in ("number", "categories") and (fill := str(row[FILL] or "").strip()):
        try:
            one["fill"] = float(fill) if role == "number" else fill
        except ValueError:
            one["fill"] = fill
    if levels and role in ("categories", "label", "event"):
        one["value" if role == "event" else "categories"] = levels
    return one


def _same(one: Any, other: Any) -> bool:
    """Whether two cells say the same; nothing is the same as no number."""
    return bool(one == other) or all(
        cell is None or (isinstance(cell, float) and math.isnan(cell)) for cell in (one, other)
    )


def _take(paper: Paper[Any], file: Any, edited: pd.DataFrame, seen: Mapping[str, Any]) -> None:
    """Checks and keeps the file; all that is wrong with it is said once."""
    state, slug, columns = st.session_state, paper.slug, seen["columns"]
    current = state.get(f"{slug}.upload")
    if current is not None and current.file_id != file.file_id:
        return  # pressed while another file was on its way: its columns are shown first
    try:
        if not visitors.uploads():
            raise RequestError(OFF)
        taken, more = (state[key] for key in _keys(slug, file))
        said = settings(edited, columns, taken)
        text = together(_kind(paper), said, more or "", seen["toml"])
        owner = visitors.visitor()
        name, _, notes = own.add(file.name, file.getvalue(), text, above=False, owner=owner)
        visitors.meet(name)
    except ExplorerError as error:
        state[MESSAGE] = sentence(_here(str(error)))
    else:
        state[f"{slug}.dataset"] = short(name)
        shown = {own_proposal.note(key, one["role"], one["why"]) for key, one in columns.items()}
        state[NOTES] = " ".join(sentence(note) for note in notes if note not in shown)


def _here(error: str) -> str:
    """What an error says of the command line, in the words of the form."""
    words = {
        "in the settings": "in the table or the settings below",
        "with --accept": "by the box under the table", "with --label": "by the role label",
    }  # fmt: skip
    for option, place in words.items():
        error = error.replace(option, place)
    return error


def _remove(slug: str, dataset: str, other: str) -> None:
    try:
        rights.do("remove a table", dataset)
    except ExplorerError as error:
        st.session_state[MESSAGE] = sentence(str(error))
        return
    st.session_state[f"{slug}.dataset"] = other
