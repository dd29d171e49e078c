"""Who looks at the app: which browser it is, and which tables of one's own it may see.

A table belongs to the person who has brought it. Others see it, and runs on it, once they have
followed a link that names it: half of the name is drawn, so nobody guesses it. A table without an
owner was added from the command line, for everyone here.
"""

import hashlib
from contextlib import suppress
from urllib.parse import urlsplit

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx

from datasets import own
from engine.core import settings
from engine.core.errors import ExplorerError
from engine.runs.job import Job
from engine.service.watching import NOBODY, Visitor
from pages.ui.kit.intake import COOKIE, UPLOADS, drawn
from pages.ui.words import short

OWN_NAMES = ("localhost", "127.0.0.1", "::1")
"""Under which only this machine opens it."""
TABLES = "visitors.tables"


def visitor() -> str:
    """What this browser is called here; of a client without cookies, this session."""
    context = get_script_run_ctx()
    secret = (
        drawn(st.context.cookies.get(COOKIE, ""))
        or (context.session_id if context else "").encode()
    )
    return hashlib.sha256(b"visitor" + secret).hexdigest()[:16]


def here() -> Visitor:
    """The open page that asks, and whose it is."""
    context = get_script_run_ctx()
    return Visitor(context.session_id, visitor()) if context else NOBODY


def uploads() -> bool:
    """Whether visitors may bring tables of their own.

    Raises:
        RequestError: The setting is neither on nor off.
    """
    return settings.switch(UPLOADS, True)


def alone() -> bool:
    """Whether the app serves this machine alone: it may be opened under no name but its own."""
    allowed = st.get_option("server.allowedHosts") or ()
    hosts = allowed.split(",") if isinstance(allowed, str) else allowed
    return bool(hosts) and all(host.strip() in OWN_NAMES for host in hosts)


def beside() -> bool:
    """Whether the browser runs on the machine that serves a room: it has the server's own address.

    Behind a proxy all visitors have the proxy's address, and the page has another name.
    """
    address = st.get_option("server.address")
    named = urlsplit(f"//{st.context.headers.get('Host', '')}").hostname
    return bool(address) and address == st.context.ip_address == named


def knows(table: str) -> bool:
    """Whether this session may see a table; a command line sees all."""
    if get_script_run_ctx(suppress_warning=True) is None:
        return True
    return table in _named() or own.owner(table) in ("", visitor())


def called(dataset: str) -> str:
    """What a data set is called: a table of one's own by its file, which no address holds."""
    with suppress(ExplorerError):
        if own.mine(dataset) and knows(dataset):
            return own.card(dataset).title
    return short(dataset)


def sees(job: Job) -> bool:
    """Whether this session may see a run: those on others' tables stay theirs."""
    return not own.mine(job.dataset) or knows(job.dataset)


def meet(table: str) -> None:
    """Notes that this session knows a table."""
    _named().add(table)


def _named() -> set[str]:
    """The tables that this session has brought, or whose names its addresses have held."""
    named: set[str] = st.session_state.setdefault(TABLES, set())
    for key in st.query_params:
        if key.endswith(".dataset"):
            name = st.query_params[key].strip().lower().replace(" ", "_")
            if own.mine(name):
                named.add(name)
    return named
