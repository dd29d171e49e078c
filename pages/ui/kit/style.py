"""Style sheets that stand beside modules; the one beside this module is for every page."""

from pathlib import Path

import streamlit as st


def sheet(module: str) -> str:
    """The style sheet beside a module, as a page takes it.

    Args:
        module: Path of the module's file.
    """
    return f"<style>{Path(module).with_suffix('.css').read_text(encoding='utf-8')}</style>"


STYLE = sheet(__file__)


def apply() -> None:
    """Puts the style of every page on the page."""
    st.html(STYLE)
