"""The labels of a chart in the visitor's language: titles of axes, names of lines, notes."""

import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from engine.core.gauges import Gauge
from pages.ui.charts.figure import Figure
from pages.ui.charts.measured import Curve, Level
from pages.ui.messages import SOURCE, catalogue, figures, language, numbered, separators, tr
from pages.ui.words import amount, number

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


def in_words(
    curves: Sequence[Curve], levels: Sequence[Level], gauge: Gauge, chosen: float, errors: str = ""
) -> str:
    """What a cost curve shows at the chosen budget, in one sentence for those who hear it.

    Args:
        curves: Its lines; of each is said what is proved where that is not the chosen budget.
        levels: Its lines that spend no budget.
        gauge: What is measured.
        chosen: The budget.
        errors: What the wrong ones of a share are called, where these are drawn.
    """
    measure, said = label(errors or gauge.label), []
    for one in curves:
        if (i := one.at(chosen)) is not None:
            value = 1.0 - one.middle[i] if errors else one.middle[i]
            told = f"{label(one.label)} {figures(amount(value, gauge))}"
            said.append(f"{told}{_proved(one, i, chosen)}")
    for level in levels if said else ():
        value = 1.0 - level.value if errors else level.value
        said.append(f"{label(level.label)} {figures(amount(value, gauge))}")
    if not said:
        text = tr("{measure} against the privacy budget; no points yet.")
        return text.format(measure=measure)
    text = tr("{measure} at epsilon {budget}: {lines}.")
    return text.format(measure=measure, budget=figures(f"{chosen:g}"), lines=", ".join(said))


def _proved(one: Curve, at: int, chosen: float) -> str:
    """What is proved at a point, in brackets, where it does not stand at the chosen budget."""
    if at >= len(one.proved):
        return ""
    proved = one.proved[at]
    if proved is None or not math.isfinite(proved):
        return f" ({label('no proof')})"
    near = math.isclose(proved, chosen, rel_tol=0.01)
    return "" if near else f" ({label('proved')} {figures(number(proved))})"


def drawn(figure: Mapping[str, Any]) -> list[str]:
    """The labels of a figure, or of a part of one, as Plotly's JSON values."""
    found: list[str] = []

    def note(text: str) -> str:
        found.append(text)
        return text

    _told(figure["data"], figure["layout"], note)
    return found


def spoken(figure: Figure) -> Figure:
    """A figure in the language that is spoken here; the same one in English."""
    if language() == SOURCE:
        return figure
    traces, layout = _told(figure.traces, figure.layout, label)
    return Figure(traces, layout | {"separators": separators()})


Told = Callable[[str], str]
"""How a text is told."""


def _told(
    traces: Iterable[dict[str, Any]], layout: Mapping[str, Any], by: Told
) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """Traces and layout with every text told in another way."""
    made = {key: _axis(value, by) if "axis" in key else value for key, value in layout.items()}
    if notes := made.get("annotations"):
        made["annotations"] = [_texts(one, by, "text") for one in notes]
    return [_trace(one, by) for one in traces], made


def _texts(of: dict[str, Any], by: Told, *keys: str) -> dict[str, Any]:
    """A part of a figure with some of its texts, or lists of texts, told in another way."""
    made: dict[str, Any] = {}
    for key in keys:
        value = of.get(key)
        if isinstance(value, str):
            made[key] = by(value)
        elif isinstance(value, list | tuple):
            made[key] = [by(one) if isinstance(one, str) else one for one in value]
    return of | made


def _axis(axis: Any, by: Told) -> Any:
    title = axis.get("title")
    named = {"title": _texts(title, by, "text")} if isinstance(title, dict) else {}
    return _texts(axis | named, by, "ticktext")


def _trace(trace: dict[str, Any], by: Told) -> dict[str, Any]:
    """A trace with its name, also where its words at the pointer repeat it."""
    name, made = trace.get("name"), _texts(trace, by, "name", *WORDED)
    hover = trace.get("hovertemplate")
    if name and isinstance(hover, str):
        made["hovertemplate"] = hover.replace(str(name), str(made["name"]))
    return made
