"""The app: its pages, found by the papers that the engine knows, and what all of them share."""

import gc
import re
from urllib.parse import urlsplit

from engine.core import room

room.demand()  # before a library that needs more ends the server without a word

import streamlit as st
from starlette.middleware import Middleware
from streamlit.runtime.scriptrunner import get_script_run_ctx

from pages.ui.jobs import clock
from pages.ui.jobs import submit as asking
from pages.ui.kit import early, hosts, intake, logo, outbox, shell, skip, style, tongue
from pages.ui.kit.root import below
from pages.ui.lessons import collect, guide
from pages.ui.messages import SOURCE, language, tr

MENU = 330
"""Width of the menu in pixels, in which every paper's name has room."""
ROOM = f"""<style>@media (min-width: 769px) {{
  [data-testid=stSidebar][data-collapsed=false] {{ min-width: {MENU}px }} }}</style>"""
"""Where Streamlit draws the menu before it knows its width, as on the first visit after a start."""
TEACHING = (("learn", "Learn", "school"), ("lessons", "Lessons", "co_present"))
TRANSLATED = ("", "learn")
"""The pages whose every text is in the catalogues."""
ACROSS = (("compare", "Compare", "stacked_line_chart"), ("reproduce", "Reproduce", "fact_check"))


@st.cache_resource(show_spinner=False)
def settle_memory() -> None:
    """Collects once and freezes: what is imported by now is never looked through again."""
    gc.collect()
    gc.freeze()


def pages() -> dict[str, list[st.Page]]:
    """The pages by section of the menu; a page is listed as soon as its file is there."""
    return {
        "": [
            st.Page("pages/home.py", title=tr("Home"), icon=":material/home:", default=True),
            *(page(*one) for one in TEACHING if shell.there(one[0])),
        ],
        tr("Papers"): [page(slug, one.title, "article") for slug, one in shell.papers().items()],
        tr("Across papers"): [page(*one) for one in ACROSS if shell.there(one[0])],
        tr("Your work"): [page("runs", "Runs", "history")],
    }


def page(name: str, title: str, icon: str) -> st.Page:
    """The page of `pages/<name>.py`, under its name in the address."""
    shown, picture = brief(tr(title)), f":material/{icon}:"
    return st.Page(shell.script(name), title=shown, icon=picture, url_path=name)


def brief(title: str) -> str:
    """A title without what it adds in brackets: the menu is narrow."""
    return title.partition(" (")[0]


def asked() -> str:
    """The page that the address names; empty for the home page."""
    path = below(urlsplit(st.context.url or "").path)
    return path if re.fullmatch(r"[\w-]+", path) else ""


def draw() -> None:
    """Draws the page that the address names."""
    st.set_page_config(
        page_title="Epsilon Explorer",
        page_icon=logo.icon(),
        layout="wide",
        initial_sidebar_state=MENU,
    )
    tongue.settle()
    st.html(ROOM)
    st.logo(logo.logo(), size="large", icon_image=logo.icon())
    menu = pages()
    known = {page.url_path for group in menu.values() for page in group}
    if asked() and asked() not in known:
        lost = st.Page("pages/lost.py", title="No such page", url_path=asked(), visibility="hidden")
        menu[""].append(lost)
    settle_memory()
    shell.stay_offline()
    shell.remember()
    chosen = st.navigation(menu)
    st.set_page_config(page_title=f"{chosen.title} · Epsilon Explorer")
    style.apply()
    spoken = language()
    skip.begin(spoken if chosen.url_path in TRANSLATED else SOURCE, spoken)
    clock.leave()
    guide.before(chosen)
    with asking.page():
        chosen.run()
    if chosen.url_path in TRANSLATED:
        tongue.offer()
    collect.offer(chosen)


if get_script_run_ctx(suppress_warning=True):
    draw()
else:  # the server reads this file once, for what stands between it and every visitor
    outbox.install()
    app = st.App(
        __file__,
        lifespan=asking.served,
        middleware=[Middleware(hosts.Hosts), Middleware(early.Early), Middleware(intake.Intake)],
    )
