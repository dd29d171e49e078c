"""Where the app lies: at the root of a name, or under a sub-path behind a proxy."""

import streamlit as st


def rooted(path: str) -> str:
    """A path of this app as a link of a page names it, under the sub-path that the operator set.

    Args:
        path: It begins with a slash.
    """
    base = str(st.get_option("server.baseUrlPath")).strip("/")
    return f"/{base}{path}" if base else path
