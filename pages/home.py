"""The start page: what this is, one live curve, the papers with what was found, how to read ε."""

import streamlit as st

from pages.ui.charts.dots import dots
from pages.ui.charts.sketch import sketch
from pages.ui.home import about, examples, found, stops, text
from pages.ui.kit import shell
from pages.ui.kit.glossary import linked
from pages.ui.messages import figures, tr
from pages.ui.paper import preview, sketches

shell.enter()
st.title(text("title"))
st.markdown(linked(text("about")))

if preview.SLUG in shell.papers():
    st.markdown(text("move"))
    preview.draw(stops())

if shell.there("learn"):
    st.page_link("pages/learn.py", label=text("learn"), icon=":material/school:")

st.header(text("papers"))
known = sketches.read()
with st.grid(3, min_column_width=300):
    for slug, one in shell.papers().items():
        with st.container(border=True, height="stretch"):
            st.markdown(f"#### {tr(one.title)}")
            if (drawn := known.get(slug)) is not None:
                st.image(sketch(drawn.lines, drawn.none), width="stretch", alt=text("alt"))
            st.markdown(about(slug))
            if drawn is not None:
                st.markdown(found(slug, drawn))
            st.page_link(shell.script(slug), label=text("open"), icon=":material/arrow_forward:")
st.caption(text("pictures"))

st.header(text("read"))
st.markdown(text("reading"))
with st.grid(3, min_column_width=240):
    for epsilon, count, right, meaning in examples():
        with st.container(border=True, height="stretch"):
            st.markdown(f"#### ε = {figures(f'{epsilon:g}')}")
            st.image(dots(count), width="stretch", alt=text("dots", dots=count))
            st.markdown(right)
            st.markdown(meaning)

st.caption(text("source"))
