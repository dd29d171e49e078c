"""A chart of the pages on paper: the same figure, drawn without a browser."""

import json
import re
from collections.abc import Mapping
from typing import Any, Literal

from matplotlib.axes import Axes
from matplotlib.ticker import FixedFormatter, FixedLocator, FuncFormatter, NullLocator
from plotly.utils import PlotlyJSONEncoder

from pages.ui.bundle import collect
from pages.ui.bundle.colours import palette
from pages.ui.bundle.drawn import Figure

SHORT = 30
"""Letters of a name of which three stand side by side."""
POINT = 0.75
"""Points of a pixel."""
MARKERS = {
    "circle": "o", "square": "s", "diamond": "D", "x": "X", "cross": "P", "triangle-up": "^",
    "triangle-down": "v", "triangle-left": "<", "triangle-right": ">", "star": "*",
    "pentagon": "p", "hexagon": "h",
}  # fmt: skip
DASHES: dict[str, Any] = {
    "solid": "-", "dot": ":", "dash": "--", "dashdot": "-.", "longdash": (0, (8, 4)),
    "longdashdot": (0, (8, 3, 1, 3)),
}  # fmt: skip


def coloured(figure: Figure) -> Figure:
    """A figure in the light theme's colours, for which it holds stand-ins."""
    text = json.dumps(figure, cls=PlotlyJSONEncoder)
    for number, colour in palette("light").items():
        text = text.replace(f"#{number.zfill(6)}", colour)
    made: Figure = json.loads(text)
    return made


def draw(axes: Axes, figure: Figure) -> None:
    """Draws lines, bands, marks, rules and notes of a figure, with its axes and legend.

    Args:
        axes: Where to.
        figure: In real colours.
    """
    layout = figure["layout"]
    _axis(axes, "x", layout["xaxis"])
    _axis(axes, "y", layout["yaxis"])
    for shape in layout.get("shapes", ()):
        _shape(axes, shape)
    for trace in figure["data"]:
        if len(trace.get("x", ())):
            _trace(axes, trace)
    for note in layout.get("annotations", ()):
        _note(axes, note, layout["xaxis"].get("type") == "log")
    axes.spines[["top", "right", "left", "bottom"]].set_visible(False)
    axes.tick_params(length=0)
    axes.legend(
        loc="lower left", bbox_to_anchor=(0.0, 1.02), ncols=columns(figure), frameon=False,
        borderaxespad=0.0, handlelength=2.2, columnspacing=1.4,
    )  # fmt: skip


def columns(figure: Figure) -> int:
    """How many names of lines stand side by side."""
    return 3 if max(map(len, names(figure)), default=0) <= SHORT else 2


def names(figure: Figure) -> list[str]:
    """The names of the lines in the legend."""
    return [plain(one["name"]) for one in figure["data"] if one.get("showlegend")]


def _axis(axes: Axes, name: Literal["x", "y"], declared: Mapping[str, Any]) -> None:
    """One axis: its scale, range, ticks, grid and title."""
    log, own = declared.get("type") == "log", getattr(axes, f"{name}axis")
    getattr(axes, f"set_{name}scale")("log" if log else "linear")
    if (ends := declared.get("range")) is not None:
        getattr(axes, f"set_{name}lim")(*(10**end if log else end for end in ends))
    if (ticks := declared.get("tickvals")) is not None:
        own.set_major_locator(FixedLocator(ticks))
        texts = declared.get("ticktext") or [f"{tick:g}" for tick in ticks]
        own.set_major_formatter(FixedFormatter([plain(text) for text in texts]))
    elif "%" in str(declared.get("tickformat")):
        own.set_major_formatter(FuncFormatter(lambda value, _: f"{100 * value:g} %"))
    own.set_minor_locator(NullLocator())
    if declared.get("showgrid", True):
        axes.grid(axis=name, color=declared.get("gridcolor", "#d0d6d8"), linewidth=0.6)
    getattr(axes, f"set_{name}label")(plain((declared.get("title") or {}).get("text") or ""))


def _trace(axes: Axes, trace: Mapping[str, Any]) -> None:
    """A band, or a line with its marks."""
    line, marker = trace.get("line") or {}, trace.get("marker") or {}
    opacity = float(trace.get("opacity", 1.0))
    if trace.get("fill") == "toself":
        axes.fill(trace["x"], trace["y"], color=trace["fillcolor"], alpha=opacity, linewidth=0)
        return
    colour = line.get("color") or marker.get("color")
    shown = plain(trace.get("name") or "") if trace.get("showlegend") else "_nolegend_"
    symbols = marker.get("symbol", "circle")
    first = symbols if isinstance(symbols, str) else symbols[-1]
    lined, marked = ("lines" in trace["mode"]), ("markers" in trace["mode"])
    axes.plot(
        trace["x"], trace["y"], color=colour, alpha=opacity, label=shown, clip_on=lined,
        linestyle=_dash(line.get("dash", "solid")) if lined else "none",
        linewidth=POINT * float(line.get("width", 1.5)), solid_capstyle="butt",
        marker=MARKERS.get(first.removesuffix("-open"), "o") if marked else "",
        fillstyle="none" if first.endswith("-open") else "full",
        markersize=POINT * float(marker.get("size", 6)),
    )  # fmt: skip


def _dash(dash: str) -> Any:
    """A line's pattern, by its name or by its lengths."""
    if dash in DASHES:
        return DASHES[dash]
    return 0, tuple(POINT * float(one) for one in re.findall(r"[\d.]+", dash))


def _shape(axes: Axes, shape: Mapping[str, Any]) -> None:
    """A rule, a shaded part or a ring."""
    line = shape.get("line") or {}
    style: dict[str, Any] = {
        "color": line.get("color"),
        "linewidth": POINT * float(line.get("width", 1.0)),
    }
    if shape["type"] == "path":
        axes.plot([shape["xanchor"]], [shape["yanchor"]], marker="o", fillstyle="none",
                  markersize=10, color=style["color"], markeredgewidth=1.8)  # fmt: skip
    elif shape["type"] == "rect":
        axes.axvspan(shape["x0"], shape["x1"], color=shape["fillcolor"], linewidth=0,
                     alpha=shape.get("opacity", 1.0), zorder=0)  # fmt: skip
    elif shape.get("yref") == "paper":
        axes.axvline(shape["x0"], zorder=0, **style)
    else:
        axes.axhline(shape["y0"], zorder=0, linestyle=_dash(line.get("dash", "solid")), **style)


def _note(axes: Axes, note: Mapping[str, Any], log: bool) -> None:
    """A word beside what is drawn; those of a budget stand at its rule."""
    if note.get("yref") != "paper" or note.get("xref") == "paper":
        return
    at, high = (10 ** note["x"] if log else note["x"]), note["y"] > 0.5
    shift = POINT * float(note.get("xshift", 0.0))
    side = str(note.get("xanchor", "center"))
    axes.annotate(
        plain(note["text"]), (at, note["y"]), (shift, -2.0 if high else 2.0),
        xycoords=("data", "axes fraction"), textcoords="offset points",
        va="top" if high else "bottom", ha=side if side in ("left", "right") else "center",
        bbox={"color": note.get("bgcolor", "none"), "pad": 1.0},
    )  # fmt: skip


def plain(text: str) -> str:
    r"""A label without marks of HTML; a new line stays one.

    >>> plain("<b>no proof</b>:<br>0.91")
    'no proof:\n0.91'
    """
    return collect.bare(re.sub(r"<br\s*/?>", "\n", text))
