"""What is answered on a file of one's own: a proposal, or the table that was written."""

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from datasets import own_names, own_store
from datasets.base import Card, LabelledTable, SurvivalTable
from engine.core.errors import DatasetError

if TYPE_CHECKING:
    from datasets.own_proposal import Proposal

PREFIX = "own_"
"""How the name of a table of one's own begins."""
MEMORY = 850_000_000
"""Bytes of memory that reading one file may hold."""


def answer(file: Any, name: str, request: dict[str, Any]) -> dict[str, Any]:
    """What the child answers: a proposal, or the columns taken from the data of a table it wrote.

    Raises:
        DatasetError: The file is no table; one sentence names all that is wrong.
        OSError: There is no room to keep it.
    """
    table, proposal, dropped = understood(file, name, request)
    if "keep" not in request:
        return {
            "toml": proposal.toml(), "rows": proposal.rows, "kind": proposal.kind,
            "columns": {key: vars(one) for key, one in proposal.columns.items()},
            "dropped": dropped, "asked": proposal.asked, "problems": proposal.problems,
        }  # fmt: skip
    assert table is not None
    name = str(request["keep"])
    table = replace(table, card=named(table.card, name, str(request["title"])))
    own_store.written(name, table, str(request["owner"]))
    return {"taken": proposal.taken}


def understood(
    file: Any, name: str, request: dict[str, Any]
) -> tuple[SurvivalTable | LabelledTable | None, "Proposal", tuple[str, ...]]:
    """The table that a request wants kept, its proposal, and the columns that only count rows."""
    from datasets import own_columns, own_guess, own_proposal, own_reader, own_table

    try:
        with own_reader.opened(file, name) as source:
            lines = source.lines if request.get("above", True) else ()
            said = own_proposal.said(name, str(request.get("text", "")), lines)
            said = replace(said, accept=said.accept or bool(request.get("accept")))
            columns = own_columns.summarised(source, said.decimal, name)
            label = str(request.get("label", ""))
            proposal = own_guess.proposed(columns, source.odd, said, label)
            if "keep" in request:
                return own_table.made(name, source, columns, proposal), proposal, source.dropped
            wrong = own_table.problems(proposal, columns)
            return None, replace(proposal, problems=tuple(wrong)), source.dropped
    except MemoryError:
        raise DatasetError(
            f"{name}: expected a file that is read within {MEMORY / 1e6:,.0f} MB, got "
            "one that takes more: leave out rows or columns"
        ) from None


def named(card: Card, name: str, title: str) -> Card:
    """The card under a table's name; what the file calls things becomes plain words."""
    usual = f"Your own table ({name.removeprefix(PREFIX)})"
    return replace(
        card,
        name=name,
        title=own_names.plain(title)[: own_names.MOST] if title.strip() else usual,
        summary=own_names.plain(card.summary),
        record=own_names.plain(card.record),
        features=own_names.names(card.features),
    )
