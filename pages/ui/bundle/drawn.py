"""A chart as plain data: what stays, and what each budget of the slider changes."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import takewhile
from typing import Any

Figure = dict[str, Any]
"""A figure as Plotly's JSON values: data and layout."""


@dataclass(frozen=True)
class Drawn:
    """One chart of one paper.

    Attributes:
        name: In the name of its table.
        title: What it shows.
        captions: How to read it, at each budget; a single one for all.
        base: The figure without what moves.
        frames: What moves, for each budget: further traces under "data", and parts of the layout;
            empty where there is no chart at that budget.
        rows: Every number that is drawn.
        said: Its message in a sentence at each budget; empty where the paper's finding says it.
    """

    name: str
    title: str
    captions: list[str]
    base: Figure
    frames: list[Figure]
    rows: list[dict[str, Any]]
    said: list[str] = field(default_factory=list)

    @property
    def caption(self) -> str:
        """How to read it at the first budget."""
        return self.captions[0]

    def json(self, written: Callable[[str], str]) -> dict[str, Any]:
        """What a page's script moves; `written` makes HTML of the app's sentences."""
        still = all(one == self.frames[0] for one in self.frames)
        return {
            "base": self.base, "frames": self.frames[:1] if still else self.frames,
            "said": list(map(written, self.said)), "captions": list(map(written, self.captions)),
        }  # fmt: skip

    def whole(self, at: int) -> Figure:
        """The figure at a position of the slider."""
        moved = dict(self.frames[at])
        data = [*self.base["data"], *moved.pop("data")]
        return {"data": data, "layout": {**self.base["layout"], **moved}}


def split(figures: Sequence[Figure]) -> tuple[Figure, list[Figure]]:
    """What figures have in common, and what each adds: last traces and parts of the layout."""
    first = figures[0]
    same = takewhile(
        lambda traces: all(one == traces[0] for one in traces),
        zip(*(one["data"] for one in figures), strict=False),
    )
    fixed = len(list(same))
    layout = {
        key: value
        for key, value in first["layout"].items()
        if all(one["layout"].get(key) == value for one in figures)
    }
    frames = [
        {
            "data": one["data"][fixed:],
            **{key: value for key, value in one["layout"].items() if key not in layout},
        }
        for one in figures
    ]
    return {"data": first["data"][:fixed], "layout": layout}, frames
