"""Where a figure's numbers come from: the program's version and the runs."""

from collections.abc import Iterable
from contextvars import ContextVar
from urllib.parse import urlencode, urlsplit

import streamlit as st

from engine import __version__
from pages.ui import words

FEW = 8
"""Runs that are named; more are counted."""
_RUNS: ContextVar[tuple[str, ...]] = ContextVar("runs", default=())


def name(runs: Iterable[str]) -> None:
    """Says which runs the figures draw that follow in this script run."""
    _RUNS.set(tuple(dict.fromkeys(runs)))


def address() -> str:
    """The address of what is shown, as the address bar has it, without the machine's name."""
    path = urlsplit(st.context.url or "").path or "/"
    pairs = {key: st.query_params[key] for key in st.query_params}
    return f"{path}?{urlencode(pairs)}" if pairs else path


def line() -> str:
    """Version and runs in one line."""
    runs = _RUNS.get()
    if not runs:
        return f"Epsilon Explorer {__version__}"
    more = f" and {words.plural(len(runs) - FEW, 'more run')}" if len(runs) > FEW else ""
    return f"Epsilon Explorer {__version__}, runs {', '.join(runs[:FEW])}{more}"
