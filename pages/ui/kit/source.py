"""Where a figure's numbers come from: the program's version and the runs."""

import os
from collections.abc import Iterable
from contextvars import ContextVar
from html import escape
from urllib.parse import urlencode, urlsplit

import streamlit as st

from engine import __version__
from pages.ui import words
from pages.ui.kit.address import LANG
from pages.ui.messages import SOURCE, language, tr

EMBED, MAIN = "embed", "1"
"""The name in a static page's address that leaves one chart of it, and its first chart."""
ABSENT = frozenset({
    "chart-failing", "chart-told", "chart-filters-largest", "chart-maps-largest",
    "chart-attack-own", "chart-attack-scores", "chart-attack-tradeoff",
})  # fmt: skip
"""Charts that only some settings and your own attacks have: no static page holds them."""
FEW = 8
"""Runs that are named; more are counted."""
SITE = "EXPLORER_SITE"
"""Names the address at which the static pages are published."""
NO_SITE = "https://your.host"
_PLACE: ContextVar[str] = ContextVar("place", default="")
_RUNS: ContextVar[tuple[str, ...]] = ContextVar("runs", default=())


def name(runs: Iterable[str]) -> None:
    """Says which runs the figures draw that follow in this script run."""
    _RUNS.set(tuple(dict.fromkeys(runs)))


def publish(place: str) -> None:
    """Says which static page shows what follows in this script run; an empty text for none."""
    _PLACE.set(place)


def embed(name: str) -> str:
    """The line with which another page shows a chart; a sentence where no static page has it.

    Args:
        name: Of the chart among those of its page.
    """
    if not (place := _PLACE.get()) or name in ABSENT:
        return tr(
            "The static pages do not have this chart. They show default views with one main slider "
            "or the method changed at a time, and none of your own runs."
        )
    site = os.environ.get(SITE, NO_SITE).rstrip("/")
    spoken = {} if language() == SOURCE else {LANG: language()}
    query = urlencode({EMBED: name, **spoken})
    whole = escape(f"{site}/{place}{'&' if '?' in place else '?'}{query}")
    return (
        f'<iframe src="{whole}" title="Epsilon Explorer" width="100%" height="560" '
        'style="border:0" loading="lazy"></iframe>'
    )


def address() -> str:
    """The address of what is shown, as the address bar has it, without the machine's name."""
    path = urlsplit(st.context.url or "").path or "/"
    pairs = {key: st.query_params.get_all(key) for key in st.query_params}
    return f"{path}?{urlencode(pairs, doseq=True)}" if pairs else path


def line() -> str:
    """Version and runs in one line."""
    runs = _RUNS.get()
    if not runs:
        return f"Epsilon Explorer {__version__}"
    more = f" and {words.plural(len(runs) - FEW, 'more run')}" if len(runs) > FEW else ""
    return f"Epsilon Explorer {__version__}, runs {', '.join(runs[:FEW])}{more}"
