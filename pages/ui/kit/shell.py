"""What every page does first."""

from pathlib import Path
from typing import Any

import streamlit as st
from streamlit import net_util
from streamlit.runtime.pages_manager import PagesManager

from engine.catalog import catalog, outside
from engine.core.home import home
from engine.method import Paper
from pages.ui.kit import source
from pages.ui.kit.access import afresh

PAGES = Path(__file__).parents[2]
ENTERED = "shell.entered"


def there(name: str) -> bool:
    """Whether a page's script is there."""
    return (PAGES / f"{name}.py").exists()


def papers() -> dict[str, Paper[Any]]:
    """The papers that have a page, by slug; those of installed packages last."""
    added = outside()
    own = {slug: paper for slug, paper in catalog().items() if there(slug)}
    return own | {slug: catalog()[slug] for slug in added if slug not in own}


def script(name: str) -> str:
    """The script of a page, as Streamlit takes it.

    A paper of an installed package has no script in this folder, so one is written beside the runs.
    """
    if there(name):
        return f"pages/{name}.py"
    path = home() / "pages" / f"{name}.py"
    text = f"from pages.ui.paper import page\n\npage.show({name!r})\n"
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return str(path)


def stay_offline() -> None:
    """Lets the app refuse pages from elsewhere without a request to the internet.

    Before it refuses one, Streamlit asks a server outside for this machine's address, and nobody
    else is served until that server has answered.
    """
    net_util.get_external_ip = _unknown


def _unknown() -> str | None:
    """The machine's address outside its network: nobody asks for it."""
    return None


def remember() -> None:
    """Says that the app's entry script has run in this session."""
    st.session_state[ENTERED] = True


def enter() -> None:
    """Goes through the app's entry script if that has been left out.

    Streamlit looks for pages in this folder by itself until `st.navigation` is called for
    the first time. A fresh server whose first visitor follows a link to an inner page would
    run that page alone; running it again goes the right way.
    """
    afresh()
    source.publish("")  # each page says which static page shows it
    if not st.session_state.get(ENTERED):
        remember()  # once is enough, whatever happens
        PagesManager.uses_pages_directory = False  # what `st.navigation` would have said
        st.rerun()
