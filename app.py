"""The app: its pages, found by the papers that the engine knows, and what all of them share."""

import gc
import re
from pathlib import Path
from urllib.parse import urlsplit

import streamlit as st

from engine.catalog import catalog
from pages.ui import mark, shell

ROOT = Path(__file__).parent


@st.cache_resource(show_spinner=False)
def settle_memory() -> None:
    """Collects once and freezes: what is imported by now is never looked through again."""
    gc.collect()
    gc.freeze()


def pages() -> dict[str, list[st.Page]]:
    """The pages by section of the menu; a paper has one as soon as `pages/<slug>.py` is there."""
    papers = [
        st.Page(f"pages/{slug}.py", title=paper.title, icon=":material/article:", url_path=slug)
        for slug, paper in catalog().items()
        if (ROOT / "pages" / f"{slug}.py").exists()
    ]
    home = st.Page("pages/home.py", title="Home", icon=":material/home:", default=True)
    runs = st.Page("pages/runs.py", title="Runs", icon=":material/history:", url_path="runs")
    return {"": [home], "Papers": papers, "Your work": [runs]}


def asked() -> str:
    """The page that the address names; empty for the home page."""
    path = urlsplit(st.context.url or "").path.strip("/")
    return path if re.fullmatch(r"[\w-]+", path) else ""


st.set_page_config(page_title="Epsilon Explorer", page_icon=mark.icon(), layout="wide")
st.logo(mark.logo(), size="large", icon_image=mark.icon())
found = pages()
known = {page.url_path for group in found.values() for page in group}
if asked() and asked() not in known:
    lost = st.Page("pages/lost.py", title="No such page", url_path=asked(), visibility="hidden")
    found[""].append(lost)
settle_memory()
shell.mark()
st.navigation(found).run()
