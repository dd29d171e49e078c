"""The sidebar of a paper's page: the data set and every knob but the budget."""

from collections.abc import Callable
from contextlib import nullcontext, suppress
from dataclasses import dataclass
from functools import partial
from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from datasets import catalog, own
from datasets.base import Card
from engine.core.errors import ExplorerError
from engine.core.spec import knobs
from engine.method import Entry, Paper
from pages.ui.jobs import clock
from pages.ui.jobs.live import BUDGET
from pages.ui.kit import fold, visitors
from pages.ui.kit.glossary import linked
from pages.ui.kit.knobs import pick, widget
from pages.ui.kit.lock import locked
from pages.ui.kit.offers import Offer
from pages.ui.paper import spent, upload
from pages.ui.paper.choice import Chosen, Offers
from pages.ui.paper.view import Layout, Page, Section
from pages.ui.words import column, plural, times

DATA_HELP = "Whose records the methods learn from."
REPEATS_HELP = (
    "How often each setting is trained, each time with new noise. More repetitions take longer and "
    "show the spread better. Slow methods use at most three repetitions."
)
OTHER = "Not used by {method}; it changes other lines."
OTHERS = "Not used by {method}; these change other lines:"
SHARE = "Copy the address to share exactly this view."
SPENDS = (
    "Exploring costs privacy too: on real data, every setting that you try uses up budget, and so "
    "does choosing the best."
)


@dataclass
class Drawing:
    """One drawing of a whole page.

    Attributes:
        place: Where what follows the sliders stands, at the foot of the window.
        over: Whether it has come to its end.
    """

    place: DeltaGenerator
    over: bool = False


def draw(
    paper: Paper[Any], offers: Offers, layout: Layout, chosen: Chosen, redraw: Callable[[], None]
) -> None:
    """Draws the widgets that set the data set, the knobs and the repetitions.

    Args:
        paper: The paper.
        offers: What the widgets offer.
        layout: How the page differs from the common one.
        chosen: What the widgets say.
        redraw: What a slider calls that leaves the other widgets as they are.
    """
    slug, entry = paper.slug, paper.entry(chosen.method)
    stand = layout.open(offers.knobs)
    apart = (BUDGET, *layout.columns, *stand)
    rest = [field for field in offers.knobs if field not in apart]
    put = partial(_widget, paper, offers, layout, chosen, redraw)
    with st.sidebar:
        _data(paper, offers, layout, chosen, put)
        for field in stand:
            put(field)
            if field not in entry.uses:
                st.caption(OTHER.format(method=entry.label))
        keys = [f"{slug}.{field}" for field in (*rest, "repeats")]
        if more := fold.fold("More settings", ":material/tune:", f"{slug}.settings", keys):
            with more:
                _more(entry, offers.repeats, rest, slug, put)


def _data(
    paper: Paper[Any], offers: Offers, layout: Layout, chosen: Chosen, put: Callable[[str], None]
) -> None:
    """Which data set there is, and on request the others, and what a table of one's own needs.

    It is chosen once, and the sliders below are in sight without scrolling.
    """
    slug, dataset = paper.slug, chosen.dataset
    parts = (offers.knobs[field].text(chosen.values[field]) for field in layout.columns)
    name = ", ".join((f"Data: {visitors.called(dataset)}", *parts))
    names = map(str, offers.dataset.values)
    files = [visitors.called(one) if own.mine(one) else "" for one in names]
    with st.popover(name, icon=":material/database:", width="stretch"):
        draw = partial(st.radio, captions=files) if any(files) else st.radio
        pick(slug, offers.dataset, "Data set", DATA_HELP, draw)
        for field in layout.columns:
            put(field)
        about(catalog.card(dataset))
        if paper.own:
            upload.show(paper, dataset, offers.dataset.default)
    if paper.own:
        spent.show(slug, dataset)


def _more(
    entry: Entry[Any], repeats: Offer, rest: list[str], slug: str, put: Callable[[str], None]
) -> None:
    """The widgets that do not stand open: those of the method first, then the others."""
    for field in rest:
        if field in entry.uses:
            put(field)
    st.select_slider(
        "Repetitions", repeats.texts, repeats.default,
        key=f"{slug}.repeats", help=linked(REPEATS_HELP), bind="query-params",
        disabled=locked(f"{slug}.repeats"),
    )  # fmt: skip
    if others := [field for field in rest if field not in entry.uses]:
        st.caption(OTHERS.format(method=entry.label))
        for field in others:
            put(field)


def _widget(
    paper: Paper[Any],
    offers: Offers,
    layout: Layout,
    chosen: Chosen,
    redraw: Callable[[], None],
    field: str,
) -> None:
    """The widget of a setting; grey where another setting leaves it without a meaning."""
    other, value = layout.needs.get(field, ("", ""))
    offer = offers.knobs.get(other)
    idle = "" if offer is None or chosen.values[other] == value else offer.text(value).lower()
    alone = field not in (one for one, _ in layout.needs.values())
    widget(
        paper.slug, offers.knobs[field], knobs(paper.spec)[field], idle and f"only {idle}",
        redraw if alone else None,
    )  # fmt: skip


def live(slug: str) -> str:
    """The key of the part of a page that follows its runs."""
    return f"{slug}.live"


def redraw(slug: str, layout: Layout, drawing: Drawing) -> None:
    """Draws again what follows the page's sliders, and leaves the rest of the page as it is.

    All of it is drawn again where its last drawing was broken off.

    Args:
        slug: Key of the paper.
        layout: Its layout.
        drawing: That of the page which drew the slider.
    """
    if drawing.over and clock.placed(live(slug), drawing.place):
        st.rerun([live(slug), *(_key(slug, section) for section in layout.follow)])


def finish(slug: str, layout: Layout, opened: Callable[[], Page]) -> None:
    """Draws what the page's own sections have in the sidebar, and the standing note.

    Args:
        slug: Key of the paper.
        layout: Its layout.
        opened: The page as its sliders stand now.
    """
    with st.sidebar:
        for section in layout.sections:
            if section.side is not None and section.follows:
                st.fragment(_side, key=_key(slug, section))(section, section.side, opened)
            elif section.side is not None:
                _side(section, section.side, opened)
        st.caption(f":material/savings: {SPENDS}\n\n:material/link: {SHARE}")


def _side(section: Section, draw: Callable[[Page], None], opened: Callable[[], Page]) -> None:
    """Widgets of a section; those in a drawer are made once it is open."""
    with suppress(ExplorerError):  # such as settings that contradict each other: the page says it
        page = opened()
        place: Any = nullcontext()
        if section.drawer:
            title, icon, key = section.drawer
            keys = [f"{page.prefix}.{name}" for name in section.free(page.chosen.dataset)]
            place = fold.fold(title, f":material/{icon}:", f"{page.prefix}.{key}", keys)
        if place is not None:
            with place:
                draw(page)


def _key(slug: str, section: Section) -> str:
    """Names the part of the sidebar that holds the widgets of a section."""
    return f"{slug}.{section.name}.side"


def about(card: Card) -> None:
    """A data set in two lines; the Data tab tells the rest."""
    count = own.events(card)
    events = "" if count is None else f", {plural(count, 'event')}"
    st.caption(f"{times(card.title)}: {plural(card.records, 'record')}{events}.")


def describe(card: Card) -> None:
    """Everything about a data set."""
    said = (
        f"**{card.title}**\n\n{card.summary}\n\n"
        f"- One record is **{card.record}**; there are {card.records:,}.\n"
        f"- Covariates: {', '.join(column(name) for name in card.features)}.\n"
        f"- Treated as public: {card.public[:1].lower()}{card.public[1:]}.\n"
        f"{'' if card.bounds is None else f'- Bounds: {card.bounds.source}.{chr(10)}'}"
        f"- Source: {card.source}.\n"
        f"- Licence: {card.licence}."
    )
    st.markdown(times(said))
