"""A DataFrame as a table of one's own, kept as a file would be."""

import io
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import tomli_w

from datasets import own, own_store
from engine.core.errors import DatasetError

if TYPE_CHECKING:
    import pandas as pd


def keep(
    frame: "pd.DataFrame", columns: Mapping[str, Mapping[str, Any]], accept: bool,
    title: str = "A frame",
) -> str:  # fmt: skip
    """Keeps a frame on this machine; one that is kept already stays under its name.

    Args:
        frame: One row a record; its index is not read.
        columns: What the owner says of a column, as the TOML of a proposal does:
            {"age": {"role": "number", "low": 18, "high": 100}}.
        accept: Whether what nobody has stated is taken from the data.
        title: What pages call it.

    Returns:
        The name of the data set.

    Raises:
        DatasetError: It is no table of a kind that a paper takes; one sentence says all that is
            wrong.
    """
    content = io.BytesIO()
    try:
        frame.to_parquet(content, index=False)
        text = tomli_w.dumps({"columns": columns} if columns else {})
    except (ValueError, TypeError) as error:  # pyarrow's errors are among these
        raise DatasetError(
            f"data: expected columns of one type each and settings that TOML can hold, got {error}"
        ) from None
    try:
        name = own.add(title, content.getvalue(), text, above=False, accept=accept).name
    except DatasetError as error:  # it speaks of a file and of the command line
        said = str(error).replace("--accept", "accept=True").replace("the settings", "columns")
        raise DatasetError(said.replace(f"{own.THE_FILE}:", "data:", 1)) from None
    return own_store.earlier(name, own.names())
