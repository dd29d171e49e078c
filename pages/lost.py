"""What a mistyped address shows."""

import streamlit as st

from pages.ui.kit import shell

shell.enter()
st.title("There is no page of this name")
st.markdown(
    "The address may have been mistyped, or it belongs to a paper that this copy does not hold."
)
st.page_link("pages/home.py", label="Go to the start page", icon=":material/home:")
