"""A figure as it is sent: plain traces and layout, without Plotly's objects.

Plotly's own figure checks every property and copies everything twice, which took most of the time
between a move of the slider and its picture. Tests check what pages draw instead.
"""

import base64
from collections.abc import Iterable, Mapping
from typing import Any, TypeAlias

import numpy as np
import plotly.graph_objects as go
from numpy.typing import NDArray
from plotly.io.json import to_json_plotly

Floats: TypeAlias = NDArray[np.float64]
"""Numbers that are drawn."""
SHORT = {"float64": "f8", "float32": "f4"}
"""How Plotly names the types of arrays that are sent as bytes."""


class Figure:
    """Traces and layout.

    Args:
        traces: The traces as Plotly's JSON names them; arrays may be numpy's.
        layout: The layout likewise.
    """

    def __init__(self, traces: list[dict[str, Any]], layout: dict[str, Any]) -> None:
        self.traces, self.layout = traces, layout

    @property
    def whole(self) -> Any:
        """Plotly's own figure, to be read.

        Raises:
            ValueError: A property that Plotly does not know.
        """
        return go.Figure({"data": self.traces, "layout": self.layout})

    def note(self, **meta: Any) -> None:
        """Adds to what the figure says of itself."""
        self.layout["meta"] = {**(self.layout.get("meta") or {}), **meta}

    def to_plotly_json(self) -> dict[str, Any]:
        """Traces and layout with arrays as bytes."""
        packed: dict[str, Any] = _packed({"data": self.traces, "layout": self.layout})
        return packed

    def to_json(self) -> str:
        """The same as JSON; what is not finite is null."""
        text: str = to_json_plotly(self.to_plotly_json())
        return text


def by_row(columns: Mapping[str, Iterable[Any]]) -> list[dict[str, Any]]:
    """Columns of one length as rows, such as the numbers of a chart; arrays become plain numbers.

    >>> by_row({"x": np.array([1.0, 2.0]), "y": "ab"})
    [{'x': 1.0, 'y': 'a'}, {'x': 2.0, 'y': 'b'}]
    """
    lists = [one.tolist() if isinstance(one, np.ndarray) else one for one in columns.values()]
    return [dict(zip(columns, row, strict=True)) for row in zip(*lists, strict=True)]


def _packed(value: Any) -> Any:
    """A value without what is None, and with its arrays as bytes."""
    if isinstance(value, dict):
        return {key: _packed(part) for key, part in value.items() if part is not None}
    if isinstance(value, list | tuple) and value and isinstance(value[0], dict):
        return [_packed(part) for part in value]
    if isinstance(value, np.ndarray) and value.size and str(value.dtype) in SHORT:
        shape = {} if value.ndim == 1 else {"shape": str(value.shape)[1:-1]}
        data = base64.b64encode(value.tobytes()).decode()
        return {"dtype": SHORT[str(value.dtype)], "bdata": data, **shape}
    return value
