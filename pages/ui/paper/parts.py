"""What a section is made of, and the one machine that draws it: on a page, and for a bundle.

A section's function returns its parts. What they say is declared beside its title, in
`Section.words`:

- `finding`: the sentence above a chart, which screen readers get too; `alt` is for them alone,
  and `after` stands below the chart
- `caption`: how to read it, below everything; `above` names one of several pictures
- `key`: what the chart is called on the page, if not by section and part
- `x`, `y`, `head` and `more`: of lines, the titles of both axes, the first column of the table, and
  what `lines.lines` takes besides
- `keep`: zoom and hidden series stay while this stays; else while the method's run does
- a table of the name of a part: the same for one of several charts
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

import streamlit as st

from pages.ui.charts import lines
from pages.ui.charts.figure import Figure
from pages.ui.charts.lines import Line
from pages.ui.kit import chart
from pages.ui.kit.chart import Picture, show
from pages.ui.messages import figures
from pages.ui.paper import faded
from pages.ui.paper.panels import RAW
from pages.ui.paper.said import say
from pages.ui.paper.series import SOON, SPREAD, UNTRAINED, NotYetError, waiting
from pages.ui.paper.view import Section, View
from pages.ui.words import number, percent

Facts: TypeAlias = Mapping[str, object]
Cells: TypeAlias = (
    Sequence[Mapping[str, object]] | Mapping[str, Sequence[object]] | Mapping[str, str]
)


@dataclass(frozen=True, eq=False)
class Chart:
    """A chart.

    Attributes:
        figure: What to draw.
        rows: Its numbers.
        facts: What its sentences tell.
        part: Its name in the section's words; empty for the section's only chart.
        fit: Whether its height follows what the window has left.
        below: Draws what stands between it and its table.
    """

    figure: Figure
    rows: Sequence[dict[str, Any]]
    facts: Facts = field(default_factory=dict)
    part: str = ""
    fit: bool = False
    below: Callable[[], None] | None = None


@dataclass(frozen=True, eq=False)
class Lines:
    """Lines whose axes are declared; those that are None are not there yet.

    Attributes:
        drawn: The lines.
        facts: What sentences and titles tell.
        part: As of a chart.
        more: What `lines.lines` takes besides what is declared.
        change: Changes the figure.
    """

    drawn: Sequence[Line | None]
    facts: Facts = field(default_factory=dict)
    part: str = ""
    more: Mapping[str, Any] = field(default_factory=dict)
    change: Callable[[Figure, Sequence[Line]], None] = lambda figure, drawn: None


@dataclass(frozen=True, eq=False)
class Table:
    """A table.

    Attributes:
        cells: Rows, columns by name, or one cell by name.
        facts: What the section's sentences tell.
        bare: Whether the rows' numbers are hidden.
        part: As of a chart.
    """

    cells: Cells
    facts: Facts = field(default_factory=dict)
    bare: bool = False
    part: str = ""


@dataclass(frozen=True, eq=False)
class Note:
    """A sentence of the section's words, with its facts; empty for facts of the caption alone."""

    name: str
    facts: Facts = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class Abreast:
    """Parts in columns of the same width."""

    columns: Sequence["Part | Sequence[Part]"]
    gap: Literal["small", "medium", "large"] = "small"
    border: bool = False


@dataclass(frozen=True, eq=False)
class Fold:
    """Parts that wait to be opened, below the caption, under the section's words `fold`."""

    icon: str
    made: "Callable[[], Made]"


@dataclass(frozen=True, eq=False)
class Widgets:
    """What a page alone has."""

    draw: Callable[[], None]


Part: TypeAlias = str | Chart | Lines | Table | Note | Abreast | Fold | Widgets
Made: TypeAlias = Part | Sequence[Part] | None


def draw(section: Section, view: View) -> None:
    """Draws a section on a page."""
    _Drawing(section, view).whole()


@dataclass(frozen=True)
class Bare:
    """What a section holds, drawn nowhere.

    Attributes:
        charts: Key, picture, caption and sentence of each.
        told: The sentences and tables besides, folds open and last. A text of its own is left out
            beside charts: there it is the title of a column, and has no place without that. The
            caption is among them where no chart has it.
        waits: Whether something is missing because nothing of it was trained.
    """

    charts: list[tuple[str, Picture, str, str]]
    told: list[str | Table]
    waits: bool


def bare(section: Section, view: View) -> Bare:
    """A section without a page."""
    one = _Drawing(section, view)
    try:
        return one.bare(section.draw(view))
    except NotYetError as why:
        return _parted([], [str(why)])


def _parted(
    charts: list[tuple[str, Picture, str, str]],
    found: Sequence[str | Table],
    *,
    waits: bool = False,
) -> Bare:
    """Charts, and what is told beside them without that something has to be trained."""
    told = [one for one in found if one not in UNTRAINED]
    return Bare(charts, told, waits or len(told) < len(found))


def _listed(made: Made) -> list[Part]:
    """The parts of a section or of a column."""
    if made is None:
        return []
    return [*made] if isinstance(made, list | tuple) else [made]  # type: ignore[list-item]


class _Drawing:
    """A section as it is drawn: its parts, with the facts that they have told so far."""

    def __init__(self, section: Section, view: View) -> None:
        self.section, self.view = section, view
        self.drawn: list[faded.Named] = []
        self.facts: dict[str, object] = {
            "budget": view.budget,
            "method": view.method,
            "label": view.entry.label,
            "called": view.watched[view.method].label,
            "records": view.data.records,
            "runs": {name: one.job.id for name, one in view.watched.items()},
            "RAW": RAW,
            "SPREAD": SPREAD,
        }

    def whole(self) -> None:
        """All parts, and the caption before the first fold; or a sentence why there are none.

        With that sentence stands what was there before the last move.
        """
        try:
            made = self.section.draw(self.view.left)
            parts = _listed(waiting(self.view) if made is None else made)
            if parts == [SOON]:
                raise NotYetError(SOON)
            self.draw([part for part in parts if not isinstance(part, Fold)])
        except NotYetError as why:
            st.markdown(str(why))
            if str(why) == SOON:
                faded.draw(self.view, self.section.name, self.drawn)
            return
        faded.keep(self.view, self.section.name, self.drawn)
        if not isinstance(made, str | Note | None):
            self.caption(self.section.words)
            self.draw([part for part in parts if isinstance(part, Fold)])

    def draw(self, parts: Sequence[Part]) -> None:
        """Parts below each other."""
        for part in parts:
            match part:
                case str():
                    st.markdown(part)
                case Widgets():
                    part.draw()
                case Note():
                    self.facts |= part.facts
                    if part.name:
                        st.markdown(self.say(self.section.words, part.name))
                case Table():
                    self.facts |= part.facts
                    st.table(part.cells, border="horizontal", hide_index=part.bare or None)
                    if part.part:
                        self.caption(_words(self.section, part.part))
                case Abreast():
                    self.abreast(part)
                case Fold():
                    self.fold(part)
                case Chart() | Lines():
                    self.chart(part)

    def abreast(self, part: Abreast) -> None:
        """Columns."""
        places = st.columns(len(part.columns), gap=part.gap, border=part.border)
        for place, column in zip(places, part.columns, strict=True):
            with place:
                self.draw(_listed(column))

    def fold(self, part: Fold) -> None:
        """An expander, whose parts are worked out once it is open."""
        place = st.expander(
            str(self.section.words["fold"]), key=f"{self.view.paper.slug}.{self.section.name}",
            on_change="rerun", icon=f":material/{part.icon}:",
        )  # fmt: skip
        if place.open:
            with place:
                self.draw(_listed(part.made()))

    def chart(self, part: Chart | Lines) -> None:
        """A chart between its sentences."""
        words, key, picture, below = self.picture(part)
        if above := self.say(words, "above"):
            st.caption(above)
        if finding := self.say(words, "finding"):
            st.markdown(finding)
        show(key, picture, below)
        self.drawn.append((key, picture))
        if after := self.say(words, "after"):
            st.markdown(after)
        if part.part:
            self.caption(words)

    def picture(
        self, part: Chart | Lines
    ) -> tuple[Mapping[str, Any], str, Picture, Callable[[], None] | None]:
        """The words of a chart, its key and picture, and what is drawn below it."""
        self.facts |= part.facts
        words = _words(self.section, part.part)
        one = self.lines(part, words) if isinstance(part, Lines) else part
        key = self.key(words, part.part)
        run = self.view.watched[self.view.method].job.id
        one.figure.layout["uirevision"] = self.say(words, "keep") or f"{key}/{run}"
        alt = self.say(words, "alt") or self.say(words, "finding") or self.say(words, "after")
        picture = chart.picture(one.figure, alt, one.rows, self.view.budget, fit=one.fit)
        return words, key, picture, one.below

    def lines(self, part: Lines, words: Mapping[str, Any]) -> Chart:
        """The chart of lines.

        Raises:
            NotYetError: There are none.
        """
        if not (drawn := [one for one in part.drawn if one is not None]):
            raise NotYetError(waiting(self.view))
        titles = self.say(words, "x"), self.say(words, "y")
        more = {**words.get("more", {}), **part.more}
        self.facts["ends"] = ends(drawn, per_cent="%" in more.get("tickformat", ""))
        figure = lines.lines(drawn, titles, **more)
        part.change(figure, drawn)
        return Chart(figure, lines.rows(drawn, self.say(words, "head") or titles[0]))

    def caption(self, words: Mapping[str, Any]) -> None:
        """How to read what stands above."""
        if text := self.say(words, "caption"):
            st.caption(text)

    def key(self, words: Mapping[str, Any], part: str) -> str:
        """What a chart is called on its page: zoom, table and bundle know it by this."""
        own = self.say(words, "key") or f"{self.section.name}.{part or 'chart'}"
        return f"{self.view.paper.slug}.{own}"

    def say(self, words: Mapping[str, Any], name: str) -> str:
        """A sentence with all facts so far."""
        return say(words, name, self.facts)

    def bare(self, made: Made) -> Bare:
        """Everything that was made, drawn nowhere."""
        parts = _flat(_listed(made))
        beside = any(map(_pictured, parts))
        drawn: list[tuple[str, Picture, Mapping[str, Any], str]] = []
        found: list[str | Table] = []
        folds = [_flat(_listed(part.made())) for part in parts if isinstance(part, Fold)]
        for part in [*parts, *(one for fold in folds for one in fold if _pictured(one))]:
            if not isinstance(part, Chart | Lines):
                found += [] if beside and isinstance(part, str) else self.written(part)
                continue
            try:
                drawn.append(self.taken(part))
            except NotYetError as why:
                found.append(str(why))
                break
        if found and not beside and not isinstance(made, str | Note):
            found.append(self.say(self.section.words, "caption"))
        found += [text for fold in folds for text in self.opened(fold)]
        charts = [(key, one, self.say(words, "caption"), said) for key, one, words, said in drawn]
        return _parted(charts, found, waits=made is None)

    def taken(self, part: Chart | Lines) -> tuple[str, Picture, Mapping[str, Any], str]:
        """A chart: its key, its picture, where its caption is, and its sentence.

        Raises:
            NotYetError: There are no lines.
        """
        words, key, picture, _ = self.picture(part)
        said = " ".join(filter(None, (self.say(words, name) for name in ("finding", "after"))))
        own = words if "caption" in words else self.section.words
        return key, picture, own, said or picture.alt

    def written(self, part: Part) -> list[str | Table]:
        """What a part says that is no chart and no fold."""
        if isinstance(part, str):
            return [part]
        if isinstance(part, Note | Table):
            self.facts |= part.facts
        if isinstance(part, Note):
            return [self.say(self.section.words, part.name)] if part.name else []
        return [part] if isinstance(part, Table) else []

    def opened(self, parts: Sequence[Part]) -> list[str | Table]:
        """What the parts of a fold say besides charts, under its name."""
        inner = [text for one in parts for text in self.written(one)]
        return [f"**{self.section.words['fold']}**", *inner] if inner else []


def _pictured(part: Part) -> bool:
    return isinstance(part, Chart | Lines)


def _flat(parts: Sequence[Part]) -> list[Part]:
    """Parts with those of columns in their place."""
    return [
        inner
        for part in parts
        for inner in (
            _flat([one for column in part.columns for one in _listed(column)])
            if isinstance(part, Abreast)
            else [part]
        )
    ]


def _words(section: Section, part: str) -> Mapping[str, Any]:
    """The words of a chart."""
    return section.words.get(part, {}) if part else section.words


def ends(drawn: Sequence[Line], *, per_cent: bool = False) -> str:
    """Where lines end, as a list.

    Args:
        drawn: The lines.
        per_cent: Whether their axis says heights in per cent.
    """
    said = percent if per_cent else number
    return ", ".join(f"{one.label} {figures(said(float(one.middle[-1])))}" for one in drawn)
