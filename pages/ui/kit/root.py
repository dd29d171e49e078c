"""Where the app lies: at the root of a name, or under a sub-path behind a proxy."""

import streamlit as st


def rooted(path: str) -> str:
    """A path of this app as a link of a page names it, under the sub-path that the operator set.

    Args:
        path: It begins with a slash.
    """
    base = _base()
    return f"/{base}{path}" if base else path


def below(path: str) -> str:
    """The name of a page in the path of an address, with or without the sub-path.

    Args:
        path: Of an address, as the address bar shows it.

    Returns:
        What follows the sub-path, without slashes at its ends; empty for the home page.
    """
    name, base = path.strip("/"), _base()
    return "" if base and name == base else name.removeprefix(f"{base}/") if base else name


def _base() -> str:
    """The sub-path that the operator set, without slashes at its ends; empty for none."""
    return str(st.get_option("server.baseUrlPath")).strip("/")
