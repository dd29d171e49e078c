"""The labels of a chart in the visitor's language: titles of axes, names of lines, notes."""

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from pages.ui.charts.figure import Figure
from pages.ui.messages import SOURCE, catalogue, language, numbered, separators

PARTS = re.compile(r"( · |\u00a0% (?=\w)|<br>| \[|\]|, | {2,}|: | \(|\)|→|←|</?b>)")
"""What stands between the parts of a label, such as a name and its unit."""
FIGURES = re.compile(r"^(\s*(?:\d[\d.,]*\s+)?)(.*?)(\s*[\d.,–·⁰-⁹¹²³⁻\u00a0%]*\s*)$", re.DOTALL)
"""A part: a number before its words, the words, and a number at their end."""

WORDED = ("text", "x", "y")
"""What words a trace has besides its name: at its points, and the categories of its axes."""


def parts(text: str) -> list[str]:
    """The words of a label, each as a catalogue has it."""
    found = (FIGURES.sub(r"\2", part) for part in PARTS.split(text)[::2])
    return [part for part in found if re.search(r"[^\W\d_]{2,}", part)]


def label(text: str) -> str:
    """A label: as the catalogue has the whole or its parts; what it lacks is a name and stays."""
    known = catalogue(language())
    if not known:
        return text

    def part(found: re.Match[str]) -> str:
        return numbered(found[1]) + known.get(found[2], found[2]) + numbered(found[3])

    return known.get(text) or "".join(FIGURES.sub(part, one) for one in PARTS.split(text))


def drawn(figure: Mapping[str, Any]) -> Iterator[str]:
    """The labels of a figure, or of a part of one, as Plotly's JSON values."""
    for trace in figure["data"]:
        yield trace.get("name") or ""
        for key in WORDED:
            text = trace.get(key)
            if isinstance(text, str | list | tuple):
                many = [text] if isinstance(text, str) else text
                yield from (one for one in many if isinstance(one, str))
    for key, value in figure["layout"].items():
        if re.match("[xy]axis", key):
            yield str((value.get("title") or {}).get("text") or "")
            yield from map(str, value.get("ticktext") or ())
        elif key == "annotations":
            yield from (str(one.get("text") or "") for one in value)


def spoken(figure: Figure) -> Figure:
    """A figure in the language that is spoken here; the same one in English."""
    if language() == SOURCE:
        return figure
    layout = {key: _axis(value) if "axis" in key else value for key, value in figure.layout.items()}
    if notes := layout.get("annotations"):
        layout["annotations"] = [_texts(one, "text") for one in notes]
    return Figure([_trace(one) for one in figure.traces], layout | {"separators": separators()})


def _texts(of: dict[str, Any], *keys: str, by: Callable[[str], str] = label) -> dict[str, Any]:
    """A part of a figure with some of its texts, or lists of texts, translated."""
    made: dict[str, Any] = {}
    for key in keys:
        value = of.get(key)
        if isinstance(value, str):
            made[key] = by(value)
        elif isinstance(value, list | tuple):
            made[key] = [by(one) if isinstance(one, str) else one for one in value]
    return of | made


def _axis(axis: Any) -> Any:
    title = axis.get("title")
    named = {"title": _texts(title, "text")} if isinstance(title, dict) else {}
    return _texts(axis | named, "ticktext")


def _trace(trace: dict[str, Any]) -> dict[str, Any]:
    """A trace with its name, also where its words at the pointer repeat it."""
    name, made = trace.get("name"), _texts(trace, "name", *WORDED)
    hover = trace.get("hovertemplate")
    if name and isinstance(hover, str):
        made["hovertemplate"] = hover.replace(str(name), str(made["name"]))
    return made
